/* Power series of what an expression is behind a point of its motion, for the files of this folder:
 *
 *     x(s) = c0 + c1 s + … + c8 s⁸ + …,   s > 0 and small
 *
 * so that |x|, max, √ and the like are smooth: what they do follows from the first coefficient
 * that is not 0. A coefficient that is not known is not a number, as are all behind it; with c0
 * not a number x has no value on this side. An infinite one belongs to a broken power: √s has c1 =
 * ∞. Of an infinite c0 the others say why: 0 a value too large for a double, infinite a division
 * by 0 (1/s^n), not a number anything else.
 *
 * A coefficient below `blur` of the next one is a rounding of the point itself: cos(2 pi t) turns
 * at t = 0.5, though its slope is 8e-16 there by doubles. */
#pragma once

#include "solver/expr/program.h"

enum { MECH_SERIES_LAST = 8 };

struct mech_series {
    double c[MECH_SERIES_LAST + 1];
    bool moves; /* else c1 … are 0, whatever x came from */
};

struct mech_series mech_series_of(double x);
/* Any operation of operations.def. Comparisons, && and || are numbers by c0 alone. */
struct mech_series mech_series_one(enum mech_expr_op op, const struct mech_series *x, double blur);
struct mech_series mech_series_two(enum mech_expr_op op, const struct mech_series *a,
                                   const struct mech_series *b, double blur);
