/* The state of a coupling and of all its instances as bytes, models included: what GET
 * /v1/couplings/{cid}/state returns and PUT accepts, here and on other servers.
 *
 *   offset 0  magic "MCHDCOUP"              32  size of the scheme's state u64
 *          8  version u32 (1)               40  number of participants u64
 *         12  reserved u32 (0)              48  size of each one's part u64
 *         16  hash of all that follows u64      the document (JSON text), a part a participant
 *         24  size of the document u64          (instance/container.h), the scheme's state
 *
 * Little-endian. The document says what is coupled, and how. Any thread.
 */
#pragma once

#include "server/coupling/coupling.h"

#define MECHD_COUPLING_CONTAINER_TYPE "application/vnd.mechd.coupling"

/* Pointers into the bytes. */
struct mechd_coupling_container {
    const char *document;
    size_t document_size;
    const void *scheme; /* as mech_couple_save */
    size_t scheme_size;
    int32_t count; /* of participants, at least 1 */
    struct {
        const void *bytes;
        size_t size;
    } parts[MECHD_COUPLING_PARTS]; /* in the order of the document */
};

/* The present state of a coupling without partners outside whose instances all have models; the
 * caller frees. NULL: no memory. As the owner of all. */
void *mechd_coupling_container_of(const struct mechd_coupling *g, size_t *size);
/* 0; MECH_MISMATCH: not such bytes, of another version, or damaged. Whether the parts are sound
 * their own readers say. */
int mechd_coupling_container_read(const void *bytes, size_t size,
                                  struct mechd_coupling_container *out);
