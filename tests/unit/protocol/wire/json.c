/* The guarded parse: what it refuses and where, and the members of objects. */
#include "protocol/wire/json.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static int parse(const char *text, struct mechp_json_fault *fault, json_t **out)
{
    return mechp_json_parse(text, strlen(text), &mechp_json_limits_request, fault, out);
}

static void malformed_text_is_refused_with_its_place(void)
{
    static const struct {
        const char *text;
        int line, column;
    } cases[] = {
        {"", 1, 1},
        {"{\"a\": 1,\n \"a\": 2}", 2, 4},
        {"[1,\n2,\n NaN]", 3, 4},
        {"[1e400]", 1, 6},
        {"{\"model\": ", 1, 10},
        {"[1] x", 1, 5},
        {"[\"\\u0000\"]", 1, 9},
        {"[\"\xff\"]", 1, 3},
        {"[+1]", 1, 2},
        {"[Infinity]", 1, 9},
        {"[01]", 1, 2},
        {"{'a':1}", 1, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mechp_json_fault fault;
        json_t *root;
        CU_ASSERT_EQUAL(parse(cases[i].text, &fault, &root), MECH_INVALID);
        CU_ASSERT_EQUAL(root, NULL);
        CU_ASSERT_EQUAL(fault.code, MECHP_MALFORMED_JSON);
        CU_ASSERT_EQUAL(fault.line, cases[i].line);
        CU_ASSERT_EQUAL(fault.column, cases[i].column);
        CU_ASSERT(fault.text[0] != '\0');
    }
}

static void what_is_not_seen_is_named_with_its_place(void)
{
    static const struct {
        const char *text;
        size_t size;
        const char *sentence;
    } cases[] = {
        {"{\"\xc3\xa4\":\xc2\xa0"
         "1}",
         9, "line 1, column 6: U+00A0 (no-break space)"},
        {"[\n 1\xe2\x80\x8b]", 8, "line 2, column 3: U+200B (zero width space)"},
        {"\xef\xbb\xbf\xef\xbb\xbf[]", 8, "line 1, column 1: U+FEFF (byte order mark)"},
        {"[\"\x01\"]", 5, "line 1, column 3: U+0001"},
        {"[\xe2\x80\x9c"
         "a]",
         6, "line 1, column 2: U+201C"},
        // behind a backslash too, and what a string has there is no fault of its own
        {"[\"\\\xc3\xa4\"]", 7, "line 1, column 4: U+00E4 is not allowed after a backslash"},
        {"[\"\\\xc2\xa0\"]", 7, "line 1, column 4: U+00A0 (no-break space) is not allowed after"},
        {"[\"\\\x01\"]", 6, "line 1, column 4: U+0001 is not allowed after a backslash"},
        {"[\"\\\xff\"]", 6, "line 1, column 4: the byte 0xff (not UTF-8) is not allowed here"},
        {"[\"\\u12\xe2\x80\x8b"
         "4\"]",
         12, "line 1, column 7: U+200B (zero width space) is not allowed after a backslash"},
        {"[\"\\u12\"\xc3\xa4\"]", 11, "line 1, column 7: invalid escape"},
        {"[\"\\x\n\"]", 7, "line 1, column 4: invalid escape"},
        {"[\"\\u12?\xff\"]", 10, "line 1, column 7: invalid escape"},
        {"[?\xc2\xa0]", 5, "line 1, column 2: invalid token"},
        {"[?\xff]", 4, "line 1, column 2: invalid token"},
        {"[\"\xc3\xa4\\x\"]", 8, "line 1, column 5: invalid escape"},
        {"[\"\\\"\xc3\xa4\\\\\",?]", 12, "line 1, column 10: invalid token"},
        {"[\"\\\\\"\xc2\xa0]", 8, "line 1, column 6: U+00A0 (no-break space)"},
        {"[\"a\nb\"]", 7, "line 1, column 4: U+000A must be written as an escape in a string"},
        {"{\0}\0", 4, "the text is UTF-16"},
        {"\xff\xfe{\0}\0", 6, "the text is UTF-16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mechp_json_fault fault;
        json_t *root;
        CU_ASSERT_EQUAL(mechp_json_parse(cases[i].text, cases[i].size, &mechp_json_limits_request,
                                         &fault, &root),
                        MECH_INVALID);
        CU_ASSERT_EQUAL(fault.code, MECHP_MALFORMED_JSON);
        CU_ASSERT_EQUAL(strncmp(fault.text, cases[i].sentence, strlen(cases[i].sentence)), 0);
    }
}

static void a_mark_of_utf_8_means_nothing(void)
{
    struct mechp_json_fault fault;
    json_t *root;
    CU_ASSERT_EQUAL(parse("\xef\xbb\xbf{\"\xc3\xa4\": [1]}", &fault, &root), 0);
    CU_ASSERT(json_is_object(root));
    json_decref(root);
    CU_ASSERT_EQUAL(parse("\xef\xbb\xbf[?]", &fault, &root), MECH_INVALID);
    CU_ASSERT_EQUAL(fault.column, 2);
}

static void messages_that_are_meant_as_json_are_known(void)
{
    static const struct {
        const char *text;
        size_t size;
        bool json;
    } cases[] = {
        {"{}", 2, true},
        {" \r\n\t{}", 6, true},
        {" ", 1, true},
        {"\xef\xbb\xbf{}", 5, true},
        {"\xef\xbb\xbf", 3, true},
        {"{\0}\0", 4, true},
        {"\xc2\xa0{}", 4, true},
        {"\xe2\x80\x8b{}", 5, true},
        {"", 0, false},
        {"MCHD", 4, false},
        {"about", 5, false},
        {"\xff{}", 3, false},
        {"\0\0\0\0", 4, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CU_ASSERT_EQUAL(mechp_json_begins(cases[i].text, cases[i].size), cases[i].json);
    }
}

static void blank_text_does_not_reach_the_parser(void)
{
    static const char *const blank[] = {" ", "\t \r\n", " \n "};
    static const int columns[] = {2, 1, 2};
    struct mechp_json_fault fault;
    struct mechp_json_scan scan;
    for (size_t i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(
            mechp_json_guard(blank[i], strlen(blank[i]), &mechp_json_limits_request, &fault, &scan),
            MECH_INVALID);
        CU_ASSERT_EQUAL(fault.code, MECHP_MALFORMED_JSON);
        CU_ASSERT_EQUAL(fault.line, i == 0 ? 1 : 2);
        CU_ASSERT_EQUAL(fault.column, columns[i]);
        CU_ASSERT_EQUAL(fault.byte, strlen(blank[i]));
    }
    CU_ASSERT_EQUAL(mechp_json_guard(" 1", 2, &mechp_json_limits_request, &fault, &scan), 0);
}

static void depth_is_bounded_before_a_tree_is_built(void)
{
    char text[200];
    struct mechp_json_fault fault;
    json_t *root;
    for (int depth = 30; depth <= 36; depth++) {
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        text[2 * depth] = '\0';
        const int code = parse(text, &fault, &root);
        CU_ASSERT_EQUAL(code, depth <= 32 ? 0 : MECH_INVALID);
        json_decref(root);
    }
    CU_ASSERT_EQUAL(fault.code, MECHP_MALFORMED_JSON);
    CU_ASSERT_EQUAL(fault.byte, 32);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "deeper than 32"));
    // brackets in strings do not count
    memset(text, '[', 100);
    text[0] = text[99] = '"';
    text[100] = '\0';
    CU_ASSERT_EQUAL(parse(text, &fault, &root), 0);
    json_decref(root);
}

static void size_and_number_of_values_are_bounded(void)
{
    const struct mechp_json_limits limits = {.bytes = 20, .tree = 300, .depth = 3};
    struct mechp_json_fault fault;
    json_t *root;
    CU_ASSERT_EQUAL(mechp_json_parse("[1,2,3]", 7, &limits, &fault, &root), 0);
    json_decref(root);
    CU_ASSERT_EQUAL(mechp_json_parse("[1,2,3,4,5]", 11, &limits, &fault, &root), MECH_INVALID);
    CU_ASSERT_EQUAL(fault.code, MECHP_BODY_TOO_LARGE);
    CU_ASSERT_EQUAL(mechp_json_parse("{\"a\":1,\"b\":2,\"c\":3}", 19, &limits, &fault, &root),
                    MECH_INVALID);
    CU_ASSERT_EQUAL(fault.code, MECHP_BODY_TOO_LARGE);
    CU_ASSERT_EQUAL(mechp_json_parse("[                     ]", 23, &limits, &fault, &root),
                    MECH_INVALID);
    CU_ASSERT_EQUAL(fault.code, MECHP_BODY_TOO_LARGE);
}

static void wide_integers_and_minus_zero_keep_their_value(void)
{
    struct mechp_json_fault fault;
    json_t *root;
    CU_ASSERT_EQUAL(parse("[100000000000000000000, 1]", &fault, &root), 0);
    CU_ASSERT_EQUAL(mechp_json_value(json_array_get(root, 0)), 1e20);
    json_decref(root);
    CU_ASSERT_EQUAL(parse("[-0, 1]", &fault, &root), 0);
    CU_ASSERT(signbit(mechp_json_value(json_array_get(root, 0))));
    json_decref(root);
    // others stay integers, exact beyond 2^53
    CU_ASSERT_EQUAL(parse("[900719925474099311]", &fault, &root), 0);
    CU_ASSERT_EQUAL(json_integer_value(json_array_get(root, 0)), 900719925474099311);
    json_decref(root);
}

static void members_are_read_and_faults_have_their_pointer(void)
{
    struct mechp_json_fault fault;
    struct mech_diag d;
    json_t *root;
    double number = 7.;
    int64_t integer = 7;
    bool flag = false;
    const char *string = NULL;
    const json_t *inner = NULL;
    mech_diag_init(&d);
    CU_ASSERT_EQUAL(
        parse("{\"n\":2.5,\"i\":2.0,\"b\":true,\"s\":\"x\",\"o\":{},\"a\":[],\"a/b\":null}", &fault,
              &root),
        0);
    const struct mechp_json_in in = {root, "", &d};
    CU_ASSERT(mechp_json_number(root, "n", &d, &number) && number == 2.5);
    CU_ASSERT(mechp_json_integer(root, "i", &d, 0, 2, &integer) && integer == 2);
    CU_ASSERT(mechp_json_bool_in(&in, "b", &flag) && flag);
    CU_ASSERT(mechp_json_string_in(&in, "s", &string) && strcmp(string, "x") == 0);
    CU_ASSERT(mechp_json_object_in(&in, "o", &inner) && json_is_object(inner));
    CU_ASSERT(mechp_json_array_in(&in, "a", &inner) && json_is_array(inner));
    CU_ASSERT(!mechp_json_number(root, "absent", &d, &number) && mech_diag_clean(&d));
    // each wrong one
    CU_ASSERT(!mechp_json_number(root, "a/b", &d, &number));
    CU_ASSERT(!mechp_json_integer(root, "n", &d, 0, 9, &integer));
    CU_ASSERT(!mechp_json_integer(root, "i", &d, 3, 9, &integer));
    CU_ASSERT(!mechp_json_bool_in(&in, "n", &flag));
    CU_ASSERT(!mechp_json_string_in(&in, "n", &string));
    CU_ASSERT(!mechp_json_object_in(&in, "a", &inner));
    CU_ASSERT(!mechp_json_array_in(&in, "o", &inner));
    CU_ASSERT_EQUAL(d.total, 7);
    CU_ASSERT_STRING_EQUAL(d.entries[0].path, "/a~1b");
    CU_ASSERT_STRING_EQUAL(d.entries[2].text, "must be between 3 and 9");
    mech_diag_fini(&d);
    json_decref(root);
}

static void arrays_of_numbers_are_bounded(void)
{
    struct mech_diag d;
    double out[3] = {9., 9., 9.};
    size_t count = 9;
    mech_diag_init(&d);
    json_t *const three = json_pack("[f,i,f]", 1.5, 2, -1.);
    json_t *const word = json_pack("[s]", "x");
    json_t *const one = json_real(4.);
    CU_ASSERT(mechp_json_numbers(three, "/x", &d, 3, out, &count) && count == 3 && out[1] == 2.);
    CU_ASSERT(mechp_json_numbers(one, "/x", &d, 3, out, &count) && count == 1 && out[0] == 4.);
    CU_ASSERT(mech_diag_clean(&d));
    CU_ASSERT(!mechp_json_numbers(three, "/x", &d, 2, out, &count));
    CU_ASSERT(!mechp_json_numbers(word, "/x", &d, 3, out, &count));
    CU_ASSERT(!mechp_json_numbers(NULL, "/x", &d, 3, out, &count));
    CU_ASSERT_EQUAL(d.total, 3);
    json_decref(three);
    json_decref(word);
    json_decref(one);
    mech_diag_fini(&d);
}

static void unknown_keys_come_with_what_was_meant(void)
{
    static const char *const allowed[] = {"size", "until", "count", NULL};
    struct mech_diag d;
    mech_diag_init(&d);
    json_t *const object = json_pack("{s:i,s:i,s:i}", "size", 1, "utnil", 2, "something", 3);
    mechp_json_only(object, "/step", allowed, &d);
    CU_ASSERT_EQUAL(d.total, 2);
    CU_ASSERT_STRING_EQUAL(d.entries[0].path, "/step/utnil");
    CU_ASSERT_STRING_EQUAL(d.entries[0].text, "unknown key 'utnil', did you mean 'until'?");
    CU_ASSERT_STRING_EQUAL(d.entries[1].text, "unknown key 'something'");
    json_decref(object);
    mech_diag_fini(&d);
}

/* The member "s" of a text, or "" where there is none. */
static const char *member_text(const char *text)
{
    static char out[64];
    size_t n = 0;
    const char *const at = mechp_json_member_text(text, strlen(text), "s", &n);
    snprintf(out, sizeof out, "%.*s", (int)n, at != NULL ? at : "");
    return out;
}

static void a_member_is_found_as_it_was_written(void)
{
    CU_ASSERT_STRING_EQUAL(member_text("{\"s\":1e2}"), "1e2");
    CU_ASSERT_STRING_EQUAL(member_text(" { \"a\" : {\"s\":1} , \"s\" : [ 1 , \"]\" ] } "),
                           "[ 1 , \"]\" ]");
    CU_ASSERT_STRING_EQUAL(member_text("{\"a\":\"\\\"s\\\":2\",\"\\u0073\":\"x\\\"\"}"),
                           "\"x\\\"\"");
    CU_ASSERT_STRING_EQUAL(member_text("{\"a\":[{\"s\":1}],\"ss\":2}"), "");
    CU_ASSERT_STRING_EQUAL(member_text("{}"), "");
    CU_ASSERT_STRING_EQUAL(member_text("[\"s\",1]"), "");
    CU_ASSERT_STRING_EQUAL(member_text("{\"s\":"), "");
}

static void integers_of_64_bits_stay_integers(void)
{
    static const char *const texts[] = {"9223372036854775807", "-9223372036854775807",
                                        "1764084000123456789"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct mechp_json_fault fault;
        json_t *root = NULL;
        CU_ASSERT_EQUAL(mechp_json_parse(texts[k], strlen(texts[k]), NULL, &fault, &root), 0);
        char text[32];
        snprintf(text, sizeof text, "%lld", (long long)json_integer_value(root));
        CU_ASSERT_STRING_EQUAL(text, texts[k]);
        json_decref(root);
    }
}

static void a_tree_is_written_as_it_was_read(void)
{
    static const char text[] =
        "{\"b\":[1,-2.5,0.1,1e-300,true,false,null],\"a\":{\"x\":\"ä \\\"\"},"
        "\"n\":9007199254740993,\"e\":[],\"o\":{}}";
    struct mechp_json_fault fault;
    struct mechp_text w;
    json_t *root = NULL;
    CU_ASSERT_EQUAL_FATAL(parse(text, &fault, &root), 0);
    mechp_text_init(&w, NULL, 0);
    mechp_json_write(root, &w);
    CU_ASSERT_FALSE(w.failed);
    CU_ASSERT_EQUAL_FATAL(w.length, sizeof text - 1);
    CU_ASSERT_EQUAL(memcmp(w.bytes, text, w.length), 0);
    mechp_text_fini(&w);
    json_decref(root);
}

UNIT_TESTS(UNIT_TEST(a_tree_is_written_as_it_was_read),
           UNIT_TEST(a_member_is_found_as_it_was_written),
           UNIT_TEST(integers_of_64_bits_stay_integers),
           UNIT_TEST(malformed_text_is_refused_with_its_place),
           UNIT_TEST(what_is_not_seen_is_named_with_its_place),
           UNIT_TEST(a_mark_of_utf_8_means_nothing),
           UNIT_TEST(messages_that_are_meant_as_json_are_known),
           UNIT_TEST(blank_text_does_not_reach_the_parser),
           UNIT_TEST(depth_is_bounded_before_a_tree_is_built),
           UNIT_TEST(size_and_number_of_values_are_bounded),
           UNIT_TEST(wide_integers_and_minus_zero_keep_their_value),
           UNIT_TEST(members_are_read_and_faults_have_their_pointer),
           UNIT_TEST(arrays_of_numbers_are_bounded),
           UNIT_TEST(unknown_keys_come_with_what_was_meant))
