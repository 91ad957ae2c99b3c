/* Iteration matrices that outlive a step (settings newton.modified). The state carries the point at
 * which the matrix in use was formed, not its factors: a restored state forms it again from
 * there, and continues to the same bits.
 *
 *     carried   whether there is one; t, h; q, v, v̇, λ and which rows act
 */
#include "solver/base/err.h"
#include "solver/step/alpha_internal.h"

#include <string.h>

enum { THERE, TIME, SIZE, POINT };

int32_t mech_alpha_kept_size(const struct mech_model *m)
{
    const struct mech_state_sizes *const n = mech_model_sizes(m);

    return mech_model_settings(m)->newton.modified && !mech_model_is_linear(m)
               ? POINT + (n->q + 1) + 2 * (n->v + 1) + 2 * (n->lambda + 1)
               : 0;
}

/* The carried part of a state, and a state that shows the point in it. */
static double *kept_of(const struct alpha *s, const struct mech_state *state,
                       struct mech_state *point)
{
    const struct mech_state_sizes *const n = mech_model_sizes(s->model);
    double *const kept = state->carry + mech_alpha_carry(s->model) - mech_alpha_kept_size(s->model);

    *point = *state;
    point->q = kept + POINT;
    point->v = point->q + n->q + 1;
    point->vdot = point->v + n->v + 1;
    point->lambda = point->vdot + n->v + 1;
    point->open = point->lambda + n->lambda + 1;
    return kept;
}

int mech_alpha_kept_init(struct alpha *s)
{
    const size_t size = (size_t)mech_alpha_kept_size(s->model);

    s->kept = mech_arena_alloc(&s->arena, size, sizeof *s->kept);
    return s->kept ? 0 : MECH_NO_MEMORY;
}

void mech_alpha_kept_forget(const struct alpha *s, struct mech_state *state)
{
    if (mech_alpha_kept_size(s->model)) {
        struct mech_state point;

        kept_of(s, state, &point)[THERE] = 0.;
    }
}

/* Factors at a point whose motions are in `point`, for a step of h that ends at t. */
static int factor_at(struct alpha *s, const struct mech_state *point, double h, double t,
                     bool posed, struct mech_step_result *result)
{
    struct mech_eval e = mech_model_point(s->model, point, t, point->q, point->v);
    double w[3];

    mech_alpha_weights(s, h, w);
    e.lambda = point->lambda;
    e.vdot = point->vdot;
    e.posed = posed;
    return mech_saddle_factor(&s->saddle, &e, (const double[3]){1. / w[0], w[1] / w[0], 1.},
                              result);
}

int mech_alpha_factor(struct alpha *s, struct mech_state *state, double h, double t,
                      struct mech_step_result *result)
{
    const struct mech_state_sizes *const n = mech_model_sizes(s->model);
    const size_t size = (size_t)mech_alpha_kept_size(s->model) * sizeof *s->kept;

    MECH_TRY(factor_at(s, state, h, t, true, result));
    if (size) {
        struct mech_state point;
        double *const kept = kept_of(s, state, &point);

        kept[THERE] = 1.;
        kept[TIME] = t;
        kept[SIZE] = h;
        memcpy(point.q, state->q, ((size_t)n->q + 1) * sizeof *kept);
        memcpy(point.v, state->v, ((size_t)n->v + 1) * sizeof *kept);
        memcpy(point.vdot, state->vdot, ((size_t)n->v + 1) * sizeof *kept);
        memcpy(point.lambda, state->lambda, ((size_t)n->lambda + 1) * sizeof *kept);
        memcpy(point.open, state->open, ((size_t)n->lambda + 1) * sizeof *kept);
        memcpy(s->kept, kept, size);
        s->kept_count = s->saddle.factored;
    }
    return 0;
}

int mech_alpha_kept(struct alpha *s, const struct mech_state *state, double h, bool *there,
                    struct mech_step_result *result)
{
    const size_t size = (size_t)mech_alpha_kept_size(s->model) * sizeof *s->kept;
    struct mech_state point;

    *there = false;
    if (!size) {
        return 0;
    }
    const double *const kept = kept_of(s, state, &point);
    const size_t rows = (size_t)s->rows * sizeof *kept;

    if (kept[THERE] == 0. || kept[SIZE] != h || memcmp(point.open, state->open, rows) != 0) {
        return 0;
    }
    *there = true;
    if (s->kept_count == s->saddle.factored && memcmp(s->kept, kept, size) == 0) {
        return 0;
    }
    MECH_TRY(factor_at(s, &point, h, kept[TIME], false, result));
    memcpy(s->kept, kept, size);
    s->kept_count = s->saddle.factored;
    return 0;
}
