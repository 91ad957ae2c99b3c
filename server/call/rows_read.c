/* Rows that a request brings. Source of NPY: numpy/lib/format, versions 1.0 to 3.0. */
#include "server/call/rows.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read as they lie");

static const char magic[] = "\x93NUMPY";
enum { MAGIC = sizeof magic - 1, DICTIONARY_MOST = 1024 };

/* The value of a key of the head's dictionary, or NULL. */
static const char *value_of(const char *dictionary, const char *key)
{
    const char *at = strstr(dictionary, key);
    if (at == NULL) {
        return NULL;
    }
    at += strlen(key);
    at += strspn(at, " ");
    return *at == ':' ? at + 1 + strspn(at + 1, " ") : NULL;
}

/* Bytes of the head, and its dictionary as a string. 0: it is none. */
static size_t read_head(const unsigned char *bytes, size_t size, char dictionary[DICTIONARY_MOST])
{
    const size_t fixed = size > MAGIC && bytes[MAGIC] == 1 ? MAGIC + 4 : MAGIC + 6;
    if (size < fixed || memcmp(bytes, magic, MAGIC) != 0 || bytes[MAGIC] < 1 || bytes[MAGIC] > 3) {
        return 0;
    }
    size_t length = 0;
    for (size_t k = fixed; k > MAGIC + 2; k--) {
        length = length << 8 | bytes[k - 1];
    }
    if (length >= DICTIONARY_MOST || length > size - fixed) {
        return 0;
    }
    memcpy(dictionary, bytes + fixed, length);
    dictionary[length] = '\0';
    return fixed + length;
}

/* The head of an NPY body taken off. False: a fault. */
static bool skip_head(struct mechd_call *c, const unsigned char **bytes, size_t *size)
{
    static const char expected[] = "'<f8'";
    char dictionary[DICTIONARY_MOST];
    const size_t head = read_head(*bytes, *size, dictionary);
    if (head == 0) {
        mech_diag_add(&c->diag, "", "not an NPY file: its header is not of version 1, 2 or 3");
        return false;
    }
    const char *const type = value_of(dictionary, "'descr'");
    if (type == NULL || strncmp(type, expected, sizeof expected - 1) != 0) {
        mech_diag_add(&c->diag, "", "the array must be of float64, little-endian ('<f8')");
        return false;
    }
    *bytes += head;
    *size -= head;
    return true;
}

bool mechd_rows_read(struct mechd_call *c, size_t count, double *out)
{
    const unsigned char *bytes = c->bytes;
    size_t size = c->size;
    const bool npy = strcmp(c->bytes_type, MECHD_TYPE_NPY) == 0;
    if (npy && !skip_head(c, &bytes, &size)) {
        return false;
    }
    if (size != count * sizeof *out) {
        mech_diag_add(&c->diag, "", "expected %zu numbers of 8 bytes, found %zu bytes", count,
                      size);
        return false;
    }
    if (size > 0) {
        memcpy(out, bytes, size);
    }
    return true;
}
