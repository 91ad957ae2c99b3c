/* Symmetry of the matrices of a model; see symmetry.h. */
#include "solver/analysis/symmetry.h"

#include "solver/base/err.h"
#include "solver/linalg/eig.h"
#include "solver/model/balance.h"
#include "solver/model/penalty.h"

#include <math.h>
#include <string.h>

/* Of the magnitudes of moments on a body: what their derivatives are known to, some ε of each; and
 * what may be left of them at most for modes to be those of an equilibrium. */
static const double known_to = 1e-13, most_left = 1e-2;

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

/* sum[b] := the magnitudes of the entries of each block */
static void sum_up(const int32_t *block, int32_t n, const double *x, double *sum)
{
    for (int32_t i = 0; i < n; i++) {
        sum[block[i]] += fabs(x[i]);
    }
}

int mech_symmetry_slack(const struct mech_model *m, const struct mech_state *s,
                        const struct mech_mat *M, struct mech_arena *arena,
                        struct mech_symmetric_slack *out)
{
    const int32_t n = mech_model_sizes(m)->v;
    const double limit = fmin(mech_model_settings(m)->newton.relative_tolerance, most_left);
    int32_t *const block = mech_arena_alloc(arena, (size_t)n + 1, sizeof *block);
    double *const most = mech_arena_alloc(arena, 7 * ((size_t)n + 1), sizeof *most);

    if (!block || !most) {
        return MECH_NO_MEMORY;
    }
    double *const r = most + n + 1, *const S = r + n + 1, *const work = S + n + 1;
    double *const left = work + n + 1, *const all = left + n + 1, *const share = all + n + 1;
    struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);

    e.lambda = mech_model_sizes(m)->lambda > 0 ? s->lambda : NULL;
    (void)mech_model_blocks(m, block);
    mech_model_force_sizes(m, &e, work, S);
    mech_model_motion_sizes(m, false, work);
    mech_mat_mul(M, 1., s->vdot, 0., r);
    sum_up(block, n, r, left);
    sum_up(block, n, S, all);
    for (int32_t i = 0; i < n; i++) {
        const double rest = left[block[i]], size = all[block[i]];

        /* twice: r follows from v', to which the joints' reactions belong as they are solved for */
        most[i] = work[i] == 0. ? 0. : known_to * size + (rest <= limit * size ? 2. * rest : 0.);
    }
    *out = (struct mech_symmetric_slack){block, most, mech_penalty_tangent_known_to(m, &e, share)};
    return 0;
}

/* Room to judge what the joints leave of a matrix: each [n × n], columns side by side. */
struct left_over {
    double *A;     /* what is left of it, */
    double *size;  /* of its magnitudes, */
    double *more;  /* and of these with Q as far as it is known; */
    double *slack; /* what pairs may differ by */
    double *Q, *T;
};

static int make_left_over(struct mech_arena *arena, size_t n, struct left_over *l)
{
    double *const x = mech_arena_alloc(arena, 6 * n * n, sizeof *x);

    *l = (struct left_over){.A = x};
    if (x) {
        *l = (struct left_over){
            x, x + n * n, x + 2 * n * n, x + 3 * n * n, x + 4 * n * n, x + 5 * n * n};
    }
    return x ? 0 : MECH_NO_MEMORY;
}

/* A := |Q|ᵀ |A| |Q|, `known` times the sizes of the coordinates added to |Q|. */
static void project_sizes(const struct mech_motions *b, double known, struct left_over *l,
                          double *A)
{
    const size_t n = (size_t)b->n;

    for (size_t k = 0; k < n * n; k++) {
        l->Q[k] = fabs(b->Q[k]) + known * b->size[k % n];
        A[k] = fabs(A[k]);
    }
    mech_symmetry_project(n, (size_t)b->positions, l->Q, A, l->T);
}

/* Pair by pair of Qᵀ A Q, up to the rounding of its sums and that of Q, some 1e-14 of the size of a
 * coordinate. */
int mech_symmetry_between(struct mech_arena *arena, const struct mech_mat *A,
                          const struct mech_motions *b, const struct mech_symmetric_slack *slack,
                          bool *symmetric)
{
    const size_t n = (size_t)b->n, p = (size_t)b->positions;
    const struct mech_arena_mark mark = mech_arena_mark(arena);
    struct left_over l;

    MECH_TRY(make_left_over(arena, n, &l));
    MECH_TRY(mech_symmetry_spread(arena, A, l.A));
    memcpy(l.size, l.A, n * n * sizeof *l.A);
    memcpy(l.more, l.A, n * n * sizeof *l.A);
    mech_symmetry_project(n, p, b->Q, l.A, l.T);
    project_sizes(b, 0., &l, l.size);
    project_sizes(b, 1e-15, &l, l.more);
    for (size_t k = 0; k < n * n; k++) {
        l.slack[k] = mech_symmetric_slack_of(slack, (int32_t)(k % n), (int32_t)(k / n));
    }
    project_sizes(b, 0., &l, l.slack);
    const double of_size = fmax(1e-12, slack ? slack->known_to : 0.);

    *symmetric = true;
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < j && *symmetric; i++) {
            const size_t a = j * p + i, c = i * p + j;
            const double pair[] = {l.A[a], l.A[c]};
            const double diagonal[] = {l.A[i * p + i], l.A[j * p + j]};
            const double rounding =
                of_size * (l.size[a] + l.size[c]) + l.more[a] - l.size[a] + l.more[c] - l.size[c];

            *symmetric =
                mech_symmetric_pair(pair, diagonal, rounding + l.slack[a], MECH_SYMMETRIC_TO);
        }
    }
    mech_arena_release(arena, mark);
    return 0;
}
