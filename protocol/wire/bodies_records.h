/* The structs of what the daemon writes as JSON for itself, as those of bodies.h: descriptions of
 * runs and sweeps in the store, which later versions read, and the file of --ready-file. */
#pragma once

#include "protocol/wire/body.h"

/* What does not change while a run is in progress. */
struct mechp_body_stored_run {
    double pace, period, start, until;
    uint64_t every;
    bool inputs, hash;
    struct mechp_list outputs; /* names; absent: all */
    const char *warning;
};

struct mechp_body_stored_output {
    const char *name;
    int64_t size;
    bool scalar;
};

struct mechp_body_stored_sweep {
    const char *name;
    int64_t points;
    struct mechp_list parameters; /* names */
    struct mechp_list outputs;    /* stored_output */
};

/* Addresses that are not open, and paths that are not set, are NULL. */
struct mechp_body_ready_file {
    int64_t pid;
    const char *http, *control, *stream, *forces, *lane, *state, *server_key;
};

/* What the hash of a stream's layout is of. */
struct mechp_body_hashed_layout {
    struct mechp_written layout; /* @ list of stream_part (bodies.h) */
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_hashed_layout;
extern const struct mechp_shape mechp_body_ready_file;
extern const struct mechp_shape mechp_body_stored_output;
extern const struct mechp_shape mechp_body_stored_run;
extern const struct mechp_shape mechp_body_stored_sweep;
