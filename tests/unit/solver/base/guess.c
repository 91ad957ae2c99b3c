/* Guesses: distances of known pairs, and what is near enough. */
#include "solver/base/guess.h"

#include "tests/unit/unit.h"

#include <string.h>

static void distance_counts_edits_and_swaps(void)
{
    CU_ASSERT_EQUAL(mech_distance("stiffness", "stifness"), 1);
    CU_ASSERT_EQUAL(mech_distance("abc", "acb"), 1);
    CU_ASSERT_EQUAL(mech_distance("kitten", "sitting"), 3);
    CU_ASSERT_EQUAL(mech_distance("", "abc"), 3);
    CU_ASSERT_EQUAL(mech_distance("same", "same"), 0);
    char longer[80];
    memset(longer, 'a', 79);
    longer[79] = '\0';
    CU_ASSERT_EQUAL(mech_distance(longer, "a"), 99);
}

static void the_nearest_name_is_meant_if_it_is_near(void)
{
    static const char *const names[] = {"mass", "stiffness", "damping", NULL};
    CU_ASSERT_STRING_EQUAL(mech_closest("stifness", names), "stiffness");
    CU_ASSERT_STRING_EQUAL(mech_closest("dampnig", names), "damping");
    CU_ASSERT_STRING_EQUAL(mech_closest("mas", names), "mass");
    CU_ASSERT_PTR_NULL(mech_closest("gravity", names));
    CU_ASSERT_PTR_NULL(mech_closest("m", names));
    static const char *const none[] = {NULL};
    CU_ASSERT_PTR_NULL(mech_closest("mass", none));
}

UNIT_TESTS(UNIT_TEST(distance_counts_edits_and_swaps),
           UNIT_TEST(the_nearest_name_is_meant_if_it_is_near))
