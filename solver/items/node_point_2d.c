/* NodePoint2D: a point in the x-y plane, q = reference + displacement (Exudyn's NodePoint2D). */
#include "solver/items/ops.h"

#include <stddef.h>
#include <string.h>

struct node_point_2d {
    double reference[2], displacement[2], velocity[2];
};

static int32_t size(const void *description)
{
    (void)description;
    return 2;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_point_2d *n = description;

    memcpy(reference, n->reference, sizeof n->reference);
    memcpy(displacement, n->displacement, sizeof n->displacement);
    memcpy(velocity, n->velocity, sizeof n->velocity);
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    (void)description;
    mech_point_pose(seat, e, 2, out);
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_2d, displacement),
     .count = 2,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "initial displacements from the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_2d, velocity),
     .count = 2,
     .unit = "m/s",
     MECH_ANY_REAL,
     .doc = "initial velocities"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_2d, reference),
     .count = 2,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "reference coordinates"},
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_POINT_2D,
    .size = size,
    .start = start,
    .pose = pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_POINT_OUTPUTS,
};

const struct mech_item_type mech_item_node_point_2d = {
    .name = "NodePoint2D",
    .category = MECH_NODE,
    .table = {.name = "NodePoint2D",
              .doc = "A point in the x-y plane.",
              .size = sizeof(struct node_point_2d),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
