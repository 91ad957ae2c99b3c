/* NodePoint: a point in space, q = reference + displacement (Exudyn's NodePoint). */
#include "solver/items/ops.h"

#include <stddef.h>
#include <string.h>

struct node_point {
    double reference[3], displacement[3], velocity[3];
};

static int32_t size(const void *description)
{
    (void)description;
    return 3;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_point *n = description;

    memcpy(reference, n->reference, sizeof n->reference);
    memcpy(displacement, n->displacement, sizeof n->displacement);
    memcpy(velocity, n->velocity, sizeof n->velocity);
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    (void)description;
    mech_point_pose(seat, e, 3, out);
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point, displacement),
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "initial displacements from the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point, velocity),
     .count = 3,
     .unit = "m/s",
     MECH_ANY_REAL,
     .doc = "initial velocities"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point, reference),
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "reference coordinates"},
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_POINT,
    .size = size,
    .start = start,
    .pose = pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_POINT_OUTPUTS,
};

const struct mech_item_type mech_item_node_point = {
    .name = "NodePoint",
    .category = MECH_NODE,
    .table = {.name = "NodePoint",
              .doc = "A point in space.",
              .size = sizeof(struct node_point),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
