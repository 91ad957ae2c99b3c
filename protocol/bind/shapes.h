/* Bodies of requests and replies that are not models: their members, for OpenAPI and for tests.
 *
 * A type is written in a small language: "number", "integer", "string", "boolean", "object", "any",
 * "null", "@Name" (a schema), "'word'" (a constant); "[]" behind it: an array of it; "{}": an
 * object whose members all have it; "|" between types: any of them.
 */
#pragma once

#include "protocol/wire/routes.h"

#include <stdbool.h>
#include <stddef.h>

struct mechp_shape_member {
    const char *name;
    const char *type;
    const char *doc;
    bool required;
};

struct mechp_shape {
    const char *name;
    const char *doc;
    const struct mechp_shape_member *members; /* closed by a NULL name */
    bool request;                             /* unknown members are refused; replies may grow */
    const char *example;                      /* JSON, or NULL */
};

/* The shape i, from 0, or NULL after the last (shapes.c; those about the descriptor stand in
 * shapes_system.c). */
const struct mechp_shape *mechp_shape_at(int i);
const struct mechp_shape *mechp_shape_of_system(int i);
/* The shape that a type "@Name", "@Name[]", "@Name|…" begins with, or NULL. */
const struct mechp_shape *mechp_shape_named(const char *type);

/* Members of a shape, closed. */
#define MECHP_MEMBERS(...)                                                                         \
    ((const struct mechp_shape_member[]){__VA_ARGS__, {NULL, NULL, NULL, false}})

/* What a route asks for and does. Without any: a GET wants the scope read, everything else the
 * scope step, and changes what its path names. */
enum mechp_route_traits {
    MECHP_DOC_OPEN = 1u << 0,      /* needs no token */
    MECHP_DOC_ADMIN = 1u << 1,     /* wants the scope admin */
    MECHP_DOC_ASKS = 1u << 2,      /* changes nothing, though it is a POST */
    MECHP_DOC_WHILE_RUN = 1u << 3, /* a change that is allowed while a run is in progress */
    MECHP_DOC_NO_QUEUE = 1u << 4,  /* does not wait for the instance of its path */
    MECHP_DOC_STORES = 1u << 5,    /* beside changes of an instance: its work goes to the disk */
    MECHP_DOC_BY_PARTS = 1u << 6,  /* the scope read, and what each thing wants that it is about */
    MECHP_DOC_FILE = 1u << 7,      /* a file with an ETag of its own: If-None-Match, 304 */
    MECHP_DOC_FLEETING = 1u << 8,  /* a change of an instance that does not go to the disk */
    MECHP_DOC_UNLEASED = 1u << 9,  /* a change of an instance that asks no holder's leave */
    MECHP_DOC_AT_ONCE = 1u << 10,  /* no GET, but never waits: no use to prefer an answer later */
};

/* What a route takes and answers. */
struct mechp_route_doc {
    unsigned traits;
    const char *request; /* type of the JSON body, NULL: none */
    bool optional;       /* the body may be left out */
    int status;          /* of success */
    const char *reply;   /* type of the JSON reply; NULL: `content` is something else, or nothing */
    const char *content; /* media type of the reply, NULL: none */
    const char *also;    /* other media types of the reply, with spaces between, or NULL */
    const char *takes;   /* other media types that are taken as a body, or NULL */
    const char *query;   /* query parameters "name:type name:type", or NULL */
    const int *codes;    /* errors beyond those of its kind (mechp_route_codes), closed by 0 */
};

/* By enum mechp_route_id; a route that is not described there takes and answers any object. */
const struct mechp_route_doc *mechp_route_doc(int route);

/* What it is for, by enum mechp_route_id; texts are "" for a route that is not described. */
struct mechp_route_text {
    const char *tag; /* a name of mechp_tags */
    const char *doc; /* sentences for people */
};
const struct mechp_route_text *mechp_route_text(int route);

/* Groups of routes, in the order in which they are shown; closed by a NULL name. */
struct mechp_tag {
    const char *name, *doc;
};
extern const struct mechp_tag mechp_tags[];

/* A parameter of path or query; NULL when it is not described. `path`: the route's. */
struct mechp_parameter {
    const char *name;
    const char *within;  /* part of the paths that it is meant for; NULL: any */
    const char *doc;     /* for people */
    const char *example; /* JSON */
};
const struct mechp_parameter *mechp_parameter(const char *name, size_t length, const char *path);

enum { MECHP_ROUTE_CODES = 48 };
/* Every code that a route can refuse with over HTTP (enum mechp_code), each once; what any route
 * answers when the server itself fails is not among them. Returns how many. */
size_t mechp_route_codes(const struct mechp_route *route, int codes[MECHP_ROUTE_CODES]);

/* True if it has an instance in its path that must exist. */
bool mechp_route_on_instance(const struct mechp_route *route);
/* True if it changes something: what a key makes idempotent. */
bool mechp_route_changes(const struct mechp_route *route);
/* Scope of the token it wants: "read", "step", "admin", or NULL: none. */
const char *mechp_route_scope(const struct mechp_route *route);

/* A recorded answer, JSON, or NULL: `kind` "reply" with a route's symbol, or "problem" with a
 * code. Recorded from the daemon by tests/integration/test_openapi_walk.py --write. */
const char *mechp_recorded(const char *kind, const char *name);
/* Symbol of a route in routes.def: "GET_STATE". */
const char *mechp_route_symbol(const struct mechp_route *route);
