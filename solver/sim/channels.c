/* Inputs, parameters and outputs of a simulation. */
#include "solver/base/err.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One packed input: value, first and second derivative, time since which they hold. True when that
 * changes anything that acts. */
static bool put_input(struct mech_state *to, int32_t at, const double given[3])
{
    double *const in = to->input + 4 * (size_t)at;
    const bool held = to->input_set[at] != 0. && in[1] == 0. && in[2] == 0.;

    if (held && given[1] == 0. && given[2] == 0. && memcmp(in, given, sizeof *in) == 0) {
        return false;
    }
    /* a derivative of -0 is one of 0, as in the comparison above */
    in[0] = given[0];
    in[1] = given[1] + 0.;
    in[2] = given[2] + 0.;
    in[3] = to->at->time;
    to->input_set[at] = 1.;
    return true;
}

/* Give one packed input back to the model. True when it had been set. */
static bool release_input(struct mech_state *to, int32_t at)
{
    const bool was_set = to->input_set[at] != 0.;

    if (was_set) {
        to->input_set[at] = 0.;
        memset(to->input + 4 * (size_t)at, 0, 4 * sizeof(double));
    }
    return was_set;
}

/* Why a signal cannot be taken, or 0. */
static int check_signal(const struct mech_sim *s, const struct mech_input_change *in, bool step,
                        const char **reason)
{
    const struct mech_channel_info *const c = mech_model_input(s->model, (size_t)in->index);
    const struct mech_input_signal *const g = in->signal;

    if (!step || c->kind == MECH_INPUT_PARAMETER || g->n < 1) {
        *reason = !step      ? "an input over time is allowed only in a step"
                  : g->n < 1 ? "an input over time needs at least one value"
                             : "a parameter is constant over a step";
        return MECH_INVALID;
    }
    for (int32_t k = 1; g->tau && k < g->n; k++) {
        if (!(g->tau[k] > g->tau[k - 1])) {
            *reason = "the times of an input's samples must increase";
            return MECH_INVALID;
        }
    }
    if (!isfinite(g->start) || (g->tau && !mech_sim_all_finite(g->tau, (size_t)g->n)) ||
        !mech_sim_all_finite(g->values, (size_t)g->n * (size_t)c->size)) {
        *reason = "an input is not finite";
        return MECH_NOT_FINITE;
    }
    return 0;
}

int mech_sim_check_inputs(const struct mech_sim *s, const struct mech_input_change *inputs,
                          size_t count, bool step, const char **reason)
{
    const size_t all = mech_model_inputs(s->model);

    for (size_t i = 0; i < count; i++) {
        const struct mech_input_change *const in = &inputs[i];

        if (in->index < 0 || (size_t)in->index >= all || in->order < 0 || in->order > 2) {
            *reason = "there is no such input";
            return MECH_INVALID;
        }
        if (in->signal) {
            MECH_TRY(check_signal(s, in, step, reason));
            continue;
        }
        const size_t n = (size_t)mech_model_input(s->model, (size_t)in->index)->size;
        if (in->values && (!mech_sim_all_finite(in->values, n) ||
                           !mech_sim_all_finite(in->derivatives, (size_t)in->order * n))) {
            *reason = "an input is not finite";
            return MECH_NOT_FINITE;
        }
    }
    return 0;
}

/* The parameter behind an input; a release brings the document's value back. True: changed. */
static bool put_parameter(const struct mech_sim *s, int32_t parameter, const double *values,
                          struct mech_state *to)
{
    const double value = values ? values[0] : s->document->parameters.at[parameter].value;
    double *const at = to->parameter + parameter;
    const bool changed = memcmp(at, &value, sizeof value) != 0;

    *at = value;
    return changed;
}

void mech_sim_put_inputs(const struct mech_sim *s, const struct mech_input_change *inputs,
                         size_t count, struct mech_state *to)
{
    bool changed = false;

    for (size_t k = 0; k < count; k++) {
        const struct mech_input_change *const in = &inputs[k];
        const struct mech_channel_info *const c = mech_model_input(s->model, (size_t)in->index);

        if (c->kind == MECH_INPUT_PARAMETER) {
            changed = put_parameter(s, c->parameter, in->values, to) || changed;
            continue;
        }
        for (int32_t i = 0; in->signal && i < c->size; i++) {
            const struct mech_signal g = mech_sim_signal_of(in->signal, c->size, i);
            const double given[3] = {mech_signal_value(&g, to->at->time), 0., 0.};

            changed = put_input(to, c->offset + i, given) || changed;
        }
        for (int32_t i = 0; !in->signal && i < c->size; i++) {
            const double given[3] = {in->values ? in->values[i] : 0.,
                                     in->order > 0 && in->values ? in->derivatives[i] : 0.,
                                     in->order > 1 && in->values ? in->derivatives[c->size + i]
                                                                 : 0.};
            const bool now =
                in->values ? put_input(to, c->offset + i, given) : release_input(to, c->offset + i);
            changed = changed || now;
        }
    }
    if (changed) {
        to->at->changed |= MECH_CHANGED_RATES;
    }
}

bool mech_sim_same_parameters(const struct mech_sim *s, const struct mech_state *a,
                              const struct mech_state *b)
{
    return memcmp(a->parameter, b->parameter, (size_t)s->sizes.parameter * sizeof(double)) == 0;
}

/* Outputs that are not finite with what is to be set. */
static int refuse(struct mech_sim *s, const struct mech_unshown *why, struct mech_diag *diag)
{
    const int code = mech_sim_refuse(s, why);

    mech_diag_add(diag, "", "%s", mech_sim_refusal(s));
    return code;
}

/* Parameters among the inputs: the model of their new values. All inputs are in s->next then. */
static int set_with_parameters(struct mech_sim *s, const struct mech_input_change *inputs,
                               size_t count, struct mech_diag *diag)
{
    struct mech_unshown why;

    s->has_trial = false;
    mech_state_copy(&s->now, &s->next);
    mech_sim_put_inputs(s, inputs, count, &s->next);
    if (!mech_sim_same_parameters(s, &s->now, &s->next)) {
        const struct mech_taking how = {s->next.parameter, false};
        const int code = mech_sim_change_model(s, &s->next, &how, diag);

        if (code) {
            (void)mech_sim_model_back(s);
            return code;
        }
    }
    if (mech_sim_outputs_fit(s, &s->next, MECH_SHOWS_NOW, &why)) {
        if (!mech_sim_same_parameters(s, &s->now, &s->next)) {
            (void)mech_sim_model_back(s);
        }
        return refuse(s, &why, diag);
    }
    mech_state_copy(&s->next, &s->now);
    return 0;
}

/* No parameters among the inputs: they are set in place, and restored if the outputs, which
 * may read them, are not finite then. */
static int set_in_place(struct mech_sim *s, const struct mech_input_change *inputs, size_t count,
                        struct mech_diag *diag)
{
    const size_t n = (size_t)s->sizes.input;
    const uint32_t changed = s->now.at->changed;
    struct mech_unshown why;

    memcpy(s->point.input, s->now.input, 4 * n * sizeof(double));
    memcpy(s->point.input_set, s->now.input_set, n * sizeof(double));
    mech_sim_put_inputs(s, inputs, count, &s->now);
    if (mech_sim_outputs_fit(s, &s->now, MECH_SHOWS_NOW, &why)) {
        memcpy(s->now.input, s->point.input, 4 * n * sizeof(double));
        memcpy(s->now.input_set, s->point.input_set, n * sizeof(double));
        s->now.at->changed = changed;
        return refuse(s, &why, diag);
    }
    s->has_trial = false;
    return 0;
}

int mech_sim_set_inputs(struct mech_sim *s, const struct mech_input_change *inputs, size_t count,
                        struct mech_diag *diag)
{
    const char *reason = "";
    const int code = mech_sim_check_inputs(s, inputs, count, false, &reason);
    bool parameters = false;

    mech_sim_forget_taken(s);
    if (code) {
        mech_diag_add(diag, "", "%s", reason);
        return code;
    }
    for (size_t k = 0; k < count; k++) {
        const struct mech_channel_info *const c =
            mech_model_input(s->model, (size_t)inputs[k].index);

        parameters = parameters || c->kind == MECH_INPUT_PARAMETER;
    }
    return (parameters ? set_with_parameters : set_in_place)(s, inputs, count, diag);
}

int mech_sim_set_input(struct mech_sim *s, int32_t index, const double *values, int32_t order,
                       const double *derivatives)
{
    const struct mech_input_change change = {
        .index = index, .order = order, .values = values, .derivatives = derivatives};
    struct mech_diag diag;

    mech_diag_init(&diag);
    const int code = mech_sim_set_inputs(s, &change, 1, &diag);
    mech_diag_fini(&diag);
    return code;
}

bool mech_sim_input_is_set(const struct mech_sim *s, int32_t index)
{
    const struct mech_channel_info *const c = mech_model_input(s->model, (size_t)index);

    return c->kind == MECH_INPUT_PARAMETER || s->now.input_set[c->offset] != 0.;
}

void mech_sim_get_input(const struct mech_sim *s, int32_t index, double *values)
{
    const struct mech_channel_info *const c = mech_model_input(s->model, (size_t)index);

    for (int32_t i = 0; i < c->size; i++) {
        values[i] = mech_model_input_value(s->model, &s->now, c->offset + i, (size_t)index,
                                           s->now.at->time);
    }
}

/* The model of other parameters, unless the present state cannot be shown with it. */
static int take_parameters(struct mech_sim *s, const double *fresh, struct mech_diag *diag)
{
    struct mech_state *const state = &s->point;
    const struct mech_taking how = {fresh, false};
    struct mech_unshown why;

    mech_state_copy(&s->now, state);
    memcpy(state->parameter, fresh, s->document->parameters.n * sizeof *fresh);
    int code = mech_sim_change_model(s, state, &how, diag);

    if (code == 0 && mech_sim_outputs_fit(s, state, MECH_SHOWS_NOW, &why)) {
        code = refuse(s, &why, diag);
    }
    if (code) {
        (void)mech_sim_model_back(s);
        return code;
    }
    mech_state_copy(state, &s->now);
    s->now.at->changed |= MECH_CHANGED_RATES;
    s->has_trial = false;
    return 0;
}

int mech_sim_set_parameters(struct mech_sim *s, size_t count, const int32_t *index,
                            const double *values, struct mech_diag *diag)
{
    const size_t n = s->document->parameters.n;
    double *const fresh = malloc((n + 1) * sizeof *fresh);

    if (!fresh) {
        return MECH_NO_MEMORY;
    }
    mech_sim_forget_taken(s);
    memcpy(fresh, s->now.parameter, n * sizeof *fresh);
    for (size_t i = 0; i < count; i++) {
        fresh[index[i]] = values[i];
    }
    const int code = memcmp(fresh, s->now.parameter, n * sizeof *fresh) != 0
                         ? take_parameters(s, fresh, diag)
                         : 0;
    free(fresh);
    return code;
}

double mech_sim_get_parameter(const struct mech_sim *s, int32_t index)
{
    return s->now.parameter[index];
}

size_t mech_sim_input_size(const struct mech_sim *s)
{
    return (size_t)s->sizes.input;
}

bool mech_sim_input_is_parameter(const struct mech_sim *s, int32_t index)
{
    return mech_model_input(s->model, (size_t)index)->kind == MECH_INPUT_PARAMETER;
}

/* --- outputs ---------------------------------------------------------------------------------- */

void mech_sim_get_outputs(const struct mech_sim *s, double *values)
{
    if (s->shows == MECH_SHOWS_NOW) {
        memcpy(values, s->shown, mech_sim_output_size(s) * sizeof *values);
    } else {
        mech_sim_outputs_of(s, &s->now, values);
    }
}

void mech_sim_trial_outputs(const struct mech_sim *s, double *values)
{
    if (s->shows == MECH_SHOWS_NEXT) {
        memcpy(values, s->shown, mech_sim_output_size(s) * sizeof *values);
    } else if (s->command.rebuilt) {
        memcpy(values, s->trial_outputs, mech_sim_output_size(s) * sizeof *values);
    } else {
        mech_sim_outputs_of(s, &s->next, values);
    }
}

void mech_sim_get_output(const struct mech_sim *s, int32_t index, double *values)
{
    mech_model_output_values(s->model, &s->now, (size_t)index, values);
}

enum mech_output mech_sim_output_variable(const struct mech_sim *s, int32_t index,
                                          bool *first_order)
{
    return mech_model_output_variable(s->model, (size_t)index, first_order);
}

int mech_sim_item_output(const struct mech_sim *s, const struct mech_item_query *query,
                         size_t capacity, double *values, size_t *count)
{
    const struct mech_output_request r = {
        .category = query->category,
        .index = mech_model_find(s->model, query->category, query->name),
        .variable = query->variable,
        .configuration = query->configuration,
        .local = query->local,
    };

    *count = 0;
    return r.index < 0 ? MECH_NOT_FOUND
                       : mech_model_item_output(s->model, &s->now, &r, capacity, values, count);
}

uint32_t mech_sim_item_outputs(const struct mech_sim *s, enum mech_category category,
                               const char *name)
{
    return mech_model_item_outputs(s->model, category, mech_model_find(s->model, category, name));
}

size_t mech_sim_jacobian_rows(const struct mech_sim *s, const struct mech_jacobian_query *q)
{
    size_t rows = 0;

    for (size_t i = 0; q->outputs && i < q->output_count; i++) {
        rows += (size_t)mech_model_output(s->model, (size_t)q->outputs[i])->size;
    }
    return q->outputs ? rows : mech_sim_output_size(s);
}

size_t mech_sim_variable_count(const struct mech_sim *s, enum mech_causality causality)
{
    switch (causality) {
    case MECH_INPUT:
        return mech_model_inputs(s->model);
    case MECH_OUTPUT_VARIABLE:
        return mech_model_outputs(s->model);
    case MECH_PARAMETER:
        return s->document->parameters.n;
    case MECH_INDEPENDENT:
        break;
    }
    return 1;
}

static void from_channel(const struct mech_channel_info *c, struct mech_variable *out)
{
    out->name = c->name;
    out->size = c->size;
    out->scalar = c->scalar;
    out->unit = c->unit;
    out->kinematic = c->kinematic;
    out->offset = c->offset;
}

void mech_sim_variable(const struct mech_sim *s, enum mech_causality causality, size_t index,
                       struct mech_variable *out)
{
    const size_t inputs = mech_model_inputs(s->model), outputs = mech_model_outputs(s->model);

    *out = (struct mech_variable){
        .causality = causality, .index = (int32_t)index, .size = 1, .scalar = true, .unit = ""};
    switch (causality) {
    case MECH_INPUT:
        from_channel(mech_model_input(s->model, index), out);
        out->reference = (int32_t)(1 + index);
        out->tunable = true;
        break;
    case MECH_OUTPUT_VARIABLE:
        from_channel(mech_model_output(s->model, index), out);
        out->reference = (int32_t)(1 + inputs + index);
        break;
    case MECH_PARAMETER:
        out->name = s->document->parameters.at[index].name;
        out->reference = (int32_t)(1 + inputs + outputs + index);
        out->offset = (int32_t)index;
        out->tunable = true;
        break;
    case MECH_INDEPENDENT:
        out->name = "time";
        out->unit = "s";
        break;
    }
}
