/* Reading JSON in place: what is accepted, what is refused, and what the values are. */
#include "clients/c/scan.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool opens(const char *text, struct mechc_json *out)
{
    struct mechc_json v;
    return mechc_json_open(text, strlen(text), out ? out : &v);
}

static void well_formed_texts_are_accepted(void)
{
    static const char *const texts[] = {
        "null",       " true ",    "-0.5e+3",     "[]",
        "{}",         "[1, 2,3 ]", "\"\\u00e9\"", "{\"a\":{\"b\":[{}]}}",
        "\"a\\\"b\"", "0",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CU_ASSERT(opens(texts[i], NULL));
    }
}

static void malformed_texts_are_refused(void)
{
    static const char *const texts[] = {
        "",           " ",       "01",       "1.",    "-",     "+1",      "tru",  "[1,]",
        "[1 2]",      "{\"a\"}", "{\"a\":}", "{a:1}", "\"abc", "\"\\x\"", "1 2",  "\"\\u12g4\"",
        "{\"a\":1,}", "]",       "\"\n\"",   "nan",   "1e",    "[",       "\"\\", "\"\\u12",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        CU_ASSERT(!opens(texts[i], NULL));
    }
    // a zero byte ends no text
    struct mechc_json v;
    CU_ASSERT(!mechc_json_open("1\0", 2, &v));
    CU_ASSERT(!mechc_json_open("\"\\\0\"", 4, &v));
}

static void deep_nesting_is_refused(void)
{
    char text[400];
    memset(text, '[', sizeof text);
    struct mechc_json v;
    CU_ASSERT(!mechc_json_open(text, sizeof text, &v));
    // 60 levels, closed
    memset(text + 60, ']', 60);
    CU_ASSERT(mechc_json_open(text, 120, &v));
    memset(text, '[', 100);
    memset(text + 100, ']', 100);
    CU_ASSERT(!mechc_json_open(text, 200, &v));
}

static void members_are_found_by_path(void)
{
    struct mechc_json root, v;
    uint64_t n = 0;
    CU_ASSERT_FATAL(opens("{\"x\":[{\"steps\":3}],\"report\":{\"other\":1,\"steps\":7}}", &root));
    CU_ASSERT(mechc_json_member(root, "report/steps", &v) && mechc_json_unsigned(v, &n));
    CU_ASSERT_EQUAL(n, 7);
    CU_ASSERT(!mechc_json_member(root, "steps", &v));
    CU_ASSERT(!mechc_json_member(root, "report/steps/deeper", &v));
    CU_ASSERT(!mechc_json_member(root, "x/steps", &v));
}

static void names_of_any_length_and_with_slashes_are_found(void)
{
    struct mechc_json root, v;
    char text[1200], name[600];
    memset(name, 'n', sizeof name);
    memcpy(name + sizeof name - sizeof "a/b", "a/b", sizeof "a/b");
    snprintf(text, sizeof text, "{\"a\":{\"b\":1},\"a/b\":[],\"%s\":{},\"\\u00e9/\\n\":null}",
             name);
    CU_ASSERT_FATAL(opens(text, &root));
    CU_ASSERT(mechc_json_named(root, "a/b", &v) && mechc_json_kind(v) == '[');
    CU_ASSERT(mechc_json_named(root, name, &v) && mechc_json_kind(v) == '{');
    CU_ASSERT(mechc_json_named(root, "\xc3\xa9/\n", &v) && mechc_json_kind(v) == 'n');
    CU_ASSERT(!mechc_json_named(root, name + 1, &v));
    CU_ASSERT(!mechc_json_named(root, "", &v));
    CU_ASSERT(mechc_json_member(root, "a/b", &v) && mechc_json_kind(v) == '0');
}

static void a_walk_sees_every_element_once(void)
{
    struct mechc_json root;
    CU_ASSERT_FATAL(opens(" [ 1 , [2,3] , {\"a\":[4]} , \"],[\" , null ] ", &root));
    CU_ASSERT_EQUAL(mechc_json_count(root), 5);
    static const char kinds[] = "0[{\"n";
    size_t i = 0;
    for (struct mechc_json_walk w = mechc_json_walk(root); mechc_json_next(&w); i++) {
        CU_ASSERT_EQUAL(mechc_json_kind(w.value), kinds[i]);
    }
    CU_ASSERT_EQUAL(i, 5);
    CU_ASSERT_FATAL(opens("12", &root));
    CU_ASSERT_EQUAL(mechc_json_count(root), 0);
}

static void numbers_keep_all_their_bits(void)
{
    struct mechc_json v;
    double x = 0.;
    CU_ASSERT(opens("0.30000000000000004", &v) && mechc_json_number(v, &x));
    CHECK_NEAR(x, 0.1 + 0.2, 0.);
    CU_ASSERT(opens("-1e-3", &v) && mechc_json_number(v, &x));
    CHECK_NEAR(x, -1e-3, 0.);
    CU_ASSERT(opens("\"1\"", &v) && !mechc_json_number(v, &x));
    uint64_t n = 0;
    CU_ASSERT(opens("18446744073709551609", &v) && mechc_json_unsigned(v, &n));
    CU_ASSERT(n == 18446744073709551609u);
    CU_ASSERT(opens("99999999999999999999", &v) && !mechc_json_unsigned(v, &n));
    CU_ASSERT(opens("1.5", &v) && !mechc_json_unsigned(v, &n));
}

static void strings_are_decoded(void)
{
    struct mechc_json v;
    char text[64];
    CU_ASSERT_FATAL(opens("\"a\\n\\\"\\u00e9\\ud83d\\ude00\\ud800!\"", &v));
    CU_ASSERT_EQUAL(mechc_json_text(v, text, sizeof text), 13);
    CU_ASSERT_STRING_EQUAL(text, "a\n\"\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd!");
    // cut before the character that does not fit
    CU_ASSERT_EQUAL(mechc_json_text(v, text, 5), 13);
    CU_ASSERT_STRING_EQUAL(text, "a\n\"");
    CU_ASSERT(mechc_json_is(v, "a\n\"\xc3\xa9\xf0\x9f\x98\x80\xef\xbf\xbd!"));
    CU_ASSERT(!mechc_json_is(v, "a\n\""));
}

/* Every value that a walk visits is JSON by itself; every read stays inside the allocation, or a
 * sanitizer speaks. */
static bool walk_all(struct mechc_json v)
{
    char text[16];
    double x;
    struct mechc_json again;
    mechc_json_text(v, text, sizeof text);
    mechc_json_number(v, &x);
    bool good = mechc_json_open(v.at, (size_t)(v.end - v.at), &again) && again.end == v.end;
    for (struct mechc_json_walk w = mechc_json_walk(v); good && mechc_json_next(&w);) {
        good = w.value.at >= v.at && w.value.end <= v.end && walk_all(w.value);
    }
    return good;
}

static void damaged_texts_are_refused_or_walked_inside_their_bytes(void)
{
    static const char whole[] =
        "{\"a\":[1,-2.5e3,{\"b\":\"x\\u00e9\\n\"}],\"c\":null,\"d\":[[],{}]}";
    static const char bytes[] = "{}[]\",:\\u0e-. tfn";
    const size_t size = sizeof whole - 1;
    uint32_t seed = 1;
    size_t accepted = 0;
    for (int i = 0; i < 20000; i++) {
        // a copy of the exact size, cut somewhere, with up to three bytes replaced
        seed = seed * 1664525u + 1013904223u;
        const size_t length = seed >> 30 ? size : (seed >> 8) % size;
        char *const text = malloc(length ? length : 1);
        CU_ASSERT_FATAL(text != NULL);
        memcpy(text, whole, length);
        for (int k = 0; k < 3 && length > 0; k++) {
            seed = seed * 1664525u + 1013904223u;
            text[(seed >> 8) % length] = bytes[(seed >> 4) % (sizeof bytes - 1)];
        }
        struct mechc_json v;
        if (mechc_json_open(text, length, &v)) {
            accepted++;
            CU_ASSERT(walk_all(v));
        }
        free(text);
    }
    // some of the damage leaves JSON, most does not
    CU_ASSERT(accepted > 20 && accepted < 10000);
}

UNIT_TESTS(UNIT_TEST(well_formed_texts_are_accepted), UNIT_TEST(malformed_texts_are_refused),
           UNIT_TEST(deep_nesting_is_refused), UNIT_TEST(members_are_found_by_path),
           UNIT_TEST(names_of_any_length_and_with_slashes_are_found),
           UNIT_TEST(a_walk_sees_every_element_once), UNIT_TEST(numbers_keep_all_their_bits),
           UNIT_TEST(strings_are_decoded),
           UNIT_TEST(damaged_texts_are_refused_or_walked_inside_their_bytes))
