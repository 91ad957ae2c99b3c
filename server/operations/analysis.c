/* POST …/statics and GET …/modes: equilibrium, and vibrations about the present state. */
#include "solver/sim/analysis.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/effort.h"
#include "server/instance/stepping.h"
#include "server/os/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODES_PRESET = 10 };

/* Most numbers of shapes in one answer. */
static const size_t shapes_most = 4u << 20;

/* --- statics --------------------------------------------------------------------------------- */

static void write_report(const void *of, struct mechp_text *w)
{
    const struct mech_statics_report *const r = of;
    const struct mechp_body_statics_report body = {.load_steps = r->load_steps,
                                                   .iterations = r->iterations,
                                                   .residual = r->residual,
                                                   .linear = r->linear};
    MECHP_WRITE(statics_report, &body, w);
}

static void write_statics(const struct mechd_call *c, const struct mech_statics_report *r,
                          const struct mech_statics_query *query, struct mechp_text *w)
{
    const struct mechd_instance *i = c->job.instance;
    const struct mechd_packed outputs = {&i->engine, MECH_OUTPUT_VARIABLE, query->outputs};
    const struct mechp_body_statics body = {.time = mechd_engine_time(&i->engine),
                                            .outputs = {mechd_write_packed, &outputs},
                                            .q = {query->q, (size_t)mech_sim_sizes(i->sim).q},
                                            .report = {write_report, r}};
    MECHP_WRITE(statics, &body, w);
}

static enum mechd_progress run_statics(struct mechd_call *c)
{
    struct mech_sim *sim = c->job.instance->sim;
    struct mechp_body_statics_request in;
    MECHP_READ(statics_request, c->body, &c->diag, &in);
    const bool keeps = in.commit == NULL || *in.commit;
    struct mech_statics_query query = {.keep = false};
    struct mech_statics_report report;
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    query.request.load_steps = in.load_steps > 0 ? (int32_t)in.load_steps : 1;
    query.q = mechd_doubles(c, (size_t)mech_sim_sizes(sim).q);
    query.outputs = mechd_doubles(c, mech_sim_output_size(sim));
    if (query.q != NULL && query.outputs != NULL) {
        struct mechd_effort effort = {.start = mechd_now(), .asks = mechd_call_asks, .of = c};
        mechd_effort_begin(c->job.instance, &effort);
        const int outcome = mech_sim_statics(sim, &query, &report);
        mechd_call_unwatch(c, &effort);
        if (outcome == MECH_CANCELLED && c->why == MECHD_STOP_QUOTA) {
            struct mechd_excess excess;
            mechd_effort_exceeds(c->job.instance, mechd_now() - effort.start, &excess);
            mechd_fail_quota(c, &excess);
        } else if (outcome != 0) {
            mechd_fail_reason(c, outcome, report.reason);
        } else if (!keeps) {
            write_statics(c, &report, &query, &c->text);
        } else if (mechd_call_close(c)) {
            mech_sim_statics_keep(sim);
            write_statics(c, &report, &query, &c->text);
            mechd_instance_changed(c->job.instance, 0);
        }
    }
    free(query.q);
    free(query.outputs);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_STATICS = {.run = run_statics};

/* --- modes ----------------------------------------------------------------------------------- */

static void write_mode(const struct mech_modes *modes, int32_t i, struct mechp_text *w)
{
    const struct mech_mode *mode = &modes->modes[i];
    const size_t n = (size_t)modes->n, first = (size_t)i * n;
    const double *const imaginary = modes->imaginary;
    const struct mechp_body_mode body = {
        .frequency = mode->frequency,
        .damping = mode->damping,
        .omega2 = mode->square,
        .re = mode->re,
        .im = mode->im,
        .residual = mode->residual,
        .shape = {modes->shapes + first, n},
        .imaginary = {imaginary != NULL ? imaginary + first : NULL, n}};
    MECHP_WRITE(mode, &body, w);
}

static void write_modes(const void *of, struct mechp_text *w)
{
    const struct mech_modes *const modes = of;
    mechp_text_array(w);
    for (int32_t i = 0; i < modes->count; i++) {
        write_mode(modes, i, w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_modes(struct mechd_call *c)
{
    struct mech_sim *sim = c->job.instance->sim;
    struct mech_modes modes;
    struct mechp_query_modes asked;
    MECHD_ASK(modes, c, &asked);
    const int64_t count = asked.count > 0 ? asked.count : MODES_PRESET;
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    if ((size_t)count * (size_t)mech_sim_sizes(sim).v > shapes_most) {
        return mechd_fail(c, MECHP_LIMIT_REACHED,
                          "%d shapes of %d numbers are too many; request fewer", (int)count,
                          (int)mech_sim_sizes(sim).v);
    }
    struct mechd_effort effort;
    mechd_call_watch(c, &effort);
    const int outcome = mech_sim_modes(sim, (int32_t)count, asked.complex, &modes);
    mechd_call_unwatch(c, &effort);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, modes.reason);
    } else {
        const struct mechp_body_modes body = {.time = mech_sim_time(sim),
                                              .linear = modes.linear,
                                              .speed = modes.speed,
                                              .acceleration = modes.acceleration,
                                              .modes = {write_modes, &modes}};
        MECHP_WRITE(modes, &body, &c->text);
    }
    mech_modes_fini(&modes);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_MODES = {.run = run_modes};
