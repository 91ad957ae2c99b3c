/* LoadForceVector: a force at a point of a body, global or fixed to the body. Its components are
 * numbers or expressions in t. */
#include "solver/items/ops.h"

#include <stddef.h>

struct load_force_vector {
    struct mech_ref marker;
    struct mech_values load; /* [3] */
    bool body_fixed;
};

static const struct mech_ref *marker(const void *description)
{
    return &((const struct load_force_vector *)description)->marker;
}

static const struct mech_values *values(const void *description)
{
    return &((const struct load_force_vector *)description)->load;
}

/* direction of component c: an axis of the body when fixed to it */
static void wrench(const void *description, int32_t c, const struct mech_marker_map *map,
                   double w[6])
{
    const struct load_force_vector *l = description;

    for (int i = 0; i < 3; i++) {
        w[3 + i] = 0.;
        w[0 + i] = l->body_fixed ? map->R[3 * i + c] : (i == c ? 1. : 0.);
    }
}

static bool body_fixed(const void *description)
{
    return ((const struct load_force_vector *)description)->body_fixed;
}

static const struct mech_field fields[] = {
    {.name = "bodyFixed",
     .kind = MECH_BOOL,
     .offset = offsetof(struct load_force_vector, body_fixed),
     .doc = "whether the vector is given in the body's frame"},
    {.name = "load",
     .kind = MECH_VALUES,
     .offset = offsetof(struct load_force_vector, load),
     .count = 3,
     .unit = "N",
     MECH_ANY_REAL,
     .doc = "components, each a number, an expression in t and the parameters, or a table"},
    {.name = "marker",
     .kind = MECH_REF,
     .offset = offsetof(struct load_force_vector, marker),
     .flags = MECH_REQUIRED,
     .target = MECH_MARKER,
     .doc = "the point of a body that it acts on"},
};

static const struct mech_load_ops ops = {
    .size = 3,
    .markers = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .variable = MECH_OUTPUT_FORCE,
    .marker = marker,
    .values = values,
    .wrench = wrench,
    .body_fixed = body_fixed,
};

const struct mech_item_type mech_item_load_force_vector = {
    .name = "LoadForceVector",
    .category = MECH_LOAD,
    .table = {.name = "LoadForceVector",
              .doc = "A force at a point of a body.",
              .size = sizeof(struct load_force_vector),
              MECH_FIELDS(fields)},
    .ops.load = &ops,
};
