/* An internal step in substeps, whose size follows their estimated error (control.h), or the
 * failures of Newton's method. The state at the start of a substep is kept whole, so that a refused
 * one leaves no trace. owner: one stepper; no allocation after init. */
#pragma once

#include "solver/step/control.h"
#include "solver/step/stepper.h"

/* One of so many substeps polls the interrupt (base/interrupt.h). */
enum { MECH_SUBSTEPS_ASK_EVERY = 16 };

struct mech_substeps {
    void *self; /* of the two operations */
    /* One substep in place, as mech_stepper_type.step. An outcome refuses it as an error that is
     * too large does. */
    int (*step)(void *self, struct mech_state *s, double h, double t_end,
                struct mech_step_result *result);
    /* Estimated error of the substep from `start` to s, of length h; 1: as large as allowed. 0 or
     * an outcome. */
    int (*estimate)(void *self, const struct mech_state *start, const struct mech_state *s,
                    double h, double *error, struct mech_step_result *result);
    int32_t lower; /* order of the estimate, as mech_control_begin asks for */
    bool beyond;   /* the last substep may end behind the step's end */
    bool even;     /* substeps change their size as little as the end allows */
    const struct mech_model *model;
    double *memory;
    struct mech_state start; /* of the last substep */
};

/* `carry`: doubles that the scheme carries in the state, of which the first is the size of the next
 * substep. The fields up to `even` are the caller's. Negative: no memory. fini accepts zeros. */
int mech_substeps_init(struct mech_substeps *d, const struct mech_model *m, int32_t carry);
void mech_substeps_fini(struct mech_substeps *d);

/* From the state's time to t_end, or beyond it; the state's time goes along. Substeps are at most
 * h, and solver.adaptive.maximumStepSize; when they may end beyond, at most that or the model's
 * step size. MECH_STEP_TOO_SMALL: the error, or the last outcome, requires less than the minimum,
 * with a reason; MECH_CANCELLED; negative. */
int mech_substeps_run(struct mech_substeps *d, struct mech_state *s, double h, double t_end,
                      struct mech_step_result *result);
