/* What objects between two markers share. */
#pragma once

#include "solver/base/err.h"
#include "solver/items/document.h"
#include "solver/items/ops.h"
#include "solver/linalg/v3.h"

#include <string.h>

/* Force F on the first point, −F on the second. */
static inline void mech_opposed_force(const double F[3], double W[12])
{
    for (int i = 0; i < 3; i++) {
        W[i] += F[i];
        W[6 + i] -= F[i];
    }
}

/* slope += the blocks of that force when δF = S (δ₁ − δ₀), S by rows. */
static inline void mech_pair_slope(const double S[9], double slope[12][12])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double s = S[3 * i + j];

            slope[i][j] -= s;
            slope[i][6 + j] += s;
            slope[6 + i][j] += s;
            slope[6 + i][6 + j] -= s;
        }
    }
}

/* The line from the first to the second point: d = p₁ − p₀, L = |d|, n = d/L, u = v₁ − v₀. At L = 0
 * there is no direction: n is not a number, and the step says so. */
struct mech_line {
    double d[3], u[3], n[3], L, rate; /* rate: dL/dt */
};

static inline struct mech_line mech_line_of(const struct mech_pose *const pose[2])
{
    struct mech_line l;

    mech_v3_add(pose[1]->p, -1., pose[0]->p, l.d);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, l.u);
    l.L = mech_v3_norm(l.d);
    for (int i = 0; i < 3; i++) {
        l.n[i] = l.d[i] / l.L;
    }
    l.rate = mech_v3_dot(l.n, l.u);
    return l;
}

/* Slopes of the force f n on the first point and −f n on the second, by[2] = ∂f/∂L, ∂f/∂L̇. */
static inline void mech_line_slope(const struct mech_line *l, double f, const double by[2],
                                   double Wx[12][12], double Wt[12][12])
{
    double S[9], D[9];

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double P = (i == j ? 1. : 0.) - l->n[i] * l->n[j];
            const double across = (l->u[j] - l->rate * l->n[j]) / l->L; /* (P Δv / L)_j */

            S[3 * i + j] = l->n[i] * (by[0] * l->n[j] + by[1] * across) + f / l->L * P;
            D[3 * i + j] = by[1] * l->n[i] * l->n[j];
        }
    }
    mech_pair_slope(S, Wx);
    mech_pair_slope(D, Wt);
}

/* `n` numbers of an output. */
static inline int mech_pair_give(const double *from, size_t n, size_t capacity, double *values,
                                 size_t *count)
{
    *count = n;
    for (size_t i = 0; i < n && i < capacity; i++) {
        values[i] = from[i];
    }
    return 0;
}

/* Displacement p₁ − p₀, Velocity v₁ − v₀, Distance. MECH_UNSUPPORTED: not one of them. */
static inline int mech_line_output(const struct mech_view *view, enum mech_output variable,
                                   size_t capacity, double *values, size_t *count)
{
    const struct mech_line l = mech_line_of(view->pose);

    switch (variable) {
    case MECH_OUTPUT_DISPLACEMENT:
        return mech_pair_give(l.d, 3, capacity, values, count);
    case MECH_OUTPUT_VELOCITY:
        return mech_pair_give(l.u, 3, capacity, values, count);
    case MECH_OUTPUT_DISTANCE:
        return mech_pair_give(&l.L, 1, capacity, values, count);
    default:
        return MECH_UNSUPPORTED;
    }
}

enum {
    MECH_LINE_OUTPUTS =
        1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_DISTANCE
};

/* Force of a joint as Exudyn signs it (−λ: positive pulls), and the residual of its equations. */
static inline int mech_joint_output(const struct mech_pair_ops *ops, const struct mech_view *view,
                                    enum mech_output variable, size_t capacity, double *values,
                                    size_t *count)
{
    double x[MECH_PAIR_ROWS] = {0.};

    if (variable == MECH_OUTPUT_FORCE) {
        if (view->record && !view->lambda && capacity) {
            return MECH_UNSUPPORTED;
        }
        for (int32_t r = 0; r < view->rows && view->record && view->lambda; r++) {
            x[r] = -view->lambda[r];
        }
    } else if (variable == MECH_OUTPUT_CONSTRAINT_EQUATION) {
        if (view->record) {
            ops->residual(view->record, view->at.t, view->pose, x);
        }
    } else {
        return MECH_UNSUPPORTED;
    }
    return mech_pair_give(x, (size_t)view->rows, capacity, values, count);
}

#define MECH_PAIR_FIELD_ACTIVE(type, member)                                                       \
    {                                                                                              \
        .name = "active", .kind = MECH_BOOL, .offset = offsetof(struct type, member),              \
        .flags = MECH_TUNABLE, .preset = 1., .doc = "whether it acts"                              \
    }
#define MECH_PAIR_FIELD_MARKERS(type, member)                                                      \
    {                                                                                              \
        .name = "markers", .kind = MECH_REFS, .offset = offsetof(struct type, member),             \
        .flags = MECH_REQUIRED, .count = 2, .target = MECH_MARKER, .doc = "the two markers"        \
    }
