/* Bespoke floor of spheres in contact: a program for equal spheres in a box alone, scalar code for
 * the baseline processor. Coulomb's law, projected Gauss–Seidel with warm start, contacts found
 * through a grid of cells. owner: the caller; exits with 2 where there is no memory.
 */
#pragma once

#include <stdint.h>

struct floor_touch {
    int32_t a, b;             /* spheres; b = count: the box */
    double n[3];              /* from a to b; of the box: from the sphere to the wall */
    double gap;               /* m */
    double normal, across[3]; /* impulses, N s */
};

struct floor_spheres {
    int32_t count, touches, touches_before, most;
    double radius, mass, margin;
    double low[3], high[3]; /* of the box, m */
    double *x;              /* [3 count] */
    double *v;              /* [8 (count + 1)] velocity and angular velocity, padded; the box */
    double *v_before;       /* what sweeps start from */
    struct floor_touch *touch, *before;
    int32_t *first, *next;         /* [count] first touch of a sphere before, [most] the next one */
    int32_t *cell, *begin, *order; /* [count], [cells + 1], [count] */
    int32_t size[3];               /* of the grid */
};

/* 500 spheres as tests/verify/pile.h drops them, `margin` m; at rest after `steps` steps. */
void floor_spheres_init(struct floor_spheres *f, double margin, int32_t steps);
/* Balls of this radius in a box, at `x` [3 count]. */
void floor_balls_init(struct floor_spheres *f, const double *x, int32_t count, double radius,
                      const double high[3]);
void floor_spheres_fini(struct floor_spheres *f);

/* Units: a step with its detection and 50 sweeps; a sweep of all contacts; 50 sweeps of all; a
 * detection. */
void floor_spheres_step(void *spheres, uint64_t count);
void floor_spheres_sweep(void *spheres, uint64_t count);
void floor_spheres_solve(void *spheres, uint64_t count);
void floor_spheres_find(void *spheres, uint64_t count);
