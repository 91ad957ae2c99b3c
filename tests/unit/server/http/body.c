/* Bodies that grow: their bytes stay, and large ones take nothing of the heap. */
#include "server/http/body.h"

#include "tests/unit/unit.h"

#include <malloc.h>
#include <stdint.h>
#include <string.h>

enum { FIRST = 1000, LAST = 20 << 20 };

/* Of the C library, in heaps and in mappings; 0 with a sanitizer. */
static size_t heap_in_use(void)
{
    const struct mallinfo2 now = mallinfo2();
    return now.uordblks + now.hblkhd;
}

static void bytes_stay_while_a_body_grows(void)
{
    unsigned char *body = NULL;
    size_t room = 0, used = 0;
    while (room < LAST) {
        const size_t more = room == 0 ? FIRST : 2 * room + 1;
        body = mechd_body_grow(body, room, used, more);
        CU_ASSERT_PTR_NOT_NULL_FATAL(body);
        room = more;
        for (; used < room; used++) {
            body[used] = (unsigned char)(used % 251);
        }
    }
    size_t wrong = 0;
    for (size_t i = 0; i < used; i++) {
        wrong += body[i] != i % 251;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    mechd_body_free(body, room);
    mechd_body_free(NULL, 0);
}

static void large_bodies_take_nothing_of_the_heap(void)
{
    enum { SIZE = 2 << 20, LITTLE = 64 << 10 };
    const size_t before = heap_in_use();
    unsigned char *body = mechd_body_grow(NULL, 0, 0, FIRST);
    CU_ASSERT_PTR_NOT_NULL_FATAL(body);
    memset(body, 7, FIRST);
    body = mechd_body_grow(body, FIRST, FIRST, SIZE);
    CU_ASSERT_PTR_NOT_NULL_FATAL(body);
    CU_ASSERT(body[0] == 7 && body[FIRST - 1] == 7);
    CU_ASSERT(heap_in_use() <= before + LITTLE);
    mechd_body_free(body, SIZE);
    CU_ASSERT(heap_in_use() <= before + LITTLE);
}

static void a_body_that_cannot_grow_is_as_it_was(void)
{
    unsigned char *small = mechd_body_grow(NULL, 0, 0, FIRST);
    unsigned char *large = mechd_body_grow(NULL, 0, 0, 1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(small);
    CU_ASSERT_PTR_NOT_NULL_FATAL(large);
    small[FIRST - 1] = 3;
    large[(1 << 20) - 1] = 4;
    CU_ASSERT_PTR_NULL(mechd_body_grow(small, FIRST, FIRST, SIZE_MAX / 4));
    CU_ASSERT_PTR_NULL(mechd_body_grow(large, 1 << 20, 1 << 20, SIZE_MAX / 4));
    CU_ASSERT_EQUAL(small[FIRST - 1], 3);
    CU_ASSERT_EQUAL(large[(1 << 20) - 1], 4);
    mechd_body_free(small, FIRST);
    mechd_body_free(large, 1 << 20);
}

UNIT_TESTS(UNIT_TEST(bytes_stay_while_a_body_grows),
           UNIT_TEST(large_bodies_take_nothing_of_the_heap),
           UNIT_TEST(a_body_that_cannot_grow_is_as_it_was))
