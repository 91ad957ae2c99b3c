/* A snapshot as bytes, model included: the format that GET …/snapshots/{sid} returns and POST
 * /v1/instances accepts.
 *
 *   offset 0  magic "MCHDSNAP"      24  size of the state u64
 *          8  version u32 (1)       32  hash of all that follows u64
 *         12  reserved u32 (0)      40  the model (JSON text), then the state
 *         16  size of the model u64     (mech_sim_snapshot_write)
 *
 * Little-endian. Any thread.
 */
#pragma once

#include "server/instance/instance.h"

struct mechd_container {
    const char *model;
    size_t model_size;
    const void *state;
    size_t state_size;
};

enum { MECHD_CONTAINER_HEADER = 40 };
#define MECHD_CONTAINER_TYPE "application/vnd.mechd.snapshot"

/* Pack; the caller frees. NULL: no memory. */
void *mechd_container_write(const struct mechd_container *parts, size_t *size);
/* The model of an instance with a state of it. NULL: no memory. As its owner. */
void *mechd_container_of_state(const struct mechd_instance *i, const void *state, size_t state_size,
                               size_t *size);
/* The same with the present state. */
void *mechd_container_of(const struct mechd_instance *i, size_t *size);
/* Point into the bytes. MECH_MISMATCH: no container, another version, or damaged. */
int mechd_container_read(const void *bytes, size_t size, struct mechd_container *parts);

/* Base64 of RFC 4648, section 4, as a text; fresh memory. NULL: no memory. */
char *mechd_base64_encode(const void *bytes, size_t size);
/* Back from it; white space is skipped. Fresh memory; NULL: not base64. */
unsigned char *mechd_base64_decode(const char *text, size_t length, size_t *size);
