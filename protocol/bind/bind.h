/* Between model documents and JSON: one generic walk over the field tables, both ways.
 * owner: one request; any thread.
 */
#pragma once

#include "protocol/wire/text.h"
#include "solver/base/guess.h"
#include "solver/sim/mech.h"

#include <jansson.h>

/* Read a model (a parsed JSON value) into a fresh document. Every fault goes to `diag` with its
 * JSON pointer, prefixed by `base` ("" or "/model"): unknown keys, missing keys, wrong types,
 * ranges, malformed or duplicate names, matrices of the wrong shape, expressions outside their
 * place. 0; MECH_INVALID (diag gives the reason; *out is NULL); negative. References are resolved
 * by mech_sim_create, whose faults are included as well if reading failed but the rest could be
 * checked. */
int mechp_bind_read(const json_t *model, const char *base, struct mech_diag *diag,
                    struct mech_document **out);

/* Fault of a parameter that is given as an expression. */
#define MECHP_NO_EXPRESSION                                                                        \
    "must be a number, is an expression: use it where an item uses the parameter, such as "        \
    "\"stiffness\": \"=2*k\""

/* Write a document as JSON: given values, without defaults, expressions as written. Reading it back
 * gives the same document to the bit. */
void mechp_bind_write(const struct mech_document *document, struct mechp_text *w);

/* Read one JSON value into the field of a struct (also used for settings outside models). */
int mechp_bind_read_table(const json_t *object, const struct mech_table *table, void *at,
                          struct mech_document *document, struct mech_path *path,
                          struct mech_diag *diag);

/* A field of an item of a live model, or of an interaction. */
struct mechp_edit_query {
    enum mech_category category;
    bool interaction; /* it is one of the document's, and the category is not read */
    const char *name, *field;
    const json_t *value; /* as in a document */
    bool assembled;      /* positions are corrected to satisfy an activated joint */
};
/* Set it and rebuild the model; the state continues. Faults have the document's pointers. 0;
 * MECH_NOT_FOUND (no such item or field); MECH_INVALID (diag gives the reason); negative; then
 * nothing changed. Arrays that it replaces remain in the document's memory until the instance is
 * destroyed. `before`, unless NULL: what the edit has replaced, the caller's. */
struct mechp_edited;
int mechp_bind_edit(struct mech_sim *sim, const struct mechp_edit_query *query,
                    struct mech_diag *diag, struct mechp_edited **before);
/* The fields of an interaction; NULL: there is none of that name, and what was probably meant is in
 * the guess. */
const struct mech_table *mechp_bind_interaction(const struct mech_sim *sim, const char *name,
                                                struct mech_guess *guess);
/* Put back what an edit of this simulation has replaced, those after it first. Needs no memory; a
 * snapshot of the model as it is then must be read next (mech_sim_edit_undo). */
void mechp_bind_edit_undo(struct mech_sim *sim, struct mechp_edited *before);
/* Whether undoing the older edit undoes the newer one too. */
bool mechp_edited_covers(const struct mechp_edited *older, const struct mechp_edited *newer);
void mechp_edited_destroy(struct mechp_edited *e); /* accepts NULL */
/* The field's value as in a document; null when there is none. */
void mechp_bind_write_field(const struct mech_sim *sim, const struct mechp_edit_query *query,
                            struct mechp_text *w);

/* GET /v1/types and /v1/types/{type}: categories, fields, units, ranges, defaults, outputs. */
void mechp_bind_types(struct mechp_text *w);
/* MECH_NOT_FOUND: no such type; the nearest one is in the guess. */
int mechp_bind_type(const char *name, struct mech_guess *guess, struct mechp_text *w);

/* JSON Schema (2020-12) of the model document, from the tables. */
void mechp_bind_schema(struct mechp_text *w);
/* OpenAPI 3.1 of the daemon, from routes.def, codes.def and the schema. */
void mechp_bind_openapi(struct mechp_text *w);

/* A document printed from the tables, identical to its committed copy in the tree, with a newline
 * at its end: "openapi" (protocol/openapi.json), "schema" (protocol/schema/model.schema.json),
 * "types" (JSON), "errors" (the table of protocol/README.md). MECH_NOT_FOUND: no such document.
 * What `mechd --print WHAT` prints. */
int mechp_bind_print(const char *what, struct mechp_text *w);
