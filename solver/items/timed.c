/* Numbers that may depend on time; see timed.h. Differences: five points, order 4 (B. Fornberg,
 * Math. Comput. 51 (1988)). */
#include "solver/items/timed.h"

#include "solver/base/err.h"

static const double step = 1e-4; /* s */

int mech_timed_read(struct mech_timed *x, const struct mech_values *values, size_t i,
                    const struct mech_scope *scope, const char *path, struct mech_diag *diag)
{
    *x = (struct mech_timed){.number = 0.};
    if (i >= values->n) {
        return 0;
    }
    x->number = values->number[i];
    if (values->series && values->series[i].t.n) {
        x->curve = mech_arena_alloc(scope->arena, 1, sizeof *x->curve);
        return x->curve ? mech_curve_init(x->curve, scope->arena, &values->series[i])
                        : MECH_NO_MEMORY;
    }
    if (values->text && values->text[i]) {
        x->vars = scope->vars;
        const int code = mech_scope_compile(scope, values->text[i], path, diag, &x->value);

        return code < 0 ? code : 0;
    }
    return 0;
}

static double at_time(const struct mech_timed *x, struct mech_expr *e, double t)
{
    if (x->inner) {
        x->vars[1] = mech_timed_value(x->inner, t);
    }
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
    if (x->curve) {
        double at[3];

        mech_curve_at(x->curve, t, at);
        return at[0];
    }
    return x->value ? at_time(x, x->value, t) : x->number;
}

double mech_timed_rate(const struct mech_timed *x, double t)
{
    if (x->curve) {
        double at[3];

        mech_curve_at(x->curve, t, at);
        return at[1];
    }
    return !x->value ? 0. : x->rate ? at_time(x, x->rate, t) : slope(x, x->value, t);
}

double mech_timed_curvature(const struct mech_timed *x, double t)
{
    if (x->curve) {
        double at[3];

        mech_curve_at(x->curve, t, at);
        return at[2];
    }
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
