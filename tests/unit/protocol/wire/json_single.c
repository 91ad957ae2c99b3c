/* Objects of one number: what is read without a tree means what the tree would say. */
#include "protocol/wire/json.h"

#include "tests/unit/unit.h"

#include <stddef.h>
#include <string.h>

static bool read_text(const char *text, struct mechp_json_single *out)
{
    return mechp_json_single(text, strlen(text), out);
}

static void an_object_of_one_number_is_read_as_by_the_parser(void)
{
    static const char *const texts[] = {"{\"count\": 1}",
                                        "{\"count\":999999999999999}",
                                        "{\"count\":1234567890123456789}",
                                        " \t\r\n{ \"size\" : 0.001 } \n",
                                        "{\"size\":1e-3}",
                                        "{\"size\":2E+2}",
                                        "{\"until\":-0}",
                                        "{\"until\":-12.5e0}",
                                        "{\"until\":0.1000000000000000055511151231}",
                                        "{\"until\":4.9e-324}",
                                        "{\"until\":1e-400}",
                                        "{\"count\":0}"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct mechp_json_single one;
        struct mechp_json_fault fault;
        json_t *tree = NULL;
        CU_ASSERT_FATAL(read_text(texts[k], &one));
        CU_ASSERT_FATAL(mechp_json_parse(texts[k], strlen(texts[k]), NULL, &fault, &tree) == 0);
        const json_t *const value = json_object_get(tree, one.key);
        CU_ASSERT_FATAL(json_is_number(value));
        const double expected = json_number_value(value);
        CU_ASSERT_EQUAL(memcmp(&one.value, &expected, sizeof expected), 0);
        if (one.is_integer) {
            CU_ASSERT(json_is_integer(value));
        }
        json_decref(tree);
    }
}

static void an_integer_has_digits_alone(void)
{
    static const struct {
        const char *text;
        bool is_integer;
    } cases[] = {{"{\"count\":7}", true},
                 {"{\"count\":7.0}", false},
                 {"{\"count\":7e0}", false},
                 {"{\"count\":-7}", false},
                 {"{\"count\":1234567890123456}", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mechp_json_single one;
        CU_ASSERT_FATAL(read_text(cases[k].text, &one));
        CU_ASSERT_EQUAL(one.is_integer, cases[k].is_integer);
    }
}

static void everything_else_is_left_to_the_parser(void)
{
    static const char *const texts[] = {"",
                                        "1",
                                        "{}",
                                        "[1]",
                                        "{\"count\"}",
                                        "{\"count\":}",
                                        "{\"count\" 1}",
                                        "{\"count\":1",
                                        "{\"count\":1}}",
                                        "{\"count\":1}x",
                                        "{\"count\":1,}",
                                        "{\"count\":1,\"count\":1}",
                                        "{\"count\":01}",
                                        "{\"count\":-}",
                                        "{\"count\":+1}",
                                        "{\"count\":1.}",
                                        "{\"count\":.5}",
                                        "{\"count\":1e}",
                                        "{\"count\":1e+}",
                                        "{\"count\":0x1}",
                                        "{\"count\":NaN}",
                                        "{\"count\":1e999}",
                                        "{\"count\":\"1\"}",
                                        "{\"count\":true}",
                                        "{\"cou\\u006et\":1}",
                                        "{\"co unt\":1}",
                                        "{\"abcdefghijklmnop\":1}",
                                        "{\"count\":0.00000000000000000000000000000001}",
                                        "{count:1}"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct mechp_json_single one;
        CU_ASSERT_FALSE(read_text(texts[k], &one));
    }
    // a text that ends early is not read beyond its end
    static const char whole[] = "{\"count\": 1}";
    for (size_t size = 0; size < sizeof whole - 1; size++) {
        struct mechp_json_single one;
        CU_ASSERT_FALSE(mechp_json_single(whole, size, &one));
    }
    struct mechp_json_single one;
    static const char zero[] = "{\"count\": 1}\0";
    CU_ASSERT_FALSE(mechp_json_single(zero, sizeof zero - 1, &one));
}

UNIT_TESTS(UNIT_TEST(an_object_of_one_number_is_read_as_by_the_parser),
           UNIT_TEST(an_integer_has_digits_alone), UNIT_TEST(everything_else_is_left_to_the_parser))
