/* An archive as it is written is one that the reader takes, with the same bytes each time. */
#include "server/engine/fmu_write.h"

#include "server/engine/fmu_archive.h"
#include "solver/base/err.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { BINARY = 300000 };

static struct mechd_archive_part *parts_of(char binary[BINARY])
{
    static struct mechd_archive_part parts[3];
    /* noise: what compresses too well is taken for a bomb */
    uint32_t seed = 1;
    for (size_t i = 0; i < BINARY; i++) {
        seed = seed * 1103515245u + 12345u;
        binary[i] = (char)(seed >> 24);
    }
    parts[0] = (struct mechd_archive_part){"modelDescription.xml", "<a/>", 4};
    parts[1] = (struct mechd_archive_part){"binaries/x86_64-linux/m.so", binary, BINARY};
    parts[2] = (struct mechd_archive_part){"resources/model.json", "{}", 2};
    return parts;
}

static void what_is_written_is_read(void)
{
    static char binary[BINARY];
    const struct mechd_archive_part *const parts = parts_of(binary);
    struct mechd_archive *a = NULL;
    struct mech_diag diag;
    void *bytes = NULL;
    size_t size = 0;

    CU_ASSERT_EQUAL_FATAL(mechd_archive_write(parts, 3, &bytes, &size), 0);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_open(bytes, size, mechd_archive_limits(), &a, &diag), 0);
    CU_ASSERT_EQUAL(mechd_archive_count(a), 3);
    for (size_t i = 0; i < 3; i++) {
        char *read = NULL;
        size_t length = 0;
        CU_ASSERT_STRING_EQUAL(mechd_archive_at(a, i).path, parts[i].path);
        CU_ASSERT_EQUAL_FATAL(mechd_archive_read(a, parts[i].path, BINARY, &read, &length, &diag),
                              0);
        CU_ASSERT_EQUAL_FATAL(length, parts[i].size);
        CU_ASSERT_EQUAL(memcmp(read, parts[i].bytes, length), 0);
        free(read);
    }
    mechd_archive_close(a);
    mech_diag_fini(&diag);
    free(bytes);
}

static void the_same_parts_give_the_same_bytes(void)
{
    static char binary[BINARY];
    const struct mechd_archive_part *const parts = parts_of(binary);
    void *one = NULL, *two = NULL;
    size_t first = 0, second = 0;

    CU_ASSERT_EQUAL_FATAL(mechd_archive_write(parts, 3, &one, &first), 0);
    /* another local time is no other archive */
    CU_ASSERT_EQUAL(setenv("TZ", "Asia/Tokyo", 1), 0);
    CU_ASSERT_EQUAL_FATAL(mechd_archive_write(parts, 3, &two, &second), 0);
    CU_ASSERT_EQUAL_FATAL(first, second);
    CU_ASSERT_EQUAL(memcmp(one, two, first), 0);
    free(one);
    free(two);
}

static void a_path_twice_is_refused(void)
{
    const struct mechd_archive_part parts[] = {{"a", "1", 1}, {"a", "2", 1}};
    void *bytes = NULL;
    size_t size = 1;

    CU_ASSERT(mechd_archive_write(parts, 2, &bytes, &size) < 0);
    CU_ASSERT_PTR_NULL(bytes);
    CU_ASSERT_EQUAL(size, 0);
}

/* It is written whole, or not at all for the want of memory. */
static void whichever_allocation_fails_nothing_is_written(void)
{
    static char binary[BINARY];
    const struct mechd_archive_part *const parts = parts_of(binary);
    bool any = true;
    int astray = 0, starved = 0;

    for (long n = 0; any; n++) {
        void *bytes = NULL;
        size_t size = 1;

        /* libzip 1.7 loses a source when zip_close() finds no memory */
        alloc_leaks_taken(true);
        alloc_refuse_start(n, false);
        const int code = mechd_archive_write(parts, 3, &bytes, &size);
        any = alloc_refuse_stop() > 0;
        alloc_leaks_taken(false);
        starved += code == MECH_NO_MEMORY;
        astray += any != (code == MECH_NO_MEMORY) || (bytes != NULL) != (code == 0) ||
                  (size == 0) != (code != 0);
        free(bytes);
    }
    CU_ASSERT_EQUAL(astray, 0);
    CU_ASSERT(starved > 10);
}

UNIT_TESTS(UNIT_TEST(what_is_written_is_read), UNIT_TEST(the_same_parts_give_the_same_bytes),
           UNIT_TEST(a_path_twice_is_refused),
           UNIT_TEST(whichever_allocation_fails_nothing_is_written))
