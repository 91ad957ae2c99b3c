/* Expressions by muParser 2.3, for comparison with those of solver/expr: the same language, the
 * same refusals with the same words, the same values. owner: one thread each. */
#pragma once

#include <stddef.h>

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
