/* Local heads, central directory and its end, in little-endian order. */
#include "protocol/fmi/zip.h"

#include "solver/base/err.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
    NEEDED = 20,                 /* version 2.0: deflate and folders */
    MADE_BY = (3 << 8) | NEEDED, /* with permissions of Unix */
    DATE = (1 << 5) | 1,         /* 1 January 1980, the earliest */
    LEVEL = 6                    /* of deflate */
};

/* a file that its owner may write and all may read; of a library nothing else is needed */
static const uint32_t permissions = 0100644u << 16;

/* --- packing ---------------------------------------------------------------------------------- */

/* Raw deflate into at most `room` bytes; *used is 0 where it takes more. 0 or MECH_NO_MEMORY. */
static int deflate_into(const void *bytes, size_t size, unsigned char *out, size_t room,
                        size_t *used)
{
    z_stream s = {.next_in = (z_const Bytef *)(uintptr_t)bytes, .next_out = out};
    size_t left = size, free = room;

    if (deflateInit2(&s, LEVEL, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        return MECH_NO_MEMORY;
    }
    int code = Z_OK;
    while (code == Z_OK) {
        const uInt in = left > UINT_MAX / 2 ? UINT_MAX / 2 : (uInt)left;
        const uInt most = free > UINT_MAX / 2 ? UINT_MAX / 2 : (uInt)free;

        s.avail_in = in;
        s.avail_out = most;
        code = deflate(&s, in == left ? Z_FINISH : Z_NO_FLUSH);
        left -= in - s.avail_in;
        free -= most - s.avail_out;
        if (free == 0 && code != Z_STREAM_END) {
            break;
        }
    }
    deflateEnd(&s);
    *used = code == Z_STREAM_END ? room - free : 0;
    return 0;
}

int mechp_pack(const void *bytes, size_t size, struct mechp_packed *out)
{
    *out = (struct mechp_packed){.size = size, .stored = size};
    if (size > UINT32_MAX) {
        return MECH_INVALID;
    }
    out->bytes = malloc(size + 1);
    if (!out->bytes) {
        return MECH_NO_MEMORY;
    }
    out->crc = mechp_crc(0, bytes, size);
    size_t n = 0;
    if (size > 0 && deflate_into(bytes, size, out->bytes, size, &n) != 0) {
        mechp_packed_fini(out);
        return MECH_NO_MEMORY;
    }
    if (n > 0 && n < size) {
        out->stored = n;
        out->deflated = true;
        unsigned char *const cut = realloc(out->bytes, n);
        out->bytes = cut ? cut : out->bytes;
    } else if (size > 0) {
        memcpy(out->bytes, bytes, size);
    }
    return 0;
}

uint32_t mechp_crc(uint32_t before, const void *bytes, size_t size)
{
    return (uint32_t)crc32_z(before, bytes, size);
}

void mechp_packed_fini(struct mechp_packed *p)
{
    free(p->bytes);
    *p = (struct mechp_packed){.size = 0};
}

/* --- records ---------------------------------------------------------------------------------- */

static void put_2(struct mechp_text *w, uint32_t value)
{
    const char bytes[2] = {(char)(value & 0xff), (char)(value >> 8 & 0xff)};
    mechp_text_plain(w, bytes, sizeof bytes);
}

static void put_4(struct mechp_text *w, uint64_t value)
{
    put_2(w, (uint32_t)(value & 0xffff));
    put_2(w, (uint32_t)(value >> 16 & 0xffff));
}

/* What the two heads of a file share. */
static void put_common(struct mechp_text *w, const struct mechp_zip_file *f)
{
    put_2(w, NEEDED);
    put_2(w, 0);
    put_2(w, f->deflated ? Z_DEFLATED : 0);
    put_2(w, 0);
    put_2(w, DATE);
    put_4(w, f->crc);
    put_4(w, f->stored);
    put_4(w, f->size);
    put_2(w, (uint32_t)strlen(f->name));
    put_2(w, 0);
}

static uint64_t position(const struct mechp_zip *z)
{
    return z->past + z->w->length - z->before;
}

int mechp_zip_head(struct mechp_zip *z, const char *name, const struct mechp_packed *p)
{
    z->full = z->full || z->count == MECHP_ZIP_FILES || strlen(name) >= MECHP_ZIP_NAME;
    if (z->full || position(z) + p->stored > UINT32_MAX) {
        return MECH_INVALID;
    }
    struct mechp_zip_file *const f = &z->files[z->count++];
    *f = (struct mechp_zip_file){.at = position(z),
                                 .stored = p->stored,
                                 .size = p->size,
                                 .crc = p->crc,
                                 .deflated = p->deflated};
    memcpy(f->name, name, strlen(name) + 1);
    put_4(z->w, 0x04034b50);
    put_common(z->w, f);
    mechp_text_plain(z->w, f->name, strlen(f->name));
    return z->w->failed ? MECH_NO_MEMORY : 0;
}

int mechp_zip_put(struct mechp_zip *z, const char *name, const struct mechp_packed *p)
{
    const int code = mechp_zip_head(z, name, p);

    if (code == 0) {
        mechp_text_plain(z->w, (const char *)p->bytes, p->stored);
    }
    return code ? code : z->w->failed ? MECH_NO_MEMORY : 0;
}

int mechp_zip_add(struct mechp_zip *z, const char *name, const void *bytes, size_t size)
{
    struct mechp_packed p;
    int code = mechp_pack(bytes, size, &p);

    if (code == 0) {
        code = mechp_zip_put(z, name, &p);
    }
    mechp_packed_fini(&p);
    return code;
}

int mechp_zip_end(struct mechp_zip *z)
{
    const uint64_t start = position(z);

    for (size_t i = 0; i < z->count; i++) {
        const struct mechp_zip_file *const f = &z->files[i];

        put_4(z->w, 0x02014b50);
        put_2(z->w, MADE_BY);
        put_common(z->w, f);
        /* no comment, one disk, no attributes but permissions */
        put_2(z->w, 0);
        put_2(z->w, 0);
        put_2(z->w, 0);
        put_4(z->w, permissions);
        put_4(z->w, f->at);
        mechp_text_plain(z->w, f->name, strlen(f->name));
    }
    const uint64_t end = position(z);
    put_4(z->w, 0x06054b50);
    put_4(z->w, 0);
    put_2(z->w, (uint32_t)z->count);
    put_2(z->w, (uint32_t)z->count);
    put_4(z->w, end - start);
    put_4(z->w, start);
    put_2(z->w, 0);
    return z->full || end > UINT32_MAX ? MECH_INVALID : z->w->failed ? MECH_NO_MEMORY : 0;
}
