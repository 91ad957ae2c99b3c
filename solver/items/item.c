/* The registry of item types, and the names of categories, outputs and configurations. */
#include "solver/items/item.h"

#include "solver/items/ops.h"

#include <string.h>

#define MECH_ITEM(family, name) extern const struct mech_item_type mech_item_##family##_##name;
#include "solver/items/items.def"
#undef MECH_ITEM

const struct mech_item_type *const mech_item_types[] = {
#define MECH_ITEM(family, name) &mech_item_##family##_##name,
#include "solver/items/items.def"
#undef MECH_ITEM
    NULL,
};

const char *const mech_configuration_names[] = {
    [MECH_CURRENT] = "current",   [MECH_REFERENCE] = "reference",
    [MECH_INITIAL] = "initial",   [MECH_START_OF_STEP] = "startOfStep",
    [MECH_CONFIGURATIONS] = NULL,
};

const char *const mech_output_names[] = {
#define MECH_OUTPUT(symbol, text, unit, kinematic, doc) text,
#include "solver/items/outputs.def"
#undef MECH_OUTPUT
    NULL,
};

static const char *const output_units[] = {
#define MECH_OUTPUT(symbol, text, unit, kinematic, doc) unit,
#include "solver/items/outputs.def"
#undef MECH_OUTPUT
};

static const enum mech_kinematic output_kinematics[] = {
#define MECH_OUTPUT(symbol, text, unit, kinematic, doc) MECH_KINEMATIC_##kinematic,
#include "solver/items/outputs.def"
#undef MECH_OUTPUT
};

const char *mech_items_hint(struct mech_guess *g, const char *name, const struct mech_items *items)
{
    *g = (struct mech_guess){.text = name};
    for (size_t i = 0; items && i < items->n && i < MECH_GUESS_MOST; i++) {
        if (items->at[i].name) {
            mech_guess_try(g, items->at[i].name);
        }
    }
    return mech_guess_hint(g);
}

const char *mech_category_name(enum mech_category category)
{
    static const char *const names[] = {
        [MECH_NODE] = "nodes", [MECH_OBJECT] = "objects", [MECH_MARKER] = "markers",
        [MECH_LOAD] = "loads", [MECH_SENSOR] = "sensors", [MECH_RELATION] = "relation",
        [MECH_LAW] = "law",    [MECH_SHAPE] = "geometry",
    };

    return names[category];
}

const char *mech_category_key(enum mech_category category)
{
    return category == MECH_SHAPE ? "shape" : "type";
}

bool mech_category_named(enum mech_category category)
{
    return category < MECH_RELATION || category == MECH_SHAPE;
}

const struct mech_item_type *mech_item_type_find(enum mech_category category, const char *name)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        if ((*t)->category == category && strcmp((*t)->name, name) == 0) {
            return *t;
        }
    }
    return NULL;
}

const char *mech_output_name(enum mech_output variable)
{
    return mech_output_names[variable];
}

const char *mech_output_unit(enum mech_output variable)
{
    return output_units[variable];
}

enum mech_kinematic mech_output_kinematic(enum mech_output variable)
{
    return output_kinematics[variable];
}

int mech_output_find(const char *name)
{
    for (int i = 0; i < MECH_OUTPUT_COUNT; i++) {
        if (strcmp(mech_output_names[i], name) == 0) {
            return i;
        }
    }
    return -1;
}
