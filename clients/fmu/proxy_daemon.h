/* A daemon of one FMU alone: started on a Unix socket in a folder of its own, which only this user
 * may enter, and ended with the component or its process. Not on Windows. */
#pragma once

#include <stddef.h>

struct mechfmu_daemon {
    int pipe;          /* descriptor: closed, the daemon ends */
    int guard;         /* process that waits for it; 0: there is no daemon */
    char folder[64];   /* of its socket */
    char endpoint[96]; /* of its lane */
};

/* Start the program (a path, or a name to be found in PATH) and wait until it listens, at most
 * `timeout` s; zeroed before. Returns the endpoint; NULL: it cannot be started, `why` [size] is a
 * text. One that has been started already is returned. */
const char *mechfmu_daemon_start(struct mechfmu_daemon *d, const char *program, double timeout,
                                 char *why, size_t size);
/* End it, and wait for its end. */
void mechfmu_daemon_stop(struct mechfmu_daemon *d);
