/* Internals of the reader: one value of a document at a time, faults collected. Used only by
 * read*.c. Every function returns 0 or a negative value; faults of the input go to `diag`. owner:
 * one request.
 */
#pragma once

#include "protocol/bind/bind.h"

enum {
    MECHP_BIND_EXPRESSION = 4096,   /* longest expression, bytes */
    MECHP_BIND_EXPRESSIONS = 20000, /* most expressions of a document; each is a compiled program */
    MECHP_BIND_EXPRESSIONS_TEXT = 2000000, /* most bytes of all of them: each is parsed */
    MECHP_BIND_STRING = 1024,              /* longest string, bytes */
    MECHP_BIND_ORDER = 2000000,            /* most rows or columns of a matrix */
};

struct mechp_reader {
    struct mech_document *document;
    struct mech_path *path;
    struct mech_diag *diag;
    size_t base;        /* length of the prefix of the document's own paths */
    size_t expressions; /* met so far */
    size_t text;        /* bytes of them; MECHP_BIND_EXPRESSIONS_TEXT + 1: too many, reported */
    size_t harmless;    /* faults that left the document complete: with an admissible value */
};

/* A fault at the current place. */
#define MECHP_FAULT(r, ...) mech_diag_add((r)->diag, (r)->path->text, __VA_ARGS__)

/* "a number", "a string", … for messages. */
const char *mechp_reader_kind(const json_t *value);

/* The text after the "=" if the value is a well-formed expression; NULL if it is not an expression;
 * NULL and *bad if it is a malformed one (a fault was added). */
const char *mechp_reader_expression(struct mechp_reader *r, const json_t *value, bool *bad);

/* A finite number in the field's range. False: a fault was added. */
bool mechp_reader_plain(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                        double *out);

/* True when it is an array of exactly `count` elements ("numbers", "names"); otherwise a fault. */
bool mechp_reader_array(struct mechp_reader *r, const json_t *value, size_t count,
                        const char *what);

/* Append a name to a list with commas; "…" replaces all names that do not fit. */
void mechp_reader_list(char *list, size_t size, const char *name);

/* One function a kind (enum mech_kind); `at`: the member of the field. */
typedef int mechp_read_kind(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                            void *at);
mechp_read_kind mechp_read_bool, mechp_read_int, mechp_read_real, mechp_read_reals,
    mechp_read_vector, mechp_read_values, mechp_read_formula; /* read_numbers.c */
mechp_read_kind mechp_read_matrix; /* read_matrix.c: four written forms */
mechp_read_kind mechp_read_string, mechp_read_choice, mechp_read_ref, mechp_read_refs,
    mechp_read_struct, mechp_read_structs, mechp_read_shared,
    mechp_read_parameters;                            /* read_names.c */
mechp_read_kind mechp_read_items, mechp_read_variant; /* read_items.c */

/* All keys of an object into the members of `at`; `item`: the key of an item's type, which with its
 * name is not the table's; NULL: it is not an item. Unknown and missing keys are faults. */
int mechp_reader_table(struct mechp_reader *r, const json_t *object, const struct mech_table *table,
                       void *at, const char *item);

/* One value into the member of a field. */
int mechp_reader_field(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                       void *at);

/* Faults for references to names that no item has: the faults that mech_sim_create would report if
 * reading had succeeded, so that all faults are reported together. */
int mechp_reader_dangling(struct mechp_reader *r);
