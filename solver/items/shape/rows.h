/* Lists of points and of triangles in the descriptions of shapes: matrices with three columns. */
#pragma once

#include "solver/items/shape/shape.h"
#include "solver/linalg/mat.h"

/* The entries of m by rows [3 × m.rows]. A fault at path/key, and NULL in *out, unless there are
 * `least` to `most` rows of three finite numbers. 0 or negative: no memory. */
struct mech_shape_rows {
    const struct mech_mat *m;
    const char *path, *key;
    int32_t least, most;
};
int mech_shape_rows(const struct mech_shape_rows *rows, struct mech_arena *arena,
                    struct mech_diag *d, double **out);
/* A fault at path/key/row. */
void mech_shape_row_fault(const struct mech_shape_rows *rows, int32_t row, struct mech_diag *d,
                          const char *text);
/* The corners of the points' bounding box. */
void mech_shape_bounds(const double *x, int32_t n, double low[3], double high[3]);
