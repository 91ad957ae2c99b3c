/* Integrators behind one interface. A member (one file, one line in steppers.def) advances a state
 * from t to t + h. owner: the simulation's thread.
 */
#pragma once

#include "solver/model/model.h"
#include "solver/step/event_log.h"

struct mech_step_result {
    int32_t iterations;    /* Newton */
    int32_t vi_iterations; /* complementarity solver: pivots or sweeps */
    int32_t contacts;      /* active rows of interactions, and contacts between shapes */
    int32_t substeps;      /* of schemes that divide their steps (substeps.h) */
    int32_t refused;       /* substeps that were too inaccurate, or failed, and were undone */
    int32_t impacts;       /* of schemes that find them */
    double residual;       /* final */
    double impact_gain; /* J of kinetic energy that impulses have added where contacts push, ≥ 0 */
    int32_t dependent; /* after MECH_SINGULAR: 1 + the row of joints that depends on others, or 0 */
    char reason[160];  /* set with a positive outcome */
    char place[32];    /* of the item at fault, "/objects/3", or "" when it is not known */
    struct mech_event_log *log; /* for the events that the scheme locates itself; NULL: not asked */
};

/* impact_gain of impulses whose work is Σ P ½ (u⁺ + u⁻), u⁻ at the start of the step: nothing
 * within the rounding of its terms, Σ |P u| = size. */
static inline double mech_step_gain(double work, double size)
{
    return work > 1e-12 * size ? work : 0.;
}

struct mech_tangent;

struct mech_stepper_type {
    const char *name; /* as solver.integrator */
    const char *doc;
    int32_t order; /* theoretical order of convergence */
    bool explicit_scheme;
    bool nonsmooth;   /* takes interactions */
    bool first_order; /* those between systems of first order, and no others */
    bool joints;      /* takes joints */
    bool pins;        /* takes those that hold one coordinate at a function of time (mech_pin) */
    bool rotations;   /* takes coordinates with q̇ ≠ v */
    bool contacts;    /* takes contacts between bodies by their shapes */
    bool locates;     /* logs all events of interactions, at their time (event_log.h) */
    /* Faults that make this model impossible for this scheme, under "/solver/integrator". */
    void (*check)(const struct mech_model *m, struct mech_diag *d);
    /* Doubles of state that it carries beyond q v vdot a x lambda. May be NULL: 0. */
    int32_t (*carry)(const struct mech_model *m);
    /* at->size of a state that was stored without, which is last_step by now: what it is of this
     * scheme. NULL: that. */
    void (*renew)(const struct mech_model *m, struct mech_state *s);
    /* True when it divides the steps of this model by their error. NULL: never. */
    bool (*divides)(const struct mech_model *m);
    /* All memory for steps; 0, MECH_SINGULAR (reason in result), negative. */
    int (*create)(const struct mech_model *m, struct mech_step_result *result, void **self);
    /* Consistent v̇, a and λ after the start and after any change (solver/README.md). */
    int (*start)(void *self, struct mech_state *s, struct mech_step_result *result);
    /* One internal step of size h, in place; t_end is set by the caller's arithmetic: the step ends
     * exactly there. No allocation. 0 or an outcome; then s is garbage and the caller throws it
     * away. Adds nothing to counters: the caller counts. */
    int (*step)(void *self, struct mech_state *s, double h, double t_end,
                struct mech_step_result *result);
    /* The columns of t (tangent.h) from the start `from` to the end `to` of the step of size h that
     * led there. 0 or an outcome; MECH_UNSUPPORTED: not of this model, runs are differenced. May be
     * NULL: never. */
    int (*tangent)(void *self, const struct mech_state *from, const struct mech_state *to, double h,
                   struct mech_tangent *t, struct mech_step_result *result);
    const char *(*linear)(const void *self); /* linear solver in use, "" if none; may be NULL */
    const char *(*vi)(const void *self);     /* complementarity solver in use; may be NULL */
    void (*destroy)(void *self);             /* accepts NULL */
};

/* F(t) into f [nv + 1], or ẋ's part r(t) into r [nx + 1], as mech_model_force and mech_model_rate;
 * the reason names what is not finite. */
int mech_step_force(const struct mech_model *m, const struct mech_state *s, double t, double *f,
                    struct mech_step_result *result);
int mech_step_rate(const struct mech_model *m, const struct mech_state *s, double t, double *r,
                   struct mech_step_result *result);

/* Registry, sorted, closed by NULL. */
extern const struct mech_stepper_type *const mech_stepper_types[];
const struct mech_stepper_type *mech_stepper_find(const char *name);
