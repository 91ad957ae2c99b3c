/* Generational ids: a slot index and a generation in one 32-bit value, so that a stale id is known
 * as stale. 20 bits of slot (1,048,576), 12 bits of generation (1 to 4095); 0 is never valid. */
#pragma once

#include <stdint.h>

typedef uint32_t mech_id;

static inline mech_id mech_id_make(uint32_t slot, uint32_t generation)
{
    return (generation & 0xfffu) << 20 | (slot & 0xfffffu);
}
static inline uint32_t mech_id_slot(mech_id id)
{
    return id & 0xfffffu;
}
static inline uint32_t mech_id_generation(mech_id id)
{
    return id >> 20;
}
/* The generation after this one: 1 … 4095 and round again, never 0. */
static inline uint32_t mech_id_next_generation(uint32_t generation)
{
    return generation >= 0xfffu ? 1u : generation + 1u;
}
