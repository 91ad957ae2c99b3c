/* The central directory of a ZIP archive, read by hand.
 *
 * libzip replaces zeros in names by blanks and searches the last of several ends of a directory.
 * Here an archive has one reading: its end record is the last bytes of it, the directory is right
 * in front, and the files are in front of that, the first at byte 0. Since no byte belongs to two
 * files, the packed sizes with their headers add up to no more than what is there (an archive whose
 * entries share one body expands by the square of its size). */
#include "server/engine/fmu_names.h"
#include "solver/base/err.h"
#include "solver/base/odd.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* sizes of records and places in them (4.3.7, 4.3.12, 4.3.16) */
enum { LOCAL = 30, HEAD = 46, END = 22, COMMENT_MOST = 65535 };
enum { END_DISK = 4, END_FIRST = 6, END_HERE = 8, END_ALL = 10, END_SIZE = 12, END_AT = 16 };
enum { END_COMMENT = 20 };
enum { MADE_BY = 5, FLAGS = 8, METHOD = 10, PACKED = 20, SIZE = 24, NAME = 28, EXTRA = 30 };
enum { COMMENT = 32, DISK = 34, ATTRIBUTES = 38, OFFSET = 42 };

enum { ENCRYPTED = 1, STRONG = 1 << 6, MASKED = 1 << 13, STORED = 0, DEFLATE = 8 };
/* mode of a file of Unix, in the upper half of its attributes */
enum { UNIX = 3, MACOS = 19, KIND = 0170000, KIND_FOLDER = 0040000, KIND_FILE = 0100000 };

static uint32_t u16(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8;
}

static uint32_t u32(const unsigned char *p)
{
    return u16(p) | u16(p + 2) << 16;
}

static int broken(struct mech_diag *diag, const char *text)
{
    mech_diag_add(diag, "", "not a ZIP archive that can be read: %s", text);
    return MECHD_ARCHIVE_BROKEN;
}

/* The end record: its comment ends where the archive does. */
static const unsigned char *find_end(const unsigned char *bytes, size_t size)
{
    for (size_t back = END; back <= size && back <= END + COMMENT_MOST; back++) {
        const unsigned char *const p = bytes + size - back;
        if (memcmp(p, "PK\5\6", 4) == 0 && u16(p + END_COMMENT) == back - END) {
            return p;
        }
    }
    return NULL;
}

/* Why this is no part of a path, or NULL. */
static const char *part_fault(const char *part, size_t length)
{
    if (length == 0) {
        return "has an empty part";
    }
    if (length > MECHD_ARCHIVE_NAME_MOST) {
        return "has a part of more than 255 bytes";
    }
    if (length <= 2 && memcmp(part, "..", length) == 0) {
        return "has a part \".\" or \"..\"";
    }
    return NULL;
}

/* Why the bytes are no text of a path, or NULL. */
static const char *text_fault(const char *path, size_t length)
{
    for (size_t k = 0, step = 1; k < length; k += step) {
        const int32_t code = mech_text_code(path + k, length - k, &step);
        if (code == 0) {
            return "contains a NUL character";
        }
        if (code == MECH_NO_CODE) {
            return "is not UTF-8";
        }
        if (code < ' ' || (code >= 0x7f && code < 0xa0)) {
            return "contains a control character";
        }
        if (code == '\\' || code == ':') {
            return "contains a backslash or a colon";
        }
    }
    return NULL;
}

static const char *path_fault(const char *path, size_t length)
{
    const char *fault = text_fault(path, length);
    size_t depth = 0;
    if (fault != NULL) {
        return fault;
    }
    if (length > MECHD_ARCHIVE_PATH_MOST) {
        return "has more than 512 bytes";
    }
    for (size_t from = 0; from < length && fault == NULL; depth++) {
        const char *const slash = memchr(path + from, '/', length - from);
        const size_t part = slash != NULL ? (size_t)(slash - path) - from : length - from;
        fault = part_fault(path + from, part);
        from += part + 1;
    }
    if (fault == NULL && depth == 0) {
        fault = "is empty";
    }
    if (fault == NULL && depth > MECHD_ARCHIVE_DEPTH_MOST) {
        fault = "has more than 16 parts";
    }
    return fault;
}

static int refuse(struct mech_diag *diag, int outcome, const char *path, const char *text)
{
    char place[MECH_DIAG_PATH], shown[MECH_DIAG_PATH];
    mech_text_show(shown, sizeof shown, path);
    place[0] = '/';
    mech_text_copy(place + 1, sizeof place - 1, shown);
    mech_diag_add(diag, place, "%s", text);
    return outcome;
}

/* What an entry is must be what its path says: a file, or a folder without bytes. */
static const char *kind_fault(const unsigned char *p, bool folder)
{
    const uint32_t flags = u16(p + FLAGS), method = u16(p + METHOD);
    if ((flags & (ENCRYPTED | STRONG | MASKED)) != 0) {
        return "is encrypted";
    }
    if (method != STORED && method != DEFLATE) {
        return "is compressed by a method other than deflate";
    }
    if (p[MADE_BY] == UNIX || p[MADE_BY] == MACOS) {
        const uint32_t kind = u32(p + ATTRIBUTES) >> 16 & KIND;
        if (kind != 0 && kind != (folder ? KIND_FOLDER : KIND_FILE)) {
            return "is a link or a device, or its type does not fit its path";
        }
    }
    if (folder && (u32(p + SIZE) != 0 || method != STORED)) {
        return "is a folder that contains data";
    }
    return NULL;
}

/* One entry at p, with its path behind it, which ends before `end`. */
static int read_head(const unsigned char *p, const struct mechd_archive_limits *limits,
                     struct mechd_archive_head *out, struct mech_diag *diag)
{
    const size_t length = u16(p + NAME);
    const bool folder = length > 0 && p[HEAD + length - 1] == '/';
    char *const path = malloc(length + 1);
    if (path == NULL) {
        return MECH_NO_MEMORY;
    }
    memcpy(path, p + HEAD, length);
    path[length] = 0;
    *out = (struct mechd_archive_head){path, u32(p + PACKED), u32(p + SIZE)};
    const char *fault = path_fault(path, folder ? length - 1 : length);
    if (fault != NULL) {
        return refuse(diag, MECHD_ARCHIVE_PATH, path, fault);
    }
    fault = kind_fault(p, folder);
    if (fault != NULL) {
        return refuse(diag, MECHD_ARCHIVE_KIND, path, fault);
    }
    if (out->size > limits->file) {
        return refuse(diag, MECHD_ARCHIVE_SIZE, path, "is larger than a file may be");
    }
    return 0;
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* Order of paths of these lengths without case, the shorter one first. */
static int compare(const char *a, size_t a_length, const char *b, size_t b_length)
{
    for (size_t k = 0; k < a_length && k < b_length; k++) {
        if (lower(a[k]) != lower(b[k])) {
            return lower(a[k]) < lower(b[k]) ? -1 : 1;
        }
    }
    return (a_length > b_length) - (a_length < b_length);
}

static size_t without_slash(const char *path)
{
    const size_t length = strlen(path);
    return length > 0 && path[length - 1] == '/' ? length - 1 : length;
}

static int by_path(const void *a, const void *b)
{
    const struct mechd_archive_head *const *const x = a, *const *const y = b;
    return compare((*x)->path, without_slash((*x)->path), (*y)->path, without_slash((*y)->path));
}

/* Whether the first `length` bytes of a path are a file's. */
static bool is_file(struct mechd_archive_head *const *sorted, size_t count, const char *path,
                    size_t length)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const char *const other = sorted[middle]->path;
        const int order = compare(other, without_slash(other), path, length);
        if (order == 0) {
            return other[length] != '/';
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}

static int check_sorted(struct mechd_archive_head *const *sorted, size_t count,
                        struct mech_diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        const char *const path = sorted[i]->path;
        if (i > 0 && by_path(&sorted[i - 1], &sorted[i]) == 0) {
            return refuse(diag, MECHD_ARCHIVE_TWICE, path,
                          "occurs twice, apart from upper and lower case");
        }
        for (const char *p = strchr(path, '/'); p != NULL && p[1] != 0; p = strchr(p + 1, '/')) {
            if (is_file(sorted, count, path, (size_t)(p - path))) {
                return refuse(diag, MECHD_ARCHIVE_TWICE, path, "is below a path that is a file");
            }
        }
    }
    return 0;
}

static int check_paths(struct mechd_archive_head *heads, size_t count, struct mech_diag *diag)
{
    struct mechd_archive_head **const sorted = malloc((count + 1) * sizeof *sorted);
    if (sorted == NULL) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &heads[i];
    }
    qsort(sorted, count, sizeof *sorted, by_path);
    const int rc = check_sorted(sorted, count, diag);
    free(sorted);
    return rc;
}

/* The entries between `p` and the end record; `before`: bytes in front of the directory. */
static int read_heads(const unsigned char *p, const unsigned char *end, uint64_t before,
                      const struct mechd_archive_limits *limits, struct mechd_archive_head *heads,
                      struct mech_diag *diag)
{
    const size_t count = u16(end + END_ALL);
    uint64_t total = 0, packed = 0;
    for (size_t i = 0; i < count; i++) {
        if (end - p < HEAD || memcmp(p, "PK\1\2", 4) != 0) {
            return broken(diag, "its central directory is truncated");
        }
        const size_t name = u16(p + NAME), length = HEAD + name + u16(p + EXTRA) + u16(p + COMMENT);
        if ((size_t)(end - p) < length || u16(p + DISK) != 0) {
            return broken(diag, "its central directory is truncated");
        }
        MECH_TRY(read_head(p, limits, &heads[i], diag));
        total += heads[i].size;
        packed += LOCAL + name + heads[i].packed;
        if (packed > before || u32(p + OFFSET) + (uint64_t)LOCAL > before) {
            return broken(diag, "entries overlap");
        }
        p += length;
    }
    if (p != end) {
        return broken(diag, "there are bytes between its central directory and its end");
    }
    if (total > limits->total || total > (before + 1) * limits->factor) {
        mech_diag_add(diag, "",
                      "its files are %llu bytes, more than an archive of %llu may expand to",
                      (unsigned long long)total, (unsigned long long)before);
        return MECHD_ARCHIVE_SIZE;
    }
    return check_paths(heads, count, diag);
}

void mechd_archive_heads_free(struct mechd_archive_head *heads, size_t count)
{
    for (size_t i = 0; heads != NULL && i < count; i++) {
        free(heads[i].path);
    }
    free(heads);
}

int mechd_archive_heads(const unsigned char *bytes, size_t size,
                        const struct mechd_archive_limits *limits, struct mechd_archive_head **out,
                        size_t *count, struct mech_diag *diag)
{
    *out = NULL;
    *count = 0;
    const unsigned char *const end = size >= END ? find_end(bytes, size) : NULL;
    if (end == NULL) {
        return broken(diag, "it has no end record");
    }
    const uint64_t at = u32(end + END_AT), length = u32(end + END_SIZE);
    const size_t n = u16(end + END_ALL);
    if (u16(end + END_DISK) != 0 || u16(end + END_FIRST) != 0 || u16(end + END_HERE) != n) {
        return broken(diag, "it is one part of a split archive");
    }
    if (n == UINT16_MAX || at == UINT32_MAX || length == UINT32_MAX) {
        return broken(diag, "ZIP64 is not supported");
    }
    if (n == 0 || at + length != (uint64_t)(end - bytes) || memcmp(bytes, "PK\3\4", 4) != 0) {
        return broken(diag, "it does not begin with a file and end with its central directory");
    }
    if (n > limits->count) {
        mech_diag_add(diag, "", "has %zu entries, more than %u", n, (unsigned)limits->count);
        return MECHD_ARCHIVE_SIZE;
    }
    struct mechd_archive_head *const heads = calloc(n, sizeof *heads);
    if (heads == NULL) {
        return MECH_NO_MEMORY;
    }
    const int rc = read_heads(bytes + at, end, at, limits, heads, diag);
    if (rc != 0) {
        mechd_archive_heads_free(heads, n);
        return rc;
    }
    *out = heads;
    *count = n;
    return 0;
}
