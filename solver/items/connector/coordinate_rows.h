/* Rows of equations that are linear, or quadratic by components, in an object's coordinates:
 *
 *     position level   g = X q + Y q² − offset(t) = 0
 *     velocity level   (X + 2 Y diag q) v − offset(t) = 0
 *
 * The record of types with such rows, and their operations (struct mech_equation_ops). */
#pragma once

#include "solver/items/ops.h"
#include "solver/items/timed.h"

struct mech_coordinate_rows {
    int32_t rows, n;
    bool velocity;
    double *X, *Y;             /* [rows][n]; Y NULL: none */
    struct mech_timed *offset; /* [rows] */
};

/* Room for X, Y (when `curved`) and offset, zeroed, in the site's arena; rows, n and velocity are
 * set. Negative: no memory. */
int mech_coordinate_rows_new(struct mech_coordinate_rows *r, const struct mech_site *site,
                             bool curved);
/* to [rows][n], X or Y, += sign · A from column `first` on; an empty A adds nothing. */
int mech_coordinate_rows_add(const struct mech_coordinate_rows *r, const struct mech_site *site,
                             const struct mech_mat *A, int32_t first, double sign, double *to);
/* Offsets of the document, none: zeros. Negative: no memory, and all are released. */
int mech_coordinate_rows_offset(struct mech_coordinate_rows *r, const struct mech_site *site,
                                const struct mech_values *offset, const char *field);
/* One of them, number `row`, from the first of the values. Negative: no memory; the caller
 * releases. */
int mech_coordinate_rows_offset_at(struct mech_coordinate_rows *r, const struct mech_site *site,
                                   int32_t row, const struct mech_values *offset,
                                   const char *field);
void mech_coordinate_rows_release(void *record);
void mech_coordinate_rows_residual(void *record, const struct mech_equation_point *at, double *g);
void mech_coordinate_rows_jacobian(void *record, const struct mech_equation_point *at, double *G);
void mech_coordinate_rows_rate(void *record, const struct mech_equation_point *at, double *gt,
                               double *bias);
void mech_coordinate_rows_stiffness(void *record, const struct mech_equation_point *at,
                                    const double *lambda, double *K);
/* Whether there is no Y. */
bool mech_coordinate_rows_constant(const void *record);
/* Force as Exudyn signs it (−λ), and ConstraintEquation: the residual of the equations. */
int mech_coordinate_rows_output(const void *description, const struct mech_view *view,
                                enum mech_output variable, size_t capacity, double *values,
                                size_t *count);

/* What all of these types have in their struct mech_equation_ops; .stiffness where there is Y. */
#define MECH_COORDINATE_ROWS_OPERATIONS                                                            \
    .record_size = sizeof(struct mech_coordinate_rows), .release = mech_coordinate_rows_release,   \
    .residual = mech_coordinate_rows_residual, .jacobian = mech_coordinate_rows_jacobian,          \
    .rate = mech_coordinate_rows_rate, .constant = mech_coordinate_rows_constant
