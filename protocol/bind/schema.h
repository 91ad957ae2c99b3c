/* JSON Schemas (2020-12) printed from the field tables; used by schema.c and openapi.c.
 * owner: one request; any thread.
 */
#pragma once

#include "protocol/bind/bind.h"
#include "solver/sim/problem.h"

/* One member for each type and structure of a model ("Model", "Mass1D", "Matrix", …) into the open
 * object; references begin with `prefix` ("#/$defs/"). */
void mechp_schema_definitions(struct mechp_text *w, const char *prefix);

/* The same for problems that stand alone ("LoneProblem"), beside those of a model. */
void mechp_schema_problem(struct mechp_text *w, const char *prefix);

/* `"key": "value"`. */
