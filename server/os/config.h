/* The daemon's options (server/daemon/configuration.h reads them). Const once it runs. */
#pragma once

#include "server/os/address.h"

#include <stdbool.h>
#include <stddef.h>

enum { MECHD_LISTEN_MOST = 8 };

struct mechd_config {
    /* [http:// or https://]host:port or [v6]:port; unix:PATH */
    char listen[MECHD_LISTEN_MOST][MECHD_ADDRESS];
    int listen_count;
    char tls_certificate[MECHD_ADDRESS], tls_key[MECHD_ADDRESS]; /* PEM files, or "" */
    char unix_mode[8];                                           /* octal digits */
    char cors[MECHD_LISTEN_MOST][MECHD_ADDRESS];                 /* origins, or "*" alone */
    int cors_count;
    char host[MECHD_LISTEN_MOST][MECHD_ADDRESS]; /* names of this server, without port */
    int host_count;
    int connections, connections_per_address; /* most at once, for each listening address */
    int idle_seconds, head_seconds, body_seconds;
    int body_rate;               /* KiB/s */
    char control[MECHD_ADDRESS]; /* ZeroMQ endpoints; "none": closed */
    char stream[MECHD_ADDRESS];
    char forces[MECHD_ADDRESS];
    char lane[MECHD_ADDRESS];          /* unix:PATH, tcp://host:port, or "none" */
    char state[MECHD_ADDRESS];         /* "none": instances live in memory */
    char durability[16];               /* default of instances */
    char tokens[MECHD_ADDRESS];        /* file, or "" */
    char fmus[8];                      /* "on": FMUs may be uploaded; "off" */
    int fmu_memory;                    /* MiB of address space of each process; 0: no limit */
    int fmu_seconds;                   /* the most that one call of an FMU may take */
    char quota[MECHD_ADDRESS];         /* default limits of tokens, or "" */
    char curve_key[MECHD_ADDRESS];     /* file, or "" */
    char curve_clients[MECHD_ADDRESS]; /* with the key, or "" */
    char ready_file[MECHD_ADDRESS];
    char log_level[16];
    int workers;      /* threads of the step pool; 0: one per processor */
    int model_size;   /* MiB of JSON of the largest model */
    int message_size; /* MiB of a frame; 0: a model to control and the lane, 1 MiB to forces */
    int heartbeat;    /* s between ZeroMQ's heartbeats */
    int handshake_ms; /* time limit for the first message over ZeroMQ or the lane */
    /* The shutdown, ms: for calls in flight until they are cancelled; from then until the process
     * ends without them; for the disk in that case; for the last answers over ZeroMQ. */
    int finish_ms, stuck_ms, store_ms, settle_ms;
    bool insecure;
    bool access_log;
    bool check_config; /* read, check, report, and exit */
    enum mechd_action {
        MECHD_SERVE,
        MECHD_SAY_HELP,
        MECHD_SAY_VERSION,
        MECHD_PRINT,
        MECHD_MAKE_TOKEN,
        MECHD_MAKE_KEY
    } action;
    char print[80]; /* MECHD_PRINT: openapi, schema or types; MECHD_MAKE_…: a name */
    char scopes[32];
};
