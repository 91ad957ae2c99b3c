/* Sphere about the origin of its frame. */
#include "solver/items/shape/fields.h"

struct sphere {
    struct mech_shape_place place;
    double radius;
};

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    const struct sphere *const s = description;

    (void)arena;
    mech_shape_above(s->radius, path, "radius", d);
    out->radius = out->rounding = s->radius;
    for (int i = 0; i < 3; i++) {
        out->low[i] = -s->radius;
        out->high[i] = s->radius;
    }
    return 0;
}

static void support(const struct mech_shape *s, const double d[3], double out[3])
{
    (void)s;
    (void)d;
    out[0] = out[1] = out[2] = 0.;
}

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    MECH_SHAPE_POSITION,
    {.name = "radius",
     .kind = MECH_REAL,
     .offset = offsetof(struct sphere, radius),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "radius of the sphere"},
    MECH_SHAPE_ROTATION,
};

static const struct mech_shape_ops ops = {.build = build, .support = support};

const struct mech_item_type mech_item_shape_sphere = {
    .name = "Sphere",
    .category = MECH_SHAPE,
    .table = {.name = "Sphere",
              .doc = "A sphere about the origin of its frame.",
              .size = sizeof(struct sphere),
              MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
