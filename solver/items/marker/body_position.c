/* MarkerBodyPosition: a point of a body, where forces act. */
#include "solver/items/marker/body.h"

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_POSITION,
    .seat = mech_marker_on_body_seat,
    .map = mech_marker_on_body_map,
    .pose = mech_marker_on_body_pose,
};

const struct mech_item_type mech_item_marker_body_position = {
    .name = "MarkerBodyPosition",
    .category = MECH_MARKER,
    .table = {.name = "MarkerBodyPosition",
              .doc = "A point of a body, where forces act.",
              .size = sizeof(struct mech_marker_on_body),
              .fields = mech_marker_on_body_fields,
              .count = MECH_MARKER_ON_BODY_FIELDS},
    .ops.marker = &ops,
};
