/* The complementarity problem of one Euler–Moreau step in the multipliers of all relations,
 *
 *     w = N λ + C x̂ + e,   N = D + h γ C W⁻¹ B,     w and λ bound by the law of each row
 *
 * with x̂ the states that the laws see where λ = 0. N is not symmetric in general, and D may be 0.
 * Suspended rows are left out of it: their λ is 0.
 *
 * Solvers that take no bounds on both sides see a relay as two complementary pairs,
 *
 *     λ = lower + z,   0 ≤ z ⊥ w + s ≥ 0,   0 ≤ s ⊥ (upper − lower) − z ≥ 0
 *
 * so that Lemke's pivoting finds relays that slide exactly. A solution λ is judged by the
 * residual of the problem above, not of the wider one.
 * owner: one stepper, one thread. Nothing is allocated after init. */
#pragma once

#include "solver/lsol/lsol.h"
#include "solver/model/model.h"
#include "solver/step/stepper.h"
#include "solver/sys/acceptance.h"
#include "solver/vi/vi.h"

enum {
    /* rows of all relations; N alone is 8 MB then */
    MECH_RELATION_ROWS_MOST = 1024,
    /* numbers in the kept columns of W⁻¹B (8 MB); beyond, one more solve a step */
    MECH_RELATION_COLUMNS_MOST = 1 << 20,
    MECH_RELATION_SOLVERS = 3
};

struct mech_relations {
    const struct mech_first_order_rows *rows;
    struct mech_vi_settings settings;
    struct mech_interrupt *interrupt;
    int32_t nx, count, boxes;       /* states; rows of the problem; relays */
    int32_t *row;                   /* [count] their numbers, ascending */
    int32_t *place;                 /* [all rows] the inverse */
    struct mech_set *sets;          /* [count] */
    double gamma, h;                /* h: of N; 0: not yet */
    double *memory;                 /* of what follows */
    double *N;                      /* [count × count] by columns */
    double *columns;                /* [count × nx] W⁻¹B, or NULL */
    double *work;                   /* [nx + 1] */
    double *r, *w, *l, *best;       /* [count]; l: λ */
    double *wide_N;                 /* [(count + boxes)²], with relays */
    double *wide_r;                 /* [count + boxes] */
    double *wide_l;                 /* [count + boxes] */
    struct mech_set *wide;          /* [count + boxes] */
    struct mech_acceptance *accept; /* of the rows */
    const struct mech_vi_type *type[MECH_RELATION_SOLVERS]; /* in their order; NULL: none */
    void *solver[MECH_RELATION_SOLVERS];
};

/* 0; MECH_UNSUPPORTED (more rows than MECH_RELATION_ROWS_MOST, a solver that is not known or does
 * not take the laws); negative. fini accepts a zeroed struct. */
int mech_relations_init(struct mech_relations *c, const struct mech_first_order_rows *rows,
                        int32_t nx, const struct mech_settings *settings,
                        struct mech_interrupt *interrupt);
void mech_relations_fini(struct mech_relations *c);
/* True when a solver of that kind can be used for these laws, as it is or by the wider problem. */
bool mech_relations_suit(const struct mech_first_order_rows *rows, const struct mech_vi_type *type);
/* N for the W that is factored in `solver`. Returns as mech_lsol_solve. */
int mech_relations_factor(struct mech_relations *c, struct mech_lsol *solver, double h);
/* λ [all rows] of the states x [nx] that laws see at λ = 0; it comes as a first guess. 0;
 * MECH_VI_NOT_CONVERGED (not when failures are accepted). */
int mech_relations_solve(struct mech_relations *c, const double *x, double *lambda,
                         struct mech_step_result *result);
/* After such a failure, for the λ that it left: whether no λ meets the laws of some interactions of
 * the model together; then their names into text [size]. Allocates. */
bool mech_relations_conflict(struct mech_relations *c, const struct mech_model *m, char *text,
                             size_t size);
/* dx [nx] += h W⁻¹ B λ of the last solution. Returns as mech_lsol_solve. */
int mech_relations_push(struct mech_relations *c, struct mech_lsol *solver, double *dx);
