/* The reason of a failed step: which item, when, and what step size an explicit scheme needs. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 60, COUNTED = 20 };

static double length_of(const double *x, size_t n)
{
    double most = 0., sum = 0.;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    for (size_t i = 0; i < n && most > 0.; i++) {
        sum += x[i] / most * (x[i] / most);
    }
    return most * sqrt(sum);
}

/* Numbers of no pattern, for every rate to have a part in. */
static void fill(double *x, size_t n)
{
    uint32_t seed = 1;

    for (size_t i = 0; i < n; i++) {
        seed = 1664525u * seed + 1013904223u; /* Numerical Recipes */
        x[i] = (double)(seed >> 8) / 16777216. - 0.5;
    }
}

/* One of the two applications of the linearized {v, v̇(q, v)} to {dq, dv} in x [2 n], by a
 * difference over `size` of the motion; false where v̇ cannot be had. `now` is [nq + 1 + 3 (n + 1)]
 * of scratch: q, v, v̇ at the point and beside it. */
static bool apply(struct mech_sim *s, double size, const double *still, double *now, double *x)
{
    const size_t n = (size_t)s->sizes.v, nq = (size_t)s->sizes.q;
    struct mech_step_result ignored = {.iterations = 0};
    double *const q = now, *const v = q + nq + 1, *const vdot = v + n + 1, *const d = vdot + n + 1;
    const double step = size / length_of(x, 2 * n);

    for (size_t i = 0; i < n; i++) {
        d[i] = step * x[i];
        v[i] = s->now.v[i] + step * x[n + i];
    }
    mech_model_move(s->model, s->now.q, d, q);
    const struct mech_rate_point at = {&s->now, s->now.at->time, q, v, NULL};

    if (mech_rates_vdot(&s->rates, &at, vdot, &ignored)) {
        return false;
    }
    memcpy(x, x + n, n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        x[n + i] = (vdot[i] - still[i]) / step;
    }
    return isfinite(length_of(x, 2 * n));
}

/* The largest rate of the committed state, 1/s: the growth of a vector under the linearized motion,
 * two applications a round so that vibrations count as decays do. NaN: not known. */
static double highest_rate(struct mech_sim *s)
{
    const size_t n = (size_t)s->sizes.v, nq = (size_t)s->sizes.q;
    struct mech_step_result ignored = {.iterations = 0};
    double *const x = calloc(2 * n + n + 1 + nq + 1 + 3 * (n + 1), sizeof *x);
    double growth = 0.;

    if (!x || n == 0 || mech_sim_need_rates(s, &ignored)) {
        free(x);
        return NAN;
    }
    double *const still = x + 2 * n, *const now = still + n + 1;
    const struct mech_rate_point at = {&s->now, s->now.at->time, s->now.q, s->now.v, NULL};
    bool good = mech_rates_vdot(&s->rates, &at, still, &ignored) == 0;
    const double size = 1e-7 * fmax(1e-3, length_of(s->now.q, nq));

    fill(x, 2 * n);
    for (int k = 0; k < ROUNDS && good; k++) {
        const double before = length_of(x, 2 * n);

        /* the two halves differ by the unit of time: x is weighed again only once a round */
        for (size_t i = 0; i < 2 * n; i++) {
            x[i] /= before;
        }
        good = apply(s, size, still, now, x) && apply(s, size, still, now, x);
        growth += k >= ROUNDS - COUNTED ? log(length_of(x, 2 * n)) : 0.;
    }
    free(x);
    return good ? exp(0.5 * growth / COUNTED) : NAN;
}

/* The same of the first-order states, one application a round. */
static double highest_state_rate(struct mech_sim *s)
{
    const size_t n = (size_t)s->sizes.x;
    struct mech_step_result ignored = {.iterations = 0};
    double *const x = calloc(4 * (n + 1), sizeof *x);
    double growth = 0.;

    if (!x || n == 0 || mech_sim_need_rates(s, &ignored)) {
        free(x);
        return NAN;
    }
    double *const still = x + n + 1, *const at = still + n + 1, *const rates = at + n + 1;
    const double time = s->now.at->time, size = 1e-7 * fmax(1e-3, length_of(s->now.x, n));
    bool good = mech_rates_xdot(&s->rates, &s->now, time, s->now.x, still, &ignored) == 0;

    fill(x, n);
    for (int k = 0; k < ROUNDS && good; k++) {
        const double step = size / length_of(x, n);

        for (size_t i = 0; i < n; i++) {
            at[i] = s->now.x[i] + step * x[i];
        }
        good = mech_rates_xdot(&s->rates, &s->now, time, at, rates, &ignored) == 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = (rates[i] - still[i]) / size;
        }
        good = good && isfinite(length_of(x, n));
        growth += k >= ROUNDS - COUNTED ? log(length_of(x, n)) : 0.;
    }
    free(x);
    return good ? exp(growth / COUNTED) : NAN;
}

void mech_sim_tell_failure(struct mech_sim *s, int code, const struct mech_step_result *result,
                           struct mech_step_report *report)
{
    const char *const reason = result->reason[0] ? result->reason : mech_err_text(code);
    char more[100] = "", kept[sizeof report->reason];

    if (code == MECH_NOT_FINITE || code == MECH_NOT_CONVERGED) {
        const bool unstable = code == MECH_NOT_FINITE && s->type->explicit_scheme;
        const double rate = unstable ? fmax(highest_rate(s), highest_state_rate(s)) : NAN;

        if (!strstr(reason, "t = ")) {
            mech_text_append(more, sizeof more, "; the step began at t = %.9g",
                             report->failed_time);
        }
        if (isfinite(rate) && rate > 0.) {
            mech_text_append(more, sizeof more,
                             "; explicit integrators need steps below about %.3g s", 2. / rate);
        }
    }
    mech_text_copy(kept, sizeof kept - strlen(more), reason);
    mech_text_copy(report->reason, sizeof report->reason, kept);
    mech_text_copy(report->reason + strlen(kept), sizeof report->reason - strlen(kept), more);
}
