/* Walking over the stored places of a matrix, and finding a place; for the few loops that have to
 * work on every form and are not in a step.
 *
 *   struct mech_mat_walk w = {.a = a};
 *   while (mech_mat_next(&w)) { … w.row, w.col, w.value … }      // by columns, rows ascending
 */
#pragma once

#include "solver/linalg/mat.h"

struct mech_mat_walk {
    const struct mech_mat *a;
    int32_t row, col; /* the place reached */
    double value;
    int32_t
        next_row; /* DENSE, BAND: first row of column next_col not yet visited, 0 at its start */
    int32_t next_col;
    int32_t k; /* CSC: places visited */
};

/* Step to the next stored place inside the matrix; false after the last one. */
bool mech_mat_next(struct mech_mat_walk *w);

/* Where A(i,j) is stored, or NULL when the form has no place for it. CSC: by bisection. */
double *mech_mat_place(const struct mech_mat *a, int32_t i, int32_t j);
