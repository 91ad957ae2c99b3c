/* NodeGenericData: any number of discrete data z (Exudyn's NodeGenericData). They are part of
 * the state and of snapshots, outside the equations of motion: only their owners and commands that
 * set the state change them. */
#include "solver/items/ops.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct node_generic_data {
    struct mech_vector start;
    int32_t count; /* 0: as many as initial coordinates */
};

static int32_t size(const void *description)
{
    const struct node_generic_data *n = description;

    return n->count > 0 ? n->count : (int32_t)n->start.n;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_generic_data *n = description;
    const size_t bytes = (size_t)size(n) * sizeof(double);

    (void)reference;
    (void)velocity;
    memset(displacement, 0, bytes);
    if (n->start.n) {
        memcpy(displacement, n->start.x, bytes);
    }
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct node_generic_data *n = description;
    const size_t expect = (size_t)size(n);

    if (expect == 0) {
        mech_diag_add(d, path, "give initialCoordinates or numberOfDataCoordinates");
    } else if (n->start.n && n->start.n != expect) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/initialCoordinates", path);
        mech_diag_add(d, place, "has %zu numbers, the node has %zu data", n->start.n, expect);
    }
}

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_VECTOR,
     .offset = offsetof(struct node_generic_data, start),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "initial data; default: zeros"},
    {.name = "numberOfDataCoordinates",
     .kind = MECH_INT,
     .offset = offsetof(struct node_generic_data, count),
     .preset = 0.,
     .min = 0.,
     .max = 1e6,
     .doc = "number of data; 0: as many as initial coordinates"},
};

static const struct mech_node_ops ops = {
    .first_order = true,
    .data = true,
    .size = size,
    .start = start,
    .outputs = 1u << MECH_OUTPUT_COORDINATES,
};

const struct mech_item_type mech_item_node_generic_data = {
    .name = "NodeGenericData",
    .category = MECH_NODE,
    .table = {.name = "NodeGenericData",
              .doc = "A node with any number of discrete data in the state.",
              .size = sizeof(struct node_generic_data),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.node = &ops,
};
