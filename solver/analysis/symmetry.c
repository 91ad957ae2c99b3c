/* Symmetry of the matrices of a model; see symmetry.h. */
#include "solver/analysis/symmetry.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/eig.h"
#include "solver/model/balance.h"
#include "solver/model/penalty.h"

#include <math.h>
#include <string.h>

/* Of the magnitudes of moments on a body: what their derivatives are known to, some ε of each; what
 * may be left of them at most for modes to be those of an equilibrium; and of what is left how
 * exactly it is. */
static const double known_to = 1e-13, most_left = 1e-2, of_left = 1e-3;
/* of its largest entries, what the stiffness of contacts is to be known to */
static const double contacts_to = 1e-3;
/* of an eigenvalue, what it may move by; of |φ|ᵀ|B||φ|; and of the unit of a coordinate */
static const double most_moved = 1e-8, of_sums = 1e-12, of_units = 1e-14;

/* --- parts ------------------------------------------------------------------------------------ */

/* sum[b] := the magnitudes of the entries of each block */
static void sum_up(const int32_t *block, int32_t n, const double *x, double *sum)
{
    for (int32_t i = 0; i < n; i++) {
        sum[block[i]] += fabs(x[i]);
    }
}

/* Of the turns of bodies: [n + 1] each. */
struct turns {
    int32_t *block;
    int8_t *place;
    double *most, *moment, *share, *S, *work, *left, *all;
};

static int make_turns(struct mech_arena *arena, size_t n, struct turns *t)
{
    double *const x = mech_arena_alloc(arena, 7 * (n + 1), sizeof *x);

    t->block = mech_arena_alloc(arena, n + 1, sizeof *t->block);
    t->place = mech_arena_alloc(arena, n + 1, sizeof *t->place);
    if (!x || !t->block || !t->place) {
        return MECH_NO_MEMORY;
    }
    t->most = x;
    t->moment = x + (n + 1);
    t->share = x + 2 * (n + 1);
    t->S = x + 3 * (n + 1);
    t->work = x + 4 * (n + 1);
    t->left = x + 5 * (n + 1);
    t->all = x + 6 * (n + 1);
    return 0;
}

/* What pairs of turns differ by and are known to, where moments nearly balance. */
static void find_moments(struct turns *t, int32_t n, double limit)
{
    for (int32_t i = 0, first = 0; i < n; i++) {
        first = t->block[i] == t->block[first] ? first : i;
        const double rest = t->left[t->block[i]], size = t->all[t->block[i]];
        const bool three = first + 2 < n && t->block[first + 2] == t->block[first] &&
                           (first + 3 >= n || t->block[first + 3] != t->block[first]);
        const bool balanced = three && t->work[i] != 0. && rest <= limit * size;

        t->place[i] = (int8_t)(balanced ? i - first : -1);
        t->most[i] = t->work[i] == 0. ? 0. : known_to * size + (balanced ? of_left * rest : 0.);
    }
}

/* 0 or negative. */
static int split(const struct mech_mat *M, const struct mech_mat *K,
                 const struct mech_symmetric_slack *slack, struct mech_arena *arena,
                 struct mech_symmetry *out)
{
    const size_t n = (size_t)K->rows;

    MECH_TRY(mech_symmetric_split(arena, K, slack, &out->even, &out->odd, &out->known));
    if (out->odd.kind == MECH_MAT_ZERO) {
        return 0;
    }
    out->unit = mech_arena_alloc(arena, 2 * n, sizeof *out->unit);
    if (!out->unit) {
        return MECH_NO_MEMORY;
    }
    out->reach = out->unit + n;
    for (int32_t k = 0; k < K->rows; k++) {
        const double inertia = mech_mat_get(M, k, k);

        out->unit[k] = inertia > 0. ? 1. / sqrt(inertia) : 0.;
    }
    MECH_TRY(mech_mat_copy(arena, &out->odd, &out->sizes));
    for (size_t k = mech_mat_stored(&out->sizes); k-- > 0;) {
        out->sizes.values[k] = fabs(out->sizes.values[k]);
    }
    mech_mat_mul(&out->sizes, 1., out->unit, 0., out->reach);
    return 0;
}

int mech_symmetry(const struct mech_model *m, const struct mech_state *s, const struct mech_mat *M,
                  const struct mech_mat *K, struct mech_arena *arena, struct mech_symmetry *out)
{
    const int32_t n = mech_model_sizes(m)->v;
    const double limit = fmin(mech_model_settings(m)->newton.relative_tolerance, most_left);
    struct turns t;

    MECH_TRY(make_turns(arena, (size_t)n, &t));
    struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

    e.lambda = mech_model_sizes(m)->lambda > 0 ? s->lambda : NULL;
    const double worst = mech_penalty_tangent_known_to(m, &e, t.share);
    if (!(worst <= contacts_to)) {
        mech_text_format(out->reason, sizeof out->reason,
                         "contacts are so far from the origin that rounding limits the relative "
                         "accuracy of their stiffness to %.1g",
                         worst);
        return MECH_UNSUPPORTED;
    }
    (void)mech_model_blocks(m, t.block);
    mech_model_force_sizes(m, &e, t.work, t.S);
    mech_model_motion_sizes(m, false, t.work);
    mech_mat_mul(M, 1., s->vdot, 0., t.moment);
    sum_up(t.block, n, t.moment, t.left);
    sum_up(t.block, n, t.S, t.all);
    find_moments(&t, n, limit);
    const struct mech_symmetric_slack slack = {
        .block = t.block, .most = t.most, .share = t.share, .place = t.place, .moment = t.moment};

    return split(M, K, &slack, arena, out);
}

/* --- modes ------------------------------------------------------------------------------------ */

/* Σ |x| |y| */
static double sum_of(int32_t n, const double *x, const double *y)
{
    double sum = 0.;

    for (int32_t k = 0; k < n; k++) {
        sum += fabs(x[k]) * fabs(y[k]);
    }
    return sum;
}

/* What |b| of two modes moves λ_i by. */
static double moved(const struct mech_symmetry_modes *of, int32_t i, int32_t j, double b)
{
    const double apart = fabs(of->lambda[i] - of->lambda[j]);

    return b <= 0. || i == j ? 0. : b < apart ? b / apart * b : b;
}

void mech_symmetry_glance(const struct mech_symmetry_modes *of, int32_t i, const double *b,
                          struct mech_symmetry_mode *out)
{
    *out = (struct mech_symmetry_mode){.allowed = most_moved * fabs(of->lambda[i] - of->shift)};
    for (int32_t j = 0; j < of->p; j++) {
        out->moves += moved(of, i, j, fabs(b[j]));
    }
}

void mech_symmetry_look(const struct mech_symmetry *y, const struct mech_symmetry_modes *of,
                        int32_t i, const double *b, double *work, struct mech_symmetry_mode *out)
{
    const int32_t n = of->n;
    const double *const shape = of->shapes + (size_t)i * (size_t)n;
    double *const sizes = work + n;
    double sum = 0.;

    for (int32_t k = 0; k < n; k++) {
        sizes[k] = fabs(shape[k]);
    }
    mech_mat_mul(&y->known, 1., sizes, 0., work);
    *out = (struct mech_symmetry_mode){.allowed = most_moved * fabs(of->lambda[i] - of->shift) +
                                                  sum_of(n, work, sizes)};
    mech_mat_mul(&y->sizes, 1., sizes, 0., work);
    for (int32_t k = 0; k < n; k++) {
        sum += y->unit[k] * work[k] * (y->unit[k] * work[k]);
    }
    out->known_to = of_units * sqrt(sum);
    const double own = sum_of(n, shape, y->reach);

    for (int32_t j = 0; j < of->p; j++) {
        const double *const other = of->shapes + (size_t)j * (size_t)n;
        const double known =
            of_sums * sum_of(n, other, work) + of_units * (own + sum_of(n, other, y->reach));

        out->moves += moved(of, i, j, fabs(b[j]) - known);
    }
}

/* --- dense ------------------------------------------------------------------------------------ */

int mech_symmetry_spread(struct mech_arena *arena, const struct mech_mat *A, double *out)
{
    struct mech_triplet *t = NULL;
    size_t count = 0;

    if (A->kind == MECH_MAT_ZERO) {
        return 0;
    }
    MECH_TRY(mech_mat_triplets(arena, A, &t, &count));
    for (size_t k = 0; k < count; k++) {
        out[(size_t)t[k].col * (size_t)A->rows + (size_t)t[k].row] = t[k].value;
    }
    return 0;
}

void mech_symmetry_project(size_t n, size_t free_count, const double *Z, double *A, double *T)
{
    mech_eig_rotate((int32_t)n, (int32_t)n, (int32_t)n, A, Z, T);
    mech_eig_gram((int32_t)n, (int32_t)n, (int32_t)n, Z, T, A);
    for (size_t j = 0; j < free_count; j++) {
        memmove(A + j * free_count, A + j * n, free_count * sizeof *A);
    }
}
