/* Rates of change at a point: v̇ = M⁻¹ (F − C v − K (q − q_ref) − g) and ẋ = A x + r. M is factored
 * once, or at each point where it depends on q. What explicit
 * schemes integrate, what every scheme starts from, and the first-order form of a model.
 * owner: one stepper; no allocation after init. */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/model/model.h"
#include "solver/step/stepper.h"

/* A point: time, coordinates, velocities, and the state whose inputs and z act. */
struct mech_rate_point {
    const struct mech_state *s;
    double t;
    const double *q, *v; /* [nq + 1], [nv + 1] with their ground slots */
    const double *vdot;  /* [nv + 1] whose M_q(q) v̇ is taken off the forces, or NULL: it is not */
};

struct mech_event_rows;
struct mech_saddle;
struct mech_pins;

struct mech_rates {
    const struct mech_model *model;
    struct mech_lsol *mass;       /* M, factored; NULL when there are no velocities */
    struct mech_pins *pins;       /* held coordinates, M without them; NULL: other joints exist */
    struct mech_event_rows *held; /* contacts that hold accelerations, or NULL */
    struct mech_saddle *joints;   /* M and G; NULL when there are none but pins and M is constant */
    struct mech_arena arena;      /* of what follows */
    struct mech_mat M;            /* M + M_q at the last point, where M_q is not empty */
    int32_t *inertia;             /* places of M_q in it, or NULL */
    double *x, *gt, *bias, *limit,
        *size;    /* [nv + rows + 1], [rows + 1] each and [2 rows], with joints */
    double *push; /* values of G, with joints */
    double *u;    /* [nv + 1] displacements */
    double *f;    /* [nv + 1] */
    double *g;    /* [nv + 1] */
};

/* Memory and the factors of M. `linear`: a linear solver's name or NULL. 0; MECH_SINGULAR with the
 * reason in result; MECH_UNSUPPORTED (linear does not suit M); negative. fini accepts zeros. */
int mech_rates_init(struct mech_rates *r, const struct mech_model *m, const char *linear,
                    struct mech_step_result *result);
void mech_rates_fini(struct mech_rates *r);

/* f [nv + 1] = F(t) − C v − K (q − q_ref) − g. 0; MECH_NOT_FINITE with a reason. */
int mech_rates_force(struct mech_rates *r, const struct mech_rate_point *at, double *f,
                     struct mech_step_result *result);
/* The same and + Gᵀ λ. */
int mech_rates_force_with(struct mech_rates *r, const struct mech_rate_point *at,
                          const double *lambda, double *f, struct mech_step_result *result);
/* vdot [nv] = M⁻¹ f at the point; with joints from [M Gᵀ; G 0]{v̇, −λ} = {f, g̈ at v̇ = 0}.
 * Same returns, and MECH_SINGULAR. */
int mech_rates_vdot(struct mech_rates *r, const struct mech_rate_point *at, double *vdot,
                    struct mech_step_result *result);
/* Coordinates that constraints hold (pins.h) and their velocities at the time t into q [nq + 1] and
 * v [nv + 1]; nothing when there are none, or other joints beside them. */
void mech_rates_hold(const struct mech_rates *r, const struct mech_state *s, double t, double *q,
                     double *v);
/* λ of the last mech_rates_vdot, which wrote vdot; lambda [rows]. */
void mech_rates_reactions(const struct mech_rates *r, const double *vdot, double *lambda);
/* dv [nv] by impulses of the joints: G dv = share (G v + g_t) at the point, M dv = Gᵀ μ. Nothing
 * without joints. Same returns. */
int mech_rates_push(struct mech_rates *r, const struct mech_rate_point *at, double share,
                    double *dv, struct mech_step_result *result);
/* dv [nv] by impulses of the joints: G dv = dg [rows] of those that act, M dv = Gᵀ μ; there is a
 * joint. Same returns. */
int mech_rates_answer(struct mech_rates *r, const struct mech_rate_point *at, const double *dg,
                      double *dv, struct mech_step_result *result);
/* xdot [nx + 1] at x. Same returns. */
int mech_rates_xdot(struct mech_rates *r, const struct mech_state *s, double t, const double *x,
                    double *xdot, struct mech_step_result *result);

/* speed [rows] = G v + g_t of all joints at a point whose poses are the last ones. */
void mech_rates_joint_speed(struct mech_rates *r, const struct mech_eval *e, double *speed);
/* The sum of the sizes of its terms of one row, at the point of the last call of that. */
double mech_rates_joint_speeds(const struct mech_rates *r, int32_t row, const double *v);
/* x [nv + rows] = Δv and −P of M Δv = Gᵀ P, G (v + Δv) + g_t = 0 in r->x: the nearest velocities
 * that the joints allow, in the metric of M. Same returns. */
int mech_rates_project(struct mech_rates *r, const struct mech_state *s,
                       struct mech_step_result *result);

/* After a start: the row among those left out that contradicts the others, by its velocities or
 * accelerations, or -1. */
int32_t mech_rates_contradiction(struct mech_rates *r, const struct mech_state *s);

/* Consistent v̇ and a := v̇ of a state at its time, and which one-sided rows act: what every change
 * of inputs asks for. */
int mech_rates_start(struct mech_rates *r, struct mech_state *s, struct mech_step_result *result);

/* singular.c: "the mass matrix is singular at /objects/0" */
void mech_singular_reason(const struct mech_model *m, const char *what, int32_t column,
                          struct mech_step_result *result);
/* "the linear solver "cg" does not suit the iteration matrix of this model" */
void mech_linear_unsuited(const char *name, const char *what, struct mech_step_result *result);
/* What factor or solve of a linear solver came to, with its reason; returns the code. */
int mech_linear_outcome(const struct mech_model *m, const char *what, const struct mech_lsol *s,
                        int code, struct mech_step_result *result);
