/* The daemon: everything that its threads share. One per process, made and ended by main. */
#pragma once

#include "server/call/service.h"
#include "server/coupling/coupling.h"
#include "server/sweep/sweep.h"

struct mechd_http;
struct mechd_lane_door;
struct mechd_watchdog;
struct mechd_zmq;

struct mechd {
    struct mechd_service service;
    struct mechd_sweeps sweeps;
    struct mechd_couplings couplings;
    struct mechd_http *http; /* doors; const once running */
    struct mechd_zmq *zmq;
    struct mechd_lane_door *lane;    /* NULL: closed */
    struct mechd_watchdog *watchdog; /* NULL: nobody asks for it */
    uint64_t started;                /* mechd_now at start */
};

/* Everything that needs no thread first, what the state directory holds, then the doors, by
 * d->service.config; all else is zero. Negative: a sentence is in `fault`, and threads of what has
 * been opened may run. */
int mechd_daemon_start(struct mechd *d, char *fault, size_t size);
/* Finish what is in flight and end all of it; two seconds at most. */
void mechd_daemon_stop(struct mechd *d);
