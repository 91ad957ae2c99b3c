/* The registry of integrators. */
#include "solver/step/stepper.h"

#include "solver/base/err.h"

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

/* The code, with its reason. */
static int told(int code, const struct mech_model *m, const struct mech_state *s, double t,
                struct mech_step_result *result)
{
    if (code == MECH_NOT_FINITE) {
        mech_model_blame(m, s, t, result->reason, sizeof result->reason);
    }
    return code;
}

int mech_step_force(const struct mech_model *m, const struct mech_state *s, double t, double *f,
                    struct mech_step_result *result)
{
    return told(mech_model_force(m, s, t, f), m, s, t, result);
}

int mech_step_rate(const struct mech_model *m, const struct mech_state *s, double t, double *r,
                   struct mech_step_result *result)
{
    return told(mech_model_rate(m, s, t, r), m, s, t, result);
}
