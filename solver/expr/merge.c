/* What is computed beforehand, as muParser does it, so that values agree to the bit:
 *
 *     operations of numbers; && and || of numbers drop their fractions: 0.5 && 1 is 0
 *     a x + b of one variable, written in any way: 2*(x + 1)/3, x + x, 1 - x
 *     x*x, x^2, x^3, x^4 by products, x^1, x^0 */
#include "solver/expr/program.h"

/* What (int)x is in muParser on x86-64: nothing of x is left between −1 and 1; what has no such
 * number is true. */
static bool truncated(double x)
{
    return !(x > -1. && x < 1.);
}

static double of_numbers(enum mech_expr_op op, double a, double b)
{
    switch (op) {
    case MECH_EXPR_AND:
        return truncated(a) && truncated(b);
    case MECH_EXPR_OR:
        return truncated(a) || truncated(b);
    default:
        return mech_expr_of_two(op, a, b);
    }
}

static bool is_number(const struct mech_expr_code *x)
{
    return x->op == MECH_EXPR_NUMBER;
}

/* a x + b with the variable x = `at`; a number has a = 0, a variable a = 1 and b = 0. */
static bool is_linear(const struct mech_expr_code *x)
{
    return x->op == MECH_EXPR_NUMBER || x->op == MECH_EXPR_VARIABLE || x->op == MECH_EXPR_LINEAR;
}

static bool merge_sum(struct mech_expr_code *x, const struct mech_expr_code *y, double sign)
{
    if (!is_linear(x) || !is_linear(y) || (!is_number(x) && !is_number(y) && x->at != y->at)) {
        return false;
    }
    x->at = is_number(x) ? y->at : x->at;
    x->op = MECH_EXPR_LINEAR;
    x->b += sign * y->b;
    x->a += sign * y->a;
    return true;
}

static bool merge_product(struct mech_expr_code *x, const struct mech_expr_code *y)
{
    if (x->op == MECH_EXPR_VARIABLE && y->op == MECH_EXPR_VARIABLE && x->at == y->at) {
        x->op = MECH_EXPR_SQUARE;
        return true;
    }
    if (!is_linear(x) || !is_linear(y) || is_number(x) == is_number(y)) {
        return false;
    }
    const struct mech_expr_code line = is_number(x) ? *y : *x;
    const double by = is_number(x) ? x->b : y->b;

    x->op = MECH_EXPR_LINEAR;
    x->at = line.at;
    x->a = line.op == MECH_EXPR_VARIABLE ? by + 0. : line.a * by;
    x->b = line.op == MECH_EXPR_VARIABLE ? 0. : line.b * by;
    return true;
}

static bool merge_quotient(struct mech_expr_code *x, const struct mech_expr_code *y)
{
    if (x->op != MECH_EXPR_LINEAR || !is_number(y) || y->b == 0.) {
        return false;
    }
    x->a /= y->b;
    x->b /= y->b;
    return true;
}

static bool merge_power(struct mech_expr_code *x, const struct mech_expr_code *y)
{
    static const enum mech_expr_op powers[] = {MECH_EXPR_NUMBER, MECH_EXPR_VARIABLE,
                                               MECH_EXPR_SQUARE, MECH_EXPR_CUBE, MECH_EXPR_FOURTH};

    if (x->op != MECH_EXPR_VARIABLE || !is_number(y)) {
        return false;
    }
    for (int k = 0; k <= 4; k++) {
        if (y->b == k) {
            x->op = powers[k];
            x->a = k == 0 ? 0. : x->a;
            x->b = k == 0 ? 1. : x->b;
            return true;
        }
    }
    return false;
}

bool mech_expr_merge_two(struct mech_expr_code *x, const struct mech_expr_code *y,
                         enum mech_expr_op op)
{
    if (is_number(x) && is_number(y)) {
        x->b = of_numbers(op, x->b, y->b);
        return true;
    }
    switch (op) {
    case MECH_EXPR_ADD:
    case MECH_EXPR_SUBTRACT:
        return merge_sum(x, y, op == MECH_EXPR_ADD ? 1. : -1.);
    case MECH_EXPR_MULTIPLY:
        return merge_product(x, y);
    case MECH_EXPR_DIVIDE:
        return merge_quotient(x, y);
    case MECH_EXPR_POWER:
        return merge_power(x, y);
    default:
        return false;
    }
}

bool mech_expr_merge_one(struct mech_expr_code *x, enum mech_expr_op op)
{
    if (!is_number(x)) {
        return false;
    }
    x->b = mech_expr_of_one(op, x->b);
    return true;
}
