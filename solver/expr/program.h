/* What an expression is compiled to, for the files of this folder: operations on a stack of
 * numbers, in the order of evaluation, up to MECH_EXPR_END.
 *
 * A choice c ? x : y is  c IF x ELSE y END_IF.  IF takes c off the stack and goes on behind ELSE
 * where c is 0; ELSE goes on behind END_IF. */
#pragma once

#include "solver/expr/expr.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    MECH_EXPR_DEPTH = 512,    /* most numbers on the stack */
    MECH_EXPR_SHALLOW = 48,   /* and of programs that are run for several members at once */
    MECH_EXPR_LONGEST = 4096, /* bytes of a text */
    MECH_EXPR_NESTED = 64     /* parentheses */
};

enum mech_expr_op {
    MECH_EXPR_END,
    /* a number onto the stack: `b`; functions of variable `at`, with the numbers `a` and `b` */
    MECH_EXPR_NUMBER,
#define LOAD(symbol, value, by_x, by_xx, moves) MECH_EXPR_##symbol,
#include "solver/expr/loads.def"
#undef LOAD
    /* choices; `at` operations are passed over */
    MECH_EXPR_IF,
    MECH_EXPR_ELSE,
    MECH_EXPR_END_IF,
#define ONE(symbol, value, by_x, by_xx) MECH_EXPR_##symbol,
#define TWO(symbol, value) MECH_EXPR_##symbol,
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
    MECH_EXPR_OPS
};

struct mech_expr_code {
    enum mech_expr_op op;
    int32_t at;
    double a, b;
};

struct mech_expr {
    const double *values;         /* borrowed from the creator */
    int32_t depth, breadth;       /* stack: of one member; where both sides of choices are run */
    struct mech_expr_code code[]; /* … MECH_EXPR_END */
};

/* Where reasons go. */
struct mech_expr_report {
    const char *text;
    size_t length; /* of the text */
    char *message;
    size_t size;
};

/* MECH_INVALID with a reason. */
int mech_expr_refuse(const struct mech_expr_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* "WHAT at position N, near '…'": a place of the text from 0, behind its end the end. */
int mech_expr_refuse_at(const struct mech_expr_report *r, const char *what, size_t at);

/* The program of a text whose length, characters and depth are checked. The values are not set. 0;
 * MECH_INVALID with a reason; negative. */
int mech_expr_compile(const struct mech_expr_report *r, const struct mech_expr_vars *vars,
                      struct mech_expr **out);

/* x = x op y, or op of x, if that is known beforehand or is one operation. False: x is as it
 * was. */
bool mech_expr_merge_two(struct mech_expr_code *x, const struct mech_expr_code *y,
                         enum mech_expr_op op);
bool mech_expr_merge_one(struct mech_expr_code *x, enum mech_expr_op op);

/* Variables first … first + count - 1 move by along[0 …]. */
struct mech_expr_path {
    const struct mech_expr_motion *along;
    size_t first, count;
};

/* y = value, and the mean of both sides' first and second derivatives; see expr.h. */
void mech_expr_sides(const struct mech_expr *e, const double *values,
                     const struct mech_expr_path *path, double y[3]);

/* As near |x| = 1 the derivatives of acos, asin and acosh come from series: 1 - x has lost half its
 * digits. */
#define MECH_EXPR_NEAR_END 1e-8

/* Slope of abs. */
static inline double mech_expr_side(double x)
{
    return x > 0. ? 1. : x < 0. ? -1. : x;
}

/* Whether an operation loads a function of a variable. */
static inline bool mech_expr_is_load(enum mech_expr_op op)
{
    switch (op) {
#define LOAD(symbol, value, by_x, by_xx, moves) case MECH_EXPR_##symbol:
#include "solver/expr/loads.def"
#undef LOAD
        return true;
    default:
        return false;
    }
}

/* What operation `op`, c->op, loads of a variable x. */
static inline double mech_expr_load(enum mech_expr_op op, const struct mech_expr_code *c, double x)
{
    const double A = c->a, B = c->b;

    switch (op) {
#define PLUS(a, b) ((a) + (b))
#define TIMES(a, b) ((a) * (b))
#define LOAD(symbol, value, by_x, by_xx, moves)                                                    \
    case MECH_EXPR_##symbol:                                                                       \
        return value;
#include "solver/expr/loads.def"
#undef LOAD
#undef TIMES
#undef PLUS
    default:
        return NAN;
    }
}

/* Operations by name. */
static inline double mech_expr_of_one(enum mech_expr_op op, double x)
{
    switch (op) {
#define ONE(symbol, value, by_x, by_xx)                                                            \
    case MECH_EXPR_##symbol:                                                                       \
        return value;
#define TWO(symbol, value)
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
    default:
        return NAN;
    }
}

static inline double mech_expr_of_two(enum mech_expr_op op, double a, double b)
{
    switch (op) {
#define ONE(symbol, value, by_x, by_xx)
#define TWO(symbol, value)                                                                         \
    case MECH_EXPR_##symbol:                                                                       \
        return value;
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
    default:
        return NAN;
    }
}
