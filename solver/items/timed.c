/* Numbers that may depend on time; see timed.h. Differences: five points, order 4 (B. Fornberg,
 * Math. Comput. 51 (1988)). */
#include "solver/items/timed.h"

static const double step = 1e-4; /* s */

static double at_time(const struct mech_timed *x, struct mech_expr *e, double t)
{
    x->vars[0] = t;
    return mech_expr_value(e);
}

static double slope(const struct mech_timed *x, struct mech_expr *e, double t)
{
    return (8. * (at_time(x, e, t + step) - at_time(x, e, t - step)) -
            (at_time(x, e, t + 2. * step) - at_time(x, e, t - 2. * step))) /
           (12. * step);
}

double mech_timed_value(const struct mech_timed *x, double t)
{
    return x->value ? at_time(x, x->value, t) : x->number;
}

double mech_timed_rate(const struct mech_timed *x, double t)
{
    return !x->value ? 0. : x->rate ? at_time(x, x->rate, t) : slope(x, x->value, t);
}

double mech_timed_curvature(const struct mech_timed *x, double t)
{
    if (!x->value) {
        return 0.;
    }
    if (x->rate) {
        return slope(x, x->rate, t);
    }
    return (16. * (at_time(x, x->value, t + step) + at_time(x, x->value, t - step)) -
            30. * at_time(x, x->value, t) -
            (at_time(x, x->value, t + 2. * step) + at_time(x, x->value, t - 2. * step))) /
           (12. * step * step);
}

void mech_timed_fini(struct mech_timed *x)
{
    mech_expr_destroy(x->value);
    mech_expr_destroy(x->rate);
}
