/* The floor of dense systems: bare library calls on the sizes of a chain of n masses,
 * with data of the same kind (a well-conditioned W, bounded vectors). One unit is what one step of
 * the linear system has to do at the least in those calls.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct floor_chain {
    int n;
    double *k;             /* K [n × n] */
    double *l;             /* Cholesky factor of dense W [n × n] */
    double *u, *v, *y, *z; /* [n] */
};

/* 0, or −1: no memory. */
int floor_dense_init(struct floor_chain *f, int n);
void floor_fini(struct floor_chain *f);

/* count × (two dsymv + two dtrsv) */
void floor_dense(void *context, uint64_t count);
