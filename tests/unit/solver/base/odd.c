/* Characters that are not seen: which they are, where, and how a sentence shows them. */
#include "solver/base/odd.h"

#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void letters_of_any_script_are_seen(void)
{
    static const char *const texts[] = {"",         "a\tb\r\n",     "\xc3\xa4",
                                        "\xce\xb1", "\xe4\xb8\xad", "\xf0\x9f\x98\x80"};
    struct mech_odd odd;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        CU_ASSERT_FALSE(mech_text_odd(texts[k], strlen(texts[k]), &odd));
    }
}

static void what_is_not_seen_is_named_with_its_place(void)
{
    static const struct {
        const char *text;
        int line, column;
        const char *name;
    } cases[] = {
        {"a\xc2\xa0", 1, 2, "U+00A0 (no-break space)"},
        {"\xc3\xa4\xe2\x80\x8b", 1, 2, "U+200B (zero width space)"},
        {"a\nb\xef\xbb\xbf", 2, 2, "U+FEFF (byte order mark)"},
        {"a\n\n\xf3\xa0\x80\x81", 3, 1, "U+E0001"},
        {"\x01", 1, 1, "U+0001"},
        {"\xe2\xa0\x80", 1, 1, "U+2800 (braille pattern blank)"},
        {"\xee\x80\x80", 1, 1, "U+E000 (private use)"},
        {"\xef\xbf\xbe", 1, 1, "U+FFFE (noncharacter)"},
        {"\xe0\xa3\xa2", 1, 1, "U+08E2"},
        {"ab\xff", 1, 3, "the byte 0xff (not UTF-8)"},
        {"\xc0\x80", 1, 1, "the byte 0xc0 (not UTF-8)"},
        {"\xed\xa0\x80", 1, 1, "the byte 0xed (not UTF-8)"},
        {"\xe2\x80", 1, 1, "the byte 0xe2 (not UTF-8)"},
    };
    struct mech_odd odd;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        CU_ASSERT_TRUE_FATAL(mech_text_odd(cases[k].text, strlen(cases[k].text), &odd));
        CU_ASSERT_EQUAL(odd.line, cases[k].line);
        CU_ASSERT_EQUAL(odd.column, cases[k].column);
        CU_ASSERT_STRING_EQUAL(odd.text, cases[k].name);
    }
}

static void marks_and_other_codings_are_known(void)
{
    CU_ASSERT_EQUAL(mech_text_mark("\xef\xbb\xbf{", 4), 3);
    CU_ASSERT_EQUAL(mech_text_mark("\xef\xbb", 2), 0);
    CU_ASSERT_PTR_NULL(mech_text_wide("{}", 2));
    CU_ASSERT_PTR_NULL(mech_text_wide("", 0));
    CU_ASSERT_PTR_NULL(mech_text_wide("\xef\xbb\xbf{", 4));
    CU_ASSERT_STRING_EQUAL(mech_text_wide("\xff\xfe{\0}\0", 6), "UTF-16");
    CU_ASSERT_STRING_EQUAL(mech_text_wide("\xfe\xff\0{\0}", 6), "UTF-16");
    CU_ASSERT_STRING_EQUAL(mech_text_wide("{\0}\0", 4), "UTF-16");
    CU_ASSERT_STRING_EQUAL(mech_text_wide("\0{\0}", 4), "UTF-16");
    CU_ASSERT_STRING_EQUAL(mech_text_wide("\xff\xfe\0\0{\0\0\0", 8), "UTF-32");
    CU_ASSERT_STRING_EQUAL(mech_text_wide("\0\0\xfe\xff\0\0\0{", 8), "UTF-32");
    CU_ASSERT_STRING_EQUAL(mech_text_wide("{\0\0\0", 4), "UTF-32");
}

static void a_file_without_what_is_looked_for_says_why(void)
{
    static const struct {
        const char *text;
        size_t size;
        int lines;
        const char *words;
    } cases[] = {
        {"", 0, 0, "F is empty"},
        {"a\nb", 3, 2, "F has no c"},
        {"\xef\xbb\xbf\n", 4, 1, "F has no c"},
        {"\xef\xbb\xbf\xc3\xa4\xe2\x80\x8b\n\x01", 10, 2,
         "F has no c; line 1, column 2 is U+200B (zero width space)"},
        {"a\n\xef\xbb\xbf"
         "b",
         6, 2, "F has no c; line 2, column 1 is U+FEFF (byte order mark)"},
        {"\xff\xfe"
         "a\0\n\0b\0",
         8, 0, "F is UTF-16: save it as UTF-8"},
        {"\n\0b\0", 4, 2, "F has no c; line 2, column 1 is U+0000 (null)"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char line[64], *text = line, words[128];
        struct mech_lines l = {.file = tmpfile()};
        int lines = 0;
        CU_ASSERT_PTR_NOT_NULL_FATAL(l.file);
        CU_ASSERT_EQUAL(fwrite(cases[k].text, 1, cases[k].size, l.file), cases[k].size);
        rewind(l.file);
        while (mech_lines_next(&l, line, sizeof line, &text)) {
            CU_ASSERT_PTR_NULL(strstr(text, lines == 0 ? "\xef\xbb\xbf" : "c"));
            lines++;
        }
        fclose(l.file);
        mech_lines_explain(&l, "F", "has no c", words, sizeof words);
        CU_ASSERT_EQUAL(lines, cases[k].lines);
        CU_ASSERT_STRING_EQUAL(words, cases[k].words);
    }
}

static void a_sentence_shows_them_by_code_point(void)
{
    char out[32];
    mech_text_show(out, sizeof out, "'a\xc2\xa0' \xc3\xa4\n\xff");
    CU_ASSERT_STRING_EQUAL(out, "'aU+00A0' \xc3\xa4U+000A0xff");
    mech_text_show(out, sizeof out, "'a\tb\r'");
    CU_ASSERT_STRING_EQUAL(out, "'aU+0009bU+000D'");
    char small[6];
    mech_text_show(small, sizeof small, "ab\xc2\xa0z");
    CU_ASSERT_STRING_EQUAL(small, "ab…");
    mech_text_show(small, sizeof small, "abcdef");
    CU_ASSERT_STRING_EQUAL(small, "ab…");
    mech_text_show(small, sizeof small, "abcde");
    CU_ASSERT_STRING_EQUAL(small, "abcde");
}

/* Cyrillic, Greek and full width among Latin letters, or alone where they read as such. */
static void letters_that_look_like_others_are_named(void)
{
    static const char *const cases[][2] = {
        {"'m\xd0\xb0rkers', did you mean 'markers'?", "'mU+0430rkers', did you mean 'markers'?"},
        {"'\xce\x9f_1' '\xd1\x85'", "'U+039F_1' 'U+0445'"},
        {"no '\xc3\xbf\xd0\xb5' at h", "no '\xc3\xbfU+0435' at h"},
        {"'\xef\xbd\x8d"
         "ass'",
         "'U+FF4Dass'"},
        {"'m\xd0\xb0r\xe2\x80\xa6'", "'mU+0430r\xe2\x80\xa6'"},
        /* words of their own script, and names with letters that do not look Latin */
        {"'\xd1\x80\xd0\xbe\xd1\x82\xd0\xbe\xd1\x80'",
         "'\xd1\x80\xd0\xbe\xd1\x82\xd0\xbe\xd1\x80'"},
        {"'\xce\x94x' '\xcf\x89_0' '\xce\xb1\xce\xbf'",
         "'\xce\x94x' '\xcf\x89_0' '\xce\xb1\xce\xbf'"},
        {"f\xc3\xbcr \xd0\xb0\xd1\x8f x", "f\xc3\xbcr \xd0\xb0\xd1\x8f x"},
    };
    char out[64];

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        mech_text_show(out, sizeof out, cases[k][0]);
        CU_ASSERT_STRING_EQUAL(out, cases[k][1]);
    }
}

UNIT_TESTS(UNIT_TEST(letters_of_any_script_are_seen),
           UNIT_TEST(what_is_not_seen_is_named_with_its_place),
           UNIT_TEST(marks_and_other_codings_are_known),
           UNIT_TEST(a_file_without_what_is_looked_for_says_why),
           UNIT_TEST(a_sentence_shows_them_by_code_point),
           UNIT_TEST(letters_that_look_like_others_are_named))
