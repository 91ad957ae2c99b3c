/* The registry of integrators. */
#include "solver/step/stepper.h"

#include <string.h>

#define MECH_STEPPER(name) extern const struct mech_stepper_type mech_stepper_##name;
#include "solver/step/steppers.def"
#undef MECH_STEPPER

const struct mech_stepper_type *const mech_stepper_types[] = {
#define MECH_STEPPER(name) &mech_stepper_##name,
#include "solver/step/steppers.def"
#undef MECH_STEPPER
    NULL,
};

const struct mech_stepper_type *mech_stepper_find(const char *name)
{
    for (const struct mech_stepper_type *const *t = mech_stepper_types; *t; t++) {
        if (strcmp((*t)->name, name) == 0) {
            return *t;
        }
    }
    return NULL;
}
