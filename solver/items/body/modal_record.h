/* Record of a body in a floating frame: what its equations read, and the point at which they were
 * evaluated last. Coordinates: those of a rigid node, then those of the modes. owner: the model. */
#pragma once

#include "solver/items/body/modal.h"
#include "solver/items/ops.h"

/* The body at a point of evaluation. */
struct mech_modal_point {
    double R[9], alpha[3], omega[3], turn[3]; /* turn: Ω̇ */
    double B[9], E[9], P[9], Q[9];
    double S[3], rate[3], change[3]; /* S, Ṡ, S̈ */
    double *b, *ad, *add;            /* [1 + m], [m], [m] */
    double *U, *V, *W;               /* [1 + m][9]; W: of ä as V of ȧ */
};

struct mech_modal_record {
    const int32_t *slot, *q_slot;
    int32_t n, nq;
    struct mech_modal modal;
    double J[9]; /* at a = 0 */
    struct mech_modal_point at;
};

/* Operations of objects, ops.h; the records are these. */
void mech_modal_force(void *records, size_t n, const struct mech_eval *e, double *g);
void mech_modal_tangent(void *records, size_t n, const struct mech_eval *e, const double c[3],
                        const int32_t *places, double *values);
double mech_modal_energy(void *records, size_t n, const struct mech_eval *e);
