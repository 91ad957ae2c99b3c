/* Notification of the service manager: sd_notify(3)'s protocol, a datagram of lines to the socket
 * that NOTIFY_SOCKET names. Without one nothing happens.
 *
 *   mechd_notify("READY=1\nSTATUS=serving");
 */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

/* Any thread; a notification that cannot be sent is dropped. */
void mechd_notify(const char *lines);
/* RELOADING=1 with the time that Type=notify-reload requires. */
void mechd_notify_reloading(void);

/* The address of a Unix socket, its first byte 0 for `@name`. False: the path is empty or too
 * long. */
bool mechd_unix_address(struct sockaddr_un *a, socklen_t *size, const char *path);
