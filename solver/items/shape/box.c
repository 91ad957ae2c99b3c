/* Box about the origin of its frame, edges along its axes. */
#include "solver/items/shape/fields.h"
#include "solver/items/shape/polyhedron.h"

#include <math.h>

struct box {
    struct mech_shape_place place;
    double size[3];
};

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    static const char *const keys[] = {"size/0", "size/1", "size/2"};
    const struct box *const s = description;

    for (int i = 0; i < 3; i++) {
        mech_shape_above(s->size[i], path, keys[i], d);
        out->half[i] = 0.5 * s->size[i];
        out->low[i] = -out->half[i];
        out->high[i] = out->half[i];
    }
    return mech_polyhedron_box(out->half, arena, &out->hull);
}

static void support(const struct mech_shape *s, const double d[3], double out[3])
{
    for (int i = 0; i < 3; i++) {
        out[i] = d[i] < 0. ? -s->half[i] : s->half[i];
    }
}

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    MECH_SHAPE_POSITION,
    MECH_SHAPE_ROTATION,
    {.name = "size",
     .kind = MECH_REALS,
     .offset = offsetof(struct box, size),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .count = 3,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "lengths of the edges"},
};

static const struct mech_shape_ops ops = {.build = build, .support = support};

const struct mech_item_type mech_item_shape_box = {
    .name = "Box",
    .category = MECH_SHAPE,
    .table = {.name = "Box",
              .doc = "A box about the origin of its frame, with edges along its axes.",
              .size = sizeof(struct box),
              MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
