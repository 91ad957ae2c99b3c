/* Power series of what an expression is behind a point of its motion, for the files of this folder:
 *
 *     x(s) = c0 + c1 r + … + c16 r¹⁶ + …,   r^g = s,   s > 0 and small
 *
 * so that |x|, max, √ and the like are smooth: what they do follows from the first coefficient
 * that is not 0. The grain g gives the broken powers that are known: √s = r for g = 2.
 *
 * A coefficient that is not known is not a number, as are all behind it; with c0 not a number x has
 * no value on this side, or, where c1 is infinite, one that is not known. Else an infinite ck
 * belongs to a power between k - 1 and k: r^(1/3) has c1 = ∞. Of an infinite c0 the others say
 * why: 0 a value too large for a double, infinite a division by 0 (1/s^n), not a number anything
 * else.
 *
 * A coefficient below `blur` of that of one power of s more is a rounding of the point itself:
 * cos(2 pi t) turns at t = 0.5, though its slope is 8e-16 there by doubles. */
#pragma once

#include "solver/expr/program.h"

enum { MECH_SERIES_LAST = 16 };

struct mech_series_scale {
    int grain; /* g: at most 8 */
    double blur;
};

struct mech_series {
    double c[MECH_SERIES_LAST + 1];
    bool moves; /* else c1 … are 0, whatever x came from */
};

struct mech_series mech_series_of(double x);
/* Any operation of operations.def. Comparisons, && and || are numbers by c0 alone. */
struct mech_series mech_series_one(enum mech_expr_op op, const struct mech_series *x,
                                   struct mech_series_scale scale);
struct mech_series mech_series_two(enum mech_expr_op op, const struct mech_series *a,
                                   const struct mech_series *b, struct mech_series_scale scale);
/* The angle of (b, a), one of which moves. */
struct mech_series mech_series_angle(const struct mech_series *a, const struct mech_series *b,
                                     struct mech_series_scale scale);

/* A value on this side that is not known, and whether x is one. */
struct mech_series mech_series_vague(void);
bool mech_series_is_vague(const struct mech_series *x);
/* The first coefficient behind c0 that counts, or is not known; MECH_SERIES_LAST + 1: none. */
int mech_series_lead(const struct mech_series *x, struct mech_series_scale scale);
/* c1 … of something infinite that x has gone into; of a finite x that has a slope: 0. */
double mech_series_kind(const struct mech_series *x, struct mech_series_scale scale);
