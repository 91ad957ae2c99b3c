/* Sockets that listen, for doors that take connections themselves. */
#pragma once

#include "server/os/address.h"

enum { MECHD_PORT = 16 };

/* At a path, with these permissions; a socket there on which nothing listens any more is replaced.
 * A socket, or -1 with errno. */
int mechd_listen_unix(const char *path, unsigned mode);
/* At the first address of a place that can be bound; *port: the actual port. A socket, or
 * -1 with errno. */
int mechd_listen_tcp(const struct mechd_hostport *p, char port[MECHD_PORT]);
