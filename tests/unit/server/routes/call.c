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
        const struct mechp_shape *const shape = mechp_shape_named(mechp_route_doc(i)->request);
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

/* Who may ask, and when: the description's traits against the operation's flags. */
static void access_is_described(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechd_operation *const o = mechd_operation(route);
        const unsigned traits = mechp_route_doc(i)->traits;
        const char *const scope = mechp_route_scope(route);
        const char *const needed = (o->flags & MECHD_OPEN) != 0    ? ""
                                   : (o->flags & MECHD_ADMIN) != 0 ? "admin"
                                   : !mechd_operation_changes(o) || (o->flags & MECHD_BY_PARTS) != 0
                                       ? "read"
                                       : "step";
        CU_ASSERT(holds(strcmp(scope == NULL ? "" : scope, needed) == 0, route,
                        "is described with another scope than", needed));
        CU_ASSERT(holds(mechp_route_changes(route) == mechd_operation_changes(o), route,
                        "is not described as what it is:", "a change or not"));
        CU_ASSERT(
            holds(((traits & MECHP_DOC_WHILE_RUN) != 0) == ((o->flags & MECHD_WHILE_RUN) != 0),
                  route, "is not described as", "allowed during a run"));
        CU_ASSERT(holds(((traits & MECHP_DOC_UNLEASED) != 0) == ((o->flags & MECHD_UNLEASED) != 0),
                        route, "is not described as", "asking for leave or not"));
        const bool waits = (o->flags & MECHD_ON_INSTANCE) != 0;
        const bool described = mechp_route_on_instance(route) && (traits & MECHP_DOC_NO_QUEUE) == 0;
        CU_ASSERT(holds(waits == described, route, "is not described as", "waiting or not"));
    }
}

static void every_route_has_a_text_and_its_parameters_too(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechp_route_text *const text = mechp_route_text(i);
        const struct mechp_tag *tag = mechp_tags;
        while (tag->name != NULL && strcmp(tag->name, text->tag) != 0) {
            tag++;
        }
        CU_ASSERT(
            holds(text->doc[0] != '\0', route, "has no line in", "protocol/bind/route_texts.c"));
        CU_ASSERT(holds(tag->name != NULL, route, "has a tag that is none:", text->tag));
        for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
            CU_ASSERT(holds(mechp_parameter(at + 1, strcspn(at, "}") - 1, route->path) != NULL,
                            route, "not described in route_texts.c:", at));
        }
        const struct mechd_operation *const o = mechd_operation(route);
        for (int k = 0; k < MECHD_QUERIES && o->query[k] != NULL; k++) {
            CU_ASSERT(holds(mechp_parameter(o->query[k], strlen(o->query[k]), route->path) != NULL,
                            route, "not described in route_texts.c:", o->query[k]));
        }
    }
}

UNIT_TESTS(UNIT_TEST(access_is_described), UNIT_TEST(every_route_has_a_text_and_its_parameters_too),
           UNIT_TEST(every_route_is_described),
           UNIT_TEST(bodies_are_described_by_the_keys_that_are_taken),
           UNIT_TEST(queries_are_described))
