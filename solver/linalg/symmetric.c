/* Symmetry up to rounding; see symmetric.h. */
#include "solver/linalg/symmetric.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <math.h>

/* of the largest magnitudes around a pair: what is left of their sums and differences */
static const double left = 1e-12;

bool mech_symmetric_pair(const double pair[2], const double diagonal[2], double rounding, double to)
{
    /* by roots, as a product may leave the range of doubles */
    const double middle = sqrt(fabs(diagonal[0])) * sqrt(fabs(diagonal[1]));
    const double sizes = fabs(pair[0]) + fabs(pair[1]) + middle;

    return fabs(pair[0] - pair[1]) <= to * sizes + rounding;
}

double mech_symmetric_slack_of(const struct mech_symmetric_slack *slack, int32_t i, int32_t j)
{
    return slack && slack->block[i] == slack->block[j] ? fmin(slack->most[i], slack->most[j]) : 0.;
}

/* around [n] := the largest magnitudes in rows and columns */
static void look_around(const struct mech_mat *A, double *around)
{
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w);) {
        around[w.row] = fmax(around[w.row], fabs(w.value));
        around[w.col] = fmax(around[w.col], fabs(w.value));
    }
}

/* Whether the pair of a stored place is symmetric. */
static bool is_even(const struct mech_mat_walk *w, const double to[2],
                    const struct mech_symmetric_slack *slack, const double *around)
{
    const struct mech_mat *const A = w->a;
    const double pair[2] = {w->value, mech_mat_get(A, w->col, w->row)};
    const double share = to[0] > 0. ? to[1] / to[0] : 0.;
    const double diagonal[2] = {share * mech_mat_get(A, w->row, w->row),
                                share * mech_mat_get(A, w->col, w->col)};
    const double known_to = slack ? fmax(left, slack->known_to) : left;
    const double rounding = known_to * fmax(around[w->row], around[w->col]);

    return mech_symmetric_pair(pair, diagonal,
                               rounding + mech_symmetric_slack_of(slack, w->row, w->col), to[0]);
}

int mech_symmetric(struct mech_arena *arena, const struct mech_mat *A, const double to[2],
                   bool *symmetric)
{
    *symmetric = true;
    if (A->symmetric || A->kind == MECH_MAT_ZERO) {
        return 0;
    }
    const struct mech_arena_mark mark = mech_arena_mark(arena);
    double *const around = mech_arena_alloc(arena, (size_t)A->rows, sizeof *around);

    if (!around) {
        return MECH_NO_MEMORY;
    }
    look_around(A, around);
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w) && *symmetric;) {
        *symmetric = is_even(&w, to, NULL, around);
    }
    mech_arena_release(arena, mark);
    return 0;
}

int mech_symmetric_split(struct mech_arena *arena, const struct mech_mat *A, double to,
                         const struct mech_symmetric_slack *slack, struct mech_mat *even,
                         struct mech_mat *odd)
{
    *even = *A;
    *odd = (struct mech_mat){.kind = MECH_MAT_ZERO, .rows = A->rows, .cols = A->cols};
    if (A->symmetric || A->kind == MECH_MAT_ZERO) {
        return 0;
    }
    const size_t most = 2 * mech_mat_stored(A);
    struct mech_triplet *const e = mech_arena_alloc(arena, most, sizeof *e);
    struct mech_triplet *const o = mech_arena_alloc(arena, most, sizeof *o);
    double *const around = mech_arena_alloc(arena, (size_t)A->rows, sizeof *around);
    size_t evens = 0, odds = 0;

    if (!e || !o || !around) {
        return MECH_NO_MEMORY;
    }
    look_around(A, around);
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w);) {
        const double other = mech_mat_get(A, w.col, w.row);
        const bool alone = !mech_mat_place(A, w.col, w.row);

        /* a pair of which one place is stored comes once */
        for (int k = 0; k < (alone ? 2 : 1); k++) {
            const int32_t row = k ? w.col : w.row, col = k ? w.row : w.col;

            e[evens++] = (struct mech_triplet){row, col, 0.5 * w.value + 0.5 * other};
            if (!is_even(&w, (const double[2]){to, to}, slack, around)) {
                o[odds++] =
                    (struct mech_triplet){row, col, (k ? -1. : 1.) * (0.5 * w.value - 0.5 * other)};
            }
        }
    }
    MECH_TRY(mech_mat_from_triplets(arena, A->rows, A->cols, e, evens, even));
    return mech_mat_from_triplets(arena, A->rows, A->cols, o, odds, odd);
}
