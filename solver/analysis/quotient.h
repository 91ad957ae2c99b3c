/* Derivatives of code without analytic ones (outputs): central quotients
 *
 *     D(h) = (f(h) − f(−h))/(2 h)
 *
 * 1. with a wide and a narrow step. Where both agree to the rounding of f itself, it is affine, and
 *    the wide one is exact to rounding.
 * 2. Elsewhere D(h) of the narrow step is compared with D of two steps a little shorter: that shows
 *    what is left of it by rounding of terms that do not show in f.
 * 3. Steps grow from there, each 2^8 times as long, while the quotient of fourth order,
 *    D(h/2) + (D(h/2) − D(h))/3, is the one before to four times what was left of that; each time
 *    less is left. A kink, a bump or curvature in between ends it.
 *
 * So the result is that of the narrow step to about four times what rounding leaves of it. Where an
 * eighth and more is left, that is no rounding but a kink or a bump within the narrow step, whose
 * quotient then remains: kinks nearer than 2^-17 of the unit are mixed.
 *
 * Each value depends on its own samples alone. Any thread; all memory is the caller's.
 *
 *     mech_quotient_begin(&q, n, memory, unit);
 *     do {
 *         … q.sample[0], q.sample[1] [n] at ±q.step[0]; [2], [3] at ±q.step[1] …
 *     } while (!mech_quotient_take(&q));
 *     … q.best [n] …
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Numbers of memory a value. */
enum { MECH_QUOTIENT_EACH = 7 };

enum mech_quotient_phase { MECH_QUOTIENT_AFFINE, MECH_QUOTIENT_NARROW, MECH_QUOTIENT_GROW };

struct mech_quotient {
    size_t n;
    enum mech_quotient_phase phase;
    double unit, step[2];
    double *sample[4]; /* [n] each */
    double *best;      /* [n] derivatives */
    double *off;       /* [n] what is left of them */
    double *open;      /* [n] 0: they are done */
};

/* memory [MECH_QUOTIENT_EACH × n]; unit: a step along which arguments change by about 1. */
void mech_quotient_begin(struct mech_quotient *q, size_t n, double *memory, double unit);
/* Takes samples, which need not be finite; true: no more are wanted. */
bool mech_quotient_take(struct mech_quotient *q);
