/* Hash of bytes for layouts and states: four 64-bit lanes, folded. Not for secrets.
 * The same bytes give the same value on every little-endian machine. */
#pragma once

#include <stddef.h>
#include <stdint.h>

uint64_t mech_hash(const void *bytes, size_t size, uint64_t seed);
