/* How many connections each door takes, and how many FMUs run, so that those of one leave
 * descriptors to the others: as many as the configuration and the doors' own bounds say, or fewer
 * where the limit of descriptors (ulimit -n) is lower. Then each has its part of what is left
 * beside the daemon's own descriptors and some that are on their way out: libzmq accepts before a
 * door can refuse. */
#pragma once

#include "server/os/config.h"

#include <stdbool.h>

enum {
    MECHD_RESERVE_MOST = 64, /* of HTTP, for probes and refusals */
    MECHD_LINKS_MOST = 1024, /* connections of one socket of ZeroMQ, or of the lane */
    MECHD_HOSTED_MOST = 1024 /* processes of FMUs, where more would be at the cost of a door */
};

struct mechd_shares {
    int http;       /* connections of each address, */
    int reserve;    /* and so many more that may ask for a probe */
    int zmq;        /* of each socket */
    int fmus;       /* processes of FMUs, each with a descriptor; 0: none are hosted */
    long limit;     /* of descriptors, as far as it may be raised */
    bool is_scarce; /* it is less than all wish */
};

/* Any thread; the same for the life of the process. */
struct mechd_shares mechd_shares(const struct mechd_config *c);
