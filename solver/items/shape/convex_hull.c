/* Convex hull of points in its frame. */
#include "solver/base/err.h"
#include "solver/items/shape/fields.h"
#include "solver/items/shape/polyhedron.h"
#include "solver/items/shape/rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct convex_hull {
    struct mech_shape_place place;
    struct mech_mat points;
};

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    const struct convex_hull *const s = description;
    const struct mech_shape_rows rows = {
        .m = &s->points, .path = path, .key = "points", .least = 4, .most = MECH_HULL_POINTS_MOST};
    char place[2 * MECH_DIAG_PATH];
    double *x;

    MECH_TRY(mech_shape_rows(&rows, arena, d, &x));
    if (!x) {
        return 0;
    }
    const int code = mech_polyhedron_hull(x, s->points.rows, arena, &out->hull);
    snprintf(place, sizeof place, "%s/points", path);
    if (code == MECH_HULL_FLAT) {
        mech_diag_add(d, place, "lie in one plane, or nearly so");
    } else if (code == MECH_HULL_UNCLEAR) {
        mech_diag_add(
            d, place,
            "span faces that cannot be distinguished: some points are too close to each other");
    } else if (code == 0) {
        mech_shape_bounds(out->hull.vertex, out->hull.vertices, out->low, out->high);
    }
    return code < 0 ? code : 0;
}

static void support(const struct mech_shape *s, const double d[3], double out[3])
{
    const int32_t i = mech_polyhedron_farthest(&s->hull, d);

    memcpy(out, s->hull.vertex + 3 * i, 3 * sizeof *out);
}

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    {.name = "points",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct convex_hull, points),
     .flags = MECH_REQUIRED,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "4 to 4096 points that span the hull, one per row; not all in one plane"},
    MECH_SHAPE_POSITION,
    MECH_SHAPE_ROTATION,
};

static const struct mech_shape_ops ops = {.build = build, .support = support};

const struct mech_item_type mech_item_shape_convex_hull = {
    .name = "ConvexHull",
    .category = MECH_SHAPE,
    .table = {.name = "ConvexHull",
              .doc = "The convex hull of points in its frame.",
              .size = sizeof(struct convex_hull),
              MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
