/* Node1D: one coordinate, q = reference + displacement (Exudyn's Node1D). */
#include "solver/items/ops.h"

#include <stddef.h>

struct node_1d {
    double reference[1], displacement[1], velocity[1];
};

static int32_t size(const void *description)
{
    (void)description;
    return 1;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_1d *n = description;

    reference[0] = n->reference[0];
    displacement[0] = n->displacement[0];
    velocity[0] = n->velocity[0];
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_1d, displacement),
     .count = 1,
     .unit = "m or rad",
     MECH_ANY_REAL,
     .doc = "initial displacement from the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_1d, velocity),
     .count = 1,
     .unit = "m/s or rad/s",
     MECH_ANY_REAL,
     .doc = "initial velocity"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_1d, reference),
     .count = 1,
     .unit = "m or rad",
     MECH_ANY_REAL,
     .doc = "reference coordinate"},
};

static const struct mech_node_ops ops = {
    .size = size,
    .start = start,
    .outputs = MECH_COORDINATE_OUTPUTS,
};

const struct mech_item_type mech_item_node_1d = {
    .name = "Node1D",
    .category = MECH_NODE,
    .table = {.name = "Node1D",
              .doc = "A node with one coordinate, of a translation or rotation.",
              .size = sizeof(struct node_1d),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
