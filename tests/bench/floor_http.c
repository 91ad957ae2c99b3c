/* What libmicrohttpd and jansson cost without a daemon around them: a server that takes a POST with
 * a JSON object in its body, parses it, and answers with the JSON that it was given and as many
 * headers as mechd sends. The answer is a text that stands ready (`text`), or a tree made for each
 * request and printed by jansson (`tree`). Flags, pool of threads, time limits and the memory of a
 * connection, which libmicrohttpd clears for each request, are those of server/http/http.c. With a
 * model a request also steps simulations by the library: GROUPS groups of COUNT of them take turns,
 * each simulation makes STEPS steps and its outputs are read; THREADS is 1 then.
 *
 *     floor-http READY-FILE SOCKET THREADS text|tree REPLY|@FILE [MODEL GROUPS COUNT STEPS]
 *
 * Serves a free port of 127.0.0.1 and the Unix socket until SIGTERM.
 */
#include "tests/bench/floor_life.h"

#include <arpa/inet.h>
#include <jansson.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
    BODY = 1 << 16,
    OUTPUTS = 8,
    CONNECTION_MEMORY = 16 << 10,
    CONNECTIONS = 4096,
    IDLE_SECONDS = 60
};

struct request {
    size_t size;
    char body[BODY];
};

/* every answer; set before the doors open */
struct answer {
    const char *text;
    size_t size;
    json_t *tree;           /* or NULL */
    struct mech_sim **sims; /* groups × count of them, or NULL */
    size_t groups, count, turn;
    uint64_t steps;
};

/* Step the group whose turn it is. */
static void step_group(struct answer *a)
{
    const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = a->steps};
    struct mech_step_report report;
    double values[OUTPUTS];
    for (size_t k = 0; k < a->count; k++) {
        struct mech_sim *const sim = a->sims[a->turn * a->count + k];
        if (mech_sim_step(sim, &request, &report) != 0) {
            (void)fprintf(stderr, "floor-http: a step failed: %s\n", report.reason);
            exit(2);
        }
        mech_sim_get_outputs(sim, values);
    }
    a->turn = (a->turn + 1) % a->groups;
}

/* The answer's text as memory that libmicrohttpd frees or copies. */
static struct MHD_Response *make_response(const struct answer *a)
{
    if (a->tree == NULL) {
        return MHD_create_response_from_buffer(a->size, (void *)(uintptr_t)a->text,
                                               MHD_RESPMEM_MUST_COPY);
    }
    json_t *const tree = json_deep_copy(a->tree);
    char *const text = json_dumps(tree, JSON_COMPACT);
    json_decref(tree);
    return text == NULL
               ? NULL
               : MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result answer(struct MHD_Connection *connection, struct answer *a,
                              const struct request *r)
{
    json_error_t error;
    json_t *const body = json_loadb(r->body, r->size, JSON_REJECT_DUPLICATES, &error);
    const unsigned status = json_is_object(body) ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST;
    json_decref(body);
    if (a->sims != NULL) {
        step_group(a);
    }
    struct MHD_Response *const response = make_response(a);
    if (response == NULL) {
        return MHD_NO;
    }
    MHD_add_response_header(response, "Content-Type", "application/json");
    MHD_add_response_header(response, "ETag", "\"65f0c1d2a0000001.1234567\"");
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "traceparent",
                            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result floor_handle(void *context, struct MHD_Connection *connection,
                                    const char *url, const char *method, const char *version,
                                    const char *upload, size_t *upload_size, void **state)
{
    struct request *r = *state;
    (void)url;
    (void)method;
    (void)version;
    if (r == NULL) {
        r = malloc(sizeof *r);
        if (r == NULL) {
            return MHD_NO;
        }
        r->size = 0;
        *state = r;
        return MHD_YES;
    }
    if (*upload_size > 0) {
        if (*upload_size > BODY - r->size) {
            return MHD_NO;
        }
        memcpy(r->body + r->size, upload, *upload_size);
        r->size += *upload_size;
        *upload_size = 0;
        return MHD_YES;
    }
    return answer(connection, context, r);
}

static void completed(void *context, struct MHD_Connection *connection, void **state,
                      enum MHD_RequestTerminationCode why)
{
    (void)context;
    (void)connection;
    (void)why;
    free(*state);
    *state = NULL;
}

static int listen_at(const struct sockaddr *address, socklen_t size)
{
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, address, size) != 0 || listen(fd, SOMAXCONN) != 0) {
        perror("floor-http");
        exit(2);
    }
    return fd;
}

static void serve(int fd, unsigned threads, struct answer *a)
{
    if (MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC, 0,
                         NULL, NULL, floor_handle, a, MHD_OPTION_LISTEN_SOCKET, fd,
                         MHD_OPTION_THREAD_POOL_SIZE, threads, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT,
                         (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
                         (unsigned)IDLE_SECONDS, MHD_OPTION_STRICT_FOR_CLIENT, 1,
                         MHD_OPTION_NOTIFY_COMPLETED, completed, NULL, MHD_OPTION_END) == NULL) {
        (void)fprintf(stderr, "floor-http: libmicrohttpd does not start\n");
        exit(2);
    }
}

/* The answer: itself, or behind @ the file that contains it. */
static const char *answer_text(const char *argument)
{
    static char text[1 << 21];
    FILE *const file = argument[0] == '@' ? fopen(argument + 1, "r") : NULL;
    if (file == NULL) {
        return argument;
    }
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    (void)fclose(file);
    return text;
}

static void make_sims(struct answer *a, char *const *arguments)
{
    a->groups = strtoul(arguments[1], NULL, 10);
    a->count = strtoul(arguments[2], NULL, 10);
    a->steps = strtoul(arguments[3], NULL, 10);
    a->sims = calloc(a->groups * a->count, sizeof *a->sims);
    for (size_t k = 0; a->sims != NULL && k < a->groups * a->count; k++) {
        a->sims[k] = floor_sim(arguments[0], 0, OUTPUTS);
    }
}

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 10) {
        (void)fprintf(stderr, "usage: floor-http READY-FILE SOCKET THREADS text|tree REPLY "
                              "[MODEL GROUPS COUNT STEPS]\n");
        return 2;
    }
    floor_begin();

    // both listeners
    struct answer a = {.text = answer_text(argv[5])};
    a.size = strlen(a.text);
    a.tree = strcmp(argv[4], "tree") == 0 ? json_loads(a.text, 0, NULL) : NULL;
    const unsigned threads = (unsigned)strtoul(argv[3], NULL, 10);
    if (argc == 10) {
        make_sims(&a, argv + 6);
    }
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    (void)snprintf(un.sun_path, sizeof un.sun_path, "%s", argv[2]);
    const int tcp = listen_at((const struct sockaddr *)&in, sizeof in);
    socklen_t size = sizeof in;
    (void)getsockname(tcp, (struct sockaddr *)&in, &size);
    serve(tcp, threads, &a);
    serve(listen_at((const struct sockaddr *)&un, sizeof un), threads, &a);

    char where[64];
    (void)snprintf(where, sizeof where, "{\"http\": \"http://127.0.0.1:%d\"}", ntohs(in.sin_port));
    return floor_live_on(argv[1], where);
}
