/* Coordinates that constraints hold at functions of time (model.h: mech_pin), taken out of the
 * equations. With p the held coordinates and f the others:
 *
 *     q_p = c(t)/factor,  v_p = ċ/factor,  v̇_p = c̈/factor
 *     or, at velocity level,  v_p = c(t)/factor,  v̇_p = ċ/factor, and q̇_p = v_p is integrated
 *     M_ff v̇_f = f_f − M_fp v̇_p,   λ = (M v̇ − f)_p / factor
 *
 * What explicit schemes do with such rows, and how every scheme starts when a model has no other
 * joints. owner: one stepper; no allocation after init. */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/model/model.h"
#include "solver/step/stepper.h"

struct mech_pins {
    const struct mech_model *model;
    struct mech_arena arena;
    int32_t count; /* 0: there are none, or other joints beside them */
    struct mech_pin *at;
    double *g, *gt, *bias; /* [rows + 1] */
    double *w;             /* [nv + 1] */
    struct mech_mat M;     /* the rows and columns of held coordinates are those of 1 */
    struct mech_lsol *solver;
};

/* The held coordinates; with `mass` M as well, factored. count stays 0 when two rows hold the same
 * coordinate. 0; MECH_SINGULAR with the reason in result; negative. fini accepts zeros. */
int mech_pins_init(struct mech_pins *p, const struct mech_model *m, const char *linear, bool mass,
                   struct mech_step_result *result);
void mech_pins_fini(struct mech_pins *p);

/* q_p and v_p of the time t into q [nq + 1] and v [nv + 1]; q_p stays where v_p alone is held. */
void mech_pins_hold(const struct mech_pins *p, const struct mech_state *s, double t, double *q,
                    double *v);
/* vdot [nv] from f [nv + 1] at the point; init made M. 0 or an outcome with a reason. */
int mech_pins_solve(const struct mech_pins *p, const struct mech_eval *e, const double *f,
                    double *vdot, struct mech_step_result *result);
/* dv [nv] that changes the held velocities' G v by dg [rows] and no others' momentum: M dv has
 * entries in p alone. Same returns. */
int mech_pins_push(const struct mech_pins *p, const double *dg, double *dv,
                   struct mech_step_result *result);
/* lambda [rows] for the same f and v̇. */
void mech_pins_reactions(const struct mech_pins *p, const double *f, const double *vdot,
                         double *lambda);
