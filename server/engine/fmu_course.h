/* How continuous inputs of an FMU go over a step: each a polynomial in τ = t − start, or samples
 * that straight lines join, the nearest one before and behind them. An FMU of 2.0 is given the
 * derivatives of a polynomial at the start of the step, one of 3.0 its values within the step.
 *
 * Numbers are the caller's. Source: FMI 2.0.5, section 4.2; FMI 3.0.2, section 4.2. */
#pragma once

#include "server/engine/fmu_description.h"
#include "server/engine/fmu_pipe.h"

struct mechd_fmu_course {
    uint32_t reference;
    enum mechd_fmu_type type; /* float64 or float32 */
    size_t elements, rows;    /* at least 1 of each */
    double start;             /* s */
    const double *tau;        /* [rows] s, ascending; NULL: a polynomial */
    const double *values;     /* [rows × elements] samples, or coefficients from that of τ^0 on */
};

double mechd_fmu_course_value(const struct mechd_fmu_course *c, size_t element, double time);
/* Derivative of that order of a polynomial. */
double mechd_fmu_course_slope(const struct mechd_fmu_course *c, size_t element, double time,
                              size_t order);

/* Courses as they come in a message: fmu_verbs.h, COURSES. Zeroed: none. */
struct mechd_fmu_courses {
    struct mechd_fmu_course *at; /* [count] */
    size_t count;
    double *numbers; /* all of theirs, and behind them `scratch` */
    double *scratch; /* [elements of the largest] */
};

void mechd_fmu_courses_put(const struct mechd_fmu_course *at, size_t count,
                           struct mechd_pipe_message *m);
/* False: the message has something else, or there is no memory; then `out` is empty. */
bool mechd_fmu_courses_get(struct mechd_pipe_message *m, struct mechd_fmu_courses *out);
void mechd_fmu_courses_fini(struct mechd_fmu_courses *c);
