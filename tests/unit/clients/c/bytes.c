/* JSON text that the client writes: escapes, and numbers that read back to the same bits. */
#include "clients/c/bytes.h"
#include "clients/c/scan.h"
#include "tests/unit/unit.h"

#include <float.h>
#include <string.h>

static void check_number(double value)
{
    struct mechc_bytes b = {0};
    struct mechc_json v = {0};
    double back = 0.;
    mechc_bytes_number(&b, value);
    CU_ASSERT_FATAL(mechc_json_open(b.at, b.length, &v));
    CU_ASSERT(mechc_json_number(v, &back));
    CU_ASSERT(memcmp(&back, &value, sizeof back) == 0);
    mechc_bytes_fini(&b);
}

static void numbers_read_back_to_the_same_bits(void)
{
    static const double values[] = {0.1,     1. / 3., -0.,     1e300,     DBL_MIN,
                                    DBL_MAX, 5e-324,  123456., 0.1 + 0.2, -2.5e-7};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        check_number(values[i]);
    }
}

static void short_numbers_are_written_short(void)
{
    struct mechc_bytes b = {0};
    mechc_bytes_number(&b, 0.1);
    mechc_bytes_text(&b, " ");
    mechc_bytes_number(&b, 2.);
    CU_ASSERT_STRING_EQUAL(b.at, "0.1 2");
    mechc_bytes_fini(&b);
}

static void strings_are_escaped(void)
{
    struct mechc_bytes b = {0};
    mechc_bytes_string(&b, "a\"b\\c\n\x01é");
    CU_ASSERT_STRING_EQUAL(b.at, "\"a\\\"b\\\\c\\u000a\\u0001é\"");
    mechc_bytes_fini(&b);
}

static void bytes_grow_and_stay_closed(void)
{
    struct mechc_bytes b = {0};
    for (int i = 0; i < 10000; i++) {
        mechc_bytes_add(&b, "ab", 2);
    }
    CU_ASSERT_EQUAL(b.length, 20000);
    CU_ASSERT_EQUAL(strlen(b.at), 20000);
    mechc_bytes_clear(&b);
    CU_ASSERT_EQUAL(strlen(b.at), 0);
    mechc_bytes_fini(&b);
}

UNIT_TESTS(UNIT_TEST(numbers_read_back_to_the_same_bits),
           UNIT_TEST(short_numbers_are_written_short), UNIT_TEST(strings_are_escaped),
           UNIT_TEST(bytes_grow_and_stay_closed))
