/* FirstOrderLinearTIDS: a linear, time-invariant system of first order with its own states.
 *
 *     M ẋ = A x + b(t, z) + r,   r = B λ of the interactions on it
 *
 * Source: Siconos' class of that name. M is 1 where it is left out, and regular. z is a vector that
 * b may read as z0, z1, …; it changes only when the state is set. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* values of z: every expression of a system sees all of them */
enum { MOST_DATA = 1000 };

struct first_order_linear_tids {
    struct mech_mat A, M;
    struct mech_vector x0, z;
    struct mech_values b;
};

static int32_t own(const void *description)
{
    return ((const struct first_order_linear_tids *)description)->A.rows;
}

static void start(const void *description, double *x, double *v)
{
    const struct first_order_linear_tids *const s = description;
    const size_t bytes = (size_t)s->A.rows * sizeof *x;

    (void)v;
    memset(x, 0, bytes);
    if (s->x0.n) {
        memcpy(x, s->x0.x, bytes);
    }
}

/* sizes are checked here, not in `fit`: own and start rely on them */
static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct first_order_linear_tids *const s = description;
    const struct mech_site site = {.n = s->A.rows, .path = path, .diag = d};

    mech_fit_square(&site, "A", &s->A);
    mech_fit_square(&site, "M", &s->M);
    mech_fit_length(&site, "x0", s->x0.n);
    mech_fit_length(&site, "b", s->b.n);
    if (s->z.n > MOST_DATA) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/z", path);
        mech_diag_add(d, place, "more than %d values", MOST_DATA);
    }
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct first_order_linear_tids *const s = description;
    const int r = mech_terms_matrix(terms, MECH_TERM_X, &s->M);

    return r ? r : mech_terms_matrix(terms, MECH_TERM_A, &s->A);
}

static void excitation(const void *description, const struct mech_values **force,
                       const struct mech_vector **z)
{
    const struct first_order_linear_tids *const s = description;

    *force = &s->b;
    *z = &s->z;
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    (void)description;
    return mech_coordinate_output(view, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    {.name = "A",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct first_order_linear_tids, A),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "system matrix A of M x' = A x + b"},
    {.name = "M",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct first_order_linear_tids, M),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "matrix M of the rates, regular; default: the identity"},
    {.name = "b",
     .kind = MECH_VALUES,
     .offset = offsetof(struct first_order_linear_tids, b),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "excitation b: numbers, or expressions in t, z0, z1, … and the parameters"},
    {.name = "x0",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct first_order_linear_tids, x0),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial states; default: zeros"},
    {.name = "z",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct first_order_linear_tids, z),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "discrete data that b may read"},
};

static const struct mech_object_ops ops = {
    .system = true,
    .first_order = true,
    .own = own,
    .start = start,
    .linear = linear,
    .excitation = excitation,
    .excitation_field = "b",
    .outputs = MECH_FIRST_ORDER_OUTPUTS,
    .output = output,
};

const struct mech_item_type mech_item_body_first_order_linear_tids = {
    .name = "FirstOrderLinearTIDS",
    .category = MECH_OBJECT,
    .table = {.name = "FirstOrderLinearTIDS",
              .doc = "A linear, time-invariant system of first order with its own states.",
              .size = sizeof(struct first_order_linear_tids),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
