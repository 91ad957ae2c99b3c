/* An archive into a folder: each part of a path is opened below its parent by descriptor, and no
 * link is followed, so that nothing is written elsewhere even if the folder is not empty. */
#include "server/engine/fmu_archive.h"
#include "server/engine/fmu_pour.h"
#include "solver/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NONE = -1, FOLDER_MODE = 0700, FILE_MODE = 0400 };

static int refuse(struct mech_diag *diag, const char *path)
{
    char place[MECH_DIAG_PATH] = "/";
    mech_text_copy(place + 1, sizeof place - 1, path);
    mech_diag_add(diag, place, "cannot be unpacked: %s", strerror(errno));
    return MECHD_ARCHIVE_STORAGE;
}

/* The folder of the path below `folder`, made where it is not there; its last part is left at
 * `last`. NONE: errno says why. */
static int open_parent(int folder, const char *path, const char **last)
{
    int at = fcntl(folder, F_DUPFD_CLOEXEC, 0);
    for (const char *slash = strchr(path, '/'); at != NONE && slash != NULL;
         slash = strchr(path, '/')) {
        char part[MECHD_ARCHIVE_NAME_MOST + 1];
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = '\0';
        const bool made = mkdirat(at, part, FOLDER_MODE) == 0 || errno == EEXIST;
        const int below =
            made ? openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : NONE;
        const int fault = errno;
        (void)close(at);
        errno = fault;
        at = below;
        path = slash + 1;
    }
    *last = path;
    return at;
}

static int write_piece(void *context, const char *piece, size_t size)
{
    const int file = *(const int *)context;
    while (size > 0) {
        const ssize_t n = write(file, piece, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return MECHD_ARCHIVE_STORAGE;
        }
        piece += n;
        size -= (size_t)n;
    }
    return 0;
}

static int unpack_file(const struct mechd_archive *a, size_t i, int folder, struct mech_diag *diag)
{
    const char *const path = mechd_archive_at(a, i).path, *last = NULL;
    const int parent = open_parent(folder, path, &last);
    if (parent == NONE) {
        return refuse(diag, path);
    }
    // a folder is there by now
    int rc = 0;
    if (*last != 0) {
        int file =
            openat(parent, last, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, FILE_MODE);
        rc = file == NONE ? refuse(diag, path) : 0;
        if (rc == 0) {
            rc = mechd_archive_pour(a, i, write_piece, &file, diag);
            if (rc == MECHD_ARCHIVE_STORAGE) {
                rc = refuse(diag, path);
            }
            if (close(file) != 0 && rc == 0) {
                rc = refuse(diag, path);
            }
        }
    }
    (void)close(parent);
    return rc;
}

int mechd_archive_unpack(const struct mechd_archive *a, const char *prefix, int folder,
                         struct mech_diag *diag)
{
    const size_t length = strlen(prefix);
    for (size_t i = 0; i < mechd_archive_count(a); i++) {
        if (strncmp(mechd_archive_at(a, i).path, prefix, length) == 0) {
            MECH_TRY(unpack_file(a, i, folder, diag));
        }
    }
    return 0;
}
