/* Inputs over a step: while it runs the state refers to them; at its end they are values that hold.
 * Both ends are a change of the communication point, also where the values there are the same: what
 * acts is another function of time on each side. */
#include "solver/base/err.h"
#include "solver/sim/internal.h"

#include <stdlib.h>
#include <string.h>

int mech_sim_signals_begin(struct mech_sim *s, const struct mech_input_change *inputs, size_t count)
{
    bool any = false;

    for (size_t k = 0; k < count; k++) {
        any = any || inputs[k].signal;
    }
    if (!any) {
        return 0;
    }
    if (!s->signals) {
        s->signals = malloc((size_t)s->sizes.input * sizeof *s->signals);
    }
    if (!s->signals) {
        return MECH_NO_MEMORY;
    }
    memset(s->signals, 0, (size_t)s->sizes.input * sizeof *s->signals);
    for (size_t k = 0; k < count; k++) {
        const struct mech_channel_info *const c =
            mech_model_input(s->model, (size_t)inputs[k].index);

        /* a value, or a release, ends the signal that was named before it */
        for (int32_t i = 0; c->kind != MECH_INPUT_PARAMETER && i < c->size; i++) {
            s->signals[c->offset + i] = inputs[k].signal
                                            ? mech_sim_signal_of(inputs[k].signal, c->size, i)
                                            : (struct mech_signal){.n = 0};
        }
    }
    s->next.signals = s->signals;
    s->next.at->changed |= MECH_CHANGED_RATES;
    return 0;
}

void mech_sim_signals_end(struct mech_sim *s)
{
    struct mech_state *const to = &s->next;

    for (int32_t i = 0; to->signals && i < s->sizes.input; i++) {
        if (to->signals[i].n > 0) {
            double *const in = to->input + 4 * (size_t)i;

            in[0] = mech_signal_value(&to->signals[i], to->at->time);
            in[1] = in[2] = 0.;
            in[3] = to->at->time;
            to->at->changed |= MECH_CHANGED_RATES;
        }
    }
    to->signals = NULL;
}
