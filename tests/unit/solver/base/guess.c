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

static void a_hint_follows_a_message_or_is_empty(void)
{
    const struct {
        const char *name;
        int value;
    } list[] = {{"mass", 1}, {NULL, 2}, {"stiffness", 3}};
    struct mech_guess g;
    CU_ASSERT_STRING_EQUAL(mech_hint(&g, "stifness", list, 3, sizeof *list),
                           ", did you mean 'stiffness'?");
    CU_ASSERT_STRING_EQUAL(mech_hint(&g, "gravity", list, 3, sizeof *list), "");
    CU_ASSERT_STRING_EQUAL(mech_hint(&g, "mass", NULL, 0, sizeof *list), "");
}

/* what is far is found to be early: the nearest of all is that of whole distances */
static void the_nearest_of_many_is_that_of_whole_distances(void)
{
    enum { MANY = 400, LONG = 24 };
    char names[MANY][LONG + 1];
    unsigned state = 1;
    for (int k = 0; k < MANY; k++) {
        state = state * 1103515245u + 12345u;
        const size_t n = 1 + (state >> 16) % LONG;
        for (size_t i = 0; i < n; i++) {
            state = state * 1103515245u + 12345u;
            names[k][i] = (char)('a' + (state >> 16) % 3);
        }
        names[k][n] = '\0';
    }
    int found = 0;
    for (int k = 0; k < MANY; k++) {
        struct mech_guess g = {.text = names[k]};
        const int length = (int)strlen(names[k]);
        const char *nearest = NULL;
        int distance = 1 + (length > 3 ? length : 3) / 3;
        for (int j = 0; j < MANY; j++) {
            const int d = mech_distance(names[k], names[j]);
            mech_guess_try(&g, j != k ? names[j] : "");
            if (j != k && d < distance) {
                nearest = names[j];
                distance = d;
            }
        }
        if (length > 3) { // the empty name is near to the shortest
            CU_ASSERT_PTR_EQUAL(mech_guess_result(&g), nearest);
            found += nearest != NULL;
        }
    }
    CU_ASSERT(found > MANY / 10);
}

UNIT_TESTS(UNIT_TEST(distance_counts_edits_and_swaps),
           UNIT_TEST(the_nearest_name_is_meant_if_it_is_near),
           UNIT_TEST(the_nearest_of_many_is_that_of_whole_distances),
           UNIT_TEST(a_hint_follows_a_message_or_is_empty))
