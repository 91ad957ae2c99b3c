/* GenericAE: algebraic equations between the coordinates of nodes, one multiplier a row.
 *
 *     C q = rhs(t)      or, at velocity level,   C v = rhs(t)
 *
 * q are total coordinates of the nodes, one behind the other; the reaction on them is Cᵀ λ. The
 * output Force is −λ, as Exudyn signs it. Rotations in space have no coordinates to be summed:
 * their nodes are refused. */
#include "solver/items/connector/coordinate_rows.h"
#include "solver/items/connector/pair.h"

#include <stddef.h>
#include <stdio.h>

struct generic_ae {
    struct mech_refs nodes;
    struct mech_mat constraint;
    struct mech_values rhs;
    bool active, velocity;
};

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct generic_ae *o = description;

    *out = (struct mech_attachment){
        .refs = o->nodes.refs, .n = o->nodes.n, .field = "nodes", .list = true};
}

static int32_t rows(const void *description, const struct mech_site *site)
{
    (void)site;
    return ((const struct generic_ae *)description)->constraint.rows;
}

static void fit(const void *description, const struct mech_site *site)
{
    const struct generic_ae *o = description;
    const int32_t count = o->constraint.rows;
    char place[2 * MECH_DIAG_PATH];

    if (count == 0 || o->constraint.cols != site->n) {
        snprintf(place, sizeof place, "%s/constraintMatrix", site->path);
        mech_diag_add(site->diag, place, "is %d x %d, there are %d coordinates", (int)count,
                      (int)o->constraint.cols, (int)site->n);
    }
    if (o->rhs.n != 0 && o->rhs.n != (size_t)count) {
        snprintf(place, sizeof place, "%s/rhsVector", site->path);
        mech_diag_add(site->diag, place, "has %zu numbers, there are %d equations", o->rhs.n,
                      (int)count);
    }
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct generic_ae *o = description;
    struct mech_coordinate_rows *const r = at;

    *r = (struct mech_coordinate_rows){
        .rows = o->constraint.rows, .n = site->n, .velocity = o->velocity};
    MECH_TRY(mech_coordinate_rows_new(r, site, false));
    MECH_TRY(mech_coordinate_rows_add(r, site, &o->constraint, 0, 1., r->X));
    MECH_TRY(mech_coordinate_rows_offset(r, site, &o->rhs, "rhsVector"));
    return o->active;
}

static bool velocity(const void *description)
{
    return ((const struct generic_ae *)description)->velocity;
}

static const struct mech_equation_ops equation = {
    MECH_COORDINATE_ROWS_OPERATIONS,
    .record = record,
    .rows = rows,
    .velocity = velocity,
};

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(generic_ae, active),
    {.name = "constraintMatrix",
     .kind = MECH_MATRIX,
     .offset = offsetof(struct generic_ae, constraint),
     .flags = MECH_REQUIRED,
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "matrix C: one row per equation, one column per coordinate"},
    {.name = "nodes",
     .kind = MECH_REFS,
     .offset = offsetof(struct generic_ae, nodes),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "nodes, in the order of the columns"},
    {.name = "rhsVector",
     .kind = MECH_VALUES,
     .offset = offsetof(struct generic_ae, rhs),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "right-hand side: numbers, expressions in t and the parameters, or tables; "
            "default: none"},
    {.name = "velocityLevel",
     .kind = MECH_BOOL,
     .offset = offsetof(struct generic_ae, velocity),
     .doc = "whether velocities are constrained, C v = rhs, instead of coordinates, C q = rhs"},
};

static const struct mech_object_ops ops = {
    .nodes = nodes,
    .fit = fit,
    .equation = &equation,
    .outputs = 1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_CONSTRAINT_EQUATION,
    .output = mech_coordinate_rows_output,
};

const struct mech_item_type mech_item_body_generic_ae = {
    .name = "GenericAE",
    .category = MECH_OBJECT,
    .table = {.name = "GenericAE",
              .doc = "Linear algebraic equations between the coordinates of nodes.",
              .size = sizeof(struct generic_ae),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
