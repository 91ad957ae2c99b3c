/* Sessions with the daemon of the same process. */
#pragma once

#include "tests/fuzz/session.h"

/* The daemon, started at the first call; NULL: it cannot. */
void *session_local_start(void);
/* `send` of a session. */
void session_local(void *context, const char *method, const char *path, const char *body,
                   struct session_reply *reply);
