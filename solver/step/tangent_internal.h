/* Inside derivatives of steps: directions, shifted states, runs. */
#pragma once

#include "solver/step/tangent.h"

/* Step of differences of smooth functions without iterations, relative to a direction of size 1:
 * fourth order leaves 2^-48 of truncation and 2^-40 of rounding. */
static const double mech_tangent_narrow = 0x1p-12;

/* One of the directions, NULL for zeros. */
struct mech_direction {
    const double *q, *v, *x, *input;
};
struct mech_direction mech_tangent_direction(const struct mech_tangent *t,
                                             const struct mech_tangent_directions *d, int32_t j);
/* The power of two that makes it at most 1. */
double mech_tangent_unit_of(const struct mech_tangent *t, const struct mech_direction *d);
/* to = from + step · direction */
void mech_tangent_shift(struct mech_tangent *t, const struct mech_state *from,
                        const struct mech_direction *d, double step, struct mech_state *to);
/* Where q and v are varied they belong to no step's size, as those that a caller sets. */
static inline void mech_tangent_begin_at(const struct mech_tangent_directions *along,
                                         struct mech_state *s)
{
    s->at->size = along->q || along->v ? 0. : s->at->size;
}

/* Column j at the start, t->base standing there with its inputs held. 0, or an outcome of the start
 * or of a factorization with its reason in result; negative. */
int mech_tangent_start(struct mech_tangent *t, const struct mech_tangent_run *run,
                       const struct mech_tangent_directions *directions, int32_t j,
                       struct mech_step_result *result);
/* Step k of a run that began at t0. */
int mech_tangent_step(const struct mech_model *m, const struct mech_tangent_run *run, uint64_t k,
                      double t0, struct mech_state *s, struct mech_step_result *result);
/* All columns by runs beside that of t->base, which starts at t->at.start with its inputs held: the
 * beginning, then one internal step of the run under way; *done: that was the last. */
void mech_tangent_runs_begin(struct mech_tangent *t);
int mech_tangent_runs_turn(struct mech_tangent *t, bool *done, struct mech_step_result *result);
