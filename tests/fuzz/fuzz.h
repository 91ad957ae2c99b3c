/* A fuzz target: one function that takes any bytes, for libFuzzer's driver or replay.c.
 *
 * Bytes as values: what is taken off the front of an input. When it is used up, zeros follow. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0. Ends the process by abort() or a sanitizer's report where something is wrong. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Something is wrong with what the input came to. */
static inline _Noreturn void fuzz_fail(const char *what)
{
    (void)fprintf(stderr, "ERROR: %s\n", what);
    abort();
}

/* The input as a string that ends where its memory does, so that a byte too far is seen. NULL: no
 * memory. The caller frees. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
    char *const text = malloc(size + 1);
    if (text != NULL) {
        if (size > 0) {
            memcpy(text, data, size);
        }
        text[size] = 0;
    }
    return text;
}

struct fuzz_bytes {
    const uint8_t *at;
    size_t left;
};

/* The next `size` bytes, of which there may be fewer, into `to`. */
static inline void fuzz_take(struct fuzz_bytes *b, void *to, size_t size)
{
    const size_t n = size < b->left ? size : b->left;
    memset(to, 0, size);
    if (n > 0) {
        memcpy(to, b->at, n);
        b->at += n;
        b->left -= n;
    }
}

static inline uint8_t fuzz_u8(struct fuzz_bytes *b)
{
    uint8_t value = 0;
    fuzz_take(b, &value, 1);
    return value;
}

static inline uint16_t fuzz_u16(struct fuzz_bytes *b)
{
    uint16_t value = 0;
    fuzz_take(b, &value, sizeof value);
    return value;
}

/* 0 … below − 1. */
static inline uint32_t fuzz_below(struct fuzz_bytes *b, uint32_t below)
{
    return fuzz_u8(b) % below;
}

/* One byte picks: quarters from −16 to 15.75, one of the numbers that make trouble, or the eight
 * bytes of any double. */
static inline double fuzz_real(struct fuzz_bytes *b)
{
    static const double odd[] = {1e-300, -1e-300, 1e-16, 1e-8, 1e8,    1e16,    1e150,
                                 -1e150, 1e300,   1e308, -0.,  5e-324, 1. / 3., 1. + 2.3e-16};
    enum { QUARTERS = 128, ODD = sizeof odd / sizeof *odd };
    const unsigned pick = fuzz_u8(b);
    double value = 0.;
    if (pick < QUARTERS) {
        return ((int)pick - QUARTERS / 2) / 4.;
    }
    if (pick - QUARTERS < ODD) {
        return odd[pick - QUARTERS];
    }
    fuzz_take(b, &value, sizeof value);
    return value;
}
