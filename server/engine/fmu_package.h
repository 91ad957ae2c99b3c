/* An FMU that has been uploaded: its description, and the folder that its process reads.
 *
 *     struct mechd_fmu_package *p = NULL;
 *     MECH_TRY(mechd_fmu_package_open(bytes, size, "/tmp", &p, &diag));
 *     … p->description, p->folder …
 *     mechd_fmu_package_unref(p);                 the last reference removes the folder
 *
 * shared: const once made, but for `ended` and its context, which are set before another thread has
 * it; references are atomic, so that an instance outlives a deleted upload. */
#pragma once

#include "server/engine/fmu_load.h"

#include <stdatomic.h>
#include <stdbool.h>

struct mechd_fmu_package {
    struct mechd_fmu_description description;
    char *folder;      /* absolute, with the archive itself; malloc'ed */
    uint64_t hash;     /* of the archive's bytes */
    uint64_t size;     /* bytes of the archive */
    uint64_t unpacked; /* bytes of its files in the folder */
    /* called once nothing is left of it, by the thread that drops the last reference; or NULL */
    void (*ended)(void *context);
    void *context;
    _Atomic int refs;
};

/* Unpacks the archive in bytes [size] into a fresh folder below `root`. 0 with one reference;
 * MECH_NO_MEMORY or an outcome of mechd_fmu_load, with its reasons in diag. Any thread. */
int mechd_fmu_package_open(const void *bytes, size_t size, const char *root,
                           struct mechd_fmu_package **out, struct mech_diag *diag);

/* Removes the folders below `root` that packages of an earlier process have left there. Only where
 * no other process has any: in a folder that this one has locked. */
void mechd_fmu_package_clean(const char *root);

/* Bytes [size] of the archive from `from` on, which is as it was uploaded. False: they cannot be
 * read. Any thread. */
bool mechd_fmu_package_read(const struct mechd_fmu_package *p, uint64_t from, void *to,
                            size_t size);

struct mechd_fmu_package *mechd_fmu_package_ref(struct mechd_fmu_package *p);
/* NULL: nothing. */
void mechd_fmu_package_unref(struct mechd_fmu_package *p);
