/* ZeroMQ of the daemon, through real sockets, against bare ZeroMQ sockets that carry the same
 * bytes (floor_zmq.c); the same client asks both in turns.
 *
 * A free run of a model with 1,000 outputs streams beside bare sockets that carry any numbers,
 * from thread to thread or from the thread that makes them, or the same behind the same steps,
 * made by the library; a unit is a frame received. A step as a binary frame and as JSON runs
 * beside a message of that size sent back, by the clock and by the CPU time of the servers.
 * Starting and stopping a run is not counted. Frames made, received and lost are counted from the
 * sequence in the frames. Answer times of a partner are printed alone and beside another one that
 * sends bodies of 1.5 MB without end.
 */
#include "protocol/frame/frame.h"
#include "tests/bench/bench.h"
#include "tests/bench/model.h"
#include "tests/bench/served.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

enum { VALUES = 1000, FIRST = 200, WAIT_MS = 10000, QUIET_MS = 20 };

static const char topic[] = "state/wide/";

/* one side of a comparison; its clock stands still between the turns */
struct side {
    const struct served *server;
    void *socket;
    double ns;
    bool runs;                         /* frames come from a run of the daemon */
    uint64_t sequence, made, received; /* of its frames, counted from gaps */
    struct mechp_frame frame;
    const char *request; /* JSON, or NULL: the frame */
    size_t size;         /* of a request that is sent back */
};

static double own_clock(const void *side)
{
    return ((const struct side *)side)->ns;
}

static void *open_socket(void *context, int type, const char *endpoint)
{
    const int wait = WAIT_MS, linger = 0;
    void *const socket = zmq_socket(context, type);
    zmq_setsockopt(socket, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_setsockopt(socket, ZMQ_LINGER, &linger, sizeof linger);
    if (zmq_connect(socket, endpoint) != 0) {
        served_fail(endpoint, zmq_strerror(zmq_errno()));
    }
    return socket;
}

static double processor(const void *side)
{
    return served_cpu_ns(((const struct side *)side)->server);
}

/* --- the stream ------------------------------------------------------------------------------- */

/* A frame with its topic; its sequence, of a frame of the daemon. */
static uint64_t take_frame(void *socket)
{
    static char bytes[64 + 8 * VALUES];
    const int head = zmq_recv(socket, bytes, sizeof bytes, 0);
    const int size = head < 0 ? -1 : zmq_recv(socket, bytes, sizeof bytes, 0);
    if (size != (int)sizeof bytes) {
        served_fail("stream", size < 0 ? "no frame comes" : "a frame of another size");
    }
    uint64_t sequence = 0;
    memcpy(&sequence, bytes + 24, sizeof sequence);
    return sequence;
}

static void begin_stream(struct side *s)
{
    if (s->runs) {
        served_expect(s->server, "POST", "/v1/instances/wide/runs",
                      "{\"until\": 1e9, \"period\": 0.001}", 202);
    } else {
        zmq_setsockopt(s->socket, ZMQ_SUBSCRIBE, topic, sizeof topic - 1);
    }
}

static void end_run(const struct served *server)
{
    static int run;
    char path[64];
    (void)snprintf(path, sizeof path, "/v1/instances/wide/runs/r-%d", ++run);
    served_expect(server, "DELETE", path, NULL, 200);
}

/* The end, and all frames that are still on their way. */
static void end_stream(struct side *s)
{
    if (s->runs) {
        end_run(s->server);
    } else {
        zmq_setsockopt(s->socket, ZMQ_UNSUBSCRIBE, topic, sizeof topic - 1);
    }
    zmq_pollitem_t item = {.socket = s->socket, .events = ZMQ_POLLIN};
    while (zmq_poll(&item, 1, QUIET_MS) > 0) {
        take_frame(s->socket);
    }
}

static void receive(void *side, uint64_t count)
{
    struct side *const s = side;
    begin_stream(s);
    for (int k = 0; k < FIRST; k++) {
        s->sequence = take_frame(s->socket);
    }
    const double from = served_now_ns();
    for (uint64_t k = 0; k < count; k++) {
        const uint64_t sequence = take_frame(s->socket);
        // one that comes again counts neither way
        if (sequence > s->sequence) {
            s->made += sequence - s->sequence;
            s->received++;
            s->sequence = sequence;
        }
    }
    s->ns += served_now_ns() - from;
    end_stream(s);
}

/* 1,000 free coordinates, which are the output: the model of that many outputs that costs least. */
static const char *wide_model(void)
{
    static char model[8 * VALUES];
    char ones[2 * VALUES + 1] = "1";
    for (int k = 1; k < VALUES; k++) {
        memcpy(ones + 2 * k - 1, ",1", 3);
    }
    const int n = snprintf(
        model, sizeof model,
        "{\"mechd\": 1, \"nodes\": [{\"name\": \"n\", \"type\": "
        "\"NodeGenericODE2\", \"referenceCoordinates\": [%s]}], \"objects\": [{\"name\": \"o\", "
        "\"type\": \"GenericODE2\", \"nodes\": [\"n\"], \"massMatrix\": {\"diag\": [%s]}}], "
        "\"sensors\": [{\"name\": \"at\", \"type\": \"SensorNode\", \"node\": \"n\", "
        "\"outputVariable\": \"Coordinates\"}], \"outputs\": [{\"name\": \"q\", \"sensor\": "
        "\"at\"}], \"solver\": {\"integrator\": \"VelocityVerlet\", \"stepSize\": 0.001}}",
        ones, ones);
    if (n < 0 || (size_t)n >= sizeof model) {
        served_fail("model", "does not fit");
    }
    return model;
}

static void make_wide(const struct served *daemon)
{
    static char body[8 * VALUES + 64];
    (void)snprintf(body, sizeof body, "{\"model\": %s}", wide_model());
    served_expect(daemon, "PUT", "/v1/instances/wide", body, 201);
}

static void compare_streams(void *context, const struct served *daemon, const struct served *floor,
                            const char *what)
{
    struct side ours = {
        .server = daemon, .socket = open_socket(context, ZMQ_SUB, daemon->stream), .runs = true};
    struct side bare = {.server = floor, .socket = open_socket(context, ZMQ_SUB, floor->stream)};
    zmq_setsockopt(ours.socket, ZMQ_SUBSCRIBE, topic, sizeof topic - 1);
    bench_beside(what, receive, &ours, receive, &bare);
    (void)fprintf(stderr, "%s: %llu frames made, %llu received, %llu lost\n", what,
                  (unsigned long long)ours.made, (unsigned long long)ours.received,
                  (unsigned long long)(ours.made - ours.received));
    bench_tell_value("  frames made for one received", (double)ours.made / (double)ours.received);
    zmq_close(ours.socket);
    zmq_close(bare.socket);
}

/* --- losses ----------------------------------------------------------------------------------- */

enum { LOSS_FRAMES = 20000, SLOW_EACH = 50 };

/* A subscriber, and what it has seen. */
struct reader {
    const char *name;
    void *socket;
    uint64_t first, last, received;
};

/* Take a frame of a reader that has one, or waits for one. */
static void read_one(struct reader *r)
{
    const uint64_t sequence = take_frame(r->socket);
    if (sequence > r->last) {
        r->first = r->first == 0 ? sequence : r->first;
        r->last = sequence;
        r->received++;
    }
}

/* All that comes until it is quiet for a second: the daemon looks five times in it. */
static void read_rest(struct reader *r)
{
    zmq_pollitem_t item = {.socket = r->socket, .events = ZMQ_POLLIN};
    while (zmq_poll(&item, 1, 1000) > 0) {
        read_one(r);
    }
}

/* The numbers of a metric by subscriber, the larger one first; how many there are. */
static int read_metric(const char *text, const char *name, double out[2])
{
    char start[96];
    const int n = snprintf(start, sizeof start, "\n%s{", name);
    int count = 0;
    for (const char *at = strstr(text, start); at != NULL && count < 2; count++) {
        const char *const end = strstr(at + n, "} ");
        out[count] = end != NULL ? strtod(end + 2, NULL) : -1;
        at = strstr(at + n, start);
    }
    if (count == 2 && out[0] < out[1]) {
        const double larger = out[1];
        out[1] = out[0];
        out[0] = larger;
    }
    return count;
}

/* A free run beside a subscriber that reads all and one that reads each fiftieth: sent, received,
 * lost, by the sequence and by the daemon's counters, which must agree. */
static void tell_losses(void *context, const struct served *daemon)
{
    static const int few = 10, small = 1 << 16;
    struct reader fast = {.name = "fast", .socket = open_socket(context, ZMQ_SUB, daemon->stream)};
    struct reader slow = {.name = "slow", .socket = zmq_socket(context, ZMQ_SUB)};
    zmq_setsockopt(slow.socket, ZMQ_RCVHWM, &few, sizeof few);
    zmq_setsockopt(slow.socket, ZMQ_RCVBUF, &small, sizeof small);
    struct reader *const both[] = {&slow, &fast};
    zmq_connect(slow.socket, daemon->stream);
    served_expect(daemon, "POST", "/v1/instances/wide/step", "{\"count\": 1}", 200);
    // a frame for both at either end, so that what lies between them is known; one subscription
    // after the other: a frame sent while one arrives is not counted (server/zmq/readers.h)
    for (int k = 0; k < 2; k++) {
        zmq_setsockopt(both[k]->socket, ZMQ_SUBSCRIBE, topic, sizeof topic - 1);
        read_one(both[k]); // the last one again
        read_rest(both[k]);
    }
    struct side run = {.server = daemon, .socket = fast.socket, .runs = true};
    begin_stream(&run);
    for (int k = 0; k < LOSS_FRAMES; k++) {
        read_one(&fast);
        if (k % SLOW_EACH == 0) {
            read_one(&slow);
        }
    }
    end_run(daemon);
    read_rest(&fast);
    read_rest(&slow);
    served_expect(daemon, "POST", "/v1/instances/wide/step", "{\"count\": 1}", 200);
    read_rest(&fast);
    read_rest(&slow);

    struct served_reply page;
    served_call(daemon, "GET", "/metrics", NULL, &page);
    double lost[2] = {-1, -1};
    const int count = read_metric(page.body, "mechd_stream_lost_frames_total", lost);
    free(page.body);
    for (int k = 0; k < 2; k++) {
        const struct reader *const r = both[k];
        const uint64_t sent = r->last - r->first + 1;
        (void)fprintf(stderr,
                      "%s subscriber: %llu frames sent, %llu received, %llu lost; "
                      "counter %.0f\n",
                      r->name, (unsigned long long)sent, (unsigned long long)r->received,
                      (unsigned long long)(sent - r->received), lost[k]);
        if (count != 2 || lost[k] != (double)(sent - r->received)) {
            served_fail("frames lost", "the daemon counts others than the subscriber");
        }
        zmq_close(r->socket);
    }
}

/* --- requests --------------------------------------------------------------------------------- */

static void say_hello(struct side *s)
{
    static const char hello[] = "{\"instance\": \"two\", \"outputs\": [\"x1\", \"x2\"]}";
    const struct mechp_frame frame = {.kind = MECHP_HELLO};
    char bytes[4096];
    struct mechp_frame reply;
    mechp_frame_write(&frame, bytes);
    zmq_send(s->socket, bytes, MECHP_FRAME_HEADER, ZMQ_SNDMORE);
    zmq_send(s->socket, hello, sizeof hello - 1, 0);
    const int n = zmq_recv(s->socket, bytes, sizeof bytes, 0);
    if (n < 0 || mechp_frame_read(bytes, (size_t)n, &reply) != 0 || reply.kind != MECHP_HELLO) {
        served_fail("hello", "refused");
    }
    zmq_recv(s->socket, bytes, sizeof bytes, 0);
    s->frame = (struct mechp_frame){
        .kind = MECHP_STEP, .instance = reply.instance, .size = 0.001, .lease = reply.lease};
}

/* One request after the other. */
static void ask(void *side, uint64_t count)
{
    struct side *const s = side;
    char bytes[1024] = "";
    const double from = served_now_ns();
    for (uint64_t k = 0; k < count; k++) {
        size_t size = s->size;
        const void *what = s->request != NULL ? (const void *)s->request : bytes;
        if (s->size == 0) {
            s->frame.sequence++;
            mechp_frame_write(&s->frame, bytes);
            size = s->request != NULL ? strlen(s->request) : MECHP_FRAME_HEADER;
        }
        zmq_send(s->socket, what, size, 0);
        const int n = zmq_recv(s->socket, bytes, sizeof bytes, 0);
        struct mechp_frame reply;
        if (n < 0 ||
            (s->size == 0 && s->request == NULL &&
             (mechp_frame_read(bytes, (size_t)n, &reply) != 0 || reply.kind != MECHP_STEP))) {
            served_fail("step", "no answer, or an error");
        }
    }
    s->ns += served_now_ns() - from;
}

/* --- a neighbour that sends large bodies ------------------------------------------------------ */

/* steps at most, bodies of so many numbers that are answered meanwhile, so many on their way */
enum { ASKED = 100000, ALONE = 4000, BODIES = 30, NUMBERS = 750000, AT_ONCE = 4 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Another partner, and what it sends again for each answer that has come. */
struct neighbour {
    void *socket;
    char *body;
    size_t size;
    int answered;
};

/* `[1,1,…]` of 1.5 MB where a model has no such member: it is read, and refused. */
static void begin_neighbour(struct neighbour *n, void *socket)
{
    static const char head[] = "{\"op\": \"check\", \"model\": {\"mechd\": 1, \"x\": [1";
    static const char tail[] = "]}}";
    *n = (struct neighbour){.socket = socket, .size = sizeof head + 2 * NUMBERS + sizeof tail - 4};
    char *at = n->body = malloc(n->size);
    if (at == NULL) {
        served_fail("neighbour", "no memory");
    }
    memcpy(at, head, sizeof head - 1);
    at += sizeof head - 1;
    for (int k = 1; k < NUMBERS; k++) {
        *at++ = ',';
        *at++ = '1';
    }
    memcpy(at, tail, sizeof tail - 1);
    for (int k = 0; k < AT_ONCE; k++) {
        zmq_send(n->socket, n->body, n->size, 0);
    }
}

static void send_again(struct neighbour *n)
{
    char answer[4096];
    while (zmq_recv(n->socket, answer, sizeof answer, ZMQ_DONTWAIT) >= 0) {
        zmq_send(n->socket, n->body, n->size, 0);
        n->answered++;
    }
}

/* Answer times of a partner that steps, alone or beside a neighbour: the one that 99 of 100 stay
 * within, ms. */
static double tell_times(const char *what, struct side *s, struct neighbour *n)
{
    static double ns[ASKED];
    int count = 0;
    while (count < (n != NULL ? ASKED : ALONE) && (n == NULL || n->answered < BODIES)) {
        if (n != NULL) {
            send_again(n);
        }
        const double from = served_now_ns();
        ask(s, 1);
        ns[count++] = served_now_ns() - from;
    }
    qsort(ns, (size_t)count, sizeof *ns, by_size);
    char name[80];
    (void)snprintf(name, sizeof name, "%s, us, median", what);
    bench_tell_value(bench_text(name), 1e-3 * ns[count / 2]);
    bench_tell_value("  99 of 100 within", 1e-3 * ns[count - 1 - count / 100]);
    bench_tell_value("  the longest", 1e-3 * ns[count - 1]);
    return 1e-6 * ns[count - 1 - count / 100];
}

static void tell_neighbour(void *context, const struct served *daemon)
{
    struct side good = {.server = daemon,
                        .socket = open_socket(context, ZMQ_REQ, daemon->control),
                        .request = "{\"op\": \"step\", \"id\": \"two\", \"count\": 1}"};
    struct neighbour other;
    tell_times("a step as JSON, alone", &good, NULL);
    begin_neighbour(&other, open_socket(context, ZMQ_DEALER, daemon->control));
    const double most = tell_times("a step as JSON beside bodies of 1.5 MB", &good, &other);
    if (other.answered == 0) {
        served_fail("beside bodies of 1.5 MB", "none is answered");
    }
    bench_tell_value("  bodies answered meanwhile", other.answered);
    bench_require("beside bodies of 1.5 MB, 99 of 100 within, ms", most, 10.);
    zmq_close(other.socket);
    zmq_close(good.socket);
    free(other.body);
}

/* Beside sockets that wait together, and beside one that is alone. */
static void compare_requests(void *context, const struct served *daemon, const struct served *floor,
                             const struct served *echo)
{
    struct side ours = {.server = daemon, .socket = open_socket(context, ZMQ_REQ, daemon->control)};
    struct side bare = {.server = floor, .socket = open_socket(context, ZMQ_REQ, floor->control)};
    struct side one = {.server = echo, .socket = open_socket(context, ZMQ_REQ, echo->control)};
    served_expect(daemon, "PUT", "/v1/instances/two", bench_model, 201);
    bare.size = one.size = MECHP_FRAME_HEADER + 2 * sizeof(double);
    say_hello(&ours);
    bench_compare("step as a frame / a frame back", ask, &ours, ask, &bare);
    bench_compare("step as a frame / one socket", ask, &ours, ask, &one);
    bench_time_by(processor);
    bench_compare("step as a frame / one socket, CPU", ask, &ours, ask, &one);
    bench_time_by(own_clock);
    ours.request = "{\"op\": \"step\", \"id\": \"two\", \"count\": 1}";
    bare.size = 300;
    bench_compare("step as JSON / its text back", ask, &ours, ask, &bare);
    zmq_close(ours.socket);
    zmq_close(bare.socket);
    zmq_close(one.socket);
}

int main(int argc, char **argv)
{
    bench_begin("service-zmq", argc, argv);
    bench_time_by(own_clock);
    static const char *const none[] = {NULL};
    const char *const with_model[] = {wide_model(), NULL};
    static const char *const alone[] = {"alone", NULL};
    static const char *const echoes[] = {"echo", NULL};
    struct served daemon, floor, single, stepping, echo;
    void *const context = zmq_ctx_new();
    served_mechd(&daemon, NULL);
    served_floor(&floor, "floor-zmq", none);
    served_floor(&single, "floor-zmq", alone);
    served_floor(&stepping, "floor-zmq", with_model);
    served_floor(&echo, "floor-zmq", echoes);
    make_wide(&daemon);
    compare_requests(context, &daemon, &floor, &echo);
    tell_neighbour(context, &daemon);
    tell_losses(context, &daemon);
    compare_streams(context, &daemon, &floor, "stream / bare sockets");
    compare_streams(context, &daemon, &single, "stream / a bare socket, one thread");
    compare_streams(context, &daemon, &stepping, "stream / bare sockets with the steps");
    zmq_ctx_term(context);
    served_stop(&echo);
    served_stop(&stepping);
    served_stop(&single);
    served_stop(&floor);
    served_stop(&daemon);
    return bench_end();
}
