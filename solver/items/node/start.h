/* What nodes of two or three second-order coordinates share: how they start. */
#pragma once

#include "solver/items/ops.h"

#include <stddef.h>

struct mech_node_start {
    double reference[3], displacement[3], velocity[3]; /* the first `n` of each */
};
/* `n` of each; [n] outputs. */
void mech_node_start(const struct mech_node_start *from, int32_t n, double *reference,
                     double *displacement, double *velocity);

/* The fields, with these units. */
#define MECH_NODE_START_FIELDS(n, of_position, of_velocity)                                        \
    {.name = "initialCoordinates",                                                                 \
     .kind = MECH_REALS,                                                                           \
     .offset = offsetof(struct mech_node_start, displacement),                                     \
     .count = n,                                                                                   \
     .unit = of_position,                                                                          \
     MECH_ANY_REAL,                                                                                \
     .doc = "initial displacements from the reference"},                                           \
        {.name = "initialVelocities",                                                              \
         .kind = MECH_REALS,                                                                       \
         .offset = offsetof(struct mech_node_start, velocity),                                     \
         .count = n,                                                                               \
         .unit = of_velocity,                                                                      \
         MECH_ANY_REAL,                                                                            \
         .doc = "initial velocities"},                                                             \
    {                                                                                              \
        .name = "referenceCoordinates", .kind = MECH_REALS,                                        \
        .offset = offsetof(struct mech_node_start, reference), .count = n, .unit = of_position,    \
        MECH_ANY_REAL, .doc = "reference coordinates"                                              \
    }
