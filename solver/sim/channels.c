/* Inputs, parameters and outputs of a simulation. */
#include "solver/base/err.h"
#include "solver/sim/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One packed input: value, first and second derivative, time since which they hold. True when that
 * changes anything that acts. */
static bool put_input(struct mech_sim *s, int32_t at, double value, double first, double second)
{
    double *const in = s->now.input + 4 * (size_t)at;
    const bool held = s->now.input_set[at] != 0. && in[1] == 0. && in[2] == 0.;

    if (held && first == 0. && second == 0. && memcmp(&in[0], &value, sizeof value) == 0) {
        return false;
    }
    in[0] = value;
    in[1] = first;
    in[2] = second;
    in[3] = s->now.at->time;
    s->now.input_set[at] = 1.;
    return true;
}

static int set_parameter_input(struct mech_sim *s, int32_t parameter, const double *values)
{
    struct mech_diag diag;
    const double value = values ? values[0] : s->document->parameters.at[parameter].value;

    mech_diag_init(&diag);
    const int code = mech_sim_set_parameters(s, 1, &parameter, &value, &diag);
    mech_diag_fini(&diag);
    return code;
}

int mech_sim_set_input(struct mech_sim *s, int32_t index, const double *values, int32_t order,
                       const double *derivatives)
{
    const struct mech_channel_info *const c = mech_model_input(s->model, (size_t)index);
    const int32_t n = c->size;
    bool finite = true, changed = false;

    for (int32_t i = 0; values && i < n; i++) {
        finite = finite && isfinite(values[i]);
    }
    for (int32_t i = 0; values && i < order * n; i++) {
        finite = finite && isfinite(derivatives[i]);
    }
    if (!finite) {
        return MECH_NOT_FINITE;
    }
    s->has_trial = false;
    if (c->kind == MECH_INPUT_PARAMETER) {
        return set_parameter_input(s, c->parameter, values);
    }
    for (int32_t i = 0; i < n; i++) {
        const int32_t at = c->offset + i;

        if (values) {
            const double first = order > 0 ? derivatives[i] : 0.;
            const double second = order > 1 ? derivatives[n + i] : 0.;

            changed = put_input(s, at, values[i], first, second) || changed;
        } else if (s->now.input_set[at] != 0.) {
            s->now.input_set[at] = 0.;
            memset(s->now.input + 4 * (size_t)at, 0, 4 * sizeof(double));
            changed = true;
        }
    }
    if (changed) {
        s->now.at->changed = 1;
    }
    return 0;
}

void mech_sim_get_input(const struct mech_sim *s, int32_t index, double *values)
{
    const struct mech_channel_info *const c = mech_model_input(s->model, (size_t)index);

    for (int32_t i = 0; i < c->size; i++) {
        values[i] = mech_model_input_value(s->model, &s->now, c->offset + i, (size_t)index,
                                           s->now.at->time);
    }
}

int mech_sim_set_parameters(struct mech_sim *s, size_t count, const int32_t *index,
                            const double *values, struct mech_diag *diag)
{
    const size_t n = s->document->parameters.n;
    double *const fresh = malloc((n + 1) * sizeof *fresh);

    if (!fresh) {
        return MECH_NO_MEMORY;
    }
    memcpy(fresh, s->now.parameter, n * sizeof *fresh);
    for (size_t i = 0; i < count; i++) {
        fresh[index[i]] = values[i];
    }
    int code = 0;
    if (memcmp(fresh, s->now.parameter, n * sizeof *fresh) != 0) {
        code = mech_sim_rebuild(s, fresh, diag);
    }
    if (code == 0 && memcmp(fresh, s->now.parameter, n * sizeof *fresh) != 0) {
        memcpy(s->now.parameter, fresh, n * sizeof *fresh);
        s->now.at->changed = 1;
        s->has_trial = false;
    }
    free(fresh);
    return code;
}

double mech_sim_get_parameter(const struct mech_sim *s, int32_t index)
{
    return s->now.parameter[index];
}

/* --- outputs ---------------------------------------------------------------------------------- */

size_t mech_sim_output_size(const struct mech_sim *s)
{
    return (size_t)mech_model_output_size(s->model);
}

static void all_outputs(const struct mech_sim *s, const struct mech_state *state, double *values)
{
    for (size_t i = 0; i < mech_model_outputs(s->model); i++) {
        mech_model_output_values(s->model, state, i,
                                 values + mech_model_output(s->model, i)->offset);
    }
}

void mech_sim_get_outputs(const struct mech_sim *s, double *values)
{
    all_outputs(s, &s->now, values);
}

void mech_sim_trial_outputs(const struct mech_sim *s, double *values)
{
    all_outputs(s, &s->next, values);
}

void mech_sim_get_output(const struct mech_sim *s, int32_t index, double *values)
{
    mech_model_output_values(s->model, &s->now, (size_t)index, values);
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
