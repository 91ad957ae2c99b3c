/* MarkerBodyMass: the mass of a body, at its centre, where accelerations such as gravity act. */
#include "solver/items/marker/body.h"

#include <stddef.h>

struct marker_body_mass {
    struct mech_ref object;
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_OBJECT;
    return &((const struct marker_body_mass *)description)->object;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    const struct mech_object_ops *const ops = on->item->type->ops.object;
    double center[3];

    (void)description;
    *field = "object";
    if (!ops->mass) {
        return "needs a body with a mass";
    }
    out->mass = ops->mass(on->item->description, center);
    return mech_marker_body_map(on, center, out, field);
}

static void pose(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 struct mech_pose *out)
{
    (void)description;
    mech_centre_pose(on, e, out);
}

static const struct mech_field fields[] = {
    {.name = "object",
     .kind = MECH_REF,
     .offset = offsetof(struct marker_body_mass, object),
     .flags = MECH_REQUIRED,
     .target = MECH_OBJECT,
     .doc = "the body"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_MASS,
    .seat = seat,
    .map = map,
    .pose = pose,
};

const struct mech_item_type mech_item_marker_body_mass = {
    .name = "MarkerBodyMass",
    .category = MECH_MARKER,
    .table = {.name = "MarkerBodyMass",
              .doc = "The mass of a body, where accelerations act.",
              .size = sizeof(struct marker_body_mass),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
