/* Ids are the outputs of SplitMix64 (Steele, Lea, Flood 2014: add the golden gamma, then mix) from
 * a random start: no two are alike within a process, and they need not be secret. A thread takes
 * many at a time, so that threads do not take the counter from each other with each request. */
#include "server/http/trace.h"

#include <sodium.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { MANY = 1024 };

static const uint64_t golden = 0x9e3779b97f4a7c15u;

/* 0 until the first use; two threads may both set it, which does no harm */
static _Atomic uint64_t counter;

/* Ids for many requests. */
static uint64_t take_many(void)
{
    if (atomic_load_explicit(&counter, memory_order_relaxed) == 0) {
        uint64_t start = 0;
        randombytes_buf(&start, sizeof start);
        atomic_store_explicit(&counter, start, memory_order_relaxed);
    }
    return atomic_fetch_add_explicit(&counter, MANY * golden, memory_order_relaxed);
}

/* The first of `count` unique ids. */
static uint64_t take_ids(unsigned count)
{
    static _Thread_local uint64_t at;
    static _Thread_local unsigned left;
    if (left < count) {
        at = take_many();
        left = MANY;
    }
    const uint64_t first = at;
    at += count * golden;
    left -= count;
    return first;
}

/* The next of them. */
static uint64_t next_id(uint64_t *at)
{
    *at += golden;
    uint64_t z = *at;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return z != 0 ? z : 1; // an id of zeros is none
}

/* `count` lower-case hexadecimal digits; an id is not all zeros. */
static bool is_hex(const char *text, int count, bool id)
{
    bool zero = true;
    for (int k = 0; k < count; k++) {
        const bool digit = (text[k] >= '0' && text[k] <= '9') || (text[k] >= 'a' && text[k] <= 'f');
        if (!digit) {
            return false;
        }
        zero = zero && text[k] == '0';
    }
    return !id || !zero;
}

/* Version 00 ends after its flags; a later one may go on behind a dash; ff is none. */
static bool is_sound(const char *t)
{
    enum { TRACE_AT = 3, PARENT_AT = 36, FLAGS_AT = 53, END = 55 };
    if (t == NULL || strlen(t) < END || !is_hex(t, 2, false) || memcmp(t, "ff", 2) == 0) {
        return false;
    }
    const bool ends = t[END] == '\0' || (memcmp(t, "00", 2) != 0 && t[END] == '-');
    return ends && t[TRACE_AT - 1] == '-' && t[PARENT_AT - 1] == '-' && t[FLAGS_AT - 1] == '-' &&
           is_hex(t + TRACE_AT, 32, true) && is_hex(t + PARENT_AT, 16, true) &&
           is_hex(t + FLAGS_AT, 2, false);
}

/* Eight digits at once, the highest first: each half byte into a byte of its own, to which '0' or
 * what leads from ten to 'a' is added. */
static void put_half(char *out, uint32_t id)
{
    uint64_t x = id;
    x = (x << 16 | x) & 0x0000ffff0000ffffu;
    x = (x << 8 | x) & 0x00ff00ff00ff00ffu;
    x = (x << 4 | x) & 0x0f0f0f0f0f0f0f0fu;
    const uint64_t letters = (x + 0x0606060606060606u) >> 4 & 0x0101010101010101u;
    x += 0x3030303030303030u + letters * ('a' - '0' - 10);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    memcpy(out, &x, sizeof x);
}

static void put_hex(char *out, uint64_t id)
{
    put_half(out, (uint32_t)(id >> 32));
    put_half(out + 8, (uint32_t)id);
}

void mechd_trace_take(const char *given, char out[MECHD_TRACE])
{
    const bool goes_on = is_sound(given);
    uint64_t at = take_ids(goes_on ? 1 : 3);
    memcpy(out, "00-00000000000000000000000000000000-0000000000000000-00", MECHD_TRACE);
    if (goes_on) {
        memcpy(out + 3, given + 3, 32);
        memcpy(out + 53, given + 53, 2);
    } else {
        put_hex(out + 3, next_id(&at));
        put_hex(out + 19, next_id(&at));
    }
    put_hex(out + 36, next_id(&at));
}
