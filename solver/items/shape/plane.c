/* Plane through the origin of its frame: everything behind its normal is solid. */
#include "solver/items/shape/fields.h"
#include "solver/linalg/v3.h"

#include <math.h>
#include <stdio.h>

struct plane {
    struct mech_shape_place place;
    double normal[3];
};

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    const struct plane *const s = description;
    const double length = mech_v3_norm(s->normal);

    (void)arena;
    if (!(isfinite(length) && length > 0.)) {
        char place[MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/normal", path);
        mech_diag_add(d, place, "must be a direction, but its length is %.6g", length);
    }
    for (int i = 0; i < 3; i++) {
        out->normal[i] = s->normal[i] / length;
        out->low[i] = -HUGE_VAL;
        out->high[i] = HUGE_VAL;
    }
    return 0;
}

static const double upward[] = {0., 0., 1.};

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    {.name = "normal",
     .kind = MECH_REALS,
     .offset = offsetof(struct plane, normal),
     .count = 3,
     .unit = "",
     .presets = upward,
     MECH_ANY_REAL,
     .doc = "direction of any length out of the solid, in the shape's frame"},
    MECH_SHAPE_POSITION,
    MECH_SHAPE_ROTATION,
};

static const struct mech_shape_ops ops = {.fixed = true, .build = build};

const struct mech_item_type mech_item_shape_plane = {
    .name = "Plane",
    .category = MECH_SHAPE,
    .table = {.name = "Plane",
              .doc = "A plane through its position, solid behind its normal; only on the ground.",
              .size = sizeof(struct plane),
              MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
