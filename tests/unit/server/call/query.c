/* Words of requests: operations use the place of a word in its row as the number that the solver or
 * the server gives it, so both have the same order. */
#include "server/call/query.h"

#include "server/instance/leases.h"
#include "solver/items/item.h"
#include "tests/unit/unit.h"

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

UNIT_TESTS(UNIT_TEST(categories_and_configurations_have_the_order_of_the_solver),
           UNIT_TEST(roles_have_the_order_of_the_server))
