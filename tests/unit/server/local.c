#include "tests/unit/server/local.h"

#include "protocol/wire/json.h"
#include "server/call/call.h"
#include "server/coupling/coupling.h"
#include "server/daemon/configuration.h"
#include "server/os/log.h"
#include "server/os/ticks.h"

#include <dirent.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS_MOST = 20000 };

static char socket_path[64];
static struct mechd *running; /* until local_stop */

const char *local_socket(void)
{
    return socket_path;
}

static void remove_socket(void)
{
    (void)unlink(socket_path);
}

/* What the program leaves running is ended before the libraries are: their objects end at exit too,
 * while its threads would still work with them. */
static void stop_running(void)
{
    (void)fflush(NULL);
    if (running != NULL) {
        local_stop(running);
    }
}

/* Whether every thread of this process but its first, which asks, waits for something. */
static bool all_wait(void)
{
    DIR *const tasks = opendir("/proc/self/task");
    bool wait = tasks != NULL;
    for (struct dirent *e; wait && (e = readdir(tasks)) != NULL;) {
        char path[300], state = 'S';
        (void)snprintf(path, sizeof path, "/proc/self/task/%s/stat", e->d_name);
        FILE *const stat = e->d_name[0] != '.' ? fopen(path, "r") : NULL;
        if (stat != NULL) {
            // the name of a thread is in parentheses, followed by its state
            wait = fscanf(stat, "%*d (%*[^)]) %c", &state) == 1;
            (void)fclose(stat);
        }
        wait = wait && (state == 'S' || atol(e->d_name) == (long)getpid());
    }
    if (tasks != NULL) {
        (void)closedir(tasks);
    }
    return wait;
}

/* A thread that has not run yet would begin in the middle of a test. */
static void let_begin(void)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int k = 0; k < LOOKS_MOST && !all_wait(); k++) {
        nanosleep(&nap, NULL); // steady: between two looks
    }
}

struct mechd *local_start(const char *state, const char *const *options)
{
    enum { MOST = 32 };
    char listen[80], fault[512];
    (void)snprintf(socket_path, sizeof socket_path, "/tmp/mechd-local-%d", (int)getpid());
    (void)snprintf(listen, sizeof listen, "unix:%s", socket_path);
    const char *const flags[] = {"mechd",
                                 "--listen",
                                 listen,
                                 "--control",
                                 "none",
                                 "--stream",
                                 "none",
                                 "--forces",
                                 "none",
                                 "--state",
                                 state ? state : "none",
                                 "--workers",
                                 "1",
                                 "--log-level",
                                 "error"};
    char *argv[MOST + 1] = {NULL};
    int argc = 0;
    for (size_t k = 0; k < sizeof flags / sizeof *flags; k++) {
        argv[argc++] = strdup(flags[k]);
    }
    while (options != NULL && *options != NULL && argc < MOST) {
        argv[argc++] = strdup(*options++);
    }
    struct mechd *d = calloc(1, sizeof *d);
    if (d == NULL || mechd_config_read(&d->service.config, argc, argv, fault, sizeof fault) != 0 ||
        mechd_daemon_start(d, fault, sizeof fault) != 0) {
        (void)fprintf(stderr, "the daemon cannot start: %s\n", fault);
        free(d);
        d = NULL;
    } else {
        static bool before;
        if (!before) {
            (void)atexit(remove_socket);
            (void)atexit(stop_running);
        }
        before = true;
        running = d;
        mechd_log_set_level((enum mechd_level)mechd_log_level_find(d->service.config.log_level));
        let_begin();
    }
    for (int k = 0; k < argc; k++) {
        free(argv[k]);
    }
    return d;
}

void local_stop(struct mechd *d)
{
    running = NULL;
    mechd_daemon_stop(d);
    free(d);
}

struct local {
    struct mechd_call call; /* first */
    sem_t answered;
};

static void answer(struct mechd_call *c)
{
    (void)sem_post(&((struct local *)c)->answered);
}

static void wait_for(struct mechd_job *job)
{
    (void)job;
}

/* The body of the request. 0, or refused. */
static int take_body(struct mechd_call *c, const struct local_request *r)
{
    struct mechp_json_fault fault;
    c->bytes = r->bytes;
    c->size = r->size;
    c->scope = r->scope;
    c->body_hash = 7;
    if (r->json != NULL &&
        mechp_json_parse(r->json, strlen(r->json), NULL, &fault, &c->body) != 0) {
        return mechd_refuse(c, fault.code, "%s", fault.text);
    }
    return 0;
}

/* An answer that is made while it is sent: its pieces behind one another. */
static void take_pieces(struct mechd_call *c)
{
    struct mechp_text all;
    enum mechd_piece piece = MECHD_PIECE_MORE;
    mechp_text_init(&all, NULL, 0);
    while (piece == MECHD_PIECE_MORE) {
        mechp_text_plain(&all, c->text.bytes, c->text.length);
        // the writer goes on behind what was sent
        c->text.length = 0;
        piece = c->produce(c);
    }
    all.failed = all.failed || piece == MECHD_PIECE_FAILED;
    mechp_text_fini(&c->text);
    c->text = all;
}

static void take_reply(struct mechd_call *c, struct local_reply *reply)
{
    if (c->code == MECHP_OK && c->produce != NULL) {
        take_pieces(c);
    }
    if (c->code != MECHP_OK) {
        mechp_text_fini(&c->text);
        mechp_text_init(&c->text, NULL, 0);
        mechd_call_problem(c, &c->text);
    }
    reply->status = mechd_call_status(c);
    // a door has nothing to send then, and ends the connection
    const bool silent = c->text.length == 0 && !c->text.failed;
    reply->text = mechp_text_take(&c->text, &reply->size);
    if (reply->text == NULL && !silent) {
        reply->status = 0;
    }
}

enum { LOCAL_PATH = 512 };

/* The route of a path, which may end with ?name=value; both are written into `room`, for as long as
 * the call lasts. 0, or -1: there is none. */
static int find_route(struct mechd_call *c, const struct local_request *request,
                      char room[LOCAL_PATH])
{
    (void)snprintf(room, LOCAL_PATH, "%s", request->path);
    char *const query = strchr(room, '?');
    if (query != NULL) {
        *query = '\0';
    }
    if (mechp_route_match(request->method, room, &c->match) != 0) {
        return -1;
    }
    char *const value = query != NULL ? strchr(query + 1, '=') : NULL;
    if (value != NULL) {
        *value = '\0';
    }
    const struct mechp_row *const row = mechd_call_row(c);
    for (int k = 0; value != NULL && k < mechp_query_count(row); k++) {
        if (strcmp(row->query[k].name, query + 1) == 0) {
            c->query[k] = value + 1;
        }
    }
    return 0;
}

int local_call(struct mechd *d, const struct local_request *request, struct local_reply *reply)
{
    char path[LOCAL_PATH];
    *reply = (struct local_reply){.status = 0};
    struct local *const l = calloc(1, sizeof *l);
    if (l == NULL) {
        reply->status = 503;
        return 0;
    }
    struct mechd_call *const c = &l->call;
    (void)sem_init(&l->answered, 0, 0);
    mechd_call_init(c, &d->service, MECHD_DOOR_HTTP);
    atomic_fetch_add(&d->service.in_flight, 1);
    c->answer = answer;
    c->job.wait = wait_for;
    const int code = find_route(c, request, path);
    if (code == 0) {
        c->operation = mechd_operation(c->service, c->match.route);
    }
    if (code == 0 && take_body(c, request) == 0 && mechd_call_admit(c) == 0 &&
        mechd_call_start(c) == MECHD_QUEUED) {
        while (sem_wait(&l->answered) != 0) {
        }
    }
    mechd_receipts_settle(&d->service.receipts, c);
    if (code == 0) {
        take_reply(c, reply);
    }
    mechd_call_fini(c);
    atomic_fetch_sub(&d->service.in_flight, 1);
    (void)sem_destroy(&l->answered);
    free(l);
    return code;
}

int local_status(struct mechd *d, const char *method, const char *path, const char *json)
{
    struct local_reply reply;
    const struct local_request r = {.method = method, .path = path, .json = json};
    if (local_call(d, &r, &reply) != 0) {
        return 0;
    }
    free(reply.text);
    return reply.status;
}

bool local_idle(struct mechd *d, int ms)
{
    const uint64_t until = mechd_now() + (uint64_t)ms * MECHD_MS;
    const struct timespec nap = {.tv_nsec = 50000};
    while (atomic_load(&d->service.in_flight) > 0) {
        if (mechd_now() > until) {
            return false;
        }
        nanosleep(&nap, NULL); // steady: between two looks
    }
    return true;
}

static void end_couplings(struct mechd *d)
{
    struct mechd_coupling **all = NULL;
    size_t count = 0;
    (void)mechd_coupling_list(d->service.couplings, &all, &count);
    for (size_t k = 0; k < count; k++) {
        char path[128];
        (void)snprintf(path, sizeof path, "/v1/couplings/%s", all[k]->face->id);
        (void)local_status(d, "DELETE", path, NULL);
        mechd_coupling_unref(all[k]);
    }
    free(all);
}

bool local_clear(struct mechd *d, int ms)
{
    end_couplings(d);
    struct mechd_instance **items = NULL;
    size_t count = 0;
    bool more = true;
    while (more && mechd_table_list(&d->service.host.table, 0, 100, &items, &count, &more) == 0) {
        for (size_t k = 0; k < count; k++) {
            char path[160];
            // its owner, if any, must release it
            (void)snprintf(path, sizeof path, "/v1/instances/%s/lease?of=owner", items[k]->id);
            (void)local_status(d, "DELETE", path, NULL);
            (void)snprintf(path, sizeof path, "/v1/instances/%s", items[k]->id);
            (void)local_status(d, "DELETE", path, NULL);
            mechd_instance_unref(items[k]);
        }
        free(items);
        items = NULL;
    }
    return local_idle(d, ms);
}
