/* Coordinates that are not the integrals of velocities (Euler parameters): q̇ = T(q) v, q ⊕ d.
 * Every other coordinate moves by plain sums; a model that has only those pays nothing. */
#include "solver/model/internal.h"

#include <string.h>

bool mech_model_flat(const struct mech_model *m)
{
    return !m->curved;
}

void mech_model_qdot(const struct mech_model *m, const double *q, const double *v, double *qdot)
{
    if (!m->curved) {
        memcpy(qdot, v, (size_t)m->sizes.v * sizeof *qdot);
        return;
    }
    for (size_t i = 0; i < m->seat_count; i++) {
        const struct mech_seat_of *const on = m->seats[i];
        const struct mech_node_ops *const ops = m->seat_ops[i];

        if (ops) {
            ops->rate(q + on->q_slot[0], v + on->slot[0], qdot + on->q_slot[0]);
        } else {
            memcpy(qdot + on->q_slot[0], v + on->slot[0], (size_t)on->n * sizeof *qdot);
        }
    }
}

void mech_model_move(const struct mech_model *m, const double *q, const double *d, double *out)
{
    if (!m->curved) {
        for (int32_t i = 0; i < m->sizes.v; i++) {
            out[i] = q[i] + d[i];
        }
        return;
    }
    for (size_t i = 0; i < m->seat_count; i++) {
        const struct mech_seat_of *const on = m->seats[i];
        const int32_t first = on->q_slot[0];
        const struct mech_node_ops *const ops = m->seat_ops[i];

        if (ops) {
            ops->move(q + first, d + on->slot[0], out + first);
            continue;
        }
        for (int32_t k = 0; k < on->n; k++) {
            out[first + k] = q[first + k] + d[on->slot[0] + k];
        }
    }
}

void mech_model_displacement(const struct mech_model *m, const double *q, double *u)
{
    if (!m->curved) {
        for (int32_t i = 0; i < m->sizes.v; i++) {
            u[i] = q[i] - m->q_ref[i];
        }
        return;
    }
    for (size_t i = 0; i < m->seat_count; i++) {
        const struct mech_seat_of *const on = m->seats[i];

        for (int32_t k = 0; k < on->n; k++) {
            const int32_t at = on->q_slot[k];

            u[on->slot[k]] = m->seat_ops[i] ? 0. : q[at] - m->q_ref[at];
        }
    }
}
