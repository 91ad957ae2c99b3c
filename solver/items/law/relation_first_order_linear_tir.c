/* FirstOrderLinearTIR: what couples systems of first order to a law (Siconos' class of that name),
 *
 *     y = C x + D λ + e,   r = B λ
 */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>

struct first_order_linear_tir {
    struct mech_mat B, C, D;
    struct mech_vector e;
};

static const struct mech_mat *C(const void *description)
{
    return &((const struct first_order_linear_tir *)description)->C;
}

static const struct mech_mat *B(const void *description)
{
    return &((const struct first_order_linear_tir *)description)->B;
}

static const struct mech_mat *D(const void *description)
{
    return &((const struct first_order_linear_tir *)description)->D;
}

static const struct mech_vector *e(const void *description)
{
    return &((const struct first_order_linear_tir *)description)->e;
}

/* A fault unless a is rows × cols. */
static void fit(const struct mech_mat *a, int32_t rows, int32_t cols, const char *place,
                struct mech_diag *d)
{
    if (a->rows != rows || a->cols != cols) {
        mech_diag_add(d, place, "is %d × %d, and C requires %d × %d", (int)a->rows, (int)a->cols,
                      (int)rows, (int)cols);
    }
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct first_order_linear_tir *const r = description;
    char place[2 * MECH_DIAG_PATH];

    snprintf(place, sizeof place, "%s/B", path);
    fit(&r->B, r->C.cols, r->C.rows, place, d);
    if (r->D.rows || r->D.cols) {
        snprintf(place, sizeof place, "%s/D", path);
        fit(&r->D, r->C.rows, r->C.rows, place, d);
    }
    if (r->e.n && r->e.n != (size_t)r->C.rows) {
        snprintf(place, sizeof place, "%s/e", path);
        mech_diag_add(d, place, "has %zu numbers, C has %d rows", r->e.n, (int)r->C.rows);
    }
}

static const struct mech_field fields[] = {
    {.name = "B",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct first_order_linear_tir, B),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc =
         "effect of the multipliers on the rates: one row per state of the systems, one column per "
         "multiplier"},
    {.name = "C",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct first_order_linear_tir, C),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc =
         "effect of the states on y: one row per multiplier, one column per state of the systems"},
    {.name = "D",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct first_order_linear_tir, D),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "direct effect of the multipliers on y; default: none"},
    {.name = "e",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct first_order_linear_tir, e),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "y at x = 0 and λ = 0; default: zeros"},
};

static const struct mech_relation_ops ops = {.field = "C", .H = C, .b = e, .B = B, .D = D};

const struct mech_item_type mech_item_law_relation_first_order_linear_tir = {
    .name = "FirstOrderLinearTIR",
    .category = MECH_RELATION,
    .table = {.name = "FirstOrderLinearTIR",
              .doc = "Outputs and inputs of first-order systems that a law couples.",
              .size = sizeof(struct first_order_linear_tir),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.relation = &ops,
};
