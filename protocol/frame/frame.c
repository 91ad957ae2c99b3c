/* The binary frame: header and values to and from little-endian bytes, field by field, so that any
 * compiler, alignment and byte order gives the same 64 bytes (layout in frame.h). On little-endian
 * machines the compiler turns each field into one load or store; values cost one memcpy.
 */
#include "protocol/frame/frame.h"

#include <string.h>

static void put(unsigned char *at, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        at[i] = (unsigned char)(value >> (8 * i) & 0xffu);
    }
}

static uint64_t get(const unsigned char *at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) {
        value |= (uint64_t)at[i] << (8 * i);
    }
    return value;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void mechp_frame_write(const struct mechp_frame *f, void *bytes)
{
    unsigned char *const at = bytes;
    memcpy(at, "MCHD", 4);
    put(at + 4, MECHP_FRAME_VERSION, 1);
    put(at + 5, f->kind, 1);
    put(at + 6, f->flags, 2);
    put(at + 8, f->instance, 4);
    put(at + 12, f->count, 4);
    put(at + 16, f->iteration, 4);
    put(at + 20, (uint32_t)f->status, 4);
    put(at + 24, f->sequence, 8);
    put(at + 32, f->step, 8);
    put(at + 40, bits_of(f->time), 8);
    put(at + 48, bits_of(f->size), 8);
    put(at + 56, f->lease, 8);
}

/* The fields of the header that `size` bytes hold whole, the others 0; magic, version and what the
 * fields say are not looked at. */
static struct mechp_frame fields_of(const unsigned char *bytes, size_t size)
{
    unsigned char at[MECHP_FRAME_HEADER] = {0};
    memcpy(at, bytes, size < sizeof at ? size - size % 8 : sizeof at);
    // the sign of the status comes back by its bits
    const uint32_t status = (uint32_t)get(at + 20, 4);
    struct mechp_frame f = {
        .kind = at[5],
        .flags = (uint16_t)get(at + 6, 2),
        .instance = (uint32_t)get(at + 8, 4),
        .count = (uint32_t)get(at + 12, 4),
        .iteration = (uint32_t)get(at + 16, 4),
        .sequence = get(at + 24, 8),
        .step = get(at + 32, 8),
        .time = double_of(get(at + 40, 8)),
        .size = double_of(get(at + 48, 8)),
        .lease = get(at + 56, 8),
    };
    memcpy(&f.status, &status, sizeof status);
    return f;
}

int mechp_frame_read(const void *bytes, size_t size, struct mechp_frame *f)
{
    const unsigned char *const at = bytes;
    *f = (struct mechp_frame){.kind = 0};
    if (size < 4 || memcmp(at, "MCHD", 4) != 0) {
        return size < MECHP_FRAME_HEADER ? MECHP_FRAME_SHORT : MECHP_FRAME_MAGIC;
    }
    *f = fields_of(at, size);
    if (size < MECHP_FRAME_HEADER) {
        return MECHP_FRAME_SHORT;
    }
    if (at[4] != MECHP_FRAME_VERSION) {
        return MECHP_FRAME_BAD_VERSION;
    }
    if (f->kind < MECHP_HELLO || f->kind > MECHP_BYE) {
        return MECHP_FRAME_KIND;
    }
    // the division cannot overflow, whatever count says
    const size_t rest = size - MECHP_FRAME_HEADER;
    return rest % 8 == 0 && rest / 8 == f->count ? 0 : MECHP_FRAME_COUNT;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

void mechp_frame_put_values(void *bytes, const double *values, uint32_t count)
{
    if (count > 0) {
        memcpy(bytes, values, (size_t)count * sizeof *values);
    }
}

void mechp_frame_get_values(const void *bytes, double *values, uint32_t count)
{
    if (count > 0) {
        memcpy(values, bytes, (size_t)count * sizeof *values);
    }
}

#else

void mechp_frame_put_values(void *bytes, const double *values, uint32_t count)
{
    unsigned char *const at = bytes;
    for (size_t i = 0; i < count; i++) {
        put(at + 8 * i, bits_of(values[i]), 8);
    }
}

void mechp_frame_get_values(const void *bytes, double *values, uint32_t count)
{
    const unsigned char *const at = bytes;
    for (size_t i = 0; i < count; i++) {
        values[i] = double_of(get(at + 8 * i, 8));
    }
}

#endif

static const char *const kinds[] = {"?",       "hello", "step",     "trial",   "commit", "inputs",
                                    "outputs", "state", "snapshot", "restore", "error",  "bye"};

const char *mechp_frame_kind_name(uint8_t kind)
{
    return kind < sizeof kinds / sizeof *kinds ? kinds[kind] : kinds[0];
}
