/* Operations and their description in the documents: what a route takes stands once in
 * server/routes/ (keys, query) and once in protocol/bind/shapes.c; here the two are compared, so
 * that a route that is not described is named. */
#include "server/routes/call.h"

#include "protocol/bind/shapes.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* True, or the route and what is wrong are printed. */
static bool holds(bool good, const struct mechp_route *route, const char *what, const char *name)
{
    if (!good) {
        printf("    %s %s: %s %s\n", route->method, route->path, what, name);
    }
    return good;
}

static void every_route_is_described(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        CU_ASSERT(holds(mechp_route_doc(i) != mechp_route_doc(-1), mechp_route_at(i),
                        "has no line in", "protocol/bind/shapes.c"));
    }
}

static const struct mechp_shape *shape_of(const char *type)
{
    const size_t length = type == NULL ? 0 : strcspn(type, "|");
    for (const struct mechp_shape *s = mechp_shapes; length > 1 && s->name != NULL; s++) {
        if (strlen(s->name) == length - 1 && strncmp(s->name, type + 1, length - 1) == 0) {
            return s;
        }
    }
    return NULL;
}

static bool is_listed(const char *const *names, const char *name)
{
    while (names != NULL && *names != NULL && strcmp(*names, name) != 0) {
        names++;
    }
    return names != NULL && *names != NULL;
}

static bool is_member(const struct mechp_shape *shape, const char *name)
{
    const struct mechp_shape_member *m = shape->members;
    while (m->name != NULL && strcmp(m->name, name) != 0) {
        m++;
    }
    return m->name != NULL;
}

static void bodies_are_described_by_the_keys_that_are_taken(void)
{
    int compared = 0;
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechd_operation *const o = mechd_operation(route);
        const struct mechp_shape *const shape = shape_of(mechp_route_doc(i)->request);
        // operations that check their own keys are tested through the doors
        if ((o->flags & MECHD_FREE_KEYS) != 0 || (shape == NULL && o->keys == NULL)) {
            continue;
        }
        CU_ASSERT(holds(shape != NULL, route, "its body is", "not described"));
        for (const char *const *key = o->keys; shape != NULL && key != NULL && *key; key++) {
            CU_ASSERT(holds(is_member(shape, *key), route, "the description lacks", *key));
        }
        for (const struct mechp_shape_member *m = shape == NULL ? NULL : shape->members;
             m != NULL && m->name != NULL; m++) {
            CU_ASSERT(holds(is_listed(o->keys, m->name), route, "does not take", m->name));
        }
        compared++;
    }
    CU_ASSERT(compared > 5);
}

/* "name:type name:type" of the description against the names that the operation takes. */
static void queries_are_described(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechd_operation *const o = mechd_operation(route);
        const char *at = mechp_route_doc(i)->query;
        int described = 0;
        int taken = 0;
        for (; at != NULL && *at != '\0'; described++) {
            char name[64];
            const size_t length = strcspn(at, ":");
            snprintf(name, sizeof name, "%.*s", (int)length, at);
            const char *names[MECHD_QUERIES + 1] = {NULL};
            memcpy(names, o->query, sizeof o->query);
            CU_ASSERT(holds(is_listed(names, name), route, "does not take", name));
            at += strcspn(at, " ");
            at += *at == ' ' ? 1 : 0;
        }
        while (taken < MECHD_QUERIES && o->query[taken] != NULL) {
            taken++;
        }
        CU_ASSERT(holds(described == taken, route, "its query is", "not described"));
    }
}

UNIT_TESTS(UNIT_TEST(every_route_is_described),
           UNIT_TEST(bodies_are_described_by_the_keys_that_are_taken),
           UNIT_TEST(queries_are_described))
