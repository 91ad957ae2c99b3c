/* Numbers of a coupling in one block. */
#include "solver/couple/room.h"

#include <string.h>

static void *take(struct mech_room *room, size_t bytes)
{
    char *const at = !room->base ? NULL : room->base + room->used;
    room->used += (bytes + 15u) & ~(size_t)15u;
    return at;
}

double *mech_room_reals(struct mech_room *room, size_t count)
{
    return take(room, count * sizeof(double));
}

int32_t *mech_room_ints(struct mech_room *room, size_t count)
{
    return take(room, count * sizeof(int32_t));
}

int32_t mech_room_copy_int(const struct mech_room_copy *copy, const int32_t *at, int32_t k)
{
    int32_t number = 0;
    memcpy(&number, copy->bytes + ((const char *)(at + k) - copy->room), sizeof number);
    return number;
}

double mech_room_copy_real(const struct mech_room_copy *copy, const double *at, int32_t k)
{
    double number = 0.;
    memcpy(&number, copy->bytes + ((const char *)(at + k) - copy->room), sizeof number);
    return number;
}
