/* Capsule: all that is within a radius of a segment along the z axis of its frame. */
#include "solver/items/shape/fields.h"

struct capsule {
    struct mech_shape_place place;
    double radius, length;
};

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    const struct capsule *const s = description;

    (void)arena;
    mech_shape_above(s->radius, path, "radius", d);
    mech_shape_above(s->length, path, "length", d);
    out->radius = out->rounding = s->radius;
    out->half_length = 0.5 * s->length;
    for (int i = 0; i < 3; i++) {
        out->high[i] = i < 2 ? s->radius : out->half_length + s->radius;
        out->low[i] = -out->high[i];
    }
    return 0;
}

static void support(const struct mech_shape *s, const double d[3], double out[3])
{
    out[0] = out[1] = 0.;
    out[2] = d[2] < 0. ? -s->half_length : s->half_length;
}

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    {.name = "length",
     .kind = MECH_REAL,
     .offset = offsetof(struct capsule, length),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "between the centres of the two half spheres, along z"},
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    MECH_SHAPE_POSITION,
    {.name = "radius",
     .kind = MECH_REAL,
     .offset = offsetof(struct capsule, radius),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "radius of the capsule"},
    MECH_SHAPE_ROTATION,
};

static const struct mech_shape_ops ops = {.build = build, .support = support};

const struct mech_item_type mech_item_shape_capsule = {
    .name = "Capsule",
    .category = MECH_SHAPE,
    .table =
        {.name = "Capsule",
         .doc = "A cylinder along z, about the origin of its frame, with half spheres at its ends.",
         .size = sizeof(struct capsule),
         MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
