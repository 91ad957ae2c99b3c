/* NodeRigidBody2D: a frame in the x-y plane: x, y and the angle about z, q = reference +
 * displacement (Exudyn's NodeRigidBody2D). */
#include "solver/items/ops.h"

#include <stddef.h>
#include <string.h>

struct node_rigid_body_2d {
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
    const struct node_rigid_body_2d *n = description;

    memcpy(reference, n->reference, sizeof n->reference);
    memcpy(displacement, n->displacement, sizeof n->displacement);
    memcpy(velocity, n->velocity, sizeof n->velocity);
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    static const double origin[3];

    (void)description;
    mech_rigid_2d_pose(seat, e, origin, out);
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_2d, displacement),
     .count = 3,
     .unit = "m and rad",
     MECH_ANY_REAL,
     .doc = "initial displacements from the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_2d, velocity),
     .count = 3,
     .unit = "m/s and rad/s",
     MECH_ANY_REAL,
     .doc = "initial velocities"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_rigid_body_2d, reference),
     .count = 3,
     .unit = "m and rad",
     MECH_ANY_REAL,
     .doc = "reference coordinates"},
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_RIGID_2D,
    .size = size,
    .start = start,
    .pose = pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_RIGID_OUTPUTS,
};

const struct mech_item_type mech_item_node_rigid_body_2d = {
    .name = "NodeRigidBody2D",
    .category = MECH_NODE,
    .table = {.name = "NodeRigidBody2D",
              .doc = "A frame in the x-y plane: x, y, angle about z.",
              .size = sizeof(struct node_rigid_body_2d),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
