/* Records of APPNOTE.TXT 6.3.10: 4.3.7, 4.3.12, 4.3.16, 4.6.9. */
#include "tests/unit/server/zip.h"

#include <assert.h>
#include <string.h>
#include <zlib.h>

static void put(unsigned char *at, size_t *used, uint64_t value, size_t size)
{
    for (size_t k = 0; k < size; k++) {
        at[(*used)++] = (unsigned char)(value >> 8 * k);
    }
}

static void put_bytes(unsigned char *at, size_t *used, const void *bytes, size_t size)
{
    assert(*used + size <= ZIP_MOST);
    if (size > 0) {
        memcpy(at + *used, bytes, size);
    }
    *used += size;
}

enum { OTHER_PATH_HEAD = 9 /* of the extra field: its id, size, version, and checksum */ };

static size_t extra_size(const struct zip_file *f)
{
    return f->other_path != NULL ? OTHER_PATH_HEAD + strlen(f->other_path) : 0;
}

static void put_extra(unsigned char *at, size_t *used, const struct zip_file *f)
{
    if (f->other_path != NULL) {
        put_bytes(at, used, "\x75\x70", 2);
        put(at, used, extra_size(f) - 4, 2);
        put(at, used, 1, 1);
        put(at, used, crc32(0, (const unsigned char *)f->path, (uInt)f->path_length), 4);
        put_bytes(at, used, f->other_path, strlen(f->other_path));
    }
}

/* What both records have in common, from the flags to the length of the extra fields. */
static void put_common(unsigned char *at, size_t *used, const struct zip_file *f, uint32_t crc,
                       const size_t sizes[2])
{
    put(at, used, f->flags, 2);
    put(at, used, f->method + (f->deflate ? 8u : 0u), 2);
    put(at, used, 0x21u << 16, 4); // 1980-01-01
    put(at, used, crc, 4);
    put(at, used, (uint32_t)sizes[0], 4);
    put(at, used, f->declared != 0 ? f->declared : (uint32_t)sizes[1], 4);
    put(at, used, (uint32_t)f->path_length, 2);
    put(at, used, extra_size(f), 2);
}

static size_t pack(const void *bytes, size_t size, unsigned char *out)
{
    z_stream s = {0};
    const int rc = deflateInit2(&s, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
    assert(rc == Z_OK);
    unsigned char *in = NULL;
    memcpy(&in, &(const void *){bytes}, sizeof in);
    s.next_in = in;
    s.avail_in = (uInt)size;
    s.next_out = out;
    s.avail_out = ZIP_MOST;
    const int end = deflate(&s, Z_FINISH);
    assert(end == Z_STREAM_END);
    (void)rc;
    (void)end;
    const size_t n = s.total_out;
    (void)deflateEnd(&s);
    return n;
}

void zip_add(struct zip *z, struct zip_file f)
{
    static const unsigned char zeros[1 << 20];
    static unsigned char packed[ZIP_MOST];
    f.path_length = f.path_length != 0 ? f.path_length : strlen(f.path);
    f.deflate = f.deflate || f.zeros > 0;
    const void *bytes = f.zeros > 0 ? (const void *)zeros : f.bytes;
    const size_t size = f.zeros > 0     ? f.zeros
                        : f.size > 0    ? f.size
                        : bytes != NULL ? strlen(f.bytes)
                                        : 0;
    assert(size <= sizeof zeros);
    const uint32_t crc = (uint32_t)crc32(0, bytes, (uInt)size) + f.crc_change;
    size_t sizes[2] = {size, size};
    if (f.deflate) {
        sizes[0] = pack(bytes, size, packed);
        bytes = packed;
    }
    const size_t at = f.shares ? z->first_at[0] : z->size;
    if (z->count++ == 0) {
        z->first_at[0] = at;
    }
    if (!f.shares) {
        put_bytes(z->bytes, &z->size, "PK\3\4\24\0", 6);
        put_common(z->bytes, &z->size, &f, crc, sizes);
        put_bytes(z->bytes, &z->size, f.path, f.path_length);
        put_extra(z->bytes, &z->size, &f);
        put_bytes(z->bytes, &z->size, bytes, sizes[0]);
    }
    put_bytes(z->directory, &z->directory_size, "PK\1\2\24", 5);
    put(z->directory, &z->directory_size, f.mode != 0 ? 3 : 0, 1);
    put_bytes(z->directory, &z->directory_size, "\24\0", 2);
    put_common(z->directory, &z->directory_size, &f, crc, sizes);
    put(z->directory, &z->directory_size, 0, 6);
    put(z->directory, &z->directory_size, f.mode << 16, 4);
    put(z->directory, &z->directory_size, (uint32_t)at, 4);
    put_bytes(z->directory, &z->directory_size, f.path, f.path_length);
    put_extra(z->directory, &z->directory_size, &f);
}

void zip_end(struct zip *z)
{
    const size_t at = z->size;
    put_bytes(z->bytes, &z->size, z->directory, z->directory_size);
    for (size_t k = 0; k < z->rest; k++) {
        put(z->bytes, &z->size, 0, 1);
    }
    const uint32_t count = z->large ? UINT16_MAX : (uint32_t)z->count;
    put_bytes(z->bytes, &z->size, "PK\5\6\0\0\0\0", 8);
    put(z->bytes, &z->size, count, 2);
    put(z->bytes, &z->size, count, 2);
    put(z->bytes, &z->size, z->large ? UINT32_MAX : z->directory_size + z->rest, 4);
    put(z->bytes, &z->size, z->large ? UINT32_MAX : at, 4);
    put(z->bytes, &z->size, 0, 2);
}
