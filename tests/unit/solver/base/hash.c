/* Hash: every bit, the size, the order and the seed count. */
#include "solver/base/hash.h"

#include "tests/unit/unit.h"

#include <string.h>

static int bits(uint64_t x)
{
    return __builtin_popcountll(x);
}

static void each_flipped_bit_changes_about_half_of_the_result(void)
{
    unsigned char data[100];
    for (int i = 0; i < 100; i++) {
        data[i] = (unsigned char)(i * 37 + 11);
    }
    // sizes around the block of 32 and a tail
    const size_t sizes[] = {1, 7, 8, 9, 31, 32, 33, 64, 100};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        const uint64_t before = mech_hash(data, sizes[s], 1);
        for (size_t bit = 0; bit < 8 * sizes[s]; bit++) {
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            const int changed = bits(before ^ mech_hash(data, sizes[s], 1));
            data[bit / 8] ^= (unsigned char)(1u << bit % 8);
            // 64 fair coins: fewer than 10 or more than 54 heads has a chance of 1e-8
            CU_ASSERT(changed >= 10 && changed <= 54);
        }
    }
}

static void trailing_zeros_the_size_and_the_seed_count(void)
{
    const unsigned char zeros[96] = {0};
    uint64_t seen[97];
    for (size_t n = 0; n <= 96; n++) {
        seen[n] = mech_hash(zeros, n, 0);
        for (size_t k = 0; k < n; k++) {
            CU_ASSERT(seen[k] != seen[n]);
        }
    }
    CU_ASSERT(mech_hash(zeros, 40, 0) != mech_hash(zeros, 40, 1));
}

static void words_that_change_places_change_the_result(void)
{
    double x[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    const uint64_t before = mech_hash(x, sizeof x, 0);
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < i; j++) {
            double y[8];
            memcpy(y, x, sizeof y);
            y[i] = x[j];
            y[j] = x[i];
            CU_ASSERT(mech_hash(y, sizeof y, 0) != before);
        }
    }
}

static void the_value_does_not_depend_on_alignment(void)
{
    unsigned char shifted[80];
    const char text[] = "the same bytes at another address give the same value";
    const uint64_t expected = mech_hash(text, sizeof text, 5);
    for (size_t k = 0; k < 16; k++) {
        memcpy(shifted + k, text, sizeof text);
        CU_ASSERT_EQUAL(mech_hash(shifted + k, sizeof text, 5), expected);
    }
}

UNIT_TESTS(UNIT_TEST(each_flipped_bit_changes_about_half_of_the_result),
           UNIT_TEST(trailing_zeros_the_size_and_the_seed_count),
           UNIT_TEST(words_that_change_places_change_the_result),
           UNIT_TEST(the_value_does_not_depend_on_alignment))
