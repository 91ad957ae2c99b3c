/* Names: [A-Za-z0-9._-]{1,64}, and a map from name to index. */
#pragma once

#include "solver/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MECH_NAME_MAX = 64 };

/* True for a well-formed name. */
bool mech_name_valid(const char *text);

/* Open-addressing map, keys borrowed. owner: one thread while it is filled, then const. */
struct mech_names {
    struct mech_names_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
};

/* Room for `expect` names from the arena. Negative: no memory. */
int mech_names_init(struct mech_names *n, struct mech_arena *a, size_t expect);

/* Returns 0, or MECH_INVALID when the name is there already (the first index stays). */
int mech_names_add(struct mech_names *n, const char *name, int32_t index);

/* Index of a name, or -1. */
int32_t mech_names_find(const struct mech_names *n, const char *name);
