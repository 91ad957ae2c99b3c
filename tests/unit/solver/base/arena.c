/* Arena: alignment, zeroing, limit, reuse after a release. */
#include "solver/base/arena.h"

#include "tests/unit/alloc_count.h"
#include "tests/unit/unit.h"

#include <stdint.h>
#include <string.h>

static void pointers_are_aligned_and_zeroed(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    for (size_t n = 0; n < 3000; n += 7) {
        const struct mech_arena_mark mark = mech_arena_mark(&a);
        unsigned char *const p = mech_arena_alloc(&a, n, 3);
        CU_ASSERT_FATAL(p != NULL);
        const size_t bytes = 3 * n;
        CU_ASSERT((uintptr_t)p % (bytes > 32 ? 64 : bytes > 16 ? 32 : 16) == 0);
        bool zero = true;
        for (size_t i = 0; i < bytes; i++) {
            zero = zero && p[i] == 0;
        }
        CU_ASSERT(zero);
        // what is handed out again was written to before
        memset(p, 0xff, bytes);
        if (n % 2 == 0) {
            mech_arena_release(&a, mark);
        }
    }
    mech_arena_fini(&a);
    CU_ASSERT(a.total == 0);
}

static void pieces_do_not_overlap(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    unsigned char *piece[200];
    for (int k = 0; k < 200; k++) {
        piece[k] = mech_arena_alloc(&a, (size_t)k * 10 + 1, 1);
        CU_ASSERT_FATAL(piece[k] != NULL);
        memset(piece[k], k, (size_t)k * 10 + 1);
    }
    bool kept = true;
    for (int k = 0; k < 200; k++) {
        for (int i = 0; i < k * 10 + 1; i++) {
            kept = kept && piece[k][i] == k;
        }
    }
    CU_ASSERT(kept);
    mech_arena_fini(&a);
}

static void small_arenas_stay_small(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    CU_ASSERT(mech_arena_alloc(&a, 16, 1) != NULL);
    CU_ASSERT(a.total <= 256);
    // pieces of 16 bytes side by side, and empty ones between them
    for (int k = 0; k < 999; k++) {
        CU_ASSERT(mech_arena_alloc(&a, 16, 1) != NULL);
        CU_ASSERT(mech_arena_alloc(&a, 0, 100) != NULL);
    }
    CU_ASSERT(a.total <= 3 * 16000 / 2 + 256);
    mech_arena_fini(&a);
}

static void an_overflowing_product_is_refused(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    // the product is 2 after wrapping round
    CU_ASSERT(mech_arena_alloc(&a, SIZE_MAX / 2 + 2, 2) == NULL);
    CU_ASSERT(mech_arena_alloc(&a, SIZE_MAX, 1) == NULL);
    CU_ASSERT(mech_arena_alloc(&a, 1, 8) != NULL);
    mech_arena_fini(&a);
}

static void the_limit_counts_all_that_malloc_gave(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 10000);
    size_t got = 0;
    while (mech_arena_alloc(&a, 64, 1) != NULL) {
        got++;
        CU_ASSERT_FATAL(got < 1000);
    }
    // all but the heads and the last incomplete 64 bytes of each block
    CU_ASSERT(a.total <= 10000);
    CU_ASSERT(got >= 10000 / 64 - 10);
    CU_ASSERT(mech_arena_alloc(&a, 20000, 1) == NULL);
    mech_arena_fini(&a);
}

static void work_done_again_needs_no_malloc(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    const struct mech_arena_mark empty = mech_arena_mark(&a);
    for (int turn = 0; turn < 5; turn++) {
        alloc_count_start();
        for (int k = 0; k < 100; k++) {
            CU_ASSERT(mech_arena_alloc(&a, 100, 8) != NULL);
        }
        const long count = alloc_count_stop();
        CU_ASSERT(turn == 0 ? count > 0 : count == 0);
        mech_arena_release(&a, empty);
    }
    mech_arena_fini(&a);
}

static void a_release_gives_the_same_place_again(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    char *const kept = mech_arena_strdup(&a, "kept");
    const struct mech_arena_mark mark = mech_arena_mark(&a);
    void *const first = mech_arena_alloc(&a, 10, 1);
    CU_ASSERT(mech_arena_alloc(&a, 100000, 1) != NULL);
    mech_arena_release(&a, mark);
    CU_ASSERT(mech_arena_alloc(&a, 10, 1) == first);
    CU_ASSERT_STRING_EQUAL(kept, "kept");
    mech_arena_fini(&a);
}

static void a_kept_block_that_is_too_small_is_replaced(void)
{
    struct mech_arena a;
    mech_arena_init(&a, 0);
    CU_ASSERT(mech_arena_alloc(&a, 4000, 1) != NULL);
    const struct mech_arena_mark mark = mech_arena_mark(&a);
    CU_ASSERT(mech_arena_alloc(&a, 4000, 1) != NULL);
    mech_arena_release(&a, mark);
    unsigned char *const large = mech_arena_alloc(&a, 1000000, 1);
    CU_ASSERT_FATAL(large != NULL);
    memset(large, 1, 1000000);
    mech_arena_fini(&a);
    CU_ASSERT(a.total == 0);
}

static void a_list_grows_and_keeps_its_items(void)
{
    struct mech_arena a;
    struct mech_arena_list list = {.count = 0};
    mech_arena_init(&a, 1 << 20);
    for (size_t k = 0; k < 1000; k++) {
        uint64_t *const item = mech_arena_add(&a, &list, sizeof *item);
        CU_ASSERT_FATAL(item != NULL);
        CU_ASSERT_EQUAL(*item, 0);
        *item = k;
    }
    CU_ASSERT_EQUAL(list.count, 1000);
    for (size_t k = 0; k < list.count; k++) {
        CU_ASSERT_EQUAL(((const uint64_t *)list.items)[k], k);
    }
    // beyond the limit nothing changes
    size_t before = list.count;
    while (mech_arena_add(&a, &list, sizeof(uint64_t)) != NULL) {
        before = list.count;
    }
    CU_ASSERT_EQUAL(list.count, before);
    CU_ASSERT_EQUAL(list.room, before);
    CU_ASSERT_EQUAL(((const uint64_t *)list.items)[999], 999);
    mech_arena_fini(&a);
}

UNIT_TESTS(UNIT_TEST(pointers_are_aligned_and_zeroed), UNIT_TEST(pieces_do_not_overlap),
           UNIT_TEST(small_arenas_stay_small), UNIT_TEST(an_overflowing_product_is_refused),
           UNIT_TEST(the_limit_counts_all_that_malloc_gave),
           UNIT_TEST(work_done_again_needs_no_malloc),
           UNIT_TEST(a_release_gives_the_same_place_again),
           UNIT_TEST(a_kept_block_that_is_too_small_is_replaced),
           UNIT_TEST(a_list_grows_and_keeps_its_items))
