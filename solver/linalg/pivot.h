/* When is a pivot zero? Elimination in floating point factors A + ΔA with |ΔA| of a few rounding
 * errors per entry (N. J. Higham, Accuracy and Stability, 2002, theorem 9.3). A null vector of ones
 * gathers n of them in the last pivot, and one update rounds up to three times; 4 covers these. So
 * a pivot of at most 4 n ε times the size of its column (for positive definite matrices: of its
 * own diagonal entry) cannot be distinguished from zero.
 *
 * The size of a column means nothing while rows are written in different units. Therefore matrices
 * that are not positive definite are scaled first (scale.h), and the test does not depend on
 * units. */
#pragma once

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Largest pivot that counts as zero, relative to its column. */
static inline double mech_pivot_tolerance(int32_t n)
{
    return 4. * DBL_EPSILON * (double)n;
}

/* True for a finite pivot above the bound; false for NaN. */
static inline bool mech_pivot_good(double pivot, double bound)
{
    return pivot > bound && pivot < HUGE_VAL;
}
