/* Simulations as participants of a coupling: some inputs and outputs of a model, by index. Inputs
 * that vary over a window are set with two derivatives before each of `steps` equal parts of it.
 * A trial keeps the end state beside the committed one; over several parts it runs on the committed
 * state, which is put back from a copy first. */
#pragma once

#include "solver/base/err.h"
#include "solver/couple/drive.h"
#include "solver/sim/analysis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIM_SIDE_MOST = 8 };

struct sim_side {
    struct mech_sim *sim;
    int32_t inputs, outputs; /* scalars, the first ones of the model */
    int32_t steps;           /* parts of a window, 0: one */
    void *start;             /* state at the window's start, of several parts */
    bool started;            /* it holds the present window's */
};

static inline int sim_side_part(struct sim_side *p, const struct mech_couple_task *task, double at,
                                double size, bool trial)
{
    double u[3 * SIM_SIDE_MOST] = {0.}, slopes[SIM_SIDE_MOST][2];
    struct mech_input_change change[SIM_SIDE_MOST];
    struct mech_step_report report;
    const bool varies = task->polynomial == NULL || task->order > 0;
    const int32_t order = varies ? 2 : 0;
    if (varies) {
        mech_couple_input(task, at, 2, u);
    } else {
        memcpy(u, task->polynomial, (size_t)p->inputs * sizeof *u);
    }
    for (int32_t i = 0; i < p->inputs; i++) {
        slopes[i][0] = u[p->inputs + i];
        slopes[i][1] = u[2 * p->inputs + i];
        change[i] = (struct mech_input_change){
            .index = i, .order = order, .values = u + i, .derivatives = varies ? slopes[i] : NULL};
    }
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE,
                                        .size = size,
                                        .inputs = change,
                                        .input_count = (size_t)p->inputs,
                                        .trial = trial};
    return mech_sim_step(p->sim, &r, &report);
}

static inline int sim_side_trial(void *self, struct mech_couple_task *task)
{
    struct sim_side *const p = self;
    if (task->want_jacobian) {
        const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = task->size};
        struct mech_derived told;
        MECH_TRY(mech_sim_jacobian(p->sim, &r, 0, task->jacobian, &told));
    }
    if (p->steps <= 1 && !task->want_samples) {
        MECH_TRY(sim_side_part(p, task, 0., task->size, true));
        mech_sim_trial_outputs(p->sim, task->outputs);
        return 0;
    }
    const int32_t steps = p->steps > 1 ? p->steps : 1;
    if (p->started) {
        MECH_TRY(mech_sim_restore(p->sim, p->start));
    } else {
        mech_sim_save(p->sim, p->start);
    }
    p->started = true;
    for (int32_t i = 0; i < steps; i++) {
        const double d = task->size / steps;
        MECH_TRY(sim_side_part(p, task, i * d, d, false));
        if (task->want_samples) {
            task->times[i] = i + 1 == steps ? task->size : (i + 1) * d;
            mech_sim_get_outputs(p->sim, task->values + i * p->outputs);
            task->samples = i + 1;
        }
    }
    mech_sim_get_outputs(p->sim, task->outputs);
    return 0;
}

static inline int sim_side_commit(void *self, struct mech_couple_task *task)
{
    struct sim_side *const p = self;
    (void)task;
    const bool whole = p->started;
    p->started = false;
    return whole ? 0 : mech_sim_commit(p->sim);
}

static inline int sim_side_discard(void *self, struct mech_couple_task *task)
{
    struct sim_side *const p = self;
    (void)task;
    const bool whole = p->started;
    p->started = false;
    if (whole) {
        return mech_sim_restore(p->sim, p->start);
    }
    mech_sim_discard_trial(p->sim);
    return 0;
}

static inline int sim_side_outputs(void *self, struct mech_couple_task *task)
{
    struct sim_side *const p = self;
    double u[SIM_SIDE_MOST] = {0.};
    mech_couple_input(task, 0., 0, u);
    for (int32_t i = 0; i < p->inputs; i++) {
        MECH_TRY(mech_sim_set_input(p->sim, i, u + i, 0, NULL));
    }
    mech_sim_get_outputs(p->sim, task->outputs);
    return 0;
}

static const struct mech_couple_functions sim_side_functions = {sim_side_outputs, sim_side_trial,
                                                                sim_side_commit, sim_side_discard};

static inline void sim_side_init(struct sim_side *p, struct mech_sim *sim, int32_t steps)
{
    *p = (struct sim_side){.sim = sim, .steps = steps};
    p->inputs = (int32_t)mech_sim_variable_count(sim, MECH_INPUT);
    p->outputs = (int32_t)mech_sim_output_size(sim);
    p->start = malloc(mech_sim_saved_size(sim));
    if (p->start == NULL || p->inputs > SIM_SIDE_MOST) {
        exit(2);
    }
}

static inline void sim_side_fini(struct sim_side *p)
{
    free(p->start);
    mech_sim_destroy(p->sim);
}
