/* Messages of traces, and what is checked of their rows. */
#include "server/engine/fmu_trace.h"

#include "solver/base/times.h"

#include <math.h>
#include <stdlib.h>

void mechd_fmu_trace_put(const struct mechd_fmu_traced *at, size_t count, size_t room,
                         struct mechd_pipe_message *m)
{
    mechd_pipe_put_u32(m, (uint32_t)room);
    mechd_pipe_put_u32(m, (uint32_t)count);
    for (size_t k = 0; k < count; k++) {
        mechd_pipe_put_u32(m, at[k].reference);
        mechd_pipe_put_u32(m, (uint32_t)at[k].type);
        mechd_pipe_put_u32(m, (uint32_t)at[k].elements);
    }
}

bool mechd_fmu_trace_get(struct mechd_pipe_message *m, struct mechd_fmu_trace *out)
{
    enum { ONE = 12 /* bytes of an output */ };
    const size_t room = mechd_pipe_get_u32(m), count = mechd_pipe_get_u32(m);
    *out = (struct mechd_fmu_trace){.count = 0};
    if (m->failed || count > (m->size - m->at) / ONE || room > MECHD_FMU_TRACE_MOST) {
        return false;
    }
    struct mechd_fmu_traced *const at = calloc(count + 1, sizeof *at);
    size_t width = 1;
    bool good = at != NULL;
    for (size_t k = 0; good && k < count; k++) {
        at[k].reference = mechd_pipe_get_u32(m);
        at[k].type = (enum mechd_fmu_type)mechd_pipe_get_u32(m);
        at[k].elements = mechd_pipe_get_u32(m);
        good = (at[k].type == MECHD_FMU_FLOAT64 || at[k].type == MECHD_FMU_FLOAT32) &&
               at[k].elements > 0 && at[k].elements <= MECHD_FMU_TRACE_MOST - width;
        width += good ? at[k].elements : 0;
    }
    good = good && mechd_pipe_whole(m) && room <= MECHD_FMU_TRACE_MOST / width;
    double *const numbers = good ? calloc(room * width + 1, sizeof *numbers) : NULL;
    if (numbers == NULL) {
        free(at);
        return false;
    }
    *out = (struct mechd_fmu_trace){
        .at = at, .count = count, .width = width, .room = room, .numbers = numbers};
    return true;
}

void mechd_fmu_trace_fini(struct mechd_fmu_trace *t)
{
    free(t->at);
    free(t->numbers);
    *t = (struct mechd_fmu_trace){.count = 0};
}

void mechd_fmu_rows_put(const struct mechd_fmu_trace *t, struct mechd_pipe_message *m)
{
    mechd_pipe_put_u32(m, (uint32_t)(t->total < UINT32_MAX ? t->total : UINT32_MAX));
    mechd_pipe_put_u32(m, (uint32_t)t->rows);
    mechd_pipe_put_f64(m, t->numbers, t->rows * t->width);
}

bool mechd_fmu_rows_get(struct mechd_pipe_message *m, struct mech_trace *out)
{
    const uint64_t total = mechd_pipe_get_u32(m);
    const size_t rows = mechd_pipe_get_u32(m);
    if (m->failed || rows > total || rows > out->room - out->count) {
        return false;
    }
    mechd_pipe_get_f64(m, out->rows + out->count * out->width, rows * out->width);
    out->count += rows;
    out->total += total;
    return !m->failed;
}

bool mechd_fmu_rows_good(const struct mech_trace *t, size_t first,
                         const struct mechd_fmu_span *span)
{
    const double end = span->time + span->size;
    const double scale = mechd_fmu_scale(span, span->size);
    double before = span->time;
    bool good = true;
    for (size_t k = first; good && k < t->count; k++) {
        const double *const row = t->rows + k * t->width;
        for (size_t j = 0; good && j < t->width; j++) {
            good = isfinite(row[j]);
        }
        good = good && !mech_time_before(row[0], before, scale) &&
               !mech_time_before(end, row[0], scale);
        before = row[0];
    }
    return good;
}
