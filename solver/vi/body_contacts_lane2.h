/* Inside body_contacts: two lanes, as body_contacts_visit.h needs them: vectors of 16 bytes, which
 * every x86-64 and 64-bit ARM has. Without them compilers fall back to numbers. */
#pragma once

#include "solver/vi/body_contacts_layout.h"

#include <math.h>

#define KERNEL static inline __attribute__((always_inline))
#define ENTRY static
enum { LANES_AT_A_TIME = 2 };

typedef double real __attribute__((vector_size(16), may_alias));
typedef int64_t mask __attribute__((vector_size(16)));

KERNEL real load(const double *x)
{
    return *(const real *)(const void *)x;
}

KERNEL void store(double *x, real value)
{
    *(real *)(void *)x = value;
}

KERNEL real all(double x)
{
    return (real){x, x};
}

KERNEL real root(real x)
{
#ifdef __SSE2__
    return __builtin_ia32_sqrtpd(x);
#else
    return (real){sqrt(x[0]), sqrt(x[1])};
#endif
}

KERNEL mask both(mask a, mask b)
{
    return a & b;
}

KERNEL mask either(mask a, mask b)
{
    return a | b;
}

KERNEL mask not(mask a)
{
    return ~a;
}

KERNEL bool any(mask a)
{
    return (a[0] | a[1]) != 0;
}

KERNEL real select(mask m, real yes, real no)
{
    return (real)((m & (mask)yes) | (~m & (mask)no));
}

struct body {
    real v[3], mass, y[3], rest;
};

/* two numbers of two lines become two of two bodies, and back */
KERNEL void exchange(real *a, real *b)
{
    const real low = {(*a)[0], (*b)[0]}, high = {(*a)[1], (*b)[1]};

    *a = low;
    *b = high;
}

KERNEL void gather(const double *lines, const int32_t *pair, struct body *body)
{
    const double *const one = lines + MECH_LINE * (ptrdiff_t)pair[0];
    const double *const two = lines + MECH_LINE * (ptrdiff_t)pair[1];
    real x[4], y[4];

    for (int i = 0; i < 4; i++) {
        x[i] = load(one + 2 * i);
        y[i] = load(two + 2 * i);
        exchange(&x[i], &y[i]);
    }
    body->v[0] = x[0];
    body->v[1] = y[0];
    body->v[2] = x[1];
    body->mass = y[1];
    body->y[0] = x[2];
    body->y[1] = y[2];
    body->y[2] = x[3];
    body->rest = y[3];
}

KERNEL void scatter(const struct body *body, double *lines, const int32_t *pair)
{
    double *const one = lines + MECH_LINE * (ptrdiff_t)pair[0];
    double *const two = lines + MECH_LINE * (ptrdiff_t)pair[1];
    real x[4] = {body->v[0], body->v[2], body->y[0], body->y[2]};
    real y[4] = {body->v[1], body->mass, body->y[1], body->rest};

    for (int i = 0; i < 4; i++) {
        exchange(&x[i], &y[i]);
        store(one + 2 * i, x[i]);
        store(two + 2 * i, y[i]);
    }
}
