/* The folder has a name of its own below the root, and is removed with all that is in it. */
#define _GNU_SOURCE
#include "server/engine/fmu_package.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NONE = -1, ARCHIVE_MODE = 0400 };

static const char prefix[] = "mechd-fmu-";
/* its archive's name; no file of an FMU is unpacked beside its folders */
static const char archive[] = "archive.fmu";

/* Bytes of the files below a folder; `removes`: the folder is removed with them. */
static uint64_t walk(char *folder, bool removes)
{
    char *const paths[] = {folder, NULL};
    FTS *const tree = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    uint64_t sum = 0;
    for (FTSENT *e = tree != NULL ? fts_read(tree) : NULL; e != NULL; e = fts_read(tree)) {
        if (e->fts_info == FTS_F) {
            sum += (uint64_t)e->fts_statp->st_size;
        }
        if (removes && e->fts_info == FTS_DP) {
            (void)rmdir(e->fts_accpath);
        } else if (removes && e->fts_info != FTS_D) {
            (void)unlink(e->fts_accpath);
        }
    }
    if (tree != NULL) {
        (void)fts_close(tree);
    }
    return sum;
}

void mechd_fmu_package_clean(const char *root)
{
    const size_t room = strlen(root) + NAME_MAX + 2;
    char *const path = malloc(room);
    DIR *const folder = path != NULL ? opendir(root) : NULL;
    for (const struct dirent *e = folder != NULL ? readdir(folder) : NULL; e != NULL;
         e = readdir(folder)) {
        if (strncmp(e->d_name, prefix, sizeof prefix - 1) == 0) {
            (void)snprintf(path, room, "%s/%s", root, e->d_name);
            (void)walk(path, true);
        }
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    free(path);
}

/* A fresh folder below the root. 0, MECH_NO_MEMORY or MECHD_FMU_NO_STORAGE. */
static int make_folder(const char *root, char **out, struct mech_diag *diag)
{
    const size_t room = strlen(root) + 32;
    char *const path = malloc(room);
    *out = NULL;
    if (path == NULL) {
        return MECH_NO_MEMORY;
    }
    (void)snprintf(path, room, "%s/%sXXXXXX", root, prefix);
    if (mkdtemp(path) == NULL) {
        mech_diag_add(diag, "", "no folder can be made in %s: %s", root, strerror(errno));
        free(path);
        return MECHD_FMU_NO_STORAGE;
    }
    *out = path;
    return 0;
}

static int unpack(struct mechd_fmu_package *p, const void *bytes, size_t size,
                  struct mech_diag *diag)
{
    const int folder = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder == NONE) {
        mech_diag_add(diag, "", "%s cannot be opened: %s", p->folder, strerror(errno));
        // without a descriptor it cannot be walked through either, and it is empty
        (void)rmdir(p->folder);
        return MECHD_FMU_NO_STORAGE;
    }
    const int rc = mechd_fmu_load(bytes, size, folder, &p->description, diag);
    (void)close(folder);
    return rc;
}

/* The archive, beside what has been unpacked of it. 0 or MECHD_FMU_NO_STORAGE. */
static int keep_archive(const struct mechd_fmu_package *p, const char *bytes, size_t size,
                        struct mech_diag *diag)
{
    const int folder = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int file = folder != NONE ? openat(folder, archive,
                                             O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, ARCHIVE_MODE)
                                    : NONE;
    ssize_t n = file != NONE ? 0 : NONE;
    while (n >= 0 && size > 0) {
        n = write(file, bytes, size);
        n = n < 0 && errno == EINTR ? 0 : n;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    const int fault = errno;
    if (file != NONE) {
        (void)close(file);
    }
    if (folder != NONE) {
        (void)close(folder);
    }
    if (n < 0) {
        mech_diag_add(diag, "", "%s cannot be written: %s", archive, strerror(fault));
    }
    return n < 0 ? MECHD_FMU_NO_STORAGE : 0;
}

int mechd_fmu_package_open(const void *bytes, size_t size, const char *root,
                           struct mechd_fmu_package **out, struct mech_diag *diag)
{
    struct mechd_fmu_package *const p = calloc(1, sizeof *p);
    *out = NULL;
    if (p == NULL) {
        return MECH_NO_MEMORY;
    }
    atomic_init(&p->refs, 1);
    int rc = make_folder(root, &p->folder, diag);
    rc = rc == 0 ? unpack(p, bytes, size, diag) : rc;
    if (rc != 0) {
        mechd_fmu_package_unref(p);
        return rc;
    }
    p->hash = mech_hash(bytes, size, 0);
    p->size = size;
    p->unpacked = walk(p->folder, false);
    rc = keep_archive(p, bytes, size, diag);
    if (rc != 0) {
        mechd_fmu_package_unref(p);
        return rc;
    }
    *out = p;
    return 0;
}

/* Bytes [size] of a file from `from` on. False: there are fewer. */
static bool fill(int file, char *to, size_t size, uint64_t from)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(file, to + done, size - done, (off_t)(from + done));
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool mechd_fmu_package_read(const struct mechd_fmu_package *p, uint64_t from, void *to, size_t size)
{
    const int folder = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const int file =
        folder != NONE ? openat(folder, archive, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : NONE;
    const bool read = file != NONE && fill(file, to, size, from);
    if (file != NONE) {
        (void)close(file);
    }
    if (folder != NONE) {
        (void)close(folder);
    }
    return read;
}

struct mechd_fmu_package *mechd_fmu_package_ref(struct mechd_fmu_package *p)
{
    (void)atomic_fetch_add(&p->refs, 1);
    return p;
}

void mechd_fmu_package_unref(struct mechd_fmu_package *p)
{
    if (p == NULL || atomic_fetch_sub(&p->refs, 1) != 1) {
        return;
    }
    if (p->folder != NULL) {
        (void)walk(p->folder, true);
    }
    void (*const ended)(void *context) = p->ended;
    void *const context = p->context;
    mechd_fmu_description_fini(&p->description);
    free(p->folder);
    free(p);
    if (ended != NULL) {
        ended(context);
    }
}
