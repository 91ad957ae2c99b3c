/* LagrangianLinearTIR: a linear, time-invariant gap y = H q + b, ẏ = H v, p = Hᵀ λ (Siconos' class
 * of that name). */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>

struct lagrangian_linear_tir {
    struct mech_mat H;
    struct mech_vector b;
};

static const struct mech_mat *H(const void *description)
{
    return &((const struct lagrangian_linear_tir *)description)->H;
}

static const struct mech_vector *b(const void *description)
{
    return &((const struct lagrangian_linear_tir *)description)->b;
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct lagrangian_linear_tir *r = description;
    char place[2 * MECH_DIAG_PATH];

    if (r->H.rows < 1) {
        snprintf(place, sizeof place, "%s/H", path);
        mech_diag_add(d, place, "the matrix is empty");
    } else if (r->b.n && r->b.n != (size_t)r->H.rows) {
        snprintf(place, sizeof place, "%s/b", path);
        mech_diag_add(d, place, "has %zu numbers, H has %d rows", r->b.n, (int)r->H.rows);
    }
}

static const struct mech_field fields[] = {
    {.name = "H",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct lagrangian_linear_tir, H),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "one row per gap, one column per coordinate of the systems"},
    {.name = "b",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct lagrangian_linear_tir, b),
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "gaps at q = 0; default: zeros"},
};

static const struct mech_relation_ops ops = {.field = "H", .H = H, .b = b};

const struct mech_item_type mech_item_law_relation_lagrangian_linear_tir = {
    .name = "LagrangianLinearTIR",
    .category = MECH_RELATION,
    .table = {.name = "LagrangianLinearTIR",
              .doc = "A gap that is linear in the coordinates.",
              .size = sizeof(struct lagrangian_linear_tir),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.relation = &ops,
};
