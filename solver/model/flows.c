/* Velocities conjugate to inputs: the power of input i is u_i w_i, with w_i the velocity of the
 * coordinates, or of the moving marker, that its force for value 1 acts on. */
#include "solver/linalg/v3.h"
#include "solver/model/internal.h"

#include <string.h>

/* Of a wrench on a marker that moves, at the last poses. */
static double moving_flow(const struct mech_model *m, const struct mech_moving_load *load)
{
    const struct mech_pose *const pose =
        &m->kinematics.poses[m->kinematics.moving[load->moving].marker];
    double w[6], flow = 0.;

    memcpy(w, load->w, sizeof w);
    if (load->body_fixed) {
        mech_m3_mul(pose->R, load->w, w);
        mech_m3_mul(pose->R, load->w + 3, w + 3);
    }
    for (int r = 0; r < 3; r++) {
        flow += w[r] * pose->v[r] + w[3 + r] * pose->omega[r];
    }
    return flow;
}

void mech_model_input_flows(const struct mech_model *m, const struct mech_state *s, double *out)
{
    bool posed = false;

    memset(out, 0, (size_t)m->sizes.input * sizeof *out);
    for (size_t i = 0; i < m->channels.dynamic_count; i++) {
        const struct mech_channel *const c = &m->channels.at[m->channels.dynamic[i]];

        for (size_t k = c->start; k < c->end && c->input >= 0 && !c->first_order; k++) {
            out[c->input] += m->channels.entries[k].weight * s->v[m->channels.entries[k].slot];
        }
    }
    for (size_t k = 0; k < m->terms.moving_load_count; k++) {
        const struct mech_moving_load *const load = &m->terms.moving_loads[k];
        const int32_t input = load->channel < 0 ? -1 : m->channels.at[load->channel].input;

        if (input < 0) {
            continue;
        }
        if (!posed) {
            const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

            mech_model_pose(m, &e);
            posed = true;
        }
        out[input] += moving_flow(m, load);
    }
}
