/* NodePointGround: a point that does not move (Exudyn's NodePointGround). It has no coordinates. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <string.h>

struct node_point_ground {
    double reference[3];
};

static int32_t size(const void *description)
{
    (void)description;
    return 0;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    (void)description;
    (void)reference;
    (void)displacement;
    (void)velocity;
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    const struct node_point_ground *n = description;

    (void)seat;
    (void)e;
    memcpy(out->p, n->reference, sizeof out->p);
}

static const struct mech_field fields[] = {
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_ground, reference),
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "global position"},
};

static const struct mech_node_ops ops = {
    .kind = MECH_NODE_GENERIC,
    .size = size,
    .start = start,
    .pose = pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_POINT_OUTPUTS,
};

const struct mech_item_type mech_item_node_point_ground = {
    .name = "NodePointGround",
    .category = MECH_NODE,
    .table = {.name = "NodePointGround",
              .doc = "A point that does not move.",
              .size = sizeof(struct node_point_ground),
              MECH_FIELDS(fields)},
    .ops.node = &ops,
};
