/* The names of scopes. */
#include "protocol/wire/scopes.h"

#include <stddef.h>

#define NAME(symbol, name) name,
const char *const mechp_scope_names[] = {"none", MECHP_SCOPES(NAME, NAME) NULL};
