/* Diagnostics: all faults counted, long texts cut at whole characters, paths escaped. */
#include "solver/base/diag.h"

#include "tests/unit/unit.h"

#include <string.h>
#include <wchar.h>

static void faults_keep_their_order_and_place(void)
{
    struct mech_diag d;
    mech_diag_init(&d);
    CU_ASSERT(mech_diag_clean(&d));
    mech_diag_add(&d, "/objects/0/mass", "must be above %g", 0.);
    mech_diag_add(&d, "", "second");
    CU_ASSERT_EQUAL_FATAL(d.count, 2);
    CU_ASSERT(!mech_diag_clean(&d));
    CU_ASSERT_STRING_EQUAL(d.entries[0].path, "/objects/0/mass");
    CU_ASSERT_STRING_EQUAL(d.entries[0].text, "must be above 0");
    CU_ASSERT_STRING_EQUAL(d.entries[1].text, "second");
    mech_diag_fini(&d);
}

static void only_the_first_hundred_are_kept_but_all_counted(void)
{
    struct mech_diag d;
    mech_diag_init(&d);
    for (int k = 0; k < 250; k++) {
        mech_diag_add(&d, "/x", "fault %d", k);
    }
    CU_ASSERT_EQUAL(d.total, 250);
    CU_ASSERT_EQUAL_FATAL(d.count, MECH_DIAG_MOST);
    CU_ASSERT_STRING_EQUAL(d.entries[99].text, "fault 99");
    mech_diag_fini(&d);
}

/* Length of the longest beginning that consists of whole UTF-8 characters of `size` bytes. */
static void check_cut(const char *character, size_t offset)
{
    char text[1000] = "";
    memset(text, 'a', offset);
    const size_t size = strlen(character);
    while (strlen(text) + size < sizeof text) {
        strcat(text, character);
    }
    struct mech_diag d;
    mech_diag_init(&d);
    mech_diag_add(&d, text, "%s", text);
    CU_ASSERT_EQUAL_FATAL(d.count, 1);
    CU_ASSERT_EQUAL_FATAL(d.entries[0].text[0], text[0]);
    const size_t p = strlen(d.entries[0].path), t = strlen(d.entries[0].text);
    CU_ASSERT_STRING_EQUAL(d.entries[0].text + t - 3, "…");
    CU_ASSERT_EQUAL((t - 3 - offset) % size, 0);
    CU_ASSERT_EQUAL((p - offset) % size, 0);
    CU_ASSERT(t > MECH_DIAG_TEXT - 1 - size && t < MECH_DIAG_TEXT);
    CU_ASSERT(p > MECH_DIAG_PATH - 1 - size && p < MECH_DIAG_PATH);
    mech_diag_fini(&d);
}

static void long_texts_are_cut_at_whole_characters(void)
{
    for (size_t offset = 0; offset < 4; offset++) {
        check_cut("b", offset);
        check_cut("\xc3\xa9", offset);
        check_cut("\xe2\x82\xac", offset);
        check_cut("\xf0\x9f\x98\x80", offset);
    }
}

static void a_text_that_cannot_be_formed_is_empty_and_counts(void)
{
    // no character of the locale "C", in which a program begins: vsnprintf fails
    const wchar_t beyond[] = {0x20ac, 0};
    struct mech_diag d;
    mech_diag_init(&d);
    mech_diag_add(&d, "/name", "before %ls", beyond);
    mech_diag_add(&d, "/mass", "after");
    CU_ASSERT_EQUAL_FATAL(d.count, 2);
    CU_ASSERT_EQUAL(d.total, 2);
    CU_ASSERT_STRING_EQUAL(d.entries[0].path, "/name");
    CU_ASSERT_STRING_EQUAL(d.entries[0].text, "");
    CU_ASSERT_STRING_EQUAL(d.entries[1].text, "after");
    mech_diag_fini(&d);
}

static void a_place_after_a_base_is_cut_at_a_whole_character(void)
{
    char base[MECH_DIAG_PATH] = "/";
    memset(base + 1, 'b', MECH_DIAG_PATH - 4);
    struct mech_diag d;
    mech_diag_init(&d);
    mech_diag_add(&d, "\xe2\x82\xac", "long");
    mech_diag_add(&d, "/x", "short");
    mech_diag_prefix(d.entries, d.count, base);
    // two bytes are free: none of the three of a euro sign, both of "/x"
    CU_ASSERT_STRING_EQUAL(d.entries[0].path, base);
    CU_ASSERT_EQUAL(strncmp(d.entries[1].path, base, strlen(base)), 0);
    CU_ASSERT_STRING_EQUAL(d.entries[1].path + strlen(base), "/x");
    CU_ASSERT_STRING_EQUAL(d.entries[1].text, "short");
    mech_diag_fini(&d);
}

static void a_path_is_pushed_escaped_and_cut_back(void)
{
    struct mech_path p = {.length = 0};
    CU_ASSERT_EQUAL(mech_path_push(&p, "objects"), 0);
    const size_t mark = mech_path_push_index(&p, 12);
    CU_ASSERT_STRING_EQUAL(p.text, "/objects/12");
    mech_path_push(&p, "a/b~c");
    CU_ASSERT_STRING_EQUAL(p.text, "/objects/12/a~1b~0c");
    mech_path_cut(&p, mark);
    CU_ASSERT_STRING_EQUAL(p.text, "/objects");
}

static void a_path_that_is_too_long_stays_well_formed(void)
{
    struct mech_path p = {.length = 0};
    for (int k = 0; k < 100; k++) {
        mech_path_push(&p, "\xe2\x82\xac~/");
    }
    CU_ASSERT(p.length < MECH_DIAG_PATH);
    CU_ASSERT_EQUAL(strlen(p.text), p.length);
    // no escape is cut in two
    CU_ASSERT(p.text[p.length - 1] != '~');
    const size_t full = p.length;
    while (p.length < MECH_DIAG_PATH - 2) {
        mech_path_push(&p, "");
    }
    // an index that does not fit is left out, not cut
    mech_path_push_index(&p, 123);
    CU_ASSERT(p.length >= full);
    CU_ASSERT(strchr(p.text, '1') == NULL || strstr(p.text, "/123") == NULL);
    CU_ASSERT(p.text[p.length - 1] == '/');
}

static void what_a_part_says_is_added_at_its_place(void)
{
    struct mech_diag all, part;
    mech_diag_init(&all);
    mech_diag_init(&part);
    mech_diag_add(&all, "/first", "one");
    mech_diag_warn(&all, "/first", "mind");
    mech_diag_append(&all, &part, "/parts/0");
    CU_ASSERT_EQUAL(all.total, 1);
    for (size_t k = 0; k < MECH_DIAG_MOST + 3; k++) {
        mech_diag_add(&part, "/q", "%zu", k);
    }
    mech_diag_warn(&part, "/w", "100 %%");
    mech_diag_append(&all, &part, "/parts/1");
    CU_ASSERT_EQUAL(all.total, MECH_DIAG_MOST + 4);
    CU_ASSERT_EQUAL_FATAL(all.count, MECH_DIAG_MOST);
    CU_ASSERT_STRING_EQUAL(all.entries[0].path, "/first");
    CU_ASSERT_STRING_EQUAL(all.entries[1].path, "/parts/1/q");
    CU_ASSERT_STRING_EQUAL(all.entries[2].text, "1");
    CU_ASSERT_EQUAL_FATAL(all.warning_count, 2);
    CU_ASSERT_STRING_EQUAL(all.warnings[0].path, "/first");
    CU_ASSERT_STRING_EQUAL(all.warnings[1].path, "/parts/1/w");
    CU_ASSERT_STRING_EQUAL(all.warnings[1].text, "100 %");
    mech_diag_fini(&part);
    mech_diag_fini(&all);
}

UNIT_TESTS(UNIT_TEST(faults_keep_their_order_and_place),
           UNIT_TEST(only_the_first_hundred_are_kept_but_all_counted),
           UNIT_TEST(long_texts_are_cut_at_whole_characters),
           UNIT_TEST(a_text_that_cannot_be_formed_is_empty_and_counts),
           UNIT_TEST(a_place_after_a_base_is_cut_at_a_whole_character),
           UNIT_TEST(what_a_part_says_is_added_at_its_place),
           UNIT_TEST(a_path_is_pushed_escaped_and_cut_back),
           UNIT_TEST(a_path_that_is_too_long_stays_well_formed))
