/* The writer of JSON text: commas, escapes, numbers that come back to the bit, growth, failure. */
#include "protocol/wire/text.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The whole text as a string in a static buffer. */
static const char *text_of(const struct mechp_text *w)
{
    static char text[4096];
    snprintf(text, sizeof text, "%.*s", (int)w->length, w->length > 0 ? w->bytes : "");
    return text;
}

static const char letters[] = "abcdefghijklmnopqrs";

static void write_sample(struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_key(w, "a");
    mechp_text_number(w, 0.1);
    mechp_text_literal(w, "b");
    mechp_text_array(w);
    mechp_text_integer(w, -3);
    mechp_text_unsigned(w, UINT64_MAX);
    mechp_text_integer(w, INT64_MIN);
    mechp_text_array(w);
    mechp_text_end(w);
    mechp_text_object(w);
    mechp_text_end(w);
    mechp_text_bool(w, true);
    mechp_text_null(w);
    mechp_text_end(w);
    mechp_text_key(w, "c");
    mechp_text_string(w, NULL);
    mechp_text_literal(w, "d");
    mechp_text_numbers(w, (const double[]){1., 2.5, -0.}, 3);
    mechp_text_key(w, "e");
    mechp_text_raw(w, "[]", 2);
    mechp_text_key_plain(w, "f");
    mechp_text_object(w);
    // of all lengths
    for (size_t n = 1; n < sizeof letters; n++) {
        mechp_text_key_plain(w, letters + sizeof letters - 1 - n);
        mechp_text_unsigned(w, n);
    }
    mechp_text_end(w);
    mechp_text_end(w);
}

static const char sample[] =
    "{\"a\":0.1,\"b\":[-3,18446744073709551615,-9223372036854775808,[],{},true,nu"
    "ll],\"c\":null,\"d\":[1,2.5,-0.0],\"e\":[],\"f\":{\"s\":1,\"rs\":2,\"qrs\":3"
    ",\"pqrs\":4,\"opqrs\":5,\"nopqrs\":6,\"mnopqrs\":7,\"lmnopqrs\":8,\"klmnopqr"
    "s\":9,\"jklmnopqrs\":10,\"ijklmnopqrs\":11,\"hijklmnopqrs\":12,\"ghijklmnopq"
    "rs\":13,\"fghijklmnopqrs\":14,\"efghijklmnopqrs\":15,\"defghijklmnopqrs\":16"
    ",\"cdefghijklmnopqrs\":17,\"bcdefghijklmnopqrs\":18,\"abcdefghijklmnopqrs\":"
    "19}}";

static void commas_stand_between_values_and_nowhere_else(void)
{
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    write_sample(&w);
    CU_ASSERT_STRING_EQUAL(text_of(&w), sample);
    CU_ASSERT_EQUAL(w.depth, 0);
    CU_ASSERT_FALSE(w.failed);
    mechp_text_fini(&w);
}

static void borrowed_buffers_of_every_size_give_the_same_text(void)
{
    char buffer[600];
    for (size_t size = 0; size < sizeof buffer; size++) {
        struct mechp_text w;
        size_t length;
        mechp_text_init(&w, buffer, size);
        write_sample(&w);
        CU_ASSERT_STRING_EQUAL(text_of(&w), sample);
        char *const taken = mechp_text_take(&w, &length);
        CU_ASSERT_EQUAL(length, sizeof sample - 1);
        CU_ASSERT(taken != NULL && memcmp(taken, sample, length) == 0);
        free(taken);
    }
}

static void strings_are_escaped_and_bad_utf8_is_replaced(void)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"a\"b\\c/", "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t\x01\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"x\xc3", "\"x\\ufffd\""},                     // cut
        {"\xc0\x80", "\"\\ufffd\\ufffd\""},            // overlong
        {"\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""}, // surrogate
        {"\xf5\x80", "\"\\ufffd\\ufffd\""},            // beyond U+10FFFF
        {"\x80z", "\"\\ufffdz\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mechp_text w;
        mechp_text_init(&w, NULL, 0);
        mechp_text_string(&w, cases[i].in);
        CU_ASSERT_STRING_EQUAL(text_of(&w), cases[i].out);
        mechp_text_fini(&w);
    }
}

/* A fixed sequence of 64-bit numbers (Marsaglia's xorshift). */
static uint64_t next(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

static void numbers_read_back_to_the_same_bits(void)
{
    uint64_t seed = 88172645463325252u;
    int wrong = 0;
    int longest = 0;
    for (int i = 0; i < 200000; i++) {
        const uint64_t bits = next(&seed);
        double x;
        memcpy(&x, &bits, sizeof x);
        char text[40];
        if (isfinite(x)) {
            const size_t n = mechp_number_text(x, text);
            text[n] = '\0';
            longest = (int)n > longest ? (int)n : longest;
            const double back = strtod(text, NULL);
            wrong += memcmp(&x, &back, sizeof x) != 0;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(longest <= 24 && longest > 20);
}

static void numbers_are_shortest_and_plain_when_that_is_short(void)
{
    static const struct {
        double x;
        const char *text;
    } cases[] = {{0., "0"},
                 {-0., "-0.0"},
                 {2., "2"},
                 {0.1, "0.1"},
                 {1e22, "1e+22"},
                 {1e-7, "1e-07"},
                 {-1.5e300, "-1.5e+300"},
                 {NAN, "null"},
                 {-HUGE_VAL, "null"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[40];
        text[mechp_number_text(cases[i].x, text)] = '\0';
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
}

static void too_deep_or_unbalanced_text_fails(void)
{
    struct mechp_text w;
    size_t length;
    mechp_text_init(&w, NULL, 0);
    for (int i = 0; i < MECHP_TEXT_DEPTH; i++) {
        mechp_text_array(&w);
    }
    CU_ASSERT_FALSE(w.failed);
    mechp_text_array(&w);
    CU_ASSERT_TRUE(w.failed);
    CU_ASSERT_EQUAL(mechp_text_take(&w, &length), NULL);
    mechp_text_end(&w);
    CU_ASSERT_TRUE(w.failed);
    mechp_text_fini(&w);
}

static void pretty_text_breaks_only_what_does_not_fit(void)
{
    static const char json[] =
        "{\"short\":[1,2,{\"a\":\"x,y:{\\\"\"}],\"long\":["
        "\"0123456789012345678901234567890123456789\","
        "\"0123456789012345678901234567890123456789\",\"0123456789012345678901234567890\",{}]}";
    static const char expected[] =
        "{\n  \"short\": [1, 2, {\"a\": \"x,y:{\\\"\"}],\n  \"long\": [\n"
        "    \"0123456789012345678901234567890123456789\",\n"
        "    \"0123456789012345678901234567890123456789\",\n"
        "    \"0123456789012345678901234567890\",\n    {}\n  ]\n}";
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_text_pretty(&w, json, sizeof json - 1);
    CU_ASSERT_STRING_EQUAL(text_of(&w), expected);
    mechp_text_fini(&w);
}

/* the place is that of the first, as a pointer; members that may be null are no fault */
static void a_number_that_is_not_finite_is_noted_with_its_place(void)
{
    struct mechp_text w;
    char place[64], cut[8];
    mechp_text_init(&w, NULL, 0);
    mechp_text_object(&w);
    mechp_text_key(&w, "none");
    mechp_text_number_or_null(&w, (double)NAN);
    CU_ASSERT_FALSE(mechp_text_beyond(&w, place, sizeof place));
    mechp_text_member_string(&w, "text", "a\":[{,");
    mechp_text_key(&w, "a/b~");
    mechp_text_array(&w);
    mechp_text_numbers(&w, (const double[]){1., 2.}, 2);
    mechp_text_object(&w);
    mechp_text_key(&w, "x");
    mechp_text_numbers(&w, (const double[]){1., 2., (double)INFINITY}, 3);
    mechp_text_member_number(&w, "y", (double)NAN);
    mechp_text_end(&w);
    mechp_text_end(&w);
    mechp_text_end(&w);
    CU_ASSERT_TRUE(mechp_text_beyond(&w, place, sizeof place));
    CU_ASSERT_STRING_EQUAL(place, "/a~1b~0/1/x/2");
    CU_ASSERT_TRUE(mechp_text_beyond(&w, cut, sizeof cut));
    CU_ASSERT_STRING_EQUAL(cut, "/a~1b~0");
    mechp_text_fini(&w);

    mechp_text_init(&w, NULL, 0);
    mechp_text_object(&w);
    mechp_text_member_number(&w, "time", -(double)INFINITY);
    mechp_text_end(&w);
    CU_ASSERT_TRUE(mechp_text_beyond(&w, place, sizeof place));
    CU_ASSERT_STRING_EQUAL(place, "/time");
    mechp_text_fini(&w);
}

static void pieces_are_one_text(void)
{
    struct mechp_text w;
    mechp_text_init(&w, NULL, 0);
    mechp_text_object(&w);
    mechp_text_key_of(&w, (const char *const[]){"left", ".", "a\"b"}, 3);
    mechp_text_array(&w);
    mechp_text_string_of(&w, (const char *const[]){"", "J[1,2]", "\n"}, 3);
    mechp_text_string_of(&w, NULL, 0);
    mechp_text_end(&w);
    mechp_text_key(&w, "c");
    mechp_text_null(&w);
    mechp_text_end(&w);
    CU_ASSERT_STRING_EQUAL(text_of(&w), "{\"left.a\\\"b\":[\"J[1,2]\\n\",\"\"],\"c\":null}");
    mechp_text_fini(&w);
}

UNIT_TESTS(UNIT_TEST(pieces_are_one_text), UNIT_TEST(commas_stand_between_values_and_nowhere_else),
           UNIT_TEST(borrowed_buffers_of_every_size_give_the_same_text),
           UNIT_TEST(strings_are_escaped_and_bad_utf8_is_replaced),
           UNIT_TEST(numbers_read_back_to_the_same_bits),
           UNIT_TEST(numbers_are_shortest_and_plain_when_that_is_short),
           UNIT_TEST(too_deep_or_unbalanced_text_fails),
           UNIT_TEST(a_number_that_is_not_finite_is_noted_with_its_place),
           UNIT_TEST(pretty_text_breaks_only_what_does_not_fit))
