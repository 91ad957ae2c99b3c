/* The matrix of models with joints, and of all nonlinear models:
 *
 *     [ S  Gᵀ ] [ x ]   [ r ]        S = w₀ M + w₁ C + w₂ K + tangents of M_q v̇ + g − Gᵀ λ
 *     [ G  0  ] [ μ ] = [ s ]        G = ∂g/∂q of the joints
 *
 * Pattern and symbolic analysis once; values at each point. Where no solver is asked for and the
 * bodies make a tree (tree.h), it is eliminated along that, else by the solver that suits; and so
 * is a tree at points at which it finds no pivots. owner: one stepper; no allocation after init.
 *
 *   MECH_TRY(mech_saddle_init(&s, model, linear, true, result));
 *   mech_saddle_form(&s, w);                        // the constant part, when w changes
 *   MECH_TRY(mech_saddle_factor(&s, &e, c, result)); // at the point e
 *   MECH_TRY(mech_saddle_solve(&s, x, result));     // x [nv + rows] in place
 */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/model/model.h"
#include "solver/step/stepper.h"

struct mech_saddle {
    const struct mech_model *model;
    struct mech_arena arena;
    int32_t nv, rows;
    struct mech_mat
        W; /* values [its stored places + 1]: the last takes what belongs to the ground */
    struct mech_lsol *solver;
    struct mech_tree *tree; /* NULL: there is none */
    bool by_tree;           /* the last factor is the tree's */
    int32_t *of_tree;       /* [stored places of W] places in the tree's values */
    /* values that everything is added into: W's, or the tree's */
    double *values; /* [stored + 1] */
    size_t stored;
    double *base; /* [stored + 1] the constant part */
    /* [some_count] places in the tree's values at which that is not 0, and what it is there */
    int32_t *some;
    double *some_value;
    size_t some_count;
    struct mech_triplet *entries[3];
    size_t count[3];
    int32_t *place[3];               /* of M, C, K */
    int32_t *tangents;               /* NULL: that of the start, M and M_q alone */
    int32_t *inertia;                /* of M_q in the matrix of the start; NULL: there is none */
    int32_t *lower, *upper, *corner; /* of G, Gᵀ and the zero diagonal */
    double *g;                       /* values of G */
    double *scale;                   /* [nv + rows] of unknowns and equations, powers of two */
    bool scaled;                     /* the last factor is that of W in these scales */
    uint64_t factored;               /* how often */
};

/* `linear`: a solver's name or NULL; one that does not suit is refused with a reason, or, for the
 * matrix of the start, replaced. `tangents` false: S = w₀ M + M_q. 0; MECH_UNSUPPORTED or
 * MECH_SINGULAR with a reason; negative. fini accepts zeros. */
int mech_saddle_init(struct mech_saddle *s, const struct mech_model *m, const char *linear,
                     bool tangents, struct mech_step_result *result);
void mech_saddle_fini(struct mech_saddle *s);
void mech_saddle_form(struct mech_saddle *s, const double w[3]);
/* Adds c[0] ∂/∂q + c[1] ∂/∂v + c[2] M_q at the point, and G there. Without tangents only M_q, G is
 * that of the last poses and c is not read. 0 or an outcome with a reason. */
int mech_saddle_factor(struct mech_saddle *s, const struct mech_eval *e, const double c[3],
                       struct mech_step_result *result);
/* Name of the linear solver, "tree" for that. */
const char *mech_saddle_linear(const struct mech_saddle *s);
int mech_saddle_solve(struct mech_saddle *s, double *x, struct mech_step_result *result);
