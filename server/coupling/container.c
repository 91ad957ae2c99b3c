/* A head of eight-byte numbers, then the parts one behind another. */
#include "server/coupling/container.h"

#include "server/instance/container.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] = {'M', 'C', 'H', 'D', 'C', 'O', 'U', 'P'};
/* Raised when the layout changes, or what mech_couple_save writes. */
static const uint64_t version = 1;

/* Places in the head, in numbers of eight bytes. */
enum { VERSION = 1, HASH, DOCUMENT, SCHEME, COUNT, SIZES, NUMBER = 8 };

static void put(unsigned char *bytes, size_t place, uint64_t value)
{
    for (size_t k = 0; k < NUMBER; k++) {
        bytes[NUMBER * place + k] = (unsigned char)(value >> (8 * k));
    }
}

static uint64_t get(const unsigned char *bytes, size_t place)
{
    uint64_t value = 0;
    for (size_t k = NUMBER; k-- > 0;) {
        value = value << 8 | bytes[NUMBER * place + k];
    }
    return value;
}

/* Of all behind it. */
static uint64_t hash_of(const unsigned char *bytes, size_t size)
{
    const size_t from = (size_t)NUMBER * (HASH + 1);
    return mech_hash(bytes + from, size - from, 0);
}

/* All parts into new bytes. */
static unsigned char *pack(const struct mechd_coupling *g, void *const *parts, const size_t *sizes,
                           size_t *size)
{
    const size_t head = (size_t)NUMBER * (SIZES + (size_t)g->count);
    const size_t scheme = mech_couple_saved_size(g->couple);
    *size = head + g->document_size + scheme;
    for (int32_t n = 0; n < g->count; n++) {
        *size += sizes[n];
    }
    unsigned char *const bytes = calloc(1, *size);
    if (bytes == NULL) {
        return NULL;
    }
    memcpy(bytes, magic, sizeof magic);
    put(bytes, VERSION, version);
    put(bytes, DOCUMENT, g->document_size);
    put(bytes, SCHEME, scheme);
    put(bytes, COUNT, (uint64_t)g->count);
    memcpy(bytes + head, g->document, g->document_size);
    size_t at = head + g->document_size;
    for (int32_t n = 0; n < g->count; n++) {
        put(bytes, SIZES + (size_t)n, sizes[n]);
        memcpy(bytes + at, parts[n], sizes[n]);
        at += sizes[n];
    }
    mech_couple_save(g->couple, bytes + at);
    put(bytes, HASH, hash_of(bytes, *size));
    return bytes;
}

void *mechd_coupling_container_of(const struct mechd_coupling *g, size_t *size)
{
    void *parts[MECHD_COUPLING_PARTS] = {NULL};
    size_t sizes[MECHD_COUPLING_PARTS] = {0};
    bool whole = true;
    for (int32_t n = 0; n < g->count && whole; n++) {
        parts[n] = mechd_container_of(g->parts[n].instance, &sizes[n]);
        whole = parts[n] != NULL;
    }
    void *const bytes = whole ? pack(g, parts, sizes, size) : NULL;
    for (int32_t n = 0; n < g->count; n++) {
        free(parts[n]);
    }
    return bytes;
}

int mechd_coupling_container_read(const void *bytes, size_t size,
                                  struct mechd_coupling_container *out)
{
    const unsigned char *const at = bytes;
    size_t from = (size_t)NUMBER * SIZES;
    if (size < from || memcmp(at, magic, sizeof magic) != 0 || get(at, VERSION) != version ||
        get(at, HASH) != hash_of(at, size)) {
        return MECH_MISMATCH;
    }
    const uint64_t count = get(at, COUNT), document = get(at, DOCUMENT), scheme = get(at, SCHEME);
    if (count < 1 || count > MECHD_COUPLING_PARTS || size - from < NUMBER * count) {
        return MECH_MISMATCH;
    }
    from += NUMBER * (size_t)count;

    // the sizes fill the rest exactly
    uint64_t left = size - from;
    if (document > left) {
        return MECH_MISMATCH;
    }
    *out = (struct mechd_coupling_container){.document = (const char *)at + from,
                                             .document_size = (size_t)document,
                                             .count = (int32_t)count};
    left -= document;
    for (int32_t n = 0; n < out->count; n++) {
        const uint64_t part = get(at, SIZES + (size_t)n);
        if (part > left) {
            return MECH_MISMATCH;
        }
        out->parts[n].bytes = at + (size - (size_t)left);
        out->parts[n].size = (size_t)part;
        left -= part;
    }
    out->scheme = at + (size - (size_t)left);
    out->scheme_size = (size_t)left;
    return scheme == left ? 0 : MECH_MISMATCH;
}
