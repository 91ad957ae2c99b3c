/* A component's variables: values, what sets them, and derivatives of outputs. */
#include "clients/fmu/engine.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The status of a derivative that is not there. */
static enum mechp_fmi3_status undefined(const struct mechfmu *m)
{
    return m->version == MECHP_FMI_2 ? MECHP_FMI3_ERROR : MECHP_FMI3_DISCARD;
}

/* The variables' values in all, or a message: one is not there. */
static bool count_values(const struct mechfmu *m, const uint32_t vr[], size_t n, size_t n_values)
{
    size_t total = 0;

    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (!v) {
            mechfmu_say(m, MECHP_FMI3_ERROR, "there is no variable %u", (unsigned)vr[i]);
            return false;
        }
        total += (size_t)v->size;
    }
    if (total != n_values) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "these variables have %zu values, not %zu", total,
                    n_values);
        return false;
    }
    return true;
}

static bool all_finite(const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

enum mechp_fmi3_status mechfmu_get(struct mechfmu *m, const uint32_t vr[], size_t n,
                                   double values[], size_t n_values)
{
    if (!count_values(m, vr, n, n_values)) {
        return MECHP_FMI3_ERROR;
    }
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (mechfmu_engine_get(m, v, values)) {
            return MECHP_FMI3_ERROR;
        }
        values += v->size;
    }
    return MECHP_FMI3_OK;
}

bool mechfmu_moves(const struct mechfmu *m, size_t channel)
{
    const double *const rate = m->rate + 2 * (size_t)m->channels[channel].offset;
    bool moves = false;

    for (int32_t i = 0; i < 2 * m->channels[channel].size; i++) {
        moves = moves || rate[i] != 0.;
    }
    return moves;
}

size_t mechfmu_touch_all(struct mechfmu *m)
{
    size_t count = 0;

    for (size_t i = 0; i < m->inputs; i++) {
        if (m->is_set[i] != 0.) {
            m->since[i] = mechfmu_time(m);
            m->touched[count++] = (int32_t)i;
        }
    }
    return count;
}

enum mechp_fmi3_status mechfmu_hold(struct mechfmu *m)
{
    return mechfmu_engine_set(m, mechfmu_touch_all(m), false, MECHP_FMI3_ERROR) == 0
               ? MECHP_FMI3_OK
               : MECHP_FMI3_ERROR;
}

/* The values of an input's channel, and their first derivatives, as they are now: those of one
 * element may be set without the others'. 0, or refused. */
static int move_to_now(struct mechfmu *m, size_t channel)
{
    const struct mechfmu_channel v = m->channels[channel];
    const double now = mechfmu_time(m), past = now - m->since[channel];
    double *const rate = m->rate + 2 * (size_t)v.offset;

    MECH_TRY(mechfmu_engine_input(m, channel, m->value + v.offset));
    for (int32_t k = 0; k < v.size; k++) {
        rate[k] += rate[v.size + k] * past;
    }
    m->since[channel] = now;
    return 0;
}

/* The variable's channel among those that are touched, all of it with the values that it has now;
 * *count is their number. 0, or refused. */
static int touch(struct mechfmu *m, const struct mechp_fmi_variable *v, size_t *count)
{
    for (size_t i = 0; i < *count; i++) {
        if (m->touched[i] == v->channel) {
            return 0;
        }
    }
    MECH_TRY(move_to_now(m, (size_t)v->channel));
    m->is_set[v->channel] = 1.;
    m->touched[(*count)++] = v->channel;
    return 0;
}

/* Where the derivative of that order of a variable's k-th value is kept. */
static double *rate_of(const struct mechfmu *m, const struct mechp_fmi_variable *v, int32_t order,
                       int32_t k)
{
    const struct mechfmu_channel channel = m->channels[v->channel];

    return m->rate + 2 * channel.offset + (order - 1) * channel.size + v->first + k;
}

static enum mechp_fmi3_status undo(struct mechfmu *m, enum mechp_fmi3_status refused)
{
    memcpy(m->given, m->before, mechfmu_held(m) * sizeof *m->given);
    return refused;
}

/* The values of the channels that are touched, and parameters if they differ. OK, or `refused`:
 * nothing has changed. */
static enum mechp_fmi3_status take_effect(struct mechfmu *m, size_t count, bool parameters,
                                          enum mechp_fmi3_status refused)
{
    const bool again = parameters && (m->state & m->starting);

    return (again ? mechfmu_engine_rebuild(m)
                  : mechfmu_engine_set(m, count, parameters, refused)) == 0
               ? MECHP_FMI3_OK
               : undo(m, refused);
}

static enum mechp_fmi3_status refuse(struct mechfmu *m, const struct mechp_fmi_variable *v)
{
    return undo(m, mechfmu_say(m, MECHP_FMI3_ERROR, "\"%s\" cannot be set", v->name));
}

enum mechp_fmi3_status mechfmu_set(struct mechfmu *m, const uint32_t vr[], size_t n,
                                   const double values[], size_t n_values)
{
    bool parameters = false;
    size_t count = 0;

    if (!count_values(m, vr, n, n_values)) {
        return MECHP_FMI3_ERROR;
    }
    if (!all_finite(values, n_values)) {
        return mechfmu_say(m, MECHP_FMI3_DISCARD, "a value is not finite");
    }
    memcpy(m->before, m->given, mechfmu_held(m) * sizeof *m->given);
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (v->causality == MECH_PARAMETER) {
            parameters = parameters || m->parameter[v->channel] != values[0];
            m->parameter[v->channel] = values[0];
        } else if (v->causality == MECH_INPUT) {
            if (touch(m, v, &count)) {
                return undo(m, MECHP_FMI3_ERROR);
            }
            memcpy(m->value + v->offset, values, (size_t)v->size * sizeof *values);
            for (int32_t k = 0; k < v->size; k++) {
                *rate_of(m, v, 1, k) = *rate_of(m, v, 2, k) = 0.;
            }
        } else {
            return refuse(m, v);
        }
        values += v->size;
    }
    return take_effect(m, count, parameters, MECHP_FMI3_DISCARD);
}

enum mechp_fmi3_status mechfmu_set_rates(struct mechfmu *m, const uint32_t vr[], size_t n,
                                         const int orders[], const double values[])
{
    size_t count = 0;

    if (!count_values(m, vr, n, n)) {
        return MECHP_FMI3_ERROR;
    }
    if (!all_finite(values, n)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "a derivative is not finite");
    }
    memcpy(m->before, m->given, mechfmu_held(m) * sizeof *m->given);
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (v->causality != MECH_INPUT || v->variability != MECHP_FMI_CONTINUOUS || orders[i] < 1 ||
            orders[i] > 2) {
            return refuse(m, v);
        }
        if (touch(m, v, &count)) {
            return undo(m, MECHP_FMI3_ERROR);
        }
        *rate_of(m, v, orders[i], 0) = values[i];
    }
    return take_effect(m, count, false, MECHP_FMI3_ERROR);
}

enum mechp_fmi3_status mechfmu_output_rates(struct mechfmu *m, const uint32_t vr[], size_t n,
                                            const int32_t orders[], double values[],
                                            size_t n_values)
{
    if (!count_values(m, vr, n, n_values)) {
        return MECHP_FMI3_ERROR;
    }
    for (size_t i = 0; i < n; i++) {
        if (orders[i] != 1 ||
            mechp_fmi_layout_find(&m->layout, vr[i])->causality != MECH_OUTPUT_VARIABLE) {
            return mechfmu_say(m, MECHP_FMI3_ERROR,
                               "only outputs have derivatives, and only of order 1");
        }
    }
    if (mechfmu_engine_rates(m, m->outputs, undefined(m))) {
        return undefined(m);
    }
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        memcpy(values, m->outputs + v->offset, (size_t)v->size * sizeof *values);
        values += v->size;
    }
    return MECHP_FMI3_OK;
}

/* --- settings --------------------------------------------------------------------------------- */

/* The setting of that reference; MECHP_FMI_SETTINGS: there is none, and a message. */
static size_t setting_of(const struct mechfmu *m, uint32_t vr)
{
    const size_t k = vr - MECHP_FMI_SETTING_REFERENCE;

    if (vr < MECHP_FMI_SETTING_REFERENCE || k >= MECHP_FMI_SETTINGS || !m->settings[k]) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "there is no text variable %u", (unsigned)vr);
        return MECHP_FMI_SETTINGS;
    }
    return k;
}

enum mechp_fmi3_status mechfmu_get_texts(struct mechfmu *m, const uint32_t vr[], size_t n,
                                         const char *values[])
{
    for (size_t i = 0; i < n; i++) {
        const size_t k = setting_of(m, vr[i]);

        if (k == MECHP_FMI_SETTINGS) {
            return MECHP_FMI3_ERROR;
        }
        values[i] = k == MECHP_FMI_SETTING_TOKEN ? "" : m->settings[k];
    }
    return MECHP_FMI3_OK;
}

static enum mechp_fmi3_status set_text(struct mechfmu *m, size_t k, const char *value)
{
    char *const copy = strdup(value ? value : "");
    char *const old = m->settings[k];

    if (!copy) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory");
    }
    m->settings[k] = copy;
    if (mechfmu_engine_settle(m)) {
        m->settings[k] = old;
        free(copy);
        return MECHP_FMI3_ERROR;
    }
    free(old);
    return MECHP_FMI3_OK;
}

enum mechp_fmi3_status mechfmu_set_texts(struct mechfmu *m, const uint32_t vr[], size_t n,
                                         const char *const values[])
{
    enum mechp_fmi3_status status = MECHP_FMI3_OK;

    for (size_t i = 0; i < n; i++) {
        if (setting_of(m, vr[i]) == MECHP_FMI_SETTINGS) {
            return MECHP_FMI3_ERROR;
        }
    }
    if (n > 0 && !(m->state & m->starting)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR,
                           "\"%s\" can be set only before the initialization ends",
                           mechp_fmi_settings[vr[0] - MECHP_FMI_SETTING_REFERENCE].name);
    }
    for (size_t i = 0; i < n && status == MECHP_FMI3_OK; i++) {
        status = set_text(m, vr[i] - MECHP_FMI_SETTING_REFERENCE, values[i]);
    }
    return status;
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* All of these variables have this causality and keep no parameter. */
static bool are(const struct mechfmu *m, const uint32_t vr[], size_t n, enum mech_causality what)
{
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (v->causality != what || v->variability != MECHP_FMI_CONTINUOUS) {
            mechfmu_say(m, MECHP_FMI3_ERROR, "there are no derivatives for \"%s\"", v->name);
            return false;
        }
    }
    return true;
}

/* Between a list of variables' values and the packed vector. */
static void scatter(const struct mechfmu *m, const uint32_t vr[], size_t n, const double *values,
                    double *packed)
{
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        memcpy(packed + v->offset, values, (size_t)v->size * sizeof *values);
        values += v->size;
    }
}

static void gather(const struct mechfmu *m, const uint32_t vr[], size_t n, const double *packed,
                   double *values)
{
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        memcpy(values, packed + v->offset, (size_t)v->size * sizeof *values);
        values += v->size;
    }
}

/* The channels of these variables, each once; their number. */
static size_t list_channels(const struct mechfmu *m, const uint32_t vr[], size_t n,
                            int32_t *channels)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        const int32_t channel = mechp_fmi_layout_find(&m->layout, vr[i])->channel;
        size_t k = 0;

        while (k < count && channels[k] != channel) {
            k++;
        }
        channels[k] = channel;
        count += k == count;
    }
    return count;
}

enum mechp_fmi3_status mechfmu_slope(struct mechfmu *m, const struct mechfmu_slope *q)
{
    const size_t from = q->adjoint ? q->n_unknowns : q->n_knowns;
    const size_t to = q->adjoint ? q->n_knowns : q->n_unknowns;
    const uint32_t *const seeded = q->adjoint ? q->unknowns : q->knowns;
    const uint32_t *const wanted = q->adjoint ? q->knowns : q->unknowns;

    if (!count_values(m, seeded, from, q->n_seed) || !count_values(m, wanted, to, q->n_out) ||
        !are(m, q->unknowns, q->n_unknowns, MECH_OUTPUT_VARIABLE) ||
        !are(m, q->knowns, q->n_knowns, MECH_INPUT)) {
        return MECHP_FMI3_ERROR;
    }
    double *const inputs = calloc(m->packed + 1, sizeof *inputs);
    int32_t *const channels = calloc(from + 1, sizeof *channels);
    if (!inputs || !channels) {
        free(inputs);
        free(channels);
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory");
    }
    memset(m->outputs, 0, m->measured * sizeof *m->outputs);
    scatter(m, seeded, from, q->seed, q->adjoint ? m->outputs : inputs);
    const struct mechfmu_direction d = {inputs, m->outputs, channels,
                                        list_channels(m, seeded, from, channels), q->adjoint};
    const int code = mechfmu_engine_derive(m, &d, undefined(m));
    if (code == 0) {
        gather(m, wanted, to, q->adjoint ? inputs : m->outputs, q->out);
    }
    free(inputs);
    free(channels);
    return code == 0 ? MECHP_FMI3_OK : undefined(m);
}
