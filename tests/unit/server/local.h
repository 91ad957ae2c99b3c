/* The daemon within a test's own process, and calls without a door.
 *
 * Started as main starts it: its threads, its HTTP door on a Unix socket, ZeroMQ without sockets
 * (what it would answer is counted and thrown away). One at a time. */
#pragma once

#include "server/daemon/daemon.h"

#include <stdbool.h>
#include <stddef.h>

/* Start it; `state` a directory, or NULL: none. It takes options behind, closed by NULL, as the
 * command line does; NULL: none. All of its threads have begun. NULL: it cannot start, and the log
 * says why. */
struct mechd *local_start(const char *state, const char *const *options);
/* The end of it, as on SIGTERM. */
void local_stop(struct mechd *d);
/* Path of the socket on which it listens. */
const char *local_socket(void);

struct local_request {
    const char *method, *path; /* "POST", "/v1/instances" */
    const char *json;          /* body, or NULL */
    const void *bytes;         /* body that is no JSON [size], or NULL */
    size_t size;
    const char *scope; /* as of an idempotency key, or NULL */
};

struct local_reply {
    int status; /* 0: no memory for the answer, a door would end the connection */
    char *text; /* [size] */
    size_t size;
};

/* One whole call, as a door makes it; the caller frees reply->text. Negative: there is no such
 * route. */
int local_call(struct mechd *d, const struct local_request *request, struct local_reply *reply);
/* The same, of which the status alone is wanted. */
int local_status(struct mechd *d, const char *method, const char *path, const char *json);

/* Wait until nothing is in flight. False: after `ms` there still is. */
bool local_idle(struct mechd *d, int ms);
/* Delete all couplings and instances and wait for what is in flight. False: after `ms` there still
 * is. */
bool local_clear(struct mechd *d, int ms);
