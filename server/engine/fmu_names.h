/* What the directory of a ZIP archive says, before anything is expanded: fmu_archive.c reads with
 * libzip only what has passed here. Any thread. */
#pragma once

#include "server/engine/fmu_archive.h"

struct mechd_archive_head {
    char *path;      /* malloc'ed; a folder's ends with '/' */
    uint64_t packed; /* bytes in the archive */
    uint64_t size;   /* bytes, expanded */
};

/* The entries of the archive, malloc'ed with their paths; each has a path, a kind and sizes that
 * the limits permit. 0, MECH_NO_MEMORY or an outcome. */
int mechd_archive_heads(const unsigned char *bytes, size_t size,
                        const struct mechd_archive_limits *limits, struct mechd_archive_head **out,
                        size_t *count, struct mech_diag *diag);
void mechd_archive_heads_free(struct mechd_archive_head *heads, size_t count);
