/* Central quotients; see quotient.h. The narrow step, 2^-17, balances rounding and truncation of a
 * central difference (the cube root of the machine's epsilon is 2^-17.3). */
#include "solver/analysis/quotient.h"

#include <float.h>
#include <math.h>

const double mech_quotient_wide = 0x1p-4, mech_quotient_narrow = 0x1p-17;

void mech_quotient(const struct mech_quotient *q, size_t n, double *out)
{
    double largest = 0.;

    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fmax(fabs(q->plus[0][i]), fabs(q->minus[0][i])));
    }
    for (size_t i = 0; i < n; i++) {
        const double wide = (q->plus[0][i] - q->minus[0][i]) / (2. * q->step[0]);
        const double narrow = (q->plus[1][i] - q->minus[1][i]) / (2. * q->step[1]);
        /* rounding of sums of terms as large as the largest value */
        const double rounding = 16. * DBL_EPSILON * largest / q->step[1];

        out[i] = fabs(wide - narrow) <= rounding ? wide : narrow;
    }
}
