/* Shapes and colliders for tests, made by the registry's own types. */
#pragma once

#include "solver/contact/contact.h"
#include "solver/items/shape/shape.h"
#include "tests/unit/unit.h"

#include <stdint.h>

struct shapes {
    struct mech_arena arena;
    struct mech_diag diag;
};

static inline void shapes_init(struct shapes *s)
{
    mech_arena_init(&s->arena, 0);
    mech_diag_init(&s->diag);
}

static inline void shapes_fini(struct shapes *s)
{
    CU_ASSERT(mech_diag_clean(&s->diag));
    mech_arena_fini(&s->arena);
    mech_diag_fini(&s->diag);
}

/* A shape of a type whose numbers, by their fields' names, are `values`. */
struct shape_number {
    const char *field;
    double value[3];
};
static inline struct mech_shape shapes_make(struct shapes *s, const char *type,
                                            const struct shape_number *numbers, int count)
{
    const struct mech_item_type *const t = mech_item_type_find(MECH_SHAPE, type);
    struct mech_shape out = {.type = NULL};

    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    char *const description = mech_arena_alloc(&s->arena, 1, t->table.size);

    mech_table_defaults(&t->table, description);
    for (int k = 0; k < count; k++) {
        const struct mech_field *const f = mech_table_find(&t->table, numbers[k].field);

        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        for (uint32_t i = 0; i < (f->kind == MECH_REALS ? f->count : 1); i++) {
            ((double *)(void *)(description + f->offset))[i] = numbers[k].value[i];
        }
    }
    CU_ASSERT_EQUAL(mech_shape_build(t, description, &s->arena, "", &s->diag, &out), 0);
    return out;
}

static inline struct mech_shape shapes_sphere(struct shapes *s, double radius)
{
    const struct shape_number n[] = {{"radius", {radius}}};

    return shapes_make(s, "Sphere", n, 1);
}

static inline struct mech_shape shapes_plane(struct shapes *s, double x, double y, double z)
{
    const struct shape_number n[] = {{"normal", {x, y, z}}};

    return shapes_make(s, "Plane", n, 1);
}

static inline struct mech_shape shapes_box(struct shapes *s, double x, double y, double z)
{
    const struct shape_number n[] = {{"size", {x, y, z}}};

    return shapes_make(s, "Box", n, 1);
}

static inline struct mech_shape shapes_capsule(struct shapes *s, double radius, double length)
{
    const struct shape_number n[] = {{"radius", {radius}}, {"length", {length}}};

    return shapes_make(s, "Capsule", n, 2);
}

static inline struct mech_shape shapes_cylinder(struct shapes *s, double radius, double length)
{
    const struct shape_number n[] = {{"radius", {radius}}, {"length", {length}}};

    return shapes_make(s, "Cylinder", n, 2);
}

/* In its body's frame, touching all. */
static inline struct mech_mat shapes_matrix(struct mech_arena *arena, const double *x, int32_t rows)
{
    struct mech_triplet *const t = mech_arena_alloc(arena, 3 * (size_t)rows, sizeof *t);
    struct mech_mat out = {.rows = 0};

    for (int32_t k = 0; k < 3 * rows; k++) {
        t[k] = (struct mech_triplet){k / 3, k % 3, x[k]};
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(arena, rows, 3, t, 3 * (size_t)rows, &out), 0);
    return out;
}

/* rows of numbers in fields of the type, by name, closed by NULL */
struct shape_rows {
    const char *field;
    const double *x;
    int32_t n;
};

static inline struct mech_shape shapes_from_rows(struct shapes *s, const char *type,
                                                 const struct shape_rows *rows)
{
    const struct mech_item_type *const t = mech_item_type_find(MECH_SHAPE, type);
    struct mech_shape out = {.type = NULL};

    CU_ASSERT_PTR_NOT_NULL_FATAL(t);
    char *const description = mech_arena_alloc(&s->arena, 1, t->table.size);
    mech_table_defaults(&t->table, description);
    for (; rows->field; rows++) {
        const struct mech_field *const f = mech_table_find(&t->table, rows->field);

        *(struct mech_mat *)(void *)(description + f->offset) =
            shapes_matrix(&s->arena, rows->x, rows->n);
    }
    CU_ASSERT_EQUAL(mech_shape_build(t, description, &s->arena, "/g/0", &s->diag, &out), 0);
    return out;
}

static inline struct mech_shape shapes_mesh(struct shapes *s, const double *x, int32_t n,
                                            const double *t, int32_t m)
{
    const struct shape_rows rows[] = {{"vertices", x, n}, {"triangles", t, m}, {NULL, NULL, 0}};

    return shapes_from_rows(s, "Mesh", rows);
}

static inline struct mech_collider shapes_collider(struct mech_shape shape)
{
    return (struct mech_collider){.shape = shape,
                                  .R = {1., 0., 0., 0., 1., 0., 0., 0., 1.},
                                  .category = 1,
                                  .mask = INT32_MAX};
}

/* A rectangle with the corners at p, p + a, p + a + b and p + b, on the ground; it faces a × b. */
static inline struct mech_collider shapes_sheet(struct shapes *s, const double p[3],
                                                const double a[3], const double b[3])
{
    static const double triangles[6] = {0., 1., 2., 0., 2., 3.};
    double x[12];

    for (int i = 0; i < 3; i++) {
        x[i] = p[i];
        x[3 + i] = p[i] + a[i];
        x[6 + i] = p[i] + a[i] + b[i];
        x[9 + i] = p[i] + b[i];
    }
    struct mech_collider c = shapes_collider(shapes_mesh(s, x, 4, triangles, 2));

    c.body = -1;
    return c;
}
