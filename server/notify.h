/* What the service manager is told: sd_notify(3)'s protocol, a datagram of lines to the socket that
 * NOTIFY_SOCKET names. Without one nothing happens.
 *
 *   mechd_notify("READY=1\nSTATUS=serving");
 */
#pragma once

#include <stdbool.h>

struct mechd;
struct mechd_watchdog;

/* Any thread; what cannot be sent is dropped. */
void mechd_notify(const char *lines);
/* RELOADING=1 with the time that Type=notify-reload asks for. */
void mechd_notify_reloading(void);

/* With WATCHDOG_USEC (and WATCHDOG_PID of this process, or none): a thread that looks every third
 * of
 * that time whether a task gets through the step pool, the ZeroMQ thread has turned, and /livez
 * answers over the first address, and says WATCHDOG=1 only if all have within this look. What takes
 * longer than the manager's patience ends the process: it should be above the building of the
 * largest
 * model. *out is NULL when nobody asks for it. Negative: no thread. */
int mechd_watchdog_start(struct mechd *d, struct mechd_watchdog **out);
/* Ends the thread, before the doors close; a look in progress is cut short. Accepts NULL. */
void mechd_watchdog_stop(struct mechd_watchdog *w);
/* After the pool, which may still have its task. Accepts NULL. */
void mechd_watchdog_free(struct mechd_watchdog *w);
