/* A descriptor as bytes, with everything that a solve needs: masses, variables with their w and f,
 * constraints with their halves, b, cfm, l, sets and flags, stiffness blocks, factors.
 * Little-endian as this machine writes it; another version or byte order is refused. */
#pragma once

#include "solver/sys/descriptor.h"

/* Bytes that it takes. */
size_t mech_descriptor_bytes(const struct mech_descriptor *d);
/* bytes [mech_descriptor_bytes] */
void mech_descriptor_save(const struct mech_descriptor *d, unsigned char *bytes);
/* A new descriptor, closed. 0; MECH_MISMATCH: not such an archive, or damaged; negative. */
int mech_descriptor_load(const unsigned char *bytes, size_t size, struct mech_descriptor **out);
