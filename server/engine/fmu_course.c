/* Values, derivatives and messages of courses. A value of -0 to which nothing is added keeps its
 * sign. */
#include "server/engine/fmu_course.h"

#include <stdlib.h>

double mechd_fmu_course_slope(const struct mechd_fmu_course *c, size_t element, double time,
                              size_t order)
{
    const double tau = time - c->start;
    double sum = 0.;
    for (size_t k = c->rows; k-- > order;) {
        double factor = 1.;
        for (size_t j = 0; j < order; j++) {
            factor *= (double)(k - j);
        }
        const double more = sum * tau, own = factor * c->values[k * c->elements + element];
        sum = more != 0. ? more + own : own;
    }
    return sum;
}

double mechd_fmu_course_value(const struct mechd_fmu_course *c, size_t element, double time)
{
    const double tau = time - c->start;
    const double *const at = c->values + element;
    size_t low = 0, high = c->rows - 1;
    if (c->tau == NULL) {
        return mechd_fmu_course_slope(c, element, time, 0);
    }
    if (tau <= c->tau[0] || tau >= c->tau[high]) {
        return at[(tau <= c->tau[0] ? 0 : high) * c->elements];
    }
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        low = c->tau[middle] <= tau ? middle : low;
        high = c->tau[middle] <= tau ? high : middle;
    }
    const double share = (tau - c->tau[low]) / (c->tau[high] - c->tau[low]);
    const double first = at[low * c->elements], more = share * (at[high * c->elements] - first);
    return more != 0. ? first + more : first;
}

void mechd_fmu_courses_put(const struct mechd_fmu_course *at, size_t count,
                           struct mechd_pipe_message *m)
{
    mechd_pipe_put_u32(m, (uint32_t)count);
    for (const struct mechd_fmu_course *c = at; c < at + count; c++) {
        mechd_pipe_put_u32(m, c->reference);
        mechd_pipe_put_u32(m, (uint32_t)c->type);
        mechd_pipe_put_u32(m, (uint32_t)c->elements);
        mechd_pipe_put_u32(m, (uint32_t)c->rows);
        mechd_pipe_put_u32(m, c->tau != NULL ? 1 : 0);
        mechd_pipe_put_f64(m, &c->start, 1);
        mechd_pipe_put_f64(m, c->tau, c->tau != NULL ? c->rows : 0);
        mechd_pipe_put_f64(m, c->values, c->rows * c->elements);
    }
}

/* The next one; its numbers go to *numbers, of which there are as many as the message has bytes. */
static bool get_one(struct mechd_pipe_message *m, double **numbers, struct mechd_fmu_course *out)
{
    *out = (struct mechd_fmu_course){.reference = mechd_pipe_get_u32(m)};
    out->type = (enum mechd_fmu_type)mechd_pipe_get_u32(m);
    out->elements = mechd_pipe_get_u32(m);
    out->rows = mechd_pipe_get_u32(m);
    const bool sampled = mechd_pipe_get_u32(m) != 0;
    mechd_pipe_get_f64(m, &out->start, 1);
    const size_t left = (m->size - m->at) / sizeof(double), own = sampled ? out->rows : 0;
    if (m->failed || (out->type != MECHD_FMU_FLOAT64 && out->type != MECHD_FMU_FLOAT32) ||
        out->elements == 0 || out->rows == 0 || own > left ||
        out->rows > (left - own) / out->elements) {
        return false;
    }
    mechd_pipe_get_f64(m, *numbers, own + out->rows * out->elements);
    out->tau = sampled ? *numbers : NULL;
    out->values = *numbers + own;
    *numbers += own + out->rows * out->elements;
    return true;
}

bool mechd_fmu_courses_get(struct mechd_pipe_message *m, struct mechd_fmu_courses *out)
{
    enum { HEAD = 28 /* bytes of one without its numbers */ };
    const size_t count = mechd_pipe_get_u32(m), room = m->size / sizeof(double) + 1;
    *out = (struct mechd_fmu_courses){.count = count};
    if (count > (m->size - m->at) / HEAD) {
        out->count = 0;
        return false;
    }
    // no more elements than numbers
    out->at = calloc(count + 1, sizeof *out->at);
    out->numbers = calloc(2 * room, sizeof *out->numbers);
    double *numbers = out->numbers;
    bool good = out->at != NULL && numbers != NULL;
    for (size_t k = 0; good && k < count; k++) {
        good = get_one(m, &numbers, &out->at[k]);
    }
    if (!good || !mechd_pipe_whole(m)) {
        mechd_fmu_courses_fini(out);
        return false;
    }
    out->scratch = out->numbers + room;
    return true;
}

void mechd_fmu_courses_fini(struct mechd_fmu_courses *c)
{
    free(c->at);
    free(c->numbers);
    *c = (struct mechd_fmu_courses){.count = 0};
}
