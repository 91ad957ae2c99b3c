/* The list of error codes: sorted, unique, and reached from every outcome of the solver. */
#include "protocol/wire/codes.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <string.h>

static void codes_are_sorted_and_their_texts_unique(void)
{
    CU_ASSERT_EQUAL(mechp_code_at(-1), NULL);
    for (int i = 0; mechp_code_at(i + 1) != NULL; i++) {
        const struct mechp_code_info *const a = mechp_code_at(i);
        CU_ASSERT(a->code < mechp_code_at(i + 1)->code);
        CU_ASSERT(a->code == MECHP_OK || (a->http_status >= 400 && a->http_status < 600));
        for (int j = i + 1; mechp_code_at(j) != NULL; j++) {
            CU_ASSERT(strcmp(a->text, mechp_code_at(j)->text) != 0);
        }
    }
}

/* A title is true of every error of its code, and is no sentence about one of them. */
static void titles_name_kinds_of_error(void)
{
    static const char *const verbs[] = {" is ",  " are ",  " was ", " were ", " has ",   " have ",
                                        " did ", " does ", " do ",  " can ",  " cannot", " could "};
    for (int i = 0; mechp_code_at(i) != NULL; i++) {
        const char *const title = mechp_code_at(i)->title;
        for (size_t k = 0; k < sizeof verbs / sizeof *verbs; k++) {
            CU_ASSERT_EQUAL(strstr(title, verbs[k]), NULL);
        }
        for (int j = i + 1; mechp_code_at(j) != NULL; j++) {
            CU_ASSERT(strcmp(title, mechp_code_at(j)->title) != 0);
        }
    }
}

static void every_code_is_found_by_its_number(void)
{
    for (int i = 0; mechp_code_at(i) != NULL; i++) {
        CU_ASSERT_EQUAL(mechp_code((int)mechp_code_at(i)->code), mechp_code_at(i));
    }
    CU_ASSERT_EQUAL(mechp_code(1)->code, MECHP_INTERNAL);
    CU_ASSERT_EQUAL(mechp_code(-1)->code, MECHP_INTERNAL);
    CU_ASSERT_EQUAL(mechp_code(99999)->code, MECHP_INTERNAL);
}

static void outcomes_of_steps_are_2000_and_their_number(void)
{
    for (int outcome = MECH_NOT_CONVERGED; outcome <= MECH_CANCELLED; outcome++) {
        CU_ASSERT_EQUAL((int)mechp_code_of_outcome(outcome), 2000 + outcome);
    }
}

/* Every outcome but success has a code of its own making, never "ok" nor an error of ours. */
static void no_outcome_of_the_solver_is_an_internal_error(void)
{
    static const int outcomes[] = {
#define MECH_OUTCOME(symbol, number, text) number,
#include "solver/base/outcomes.def"
#undef MECH_OUTCOME
    };
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++) {
        const enum mechp_code code = mechp_code_of_outcome(outcomes[i]);
        CU_ASSERT(code != MECHP_INTERNAL && code != MECHP_OK);
    }
    CU_ASSERT_EQUAL(mechp_code_of_outcome(0), MECHP_OK);
    CU_ASSERT_EQUAL(mechp_code_of_outcome(MECH_NO_MEMORY), MECHP_OUT_OF_MEMORY);
    CU_ASSERT_EQUAL(mechp_code_of_outcome(MECH_INTERNAL), MECHP_INTERNAL);
}

UNIT_TESTS(UNIT_TEST(codes_are_sorted_and_their_texts_unique),
           UNIT_TEST(titles_name_kinds_of_error), UNIT_TEST(every_code_is_found_by_its_number),
           UNIT_TEST(outcomes_of_steps_are_2000_and_their_number),
           UNIT_TEST(no_outcome_of_the_solver_is_an_internal_error))
