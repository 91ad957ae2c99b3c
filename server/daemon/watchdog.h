/* The service manager's watchdog (sd_watchdog_enabled(3)). */
#pragma once

struct mechd;
struct mechd_watchdog;

/* With WATCHDOG_USEC (and WATCHDOG_PID of this process, or none): a thread that checks every third
 * of that time whether a task passes through the step pool, the ZeroMQ thread has iterated, and
 * /livez answers over the first address, and sends WATCHDOG=1 only if all have within this check. A
 * delay longer than the manager's timeout ends the process: the timeout should be longer than the
 * building of the largest model. *out is NULL if no watchdog is requested. Negative: no thread. */
int mechd_watchdog_start(struct mechd *d, struct mechd_watchdog **out);
/* Ends the thread, before the doors close; a check in progress is cut short. Accepts NULL. */
void mechd_watchdog_stop(struct mechd_watchdog *w);
/* After the pool, which may still have its task. Accepts NULL. */
void mechd_watchdog_free(struct mechd_watchdog *w);
