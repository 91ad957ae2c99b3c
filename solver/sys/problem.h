/* The problem of complementarity solvers, in multipliers alone:
 *
 *     c = N l + r,     l and c bound by sets (sets.h)
 *
 * N = G H⁻¹ Gᵀ + E of a system, or the matrix of a linear complementarity problem. It is walked by
 * columns: what moves in l is carried into c. Or it is never formed, and given by what it does.
 *
 * Pure functions of their arguments, any thread; nothing is allocated.
 */
#pragma once

#include "solver/linalg/mat.h"
#include "solver/sys/sets.h"

/* N as an operator. owner: one thread. */
struct mech_schur {
    void *self;
    bool finite; /* all of its data */
    /* out [m] = N l */
    void (*product)(void *self, const double *l, double *out);
    /* Get ready for `divide` by N + ρ 1; takes memory at first. 0; MECH_SINGULAR; negative. */
    int (*shift)(void *self, double rho);
    /* x [m] := (N + ρ 1)⁻¹ x. 0, or what a linear solver that iterates returns. */
    int (*divide)(void *self, double *x);
};

struct mech_problem {
    int32_t m;                      /* rows */
    const struct mech_mat *N;       /* [m × m], DENSE or CSC; need not be symmetric */
    const struct mech_schur *schur; /* instead of N, which is NULL then; or NULL */
    const double *r;                /* [m] */
    const struct mech_set *sets;    /* [count], their rows in order; NULL: m unilateral ones */
    int32_t count;                  /* not read without sets */
    enum mech_friction friction;    /* of all cones */
    double rounding;     /* of ‖r‖ of a cone, what its r_N is rounded to; 0: r is exact */
    const double *noise; /* [count] the same of each set as a speed: of what r_N is the difference
                          * of; NULL: none */
};

/* Of an r that is a sum of some products, as H v + b is: 4 ε. */
#define MECH_PROBLEM_ROUNDING 0x1p-50

/* The set number i, and how many there are. */
static inline struct mech_set mech_problem_set(const struct mech_problem *p, int32_t i)
{
    return p->sets ? p->sets[i] : (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1};
}

static inline int32_t mech_problem_sets(const struct mech_problem *p)
{
    return p->sets ? p->count : p->m;
}

/* Mask of 1u << enum mech_set_kind over all sets. */
uint32_t mech_problem_kinds(const struct mech_problem *p);

/* c [m] = N l + r */
void mech_problem_speed(const struct mech_problem *p, const double *l, double *c);
/* out [m] = N l */
void mech_problem_product(const struct mech_problem *p, const double *l, double *out);
/* c [m] += s × column j of an N that is formed */
void mech_problem_add_column(const struct mech_problem *p, int32_t j, double s, double *c);
/* block [rows × rows] by rows: of an N that is formed, of the set that starts at `row` */
void mech_problem_block(const struct mech_problem *p, int32_t row, int32_t rows, double *block);
/* l into its sets */
void mech_problem_project(const struct mech_problem *p, double *l);
/* The residual of (l, c); see mech_sets_residual. NaN when something is. */
double mech_problem_residual(const struct mech_problem *p, const double *l, const double *c);
/* True when N and r are finite. */
bool mech_problem_is_finite(const struct mech_problem *p);
