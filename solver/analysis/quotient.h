/* Derivatives of code without analytic ones (outputs, forces of inputs): central quotients with a
 * wide and a narrow step. Where both agree to rounding the function is affine, and the wide one is
 * exact to rounding; elsewhere the narrow one is taken, with an error of its square. Any thread. */
#pragma once

#include <stddef.h>

extern const double mech_quotient_wide, mech_quotient_narrow; /* steps, relative to the argument */

struct mech_quotient {
    const double *plus[2], *minus[2]; /* [n] values at ± the wide and ± the narrow step */
    double step[2];                   /* wide, narrow */
};

/* out [n] of a derivative. */
void mech_quotient(const struct mech_quotient *q, size_t n, double *out);
