/* A sink for the few messages that the solver logs outside a step (never inside one).
 * The daemon provides one; NULL: no log. Any thread that owns the instance may call it. */
#pragma once

struct mech_log {
    void (*write)(void *context, int level,
                  const char *text); /* level: as syslog, 3 error … 7 debug */
    void *context;
};
