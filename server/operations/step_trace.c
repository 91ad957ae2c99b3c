/* Rows of outputs within a step. */
#include "server/operations/step_trace.h"

#include "protocol/wire/bodies_stepping.h"
#include "server/engine/fmu_engine.h"

#include <stdlib.h>

enum {
    ROWS_MOST = 1000,      /* in a reply; the rest are counted */
    NUMBERS_MOST = 1 << 18 /* of all of them */
};

/* The outputs that are read, and the width of a row. */
static void choose(const struct mechd_engine *e, const json_t *names, struct mechd_step_trace *out)
{
    const size_t n = names != NULL ? json_array_size(names)
                                   : mechd_engine_variable_count(e, MECH_OUTPUT_VARIABLE);
    out->trace.width = 1;
    for (size_t k = 0; k < n; k++) {
        const int32_t at =
            names == NULL ? (int32_t)k
                          : mechd_engine_variable_find(e, MECH_OUTPUT_VARIABLE,
                                                       json_string_value(json_array_get(names, k)));
        if (mechd_engine_fmu_traces(e, at)) {
            struct mech_variable v;
            mechd_engine_variable(e, MECH_OUTPUT_VARIABLE, (size_t)at, &v);
            out->outputs[out->trace.output_count++] = at;
            out->trace.width += (size_t)v.size;
        }
    }
}

void mechd_step_trace_begin(struct mechd_call *c, const json_t *names, struct mechd_step_trace *out)
{
    const struct mechd_engine *const e = &c->job.instance->engine;
    struct mech_trace *const t = &out->trace;
    if (mechd_engine_package(e) == NULL) {
        mech_diag_add(
            &c->diag, "/want",
            "only hosted FMUs have intermediate outputs; for this instance, take smaller steps");
        return;
    }
    const size_t most = names != NULL ? json_array_size(names)
                                      : mechd_engine_variable_count(e, MECH_OUTPUT_VARIABLE);
    out->instance = c->job.instance;
    out->outputs = malloc((most + 1) * sizeof *out->outputs);
    if (out->outputs == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for intermediate outputs");
        return;
    }
    choose(e, names, out);
    t->outputs = out->outputs;
    t->room = t->width > NUMBERS_MOST / ROWS_MOST ? NUMBERS_MOST / t->width : ROWS_MOST;
    if (t->output_count == 0) {
        mech_diag_add(&c->diag, "/want",
                      names == NULL ? "no output of the FMU has intermediate update"
                                    : "none of these outputs has intermediate update");
    } else if (t->room == 0) {
        mechd_fail(c, MECHP_LIMIT_REACHED,
                   "a row of intermediate outputs of %zu numbers is too large", t->width - 1);
    } else {
        t->rows = mechd_doubles(c, t->room * t->width);
    }
}

static void write_columns(const void *of, struct mechp_text *w)
{
    const struct mechd_step_trace *const t = of;
    mechp_text_array(w);
    mechp_text_string(w, "time");
    for (size_t k = 0; k < t->trace.output_count; k++) {
        struct mech_variable v;
        mechd_engine_variable(&t->instance->engine, MECH_OUTPUT_VARIABLE,
                              (size_t)t->trace.outputs[k], &v);
        mechd_write_label(&v, w);
    }
    mechp_text_end(w);
}

void mechd_write_step_trace(const void *of, struct mechp_text *w)
{
    const struct mechd_step_trace *const t = of;
    const struct mech_trace *const trace = &t->trace;
    const struct mechd_matrix rows = {trace->rows, (int32_t)trace->count, (int32_t)trace->width};
    const struct mechp_body_step_intermediate body = {
        .columns = {write_columns, t},
        .rows = {mechd_write_matrix, &rows},
        .more = trace->total > trace->count ? trace->total - trace->count : MECHP_ABSENT};
    MECHP_WRITE(step_intermediate, &body, w);
}

void mechd_step_trace_fini(struct mechd_step_trace *t)
{
    free(t->outputs);
    free(t->trace.rows);
}
