/* Archives that are read, and those that are refused, each by its own reason and without a byte of
 * it expanded. */
#include "server/engine/fmu_archive.h"

#include "tests/unit/server/zip.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROUGH = 1 << 16 };

/* The outcome of opening, and its text; `open` may be NULL. */
static int outcome(const struct zip *z, struct mechd_archive_limits limits, char *text, size_t size)
{
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_archive_open(z->bytes, z->size, limits, &a, &diag);
    CU_ASSERT_EQUAL(a == NULL, rc != 0);
    CU_ASSERT_EQUAL(diag.total, rc == 0 ? 0 : 1);
    if (diag.count > 0) {
        (void)snprintf(text, size, "%s %s", diag.entries[0].path, diag.entries[0].text);
    }
    mech_diag_fini(&diag);
    mechd_archive_close(a);
    return rc;
}

static void expect(const struct zip *z, int expected, const char *part)
{
    char text[MECH_DIAG_TEXT + MECH_DIAG_PATH] = "";
    const int rc = outcome(z, mechd_archive_limits(), text, sizeof text);
    if (rc != expected || strstr(text, part) == NULL) {
        (void)fprintf(stderr, "%d (not %d): %s (not %s)\n", rc, expected, text, part);
    }
    CU_ASSERT_EQUAL(rc, expected);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, part));
}

/* An archive of a good file and this one. */
static void expect_file(struct zip_file f, int expected, const char *part)
{
    static struct zip z;
    memset(&z, 0, sizeof z);
    zip_add(&z, (struct zip_file){.path = "a.txt", .bytes = "hello"});
    zip_add(&z, f);
    zip_end(&z);
    expect(&z, expected, part);
}

static struct zip *good(void)
{
    static struct zip z;
    memset(&z, 0, sizeof z);
    zip_add(&z,
            (struct zip_file){.path = "modelDescription.xml", .bytes = "<a/>", .deflate = true});
    zip_add(&z, (struct zip_file){.path = "resources/", .mode = 0040755});
    zip_add(&z, (struct zip_file){
                    .path = "resources/t\xc3\xa4 1.csv", .bytes = "1,2", .mode = 0100644});
    zip_add(&z, (struct zip_file){.path = "binaries/x86_64-linux/m.so", .zeros = ROUGH / 1024});
    zip_end(&z);
    return &z;
}

static void a_good_archive_is_read(void)
{
    const struct zip *const z = good();
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    char *bytes = NULL;
    size_t size = 0;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_open(z->bytes, z->size, mechd_archive_limits(), &a, &diag),
                          0);
    CU_ASSERT_EQUAL(mechd_archive_count(a), 4);
    CU_ASSERT_STRING_EQUAL(mechd_archive_at(a, 1).path, "resources/");
    CU_ASSERT_EQUAL(mechd_archive_at(a, 3).size, ROUGH / 1024);
    CU_ASSERT_EQUAL(mechd_archive_read(a, "modelDescription.xml", 4, &bytes, &size, &diag), 0);
    CU_ASSERT_EQUAL(size, 4);
    CU_ASSERT_STRING_EQUAL(bytes, "<a/>");
    free(bytes);
    CU_ASSERT_EQUAL(mechd_archive_read(a, "modelDescription.xml", 3, &bytes, &size, &diag),
                    MECHD_ARCHIVE_SIZE);
    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_EQUAL(mechd_archive_read(a, "ModelDescription.xml", 9, &bytes, &size, &diag),
                    MECHD_ARCHIVE_MISSING);
    mechd_archive_close(a);
    mech_diag_fini(&diag);
}

static void paths_that_leave_the_folder_are_refused(void)
{
    static const char *const bad[] = {
        "../a", "a/../../b", "/etc/passwd", "a//b", "./a", "a/.",  "..",   "a/..",
        "C:/a", "a\\b",      "/",           "a\tb", "a\n", "\x7f", "\xff", "a/\xc0\xae\xc0\xae/b"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        expect_file((struct zip_file){.path = bad[k], .bytes = "x"}, MECHD_ARCHIVE_PATH, "/");
    }
}

static void a_zero_in_a_path_is_refused(void)
{
    expect_file((struct zip_file){.path = "a\0/../b", .path_length = 7, .bytes = "x"},
                MECHD_ARCHIVE_PATH, "NUL");
    expect_file((struct zip_file){.path = "a.txt\0", .path_length = 6, .bytes = "x"},
                MECHD_ARCHIVE_PATH, "NUL");
}

static void long_and_deep_paths_are_refused(void)
{
    char path[MECHD_ARCHIVE_PATH_MOST + 2];
    memset(path, 'a', sizeof path);
    path[MECHD_ARCHIVE_NAME_MOST + 1] = 0;
    expect_file((struct zip_file){.path = path, .bytes = "x"}, MECHD_ARCHIVE_PATH, "255 bytes");
    memset(path, 'a', sizeof path);
    path[sizeof path - 1] = 0;
    path[200] = path[400] = '/';
    expect_file((struct zip_file){.path = path, .bytes = "x"}, MECHD_ARCHIVE_PATH, "512 bytes");
    for (size_t k = 0; k < 2 * (MECHD_ARCHIVE_DEPTH_MOST + 1); k += 2) {
        path[k] = 'd';
        path[k + 1] = '/';
    }
    path[2 * MECHD_ARCHIVE_DEPTH_MOST + 1] = 0;
    expect_file((struct zip_file){.path = path, .bytes = "x"}, MECHD_ARCHIVE_PATH, "16 parts");
}

static void two_files_of_one_path_are_refused(void)
{
    expect_file((struct zip_file){.path = "a.txt", .bytes = "x"}, MECHD_ARCHIVE_TWICE, "twice");
    expect_file((struct zip_file){.path = "A.TXT", .bytes = "x"}, MECHD_ARCHIVE_TWICE, "twice");
    expect_file((struct zip_file){.path = "a.txt/"}, MECHD_ARCHIVE_TWICE, "twice");
    expect_file((struct zip_file){.path = "a.TXT/b", .bytes = "x"}, MECHD_ARCHIVE_TWICE,
                "is a file");
}

static void links_and_devices_are_refused(void)
{
    static const uint32_t modes[] = {0120777, 0020666, 0060666, 0010666, 0140777, 0040755};
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++) {
        expect_file((struct zip_file){.path = "b", .bytes = "/etc", .mode = modes[k]},
                    MECHD_ARCHIVE_KIND, "/b is a link");
    }
    expect_file((struct zip_file){.path = "b/", .bytes = "x"}, MECHD_ARCHIVE_KIND, "folder");
}

static void what_is_encrypted_or_packed_otherwise_is_refused(void)
{
    expect_file((struct zip_file){.path = "b", .bytes = "x", .flags = 1}, MECHD_ARCHIVE_KIND,
                "encrypted");
    expect_file((struct zip_file){.path = "b", .bytes = "x", .method = 14}, MECHD_ARCHIVE_KIND,
                "deflate");
}

static void bombs_are_refused(void)
{
    // 4 GB declared, and a million zeros that really are there
    expect_file((struct zip_file){.path = "b", .bytes = "x", .declared = 0xf0000000},
                MECHD_ARCHIVE_SIZE, "larger");
    expect_file((struct zip_file){.path = "b", .zeros = 1 << 20}, MECHD_ARCHIVE_SIZE, "expand");
    expect_file((struct zip_file){.path = "b", .bytes = "hello", .shares = true},
                MECHD_ARCHIVE_BROKEN, "overlap");
    char text[MECH_DIAG_TEXT] = "";
    struct mechd_archive_limits few = mechd_archive_limits();
    few.count = 3;
    CU_ASSERT_EQUAL(outcome(good(), few, text, sizeof text), MECHD_ARCHIVE_SIZE);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "4 entries"));
}

static void what_a_file_declares_is_what_it_gives(void)
{
    static const struct zip_file lies[] = {
        {.path = "b", .bytes = "hello", .deflate = true, .declared = 4},
        {.path = "b", .bytes = "hello", .deflate = true, .declared = 6},
        {.path = "b", .bytes = "hello", .deflate = true, .crc_change = 1},
        {.path = "b", .bytes = "hello", .crc_change = 1},
    };
    static struct zip z;
    for (size_t k = 0; k < sizeof lies / sizeof *lies; k++) {
        struct mechd_archive *a = NULL;
        struct mech_diag diag;
        char *bytes = NULL;
        size_t size = 0;
        memset(&z, 0, sizeof z);
        zip_add(&z, lies[k]);
        zip_end(&z);
        mech_diag_init(&diag);
        int rc = mechd_archive_open(z.bytes, z.size, mechd_archive_limits(), &a, &diag);
        if (rc == 0) {
            rc = mechd_archive_read(a, "b", 100, &bytes, &size, &diag);
        }
        CU_ASSERT_EQUAL(rc, MECHD_ARCHIVE_BROKEN);
        CU_ASSERT_PTR_NULL(bytes);
        CU_ASSERT_EQUAL(diag.total, 1);
        mech_diag_fini(&diag);
        mechd_archive_close(a);
    }
}

static void directories_that_do_not_end_where_they_should_are_refused(void)
{
    static struct zip z;
    memset(&z, 0, sizeof z);
    z.rest = 4;
    zip_add(&z, (struct zip_file){.path = "a.txt", .bytes = "hello"});
    zip_end(&z);
    expect(&z, MECHD_ARCHIVE_BROKEN, "bytes between its central directory and its end");
    memset(&z, 0, sizeof z);
    z.large = true;
    zip_add(&z, (struct zip_file){.path = "a.txt", .bytes = "hello"});
    zip_end(&z);
    expect(&z, MECHD_ARCHIVE_BROKEN, "ZIP64 is not supported");
}

/* Readers of extra fields would write another file than the one that was checked. */
static void a_path_with_two_readings_is_refused(void)
{
    expect_file((struct zip_file){.path = "b.txt", .bytes = "x", .other_path = "../b"},
                MECHD_ARCHIVE_BROKEN, "b.txt has a size or path that can be read in two ways");
}

/* Every cut of a good archive, and every byte of it changed: refused or read, never worse. */
static void cuts_and_changes_do_no_harm(void)
{
    static struct zip z;
    char text[MECH_DIAG_TEXT + MECH_DIAG_PATH];
    for (size_t size = 0; size < good()->size; size++) {
        z = *good();
        z.size = size;
        CU_ASSERT_EQUAL(outcome(&z, mechd_archive_limits(), text, sizeof text),
                        MECHD_ARCHIVE_BROKEN);
    }
    for (size_t k = 0; k < good()->size; k++) {
        z = *good();
        z.bytes[k] ^= 0xff;
        CU_ASSERT(outcome(&z, mechd_archive_limits(), text, sizeof text) >= 0);
    }
}

static void files_are_unpacked_below_the_folder(void)
{
    char folder[] = "/tmp/mechd-archive-XXXXXX";
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    const int at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    struct stat s;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(
        mechd_archive_open(good()->bytes, good()->size, mechd_archive_limits(), &a, &diag), 0);
    CU_ASSERT_EQUAL(mechd_archive_unpack(a, "resources/", at, &diag), 0);
    CU_ASSERT_EQUAL(fstatat(at, "resources/t\xc3\xa4 1.csv", &s, 0), 0);
    CU_ASSERT_EQUAL(s.st_size, 3);
    CU_ASSERT_EQUAL(s.st_mode & 0777, 0400);
    CU_ASSERT_EQUAL(fstatat(at, "modelDescription.xml", &s, 0), -1);
    // a link where a folder is to be is not followed, and nothing is written over
    CU_ASSERT_EQUAL(symlinkat("/tmp", at, "binaries"), 0);
    CU_ASSERT_EQUAL(mechd_archive_unpack(a, "binaries/", at, &diag), MECHD_ARCHIVE_STORAGE);
    CU_ASSERT_EQUAL(mechd_archive_unpack(a, "resources/", at, &diag), MECHD_ARCHIVE_STORAGE);
    mechd_archive_close(a);
    mech_diag_fini(&diag);
    (void)unlinkat(at, "resources/t\xc3\xa4 1.csv", 0);
    (void)unlinkat(at, "resources", AT_REMOVEDIR);
    (void)unlinkat(at, "binaries", 0);
    (void)close(at);
    CU_ASSERT_EQUAL(rmdir(folder), 0);
}

UNIT_TESTS(UNIT_TEST(a_good_archive_is_read), UNIT_TEST(paths_that_leave_the_folder_are_refused),
           UNIT_TEST(a_zero_in_a_path_is_refused), UNIT_TEST(long_and_deep_paths_are_refused),
           UNIT_TEST(two_files_of_one_path_are_refused), UNIT_TEST(links_and_devices_are_refused),
           UNIT_TEST(what_is_encrypted_or_packed_otherwise_is_refused),
           UNIT_TEST(bombs_are_refused), UNIT_TEST(what_a_file_declares_is_what_it_gives),
           UNIT_TEST(directories_that_do_not_end_where_they_should_are_refused),
           UNIT_TEST(a_path_with_two_readings_is_refused), UNIT_TEST(cuts_and_changes_do_no_harm),
           UNIT_TEST(files_are_unpacked_below_the_folder))
