/* Derivatives of steps: how a change of the state, or of inputs held from its time on, changes the
 * state after N internal steps.
 *
 * A scheme with a `tangent` gets each step's derivative from the equations that the step has
 * fulfilled: one factorization at its end (none for linear models, whose factors stand) and one
 * back-substitution a column, chained through q, v, v̇, a, x and λ. Where the scheme or the model
 * has none, runs beside the step are differenced (to fourth order), and the answer says so. Either
 * way the derivative is one of smooth motion: it holds while the same contacts and one-sided joints
 * act. owner: the simulation's thread; nothing here is on the step path.
 *
 *   MECH_TRY(mech_tangent_init(&t, m, &sizes, count));
 *   MECH_TRY(mech_tangent_begin(&t, &run, state, &directions, result));
 *   for (bool done = false; !done;) {
 *       MECH_TRY(mech_tangent_advance(&t, 100, &done, result));
 *   }
 *   … t.columns, t.base …
 *   mech_tangent_fini(&t);
 */
#pragma once

#include "solver/step/saddle.h"
#include "solver/step/slopes.h"
#include "solver/step/stepper.h"

/* What runs, and how long. */
struct mech_tangent_run {
    const struct mech_stepper_type *type;
    void *stepper;
    double h, t_end;
    uint64_t count; /* internal steps */
};

/* Directions: each [count × …], q as motions [nv], v [nv], x [nx], packed inputs; NULL: zeros. */
struct mech_tangent_directions {
    const double *q, *v, *x, *input;
};

/* The derivatives of a state, one column after the other, with their ground slots. */
struct mech_columns {
    int32_t count;
    double *q;            /* [count × (nv + 1)] motions */
    double *v, *vdot, *a; /* [count × (nv + 1)] */
    double *x;            /* [count × (nx + 1)] */
    double *lambda;       /* [count × (rows + 1)] */
    double *force;        /* [count × (nv + 1)] of f by inputs, at the end of the step */
    double *rate[2];      /* [count × (nx + 1)] of r(t) by inputs, at start and end of the step */
};

/* How far a derivation is. */
struct mech_tangent_progress {
    struct mech_tangent_run run;
    struct mech_tangent_directions along;
    const struct mech_state *start;
    bool chained;      /* columns from each step's equations; else by runs beside */
    int32_t column;    /* whose start, or whose runs, come next; of runs -1: the one of the base */
    int32_t sample;    /* 0 to 3: which of the column's runs */
    uint64_t done;     /* internal steps of the present run */
    double t0;         /* s, where it started */
    double step;       /* of differences, along the column */
    uint64_t acted[2]; /* which contacts acted: beside the base, in the present run */
};

/* One derivation. All memory is its own. */
struct mech_tangent {
    const struct mech_model *model;
    struct mech_arena arena;
    struct mech_columns columns;
    struct mech_slopes slopes;
    struct mech_saddle saddle; /* of the start; not made where v̇ and λ are differenced there */
    /* scratch of schemes */
    double *d, *q0, *v0, *z, *r; /* [nv + 1], but r [nv + rows + 1] */
    double *rows[2];             /* [rows + 1] */
    double *q, *v;               /* [nq + 1], [nv + 1] a point beside */
    struct mech_state base;      /* ends where the step leads to */
    struct mech_state other;     /* where it came from; of runs beside, where they lead to */
    struct mech_state from;      /* where runs beside start */
    double *input;               /* [4 × inputs] beside those of a state */
    double *sample[4];           /* of differences */
    bool differenced;            /* reported: by differences of runs */
    bool kinked;                 /* reported: other contacts or one-sided joints acted nearby */
    struct mech_tangent_progress at;
};

/* Memory for `count` columns of states of these sizes. 0 or negative; fini in any case, it accepts
 * zeros. */
int mech_tangent_init(struct mech_tangent *t, const struct mech_model *m,
                      const struct mech_state_sizes *sizes, int32_t count);
void mech_tangent_fini(struct mech_tangent *t);

/* Why this scheme has no derivatives of its steps with this model, or NULL. */
const char *mech_tangent_obstacle(const struct mech_model *m, const struct mech_stepper_type *type);

/* From `state`, with the inputs of the directions held at their present values, in slices: at most
 * `most` internal steps (or starts of columns) an advance, until *done; then t->columns and t->base
 * stand. State, directions and what they point to stay until then. 0, or an outcome of start or
 * step with its reason in result; negative. */
int mech_tangent_begin(struct mech_tangent *t, const struct mech_tangent_run *run,
                       const struct mech_state *state,
                       const struct mech_tangent_directions *directions,
                       struct mech_step_result *result);
int mech_tangent_advance(struct mech_tangent *t, uint64_t most, bool *done,
                         struct mech_step_result *result);

/* Hold the inputs that some direction [count × packed inputs] changes at their values in `state`.
 */
void mech_tangent_hold(const struct mech_tangent *t, const struct mech_state *state,
                       const double *directions, struct mech_state *to);
/* columns.force and columns.rate[1] by inputs at t->base. 0; MECH_NOT_FINITE. */
int mech_tangent_forces(struct mech_tangent *t, const double *directions);
/* to = base + step · column j: q, v, v̇, a, x, λ. */
void mech_tangent_displace(const struct mech_tangent *t, int32_t j, double step,
                           struct mech_state *to);
/* out [n] from samples at +h, −h, +h/2 and −h/2: the derivative to fourth order. */
void mech_tangent_difference(double *const sample[4], size_t n, double h, double *out);
/* The largest |x_i|, or so_far; x may be NULL. And the power of two just below 1/most, within
 * 2^±1000, 1 for 0. */
double mech_tangent_largest(const double *x, size_t n, double so_far);
double mech_tangent_unit(double most);
