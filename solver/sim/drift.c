/* How far the joints of a state are off: g at position level, G v + g_t at velocity level. A row
 * that is one-sided is off by what it misses on its side; while it is open it has no velocity to
 * hold, unless it is at its limit and moves beyond: an impact that is still to come. */
#include "solver/model/balance.h"
#include "solver/sim/internal.h"

#include <math.h>

void mech_sim_drift(const struct mech_sim *s, const struct mech_state *state,
                    struct mech_drift *out)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);
    double *const g = s->joint_scratch, *const gt = g + rows->count;
    double *const bias = gt + rows->count, *const limit = bias + rows->count;
    double *const G = limit + rows->count;
    int32_t worst[2] = {0, 0};

    *out = (struct mech_drift){.rows = rows->count, .left_out = s->dropped_count};
    if (rows->count == 0) {
        return;
    }
    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, g);
    mech_model_joint_rate(s->model, &e, gt, bias);
    mech_model_joint_jacobian(s->model, G);
    if (rows->one_sided) {
        mech_model_limits(s->model, limit);
    }
    for (int32_t r = 0; r < rows->count; r++) {
        const double side = rows->side[r];
        const double part = side != 0. ? fmax(0., -side * g[r]) : fabs(g[r]);
        double speed = gt[r];

        if (rows->released && rows->released[r]) {
            continue;
        }
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            speed += G[k] * state->v[rows->column[k]];
        }
        if (side != 0. && state->open[r] != 0.) {
            speed = side * g[r] <= limit[r] ? fmax(0., -side * speed) : 0.;
        }
        speed = fabs(speed);
        g[r] = part;
        gt[r] = speed;
        if (part > out->position) {
            out->position = part;
            worst[0] = r;
        }
        if (speed > out->velocity) {
            out->velocity = speed;
            worst[1] = r;
        }
    }
    out->worst_position = mech_model_joint_name(s->model, worst[0]);
    out->worst_velocity = mech_model_joint_name(s->model, worst[1]);
    out->object = rows->object[worst[1]];
    out->sided = rows->side[worst[1]] != 0;
}
