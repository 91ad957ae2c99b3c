/* An input over a step: a polynomial, or samples joined by straight lines, in τ = t − start.
 *
 *     polynomial   Σ_k value_k τ^k
 *     samples      value_k at tau_k; between them linear, outside the nearest one
 *
 * Numbers are the caller's. Pure functions, any thread. */
#pragma once

#include <stdint.h>

struct mech_signal {
    double start;         /* s: the time of τ = 0 */
    int32_t n;            /* coefficients or samples; 0: none */
    int32_t stride;       /* between the values of one component */
    const double *tau;    /* [n] s, ascending; NULL: a polynomial */
    const double *values; /* [n × stride] of this component: value k is at [k × stride] */
};

/* Its value at time t; n is at least 1. */
double mech_signal_value(const struct mech_signal *g, double t);
