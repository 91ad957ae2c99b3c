/* What is left of equations beside what balances in them. */
#include "solver/step/balance.h"

#include "tests/unit/compiled.h"

/* two masses that nothing joins: a block of forces each */
static const char masses[] =
    "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'Node1D'}, {'name': 'b', 'type': 'Node1D'}],"
    "'objects': [{'name': 'ma', 'type': 'Mass1D', 'node': 'a', 'physicsMass': 1},"
    "{'name': 'mb', 'type': 'Mass1D', 'node': 'b', 'physicsMass': 1}]}";

static void what_is_not_a_number_stays_the_largest(void)
{
    struct mech_arena arena;
    struct mech_balance b;
    struct compiled c;

    mech_arena_init(&arena, SIZE_MAX);
    compiled_open(&c, masses);
    CU_ASSERT_EQUAL_FATAL(mech_balance_init(&b, c.model, &arena), 0);
    CU_ASSERT_EQUAL_FATAL(b.blocks, 2);
    b.S[0] = b.S[1] = 1.;
    CHECK_NEAR(mech_balance_left(&b, (const double[2]){0.25, 0.5}, 0.), 0.5, 0.);
    CU_ASSERT(isnan(mech_balance_left(&b, (const double[2]){NAN, 0.5}, 0.)));
    CU_ASSERT(isnan(mech_balance_left(&b, (const double[2]){0.5, NAN}, 0.)));
    mech_arena_fini(&arena);
    compiled_close(&c);
}

UNIT_TESTS(UNIT_TEST(what_is_not_a_number_stays_the_largest))
