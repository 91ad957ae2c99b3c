/* Inertia of a body whose points move in a floating frame by modes (A. Shabana, Dynamics of
 * Multibody Systems, chapter 5): point i stands at p + R u_i, u_i = x_i + Σ_k Ψ_i^k a_k. With
 * b = (1, a), Ψ^0 = x and masses m_ij between points, all that the equations ask for is
 *
 *     μ = Σ m_ij,   s_α = Σ m_ij Ψ_j^α,   D_αβ = Σ m_ij Ψ_i^α (Ψ_j^β)ᵀ
 *
 * an array of 3 × 3 matrices as large as the number of modes, not of points. */
#pragma once

#include "solver/base/arena.h"
#include "solver/linalg/mat.h"

enum { MECH_MODAL_MOST = 94 };

/* What a document says; N points, m modes. */
struct mech_modal_shape {
    struct mech_mat positions; /* [N × 3] m, in the frame */
    struct mech_mat mass;      /* [3N × 3N] kg, blocks m_ij times the unit matrix */
    struct mech_mat modes;     /* [3N × m] */
};

struct mech_modal {
    int32_t modes;
    double mass; /* kg */
    double *s;   /* [1 + modes][3] kg m, kg per unit of a */
    double *D;   /* [1 + modes][1 + modes][9] kg m², … */
};

/* s of the first `count` columns; returns μ. */
double mech_modal_moments(const struct mech_modal_shape *shape, int32_t count, double s[][3]);
/* Sums over all points. Negative: no memory. */
int mech_modal_init(struct mech_modal *modal, struct mech_arena *arena,
                    const struct mech_modal_shape *shape);
/* Ψ_i^k [3] of point i, k = 0: x_i. */
void mech_modal_column(const struct mech_modal_shape *shape, int32_t i, int32_t k, double psi[3]);
/* The point at a local position, to 1e-6 of the distance of the farthest one; −1: there is none. */
int32_t mech_modal_find(const struct mech_modal_shape *shape, const double local[3]);

/* u × w of a sum of u wᵀ. */
static inline void mech_modal_vee(const double D[9], double out[3])
{
    out[0] = D[5] - D[7];
    out[1] = D[6] - D[2];
    out[2] = D[1] - D[3];
}
/* tr D 1 − D: the inertia of Σ m u uᵀ */
static inline void mech_modal_inertia(const double D[9], double J[9])
{
    const double trace = D[0] + D[4] + D[8];

    for (int i = 0; i < 9; i++) {
        J[i] = (i % 4 == 0 ? trace : 0.) - 0.5 * (D[i] + D[3 * (i % 3) + i / 3]);
    }
}
