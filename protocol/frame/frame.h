/* The binary frame: a 64-byte little-endian header and `count` float64 values.
 *
 *   offset  0  magic "MCHD"       16  iteration u32     40  time f64 (s)
 *           4  version u8 (1)     20  status i32        48  size f64 (H, s)
 *           5  kind u8            24  sequence u64      56  lease u64
 *           6  flags u16          32  step u64
 *           8  instance u32       64  values f64 × count
 *          12  count u32
 *
 * libc alone; used by the daemon, the C client and the FMU. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { MECHP_FRAME_HEADER = 64, MECHP_FRAME_VERSION = 1 };

enum mechp_frame_kind {
    MECHP_HELLO = 1,
    MECHP_STEP,
    MECHP_TRIAL,
    MECHP_COMMIT,
    MECHP_INPUTS,
    MECHP_OUTPUTS,
    MECHP_STATE,
    MECHP_SNAPSHOT,
    MECHP_RESTORE,
    MECHP_ERROR,
    MECHP_BYE
};

enum mechp_frame_flags {
    MECHP_REPEAT = 1,  /* the last value again, for a late subscriber */
    MECHP_REWOUND = 2, /* time went back: a restore or a reset */
    MECHP_EVENT = 4,
    MECHP_LATE = 8,
    MECHP_TEXT = 16,  /* error of a partner of a coupling: a text follows, as a second part */
    MECHP_EXPECT = 32 /* of a step or trial: refused unless the instance is at the frame's time */
};

struct mechp_frame {
    uint8_t kind;
    uint16_t flags;
    uint32_t instance;
    uint32_t count;
    uint32_t iteration;
    int32_t status;
    uint64_t sequence;
    uint64_t step;
    double time;
    double size;
    uint64_t lease;
};

enum mechp_frame_fault {
    MECHP_FRAME_SHORT = 1, /* fewer than 64 bytes */
    MECHP_FRAME_MAGIC,
    MECHP_FRAME_BAD_VERSION,
    MECHP_FRAME_KIND,
    MECHP_FRAME_COUNT /* the values do not fit the bytes */
};

/* Write the header to 64 bytes. */
void mechp_frame_write(const struct mechp_frame *f, void *bytes);

/* Read and check a header; `size` is the length of the whole message, which must be exactly
 * 64 + 8 × count. 0 or enum mechp_frame_fault; then *f contains the fields that are complete after
 * the magic, and 0 for the others, so that the answer to a bad frame carries its sequence. */
int mechp_frame_read(const void *bytes, size_t size, struct mechp_frame *f);

/* Values to and from the little-endian bytes after a header (bytes need no alignment). */
void mechp_frame_put_values(void *bytes, const double *values, uint32_t count);
void mechp_frame_get_values(const void *bytes, double *values, uint32_t count);

/* "hello", "step", …; "?" for an unknown kind. */
const char *mechp_frame_kind_name(uint8_t kind);
