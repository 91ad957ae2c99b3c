/* GET …/linearization and POST …/jvp: A, B, C, D at the present state, and directional derivatives
 * of a step. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/json.h"
#include "server/call/shapes.h"
#include "server/instance/deriving.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- linearization --------------------------------------------------------------------------- */

/* A basis of the free motions, one column of it after the other. */
struct basis {
    const double *columns; /* [count x n], or NULL: there is none */
    int32_t n, count;
};

/* A row a velocity. */
static void write_basis(const void *of, struct mechp_text *w)
{
    const struct basis *const b = of;
    mechp_text_array(w);
    for (int32_t i = 0; i < b->n; i++) {
        mechp_text_array(w);
        for (int32_t k = 0; k < b->count; k++) {
            mechp_text_number(w, b->columns[(size_t)k * (size_t)b->n + (size_t)i]);
        }
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

static void write_linearization(struct mechd_call *c, const struct mech_linearization *l)
{
    const struct mechd_instance *const i = c->job.instance;
    const struct mech_motions *const b = &l->motions;
    const struct mechd_labels inputs = {i, MECH_INPUT, false};
    const struct mechd_labels outputs = {i, MECH_OUTPUT_VARIABLE, true};
    const struct mechd_matrix A = {l->A, l->states, l->states}, B = {l->B, l->states, l->inputs},
                              C = {l->C, l->outputs, l->states}, D = {l->D, l->outputs, l->inputs};
    const struct basis Q = {b->Q, b->n, b->positions}, V = {b->V, b->n, b->velocities};
    const struct mechp_body_linearization_sizes sizes = {
        .q = b->positions, .v = b->velocities, .x = l->states - b->positions - b->velocities};
    const struct mechp_body_linearization body = {
        .time = mechd_engine_time(&i->engine),
        .sizes = MECHP_INNER(linearization_sizes, &sizes),
        .inputs = {mechd_write_labels, &inputs},
        .outputs = {mechd_write_labels, &outputs},
        .A = {mechd_write_matrix, &A},
        .B = {mechd_write_matrix, &B},
        .C = {mechd_write_matrix, &C},
        .D = {mechd_write_matrix, &D},
        .basis = {Q.columns != NULL ? write_basis : NULL, &Q},
        .velocity_basis = {V.columns != NULL ? write_basis : NULL, &V}};
    MECHP_WRITE(linearization, &body, &c->text);
}

static void linearize(struct mechd_call *c, struct mech_linearization *l)
{
    const size_t states = (size_t)l->states, inputs = (size_t)l->inputs;
    const size_t outputs = (size_t)l->outputs;
    double *room = mechd_doubles(c, (states + outputs) * (states + inputs));
    char reason[160] = "";
    if (room == NULL) {
        return;
    }
    l->A = room;
    l->B = l->A + states * states;
    l->C = l->B + states * inputs;
    l->D = l->C + outputs * states;
    struct mechd_effort effort;
    mechd_call_watch(c, &effort);
    const int outcome = mech_sim_linearize(c->job.instance->sim, l, reason);
    mechd_call_unwatch(c, &effort);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, reason);
    } else {
        write_linearization(c, l);
    }
    free(room);
}

static enum mechd_progress run_linearization(struct mechd_call *c)
{
    struct mech_linearization l;
    char reason[160] = "";
    struct mechd_effort effort;
    mechd_call_watch(c, &effort);
    const int outcome = mech_sim_linearize_init(c->job.instance->sim, &l, reason);
    mechd_call_unwatch(c, &effort);
    if (outcome != 0) {
        mechd_fail_reason(c, outcome, reason);
    } else {
        linearize(c, &l);
    }
    mech_linearize_fini(&l);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_LINEARIZATION = {.run = run_linearization};

/* --- derivatives of a step ------------------------------------------------------------------- */

/* Internal steps of one derivative: some seconds of a small model. */
static const uint64_t steps_most = 1000000;
/* The direction of the inputs, packed; NULL when none is given. */
static double *read_direction(struct mechd_call *c, const json_t *given)
{
    const struct mech_sim *sim = c->job.instance->sim;
    struct mechd_inputs in;
    if (given == NULL) {
        return NULL;
    }
    double *packed = mechd_doubles(c, mech_sim_input_size(sim));
    mechd_read_inputs(c, given, NULL, "/inputs", &in);
    for (size_t k = 0; k < in.count && packed != NULL && mech_diag_clean(&c->diag); k++) {
        const struct mech_input_change *change = &in.changes[k];
        struct mech_variable v;
        mech_sim_variable(sim, MECH_INPUT, (size_t)change->index, &v);
        if (change->values != NULL) {
            memcpy(packed + v.offset, change->values, (size_t)v.size * sizeof *packed);
        }
    }
    mechd_inputs_fini(&in);
    return packed;
}

struct jvp_work {
    struct mech_step_request step;
    double *q, *v, *x, *inputs; /* the direction */
    double *room;               /* of the results */
    struct mech_jvp jvp;
    struct mechd_deriving deriving;
};

static void free_jvp(struct mechd_call *c)
{
    struct jvp_work *w = c->work;
    free(w->q);
    free(w->v);
    free(w->x);
    free(w->inputs);
    free(w->room);
    mechd_call_give_room(c, w);
}

/* Everything before the first slice. False: refused. */
static bool begin_jvp(struct mechd_call *c, struct jvp_work *w)
{
    struct mech_sim *sim = c->job.instance->sim;
    const struct mech_sizes n = mech_sim_sizes(sim);
    const size_t q = (size_t)n.q, v = (size_t)n.v, x = (size_t)n.x;
    struct mechp_body_jvp_request in;
    MECHP_READ(jvp_request, c->body, &c->diag, &in);
    mechd_set_extent(c, (struct mechd_extent){in.size, in.until, in.count}, &w->step);
    w->q = mechd_read_numbers(c, in.q, "/q", n.q);
    w->v = mechd_read_numbers(c, in.v, "/v", n.v);
    w->x = mechd_read_numbers(c, in.x, "/x", n.x);
    w->inputs = read_direction(c, in.inputs);
    if (!mech_diag_clean(&c->diag) || c->code != MECHP_OK) {
        return false;
    }
    if (!mechd_deriving_may(c->job.instance, &w->deriving)) {
        mechd_fail_quota(c, &w->deriving.excess);
        return false;
    }
    w->room = mechd_doubles(c, q + 2 * v + x + mech_sim_output_size(sim));
    if (w->room == NULL) {
        return false;
    }
    w->jvp = (struct mech_jvp){.step = &w->step, .q = w->q, .v = w->v, .x = w->x};
    w->jvp.inputs = w->inputs;
    w->jvp.dq = w->room;
    w->jvp.dv = w->jvp.dq + q;
    w->jvp.dvdot = w->jvp.dv + v;
    w->jvp.dx = w->jvp.dvdot + v;
    w->jvp.outputs = w->jvp.dx + x;
    w->jvp.steps_most = steps_most;
    struct mech_derivation *work = NULL;
    const int outcome = mech_sim_jvp_begin(sim, &w->jvp, &work);
    mechd_deriving_take(c->job.instance, &w->deriving, work);
    if (outcome != 0) {
        mechd_deriving_fini(&w->deriving);
        mechd_fail_reason(c, outcome, w->jvp.derived.reason);
    }
    return outcome == 0;
}

static void write_jvp(struct mechd_call *c, const struct mech_jvp *jvp)
{
    const struct mech_sizes n = mech_sim_sizes(c->job.instance->sim);
    const struct mechd_packed outputs = {&c->job.instance->engine, MECH_OUTPUT_VARIABLE,
                                         jvp->outputs};
    const struct mechp_body_jvp body = {.time = jvp->derived.time,
                                        .steps = jvp->derived.steps,
                                        .differenced = jvp->derived.differenced,
                                        .kinked = jvp->derived.kinked,
                                        .outputs = {mechd_write_packed, &outputs},
                                        .q = {jvp->dq, (size_t)n.q},
                                        .v = {jvp->dv, (size_t)n.v},
                                        .a = {jvp->dvdot, (size_t)n.v},
                                        .x = {jvp->dx, (size_t)n.x}};
    MECHP_WRITE(jvp, &body, &c->text);
}

static enum mechd_progress run_jvp(struct mechd_call *c)
{
    struct jvp_work *w = c->work;
    if (w == NULL) {
        w = mechd_call_take_room(c, sizeof *w);
        if (w == NULL) {
            return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for derivatives");
        }
        c->work = w;
        c->work_free = free_jvp;
        if (!begin_jvp(c, w)) {
            return MECHD_DONE;
        }
    }
    const enum mechd_progress progress =
        mechd_deriving_slice(c->job.instance, &w->deriving, mechd_call_asks, c);
    if (progress != MECHD_DONE) {
        return progress;
    }
    c->why = w->deriving.why;
    if (c->why == MECHD_STOP_QUOTA) {
        return mechd_fail_quota(c, &w->deriving.excess);
    }
    if (w->deriving.outcome != 0) {
        mechd_fail_reason(c, w->deriving.outcome, w->jvp.derived.reason);
        return MECHD_DONE;
    }
    write_jvp(c, &w->jvp);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_JVP = {.run = run_jvp};
