/* Matrices of linear systems in the form that their pattern allows, and their products.
 *
 * A model writes its matrices in any of four ways (rows, diag, banded, coo); they are kept in the
 * leanest of these forms, and every product costs what the pattern costs.
 *
 *   MECH_MAT_DIAG   values[i] = A(i,i)
 *   MECH_MAT_BAND   by diagonals: values[(d + lower) * rows + i] = A(i, i + d), d = −lower … upper;
 *                   places outside the matrix hold 0
 *   MECH_MAT_DENSE  by columns (as LAPACK): values[j * rows + i] = A(i,j)
 *   MECH_MAT_CSC    compressed columns: rows rowind[k], values[k], k = colptr[j] … colptr[j+1] − 1,
 *                   row indices ascending, no duplicates
 *   MECH_MAT_ZERO   nothing stored (an absent matrix)
 *
 * owner: the arena it was built in. Products: const, any thread.
 */
#pragma once

#include "solver/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mech_mat_kind { MECH_MAT_ZERO, MECH_MAT_DIAG, MECH_MAT_BAND, MECH_MAT_DENSE, MECH_MAT_CSC };

struct mech_mat {
    enum mech_mat_kind kind;
    int32_t rows, cols;
    int32_t lower, upper; /* BAND: how many diagonals below and above the main one */
    bool symmetric;       /* found to be symmetric to the bit */
    int32_t *colptr;      /* CSC [cols + 1] */
    int32_t *rowind;      /* CSC [nnz] */
    double *values;
};

struct mech_triplet {
    int32_t row, col;
    double value;
};

/* Number of values stored. */
size_t mech_mat_stored(const struct mech_mat *a);

/* Build the leanest form from triplets (duplicates are added up, in the order given; the array is
 * sorted in place, and compacted). Sets `symmetric`. The places named are the pattern, whether
 * their values are 0 or not: leave zeros out where they are not meant to be stored. Chooses ZERO
 * without triplets, DIAG, then DENSE up to 8 × 8, then BAND when at most 2/3 of it would be wasted
 * and its diagonals are at most half of the columns, then DENSE from 1/4 fill, else CSC. DIAG and
 * BAND are square. Indices must be in range. Negative: no memory. */
int mech_mat_from_triplets(struct mech_arena *arena, int32_t rows, int32_t cols,
                           struct mech_triplet *t, size_t count, struct mech_mat *out);

/* The identity [n × n]. Negative: no memory. */
int mech_mat_identity(struct mech_arena *arena, int32_t n, struct mech_mat *out);

/* Deep copy into another arena. Negative: no memory. */
int mech_mat_copy(struct mech_arena *arena, const struct mech_mat *a, struct mech_mat *out);

/* All stored entries that are not 0, by columns, rows ascending, in a fresh array of the arena. */
int mech_mat_triplets(struct mech_arena *arena, const struct mech_mat *a, struct mech_triplet **out,
                      size_t *count);

/* A(i,j); any form, slow for CSC. */
double mech_mat_get(const struct mech_mat *a, int32_t i, int32_t j);

/* y = s A x + c y; x [cols], y [rows], no overlap. c = 0 does not read y. */
void mech_mat_mul(const struct mech_mat *a, double s, const double *x, double c, double *y);

/* y = s Aᵀ x + c y; x [rows], y [cols]. */
void mech_mat_mul_transposed(const struct mech_mat *a, double s, const double *x, double c,
                             double *y);

/* out = sum of s[k] * a[k], k < count, all rows × cols, in a form that holds them all (leanest).
 * Negative: no memory. */
int mech_mat_sum(struct mech_arena *arena, size_t count, const double *s,
                 const struct mech_mat *const *a, struct mech_mat *out);

/* Rewrite the values of `out`, that mech_mat_sum built from the same patterns, for other factors s.
 * No allocation. */
void mech_mat_sum_again(size_t count, const double *s, const struct mech_mat *const *a,
                        struct mech_mat *out);

/* The same matrix in the form `kind`, which must hold its pattern (DENSE and CSC always do; CSC
 * then holds the stored places, BAND those of the narrowest band). mech_mat_sum_again with one
 * factor 1 refreshes the values later. MECH_UNSUPPORTED: the form does not hold it; negative: no
 * memory. */
int mech_mat_convert(struct mech_arena *arena, const struct mech_mat *a, enum mech_mat_kind kind,
                     struct mech_mat *out);

/* True when every stored value is finite. */
bool mech_mat_is_finite(const struct mech_mat *a);
