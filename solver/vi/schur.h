/* N = G H⁻¹ Gᵀ + E that is never formed: products through a factor of H, and N + ρ 1 through one of
 * the whole system, which keeps the patterns of H (with stiffness blocks) and G,
 *
 *     [ H   Gᵀ       ] [ w ]   [ 0  ]
 *     [ G  −E − ρ 1  ] [−x ] = [ b  ],     (N + ρ 1) x = b
 *
 * (A. Tasora et al., Comput. Methods Appl. Mech. Eng. 380 (2021)). Cost of a product: G twice, one
 * solve with H. owner: one thread. */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/sys/problem.h"

struct mech_schur_system;

/* H [n × n], G [m × n], cfm [m] ≥ 0 or NULL: E; all of them must outlive it. 0; MECH_SINGULAR (H);
 * negative. */
int mech_schur_create(const struct mech_mat *H, const struct mech_mat *G, const double *cfm,
                      struct mech_schur_system **out);
void mech_schur_destroy(struct mech_schur_system *s); /* accepts NULL */
/* For mech_problem.schur; stands as long as the system. */
const struct mech_schur *mech_schur_of(const struct mech_schur_system *s);
/* x [n] := H⁻¹ x. Returns as mech_lsol_solve. */
int mech_schur_divide_by_H(const struct mech_schur_system *s, double *x);
