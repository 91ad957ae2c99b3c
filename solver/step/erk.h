/* Explicit Runge–Kutta schemes by their tableau:  k_i = f(t + c_i h, y + h Σ_j a_ij k_j),
 * y += h Σ_i b_i k_i  for y = (q, v, x), q̇ = T(q) v. owner: see stepper.h. */
#pragma once

#include "solver/step/stepper.h"

enum { MECH_ERK_STAGES = 7 };

struct mech_tableau {
    int32_t stages;
    double a[MECH_ERK_STAGES][MECH_ERK_STAGES];
    double b[MECH_ERK_STAGES];
    double c[MECH_ERK_STAGES];
    /* A pair with error estimate h Σ e_i k_i, the last k being f at the end of the step: */
    double e[MECH_ERK_STAGES];
    int32_t lower; /* order of the lower member plus 1; 0: no estimate */
    /* A continuous extension of its own, r₅ = h Σ d_i k_i (dense.h); zeros: there is none. */
    double d[MECH_ERK_STAGES];
};

/* Dormand and Prince's pair of order 5. */
extern const struct mech_tableau mech_tableau_dopri5;

/* The operations of an explicit scheme; `create` of a member calls mech_erk_create with its
 * tableau, which must outlive the stepper. */
void mech_erk_check(const struct mech_model *m, struct mech_diag *d);
int mech_erk_create(const struct mech_model *m, const struct mech_tableau *tableau,
                    struct mech_step_result *result, void **self);
int mech_erk_start(void *self, struct mech_state *s, struct mech_step_result *result);
int mech_erk_step(void *self, struct mech_state *s, double h, double t_end,
                  struct mech_step_result *result);
/* A step of a pair, divided into substeps by solver.adaptive (substeps.h); what it carries stands
 * in erk_pair.c. MECH_STEP_TOO_SMALL when the error asks for less than the minimum. While it runs,
 * the state's time is the start of the substep. */
int mech_erk_pair_start(void *self, struct mech_state *s, struct mech_step_result *result);
int mech_erk_adaptive(void *self, struct mech_state *s, double h, double t_end,
                      struct mech_step_result *result);
bool mech_erk_divides(const struct mech_model *m);
int32_t mech_erk_carry(const struct mech_model *m);
const char *mech_erk_linear(const void *self);
void mech_erk_destroy(void *self);

/* The part of a member's table that all explicit schemes share. */
#define MECH_ERK_OPERATIONS                                                                        \
    .explicit_scheme = true, .pins = true, .rotations = true, .check = mech_erk_check,             \
    .create = create, .start = mech_erk_start, .step = mech_erk_step, .linear = mech_erk_linear,   \
    .destroy = mech_erk_destroy

/* The same for a pair. */
#define MECH_ERK_PAIR_OPERATIONS                                                                   \
    .explicit_scheme = true, .pins = true, .rotations = true, .check = mech_erk_check,             \
    .divides = mech_erk_divides, .carry = mech_erk_carry, .create = create,                        \
    .start = mech_erk_pair_start, .step = mech_erk_adaptive, .linear = mech_erk_linear,            \
    .destroy = mech_erk_destroy
