/* Sessions with a daemon over HTTP: one kept connection of a client. owner: one thread. */
#pragma once

#include "tests/fuzz/session.h"

struct session_connection {
    const char *address; /* "127.0.0.1:8080" */
    int socket;          /* -1: none yet */
};

void session_http_end(struct session_connection *c);
/* `send` of a session: a whole reply, with a length or in chunks; status 0: none came whole within
 * 60 s, and the next request makes a connection of its own. */
void session_http(void *context, const char *method, const char *path, const char *body,
                  struct session_reply *reply);
