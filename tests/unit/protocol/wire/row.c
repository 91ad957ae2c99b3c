/* Rows of routes do not contradict themselves: each fact of a route is in its row alone, so
 * that nothing else would show it. */
#include "protocol/wire/row.h"

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
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechp_row *const row = route->row;
        const struct mechp_tag *tag = mechp_tags;

        while (tag->name != NULL && strcmp(tag->name, row->tag) != 0) {
            tag++;
        }
        CU_ASSERT(holds(tag->name != NULL, route, "has a tag that is none:", row->tag));
        CU_ASSERT(holds(row->doc != NULL && row->doc[0] != '\0', route, "has no text", ""));
        CU_ASSERT(holds(row->status >= 200 && row->status < 300, route, "has no status", ""));
        CU_ASSERT(holds(row->content != NULL || row->status == 204, route,
                        "answers without a body where its status has one", ""));
        CU_ASSERT(holds(row->reply == NULL || strcmp(row->content, MECHP_JSON) == 0 ||
                            (row->also != NULL && strcmp(row->also, MECHP_JSON) == 0),
                        route, "has a type of JSON, but answers with", row->content));
        for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
            CU_ASSERT(holds(mechp_path_parameter(at + 1, strcspn(at, "}") - 1, route->path) != NULL,
                            route, "has a parameter that is not described:", at));
        }
        for (int k = 0; k < mechp_query_count(row); k++) {
            CU_ASSERT(holds(row->query[k].doc[0] != '\0' && row->query[k].example[0] != '\0', route,
                            "has a parameter without text or example:", row->query[k].name));
        }
    }
}

static bool has_name(const char *const *names, int n, const char *name)
{
    while (n > 0 && strcmp(names[n - 1], name) != 0) {
        n--;
    }
    return n > 0;
}

/* Over ZeroMQ path, query and body are one object, and `op`, `sequence`, `token` and `lease` stand
 * there too. A name that may stand in the query as well as in the body means the same in both. */
static void names_of_a_request_do_not_clash(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechp_row *const row = route->row;
        const char *names[64] = {"sequence", "token", "lease"};
        int n = 3, members = 0;

        for (const char *at = strchr(route->path, '{'); at != NULL; at = strchr(at + 1, '{')) {
            const struct mechp_parameter *const p =
                mechp_path_parameter(at + 1, strcspn(at, "}") - 1, route->path);

            CU_ASSERT(holds(!has_name(names, n, p->name), route, "has twice", p->name));
            names[n++] = p->name;
        }
        for (int k = 0; k < mechp_query_count(row); k++) {
            CU_ASSERT(holds(!has_name(names, n, row->query[k].name), route, "has twice",
                            row->query[k].name));
        }
        CU_ASSERT(holds(mechp_query_count(row) <= MECHP_QUERIES, route, "has a long query", ""));
        for (const struct mechp_member *m = row->body != NULL ? row->body->members : NULL;
             m != NULL && m->name != NULL; m++, members++) {
            CU_ASSERT(holds(!has_name(names, n, m->name), route, "has twice", m->name));
            names[n < 63 ? n++ : n] = m->name;
        }
        CU_ASSERT(holds(members <= MECHP_MEMBERS_MOST, route, "has a large body", ""));
    }
}

static void traits_go_together(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const route = mechp_route_at(i);
        const struct mechp_row *const row = route->row;
        const bool changes = mechp_route_changes(route), queues = mechp_route_queues(route);
        const unsigned of_changes =
            MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_SETS_INPUTS | MECHP_FLEETING | MECHP_STORES;
        const unsigned of_instances =
            MECHP_OF_MODEL | MECHP_STATELESS | MECHP_WHILE_RUN | MECHP_UNLEASED | MECHP_SETS_INPUTS;

        CU_ASSERT(holds(strcmp(route->method, "GET") != 0 || !changes, route, "is a GET", ""));
        CU_ASSERT(holds(changes || (row->traits & of_changes) == 0, route,
                        "changes nothing, but has a trait of changes", ""));
        CU_ASSERT(holds(queues || (row->traits & of_instances) == 0, route,
                        "has a trait of routes that wait for an instance", ""));
        CU_ASSERT(holds((row->traits & MECHP_STATELESS) == 0 || row->effect == MECHP_READS ||
                            row->effect == MECHP_BESIDE,
                        route, "is stateless, but waits for its turn", ""));
        CU_ASSERT(holds((row->traits & MECHP_NO_QUEUE) == 0 || mechp_route_on_instance(route),
                        route, "has no instance that it could wait for", ""));
        CU_ASSERT(holds((row->traits & (MECHP_FLEETING | MECHP_STORES)) !=
                            (MECHP_FLEETING | MECHP_STORES),
                        route, "is stored and is not", ""));
        CU_ASSERT(holds(row->named == NULL || row->body != NULL, route,
                        "has names in place of a body that it has not", ""));
        CU_ASSERT(holds(row->body != NULL || (!row->optional && row->takes[0] == NULL), route,
                        "takes bytes or nothing, but no body", ""));
    }
}

static void every_shape_has_a_name_of_its_own(void)
{
    int count = 0;

    for (; mechp_shape_at(count) != NULL; count++) {
        const struct mechp_shape *const shape = mechp_shape_at(count);
        char type[80];

        snprintf(type, sizeof type, "@%s[]", shape->name);
        CU_ASSERT_PTR_EQUAL(mechp_shape_named(type), shape);
    }
    CU_ASSERT(count > 60);
    CU_ASSERT_PTR_NULL(mechp_shape_named("object"));
    CU_ASSERT_PTR_NULL(mechp_shape_named(NULL));
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_shape *const body = mechp_route_at(i)->row->body;
        char type[80];

        if (body != NULL && body != &mechp_empty) {
            snprintf(type, sizeof type, "@%s", body->name);
            CU_ASSERT(holds(mechp_shape_named(type) == body, mechp_route_at(i),
                            "has a body that its file does not list:", body->name));
            CU_ASSERT(
                holds(body->request, mechp_route_at(i), "takes what replies are:", body->name));
        }
    }
}

static void a_word_has_its_place_among_those_of_a_type(void)
{
    const char *const type = "'active'|'all'|'active-ly'";
    char words[32], small[8];
    CU_ASSERT_EQUAL(mechp_type_word(type, "active"), 0);
    CU_ASSERT_EQUAL(mechp_type_word(type, "all"), 1);
    CU_ASSERT_EQUAL(mechp_type_word(type, "active-ly"), 2);
    CU_ASSERT_EQUAL(mechp_type_word(type, "act"), -1);
    CU_ASSERT_EQUAL(mechp_type_word(type, "|"), -1);
    CU_ASSERT_EQUAL(mechp_type_word(type, ""), -1);
    CU_ASSERT_EQUAL(mechp_type_word("number", "number"), -1);
    CU_ASSERT_STRING_EQUAL(mechp_type_words(type, words, sizeof words), "active, all or active-ly");
    CU_ASSERT_STRING_EQUAL(mechp_type_words("'full'|'table'", words, sizeof words),
                           "full or table");
    CU_ASSERT_STRING_EQUAL(mechp_type_words("'one'", words, sizeof words), "one");
    CU_ASSERT_STRING_EQUAL(mechp_type_words(type, small, sizeof small), "active,");
}

static void a_key_has_the_type_that_the_body_or_the_query_gives_it(void)
{
    const struct mechp_row *const system = mechp_route_at(MECHP_ROUTE_SYSTEM)->row;
    const struct mechp_row *const field = mechp_route_at(MECHP_ROUTE_SET_FIELD)->row;
    CU_ASSERT_STRING_EQUAL(mechp_key_type(system, "level"), "'acceleration'|'velocity'");
    CU_ASSERT_STRING_EQUAL(mechp_key_type(field, "positions"), "'kept'|'assembled'");
    CU_ASSERT_PTR_NULL(mechp_key_type(field, "level"));
}

UNIT_TESTS(UNIT_TEST(every_route_is_described), UNIT_TEST(names_of_a_request_do_not_clash),
           UNIT_TEST(traits_go_together), UNIT_TEST(every_shape_has_a_name_of_its_own),
           UNIT_TEST(a_word_has_its_place_among_those_of_a_type),
           UNIT_TEST(a_key_has_the_type_that_the_body_or_the_query_gives_it))
