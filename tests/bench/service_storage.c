/* Steps that are on the disk before they are answered (--durability every-step), over 1 to 64
 * connections with an instance each, beside a write of as many bytes by this program, each followed
 * by fdatasync, into a file of 4 MiB that is written again and again, as the log of the database
 * is. Both files are below /var/tmp. A unit is a request on each connection, or a write for each.
 * A row "family: N" is a point of a plot of book.py; no row has a bar. By the wall.
 */
#define _GNU_SOURCE /* pwrite */
#include "tests/bench/bench.h"
#include "tests/bench/load.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME = 64, PATH = 96, LOG = 4 << 20, LOOK = 300, MOST = 64 };

struct bare {
    int fd, requests; /* of a unit */
    off_t at;
    size_t size;
    char *bytes;
};

static double wall(const void *context)
{
    (void)context;
    return served_now_ns();
}

/* a request on each connection */
static void ask(void *load, uint64_t count)
{
    load_run(load, count * (uint64_t)((const struct load *)load)->count);
}

static void write_and_sync(void *bare, uint64_t count)
{
    struct bare *const b = bare;
    for (count *= (uint64_t)b->requests; count > 0; count--) {
        if (pwrite(b->fd, b->bytes, b->size, b->at) != (ssize_t)b->size || fdatasync(b->fd) != 0) {
            served_fail("write and fdatasync", strerror(errno));
        }
        b->at = b->at + 2 * (off_t)b->size > LOG ? 0 : b->at + (off_t)b->size;
    }
}

/* Bytes that the process has written so far, sockets not counted. */
static double written(const struct served *s)
{
    char path[PATH];
    unsigned long long bytes = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/io", (int)s->pid);
    FILE *const f = fopen(path, "r");
    if (f == NULL || fscanf(f, "rchar: %*u wchar: %llu", &bytes) != 1) {
        served_fail(path, "cannot be read");
    }
    (void)fclose(f);
    return (double)bytes;
}

static struct load *open_load(const struct served *daemon, int count)
{
    struct load *const l = calloc(1, sizeof *l);
    if (l == NULL) {
        served_fail("load", "no memory");
    }
    load_open(l, daemon, false, count);
    for (int k = 0; k < count; k++) {
        char path[PATH];
        (void)snprintf(path, sizeof path, "/v1/instances/two-%d/step", k);
        load_request(l, k, "POST", path, "{\"count\": 1}");
    }
    return l;
}

static void close_load(struct load *l)
{
    load_close(l);
    free(l);
}

/* A file of the size of the log, and as many bytes as a stored step writes. */
static void bare_open(struct bare *b, const char *folder, const struct served *daemon)
{
    char path[PATH];
    struct load *const l = open_load(daemon, 1);
    load_run(l, 1);
    const double before = written(daemon);
    load_run(l, LOOK);
    b->size = (size_t)((written(daemon) - before) / LOOK);
    close_load(l);
    bench_tell_value("bytes that a stored step writes", (double)b->size);
    b->at = 0;
    b->bytes = calloc(1, LOG);
    (void)snprintf(path, sizeof path, "%s/bare", folder);
    b->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (b->size == 0 || b->size > LOG || b->bytes == NULL || b->fd < 0 ||
        pwrite(b->fd, b->bytes, LOG, 0) != LOG || fdatasync(b->fd) != 0) {
        served_fail(path, "cannot be written");
    }
    (void)unlink(path);
}

static void remove_files(const char *folder)
{
    static const char *const names[] = {"mechd.sqlite", "mechd.sqlite-wal", "mechd.sqlite-shm",
                                        "lock"};
    char path[PATH];
    for (int k = 0; k < 4; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        (void)unlink(path);
    }
    if (rmdir(folder) != 0) {
        served_fail(folder, strerror(errno));
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/var/tmp/mechd-bench-XXXXXX";
    struct served daemon;
    struct bare bare;
    bench_begin("service-storage", argc, argv);
    bench_time_by(wall);
    if (mkdtemp(folder) == NULL) {
        served_fail(folder, strerror(errno));
    }
    // the last of an option counts
    const char *const more[] = {"--state", folder, "--durability", "every-step", NULL};
    served_mechd(&daemon, more);
    for (int k = 0; k < MOST; k++) {
        char path[PATH];
        (void)snprintf(path, sizeof path, "/v1/instances/two-%d", k);
        served_expect(&daemon, "PUT", path, bench_model, 201);
    }
    bare_open(&bare, folder, &daemon);
    for (int n = 1; n <= MOST; n *= 2) {
        char name[NAME];
        (void)snprintf(name, sizeof name, "connections with stored steps: %d", n);
        struct load *const l = open_load(&daemon, n);
        bare.requests = n;
        bench_coordinates(n);
        bench_beside(bench_text(name), ask, l, write_and_sync, &bare);
        close_load(l);
    }
    (void)close(bare.fd);
    free(bare.bytes);
    served_stop(&daemon);
    remove_files(folder);
    return bench_end();
}
