/* LoadCoordinate: a generalized force on one coordinate, a number or an expression in t. */
#include "solver/items/ops.h"

#include <stddef.h>

struct load_coordinate {
    struct mech_ref marker;
    struct mech_values load; /* [1] */
};

static const struct mech_ref *marker(const void *description)
{
    return &((const struct load_coordinate *)description)->marker;
}

static const struct mech_values *values(const void *description)
{
    return &((const struct load_coordinate *)description)->load;
}

static void wrench(const void *description, int32_t c, const struct mech_marker_map *map,
                   double w[6])
{
    (void)description;
    (void)c;
    (void)map;
    for (int i = 0; i < 6; i++) {
        w[i] = i == 0 ? 1. : 0.;
    }
}

static const struct mech_field fields[] = {
    {.name = "load",
     .kind = MECH_VALUES,
     .offset = offsetof(struct load_coordinate, load),
     .count = 1,
     .unit = "N or N m",
     MECH_ANY_REAL,
     .doc = "a number, an expression in t and the parameters, or a table"},
    {.name = "marker",
     .kind = MECH_REF,
     .offset = offsetof(struct load_coordinate, marker),
     .flags = MECH_REQUIRED,
     .target = MECH_MARKER,
     .doc = "the coordinate that it acts on"},
};

static const struct mech_load_ops ops = {
    .size = 1,
    .markers = 1u << MECH_MARKER_COORDINATE | 1u << MECH_MARKER_ROTATION,
    .variable = MECH_OUTPUT_FORCE,
    .marker = marker,
    .values = values,
    .wrench = wrench,
};

const struct mech_item_type mech_item_load_coordinate = {
    .name = "LoadCoordinate",
    .category = MECH_LOAD,
    .table = {.name = "LoadCoordinate",
              .doc = "A generalized force on one coordinate.",
              .size = sizeof(struct load_coordinate),
              MECH_FIELDS(fields)},
    .ops.load = &ops,
};
