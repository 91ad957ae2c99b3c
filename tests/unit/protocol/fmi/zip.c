/* Archives as another reader (libzip, behind the reader of uploads) has them. */
#include "protocol/fmi/zip.h"

#include "server/engine/fmu_archive.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <stdlib.h>

/* The archive's file has these bytes. */
static void expect(const struct mechp_text *w, const char *path, const char *bytes, size_t size)
{
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    char *found = NULL;
    size_t length = 0;

    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(
        mechd_archive_open(w->bytes, w->length, mechd_archive_limits(), &a, &diag), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_read(a, path, 1 << 24, &found, &length, &diag), 0);
    CU_ASSERT_EQUAL_FATAL(length, size);
    CU_ASSERT_EQUAL(memcmp(found, bytes, size), 0);
    free(found);
    mechd_archive_close(a);
    mech_diag_fini(&diag);
}

/* Text that deflate makes smaller, and bytes that it does not. */
enum { LARGE = 100000, ROUGH = 5000 };

static void fill(char *even, char *rough)
{
    uint64_t x = 88172645463325252u;

    for (int i = 0; i < LARGE; i++) {
        even[i] = (char)('a' + i % 7);
    }
    for (int i = 0; i < ROUGH; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        rough[i] = (char)(x >> 56);
    }
}

static void what_was_added_is_read(void)
{
    static char even[LARGE], rough[ROUGH];
    static struct mechp_zip zip;
    struct mechp_text w;

    fill(even, rough);
    mechp_text_init(&w, NULL, 0);
    zip = (struct mechp_zip){.w = &w};
    CU_ASSERT_EQUAL(mechp_zip_add(&zip, "a/even.txt", even, LARGE), 0);
    CU_ASSERT_EQUAL(mechp_zip_add(&zip, "rough", rough, ROUGH), 0);
    CU_ASSERT_EQUAL(mechp_zip_add(&zip, "empty", "", 0), 0);
    CU_ASSERT_EQUAL(mechp_zip_end(&zip), 0);
    CU_ASSERT(w.length < LARGE / 10 + ROUGH + 500);
    expect(&w, "a/even.txt", even, LARGE);
    expect(&w, "rough", rough, ROUGH);
    expect(&w, "empty", "", 0);
    mechp_text_fini(&w);
}

/* The bytes of a large file go past the text: both together are the archive. */
static void a_file_may_go_past_the_text(void)
{
    static char even[LARGE], rough[ROUGH];
    static struct mechp_zip zip;
    struct mechp_text w, whole;
    struct mechp_packed packed;

    fill(even, rough);
    mechp_text_init(&w, NULL, 0);
    mechp_text_init(&whole, NULL, 0);
    CU_ASSERT_EQUAL_FATAL(mechp_pack(even, LARGE, &packed), 0);
    CU_ASSERT(packed.deflated);
    mechp_text_plain(&w, "before", 6);
    zip = (struct mechp_zip){.w = &w, .before = 6};
    CU_ASSERT_EQUAL(mechp_zip_add(&zip, "rough", rough, ROUGH), 0);
    CU_ASSERT_EQUAL(mechp_zip_head(&zip, "even", &packed), 0);
    mechp_text_plain(&whole, w.bytes + 6, w.length - 6);
    mechp_text_plain(&whole, (const char *)packed.bytes, packed.stored);
    zip.past = whole.length;
    w.length = zip.before = 0;
    CU_ASSERT_EQUAL(mechp_zip_end(&zip), 0);
    mechp_text_plain(&whole, w.bytes, w.length);
    expect(&whole, "rough", rough, ROUGH);
    expect(&whole, "even", even, LARGE);
    mechp_packed_fini(&packed);
    mechp_text_fini(&whole);
    mechp_text_fini(&w);
}

static void what_does_not_fit_is_refused(void)
{
    static struct mechp_zip zip;
    struct mechp_text w;
    char name[MECHP_ZIP_NAME + 1];

    mechp_text_init(&w, NULL, 0);
    zip = (struct mechp_zip){.w = &w};
    memset(name, 'a', MECHP_ZIP_NAME);
    name[MECHP_ZIP_NAME] = '\0';
    CU_ASSERT_NOT_EQUAL(mechp_zip_add(&zip, name, "", 0), 0);
    CU_ASSERT(zip.full);
    CU_ASSERT_NOT_EQUAL(mechp_zip_end(&zip), 0);
    w.length = 0;
    zip = (struct mechp_zip){.w = &w};
    for (int i = 0; i < MECHP_ZIP_FILES; i++) {
        snprintf(name, sizeof name, "%d", i);
        CU_ASSERT_EQUAL(mechp_zip_add(&zip, name, "", 0), 0);
    }
    CU_ASSERT_NOT_EQUAL(mechp_zip_add(&zip, "more", "", 0), 0);
    CU_ASSERT_NOT_EQUAL(mechp_zip_end(&zip), 0);
    mechp_text_fini(&w);
}

UNIT_TESTS(UNIT_TEST(what_was_added_is_read), UNIT_TEST(a_file_may_go_past_the_text),
           UNIT_TEST(what_does_not_fit_is_refused))
