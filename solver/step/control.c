/* Step size control; see control.h. The next step is safety · error^(−1/order) times the last,
 * between 1/5 and the largest increase, and does not grow right behind a refused one. */
#include "solver/step/control.h"

#include "solver/base/times.h"

#include <math.h>

static const double least_factor = 0.2;
static const uint64_t most_substeps = 1000000;

void mech_control_begin(struct mech_control *c, const struct mech_adaptive_settings *settings,
                        int32_t lower, double most, double next)
{
    const double first = settings->initial_step > 0. ? settings->initial_step : most;

    *c = (struct mech_control){.settings = settings,
                               .exponent = -1. / lower,
                               .most = most,
                               .next = next > 0. ? next : first};
}

double mech_control_plan(struct mech_control *c, double t, double t_end)
{
    const double left = t_end - t, wanted = fmin(c->next, c->most);

    c->planned++;
    if (c->even) {
        /* a size close to the last counts as the same: nothing is factored again */
        const double n =
            mech_time_steps((struct mech_time_part){t, t, t_end}, wanted, c->step, &c->step);

        return n > 1. ? t + c->step : t_end;
    }
    /* the rest in one when it is hardly more, in two halves when one would leave a crumb */
    if (!mech_time_before(t + wanted, t_end, wanted)) {
        c->step = mech_time_same(t + wanted, t_end, wanted) ? wanted : left;
        return t_end;
    }
    c->step = wanted > 0.5 * left ? 0.5 * left : wanted;
    return t + c->step;
}

bool mech_control_judge(struct mech_control *c, double error)
{
    const struct mech_adaptive_settings *const s = c->settings;
    const bool good = error <= 1.;
    const double wanted = fmin(c->next, c->most);
    double factor = error > 0. ? s->safety * pow(error, c->exponent) : s->max_increase;

    if (isnan(error)) {
        factor = least_factor;
    }
    c->error = error;
    if (!good) {
        c->next = fmax(c->step * fmin(fmax(factor, least_factor), 0.9), s->minimum_step);
    } else if (c->step < wanted && !c->even) {
        /* a substep cut short by the end: it only shows when the wanted one is too long */
        c->next = error > 0. ? fmin(wanted, c->step * fmax(factor, least_factor)) : wanted;
    } else {
        const double most = c->refused ? 1. : s->max_increase;

        c->next = fmax(c->step * fmin(fmax(factor, least_factor), most), s->minimum_step);
    }
    c->refused = !good;
    return good;
}

bool mech_control_exhausted(const struct mech_control *c, double t)
{
    const bool least = c->refused && c->step <= c->settings->minimum_step;

    return least || !(t + c->next > t) || c->planned > most_substeps;
}

double mech_control_squares(const struct mech_adaptive_settings *settings, size_t n,
                            const double *from, const double *to, const double *error)
{
    double sum = 0.;

    for (size_t i = 0; i < n; i++) {
        const double size = fmax(fabs(from[i]), fabs(to[i]));
        const double e =
            error[i] / (settings->absolute_tolerance + settings->relative_tolerance * size);

        sum += e * e;
    }
    return sum;
}
