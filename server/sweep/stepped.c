/* Commands from row to row, or to the end, in slices. */
#include "server/sweep/stepped.h"

#include "server/call/service.h"
#include "server/os/ticks.h"
#include "server/sweep/sweep.h"
#include "solver/base/times.h"

#include <stdlib.h>
#include <string.h>

struct mechd_stepped *mechd_stepped_make(struct mechd_point *p, enum mechp_code invalid)
{
    struct mechd_stepped *const m = calloc(1, sizeof *m);
    if (m != NULL) {
        m->invalid = invalid;
    }
    p->self = m;
    return m;
}

void mechd_stepped_destroy(struct mechd_point *p)
{
    struct mechd_stepped *const m = p->self;
    if (m != NULL) {
        if (m->engine.ops != NULL) {
            mechd_engine_destroy(&m->engine);
        }
        free(m->outputs);
        free(m);
    }
    p->self = NULL;
}

enum mechp_code mechd_stepped_code(const struct mechd_stepped *m, int outcome)
{
    return outcome == MECH_INVALID ? m->invalid : mechp_code_of_outcome(outcome);
}

bool mechd_stepped_ready(struct mechd_point *p)
{
    struct mechd_stepped *const m = p->self;
    m->outputs = calloc(mechd_engine_output_size(&m->engine) + 1, sizeof *m->outputs);
    if (m->outputs == NULL) {
        return mechd_point_fail(p, mechp_code_of_outcome(MECH_NO_MEMORY),
                                mech_err_text(MECH_NO_MEMORY));
    }
    // nothing of a point that ends is used any more
    mechd_engine_set_interrupt(&m->engine, mechd_point_ends, mechd_point_ends, p);
    return true;
}

/* The next command of the point. False: it is at its end. */
static bool next_command(const struct mechd_point *point, struct mech_step_request *r)
{
    const struct mechd_sweep_plan *const p = &point->sweep->plan;
    const struct mechd_engine *const e = &((const struct mechd_stepped *)point->self)->engine;
    *r = (struct mech_step_request){.kind = p->counted ? MECH_STEP_COUNT : MECH_STEP_UNTIL};
    if (p->counted) {
        const uint64_t rest = p->count - mechd_engine_step_count(e);
        r->count = p->every > 0 && p->every < rest ? p->every : rest;
        return rest > 0;
    }
    // row k is at start + k × every × h: rounding does not add up
    const double at = p->start + (double)point->rows * (double)p->every * p->h;
    r->until = p->every > 0 && mech_time_before(at, p->until, mech_time_scale(at, p->start, p->h))
                   ? at
                   : p->until;
    return mechd_engine_time(e) < p->until;
}

/* Internal steps until about that time. */
static int step(struct mechd_point *p, struct mechd_stepped *m, uint64_t until, bool *done)
{
    const uint64_t before = m->report.steps, from = mechd_now();
    const double time = from < until ? (double)(until - from) : 0.;
    p->step_ns = p->step_ns > 0. ? p->step_ns : 1e5;
    const int outcome =
        mechd_engine_step_advance(&m->engine, 1 + (uint64_t)(time / p->step_ns), done);
    const uint64_t steps = m->report.steps - before;
    if (steps > 0) {
        p->step_ns = 0.5 * p->step_ns + 0.5 * (double)(mechd_now() - from) / (double)steps + 1.;
    }
    mechd_count(&mechd_tally(&p->sweep->service->host.counters)->steps, steps);
    return outcome;
}

enum mechd_point_state mechd_stepped_advance(struct mechd_point *p, uint64_t until)
{
    struct mechd_stepped *const m = p->self;
    struct mech_step_request request;
    bool done = false;
    int outcome = 0;
    if (!m->stepping) {
        if (!next_command(p, &request)) {
            return MECHD_POINT_ENDED;
        }
        outcome = mechd_engine_step_begin(&m->engine, &request, &m->report);
        m->stepping = outcome == 0;
    }
    if (outcome == 0) {
        outcome = step(p, m, until, &done);
    }
    if (outcome != 0) {
        mechd_point_fail(p, mechd_stepped_code(m, outcome),
                         m->report.reason[0] != '\0' ? m->report.reason : mech_err_text(outcome));
        return MECHD_POINT_FAILED;
    }
    if (!done) {
        return MECHD_POINT_GOES_ON;
    }
    mechd_engine_step_finish(&m->engine);
    m->stepping = false;
    return p->sweep->plan.every > 0 ? MECHD_POINT_ROW : MECHD_POINT_GOES_ON;
}

void mechd_stepped_record(const struct mechd_point *p, double *row)
{
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    const struct mechd_stepped *const m = p->self;
    mechd_engine_get_outputs(&m->engine, m->outputs);
    *row++ = mechd_engine_time(&m->engine);
    for (size_t k = 0; k < plan->output_count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&m->engine, MECH_OUTPUT_VARIABLE, (size_t)plan->outputs[k].index, &v);
        memcpy(row, m->outputs + v.offset, (size_t)v.size * sizeof *row);
        row += v.size;
    }
}
