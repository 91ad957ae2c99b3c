/* The daemon: everything that its threads share. One per process, created and ended by main. */
#pragma once

#include "server/call/outside.h"
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
    struct mechd_outsides outsides;
    struct mechd_http *http; /* doors; const once running */
    struct mechd_zmq *zmq;
    struct mechd_lane_door *lane;    /* NULL: closed */
    struct mechd_watchdog *watchdog; /* NULL: not requested */
    uint64_t started;                /* mechd_now at start */
};

/* Start everything that needs no thread, load the state directory, then open the doors, by
 * d->service.config; all else is zero. Negative: a sentence is in `fault`, and threads of opened
 * parts may be running. */
int mechd_daemon_start(struct mechd *d, char *fault, size_t size);
/* Finish requests in flight and shut everything down; two seconds at most. */
void mechd_daemon_stop(struct mechd *d);
