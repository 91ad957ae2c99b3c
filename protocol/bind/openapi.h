/* Pieces of the OpenAPI document. Internal to protocol/bind. owner: one request; any thread. */
#pragma once

#include "protocol/wire/row.h"
#include "protocol/wire/text.h"

/* The member "schema" of a type of the small language (wire/row.h). */
void mechp_openapi_schema(struct mechp_text *w, const char *type, size_t length);
/* A value that is JSON already. */
void mechp_openapi_raw(struct mechp_text *w, const char *key, const char *json);

/* The member "paths": one operation a route. */
void mechp_openapi_paths(struct mechp_text *w);
/* Refusals that several routes share, as members of the open components. */
void mechp_openapi_refusals(struct mechp_text *w);
/* True if some route can refuse with this code. */
bool mechp_openapi_refuses(int code);

/* A recorded answer, JSON, or NULL: `kind` "reply" with a route's symbol, or "problem" with a
 * code. Recorded from the daemon by tests/integration/test_openapi_walk.py --write. */
const char *mechp_recorded(const char *kind, const char *name);
