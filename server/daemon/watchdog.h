/* The service manager's watchdog (sd_watchdog_enabled(3)). */
#pragma once

struct mechd;
struct mechd_watchdog;

/* With WATCHDOG_USEC (and WATCHDOG_PID of this process, or none): a thread that looks every
 * third of that time whether a task gets through the step pool, the ZeroMQ thread has turned, and
 * /livez answers over the first address, and says WATCHDOG=1 only if all have within this look.
 * What takes longer than the manager's patience ends the process: it should be above the building
 * of the largest model. *out is NULL when nobody asks for it. Negative: no thread. */
int mechd_watchdog_start(struct mechd *d, struct mechd_watchdog **out);
/* Ends the thread, before the doors close; a look in progress is cut short. Accepts NULL. */
void mechd_watchdog_stop(struct mechd_watchdog *w);
/* After the pool, which may still have its task. Accepts NULL. */
void mechd_watchdog_free(struct mechd_watchdog *w);
