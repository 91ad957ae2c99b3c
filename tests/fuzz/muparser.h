/* Expressions by muParser 2.3.3, for comparison with those of solver/expr: the same language, the
 * same refusals with the same words, the same values. owner: one thread each. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The version that is compared with: later ones know more names (cot, coth, rnd). */
#define MUPARSER_COMPARED "2.3.3"
/* Whether that is the one installed; in *version (may be NULL) the one that is, up to the next
 * call. */
bool muparser_is_compared(const char **version);
/* Whether the values of the installed library are those that expr.h promises. They are not where
 * its compiler fuses a product with a sum, or where (int) of what has no int is 0: on processors
 * other than x86-64, texts and refusals are compared alone. Found by evaluation. */
bool muparser_values_are_compared(void);

struct muparser;

struct muparser_vars {
    const char *const *names; /* [count] copied */
    double *values;           /* [count] borrowed for the life of the expression */
    size_t count;
};

/* As mech_expr_create. */
int muparser_create(const char *text, const struct muparser_vars *vars, char *message,
                    size_t message_size, struct muparser **out);
void muparser_destroy(struct muparser *x);
/* Over the values that the variables have now. */
double muparser_value(struct muparser *x);
