/* Gaps and speeds of the rows of interactions, y = H q + b and y' = H v. Pure functions, any
 * thread. */
#pragma once

#include "solver/model/model.h"

#include <float.h>
#include <math.h>

/* y of a row, m, q [nq]; *rounding: what it rounds by, m. */
static inline double mech_contact_rows_gap(const struct mech_contact_rows *rows, int32_t r,
                                           const double *q, double *rounding)
{
    double y = rows->b[r], size = fabs(rows->b[r]);

    for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
        const double term = rows->value[k] * q[rows->place[k]];

        y += term;
        size += fabs(term);
    }
    *rounding = 16. * DBL_EPSILON * size;
    return y;
}

/* y' of a row, m/s, v [nv]. */
static inline double mech_contact_rows_speed(const struct mech_contact_rows *rows, int32_t r,
                                             const double *v)
{
    double sum = 0.;

    for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
        sum += rows->value[k] * v[rows->column[k]];
    }
    return sum;
}
