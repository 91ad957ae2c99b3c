/* Step size control by an estimated error (E. Hairer, S. Nørsett, G. Wanner, Solving Ordinary
 * Differential Equations I, II.4). An internal step is divided into substeps; the step size lives
 * on from one internal step to the next. A pure function of what it is given: same errors, same
 * steps. owner: one step of one stepper.
 */
#pragma once

#include "solver/items/document.h"

struct mech_control {
    const struct mech_adaptive_settings *settings;
    double exponent;  /* −1 / (order of the lower member + 1) */
    double most;      /* s, largest substep */
    double next;      /* s, wanted substep */
    double step;      /* s, planned substep */
    double error;     /* of the last substep, 1: as large as allowed */
    bool refused;     /* the last substep was too inaccurate */
    bool even;        /* what is left is divided evenly, so that the end cuts no substep short */
    uint64_t planned; /* substeps, refused ones too */
};

/* Begin an internal step with substeps of at most `most`; `next` as an earlier one left it, 0: none
 * did. `lower`: order of the lower member of the pair plus 1. */
void mech_control_begin(struct mech_control *c, const struct mech_adaptive_settings *settings,
                        int32_t lower, double most, double next);

/* Plan the substep from t (c->step); its end is returned, t_end itself for the last one. */
double mech_control_plan(struct mech_control *c, double t, double t_end);

/* True when the planned substep is good enough; either way the next is chosen. An error that is not
 * a number is too large. */
bool mech_control_judge(struct mech_control *c, double error);

/* True when it cannot go on: the refused substep was as small as allowed, time t no longer moves by
 * a substep, or there were over a million. */
bool mech_control_exhausted(const struct mech_control *c, double t);

/* Σ (error_i / (absolute + relative max(|from_i|, |to_i|)))², i < n */
double mech_control_squares(const struct mech_adaptive_settings *settings, size_t n,
                            const double *from, const double *to, const double *error);
