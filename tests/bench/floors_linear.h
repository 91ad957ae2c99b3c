/* Bespoke floors of linear systems with impacts: what a program written for one model does in a
 * step of Moreau–Jean (θ = ½), with the data of scenes.h. Each unit (bench_work) is one step unless
 * said otherwise. owner: the caller; floors exit with 2 where there is no memory.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The chain of scene_chain, banded: own loops over K, C and the factors of W = M + h θ C + h² θ² K,
 * factored once; two passes over memory. */
struct floor_masses {
    int32_t n;
    double *kd, *ke, *cd, *ce; /* [n] diagonals and couplings to the next one of K and C */
    double *l, *inverse;       /* [n] L and 1/D of W = L D Lᵀ */
    double *push;              /* [n] W⁻¹ Hᵀ of the stop, m/(N s) */
    double *q, *v, *y;         /* [n] */
    double start;              /* of the velocities, so that motion does not die */
    int64_t steps;
};

void floor_masses_init(struct floor_masses *f, int32_t n);
void floor_masses_fini(struct floor_masses *f);
void floor_masses_step(void *masses, uint64_t count);

/* The same for two masses, with matrices of 2 x 2 that the compiler sees. */
struct floor_two {
    double K[2][2], C[2][2], inverse[2][2]; /* W⁻¹ */
    double q[2], v[2];
};

void floor_two_init(struct floor_two *f);
void floor_two_step(void *two, uint64_t count);

/* scene_ball */
struct floor_ball {
    double q, v;
};

void floor_ball_step(void *ball, uint64_t count);

/* scene_beads: impulses of the closed contacts from a tridiagonal system, active set by block
 * pivoting. One unit is `steps` steps from the start. */
enum { FLOOR_BEADS_MOST = 100 };

struct floor_beads {
    int32_t n;
    int64_t steps;
    double q[FLOOR_BEADS_MOST], v[FLOOR_BEADS_MOST];
};

void floor_beads_run(void *beads, uint64_t count);

/* A state of `size` bytes copied out and back in; with `hashed` four-lane hashes of both. */
struct floor_bytes {
    size_t size;
    uint64_t *at, *copy; /* [size / 8] */
};

void floor_bytes_init(struct floor_bytes *f, size_t size);
void floor_bytes_fini(struct floor_bytes *f);
void floor_bytes_copy(void *bytes, uint64_t count);
void floor_bytes_hash(void *bytes, uint64_t count);
