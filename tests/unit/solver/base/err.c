/* Texts of codes. */
#include "solver/base/err.h"

#include "tests/unit/unit.h"

#include <string.h>

static void every_code_has_a_text_of_its_own(void)
{
    const char *seen[32];
    int count = 0;
    for (int code = -2; code <= 10; code++) {
        const char *const text = mech_err_text(code);
        CU_ASSERT_FATAL(text != NULL);
        CU_ASSERT(strcmp(text, mech_err_text(12345)) != 0);
        for (int k = 0; k < count; k++) {
            CU_ASSERT(strcmp(text, seen[k]) != 0);
        }
        seen[count++] = text;
    }
}

static int forward(int code)
{
    MECH_TRY(code);
    return 99;
}

static int fold(int code)
{
    MECH_FOLD(code);
    return 99;
}

static void try_forwards_and_fold_turns_outcomes_fatal(void)
{
    CU_ASSERT_EQUAL(forward(0), 99);
    CU_ASSERT_EQUAL(forward(MECH_SINGULAR), MECH_SINGULAR);
    CU_ASSERT_EQUAL(forward(MECH_NO_MEMORY), MECH_NO_MEMORY);
    CU_ASSERT_EQUAL(fold(0), 99);
    CU_ASSERT_EQUAL(fold(MECH_SINGULAR), MECH_INTERNAL);
    CU_ASSERT_EQUAL(fold(MECH_NO_MEMORY), MECH_NO_MEMORY);
}

UNIT_TESTS(UNIT_TEST(every_code_has_a_text_of_its_own),
           UNIT_TEST(try_forwards_and_fold_turns_outcomes_fatal))
