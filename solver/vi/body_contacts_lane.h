/* Inside body_contacts: one lane, as body_contacts_visit.h needs it. */
#pragma once

#include "solver/vi/body_contacts_layout.h"

#include <math.h>

#define KERNEL static inline __attribute__((always_inline))
#define ENTRY static
enum { LANES_AT_A_TIME = 1 };

typedef double real;
typedef bool mask;

KERNEL real load(const double *x)
{
    return *x;
}

KERNEL void store(double *x, real value)
{
    *x = value;
}

KERNEL real all(double x)
{
    return x;
}

KERNEL real root(real x)
{
    return sqrt(x);
}

KERNEL mask both(mask a, mask b)
{
    return a && b;
}

KERNEL mask either(mask a, mask b)
{
    return a || b;
}

KERNEL mask not(mask a)
{
    return !a;
}

KERNEL bool any(mask a)
{
    return a;
}

KERNEL real select(mask m, real yes, real no)
{
    return m ? yes : no;
}

struct body {
    real v[3], mass, y[3];
};

KERNEL void gather(const double *lines, const int32_t *pair, struct body *body)
{
    const double *const line = lines + MECH_LINE * (ptrdiff_t)pair[0];

    for (int i = 0; i < 3; i++) {
        body->v[i] = line[i];
        body->y[i] = line[4 + i];
    }
    body->mass = line[3];
}

KERNEL void scatter(const struct body *body, double *lines, const int32_t *pair)
{
    double *const line = lines + MECH_LINE * (ptrdiff_t)pair[0];

    for (int i = 0; i < 3; i++) {
        line[i] = body->v[i];
        line[4 + i] = body->y[i];
    }
}
