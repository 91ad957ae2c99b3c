/* NodeRigidBody2D: a frame in the x-y plane: x, y and the angle about z, q = reference +
 * displacement (Exudyn's NodeRigidBody2D). */
#include "solver/items/node/start.h"

static int32_t size(const void *description)
{
    (void)description;
    return 3;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    mech_node_start(description, 3, reference, displacement, velocity);
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    static const double origin[3];

    (void)description;
    mech_rigid_2d_pose(seat, e, origin, out);
}

static const struct mech_field fields[] = {
    MECH_NODE_START_FIELDS(3, "m and rad", "m/s and rad/s"),
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
              .size = sizeof(struct mech_node_start),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
