/* Analyses about the committed state: they work on states of their own. */
#include "solver/sim/analysis.h"

#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rates of the façade, made when first needed. */
static int need_rates(struct mech_sim *s)
{
    struct mech_step_result result = {.iterations = 0};

    if (!s->has_rates) {
        MECH_TRY(mech_rates_init(&s->rates, s->model, NULL, &result));
        s->has_rates = true;
    }
    return 0;
}

int mech_sim_statics(struct mech_sim *s, const struct mech_statics_query *query,
                     struct mech_statics_report *report)
{
    struct mech_step_result result = {.iterations = 0};
    struct mech_state *const p = &s->point;

    mech_state_copy(&s->now, p);
    p->extra = NULL;
    MECH_TRY(mech_statics(s->model, p, &query->request, report));
    /* accelerations and multipliers at rest, which sensors may read */
    const int code = s->type->start(s->stepper, p, &result);
    if (code) {
        memcpy(report->reason, result.reason, sizeof report->reason);
        return code;
    }
    if (query->q) {
        memcpy(query->q, p->q, (size_t)s->sizes.q * sizeof *query->q);
    }
    if (query->outputs) {
        mech_sim_outputs_of(s, p, query->outputs);
    }
    if (query->keep) {
        p->at->changed = 0;
        mech_state_copy(p, &s->now);
        s->has_trial = false;
    }
    return 0;
}

int mech_sim_modes(const struct mech_sim *s, int32_t count, bool damped, struct mech_modes *out)
{
    return mech_modes(s->model, &s->now, count, damped, out);
}

/* --- linearization ---------------------------------------------------------------------------- */

int mech_sim_linearize_sizes(const struct mech_sim *s, struct mech_linearization *out, char *reason)
{
    const char *const obstacle = mech_analysis_obstacle(s->model, &s->now);
    const int64_t states = (int64_t)s->sizes.q + s->sizes.v + s->sizes.x;

    *out = (struct mech_linearization){0};
    if (obstacle || states > MECH_LINEARIZE_MOST) {
        snprintf(reason, 160, "%s", obstacle ? obstacle : "at most 1000 states are linearized");
        return MECH_UNSUPPORTED;
    }
    out->states = (int32_t)states;
    out->inputs = mech_linearize_inputs(s->model);
    out->outputs = mech_model_output_size(s->model);
    return 0;
}

int mech_sim_linearize(struct mech_sim *s, struct mech_linearization *out)
{
    const struct mech_point now = {.time = NAN};

    MECH_TRY(mech_sim_evaluate(s, &now, MECH_WANT_RHS_JACOBIAN, out->A));
    MECH_TRY(need_rates(s));
    s->point.extra = NULL;
    return mech_linearize(&s->rates, &s->now, &s->point, out);
}
