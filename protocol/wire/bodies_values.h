/* The structs of bodies about values and states, and of problems that stand alone, as those of
 * bodies.h. */
#pragma once

#include "protocol/wire/body.h"

struct mechp_body_inputs {
    double time;
    struct mechp_written inputs;   /* @ object of values by name */
    struct mechp_written impulses; /* @ object of lists by name */
};

struct mechp_body_outputs {
    double time;
    struct mechp_written outputs; /* @ object of values by name */
};

struct mechp_body_parameters {
    double time;
    struct mechp_written parameters; /* @ object of numbers by name */
    struct mechp_written impulses;   /* @ as of inputs */
};

struct mechp_body_item_output {
    double time;
    const char *name, *variable, *configuration, *unit;
    struct mechp_numbers value;
};

struct mechp_body_set_inputs_request {
    const json_t *inputs, *derivatives; /* objects */
};

struct mechp_body_set_parameters_request {
    const json_t *parameters; /* object */
};

struct mechp_body_set_field_request {
    const json_t *value;
    int category, positions;
};

struct mechp_body_set_field {
    double time;
    const char *name, *field;
    struct mechp_written value; /* @ as in a document */
    struct mechp_numbers impulse;
};

struct mechp_body_state {
    double time;
    uint64_t step;
    struct mechp_numbers q, v, vdot, a, lambda, impulse, x, z;
    const bool *reproducible;
    const char *snapshot;
};

struct mechp_body_set_state_request {
    double time;
    const json_t *q, *v, *x, *z; /* numbers */
    const json_t *snapshot;
};

struct mechp_body_state_hash {
    double time;
    uint64_t step;
    struct mechp_numbers hash;
};

struct mechp_body_variable {
    const char *name, *causality, *variability, *unit;
    struct mechp_written shape; /* @ list of one size, or of none */
    int64_t reference;
    struct mechp_written start; /* @ value */
};

struct mechp_body_variable_list {
    struct mechp_written items; /* @ list of variable */
};

/* --- problems --- */

struct mechp_body_solve_request {
    struct mechp_object problem;
};

struct mechp_body_solve_report {
    const char *solver;
    bool converged;
    int64_t iterations;
    double residual, acceptance;
    struct mechp_numbers certificate;
};

struct mechp_body_solve_reply {
    struct mechp_numbers l, c, w;
    struct mechp_inner report; /* solve_report */
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_inputs;
extern const struct mechp_shape mechp_body_item_output;
extern const struct mechp_shape mechp_body_outputs;
extern const struct mechp_shape mechp_body_parameters;
extern const struct mechp_shape mechp_body_set_field;
extern const struct mechp_shape mechp_body_set_field_request;
extern const struct mechp_shape mechp_body_set_inputs_request;
extern const struct mechp_shape mechp_body_set_parameters_request;
extern const struct mechp_shape mechp_body_set_state_request;
extern const struct mechp_shape mechp_body_solve_reply;
extern const struct mechp_shape mechp_body_solve_report;
extern const struct mechp_shape mechp_body_solve_request;
extern const struct mechp_shape mechp_body_state;
extern const struct mechp_shape mechp_body_state_hash;
extern const struct mechp_shape mechp_body_variable;
extern const struct mechp_shape mechp_body_variable_list;
