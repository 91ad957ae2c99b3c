/* A number that may depend on time, and its derivatives. Those that no expression gives come from
 * central differences of order 4 with a step of 1e-4 s: relative error 1e-6 at 100 Hz. */
#pragma once

#include "solver/items/scope.h"

struct mech_timed {
    double number;           /* where there is no expression */
    double *vars;            /* [scope] the first is t */
    struct mech_expr *value; /* NULL: number */
    struct mech_expr *rate;  /* its first derivative, NULL: differenced */
};

/* Value, first and second derivative at t. */
double mech_timed_value(const struct mech_timed *x, double t);
double mech_timed_rate(const struct mech_timed *x, double t);
double mech_timed_curvature(const struct mech_timed *x, double t);
void mech_timed_fini(struct mech_timed *x);
