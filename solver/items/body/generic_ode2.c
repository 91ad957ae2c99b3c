/* GenericODE2: second-order equations given by matrices, on the displacements of its nodes.
 *
 *     M q̈ + D u̇ + K u = f,   u = q − q_ref
 *
 * Source: Exudyn's ObjectGenericODE2. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>

struct generic_ode2 {
    struct mech_refs nodes;
    struct mech_mat mass, stiffness, damping;
    struct mech_vector force;
};

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct generic_ode2 *o = description;

    *out = (struct mech_attachment){
        .refs = o->nodes.refs, .n = o->nodes.n, .field = "nodes", .list = true};
}

static void fit(const void *description, const struct mech_site *site)
{
    const struct generic_ode2 *o = description;
    char place[2 * MECH_DIAG_PATH];

    if (site->first_order) {
        snprintf(place, sizeof place, "%s/nodes", site->path);
        mech_diag_add(site->diag, place, "needs nodes with second-order coordinates");
        return;
    }
    if (site->curved) {
        snprintf(place, sizeof place, "%s/nodes", site->path);
        mech_diag_add(site->diag, place, "needs nodes without rotations in space");
        return;
    }
    mech_fit_square(site, "massMatrix", &o->mass);
    mech_fit_square(site, "stiffnessMatrix", &o->stiffness);
    mech_fit_square(site, "dampingMatrix", &o->damping);
    mech_fit_length(site, "forceVector", o->force.n);
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct generic_ode2 *o = description;
    int r = mech_terms_matrix(terms, MECH_TERM_M, &o->mass);

    r = r ? r : mech_terms_matrix(terms, MECH_TERM_K, &o->stiffness);
    r = r ? r : mech_terms_matrix(terms, MECH_TERM_C, &o->damping);
    for (size_t i = 0; i < o->force.n; i++) {
        mech_terms_force(terms, (int32_t)i, o->force.x[i]);
    }
    return r;
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    (void)description;
    return mech_coordinate_output(view, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    {.name = "dampingMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct generic_ode2, damping),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "damping matrix D; default: none"},
    {.name = "forceVector",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct generic_ode2, force),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "constant generalized force f; default: none"},
    {.name = "massMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct generic_ode2, mass),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "mass matrix M"},
    {.name = "nodes",
     .kind = MECH_REFS,
     .offset = offsetof(struct generic_ode2, nodes),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "nodes, in the order of the matrices"},
    {.name = "stiffnessMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct generic_ode2, stiffness),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "stiffness matrix K; default: none"},
};

static const struct mech_object_ops ops = {
    .body = true,
    .system = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .outputs = MECH_COORDINATE_OUTPUTS,
    .output = output,
};

const struct mech_item_type mech_item_body_generic_ode2 = {
    .name = "GenericODE2",
    .category = MECH_OBJECT,
    .table = {.name = "GenericODE2",
              .doc = "Linear equations of second order on the coordinates of its nodes.",
              .size = sizeof(struct generic_ode2),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
