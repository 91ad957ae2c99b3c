/* Values of a server's instance: what is known of them, and how they are written. */
#include "clients/fmu/proxy.h"

#include "solver/base/err.h"

#include <string.h>

/* --- values in messages ----------------------------------------------------------------------- */

/* The values of one channel; false: it has others. */
static bool take(const struct mechfmu_named *c, struct mechc_json v, double *packed)
{
    int32_t k = 0;

    if (c->scalar) {
        return mechc_json_number(v, packed + c->offset);
    }
    for (struct mechc_json_walk e = mechc_json_walk(v); mechc_json_next(&e); k++) {
        if (k >= c->size || !mechc_json_number(e.value, packed + c->offset + k)) {
            return false;
        }
    }
    return k == c->size;
}

/* Values of channels; of those that are missing, if that may be, they remain. */
static bool take_values(const struct mechfmu_named *channels, size_t n, struct mechc_json from,
                        bool may_miss, double *packed)
{
    struct mechc_json_walk w = mechc_json_walk(from);

    /* the server has them in the same order; where it has not, they are looked up */
    for (size_t i = 0; i < n; i++) {
        struct mechc_json v;

        if (mechc_json_next(&w) && mechc_json_is(w.key, channels[i].name)) {
            v = w.value;
        } else if (!mechc_json_member(from, channels[i].name, &v)) {
            if (may_miss) {
                continue;
            }
            return false;
        }
        if (!take(&channels[i], v, packed)) {
            return false;
        }
    }
    return true;
}

bool mechfmu_take_values(const struct mechfmu_named *channels, size_t n, struct mechc_json from,
                         double *packed)
{
    return take_values(channels, n, from, false, packed);
}

static void put_value(struct mechfmu_lane *l, const struct mechfmu_named *c, const double *values)
{
    if (c->scalar) {
        mechc_bytes_number(&l->out, values[0]);
        return;
    }
    for (int32_t k = 0; k < c->size; k++) {
        mechc_bytes_text(&l->out, k == 0 ? "[" : ",");
        mechc_bytes_number(&l->out, values[k]);
    }
    mechc_bytes_text(&l->out, c->size > 0 ? "]" : "[]");
}

static void put_name(struct mechfmu_lane *l, const char *name, bool first)
{
    mechc_bytes_text(&l->out, first ? "{" : ",");
    mechc_bytes_string(&l->out, name);
    mechc_bytes_text(&l->out, ":");
}

void mechfmu_put_values(struct mechfmu_lane *l, const struct mechfmu_named *channels,
                        const int32_t *which, size_t n, const double *packed)
{
    for (size_t i = 0; i < n; i++) {
        const struct mechfmu_named *const c = &channels[which[i]];

        put_name(l, c->name, i == 0);
        put_value(l, c, packed + c->offset);
    }
    mechc_bytes_text(&l->out, n > 0 ? "}" : "{}");
}

/* --- present values --------------------------------------------------------------------------- */

static int know(struct mechfmu *m, const char *op, const char *key,
                const struct mechfmu_named *channels, size_t n, double *packed)
{
    struct mechc_json reply, values;

    mechfmu_ask(m, op);
    MECH_TRY(mechfmu_asked(m, MECHP_FMI3_ERROR, &reply));
    if (!mechc_json_member(reply, key, &values) ||
        !mechfmu_take_values(channels, n, values, packed)) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "the %s of instance %s are not those of this FMU", key,
                    m->engine->id);
        return MECH_MISMATCH;
    }
    return 0;
}

/* Present values in e->output, asked for where they are not known. 0, or refused. */
static int know_outputs(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    if (!e->outputs_known) {
        MECH_TRY(know(m, "outputs", "outputs", e->outputs, e->n_outputs, e->output));
        e->outputs_known = true;
    }
    return 0;
}

/* The same in e->input. */
static int know_inputs(struct mechfmu *m)
{
    struct mechfmu_engine *const e = m->engine;

    if (!e->inputs_known) {
        MECH_TRY(know(m, "get-inputs", "inputs", e->inputs, e->n_inputs, e->input));
        e->inputs_known = true;
    }
    return 0;
}

double mechfmu_engine_time(const struct mechfmu *m)
{
    return m->engine->time;
}

uint64_t mechfmu_engine_steps(const struct mechfmu *m)
{
    return m->engine->steps;
}

int mechfmu_engine_get(struct mechfmu *m, const struct mechp_fmi_variable *v, double *values)
{
    const struct mechfmu_engine *const e = m->engine;
    const bool early = e->id[0] == '\0'; /* nothing is asked for then */
    const double *from = &e->time;

    if (early && m->state == m->broken) {
        mechfmu_say(m, MECHP_FMI3_ERROR, "there is no connection");
        return MECH_INVALID;
    }
    if (v->causality == MECH_INPUT && early) {
        from = m->is_set[v->channel] != 0. ? m->value + v->offset : e->input_start + v->offset;
    } else if (v->causality == MECH_OUTPUT_VARIABLE && early) {
        from = e->output_start + v->offset;
    } else if (v->causality == MECH_PARAMETER) {
        from = m->parameter + v->channel;
    } else if (v->causality == MECH_OUTPUT_VARIABLE) {
        MECH_TRY(know_outputs(m));
        from = e->output + v->offset;
    } else if (v->causality == MECH_INPUT) {
        MECH_TRY(know_inputs(m));
        from = e->input + v->offset;
    }
    memcpy(values, from, (size_t)v->size * sizeof *values);
    return 0;
}

int mechfmu_engine_input(struct mechfmu *m, size_t channel, double *values)
{
    const struct mechfmu_engine *const e = m->engine;
    const struct mechfmu_named *const c = &e->inputs[channel];
    const size_t size = (size_t)c->size * sizeof *values;

    /* it holds what has been set */
    if (m->is_set[channel] != 0. && (e->id[0] == '\0' || !mechfmu_moves(m, channel))) {
        return 0;
    }
    if (e->id[0] == '\0') {
        memcpy(values, e->input_start + c->offset, size);
        return 0;
    }
    MECH_TRY(know_inputs(m));
    memcpy(values, e->input + c->offset, size);
    return 0;
}

/* --- derivatives ------------------------------------------------------------------------------ */

static int undefined_here(const struct mechfmu *m, enum mechp_fmi3_status undefined)
{
    mechfmu_say(m, undefined, "derivatives are not defined at this state");
    return MECH_UNSUPPORTED;
}

int mechfmu_engine_rates(struct mechfmu *m, double *packed, enum mechp_fmi3_status undefined)
{
    const struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply, values;

    mechfmu_ask(m, "derivatives");
    mechfmu_lane_plain(&m->engine->lane, "rates", "true");
    MECH_TRY(mechfmu_asked(m, undefined, &reply));
    return mechc_json_member(reply, "rates", &values) &&
                   mechfmu_take_values(e->outputs, e->n_outputs, values, packed)
               ? 0
               : undefined_here(m, undefined);
}

int mechfmu_engine_derive(struct mechfmu *m, const struct mechfmu_direction *d,
                          enum mechp_fmi3_status undefined)
{
    struct mechfmu_engine *const e = m->engine;
    struct mechc_json reply, values;

    mechfmu_ask(m, "derivatives");
    mechfmu_lane_key(&e->lane, d->adjoint ? "seed" : "direction");
    mechc_bytes_text(&e->lane.out, d->adjoint ? "{\"outputs\":" : "{\"inputs\":");
    mechfmu_put_values(&e->lane, d->adjoint ? e->outputs : e->inputs, d->seeded, d->n,
                       d->adjoint ? d->outputs : d->inputs);
    mechc_bytes_text(&e->lane.out, "}");
    MECH_TRY(mechfmu_asked(m, undefined, &reply));
    /* inputs that set parameters are none of the equations' */
    const bool taken = d->adjoint
                           ? mechc_json_member(reply, "sensitivity/inputs", &values) &&
                                 take_values(e->inputs, e->n_inputs, values, true, d->inputs)
                           : mechc_json_member(reply, "derivative/outputs", &values) &&
                                 mechfmu_take_values(e->outputs, e->n_outputs, values, d->outputs);
    return taken ? 0 : undefined_here(m, undefined);
}
