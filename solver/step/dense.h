/* Continuous extension of a step, so that the motion can be had at any time inside it (E. Hairer,
 * S. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, II.6):
 *
 *     y(t₀ + θ h) = y₀ + θ (r₂ + (1 − θ) (r₃ + θ (r₄ + (1 − θ) r₅))),   r₂ = y₁ − y₀
 *     r₃ = h ẏ₀ − r₂,  r₄ = r₂ − h ẏ₁ − r₃
 *
 * for y = (q, v, x). With r₅ = 0 it is cubic Hermite interpolation, of order 3 in between (error
 * h⁴); a scheme of higher order may add its own r₅. Rotations are interpolated as coordinates: the
 * caller puts q ⊕ 0 in their place. owner: the owner of the memory.
 *
 *     mech_dense_place(&d, mech_model_sizes(m), memory);
 *     MECH_TRY(mech_dense_between(&d, &rates, &from, &to, result));
 *     mech_dense_at(&d, t, q, v, x);
 */
#pragma once

#include "solver/step/rates.h"

struct mech_dense {
    double t0, t1; /* s */
    int32_t nq, nv, nx;
    double *y0, *y1, *r3, *r4, *r5; /* [nq + nv + nx] */
};

/* Doubles of memory that it needs, and the pointers into them. */
size_t mech_dense_size(const struct mech_state_sizes *n);
void mech_dense_place(struct mech_dense *d, const struct mech_state_sizes *n, double *memory);

/* y₀ and y₁, into r₃ and r₄ at first the rates ẏ₀ and ẏ₁; then make r₃ … r₅ of them. */
void mech_dense_hermite(struct mech_dense *d);

/* The step between two states of the same inputs, from its ends alone; coordinates must not have
 * jumped between them, as rotation vectors do at a length of π. 0 or an outcome of
 * mech_rates_xdot. */
int mech_dense_between(struct mech_dense *d, struct mech_rates *rates,
                       const struct mech_state *from, const struct mech_state *to,
                       struct mech_step_result *result);

/* q [nq], v [nv], x [nx] at t. */
void mech_dense_at(const struct mech_dense *d, double t, double *q, double *v, double *x);

/* A root of f between a and b, at which its signs differ (or one of them is the root): the end at
 * which |f| is least of an interval as short as rounding allows. NAN: the signs do not differ. */
double mech_dense_root(double (*f)(void *context, double t), void *context, double a, double b);
