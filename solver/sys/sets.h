/* The sets that multipliers stay in, and what a solution of a problem over them has to fulfil.
 *
 *     c = N l + r,    per set K:   l ∈ K,   −ĉ ∈ normal cone of K at l
 *
 *   BILATERAL   K = ℝ                  c = 0
 *   UNILATERAL  K = ℝ⁺                 0 ≤ c ⊥ l ≥ 0
 *   BOX         lower ≤ l ≤ upper      c ≥ 0 at lower, c ≤ 0 at upper, c = 0 between
 *   CONE        ‖l_T‖ ≤ μ l_N          rows (N, T) in the plane, (N, U, V) in space
 *   ROLLING     ‖l_T‖ ≤ μ l_N, |l_S| ≤ σ l_N, ‖l_R‖ ≤ ρ l_N
 *               rows (N, U, V, S, R, R'): a contact with torques against spinning and rolling
 *
 * ĉ = c, but under Coulomb's law ĉ_N = c_N + μ‖c_T‖ (+ σ|c_S| + ρ‖c_R‖); G. De Saxcé, Z.-Q. Feng,
 * Math. Comput. Modelling 28 (1998). Without that term a cone is the associated law (M. Anitescu,
 * A. Tasora, Comput. Optim. Appl. 47 (2010)), in which sliding opens the contact.
 *
 * Pure functions of their arguments, any thread; nothing is allocated.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum mech_set_kind {
    MECH_SET_BILATERAL,
    MECH_SET_UNILATERAL,
    MECH_SET_BOX,
    MECH_SET_CONE,
    MECH_SET_ROLLING
};
enum { MECH_SET_ROWS = 6 }; /* of one set, at most */

enum mech_friction { MECH_COULOMB, MECH_ASSOCIATED };

/* Consecutive rows of a problem. */
struct mech_set {
    enum mech_set_kind kind;
    int32_t rows;        /* 1; of a CONE 2 or 3, of a ROLLING 6 */
    double mu;           /* CONE, ROLLING: μ ≥ 0 */
    double spinning;     /* ROLLING: σ ≥ 0, m */
    double rolling;      /* ROLLING: ρ ≥ 0, m */
    double lower, upper; /* BOX: lower ≤ upper; may be infinite */
};

/* Nearest point of the cone, in place: l [rows], rows 2 or 3, μ ≥ 0. Exact in its four regions:
 *   μ = 0              (max(0, l_N), 0)
 *   ‖l_T‖ ≤ μ l_N      unchanged
 *   μ‖l_T‖ ≤ −l_N      0
 *   else               n = (l_N + μ‖l_T‖)/(1 + μ²),  (n, l_T μ n/‖l_T‖) */
void mech_cone_project(double mu, int32_t rows, double *l);

/* Nearest point of a set, in place: l [set->rows]. NaN stays NaN. */
void mech_set_project(const struct mech_set *set, double *l);

/* All of them: `count` sets, l [Σ rows]. enabled [Σ rows] masks rows, NULL: all; a set whose first
 * row is off is left as it is. */
void mech_sets_project(const struct mech_set *sets, int32_t count, const bool *enabled, double *l);

int32_t mech_sets_rows(const struct mech_set *sets, int32_t count);

/* c := ĉ in place, c [set->rows]. */
void mech_set_correct(const struct mech_set *set, enum mech_friction friction, double *c);

/* l − P_K(l − ĉ) of one set into map [set->rows], without cancellation where the projection does
 * nothing: a huge l is no solution. NaN stays NaN. */
void mech_set_map(const struct mech_set *set, enum mech_friction friction, const double *l,
                  const double *c, double *map);

/* How far (l, c) is from a solution: the natural map ‖l − P_K(l − ĉ)‖₂ over all sets, divided by
 * ‖r‖₂, and by max(‖r‖₂, ‖l‖₂, ‖c‖₂) when there are cones or boxes. 0/0 counts as 0. l, c, r [Σ
 * rows]. */
double mech_sets_residual(const struct mech_set *sets, int32_t count, enum mech_friction friction,
                          const double *l, const double *c, const double *r);
