/* Items: the parts of a model, and the registry of their types.
 *
 * A type is one file and one line in items.def. Its table names the C struct of its description
 * (the document's data), and the operations with which the model compiles descriptions into
 * contiguous records per type and evaluates them in batches (see ops.h). An item knows its own
 * coordinates and fills local blocks, never a global matrix.
 */
#pragma once

#include "solver/base/diag.h"
#include "solver/base/field.h"
#include "solver/base/guess.h"
#include "solver/linalg/mat.h"

enum mech_category {
    MECH_NODE,
    MECH_OBJECT,
    MECH_MARKER,
    MECH_LOAD,
    MECH_SENSOR,
    MECH_RELATION,
    MECH_LAW,
    MECH_SHAPE,
    MECH_CATEGORIES
};

/* "nodes", "objects", … as the document's lists are called; RELATION and LAW: "relation", "law";
 * SHAPE: "geometry", a list of each body. */
const char *mech_category_name(enum mech_category category);
/* The key of an item's type: "type", for a shape "shape". */
const char *mech_category_key(enum mech_category category);
/* Whether its items have names: not those nested in others. */
bool mech_category_named(enum mech_category category);

struct mech_node_ops;
struct mech_object_ops;
struct mech_marker_ops;
struct mech_load_ops;
struct mech_sensor_ops;
struct mech_relation_ops;
struct mech_law_ops;
struct mech_shape_ops;

struct mech_item_type {
    const char *name; /* as the document's "type" */
    enum mech_category category;
    struct mech_table table; /* fields of the description, without name and type */
    /* the description alone, beyond the ranges of its fields: inertia positive, sizes agree …
     * Adds faults to d under `path`. May be NULL. */
    void (*check)(const void *description, const char *path, struct mech_diag *d);
    union {
        const struct mech_node_ops *node;
        const struct mech_object_ops *object;
        const struct mech_marker_ops *marker;
        const struct mech_load_ops *load;
        const struct mech_sensor_ops *sensor;
        const struct mech_relation_ops *relation;
        const struct mech_law_ops *law;
        const struct mech_shape_ops *shape;
    } ops; /* by category */
};

/* All types, in the order of items.def, closed by NULL. */
extern const struct mech_item_type *const mech_item_types[];

/* The type of that name in that category, or NULL. */
const struct mech_item_type *mech_item_type_find(enum mech_category category, const char *name);

/* One item of a document: its type, its name, its description (type->table.size bytes). */
struct mech_item {
    const struct mech_item_type *type;
    const char *name; /* NULL for a nested item (relation, law), or a shape without one */
    void *description;
};

struct mech_items {
    struct mech_item *at; /* [n] */
    size_t n;
};

/* What a message about a name that none of them has ends with (mech_guess_hint). */
const char *mech_items_hint(struct mech_guess *g, const char *name, const struct mech_items *items);

/* Output variables: names on the wire, numbers only inside. */
#define MECH_OUTPUT(symbol, text, unit, kinematic, doc) MECH_OUTPUT_##symbol,
enum mech_output {
#include "solver/items/outputs.def"
    MECH_OUTPUT_COUNT
};
#undef MECH_OUTPUT

const char *mech_output_name(enum mech_output variable);
const char *mech_output_unit(enum mech_output variable);

/* What of a motion a value is: angles and their rates belong to the two. */
enum mech_kinematic {
    MECH_KINEMATIC_NONE, /* neither, or not known */
    MECH_KINEMATIC_DISPLACEMENT,
    MECH_KINEMATIC_VELOCITY
};
/* Of coordinates: those of second order. */
enum mech_kinematic mech_output_kinematic(enum mech_output variable);
/* The variable of that name, or -1. */
int mech_output_find(const char *name);

enum mech_configuration {
    MECH_CURRENT,
    MECH_REFERENCE,
    MECH_INITIAL,
    MECH_START_OF_STEP,
    MECH_CONFIGURATIONS
};
/* "current", "reference", "initial", "startOfStep". */
extern const char *const mech_configuration_names[]; /* closed by NULL */
