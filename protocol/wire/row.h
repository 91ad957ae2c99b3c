/* Rows of routes: body, reply, requirements and description of a route, written down once
 * (routes/<group>.c, one row a route). Admission and scheduling in the server, the keys that a body
 * may have, the names of a query, OpenAPI, /docs and the clients walk these rows. Plain data; any
 * thread.
 *
 *   const struct mechp_row *row = mechp_route_at(MECHP_ROUTE_STEP)->row;
 *   row->body->members[0].name is "size"
 *
 * A type is written in a small language: "number", "integer", "integer 1..9" (both included) or
 * "integer 1.." and likewise for numbers of a query, "string", "boolean", "object", "any", "null",
 * "@Name" (a schema), "'word'" (a constant); "[]" after it: an array of it; "{}": an object whose
 * members all have it; "|" between types: any of them.
 */
#pragma once

#include "protocol/wire/json.h"
#include "protocol/wire/routes.h"
#include "protocol/wire/scopes.h"

#include <stdbool.h>
#include <stddef.h>

enum { MECHP_TAKES = 4, MECHP_QUERIES = 10, MECHP_MEMBERS_MOST = 16 /* of a request */ };

/* A member of a body. */
struct mechp_member {
    const char *name;
    const char *type;
    const char *doc; /* description */
    unsigned field; /* 0 or 1 (required), and the place in a struct: MECHP_IN, MECHP_MAY (body.h) */
};

/* A parameter of path or query: a key of its own over ZeroMQ. */
struct mechp_parameter {
    const char *name;
    const char *type;
    const char *doc;     /* description */
    const char *example; /* JSON */
    unsigned field;      /* the place in a struct: MECHP_ASKED (queries.h), or 0 */
};

/* A body of a request or a reply that is not a model. */
struct mechp_shape {
    const char *name;
    const char *doc;
    const struct mechp_member *members; /* closed by a NULL name */
    bool request;                       /* unknown members are refused; replies may grow */
    const char *example;                /* JSON, or NULL */
};

/* True if the member must be there. */
static inline bool mechp_member_required(const struct mechp_member *m)
{
    return (m->field & 1u) != 0;
}
/* The shape i, from 0, or NULL after the last. */
const struct mechp_shape *mechp_shape_at(int i);
/* The shape that a type "@Name", "@Name[]", "@Name|…" begins with, or NULL. */
const struct mechp_shape *mechp_shape_named(const char *type);
/* A fault at "<base>/<key>" for each member of the object that is not one of the shape. */
void mechp_shape_only(const json_t *object, const char *base, const struct mechp_shape *shape,
                      struct mech_diag *d);
/* A body without members. */
extern const struct mechp_shape mechp_empty;

/* Members, closed. */
#define MECHP_MEMBERS(...) ((const struct mechp_member[]){__VA_ARGS__, {NULL, NULL, NULL, 0}})
#define MECHP_QUERY(...)                                                                           \
    ((const struct mechp_parameter[]){__VA_ARGS__, {NULL, NULL, NULL, NULL, 0}})
/* Codes, closed. */
#define MECHP_CODES(...) ((const int[]){__VA_ARGS__, 0})

/* The required scope. */
enum mechp_access {
    MECHP_BY_EFFECT, /* the scope read if it changes nothing, else step */
    MECHP_OPEN,      /* needs no token */
    MECHP_ADMIN,     /* the scope admin */
    MECHP_UPLOADS,   /* the scope fmu */
    MECHP_BY_PARTS   /* the scope read, and the scopes required by its parts */
};

/* Its effect on the instance of its path, or on the server. Only the first two are changes: they
 * are refused during shutdown, and executed once for an idempotency key. */
enum mechp_effect {
    MECHP_CHANGES, /* in queue order */
    MECHP_BESIDE,  /* changes no state: may run between slices of a command */
    MECHP_ASKS,    /* changes nothing, but needs exclusive use of the instance */
    MECHP_READS    /* changes nothing: may run between slices of a command */
};

/* Its duration, as far as known in advance. */
enum mechp_cost {
    MECHP_COST_SHORT,   /* or set by the operation itself: on the carrying thread */
    MECHP_COST_BY_SIZE, /* grows with the state */
    MECHP_COST_UNKNOWN  /* in the pool, never on the carrying thread */
};

enum mechp_trait {
    MECHP_OF_MODEL = 1u << 0,     /* needs a model of the solver: other engines have none */
    MECHP_WHILE_RUN = 1u << 1,    /* a change that is allowed while a run is in progress */
    MECHP_STATELESS = 1u << 2,    /* READS, BESIDE: also while a command leaves its state open */
    MECHP_UNLEASED = 1u << 3,     /* a change that does not need a lease: rules of its own */
    MECHP_SETS_INPUTS = 1u << 4,  /* changes inputs only: a co-driver may, by their names */
    MECHP_STOPPABLE = 1u << 5,    /* its slices check whether it must end */
    MECHP_TELLS_ALL = 1u << 6,    /* names of the body are looked up later: the operation adds
                                     to the faults found before, and then changes nothing */
    MECHP_TAKES_MODELS = 1u << 7, /* a body of up to 64 MiB instead of 1 MiB */
    MECHP_NO_QUEUE = 1u << 8,     /* does not wait for the instance of its path */
    MECHP_STORES = 1u << 9,       /* besides changes of an instance: its work is stored on disk, or
                                     that of the coupling before it */
    MECHP_FILE = 1u << 10,        /* a file with an ETag of its own: If-None-Match, 304 */
    MECHP_FLEETING = 1u << 11,    /* a change of an instance that is not stored on disk */
    MECHP_AT_ONCE = 1u << 12,     /* not a GET, but never waits: a deferred answer is useless */
    MECHP_OF_COUPLING =
        1u << 13,            /* waits for the coupling of its path, as others for an instance */
    MECHP_CLOSES = 1u << 14, /* a change that works long before its effect, and can be cancelled
                                     until its operation closes the call (mechd_call_close) */
    MECHP_PROBE = 1u << 15,  /* also answered on a connection beyond the limits */
    MECHP_LIVE = 1u << 16,   /* the reply is live events (HTTP only), which have no end */
    MECHP_FOLLOWS_RUN = 1u << 17, /* the reply is the events of a run (HTTP only), until it ends */
    MECHP_NAMES_NEW = 1u << 18    /* makes the instance of its path, which need not exist */
};

/* What surrounds the call by curl in /docs, so that the calls work in the order of the page. Each
 * may be NULL. */
struct mechp_shown {
    const char *before;  /* in front of it */
    const char *options; /* with a blank behind each */
    const char *body;    /* options that send it, in place of the row's example, likewise */
    const char *after;
    const char *id; /* of the instance, in place of the usual one */
};
#define MECHP_SHOWN(...) (&(const struct mechp_shown){__VA_ARGS__})
/* The server in these calls. */
#define MECHP_SERVER "http://127.0.0.1:8080"

struct mechp_row {
    const char *tag; /* a name of mechp_tags */
    const char *doc; /* description, in sentences */
    enum mechp_access access;
    enum mechp_effect effect;
    enum mechp_cost cost;
    unsigned traits;                /* enum mechp_trait */
    const struct mechp_shape *body; /* of the JSON body, NULL: none */
    const char *named;              /* type of the members of a body that has names of its own in
                                        place of the shape's, or NULL */
    bool optional;                  /* the body may be omitted */
    const char *of_id;              /* where the id belongs that a body gives by `id`, which it does
                                       not have; NULL: in the path, if that has one */
    const char *of_name;            /* the same for `name` */
    const char *takes[MECHP_TAKES]; /* other media types of bodies, closed by NULL */
    const struct mechp_parameter *query; /* closed by a NULL name, MECHP_QUERIES at most; or NULL */
    int status; /* of success; 204 with a reply: that, or 200 where there is something to reply */
    const char *reply;   /* type of the JSON reply; NULL: there is none */
    const char *content; /* media type of the reply, NULL: none; of a 200 where `status` is 204 */
    const char *also;    /* other media types of the reply, with spaces between, or NULL */
    const int *codes;    /* errors beyond those of its kind (mechp_route_codes), closed by 0 */
    const struct mechp_shown *shown; /* its call in /docs, or NULL */
};

/* The row of each route: mechp_row_STEP. */
#define MECHP_ROUTE(symbol, method, path, operation, summary)                                      \
    extern const struct mechp_row mechp_row_##symbol;
#include "protocol/wire/routes.def"
#undef MECHP_ROUTE

#define MECHP_JSON "application/json"
#define MECHP_ID_CHOSEN "the server chooses the id" /* of_id */
/* The other formats of a table, and the query that selects them. */
#define MECHP_ROWS "application/x-ndjson text/csv application/x-npy application/octet-stream"
#define MECHP_FORMAT_QUERY                                                                         \
    {                                                                                              \
        "format", "'json'|'ndjson'|'csv'|'npy'|'f64'",                                             \
            "Format of the response; overrides Accept.", "\"csv\"", 0                              \
    }

/* Groups of routes, in the order in which they are shown; closed by a NULL name. */
struct mechp_tag {
    const char *name, *doc;
};
extern const struct mechp_tag mechp_tags[];

/* A parameter in braces of a path; NULL: there is none of that name. `path`: the route's. */
const struct mechp_parameter *mechp_path_parameter(const char *name, size_t length,
                                                   const char *path);
/* Number of names of the query. */
int mechp_query_count(const struct mechp_row *row);
/* The type of that key of the body or the query, NULL: the row has no such key. */
const char *mechp_key_type(const struct mechp_row *row, const char *name);
/* The place of a word among those of a type such as "'active'|'all'", from 0; −1: it is none. */
int mechp_type_word(const char *type, const char *word);
/* Those words for people, "a, b or c", into out [size]. */
const char *mechp_type_words(const char *type, char *out, size_t size);
/* The word of those that begins at or after `at` in the type, and its length; NULL: none. */
const char *mechp_type_next(const char *at, size_t *length);

enum { MECHP_ROUTE_CODES = 48 };
/* Every code that a route can refuse with over HTTP (enum mechp_code), each once; the answers of
 * any route when the server itself fails are not among them. Returns their number. */
size_t mechp_route_codes(const struct mechp_route *route, int codes[MECHP_ROUTE_CODES]);

/* True if it has an instance in its path that must exist. */
bool mechp_route_on_instance(const struct mechp_route *route);
/* True if it waits for the instance, or the coupling, of its path. */
bool mechp_route_queues(const struct mechp_route *route);
/* True if it changes something: what a key makes idempotent. */
bool mechp_route_changes(const struct mechp_route *route);
/* Scope of the token that it requires. */
enum mechp_scope mechp_route_scope(const struct mechp_route *route);
