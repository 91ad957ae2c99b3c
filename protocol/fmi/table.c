/* Variables and channels of an FMU that connects to a server. */
#include "protocol/fmi/table.h"

#include "solver/base/err.h"
#include "solver/sim/analysis.h"

#include <stdlib.h>

static void put_bool(struct mechp_text *w, const char *key, bool value)
{
    mechp_text_key(w, key);
    mechp_text_bool(w, value);
}

static void read_values(const struct mech_sim *sim, const struct mech_variable *v, double *values)
{
    if (v->causality == MECH_INPUT) {
        mech_sim_get_input(sim, v->index, values);
    } else if (v->causality == MECH_OUTPUT_VARIABLE) {
        mech_sim_get_output(sim, v->index, values);
    } else {
        values[0] = mech_sim_get_parameter(sim, v->index);
    }
}

/* values: room for those of any channel */
static void write_channels(const struct mech_sim *sim, enum mech_causality causality,
                           const char *key, double *values, struct mechp_text *w)
{
    mechp_text_key(w, key);
    mechp_text_array(w);
    for (size_t i = 0; i < mech_sim_variable_count(sim, causality); i++) {
        struct mech_variable v;

        mech_sim_variable(sim, causality, i, &v);
        read_values(sim, &v, values);
        mechp_text_object(w);
        mechp_text_member_string(w, "name", v.name);
        if (causality != MECH_PARAMETER) {
            mechp_text_member_integer(w, "size", v.size);
            put_bool(w, "scalar", v.scalar);
        }
        mechp_text_key(w, "start");
        mechp_text_numbers(w, values, (size_t)v.size);
        mechp_text_end(w);
    }
    mechp_text_end(w);
}

static void write_variable(const struct mechp_fmi_variable *v, struct mechp_text *w)
{
    mechp_text_object(w);
    mechp_text_member_string(w, "name", v->name);
    mechp_text_member_integer(w, "reference", v->reference);
    mechp_text_member_integer(w, "causality", (int64_t)v->causality);
    mechp_text_member_integer(w, "variability", (int64_t)v->variability);
    mechp_text_member_integer(w, "channel", v->channel);
    mechp_text_member_integer(w, "first", v->first);
    mechp_text_member_integer(w, "size", v->size);
    put_bool(w, "scalar", v->scalar);
    mechp_text_end(w);
}

int mechp_fmi_table(const struct mechp_fmi_layout *layout, const struct mech_sim *sim,
                    const char *token, const char *server, struct mechp_text *w)
{
    const size_t inputs = mech_sim_input_size(sim), outputs = mech_sim_output_size(sim);
    double *const values = malloc(((inputs > outputs ? inputs : outputs) + 1) * sizeof *values);

    if (!values) {
        return MECH_NO_MEMORY;
    }
    mechp_text_object(w);
    mechp_text_member_string(w, "token", token);
    mechp_text_member_integer(w, "version", (int64_t)layout->version);
    mechp_text_member_string(w, "server", server);
    mechp_text_member_number(w, "stepSize", mech_sim_step_size(sim));
    write_channels(sim, MECH_INPUT, "inputs", values, w);
    write_channels(sim, MECH_OUTPUT_VARIABLE, "outputs", values, w);
    write_channels(sim, MECH_PARAMETER, "parameters", values, w);
    mechp_text_key(w, "variables");
    mechp_text_array(w);
    for (size_t i = 0; i < layout->n; i++) {
        write_variable(&layout->at[i], w);
    }
    mechp_text_end(w);
    mechp_text_end(w);
    free(values);
    return w->failed ? MECH_NO_MEMORY : 0;
}
