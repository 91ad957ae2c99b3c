/* Analyses about the committed state: they work on states of their own. */
#include "solver/sim/analysis.h"

#include "solver/analysis/shapes.h"
#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/internal.h"

#include <string.h>

/* The committed state with consistent v̇ and λ into s->point. */
static int start_point(struct mech_sim *s, char *reason)
{
    struct mech_step_result result = {.iterations = 0};
    struct mech_state *const p = &s->point;

    mech_state_copy(&s->now, p);
    p->extra = p->wrench = NULL;
    const int code = p->at->changed ? s->type->start(s->stepper, p, &result) : 0;
    if (code) {
        memcpy(reason, result.reason, sizeof result.reason);
    }
    return code;
}

/* The result of an analysis: an interruption precedes all else. The next one starts without it. */
static int finish(struct mech_sim *s, int code, char *reason)
{
    if (code >= 0 && mech_sim_interrupted(s)) {
        mech_text_format(reason, 160, "%s", mech_err_text(MECH_CANCELLED));
        code = MECH_CANCELLED;
    }
    mech_sim_watch(s);
    return code;
}

/* The equilibrium into s->point, with accelerations and multipliers at rest, which sensors may
 * read. No step has led there: impulses of contacts are none any more, and nothing belongs to a
 * step size. Contacts by penalty are those of the equilibrium. */
static int equilibrium(struct mech_sim *s, const struct mech_statics_query *query,
                       struct mech_statics_report *report)
{
    struct mech_step_result result = {.iterations = 0};

    MECH_TRY(mech_statics(s->model, &s->point, &query->request, report));
    s->point.at->size = 0.;
    if (!mech_model_penalty(s->model)) {
        (void)mech_state_touch(&s->point, 0);
    }
    const int code = s->type->start(s->stepper, &s->point, &result);
    if (code) {
        memcpy(report->reason, result.reason, sizeof report->reason);
        return code;
    }
    struct mech_unshown why = {.what = "the residual"};
    if (!isfinite(report->residual) || mech_sim_state_fits(s, &s->point, MECH_SHOWS_NONE, &why)) {
        mech_text_format(report->reason, sizeof report->reason,
                         "%.100s is infinite or not a number", why.what);
        return MECH_NOT_FINITE;
    }
    return 0;
}

void mech_sim_statics_keep(struct mech_sim *s)
{
    s->point.at->changed = MECH_CHANGED_MOTION;
    mech_state_copy(&s->point, &s->now);
    s->has_trial = false;
    s->shows = MECH_SHOWS_NONE;
}

int mech_sim_statics(struct mech_sim *s, const struct mech_statics_query *query,
                     struct mech_statics_report *report)
{
    struct mech_state *const p = &s->point;

    mech_state_copy(&s->now, p);
    p->extra = NULL;
    MECH_TRY(finish(s, equilibrium(s, query, report), report->reason));
    if (query->q) {
        memcpy(query->q, p->q, (size_t)s->sizes.q * sizeof *query->q);
    }
    if (query->outputs) {
        mech_sim_outputs_of(s, p, query->outputs);
    }
    if (query->keep) {
        mech_sim_statics_keep(s);
    }
    return 0;
}

int mech_sim_modes(struct mech_sim *s, int32_t count, bool damped, struct mech_modes *out)
{
    char reason[160] = "";
    const int code = start_point(s, reason);

    if (code) {
        *out = (struct mech_modes){.n = 0};
        mech_arena_init(&out->arena, 0);
        memcpy(out->reason, reason, sizeof out->reason);
        return finish(s, code, out->reason);
    }
    return finish(s, mech_modes(s->model, &s->point, &s->sizes, count, damped, out), out->reason);
}

/* --- linearization ---------------------------------------------------------------------------- */

int mech_sim_linearize_init(struct mech_sim *s, struct mech_linearization *out, char *reason)
{
    const char *const touching = mech_analysis_pressed(s->model, &s->now);
    const char *const pressed = touching ? touching : mech_modes_rows(s->model);

    *out = (struct mech_linearization){.states = 0};
    mech_arena_init(&out->motions.arena, 0);
    if (pressed || s->sizes.v > MECH_LINEARIZE_MOST / 2 ||
        2 * s->sizes.v + s->sizes.x > MECH_LINEARIZE_MOST) {
        mech_text_format(reason, 160, "%s",
                         pressed ? pressed : "at most 1000 states are linearized");
        return MECH_UNSUPPORTED;
    }
    int code = start_point(s, reason);

    code = code ? code : mech_analysis_touches(s->model, &s->point, reason);
    return finish(s, code ? code : mech_linearize_init(out, s->model, &s->point, false), reason);
}

int mech_sim_linearize(struct mech_sim *s, struct mech_linearization *out, char *reason)
{
    struct mech_step_result result = {.iterations = 0};
    const int code = mech_linearize(out, s->model, &s->point, &s->sizes, &result);

    if (code) {
        memcpy(reason, result.reason, sizeof result.reason);
    }
    return finish(s, code, reason);
}
