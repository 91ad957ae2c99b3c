/* MarkerBodyRigid: a frame of a body, where forces and torques act. */
#include "solver/items/marker_body.h"

#include <stddef.h>

struct marker_body_rigid {
    struct mech_ref object;
    double local[3]; /* m, in the body's frame */
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_OBJECT;
    return &((const struct marker_body_rigid *)description)->object;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    return mech_marker_body_map(on, ((const struct marker_body_rigid *)description)->local, out,
                                field);
}

static void pose(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 struct mech_pose *out)
{
    mech_marker_body_pose(on, e, ((const struct marker_body_rigid *)description)->local, out);
}

static const struct mech_field fields[] = {
    {.name = "localPosition",
     .kind = MECH_REALS,
     .offset = offsetof(struct marker_body_rigid, local),
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "the point, in the body's frame"},
    {.name = "object",
     .kind = MECH_REF,
     .offset = offsetof(struct marker_body_rigid, object),
     .flags = MECH_REQUIRED,
     .target = MECH_OBJECT,
     .doc = "the body"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_RIGID,
    .seat = seat,
    .map = map,
    .pose = pose,
};

const struct mech_item_type mech_item_marker_body_rigid = {
    .name = "MarkerBodyRigid",
    .category = MECH_MARKER,
    .table = {.name = "MarkerBodyRigid",
              .doc = "A frame of a body, where forces and torques act.",
              .size = sizeof(struct marker_body_rigid),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
