/* The outputs within a step of a hosted FMU, from the request to the reply. */
#pragma once

#include "server/call/shapes.h"

struct mechd_step_trace {
    const struct mechd_instance *instance;
    struct mech_trace trace; /* rows NULL: not wanted */
    int32_t *outputs;
};

/* Of the outputs that the list `names` of the request has (NULL: all), whose names exist, those
 * that are read within a step; and room for their rows. What has none is refused (c->diag,
 * c->code). */
void mechd_step_trace_begin(struct mechd_call *c, const json_t *names,
                            struct mechd_step_trace *out);
/* A struct mechd_step_trace with its rows, as a value of a body. */
void mechd_write_step_trace(const void *of, struct mechp_text *w);
void mechd_step_trace_fini(struct mechd_step_trace *t);
