/* mechd.sqlite in the state directory. WAL with synchronous=FULL: a commit that has returned
 * survives power loss. One process has the directory: file `lock`. */
#include "server/store/sqlite.h"

#include "server/os/log.h"
#include "server/store/schema.h"
#include "server/store/wal.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Others than the owner. */
enum { OTHERS = 077 };

enum { PATH = 512 };

static bool execute(struct mechd_sqlite *d, const char *sql)
{
    return sqlite3_exec(d->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK;
}

static bool set_version(struct mechd_sqlite *d, int64_t version)
{
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA user_version = %lld", (long long)version);
    return execute(d, sql);
}

static bool probe(void *self)
{
    // the version again: one page, written and synced like any other
    return set_version(self, mechd_schema_version);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void disconnect(struct mechd_sqlite *d)
{
    for (int k = 0; k < MECHD_SQL_COUNT; k++) {
        sqlite3_finalize(d->statement[k]);
        d->statement[k] = NULL;
    }
    sqlite3_close(d->sqlite);
    d->sqlite = NULL;
}

/* One number that a query gives, or −1. */
static int64_t number_of(struct mechd_sqlite *d, const char *sql)
{
    sqlite3_stmt *s = NULL;
    int64_t value = -1;
    if (sqlite3_prepare_v2(d->sqlite, sql, -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW) {
        value = sqlite3_column_int64(s, 0);
    }
    sqlite3_finalize(s);
    return value;
}

static const char newer[] = "a newer version of mechd wrote it";

/* Why a file of the directory, if it is there, cannot be written, or 0. */
static int check_files(const char *directory, char *fault, size_t size)
{
    static const char *const files[] = {"lock", "mechd.sqlite", "mechd.sqlite-wal"};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        char path[PATH];
        snprintf(path, sizeof path, "%s/%s", directory, files[k]);
        const int file = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (file >= 0) {
            close(file);
        } else if (errno != ENOENT) {
            mech_text_format(fault, size, "%s: %s", files[k], strerror(errno));
            return MECH_INTERNAL;
        }
    }
    return 0;
}

/* Why opening would rename the file, or NULL. */
static const char *renamed_for(const char *directory)
{
    // "Database File Format" of SQLite, 1.3: the magic, and user_version at 60, big-endian
    enum { HEAD = 100, USER_VERSION = 60 };
    static const char magic[16] = "SQLite format 3";
    unsigned char head[HEAD];
    char path[PATH];
    snprintf(path, sizeof path, "%s/mechd.sqlite", directory);
    FILE *const file = fopen(path, "rbe");
    if (file == NULL) {
        return errno == ENOENT ? NULL : "mechd.sqlite cannot be read";
    }
    const size_t size = fread(head, 1, sizeof head, file);
    const bool unread = ferror(file) != 0;
    (void)fclose(file);
    if (unread) {
        return "mechd.sqlite cannot be read";
    }
    if (size == 0) {
        return NULL; // as good as none
    }
    if (size < sizeof head || memcmp(head, magic, sizeof magic) != 0) {
        return "mechd.sqlite is damaged: it would be renamed";
    }
    const unsigned char *const v = head + USER_VERSION;
    const int64_t version = (int64_t)v[0] << 24 | v[1] << 16 | v[2] << 8 | v[3];
    return version > mechd_schema_version
               ? "a newer version of mechd wrote mechd.sqlite: it would be renamed"
               : NULL;
}

static int look(const char *directory, char *fault, size_t size)
{
    MECH_TRY(check_files(directory, fault, size));
    const char *const why = renamed_for(directory);
    if (why != NULL) {
        mech_text_format(fault, size, "%s", why);
        return MECH_INTERNAL;
    }
    return 0;
}

/* What is wrong with the content, or NULL. */
static const char *damage_of(struct mechd_sqlite *d)
{
    sqlite3_stmt *s = NULL;
    const char *found = "it is damaged";
    if (sqlite3_prepare_v2(d->sqlite, "PRAGMA quick_check(1)", -1, &s, NULL) == SQLITE_OK &&
        sqlite3_step(s) == SQLITE_ROW &&
        strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0) {
        found = NULL;
    }
    sqlite3_finalize(s);
    if (found == NULL && number_of(d, "PRAGMA user_version") > mechd_schema_version) {
        found = newer;
    }
    return found;
}

/* Rename the database and what belongs to it, so that a new one can be begun. */
static int set_aside(const char *path, const char *why, char *fault, size_t size)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    char to[PATH + 64];
    char name[PATH + 16];
    for (int k = 1;; k++) {
        snprintf(to, sizeof to, "%s.aside-%lld-%d", path, (long long)time(NULL), k);
        if (access(to, F_OK) != 0) {
            break;
        }
    }
    const size_t length = strlen(to);
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "%s%s", path, endings[k]);
        snprintf(to + length, sizeof to - length, "%s", endings[k]);
        if (rename(name, to) != 0 && errno != ENOENT) {
            mech_text_format(fault, size, "cannot rename %s: %s", name, strerror(errno));
            return MECH_INTERNAL;
        }
    }
    to[length] = '\0';
    mechd_log(MECHD_ERROR, "set-aside", "file=%s to=%s reason=\"%s\"", path, to, why);
    return 0;
}

/* From the version that the database has to this one, a transaction each. */
static bool bring_up(struct mechd_sqlite *d)
{
    int64_t version = number_of(d, "PRAGMA user_version");
    bool good = version >= 0;
    while (good && version < mechd_schema_version) {
        good = execute(d, "BEGIN IMMEDIATE") && execute(d, mechd_schema[version]) &&
               set_version(d, version + 1) && execute(d, "COMMIT");
        version++;
    }
    return good;
}

/* The database is for its owner alone, whatever its folder and the umask permit; SQLite gives its
 * log and its index the mode of the database. Files of an older mechd are tightened. By name: to
 * close a descriptor of the file would end the locks that SQLite has on it. */
static void restrict_files(const char *path)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    const int made = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (made >= 0) {
        (void)fchmod(made, 0600);
        close(made);
    }
    for (int k = 0; k < 3; k++) {
        char name[PATH + 16];
        struct stat found;
        snprintf(name, sizeof name, "%s%s", path, endings[k]);
        if (stat(name, &found) == 0 && (found.st_mode & OTHERS) != 0) {
            const bool done = chmod(name, 0600) == 0;
            mechd_log(MECHD_WARNING, "file-mode", "file=%s mode=%o %s", name,
                      (unsigned)found.st_mode & 0777u,
                      done ? "now=600"
                           : "reason=\"other users may read it, and its mode cannot be changed\"");
        }
    }
}

/* Connect; the schema of a new database. 0; MECH_MISMATCH with what is wrong in *why; negative. */
static int connect_to(struct mechd_sqlite *d, const char *path, const char **why)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    restrict_files(path);
    if (sqlite3_open_v2(path, &d->sqlite, flags, NULL) != SQLITE_OK) {
        return MECH_INTERNAL;
    }
    sqlite3_busy_timeout(d->sqlite, 5000);
    sqlite3_extended_result_codes(d->sqlite, 1);
    *why = damage_of(d);
    if (*why != NULL) {
        const int code = sqlite3_errcode(d->sqlite) & 0xff;
        const bool unreadable = code == SQLITE_CANTOPEN || code == SQLITE_READONLY ||
                                code == SQLITE_IOERR || code == SQLITE_FULL || code == SQLITE_PERM;
        return unreadable ? MECH_INTERNAL : MECH_MISMATCH;
    }
    if (!execute(d, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
                    " PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;")) {
        return MECH_INTERNAL;
    }
    return bring_up(d) ? 0 : MECH_INTERNAL;
}

static void inspect(const char *directory)
{
    char path[PATH];
    struct mechd_wal wal;
    struct stat folder;
    if (stat(directory, &folder) == 0 && (folder.st_mode & OTHERS) != 0) {
        mechd_log(MECHD_WARNING, "folder-mode",
                  "folder=%s mode=%o reason=\"other users may open this folder\"", directory,
                  (unsigned)folder.st_mode & 0777u);
    }
    snprintf(path, sizeof path, "%s/mechd.sqlite", directory);
    mechd_wal_look(path, &wal);
    if (wal.fault != NULL) {
        mechd_log(MECHD_WARNING, "wal-cut",
                  "file=%s-wal bytes=%llu frames=%llu committed=%llu reason=\"%s\"", path,
                  (unsigned long long)wal.size, (unsigned long long)wal.frames,
                  (unsigned long long)wal.committed, wal.fault);
    }
}

/* --- the table -------------------------------------------------------------------------------- */

static bool serves(const char *place)
{
    return true;
}

/* One daemon a directory: a lock that ends with the process. */
static int lock_directory(const char *directory, char *fault, size_t size, int *lock)
{
    char path[512];
    if (mkdir(directory, 0700) != 0 && errno != EEXIST) {
        mech_text_format(fault, size, "cannot make the state directory %s: %s", directory,
                         strerror(errno));
        return MECH_INTERNAL;
    }
    snprintf(path, sizeof path, "%s/lock", directory);
    *lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*lock < 0) {
        mech_text_format(fault, size, "cannot write to the state directory %s: %s", directory,
                         strerror(errno));
        return MECH_INTERNAL;
    }
    (void)fchmod(*lock, 0600);
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        mech_text_format(fault, size, "another mechd uses the state directory %s", directory);
        return MECH_INTERNAL;
    }
    return 0;
}

struct claim {
    int lock;
};

static void release(void *claim)
{
    struct claim *const c = claim;
    if (c != NULL && c->lock >= 0) {
        close(c->lock);
    }
    free(c);
}

static int claim(const char *place, char *fault, size_t size, void **out)
{
    struct claim *const c = calloc(1, sizeof *c);
    if (c == NULL) {
        return MECH_NO_MEMORY;
    }
    c->lock = -1;
    const int outcome = lock_directory(place, fault, size, &c->lock);
    if (outcome != 0) {
        release(c);
        return outcome;
    }
    inspect(place);
    *out = c;
    return 0;
}

static void close_connection(void *self)
{
    if (self != NULL) {
        disconnect(self);
        free(self);
    }
}

static int open_connection(const char *place, char *fault, size_t size, void **self)
{
    char path[PATH];
    const char *why = NULL;
    struct mechd_sqlite *const d = calloc(1, sizeof *d);
    if (d == NULL) {
        return MECH_NO_MEMORY;
    }
    snprintf(path, sizeof path, "%s/mechd.sqlite", place);
    int outcome = connect_to(d, path, &why);
    if (outcome == MECH_MISMATCH) {
        disconnect(d);
        outcome = set_aside(path, why, fault, size);
        if (outcome != 0) {
            free(d);
            return outcome;
        }
        outcome = connect_to(d, path, &why);
    }
    if (outcome != 0) {
        mech_text_format(fault, size, "cannot use %s: %s", path,
                         d->sqlite != NULL ? sqlite3_errmsg(d->sqlite) : "no memory");
        close_connection(d);
        return MECH_INTERNAL;
    }
    *self = d;
    return 0;
}

static const char *fault_of(void *self)
{
    return sqlite3_errmsg(((struct mechd_sqlite *)self)->sqlite);
}

static bool begin(void *self)
{
    return mechd_sqlite_run(self, MECHD_SQL_BEGIN);
}

static bool commit(void *self)
{
    return mechd_sqlite_run(self, MECHD_SQL_COMMIT);
}

const struct mechd_database_ops mechd_database_sqlite = {
    .name = "sqlite",
    .serves = serves,
    .look = look,
    .claim = claim,
    .release = release,
    .open = open_connection,
    .close = close_connection,
    .fault = fault_of,
    .begin = begin,
    .apply = mechd_sqlite_apply,
    .commit = commit,
    .undo = mechd_sqlite_undo,
    .probe = probe,
    .last_key = mechd_sqlite_last_key,
    .number = mechd_sqlite_number,
    .next = mechd_sqlite_next,
    .set_aside = mechd_sqlite_set_aside,
    .next_coupling = mechd_sqlite_next_coupling,
    .set_coupling_aside = mechd_sqlite_set_coupling_aside,
    .replay = mechd_sqlite_replay,
    .rows = mechd_sqlite_rows,
    .runs = mechd_sqlite_runs,
    .results_at = mechd_sqlite_results_at,
    .sweeps = mechd_sqlite_sweeps,
    .receipts = mechd_sqlite_receipts,
};
