/* Routes: one list (routes.def) for the HTTP router, ZeroMQ's operations, OpenAPI and the tests.
 *
 *   struct mechp_match m;
 *   const int code = mechp_route_match("GET", "/v1/instances/i-1/state", &m);
 *   if (code == 0) { m.route->id == MECHP_ROUTE_GET_STATE; mechp_match_value(&m, "id") is "i-1" }
 *   if (code == MECHP_METHOD_NOT_ALLOWED) { m.allow is "GET, HEAD, PUT" }
 *
 * No allocation; any thread.
 */
#pragma once

#include "protocol/wire/codes.h"

#include <stdbool.h>
#include <stddef.h>

#define MECHP_ROUTE(symbol, method, path, operation, summary) MECHP_ROUTE_##symbol,
enum mechp_route_id {
#include "protocol/wire/routes.def"
    MECHP_ROUTES
};
#undef MECHP_ROUTE

struct mechp_row;

struct mechp_route {
    enum mechp_route_id id;
    const char *method;
    const char *path;      /* template: "/v1/instances/{id}" */
    const char *operation; /* name over ZeroMQ, "" if it has none */
    const char *summary;
    const char *symbol;          /* "GET_STATE" */
    const struct mechp_row *row; /* its other properties (row.h) */
};

enum { MECHP_MATCH_PARAMETERS = 4, MECHP_MATCH_VALUE = 128, MECHP_MATCH_ALLOW = 64 };

/* The longest path for which another one is suggested. */
enum { MECHP_MATCH_PATH = 160 };

struct mechp_match {
    const struct mechp_route *route;
    int count; /* parameters found */
    struct mechp_match_parameter {
        char name[32];                 /* as in the template, without braces */
        char value[MECHP_MATCH_VALUE]; /* percent-decoded */
    } parameters[MECHP_MATCH_PARAMETERS];
    char allow[MECHP_MATCH_ALLOW]; /* for METHOD_NOT_ALLOWED: the methods of this path */
};

/* Find the route of a method and a path (without query). HEAD is accepted wherever GET is. 0;
 * MECHP_ROUTE_NOT_FOUND; MECHP_METHOD_NOT_ALLOWED (out->allow); MECHP_MALFORMED_REQUEST (a broken
 * percent escape, or one that hides a slash, a control byte or more than ASCII). */
int mechp_route_match(const char *method, const char *path, struct mechp_match *out);
/* The methods accepted by any path, in out->allow. */
void mechp_route_methods(struct mechp_match *out);
/* The path that was probably meant by one without a route, in out [size]: the path if there is an
 * extra slash or the base is missing, the template if words are misspelled; of several that are
 * equally close one with the method. False: none. */
bool mechp_route_closest(const char *method, const char *path, char *out, size_t size);
/* The template of this method that the path, which has no route of it, lacks an id of: one between
 * two slashes or behind the last one; NULL: none. */
const char *mechp_route_lacking(const char *method, const char *path);
/* The operation that was probably meant, or NULL. */
const char *mechp_operation_closest(const char *name);

/* Value of a path parameter, or NULL. */
const char *mechp_match_value(const struct mechp_match *m, const char *name);

/* Route of a ZeroMQ operation, or NULL. */
const struct mechp_route *mechp_route_of_operation(const char *operation);

/* The i-th route of the list, or NULL past its end. */
const struct mechp_route *mechp_route_at(int i);

/* Decode %XX in `length` bytes of text; at most size − 1 bytes and a NUL are written. False: broken
 * escape, a NUL inside, or too long. '+' stays '+'. */
bool mechp_percent_decode(const char *text, size_t length, char *out, size_t size);
