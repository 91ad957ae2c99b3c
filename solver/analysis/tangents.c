/* M, C and K about a point; see tangents.h. */
#include "solver/analysis/tangents.h"

#include "solver/base/err.h"

#include <string.h>

/* base + c[0] ∂g/∂q + c[1] ∂g/∂v + c[2] M_q in the form that holds both patterns */
static int with_tangent(const struct mech_model *m, const struct mech_state *s,
                        const struct mech_mat *base, const double c[3], struct mech_arena *arena,
                        struct mech_mat *out)
{
    const struct mech_mat *const terms[] = {base, mech_model_pattern(m)};
    struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    int32_t *places = NULL;

    e.lambda = mech_model_sizes(m)->lambda > 0 ? s->lambda : NULL;
    e.vdot = s->vdot;
    e.exact = true;

    MECH_TRY(mech_mat_sum(arena, 2, (const double[]){1., 1.}, terms, out));
    const size_t stored = mech_mat_stored(out);
    double *const values = mech_arena_alloc(arena, stored + 1, sizeof *values);
    if (!values) {
        return MECH_NO_MEMORY;
    }
    out->values = values;
    mech_mat_sum_again(2, (const double[]){1., 0.}, terms, out);
    MECH_TRY(mech_model_places(m, arena, out, &places));
    mech_model_tangent(m, &e, c, places, values);
    return 0;
}

int mech_tangents(const struct mech_model *m, const struct mech_state *s, bool velocity,
                  struct mech_arena *arena, struct mech_mat *out)
{
    const struct mech_linear_part *const part = mech_model_linear(m);
    const struct mech_mat *const base = velocity ? part->C : part->K;
    const double c[3] = {velocity ? 0. : 1., velocity ? 1. : 0., 0.};
    struct mech_triplet *t = NULL;
    struct mech_mat sum;
    size_t count = 0;

    if (mech_model_is_linear(m)) {
        *out = *base;
        return 0;
    }
    MECH_TRY(with_tangent(m, s, base, c, arena, &sum));
    if (!mech_mat_is_finite(&sum)) {
        return MECH_NOT_FINITE;
    }
    MECH_TRY(mech_mat_triplets(arena, &sum, &t, &count));
    return mech_mat_from_triplets(arena, part->nv, part->nv, t, count, out);
}

int mech_tangent_mass(const struct mech_model *m, const struct mech_state *s,
                      struct mech_arena *arena, struct mech_mat *out)
{
    const struct mech_mat *const M = mech_model_linear(m)->M;

    if (!mech_model_inertia(m)) {
        *out = *M;
        return 0;
    }
    MECH_TRY(with_tangent(m, s, M, (const double[3]){0., 0., 1.}, arena, out));
    return mech_mat_is_finite(out) ? 0 : MECH_NOT_FINITE;
}

int mech_tangent_rows(const struct mech_model *m, const struct mech_state *s,
                      struct mech_arena *arena, struct mech_mat *out)
{
    const struct mech_joint_rows *const rows = mech_model_joints(m);
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    const size_t entries = (size_t)rows->start[rows->count];
    double *const values = mech_arena_alloc(arena, entries, sizeof *values);
    struct mech_triplet *const t = mech_arena_alloc(arena, entries, sizeof *t);
    size_t count = 0;

    if (!values || !t) {
        return MECH_NO_MEMORY;
    }
    mech_model_pose(m, &e);
    mech_model_joint_jacobian(m, values);
    for (int32_t r = 0; r < rows->count; r++) {
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            if (rows->column[k] < mech_model_sizes(m)->v && values[k] != 0. && s->open[r] == 0.) {
                t[count++] = (struct mech_triplet){r, rows->column[k], values[k]};
            }
        }
    }
    return mech_mat_from_triplets(arena, rows->count, mech_model_sizes(m)->v, t, count, out);
}

const char *mech_analysis_pressed(const struct mech_model *m, const struct mech_state *s)
{
    for (int32_t i = 0; i < mech_model_sizes(m)->impulse; i++) {
        if (s->impulse[i] != 0.) {
            return "contacts press: small motions about this state are not smooth";
        }
    }
    return NULL;
}
