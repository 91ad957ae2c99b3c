/* Names and their map. */
#include "solver/base/name.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void names_follow_the_pattern(void)
{
    CU_ASSERT(mech_name_valid("a"));
    CU_ASSERT(mech_name_valid("Mass-1.left_2"));
    CU_ASSERT(!mech_name_valid(""));
    CU_ASSERT(!mech_name_valid("a b"));
    CU_ASSERT(!mech_name_valid("a/b"));
    CU_ASSERT(!mech_name_valid("."));
    CU_ASSERT(!mech_name_valid(".."));
    CU_ASSERT(mech_name_valid(".a"));
    CU_ASSERT(mech_name_valid("..."));
    CU_ASSERT(!mech_name_valid("\xc3\xa9"));
    char text[MECH_NAME_MAX + 2];
    memset(text, 'x', sizeof text);
    text[MECH_NAME_MAX] = '\0';
    CU_ASSERT(mech_name_valid(text));
    text[MECH_NAME_MAX] = 'x';
    text[MECH_NAME_MAX + 1] = '\0';
    CU_ASSERT(!mech_name_valid(text));
}

static void every_name_finds_its_index(void)
{
    enum { COUNT = 1000 };
    static char names[COUNT][16];
    struct mech_arena a;
    mech_arena_init(&a, 0);
    struct mech_names n;
    CU_ASSERT_EQUAL_FATAL(mech_names_init(&n, &a, COUNT), 0);
    for (int k = 0; k < COUNT; k++) {
        snprintf(names[k], sizeof names[k], "mass%d", k);
        CU_ASSERT_EQUAL(mech_names_add(&n, names[k], k), 0);
    }
    for (int k = 0; k < COUNT; k++) {
        CU_ASSERT_EQUAL(mech_names_find(&n, names[k]), k);
    }
    CU_ASSERT_EQUAL(mech_names_find(&n, "mass1000"), -1);
    mech_arena_fini(&a);
}

static void a_second_name_is_refused_and_the_first_stays(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    struct mech_names n;
    CU_ASSERT_EQUAL_FATAL(mech_names_init(&n, &a, 2), 0);
    CU_ASSERT_EQUAL(mech_names_add(&n, "a", 4), 0);
    CU_ASSERT_EQUAL(mech_names_add(&n, "a", 5), MECH_INVALID);
    CU_ASSERT_EQUAL(mech_names_find(&n, "a"), 4);
    mech_arena_fini(&a);
}

static void an_empty_map_finds_nothing_and_a_full_one_ends(void)
{
    const struct mech_names zeroed = {.capacity = 0};
    CU_ASSERT_EQUAL(mech_names_find(&zeroed, "a"), -1);
    struct mech_arena a;
    mech_arena_init(&a, 0);
    struct mech_names n;
    CU_ASSERT_EQUAL_FATAL(mech_names_init(&n, &a, 0), 0);
    CU_ASSERT_EQUAL(mech_names_find(&n, "a"), -1);
    CU_ASSERT_EQUAL_FATAL(mech_names_init(&n, &a, 1), 0);
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    int code = 0;
    for (int k = 0; k < 5 && code == 0; k++) {
        code = mech_names_add(&n, names[k], k);
    }
    CU_ASSERT_EQUAL(code, MECH_INTERNAL);
    CU_ASSERT_EQUAL(mech_names_find(&n, "a"), 0);
    CU_ASSERT_EQUAL(mech_names_find(&n, "x"), -1);
    mech_arena_fini(&a);
}

UNIT_TESTS(UNIT_TEST(names_follow_the_pattern), UNIT_TEST(every_name_finds_its_index),
           UNIT_TEST(a_second_name_is_refused_and_the_first_stays),
           UNIT_TEST(an_empty_map_finds_nothing_and_a_full_one_ends))
