/* The daemon: everything that its threads share. One per process, made and ended by main. */
#pragma once

#include "server/clock.h"
#include "server/config.h"
#include "server/instance/table.h"
#include "server/metrics.h"
#include "server/pool.h"

struct mechd_http;
struct mechd_zmq;

struct mechd {
    struct mechd_config config; /* const once running */
    struct mechd_metrics metrics;
    struct mechd_pool pool;
    struct mechd_clock clock;
    struct mechd_table table;
    struct mechd_http *http; /* doors; const once running */
    struct mechd_zmq *zmq;
    uint64_t started;      /* mechd_now at start */
    uint64_t incarnation;  /* of the process; instances add their serial */
    _Atomic bool ready;    /* takes work; partner: /readyz */
    _Atomic bool draining; /* refuses new work; partner: both doors */
    _Atomic bool cancel;   /* long commands stop at their next slice; partner: stepping */
    _Atomic int in_flight; /* calls taken and not yet answered */
};
