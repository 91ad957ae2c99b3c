/* Mass blocks of variables: what a descriptor asks of them, without a matrix where none is needed.
 *
 *   BODY      m, J [9] by rows     6 velocities: 3 of the centre of mass, 3 angular (body frame)
 *   NODE      m                    3 velocities
 *   SHAFT     J                    1 velocity
 *   DIAGONAL  d [n]                n velocities
 *   DENSE     M [n × n]            n velocities, symmetric positive definite
 *   BAND      M by diagonals       n velocities, the same of half width p
 *   NONE                           n velocities without their own mass, which is
 *                                  in the stiffness blocks; there is no M⁻¹
 *
 * Several variables may share one. Vectors are those of one block, [n]. owner: the arena. */
#pragma once

#include "solver/base/arena.h"

#include <stdint.h>

enum mech_mass_kind {
    MECH_MASS_BODY,
    MECH_MASS_NODE,
    MECH_MASS_SHAFT,
    MECH_MASS_DIAGONAL,
    MECH_MASS_DENSE,
    MECH_MASS_BAND,
    MECH_MASS_NONE,
    MECH_MASS_KINDS
};

struct mech_mass {
    enum mech_mass_kind kind;
    int32_t n;             /* velocities; known for BODY, NODE, SHAFT, given for the others */
    int32_t half;          /* BAND: p, diagonals below and above the main one */
    double m;              /* kg, or kg m² of a shaft */
    double J[9], J_inv[9]; /* BODY */
    /* [n] DIAGONAL, [n × n] by columns DENSE, [(2 p + 1) n] BAND, as MECH_MAT_BAND */
    const double *values;
    double *factors; /* DENSE: Cholesky factor L, [n × n] by columns; BAND: as linalg/band.h */
};

/* Completes *mass (kind, n, half, m, J, values given; values are copied) in the arena. 0;
 * MECH_SINGULAR: a mass is not positive, an inertia not positive definite; negative: no memory. */
int mech_mass_init(struct mech_arena *arena, struct mech_mass *mass);
/* out = M⁻¹ x; out may be x. Not of NONE. */
void mech_mass_solve(const struct mech_mass *mass, const double *x, double *out);
/* y += a M x */
void mech_mass_add(const struct mech_mass *mass, double a, const double *x, double *y);
/* M(i, j), 0 where nothing is stored */
double mech_mass_entry(const struct mech_mass *mass, int32_t i, int32_t j);
/* The largest |i − j| of an entry that is stored. */
int32_t mech_mass_reach(const struct mech_mass *mass);
/* Numbers in values: 0 for kinds without. */
int64_t mech_mass_values(const struct mech_mass *mass);
/* "body", "node", …; NULL behind the last */
const char *mech_mass_name(enum mech_mass_kind kind);
