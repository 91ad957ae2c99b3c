/* The sockets of the addresses, and their peers. */
#include "server/os/listen.h"
#include "server/http/door.h"
#include "server/http/listener.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char https[] = "https://";
static const char http[] = "http://";
static const char local[] = "unix:";

int mechd_listen(struct mechd_listener *l, const char *address, unsigned mode)
{
    l->is_tls = mechd_address_is_tls(address);
    l->is_tcp = strncmp(address, local, sizeof local - 1) != 0;
    l->is_local = mechd_address_is_local(address);
    struct mechd_hostport p;
    char port[MECHD_PORT] = "";
    if (!l->is_tcp) {
        const char *const path = address + sizeof local - 1;
        l->socket = mechd_listen_unix(path, mode);
        if (l->socket >= 0) {
            snprintf(l->path, sizeof l->path, "%s", path);
            snprintf(l->address, sizeof l->address, "%s", address);
        }
    } else if (mechd_hostport_read(&p, mechd_address_host(address)) != NULL) {
        errno = EINVAL;
        l->socket = -1;
    } else {
        l->socket = mechd_listen_tcp(&p, port);
        snprintf(l->address, sizeof l->address, p.is_v6 ? "%s[%s]:%s" : "%s%s:%s",
                 l->is_tls ? https : http, p.host[0] != '\0' ? p.host : "0.0.0.0", port);
    }
    return l->socket < 0 ? -1 : 0;
}

enum MHD_Result mechd_door_accept(void *context, const struct sockaddr *address,
                                  socklen_t address_size)
{
    struct mechd_listener *l = context;
    (void)address_size;
    return !atomic_load(&l->closed) && mechd_links_admit(&l->links, address) ? MHD_YES : MHD_NO;
}

void mechd_door_connected(void *context, struct MHD_Connection *connection, void **socket_context,
                          enum MHD_ConnectionNotificationCode code)
{
    struct mechd_listener *l = context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = mechd_link_open(&l->links, connection);
    } else if (*socket_context != NULL) {
        mechd_link_close(*socket_context);
        *socket_context = NULL;
    }
}
