/* Whether modes may be computed with ½ (K + Kᵀ) in place of a stiffness K.
 *
 * Of forces with a potential V, g_i = X_i V along velocity i of a node,
 *
 *     K_ij − K_ji = (X_j X_i − X_i X_j) V
 *
 * Translations and coordinates commute; turns about the axes of a body do not, [X_i, X_j] =
 * ε_ijk X_k, so that K_ij − K_ji = −ε_ijk X_k V = ε_ijk r_k, r = M v̇ the moment that is not
 * balanced there: at an equilibrium what statics leave, relativeTolerance of the magnitudes S that
 * balance at most. This is known and is none of B, the rest of ½ (K − Kᵀ), of which pairs count
 * that differ by more than sums and differences leave (linalg/symmetric.h); R is what entries are
 * known to.
 *
 * B is judged by the modes, not by pairs: a large entry says nothing about a soft motion of its
 * row. With φ_i of unit length in M and λ_i of ½ (K + Kᵀ), K is diag(λ) + b, b_ij = φ_iᵀ B φ_j =
 * −b_ji, b_ii = 0, in these coordinates, and λ_i changes by
 *
 *     Σ_j b_ij²/(λ_j − λ_i)        a pair: λ = ½ (λ_i + λ_j) ± √(¼ (λ_j − λ_i)² − b_ij²)
 *
 * at second order, by |b_ij|/2 … |b_ij| where the root is small or imaginary; both are within twice
 * b²/max(|λ_i − λ_j|, |b|). B among other modes makes it no larger: of D = diag(λ_j − λ_i) > 0 the
 * symmetric part of (D + b)⁻¹ is (D + bᵀ D⁻¹ b)⁻¹ ≤ D⁻¹. So modes are those of K if
 *
 *     Σ_j b_ij²/max(|λ_i − λ_j|, |b_ij|) + rest ≤ 1e-8 |λ_i| + |φ_i|ᵀ R |φ_i|
 *
 * for those that are asked for (of few coordinates for all), j over all that are known. b is known
 * to 1e-12 |φ_i|ᵀ|B||φ_j| and to what 1e-14 of the unit of each coordinate, 1/√M_kk, in φ makes:
 * joints hold large parts of B.
 *
 * The rest is that of modes which are not known, of a count lowest known to be exact and p known at
 * all (subspace iteration), with A = K + σM, σ a shift:
 *
 *     y_i = A⁻¹ (B φ_i − M Σ_{j ≤ count} b_ji φ_j) = Σ_{j > count} b_ji/(λ_j + σ) φ_j
 *     2 y_iᵀ A y_i = 2 Σ_{j > count} b_ji²/(λ_j + σ)
 *
 * which is no less than Σ b_ji²/(λ_j − λ_i) of those with λ_j ≥ 2 λ_i + σ; and, where modes beyond
 * p may be nearer than these, 2 (λ_i + σ) ‖y_i‖ in the norm of M, y_i without its parts along all
 * p. */
#pragma once

#include "solver/analysis/motions.h"
#include "solver/linalg/symmetric.h"

/* Of a stiffness. owner: the arena it was made in. */
struct mech_symmetry {
    struct mech_mat even, odd; /* ½ (K + Kᵀ); B, ZERO: K is symmetric as far as it is known */
    struct mech_mat sizes;     /* |B| */
    struct mech_mat known;     /* R */
    double *unit, *reach;      /* [n] 1/√M_kk; |B| times these */
    char reason[160];          /* set with a positive outcome */
};

/* Of K at the state s, whose v̇ is consistent, M the mass there. 0; MECH_UNSUPPORTED (contacts
 * there have a stiffness that is not known well enough); negative. */
int mech_symmetry(const struct mech_model *m, const struct mech_state *s, const struct mech_mat *M,
                  const struct mech_mat *K, struct mech_arena *arena, struct mech_symmetry *out);

/* Modes of ½ (K + Kᵀ), of unit length in M. */
struct mech_symmetry_modes {
    int32_t n, p;
    const double *shapes; /* [p × n] */
    const double *lambda; /* [p] ascending, */
    double shift;         /* more than the eigenvalues */
};
/* One of them. */
struct mech_symmetry_mode {
    double moves, allowed; /* by how much it moves by those that are known, and may move */
    double known_to;       /* of b, by what joints hold: 1e-14 √(Σ (|B||φ|)_k² /M_kk) */
};
/* Mode i by b [p] = b_ji of all j alone, as if K and b were exact: what is small enough then is
 * small enough. */
void mech_symmetry_glance(const struct mech_symmetry_modes *of, int32_t i, const double *b,
                          struct mech_symmetry_mode *out);
/* The same beside what K and b are known to; work [2 n] scratch. B is not ZERO. */
void mech_symmetry_look(const struct mech_symmetry *y, const struct mech_symmetry_modes *of,
                        int32_t i, const double *b, double *work, struct mech_symmetry_mode *out);

/* A by columns into out [n × n], which holds zeros. 0 or negative. */
int mech_symmetry_spread(struct mech_arena *arena, const struct mech_mat *A, double *out);
/* A := Zᵀ A Z, its leading part [free × free]; T [n × n] is scratch. Z has n columns, those behind
 * `free` may hold anything finite. */
void mech_symmetry_project(size_t n, size_t free_count, const double *Z, double *A, double *T);
