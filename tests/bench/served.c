/* Processes and single calls of served.h. Programs are found beside this one: floors in its folder,
 * mechd in ../../server of it. */
#define _GNU_SOURCE /* memmem, strcasestr, sched_setaffinity */
#include "tests/bench/served.h"

#include <arpa/inet.h>
#include <errno.h>
#include <jansson.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PATH = 512, ARGUMENTS = 40, READY_SECONDS = 30, REPLY_FIRST = 1 << 16 };

void served_fail(const char *what, const char *detail)
{
    (void)fprintf(stderr, "%s: %s\n", what, detail);
    exit(2);
}

double served_thread_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

double served_now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* A path beside this program. */
static void beside(const char *name, char out[PATH])
{
    char self[PATH / 2];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0) {
        served_fail("/proc/self/exe", strerror(errno));
    }
    self[n] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(out, PATH, "%s/%s", self, name);
}

static void copy_member(const json_t *ready, const char *key, char *out, size_t size)
{
    const char *const text = json_string_value(json_object_get(ready, key));
    (void)snprintf(out, size, "%s", text != NULL ? text : "");
}

/* Wait for the ready file in its folder, and read it. */
static void wait_ready(struct served *s, double start)
{
    char path[PATH];
    (void)snprintf(path, sizeof path, "%s/ready", s->folder);
    const struct timespec nap = {.tv_nsec = 100000};
    while (access(path, R_OK) != 0) {
        if (waitpid(s->pid, NULL, WNOHANG) != 0) {
            served_fail(s->folder, "the server ended before it was ready");
        }
        if (served_now_ns() - start > READY_SECONDS * 1e9) {
            served_fail(s->folder, "the server is not ready in time");
        }
        (void)nanosleep(&nap, NULL);
    }
    s->ready_ns = served_now_ns() - start;
    json_t *const ready = json_load_file(path, 0, NULL);
    const char *const http = json_string_value(json_object_get(ready, "http"));
    if (http != NULL && strrchr(http, ':') != NULL) {
        s->port = (int)strtol(strrchr(http, ':') + 1, NULL, 10);
    }
    copy_member(ready, "control", s->control, sizeof s->control);
    copy_member(ready, "stream", s->stream, sizeof s->stream);
    json_decref(ready);
}

/* Where servers stay; empty: where this program may be. */
static cpu_set_t servers;

void served_apart(void)
{
    cpu_set_t mine;
    int last = CPU_SETSIZE - 1;
    if (sched_getaffinity(0, sizeof mine, &mine) != 0 || CPU_COUNT(&mine) < 2) {
        return;
    }
    while (!CPU_ISSET((unsigned)last, &mine)) {
        last--;
    }
    CPU_CLR((unsigned)last, &mine);
    if (sched_setaffinity(0, sizeof mine, &mine) == 0) {
        CPU_SET((unsigned)last, &servers);
    }
}

/* Start a program of this path; its arguments are closed by NULL. */
static void start(struct served *s, const char *program, const char *const *arguments)
{
    const double from = served_now_ns();
    (void)snprintf(s->host, sizeof s->host, "127.0.0.1");
    s->pid = fork();
    if (s->pid < 0) {
        served_fail(program, strerror(errno));
    }
    if (s->pid == 0) {
        char *argv[ARGUMENTS] = {strdup(program)};
        for (int n = 0; arguments[n] != NULL && n + 2 < ARGUMENTS; n++) {
            argv[n + 1] = strdup(arguments[n]);
        }
        // a benchmark that fails takes its servers with it
        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (CPU_COUNT(&servers) > 0) {
            (void)sched_setaffinity(0, sizeof servers, &servers);
        }
        (void)execv(program, argv);
        _exit(127);
    }
    wait_ready(s, from);
}

static void make_folder(struct served *s)
{
    (void)snprintf(s->folder, sizeof s->folder, "/tmp/mechd-bench-XXXXXX");
    if (mkdtemp(s->folder) == NULL) {
        served_fail(s->folder, strerror(errno));
    }
    (void)snprintf(s->path, sizeof s->path, "%s/http", s->folder);
}

void served_mechd(struct served *s, const char *const *more)
{
    char program[PATH], ready[PATH], local[PATH];
    *s = (struct served){.pid = 0};
    make_folder(s);
    beside("../../server/mechd", program);
    (void)snprintf(ready, sizeof ready, "%s/ready", s->folder);
    (void)snprintf(local, sizeof local, "unix:%s", s->path);
    const char *arguments[ARGUMENTS] = {"--listen",     "127.0.0.1:0",
                                        "--listen",     local,
                                        "--control",    "tcp://127.0.0.1:*",
                                        "--stream",     "tcp://127.0.0.1:*",
                                        "--forces",     "tcp://127.0.0.1:*",
                                        "--state",      "none",
                                        "--workers",    "2",
                                        "--log-level",  "warning",
                                        "--ready-file", ready};
    int n = 18;
    for (; more != NULL && *more != NULL && n + 1 < ARGUMENTS; more++) {
        arguments[n++] = *more;
    }
    start(s, program, arguments);
}

void served_floor(struct served *s, const char *name, const char *const *arguments)
{
    char program[PATH], ready[PATH];
    *s = (struct served){.pid = 0};
    make_folder(s);
    beside(name, program);
    (void)snprintf(ready, sizeof ready, "%s/ready", s->folder);
    const char *all[ARGUMENTS] = {ready, s->path};
    for (int n = 0; arguments[n] != NULL && n + 3 < ARGUMENTS; n++) {
        all[n + 2] = arguments[n];
    }
    start(s, program, all);
}

/* A port that is free now. */
static int free_port(void)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof in;
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&in, size) != 0 ||
        getsockname(fd, (struct sockaddr *)&in, &size) != 0) {
        served_fail("a free port", strerror(errno));
    }
    (void)close(fd);
    return ntohs(in.sin_port);
}

bool served_nginx(struct served *s, const char *reply)
{
    static const char *const places[] = {"/usr/sbin/nginx", "/usr/bin/nginx",
                                         "/usr/local/sbin/nginx"};
    static const char *const kinds[] = {"client_body", "proxy", "fastcgi", "uwsgi", "scgi"};
    char path[PATH];
    int k = 0;
    while (k < 3 && access(places[k], X_OK) != 0) {
        k++;
    }
    if (k == 3) {
        return false;
    }
    if (strpbrk(reply, "'\\$") != NULL) {
        served_fail("nginx", "the text of its answer would need escapes");
    }
    *s = (struct served){.pid = 0};
    make_folder(s);
    s->port = free_port();
    (void)snprintf(path, sizeof path, "%s/nginx.conf", s->folder);
    FILE *const f = fopen(path, "w");
    if (f == NULL) {
        served_fail(path, strerror(errno));
    }
    // its workers keep the user; the file of its process is there once it listens
    (void)fprintf(f,
                  "%sdaemon off; worker_processes 2; pid %s/ready; error_log stderr crit;\n"
                  "events { worker_connections 4096; }\nhttp { access_log off;\n"
                  "default_type application/json; keepalive_requests 1000000000;\n",
                  geteuid() == 0 ? "user root; " : "", s->folder);
    for (int i = 0; i < 5; i++) {
        (void)fprintf(f, "%s_temp_path %s/files;\n", kinds[i], s->folder);
    }
    (void)fprintf(f, "server { listen 127.0.0.1:%d; location / { return 200 '%s'; } } }\n", s->port,
                  reply);
    if (fclose(f) != 0) {
        served_fail(path, strerror(errno));
    }
    const char *const arguments[] = {"-c", path, "-e", "stderr", NULL};
    start(s, places[k], arguments);
    return true;
}

void served_stop(struct served *s)
{
    static const char *const files[] = {"ready", "nginx.conf"};
    char path[PATH];
    (void)kill(s->pid, SIGTERM);
    (void)waitpid(s->pid, NULL, 0);
    for (int k = 0; k < 2; k++) {
        (void)snprintf(path, sizeof path, "%s/%s", s->folder, files[k]);
        (void)unlink(path);
    }
    (void)snprintf(path, sizeof path, "%s/files", s->folder);
    (void)rmdir(path);
    (void)unlink(s->path);
    (void)rmdir(s->folder);
}

int served_connect(const struct served *s, bool local)
{
    const struct sockaddr_in in = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)s->port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    memcpy(un.sun_path, s->path, sizeof s->path);
    const int on = 1;
    const int fd = socket(local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int done = local ? connect(fd, (const struct sockaddr *)&un, sizeof un)
                           : connect(fd, (const struct sockaddr *)&in, sizeof in);
    if (fd < 0 || done != 0) {
        served_fail("connect", strerror(errno));
    }
    if (!local) {
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    return fd;
}

static void send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t n = send(fd, bytes, size, MSG_NOSIGNAL);
        if (n <= 0) {
            served_fail("send", strerror(errno));
        }
        bytes += n;
        size -= (size_t)n;
    }
}

int served_send(const struct served *s, const char *method, const char *path, const char *body)
{
    char head[PATH];
    const size_t size = body != NULL ? strlen(body) : 0;
    const int n = snprintf(head, sizeof head,
                           "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                           "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
                           method, path, size);
    const int fd = served_connect(s, false);
    send_all(fd, head, (size_t)n);
    send_all(fd, body != NULL ? body : "", size);
    return fd;
}

void served_call(const struct served *s, const char *method, const char *path, const char *body,
                 struct served_reply *reply)
{
    const double from = served_now_ns();
    const int fd = served_send(s, method, path, body);

    // to the end of the connection
    size_t room = REPLY_FIRST, got = 0;
    char *bytes = malloc(room + 1);
    for (ssize_t more = 1; more > 0 && bytes != NULL;) {
        more = recv(fd, bytes + got, room - got, 0);
        got += more > 0 ? (size_t)more : 0;
        if (got == room) {
            room *= 2;
            bytes = realloc(bytes, room + 1);
        }
    }
    (void)close(fd);
    reply->ns = served_now_ns() - from;
    char *const end = bytes != NULL ? memmem(bytes, got, "\r\n\r\n", 4) : NULL;
    if (end == NULL) {
        served_fail(path, "no answer");
    }
    bytes[got] = '\0';
    reply->status = (int)strtol(bytes + 9, NULL, 10);
    reply->size = got - (size_t)(end + 4 - bytes);
    memmove(bytes, end + 4, reply->size + 1);
    reply->body = bytes;
}

void served_drop(int connection)
{
    (void)close(connection);
}

void served_expect(const struct served *s, const char *method, const char *path, const char *body,
                   int status)
{
    struct served_reply reply;
    served_call(s, method, path, body, &reply);
    if (reply.status != status) {
        served_fail(path, reply.body);
    }
    free(reply.body);
}

void served_couple(const struct served *s, const char *body, char *path)
{
    struct served_reply reply;
    served_call(s, "POST", "/v1/couplings", body, &reply);
    const char *const id = strstr(reply.body, "\"c-");
    if (reply.status != 201 || id == NULL) {
        served_fail("coupling", reply.body);
    }
    (void)snprintf(path, 64, "/v1/couplings/%.*s/step", (int)strcspn(id + 1, "\""), id + 1);
    free(reply.body);
}

double served_cpu_ns(const struct served *s)
{
    clockid_t clock;
    struct timespec t = {0, 0};
    if (clock_getcpuclockid(s->pid, &clock) != 0 || clock_gettime(clock, &t) != 0) {
        served_fail("clock_getcpuclockid", "the process has gone");
    }
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

double served_resident(const struct served *s)
{
    char path[PATH];
    long pages = 0, resident = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)s->pid);
    FILE *const file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%ld %ld", &pages, &resident) != 2) {
        served_fail(path, "cannot be read");
    }
    (void)fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE);
}
