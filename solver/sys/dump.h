/* A matrix or vector as text: Matrix Market, or coordinates counted from 1 as Matlab's spconvert
 * reads them. The text is the caller's to free. */
#pragma once

#include "solver/linalg/mat.h"

enum mech_dump_format {
    MECH_DUMP_MATRIX_MARKET, /* with its header */
    MECH_DUMP_COORDINATES,   /* "row column value", from 1; the last place is always written */
    MECH_DUMP_COORDINATES_0  /* the same from 0 */
};

/* 0; negative: no memory. *text: ends with a zero, free() it. Numbers have 17 digits. */
int mech_dump_matrix(const struct mech_mat *a, enum mech_dump_format format, char **text);
/* One number a line; Matrix Market: a dense array of one column. */
int mech_dump_vector(const double *x, int32_t n, enum mech_dump_format format, char **text);
