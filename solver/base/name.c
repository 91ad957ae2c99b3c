/* Names and the map from a name to an index: open addressing with linear probing, never more than
 * half full. */
#include "solver/base/name.h"

#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <string.h>

struct mech_names_slot {
    const char *name; /* NULL: free */
    int32_t index;
};

bool mech_name_valid(const char *text)
{
    size_t n = 0;
    for (; text[n] != '\0'; n++) {
        const char c = text[n];
        const bool fits = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                          (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
        if (!fits || n == MECH_NAME_MAX) {
            return false;
        }
    }
    // "." and ".." are no names in a path
    return n > 2 || (n > 0 && strspn(text, ".") < n);
}

int mech_names_init(struct mech_names *n, struct mech_arena *a, size_t expect)
{
    *n = (struct mech_names){.count = 0};
    if (expect > SIZE_MAX / 8) {
        return MECH_NO_MEMORY;
    }
    size_t capacity = 1;
    while (capacity < 2 * expect) {
        capacity *= 2;
    }
    n->slots = mech_arena_alloc(a, capacity, sizeof *n->slots);
    if (!n->slots) {
        return MECH_NO_MEMORY;
    }
    n->capacity = capacity;
    return 0;
}

/* The slot that holds the name, or the free one where it belongs. */
static struct mech_names_slot *seek(const struct mech_names *n, const char *name)
{
    const size_t mask = n->capacity - 1;
    size_t i = (size_t)mech_hash(name, strlen(name), 0) & mask;
    while (n->slots[i].name && strcmp(n->slots[i].name, name) != 0) {
        i = (i + 1) & mask;
    }
    return &n->slots[i];
}

int mech_names_add(struct mech_names *n, const char *name, int32_t index)
{
    // one slot stays free, so that every search ends
    if (n->count + 1 >= n->capacity) {
        return MECH_INTERNAL;
    }
    struct mech_names_slot *const slot = seek(n, name);
    if (slot->name) {
        return MECH_INVALID;
    }
    *slot = (struct mech_names_slot){.name = name, .index = index};
    n->count++;
    return 0;
}

int32_t mech_names_find(const struct mech_names *n, const char *name)
{
    if (n->capacity == 0) {
        return -1;
    }
    const struct mech_names_slot *const slot = seek(n, name);
    return !slot->name ? -1 : slot->index;
}
