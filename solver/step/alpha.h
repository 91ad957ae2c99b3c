/* The family of generalized-α schemes: Newmark, HHT, the trapezoidal rule and generalized-α itself
 * are one code with other parameters (J. Chung, G. Hulbert, 1993; M. Arnold, O. Brüls, 2007). */
#pragma once

#include "solver/step/stepper.h"

struct mech_alpha_parameters {
    double alpha_m, alpha_f, beta, gamma;
    bool index2; /* joints hold at velocity level */
    bool euler;  /* q and x by their rates at the end alone: implicit Euler, with β = γ = 1 */
};

/* Weight of the end of a step in q and x. */
static inline double mech_alpha_end(struct mech_alpha_parameters p)
{
    return p.euler ? 1. : 0.5;
}

/* The second: joints at position level need numerical damping. */
void mech_alpha_check_damped(const struct mech_model *m, struct mech_diag *d);
void mech_alpha_check(const struct mech_model *m, struct mech_diag *d);
int mech_alpha_create(const struct mech_model *m, struct mech_alpha_parameters p,
                      struct mech_step_result *result, void **self);
int mech_alpha_start(void *self, struct mech_state *s, struct mech_step_result *result);
int mech_alpha_step(void *self, struct mech_state *s, double h, double t_end,
                    struct mech_step_result *result);
int mech_alpha_tangent(void *self, const struct mech_state *from, const struct mech_state *to,
                       double h, struct mech_tangent *t, struct mech_step_result *result);
/* The same, in substeps where solver.adaptive asks for them (alpha_adaptive.c); while it runs, the
 * state's time is the start of the substep. */
int mech_alpha_advance(void *self, struct mech_state *s, double h, double t_end,
                       struct mech_step_result *result);
bool mech_alpha_divides(const struct mech_model *m);
int32_t mech_alpha_carry(const struct mech_model *m);
const char *mech_alpha_linear(const void *self);
/* A state stored before at->size was. */
void mech_alpha_renew(const struct mech_model *m, struct mech_state *s);
void mech_alpha_destroy(void *self);

/* The part of a member's table that the family shares. */
#define MECH_ALPHA_OPERATIONS                                                                      \
    .divides = mech_alpha_divides, .carry = mech_alpha_carry, .renew = mech_alpha_renew,           \
    .create = create, .start = mech_alpha_start, .step = mech_alpha_advance,                       \
    .tangent = mech_alpha_tangent, .linear = mech_alpha_linear, .destroy = mech_alpha_destroy
