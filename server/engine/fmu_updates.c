/* Inputs that vary over a step, as the FMU takes them: by their derivatives at its start (2.0), or
 * in the intermediate updates that it asks for (3.0); outputs, which are read there behind each
 * internal step; and the request to return early from a step that is to stop. Nothing but those
 * inputs is set. What is read comes before what is set. Source: FMI 2.0.5, section 4.2; FMI 3.0.2,
 * section 4.2. */
#include "server/engine/fmu_binary.h"
#include "server/engine/fmu_course.h"
#include "server/engine/fmu_trace.h"

#include <string.h>

int mechd_binary_rates(struct mechd_binary *b, double time)
{
    for (size_t k = 0; k < b->course_count; k++) {
        const struct mechd_fmu_course *const c = &b->courses[k];
        if (c->tau != NULL || c->elements != 1) {
            return mechd_binary_fault(b, MECHD_FMU_NO_QUESTION, 0, "samples or arrays in 2.0");
        }
        MECHD_BINARY_NEED(b, b->two.SetRealInputDerivatives, "fmi2SetRealInputDerivatives");
        for (size_t order = 1; order < c->rows; order++) {
            const int n = (int)order;
            const double value = mechd_fmu_course_slope(c, 0, time, order);
            MECH_TRY(mechd_binary_judge(
                b, (int)b->two.SetRealInputDerivatives(b->component, &c->reference, 1, &n, &value),
                "fmi2SetRealInputDerivatives"));
        }
    }
    return 0;
}

/* Elements of its type in place of the numbers. */
static int set(struct mechd_binary *b, const struct mechd_fmu_course *c, double time)
{
    float *const narrow = (float *)b->course_scratch;
    for (size_t j = 0; j < c->elements; j++) {
        const double value = mechd_fmu_course_value(c, j, time);
        if (c->type == MECHD_FMU_FLOAT64) {
            b->course_scratch[j] = value;
        } else {
            narrow[j] = (float)value;
        }
    }
    const struct mechd_binary_values v = {.type = c->type,
                                          .references = &c->reference,
                                          .n = 1,
                                          .elements = b->course_scratch,
                                          .count = c->elements};
    return mechd_binary_set(b, &v);
}

/* Numbers in place of the elements of a float32, from the last one on. */
static void widen(double *elements, size_t n)
{
    while (n-- > 0) {
        float narrow;
        memcpy(&narrow, (const char *)elements + n * sizeof narrow, sizeof narrow);
        elements[n] = (double)narrow;
    }
}

static int read_row(struct mechd_binary *b, struct mechd_fmu_trace *t, double time)
{
    double *to = t->numbers + t->rows * t->width;
    t->total++;
    if (t->rows == t->room) {
        return 0;
    }
    *to++ = time;
    for (size_t k = 0; k < t->count; k++) {
        const struct mechd_binary_values v = {.type = t->at[k].type,
                                              .references = &t->at[k].reference,
                                              .n = 1,
                                              .elements = to,
                                              .count = t->at[k].elements};
        MECH_TRY(mechd_binary_get(b, &v));
        if (v.type == MECHD_FMU_FLOAT32) {
            widen(to, v.count);
        }
        to += v.count;
    }
    t->rows++;
    return 0;
}

void mechd_binary_update(void *environment, double time, bool wants_set, bool may_get,
                         bool step_finished, bool may_return, bool *early, double *early_time)
{
    struct mechd_binary *const b = environment;
    if (may_return && !b->returning && b->wanted != NULL) {
        b->returning = b->wanted(b->wanted_context);
    }
    *early = may_return && b->returning;
    *early_time = time; // at once
    if (may_get && step_finished && b->trace != NULL && b->update_failed == 0) {
        b->update_failed = read_row(b, b->trace, time);
    }
    b->update_asked = b->update_asked || wants_set;
    for (size_t k = 0; wants_set && b->update_failed == 0 && k < b->course_count; k++) {
        b->update_failed = set(b, &b->courses[k], time);
    }
}
