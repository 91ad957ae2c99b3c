/* The structs of bodies about the system descriptor, as those of bodies.h. */
#pragma once

#include "protocol/wire/body.h"

/* What every request about it takes. */
struct mechp_system_options {
    int level;
    double step;
    int contacts;
    double mass, stiffness, damping; /* factors */
};

struct mechp_body_system_product_request {
    const json_t *x; /* numbers */
    bool symmetric;
    struct mechp_system_options options;
    const json_t *frozen; /* names: a list, or a text */
};

struct mechp_body_system_schur_request {
    const json_t *l;       /* numbers */
    const json_t *enabled; /* list of booleans */
    const bool *through_stiffness;
    struct mechp_system_options options;
    const json_t *frozen; /* as above */
};

struct mechp_body_system_project_request {
    const json_t *l, *unknowns; /* numbers */
    const json_t *enabled;      /* list of booleans */
    struct mechp_system_options options;
    const json_t *frozen; /* as above */
};

struct mechp_body_system_feasibility_request {
    const json_t *w, *l; /* numbers */
    struct mechp_system_options options;
    const json_t *frozen; /* as above */
};

struct mechp_body_system_factors {
    double mass, stiffness, damping;
};

struct mechp_body_system_counts {
    int64_t velocities, rows, variables, frozen, masses, constraints, blocks;
};

struct mechp_body_system_part_description {
    const char *name, *doc;
    struct mechp_written shape; /* @ list */
};

struct mechp_body_system_block {
    struct mechp_written variables; /* @ list */
    int64_t K, C, M;
};

struct mechp_body_system_reply {
    double time;
    const char *level;
    double step, theta;
    const char *friction;
    struct mechp_inner factors; /* system_factors */
    bool linear, lumped;
    struct mechp_inner counts;  /* system_counts */
    struct mechp_written parts; /* @ list of system_part_description */
};

struct mechp_body_system_blocks {
    double time;
    const char *level;
    struct mechp_written variables;   /* @ list of system_variables */
    struct mechp_written constraints; /* @ list of system_constraint */
    struct mechp_written blocks;      /* @ list of system_block */
};

struct mechp_body_system_variables {
    const char *name, *mass;
    int64_t mass_number, first, dof, offset;
    bool active;
};

struct mechp_body_system_constraint {
    const char *name, *source, *with;
    int64_t row;
    const char *kind;
    int64_t rows;
    double lower, upper, mu, spinning, rolling;
    int64_t offset;
    bool active;
    struct mechp_written flags; /* @ list of words */
    bool mirrored;
    double position, cfm;
};

struct mechp_body_system_part {
    double time;
    const char *level, *name;
    struct mechp_written shape;     /* @ list of integers */
    struct mechp_written rows, coo; /* @ lists of rows */
    struct mechp_numbers values;
};

struct mechp_body_system_product_reply {
    double time;
    const char *level;
    struct mechp_numbers product;
};

struct mechp_body_system_project_reply {
    double time;
    const char *level;
    struct mechp_numbers l, unknowns;
};

struct mechp_body_system_feasibility {
    double time;
    const char *level;
    double violation, complementarity, balance, residual;
};

/* --- their shapes --- */

extern const struct mechp_shape mechp_body_system_block;
extern const struct mechp_shape mechp_body_system_blocks;
extern const struct mechp_shape mechp_body_system_constraint;
extern const struct mechp_shape mechp_body_system_counts;
extern const struct mechp_shape mechp_body_system_factors;
extern const struct mechp_shape mechp_body_system_feasibility;
extern const struct mechp_shape mechp_body_system_feasibility_request;
extern const struct mechp_shape mechp_body_system_part;
extern const struct mechp_shape mechp_body_system_part_description;
extern const struct mechp_shape mechp_body_system_product_reply;
extern const struct mechp_shape mechp_body_system_product_request;
extern const struct mechp_shape mechp_body_system_project_reply;
extern const struct mechp_shape mechp_body_system_project_request;
extern const struct mechp_shape mechp_body_system_reply;
extern const struct mechp_shape mechp_body_system_schur_request;
extern const struct mechp_shape mechp_body_system_variables;
