/* Points that are one model: built with the point's values in place of the document's, so that
 * initial values follow them too, and stepped as a private simulation. */
#include "server/sweep/point.h"

#include "protocol/bind/bind.h"
#include "server/call/service.h"
#include "server/os/ticks.h"
#include "server/sweep/sweep.h"
#include "solver/base/times.h"

#include <stdio.h>
#include <stdlib.h>

struct model {
    struct mech_sim *sim;
    bool stepping; /* a command is in progress */
    struct mech_step_report report;
};

static void destroy(struct mechd_point *p)
{
    struct model *const m = p->self;
    if (m != NULL) {
        mech_sim_destroy(m->sim);
        free(m);
    }
    p->self = NULL;
}

/* True if the simulation has the outputs and the step that the rows are made for. */
static bool fits(const struct mechd_sweep_plan *p, const struct mech_sim *sim)
{
    bool good = p->every == 0 || p->counted || mech_sim_step_size(sim) == p->h;
    for (size_t k = 0; good && k < p->output_count; k++) {
        const struct mechd_sweep_output *o = &p->outputs[k];
        struct mech_variable v;
        good = o->index < (int32_t)mech_sim_variable_count(sim, MECH_OUTPUT_VARIABLE);
        if (good) {
            mech_sim_variable(sim, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
            good = v.size == o->size;
        }
    }
    return good;
}

static enum mechp_code code_of(int outcome)
{
    return outcome == MECH_INVALID ? MECHP_INVALID_MODEL : mechp_code_of_outcome(outcome);
}

/* The model with the point's values. */
static int make_sim(struct mechd_point *p, struct model *m)
{
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    struct mech_document *document = NULL;
    struct mech_diag diag;
    mech_diag_init(&diag);
    int outcome = mechp_bind_read(plan->of, "", &diag, &document);
    for (size_t k = 0; outcome == 0 && k < plan->places; k++) {
        document->parameters.at[plan->index[k]].value = p->values[k];
    }
    if (outcome == 0) {
        outcome = mech_sim_create(document, &diag, &m->sim);
    }
    if (outcome != 0) {
        mech_document_destroy(document);
    }
    const bool told = diag.count > 0;
    snprintf(p->reason, sizeof p->reason, "%.60s%s%.128s", told ? diag.entries[0].path : "",
             told ? ": " : "", told ? diag.entries[0].text : mech_err_text(outcome));
    mech_diag_fini(&diag);
    return outcome;
}

static bool build(struct mechd_point *p)
{
    struct model *const m = calloc(1, sizeof *m);
    p->self = m;
    const int outcome = m != NULL ? make_sim(p, m) : MECH_NO_MEMORY;
    if (outcome != 0) {
        p->code = code_of(outcome);
        return false;
    }
    mech_sim_set_interrupt(m->sim, mechd_point_ends, p);
    if (!fits(&p->sweep->plan, m->sim)) {
        return mechd_point_fail(p, MECHP_INVALID_MODEL,
                                "these values change the outputs or the recorded step");
    }
    return true;
}

/* The next command of the point. False: it is at its end. */
static bool next_command(const struct mechd_point *point, struct mech_step_request *r)
{
    const struct mechd_sweep_plan *const p = &point->sweep->plan;
    const struct mech_sim *const sim = ((const struct model *)point->self)->sim;
    const uint64_t steps = mech_sim_step_count(sim);
    *r = (struct mech_step_request){.kind = p->counted ? MECH_STEP_COUNT : MECH_STEP_UNTIL};
    if (p->counted) {
        const uint64_t rest = p->count - steps;
        r->count = p->every > 0 && p->every < rest ? p->every : rest;
        return rest > 0;
    }
    // row k is at start + k × every × h: rounding does not add up
    const double at = p->start + (double)point->rows * (double)p->every * p->h;
    r->size = p->every > 0 && mech_time_before(at, p->until, p->h) ? at : p->until;
    return mech_sim_time(sim) < p->until;
}

/* Internal steps until about that time. */
static int step(struct mechd_point *p, struct model *m, uint64_t until, bool *done)
{
    const uint64_t before = m->report.steps, from = mechd_now();
    const double time = from < until ? (double)(until - from) : 0.;
    p->step_ns = p->step_ns > 0. ? p->step_ns : 1e5;
    const int outcome = mech_sim_step_advance(m->sim, 1 + (uint64_t)(time / p->step_ns), done);
    const uint64_t steps = m->report.steps - before;
    if (steps > 0) {
        p->step_ns = 0.5 * p->step_ns + 0.5 * (double)(mechd_now() - from) / (double)steps + 1.;
    }
    mechd_count(&mechd_tally(&p->sweep->service->host.counters)->steps, steps);
    return outcome;
}

static enum mechd_point_state advance(struct mechd_point *p, uint64_t until)
{
    struct model *const m = p->self;
    struct mech_step_request request;
    bool done = false;
    int outcome = 0;
    if (!m->stepping) {
        if (!next_command(p, &request)) {
            return MECHD_POINT_ENDED;
        }
        outcome = mech_sim_step_begin(m->sim, &request, &m->report);
        m->stepping = outcome == 0;
    }
    if (outcome == 0) {
        outcome = step(p, m, until, &done);
    }
    if (outcome != 0) {
        mechd_point_fail(p, code_of(outcome),
                         m->report.reason[0] != '\0' ? m->report.reason : mech_err_text(outcome));
        return MECHD_POINT_FAILED;
    }
    if (!done) {
        return MECHD_POINT_GOES_ON;
    }
    mech_sim_step_finish(m->sim);
    m->stepping = false;
    return p->sweep->plan.every > 0 ? MECHD_POINT_ROW : MECHD_POINT_GOES_ON;
}

static void record(const struct mechd_point *point, double *row)
{
    const struct mechd_sweep_plan *const p = &point->sweep->plan;
    const struct mech_sim *const sim = ((const struct model *)point->self)->sim;
    *row++ = mech_sim_time(sim);
    for (size_t k = 0; k < p->output_count; k++) {
        mech_sim_get_output(sim, p->outputs[k].index, row);
        row += p->outputs[k].size;
    }
}

static void drop(void *of)
{
    json_decref(of);
}

const struct mechd_point_ops mechd_points_of_model = {
    .build = build, .advance = advance, .record = record, .destroy = destroy, .drop = drop};
