/* The states of a snapshot as bytes of the store: a head, a part a participant, then the states of
 * the participants and of the scheme. All numbers have eight bytes, in this machine's order. */
#include "server/coupling/saved.h"

#include "server/coupling/keep.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/base/text.h"

#include <stdlib.h>
#include <string.h>

/* Raised when what follows changes, or what mech_couple_save writes. */
static const uint64_t version = 1;

struct head {
    uint64_t hash; /* of all that follows */
    uint64_t version, count, opened, windows, couple_size;
    double time; /* s */
};

struct part {
    int64_t key; /* of its instance, 0: of a partner */
    uint64_t base, size;
};

size_t mechd_saved_bytes_size(const struct mechd_saved *s)
{
    return sizeof(struct head) + (size_t)s->count * sizeof(struct part) + s->size;
}

static void put(char **at, const void *bytes, size_t size)
{
    memcpy(*at, bytes, size);
    *at += size;
}

void mechd_saved_bytes_write(const struct mechd_saved *s, const struct mechd_coupling *g,
                             void *bytes)
{
    char *at = bytes;
    const struct head head = {.version = version,
                              .count = (uint64_t)s->count,
                              .opened = s->opened,
                              .windows = s->windows,
                              .couple_size = s->couple_size,
                              .time = s->time};
    put(&at, &head, sizeof head);
    for (int32_t n = 0; n < s->count; n++) {
        const struct part part = {.key = g->parts[n].instance->durable.key,
                                  .base = s->parts[n].base,
                                  .size = s->parts[n].size};
        put(&at, &part, sizeof part);
    }
    for (int32_t n = 0; n < s->count; n++) {
        put(&at, s->parts[n].bytes, s->parts[n].size);
    }
    put(&at, s->couple, s->couple_size);
    mechd_keep_seal(bytes, mechd_saved_bytes_size(s));
}

/* A copy of the next `count` of *left bytes; at least one byte is allocated. NULL: no memory. */
static void *copy(const char **at, size_t count)
{
    void *const bytes = malloc(count + 1);
    if (bytes != NULL) {
        memcpy(bytes, *at, count);
        *at += count;
    }
    return bytes;
}

/* Whether the sizes and the instances are those of the head and of the coupling. */
static bool fits(const struct mechd_coupling *g, const struct head *head, const char *parts,
                 size_t size)
{
    size_t left = size - sizeof *head;
    if (head->count != (uint64_t)g->count || left < (size_t)g->count * sizeof(struct part)) {
        return false;
    }
    left -= (size_t)g->count * sizeof(struct part);
    for (int32_t n = 0; n < g->count; n++) {
        struct part part;
        memcpy(&part, parts + (size_t)n * sizeof part, sizeof part);
        if (part.key != g->parts[n].instance->durable.key || part.size > left) {
            return false;
        }
        left -= (size_t)part.size;
    }
    return head->couple_size == left && left == mech_couple_saved_size(g->couple);
}

/* The states behind a head that fits. 0; MECH_NO_MEMORY. */
static int read_states(struct mechd_saved *s, const char *parts)
{
    const char *at = parts + (size_t)s->count * sizeof(struct part);
    for (int32_t n = 0; n < s->count; n++) {
        struct part part;
        memcpy(&part, parts + (size_t)n * sizeof part, sizeof part);
        s->parts[n].base = part.base;
        s->parts[n].size = (size_t)part.size;
        s->parts[n].bytes = copy(&at, s->parts[n].size);
        s->size += s->parts[n].size;
        if (s->parts[n].bytes == NULL) {
            return MECH_NO_MEMORY;
        }
    }
    s->couple = copy(&at, s->couple_size);
    s->size += s->couple_size;
    return s->couple != NULL ? 0 : MECH_NO_MEMORY;
}

int mechd_saved_bytes_read(const struct mechd_coupling *g, const void *bytes, size_t size,
                           struct mechd_saved **out, char reason[160])
{
    struct head head;
    const char *const parts = (const char *)bytes + sizeof head;
    *out = NULL;
    mech_text_format(reason, 160, "it does not fit the participants");
    if (size < sizeof head) {
        return MECH_MISMATCH;
    }
    memcpy(&head, bytes, sizeof head);
    if (head.version != version) {
        mech_text_format(reason, 160, "it is of version %llu", (unsigned long long)head.version);
        return MECH_MISMATCH;
    }
    const size_t from = sizeof head.hash;
    if (head.hash != mech_hash((const char *)bytes + from, size - from, 0)) {
        mech_text_format(reason, 160, "it is damaged");
        return MECH_MISMATCH;
    }
    if (!fits(g, &head, parts, size)) {
        return MECH_MISMATCH;
    }
    struct mechd_saved *const s =
        calloc(1, sizeof *s + (size_t)g->count * sizeof(struct mechd_saved_part));
    if (s == NULL) {
        return MECH_NO_MEMORY;
    }
    s->time = head.time;
    s->windows = head.windows;
    s->opened = head.opened != 0;
    s->couple_size = (size_t)head.couple_size;
    s->count = g->count;
    const int outcome = read_states(s, parts);
    if (outcome != 0) {
        mechd_saved_free(s, NULL, 0);
        return outcome;
    }
    *out = s;
    return 0;
}
