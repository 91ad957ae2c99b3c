/* The matrices on which linear solvers are tried: bands, full ones, grids, systems with
 * multipliers, free chains; and how far off a solution may be. */
#pragma once

#include "solver/linalg/mat.h"
#include "solver/linalg/mat_walk.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A small generator of our own, so that every run tests the same (xorshift64, Marsaglia 2003). */
static uint64_t state = 88172645463325252u;
static double uniform(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) * 0x1p-52 - 1.;
}

/* Patterns: half widths of a band, a full matrix, a grid's five points (sparse), or a system with
 * multipliers [H Gᵀ; G 0], whose last third of the diagonal is 0. */
enum pattern { BAND, FULL, GRID, MULTIPLIERS };

/* Dominant diagonals make a matrix definite (symmetric) or at least well conditioned. */
struct shape {
    enum pattern pattern;
    bool symmetric, dominant;
    int32_t n, lower, upper;
    enum mech_mat_kind kind; /* the form it is kept in */
};

static const struct shape shapes[] = {
    {BAND, true, true, 1, 0, 0, MECH_MAT_DIAG},
    {BAND, true, true, 300, 0, 0, MECH_MAT_DIAG},
    {BAND, true, true, 1, 0, 0, MECH_MAT_BAND},
    {BAND, true, true, 2, 1, 1, MECH_MAT_BAND},
    {BAND, true, true, 3, 1, 1, MECH_MAT_BAND},
    {BAND, true, true, 4, 1, 1, MECH_MAT_BAND},
    {BAND, true, true, 5, 1, 1, MECH_MAT_BAND},
    {BAND, true, true, 1000, 1, 1, MECH_MAT_BAND},
    {BAND, true, true, 1001, 1, 1, MECH_MAT_BAND},
    {BAND, true, false, 60, 1, 1, MECH_MAT_BAND},
    {BAND, false, true, 61, 1, 1, MECH_MAT_BAND},
    {BAND, true, true, 3, 2, 2, MECH_MAT_BAND},
    {BAND, true, true, 200, 2, 2, MECH_MAT_BAND},
    {BAND, true, true, 150, 3, 3, MECH_MAT_BAND},
    {BAND, true, true, 151, 4, 4, MECH_MAT_BAND},
    {BAND, true, true, 201, 5, 5, MECH_MAT_BAND},
    {BAND, true, false, 100, 3, 3, MECH_MAT_BAND},
    {BAND, false, false, 100, 1, 3, MECH_MAT_BAND},
    {BAND, false, false, 100, 4, 2, MECH_MAT_BAND},
    {BAND, false, true, 4, 3, 0, MECH_MAT_BAND},
    {FULL, true, true, 1, 0, 0, MECH_MAT_DENSE},
    {FULL, true, true, 2, 0, 0, MECH_MAT_DENSE},
    {FULL, true, true, 8, 0, 0, MECH_MAT_DENSE},
    {FULL, true, true, 9, 0, 0, MECH_MAT_DENSE},
    {FULL, true, true, 120, 0, 0, MECH_MAT_DENSE},
    {FULL, true, false, 5, 0, 0, MECH_MAT_DENSE},
    {FULL, true, false, 70, 0, 0, MECH_MAT_DENSE},
    {FULL, false, true, 7, 0, 0, MECH_MAT_DENSE},
    {FULL, false, false, 8, 0, 0, MECH_MAT_DENSE},
    {FULL, false, false, 90, 0, 0, MECH_MAT_DENSE},
    {MULTIPLIERS, true, false, 6, 0, 0, MECH_MAT_DENSE},
    {MULTIPLIERS, true, false, 60, 0, 0, MECH_MAT_DENSE},
    {MULTIPLIERS, true, false, 90, 0, 0, MECH_MAT_CSC},
    {GRID, true, true, 144, 0, 0, MECH_MAT_CSC},
    {GRID, false, true, 144, 0, 0, MECH_MAT_CSC},
    {GRID, true, false, 100, 0, 0, MECH_MAT_CSC},
    {GRID, false, false, 100, 0, 0, MECH_MAT_CSC},
};
enum { SHAPES = sizeof shapes / sizeof *shapes, MOST = 1001 };

static bool in_pattern(const struct shape *s, int32_t i, int32_t j)
{
    const int32_t d = j - i;
    const int32_t side = (int32_t)sqrt((double)s->n);
    const int32_t free_rows = s->n - s->n / 3;
    switch (s->pattern) {
    case BAND:
        return d >= -s->lower && d <= s->upper;
    case FULL:
        return true;
    case GRID:
        return d == 0 || abs(d) == side || (abs(d) == 1 && (i + j) / 2 % side != side - 1);
    case MULTIPLIERS:
        // a chain of coordinates, and multipliers that each join two of them
        return i < free_rows && j < free_rows ? abs(d) <= 1
               : i < free_rows                ? i / 2 == j - free_rows
               : j < free_rows                ? j / 2 == i - free_rows
                                              : false;
    }
    return false;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static struct mech_mat make(struct mech_arena *arena, const struct shape *s)
{
    const size_t n = (size_t)s->n;
    double *const a = mech_arena_alloc(arena, n * n, sizeof *a);
    struct mech_triplet *const t = mech_arena_alloc(arena, n * n, sizeof *t);
    CU_ASSERT_FATAL(a != NULL && t != NULL);
    for (int32_t j = 0; j < s->n; j++) {
        for (int32_t i = 0; i < s->n; i++) {
            if (in_pattern(s, i, j)) {
                const size_t at = (size_t)j * n + (size_t)i;
                a[at] = s->symmetric && i < j ? a[(size_t)i * n + (size_t)j] : uniform();
            }
        }
    }
    // the lower triangle is older than the upper one only by columns: mirror it
    for (size_t j = 0; s->symmetric && j < n; j++) {
        for (size_t i = 0; i < j; i++) {
            a[j * n + i] = a[i * n + j];
        }
    }
    size_t count = 0;
    for (int32_t j = 0; j < s->n; j++) {
        for (int32_t i = 0; i < s->n; i++) {
            double *const x = &a[(size_t)j * n + (size_t)i];
            const bool chain = s->pattern == MULTIPLIERS && i < s->n - s->n / 3;
            if (i == j && (s->dominant || chain)) {
                // more than any row's sum
                *x = 1.5 * (s->pattern == BAND   ? 1. + 2. * larger(s->lower, s->upper)
                            : s->pattern == FULL ? (double)n
                                                 : 5.);
            }
            if (i == j && !s->dominant && i % 2 == 0 && !chain) {
                // useless as a pivot
                *x *= 1e-13;
            }
            if (in_pattern(s, i, j)) {
                t[count++] = (struct mech_triplet){.row = i, .col = j, .value = *x};
            }
        }
    }
    struct mech_mat leanest, out;
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(arena, s->n, s->n, t, count, &leanest), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_convert(arena, &leanest, s->kind, &out), 0);
    CU_ASSERT_EQUAL(out.symmetric, s->symmetric);
    return out;
}

/* Springs between n masses in a row, without walls: singular, though rounding hides the zero
 * pivot. */
static inline struct mech_mat free_chain(struct mech_arena *arena, int32_t n, double mass,
                                         const double *units, enum mech_mat_kind kind)
{
    struct mech_triplet *const t = mech_arena_alloc(arena, 3 * (size_t)n, sizeof *t);
    struct mech_mat leanest, out;
    size_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        const double left = i > 0 ? 0.1 * (1. + (i - 1) % 7) : 0.;
        const double right = i + 1 < n ? 0.1 * (1. + i % 7) : 0.;
        t[count++] = (struct mech_triplet){i, i, (left + right + mass) * units[i] * units[i]};
        if (i + 1 < n) {
            t[count++] = (struct mech_triplet){i, i + 1, -right * units[i] * units[i + 1]};
            t[count++] = (struct mech_triplet){i + 1, i, -right * units[i] * units[i + 1]};
        }
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(arena, n, n, t, count, &leanest), 0);
    CU_ASSERT_EQUAL_FATAL(mech_mat_convert(arena, &leanest, kind, &out), 0);
    return out;
}

static inline double norm(const struct mech_mat *a)
{
    static double sums[MOST];
    for (int i = 0; i < MOST; i++) {
        sums[i] = 0.;
    }
    for (int32_t j = 0; j < a->cols; j++) {
        for (int32_t i = 0; i < a->rows; i++) {
            sums[i] += fabs(mech_mat_get(a, i, j));
        }
    }
    double most = 0.;
    for (int32_t i = 0; i < a->rows; i++) {
        most = fmax(most, sums[i]);
    }
    return most;
}

/* Elimination leaves ‖b − A x‖ ≤ c n ε ‖A‖ ‖x‖ with c the growth of the entries: below 20 for the
 * patterns here (Higham 2002, ch. 9: partial pivoting on random matrices grows like n^(2/3) / 2).
 * */
static inline double residual_bound(const struct mech_mat *a, double size)
{
    return 20. * (double)a->rows * DBL_EPSILON * norm(a) * size;
}

static inline double largest(size_t n, const double *x)
{
    double most = 0.;
    for (size_t i = 0; i < n; i++) {
        most = x[i] == x[i] ? fmax(most, fabs(x[i])) : HUGE_VAL;
    }
    return most;
}
