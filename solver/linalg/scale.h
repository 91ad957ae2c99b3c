/* Scaling of square matrices before an elimination that chooses pivots. */
#pragma once

#include "solver/linalg/mat.h"

/* Powers of two, row [n] and col [n], such that the largest entries of all rows and columns of
 * row[i] A(i,j) col[j] are of size 1, within [1/4, 4), unless the pattern does not allow that. The
 * same for rows and columns of a symmetric matrix. Rows and columns of zeros keep their scale.
 * `work` [2 n] is scratch; on return work[j] is the largest entry of scaled column j.
 * Multiplication by powers of two rounds nothing. Method: D. Ruiz, "A scaling algorithm to
 * equilibrate both rows and columns norms in matrices", RAL-TR-2001-034; each sweep halves the
 * exponents that are left. */
void mech_scale_find(const struct mech_mat *a, double *row, double *col, double *work);

/* x[i] *= scale[i] for count vectors of length n. */
void mech_scale_apply(int32_t n, const double *scale, double *x, int32_t count);
