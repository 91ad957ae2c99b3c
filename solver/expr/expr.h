/* Expressions: text over named variables, compiled once, evaluated without allocation.
 *
 * Grammar: muParser's (+ − * / ^, comparisons, && ||, ?:, sin cos tan asin acos atan atan2 sinh …
 * exp ln log10 sqrt abs sign min max rint), and the constants pi and e. owner: one thread per
 * struct mech_expr (two expressions may run in two threads).
 *
 *   static const char *const names[] = {"t", "k"};  double values[2];
 *   const struct mech_expr_vars vars = {names, values, 2};
 *   mech_expr_create("80*sin(2*pi*t) + k", &vars, message, sizeof message, &e);
 *   values[0] = 0.1;  double y = mech_expr_value(e);
 */
#pragma once

#include <stddef.h>

struct mech_expr;

/* The variables that an expression may read. */
struct mech_expr_vars {
    const char *const *names; /* [count] copied */
    double *values;           /* [count] borrowed for the life of the expression */
    size_t count;
};

/* The values of `vars` are read at each evaluation. A name that is not an identifier
 * ([A-Za-z_][A-Za-z0-9_]*) cannot be written in an expression and is passed over; one named pi or e
 * hides the constant. 0; MECH_INVALID with a reason and position (from 1) in message; negative.
 * Refused are assignments, more than one value, text longer than 4096 bytes, and more than 64
 * nested parentheses. */
int mech_expr_create(const char *text, const struct mech_expr_vars *vars, char *message,
                     size_t message_size, struct mech_expr **out);
void mech_expr_destroy(struct mech_expr *e);

/* May be infinite or not a number; the caller checks. */
double mech_expr_value(struct mech_expr *e);
