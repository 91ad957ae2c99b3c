/* The structs of bodies about couplings, as those of bodies.h. */
#pragma once

#include "protocol/wire/body.h"

/* --- what makes one, read and written --- */

struct mechp_body_coupling_partner {
    struct mechp_list inputs, outputs; /* names */
    const bool *rollback;
    double patience;
};

struct mechp_body_coupling_participant {
    const char *name, *instance;
    struct mechp_object partner; /* coupling_partner */
};

/* Of a coupling that is swept. */
struct mechp_body_sweep_participant {
    const char *name;
    struct mechp_object model;
    const json_t *example; /* text */
};

struct mechp_body_coupling_scheme {
    const json_t *type; /* text */
    double relative_tolerance, absolute_tolerance;
    int64_t max_iterations;
    double relaxation;
    int64_t reuse;
    double filter;
    const json_t *order; /* list of names */
};

struct mechp_body_coupling_waveform {
    int64_t degree;
    const bool *substeps;
};

struct mechp_body_coupling_adaptive {
    double relative_tolerance, absolute_tolerance, minimum, maximum;
};

struct mechp_body_coupling_connection {
    const json_t *from, *to; /* texts */
    double factor, offset;
};

struct mechp_body_bond_law {
    double stiffness, damping, rest, delay, impedance;
};

struct mechp_body_coupling_bond {
    const json_t *name;          /* text */
    const json_t *effort, *flow; /* lists of two texts */
    const json_t *kind;          /* text */
    const json_t *law;           /* a word, or bond_law */
    double gap;
};

/* Also that of a sweep. */
struct mechp_body_couple_request {
    const char *name;
    struct mechp_list participants; /* coupling_participant, or sweep_participant */
    struct mechp_list connections;  /* coupling_connection */
    struct mechp_list bonds;        /* coupling_bond */
    struct mechp_object scheme;     /* coupling_scheme */
    int64_t hold;
    struct mechp_object waveform; /* coupling_waveform */
    double step_size;
    struct mechp_list outputs;    /* texts; absent: all */
    struct mechp_object adaptive; /* coupling_adaptive */
};

/* --- replies --- */

struct mechp_body_coupling_program {
    struct mechp_written inputs, outputs; /* @ lists of names */
    bool rollback;
    double patience;
    bool connected;
    uint64_t window;
};

struct mechp_body_coupling_member {
    const char *name, *instance;
    struct mechp_written partner; /* @ program */
};

struct mechp_body_coupling_last {
    const char *command;
    uint64_t windows, iterations, evaluations;
    double residual;
    const char *code, *detail;
};

struct mechp_body_coupling {
    const char *id, *name;
    double time;
    uint64_t windows;
    bool busy, running;
    const char *durability;
    struct mechp_written last; /* @ coupling_last or null */
    const char *scheme;
    double step_size;
    struct mechp_written participants; /* @ list of coupling_member */
    struct mechp_written connections;  /* @ list of texts */
    struct mechp_written layout;       /* @ list of stream_part */
    struct mechp_written document;     /* @ object */
};

struct mechp_body_coupling_list {
    struct mechp_written items; /* @ list of coupling */
};

struct mechp_body_coupling_step_reply {
    double time;
    uint64_t window;
    struct mechp_written outputs; /* @ object of values by name */
    struct mechp_written report;  /* @ coupling_report */
    double energy;                /* infinite: null */
    uint64_t trial;
};

struct mechp_body_coupling_commit_reply {
    double time;
    uint64_t window;
    struct mechp_written outputs; /* @ as of coupling_step_reply */
};

struct mechp_body_coupling_state {
    double time;
    uint64_t window;
    const char *snapshot;
};

struct mechp_body_set_coupling_state_request {
    const char *snapshot;
};

struct mechp_body_coupling_restored {
    double time;
    uint64_t window;
    struct mechp_written outputs; /* @ as of coupling_step_reply */
    bool reproducible;
};

struct mechp_body_coupling_flow {
    double power, energy, balance;
};

struct mechp_body_coupling_report {
    uint64_t windows, iterations, evaluations, refused;
    struct mechp_written residual;  /* @ object of numbers */
    struct mechp_written interface; /* @ object of coupling_flow */
    struct mechp_written warnings;  /* @ list of warning */
};

struct mechp_body_coupling_stability {
    double size, spectral_radius;
    bool stable;
    double largest_stable, recommended, least, most;
    const char *reason;
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_bond_law;
extern const struct mechp_shape mechp_body_couple_request;
extern const struct mechp_shape mechp_body_coupling;
extern const struct mechp_shape mechp_body_coupling_adaptive;
extern const struct mechp_shape mechp_body_coupling_bond;
extern const struct mechp_shape mechp_body_coupling_commit_reply;
extern const struct mechp_shape mechp_body_coupling_connection;
extern const struct mechp_shape mechp_body_coupling_flow;
extern const struct mechp_shape mechp_body_coupling_last;
extern const struct mechp_shape mechp_body_coupling_list;
extern const struct mechp_shape mechp_body_coupling_member;
extern const struct mechp_shape mechp_body_coupling_participant;
extern const struct mechp_shape mechp_body_coupling_partner;
extern const struct mechp_shape mechp_body_coupling_program;
extern const struct mechp_shape mechp_body_coupling_report;
extern const struct mechp_shape mechp_body_coupling_restored;
extern const struct mechp_shape mechp_body_coupling_state;
extern const struct mechp_shape mechp_body_coupling_scheme;
extern const struct mechp_shape mechp_body_coupling_stability;
extern const struct mechp_shape mechp_body_coupling_step_reply;
extern const struct mechp_shape mechp_body_coupling_waveform;
extern const struct mechp_shape mechp_body_set_coupling_state_request;
extern const struct mechp_shape mechp_body_sweep_participant;
