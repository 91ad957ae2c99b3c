/* Symmetry of a model's matrices about a point.
 *
 * Of forces with a potential V, g_i = X_i V along velocity i of a node,
 *
 *     K_ij − K_ji = (X_j X_i − X_i X_j) V
 *
 * Translations and coordinates commute; turns about the axes of a body do not, [X_i, X_j] = ε_ijk
 * X_k, so that K differs from its transpose by the moment r_k that is not balanced there: at an
 * equilibrium what statics leave, relativeTolerance of the magnitudes S that balance at most; of a
 * body that is let go M v'. */
#pragma once

#include "solver/analysis/motions.h"
#include "solver/linalg/symmetric.h"

/* By how much a stiffness may differ from its transpose at the state s, whose v' is consistent, M
 * the mass there: by the moments that are left, where they nearly balance, and by rounding. In the
 * arena. 0 or negative. */
int mech_symmetry_slack(const struct mech_model *m, const struct mech_state *s,
                        const struct mech_mat *M, struct mech_arena *arena,
                        struct mech_symmetric_slack *out);

/* Whether A is symmetric in the motions that the joints leave free; `slack` may be NULL. 0 or
 * negative. */
int mech_symmetry_between(struct mech_arena *arena, const struct mech_mat *A,
                          const struct mech_motions *b, const struct mech_symmetric_slack *slack,
                          bool *symmetric);

/* A by columns into out [n × n], which holds zeros. 0 or negative. */
int mech_symmetry_spread(struct mech_arena *arena, const struct mech_mat *A, double *out);
/* A := Zᵀ A Z, its leading part [free × free]; T [n × n] is scratch. Z has n columns, those behind
 * `free` may hold anything finite. */
void mech_symmetry_project(size_t n, size_t free_count, const double *Z, double *A, double *T);
