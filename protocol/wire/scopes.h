/* Scopes of tokens: what a token may do. Each includes those before it. The only list of them:
 * admission, the file of tokens, the rows, OpenAPI and /docs read it.
 *
 *   mechp_scope_names[MECHP_SCOPE_FMU] is "fmu"
 *
 * READ sees everything and changes nothing; STEP also creates, steps, changes and deletes
 * instances; FMU also uploads and deletes FMUs, which are programs; ADMIN also changes the server.
 */
#pragma once

/* FIRST for the smallest, then NEXT for each of the others: symbol and name. */
#define MECHP_SCOPES(FIRST, NEXT)                                                                  \
    FIRST(READ, "read") NEXT(STEP, "step") NEXT(FMU, "fmu") NEXT(ADMIN, "admin")

#define MECHP_SCOPE_SYMBOL(symbol, name) MECHP_SCOPE_##symbol,
enum mechp_scope { MECHP_SCOPE_NONE, MECHP_SCOPES(MECHP_SCOPE_SYMBOL, MECHP_SCOPE_SYMBOL) };
#undef MECHP_SCOPE_SYMBOL

/* Their names with commas between, with blanks, and as the words of a type (row.h). */
#define MECHP_SCOPE_NAME(symbol, name) name
#define MECHP_SCOPE_AFTER_COMMA(symbol, name) "," name
#define MECHP_SCOPE_AFTER_BLANK(symbol, name) " " name
#define MECHP_SCOPE_AFTER_BAR(symbol, name) "|'" name "'"
#define MECHP_SCOPES_LIST MECHP_SCOPES(MECHP_SCOPE_NAME, MECHP_SCOPE_AFTER_COMMA)
#define MECHP_SCOPES_WORDS MECHP_SCOPES(MECHP_SCOPE_NAME, MECHP_SCOPE_AFTER_BLANK)
#define MECHP_SCOPES_TYPE "'none'" MECHP_SCOPES(MECHP_SCOPE_AFTER_BAR, MECHP_SCOPE_AFTER_BAR)

/* "none", and the names by their values; closed by NULL. */
extern const char *const mechp_scope_names[];
