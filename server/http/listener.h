/* One address of the HTTP door. owner: main; connections' threads read what is const. Internal to
 * server/http. */
#pragma once

#include "server/http/link.h"
#include "server/os/config.h"

#include <microhttpd.h>
#include <stdbool.h>

struct mechd_service;

struct mechd_listener {
    struct mechd_service *service;
    struct mechd_links links;
    struct MHD_Daemon *mhd;
    _Atomic bool closed; /* accepts no more connections; partner: mechd_door_accept */
    int socket;          /* libmicrohttpd's once it serves: MHD_stop_daemon closes it */
    bool is_tcp;         /* not a Unix socket; const */
    bool is_tls;         /* const */
    bool is_local;       /* reached from this machine only; const */
    char address[MECHD_ADDRESS + 16]; /* "http://127.0.0.1:8080", "unix:PATH"; const */
    char path[MECHD_ADDRESS];         /* of a Unix socket, to be removed, or "" */
};

/* Listen on host:port, [v6]:port, http://…, https://… or unix:PATH; fills in socket, address and
 * what it is. 0, or -1 with errno. A Unix socket gets `mode`; one without a listener
 * is replaced. */
int mechd_listen(struct mechd_listener *l, const char *address, unsigned mode);
