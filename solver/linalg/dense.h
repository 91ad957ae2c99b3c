/* Small dense kernels, by columns as LAPACK, for orders where a library call costs more than the
 * work. Nothing allocates. Any thread. */
#pragma once

#include "solver/linalg/mat.h"

enum { MECH_DENSE_SMALL = 8 }; /* up to this order own loops win */

/* Write all n × n places of a square matrix of any form into `out` [n · n]. */
void mech_dense_load(const struct mech_mat *a, double *out);

/* The same, of row[i] A(i,j) col[j]. */
void mech_dense_load_scaled(const struct mech_mat *a, const double *row, const double *col,
                            double *out);

/* A = L D Lᵀ of a positive definite matrix in its lower triangle: L below the diagonal, 1/d on it.
 * Returns −1 or the row whose pivot is not safely positive (pivot.h). */
int32_t mech_dense_ldlt_factor(int32_t n, double *a);
void mech_dense_ldlt_solve(int32_t n, const double *l, double *x);

/* P A = L U with partial pivoting in place; 1/u on the diagonal; pivot [n]; size [n] the largest
 * entry of each column. Returns −1 or the column without a pivot. */
int32_t mech_dense_lu_factor(int32_t n, double *a, const double *size, int32_t *pivot);
void mech_dense_lu_solve(int32_t n, const double *lu, const int32_t *pivot, double *x);
