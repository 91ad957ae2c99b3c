/* The pivoting half of Lemke's method (lemke.c): dictionary, ratio test, bilateral rows.
 * owner: one solver, one thread.
 */
#pragma once

#include "solver/sys/acceptance.h"
#include "solver/vi/vi.h"

/* n is the `most` of create. */
struct lemke {
    double *d;         /* [n × (n + 2)] dictionary by rows: D | b; or a matrix of a set */
    double *N;         /* [n × n] by columns, of a problem that is not dense */
    double *z, *w;     /* [n] */
    double *rhs;       /* [n] */
    double *keep;      /* [n] z on entry */
    int32_t *index;    /* the memory of the four below */
    int32_t *basic;    /* [n] variable of each row: w_i = i, z_i = n + i, z_0 = 2 n */
    int32_t *nonbasic; /* [n + 1] variable of each column */
    int32_t *where;    /* [2 n + 1] of each variable: row, or ~column */
    int32_t *set;      /* [n] */
    struct mech_acceptance *accept;    /* of the problem to solve, once it is needed */
    const struct mech_problem *formed; /* what it is formed of, or NULL */
};

/* Pivot from w = q to a solution; z [n] out (zeros where a ray ends it), *pivots is added to.
 * 0; MECH_VI_NOT_CONVERGED (a ray, or at its limits); MECH_SINGULAR (bilateral rows depend on
 * each other). Finite data only. */
int mech_lemke_pivot(struct lemke *s, const struct mech_problem *p,
                     const struct mech_vi_limits *limits, double *z, int32_t *pivots);
