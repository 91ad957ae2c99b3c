/* A sink for the few sentences that the solver has to say outside a step (never inside one).
 * The daemon hands one in; NULL is silence. Any thread that owns the instance may call it. */
#pragma once

struct mech_log {
    void (*write)(void *context, int level,
                  const char *text); /* level: as syslog, 3 error … 7 debug */
    void *context;
};
