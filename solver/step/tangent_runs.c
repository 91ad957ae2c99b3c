/* Derivatives of steps by differences of runs, for schemes and models without analytic ones; see
 * tangent.h. The runs take the same steps, and share with the one they stand beside what acts on
 * the way, or the answer says that they do not. */
#include "solver/base/err.h"
#include "solver/step/tangent_internal.h"

#include <string.h>

/* Relative step of runs whose Newton iterations stop at a tolerance. */
static const double of_runs = 0x1p-9;

/* Which contacts and one-sided rows act, mixed into a number (FNV-1a). */
static uint64_t acting(const struct mech_tangent *t, const struct mech_state *s, uint64_t so_far)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);

    for (int32_t i = 0; i < n->impulse; i++) {
        so_far = (so_far ^ (s->impulse[i] != 0.)) * 1099511628211u;
    }
    for (int32_t i = 0; i < n->lambda && mech_model_joints(t->model)->partial; i++) {
        so_far = (so_far ^ (s->open[i] != 0.)) * 1099511628211u;
    }
    return so_far;
}

/* From where s stands to the end; what acted on the way into *seen. */
static int run_steps(const struct mech_tangent *t, const struct mech_tangent_run *run,
                     struct mech_state *s, uint64_t *seen, struct mech_step_result *result)
{
    const double t0 = s->at->time;

    *seen = 14695981039346656037u;
    MECH_TRY(run->type->start(run->stepper, s, result));
    s->at->changed = 0;
    for (uint64_t k = 0; k < run->count; k++) {
        MECH_TRY(mech_tangent_step(t->model, run, k, t0, s, result));
        *seen = acting(t, s, *seen);
    }
    return 0;
}

/* End of a run as one vector, positions as motions from the end of t->base. */
static void sample_end(struct mech_tangent *t, const struct mech_state *s, double *out)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const double *const parts[] = {s->v, s->vdot, s->a, s->x, s->lambda};
    const int32_t sizes[] = {n->v, n->v, n->v, n->x, n->lambda};

    for (int32_t i = 0; i < n->q; i++) {
        t->q[i] = s->q[i] - t->base.q[i];
    }
    mech_model_motion(t->model, t->base.q, t->q, out);
    out += n->v;
    for (int p = 0; p < 5; p++) {
        memcpy(out, parts[p], (size_t)sizes[p] * sizeof *out);
        out += sizes[p];
    }
}

/* One column from the vector of sample_end. */
static void take_column(struct mech_tangent *t, int32_t j, const double *from)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    struct mech_columns *const c = &t->columns;
    double *const parts[] = {c->q, c->v, c->vdot, c->a, c->x, c->lambda};
    const int32_t sizes[] = {n->v, n->v, n->v, n->v, n->x, n->lambda};

    for (int p = 0; p < 6; p++) {
        memcpy(parts[p] + (size_t)j * ((size_t)sizes[p] + 1), from,
               (size_t)sizes[p] * sizeof *from);
        from += sizes[p];
    }
}

/* All columns by runs beside that of t->base, which starts at `state` with its inputs held. */
int mech_tangent_runs(struct mech_tangent *t, const struct mech_tangent_run *run,
                      const struct mech_state *start,
                      const struct mech_tangent_directions *directions,
                      struct mech_step_result *result)
{
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const size_t size = 4 * (size_t)n->v + (size_t)n->x + (size_t)n->lambda;
    /* where the end is affine in the start any step is exact, and a large one costs no digits */
    const bool affine = mech_model_is_linear(t->model) && n->impulse == 0;
    const double relative = affine ? 0x1p20 : run->type->tangent ? of_runs : mech_tangent_narrow;
    uint64_t seen, other;

    t->differenced = !affine;
    mech_state_copy(start, &t->base);
    mech_tangent_hold(t, start, directions->input, &t->base);
    MECH_TRY(run_steps(t, run, &t->base, &seen, result));
    for (int32_t j = 0; j < t->columns.count; j++) {
        const struct mech_direction d = mech_tangent_direction(t, directions, j);
        const double step = relative * mech_tangent_unit_of(t, &d);

        for (int k = 0; k < 4; k++) {
            const double at = (k % 2 ? -step : step) / (k < 2 ? 1. : 2.);

            mech_state_copy(start, &t->from);
            mech_tangent_hold(t, start, directions->input, &t->from);
            mech_tangent_shift(t, &t->from, &d, at, &t->other);
            MECH_TRY(run_steps(t, run, &t->other, &other, result));
            t->kinked = t->kinked || other != seen;
            sample_end(t, &t->other, t->sample[k]);
        }
        mech_tangent_difference(t->sample, size, step, t->sample[0]);
        take_column(t, j, t->sample[0]);
    }
    return 0;
}
