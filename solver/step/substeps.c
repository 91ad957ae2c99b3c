/* The loop over the substeps of a step; see substeps.h. */
#include "solver/step/substeps.h"

#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mech_substeps_init(struct mech_substeps *d, const struct mech_model *m, int32_t carry)
{
    struct mech_state_sizes n = *mech_model_sizes(m);

    n.carry = carry;
    d->model = m;
    d->memory = calloc(1, mech_state_bytes(&n));
    if (!d->memory) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&n, d->memory, &d->start);
    return 0;
}

void mech_substeps_fini(struct mech_substeps *d)
{
    free(d->memory);
    *d = (struct mech_substeps){0};
}

/* Largest substep of a step of h. */
static double most_of(const struct mech_substeps *d, double h)
{
    const struct mech_settings *const s = mech_model_settings(d->model);
    const double most = s->adaptive.maximum_step;

    if (d->beyond) {
        return most > 0. ? most : s->step_size;
    }
    return most > 0. ? fmin(most, h) : h;
}

/* One substep and its error; an outcome is an error without a number. */
static int try_one(struct mech_substeps *d, struct mech_state *s, double h, double t_end,
                   double *error, struct mech_step_result *result)
{
    int code = d->step(d->self, s, h, t_end, result);

    code = code ? code : d->estimate(d->self, &d->start, s, h, error, result);
    *error = code > 0 ? NAN : *error;
    return code;
}

/* Why it ends: what the last substep came to, or its error. */
static int too_small(const struct mech_substeps *d, double t, int code,
                     struct mech_step_result *result)
{
    const double least = mech_model_settings(d->model)->adaptive.minimum_step;
    char last[64] = "the error";

    if (code > 0) {
        snprintf(last, sizeof last, "%.63s",
                 result->reason[0] ? result->reason : mech_err_text(code));
    }
    mech_text_format(result->reason, sizeof result->reason,
                     "%s%s substeps under %.3g s at t = %.9g, or too many of them", last,
                     code > 0 ? ", which requires" : " requires", least, t);
    return MECH_STEP_TOO_SMALL;
}

int mech_substeps_run(struct mech_substeps *d, struct mech_state *s, double h, double t_end,
                      struct mech_step_result *result)
{
    struct mech_control c;
    double error = 0.;

    mech_control_begin(&c, &mech_model_settings(d->model)->adaptive, d->lower, most_of(d, h),
                       s->carry[0]);
    c.even = d->even;
    while (s->at->time < t_end) {
        const double t = s->at->time;
        const double end = mech_control_plan(&c, t, d->beyond ? HUGE_VAL : t_end);

        /* a size close to the last counts as the same: nothing is factored again */
        c.step = fabs(c.step - h) <= 1e-9 * h ? h : c.step;
        mech_state_copy(s, &d->start);
        const uint64_t logged = result->log ? result->log->total : 0;
        const int code = try_one(d, s, c.step, end, &error, result);
        if (code < 0) {
            return code;
        }
        const bool good = mech_control_judge(&c, error);
        if (good) {
            s->at->time = end;
            mech_model_keep(d->model, s);
            result->substeps++;
        } else {
            mech_state_copy(&d->start, s);
            result->refused++;
            if (result->log) {
                mech_event_log_cut(result->log, logged);
            }
        }
        if ((result->substeps + result->refused) % MECH_SUBSTEPS_ASK_EVERY == 0 &&
            mech_interrupted(mech_model_interrupt(d->model))) {
            return MECH_CANCELLED;
        }
        if (mech_control_exhausted(&c, s->at->time)) {
            return too_small(d, s->at->time, good ? 0 : code, result);
        }
    }
    result->reason[0] = '\0';
    s->carry[0] = c.next;
    return 0;
}
