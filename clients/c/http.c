/* Requests over HTTP with libcurl: one easy handle, its connection kept. */
#include "clients/c/handle.h"

#include <stdlib.h>
#include <string.h>

enum { LARGEST_REPLY = 1 << 30 };

int mechc_path(struct mechc *c, const char *const *names, char out[MECHC_PATH])
{
    static const char safe[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t n = 0;
    for (; *names; names++) {
        if (!**names || strcmp(*names, ".") == 0 || strcmp(*names, "..") == 0) {
            return mechc_fail(c, MECHC_BAD_ARGUMENT, "'%s' cannot be a name", *names);
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

/* "unix:/path" goes through that socket; everything else is the beginning of the URL. */
static void set_address(struct mechc *c, const char *url)
{
    if (strncmp(c->base, "unix:", 5) == 0) {
        curl_easy_setopt(c->curl, CURLOPT_UNIX_SOCKET_PATH, c->base + 5);
    }
    curl_easy_setopt(c->curl, CURLOPT_URL, url);
    if (c->ca) {
        curl_easy_setopt(c->curl, CURLOPT_CAINFO, c->ca);
    }
    curl_easy_setopt(c->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(c->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(c->curl, CURLOPT_MAXCONNECTS, 1L); // mechc_own knows of one
    curl_easy_setopt(c->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c->curl, CURLOPT_TIMEOUT_MS, (long)mechc_milliseconds(c->timeout));
    curl_easy_setopt(c->curl, CURLOPT_TCP_NODELAY, 1L);
    curl_easy_setopt(c->curl, CURLOPT_USERAGENT, "libmechc/" MECHD_VERSION);
    curl_easy_setopt(c->curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(c->curl, CURLOPT_WRITEDATA, &c->reply);
}

static int perform(struct mechc *c, const struct mechc_request *r, const char *url)
{
    curl_easy_reset(c->curl);
    set_address(c, url);
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
    return mechc_fail(c, late ? MECHC_TIMEOUT : MECHC_UNREACHABLE, "%s: %s", c->base,
                      late ? "no answer in time" : curl_easy_strerror(code));
}

int mechc_call(struct mechc *c, const struct mechc_request *r, struct mechc_reply *out)
{
    *out = (struct mechc_reply){.body = ""};
    mechc_clear_error(c);
    const bool local = strncmp(c->base, "unix:", 5) == 0;
    char url[MECHC_PATH + 512];
    const int n = snprintf(url, sizeof url, "%s%s", local ? "http://localhost" : c->base, r->path);
    if (n < 0 || (size_t)n >= sizeof url || r->path[0] != '/') {
        return mechc_fail(c, MECHC_BAD_ARGUMENT,
                          "'%.80s' is no path: it begins with / and is short", r->path);
    }
    mechc_bytes_clear(&c->reply);
    mechc_bytes_add(&c->reply, "", 0);
    int result = mechc_own(c);
    if (result == MECHC_OK) {
        result = perform(c, r, url);
    }
    if (result != MECHC_OK) {
        return result;
    }
    long status = 0;
    curl_easy_getinfo(c->curl, CURLINFO_RESPONSE_CODE, &status);
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
