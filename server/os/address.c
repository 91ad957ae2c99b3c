#include "server/os/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

enum { PORT_MOST = 65535 };
static const char tcp[] = "tcp://";

bool mechd_address_is_tls(const char *address)
{
    return strncmp(address, "https://", 8) == 0;
}

const char *mechd_address_host(const char *address)
{
    return mechd_address_is_tls(address)         ? address + 8
           : strncmp(address, "http://", 7) == 0 ? address + 7
                                                 : address;
}

/* True if the text begins so. */
static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* True for the name of the loopback (RFC 6761, 6.3), also with the dot of the root behind it. */
static bool is_localhost(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strcasecmp(host, "localhost.") == 0;
}

/* True for an address of the loopback; a number in any of the ways that inet(3) reads. */
static bool is_loopback(const struct addrinfo *a)
{
    if (a->ai_family == AF_INET) {
        const struct sockaddr_in *const v4 = (const struct sockaddr_in *)(const void *)a->ai_addr;
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    }
    const struct sockaddr_in6 *const v6 = (const struct sockaddr_in6 *)(const void *)a->ai_addr;
    return a->ai_family == AF_INET6 &&
           (IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ||
            (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) && v6->sin6_addr.s6_addr[12] == 127));
}

/* True for an interface whose first IPv4 address, which libzmq binds, is of the loopback. */
static bool is_loopback_interface(const char *name)
{
    struct ifaddrs *all = NULL;
    if (getifaddrs(&all) != 0) {
        return false;
    }
    const struct ifaddrs *a = all;
    while (a != NULL && (strcmp(a->ifa_name, name) != 0 || a->ifa_addr == NULL ||
                         a->ifa_addr->sa_family != AF_INET)) {
        a = a->ifa_next;
    }
    const bool local =
        a != NULL && is_loopback(&(struct addrinfo){.ai_family = AF_INET, .ai_addr = a->ifa_addr});
    freeifaddrs(all);
    return local;
}

bool mechd_address_is_local(const char *address)
{
    struct mechd_hostport p;
    if (begins(address, "unix:") || begins(address, "ipc://") || strcmp(address, "none") == 0) {
        return true;
    }
    const bool endpoint = begins(address, tcp);
    address = endpoint ? address + sizeof tcp - 1 : mechd_address_host(address);
    // a fault of the port does not depend on which machines reach it
    (void)mechd_hostport_read(&p, address);
    if (p.host[0] == '\0') {
        return false;
    }
    if (is_localhost(p.host)) {
        return true;
    }
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST};
    struct addrinfo *found = NULL;
    if (getaddrinfo(p.host, NULL, &hints, &found) != 0) {
        return endpoint && is_loopback_interface(p.host);
    }
    const bool local = is_loopback(found);
    freeaddrinfo(found);
    return local;
}

const char *mechd_address_unknown(const char *address)
{
    struct mechd_hostport p;
    struct addrinfo *found = NULL;
    if (begins(address, "unix:") || begins(address, "ipc://") || strcmp(address, "none") == 0) {
        return NULL;
    }
    const bool endpoint = begins(address, tcp);
    address = endpoint ? address + sizeof tcp - 1 : mechd_address_host(address);
    if (mechd_hostport_read(&p, address) != NULL || p.host[0] == '\0' ||
        (endpoint && if_nametoindex(p.host) != 0)) {
        return NULL;
    }
    const int outcome = mechd_hostport_find(&p, &found);
    if (outcome == 0) {
        freeaddrinfo(found);
    }
    return outcome == 0 ? NULL : gai_strerror(outcome);
}

const char *mechd_hostport_read(struct mechd_hostport *p, const char *text)
{
    const char *colon = strrchr(text, ':');
    const char *const bracket = strrchr(text, ']');
    colon = bracket != NULL && colon < bracket ? NULL : colon;
    const size_t n = colon != NULL ? (size_t)(colon - text) : strlen(text);
    *p = (struct mechd_hostport){.is_v6 = n >= 2 && text[0] == '[' && text[n - 1] == ']'};
    const size_t length = p->is_v6 ? n - 2 : n;
    if (length >= sizeof p->host) {
        return "the host name is too long";
    }
    snprintf(p->host, sizeof p->host, "%.*s", (int)length, text + p->is_v6);
    if (strcmp(p->host, "*") == 0) {
        p->host[0] = '\0';
    }
    if (p->is_v6 && p->host[0] == '\0') {
        return "the brackets are empty; write [::] for all interfaces";
    }
    if (p->host[strcspn(p->host, " \t,")] != '\0') {
        return "a host name must contain neither blanks nor commas";
    }
    if (!p->is_v6 && strchr(p->host, ':') != NULL) {
        return "an IPv6 address must be in brackets, as in [::1]:8080";
    }
    if (p->host[strcspn(p->host, "/[]")] != '\0') {
        return "a host name must contain neither slashes nor brackets";
    }
    if (colon == NULL || colon[1] == '\0') {
        return "no port: append one, as in 127.0.0.1:8080";
    }
    const size_t digits = strlen(colon + 1);
    const bool any = strcmp(colon + 1, "*") == 0;
    if (!any && (strspn(colon + 1, "0123456789") != digits || digits > 5 ||
                 strtol(colon + 1, NULL, 10) > PORT_MOST)) {
        return "the port must be a number up to 65535, or 0 or * for a free one";
    }
    snprintf(p->port, sizeof p->port, "%s", any ? "0" : colon + 1);
    return NULL;
}

int mechd_hostport_find(const struct mechd_hostport *p, struct addrinfo **out)
{
    const struct addrinfo hints = {.ai_family = p->is_v6 ? AF_INET6 : AF_UNSPEC,
                                   .ai_socktype = SOCK_STREAM,
                                   .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    const int fault = getaddrinfo(p->host[0] != '\0' ? p->host : NULL, p->port, &hints, out);
    if (fault != 0 && is_localhost(p->host)) {
        // by definition, also where there is no /etc/hosts
        return getaddrinfo("127.0.0.1", p->port, &hints, out);
    }
    return fault;
}

const char *mechd_endpoint_resolve(const char *endpoint, char out[MECHD_ADDRESS + 16], bool *is_v6)
{
    struct mechd_hostport p;
    *is_v6 = false;
    snprintf(out, MECHD_ADDRESS + 16, "%s", endpoint);
    if (!begins(endpoint, tcp)) {
        return NULL;
    }
    const char *const fault = mechd_hostport_read(&p, endpoint + sizeof tcp - 1);
    if (fault != NULL) {
        return fault;
    }
    const char *const port = strcmp(p.port, "0") == 0 ? "*" : p.port;
    if (p.host[0] == '\0' || (!p.is_v6 && if_nametoindex(p.host) != 0)) {
        snprintf(out, MECHD_ADDRESS + 16, "tcp://%s:%s", p.host[0] != '\0' ? p.host : "*", port);
        return NULL;
    }
    struct addrinfo *found = NULL;
    const int outcome = mechd_hostport_find(&p, &found);
    if (outcome != 0) {
        return gai_strerror(outcome);
    }
    const struct addrinfo *a = found;
    while (a->ai_next != NULL && a->ai_family != AF_INET) {
        a = a->ai_next;
    }
    a = a->ai_family == AF_INET ? a : found;
    char number[MECHD_ADDRESS] = "";
    *is_v6 = a->ai_family == AF_INET6;
    const int told =
        getnameinfo(a->ai_addr, a->ai_addrlen, number, sizeof number, NULL, 0, NI_NUMERICHOST);
    snprintf(out, MECHD_ADDRESS + 16, *is_v6 ? "tcp://[%s]:%s" : "tcp://%s:%s", number, port);
    freeaddrinfo(found);
    return told == 0 ? NULL : gai_strerror(told);
}

void mechd_address_fault(const char *option, const char *address, int why, char *out, size_t size)
{
    const bool path = begins(address, "unix:") || begins(address, "ipc://");
    const struct {
        int why;
        bool path;
        const char *hint;
    } hints[] = {
        {EADDRINUSE, false, "write another port, or 0 for any free one"},
        {EADDRINUSE, true, "only a socket whose program has ended is replaced; write another path"},
        {EADDRNOTAVAIL, false,
         "write 127.0.0.1 for this machine only, 0.0.0.0 or [::] for all of "
         "its interfaces"},
        {ENODEV, false,
         "write 127.0.0.1 for this machine only, 0.0.0.0 or [::] for all of its "
         "interfaces"},
        {EAFNOSUPPORT, false, "write 127.0.0.1"},
        {EACCES, false, "write a port from 1024 on"},
        {EACCES, true, "write a path where this user may create a socket"},
        {ENOENT, true, "the folder of that path does not exist"},
        {ENAMETOOLONG, true, "the path of a Unix socket must have 1 to 107 bytes"},
    };
    const char *hint = "";
    for (size_t k = 0; k < sizeof hints / sizeof *hints; k++) {
        hint = hints[k].why == why && hints[k].path == path ? hints[k].hint : hint;
    }
    const char *const unknown = why == EADDRNOTAVAIL ? mechd_address_unknown(address) : NULL;
    snprintf(out, size, "--%s %s: %s%s%s%s", option, address,
             unknown != NULL ? "the host is not found: " : "",
             unknown != NULL ? unknown : strerror(why), *hint != '\0' ? "; " : "", hint);
}
