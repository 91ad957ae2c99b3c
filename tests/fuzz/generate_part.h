/* What grows a document: values of fields, tables and items; the caller decrefs what is loose. */
#pragma once

#include "tests/fuzz/generate.h"

enum { GENERATE_SIZES = 4, GENERATE_NAME = 40 };

/* The type that an item names, or NULL. */
const struct mech_item_type *generate_type_of(enum mech_category category, const json_t *item);
/* A type of a category, of a kind in the mask. */
const struct mech_item_type *generate_any_type(struct generate *g, enum mech_category category,
                                               uint32_t mask);
/* The list of the document, which is made where there is none. */
json_t *generate_list_of(struct generate *g, const char *key);
/* A new named item at the end of its list. Its name, or NULL. */
const char *generate_item(struct generate *g, const struct mech_item_type *type);
/* An item without a name. */
json_t *generate_loose_item(struct generate *g, const struct mech_item_type *type);
/* The markers that references of a type's items may name, mostly. */
uint32_t generate_markers(struct generate *g, const struct mech_item_type *type);
json_t *generate_field(struct generate *g, const struct mech_field *f,
                       const struct mech_table *table, uint32_t mask);
/* Of optional fields some; `mask` is of the markers that its references may name. */
json_t *generate_table(struct generate *g, const struct mech_table *table, uint32_t mask);
