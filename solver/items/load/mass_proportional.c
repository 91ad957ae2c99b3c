/* LoadMassProportional: an acceleration times the mass of a body, such as gravity. Its components
 * are numbers or expressions in t. */
#include "solver/items/ops.h"

#include <stddef.h>

struct load_mass_proportional {
    struct mech_ref marker;
    struct mech_values load; /* [3] m/s² */
};

static const struct mech_ref *marker(const void *description)
{
    return &((const struct load_mass_proportional *)description)->marker;
}

static const struct mech_values *values(const void *description)
{
    return &((const struct load_mass_proportional *)description)->load;
}

static void wrench(const void *description, int32_t c, const struct mech_marker_map *map,
                   double w[6])
{
    (void)description;
    for (int i = 0; i < 6; i++) {
        w[i] = i == c ? map->mass : 0.;
    }
}

static const struct mech_field fields[] = {
    {.name = "load",
     .kind = MECH_VALUES,
     .offset = offsetof(struct load_mass_proportional, load),
     .count = 3,
     .unit = "m/s^2",
     MECH_ANY_REAL,
     .doc = "components, each a number, an expression in t and the parameters, or a table"},
    {.name = "marker",
     .kind = MECH_REF,
     .offset = offsetof(struct load_mass_proportional, marker),
     .flags = MECH_REQUIRED,
     .target = MECH_MARKER,
     .doc = "the mass that it acts on"},
};

static const struct mech_load_ops ops = {
    .size = 3,
    .markers = 1u << MECH_MARKER_MASS,
    .variable = MECH_OUTPUT_ACCELERATION,
    .marker = marker,
    .values = values,
    .wrench = wrench,
};

const struct mech_item_type mech_item_load_mass_proportional = {
    .name = "LoadMassProportional",
    .category = MECH_LOAD,
    .table = {.name = "LoadMassProportional",
              .doc = "An acceleration that acts on the mass of a body.",
              .size = sizeof(struct load_mass_proportional),
              MECH_FIELDS(fields)},
    .ops.load = &ops,
};
