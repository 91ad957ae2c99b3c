/* The structs of what steps and batches return, as those of bodies.h. */
#pragma once

#include "protocol/wire/body.h"

struct mechp_body_drift {
    double position;
    const char *worst_position;
    double velocity;
    const char *worst_velocity;
    int64_t left_out;
};

struct mechp_body_active {
    const char *of, *item, *with;
    int64_t row;
};

struct mechp_body_jacobian {
    struct mechp_written inputs, outputs; /* @ lists of labels */
    struct mechp_written matrix;          /* @ list of rows */
    bool differenced, kinked;
    struct mechp_written active_set; /* @ list of active */
    bool active_set_constant;
    uint64_t more_active;
};

struct mechp_body_samples {
    struct mechp_list times, values;
};

struct mechp_body_signal {
    struct mechp_list polynomial;
    struct mechp_object samples;
};

struct mechp_body_step_ended {
    const char *by;
    double last_successful_time;
    const char *reason;
};

struct mechp_body_step_event {
    const char *kind, *of, *item, *with;
    int64_t row;
    double since, time, speed;
};

struct mechp_body_step_intermediate {
    struct mechp_written columns, rows; /* @ list of labels, list of rows */
    uint64_t more;
};

struct mechp_body_step_report {
    uint64_t steps;
    double step_size;
    uint64_t iterations, vi_iterations, substeps, refused_substeps, impacts;
    double residual;
    int64_t contacts;
    double impact_energy_gain;
    const char *linear, *vi;
    bool differenced;
    struct mechp_inner joints;     /* drift */
    struct mechp_written warnings; /* @ list of warning */
    double failed_time;
    const char *reason;
};

struct mechp_body_step_reply {
    double time;
    uint64_t step;
    struct mechp_written outputs;  /* @ object of values by name */
    struct mechp_written report;   /* @ step_report */
    struct mechp_written impulses; /* @ object of lists by name */
    uint64_t trial;
    struct mechp_written ended;  /* @ step_ended */
    struct mechp_written events; /* @ list of step_event */
    uint64_t more_events;
    double energy;                     /* infinite: null */
    struct mechp_written derivatives;  /* @ object of values by name, or null */
    struct mechp_written intermediate; /* @ step_intermediate */
    struct mechp_written jacobian;     /* @ jacobian */
};

/* --- batches --- */

struct mechp_body_batch_item_result {
    uint64_t index;
    const char *id;
    int64_t status;
    struct mechp_written body, error; /* @ object, problem */
};

struct mechp_body_batch_reply {
    uint64_t failed;
    struct mechp_written results; /* @ list of batch_item_result */
};

struct mechp_body_batch_table {
    struct mechp_written columns, rows; /* @ list of names, list of rows */
    uint64_t failed;
    struct mechp_written ids, errors; /* @ list of ids, list of batch_item_result */
};

/* As MECHP_WRITE(step_report, body, w): for the step path. */
void mechp_body_write_step_report(const struct mechp_body_step_report *body, struct mechp_text *w);

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_active;
extern const struct mechp_shape mechp_body_batch_item_result;
extern const struct mechp_shape mechp_body_batch_reply;
extern const struct mechp_shape mechp_body_batch_table;
extern const struct mechp_shape mechp_body_drift;
extern const struct mechp_shape mechp_body_jacobian;
extern const struct mechp_shape mechp_body_samples;
extern const struct mechp_shape mechp_body_signal;
extern const struct mechp_shape mechp_body_step_ended;
extern const struct mechp_shape mechp_body_step_event;
extern const struct mechp_shape mechp_body_step_intermediate;
extern const struct mechp_shape mechp_body_step_reply;
extern const struct mechp_shape mechp_body_step_report;
