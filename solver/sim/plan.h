/* How a command becomes internal steps: as many equal ones of at most h as its length needs. The
 * solver, FMUs, and the server that divides a command where a force acts within it all ask here,
 * so that one of them never has another number, size or end of the steps. Any thread.
 *
 *     MECH_TRY(mech_step_plan(&request, start, now, h, last, &plan));   plan.count steps of plan.h
 */
#pragma once

#include "solver/base/times.h"

struct mech_step_request;

struct mech_step_plan {
    struct mech_moment start, end;
    double h;       /* s, of each step */
    uint64_t count; /* of steps, ≥ 1 */
};

/* The steps from `now` on; h > 0: the model's step size, `last`: the size of the step that led
 * here, `start`: the time at which the model starts, as mech_time_steps has them. Of a size or a
 * count the end has what a double cannot hold of it; a time that was asked for is reached. 0;
 * MECH_INVALID: not forward, not finite, or more than 1e12 steps. */
int mech_step_plan(const struct mech_step_request *r, double start, struct mech_moment now,
                   double h, double last, struct mech_step_plan *out);
