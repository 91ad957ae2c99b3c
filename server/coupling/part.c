/* Tasks of a coupling on an instance. Inputs are polynomials over the window: their value and two
 * derivatives at its start, with which the instance extrapolates them. */
#include "server/coupling/outside.h"
#include "server/coupling/share.h"

#include "protocol/frame/frame.h"
#include "server/instance/durable.h"
#include "server/instance/host.h"
#include "server/instance/stepping.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/sim/analysis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER_MOST = 2 };
_Static_assert((int)MECH_FLOW_ORDER == (int)MECH_COUPLE_HOLD_MOST, "moments of all holds");

/* p->taylor at the start of a whole window; its order. */
static int32_t expand(struct mechd_part *p, const struct mech_couple_task *task)
{
    const int32_t order = task->order < ORDER_MOST ? task->order : ORDER_MOST;
    double factorial = 1.;
    for (int32_t r = 0; r <= order; r++) {
        factorial *= r > 1 ? r : 1.;
        for (int32_t i = 0; i < p->in_count; i++) {
            p->taylor[r * p->in_count + i] = factorial * task->polynomial[r * p->in_count + i];
        }
    }
    return order;
}

/* Numbers of r-th derivatives are adjacent for an input: value, first, second. */
static int read_changes(struct mechd_part *p, int32_t order)
{
    struct mechd_engine *const e = &p->instance->engine;
    double *at = p->numbers;
    int count = 0;
    for (int32_t i = 0; i < p->in_count;) {
        struct mech_variable v;
        mechd_engine_variable(e, MECH_INPUT, (size_t)p->in[i].index, &v);
        const size_t size = (size_t)v.size;
        // components that nothing drives stay as they are
        mechd_engine_get_input(e, v.index, at);
        memset(at + size, 0, size * (size_t)order * sizeof *at);
        for (; i < p->in_count && p->in[i].index == v.index; i++) {
            for (int32_t r = 0; r <= order; r++) {
                at[(size_t)r * size + (size_t)p->in[i].component] =
                    p->taylor[(size_t)r * (size_t)p->in_count + (size_t)i];
            }
        }
        p->changes[count++] =
            (struct mech_input_change){.index = v.index,
                                       .order = order,
                                       .values = at,
                                       .derivatives = order > 0 ? at + size : NULL};
        at += size * (size_t)(order + 1);
    }
    return count;
}

static void take_outputs(const struct mechd_part *p, double *outputs)
{
    for (int32_t i = 0; i < p->out_count; i++) {
        struct mech_variable v;
        mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)p->out[i].index,
                              &v);
        outputs[i] = p->outputs[v.offset + p->out[i].component];
    }
}

void mechd_part_now(struct mechd_part *p, double *outputs)
{
    mechd_engine_get_outputs(&p->instance->engine, p->outputs);
    take_outputs(p, outputs);
}

/* Add those of a piece that begins `at` s behind the window's start: ∫ (at + τ)^r w dτ. */
static void add_moments(struct mechd_part *p, double at)
{
    const size_t all = mechd_engine_input_size(&p->instance->engine);
    for (int32_t i = 0; i < p->in_count; i++) {
        struct mech_variable v;
        mechd_engine_variable(&p->instance->engine, MECH_INPUT, (size_t)p->in[i].index, &v);
        const double *const m = p->moments + v.offset + p->in[i].component;
        for (int32_t r = 0; r <= MECH_FLOW_ORDER; r++) {
            double choose = 1., sum = 0.;
            for (int32_t j = r; j >= 0; j--) {
                sum += choose * pow(at, r - j) * m[(size_t)j * all];
                choose = choose * j / (r - j + 1);
            }
            p->sums[r * p->in_count + i] += sum;
        }
    }
}

static void fail(struct mech_couple_task *task, int code, const char *reason)
{
    task->code = code;
    mech_text_format(task->reason, sizeof task->reason, "%s",
                     reason[0] != '\0' ? reason : mech_err_text(code));
}

/* y(t) with the inputs given. */
static void tell_outputs(struct mechd_part *p, struct mech_couple_task *task)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int count = read_changes(p, expand(p, task));
    const int code =
        mechd_engine_set_inputs(&p->instance->engine, p->changes, (size_t)count, &diag);
    if (code != 0) {
        fail(task, code, diag.count > 0 ? diag.entries[0].text : "");
    } else {
        mechd_part_now(p, task->outputs);
    }
    mech_diag_fini(&diag);
}

/* Up to the time at which the coupling has its end: what it adds up is not what an instance does.
 */
static int begin_trial(struct mechd_part *p, const struct mech_couple_task *task)
{
    double until = task->time + task->size;
    if (p->pieces > 0) {
        MECH_TRY(mechd_piece_begin(p, task, &until));
    }
    const int32_t order = p->pieces > 0 ? ORDER_MOST : expand(p, task);
    const struct mech_step_request request = {.kind = MECH_STEP_UNTIL,
                                              .until = until,
                                              .inputs = p->changes,
                                              .input_count = (size_t)read_changes(p, order),
                                              .trial = p->pieces == 0,
                                              .moments = task->want_moments ? p->moments : NULL};
    if (p->piece == 0) {
        memset(p->sums, 0, (MECH_FLOW_ORDER + 1) * (size_t)p->in_count * sizeof *p->sums);
    }
    return mechd_engine_step_begin(&p->instance->engine, &request, &p->report);
}

/* --- the Jacobian ----------------------------------------------------------------------------- */

double *mechd_part_jacobian_room(struct mechd_part *p, double size)
{
    struct mech_sim *const sim = p->instance->sim;
    for (int32_t i = 0; i < p->in_count && sim != NULL; i++) {
        if (mech_sim_input_is_parameter(sim, p->in[i].index)) {
            return NULL;
        }
    }
    if (sim == NULL || p->in_count == 0) {
        return NULL;
    }
    const struct mech_step_request step = {.kind = MECH_STEP_SIZE, .size = size};
    const struct mech_jacobian_query query = {.step = &step};
    double *const room =
        calloc(mech_sim_output_size(sim) * mech_sim_input_size(sim) + 1, sizeof *room);
    struct mech_derivation *d = NULL;
    const int code =
        room != NULL ? mech_sim_jacobian_begin(sim, &query, room, &p->derived, &d) : MECH_INVALID;
    mech_sim_derivation_end(d);
    if (code != 0) {
        free(room);
    }
    return code == 0 ? room : NULL;
}

static void take_jacobian(const struct mechd_part *p, struct mech_couple_task *task)
{
    const size_t all = mechd_engine_input_size(&p->instance->engine);
    for (int32_t o = 0; o < p->out_count; o++) {
        struct mech_variable y;
        mechd_engine_variable(&p->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)p->out[o].index,
                              &y);
        const double *const row = p->jacobian + (size_t)(y.offset + p->out[o].component) * all;
        for (int32_t i = 0; i < p->in_count; i++) {
            struct mech_variable u;
            mechd_engine_variable(&p->instance->engine, MECH_INPUT, (size_t)p->in[i].index, &u);
            task->jacobian[o * p->in_count + i] = row[u.offset + p->in[i].component];
        }
    }
}

/* A slice that took so many ns is over. */
static void work_ends(struct mechd_part *p, struct mechd_coupling_command *k, uint64_t ns)
{
    // in this order: no thread counts the slice twice
    atomic_store(&p->since, 0);
    atomic_fetch_add(&k->worked, ns);
    p->spent += ns;
}

/* About a millisecond of it, before the trial of the same inputs. */
static enum mechd_task_progress derive(struct mechd_part *p, struct mechd_coupling_command *k,
                                       struct mech_couple_task *task)
{
    struct mechd_instance *const i = p->instance;
    struct mechd_deriving *const d = &p->deriving;
    if (d->work == NULL) {
        const struct mech_step_request step = {.kind = MECH_STEP_UNTIL,
                                               .until = task->time + task->size,
                                               .inputs = p->changes,
                                               .input_count =
                                                   (size_t)read_changes(p, expand(p, task))};
        const struct mech_jacobian_query query = {.step = &step};
        *d = (struct mechd_deriving){.direct = p->direct};
        d->outcome = mechd_deriving_begin(i, d, &query, p->jacobian, &p->derived);
    }
    const uint64_t before = atomic_load(&k->worked);
    d->worked = before;
    d->direct = p->direct;
    atomic_store(&p->since, mechd_now());
    const enum mechd_progress progress =
        d->outcome == 0 ? mechd_deriving_slice(i, d, mechd_share_asks, p) : MECHD_DONE;
    work_ends(p, k, d->worked - before);
    if (progress != MECHD_DONE || (d->outcome == MECH_CANCELLED && mechd_share_overdue(p))) {
        return MECHD_TASK_GOES_ON;
    }
    mechd_deriving_fini(d);
    if (d->outcome != 0) {
        fail(task, d->outcome, p->derived.reason);
        return MECHD_TASK_DONE;
    }
    take_jacobian(p, task);
    p->has_jacobian = true;
    return MECHD_TASK_GOES_ON;
}

/* Internal steps of about a millisecond. */
static uint64_t slice_steps(const struct mechd_instance *i)
{
    return 1 + MECHD_MS / (1 + atomic_load(&i->step_ns));
}

/* The window, or a piece of it, is done. True: the whole one. */
static bool finish_piece(struct mechd_part *p, struct mech_couple_task *task)
{
    const struct mechd_engine *const e = &p->instance->engine;
    bool last = true;
    if (task->want_moments) {
        add_moments(p, p->pieces > 0 ? task->size * p->piece / p->piece_count : 0.);
    }
    if (p->pieces > 0) {
        mechd_engine_get_outputs(e, p->outputs);
        if (task->want_samples) {
            take_outputs(p, task->values + p->piece * p->out_count);
        }
        last = mechd_piece_end(p, task);
    } else {
        mechd_engine_trial_outputs(e, p->outputs);
    }
    if (last) {
        take_outputs(p, task->outputs);
    }
    if (last && task->want_moments) {
        memcpy(task->moments, p->sums,
               (MECH_FLOW_ORDER + 1) * (size_t)p->in_count * sizeof *p->sums);
    }
    return last;
}

static enum mechd_task_progress go_on(struct mechd_part *p, struct mechd_coupling_command *k,
                                      struct mech_couple_task *task)
{
    struct mechd_instance *const i = p->instance;
    struct mechd_excess excess;
    bool done = false;
    int code = p->stepping ? 0 : begin_trial(p, task);
    p->stepping = code == 0;
    if (code == 0) {
        const uint64_t before = p->report.steps;
        struct mechd_effort effort = {.start = mechd_now(),
                                      .worked = atomic_load(&k->worked),
                                      .kind = MECHD_EFFORT_STEP,
                                      .direct = p->direct,
                                      .asks = mechd_share_asks,
                                      .of = p};
        atomic_store(&p->since, effort.start);
        mechd_effort_begin(i, &effort);
        code = mechd_engine_step_advance(&i->engine, slice_steps(i), &done);
        mechd_effort_end(i);
        const uint64_t steps = p->report.steps - before;
        mechd_count(&mechd_tally(&i->host->counters)->steps, steps);
        const uint64_t spent = mechd_now() - effort.start;
        mechd_stepping_measure(i, spent, steps);
        work_ends(p, k, spent);
        if (i->account != NULL) {
            mechd_account_work(i->account, spent);
        }
        if (code == MECH_CANCELLED &&
            (effort.why == MECHD_STOP_RETREAT || mechd_share_overdue(p))) {
            // it takes long: it begins again in the pool, or when the program has answered
            p->stepping = false;
            return MECHD_TASK_GOES_ON;
        }
    }
    if (code == 0 && !done && mechd_coupling_ends_by(k, &excess) != MECHP_OK) {
        mechd_engine_step_abandon(&i->engine);
        code = MECH_CANCELLED;
    } else if (code == 0 && !done) {
        return MECHD_TASK_GOES_ON;
    }
    p->stepping = p->has_jacobian = false;
    if (code != 0) {
        p->piece = 0;
        p->spent = 0;
        fail(task, code, p->report.reason);
        return MECHD_TASK_DONE;
    }
    mechd_engine_step_finish(&i->engine);
    if (finish_piece(p, task)) {
        p->took[task->want_jacobian] = p->spent + 1;
        p->spent = 0;
        return MECHD_TASK_DONE;
    }
    if (mechd_coupling_ends_by(k, &excess) != MECHP_OK) {
        p->piece = 0;
        p->spent = 0;
        fail(task, MECH_CANCELLED, "");
        return MECHD_TASK_DONE;
    }
    return MECHD_TASK_GOES_ON;
}

void mechd_part_drop(struct mechd_part *p)
{
    if (p->stepping) {
        mechd_engine_step_abandon(&p->instance->engine);
    }
    mechd_deriving_fini(&p->deriving);
    p->stepping = p->has_jacobian = false;
    p->piece = 0;
    p->spent = 0;
}

static void commit(struct mechd_part *p, const struct mechd_coupling_command *k,
                   struct mech_couple_task *task)
{
    struct mechd_instance *const i = p->instance;
    // pieces are in the instance
    const int code = p->pieces > 0 ? 0 : mechd_engine_commit(&i->engine);
    p->started = false;
    if (code != 0) {
        fail(task, code, "");
        return;
    }
    if (k->kind == MECHD_COUPLING_POINT) {
        return; // of sweeps only internal steps are counted
    }
    struct mechd_tally *const m = mechd_tally(&i->host->counters);
    mechd_count(&m->commands, 1);
    mechd_count(&m->iterations, p->report.iterations);
    mechd_count(&m->vi_iterations, p->report.vi_iterations);
    if (k->kind != MECHD_COUPLING_TRIAL) {
        mechd_instance_stepped(i, 0);
    }
}

enum mechd_task_progress mechd_part_perform(struct mechd_part *p, struct mechd_coupling_command *k,
                                            struct mech_couple_task *task)
{
    if (p->outside != NULL) {
        return mechd_outside_perform(p, k, task);
    }
    switch (task->action) {
    case MECH_COUPLE_TRIAL:
        if (task->want_jacobian && !p->has_jacobian) {
            return derive(p, k, task);
        }
        return go_on(p, k, task);
    case MECH_COUPLE_OUTPUTS:
        tell_outputs(p, task);
        break;
    case MECH_COUPLE_COMMIT:
        commit(p, k, task);
        break;
    case MECH_COUPLE_DISCARD: // a trial that cannot be named does no harm
        if (p->pieces > 0) {
            const int code = mechd_pieces_discard(p);
            task->code = code;
        }
        break;
    }
    return MECHD_TASK_DONE;
}

void mechd_part_hold(struct mechd_part *p, bool publish)
{
    struct mechd_engine *const e = &p->instance->engine;
    double *at = p->numbers;
    size_t count = 0;
    struct mech_diag diag;
    for (int32_t i = 0; i < p->in_count; i++) {
        struct mech_variable v;
        if (i > 0 && p->in[i].index == p->in[i - 1].index) {
            continue;
        }
        mechd_engine_variable(e, MECH_INPUT, (size_t)p->in[i].index, &v);
        mechd_engine_get_input(e, v.index, at);
        p->changes[count++] = (struct mech_input_change){.index = v.index, .values = at};
        at += v.size;
    }
    // values that it has already are taken
    mech_diag_init(&diag);
    if (count > 0 && mechd_engine_set_inputs(e, p->changes, count, &diag) == 0 && publish) {
        mechd_instance_changed(p->instance, 0);
    }
    mech_diag_fini(&diag);
}
