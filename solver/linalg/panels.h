/* Factors of large dense matrices in panels of columns, by columns as LAPACK, that ask between two
 * pieces of work whether to go on (base/interrupt.h). Without an end that comes, the result is the
 * same with any interrupt or none. The longest stretch without a question is 1e9 flops, one panel
 * of an indefinite matrix (64 columns at order 8192: 8e9 flops at most), or below order
 * MECH_PANELS_LEAST LAPACK's whole routine: a fraction of a second on a core that does 1e10 flops a
 * second. Nothing allocates. Any thread.
 *
 * interrupt: may be NULL. MECH_CANCELLED: it came, and the matrix holds anything. */
#pragma once

#include "solver/base/interrupt.h"

#include <stdint.h>

enum { MECH_PANELS_LEAST = 512 }; /* below this order LAPACK does it all */

/* P A = L U [n × n] in place, pivot [n] from 1, as dgetrf. 0; MECH_CANCELLED; MECH_INTERNAL. A zero
 * pivot does not stop it: it is on the diagonal of U. */
int mech_panels_lu(int32_t n, double *a, int32_t *pivot, struct mech_interrupt *interrupt);

/* A = L Lᵀ in the lower triangle, as dpotrf. 0; MECH_SINGULAR (not positive definite);
 * MECH_CANCELLED. */
int mech_panels_cholesky(int32_t n, double *a, struct mech_interrupt *interrupt);

/* P A Pᵀ = L D Lᵀ in the lower triangle, as dsytrf to the bit: `panel` columns at a time, pivot
 * [n], work [n · panel]. 0; MECH_CANCELLED; MECH_INTERNAL. */
int mech_panels_ldlt(int32_t n, double *a, int32_t panel, int32_t *pivot, double *work,
                     struct mech_interrupt *interrupt);
