/* "WAL-mode File Format" of SQLite. A log is a head of 32 bytes and frames: a head of 24 bytes and
 * a page. Frames of one generation have the salts of the log's head; when all has been copied into
 * the database, the log is written again from its beginning with a first salt that is one more, and
 * behind it stand frames of generations before. A frame is valid if its salts are those and its
 * checksum goes on from the one before; a transaction ends at a frame that has the database's
 * size. */
#include "server/store/wal.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH = 640, HEAD = 32, FRAME = 24, PAGE_LEAST = 512, PAGE_MOST = 65536 };
/* Parts of a head, and of a frame's. */
enum { PAGE_SIZE = 8, SALTS = 16, SUM = 24, COMMIT = 4, FRAME_SALTS = 8, FRAME_SUM = 16 };
/* Parts of the index (WalIndexHdr, WalCkptInfo), in the processor's order. */
enum { INDEX = 136, IS_INITIALISED = 12, LAST_FRAME = 16, INDEX_SALTS = 32, COPIED = 96 };

static const uint32_t magic = 0x377f0682; /* or with 1: checksums of big-endian words */

struct reader {
    FILE *file;
    unsigned char head[HEAD];
    unsigned char *frame; /* [FRAME + page] */
    size_t page;
    bool big;        /* checksums of big-endian words */
    uint32_t sum[2]; /* up to here */
};

static uint32_t word(const unsigned char *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static uint32_t native(const unsigned char *b)
{
    uint32_t value;
    memcpy(&value, b, sizeof value);
    return value;
}

/* Go on with `size` bytes, pairs of words. */
static void add(struct reader *r, const unsigned char *b, size_t size)
{
    for (size_t k = 0; k < size; k += 8) {
        const unsigned char *const c = b + k + 4;
        const uint32_t first = r->big ? word(b + k) : __builtin_bswap32(word(b + k));
        const uint32_t second = r->big ? word(c) : __builtin_bswap32(word(c));
        r->sum[0] += first + r->sum[1];
        r->sum[1] += second + r->sum[0];
    }
}

static bool has_sum(const struct reader *r, const unsigned char *b)
{
    return word(b) == r->sum[0] && word(b + 4) == r->sum[1];
}

/* Read the log's head. False: SQLite takes nothing of this log. */
static bool read_head(struct reader *r)
{
    if (fread(r->head, 1, HEAD, r->file) != HEAD || (word(r->head) & ~1u) != magic) {
        return false;
    }
    r->big = (word(r->head) & 1u) != 0;
    r->page = word(r->head + PAGE_SIZE);
    add(r, r->head, SUM);
    return r->page >= PAGE_LEAST && r->page <= PAGE_MOST && (r->page & (r->page - 1)) == 0 &&
           has_sum(r, r->head + SUM);
}

/* True if the frame continues the log: its salts, and the checksum of the frames before it. */
static bool is_valid(struct reader *r)
{
    if (memcmp(r->frame + FRAME_SALTS, r->head + SALTS, 8) != 0 || word(r->frame) == 0) {
        return false;
    }
    add(r, r->frame, FRAME_SALTS);
    add(r, r->frame + FRAME, r->page);
    return has_sum(r, r->frame + FRAME_SUM);
}

/* A frame, or the beginning of one [size], at a place where one of an earlier generation may be. */
static bool is_older(const struct reader *r, size_t size)
{
    const uint32_t age = word(r->head + SALTS) - word(r->frame + FRAME_SALTS);
    bool blank = true;
    for (size_t k = 0; k < size; k++) {
        blank = blank && r->frame[k] == 0;
    }
    return blank || (size >= FRAME_SALTS + 4 && age >= 1 && age < UINT32_C(0x80000000));
}

/* Frames up to the end of the last complete transaction, and the bytes after it. */
static void read_frames(struct reader *r, struct mechd_wal *out)
{
    const size_t whole = FRAME + r->page;
    bool good = true;
    bool open = false;
    size_t size = 0;
    for (uint64_t k = 1; (size = fread(r->frame, 1, whole, r->file)) > 0; k++) {
        good = good && size == whole && is_valid(r);
        open = good && word(r->frame + COMMIT) == 0;
        if (good && !open) {
            out->frames = k;
        } else if (!good && !is_older(r, size)) {
            out->fault = "a page in it is truncated, damaged or from an incomplete write: that "
                         "page and all later ones are dropped";
        }
    }
    if (open && out->fault == NULL) {
        out->fault = "its last write is incomplete, or it is truncated: that write is dropped";
    }
}

/* Pages that the index has seen committed and that are not in the database itself; 0: there is no
 * index, or it is one of another log. */
static uint64_t committed_of(const char *path, const struct reader *r, bool has_head)
{
    unsigned char b[INDEX];
    char name[PATH];
    snprintf(name, sizeof name, "%s-shm", path);
    FILE *const file = fopen(name, "rbe");
    const size_t size = file != NULL ? fread(b, 1, sizeof b, file) : 0;
    if (file != NULL) {
        (void)fclose(file);
    }
    // both copies of its head agree once it has been written
    if (size < sizeof b || b[IS_INITIALISED] != 1 || memcmp(b, b + COPIED / 2, COPIED / 2) != 0 ||
        (has_head && memcmp(b + INDEX_SALTS, r->head + SALTS, 8) != 0)) {
        return 0;
    }
    return native(b + LAST_FRAME) > native(b + COPIED) ? native(b + LAST_FRAME) : 0;
}

void mechd_wal_look(const char *path, struct mechd_wal *out)
{
    struct reader r = {.page = 0};
    char name[PATH];
    struct stat info;
    *out = (struct mechd_wal){.fault = NULL};
    snprintf(name, sizeof name, "%s-wal", path);
    r.file = fopen(name, "rbe");
    if (r.file != NULL && fstat(fileno(r.file), &info) == 0) {
        out->size = (uint64_t)info.st_size;
    }
    const bool has_head = r.file != NULL && read_head(&r);
    r.frame = has_head ? malloc(FRAME + r.page) : NULL;
    if (r.frame != NULL) {
        read_frames(&r, out);
    } else if (!has_head && out->size > 0) {
        out->fault = "its header is truncated or damaged: all of it is dropped";
    }
    out->committed = committed_of(path, &r, has_head);
    if (out->fault == NULL && out->committed > out->frames && (has_head || out->size == 0) &&
        (!has_head || r.frame != NULL)) {
        out->fault = "it is shorter than the data written to it: the last changes are lost";
    }
    free(r.frame);
    if (r.file != NULL) {
        (void)fclose(r.file);
    }
}
