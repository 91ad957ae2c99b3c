/* The router: every route is reached by its own method and path, and by nothing else. */
#include "protocol/wire/routes.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* The template with each parameter filled in by "v0", "v1", … */
static void fill(const char *template, char *out)
{
    int n = 0;
    while (*template != '\0') {
        if (*template == '{') {
            out += sprintf(out, "v%d", n++);
            template = strchr(template, '}') + 1;
        } else {
            *out++ = *template ++;
        }
    }
    *out = '\0';
}

static void every_route_is_found_by_its_method_and_path(void)
{
    for (int i = 0; mechp_route_at(i) != NULL; i++) {
        const struct mechp_route *const r = mechp_route_at(i);
        struct mechp_match m;
        char path[256];
        fill(r->path, path);
        CU_ASSERT_EQUAL((int)r->id, i);
        CU_ASSERT_EQUAL(mechp_route_match(r->method, path, &m), 0);
        CU_ASSERT_EQUAL(m.route, r);
        for (int k = 0; k < m.count; k++) {
            char value[16];
            snprintf(value, sizeof value, "v%d", k);
            CU_ASSERT_STRING_EQUAL(m.parameters[k].value, value);
            CU_ASSERT_EQUAL(mechp_match_value(&m, m.parameters[k].name), m.parameters[k].value);
        }
        CU_ASSERT_EQUAL(mechp_match_value(&m, "absent"), NULL);
        strcat(path, "/");
        CU_ASSERT(mechp_route_match(r->method, path, &m) != 0 || m.route != r);
    }
}

static void routes_are_sorted_by_path_and_operations_unique(void)
{
    for (int i = 0; mechp_route_at(i + 1) != NULL; i++) {
        const struct mechp_route *const a = mechp_route_at(i);
        const struct mechp_route *const b = mechp_route_at(i + 1);
        const int order = strcmp(a->path, b->path);
        CU_ASSERT(order < 0 || (order == 0 && strcmp(a->method, b->method) < 0));
        if (a->operation[0] != '\0') {
            CU_ASSERT_EQUAL(mechp_route_of_operation(a->operation), a);
        }
    }
    CU_ASSERT_EQUAL(mechp_route_of_operation(""), NULL);
    CU_ASSERT_EQUAL(mechp_route_of_operation("halt"), NULL);
}

static void parameters_are_percent_decoded(void)
{
    struct mechp_match m;
    CU_ASSERT_EQUAL(mechp_route_match("GET", "/v1/instances/a%20b%7e/state", &m), 0);
    CU_ASSERT_EQUAL(m.route->id, MECHP_ROUTE_GET_STATE);
    CU_ASSERT_STRING_EQUAL(mechp_match_value(&m, "id"), "a b~");
    CU_ASSERT_EQUAL(mechp_route_match("GET", "/v1/instances/a+b", &m), 0);
    CU_ASSERT_STRING_EQUAL(mechp_match_value(&m, "id"), "a+b");
    static const char *const bad[] = {
        "/v1/instances/%",      "/v1/instances/%4",       "/v1/instances/a%zz",
        "/v1/instances/%00x",   "/v1/instances/%4/state", "/v1/instances/a%2Fb",
        "/v1/instances/%c3%a4", "/v1/instances/a%0ab",    "/v1/instances/%7f"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(mechp_route_match("GET", bad[i], &m), MECHP_MALFORMED_REQUEST);
    }
    // an escape may not reach beyond its segment
    char value[8];
    CU_ASSERT(mechp_percent_decode("%41", 3, value, sizeof value) && strcmp(value, "A") == 0);
    CU_ASSERT_FALSE(mechp_percent_decode("%41", 2, value, sizeof value));
    // a value that is too long
    char path[400] = "/v1/instances/";
    memset(path + 14, 'a', 300);
    path[314] = '\0';
    CU_ASSERT_EQUAL(mechp_route_match("GET", path, &m), MECHP_MALFORMED_REQUEST);
    path[14 + MECHP_MATCH_VALUE - 1] = '\0';
    CU_ASSERT_EQUAL(mechp_route_match("GET", path, &m), 0);
}

static void wrong_methods_get_the_list_of_right_ones(void)
{
    struct mechp_match m;
    CU_ASSERT_EQUAL(mechp_route_match("POST", "/v1/instances/i-1", &m), MECHP_METHOD_NOT_ALLOWED);
    CU_ASSERT_STRING_EQUAL(m.allow, "DELETE, GET, HEAD, PATCH, PUT");
    CU_ASSERT_EQUAL(mechp_route_match("GET", "/v1/instances/i-1/step", &m),
                    MECHP_METHOD_NOT_ALLOWED);
    CU_ASSERT_STRING_EQUAL(m.allow, "POST");
    CU_ASSERT_EQUAL(mechp_route_match("get", "/livez", &m), MECHP_METHOD_NOT_ALLOWED);
    CU_ASSERT_EQUAL(mechp_route_match("HEAD", "/livez", &m), 0);
    CU_ASSERT_EQUAL(m.route->id, MECHP_ROUTE_LIVEZ);
}

static void unknown_paths_are_not_found(void)
{
    static const char *const paths[] = {"",
                                        "//",
                                        "/v2",
                                        "/v1/",
                                        "/v1/instances/",
                                        "livez",
                                        "/v1/instances//state",
                                        "/v1/instances/i-1/statex",
                                        "/v1/instances/i-1/state/"};
    struct mechp_match m;
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CU_ASSERT_EQUAL(mechp_route_match("GET", paths[i], &m), MECHP_ROUTE_NOT_FOUND);
    }
}

UNIT_TESTS(UNIT_TEST(every_route_is_found_by_its_method_and_path),
           UNIT_TEST(routes_are_sorted_by_path_and_operations_unique),
           UNIT_TEST(parameters_are_percent_decoded),
           UNIT_TEST(wrong_methods_get_the_list_of_right_ones),
           UNIT_TEST(unknown_paths_are_not_found))
