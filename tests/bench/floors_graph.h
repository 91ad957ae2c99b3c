/* Floor of closed systems: for bodies and joints in any graph, what assembling the matrix
 * G M⁻¹ Gᵀ of one Newton iteration through slots, factoring it by KLU (once analysed and pivoted;
 * it is positive definite, so that pivots stay where the ordering has put them) and one solution
 * take. owner: the caller; exits with 2 on failure.
 */
#pragma once

#include <stdint.h>
#include <suitesparse/klu.h>

/* bodies a and b (−1: ground) share a point; arms from their centres, m, in axes of the world */
struct floor_joint {
    int32_t body[2];
    double arm[2][3];
};

struct floor_end {
    int32_t joint, side;
};

struct floor_graph {
    int32_t bodies, joints, space; /* space: 1, or 0 for the plane */
    int32_t size, entries, written;
    int32_t iterations; /* of a unit */
    const struct floor_joint *joint;
    int32_t *begin;        /* [bodies + 1] of the ends */
    struct floor_end *end; /* [2 joints] by body */
    int *p, *i, *slot;     /* columns, and where each entry in order of assembly is added */
    double *x, *r;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric;
};

void floor_graph_init(struct floor_graph *f, int32_t bodies, const struct floor_joint *joint,
                      int32_t joints, int32_t space);
void floor_graph_fini(struct floor_graph *f);
/* one unit: `iterations` iterations */
void floor_graph_run(void *graph, uint64_t count);
