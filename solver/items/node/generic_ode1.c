/* NodeGenericODE1: any number of first-order states x (Exudyn's NodeGenericODE1). The state is what
 * the equations see: reference coordinates are kept for the reference configuration only. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct node_generic_ode1 {
    struct mech_vector reference, start;
    int32_t count; /* 0: as many as reference or initial coordinates */
};

static int32_t size(const void *description)
{
    const struct node_generic_ode1 *n = description;
    const size_t given = n->reference.n ? n->reference.n : n->start.n;

    return n->count > 0 ? n->count : (int32_t)given;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_generic_ode1 *n = description;
    const size_t bytes = (size_t)size(n) * sizeof(double);

    (void)velocity;
    memset(reference, 0, bytes);
    memset(displacement, 0, bytes);
    if (n->reference.n) {
        memcpy(reference, n->reference.x, bytes);
    }
    if (n->start.n) {
        memcpy(displacement, n->start.x, bytes);
    }
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct node_generic_ode1 *n = description;
    const size_t expect = (size_t)size(n);
    char place[2 * MECH_DIAG_PATH];

    if (expect == 0) {
        mech_diag_add(d, path, "give initialCoordinates or numberOfODE1Coordinates");
        return;
    }
    if (n->reference.n && n->reference.n != expect) {
        snprintf(place, sizeof place, "%s/referenceCoordinates", path);
        mech_diag_add(d, place, "has %zu numbers, the node has %zu coordinates", n->reference.n,
                      expect);
    }
    if (n->start.n && n->start.n != expect) {
        snprintf(place, sizeof place, "%s/initialCoordinates", path);
        mech_diag_add(d, place, "has %zu numbers, the node has %zu coordinates", n->start.n,
                      expect);
    }
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct node_generic_ode1, start),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial states; default: zeros"},
    {.name = "numberOfODE1Coordinates",
     .kind = MECH_INT,
     .offset = offsetof(struct node_generic_ode1, count),
     .preset = 0.,
     .min = 0.,
     .max = 1e7,
     .doc = "number of states; 0: as many as reference or initial coordinates"},
    {.name = "referenceCoordinates",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct node_generic_ode1, reference),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "states of the reference configuration; default: zeros"},
};

static const struct mech_node_ops ops = {
    .first_order = true,
    .size = size,
    .start = start,
    .outputs = MECH_FIRST_ORDER_OUTPUTS,
};

const struct mech_item_type mech_item_node_generic_ode1 = {
    .name = "NodeGenericODE1",
    .category = MECH_NODE,
    .table = {.name = "NodeGenericODE1",
              .doc = "A node with any number of states of first-order equations.",
              .size = sizeof(struct node_generic_ode1),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.node = &ops,
};
