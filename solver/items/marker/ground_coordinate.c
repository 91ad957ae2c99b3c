/* MarkerGroundCoordinate: a coordinate that is always 0. */
#include "solver/items/ops.h"

struct marker_ground_coordinate {
    char unused;
};

static const char *map(const void *description, const struct mech_seat *seat,
                       struct mech_marker_map *out, const char **field)
{
    (void)description;
    (void)field;
    out->n = 1;
    out->slot[0] = seat->slot[0];
    out->J[0][0] = 1.;
    return NULL;
}

static void pose(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 struct mech_pose *out)
{
    (void)description;
    (void)on;
    (void)e;
    (void)out;
}

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_COORDINATE,
    .map = map,
    .pose = pose,
};

const struct mech_item_type mech_item_marker_ground_coordinate = {
    .name = "MarkerGroundCoordinate",
    .category = MECH_MARKER,
    .table = {.name = "MarkerGroundCoordinate",
              .doc = "A coordinate that is always 0.",
              .size = sizeof(struct marker_ground_coordinate)},
    .ops.marker = &ops,
};
