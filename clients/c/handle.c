/* A handle: opening, closing, endpoints, ZeroMQ sockets. */
#include "clients/c/handle.h"

#include "clients/c/address.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <zmq.h>

static const char *const socket_names[MECHC_SOCKETS] = {"control", "stream", "forces", "lane"};

const char *mechc_version(void)
{
    return MECHD_VERSION;
}

int mechc_milliseconds(double seconds)
{
    return seconds < 1e6 ? (int)ceil(seconds * 1e3) : 1000000000;
}

/* Token, lease and keys. */
static int take_environment(struct mechc *c)
{
    const char *const lease = getenv("MECHD_LEASE");
    char *end = NULL;
    errno = 0;
    c->lease = lease && *lease ? strtoull(lease, &end, 10) : 0;
    if (end && (errno != 0 || *end || *lease < '0' || *lease > '9')) {
        c->lease = 0;
        return mechc_fail(c, MECHC_BAD_ARGUMENT,
                          "MECHD_LEASE: '%.64s' is not the number of a lease", lease);
    }
    static const struct {
        const char *name;
        int (*set)(struct mechc *c, const char *value);
    } values[] = {{"MECHD_TOKEN", mechc_set_token},
                  {"MECHD_CA", mechc_set_ca},
                  {"MECHD_SERVER_KEY", mechc_set_server_key},
                  {"MECHD_CLIENT_KEY", mechc_set_key_file}};
    int result = MECHC_OK;
    for (size_t i = 0; i < sizeof values / sizeof *values && result == MECHC_OK; i++) {
        const char *const value = getenv(values[i].name);
        if (value && *value) {
            result = values[i].set(c, value);
        }
    }
    return result;
}

static int fill(struct mechc *c, const char *base)
{
    c->timeout = 30.;
    c->expected = NAN;
    c->process = c->users = getpid();
    mechc_clear_error(c);
    if (!base) {
        base = getenv("MECHD_SERVER");
    }
    base = base && *base ? base : "http://127.0.0.1:8080";
    // the name of a scheme has no case (RFC 3986, 3.1); "host:port" alone means http
    const size_t http = strncasecmp(base, "http://", 7) == 0    ? 4
                        : strncasecmp(base, "https://", 8) == 0 ? 5
                                                                : 0;
    const bool local = strncmp(base, "unix:/", 6) == 0;
    if (!local && http == 0 && (strstr(base, "://") || strncmp(base, "unix:", 5) == 0)) {
        return mechc_fail(
            c, MECHC_BAD_ARGUMENT,
            "%s is not an address of a server: http://host:port, https://host:port or unix:/path",
            base);
    }
    mechc_bytes_text(&c->body, local ? "" : http == 5 ? "https" : "http");
    mechc_bytes_text(&c->body, local || http > 0 ? "" : "://");
    mechc_bytes_text(&c->body, base + http);
    const char *const why = local || c->body.failed ? NULL : mechc_address_fault(c->body.at);
    if (why) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "%s: %s; an address is http://host:port", base,
                          why);
    }
    while (!c->body.failed && c->body.length > 1 && c->body.at[c->body.length - 1] == '/') {
        c->body.at[--c->body.length] = 0;
    }
    c->base = c->body.failed ? NULL : mechc_copy(c->body.at);
    c->curl = curl_easy_init();
    if (!c->base || !c->curl) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    return take_environment(c);
}

bool mechc_enter(struct mechc *c)
{
    static _Thread_local char self;
    const void *user = NULL;
    // a thread of the parent that was in a call at a fork does not exist here
    if (c->users != getpid()) {
        c->users = getpid();
        atomic_store(&c->user, NULL);
    }
    if (!atomic_compare_exchange_strong(&c->user, &user, &self)) {
        if (user != &self) {
            return false;
        }
        c->depth++;
        return true;
    }
    c->depth = 1;
    return true;
}

void mechc_leave(struct mechc *const *c)
{
    if (--(*c)->depth == 0) {
        atomic_store(&(*c)->user, NULL);
    }
}

/* What a child of a fork has of the connection: its descriptor is turned to nowhere before curl
 * ends it, because a goodbye of TLS would go to the server in the parent's name. */
static void let_go(CURL *curl)
{
    curl_socket_t socket = CURL_SOCKET_BAD;
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket);
    if (socket != CURL_SOCKET_BAD && nowhere >= 0) {
        dup2(nowhere, socket);
    }
    if (nowhere >= 0) {
        close(nowhere);
        curl_easy_cleanup(curl);
    }
}

int mechc_own(struct mechc *c)
{
    const pid_t process = getpid();
    if (c->process == process) {
        return MECHC_OK;
    }
    CURL *const curl = curl_easy_init();
    if (!curl) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    let_go(c->curl);
    c->curl = curl;
    mechc_lane_drop(c);
    // a context of ZeroMQ works only in the process of its threads, and cannot be ended elsewhere
    c->zmq = NULL;
    c->process = process;
    return MECHC_OK;
}

int mechc_opened_here(struct mechc *c, pid_t process, const char *what)
{
    return process == getpid()
               ? MECHC_OK
               : mechc_fail(c, MECHC_BAD_ARGUMENT,
                            "this %s belongs to process %ld, which has opened it; a forked process "
                            "opens another one",
                            what, (long)process);
}

int mechc_open(const char *base, struct mechc **out)
{
    *out = NULL;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return MECHC_NO_MEMORY;
    }
    struct mechc *const c = calloc(1, sizeof *c);
    if (!c) {
        curl_global_cleanup();
        return MECHC_NO_MEMORY;
    }
    *out = c;
    return fill(c, base);
}

void mechc_close(struct mechc *c)
{
    if (!c) {
        return;
    }
    mechc_lane_drop(c);
    if (c->curl && c->process != getpid()) {
        let_go(c->curl);
        c->zmq = NULL;
    } else {
        curl_easy_cleanup(c->curl);
    }
    if (c->zmq) {
        zmq_ctx_term(c->zmq);
    }
    for (int i = 0; i < MECHC_SOCKETS; i++) {
        free(c->endpoints[i]);
    }
    mechc_bytes_fini(&c->reply);
    mechc_bytes_fini(&c->body);
    mechc_bytes_fini(&c->words);
    free(c->faults);
    free(c->base);
    free(c->token);
    free(c->ca);
    memset(c->secret_key, 0, sizeof c->secret_key);
    free(c);
    curl_global_cleanup();
}

const char *mechc_base(const struct mechc *c)
{
    return c->base;
}

int mechc_set_timeout(struct mechc *c, double seconds)
{
    MECHC_ENTER(c);
    if (!(seconds > 0.)) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "a timeout is a positive number of seconds");
    }
    c->timeout = seconds;
    return MECHC_OK;
}

void mechc_interrupt(struct mechc *c)
{
    atomic_store(&c->interrupted, true);
}

int mechc_set_token(struct mechc *c, const char *token)
{
    MECHC_ENTER(c);
    char *copy = NULL;
    // the end of a line is of the file that it was in
    size_t length = token ? strlen(token) : 0;
    while (length > 0 && strchr(" \t\r\n", token[length - 1])) {
        length--;
    }
    for (size_t k = 0; k < length; k++) {
        if (token[k] < '!' || token[k] > '~') {
            return mechc_fail(c, MECHC_BAD_ARGUMENT,
                              "byte %zu of the token, 0x%02X, is not allowed: a token consists of "
                              "visible ASCII characters",
                              k + 1, (unsigned)(unsigned char)token[k]);
        }
    }
    if (length > 0 && !(copy = mechc_copy(token))) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    if (copy) {
        copy[length] = 0;
    }
    free(c->token);
    c->token = copy;
    return MECHC_OK;
}

int mechc_set_lease(struct mechc *c, uint64_t lease)
{
    MECHC_ENTER(c);
    c->lease = lease;
    return MECHC_OK;
}

int mechc_expect_time(struct mechc *c, double time)
{
    MECHC_ENTER(c);
    if (isinf(time)) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "the time must be a finite number, or NaN");
    }
    c->expected = time;
    return MECHC_OK;
}

void mechc_add_expected(struct mechc *c)
{
    if (!isnan(c->expected)) {
        mechc_bytes_text(&c->body, ",\"expectTime\":");
        mechc_bytes_number(&c->body, c->expected);
    }
    c->expected = NAN;
}

int mechc_set_ca(struct mechc *c, const char *file)
{
    MECHC_ENTER(c);
    char *const copy = file ? mechc_copy(file) : NULL;
    if (file && !copy) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    free(c->ca);
    c->ca = copy;
    return MECHC_OK;
}

int mechc_set_endpoint(struct mechc *c, enum mechc_socket which, const char *endpoint)
{
    MECHC_ENTER(c);
    char *const copy = mechc_copy(endpoint);
    if (!copy) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    free(c->endpoints[which]);
    c->endpoints[which] = copy;
    return MECHC_OK;
}

/* A daemon that listens on every address names none: then it is where its HTTP is. */
static void place(const struct mechc *c, const char *endpoint, char *out, size_t size)
{
    static const char *const anywhere[] = {"tcp://0.0.0.0:", "tcp://[::]:", "tcp://*:"};
    const char *const host = strstr(c->base, "://");
    for (size_t i = 0; host && i < sizeof anywhere / sizeof *anywhere; i++) {
        const size_t n = strlen(anywhere[i]);
        if (strncmp(endpoint, anywhere[i], n) == 0) {
            const size_t length =
                host[3] == '[' ? strcspn(host + 3, "]/") + 1 : strcspn(host + 3, ":/");
            snprintf(out, size, "tcp://%.*s:%s", (int)length, host + 3, endpoint + n);
            return;
        }
    }
    snprintf(out, size, "%s", endpoint);
}

static int discover(struct mechc *c)
{
    struct mechc_json about, endpoints, v;
    const int result = mechc_send(c, "GET", (const char *const[]){"v1", NULL}, &about);
    if (result != MECHC_OK) {
        return result;
    }
    if (!mechc_json_member(about, "endpoints", &endpoints)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "%s lists no endpoints", c->base);
    }
    for (int i = 0; i < MECHC_SOCKETS; i++) {
        char text[256], placed[512];
        if (c->endpoints[i] || !mechc_json_member(endpoints, socket_names[i], &v) ||
            mechc_json_kind(v) != '"' || mechc_json_text(v, text, sizeof text) >= sizeof text) {
            continue;
        }
        place(c, text, placed, sizeof placed);
        c->endpoints[i] = mechc_copy(placed);
    }
    return mechc_curve_learn(c, about);
}

int mechc_endpoint(struct mechc *c, enum mechc_socket which, const char **out)
{
    // a given endpoint says nothing about keys; a client without a key need not ask
    const bool keys = c->secret_key[0] && !c->pinned && !c->asked;
    if (!c->endpoints[which] || keys) {
        const int result = discover(c);
        if (result != MECHC_OK) {
            return result;
        }
    }
    *out = c->endpoints[which];
    return *out ? MECHC_OK
                : mechc_fail(c, MECHC_BAD_REPLY, "%s has no %s endpoint", c->base,
                             socket_names[which]);
}

/* Before a socket is connected, or its first events would be missed. */
static int monitor(struct mechc *c, void *socket, void **out)
{
    enum {
        WANTED = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH |
                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                 ZMQ_EVENT_DISCONNECTED
    };
    char address[64];
    snprintf(address, sizeof address, "inproc://events-%p", socket);
    void *const s = zmq_socket(c->zmq, ZMQ_PAIR);
    if (s && zmq_socket_monitor(socket, address, WANTED) == 0 && zmq_connect(s, address) == 0) {
        *out = s;
        return MECHC_OK;
    }
    const int fault = errno;
    if (s) {
        zmq_close(s);
    }
    return mechc_fail(c, MECHC_NO_MEMORY, "no ZeroMQ socket: %s", zmq_strerror(fault));
}

int mechc_connect(struct mechc *c, enum mechc_socket which, int type, void **out, void **events)
{
    const char *endpoint;
    int result = mechc_own(c);
    if (result == MECHC_OK) {
        result = mechc_endpoint(c, which, &endpoint);
    }
    if (result != MECHC_OK) {
        return result;
    }
    if (!c->zmq) {
        c->zmq = zmq_ctx_new();
    }
    void *const s = c->zmq ? zmq_socket(c->zmq, type) : NULL;
    if (!s) {
        return mechc_fail(c, MECHC_NO_MEMORY, "no ZeroMQ socket: %s", zmq_strerror(errno));
    }
    const int at_once = 0, wait = mechc_milliseconds(c->timeout);
    const int is_v6 = (strchr(endpoint, '[') != NULL);
    zmq_setsockopt(s, ZMQ_IPV6, &is_v6, sizeof is_v6);
    zmq_setsockopt(s, ZMQ_LINGER, &at_once, sizeof at_once);
    zmq_setsockopt(s, ZMQ_SNDTIMEO, &wait, sizeof wait);
    zmq_setsockopt(s, ZMQ_RCVTIMEO, &wait, sizeof wait);
    result = mechc_curve_lock(c, s);
    if (result == MECHC_OK && events) {
        result = monitor(c, s, events);
    }
    if (result == MECHC_OK && zmq_connect(s, endpoint) != 0) {
        result = mechc_fail(c, MECHC_UNREACHABLE, "%s: %s", endpoint, zmq_strerror(errno));
    }
    if (result != MECHC_OK) {
        zmq_close(s);
        return result;
    }
    *out = s;
    return MECHC_OK;
}
