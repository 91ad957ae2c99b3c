/* How a route can refuse: by what kind of route it is, and by what its row adds. */
#include "protocol/wire/row.h"

#include <string.h>

static const char instances[] = "/v1/instances/{id}";

static bool has(const struct mechp_route *route, unsigned trait)
{
    return (route->row->traits & trait) != 0;
}

bool mechp_route_on_instance(const struct mechp_route *route)
{
    return strncmp(route->path, instances, sizeof instances - 1) == 0 &&
           !has(route, MECHP_NAMES_NEW);
}

bool mechp_route_queues(const struct mechp_route *route)
{
    return has(route, MECHP_OF_COUPLING) ||
           (mechp_route_on_instance(route) && !has(route, MECHP_NO_QUEUE));
}

bool mechp_route_changes(const struct mechp_route *route)
{
    return route->row->effect == MECHP_CHANGES || route->row->effect == MECHP_BESIDE;
}

enum mechp_scope mechp_route_scope(const struct mechp_route *route)
{
    switch (route->row->access) {
    case MECHP_OPEN:
        return MECHP_SCOPE_NONE;
    case MECHP_ADMIN:
        return MECHP_SCOPE_ADMIN;
    case MECHP_UPLOADS:
        return MECHP_SCOPE_FMU;
    case MECHP_BY_PARTS:
        return MECHP_SCOPE_READ;
    case MECHP_BY_EFFECT:
        break;
    }
    return mechp_route_changes(route) ? MECHP_SCOPE_STEP : MECHP_SCOPE_READ;
}

/* A list of codes without repetition. */
struct list {
    int *codes;
    size_t n;
};

static void add(struct list *l, int code)
{
    for (size_t k = 0; k < l->n; k++) {
        if (l->codes[k] == code) {
            return;
        }
    }
    if (l->n < MECHP_ROUTE_CODES) {
        l->codes[l->n++] = code;
    }
}

static void add_of_body(struct list *l, bool changes)
{
    add(l, MECHP_MALFORMED_JSON);
    add(l, MECHP_INVALID_REQUEST);
    add(l, MECHP_BODY_TOO_LARGE);
    add(l, MECHP_MEDIA_TYPE);
    add(l, MECHP_LIMIT_REACHED); // bodies in flight
    if (changes) {
        add(l, MECHP_KEY_REUSED);
    }
}

static void add_of_queue(struct list *l, const struct mechp_route *route)
{
    add(l, MECHP_QUEUE_FULL);
    if (mechp_route_changes(route) && !has(route, MECHP_WHILE_RUN)) {
        add(l, MECHP_RUN_IN_PROGRESS);
    }
}

static void add_of_instance(struct list *l, const struct mechp_route *route)
{
    add(l, MECHP_INSTANCE_NOT_FOUND);
    add(l, MECHP_REVISION_MISMATCH);
    if (mechp_route_changes(route) && !has(route, MECHP_UNLEASED)) {
        add(l, MECHP_FOREIGN_LEASE);
        add(l, MECHP_IN_COUPLING);
    }
    if (strchr(route->path + sizeof instances - 1, '{') != NULL) {
        add(l, MECHP_NOT_FOUND);
    }
    if (!has(route, MECHP_NO_QUEUE)) {
        add_of_queue(l, route);
    }
}

size_t mechp_route_codes(const struct mechp_route *route, int codes[MECHP_ROUTE_CODES])
{
    const struct mechp_row *const row = route->row;
    const bool instance = mechp_route_on_instance(route);
    const bool changes = mechp_route_changes(route);
    const enum mechp_scope scope = mechp_route_scope(route);
    struct list l = {.codes = codes, .n = 0};
    // framing, Host, keys: any route
    add(&l, MECHP_MALFORMED_REQUEST);
    if (scope != MECHP_SCOPE_NONE) {
        add(&l, MECHP_UNAUTHORIZED);
    }
    // a known client may read
    if (scope > MECHP_SCOPE_READ) {
        add(&l, MECHP_FORBIDDEN);
    }
    if (row->body != NULL) {
        add_of_body(&l, changes);
    }
    if (instance) {
        add_of_instance(&l, route);
    } else if (strchr(route->path, '{') != NULL && !has(route, MECHP_NAMES_NEW)) {
        add(&l, MECHP_NOT_FOUND);
    }
    if (has(route, MECHP_OF_COUPLING)) {
        add_of_queue(&l, route);
    }
    // changes at once, the rest once the last answers are written
    if (scope != MECHP_SCOPE_NONE) {
        add(&l, MECHP_DRAINING);
    }
    const bool lasts = instance ? !has(route, MECHP_FLEETING) : has(route, MECHP_STORES);
    if (changes && lasts) {
        add(&l, MECHP_STORAGE_FAILED);
    }
    if (has(route, MECHP_STOPPABLE)) {
        add(&l, MECHP_CANCELLED);
    }
    for (const int *code = row->codes; code != NULL && *code != 0; code++) {
        add(&l, *code);
    }
    return l.n;
}
