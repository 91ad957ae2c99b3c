/* A number that may depend on time, and its derivatives: plain, by an expression, or by points.
 * Derivatives that no expression gives are those of the expression itself (expr.h), and those of
 * points (series.h): exact but for rounding. */
#pragma once

#include "solver/items/scope.h"
#include "solver/items/series.h"

struct mech_timed {
    double number;                  /* where there is nothing else */
    double *vars;                   /* [scope] the first is t */
    struct mech_expr *value;        /* NULL: no expression */
    struct mech_expr *rate;         /* its first derivative, NULL: that of the value */
    struct mech_curve *curve;       /* NULL: not by points */
    const struct mech_timed *inner; /* whose value is vars[1] of the expressions, or NULL */
};

/* Number i of the values, 0 beyond them, into *x; an expression is compiled in the scope, whose
 * first variable is t. A fault goes to diag under path. 0; negative: no memory. */
int mech_timed_read(struct mech_timed *x, const struct mech_values *values, size_t i,
                    const struct mech_scope *scope, const char *path, struct mech_diag *diag);
/* Whether it depends on anything at all. */
static inline bool mech_timed_varies(const struct mech_timed *x)
{
    return x->value || x->curve;
}
double mech_timed_value(const struct mech_timed *x, double t);
/* y = value, first and second derivative at t. Where slopes differ on both sides: their mean. */
void mech_timed_motion(const struct mech_timed *x, double t, double y[3]);
void mech_timed_fini(struct mech_timed *x);
