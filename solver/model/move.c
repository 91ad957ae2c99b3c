/* Coordinates that are not the integrals of velocities (Euler parameters): q̇ = T(q) v, q ⊕ d.
 * Every other coordinate moves by plain sums; a model that has only those pays nothing. */
#include "solver/linalg/dense.h"
#include "solver/model/internal.h"

#include <string.h>

bool mech_model_flat(const struct mech_model *m)
{
    return !m->kinematics.curved;
}

void mech_model_qdot(const struct mech_model *m, const double *q, const double *v, double *qdot)
{
    if (!m->kinematics.curved) {
        memcpy(qdot, v, (size_t)m->sizes.v * sizeof *qdot);
        return;
    }
    for (size_t i = 0; i < m->kinematics.seat_count; i++) {
        const struct mech_seat_of *const on = m->kinematics.seats[i];
        const struct mech_node_ops *const ops = m->kinematics.seat_ops[i];

        if (ops) {
            ops->rate(q + on->q_slot[0], v + on->slot[0], qdot + on->q_slot[0]);
        } else {
            memcpy(qdot + on->q_slot[0], v + on->slot[0], (size_t)on->n * sizeof *qdot);
        }
    }
}

void mech_model_move(const struct mech_model *m, const double *q, const double *d, double *out)
{
    if (!m->kinematics.curved) {
        for (int32_t i = 0; i < m->sizes.v; i++) {
            out[i] = q[i] + d[i];
        }
        return;
    }
    for (size_t i = 0; i < m->kinematics.seat_count; i++) {
        const struct mech_seat_of *const on = m->kinematics.seats[i];
        const int32_t first = on->q_slot[0];
        const struct mech_node_ops *const ops = m->kinematics.seat_ops[i];

        if (ops) {
            ops->move(q + first, d + on->slot[0], out + first);
            continue;
        }
        for (int32_t k = 0; k < on->n; k++) {
            out[first + k] = q[first + k] + d[on->slot[0] + k];
        }
    }
}

bool mech_model_transport(const struct mech_model *m, const double *d, const double *dq,
                          const double *dd, double *out)
{
    if (!m->kinematics.curved) {
        for (int32_t i = 0; i < m->sizes.v; i++) {
            out[i] = dq[i] + dd[i];
        }
        return true;
    }
    for (size_t i = 0; i < m->kinematics.seat_count; i++) {
        const struct mech_seat_of *const on = m->kinematics.seats[i];
        const struct mech_node_ops *const ops = m->kinematics.seat_ops[i];
        const int32_t first = on->slot[0];

        if (ops && !ops->transport) {
            return false;
        }
        if (ops) {
            ops->transport(d + first, dq + first, dd + first, out + first);
            continue;
        }
        for (int32_t k = first; k < first + on->n; k++) {
            out[k] = dq[k] + dd[k];
        }
    }
    return true;
}

/* d = (Tᵀ T)⁻¹ Tᵀ dq of one node with n velocities and nq coordinates, at most MECH_DENSE_SMALL */
static void node_motion(const struct mech_node_ops *ops, const double *q, const double *dq,
                        const int32_t size[2], double *d)
{
    enum { MOST = MECH_DENSE_SMALL };
    double T[MOST][MOST], normal[MOST * MOST] = {0.};
    const int32_t nq = size[0], n = size[1];

    for (int32_t j = 0; j < n; j++) {
        double unit[MOST] = {0.};

        unit[j] = 1.;
        ops->rate(q, unit, T[j]);
        d[j] = 0.;
        for (int32_t k = 0; k < nq; k++) {
            d[j] += T[j][k] * dq[k];
        }
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < n; i++) {
            for (int32_t k = 0; k < nq; k++) {
                normal[j * n + i] += T[i][k] * T[j][k];
            }
        }
    }
    if (mech_dense_ldlt_factor(n, normal) < 0) {
        mech_dense_ldlt_solve(n, normal, d);
    }
}

void mech_model_motion(const struct mech_model *m, const double *q, const double *dq, double *d)
{
    if (!m->kinematics.curved) {
        memcpy(d, dq, (size_t)m->sizes.v * sizeof *d);
        return;
    }
    for (size_t i = 0; i < m->kinematics.seat_count; i++) {
        const struct mech_seat_of *const on = m->kinematics.seats[i];
        const int32_t first = on->q_slot[0];

        if (m->kinematics.seat_ops[i]) {
            node_motion(m->kinematics.seat_ops[i], q + first, dq + first,
                        (const int32_t[]){on->nq, on->n}, d + on->slot[0]);
        } else {
            memcpy(d + on->slot[0], dq + first, (size_t)on->n * sizeof *d);
        }
    }
}

void mech_model_displacement(const struct mech_model *m, const double *q, double *u)
{
    if (!m->kinematics.curved) {
        for (int32_t i = 0; i < m->sizes.v; i++) {
            u[i] = q[i] - m->kinematics.q_ref[i];
        }
        return;
    }
    for (size_t i = 0; i < m->kinematics.seat_count; i++) {
        const struct mech_seat_of *const on = m->kinematics.seats[i];

        for (int32_t k = 0; k < on->n; k++) {
            const int32_t at = on->q_slot[k];

            u[on->slot[k]] = m->kinematics.seat_ops[i] ? 0. : q[at] - m->kinematics.q_ref[at];
        }
    }
}
