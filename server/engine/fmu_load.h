/* An .fmu from outside to a folder that mechd-fmu can run: what it needs of the archive, and the
 * description of it.
 *
 *     struct mechd_fmu_description d;
 *     MECH_TRY(mechd_fmu_load(bytes, size, folder, &d, &diag));
 *     … mechd_hosted_open(…), mechd_fmu_description_fini(&d) …
 *
 * owner: the caller; any thread, one at a time for a folder. */
#pragma once

#include "server/engine/fmu_archive.h"
#include "server/engine/fmu_description.h"

enum mechd_fmu_load_outcome {
    MECHD_FMU_BAD_ARCHIVE = 1, /* refused by fmu_archive.h */
    MECHD_FMU_TOO_LARGE,       /* it, its description, or what it expands to */
    MECHD_FMU_BAD_DESCRIPTION, /* refused by fmu_description.h */
    MECHD_FMU_NO_BINARY,       /* it has none for this machine: sources alone, or other systems */
    MECHD_FMU_NO_STORAGE       /* the folder does not take it; a part of it may be there */
};

/* Folder below binaries/ of the libraries for this machine. Static storage. */
const char *mechd_fmu_platform(enum mechd_fmi_version version);

/* Reads the archive in bytes [size] and unpacks its binaries for this machine and its resources
 * into the folder of this descriptor, which is empty; folder -1: it is only read and judged. 0,
 * MECH_NO_MEMORY or an outcome, with its reasons in diag; `out` is then empty. */
int mechd_fmu_load(const void *bytes, size_t size, int folder, struct mechd_fmu_description *out,
                   struct mech_diag *diag);
