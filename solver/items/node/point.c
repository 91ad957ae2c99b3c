/* NodePoint: a point in space, q = reference + displacement (Exudyn's NodePoint). */
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
    (void)description;
    mech_point_pose(seat, e, 3, out);
}

static const struct mech_field fields[] = {
    MECH_NODE_START_FIELDS(3, "m", "m/s"),
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
              .size = sizeof(struct mech_node_start),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
