/* Expressions: text over named variables, compiled once to a program on a stack of numbers,
 * evaluated without allocation; and their derivatives, exact but for rounding.
 *
 * Grammar, by binding:   c ? x : y   ||   &&   < <= > >= == !=   + -   * / and signs   ^
 * ?: and ^ group from the right, all others from the left: -2^2 = -4, 2^3^2 = 512, 2^-1 = 0.5. Two
 * signs in a row need parentheses. Comparisons, && and || give 1 or 0; both sides of && and || are
 * evaluated, and the one side of ?: that is chosen. Numbers are decimal (5. and .5 and 1e-3).
 * Functions: functions.def, their name directly before the parenthesis; constants: pi and e. Values
 * are those of muParser 2.3.3 on x86-64 to the bit, on every processor where the functions of the C
 * library have the same ones: each operation is rounded by itself.
 *
 * owner: the creator, who may not destroy it while others evaluate. Evaluation changes nothing:
 * several threads may evaluate one expression over values of their own.
 *
 *   static const char *const names[] = {"t", "k"};  double values[2];
 *   const struct mech_expr_vars vars = {names, values, 2};
 *   mech_expr_create("80*sin(2*pi*t) + k", &vars, message, sizeof message, &e);
 *   values[0] = 0.1;  double y = mech_expr_value(e);
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mech_expr;

/* The variables that an expression may read. */
struct mech_expr_vars {
    const char *const *names; /* [count] not needed after creation */
    const double *values;     /* [count] borrowed for mech_expr_value alone; may be NULL without */
    size_t count;
};

/* A name that is not an identifier ([A-Za-z_][A-Za-z0-9_]*) cannot be written in an expression and
 * is passed over; of two equal names the last one counts; one named pi or e hides the constant. 0;
 * MECH_INVALID with a reason and position (from 1) in message; negative: no memory.
 * Refused are assignments, more than one value, text longer than 4096 bytes, more than 64 nested
 * parentheses, and where over 512 numbers wait for their operators: 2^2^2^… */
int mech_expr_create(const char *text, const struct mech_expr_vars *vars, char *message,
                     size_t message_size, struct mech_expr **out);
void mech_expr_destroy(struct mech_expr *e);
/* Whether its value may jump where its variables do not: it has a comparison, && or ||, a choice,
 * sign, rint or atan2. */
bool mech_expr_may_jump(const struct mech_expr *e);

/* Whether it can go several ways: it has a comparison, a choice, &&, ||, sign, rint, abs, max or
 * min. */
bool mech_expr_has_ways(const struct mech_expr *e);
/* Which way it goes over other values: numbers that differ where the outcome of one of these does
 * (two outcomes have the same `jumps` with a chance of 2^-64). */
struct mech_expr_way {
    uint64_t jumps; /* of those where it may jump; and of what kinks behind the 64th */
    uint64_t kinks; /* of abs, max and min, a bit each in the order of evaluation */
};
struct mech_expr_way mech_expr_way(const struct mech_expr *e, const double *values);
/* Its value with other kinks than its own, and the same jumps. */
double mech_expr_kinked(const struct mech_expr *e, const double *values, uint64_t kinks);

/* Values may be infinite or not a number; the caller checks. */

/* Over the values that the variables have now. */
double mech_expr_value(const struct mech_expr *e);
/* Over other values [count of the variables]. */
double mech_expr_at(const struct mech_expr *e, const double *values);
/* Of n members: y[i] over values[stride*k + i], k the variable, stride >= n; to the bit what
 * mech_expr_at gives for each. Both sides of a choice are evaluated, 16 members at a time. */
void mech_expr_values(const struct mech_expr *e, size_t n, const double *values, size_t stride,
                      double *y);

/* Derivatives (Taylor arithmetic, A. Griewank, A. Walther, Evaluating Derivatives (2008), section
 * 13), exact but for rounding. Where they differ on both sides they are the mean of both, each
 * carried through the whole expression: 0 for abs at 0, and 2 for the second of abs(t)^2; half the
 * sum for max and min of equal numbers; 0, from +1 and -1, for acos(cos(t)) at 0; 0 for
 * t*atan2(t, -1) at 0, from the angles pi and -pi. A side where there is no value does not count:
 * t^2.5 at 0 has those of t > 0; nor does an infinite second derivative where that of the other
 * side and both slopes are finite: that of max(0, t)^1.5 at 0 is 0. Comparisons, && and || have
 * none, and a choice has those of the side that is taken at the point itself. What does not depend
 * on the variables has derivatives 0, and so has 1/(1 + exp(1000 t)) where exp is too large for a
 * double.
 *
 * Infinite ones and NaN are passed on: those of sqrt(t) at 0, and what is not known from the powers
 * of t up to the 8th. Powers of halves up to the 8th are known too, so that sqrt(t)^2 has the slope
 * 1; those of quarters up to the 4th, thirds up to 16/3 and sixths up to 8/3. */

/* How a variable moves: its first and second derivative. */
struct mech_expr_motion {
    double rate, curvature;
};
/* y = value, first and second derivative where variable i < count moves by along[i] and all others
 * are constant: along = {{1, 0}}, count = 1 are derivatives by the first variable. */
void mech_expr_along(const struct mech_expr *e, const double *values,
                     const struct mech_expr_motion along[], size_t count, double y[3]);
/* gradient[i] = derivative by variable first + i, i < n. The value. */
double mech_expr_gradient(const struct mech_expr *e, const double *values, size_t first, size_t n,
                          double *gradient);
