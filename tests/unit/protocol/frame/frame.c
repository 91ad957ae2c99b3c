/* The binary frame: the documented bytes, the way there and back, and every refusal. */
#include "protocol/frame/frame.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct mechp_frame sample = {
    .kind = MECHP_STEP,
    .flags = MECHP_REWOUND | MECHP_LATE,
    .instance = 0x01020304u,
    .count = 2,
    .iteration = 7,
    .status = -2,
    .sequence = 0x1122334455667788u,
    .step = 5,
    .time = 0.1,
    .size = -0.,
    .lease = 0xfedcba9876543210u,
};

static void header_has_the_documented_bytes(void)
{
    // written by hand from the table in frame.h; 0.1 is 0x3fb999999999999a
    static const unsigned char expected[64] = {
        'M', 'C', 'H', 'D', 1,    2,    0x0a, 0x00, 4,    3,    2,    1,    2,    0,    0,    0,
        7,   0,   0,   0,   0xfe, 0xff, 0xff, 0xff, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11,
        5,   0,   0,   0,   0,    0,    0,    0,    0x9a, 0x99, 0x99, 0x99, 0x99, 0x99, 0xb9, 0x3f,
        0,   0,   0,   0,   0,    0,    0,    0x80, 0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe,
    };
    unsigned char bytes[64];
    mechp_frame_write(&sample, bytes);
    for (int i = 0; i < 64; i++) {
        CU_ASSERT_EQUAL(bytes[i], expected[i]);
    }
}

static void header_comes_back_as_it_was_written(void)
{
    unsigned char bytes[64 + 16] = {0};
    struct mechp_frame f;
    mechp_frame_write(&sample, bytes);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, sizeof bytes, &f), 0);
    CU_ASSERT_EQUAL(f.kind, sample.kind);
    CU_ASSERT_EQUAL(f.flags, sample.flags);
    CU_ASSERT_EQUAL(f.instance, sample.instance);
    CU_ASSERT_EQUAL(f.count, sample.count);
    CU_ASSERT_EQUAL(f.iteration, sample.iteration);
    CU_ASSERT_EQUAL(f.status, sample.status);
    CU_ASSERT_EQUAL(f.sequence, sample.sequence);
    CU_ASSERT_EQUAL(f.step, sample.step);
    CU_ASSERT_EQUAL(f.time, sample.time);
    CU_ASSERT(signbit(f.size));
    CU_ASSERT_EQUAL(f.lease, sample.lease);
}

static void values_keep_their_bits_at_any_alignment(void)
{
    const double values[4] = {0.1, -0., HUGE_VAL, 4.9e-324};
    unsigned char bytes[33];
    double back[4];
    mechp_frame_put_values(bytes + 1, values, 4);
    mechp_frame_get_values(bytes + 1, back, 4);
    CU_ASSERT_EQUAL(memcmp(values, back, sizeof values), 0);
    CU_ASSERT_EQUAL(bytes[1], 0x9a);
    CU_ASSERT_EQUAL(bytes[8], 0x3f);
}

static void bad_headers_are_refused_each_with_its_fault(void)
{
    unsigned char bytes[64 + 16] = {0};
    struct mechp_frame f;
    mechp_frame_write(&sample, bytes);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 63, &f), MECHP_FRAME_SHORT);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 0, &f), MECHP_FRAME_SHORT);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 64, &f), MECHP_FRAME_COUNT);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 79, &f), MECHP_FRAME_COUNT);
    // 8 × count overflows 32 bits to 16
    bytes[15] = 0x20;
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_COUNT);
    bytes[15] = 0;
    bytes[5] = 0;
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_KIND);
    bytes[5] = 12;
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_KIND);
    bytes[4] = 2;
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_BAD_VERSION);
    bytes[0] = 'm';
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_MAGIC);
}

static void bad_headers_still_give_the_fields_that_came(void)
{
    unsigned char bytes[64 + 16] = {0};
    struct mechp_frame f;
    mechp_frame_write(&sample, bytes);
    bytes[5] = 99;
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_KIND);
    CU_ASSERT_EQUAL(f.sequence, sample.sequence);
    CU_ASSERT_EQUAL(f.lease, sample.lease);
    bytes[4] = 9;
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_BAD_VERSION);
    CU_ASSERT_EQUAL(f.sequence, sample.sequence);
    // its last byte is byte 31
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 32, &f), MECHP_FRAME_SHORT);
    CU_ASSERT_EQUAL(f.sequence, sample.sequence);
    CU_ASSERT_EQUAL(f.lease, 0);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 31, &f), MECHP_FRAME_SHORT);
    CU_ASSERT_EQUAL(f.sequence, 0);
    CU_ASSERT_EQUAL(f.iteration, sample.iteration);
    bytes[0] = 'm';
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 80, &f), MECHP_FRAME_MAGIC);
    CU_ASSERT_EQUAL(f.sequence, 0);
    CU_ASSERT_EQUAL(mechp_frame_read(bytes, 3, &f), MECHP_FRAME_SHORT);
    CU_ASSERT_EQUAL(f.sequence, 0);
}

static void a_frame_is_read_to_its_end_and_no_further(void)
{
    unsigned char whole[64 + 16] = {0};
    mechp_frame_write(&sample, whole);
    for (size_t size = 1; size <= sizeof whole; size++) {
        // a block of this size, behind which a sanitizer sees every byte that is read
        unsigned char *const bytes = malloc(size);
        CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
        memcpy(bytes, whole, size);
        struct mechp_frame f;
        CU_ASSERT_EQUAL(mechp_frame_read(bytes, size, &f), size < 64   ? MECHP_FRAME_SHORT
                                                           : size < 80 ? MECHP_FRAME_COUNT
                                                                       : 0);
        CU_ASSERT_EQUAL(f.sequence, size < 32 ? 0 : sample.sequence);
        free(bytes);
    }
}

static void kinds_have_the_names_of_the_interface(void)
{
    CU_ASSERT_STRING_EQUAL(mechp_frame_kind_name(1), "hello");
    CU_ASSERT_STRING_EQUAL(mechp_frame_kind_name(7), "state");
    CU_ASSERT_STRING_EQUAL(mechp_frame_kind_name(11), "bye");
    CU_ASSERT_STRING_EQUAL(mechp_frame_kind_name(0), "?");
    CU_ASSERT_STRING_EQUAL(mechp_frame_kind_name(12), "?");
}

UNIT_TESTS(UNIT_TEST(header_has_the_documented_bytes),
           UNIT_TEST(header_comes_back_as_it_was_written),
           UNIT_TEST(values_keep_their_bits_at_any_alignment),
           UNIT_TEST(bad_headers_are_refused_each_with_its_fault),
           UNIT_TEST(bad_headers_still_give_the_fields_that_came),
           UNIT_TEST(a_frame_is_read_to_its_end_and_no_further),
           UNIT_TEST(kinds_have_the_names_of_the_interface))
