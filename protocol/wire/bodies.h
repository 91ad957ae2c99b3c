/* The structs of bodies: each fills the shape of the same name (body.h), whose members say what it
 * is. `@` in a comment: what the function writes. Pointers are the caller's. */
#pragma once

#include "protocol/wire/body.h"

/* --- instances --- */

/* Read and written. */
struct mechp_body_durability {
    const char *mode;
    int64_t steps;
    double seconds;
};

struct mechp_body_clone_request {
    const char *as;
    const json_t *labels;     /* object of texts by name, or null */
    const json_t *ttl;        /* number or null */
    const json_t *durability; /* a word or durability */
};

struct mechp_body_create_request {
    struct mechp_object model;
    const char *example, *snapshot, *fmu;
    struct mechp_object start;
    const json_t *labels, *ttl, *durability; /* as of clone_request */
};

struct mechp_body_instance_edit {
    const json_t *labels, *ttl; /* as of clone_request */
};

struct mechp_body_check_request {
    struct mechp_object model;
};

struct mechp_body_check_reply {
    bool ok;
    struct mechp_written warnings; /* @ list */
};

struct mechp_body_warning {
    const char *pointer, *message;
};

struct mechp_body_sizes {
    int64_t q, v, x, lambda, z, impulse;
};

struct mechp_body_instance {
    const char *id, *name, *engine;
    double time;
    uint64_t step;
    double step_size;
    bool running, busy;
    const char *revision;
    struct mechp_written durability; /* @ a word or durability */
    struct mechp_written labels;     /* @ object of texts by name */
    double ttl, ttl_left;
    struct mechp_written warnings; /* @ list */
    const char *integrator;
    struct mechp_inner sizes; /* sizes */
    uint64_t memory;
    struct mechp_written inputs, outputs, parameters; /* @ lists of names */
    struct mechp_written run;                         /* @ run or null */
    const bool *reproducible;
};

struct mechp_body_instance_list {
    struct mechp_written items; /* @ list of instance */
    const char *next;
};

/* --- analyses, steps --- */

/* Of `instances`, in place of a list of ids. */
struct mechp_body_batch_choice {
    const json_t *label; /* text */
};

struct mechp_body_batch_request {
    const json_t *instances;      /* list of ids, or object */
    const json_t *operation, *op; /* texts */
    struct mechp_object body;
    struct mechp_list items;
    int results;
};

struct mechp_body_linearization_sizes {
    int64_t q, v, x;
};

struct mechp_body_linearization {
    double time;
    struct mechp_inner sizes;                   /* linearization_sizes */
    struct mechp_written inputs, outputs;       /* @ lists of labels */
    struct mechp_written A, B, C, D;            /* @ lists of rows */
    struct mechp_written basis, velocity_basis; /* @ the same */
};

struct mechp_body_step_request {
    double size, until;
    int64_t count;
    struct mechp_object inputs, derivatives, signals, forces;
    struct mechp_list outputs;
    double expect_time;
    struct mechp_list want;
    bool early_return;
    const bool *commit;
};

struct mechp_body_jvp_request {
    double size, until;
    int64_t count;
    const json_t *inputs;    /* object of values by name */
    const json_t *q, *v, *x; /* numbers */
};

struct mechp_body_mode {
    double frequency, damping, omega2, re, im, residual;
    struct mechp_numbers shape, imaginary;
};

struct mechp_body_modes {
    double time;
    const char *linear;
    double speed, acceleration;
    struct mechp_written modes; /* @ list of mode */
};

struct mechp_body_statics_request {
    int64_t load_steps;
    const bool *commit;
};

struct mechp_body_statics_report {
    int64_t load_steps, iterations;
    double residual;
    const char *linear;
};

struct mechp_body_statics {
    double time;
    struct mechp_written outputs; /* @ object of values by name */
    struct mechp_numbers q;
    struct mechp_written report; /* @ statics_report */
};

struct mechp_body_point {
    double time;
    const json_t *q, *v, *x, *z; /* numbers */
};

struct mechp_body_evaluate_request {
    struct mechp_list want;
    double time;
    const json_t *q, *v, *x, *z; /* numbers */
    bool sparse;
};

struct mechp_body_coo {
    struct mechp_written shape; /* @ list of two integers */
    struct mechp_written coo;   /* @ list of rows */
};

struct mechp_body_evaluate_reply {
    double time;
    struct mechp_written lhs, rhs, forces;    /* @ numbers */
    struct mechp_written mass, dFdq, dFdv;    /* @ list of rows, or coo */
    struct mechp_written first_order;         /* @ numbers */
    struct mechp_written rhs_jacobian;        /* @ list of rows */
    struct mechp_written constraints;         /* @ numbers */
    struct mechp_written constraint_jacobian; /* @ as of mass */
};

struct mechp_body_knowns {
    struct mechp_part q, v, x; /* numbers */
    struct mechp_part inputs;  /* object of values by name */
};

struct mechp_body_unknowns {
    struct mechp_part qdot, vdot, xdot; /* numbers */
    struct mechp_part outputs;          /* object of values by name */
};

struct mechp_body_derivatives_request {
    struct mechp_object at, direction, seed;
    bool rates;
};

struct mechp_body_derivatives_reply {
    double time;
    struct mechp_inner derivative;  /* unknowns */
    struct mechp_inner sensitivity; /* knowns */
    struct mechp_written rates;     /* @ object of values by name */
    bool kinked;
};

struct mechp_body_jvp {
    double time;
    uint64_t steps;
    bool differenced, kinked;
    struct mechp_written outputs; /* @ as of statics */
    struct mechp_numbers q, v, a, x;
};

struct mechp_body_stop_reply {
    bool stopped;
};

struct mechp_body_commit {
    double time;
    uint64_t step;
    struct mechp_written outputs; /* @ as of statics */
};

struct mechp_body_commit_request {
    struct mechp_which trial;
};

/* --- contacts, view --- */

struct mechp_body_scene {
    double time;
    uint64_t contacts;
    struct mechp_written bodies, systems; /* @ lists of objects */
};

struct mechp_body_contact {
    struct mechp_written bodies; /* @ two names */
    struct mechp_written shapes; /* @ two names or indices */
    struct mechp_numbers point, normal;
    double gap, normal_force;
    struct mechp_numbers force, impulse, couple;
};

struct mechp_body_contact_list {
    double time;
    struct mechp_written items; /* @ list of contact */
};

/* --- snapshots, trials --- */

struct mechp_body_snapshot {
    const char *id, *parent;
    double time;
    uint64_t bytes;
};

struct mechp_body_snapshot_list {
    struct mechp_written items; /* @ list of snapshot */
    const char *current;
};

struct mechp_body_compare_request {
    const char *to;
    double absolute, relative;
    int64_t most;
};

struct mechp_body_difference {
    const char *kind, *name;
    int64_t index;
    struct mechp_written from, to; /* @ number, word or null */
    double difference;
};

struct mechp_body_compared_times {
    double from, to;
};

struct mechp_body_compared_steps {
    uint64_t from, to;
};

struct mechp_body_comparison {
    const char *from, *to;
    bool identical;
    struct mechp_inner time;     /* compared_times */
    struct mechp_inner step;     /* compared_steps */
    struct mechp_written counts; /* @ object of integers by kind */
    struct mechp_written items;  /* @ list of difference */
};

struct mechp_body_coupling_step_request {
    double size, until;
    int64_t count;
    const bool *commit;
    double expect_time;
    struct mechp_list want;
};

struct mechp_body_coupling_commit_request {
    int64_t trial;
};

struct mechp_body_coupling_snapshot {
    const char *id;
    double time;
    uint64_t window, bytes;
};

struct mechp_body_coupling_snapshot_list {
    struct mechp_written items; /* @ list of coupling_snapshot */
};

struct mechp_body_keep_trial_request {
    const char *name;
    int64_t trial;
};

struct mechp_body_kept_trial {
    const char *name;
    uint64_t trial;
    double time;
    uint64_t bytes;
};

struct mechp_body_kept_trial_list {
    struct mechp_written items; /* @ list of kept_trial */
};

/* --- streams --- */

/* Also of a coupling. */
struct mechp_body_stream_request {
    const char *name;
    struct mechp_list outputs;
    int64_t every;
};

struct mechp_body_stream_part {
    const char *name;
    int64_t offset, count;
};

struct mechp_body_stream {
    const char *name, *topic;
    uint64_t every;
    bool watched;
    struct mechp_written layout; /* @ list of stream_part */
    const char *layout_hash;
};

struct mechp_body_stream_list {
    struct mechp_written items; /* @ list of stream */
};

/* --- FMUs --- */

struct mechp_body_upload_fmu_request {
    const char *fmu;
};

struct mechp_body_fmu_variable {
    const char *name, *type, *causality, *variability;
    int64_t reference;
    const char *unit, *description;
    struct mechp_written start; /* @ number, null, or a list of them */
    double minimum, maximum;
    bool shown;
};

struct mechp_body_fmu {
    const char *id, *model_name, *version, *description, *tool, *owner;
    uint64_t bytes, unpacked;
    bool saves, varies;
    double start_time, stop_time, step_size;
    uint64_t variable_count;
    struct mechp_written variables; /* @ list of fmu_variable */
};

struct mechp_body_fmu_list {
    struct mechp_written items; /* @ list of fmu */
};

/* --- sweeps, runs --- */

struct mechp_body_sweep {
    const char *id, *name, *state;
    uint64_t points, done, failed;
    bool stored;
    struct mechp_written parameters, outputs; /* @ lists of names */
    struct mechp_written errors;              /* @ list of sweep_error */
};

struct mechp_body_sweep_record {
    const json_t *every; /* number */
};

/* Of `parameters`, and of an axis of its grid. */
struct mechp_body_sweep_parameters {
    const json_t *grid, *list; /* object; list */
};

struct mechp_body_sweep_axis {
    double from, to;
    int64_t count;
};

struct mechp_body_sweep_request {
    struct mechp_object model;
    const char *example, *fmu;
    struct mechp_object start;
    struct mechp_object coupling;
    const json_t *parameters; /* object */
    double until;
    int64_t count;
    struct mechp_list outputs;
    struct mechp_object record;
};

struct mechp_body_sweep_error {
    uint64_t point;
    const char *code, *message;
};

struct mechp_body_sweep_list {
    struct mechp_written items; /* @ list of sweep */
};

struct mechp_body_run {
    const char *id, *state;
    double pace, period, start, until, time;
    uint64_t periods, overruns;
    double fraction, elapsed, remaining;
    struct mechp_written record; /* @ run_recorded */
    uint64_t recorded;
    const char *reason;
    struct mechp_written warnings; /* @ list of warning */
};

struct mechp_body_run_record {
    const json_t *every, *seconds; /* numbers */
    const json_t *outputs;         /* list of names */
    bool inputs, hash;
};

struct mechp_body_run_recorded {
    uint64_t every;
    bool inputs, hash;
    struct mechp_written outputs; /* @ list of names */
};

struct mechp_body_run_request {
    double pace, period, until;
    int64_t count;
    struct mechp_object record;
};

struct mechp_body_run_list {
    struct mechp_written items; /* @ list of run */
};

/* --- leases, service --- */

struct mechp_body_example {
    const char *name, *title, *doc;
};

struct mechp_body_example_list {
    struct mechp_written items; /* @ list of example */
};

struct mechp_body_lease {
    uint64_t lease;
    const char *role, *name;
    struct mechp_written channels; /* @ list of names */
    double seconds;
    const char *expires;
    double left;
};

/* Also what changes one. */
struct mechp_body_lease_request {
    int role;
    struct mechp_list channels;
    double seconds;
    const char *name;
};

struct mechp_body_lease_list {
    struct mechp_written items; /* @ list of lease */
};

struct mechp_body_about {
    const char *name, *version, *compiler;
    struct mechp_inner libraries, limits, enabled, endpoints, who; /* about_libraries, … */
    const char *server_key;
    int64_t instances;
};

struct mechp_body_log_level {
    const char *level;
};

struct mechp_body_quota {
    const char *token;
    struct mechp_written limits, used; /* @ objects of numbers */
};

struct mechp_body_operation {
    const char *id, *operation, *state;
    int64_t status;
    const char *location, *etag;
    struct mechp_written answer; /* @ any */
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_about;
extern const struct mechp_shape mechp_body_batch_choice;
extern const struct mechp_shape mechp_body_batch_request;
extern const struct mechp_shape mechp_body_check_reply;
extern const struct mechp_shape mechp_body_check_request;
extern const struct mechp_shape mechp_body_clone_request;
extern const struct mechp_shape mechp_body_commit;
extern const struct mechp_shape mechp_body_commit_request;
extern const struct mechp_shape mechp_body_compare_request;
extern const struct mechp_shape mechp_body_compared_steps;
extern const struct mechp_shape mechp_body_compared_times;
extern const struct mechp_shape mechp_body_comparison;
extern const struct mechp_shape mechp_body_contact;
extern const struct mechp_shape mechp_body_contact_list;
extern const struct mechp_shape mechp_body_coo;
extern const struct mechp_shape mechp_body_coupling_commit_request;
extern const struct mechp_shape mechp_body_coupling_snapshot;
extern const struct mechp_shape mechp_body_coupling_snapshot_list;
extern const struct mechp_shape mechp_body_coupling_step_request;
extern const struct mechp_shape mechp_body_create_request;
extern const struct mechp_shape mechp_body_derivatives_reply;
extern const struct mechp_shape mechp_body_derivatives_request;
extern const struct mechp_shape mechp_body_difference;
extern const struct mechp_shape mechp_body_durability;
extern const struct mechp_shape mechp_body_evaluate_reply;
extern const struct mechp_shape mechp_body_evaluate_request;
extern const struct mechp_shape mechp_body_example;
extern const struct mechp_shape mechp_body_example_list;
extern const struct mechp_shape mechp_body_fmu;
extern const struct mechp_shape mechp_body_fmu_list;
extern const struct mechp_shape mechp_body_fmu_variable;
extern const struct mechp_shape mechp_body_instance;
extern const struct mechp_shape mechp_body_instance_edit;
extern const struct mechp_shape mechp_body_instance_list;
extern const struct mechp_shape mechp_body_jvp;
extern const struct mechp_shape mechp_body_jvp_request;
extern const struct mechp_shape mechp_body_keep_trial_request;
extern const struct mechp_shape mechp_body_kept_trial;
extern const struct mechp_shape mechp_body_kept_trial_list;
extern const struct mechp_shape mechp_body_knowns;
extern const struct mechp_shape mechp_body_lease;
extern const struct mechp_shape mechp_body_lease_list;
extern const struct mechp_shape mechp_body_linearization;
extern const struct mechp_shape mechp_body_linearization_sizes;
extern const struct mechp_shape mechp_body_log_level;
extern const struct mechp_shape mechp_body_mode;
extern const struct mechp_shape mechp_body_modes;
extern const struct mechp_shape mechp_body_operation;
extern const struct mechp_shape mechp_body_point;
extern const struct mechp_shape mechp_body_quota;
extern const struct mechp_shape mechp_body_run;
extern const struct mechp_shape mechp_body_run_list;
extern const struct mechp_shape mechp_body_run_record;
extern const struct mechp_shape mechp_body_run_recorded;
extern const struct mechp_shape mechp_body_run_request;
extern const struct mechp_shape mechp_body_scene;
extern const struct mechp_shape mechp_body_sizes;
extern const struct mechp_shape mechp_body_snapshot;
extern const struct mechp_shape mechp_body_snapshot_list;
extern const struct mechp_shape mechp_body_statics;
extern const struct mechp_shape mechp_body_statics_report;
extern const struct mechp_shape mechp_body_statics_request;
extern const struct mechp_shape mechp_body_step_request;
extern const struct mechp_shape mechp_body_stop_reply;
extern const struct mechp_shape mechp_body_stream;
extern const struct mechp_shape mechp_body_stream_list;
extern const struct mechp_shape mechp_body_stream_part;
extern const struct mechp_shape mechp_body_stream_request;
extern const struct mechp_shape mechp_body_sweep;
extern const struct mechp_shape mechp_body_sweep_error;
extern const struct mechp_shape mechp_body_sweep_list;
extern const struct mechp_shape mechp_body_sweep_axis;
extern const struct mechp_shape mechp_body_sweep_parameters;
extern const struct mechp_shape mechp_body_sweep_record;
extern const struct mechp_shape mechp_body_sweep_request;
extern const struct mechp_shape mechp_body_unknowns;
extern const struct mechp_shape mechp_body_upload_fmu_request;
extern const struct mechp_shape mechp_body_warning;
