/* Factorisations of band matrices (as MECH_MAT_BAND stores them) by loops of our own.
 *
 * General band LAPACK spends most of a narrow band's time in calls; these loops know the width.
 * None allocates; the arrays are the caller's. Pivot tests: see pivot.h. Any thread.
 */
#pragma once

#include "solver/linalg/mat.h"

/* Symmetric positive definite tridiagonal, A = W D Wᵀ "twisted": eliminated from both ends towards
 * row n/2, so that two recurrences run side by side and the latency of the chain is halved
 * (J. J. Dongarra et al., LINPACK Users' Guide, 1979, ch. 7). r[i] [n] couples row i to its
 * neighbour towards the middle, inverse[i] [n] = 1/d_i. Returns −1, or the first row found whose
 * pivot is not safely positive. */
int32_t mech_tridiagonal_factor(int32_t n, const double *diagonal, const double *above, double *r,
                                double *inverse);
void mech_tridiagonal_solve(int32_t n, const double *r, const double *inverse, double *x);

/* Symmetric positive definite of half width p: A = L D Lᵀ. l [(n + p)(p + 1)]: column j holds 1/d_j
 * and the p entries of L below. Returns −1 or the row whose pivot is not safely positive. */
int32_t mech_band_ldlt_factor(const struct mech_mat *a, double *l);
void mech_band_ldlt_solve(int32_t n, int32_t p, const double *l, double *x);

/* General: P S A T = L U with S and T of scale.h, partial pivoting. */
struct mech_band_lu {
    double *lu;      /* [n (2 lower + upper + 1)] row i: columns i − lower … i + upper + lower,
                        multipliers, then U */
    double *row;     /* [n] S */
    double *col;     /* [n] T */
    double *size;    /* [2 n] largest entry of each scaled column; scratch behind */
    int32_t *pivot;  /* [n] */
    double *inverse; /* [n] 1/U_jj */
};

/* Returns −1 or the column without a pivot. */
int32_t mech_band_lu_factor(const struct mech_mat *a, const struct mech_band_lu *f);
/* shape: order and band of a. */
void mech_band_lu_solve(const struct mech_mat *shape, const struct mech_band_lu *f, double *x);
