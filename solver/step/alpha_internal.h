/* A scheme of the generalized-α family inside: its linear and its nonlinear part share it. */
#pragma once

#include "solver/step/alpha.h"
#include "solver/step/balance.h"
#include "solver/step/rates.h"
#include "solver/step/saddle.h"
#include "solver/step/substeps.h"

#include <math.h>

struct alpha {
    const struct mech_model *model;
    struct mech_alpha_parameters p;
    struct mech_rates rates; /* the start */
    struct mech_arena arena;
    /* velocities */
    int32_t nv, rows;
    struct mech_mat W; /* linear models */
    struct mech_lsol *solver;
    struct mech_saddle saddle; /* the others */
    double h;                  /* W is formed for this step; 0: not yet */
    double *r;                 /* [nv + rows + 1] */
    double *a_p, *d;           /* [nv + 1] */
    double *q_n;               /* [nq + 1] of models that are not flat */
    double *gt, *bias;         /* [rows + 1] */
    /* of nonlinear models: F and f of the last residual [nv + 1], the first one [nv + rows + 1] */
    double *outer, *force, *first;
    struct mech_balance balance;
    double missed;    /* by rows that were left out, of what they may miss */
    double missed_by; /* by the worst of them, in its unit */
    int32_t missing;  /* the row that misses most */
    /* matrices that outlive a step */
    double *kept;        /* [mech_alpha_kept_size] the carried point of the factors in saddle */
    uint64_t kept_count; /* of saddle.factored when they were made */
    /* first-order states */
    int32_t nx;
    struct mech_mat X;   /* 1 − h/2 A */
    struct mech_mat one; /* unit matrix [nx × nx] */
    struct mech_lsol *x_solver;
    double *rate; /* [nx + 1] */
    /* models with one-sided rows */
    struct mech_state from; /* where a part of a step begins */
    double *gap, *floor; /* [rows] s g at its end; what may be missing of it, ≤ 0: times reach */
    double *reach;       /* [rows] m; as near to its limit a row is at it */
    /* step size control */
    struct mech_substeps substeps;
    double *q_error, *x_error[3]; /* [nq + 1], [nx + 1] */
};

/* Factors of M, C, K in W for a step size. */
void mech_alpha_weights(const struct alpha *s, double h, double w[3]);
/* Of order 2: v has no error of order h. */
static inline bool mech_alpha_second(struct mech_alpha_parameters p)
{
    return !p.euler && fabs(p.gamma + p.alpha_m - p.alpha_f - 0.5) <= 1e-12;
}
/* alpha_size.c: what a state carries of the size of its last step (at->size), for one of h. 0 or an
 * outcome. And a alone, [nv]; it may be the state's own. */
int mech_alpha_resize(struct alpha *s, struct mech_state *state, double h,
                      struct mech_step_result *result);
void mech_alpha_shift(const struct mech_state *from, int32_t nv, double h, double *a);
/* alpha_adaptive.c: what substeps need. Negative: no memory. */
int mech_alpha_substeps_init(struct alpha *s);
/* alpha_kept.c: matrices that outlive a step. Doubles that a state carries, its last ones; memory;
 * no point is carried any more. */
int32_t mech_alpha_kept_size(const struct mech_model *m);
int mech_alpha_kept_init(struct alpha *s);
void mech_alpha_kept_forget(const struct alpha *s, struct mech_state *state);
/* Factors at the state, whose poses are the last ones; they are carried from here on. */
int mech_alpha_factor(struct alpha *s, struct mech_state *state, double h, double t,
                      struct mech_step_result *result);
/* Factors at the carried point. *there false: none serves a step of h. */
int mech_alpha_kept(struct alpha *s, const struct mech_state *state, double h, bool *there,
                    struct mech_step_result *result);
/* The step of a nonlinear model, or one with joints, up to v̇. 0 or an outcome with a reason. */
int mech_alpha_newton(struct alpha *s, struct mech_state *state, double h, double t,
                      struct mech_step_result *result);
/* One step, or a part of one, from state->at->time, without looking at one-sided rows. */
int mech_alpha_part(struct alpha *s, struct mech_state *state, double h, double t_end,
                    struct mech_step_result *result);
/* A step of a model with one-sided rows: alpha_sided.c. Memory for it; 0 or negative. */
int mech_alpha_sided_init(struct alpha *s);
int mech_alpha_sided(struct alpha *s, struct mech_state *state, double h, double t_end,
                     struct mech_step_result *result);
