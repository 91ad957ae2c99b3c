/* Start of nodes with few coordinates; see start.h. */
#include "solver/items/node/start.h"

#include <string.h>

void mech_node_start(const struct mech_node_start *from, int32_t n, double *reference,
                     double *displacement, double *velocity)
{
    const size_t size = (size_t)n * sizeof(double);

    memcpy(reference, from->reference, size);
    memcpy(displacement, from->displacement, size);
    memcpy(velocity, from->velocity, size);
}
