/* Bodies of requests and replies that are not models: their members, for OpenAPI and for tests.
 *
 * A type is written in a small language: "number", "integer", "string", "boolean", "object", "any",
 * "null", "@Name" (a schema), "'word'" (a constant); "[]" behind it: an array of it; "{}": an
 * object whose members all have it; "|" between types: any of them.
 */
#pragma once

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

/* All shapes, closed by a NULL name. */
extern const struct mechp_shape mechp_shapes[];

/* What a route takes and answers. */
struct mechp_route_doc {
    const char *request; /* type of the JSON body, NULL: none */
    bool optional;       /* the body may be left out */
    int status;          /* of success */
    const char *reply;   /* type of the JSON reply; NULL: `content` is something else, or nothing */
    const char *content; /* media type of the reply, NULL: none */
    const char *also;    /* other media types of the reply, with spaces between, or NULL */
    const char *takes;   /* another media type that is taken as a body, or NULL */
    const char *query;   /* query parameters "name:type name:type", or NULL */
    const int *codes; /* errors beyond those of its kind (enum mechp_code), closed by 0, or NULL */
};

/* By enum mechp_route_id; a route that is not described there takes and answers any object. */
const struct mechp_route_doc *mechp_route_doc(int route);
