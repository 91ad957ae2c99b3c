/* Lists in one text: words, items, and elements of headers. */
#include "solver/base/words.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

/* The words of a list as [name|value]; a fault as its sentence behind them. */
static const char *words_of(const char *list)
{
    static char copy[256], out[512];
    snprintf(copy, sizeof copy, "%s", list);
    out[0] = '\0';
    char *at = copy;
    struct mech_word word;
    const char *why = NULL;
    int code;
    while ((code = mech_word_next(&at, &word, &why)) > 0) {
        const size_t n = strlen(out);
        snprintf(out + n, sizeof out - n, "[%s%s%s]", word.name, word.value ? "|" : "",
                 word.value ? word.value : "");
    }
    const size_t n = strlen(out);
    snprintf(out + n, sizeof out - n, "%s", code < 0 ? why : "");
    return out;
}

static void words_without_quotes_are_what_they_were(void)
{
    CU_ASSERT_STRING_EQUAL(words_of("rig=7,night"), "[rig|7][night]");
    CU_ASSERT_STRING_EQUAL(words_of("a="), "[a|]");
    CU_ASSERT_STRING_EQUAL(words_of("a=b=c,d=5\" pipe"), "[a|b=c][d|5\" pipe]");
    CU_ASSERT_STRING_EQUAL(words_of("a= b ,c"), "[a| b ][c]");
    CU_ASSERT_STRING_EQUAL(words_of("a\\b"), "[a\\b]");
    CU_ASSERT_STRING_EQUAL(words_of(""), "");
    CU_ASSERT_STRING_EQUAL(words_of("a,"), "[a]");
}

static void quotes_hold_separators(void)
{
    CU_ASSERT_STRING_EQUAL(words_of("only=\"left,right\",b"), "[only|left,right][b]");
    CU_ASSERT_STRING_EQUAL(words_of("\"a=b\"=\"c=d\""), "[a=b|c=d]");
    CU_ASSERT_STRING_EQUAL(words_of("a=\"say \\\"x\\\\\\\"\""), "[a|say \"x\\\"]");
    CU_ASSERT_STRING_EQUAL(words_of("a=\"\",\"\""), "[a|][]");
}

static void what_is_no_list_is_refused(void)
{
    CU_ASSERT_STRING_EQUAL(words_of("a,,b"), "[a]a word between commas is empty");
    CU_ASSERT_STRING_EQUAL(words_of(",a"), "a word between commas is empty");
    CU_ASSERT_STRING_EQUAL(words_of("=a"), "a word between commas is empty");
    CU_ASSERT_STRING_EQUAL(words_of("a=\"b,c"), "a double quote is not closed");
    CU_ASSERT_STRING_EQUAL(words_of("a=\"b\\"), "a double quote is not closed");
    CU_ASSERT_STRING_EQUAL(words_of("a=\"b\"c"),
                           "after a closing double quote a comma is expected");
}

static void items_know_no_equals_sign(void)
{
    char copy[] = "unix:/tmp/a=b,\"unix:/tmp/a,b\"";
    char *at = copy, *item = NULL;
    const char *why = NULL;
    CU_ASSERT_EQUAL_FATAL(mech_item_next(&at, &item, &why), 1);
    CU_ASSERT_STRING_EQUAL(item, "unix:/tmp/a=b");
    CU_ASSERT_EQUAL_FATAL(mech_item_next(&at, &item, &why), 1);
    CU_ASSERT_STRING_EQUAL(item, "unix:/tmp/a,b");
    CU_ASSERT_EQUAL(mech_item_next(&at, &item, &why), 0);
}

static void elements_of_headers_keep_their_quotes(void)
{
    const char *rest = " gzip;q=0.5 ,, text/plain;x=\"a,\\\"b;q=0\";q=0.25 ,br";
    size_t n = 0;
    const char *at = mech_element_next(&rest, &n);
    CU_ASSERT_EQUAL(n, strlen("gzip;q=0.5"));
    CU_ASSERT_DOUBLE_EQUAL(mech_element_weight(at, n), 0.5, 0.);
    at = mech_element_next(&rest, &n);
    CU_ASSERT_EQUAL(n, strlen("text/plain;x=\"a,\\\"b;q=0\";q=0.25"));
    CU_ASSERT_DOUBLE_EQUAL(mech_element_weight(at, n), 0.25, 0.);
    at = mech_element_next(&rest, &n);
    CU_ASSERT_EQUAL(n, 2);
    CU_ASSERT_DOUBLE_EQUAL(mech_element_weight(at, n), 1., 0.);
    CU_ASSERT_PTR_NULL(mech_element_next(&rest, &n));
    CU_ASSERT_PTR_NULL(mech_element_next(&rest, &n));
}

UNIT_TESTS(UNIT_TEST(words_without_quotes_are_what_they_were), UNIT_TEST(quotes_hold_separators),
           UNIT_TEST(what_is_no_list_is_refused), UNIT_TEST(items_know_no_equals_sign),
           UNIT_TEST(elements_of_headers_keep_their_quotes))
