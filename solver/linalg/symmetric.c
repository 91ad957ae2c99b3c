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

int mech_symmetric(struct mech_arena *arena, const struct mech_mat *A, double to, bool *symmetric)
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
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w);) {
        around[w.row] = fmax(around[w.row], fabs(w.value));
        around[w.col] = fmax(around[w.col], fabs(w.value));
    }
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w) && *symmetric;) {
        const double pair[2] = {w.value, mech_mat_get(A, w.col, w.row)};
        const double diagonal[2] = {mech_mat_get(A, w.row, w.row), mech_mat_get(A, w.col, w.col)};
        const double rounding = left * fmax(around[w.row], around[w.col]);

        *symmetric = mech_symmetric_pair(pair, diagonal, rounding, to);
    }
    mech_arena_release(arena, mark);
    return 0;
}
