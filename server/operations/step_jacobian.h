/* The jacobian in the reply of a step: of the outputs that the reply has, and for what it holds. */
#pragma once

#include "server/call/shapes.h"
#include "solver/sim/analysis.h"

struct mechd_step_jacobian {
    const struct mechd_instance *instance;
    int32_t *outputs; /* [output_count] indices in the order of the request; NULL: all */
    size_t output_count;
    size_t rows;    /* of values */
    double *values; /* [rows × inputs] */
    size_t size;
    struct mech_active_set active;
    struct mech_derived derived;
};

/* Which outputs are the rows, by the list `names` of the request (NULL: all), whose names exist;
 * and room for the active set. False: refused, no memory. */
bool mechd_step_jacobian_rows(struct mechd_call *c, const json_t *names,
                              struct mechd_step_jacobian *out);
/* A struct mechd_step_jacobian whose values are there, as a value of a body. */
void mechd_write_step_jacobian(const void *of, struct mechp_text *w);
void mechd_step_jacobian_fini(struct mechd_step_jacobian *j);
