/* The matrices of small motions about a point, for derivatives of steps and for analyses:
 *
 *     δ(M v̇ − f − Gᵀ λ) = K δq + C δv + M δv̇ − Gᵀ δλ,   δ(ġ) = G δv + …
 *
 * K, C and M hold the constant matrices of the model, the tangents of its nonlinear items, M_q
 * and the slope of the reactions, (Gᵀ λ)_q. A motion δq is one in velocity space: q ⊕ δq. Pattern
 * and memory once, values at each point; a linear model's are its own. owner: one thread. */
#pragma once

#include "solver/model/model.h"

struct mech_slopes {
    const struct mech_model *model;
    struct mech_arena arena;
    const struct mech_mat *K, *C, *M; /* [nv × nv] */
    double *G;                        /* [start[rows]] values of the joints' rows */
    struct mech_mat own[3];           /* K, C, M where they are not the model's own */
    int32_t *places[3];
    /* scratch of the slopes of rows: a point beside, its G, and rows there */
    double *q, *v, *d, *size, *beside;
    double *row[4]; /* [rows + 1] rates and accelerations on both sides */
    double *reach;  /* [rows + 1] */
};

/* 0 or negative: no memory. fini accepts zeros. */
int mech_slopes_init(struct mech_slopes *s, const struct mech_model *m);
void mech_slopes_fini(struct mech_slopes *s);
/* Values at a point; the reactions of e->lambda and M_q e->vdot act, when given. One-sided rows
 * that are open in e->state have no entries in G then. */
void mech_slopes_at(struct mech_slopes *s, const struct mech_eval *e);
/* out [nv + 1] += K q + C v + M a; vectors [nv + 1], or NULL: none. */
void mech_slopes_add(const struct mech_slopes *s, const double *q, const double *v, const double *a,
                     double *out);
/* out [rows] = G x, x [nv + 1]; and out [nv + 1] += scale Gᵀ λ, λ [rows]. */
void mech_slopes_rows(const struct mech_slopes *s, const double *x, double *out);
void mech_slopes_react(const struct mech_slopes *s, double scale, const double *lambda,
                       double *out);
/* How the rows' rates change by a motion dq and a change dv of velocities, [nv + 1] each or NULL:
 * rate [rows] = δ(G v + g_t), and acceleration [rows] (or NULL) = δ(g̈) at the v̇ of e->vdot. Both
 * by differences, as items give no second derivatives of joints: each row to eighth order over its
 * own reach (model/reach.h), which leaves 1e-11 and 2^8 times what rounding makes of its terms.
 * Poses are those of another point then. */
void mech_slopes_of_rows(struct mech_slopes *s, const struct mech_eval *e, const double *dq,
                         const double *dv, double *rate, double *acceleration);
