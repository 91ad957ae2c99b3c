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
