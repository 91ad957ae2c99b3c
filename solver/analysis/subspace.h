/* The lowest eigenvalues of K φ = λ M φ for large sparse symmetric K and positive definite M by
 * subspace iteration (K.-J. Bathe, Finite Element Procedures, 11.6). Any thread. */
#pragma once

#include "solver/linalg/mat.h"

struct mech_subspace_report {
    char *linear; /* [32] linear solver */
    char *reason; /* [160] when it came to an outcome */
};

/* lambda [count] ascending, shapes [count × n] with φᵀ M φ = 1. K may be singular (bodies that are
 * free), not indefinite. 0; MECH_SINGULAR; MECH_NOT_CONVERGED; MECH_UNSUPPORTED (too large);
 * negative. */
int mech_subspace(const struct mech_mat *K, const struct mech_mat *M, int32_t count, double *lambda,
                  double *shapes, const struct mech_subspace_report *report);
