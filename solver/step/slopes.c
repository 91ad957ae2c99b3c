/* Matrices of small motions; see slopes.h. */
#include "solver/step/slopes.h"

#include "solver/base/err.h"

#include <string.h>

/* base + tangents in the form that holds both */
static int own_matrix(struct mech_slopes *s, int which, const struct mech_mat *base)
{
    const struct mech_mat *const terms[] = {base, mech_model_pattern(s->model)};
    struct mech_mat *const out = &s->own[which];

    MECH_TRY(mech_mat_sum(&s->arena, 2, (const double[]){1., 1.}, terms, out));
    /* one more for what belongs to the ground */
    out->values = mech_arena_alloc(&s->arena, mech_mat_stored(out) + 1, sizeof *out->values);
    return out->values ? mech_model_places(s->model, &s->arena, out, &s->places[which])
                       : MECH_NO_MEMORY;
}

int mech_slopes_init(struct mech_slopes *s, const struct mech_model *m)
{
    const struct mech_linear_part *const part = mech_model_linear(m);
    const struct mech_joint_rows *const rows = mech_model_joints(m);

    *s = (struct mech_slopes){.model = m, .K = part->K, .C = part->C, .M = part->M};
    mech_arena_init(&s->arena, 0);
    s->G = mech_arena_alloc(&s->arena, (size_t)rows->start[rows->count] + 1, sizeof *s->G);
    if (!s->G) {
        return MECH_NO_MEMORY;
    }
    if (mech_model_is_linear(m)) {
        return 0;
    }
    MECH_TRY(own_matrix(s, 0, part->K));
    MECH_TRY(own_matrix(s, 1, part->C));
    s->K = &s->own[0];
    s->C = &s->own[1];
    if (mech_model_inertia(m)) {
        MECH_TRY(own_matrix(s, 2, part->M));
        s->M = &s->own[2];
    }
    return 0;
}

void mech_slopes_fini(struct mech_slopes *s)
{
    if (s->model) {
        mech_arena_fini(&s->arena);
    }
    *s = (struct mech_slopes){0};
}

/* rows that are open ask for nothing */
static void close_out(const struct mech_slopes *s, const struct mech_eval *e)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count && e->state; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1] && e->state->open[r] != 0.; k++) {
            s->G[k] = 0.;
        }
    }
}

void mech_slopes_at(struct mech_slopes *s, const struct mech_eval *e)
{
    const struct mech_linear_part *const part = mech_model_linear(s->model);
    const struct mech_mat *const base[] = {part->K, part->C, part->M};
    const struct mech_mat *const pattern = mech_model_pattern(s->model);

    if (mech_model_is_linear(s->model)) {
        return;
    }
    for (int i = 0; i < 3 && s->places[i]; i++) {
        const struct mech_mat *const terms[] = {base[i], pattern};
        const double c[3] = {i == 0, i == 1, i == 2};

        mech_mat_sum_again(2, (const double[]){1., 0.}, terms, &s->own[i]);
        mech_model_tangent(s->model, e, c, s->places[i], s->own[i].values);
    }
    if (mech_model_joints(s->model)->count) {
        mech_model_joint_jacobian(s->model, s->G);
        if (mech_model_joints(s->model)->one_sided) {
            close_out(s, e);
        }
    }
}

static void add_product(const struct mech_mat *A, const double *x, double *out)
{
    if (x && A->kind != MECH_MAT_ZERO) {
        mech_mat_mul(A, 1., x, 1., out);
    }
}

void mech_slopes_add(const struct mech_slopes *s, const double *q, const double *v, const double *a,
                     double *out)
{
    add_product(s->K, q, out);
    add_product(s->C, v, out);
    add_product(s->M, a, out);
}

void mech_slopes_rows(const struct mech_slopes *s, const double *x, double *out)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count; r++) {
        out[r] = 0.;
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            out[r] += s->G[k] * x[rows->column[k]];
        }
    }
}

void mech_slopes_react(const struct mech_slopes *s, double scale, const double *lambda, double *out)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            out[rows->column[k]] += scale * s->G[k] * lambda[r];
        }
    }
}
