/* Derivatives of steps by differences of runs, for schemes and models without analytic ones; see
 * tangent.h. The runs take the same steps, and share with the one they stand beside what acts on
 * the way, or the answer reports that they do not. */
#include "solver/base/err.h"
#include "solver/step/acting.h"
#include "solver/step/tangent_internal.h"

#include <string.h>

/* Relative step of runs whose Newton iterations stop at a tolerance. */
static const double of_runs = 0x1p-9;

/* One internal step of the present run, with its start before the first; what acted so far into
 * acted[1]. */
static int run_on(struct mech_tangent *t, struct mech_state *s, struct mech_step_result *result)
{
    struct mech_tangent_progress *const at = &t->at;

    if (at->done == 0) {
        at->t0 = s->at->time;
        at->acted[1] = 0;
        MECH_TRY(at->run.type->start(at->run.stepper, s, result));
        s->at->changed = 0;
    }
    MECH_TRY(mech_tangent_step(t->model, &at->run, at->done, at->t0, s, result));
    at->acted[1] = mech_acting(t->model, s, at->acted[1]);
    at->done++;
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

/* Where the present run starts: t->base for the one beside which all others are, else t->other. */
static struct mech_state *place_run(struct mech_tangent *t)
{
    /* where the end is affine in the start any step is exact, and a large one costs no digits */
    struct mech_tangent_progress *const at = &t->at;
    const double relative = !t->differenced         ? 0x1p20
                            : at->run.type->tangent ? of_runs
                                                    : mech_tangent_narrow;
    struct mech_state *const to = at->column < 0 ? &t->base : &t->from;

    if (at->done > 0) {
        return at->column < 0 ? &t->base : &t->other;
    }
    mech_state_copy(at->start, to);
    mech_tangent_hold(t, at->start, at->along.input, to);
    mech_tangent_begin_at(&at->along, to);
    if (at->column < 0) {
        return to;
    }
    const struct mech_direction d = mech_tangent_direction(t, &at->along, at->column);
    at->step = relative * mech_tangent_unit_of(t, &d);
    const double step = (at->sample % 2 ? -at->step : at->step) / (at->sample < 2 ? 1. : 2.);
    mech_tangent_shift(t, to, &d, step, &t->other);
    return &t->other;
}

/* A run has come to its end. */
static void end_run(struct mech_tangent *t)
{
    struct mech_tangent_progress *const at = &t->at;
    const struct mech_state_sizes *const n = mech_model_sizes(t->model);
    const size_t size = 4 * (size_t)n->v + (size_t)n->x + (size_t)n->lambda;

    at->done = 0;
    if (at->column < 0) {
        at->acted[0] = at->acted[1];
        at->column = 0;
        return;
    }
    t->kinked = t->kinked || at->acted[1] != at->acted[0];
    sample_end(t, &t->other, t->sample[at->sample++]);
    if (at->sample == 4) {
        mech_tangent_difference(t->sample, size, at->step, t->sample[0]);
        take_column(t, at->column++, t->sample[0]);
        at->sample = 0;
    }
}

void mech_tangent_runs_begin(struct mech_tangent *t)
{
    t->differenced = !(mech_model_is_linear(t->model) && mech_model_sizes(t->model)->impulse == 0);
    t->at.column = -1;
    t->at.sample = 0;
    t->at.done = 0;
}

int mech_tangent_runs_turn(struct mech_tangent *t, bool *done, struct mech_step_result *result)
{
    MECH_TRY(run_on(t, place_run(t), result));
    if (t->at.done == t->at.run.count) {
        end_run(t);
        *done = t->at.column == t->columns.count;
    }
    return 0;
}
