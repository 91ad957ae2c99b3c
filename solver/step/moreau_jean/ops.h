/* The operations of the two Moreau–Jean integrators: one for linear systems (linear.c), one for all
 * other models (bodies.c). ../moreau_jean.c chooses one when an integrator is made.
 * owner: the simulation's thread.
 */
#pragma once

#include "solver/step/stepper.h"

struct mech_moreau_jean_ops {
    int32_t rows_most; /* of interactions */
    /* as in struct mech_stepper_type */
    int32_t (*carry)(const struct mech_model *m); /* NULL: 0 */
    int (*create)(const struct mech_model *m, struct mech_step_result *result, void **self);
    int (*start)(void *self, struct mech_state *state, struct mech_step_result *result);
    int (*step)(void *self, struct mech_state *state, double h, double t_end,
                struct mech_step_result *result);
    const char *(*linear)(const void *self);
    const char *(*vi)(const void *self);
    void (*destroy)(void *self); /* accepts NULL */
};

extern const struct mech_moreau_jean_ops mech_moreau_jean_linear, mech_moreau_jean_bodies;
