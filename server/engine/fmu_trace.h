/* Outputs of an FMU of FMI 3.0 within a step: read in its intermediate updates, wherever it has
 * finished an internal step. The process that hosts it keeps the rows of one step, which the answer
 * to that step has. Numbers are float64, also of outputs that are float32.
 *
 * Source: FMI 3.0.2, section 4.2.2. */
#pragma once

#include "server/engine/fmu_description.h"
#include "server/engine/fmu_pipe.h"
#include "server/engine/fmu_verbs.h"

enum { MECHD_FMU_TRACE_MOST = 1 << 20 /* numbers of the rows of one step */ };

/* An output that is read. */
struct mechd_fmu_traced {
    uint32_t reference;
    enum mechd_fmu_type type; /* float64 or float32 */
    size_t elements;          /* at least 1 */
};

/* Which outputs are read over the next step, and what they have been. Zeroed: none. */
struct mechd_fmu_trace {
    struct mechd_fmu_traced *at; /* [count] */
    size_t count;
    size_t width; /* numbers of a row: the time, s, and those of the outputs; 0: none is wanted */
    size_t room, rows; /* rows that there is room for, and that there are */
    uint64_t total;    /* with those for which there was no room */
    double *numbers;   /* [room × width] */
};

/* The question for them: fmu_verbs.h, TRACE. */
void mechd_fmu_trace_put(const struct mechd_fmu_traced *at, size_t count, size_t room,
                         struct mechd_pipe_message *m);
/* False: the message has something else, or there is no memory; then `out` is empty. */
bool mechd_fmu_trace_get(struct mechd_pipe_message *m, struct mechd_fmu_trace *out);
void mechd_fmu_trace_fini(struct mechd_fmu_trace *t);

/* The rows, as a part of the answer to a step. */
void mechd_fmu_rows_put(const struct mechd_fmu_trace *t, struct mechd_pipe_message *m);
/* Those of an answer are added to *out. False: they are none that were asked for. */
bool mechd_fmu_rows_get(struct mechd_pipe_message *m, struct mech_trace *out);
/* Whether the rows from `first` on are finite, and their times of the step, none descending. */
bool mechd_fmu_rows_good(const struct mech_trace *t, size_t first,
                         const struct mechd_fmu_span *span);
