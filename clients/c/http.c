/* Requests over HTTP with libcurl: one easy handle, its connection kept. */
#include "clients/c/handle.h"

#include "clients/c/address.h"
#include "solver/base/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_REPLY = 1 << 30 };

int mechc_path(struct mechc *c, const char *const *names, char out[MECHC_PATH])
{
    MECHC_ENTER(c);
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t n = 0;
    for (; *names; names++) {
        if (!**names || strcmp(*names, ".") == 0 || strcmp(*names, "..") == 0) {
            return mechc_fail(c, MECHC_BAD_ARGUMENT, "'%s' is not a valid name", *names);
        }
        if (n + 3 * strlen(*names) + 2 > MECHC_PATH) {
            return mechc_fail(c, MECHC_BAD_ARGUMENT, "the name is too long");
        }
        out[n++] = '/';
        for (const char *p = *names; *p; p++) {
            if (strchr(safe, *p)) {
                out[n++] = *p;
            } else {
                n += (size_t)snprintf(out + n, 4, "%%%02X", (unsigned)(unsigned char)*p);
            }
        }
    }
    out[n] = 0;
    return MECHC_OK;
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct mechc_bytes *const reply = context;
    const size_t more = size * count;
    if (more > LARGEST_REPLY - reply->length) {
        return 0;
    }
    mechc_bytes_add(reply, bytes, more);
    return reply->failed ? 0 : more;
}

/* Asked by curl, once a second at least and after each signal. */
static int ends(void *context, curl_off_t wanted, curl_off_t got, curl_off_t total, curl_off_t sent)
{
    struct mechc *const c = context;
    (void)wanted;
    (void)got;
    (void)total;
    (void)sent;
    return atomic_exchange(&c->interrupted, false);
}

/* "unix:/path" goes through that socket; everything else is the beginning of the URL. */
static void set_address(struct mechc *c, const char *url)
{
    if (strncmp(c->base, "unix:", 5) == 0) {
        curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->base + 5);
    }
    curl_easy_setopt(c->curl, CURLOPT_URL, url);
    curl_easy_setopt(c->curl, CURLOPT_PATH_AS_IS, 1L); // segments .. are refused by the server
    if (c->ca) {
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca);
    }
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(c->curl, CURLOPT_MAXCONNECTS, 1L); // mechc_own handles one
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)mechc_milliseconds(c->timeout));
    curl_easy_setopt(c->curl, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "libmechc/" MECHD_VERSION);
    curl_easy_setopt(c->curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFOFUNCTION, ends);
    curl_easy_setopt(c->curl, CURLOPT_XFERINFODATA, c);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &c->reply);
}

/* One request beside its address. key: "" or its Idempotency-Key; later: it may be answered later,
 * and its answer is awaited for a second alone. */
struct sending {
    const char *url, *key;
    bool later;
};

/* 32 random hexadecimal digits. False: the system has no random numbers. */
static bool make_key(char key[33])
{
    unsigned char bytes[16];
    const int f = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool filled = f >= 0 && read(f, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    if (f >= 0) {
        close(f);
    }
    for (size_t i = 0; i < sizeof bytes && filled; i++) {
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    }
    return filled;
}

static int perform(struct mechc *c, const struct mechc_request *r, const struct sending *s)
{
    curl_easy_reset(c->curl);
    set_address(c, s->url);
    if (s->later) {
        curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, 1000L);
    }
    curl_easy_setopt(c->curl, CURLOPT_CUSTOMREQUEST, r->method);
    struct curl_slist *headers = NULL;
    if (r->body || strcmp(r->method, "POST") == 0 || strcmp(r->method, "PUT") == 0) {
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDS, r->body ? r->body : "");
        curl_easy_setopt(c->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->size);
        char type[160];
        snprintf(type, sizeof type, "Content-Type: %s", r->type ? r->type : "application/json");
        headers = curl_slist_append(headers, type);
        headers = curl_slist_append(headers, "Expect:");
    }
    if (c->token) {
        struct mechc_bytes line = {0};
        mechc_bytes_text(&line, "Authorization: Bearer ");
        mechc_bytes_text(&line, c->token);
        headers = line.failed ? headers : curl_slist_append(headers, line.at);
        mechc_bytes_fini(&line);
    }
    if (c->lease != 0) {
        char line[40];
        snprintf(line, sizeof line, "Lease: %llu", (unsigned long long)c->lease);
        headers = curl_slist_append(headers, line);
    }
    if (s->key[0]) {
        char line[64];
        snprintf(line, sizeof line, "Idempotency-Key: %s", s->key);
        headers = curl_slist_append(headers, line);
    }
    if (s->later) {
        headers = curl_slist_append(headers, "Prefer: respond-async");
    }
    curl_easy_setopt(c->curl, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_easy_perform(c->curl);
    curl_slist_free_all(headers);
    if (code == CURLE_OK) {
        return MECHC_OK;
    }
    if (c->reply.failed) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    const bool late = code == CURLE_OPERATION_TIMEDOUT;
    static const char left[] = "the server cancels abandoned requests";
    if (code == CURLE_ABORTED_BY_CALLBACK) {
        return mechc_fail(c, MECHC_INTERRUPTED, "%s: interrupted; %s", c->base, left);
    }
    if (late) {
        return mechc_fail(c, MECHC_TIMEOUT, "%s: no answer within %g s; %s", c->base, c->timeout,
                          left);
    }
    return mechc_fail(c, MECHC_UNREACHABLE, "%s: %s", c->base, curl_easy_strerror(code));
}

static void clear_reply(struct mechc *c)
{
    mechc_bytes_clear(&c->reply);
    mechc_bytes_add(&c->reply, "", 0);
}

static long status_of(struct mechc *c)
{
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

enum { OUTCOME = 256 /* bytes of its text */ };

/* The text for an operation that could not be cancelled, which the reply describes. */
static const char *tell_done(const struct mechc *c, const char *id, char out[OUTCOME])
{
    struct mechc_json json, v;
    char state[16] = "", made[128] = "";
    double status = 0.;
    if (mechc_json_open(c->reply.at, c->reply.length, &json)) {
        (void)(mechc_json_member(json, "state", &v) && mechc_json_text(v, state, sizeof state));
        (void)(mechc_json_member(json, "location", &v) && mechc_json_text(v, made, sizeof made));
        (void)(mechc_json_member(json, "status", &v) && mechc_json_number(v, &status));
    }
    if (status >= 400.) {
        return "it has been refused";
    }
    const bool over = strcmp(state, "finished") == 0;
    mech_text_format(out, OUTCOME, "it was done before it could be cancelled%s%s",
                     !over   ? "; its answer will be at /v1/operations/"
                     : *made ? "; it made "
                             : "",
                     !over ? id : made);
    return out;
}

/* The text for one that has been cancelled. */
static const char *what_remains(const char *path)
{
    const size_t size = strlen(path);
    const char *const end = size > 5 ? path + size - 5 : "";
    return strcmp(path, "/v1/batch") == 0 ? "it has been cancelled; items that are done remain"
           : strncmp(path, "/v1/couplings/", 14) == 0 && strcmp(end, "/step") == 0
               ? "it has been cancelled; windows that are committed remain"
               : "it has been cancelled and is undone";
}

/* A request without an answer: under a lease it would continue while its client waits for the
 * next one. A repetition under its key is the request itself, as an operation, and cancelled by
 * DELETE. Returns the outcome as text, perhaps in `out`. */
static const char *withdraw(struct mechc *c, const struct mechc_request *r,
                            const struct sending *first, char out[OUTCOME])
{
    const bool local = strncmp(c->base, "unix:", 5) == 0;
    struct sending again = {.url = first->url, .key = first->key, .later = true};
    char url[MECHC_PATH + 512], id[MECHC_ID];
    struct mechc_json json, v;
    clear_reply(c);
    if (perform(c, r, &again) != MECHC_OK) {
        return "it may be in progress there: the request to cancel it has no answer either";
    }
    const long status = status_of(c);
    if (status != 202) {
        return status < 400 ? "it was done before it could be cancelled" : "it has been refused";
    }
    if (!mechc_json_open(c->reply.at, c->reply.length, &json) ||
        !mechc_json_member(json, "id", &v) || mechc_json_text(v, id, sizeof id) >= sizeof id) {
        return "it may be in progress there";
    }
    snprintf(url, sizeof url, "%s/v1/operations/%s", local ? "http://localhost" : c->base, id);
    again = (struct sending){.url = url, .key = "", .later = true};
    clear_reply(c);
    const int result = perform(c, &(struct mechc_request){.method = "DELETE", .path = "/"}, &again);
    const long ended = result == MECHC_OK ? status_of(c) : 0;
    return ended == 204   ? what_remains(r->path)
           : ended == 200 ? tell_done(c, id, out)
                          : "it may be in progress there";
}

int mechc_call(struct mechc *c, const struct mechc_request *r, struct mechc_reply *out)
{
    MECHC_ENTER(c);
    *out = (struct mechc_reply){.body = ""};
    mechc_clear_error(c);
    const bool local = strncmp(c->base, "unix:", 5) == 0;
    char url[MECHC_PATH + 512];
    const int n = snprintf(url, sizeof url, "%s%s", local ? "http://localhost" : c->base, r->path);
    const bool fits = n >= 0 && (size_t)n < sizeof url;
    const char *const why = fits ? mechc_path_fault(r->path) : "it is too long";
    if (why || mechc_method_fault(r->method)) {
        return mechc_fail(c, MECHC_BAD_ARGUMENT, "'%.80s' is not a %s: %s",
                          why ? r->path : r->method, why ? "path" : "method",
                          why ? why : mechc_method_fault(r->method));
    }
    clear_reply(c);
    int result = mechc_own(c);
    // a request without a lease ends with its connection
    char key[33] = "";
    if (c->lease != 0 && strcmp(r->method, "GET") != 0 && !make_key(key)) {
        key[0] = 0;
    }
    const struct sending sending = {.url = url, .key = key};
    char outcome[OUTCOME];
    if (result == MECHC_OK) {
        result = perform(c, r, &sending);
    }
    if (result == MECHC_TIMEOUT && key[0]) {
        const char *const words = withdraw(c, r, &sending, outcome);
        return mechc_fail(c, result, "%s: no answer within %g s; %s", c->base, c->timeout, words);
    }
    if (result == MECHC_INTERRUPTED && key[0]) {
        const char *const words = withdraw(c, r, &sending, outcome);
        return mechc_fail(c, result, "%s: interrupted; %s", c->base, words);
    }
    if (result != MECHC_OK) {
        return result;
    }
    const long status = status_of(c);
    *out =
        (struct mechc_reply){.status = (int)status, .body = c->reply.at, .size = c->reply.length};
    return status < 400 ? MECHC_OK : mechc_refused(c, (int)status, out->body, out->size);
}

int mechc_send(struct mechc *c, const char *method, const char *const *segments,
               struct mechc_json *json)
{
    char path[MECHC_PATH];
    int result = mechc_path(c, segments, path);
    if (result != MECHC_OK) {
        return result;
    }
    if (c->body.failed) {
        return mechc_fail(c, MECHC_NO_MEMORY, "out of memory");
    }
    const bool has_body = strcmp(method, "GET") != 0 && strcmp(method, "DELETE") != 0;
    struct mechc_reply reply;
    result = mechc_call(c,
                        &(struct mechc_request){.method = method,
                                                .path = path,
                                                .body = has_body ? c->body.at : NULL,
                                                .size = has_body ? c->body.length : 0},
                        &reply);
    if (result == MECHC_OK && json && !mechc_json_open(reply.body, reply.size, json)) {
        return mechc_fail(c, MECHC_BAD_REPLY, "the reply is not JSON");
    }
    return result;
}

int mechc_get(struct mechc *c, const char *const *segments, struct mechc_reply *out)
{
    char path[MECHC_PATH];
    *out = (struct mechc_reply){.body = ""};
    const int result = mechc_path(c, segments, path);
    return result == MECHC_OK
               ? mechc_call(c, &(struct mechc_request){.method = "GET", .path = path}, out)
               : result;
}
