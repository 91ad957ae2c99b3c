/* Symmetry up to rounding; see symmetric.h. */
#include "solver/linalg/symmetric.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <math.h>

/* of the largest magnitudes around a pair: what is left of their sums and differences */
static const double left = 1e-12;
/* and what an entry is known to where nothing else is said */
static const double rounding = 1e-15;

/* around [n] := the largest magnitudes in rows and columns */
static void look_around(const struct mech_mat *A, double *around)
{
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w);) {
        around[w.row] = fmax(around[w.row], fabs(w.value));
        around[w.col] = fmax(around[w.col], fabs(w.value));
    }
}

/* Whether the pair of a stored place is symmetric. */
static bool is_even(const struct mech_mat_walk *w, const double to[2], const double *around)
{
    const struct mech_mat *const A = w->a;
    const double a = w->value, b = mech_mat_get(A, w->col, w->row);
    /* by roots, as a product may leave the range of doubles */
    const double middle =
        sqrt(fabs(mech_mat_get(A, w->row, w->row))) * sqrt(fabs(mech_mat_get(A, w->col, w->col)));

    return fabs(a - b) <= to[0] * (fabs(a) + fabs(b)) + to[1] * middle +
                              left * fmax(around[w->row], around[w->col]);
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
        *symmetric = is_even(&w, to, around);
    }
    mech_arena_release(arena, mark);
    return 0;
}

/* --- parts ------------------------------------------------------------------------------------ */

/* What an entry is known to, to a share of its surroundings of `least` at best. */
static double known_to(const struct mech_symmetric_slack *slack, const double *around, int32_t i,
                       int32_t j, double least)
{
    const double largest = fmax(around[i], around[j]);
    double share = least, more = 0.;

    if (slack) {
        share = slack->share ? fmax(share, fmin(slack->share[i], slack->share[j])) : share;
        more = slack->block[i] == slack->block[j] ? fmin(slack->most[i], slack->most[j]) : 0.;
    }
    return share * largest + more;
}

/* A_ij − A_ji as far as it is known. */
static double difference(const struct mech_symmetric_slack *slack, int32_t i, int32_t j)
{
    if (!slack || !slack->place || i == j) {
        return 0.;
    }
    const int32_t a = slack->place[i], b = slack->place[j];

    /* of the same three */
    if (a < 0 || b < 0 || i - a != j - b) {
        return 0.;
    }
    const double moment = slack->moment[i - a + (3 - a - b)];

    return (b - a + 3) % 3 == 1 ? moment : -moment;
}

/* Triplets of both parts, each with room for two a stored place. */
struct parts {
    struct mech_triplet *even, *odd;
    size_t evens, odds;
    double *around; /* [n] */
};

/* Those of a stored place w, at (row, col) or at its mirror. */
static void add(const struct mech_mat_walk *w, bool mirror, double other,
                const struct mech_symmetric_slack *slack, struct parts *p)
{
    const int32_t row = mirror ? w->col : w->row, col = mirror ? w->row : w->col;
    const double to = known_to(slack, p->around, row, col, left);
    const double odd = (mirror ? -1. : 1.) * (0.5 * w->value - 0.5 * other);
    const double rest = odd - 0.5 * difference(slack, row, col);

    p->even[p->evens++] = (struct mech_triplet){row, col, 0.5 * w->value + 0.5 * other};
    if (!(fabs(odd) <= 0.5 * to) && !(fabs(rest) <= 0.5 * to)) {
        p->odd[p->odds++] = (struct mech_triplet){row, col, rest};
    }
}

static int split(struct mech_arena *arena, const struct mech_mat *A,
                 const struct mech_symmetric_slack *slack, struct parts *p)
{
    const size_t most = 2 * mech_mat_stored(A);

    p->around = mech_arena_alloc(arena, (size_t)A->rows, sizeof *p->around);
    p->even = mech_arena_alloc(arena, 2 * most, sizeof *p->even);
    if (!p->even || !p->around) {
        return MECH_NO_MEMORY;
    }
    p->odd = p->even + most;
    look_around(A, p->around);
    for (struct mech_mat_walk w = {.a = A}; mech_mat_next(&w);) {
        const double other = mech_mat_get(A, w.col, w.row);

        add(&w, false, other, slack, p);
        /* a pair of which one place is stored comes once */
        if (!mech_mat_place(A, w.col, w.row)) {
            add(&w, true, other, slack, p);
        }
    }
    return 0;
}

int mech_symmetric_split(struct mech_arena *arena, const struct mech_mat *A,
                         const struct mech_symmetric_slack *slack, struct mech_mat *even,
                         struct mech_mat *odd, struct mech_mat *known)
{
    const struct mech_mat none = {.kind = MECH_MAT_ZERO, .rows = A->rows, .cols = A->cols};
    struct parts p = {.evens = 0};

    *even = *A;
    *odd = *known = none;
    if (A->symmetric || A->kind == MECH_MAT_ZERO) {
        return 0;
    }
    MECH_TRY(split(arena, A, slack, &p));
    MECH_TRY(mech_mat_from_triplets(arena, A->rows, A->cols, p.even, p.evens, even));
    if (p.odds == 0) {
        return 0;
    }
    MECH_TRY(mech_mat_from_triplets(arena, A->rows, A->cols, p.odd, p.odds, odd));
    MECH_TRY(mech_mat_copy(arena, even, known));
    for (struct mech_mat_walk w = {.a = known}; mech_mat_next(&w);) {
        *mech_mat_place(known, w.row, w.col) = known_to(slack, p.around, w.row, w.col, rounding);
    }
    return 0;
}
