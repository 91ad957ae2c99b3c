/* Pairs of logfmt; what a client chose is quoted. */
#include "server/call/access.h"

#include "server/os/log.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>

enum { ADDRESS = INET6_ADDRSTRLEN + 16 };

/* partner: main at the start and on SIGHUP */
static _Atomic bool wanted;

void mechd_access_set(bool on)
{
    atomic_store_explicit(&wanted, on, memory_order_relaxed);
}

static enum mechd_level level(void)
{
    return atomic_load_explicit(&wanted, memory_order_relaxed) ? MECHD_INFO : MECHD_DEBUG;
}

bool mechd_access_wanted(void)
{
    return mechd_log_wants(level());
}

/* 127.0.0.1:80, [::1]:80, unix, or - where it is not known. */
static void write_address(const struct sockaddr *address, char out[ADDRESS])
{
    char host[INET6_ADDRSTRLEN] = "";
    const sa_family_t family = address != NULL ? address->sa_family : AF_UNSPEC;
    if (family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)address;
        inet_ntop(AF_INET, &v4->sin_addr, host, sizeof host);
        snprintf(out, ADDRESS, "%s:%d", host, ntohs(v4->sin_port));
    } else if (family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)address;
        inet_ntop(AF_INET6, &v6->sin6_addr, host, sizeof host);
        snprintf(out, ADDRESS, "[%s]:%d", host, ntohs(v6->sin6_port));
    } else {
        snprintf(out, ADDRESS, "%s", family == AF_UNIX ? "unix" : "-");
    }
}

static const char *or_dash(const char *text)
{
    return text != NULL && text[0] != '\0' ? text : "-";
}

void mechd_access_write(const struct mechd_access *a)
{
    char address[ADDRESS];
    char path[160] = "";
    char method[32];
    write_address(a->address, address);
    if (a->route == NULL && a->path != NULL) {
        mechd_log_quote(path, sizeof path, a->path);
    }
    mechd_log_quote(method, sizeof method, or_dash(a->method));
    mechd_log(level(), "request",
              "door=%s method=%s route=%s%s%s instance=%s status=%d ms=%.3f in=%zu out=%zu peer=%s "
              "token=%s traceparent=%s",
              mechd_door_names[a->door], a->route != NULL ? a->route->method : method,
              a->route != NULL ? a->route->path : "none", path[0] != '\0' ? " path=" : "", path,
              or_dash(a->instance), a->status, 1e-6 * (double)a->ns, a->in, a->out, address,
              or_dash(a->token), or_dash(a->trace));
}
