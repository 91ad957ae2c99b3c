/* The bytes of an entry of an archive in pieces: what reading and unpacking share. */
#pragma once

#include "server/engine/fmu_archive.h"

/* Takes a piece; what it returns but 0 ends the reading and is returned. */
typedef int mechd_archive_sink(void *context, const char *piece, size_t size);

/* Entry i, of at most the bytes that its size says. 0, what the sink returned, or BROKEN at the end
 * of bytes that have another size or checksum. */
int mechd_archive_pour(const struct mechd_archive *a, size_t i, mechd_archive_sink *sink,
                       void *context, struct mech_diag *diag);
