/* State directories with anything in them: the daemon's store opens, what cannot be read is set
 * aside, and the store takes and gives a record afterwards.
 *
 * An input begins with a byte. 0: the rest is the database file. 1: the rest are changes (place
 * u32, eight bytes) of a database with two instances and their coupling. 255: changes (place u16,
 * four bytes) of the state of that coupling, whose hash is made right, and then it steps. 254: the
 * rest is its document. Otherwise the rest is in columns of the first instance, as the byte's bits
 * say: labels, durability, model, state, a command (its checksum is made right, and its count
 * small), a snapshot, a receipt, the id. */
#include "server/store/store.h"
#include "server/coupling/keep.h"
#include "server/instance/command_bytes.h"
#include "server/instance/durable.h"
#include "server/instance/table.h"
#include "server/os/log.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/server/local.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH = 128, GOOD_MOST = 1 << 18 };

/* First bytes of inputs that are about the coupling. */
enum { DOCUMENT = 254, STATE = 255 };

static struct mechd *served;
static char folder[64];
static unsigned char good[GOOD_MOST]; /* a database with "i" and "j", and "c-1" of both */
static size_t good_size;

static void empty_folder(void)
{
    DIR *const d = opendir(folder);
    for (const struct dirent *e = d != NULL ? readdir(d) : NULL; e != NULL; e = readdir(d)) {
        char path[sizeof folder + 300];
        (void)snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.') {
            (void)unlink(path);
        }
    }
    if (d != NULL) {
        (void)closedir(d);
    }
}

static void write_database(const unsigned char *bytes, size_t size)
{
    char path[PATH];
    empty_folder();
    (void)snprintf(path, sizeof path, "%s/mechd.sqlite", folder);
    FILE *const file = fopen(path, "wb");
    if (file == NULL || (size > 0 && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0) {
        fuzz_fail("no room for the database");
    }
}

/* Open as the daemon does, load what is there, and end. */
static void open_store(void)
{
    char fault[256];
    if (mechd_store_open(folder, fault, sizeof fault, &served->service.host.store) != 0) {
        served->service.host.store = NULL;
        return;
    }
    served->service.host.series[0] = '\0'; // as of a process that began with it
    (void)mechd_recover(&served->service.host);
    (void)mechd_couplings_load(&served->service);
    (void)mechd_receipts_load(&served->service);
}

static void remove_folder(void)
{
    empty_folder();
    (void)rmdir(folder);
}

static void close_store(void)
{
    if (!local_clear(served, 20000)) {
        fuzz_fail("calls stay in flight");
    }
    if (mechd_table_count(&served->service.host.table) > 0 ||
        mechd_couplings_count(served->service.couplings) > 0) {
        // a database that lets nothing be deleted: its instances are none of the next input's
        local_stop(served);
        served = NULL;
        return;
    }
    mechd_store_close(served->service.host.store);
    served->service.host.store = NULL;
}

static bool make_instance(const char *path)
{
    return local_status(served, "PUT", path,
                        "{\"example\": \"driven-oscillator\", \"durability\": \"every-step\"}") ==
           201;
}

/* Instances and their coupling made and stepped, and a snapshot. */
static bool make_all(void)
{
    static const char coupling[] =
        "{\"participants\": [{\"instance\": \"i\"}, {\"instance\": \"j\"}], \"connections\": ["
        "{\"from\": \"i.x1\", \"to\": \"j.push\", \"factor\": 1},"
        " {\"from\": \"j.x1\", \"to\": \"i.push\", \"factor\": 1}],"
        " \"scheme\": {\"type\": \"IQN-ILS\", \"reuse\": 2}, \"stepSize\": 0.01}";
    return make_instance("/v1/instances/i") && make_instance("/v1/instances/j") &&
           local_status(served, "POST", "/v1/instances/i/step", "{\"count\": 2}") == 200 &&
           local_status(served, "POST", "/v1/instances/j/step", "{\"count\": 2}") == 200 &&
           local_status(served, "POST", "/v1/instances/i/snapshots", NULL) == 201 &&
           local_status(served, "POST", "/v1/couplings", coupling) == 201 &&
           local_status(served, "POST", "/v1/couplings/c-1/step", "{\"count\": 3}") == 200;
}

/* The database of that is kept. */
static void begin(void)
{
    char path[PATH];
    const char *const root = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    (void)snprintf(folder, sizeof folder, "%s/mechd-fuzz-%d", root, (int)getpid());
    (void)mkdir(folder, 0700);
    if (good_size == 0) {
        (void)atexit(remove_folder);
    }
    served = local_start(NULL, NULL);
    if (served == NULL) {
        fuzz_fail("no daemon");
    }
    mechd_log_set_level((enum mechd_level) - 1);
    empty_folder();
    open_store();
    if (served->service.host.store == NULL || !make_all()) {
        fuzz_fail("nothing can be stored");
    }
    // the file without its log, while they are in it
    sqlite3 *db = NULL;
    (void)snprintf(path, sizeof path, "%s/mechd.sqlite", folder);
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) != SQLITE_OK) {
        fuzz_fail("the log cannot be folded in");
    }
    sqlite3_close(db);
    FILE *const file = fopen(path, "rb");
    good_size = file != NULL ? fread(good, 1, sizeof good, file) : 0;
    if (good_size == 0 || good_size == sizeof good || fclose(file) != 0) {
        fuzz_fail("the database cannot be read");
    }
    close_store();
}

static sqlite3 *open_database(void)
{
    char path[PATH];
    sqlite3 *db = NULL;
    (void)snprintf(path, sizeof path, "%s/mechd.sqlite", folder);
    if (sqlite3_open(path, &db) != SQLITE_OK) {
        fuzz_fail("the database cannot be changed");
    }
    return db;
}

/* `sql` with the bytes as ?1. */
static void put_bytes(sqlite3 *db, const char *sql, const void *bytes, size_t size)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK) {
        fuzz_fail(sqlite3_errmsg(db));
    }
    sqlite3_bind_blob(s, 1, bytes, (int)size, SQLITE_TRANSIENT);
    (void)sqlite3_step(s);
    sqlite3_finalize(s);
}

/* A command that is not refused for its checksum, and not long. */
static void mend_command(unsigned char *bytes, size_t size)
{
    enum { CHECKSUM = 8, COUNT = CHECKSUM + 1, INPUTS = COUNT + 16 };
    if (size >= INPUTS) {
        const double most = 10.;
        double length = 0.;
        memset(bytes + COUNT + 1, 0, 7);
        memcpy(&length, bytes + COUNT + 8, sizeof length);
        if (!(length <= most)) {
            memcpy(bytes + COUNT + 8, &most, sizeof most);
        }
    }
    if (size >= CHECKSUM) {
        mechd_command_seal(bytes, size);
    }
}

/* The rest of the input in the columns that the bits name. */
static void write_columns(unsigned bits, struct fuzz_bytes *b)
{
    enum { COMMAND = 4 };
    static const char *const changes[] = {
        "UPDATE instances SET labels = CAST(?1 AS TEXT) WHERE id = 'i'",
        "UPDATE instances SET durability = CAST(?1 AS TEXT) WHERE id = 'i'",
        "UPDATE instances SET model = CAST(?1 AS TEXT) WHERE id = 'i'",
        "UPDATE states SET bytes = ?1 WHERE key = (SELECT min(key) FROM instances)",
        "INSERT INTO commands SELECT min(key), 1, 9, 9, ?1, 0 FROM instances",
        "UPDATE snapshots SET bytes = ?1",
        ("INSERT INTO receipts (scope, created, body, status, location, bytes)"
         " VALUES (CAST(?1 AS TEXT), unixepoch(), 7, 200, CAST(?1 AS TEXT), ?1)"),
        "UPDATE instances SET id = CAST(?1 AS TEXT) WHERE id = 'i'",
    };
    sqlite3 *const db = open_database();
    for (unsigned k = 0; k < sizeof changes / sizeof *changes; k++) {
        unsigned char value[4096];
        if ((bits >> k & 1) == 0) {
            continue;
        }
        const size_t wanted = fuzz_u16(b), n = wanted < b->left ? wanted : b->left;
        const size_t size = n < sizeof value ? n : sizeof value;
        fuzz_take(b, value, size);
        if (k == COMMAND) {
            mend_command(value, size);
        }
        put_bytes(db, changes[k], value, size);
    }
    sqlite3_close(db);
}

/* The rest of the input as changes of the coupling's state. */
static void change_coupling(struct fuzz_bytes *b)
{
    enum { HASH = 8, PART = 4 };
    sqlite3 *const db = open_database();
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(db, "SELECT bytes FROM couplings", -1, &s, NULL) != SQLITE_OK ||
        sqlite3_step(s) != SQLITE_ROW) {
        fuzz_fail("there is no coupling");
    }
    const size_t size = (size_t)sqlite3_column_bytes(s, 0);
    unsigned char *const bytes = malloc(size);
    if (bytes == NULL || size < HASH + PART) {
        fuzz_fail("there is no state of the coupling");
    }
    memcpy(bytes, sqlite3_column_blob(s, 0), size);
    sqlite3_finalize(s);
    while (b->left > 0) {
        const size_t at = HASH + fuzz_u16(b) % (size - HASH - PART);
        fuzz_take(b, bytes + at, PART);
    }
    mechd_keep_seal(bytes, size);
    put_bytes(db, "UPDATE couplings SET bytes = ?1", bytes, size);
    free(bytes);
    sqlite3_close(db);
}

static void change(struct fuzz_bytes *b, unsigned char *bytes)
{
    while (b->left > 0) {
        uint32_t at = 0;
        fuzz_take(b, &at, sizeof at);
        at %= (uint32_t)good_size - 8;
        fuzz_take(b, bytes + at, 8);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes b = {data, size};
    if (served == NULL) {
        begin();
    }
    const unsigned bits = fuzz_u8(&b);
    if (bits == 0) {
        write_database(b.at, b.left);
    } else if (bits == 1) {
        unsigned char *const changed = malloc(good_size);
        if (changed == NULL) {
            return 0;
        }
        memcpy(changed, good, good_size);
        change(&b, changed);
        write_database(changed, good_size);
        free(changed);
    } else if (bits == STATE) {
        write_database(good, good_size);
        change_coupling(&b);
    } else if (bits == DOCUMENT) {
        write_database(good, good_size);
        sqlite3 *const db = open_database();
        put_bytes(db, "UPDATE couplings SET document = CAST(?1 AS TEXT)", b.at, b.left);
        sqlite3_close(db);
    } else {
        write_database(good, good_size);
        write_columns(bits >> 1 | (bits & 1) << 7, &b);
    }
    open_store();
    if (bits == STATE && served->service.host.store != NULL) {
        // set aside, or it does what it can
        (void)local_status(served, "POST", "/v1/couplings/c-1/step", "{\"count\": 2}");
        (void)local_status(served, "GET", "/v1/couplings/c-1", NULL);
        (void)local_status(served, "POST", "/v1/couplings/c-1/reset", NULL);
    }
    // whatever was there: a store that is open takes an instance
    if (served->service.host.store != NULL) {
        const int status =
            local_status(served, "PUT", "/v1/instances/new",
                         "{\"example\": \"driven-oscillator\", \"durability\": \"every-step\"}");
        if (status != 201 && status != 507 && status != 409) {
            fuzz_fail("an instance is neither stored nor refused");
        }
    }
    close_store();
    return 0;
}
