/* Texts for people: as printf writes them where they fit, and with "…" where they are cut. */
#include "solver/base/text.h"

#include "tests/unit/unit.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* out is what snprintf writes */
#define AS_PRINTF(...)                                                                             \
    do {                                                                                           \
        char want[600], out[600];                                                                  \
        const int n = snprintf(want, sizeof want, __VA_ARGS__);                                    \
        CU_ASSERT_EQUAL(mech_text_format(out, sizeof out, __VA_ARGS__), (size_t)n);                \
        CU_ASSERT_STRING_EQUAL(out, want);                                                         \
    } while (0)

static void what_fits_is_written_as_printf_does(void)
{
    AS_PRINTF("plain, 100 %%");
    AS_PRINTF("%s and %s", "one", "two");
    AS_PRINTF("%d %i %5d|%-5d|%+d|%05d|% d", -3, 4, 5, 6, 7, 8, 9);
    AS_PRINTF("%u %x %X %o %08x %#x", 3u, 255u, 255u, 8u, 255u, 16u);
    AS_PRINTF("%ld %lld %lu %llu", -1L, -2LL, 3UL, 4ULL);
    AS_PRINTF("%zu %jd %ju", (size_t)7, (intmax_t)-8, (uintmax_t)9);
    AS_PRINTF("%" PRId32 " %" PRIu32 " %" PRId64 " %" PRIu64, INT32_MIN, UINT32_MAX, INT64_MIN,
              UINT64_MAX);
    AS_PRINTF("%g %.3g %.17g %12.4f|%-12.2e|%e", 0.1, 1. / 3., 0.1, 2.5, 3.5, 1e300);
    AS_PRINTF("%g %g %g", (double)NAN, (double)INFINITY, -0.);
    AS_PRINTF("%.0f", 1e308);
    AS_PRINTF("%c%c|%8s|%-8s|", 'a', 'b', "right", "left");
    AS_PRINTF("%.*s|%.*s|%.*g", 3, "abcdef", 9, "abc", 4, 3.14159);
    AS_PRINTF("%s", "");
}

static void what_does_not_fit_ends_with_an_ellipsis(void)
{
    char out[12];
    CU_ASSERT_EQUAL(mech_text_format(out, sizeof out, "%s", "12345678901"), 11);
    CU_ASSERT_STRING_EQUAL(out, "12345678901");
    CU_ASSERT_EQUAL(mech_text_format(out, sizeof out, "%s", "123456789012"), 11);
    CU_ASSERT_STRING_EQUAL(out, "12345678…");
    mech_text_format(out, sizeof out, "123456%d", 789012);
    CU_ASSERT_STRING_EQUAL(out, "12345678…");
    mech_text_format(out, sizeof out, "what is fixed is cut as well");
    CU_ASSERT_STRING_EQUAL(out, "what is …");
    mech_text_copy(out, sizeof out, "12345678901");
    CU_ASSERT_STRING_EQUAL(out, "12345678901");
    mech_text_copy(out, sizeof out, "123456789012");
    CU_ASSERT_STRING_EQUAL(out, "12345678…");
}

static void characters_stay_whole(void)
{
    static const char *const of[] = {"b", "é", "€", "😀"};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const size_t size = strlen(of[k]);
        for (size_t room = 4; room < 40; room++) {
            char out[40], text[400] = "";
            for (int i = 0; i < 30; i++) {
                strcat(text, of[k]);
            }
            const size_t n = mech_text_format(out, room, "%s", text);
            CU_ASSERT_EQUAL(n, strlen(out));
            const size_t whole = n - (n < strlen(text) ? 3 : 0);
            CU_ASSERT_EQUAL(whole % size, 0);
            CU_ASSERT(n < room && (n == strlen(text) || room - n <= size));
            CU_ASSERT(n == strlen(text) || strcmp(out + whole, "…") == 0);
        }
    }
}

static void a_buffer_without_room_for_the_sign_is_cut_without(void)
{
    char out[3];
    CU_ASSERT_EQUAL(mech_text_format(out, 3, "%s", "abcdef"), 2);
    CU_ASSERT_STRING_EQUAL(out, "ab");
    CU_ASSERT_EQUAL(mech_text_format(out, 3, "%s", "a€"), 1);
    CU_ASSERT_STRING_EQUAL(out, "a");
    CU_ASSERT_EQUAL(mech_text_format(out, 1, "%s", "a"), 0);
    CU_ASSERT_STRING_EQUAL(out, "");
}

static void a_string_that_its_precision_cuts_gets_its_own(void)
{
    char out[100];
    mech_text_format(out, sizeof out, "\"%.8s\" and \"%.8s\" touch", "12345678", "123456789");
    CU_ASSERT_STRING_EQUAL(out, "\"12345678\" and \"12345…\" touch");
    mech_text_format(out, sizeof out, "%.8s|", "1234€€€");
    CU_ASSERT_STRING_EQUAL(out, "1234…|");
    // too short for the sign
    mech_text_format(out, sizeof out, "%.2s|%.0s|", "1234", "1234");
    CU_ASSERT_STRING_EQUAL(out, "12||");
    // as wide as without
    mech_text_format(out, sizeof out, "%12.8s|%-12.8s|", "123456789", "123456789");
    CU_ASSERT_STRING_EQUAL(out, "    12345…|12345…    |");
}

static void what_is_appended_is_cut_with_what_is_there(void)
{
    char out[12] = "";
    CU_ASSERT_EQUAL(mech_text_append(out, sizeof out, "%s", "1234"), 4);
    CU_ASSERT_EQUAL(mech_text_append(out, sizeof out, ", %d", 56789), 11);
    CU_ASSERT_STRING_EQUAL(out, "1234, 56789");
    CU_ASSERT_EQUAL(mech_text_append(out, sizeof out, "0"), 11);
    CU_ASSERT_STRING_EQUAL(out, "1234, 56…");
    // and nothing stands behind the sign
    mech_text_copy(out, sizeof out, "12345€€€");
    CU_ASSERT_STRING_EQUAL(out, "12345€…");
    for (int k = 0; k < 2; k++) {
        mech_text_append(out, sizeof out, ",");
        CU_ASSERT_STRING_EQUAL(out, "12345€…");
    }
    mech_text_copy(out, sizeof out, "123456€€");
    CU_ASSERT_STRING_EQUAL(out, "123456…");
    mech_text_append(out, sizeof out, ",");
    CU_ASSERT_STRING_EQUAL(out, "123456…");
}

static void a_text_that_cannot_be_formed_is_empty(void)
{
    char out[40] = "before";
    const wchar_t wide[] = {'a', 0};
    CU_ASSERT_EQUAL(mech_text_format(out, sizeof out, "before %ls", wide), 0);
    CU_ASSERT_STRING_EQUAL(out, "");
}

static void is_printed(const char *text, int left, int columns, const char *lines)
{
    char *out = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&out, &size);
    mech_text_print(f, text, left, columns);
    fclose(f);
    CU_ASSERT_STRING_EQUAL(out, lines);
    free(out);
}

static void lines_are_broken_at_spaces(void)
{
    is_printed("one two three", 0, 7, "one two\nthree\n");
    is_printed("one two three", 0, 6, "one\ntwo\nthree\n");
    is_printed("one two three", 2, 9, "one two\n  three\n");
    is_printed("one two three", 2, 15, "one two three\n");
    // characters count, not bytes
    is_printed("ä ö üü x", 0, 3, "ä ö\nüü\nx\n");
    // a word that is too long has a line of its own
    is_printed("a much-too-long b", 1, 5, "a\n much-too-long\n b\n");
    is_printed(" two  apart ends  ", 0, 10, "two  apart\nends\n");
    is_printed("", 3, 10, "\n");
}

UNIT_TESTS(UNIT_TEST(what_fits_is_written_as_printf_does),
           UNIT_TEST(what_does_not_fit_ends_with_an_ellipsis), UNIT_TEST(characters_stay_whole),
           UNIT_TEST(a_buffer_without_room_for_the_sign_is_cut_without),
           UNIT_TEST(a_string_that_its_precision_cuts_gets_its_own),
           UNIT_TEST(what_is_appended_is_cut_with_what_is_there),
           UNIT_TEST(a_text_that_cannot_be_formed_is_empty), UNIT_TEST(lines_are_broken_at_spaces))
