/* The lowest eigenvalues of K φ = λ M φ for large sparse symmetric K and positive definite M, among
 * the φ with G φ = 0, by subspace iteration (K.-J. Bathe, Finite Element Procedures, 11.6). Any
 * thread. */
#pragma once

#include "solver/analysis/symmetry.h"
#include "solver/base/interrupt.h"

struct mech_subspace_problem {
    const struct mech_mat *K, *M;     /* K: ½ (K + Kᵀ) of `symmetry` */
    const struct mech_mat *G;         /* [rows × n] of full rank, or ZERO: none */
    int32_t count, dense;             /* modes; up to how many coordinates there are complex ones */
    char *linear;                     /* [32] linear solver */
    char *reason;                     /* [160] when it came to an outcome */
    struct mech_interrupt *interrupt; /* asked at each vector, and while factoring (lsol/lsol.h) */
    const struct mech_symmetry *symmetry;
};

/* lambda [count] ascending, shapes [count × n] with φᵀ M φ = 1, residual [count]: how far φ is from
 * (λ + σ) (K + σ M)⁻¹ M φ within G φ = 0, relative. K may be singular there (bodies that are free),
 * not indefinite. 0; MECH_CANCELLED; MECH_SINGULAR; MECH_NOT_CONVERGED; MECH_UNSUPPORTED (too
 * large, M not symmetric, K not symmetric in the modes); negative. */
int mech_subspace(const struct mech_subspace_problem *p, double *lambda, double *shapes,
                  double *residual);
