/* Queries of requests: what the reader makes of each kind of parameter; and words, whose place in
 * the row operations use as the number that the solver or the server gives them, in the same
 * order. */
#include "server/call/query.h"

#include "server/instance/leases.h"
#include "solver/items/item.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

/* The words of that key of a route are these names, in their order. */
static bool same_words(int route, const char *key, const char *const *names, int count)
{
    const char *const type = mechp_key_type(mechp_route_at(route)->row, key);
    bool same = true;
    for (int k = 0; k < count; k++) {
        same = same && mechp_type_word(type, names[k]) == k;
    }
    return same;
}

static void categories_and_configurations_have_the_order_of_the_solver(void)
{
    const char *names[MECH_SENSOR + 1];
    for (int k = 0; k <= MECH_SENSOR; k++) {
        names[k] = mech_category_name((enum mech_category)k);
    }
    CU_ASSERT_TRUE(same_words(MECHP_ROUTE_ITEM_OUTPUT, "category", names, MECH_SENSOR + 1));
    CU_ASSERT_TRUE(same_words(MECHP_ROUTE_SET_FIELD, "category", names, MECH_SENSOR + 1));
    CU_ASSERT_TRUE(same_words(MECHP_ROUTE_ITEM_OUTPUT, "configuration", mech_configuration_names,
                              MECH_CONFIGURATIONS));
}

static void roles_have_the_order_of_the_server(void)
{
    CU_ASSERT_TRUE(same_words(MECHP_ROUTE_DROP_LEASE, "of", mechd_role_names, MECHD_ROLES));
    CU_ASSERT_TRUE(
        same_words(MECHP_ROUTE_TAKE_LEASE, "role", mechd_role_names, MECHD_ROLE_PARTNER));
    CU_ASSERT_TRUE(
        same_words(MECHP_ROUTE_CHANGE_LEASE, "role", mechd_role_names, MECHD_ROLE_PARTNER));
}

/* A request for this route with this text for one parameter (NULL: none). */
static void ask(struct mechd_call *c, int route, const char *name, const char *text)
{
    *c = (struct mechd_call){.door = MECHD_DOOR_HTTP};
    c->match.route = mechp_route_at(route);
    for (int k = 0; name != NULL && k < mechp_query_count(mechd_call_row(c)); k++) {
        c->query[k] = strcmp(mechd_call_row(c)->query[k].name, name) == 0 ? text : NULL;
    }
}

/* Its one fault, at the name of the parameter. */
static void expect_fault(struct mechd_call *c, const char *name, const char *message)
{
    CU_ASSERT_EQUAL_FATAL(c->diag.count, 1);
    CU_ASSERT_STRING_EQUAL(c->diag.entries[0].path + 1, name);
    CU_ASSERT_STRING_EQUAL(c->diag.entries[0].text, message);
    mech_diag_fini(&c->diag);
}

static void parameters_are_read_into_their_places(void)
{
    struct mechd_call c;
    struct mechp_query_results rows;
    struct mechp_query_modes modes;
    struct mechp_query_drop_lease lease;
    struct mechp_query_instances page;

    ask(&c, MECHP_ROUTE_RESULTS, "from", "-0.5");
    MECHD_ASK(results, &c, &rows);
    CU_ASSERT(rows.from == -0.5 && isnan(rows.to) && rows.outputs == NULL);
    CU_ASSERT(rows.limit == MECHP_ABSENT);
    ask(&c, MECHP_ROUTE_RESULTS, "limit", "7");
    MECHD_ASK(results, &c, &rows);
    CU_ASSERT(isnan(rows.from) && rows.limit == 7);
    ask(&c, MECHP_ROUTE_COUPLING_RESULTS, "outputs", "cart.x");
    MECHD_ASK(results, &c, &rows);
    CU_ASSERT_STRING_EQUAL(rows.outputs, "cart.x");
    ask(&c, MECHP_ROUTE_MODES, "count", "200");
    MECHD_ASK(modes, &c, &modes);
    CU_ASSERT(modes.count == 200 && !modes.complex);
    ask(&c, MECHP_ROUTE_MODES, "complex", "true");
    MECHD_ASK(modes, &c, &modes);
    CU_ASSERT(modes.count == INT64_MIN && modes.complex);
    ask(&c, MECHP_ROUTE_DROP_LEASE, "of", "observer");
    MECHD_ASK(drop_lease, &c, &lease);
    CU_ASSERT_EQUAL(lease.of, MECHD_ROLE_OBSERVER);
    ask(&c, MECHP_ROUTE_DROP_LEASE, NULL, NULL);
    MECHD_ASK(drop_lease, &c, &lease);
    CU_ASSERT_EQUAL(lease.of, MECHP_NO_WORD);
    ask(&c, MECHP_ROUTE_INSTANCES, "after", "12");
    MECHD_ASK(instances, &c, &page);
    CU_ASSERT(page.after == 12 && page.limit == MECHP_ABSENT && page.label == NULL);
    CU_ASSERT(mech_diag_clean(&c.diag));
}

static void what_a_parameter_does_not_take_is_a_fault(void)
{
    static const struct {
        int route;
        const char *name, *text, *message;
    } cases[] = {
        {MECHP_ROUTE_RESULTS, "from", "soon", "expected a number"},
        {MECHP_ROUTE_RESULTS, "to", "inf", "expected a number"},
        {MECHP_ROUTE_RESULTS, "limit", "0", "expected a whole number from 1 to 9007199254740992"},
        {MECHP_ROUTE_RESULTS, "limit", "1.5", "expected a whole number from 1 to 9007199254740992"},
        {MECHP_ROUTE_INSTANCES, "after", "i-4",
         "expected a whole number from 0 to 9007199254740992"},
        {MECHP_ROUTE_MODES, "count", "201", "expected a whole number from 1 to 200"},
        {MECHP_ROUTE_MODES, "complex", "yes", "expected true or false"},
        {MECHP_ROUTE_DROP_LEASE, "of", "king", "expected owner, co-driver, observer or partner"},
        {MECHP_ROUTE_COUPLING_STABILITY, "size", "1e-13",
         "expected a number from 1e-12 to 1000000000000"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mechd_call c;
        union {
            struct mechp_query_results rows;
            struct mechp_query_modes modes;
            struct mechp_query_drop_lease lease;
            struct mechp_query_stability size;
            struct mechp_query_instances page;
        } to;
        ask(&c, cases[k].route, cases[k].name, cases[k].text);
        mechd_query_read(&c, &to);
        expect_fault(&c, cases[k].name, cases[k].message);
        CU_ASSERT(cases[k].route != MECHP_ROUTE_RESULTS || to.rows.limit == MECHP_ABSENT);
        CU_ASSERT(cases[k].route != MECHP_ROUTE_DROP_LEASE || to.lease.of == MECHP_ODD_WORD);
    }
}

/* Over ZeroMQ, where what is no text, number or truth comes as no text. */
static void lists_take_the_place_of_texts_alone(void)
{
    struct mechd_call c;
    struct mechp_query_modes modes;
    struct mechp_query_results rows;

    ask(&c, MECHP_ROUTE_MODES, NULL, NULL);
    c.door = MECHD_DOOR_JSON;
    c.body = json_pack("{s:[b]}", "complex", 1);
    MECHD_ASK(modes, &c, &modes);
    expect_fault(&c, "complex", "expected a string or a number");
    json_decref(c.body);
    ask(&c, MECHP_ROUTE_RESULTS, NULL, NULL);
    c.door = MECHD_DOOR_JSON;
    c.body = json_pack("{s:[s]}", "outputs", "x");
    MECHD_ASK(results, &c, &rows);
    CU_ASSERT(mech_diag_clean(&c.diag) && rows.outputs == NULL);
    json_decref(c.body);
}

/* A list is the text of the query, or an array of a message; over HTTP no key of a body is one. */
static void lists_are_texts_or_arrays_of_messages(void)
{
    struct mechd_call c;
    struct mechp_query_item item;

    ask(&c, MECHP_ROUTE_ITEM_OUTPUT, "localPosition", "0,0,1");
    MECHD_ASK(item, &c, &item);
    CU_ASSERT_STRING_EQUAL_FATAL(item.local_position.text, "0,0,1");
    CU_ASSERT_PTR_NULL(item.local_position.array);
    ask(&c, MECHP_ROUTE_ITEM_OUTPUT, NULL, NULL);
    c.body = json_pack("{s:[iii]}", "localPosition", 0, 0, 1);
    MECHD_ASK(item, &c, &item);
    CU_ASSERT(item.local_position.text == NULL && item.local_position.array == NULL);
    c.door = MECHD_DOOR_JSON;
    MECHD_ASK(item, &c, &item);
    CU_ASSERT_PTR_NULL(item.local_position.text);
    CU_ASSERT_EQUAL(json_array_size(item.local_position.array), 3);
    CU_ASSERT(mech_diag_clean(&c.diag));
    json_decref(c.body);
}

UNIT_TESTS(UNIT_TEST(parameters_are_read_into_their_places),
           UNIT_TEST(what_a_parameter_does_not_take_is_a_fault),
           UNIT_TEST(lists_take_the_place_of_texts_alone),
           UNIT_TEST(lists_are_texts_or_arrays_of_messages),
           UNIT_TEST(categories_and_configurations_have_the_order_of_the_solver),
           UNIT_TEST(roles_have_the_order_of_the_server))
