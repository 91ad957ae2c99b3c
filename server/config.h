/* Configuration: flags over environment (MECHD_…) over the file of --config. One table names every
 * option for all three. owner: main, const once the daemon runs. */
#pragma once

#include "server/log.h"

#include <stdbool.h>
#include <stddef.h>

enum { MECHD_LISTEN_MOST = 8, MECHD_ADDRESS = 256 };

struct mechd_config {
    char listen[MECHD_LISTEN_MOST][MECHD_ADDRESS]; /* host:port, [v6]:port or unix:PATH */
    int listen_count;
    char control[MECHD_ADDRESS]; /* ZeroMQ endpoints; "none": closed */
    char stream[MECHD_ADDRESS];
    char forces[MECHD_ADDRESS];
    char state[MECHD_ADDRESS];  /* "none": instances live in memory */
    char durability[16];        /* of instances that do not say */
    char tokens[MECHD_ADDRESS]; /* file, or "" */
    char ready_file[MECHD_ADDRESS];
    char log_level[16];
    int workers;    /* threads of the step pool; 0: one per processor */
    int model_size; /* MiB of JSON of the largest model */
    bool insecure;
    bool access_log;
    bool check_config; /* read, check, say so, and leave */
    enum { MECHD_SERVE, MECHD_SAY_HELP, MECHD_SAY_VERSION, MECHD_PRINT, MECHD_MAKE_TOKEN } action;
    char print[80]; /* MECHD_PRINT: openapi, schema or types; MECHD_MAKE_TOKEN: its name */
    char scopes[32];
};

/* Read flags, environment and file, and check the whole. Negative: a sentence is in `fault`. */
int mechd_config_read(struct mechd_config *c, int argc, char **argv, char *fault, size_t size);

/* The number of that durability (enum mechd_durability), or −1: there is none of that name. */
int mechd_config_durability(const struct mechd_config *c);

/* The text of --help, from the table. */
void mechd_config_help(void);
/* The manual page mechd.1. */
void mechd_config_manual(void);

/* True for an address that only this machine reaches: 127.…, [::1], localhost, unix:, ipc://. */
bool mechd_config_is_local(const char *address);
