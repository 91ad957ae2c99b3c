/* The structs of queries, as those of bodies (bodies.h): each holds what the query of its route's
 * row lists, where the row says (MECHP_ASKED). Words are the place among those of the type; a
 * string that is held as a number has the digits of a whole one. */
#pragma once

#include "protocol/wire/bodies_system.h"

/* The place of a parameter of a query in its struct. */
#define MECHP_ASKED(query, member) MECHP_PLACE(struct mechp_query_##query, member)

struct mechp_query_instances {
    uint64_t limit;
    uint64_t after; /* the digits of `next` */
    const char *label;
};

struct mechp_query_modes {
    int64_t count;
    bool complex;
};

struct mechp_query_couple {
    double window;
    const char *type;
};

struct mechp_query_stability {
    double size;
};

struct mechp_query_results {
    double from, to;
    const char *outputs;
    uint64_t limit;
};

struct mechp_query_drop_lease {
    int of;
};

struct mechp_query_events {
    double rate; /* 1/s */
};

/* Of an item's output; of a field, its category alone. */
struct mechp_query_item {
    struct mechp_listed local_position;
    int configuration, category;
};

struct mechp_query_state {
    bool snapshot;
};

struct mechp_query_fmu {
    int64_t version;
    int kind;
};

struct mechp_query_system {
    struct mechp_system_options options;
    struct mechp_listed frozen; /* names */
    int bilateral;
};
