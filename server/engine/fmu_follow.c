/* Courses of inputs, made for each step. Those of 2.0 go on in the FMU until it is given others:
 * how many of its derivatives are not zero is held with the values that it has. */
#include "server/engine/fmu_follow.h"

#include "protocol/fmi/fmi3.h"
#include "solver/base/err.h"
#include "solver/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *mechd_fmu_unfollowed(const struct mechd_fmu_session *s,
                                 const struct mechd_fmu_channel *input, bool sampled)
{
    const struct mechd_fmu_description *const d = &s->package->description;
    const bool updates = (d->can & MECHD_FMU_INTERMEDIATE) != 0;
    if (!mechd_fmu_channel_has_slopes(input)) {
        return "it is not a continuous number";
    }
    if (d->version == MECHD_FMI_3) {
        return !updates ? "the FMU has no intermediate update (providesIntermediateUpdate)"
               : !input->of->within
                   ? "the FMU takes it only between its steps (it has no intermediateUpdate)"
                   : NULL;
    }
    return (d->can & MECHD_FMU_INTERPOLATE) == 0
               ? "the FMU does not interpolate inputs (canInterpolateInputs)"
           : sampled ? "an FMU of FMI 2.0 interpolates only polynomials"
                     : NULL;
}

int mechd_fmu_follow_init(struct mechd_fmu_instance *f)
{
    const size_t n = f->channels.count[MECH_INPUT];
    f->signals = calloc(n + 1, sizeof *f->signals);
    f->courses = calloc(n + 1, sizeof *f->courses);
    f->coefficients =
        calloc(MECHD_FMU_ROWS_MOST * f->channels.size[MECH_INPUT] + 1, sizeof *f->coefficients);
    return f->signals != NULL && f->courses != NULL && f->coefficients != NULL ? 0 : MECH_NO_MEMORY;
}

void mechd_fmu_follow_fini(struct mechd_fmu_instance *f)
{
    free(f->signals);
    free(f->courses);
    free(f->coefficients);
}

void mechd_fmu_follow_begin(struct mechd_fmu_instance *f, const struct mech_input_change *inputs,
                            size_t count)
{
    memset(f->signals, 0, f->channels.count[MECH_INPUT] * sizeof *f->signals);
    for (size_t k = 0; k < count; k++) {
        // a value ends the signal that was named before it
        f->signals[inputs[k].index] =
            inputs[k].signal != NULL ? *inputs[k].signal : (struct mech_input_signal){.n = 0};
    }
}

static struct mechd_fmu_course of_signal(const struct mechd_fmu_channel *c,
                                         const struct mech_input_signal *g)
{
    return (struct mechd_fmu_course){.reference = c->of->reference,
                                     .type = c->of->type,
                                     .elements = (size_t)c->v.size,
                                     .rows = (size_t)g->n,
                                     .start = g->start,
                                     .tau = g->tau,
                                     .values = g->values};
}

void mechd_fmu_follow_hold(struct mechd_fmu_instance *f, double time)
{
    const size_t n = f->channels.size[MECH_INPUT];
    for (size_t k = 0; k < f->channels.count[MECH_INPUT]; k++) {
        const struct mechd_fmu_channel *const c = &f->channels.at[MECH_INPUT][k];
        const struct mechd_fmu_course course = of_signal(c, &f->signals[k]);
        for (size_t j = 0; course.rows > 0 && j < course.elements; j++) {
            double *const u = f->end.inputs + c->v.offset + j;
            u[MECHD_FMU_VALUE * n] = mechd_fmu_course_value(&course, j, time);
            u[MECHD_FMU_RATE * n] = u[MECHD_FMU_SECOND * n] = 0.;
            u[MECHD_FMU_SINCE * n] = time;
        }
    }
}

/* Samples within a step, with those beside it. */
static void cut(struct mechd_fmu_course *c, double from, double to)
{
    size_t first = 0, last = c->rows - 1;
    while (first < last && c->tau[first + 1] <= from - c->start) {
        first++;
    }
    while (last > first && c->tau[last - 1] >= to - c->start) {
        last--;
    }
    c->tau += first;
    c->values += first * c->elements;
    c->rows = last - first + 1;
}

/* By the derivatives that an input was set with, into its coefficients [3]; 2.0 has scalars. */
static struct mechd_fmu_course of_rates(const struct mechd_fmu_instance *f,
                                        const struct mechd_fmu_channel *c, double *coefficients)
{
    const size_t n = f->channels.size[MECH_INPUT], size = (size_t)c->v.size;
    struct mechd_fmu_course out = {.reference = c->of->reference,
                                   .type = c->of->type,
                                   .elements = size,
                                   .rows = 1,
                                   .start =
                                       f->end.inputs[MECHD_FMU_SINCE * n + (size_t)c->v.offset],
                                   .values = coefficients};
    for (size_t j = 0; j < size; j++) {
        const double *const u = f->end.inputs + c->v.offset + j;
        coefficients[j] = u[MECHD_FMU_VALUE * n];
        coefficients[size + j] = u[MECHD_FMU_RATE * n];
        coefficients[2 * size + j] = 0.5 * u[MECHD_FMU_SECOND * n];
        out.rows = coefficients[2 * size + j] != 0.                ? 3
                   : coefficients[size + j] != 0. && out.rows == 1 ? 2
                                                                   : out.rows;
    }
    return out;
}

/* With zeros for derivatives of 2.0 that the FMU has from a step before. */
static void pad(struct mechd_fmu_course *c, size_t rows, double *coefficients)
{
    if (c->rows < rows) {
        memmove(coefficients, c->values, c->rows * sizeof *coefficients);
        memset(coefficients + c->rows, 0, (rows - c->rows) * sizeof *coefficients);
        c->values = coefficients;
        c->rows = rows;
    }
}

/* An input that is not followed and has derivatives: the first one is logged. */
static void log_held(struct mechd_fmu_instance *f, const struct mechd_fmu_channel *c,
                     const char *why)
{
    const size_t n = f->channels.size[MECH_INPUT];
    const struct mechd_hosted_options *const o = &f->session.options;
    for (int32_t j = 0; j < c->v.size && !f->held_logged; j++) {
        const double *const u = f->end.inputs + c->v.offset + j;
        if (u[MECHD_FMU_RATE * n] != 0. || u[MECHD_FMU_SECOND * n] != 0.) {
            char text[MECHD_FMU_LOG_MOST];
            f->held_logged = true;
            mech_text_format(
                text, sizeof text,
                "input %.100s has derivatives, and holds its value at the start of each "
                "step: %s",
                c->v.name, why);
            o->log(o->log_context, MECHP_FMI3_WARNING, MECHD_FMU_HOST_CATEGORY, text);
        }
    }
}

int mechd_fmu_follow_send(struct mechd_fmu_instance *f, double time, double size)
{
    const bool two = f->package->description.version == MECHD_FMI_2;
    size_t count = 0;
    bool needed = false;
    for (size_t k = 0; k < f->channels.count[MECH_INPUT]; k++) {
        const struct mechd_fmu_channel *const c = &f->channels.at[MECH_INPUT][k];
        double *const own = f->coefficients + MECHD_FMU_ROWS_MOST * (size_t)c->v.offset;
        const char *const why = mechd_fmu_unfollowed(&f->session, c, false);
        if (why != NULL) {
            log_held(f, c, why);
            continue;
        }
        struct mechd_fmu_course *const x = &f->courses[count];
        *x = f->signals[k].n > 0 ? of_signal(c, &f->signals[k]) : of_rates(f, c, own);
        if (x->tau != NULL) {
            cut(x, time, time + size);
        }
        const size_t rows = x->rows;
        if (two) {
            pad(x, (size_t)f->rated[k] + 1, own);
            f->rated[k] = (double)(rows - 1);
        }
        if (x->rows > 1) {
            // where it is then is not known
            for (size_t j = 0; j < x->elements; j++) {
                f->sent[(size_t)c->v.offset + j] = NAN;
            }
            needed = needed || f->signals[k].n > 0;
            count++;
        }
    }
    return count > 0 ? mechd_fmu_session_courses(&f->session, f->courses, count, needed) : 0;
}
