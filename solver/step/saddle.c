/* Saddle matrix of models with joints; see saddle.h. A singular one is tried again with −ε in the
 * corner, rows in measures of inertia: the multipliers that grow like 1/ε belong to rows that
 * depend on each other, and the last of them names the joint.
 *
 * Solvers scale a matrix by its largest entries (linalg/scale.h), which with joints are those of G:
 * beside a row of 1 an inertia of 1e-20 kg m² has no digit, though a model in other units has all.
 * So what they find singular is scaled by inertia and factored again, D W D x = D r: velocities by
 * 1/√|W_ii|, rows by the size that they have then. */
#include "solver/step/saddle.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/linalg/scale.h"
#include "solver/step/rates.h"
#include "solver/step/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ε of a singular matrix */
static const double little = 1e-9;

/* M, C, K as triplets that live as long as s */
static int take_entries(struct mech_saddle *s, bool tangents)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_mat *const from[] = {part->M, part->C, part->K};

    for (int i = 0; i < (tangents ? 3 : 1); i++) {
        MECH_TRY(mech_mat_triplets(&s->arena, from[i], &s->entries[i], &s->count[i]));
    }
    return 0;
}

/* All places of the pattern; returns how many. */
static size_t gather(const struct mech_saddle *s, const struct mech_triplet *tangent, size_t n,
                     struct mech_triplet *t)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    size_t count = 0;

    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < s->count[i]; k++) {
            t[count++] = (struct mech_triplet){s->entries[i][k].row, s->entries[i][k].col, 1.};
        }
    }
    for (size_t k = 0; k < n; k++) {
        t[count++] = (struct mech_triplet){tangent[k].row, tangent[k].col, 1.};
    }
    for (int32_t r = 0; r < rows->count; r++) {
        t[count++] = (struct mech_triplet){s->nv + r, s->nv + r, 1.};
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            if (rows->column[k] < s->nv) {
                t[count++] = (struct mech_triplet){s->nv + r, rows->column[k], 1.};
                t[count++] = (struct mech_triplet){rows->column[k], s->nv + r, 1.};
            }
        }
    }
    return count;
}

/* Whose velocities make a tree, when they do; `t` are all places. */
static int build_tree(struct mech_saddle *s, const struct mech_triplet *t, size_t count,
                      struct mech_arena *scratch)
{
    int32_t *const owner = mech_arena_alloc(scratch, (size_t)s->nv, sizeof *owner);

    if (!owner) {
        return MECH_NO_MEMORY;
    }
    const struct mech_tree_pattern pattern = {.nv = s->nv,
                                              .rows = s->rows,
                                              .blocks = mech_model_owners(s->model, owner),
                                              .block_of = owner,
                                              .entry = t,
                                              .count = count};
    const int code = mech_tree_create(&pattern, &s->tree);

    return code == MECH_UNSUPPORTED ? 0 : code;
}

static int32_t place(const struct mech_saddle *s, int32_t row, int32_t col)
{
    if (col >= s->nv + s->rows) {
        return (int32_t)mech_mat_stored(&s->W);
    }
    return (int32_t)(mech_mat_place(&s->W, row, col) - s->W.values);
}

static int build_pattern(struct mech_saddle *s, const char *linear, bool tangents)
{
    const bool may_be_tree = !linear && s->rows && !mech_model_joints(s->model)->partial;
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const size_t joint = (size_t)rows->start[rows->count];
    struct mech_triplet *tangent = NULL;
    size_t n = 0;
    struct mech_arena scratch;

    mech_arena_init(&scratch, 0);
    int code = mech_mat_triplets(
        &scratch, tangents ? mech_model_pattern(s->model) : mech_model_inertia_pattern(s->model),
        &tangent, &n);
    const size_t most =
        s->count[0] + s->count[1] + s->count[2] + n + 2 * joint + (size_t)rows->count;
    struct mech_triplet *const t = mech_arena_alloc(&scratch, most, sizeof *t);
    if (code == 0 && !t) {
        code = MECH_NO_MEMORY;
    }
    if (code == 0) {
        const size_t count = gather(s, tangent, n, t);

        code = may_be_tree ? build_tree(s, t, count, &scratch) : 0;
        code = code ? code
                    : mech_mat_from_triplets(&s->arena, s->nv + s->rows, s->nv + s->rows, t, count,
                                             &s->W);
    }
    mech_arena_fini(&scratch);
    return code;
}

static int build_places(struct mech_saddle *s, bool tangents)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const size_t joint = (size_t)rows->start[rows->count];
    const int32_t ground = (int32_t)mech_mat_stored(&s->W);

    for (int i = 0; i < 3; i++) {
        s->place[i] = mech_arena_alloc(&s->arena, s->count[i], sizeof *s->place[i]);
        for (size_t k = 0; k < s->count[i] && s->place[i]; k++) {
            s->place[i][k] = place(s, s->entries[i][k].row, s->entries[i][k].col);
        }
        if (!s->place[i]) {
            return MECH_NO_MEMORY;
        }
    }
    s->lower = mech_arena_alloc(&s->arena, joint, sizeof *s->lower);
    s->upper = mech_arena_alloc(&s->arena, joint, sizeof *s->upper);
    s->corner = mech_arena_alloc(&s->arena, (size_t)rows->count, sizeof *s->corner);
    s->g = mech_arena_alloc(&s->arena, joint, sizeof *s->g);
    if (!s->lower || !s->upper || !s->corner || !s->g) {
        return MECH_NO_MEMORY;
    }
    for (int32_t r = 0; r < rows->count; r++) {
        s->corner[r] = place(s, s->nv + r, s->nv + r);
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            const bool free = rows->column[k] < s->nv;

            s->lower[k] = free ? place(s, s->nv + r, rows->column[k]) : ground;
            s->upper[k] = free ? place(s, rows->column[k], s->nv + r) : ground;
        }
    }
    return tangents ? mech_model_places(s->model, &s->arena, &s->W, &s->tangents)
           : mech_model_inertia(s->model)
               ? mech_model_inertia_places(s->model, &s->arena, &s->W, &s->inertia)
               : 0;
}

/* Places in W become places in the tree's values; the last of those takes what has none. */
static int move_to_tree(struct mech_saddle *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const size_t stored = mech_mat_stored(&s->W), joint = (size_t)rows->start[rows->count];
    int32_t *const lists[] = {s->place[0], s->place[1], s->place[2], s->lower,
                              s->upper,    s->tangents, s->inertia};
    const size_t places = mech_model_place_count(s->model);
    const size_t lengths[] = {s->count[0], s->count[1], s->count[2], joint, joint, places, places};
    struct mech_mat_walk walk = {.a = &s->W};

    s->stored = mech_tree_stored(s->tree);
    s->of_tree = mech_arena_alloc(&s->arena, stored + 1, sizeof *s->of_tree);
    if (!s->of_tree || s->stored >= INT32_MAX) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k <= stored; k++) {
        s->of_tree[k] = (int32_t)s->stored;
    }
    while (mech_mat_next(&walk)) {
        const int64_t at = mech_tree_place(s->tree, walk.row, walk.col);

        if (at >= 0) {
            s->of_tree[place(s, walk.row, walk.col)] = (int32_t)at;
        }
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (size_t k = 0; k < lengths[i] && lists[i]; k++) {
            lists[i][k] = s->of_tree[lists[i][k]];
        }
    }
    return 0;
}

int mech_saddle_init(struct mech_saddle *s, const struct mech_model *m, const char *linear,
                     bool tangents, struct mech_step_result *result)
{
    *s = (struct mech_saddle){
        .model = m, .nv = mech_model_sizes(m)->v, .rows = mech_model_joints(m)->count};
    mech_arena_init(&s->arena, 0);
    MECH_TRY(take_entries(s, tangents));
    MECH_TRY(build_pattern(s, linear, tangents));
    s->stored = mech_mat_stored(&s->W);
    s->W.values = mech_arena_alloc(&s->arena, s->stored + 1, sizeof *s->W.values);
    if (!s->W.values) {
        return MECH_NO_MEMORY;
    }
    s->W.symmetric = false; /* tangents need not be */
    MECH_TRY(build_places(s, tangents));
    s->values = s->W.values;
    if (s->tree) {
        MECH_TRY(move_to_tree(s));
        const size_t most = s->count[0] + s->count[1] + s->count[2];

        s->values = mech_arena_alloc(&s->arena, s->stored + 1, sizeof *s->values);
        s->some = mech_arena_alloc(&s->arena, most, sizeof *s->some);
        s->some_value = mech_arena_alloc(&s->arena, most, sizeof *s->some_value);
        if (!s->some || !s->some_value) {
            return MECH_NO_MEMORY;
        }
    }
    s->base = mech_arena_alloc(&s->arena, s->stored + 1, sizeof *s->base);
    s->scale = mech_arena_alloc(&s->arena, (size_t)s->nv + (size_t)s->rows, sizeof *s->scale);
    if (!s->values || !s->base || !s->scale) {
        return MECH_NO_MEMORY;
    }
    int code = mech_lsol_create(linear, &s->W, &s->solver);
    /* a solver requested for the steps need not suit the start */
    if (code == MECH_UNSUPPORTED && linear && !tangents) {
        code = mech_lsol_create(NULL, &s->W, &s->solver);
    }
    if (code == MECH_UNSUPPORTED) {
        mech_linear_unsuited(linear, "iteration matrix", result);
    }
    if (code == MECH_SINGULAR) {
        mech_singular_reason(m, "iteration matrix", s->nv, result);
    }
    if (code == 0) {
        mech_lsol_listen(s->solver, mech_model_interrupt(m));
    }
    return code;
}

void mech_saddle_fini(struct mech_saddle *s)
{
    if (s->model) {
        mech_lsol_destroy(s->solver);
        mech_tree_destroy(s->tree);
        mech_arena_fini(&s->arena);
    }
    *s = (struct mech_saddle){0};
}

void mech_saddle_form(struct mech_saddle *s, const double w[3])
{
    memset(s->base, 0, (s->stored + 1) * sizeof *s->base);
    for (int i = 0; i < 3; i++) {
        for (size_t k = 0; k < s->count[i]; k++) {
            s->base[s->place[i][k]] += w[i] * s->entries[i][k].value;
        }
    }
    s->some_count = 0;
    for (size_t k = 0; k < s->stored && s->tree; k++) {
        if (s->base[k] != 0.) {
            s->some[s->some_count] = (int32_t)k;
            s->some_value[s->some_count++] = s->base[k];
        }
    }
}

/* √(Σ G²/|H_kk|) of a row, H the matrix of the velocities: with rows divided by it the multipliers
 * of all are compared in one unit. 1 where it is not known. */
static double size_of_row(const struct mech_saddle *s, int32_t row)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    double sum = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        const int32_t i = rows->column[k];
        const double own = i < s->nv ? fabs(mech_mat_get(&s->W, i, i)) : 0.;

        sum += own > 0. ? s->g[k] * s->g[k] / own : 0.;
    }
    return sum > 0. && isfinite(sum) ? sqrt(sum) : 1.;
}

static void find_scale(struct mech_saddle *s)
{
    for (int32_t i = 0; i < s->nv; i++) {
        const double own = fabs(mech_mat_get(&s->W, i, i));

        s->scale[i] = own > 0. && isfinite(own) ? ldexp(1., -ilogb(own) / 2) : 1.;
    }
    for (int32_t r = 0; r < s->rows; r++) {
        s->scale[s->nv + r] = ldexp(1., -ilogb(size_of_row(s, r)));
    }
}

/* W := D W D, or back. */
static void apply_scale(struct mech_saddle *s, bool back)
{
    struct mech_mat_walk walk = {.a = &s->W};

    while (mech_mat_next(&walk)) {
        const double both = s->scale[walk.row] * s->scale[walk.col];

        s->W.values[place(s, walk.row, walk.col)] *= back ? 1. / both : both;
    }
}

/* As mech_lsol_factor; W stays as it is where that is singular. */
static int factor_by_solver(struct mech_saddle *s)
{
    int code = mech_lsol_factor(s->solver, &s->W);

    s->scaled = false;
    if (code == MECH_SINGULAR && s->rows) {
        find_scale(s);
        apply_scale(s, false);
        code = mech_lsol_factor(s->solver, &s->W);
        s->scaled = code == 0;
        if (!s->scaled) {
            apply_scale(s, true);
        }
    }
    return code;
}

static int solve_by_solver(struct mech_saddle *s, double *x)
{
    if (!s->scaled) {
        return mech_lsol_solve(s->solver, x, 1);
    }
    mech_scale_apply(s->nv + s->rows, s->scale, x, 1);
    const int code = mech_lsol_solve(s->solver, x, 1);

    mech_scale_apply(s->nv + s->rows, s->scale, x, 1);
    return code;
}

/* The row that others make superfluous, or -1: see above. */
static int32_t dependent_row(struct mech_saddle *s, const struct mech_eval *e)
{
    const bool partial = mech_model_joints(s->model)->partial && e->state;
    const size_t n = (size_t)s->nv + (size_t)s->rows;
    double *const x = calloc(n + (size_t)s->rows + 1, sizeof *x), largest = 0.;
    int32_t found = -1;

    if (!x) {
        return -1;
    }
    double *const size = x + n;
    for (int32_t r = 0; r < s->rows; r++) {
        const bool acts = !(partial && e->state->open[r] != 0.);

        size[r] = acts ? size_of_row(s, r) : 0.;
        if (acts) {
            s->W.values[s->corner[r]] = -little * size[r] * size[r];
        }
        /* along no pattern of the rows */
        x[s->nv + r] = (1. + 0.37 * (double)(r % 7)) * size[r];
    }
    if (s->rows && factor_by_solver(s) == 0) {
        double grown = solve_by_solver(s, x) == 0 ? 1e-3 / little : HUGE_VAL;

        for (int32_t r = 0; r < s->rows; r++) {
            x[s->nv + r] *= size[r];
            largest = fmax(largest, fabs(x[s->nv + r]));
        }
        for (int32_t r = 0; r < s->rows && largest > grown; r++) {
            found = fabs(x[s->nv + r]) > 0.01 * largest ? r : found;
        }
    }
    free(x);
    return found;
}

/* Rows that do not act: μ = its right-hand side, and no reaction. */
static void leave_open(struct mech_saddle *s, const struct mech_eval *e)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count && e->state; r++) {
        if (e->state->open[r] == 0.) {
            continue;
        }
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            s->W.values[s->lower[k]] = s->W.values[s->upper[k]] = 0.;
        }
        s->W.values[s->corner[r]] = 1.;
    }
}

/* All values at a point. */
static void fill(struct mech_saddle *s, const struct mech_eval *e, const double c[3])
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    double *const values = s->values;
    const int32_t joint = rows->start[rows->count];

    if (s->tree) {
        memset(values, 0, (s->stored + 1) * sizeof *values);
        for (size_t k = 0; k < s->some_count; k++) {
            values[s->some[k]] = s->some_value[k];
        }
    } else {
        memcpy(values, s->base, (s->stored + 1) * sizeof *values);
    }
    if (s->tangents) {
        mech_model_tangent(s->model, e, c, s->tangents, values);
    } else if (s->inertia) {
        mech_model_inertia_add(s->model, e, s->inertia, values);
    }
    if (rows->count) {
        mech_model_joint_jacobian(s->model, s->g);
        for (int32_t k = 0; k < joint; k++) {
            values[s->lower[k]] += s->g[k];
        }
        for (int32_t k = 0; k < joint && !s->tree; k++) {
            values[s->upper[k]] += s->g[k];
        }
    }
    if (rows->partial) {
        leave_open(s, e);
    }
}

/* What the tree finds singular may be so in its order alone. */
static void leave_tree(struct mech_saddle *s, const struct mech_eval *e, const double c[3])
{
    const size_t stored = mech_mat_stored(&s->W);

    fill(s, e, c);
    s->values[s->stored] = 0.;
    for (size_t k = 0; k < stored; k++) {
        s->W.values[k] = s->values[s->of_tree[k]];
    }
}

int mech_saddle_factor(struct mech_saddle *s, const struct mech_eval *e, const double c[3],
                       struct mech_step_result *result)
{
    s->factored++;
    fill(s, e, c);
    s->by_tree = s->tree && mech_tree_factor(s->tree, s->values) == 0;
    if (s->by_tree) {
        return 0;
    }
    if (s->tree) {
        leave_tree(s, e, c);
    }
    const int code = factor_by_solver(s);
    if (code == MECH_SINGULAR) {
        const int32_t where = mech_lsol_where(s->solver), row = dependent_row(s, e);

        mech_singular_reason(s->model, "iteration matrix", row >= 0 ? s->nv + row : where, result);
        return code;
    }
    return mech_linear_outcome(s->model, "iteration matrix", s->solver, code, result);
}

int mech_saddle_solve(struct mech_saddle *s, double *x, struct mech_step_result *result)
{
    if (s->by_tree) {
        mech_tree_solve(s->tree, x);
        return 0;
    }
    return mech_linear_outcome(s->model, "iteration matrix", s->solver, solve_by_solver(s, x),
                               result);
}

const char *mech_saddle_linear(const struct mech_saddle *s)
{
    return s->tree ? "tree" : mech_lsol_name(s->solver);
}
