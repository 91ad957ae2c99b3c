/* Plots as PNG (Portable Network Graphics, third edition): a palette, 8 bits a pixel, packed by a
 * deflate of our own (RFC 1950 and 1951), so that no library is needed: one block of the fixed
 * codes, whose repetitions are of the pixel before or of the line above, which takes a fiftieth
 * of the picture. Text is of ASCII, in letters of 5 by 7 pixels. */
#include "clients/cli/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST = 32, LETTERS = 95, COLUMNS = 5, ROWS = 8, ADVANCE = 7, SHORTEST = 3, LONGEST = 258 };

/* Letters from the blank on: columns from left to right, the lowest bit on top. */
static const unsigned char letters[LETTERS][COLUMNS] = {
    {0x00, 0x00, 0x00, 0x00, 0x00}, {0x00, 0x00, 0x5f, 0x00, 0x00}, {0x00, 0x07, 0x00, 0x07, 0x00},
    {0x14, 0x7f, 0x14, 0x7f, 0x14}, {0x24, 0x2a, 0x7f, 0x2a, 0x12}, {0x23, 0x13, 0x08, 0x64, 0x62},
    {0x36, 0x49, 0x55, 0x22, 0x50}, {0x00, 0x05, 0x03, 0x00, 0x00}, {0x00, 0x1c, 0x22, 0x41, 0x00},
    {0x00, 0x41, 0x22, 0x1c, 0x00}, {0x14, 0x08, 0x3e, 0x08, 0x14}, {0x08, 0x08, 0x3e, 0x08, 0x08},
    {0x00, 0x50, 0x30, 0x00, 0x00}, {0x08, 0x08, 0x08, 0x08, 0x08}, {0x00, 0x60, 0x60, 0x00, 0x00},
    {0x20, 0x10, 0x08, 0x04, 0x02}, {0x3e, 0x51, 0x49, 0x45, 0x3e}, {0x00, 0x42, 0x7f, 0x40, 0x00},
    {0x42, 0x61, 0x51, 0x49, 0x46}, {0x21, 0x41, 0x45, 0x4b, 0x31}, {0x18, 0x14, 0x12, 0x7f, 0x10},
    {0x27, 0x45, 0x45, 0x45, 0x39}, {0x3c, 0x4a, 0x49, 0x49, 0x30}, {0x01, 0x71, 0x09, 0x05, 0x03},
    {0x36, 0x49, 0x49, 0x49, 0x36}, {0x06, 0x49, 0x49, 0x29, 0x1e}, {0x00, 0x36, 0x36, 0x00, 0x00},
    {0x00, 0x56, 0x36, 0x00, 0x00}, {0x08, 0x14, 0x22, 0x41, 0x00}, {0x14, 0x14, 0x14, 0x14, 0x14},
    {0x00, 0x41, 0x22, 0x14, 0x08}, {0x02, 0x01, 0x51, 0x09, 0x06}, {0x32, 0x49, 0x79, 0x41, 0x3e},
    {0x7e, 0x11, 0x11, 0x11, 0x7e}, {0x7f, 0x49, 0x49, 0x49, 0x36}, {0x3e, 0x41, 0x41, 0x41, 0x22},
    {0x7f, 0x41, 0x41, 0x22, 0x1c}, {0x7f, 0x49, 0x49, 0x49, 0x41}, {0x7f, 0x09, 0x09, 0x09, 0x01},
    {0x3e, 0x41, 0x49, 0x49, 0x7a}, {0x7f, 0x08, 0x08, 0x08, 0x7f}, {0x00, 0x41, 0x7f, 0x41, 0x00},
    {0x20, 0x40, 0x41, 0x3f, 0x01}, {0x7f, 0x08, 0x14, 0x22, 0x41}, {0x7f, 0x40, 0x40, 0x40, 0x40},
    {0x7f, 0x02, 0x0c, 0x02, 0x7f}, {0x7f, 0x04, 0x08, 0x10, 0x7f}, {0x3e, 0x41, 0x41, 0x41, 0x3e},
    {0x7f, 0x09, 0x09, 0x09, 0x06}, {0x3e, 0x41, 0x51, 0x21, 0x5e}, {0x7f, 0x09, 0x19, 0x29, 0x46},
    {0x46, 0x49, 0x49, 0x49, 0x31}, {0x01, 0x01, 0x7f, 0x01, 0x01}, {0x3f, 0x40, 0x40, 0x40, 0x3f},
    {0x1f, 0x20, 0x40, 0x20, 0x1f}, {0x3f, 0x40, 0x38, 0x40, 0x3f}, {0x63, 0x14, 0x08, 0x14, 0x63},
    {0x07, 0x08, 0x70, 0x08, 0x07}, {0x61, 0x51, 0x49, 0x45, 0x43}, {0x00, 0x7f, 0x41, 0x41, 0x00},
    {0x02, 0x04, 0x08, 0x10, 0x20}, {0x00, 0x41, 0x41, 0x7f, 0x00}, {0x04, 0x02, 0x01, 0x02, 0x04},
    {0x40, 0x40, 0x40, 0x40, 0x40}, {0x00, 0x01, 0x02, 0x04, 0x00}, {0x20, 0x54, 0x54, 0x54, 0x78},
    {0x7f, 0x48, 0x44, 0x44, 0x38}, {0x38, 0x44, 0x44, 0x44, 0x20}, {0x38, 0x44, 0x44, 0x48, 0x7f},
    {0x38, 0x54, 0x54, 0x54, 0x18}, {0x08, 0x7e, 0x09, 0x01, 0x02}, {0x0c, 0x52, 0x52, 0x52, 0x3e},
    {0x7f, 0x08, 0x04, 0x04, 0x78}, {0x00, 0x44, 0x7d, 0x40, 0x00}, {0x20, 0x40, 0x44, 0x3d, 0x00},
    {0x7f, 0x10, 0x28, 0x44, 0x00}, {0x00, 0x41, 0x7f, 0x40, 0x00}, {0x7c, 0x04, 0x18, 0x04, 0x78},
    {0x7c, 0x08, 0x04, 0x04, 0x78}, {0x38, 0x44, 0x44, 0x44, 0x38}, {0x7c, 0x14, 0x14, 0x14, 0x08},
    {0x08, 0x14, 0x14, 0x18, 0x7c}, {0x7c, 0x08, 0x04, 0x04, 0x08}, {0x48, 0x54, 0x54, 0x54, 0x20},
    {0x04, 0x3f, 0x44, 0x40, 0x20}, {0x3c, 0x40, 0x40, 0x20, 0x7c}, {0x1c, 0x20, 0x40, 0x20, 0x1c},
    {0x3c, 0x40, 0x30, 0x40, 0x3c}, {0x44, 0x28, 0x10, 0x28, 0x44}, {0x0c, 0x50, 0x50, 0x50, 0x3c},
    {0x44, 0x64, 0x54, 0x4c, 0x44}, {0x00, 0x08, 0x36, 0x41, 0x00}, {0x00, 0x00, 0x7f, 0x00, 0x00},
    {0x00, 0x41, 0x36, 0x08, 0x00}, {0x10, 0x08, 0x08, 0x10, 0x08},
};

struct image {
    unsigned char *at; /* [height][width + 1]: a zero, no filter, in front of each line */
    int width, height;
};

static void dot(struct image *i, int x, int y, int colour)
{
    if (x >= 0 && y >= 0 && x < i->width && y < i->height) {
        i->at[(size_t)y * (size_t)(i->width + 1) + 1 + (size_t)x] = (unsigned char)colour;
    }
}

/* From one point to the next, in steps of a pixel; curves are two pixels wide. */
static void line(void *surface, const struct mechctl_point *p, size_t count, int colour)
{
    const int wide = colour >= MECHCTL_CURVES ? 2 : 1;
    for (size_t k = count > 1 ? 1 : 0; k < count; k++) {
        const struct mechctl_point a = p[k > 0 ? k - 1 : 0], b = p[k];
        const int n = (int)fmax(fmax(fabs(b.x - a.x), fabs(b.y - a.y)), 1.);
        for (int i = 0; i <= n; i++) {
            const int x = (int)lround(a.x + (b.x - a.x) * i / n);
            const int y = (int)lround(a.y + (b.y - a.y) * i / n);
            for (int w = 0; w < wide * wide; w++) {
                dot(surface, x + w % wide, y + w / wide, colour);
            }
        }
    }
}

/* Characters that are not of ASCII are a question mark. */
static void text(void *surface, struct mechctl_point at, int align, int colour, const char *given)
{
    int x = (int)at.x - (align + 1) * ADVANCE * mechctl_width(given) / 2;
    for (const char *c = given; *c; c++) {
        if (((unsigned char)*c & 0xc0) == 0x80) {
            continue;
        }
        const int k = (unsigned char)*c - FIRST;
        const unsigned char *const letter = letters[k >= 0 && k < LETTERS ? k : '?' - FIRST];
        for (int bit = 0; bit < COLUMNS * ROWS; bit++) {
            if (letter[bit / ROWS] >> bit % ROWS & 1) {
                dot(surface, x + bit / ROWS, (int)at.y - ROWS + 1 + bit % ROWS, colour);
            }
        }
        x += ADVANCE;
    }
}

static void add_number(struct mechc_bytes *b, uint32_t x)
{
    const unsigned char bytes[] = {(unsigned char)(x >> 24), (unsigned char)(x >> 16),
                                   (unsigned char)(x >> 8), (unsigned char)x};
    mechc_bytes_add(b, bytes, sizeof bytes);
}

/* The check sum of ISO 3309 (PNG, annex D). */
static uint32_t crc(const char *bytes, size_t size)
{
    uint32_t sum = 0xffffffff;
    for (size_t k = 0; k < size; k++) {
        sum ^= (unsigned char)bytes[k];
        for (int bit = 0; bit < 8; bit++) {
            sum = sum & 1 ? 0xedb88320 ^ sum >> 1 : sum >> 1;
        }
    }
    return ~sum;
}

static void add_chunk(struct mechc_bytes *b, const char name[5], const void *data, size_t size)
{
    add_number(b, (uint32_t)size);
    const size_t begin = b->length;
    mechc_bytes_add(b, name, 4);
    mechc_bytes_add(b, data, size);
    if (!b->failed) {
        add_number(b, crc(b->at + begin, b->length - begin));
    }
}

/* --- deflate ---------------------------------------------------------------------------------- */

/* Bits from the lowest of each byte on. */
struct bits {
    struct mechc_bytes *out;
    uint32_t held;
    int count;
};

static void put(struct bits *s, uint32_t value, int count)
{
    s->held |= value << s->count;
    for (s->count += count; s->count >= 8; s->count -= 8) {
        const unsigned char byte = (unsigned char)s->held;
        mechc_bytes_add(s->out, &byte, 1);
        s->held >>= 8;
    }
}

/* A code of so many bits, its highest first. */
static void put_code(struct bits *s, uint32_t code, int count)
{
    for (int k = count - 1; k >= 0; k--) {
        put(s, code >> k & 1, 1);
    }
}

/* A byte, the end of the block (256) or a length, by the fixed codes (RFC 1951, 3.2.6). */
static void put_symbol(struct bits *s, uint32_t symbol)
{
    if (symbol < 144) {
        put_code(s, 0x30 + symbol, 8);
    } else if (symbol < 256) {
        put_code(s, 0x190 + symbol - 144, 9);
    } else if (symbol < 280) {
        put_code(s, symbol - 256, 7);
    } else {
        put_code(s, 0xc0 + symbol - 280, 8);
    }
}

static int highest_bit(uint32_t x)
{
    int bit = 0;
    while (x >> (bit + 1)) {
        bit++;
    }
    return bit;
}

/* What stands `distance` before, `length` times (3.2.5). */
static void put_repetition(struct bits *s, uint32_t length, uint32_t distance)
{
    const uint32_t l = length - SHORTEST, d = distance - 1;
    const int more = l < 8 ? 0 : highest_bit(l) - 2, far = d < 4 ? 0 : highest_bit(d) - 1;
    if (length == LONGEST) {
        put_symbol(s, 285);
    } else {
        put_symbol(s, 257 + (l < 8 ? l : 4 * (uint32_t)(more + 1) + (l >> more & 3)));
        put(s, l & ((1u << more) - 1), more);
    }
    put_code(s, d < 4 ? d : 2 * (uint32_t)(far + 1) + (d >> far & 1), 5);
    put(s, d & ((1u << far) - 1), far);
}

/* How many bytes from `at` on are those `distance` before, at most LONGEST. */
static uint32_t repeated(const unsigned char *bytes, size_t size, size_t at, size_t distance)
{
    uint32_t n = 0;
    while (distance <= at && n < LONGEST && at + n < size &&
           bytes[at + n] == bytes[at + n - distance]) {
        n++;
    }
    return n;
}

/* The lines as a stream of zlib. */
static void add_lines(struct mechc_bytes *b, const struct image *i)
{
    const size_t row = (size_t)i->width + 1, size = (size_t)i->height * row;
    struct bits s = {.out = b};
    uint32_t low = 1, high = 0;
    mechc_bytes_add(b, "\x78\x01", 2);
    put(&s, 1, 1); // the last block
    put(&s, 1, 2); // of fixed codes
    for (size_t at = 0; at < size;) {
        const uint32_t before = repeated(i->at, size, at, 1);
        const uint32_t above = repeated(i->at, size, at, row);
        const uint32_t n = above > before ? above : before;
        if (n < SHORTEST) {
            put_symbol(&s, i->at[at++]);
        } else {
            put_repetition(&s, n, above > before ? (uint32_t)row : 1);
            at += n;
        }
    }
    put_symbol(&s, 256);
    put(&s, 0, 7); // the rest of a byte
    for (size_t k = 0; k < size; k++) {
        low = (low + i->at[k]) % 65521;
        high = (high + low) % 65521;
    }
    add_number(b, high << 16 | low);
}

void mechctl_plot_png(const struct mechctl_plot *p, struct mechc_bytes *out)
{
    struct image i = {.width = MECHCTL_PLOT_WIDTH, .height = mechctl_picture_height(p)};
    const struct mechctl_pen pen = {
        .surface = &i, .width = i.width, .height = i.height, .line = line, .text = text};
    struct mechc_bytes lines = {0}, head = {0};
    i.at = calloc((size_t)i.height, (size_t)i.width + 1);
    if (!i.at || !mechctl_draw(p, &pen)) {
        out->failed = true;
    } else {
        mechc_bytes_add(out, "\x89PNG\r\n\x1a\n", 8);
        add_number(&head, (uint32_t)i.width);
        add_number(&head, (uint32_t)i.height);
        mechc_bytes_add(&head, "\x08\x03\0\0\0", 5);
        add_lines(&lines, &i);
        out->failed = out->failed || head.failed || lines.failed;
    }
    if (!out->failed) {
        add_chunk(out, "IHDR", head.at, head.length);
        add_chunk(out, "PLTE", mechctl_colours, sizeof mechctl_colours);
        add_chunk(out, "IDAT", lines.at, lines.length);
        add_chunk(out, "IEND", "", 0);
    }
    mechc_bytes_fini(&head);
    mechc_bytes_fini(&lines);
    free(i.at);
}
