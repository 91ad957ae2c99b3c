/* A component's variables: values, what sets them, and derivatives of outputs. */
#include "clients/fmu/component.h"

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

enum mechp_fmi3_status mechfmu_get(struct mechfmu *m, const uint32_t vr[], size_t n,
                                   double values[], size_t n_values)
{
    if (!count_values(m, vr, n, n_values)) {
        return MECHP_FMI3_ERROR;
    }
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        mechp_fmi_layout_get(&m->layout, m->sim, v, values);
        values += v->size;
    }
    return MECHP_FMI3_OK;
}

/* An input's channel as it is to be set. */
static struct mech_input_change change_of(const struct mechfmu *m, size_t channel)
{
    struct mech_variable v;
    bool moves = false;

    mech_sim_variable(m->sim, MECH_INPUT, channel, &v);
    const double *const rate = m->rate + 2 * (size_t)v.offset;
    for (int32_t i = 0; i < 2 * v.size; i++) {
        moves = moves || rate[i] != 0.;
    }
    return (struct mech_input_change){.index = (int32_t)channel,
                                      .order = moves ? 2 : 0,
                                      .values = m->value + v.offset,
                                      .derivatives = moves ? rate : NULL};
}

/* Set the first `count` changes; a refusal is reported with that status. */
static int set_changes(struct mechfmu *m, struct mech_sim *sim, size_t count,
                       enum mechp_fmi3_status refused)
{
    struct mech_diag diag;

    mech_diag_init(&diag);
    const int code = mech_sim_set_inputs(sim, m->changes, count, &diag);
    if (code) {
        mechfmu_refuse(m, refused, code, &diag);
    }
    mech_diag_fini(&diag);
    return code;
}

/* All inputs that are set, from the simulation's time on. */
static int set_all(struct mechfmu *m, struct mech_sim *sim, enum mechp_fmi3_status refused)
{
    size_t count = 0;

    for (size_t i = 0; i < m->inputs; i++) {
        if (m->is_set[i] != 0.) {
            m->since[i] = mech_sim_time(sim);
            m->changes[count++] = change_of(m, i);
        }
    }
    return count > 0 ? set_changes(m, sim, count, refused) : 0;
}

enum mechp_fmi3_status mechfmu_hold(struct mechfmu *m)
{
    return set_all(m, m->sim, MECHP_FMI3_ERROR) == 0 ? MECHP_FMI3_OK : MECHP_FMI3_ERROR;
}

/* A fresh simulation of the parameters as they are, at the same time and with the inputs that are
 * set. */
static int rebuild(struct mechfmu *m)
{
    const struct mech_state_view at = {.time = mech_sim_time(m->sim)};
    struct mech_sim *const sim = mechfmu_build(m, m->parameter, MECHP_FMI3_DISCARD);
    int code = 0;

    if (!sim) {
        return MECH_INVALID;
    }
    if (at.time != mech_sim_time(sim)) {
        code = mech_sim_set_state(sim, &at);
        if (code) {
            mechfmu_refuse(m, MECHP_FMI3_DISCARD, code, NULL);
        }
    }
    code = code ? code : set_all(m, sim, MECHP_FMI3_DISCARD);
    if (code) {
        mech_sim_destroy(sim);
        return code;
    }
    mech_sim_destroy(m->sim);
    m->sim = sim;
    return 0;
}

/* Set those parameters that differ from before; an input may have set others. */
static int set_parameters(struct mechfmu *m)
{
    const double *const before = m->before + (m->parameter - m->given);
    struct mech_diag diag;
    size_t count = 0;

    for (size_t k = 0; k < m->parameters; k++) {
        if (m->parameter[k] != before[k]) {
            m->numbers[count] = (int32_t)k;
            m->listed[count++] = m->parameter[k];
        }
    }
    mech_diag_init(&diag);
    const int code = mech_sim_set_parameters(m->sim, count, m->numbers, m->listed, &diag);
    if (code) {
        mechfmu_refuse(m, MECHP_FMI3_DISCARD, code, &diag);
    }
    mech_diag_fini(&diag);
    return code;
}

/* Parameters, then the first `count` changes: all or none. A parameter may change the velocities at
 * once, where it activates a joint. */
static int apply_both(struct mechfmu *m, size_t count, enum mechp_fmi3_status refused)
{
    void *const saved = malloc(mech_sim_saved_size(m->sim));

    if (!saved) {
        mechfmu_refuse(m, refused, MECH_NO_MEMORY, NULL);
        return MECH_NO_MEMORY;
    }
    mech_sim_save(m->sim, saved);
    int code = set_parameters(m);
    if (code == 0) {
        code = set_changes(m, m->sim, count, refused);
        if (code) {
            (void)mech_sim_restore(m->sim, saved);
        }
    }
    free(saved);
    return code;
}

/* What is set in given[] takes effect: the first `count` changes, and parameters if they differ. */
static int apply(struct mechfmu *m, size_t count, bool parameters, enum mechp_fmi3_status refused)
{
    if (parameters && (m->state & m->starting)) {
        return rebuild(m);
    }
    if (parameters && count > 0) {
        return apply_both(m, count, refused);
    }
    if (parameters) {
        return set_parameters(m);
    }
    return count > 0 ? set_changes(m, m->sim, count, refused) : 0;
}

/* The values of an input's channel, and their first derivatives, as they are now: those of one
 * element may be set without the others'. */
static void move_to_now(struct mechfmu *m, size_t channel)
{
    struct mech_variable v;

    mech_sim_variable(m->sim, MECH_INPUT, channel, &v);
    const double now = mech_sim_time(m->sim), past = now - m->since[channel];
    double *const rate = m->rate + 2 * (size_t)v.offset;
    mech_sim_get_input(m->sim, (int32_t)channel, m->value + v.offset);
    for (int32_t k = 0; k < v.size; k++) {
        rate[k] += rate[v.size + k] * past;
    }
    m->since[channel] = now;
}

/* The variable's channel among the changes, all of it with the values that it has now; returns the
 * new number of changes. */
static size_t touch(struct mechfmu *m, const struct mechp_fmi_variable *v, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (m->changes[i].index == v->channel) {
            return count;
        }
    }
    move_to_now(m, (size_t)v->channel);
    m->is_set[v->channel] = 1.;
    m->changes[count].index = v->channel;
    return count + 1;
}

/* Where the derivative of that order of a variable's k-th value is kept. */
static double *rate_of(const struct mechfmu *m, const struct mechp_fmi_variable *v, int32_t order,
                       int32_t k)
{
    struct mech_variable channel;

    mech_sim_variable(m->sim, MECH_INPUT, (size_t)v->channel, &channel);
    return m->rate + 2 * channel.offset + (order - 1) * channel.size + v->first + k;
}

/* The values of the changes, whose channels are known. OK, or `refused`: nothing has changed. */
static enum mechp_fmi3_status take_effect(struct mechfmu *m, size_t count, bool parameters,
                                          enum mechp_fmi3_status refused)
{
    for (size_t i = 0; i < count; i++) {
        m->changes[i] = change_of(m, (size_t)m->changes[i].index);
    }
    if (apply(m, count, parameters, refused)) {
        memcpy(m->given, m->before, mechfmu_held(m) * sizeof *m->given);
        return refused;
    }
    return MECHP_FMI3_OK;
}

static enum mechp_fmi3_status refuse(struct mechfmu *m, const struct mechp_fmi_variable *v)
{
    memcpy(m->given, m->before, mechfmu_held(m) * sizeof *m->given);
    return mechfmu_say(m, MECHP_FMI3_ERROR, "\"%s\" cannot be set", v->name);
}

enum mechp_fmi3_status mechfmu_set(struct mechfmu *m, const uint32_t vr[], size_t n,
                                   const double values[], size_t n_values)
{
    bool parameters = false;
    size_t count = 0;

    if (!count_values(m, vr, n, n_values)) {
        return MECHP_FMI3_ERROR;
    }
    if (!mech_sim_all_finite(values, n_values)) {
        return mechfmu_say(m, MECHP_FMI3_DISCARD, "a value is not finite");
    }
    memcpy(m->before, m->given, mechfmu_held(m) * sizeof *m->given);
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (v->causality == MECH_PARAMETER) {
            parameters = parameters || m->parameter[v->channel] != values[0];
            m->parameter[v->channel] = values[0];
        } else if (v->causality == MECH_INPUT) {
            count = touch(m, v, count);
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
    if (!mech_sim_all_finite(values, n)) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "a derivative is not finite");
    }
    memcpy(m->before, m->given, mechfmu_held(m) * sizeof *m->given);
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        if (v->causality != MECH_INPUT || v->variability != MECHP_FMI_CONTINUOUS || orders[i] < 1 ||
            orders[i] > 2) {
            return refuse(m, v);
        }
        count = touch(m, v, count);
        *rate_of(m, v, orders[i], 0) = values[i];
    }
    return take_effect(m, count, false, MECHP_FMI3_ERROR);
}

enum mechp_fmi3_status mechfmu_output_rates(struct mechfmu *m, const uint32_t vr[], size_t n,
                                            const int32_t orders[], double values[],
                                            size_t n_values)
{
    char reason[160] = "";

    if (!count_values(m, vr, n, n_values)) {
        return MECHP_FMI3_ERROR;
    }
    for (size_t i = 0; i < n; i++) {
        if (orders[i] != 1 ||
            mechp_fmi_layout_find(&m->layout, vr[i])->causality != MECH_OUTPUT_VARIABLE) {
            return mechfmu_say(m, MECHP_FMI3_ERROR,
                               "only outputs have derivatives, of order 1 alone");
        }
    }
    const int code = mech_sim_output_rates(m->sim, false, m->outputs, reason);
    if (code) {
        return mechfmu_say(m, undefined(m), "%s", reason[0] ? reason : mech_err_text(code));
    }
    for (size_t i = 0; i < n; i++) {
        const struct mechp_fmi_variable *const v = mechp_fmi_layout_find(&m->layout, vr[i]);

        memcpy(values, m->outputs + v->offset, (size_t)v->size * sizeof *values);
        values += v->size;
    }
    return MECHP_FMI3_OK;
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
    if (!inputs) {
        return mechfmu_say(m, MECHP_FMI3_ERROR, "no memory");
    }
    memset(m->outputs, 0, mech_sim_output_size(m->sim) * sizeof *m->outputs);
    scatter(m, seeded, from, q->seed, q->adjoint ? m->outputs : inputs);
    struct mech_point_derivative d = {.at = {.time = NAN},
                                      .values = {.inputs = inputs, .outputs = m->outputs},
                                      .adjoint = q->adjoint};
    const int code = mech_sim_point_derivative(m->sim, &d);
    if (code == 0) {
        gather(m, wanted, to, q->adjoint ? inputs : m->outputs, q->out);
    }
    free(inputs);
    return code == 0 ? MECHP_FMI3_OK
                     : mechfmu_say(m, undefined(m), "%s",
                                   code > 0 && d.reason[0] ? d.reason : mech_err_text(code));
}
