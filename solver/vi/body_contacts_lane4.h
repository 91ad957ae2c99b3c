/* Inside body_contacts: four lanes, as body_contacts_visit.h needs them, with AVX2 and without
 * fused products. Vectors of the compilers, so that no header of a processor is needed. */
#pragma once

#include "solver/vi/body_contacts_layout.h"

#include <math.h>

#define KERNEL static inline __attribute__((always_inline, target("avx2")))
#define ENTRY static __attribute__((target("avx2")))
enum { LANES_AT_A_TIME = 4 };

typedef double real __attribute__((vector_size(32), may_alias));
typedef int64_t mask __attribute__((vector_size(32)));

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
    return (real){x, x, x, x};
}

KERNEL real root(real x)
{
    return __builtin_ia32_sqrtpd256(x);
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
    return __builtin_ia32_movmskpd256((real)a) != 0;
}

KERNEL real select(mask m, real yes, real no)
{
    return __builtin_ia32_blendvpd256(no, yes, (real)m);
}

struct body {
    real v[3], mass, y[3], rest;
};

/* four lines' halves become four numbers of four bodies, and back */
KERNEL void transpose(const real *a, real *b)
{
    const real t0 = __builtin_shufflevector(a[0], a[1], 0, 4, 2, 6);
    const real t1 = __builtin_shufflevector(a[0], a[1], 1, 5, 3, 7);
    const real t2 = __builtin_shufflevector(a[2], a[3], 0, 4, 2, 6);
    const real t3 = __builtin_shufflevector(a[2], a[3], 1, 5, 3, 7);

    b[0] = __builtin_shufflevector(t0, t2, 0, 1, 4, 5);
    b[1] = __builtin_shufflevector(t1, t3, 0, 1, 4, 5);
    b[2] = __builtin_shufflevector(t0, t2, 2, 3, 6, 7);
    b[3] = __builtin_shufflevector(t1, t3, 2, 3, 6, 7);
}

KERNEL void gather(const double *lines, const int32_t *pair, struct body *body)
{
    real v[4], y[4], by_number[4];

    for (int i = 0; i < 4; i++) {
        const double *const line = lines + MECH_LINE * (ptrdiff_t)pair[i];

        v[i] = load(line);
        y[i] = load(line + 4);
    }
    transpose(v, by_number);
    body->v[0] = by_number[0];
    body->v[1] = by_number[1];
    body->v[2] = by_number[2];
    body->mass = by_number[3];
    transpose(y, by_number);
    body->y[0] = by_number[0];
    body->y[1] = by_number[1];
    body->y[2] = by_number[2];
    body->rest = by_number[3];
}

KERNEL void scatter(const struct body *body, double *lines, const int32_t *pair)
{
    const real v[4] = {body->v[0], body->v[1], body->v[2], body->mass};
    const real y[4] = {body->y[0], body->y[1], body->y[2], body->rest};
    real by_line[4];

    transpose(v, by_line);
    for (int i = 0; i < 4; i++) {
        store(lines + MECH_LINE * (ptrdiff_t)pair[i], by_line[i]);
    }
    transpose(y, by_line);
    for (int i = 0; i < 4; i++) {
        store(lines + MECH_LINE * (ptrdiff_t)pair[i] + 4, by_line[i]);
    }
}
