/* Addresses as the configuration writes them: [http:// or https://]host:port, unix:PATH, and
 * ZeroMQ's endpoints. Any thread. */
#pragma once

#include <netdb.h>
#include <stdbool.h>
#include <stddef.h>

enum { MECHD_ADDRESS = 256 };

/* True for https://… */
bool mechd_address_is_tls(const char *address);
/* The address of HTTP without its scheme: host:port. */
const char *mechd_address_host(const char *address);
/* True for an address that only this machine reaches: 127.…, [::1], localhost, unix:, ipc://, and
 * of ZeroMQ's endpoints the interface lo. No name is looked up. */
bool mechd_address_is_local(const char *address);
/* Why the host of the address is not found, neither as a name nor, of ZeroMQ's endpoints, as an
 * interface: a sentence of the system. NULL: it is found, or there is none to look for. A name
 * server may take seconds. */
const char *mechd_address_unknown(const char *address);

/* host:port, taken apart. */
struct mechd_hostport {
    char host[MECHD_ADDRESS]; /* without brackets; "": all interfaces */
    char port[8];             /* digits; "0": any free one */
    bool is_v6;               /* in brackets */
};

/* Take host:port or [v6]:port apart; port * is 0, and host * is all. NULL, or what is wrong, as a
 * sentence. */
const char *mechd_hostport_read(struct mechd_hostport *p, const char *text);
/* What it is on this machine, for bind; a name may be several. To be freed. 0, or getaddrinfo's. */
int mechd_hostport_find(const struct mechd_hostport *p, struct addrinfo **out);

/* An endpoint of ZeroMQ as libzmq binds it, which takes numbers and names of interfaces: for a host
 * name its IPv4 address if it has one, because clients of libzmq look for these first.
 * *is_v6: the socket needs ZMQ_IPV6. NULL, or what is wrong, as a sentence. */
const char *mechd_endpoint_resolve(const char *endpoint, char out[MECHD_ADDRESS + 16], bool *is_v6);

/* Why --option cannot listen at the address, by errno, and what to write instead. */
void mechd_address_fault(const char *option, const char *address, int why, char *out, size_t size);
