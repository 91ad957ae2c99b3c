/* The reader's inside: one value of a document at a time, faults collected. Used by read*.c alone.
 * Every function returns 0 or a negative value; what is wrong with the input goes to `diag`.
 * owner: one request.
 */
#pragma once

#include "protocol/bind/bind.h"

enum {
    MECHP_BIND_EXPRESSION = 4096, /* longest expression, bytes */
    MECHP_BIND_STRING = 1024,     /* longest string, bytes */
    MECHP_BIND_ORDER = 1 << 24,   /* most rows or columns of a matrix */
};

struct mechp_reader {
    struct mech_document *document;
    struct mech_path *path;
    struct mech_diag *diag;
};

/* A fault at the current place. */
#define MECHP_FAULT(r, ...) mech_diag_add((r)->diag, (r)->path->text, __VA_ARGS__)

/* "a number", "a string", … for messages. */
const char *mechp_reader_kind(const json_t *value);

/* The text behind the "=" if the value is a well-formed expression; NULL if it is no expression;
 * NULL and *bad when it is a bad one (a fault was added). */
const char *mechp_reader_expression(struct mechp_reader *r, const json_t *value, bool *bad);

/* A finite number in the field's range. False: a fault was added. */
bool mechp_reader_plain(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        double *out);

/* A number, or an expression that is bound to *target. */
int mechp_reader_number(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        double *target);

/* A matrix in any of its four written forms. */
int mechp_reader_matrix(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        struct mech_mat *out);

/* All keys of an object into the members of `at`; `named`: name and type belong to an item and are
 * not the table's. Unknown and missing keys are faults. */
int mechp_reader_table(struct mechp_reader *r, const json_t *object, const struct mech_table *table,
                       void *at, bool item);

/* Items: a list, or a nested one without name. */
int mechp_reader_items(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       struct mech_items *out);
int mechp_reader_variant(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                         struct mech_item *out);

/* Faults for references to names that no item has: what mech_sim_create would find, had the reading
 * succeeded, so that all faults are told at once. */
int mechp_reader_dangling(struct mechp_reader *r);
