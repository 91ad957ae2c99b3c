/* Functions of time by points, as documents give them and as they are evaluated.
 *
 * Linear: straight lines between the points, C0; the rate is that of the piece (at a point, of the
 * one after it), the curvature 0. Cubic: the natural spline, C2 between the ends, bent nowhere at
 * both ends. Outside of the points the value of the nearest one holds, or it is 0, and rate and
 * curvature are 0; or all three are no number, so that a step there fails. At the points the value
 * is that of the point to the bit.
 */
#pragma once

#include "solver/base/arena.h"
#include "solver/base/diag.h"
#include "solver/base/field.h"

enum { MECH_SERIES_LINEAR, MECH_SERIES_CUBIC };
enum { MECH_SERIES_HOLD, MECH_SERIES_ZERO, MECH_SERIES_ERROR };

/* As in the document. */
struct mech_point_series {
    struct mech_vector t, values; /* [n] s, rising; unit of the field */
    int32_t interpolation, outside;
};
extern const struct mech_table mech_point_series_table;

/* Faults under path: fewer than two points, other than one value a time, times that do not rise. */
void mech_point_series_check(const struct mech_point_series *s, struct mech_path *path,
                             struct mech_diag *diag);

/* Ready to be evaluated; with its own copy of the points. */
struct mech_curve {
    double *t, *y; /* [n] */
    double *bend;  /* [n] second derivatives at the points; NULL: linear */
    size_t n;      /* at least 2 */
    int32_t outside;
};
/* Of a series without faults. 0; negative: no memory. */
int mech_curve_init(struct mech_curve *c, struct mech_arena *arena,
                    const struct mech_point_series *s);
/* out: value, rate, curvature at t. Cost: log n. */
void mech_curve_at(const struct mech_curve *c, double t, double out[3]);
