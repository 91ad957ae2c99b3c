/* Inputs over a step, as its body has them. As owner of the instance. */
#pragma once

#include "server/call/shapes.h"

struct mechd_signals {
    struct mech_input_change *changes; /* [count] those of `inputs`, then the signals */
    size_t count;
    struct mech_input_signal *signals; /* one each */
    double *numbers;
};

/* Read {"name": {"polynomial": […]} | {"samples": {"times", "values"}}}, τ = 0 now. Faults go to
 * c->diag at "/inputSignals/…", or to c->code. An input that `inputs` has too is a fault. Fini in
 * any case. */
void mechd_read_signals(struct mechd_call *c, const json_t *object,
                        const struct mechd_inputs *inputs, struct mechd_signals *out);
void mechd_signals_fini(struct mechd_signals *s);
