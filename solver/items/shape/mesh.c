/* Mesh of triangles in its frame, a fixed surface: open or closed, seen from the side
 * from which vertices run counterclockwise. */
#include "solver/base/err.h"
#include "solver/items/shape/fields.h"
#include "solver/items/shape/rows.h"
#include "solver/items/shape/tree.h"
#include "solver/linalg/v3.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS_MOST = 1 << 20 };

struct mesh {
    struct mech_shape_place place;
    struct mech_mat triangles, vertices;
};

/* A triangle as thin as rounding has no normal. */
static bool is_thin(const double *x, const int32_t *at)
{
    double d[3], e[3], f[3], n[3];

    mech_v3_add(x + 3 * (size_t)at[1], -1., x + 3 * (size_t)at[0], d);
    mech_v3_add(x + 3 * (size_t)at[2], -1., x + 3 * (size_t)at[0], e);
    mech_v3_add(x + 3 * (size_t)at[2], -1., x + 3 * (size_t)at[1], f);
    mech_v3_cross(d, e, n);
    const double longest = fmax(mech_v3_norm(d), fmax(mech_v3_norm(e), mech_v3_norm(f)));
    return !(mech_v3_norm(n) > 1e-9 * longest * longest);
}

/* Corners from numbers; faults of each row. */
static void read_triangles(const struct mech_shape_rows *rows, const double *number,
                           const double *x, int32_t vertices, struct mech_diag *d, int32_t *out)
{
    for (int32_t t = 0; t < rows->m->rows; t++) {
        const double *const row = number + 3 * (size_t)t;
        int32_t *const at = out + 3 * (size_t)t;
        bool good = true;

        for (int i = 0; i < 3; i++) {
            good = good && row[i] >= 0. && row[i] < vertices && floor(row[i]) == row[i];
            at[i] = good ? (int32_t)row[i] : 0;
        }
        if (!good) {
            mech_shape_row_fault(rows, t, d, "must be indices of vertices, from 0");
        } else if (at[0] == at[1] || at[1] == at[2] || at[2] == at[0]) {
            mech_shape_row_fault(rows, t, d, "has the same vertex twice");
        } else if (is_thin(x, at)) {
            mech_shape_row_fault(rows, t, d, "has no area: its vertices lie on a line");
        }
    }
}

/* A vertex and its number. */
struct corner {
    double x[3];
    int32_t at;
};

static int by_place(const void *a, const void *b)
{
    const struct corner *const p = a, *const q = b;

    for (int i = 0; i < 3; i++) {
        if (p->x[i] != q->x[i]) {
            return p->x[i] < q->x[i] ? -1 : 1;
        }
    }
    return p->at < q->at ? -1 : 1;
}

/* Of vertices at the same place triangles take the first: files that write three for each triangle
 * have edges too. 0 or MECH_NO_MEMORY. */
static int weld(const double *x, int32_t vertices, int32_t *triangle, size_t n)
{
    struct corner *const corner = calloc((size_t)vertices, sizeof *corner);
    int32_t *const first = calloc((size_t)vertices, sizeof *first);

    for (int32_t v = 0; v < vertices && corner && first; v++) {
        corner[v] = (struct corner){{x[3 * v], x[3 * v + 1], x[3 * v + 2]}, v};
    }
    if (corner && first) {
        qsort(corner, (size_t)vertices, sizeof *corner, by_place);
        for (int32_t k = 0; k < vertices; k++) {
            const bool again = k > 0 && corner[k].x[0] == corner[k - 1].x[0] &&
                               corner[k].x[1] == corner[k - 1].x[1] &&
                               corner[k].x[2] == corner[k - 1].x[2];

            first[corner[k].at] = again ? first[corner[k - 1].at] : corner[k].at;
        }
        for (size_t i = 0; i < n; i++) {
            triangle[i] = first[triangle[i]];
        }
    }
    const int code = corner && first ? 0 : MECH_NO_MEMORY;

    free(corner);
    free(first);
    return code;
}

static int build(const void *description, struct mech_arena *arena, const char *path,
                 struct mech_diag *d, struct mech_shape *out)
{
    const struct mesh *const s = description;
    const struct mech_shape_rows points = {
        .m = &s->vertices, .path = path, .key = "vertices", .least = 3, .most = ROWS_MOST};
    const struct mech_shape_rows rows = {
        .m = &s->triangles, .path = path, .key = "triangles", .least = 1, .most = ROWS_MOST};
    const size_t faults = d->total;
    double *x, *number;

    MECH_TRY(mech_shape_rows(&points, arena, d, &x));
    MECH_TRY(mech_shape_rows(&rows, arena, d, &number));
    if (!x || !number) {
        return 0;
    }
    int32_t *const triangle =
        mech_arena_alloc(arena, 3 * (size_t)s->triangles.rows, sizeof *triangle);
    if (!triangle) {
        return MECH_NO_MEMORY;
    }
    read_triangles(&rows, number, x, s->vertices.rows, d, triangle);
    if (d->total > faults) {
        return 0;
    }
    MECH_TRY(weld(x, s->vertices.rows, triangle, 3 * (size_t)s->triangles.rows));
    out->vertex = x;
    out->vertices = s->vertices.rows;
    out->triangle = triangle;
    out->triangles = s->triangles.rows;
    mech_shape_bounds(x, out->vertices, out->low, out->high);
    return mech_shape_tree_build(x, out->vertices, triangle, out->triangles, arena, &out->tree);
}

static const struct mech_field fields[] = {
    MECH_SHAPE_CATEGORY,
    MECH_SHAPE_GROUP,
    MECH_SHAPE_MASK,
    MECH_SHAPE_MATERIAL,
    MECH_SHAPE_POSITION,
    MECH_SHAPE_ROTATION,
    {.name = "triangles",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct mesh, triangles),
     .flags = MECH_REQUIRED,
     .unit = "",
     MECH_NOT_NEGATIVE,
     .doc = "one row per triangle: the indices of its vertices, from 0, counterclockwise seen from "
            "outside"},
    {.name = "vertices",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct mesh, vertices),
     .flags = MECH_REQUIRED,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "one row per vertex; vertices at the same place are merged"},
};

static const struct mech_shape_ops ops = {.fixed = true, .build = build};

const struct mech_item_type mech_item_shape_mesh = {
    .name = "Mesh",
    .category = MECH_SHAPE,
    .table = {.name = "Mesh",
              .doc = "A fixed surface of triangles.",
              .size = sizeof(struct mesh),
              MECH_FIELDS(fields)},
    .ops.shape = &ops,
};
