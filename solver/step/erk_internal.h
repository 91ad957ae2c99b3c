/* An explicit Runge–Kutta scheme inside: steps and pairs share it. */
#pragma once

#include "solver/step/dense.h"
#include "solver/step/erk.h"
#include "solver/step/rates.h"
#include "solver/step/substeps.h"

struct erk {
    const struct mech_model *model;
    const struct mech_tableau *tableau;
    struct mech_rates rates;
    int32_t nq, nv, nx;
    double *memory;
    double *q, *v, *x; /* stage point, with ground slots */
    double *still;     /* [nv + 1] zeros: no motion */
    double *end;       /* [nq] of a pair's last substep, before rotations are put in order */
    double *kq[MECH_ERK_STAGES], *kv[MECH_ERK_STAGES], *kx[MECH_ERK_STAGES];
    struct mech_substeps substeps; /* of pairs */
};

/* erk_pair.c: the substeps of a pair. Negative: no memory. */
int mech_erk_pair_init(struct erk *e);

/* out [n] += h Σ_j w_j k_j, j < count */
void mech_erk_add(int32_t n, int32_t count, const double *w, double h, double *const *k,
                  double *out);
/* Rotations to where they belong, held coordinates to where they are at t. */
void mech_erk_settle(struct erk *e, struct mech_state *s, double t);
/* v̇, λ and a of the state's q and v at t. */
int mech_erk_finish(struct erk *e, struct mech_state *s, double t, struct mech_step_result *result);
