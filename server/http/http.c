/* A libmicrohttpd daemon (epoll, pool of threads) on each address. Its own limits are far above
 * those of link.h: a thread that has reached its own would stop accepting, and later clients would
 * get no answer. */
#include "server/http/http.h"

#include "server/call/service.h"
#include "server/http/certificate.h"
#include "server/http/door.h"
#include "server/http/listener.h"
#include "server/os/log.h"
#include "server/os/shares.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

/* Head, and a part of the body. libmicrohttpd clears it one and a half times for each request, so
 * that it is not larger than what clients send: browsers and proxies have 8 KiB of head. */
enum { CONNECTION_MEMORY = 16 << 10, THREADS_MOST = 4 };

/* TLS 1.2 with forward secrecy and authenticated encryption, and 1.3. */
static const char tls_priorities[] =
    "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-KX-ALL:+ECDHE-ECDSA:+ECDHE-RSA:-CIPHER-ALL:"
    "+AES-256-GCM:+CHACHA20-POLY1305:+AES-128-GCM:%SERVER_PRECEDENCE";

struct mechd_http {
    struct mechd_service *service;
    int threads; /* for each address */
    struct mechd_shares shares;
    int count;
    struct mechd_listener at[MECHD_LISTEN_MOST];
};

const char *mechd_http_address(const struct mechd_http *h)
{
    return h != NULL ? h->at[0].address : "";
}

const char *mechd_http_library(void)
{
    return MHD_get_version();
}

/* Start libmicrohttpd on the socket, which it then owns. NULL: it does not start. */
static struct MHD_Daemon *serve(struct mechd_http *h, struct mechd_listener *l)
{
    const struct mechd_config *c = &h->service->config;
    const int most = h->threads * (h->shares.http + h->shares.reserve + 1);
    // inactivity is the last resort: link.h is stricter
    const int longest = c->head_seconds > c->body_seconds ? c->head_seconds : c->body_seconds;
    const int idle = (longest > c->idle_seconds ? longest : c->idle_seconds) + 5;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_CERT_CALLBACK, 0, (void *)(uintptr_t)mechd_key_present},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)(uintptr_t)tls_priorities},
        {MHD_OPTION_END, 0, NULL}};
    const struct MHD_OptionItem none = {MHD_OPTION_END, 0, NULL};
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ITC |
            (l->is_tls ? MHD_USE_TLS : 0u),
        0, mechd_door_accept, l, mechd_door_handle, l, MHD_OPTION_LISTEN_SOCKET, l->socket,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)h->threads, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT, (unsigned)most,
        MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)idle, MHD_OPTION_STRICT_FOR_CLIENT, 0,
        MHD_OPTION_NOTIFY_CONNECTION, mechd_door_connected, l, MHD_OPTION_NOTIFY_COMPLETED,
        mechd_door_completed, l, MHD_OPTION_URI_LOG_CALLBACK, mechd_door_target, l,
        MHD_OPTION_UNESCAPE_CALLBACK, mechd_door_unescape, l, MHD_OPTION_ARRAY,
        l->is_tls ? tls : &none, MHD_OPTION_END);
}

/* A certificate that has expired is served all the same: clients refuse it, and the log says why.
 * */
static void tell_expiry(const struct mechd_config *c, const struct mechd_key *key)
{
    const time_t now = time(NULL);
    if (now < key->from || now > key->until) {
        char quoted[MECHD_ADDRESS + 8];
        mechd_log(MECHD_WARNING, "certificate", "file=%s reason=%s",
                  mechd_log_quote(quoted, sizeof quoted, c->tls_certificate),
                  now > key->until ? "expired" : "not-yet-valid");
    }
}

/* Read certificate and key, and serve them from now on. */
static int read_key(const struct mechd_config *c, char *fault, size_t size)
{
    struct mechd_key key;
    if (mechd_key_read(&key, c->tls_certificate, c->tls_key, fault, size) != 0) {
        return -1;
    }
    tell_expiry(c, &key);
    const int code = mechd_key_serve(&key, fault, size);
    mechd_key_wipe(&key);
    return code;
}

static int start_one(struct mechd_http *h, const char *text, char *fault, size_t size)
{
    struct mechd_listener *l = &h->at[h->count];
    const struct mechd_config *c = &h->service->config;
    l->service = h->service;
    if (mechd_listen(l, text, (unsigned)strtoul(c->unix_mode, NULL, 8)) != 0) {
        mechd_address_fault("listen", text, errno, fault, size);
        return MECH_INTERNAL;
    }
    if (l->is_tls && read_key(c, fault, size) != 0) {
        close(l->socket);
        return MECH_INTERNAL;
    }
    mechd_links_init(&l->links, l, h->shares.http, h->shares.reserve);
    l->mhd = serve(h, l);
    if (l->mhd == NULL) {
        // libmicrohttpd has closed the socket in most cases; closing another's would be worse
        mechd_links_fini(&l->links);
        mech_text_format(fault, size, "cannot serve HTTP on %s", text);
        return MECH_INTERNAL;
    }
    h->count++;
    return 0;
}

/* Raise the limit of descriptors as far as it may be. */
static void raise_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int mechd_http_start(struct mechd_service *d, struct mechd_http **out, char *fault, size_t size)
{
    struct mechd_http *h = calloc(1, sizeof *h);
    if (h == NULL) {
        return MECH_NO_MEMORY;
    }
    h->service = d;
    *out = h;
    h->threads = d->config.workers < 2              ? 2
                 : d->config.workers > THREADS_MOST ? THREADS_MOST
                                                    : d->config.workers;
    raise_descriptors();
    h->shares = mechd_shares(&d->config);
    if (h->shares.is_scarce) {
        mechd_log(MECHD_WARNING, "descriptors", "limit=%ld http=%d zmq=%d fmus=%d", h->shares.limit,
                  h->shares.http, h->shares.zmq, h->shares.fmus);
    }
    for (int k = 0; k < d->config.listen_count; k++) {
        MECH_TRY(start_one(h, d->config.listen[k], fault, size));
    }
    return 0;
}

int mechd_http_reload(struct mechd_http *h, char *fault, size_t size)
{
    int renewed = 0;
    for (int k = 0; k < h->count; k++) {
        renewed += h->at[k].is_tls;
    }
    return renewed > 0 && read_key(&h->service->config, fault, size) != 0 ? MECH_INTERNAL : renewed;
}

/* Not MHD_quiesce_daemon: of libmicrohttpd 0.9.75 it and a worker that is awake may both take the
 * socket out of the worker's epoll set, and the second one aborts the process. */
void mechd_http_quiesce(struct mechd_http *h)
{
    for (int k = 0; h != NULL && k < h->count; k++) {
        atomic_store(&h->at[k].closed, true);
    }
}

void mechd_http_stop(struct mechd_http *h)
{
    for (int k = 0; h != NULL && k < h->count; k++) {
        struct mechd_listener *l = &h->at[k];
        MHD_stop_daemon(l->mhd); // closes the socket
        mechd_links_fini(&l->links);
        if (l->path[0] != '\0') {
            unlink(l->path);
        }
    }
    free(h);
}
