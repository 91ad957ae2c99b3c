/* Ids: what is one, and the series of a process. */
#include "server/os/ids.h"

#include "tests/unit/unit.h"

#include <string.h>

static void a_series_is_six_characters_that_cannot_be_mistaken(void)
{
    char series[MECHD_SERIES];
    for (uint64_t k = 0; k < 1000; k++) {
        mechd_ids_series((uint64_t)1800000000 << 20 | k, series);
        CU_ASSERT_EQUAL(strlen(series), 7);
        CU_ASSERT_EQUAL(strspn(series, "0123456789bcdfghjkmnpqrstvwxyz"), 6);
        CU_ASSERT_EQUAL(series[6], '-');
    }
}

static void processes_a_microsecond_apart_have_other_series(void)
{
    enum { MANY = 1000 };
    char series[MANY][MECHD_SERIES];
    for (uint64_t k = 0; k < MANY; k++) {
        mechd_ids_series((uint64_t)1800000000 << 20 | k, series[k]);
        for (uint64_t before = 0; before < k; before++) {
            CU_ASSERT_STRING_NOT_EQUAL(series[k], series[before]);
        }
    }
}

static void an_incarnation_has_one_series(void)
{
    char series[MECHD_SERIES], again[MECHD_SERIES];
    mechd_ids_series(12345, series);
    mechd_ids_series(12345, again);
    CU_ASSERT_STRING_EQUAL(series, again);
}

static void ids_are_written_with_and_without_a_series(void)
{
    char id[MECHD_ID];
    mechd_id_write('o', "", 17, id);
    CU_ASSERT_STRING_EQUAL(id, "o-17");
    mechd_id_write('w', "k3f9xm-", UINT64_MAX, id);
    CU_ASSERT_STRING_EQUAL(id, "w-k3f9xm-18446744073709551615");
}

static void a_number_is_that_of_an_id_without_a_series(void)
{
    static const char *const none[] = {
        "o-",         "o-0",       "o-01", "o-+1", "o- 1",
        "o-1 ",       "r-1",       "o1",   "",     "o-18446744073709551616",
        "o-k3f9xm-1", "o-123456-1"};
    CU_ASSERT_EQUAL(mechd_id_number('o', "o-17"), 17);
    CU_ASSERT_EQUAL(mechd_id_number('o', "o-18446744073709551615"), UINT64_MAX);
    for (size_t k = 0; k < sizeof none / sizeof *none; k++) {
        CU_ASSERT_EQUAL(mechd_id_number('o', none[k]), 0);
    }
}

static void couplings_operations_sweeps_and_fmus_take_a_series(void)
{
    static const char *const others[] = {"r-1", "s-1", "i-1",  "o-k3f9xm-1", "f",
                                         "f-",  "",    "slow", "/-1"};
    CU_ASSERT_TRUE(mechd_id_takes_series("c-4"));
    CU_ASSERT_TRUE(mechd_id_takes_series("f-1"));
    CU_ASSERT_TRUE(mechd_id_takes_series("o-2"));
    CU_ASSERT_TRUE(mechd_id_takes_series("w-30"));
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        CU_ASSERT_FALSE(mechd_id_takes_series(others[k]));
    }
}

UNIT_TESTS(UNIT_TEST(a_series_is_six_characters_that_cannot_be_mistaken),
           UNIT_TEST(processes_a_microsecond_apart_have_other_series),
           UNIT_TEST(an_incarnation_has_one_series),
           UNIT_TEST(ids_are_written_with_and_without_a_series),
           UNIT_TEST(a_number_is_that_of_an_id_without_a_series),
           UNIT_TEST(couplings_operations_sweeps_and_fmus_take_a_series))
