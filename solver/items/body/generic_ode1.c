/* GenericODE1: first-order equations given by a matrix, on the states of its nodes.
 *
 *     ẋ = A x + r
 *
 * Source: Exudyn's ObjectGenericODE1. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>

struct generic_ode1 {
    struct mech_refs nodes;
    struct mech_mat system;
    struct mech_vector rhs;
};

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct generic_ode1 *o = description;

    *out = (struct mech_attachment){
        .refs = o->nodes.refs, .n = o->nodes.n, .field = "nodes", .list = true};
}

static void fit(const void *description, const struct mech_site *site)
{
    const struct generic_ode1 *o = description;
    char place[2 * MECH_DIAG_PATH];

    if (!site->first_order) {
        snprintf(place, sizeof place, "%s/nodes", site->path);
        mech_diag_add(site->diag, place, "needs nodes with first-order states");
        return;
    }
    mech_fit_square(site, "systemMatrix", &o->system);
    mech_fit_length(site, "rhsVector", o->rhs.n);
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct generic_ode1 *o = description;

    for (size_t i = 0; i < o->rhs.n; i++) {
        mech_terms_rate(terms, (int32_t)i, o->rhs.x[i]);
    }
    return mech_terms_matrix(terms, MECH_TERM_A, &o->system);
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    (void)description;
    return mech_coordinate_output(view, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    {.name = "nodes",
     .kind = MECH_REFS,
     .offset = offsetof(struct generic_ode1, nodes),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "nodes, in the order of the matrix"},
    {.name = "rhsVector",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct generic_ode1, rhs),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "constant rate r; default: none"},
    {.name = "systemMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct generic_ode1, system),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "system matrix A; default: none"},
};

static const struct mech_object_ops ops = {
    .body = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .outputs = MECH_FIRST_ORDER_OUTPUTS,
    .output = output,
};

const struct mech_item_type mech_item_body_generic_ode1 = {
    .name = "GenericODE1",
    .category = MECH_OBJECT,
    .table = {.name = "GenericODE1",
              .doc = "Linear equations of first order on the states of its nodes.",
              .size = sizeof(struct generic_ode1),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
