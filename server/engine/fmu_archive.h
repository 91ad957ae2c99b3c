/* Archives that come from outside: the .fmu of an upload, a ZIP archive, read without trust.
 *
 * Opening reads the directory and nothing else. It is refused as a whole if a path leaves the
 * folder, if two paths are one but for the case of ASCII letters, if a path is a file and a folder,
 * if an entry is a link, a device, encrypted or compressed by anything but deflate, if entries
 * share bytes, or if all of it is larger than the limits. The sizes that a directory declares are
 * those that reading gives: another size, or another checksum, is a fault, so that what a bomb
 * declares is judged before a byte of it is expanded. ZIP64 and prefixed archives are refused.
 *
 *   struct mechd_archive *a = NULL;
 *   MECH_TRY(mechd_archive_open(bytes, size, mechd_archive_limits(), &a, &diag));
 *   MECH_TRY(mechd_archive_read(a, "modelDescription.xml", 1 << 24, &text, &length, &diag));
 *
 * Faults are entries of `diag`, whose paths are those of the archive ("/resources/a.txt").
 * owner: the caller; one thread. Source: APPNOTE.TXT 6.3.10 (PKWARE), sections 4.3 and 4.4. */
#pragma once

#include "solver/base/diag.h"

#include <stddef.h>
#include <stdint.h>

enum mechd_archive_outcome {
    MECHD_ARCHIVE_BROKEN = 1, /* no ZIP archive, or one that contradicts itself */
    MECHD_ARCHIVE_PATH,       /* a path that is no plain relative one, or too long */
    MECHD_ARCHIVE_TWICE,      /* two entries for one path */
    MECHD_ARCHIVE_KIND,       /* a link, a device, encrypted, or an unknown compression */
    MECHD_ARCHIVE_SIZE,       /* more bytes or entries than the limits */
    MECHD_ARCHIVE_MISSING,    /* it has no such file */
    MECHD_ARCHIVE_STORAGE,    /* the folder it is unpacked into does not take it */
};

enum {
    MECHD_ARCHIVE_PATH_MOST = 512, /* bytes of a path */
    MECHD_ARCHIVE_NAME_MOST = 255, /* bytes of one of its parts, as Linux has it */
    MECHD_ARCHIVE_DEPTH_MOST = 16  /* parts */
};

struct mechd_archive_limits {
    uint64_t total;  /* bytes of all files, expanded */
    uint64_t file;   /* bytes of one file, expanded */
    uint32_t count;  /* entries, folders too */
    uint32_t factor; /* of bytes of all files to bytes of the archive; deflate reaches 1032 */
};

/* 512 MiB, 256 MiB a file, 10000 entries, a factor of 200. */
struct mechd_archive_limits mechd_archive_limits(void);

struct mechd_archive;

/* The archive in bytes [size], which stay the caller's and must outlive it. 0 or an outcome. */
int mechd_archive_open(const void *bytes, size_t size, struct mechd_archive_limits limits,
                       struct mechd_archive **out, struct mech_diag *diag);
void mechd_archive_close(struct mechd_archive *a);

/* Entries in the order of the directory. The path of a folder ends with '/'. */
struct mechd_archive_entry {
    const char *path;
    uint64_t size; /* bytes, expanded */
};
size_t mechd_archive_count(const struct mechd_archive *a);
struct mechd_archive_entry mechd_archive_at(const struct mechd_archive *a, size_t i);

/* The file of this very path, of at most `most` bytes: malloc'ed, a zero behind them, the caller's.
 * 0, or an outcome: MISSING, SIZE, BROKEN. */
int mechd_archive_read(const struct mechd_archive *a, const char *path, uint64_t most, char **out,
                       size_t *size, struct mech_diag *diag);

/* All files whose paths begin with `prefix` ("resources/"; "" for all) into the folder of this
 * descriptor, with the folders they need. What is there already is a fault and is not followed.
 * Files are readable by their owner alone, and not writable. 0, or an outcome: BROKEN, STORAGE; the
 * folder then holds a part, which the caller removes. */
int mechd_archive_unpack(const struct mechd_archive *a, const char *prefix, int folder,
                         struct mech_diag *diag);
