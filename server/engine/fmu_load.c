/* The archive, then its description, then whether there is a binary, then files: the first that
 * fails ends it, and only the last one writes. */
#include "server/engine/fmu_load.h"
#include "solver/base/err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NO_FOLDER = -1 };

const char *mechd_fmu_platform(enum mechd_fmi_version version)
{
#if defined(__aarch64__)
    (void)version;
    return "aarch64-linux";
#else
    return version == MECHD_FMI_2 ? "linux64" : "x86_64-linux";
#endif
}

/* Outcomes of the archive as those of loading. */
static int of_archive(int rc)
{
    return rc <= 0                       ? rc
           : rc == MECHD_ARCHIVE_SIZE    ? MECHD_FMU_TOO_LARGE
           : rc == MECHD_ARCHIVE_STORAGE ? MECHD_FMU_NO_STORAGE
                                         : MECHD_FMU_BAD_ARCHIVE;
}

static int read_description(const struct mechd_archive *a, struct mechd_fmu_description *out,
                            struct mech_diag *diag)
{
    char *text = NULL;
    size_t size = 0;
    MECH_TRY(of_archive(mechd_archive_read(a, "modelDescription.xml", MECHD_DESCRIPTION_SIZE_MOST,
                                           &text, &size, diag)));
    const int rc = mechd_fmu_description_read(text, size, out, diag);
    free(text);
    return rc <= 0                         ? rc
           : rc == MECHD_DESCRIPTION_LIMIT ? MECHD_FMU_TOO_LARGE
                                           : MECHD_FMU_BAD_DESCRIPTION;
}

static int find_binary(const struct mechd_archive *a, const struct mechd_fmu_description *d,
                       struct mech_diag *diag)
{
    char path[MECHD_ARCHIVE_PATH_MOST];
    (void)snprintf(path, sizeof path, "binaries/%s/%s.so", mechd_fmu_platform(d->version),
                   d->identifier);
    for (size_t k = 0; k < mechd_archive_count(a); k++) {
        if (strcmp(mechd_archive_at(a, k).path, path) == 0) {
            return 0;
        }
    }
    mech_diag_add(diag, "/binaries", "it has no %s, a binary for this machine", path);
    return MECHD_FMU_NO_BINARY;
}

static int unpack(const struct mechd_archive *a, const struct mechd_fmu_description *d, int folder,
                  struct mech_diag *diag)
{
    char binaries[64];
    (void)snprintf(binaries, sizeof binaries, "binaries/%s/", mechd_fmu_platform(d->version));
    MECH_TRY(of_archive(mechd_archive_unpack(a, binaries, folder, diag)));
    return of_archive(mechd_archive_unpack(a, "resources/", folder, diag));
}

int mechd_fmu_load(const void *bytes, size_t size, int folder, struct mechd_fmu_description *out,
                   struct mech_diag *diag)
{
    struct mechd_archive *a = NULL;
    *out = (struct mechd_fmu_description){0};
    MECH_TRY(of_archive(mechd_archive_open(bytes, size, mechd_archive_limits(), &a, diag)));
    int rc = read_description(a, out, diag);
    if (rc == 0) {
        rc = find_binary(a, out, diag);
    }
    if (rc == 0 && folder != NO_FOLDER) {
        rc = unpack(a, out, folder, diag);
    }
    mechd_archive_close(a);
    if (rc != 0) {
        mechd_fmu_description_fini(out);
    }
    return rc;
}
