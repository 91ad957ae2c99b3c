/* NodeGenericODE2: any number of second-order coordinates (Exudyn's NodeGenericODE2). */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct node_generic_ode2 {
    struct mech_vector reference, displacement, velocity;
    int32_t count; /* 0: as many as reference coordinates */
};

static int32_t size(const void *description)
{
    const struct node_generic_ode2 *n = description;

    return n->count > 0 ? n->count : (int32_t)n->reference.n;
}

static void copy_or_zero(const struct mech_vector *from, int32_t n, double *to)
{
    if (from->n) {
        memcpy(to, from->x, (size_t)n * sizeof *to);
    } else {
        memset(to, 0, (size_t)n * sizeof *to);
    }
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_generic_ode2 *n = description;

    copy_or_zero(&n->reference, size(n), reference);
    copy_or_zero(&n->displacement, size(n), displacement);
    copy_or_zero(&n->velocity, size(n), velocity);
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct node_generic_ode2 *n = description;
    const struct {
        const char *name;
        size_t n;
    } lists[] = {{"referenceCoordinates", n->reference.n},
                 {"initialCoordinates", n->displacement.n},
                 {"initialCoordinates_t", n->velocity.n}};
    const size_t expect = (size_t)size(n);

    if (expect == 0) {
        mech_diag_add(d, path, "give referenceCoordinates or numberOfODE2Coordinates");
        return;
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (lists[i].n != 0 && lists[i].n != expect) {
            char place[2 * MECH_DIAG_PATH];

            snprintf(place, sizeof place, "%s/%s", path, lists[i].name);
            mech_diag_add(d, place, "has %zu numbers, the node has %zu coordinates", lists[i].n,
                          expect);
        }
    }
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct node_generic_ode2, displacement),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial displacements from the reference; default: zeros"},
    {.name = "initialCoordinates_t",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct node_generic_ode2, velocity),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial velocities; default: zeros"},
    {.name = "numberOfODE2Coordinates",
     .kind = MECH_INT,
     .offset = offsetof(struct node_generic_ode2, count),
     .preset = 0.,
     .min = 0.,
     .max = 1e7,
     .doc = "number of coordinates; 0: as many as reference coordinates"},
    {.name = "referenceCoordinates",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct node_generic_ode2, reference),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "reference coordinates; default: zeros"},
};

static const struct mech_node_ops ops = {
    .size = size,
    .start = start,
    .outputs = MECH_COORDINATE_OUTPUTS,
};

const struct mech_item_type mech_item_node_generic_ode2 = {
    .name = "NodeGenericODE2",
    .category = MECH_NODE,
    .table = {.name = "NodeGenericODE2",
              .doc = "A node with any number of coordinates of second-order equations.",
              .size = sizeof(struct node_generic_ode2),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.node = &ops,
};
