/* mech.h, continued: analyses about the committed state. Nothing here is on the step path; all of
 * it allocates, and none of it changes the state unless it says so.
 */
#pragma once

#include "solver/analysis/linearize.h"
#include "solver/analysis/modes.h"
#include "solver/analysis/statics.h"
#include "solver/sim/mech.h"

/* Static equilibrium at the present time, from the present configuration (analysis/statics.h).
 * `keep`: it becomes the state, at rest; else `values` [outputs] and q [nq] (NULL: not needed) are
 * all that is seen of it. 0, or an outcome with report->reason, then nothing changed; negative. */
struct mech_statics_query {
    struct mech_statics_request request;
    bool keep;
    double *q;       /* [nq] or NULL */
    double *outputs; /* [mech_sim_output_size] or NULL */
};
int mech_sim_statics(struct mech_sim *s, const struct mech_statics_query *query,
                     struct mech_statics_report *report);
/* What `keep` does, where that is decided when the equilibrium has been found: directly after a
 * mech_sim_statics without it that has returned 0. */
void mech_sim_statics_keep(struct mech_sim *s);

/* Modes about the present state (analysis/modes.h). */
int mech_sim_modes(struct mech_sim *s, int32_t count, bool damped, struct mech_modes *out);

enum { MECH_LINEARIZE_MOST = 1000 }; /* states */

/* Sizes and coordinates of a linearization at the present state (analysis/linearize.h), then the
 * matrices, which the caller provides; mech_linearize_fini in any case. An outcome has its reason
 * in `reason` [160]. 0; MECH_UNSUPPORTED; MECH_NOT_FINITE; MECH_SINGULAR; negative. */
int mech_sim_linearize_init(struct mech_sim *s, struct mech_linearization *out, char *reason);
int mech_sim_linearize(struct mech_sim *s, struct mech_linearization *out, char *reason);

/* --- derivatives of steps: sim/derivatives.c -------------------------------------------------- */

/* The report of every derivative of a step. */
struct mech_derived {
    uint64_t steps;   /* internal */
    double time;      /* s, at the end */
    bool differenced; /* some part by differences of runs (step/tangent.h; parameters always) */
    bool kinked; /* other contacts or one-sided joints acted beside the step: not smooth there */
    char reason[160]; /* set with a positive outcome */
};

/* Derivatives of the result of a step with respect to the state and the inputs. */
struct mech_jvp {
    const struct mech_step_request *step; /* size, until or count; no inputs, forces, trial */
    const double *q, *v, *x;              /* direction: [nq], [nv], [nx] or NULL */
    const double *inputs;                 /* [packed inputs] or NULL */
    uint64_t steps_most;                  /* internal steps that are too many, 0: none are */
    /* the derivative at the end of the step; each may be NULL */
    double *dq, *dv, *dvdot, *dx; /* [nq], [nv], [nv], [nx] */
    double *outputs;              /* [mech_sim_output_size] */
    struct mech_derived derived;
};
/* Number of packed inputs, and whether an input is a parameter: those are differenced. */
size_t mech_sim_input_size(const struct mech_sim *s);
bool mech_sim_input_is_parameter(const struct mech_sim *s, int32_t index);
/* 0; MECH_INVALID (no such step, too many); MECH_UNSUPPORTED; an outcome of the step; negative. */
int mech_sim_jvp(struct mech_sim *s, struct mech_jvp *jvp);

/* ∂outputs/∂inputs at the end of a step from the present state with the step's own inputs set,
 * which are not parameters nor signals, and without forces: [outputs × packed inputs] by rows. Same
 * returns. */
int mech_sim_jacobian(struct mech_sim *s, const struct mech_step_request *step, uint64_t steps_most,
                      double *out, struct mech_derived *derived);

/* What is the same of a jacobian in slices. */
struct mech_jacobian_query {
    const struct mech_step_request *step;
    uint64_t steps_most;    /* internal steps that are too many, 0: none are */
    const int32_t *outputs; /* [output_count] whose values are the rows, in this order; NULL: all */
    size_t output_count;
    struct mech_active_set *active; /* for what the jacobian holds; NULL: not wanted */
};
/* Rows of its matrix. */
size_t mech_sim_jacobian_rows(const struct mech_sim *s, const struct mech_jacobian_query *q);

/* What acts at the end of a step: contacts of interactions and one-sided joints by their row,
 * contacts between shapes by their two bodies. A derivative holds while this set is the same and
 * what is in it sticks, slides or is at its bound as it does (step/acting.h). */
struct mech_active {
    enum mech_logged_of of;
    int32_t row;      /* of the interaction or joint, from 0; between bodies 0 */
    const char *item; /* names of the document */
    const char *with; /* the second body, else NULL */
};
struct mech_active_set {
    struct mech_active *at; /* [room], the caller's */
    size_t room, count;
    uint64_t total; /* with those for which there was no room */
    bool constant;  /* the same in all internal steps, with what sticks, slides and is at a bound */
};

/* The same in slices, so that a pool can be fair and a long one can be given up:
 * begin → advance … → end, at any time and in any case (it accepts NULL). Between begin and end the
 * state must not change; what the arguments point to stays, but the query of a jacobian and its
 * step are read by begin only. One turn is an internal step of all columns of a block, or a start.
 * advance: at most `most` turns; *done: the results stand. Returns as above. */
struct mech_derivation;
int mech_sim_jvp_begin(struct mech_sim *s, struct mech_jvp *jvp, struct mech_derivation **out);
int mech_sim_jacobian_begin(struct mech_sim *s, const struct mech_jacobian_query *query,
                            double *out, struct mech_derived *derived,
                            struct mech_derivation **derivation);
int mech_sim_derivation_advance(struct mech_derivation *d, uint64_t most, bool *done);
void mech_sim_derivation_end(struct mech_derivation *d);

/* --- derivatives at a point: sim/point_derivatives.c ----------------------------------------- */

/* Knowns and unknowns of the equations at a point, as FMI counts them:
 *
 *     unknowns = F(knowns),   knowns {q, v, x, inputs},   unknowns {q̇, v̇, ẋ, outputs}
 *
 * v̇ and what depends on it are those of the equations of motion with joints; impulses of contacts
 * of nonsmooth schemes are no part of them. Inputs that are parameters have none. */
struct mech_point_values {
    double *q, *v, *x, *inputs;           /* [nq], [nv], [nx], [packed inputs]; NULL: zeros */
    double *qdot, *vdot, *xdot, *outputs; /* [nq], [nv], [nx], [outputs] */
};
struct mech_point_derivative {
    struct mech_point at;            /* members NULL, NaN: the present state */
    struct mech_point_values values; /* of both sides */
    bool adjoint;
    /* out: along some direction an unknown has no slope that it keeps close to the point (an end of
     * a law there): its value is a mean of both sides */
    bool kinked;
    char reason[160]; /* set with a positive outcome */
};
/* Forward: the unknowns' derivatives along the direction in the knowns, ∂F/∂knowns · knowns; each
 * member of the unknowns that is not NULL is written. Adjoint: ∂F/∂knownsᵀ · unknowns of the seeds
 * in the unknowns (NULL: zeros) into the members of the knowns that are not NULL, a known at a
 * time. By central differences of fourth order, each of q, v, x and inputs by itself, over
 * distances from 2⁻¹² of the values (at least 2⁻¹² of the unit) down to 2⁻³², as far as a law's own
 * length needs it: to about 1e-5 of each derivative at worst unless `kinked`, and to what its value
 * rounds by over that distance, about 1e-12 of it where F is smooth over 2⁻¹². The state does not
 * change. By inputs last, at the point where all that are no parameters hold the values that they
 * have there: their own derivatives in time end. 0; MECH_INVALID (a direction of a parameter);
 * MECH_NOT_FINITE; MECH_SINGULAR; MECH_CANCELLED; negative. */
int mech_sim_point_derivative(struct mech_sim *s, struct mech_point_derivative *d);

/* d(outputs)/dt [mech_sim_output_size] at the present state, or at the end of a trial, along the
 * equations with inputs extrapolated as they are; what a sensor measures of accelerations included.
 * Under MoreauJean along the mean acceleration of the last step. By central differences over a
 * 64th of the step size: the error is that squared. 0; MECH_UNSUPPORTED (a trial with other
 * parameters); an outcome of the start; MECH_NOT_FINITE; negative. */
int mech_sim_output_rates(struct mech_sim *s, bool trial, double *out, char *reason);
