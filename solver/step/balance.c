/* Residuals beside what balances; see balance.h. */
#include "solver/step/balance.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rounding of a residual = this × the change by nudges: 16 ε of every number, as much as the
 * solves of long cables leave. 1.75: mean of the sum of squares of four shares */
static const double of_change = 16. * DBL_EPSILON / MECH_NUDGE;
static const double mean_square = 1.75;

static void weigh(struct mech_balance *b)
{
    const struct mech_mat *const M = mech_model_linear(b->model)->M;

    for (int32_t i = 0; i < b->nv; i++) {
        const double *const at = M->kind == MECH_MAT_ZERO ? NULL : mech_mat_place(M, i, i);
        double *const most = &b->lightness[b->block[i]];

        *most = fmax(*most, at ? fabs(*at) : 0.);
    }
    for (int32_t k = 0; k < b->blocks; k++) {
        b->root[k] = sqrt(b->lightness[k]);
        b->per_root[k] = b->root[k] > 0. ? 1. / b->root[k] : 0.;
        b->lightness[k] = b->lightness[k] > 0. ? 1. / b->lightness[k] : 0.;
    }
}

int mech_balance_init(struct mech_balance *b, const struct mech_model *m, struct mech_arena *arena)
{
    const int32_t nv = mech_model_sizes(m)->v, rows = mech_model_joints(m)->count;
    const size_t n = (size_t)nv + 1, k = (size_t)rows + 1;

    *b = (struct mech_balance){.model = m, .nv = nv, .rows = rows};
    b->block = mech_arena_alloc(arena, n, sizeof *b->block);
    b->start = mech_arena_alloc(arena, n + 1, sizeof *b->start);
    b->owner = mech_arena_alloc(arena, n, sizeof *b->owner);
    b->next = mech_arena_alloc(arena, n, sizeof *b->next);
    int32_t *const of = mech_arena_alloc(arena, n, sizeof *of);
    double *const memory = mech_arena_alloc(arena, 11 * n + 8 * k, sizeof *memory);

    if (!b->block || !b->start || !b->owner || !b->next || !of || !memory) {
        return MECH_NO_MEMORY;
    }
    b->blocks = mech_model_blocks(m, b->block);
    b->block[nv] = b->blocks;
    for (int32_t i = 0; i <= nv; i++) {
        if (i == 0 || b->block[i] != b->block[i - 1]) {
            b->start[b->block[i]] = i;
        }
    }
    b->S = memory;
    b->all = b->S + n;
    b->way = b->all + n;
    b->terms = b->way + n;
    b->work = b->terms + n;
    b->change = b->work + n;
    b->S_row = b->change + n + k;
    b->L = b->S_row + k;
    b->lightness = b->L + k;
    b->root = b->lightness + n;
    b->least = b->root + n;
    b->weight = b->least + n;
    b->per_root = b->weight + n;
    b->row_light = b->per_root + n;
    b->row_weight = b->row_light + k;
    b->L_first = b->row_weight + k;
    b->gap = b->L_first + k;
    b->by_length = b->gap + k;
    for (size_t i = 0; i < k; i++) {
        b->by_length[i] = 1.;
    }
    weigh(b);
    if (rows) {
        const struct mech_eval e = mech_model_point(m, NULL, 0., mech_model_reference(m), b->work);

        mech_model_pose(m, &e);
        mech_model_joint_sizes(m, b->L_first);
        for (int32_t i = 0; i < b->rows; i++) {
            /* no length where points coincide there */
            b->L_first[i] = isfinite(b->L_first[i]) ? b->L_first[i] : 0.;
        }
        mech_model_joint_gaps(m, MECH_GAP, b->gap);
    }
    mech_model_owners(m, of);
    for (int32_t i = 0; i < nv; i++) {
        b->owner[b->block[i]] = of[i];
    }
    for (int32_t i = b->blocks - 1; i >= 0; i--) {
        const bool alike = i + 1 < b->blocks && b->owner[i] == b->owner[i + 1];

        b->next[i] = alike ? b->next[i + 1] : i + 1;
    }
    return 0;
}

void mech_balance_begin(struct mech_balance *b)
{
    if (b->lengths) {
        memset(b->L, 0, (size_t)b->rows * sizeof *b->L);
    }
    b->whole = b->lengths = false;
}

/* --- sizes ------------------------------------------------------------------------------------ */

/* The terms of each equation; S where each is a block. */
static void add_parts(const struct mech_balance *b, const struct mech_balance_parts *p)
{
    const double *restrict const F = p->F, *restrict const f = p->f;
    const double *restrict const inert = p->inert, *restrict const r = p->r;
    double *restrict const terms = b->blocks < b->nv ? b->terms : b->S;
    const double h = p->h;

    for (int32_t i = 0; i < b->nv; i++) {
        terms[i] = h * (fabs(F[i]) + fabs(f[i] - F[i])) + fabs(inert[i] + h * f[i]) +
                   fabs(r[i] - inert[i]);
    }
}

void mech_balance_parts(struct mech_balance *b, const struct mech_balance_parts *p)
{
    const double *restrict const terms = b->terms;

    add_parts(b, p);
    for (int32_t k = 0; k < b->blocks && b->blocks < b->nv; k++) {
        double sum = 0.;

        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            sum += terms[i];
        }
        b->S[k] = sum;
    }
    for (int32_t k = 0; k < b->blocks && b->whole; k++) {
        b->S[k] = fmax(b->S[k], p->h * b->all[k]);
    }
    mech_balance_complete(b);
}

/* S/√M; 0 of what has no mass */
static double beside_mass(const struct mech_balance *b, int32_t k)
{
    return b->S[k] * b->per_root[k];
}

void mech_balance_complete(struct mech_balance *b)
{
    const double *restrict const S = b->S, *restrict const per_root = b->per_root;
    const double *restrict const root = b->root;
    double *restrict const least = b->least;
    double largest = 0.;

    for (int32_t k = 0; k < b->blocks; k++) {
        const double size = S[k] * per_root[k];

        largest = size > largest ? size : largest;
    }
    largest *= MECH_NO_FORCES;
    for (int32_t k = 0; k < b->blocks; k++) {
        const double own = MECH_FORCES_ROUND * S[k], none = largest * root[k];

        least[k] = own > none ? own : none;
    }
    /* of forces beside moments on one body */
    for (int32_t k = 0; k < b->blocks - 1; k = b->next[k]) {
        double most = 0.;

        for (int32_t i = k; i < b->next[k] && b->next[k] > k + 1; i++) {
            const double size = S[i] * per_root[i];

            most = size > most ? size : most;
        }
        for (int32_t i = k; i < b->next[k] && most > 0.; i++) {
            const double own = MECH_FORCES_MET * most * root[i];

            least[i] = own > least[i] ? own : least[i];
        }
    }
}

void mech_balance_all(struct mech_balance *b, const struct mech_eval *e)
{
    mech_model_force_sizes(b->model, e, b->work, b->terms);
    for (int32_t k = 0; k < b->blocks; k++) {
        b->all[k] = 0.;
        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            b->all[k] += b->terms[i];
        }
    }
    b->whole = true;
}

void mech_balance_motion(struct mech_balance *b, const double *x, const double *y,
                         const double c[3])
{
    for (int32_t k = 0; k < b->blocks; k++) {
        double sum = 0.;

        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            sum += c[0] * fabs(x[i]) + (y ? c[1] * fabs(y[i]) : 0.);
        }
        const double motion = sum + c[2] * b->S[k] * b->lightness[k];

        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            b->way[i] = motion;
        }
    }
    b->row_share = c[2];
}

void mech_balance_row(struct mech_balance *b, int32_t row, const double *G)
{
    const struct mech_joint_rows *const rows = mech_model_joints(b->model);
    double sum = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        sum += fabs(G[k]) * b->way[rows->column[k]];
    }
    b->S_row[row] = sum;
}

void mech_balance_masses(struct mech_balance *b, const double *G)
{
    const struct mech_joint_rows *const rows = mech_model_joints(b->model);

    for (int32_t r = 0; r < b->rows; r++) {
        b->row_light[r] = 0.;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            const int32_t of = b->block[rows->column[k]];

            b->row_light[r] += of < b->blocks && b->root[of] > 0. ? fabs(G[k]) / b->root[of] : 0.;
        }
    }
}

void mech_balance_lengths(struct mech_balance *b)
{
    mech_model_joint_sizes(b->model, b->L);
    b->lengths = true;
}

void mech_balance_speed(struct mech_balance *b, int32_t row, bool is)
{
    b->by_length[row] = is ? 0. : 1.;
}

static double block_left(const struct mech_balance *b, int32_t k, const double *r)
{
    double sum = 0.;

    for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
        sum += fabs(r[i]);
    }
    return sum;
}

bool mech_balance_within(const struct mech_balance *b, const struct mech_balance_parts *p,
                         double share)
{
    for (int32_t k = 0; k < b->blocks; k++) {
        double sum = 0., left = 0.;

        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            sum += p->h * (fabs(p->F[i]) + fabs(p->f[i] - p->F[i])) +
                   fabs(p->inert[i] + p->h * p->f[i]) + fabs(p->r[i] - p->inert[i]);
            left += fabs(p->r[i]);
        }
        if (!(left <= share * sum)) {
            return false;
        }
    }
    return true;
}

/* finite where nothing may be left: 0 times it is 0 */
static double weight_of(double may)
{
    return may > 1. / DBL_MAX ? 1. / may : DBL_MAX;
}

void mech_balance_tolerate(struct mech_balance *b)
{
    const double *restrict const may = b->least;
    double *restrict const weight = b->weight;

    for (int32_t k = 0; k < b->blocks; k++) {
        weight[k] = weight_of(may[k]);
    }
}

void mech_balance_tolerate_rows(struct mech_balance *b)
{
    for (int32_t i = 0; i < b->rows; i++) {
        const double by_terms = MECH_FORCES_ROUND * b->S_row[i];
        const double length = b->L[i] > b->L_first[i] ? b->L[i] : b->L_first[i];
        const double by_rounding = MECH_LENGTHS_MET * length * b->by_length[i];

        b->row_weight[i] = weight_of(by_terms > by_rounding ? by_terms : by_rounding);
    }
}

double mech_balance_over(const struct mech_balance *b, const double *r)
{
    const double *restrict const weight = b->weight;
    double most = 0.;

    for (int32_t k = 0; k < b->blocks && b->blocks == b->nv; k++) {
        const double left = fabs(r[k]) * weight[k];

        most = left > most ? left : most;
    }
    for (int32_t k = 0; k < b->blocks && b->blocks < b->nv; k++) {
        const double left = block_left(b, k, r) * weight[k];

        most = left > most ? left : most;
    }
    return most;
}

/* --- residuals -------------------------------------------------------------------------------- */

double mech_balance_left(const struct mech_balance *b, const double *r, double least)
{
    double most = 0.;

    for (int32_t k = 0; k < b->blocks; k++) {
        const double left = block_left(b, k, r);

        /* true for what is not a number */
        if (!(left <= least) && !(left <= b->least[k]) && !(left <= most * b->S[k])) {
            if (isnan(left)) {
                return left;
            }
            most = left / b->S[k];
        }
    }
    return most;
}

double mech_balance_row_left(const struct mech_balance *b, int32_t row, double g, double least)
{
    const double left = fabs(g);

    const double rounding = MECH_LENGTHS_MET * b->L[row] * b->by_length[row];

    return left <= least || left <= rounding ? 0. : left / (b->S_row[row] + left);
}

void mech_balance_worst(const struct mech_balance *b, const double *r, char *out, size_t size)
{
    double most = -1.;
    int32_t worst = 0;

    for (int32_t k = 0; k < b->blocks; k++) {
        const double left = block_left(b, k, r), ratio = left > b->least[k] ? left / b->S[k] : 0.;

        if (ratio > most) {
            most = ratio;
            worst = b->start[k];
        }
    }
    for (int32_t i = 0; i < b->rows; i++) {
        const double ratio = mech_balance_row_left(b, i, r[b->nv + i], 0.);

        if (ratio > most) {
            most = ratio;
            worst = b->nv + i;
        }
    }
    snprintf(out, size, "%s",
             worst < b->nv ? mech_model_owner_name(b->model, worst)
                           : mech_model_joint_name(b->model, worst - b->nv));
}

/* --- rounding --------------------------------------------------------------------------------- */

static double *nudged(const double *x, int32_t n, int side, struct mech_arena *arena)
{
    double *const out = mech_arena_alloc(arena, (size_t)n + 1, sizeof *out);

    for (int32_t i = 0; out && i < n; i++) {
        out[i] = x[i] * (1. + MECH_NUDGE * mech_model_share((uint32_t)i, side));
    }
    return out; /* the last is the ground's, 0 */
}

int mech_balance_nudge(const struct mech_balance *b, const struct mech_state *s, int side,
                       struct mech_arena *arena, struct mech_state *out)
{
    const int32_t nq = mech_model_sizes(b->model)->q;
    double *const d = mech_arena_alloc(arena, (size_t)b->nv + 1, sizeof *d);

    *out = *s;
    out->q = mech_arena_alloc(arena, (size_t)nq + 1, sizeof *out->q);
    out->v = nudged(s->v, b->nv, side, arena);
    out->vdot = nudged(s->vdot, b->nv, side + 1, arena);
    out->lambda = nudged(s->lambda, b->rows, side, arena);
    if (!d || !out->q || !out->v || !out->vdot || !out->lambda) {
        return MECH_NO_MEMORY;
    }
    mech_model_nudge(b->model, s->q, MECH_NUDGE, side, d, out->q);
    return 0;
}

void mech_balance_still(struct mech_balance *b)
{
    memset(b->change, 0, ((size_t)b->blocks + (size_t)b->rows) * sizeof *b->change);
}

void mech_balance_moved(struct mech_balance *b, const double *r, const double *before)
{
    for (int32_t k = 0; k < b->blocks; k++) {
        double sum = 0.;

        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            sum += fabs(r[i] - before[i]);
        }
        b->change[k] += sum * sum;
    }
    for (int32_t i = 0; i < b->rows; i++) {
        const double change = r[b->nv + i] - before[b->nv + i];

        b->change[b->blocks + i] += change * change;
    }
}

static bool is_rounding(const struct mech_balance *b, int32_t k, double left)
{
    return left <= of_change * sqrt(b->change[k] / mean_square);
}

bool mech_balance_rounds(const struct mech_balance *b, const double *r, double of_forces,
                         double of_rows)
{
    double most = 0.;
    bool all = true;

    for (int32_t k = 0; k < b->blocks; k++) {
        most = fmax(most, MECH_SOLVES_MET * beside_mass(b, k));
    }
    for (int32_t k = 0; k < b->blocks && all; k++) {
        const double left = block_left(b, k, r);

        all = left <= of_forces * b->S[k] || left <= b->least[k] || left <= most * b->root[k] ||
              is_rounding(b, k, left);
    }
    for (int32_t i = 0; i < b->rows && all; i++) {
        const double left = fabs(r[b->nv + i]), length = b->L[i] * b->by_length[i];

        all = left <= of_rows * b->S_row[i] || left <= MECH_LENGTHS_MET * length ||
              left <= most * b->row_share * b->row_light[i] || is_rounding(b, b->blocks + i, left);
    }
    return all;
}
