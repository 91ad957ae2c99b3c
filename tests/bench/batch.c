/* Batches through the real daemon and a real socket: instance-steps a second of one request over
 * 1,000 instances of two coordinates, from the first byte sent to the last byte received, by the
 * wall clock. Beside them the same steps as one request an instance, which a batch stands in for.
 *
 *     bench-batch [--json] [--strict] [--quick]
 *
 * The daemon is build/server/mechd, found from the program's own place, with one worker a
 * processor. A median of many requests counts; without --strict a bar is broken beyond a margin of
 * two, since client, daemon and neighbours share the processors.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { INSTANCES = 1000, ROOM = 1 << 20, REPEATS = 101, ROWS = 8 };
static const double margin = 2.;

/* Two masses on springs: two coordinates, linear. */
static const char model[] =
    "{\"model\":{\"mechd\":1,\"name\":\"two\",\"objects\":[{\"name\":\"s\",\"type\":"
    "\"LagrangianLinearTIDS\",\"M\":{\"diag\":[1,1]},\"K\":[[200,-100],[-100,200]],"
    "\"q0\":[0.1,0],\"v0\":[0,0]}],\"sensors\":[{\"name\":\"q\",\"type\":\"SensorObject\","
    "\"object\":\"s\",\"outputVariable\":\"Coordinates\"}],\"outputs\":[{\"name\":\"q\","
    "\"sensor\":\"q\"}],\"solver\":{\"integrator\":\"MoreauJean\",\"stepSize\":0.001}}}";

static struct {
    pid_t daemon;
    char folder[64];
    int port, socket;
    bool json, strict, quick;
    int broken;
    char *body; /* [ROOM] */
    char *room; /* [ROOM] of requests and answers */
} bench;

static void fail(const char *what)
{
    (void)fprintf(stderr, "bench-batch: %s\n", what);
    if (bench.daemon > 0) {
        (void)kill(bench.daemon, SIGKILL);
    }
    exit(2);
}

static double now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* --- the daemon ------------------------------------------------------------------------------- */

static void start_daemon(void)
{
    char path[512], ready[128], own[512] = "";
    const ssize_t n = readlink("/proc/self/exe", own, sizeof own - 64);
    for (int k = 0; n > 0 && k < 3; k++) {
        char *const slash = strrchr(own, '/');
        if (slash == NULL) {
            fail("no place of its own");
        }
        *slash = '\0';
    }
    (void)snprintf(path, sizeof path, "%.440s/server/mechd", own);
    (void)snprintf(bench.folder, sizeof bench.folder, "/tmp/mechd-bench-XXXXXX");
    if (mkdtemp(bench.folder) == NULL) {
        fail("no folder");
    }
    (void)snprintf(ready, sizeof ready, "%s/ready", bench.folder);
    bench.daemon = fork();
    if (bench.daemon == 0) {
        const int null = open("/dev/null", O_WRONLY);
        (void)dup2(null, STDERR_FILENO);
        (void)execl(path, path, "--listen", "127.0.0.1:0", "--control", "none", "--stream", "none",
                    "--forces", "none", "--state", "none", "--ready-file", ready, (char *)NULL);
        _exit(127);
    }
    for (int tries = 0; bench.port == 0; tries++) {
        char text[1024] = "";
        FILE *f = fopen(ready, "r");
        if (f != NULL) {
            const size_t size = fread(text, 1, sizeof text - 1, f);
            text[size] = '\0';
            (void)fclose(f);
        }
        const char *const at = strstr(text, "127.0.0.1:");
        if (at != NULL && strchr(text, '}') != NULL) {
            bench.port = (int)strtol(at + strlen("127.0.0.1:"), NULL, 10);
        }
        if (tries > 5000 || waitpid(bench.daemon, NULL, WNOHANG) != 0) {
            fail("the daemon does not start");
        }
        const struct timespec nap = {.tv_nsec = 2000000};
        (void)nanosleep(&nap, NULL);
    }
}

static void stop_daemon(void)
{
    char ready[128];
    (void)kill(bench.daemon, SIGTERM);
    (void)waitpid(bench.daemon, NULL, 0);
    (void)snprintf(ready, sizeof ready, "%s/ready", bench.folder);
    (void)unlink(ready);
    (void)rmdir(bench.folder);
}

static void connect_daemon(void)
{
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)bench.port),
                                   .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int on = 1;
    bench.socket = socket(AF_INET, SOCK_STREAM, 0);
    if (bench.socket < 0 || connect(bench.socket, (const struct sockaddr *)&at, sizeof at) != 0 ||
        setsockopt(bench.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0) {
        fail("no connection");
    }
}

/* --- requests --------------------------------------------------------------------------------- */

static size_t form_request(char *out, const char *path, const char *body, const char *accept)
{
    return (size_t)snprintf(
        out, ROOM,
        "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        "Accept: %s\r\nContent-Length: %zu\r\n\r\n%s",
        path, accept, strlen(body), body);
}

static void send_all(const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = write(bench.socket, bytes, size);
        if (n <= 0) {
            fail("the connection is gone");
        }
        bytes += n;
        size -= (size_t)n;
    }
}

/* One answer; its status. The body begins at *body and has *size bytes. */
static int receive(char *room, const char **body, size_t *size)
{
    size_t got = 0;
    const char *end = NULL;
    size_t length = 0;
    while (end == NULL || got < (size_t)(end - room) + length) {
        const ssize_t n = read(bench.socket, room + got, ROOM - 1 - got);
        if (n <= 0) {
            fail("the answer is cut off");
        }
        got += (size_t)n;
        room[got] = '\0';
        if (end == NULL && (end = strstr(room, "\r\n\r\n")) != NULL) {
            const char *const at = strcasestr(room, "Content-Length:");
            end += 4;
            length = at != NULL ? (size_t)strtoul(at + 15, NULL, 10) : 0;
        }
    }
    *body = end;
    *size = length;
    return (int)strtol(room + 9, NULL, 10);
}

static void make_instances(void)
{
    const char *body = NULL;
    size_t size = 0;
    for (int k = 0; k < INSTANCES; k++) {
        const size_t n = form_request(bench.room, "/v1/instances", model, "*/*");
        send_all(bench.room, n);
        if (receive(bench.room, &body, &size) != 201) {
            fail(body);
        }
    }
}

/* --- what is measured ------------------------------------------------------------------------- */

struct kind {
    const char *what, *results, *accept;
    int count;  /* steps of each instance */
    double bar; /* instance-steps a second, 0: none */
};

static const char *form_batch(const struct kind *k)
{
    char *at = bench.body;
    at += sprintf(at,
                  "{\"operation\":\"step\",\"body\":{\"count\":%d},\"results\":\"%s\","
                  "\"instances\":[",
                  k->count, k->results);
    for (int i = 1; i <= INSTANCES; i++) {
        at += sprintf(at, i > 1 ? ",\"i-%d\"" : "\"i-%d\"", i);
    }
    (void)sprintf(at, "]}");
    return bench.body;
}

/* Seconds of one request over all instances. */
static double ask_batch(const struct kind *k, size_t size, const char *request)
{
    const char *body = NULL;
    size_t length = 0;
    const double from = now_ns();
    send_all(request, size);
    const int status = receive(bench.room, &body, &length);
    const double seconds = 1e-9 * (now_ns() - from);
    const bool rows = strcmp(k->accept, "*/*") != 0;
    if (status != 200 || (!rows && strstr(body, "\"failed\":0") == NULL) ||
        (rows && length != sizeof(double) * INSTANCES * 4)) {
        fail(body);
    }
    return seconds;
}

/* Seconds of a request an instance, eight on their way at a time. */
static double ask_each(const struct kind *k)
{
    const char *body = NULL;
    size_t length = 0;
    char text[64], path[64];
    (void)snprintf(text, sizeof text, "{\"count\":%d}", k->count);
    const double from = now_ns();
    for (int i = 1; i <= INSTANCES; i++) {
        (void)snprintf(path, sizeof path, "/v1/instances/i-%d/step", i);
        send_all(bench.room, form_request(bench.room, path, text, "*/*"));
        if (receive(bench.room, &body, &length) != 200) {
            fail(body);
        }
    }
    return 1e-9 * (now_ns() - from);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void measure(const struct kind *k)
{
    static double seconds[REPEATS];
    const int most = bench.quick ? REPEATS / 5 : REPEATS;
    const bool each = k->results == NULL;
    const int repeats = each ? most / 5 : most;
    char *request = malloc(ROOM);
    if (request == NULL) {
        fail("no memory");
    }
    const size_t size = each ? 0 : form_request(request, "/v1/batch", form_batch(k), k->accept);
    for (int r = -2; r < repeats; r++) {
        const double s = each ? ask_each(k) : ask_batch(k, size, request);
        seconds[r < 0 ? 0 : r] = s;
    }
    free(request);
    qsort(seconds, (size_t)repeats, sizeof *seconds, ascending);
    const double steps = (double)INSTANCES * k->count;
    const double rate = steps / seconds[repeats / 2], best = steps / seconds[0];
    const bool broken = k->bar > 0. && rate * (bench.strict ? 1. : margin) < k->bar;
    bench.broken += broken;
    if (bench.json) {
        printf("{\"what\":\"%s\",\"rate\":%.4g,\"best\":%.4g,\"bar\":%.4g}\n", k->what, rate, best,
               k->bar);
    } else {
        printf("%-44s %10.3g /s  best %10.3g", k->what, rate, best);
        printf(k->bar > 0. ? "  bar %8.3g%s\n" : "\n", k->bar, broken ? "  BROKEN" : "");
    }
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct kind kinds[] = {
        {"100 steps, full results", "full", "*/*", 100, 1e6},
        {"100 steps, a table", "table", "*/*", 100, 1e6},
        {"1 step, full results", "full", "*/*", 1, 2e5},
        {"1 step, a table", "table", "*/*", 1, 2e5},
        {"1 step, a table of float64", "table", "application/octet-stream", 1, 2e5},
        {"1 step, a request an instance", NULL, NULL, 1, 0.},
    };
    for (int i = 1; i < argc; i++) {
        bench.json = bench.json || strcmp(argv[i], "--json") == 0;
        bench.strict = bench.strict || strcmp(argv[i], "--strict") == 0;
        bench.quick = bench.quick || strcmp(argv[i], "--quick") == 0;
    }
    bench.body = malloc(ROOM);
    bench.room = malloc(ROOM);
    if (bench.body == NULL || bench.room == NULL) {
        fail("no memory");
    }
    start_daemon();
    connect_daemon();
    make_instances();
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        measure(&kinds[k]);
    }
    (void)close(bench.socket);
    stop_daemon();
    free(bench.body);
    free(bench.room);
    return bench.broken > 0 ? 1 : 0;
}
