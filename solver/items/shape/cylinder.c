/* Cylinder along the z axis of its frame, with flat ends. */
#include "solver/items/shape/fields.h"

#include <math.h>

struct cylinder {
    struct mech_shape_place place;
    double radius, length;
};

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    const struct cylinder *const s = description;

    (void)arena;
    mech_shape_above(s->radius, path, "radius", d);
    mech_shape_above(s->length, path, "length", d);
    out->radius = s->radius;
    out->half_length = 0.5 * s->length;
    for (int i = 0; i < 3; i++) {
        out->high[i] = i < 2 ? s->radius : out->half_length;
        out->low[i] = -out->high[i];
    }
    return 0;
}

static void support(const struct mech_shape *s, const double d[3], double out[3])
{
    const double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    const double scale = across > 0. ? s->radius / across : 0.;

    out[0] = scale * d[0];
    out[1] = scale * d[1];
    out[2] = d[2] < 0. ? -s->half_length : s->half_length;
}

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    {.name = "length",
     .kind = MECH_REAL,
     .offset = offsetof(struct cylinder, length),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "from end to end, along z"},
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    MECH_SHAPE_POSITION,
    {.name = "radius",
     .kind = MECH_REAL,
     .offset = offsetof(struct cylinder, radius),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "radius of the cylinder"},
    MECH_SHAPE_ROTATION,
};

static const struct mech_shape_ops ops = {.build = build, .support = support};

const struct mech_item_type mech_item_shape_cylinder = {
    .name = "Cylinder",
    .category = MECH_SHAPE,
    .table = {.name = "Cylinder",
              .doc = "A cylinder along z, about the origin of its frame, with flat ends.",
              .size = sizeof(struct cylinder),
              MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
