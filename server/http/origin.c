/* Origins are compared as text, host names without case; ports of Host are not looked at. */
#include "server/http/origin.h"

#include "server/call/service.h"
#include "server/http/listener.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What scripts may send and read beyond the safelisted headers. */
static const char request_headers[] =
    "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "
    "Lease, Prefer, traceparent";
static const char answer_headers[] = "Allow, Content-Disposition, ETag, Location, "
                                     "Preference-Applied, Retry-After, traceparent, "
                                     "WWW-Authenticate";
static const char preflight_seconds[] = "600";

/* Host without its port; 0: it is none. */
static size_t host_length(const char *host)
{
    const size_t n = *host == '[' ? strcspn(host, "]") + 1 : strcspn(host, ":");
    const char *port = host + n;
    if (n == 0 || n > strlen(host) || (*port != '\0' && *port != ':')) {
        return 0;
    }
    return *port == '\0' || port[1 + strspn(port + 1, "0123456789")] == '\0' ? n : 0;
}

/* The name without the dot of the root behind it: the same host (RFC 1034, 3.1). */
static size_t without_root(const char *host, size_t n)
{
    return n > 1 && host[n - 1] == '.' ? n - 1 : n;
}

static bool is_loopback(const char *host, size_t n)
{
    static const char name[] = "localhost";
    static const size_t length = sizeof name - 1;
    char text[16];
    struct in_addr v4;
    if (n >= length && strncasecmp(host + n - length, name, length) == 0 &&
        (n == length || host[n - length - 1] == '.')) {
        return true;
    }
    if (n == 5 && memcmp(host, "[::1]", 5) == 0) {
        return true;
    }
    snprintf(text, sizeof text, "%.*s", (int)n, host);
    return n < sizeof text && inet_pton(AF_INET, text, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127;
}

static bool is_ours(const struct mechd_config *c, const char *host)
{
    const size_t n = without_root(host, host_length(host));
    bool found = n > 0 && is_loopback(host, n);
    for (int k = 0; k < c->host_count && !found && n > 0; k++) {
        found = without_root(c->host[k], strlen(c->host[k])) == n &&
                strncasecmp(c->host[k], host, n) == 0;
    }
    return found;
}

/* The origin as --cors knows it, "*" where all are, or NULL. */
static const char *find_origin(const struct mechd_config *c, const char *origin)
{
    for (int k = 0; k < c->cors_count; k++) {
        if (strcmp(c->cors[k], "*") == 0 || strcasecmp(c->cors[k], origin) == 0) {
            return c->cors[k];
        }
    }
    return NULL;
}

/* True if the origin is the server that the request was sent to. */
static bool is_same(const char *origin, const char *host)
{
    const char *slashes = strstr(origin, "://");
    return slashes != NULL && host != NULL && strcasecmp(slashes + 3, host) == 0;
}

/* A connection asks for the same host again and again. */
static void remember_host(struct mechd_link *link, const char *host)
{
    const size_t n = strlen(host);
    if (n < sizeof link->host) {
        memcpy(link->host, host, n + 1);
    }
}

int mechd_origin_admit(struct mechd_exchange *x)
{
    struct mechd_call *c = &x->call;
    const struct mechd_config *config = &c->service->config;
    const struct mechd_listener *l = x->link->links->listener;
    const char *host = x->host != NULL ? x->host : x->head.value[MECHD_HEADER_HOST];
    const char *origin = x->head.value[MECHD_HEADER_ORIGIN];
    const bool is_named =
        l->is_tcp && !c->service->host.tokens.needed && (l->is_local || config->host_count > 0);
    if (is_named && host != NULL && strcmp(host, x->link->host) != 0) {
        if (!is_ours(config, host)) {
            return mechd_refuse(
                c, MECHP_FORBIDDEN,
                "%.64s is not a name of this server; to permit it, start the server with --host",
                host);
        }
        remember_host(x->link, host);
    }
    if (origin == NULL) {
        return 0;
    }
    x->origin = find_origin(config, origin);
    if (x->origin == NULL && !is_same(origin, host)) {
        return mechd_refuse(c, MECHP_FORBIDDEN,
                            "pages of %.64s may not use this server; see --cors", origin);
    }
    return 0;
}

void mechd_origin_mark(const struct mechd_exchange *x, struct MHD_Response *response)
{
    const struct mechd_config *config = &x->call.service->config;
    if (config->cors_count == 0) {
        return;
    }
    if (x->origin != NULL) {
        MHD_add_response_header(response, "Access-Control-Allow-Origin", x->origin);
        MHD_add_response_header(response, "Access-Control-Expose-Headers", answer_headers);
    }
    if (strcmp(config->cors[0], "*") != 0) {
        MHD_add_response_header(response, "Vary", "Origin");
    }
}

struct MHD_Response *mechd_origin_preflight(const struct mechd_exchange *x, const char *allow)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(0, (void *)(uintptr_t) "", MHD_RESPMEM_PERSISTENT);
    if (response == NULL) {
        return NULL;
    }
    MHD_add_response_header(response, "Allow", allow);
    if (x->origin != NULL && x->head.value[MECHD_HEADER_REQUEST_METHOD] != NULL) {
        MHD_add_response_header(response, "Access-Control-Allow-Methods", allow);
        MHD_add_response_header(response, "Access-Control-Allow-Headers", request_headers);
        MHD_add_response_header(response, "Access-Control-Max-Age", preflight_seconds);
        if (x->head.value[MECHD_HEADER_PRIVATE_NETWORK] != NULL) {
            MHD_add_response_header(response, "Access-Control-Allow-Private-Network", "true");
        }
    }
    return response;
}
