/* One block for all numbers that change while a coupling steps, so that saving is a copy. A
 * user of numbers requests them twice in the same order: first they are counted, then allocated.
 * The block holds no pointers. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mech_room {
    char *base;  /* NULL: count */
    size_t used; /* bytes */
};

/* `count` zeroed numbers, or NULL while they are counted. */
double *mech_room_reals(struct mech_room *room, size_t count);
int32_t *mech_room_ints(struct mech_room *room, size_t count);

/* Bytes of unknown origin that are to become those of a room: looked at where they are, at any
 * alignment, before any is copied. */
struct mech_room_copy {
    const char *room;  /* the block */
    const char *bytes; /* as large */
};

/* What number k of those at `at`, which are in the room, would become. */
int32_t mech_room_copy_int(const struct mech_room_copy *copy, const int32_t *at, int32_t k);
double mech_room_copy_real(const struct mech_room_copy *copy, const double *at, int32_t k);
