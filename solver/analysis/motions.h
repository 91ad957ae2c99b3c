/* Small motions about a point in the coordinates that joints leave free:
 *
 *     δq = Q ξ,   δv = V η + P ξ,   G_h Q = 0,   G V = 0,   G P ξ = −(G v + g_t)_q Q ξ
 *
 * Q and V are bases, of motions that rows at position level allow and of velocities that all rows
 * allow (the same but for rolling); without joints both are 1 and not stored. Which motions are
 * free is found with each coordinate measured by the root of its inertia, M_ii, so that units do
 * not matter. The bases are orthonormal in these measures, which keeps all digits in any units, or
 * in the units of the coordinates. Open one-sided rows do not constrain. owner: the owner of the
 * model. */
#pragma once

#include "solver/base/arena.h"
#include "solver/model/model.h"

struct mech_motions {
    struct mech_arena arena;
    int32_t n;                     /* velocities */
    int32_t positions, velocities; /* columns of Q and V */
    double *Q, *V;                 /* [positions × n], [velocities × n], or NULL: 1 */
    /* [n] measures in which they are orthonormal: √(M_00/M_ii), or 1; with Q */
    double *size;
};

/* At the state s; `measured`: orthonormal in measures of inertia. 0; MECH_NOT_CONVERGED (singular
 * values); MECH_NOT_FINITE; negative. fini in any case. */
int mech_motions_init(struct mech_motions *b, const struct mech_model *m,
                      const struct mech_state *s, bool measured);
void mech_motions_fini(struct mech_motions *b);

/* out [n] = column j of a basis, NULL: of 1. */
void mech_motions_column(int32_t n, const double *basis, int32_t j, double *out);
/* out[k stride] = the part ξ_k of x along column k of a basis, Q or V. */
void mech_motions_project(const struct mech_motions *b, const double *basis, int32_t columns,
                          const double *x, double *out, size_t stride);
