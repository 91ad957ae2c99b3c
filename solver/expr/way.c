/* Which way an expression goes at a point: the outcomes of its comparisons, choices and signs, as
 * numbers (FNV-1a over them, in the order of evaluation). Cost: that of the value, about twice. */
#include "solver/expr/program.h"

#include <string.h>

static const uint64_t basis = UINT64_C(0xcbf29ce484222325), prime = UINT64_C(0x100000001b3);

/* Whether an operation of one number has several sides, and on which x is. */
static bool side_of_one(enum mech_expr_op op, double x, uint64_t *side)
{
    switch (op) {
    case MECH_EXPR_ABS:
        *side = x >= 0.;
        return true;
    case MECH_EXPR_SIGN:
        *side = x < 0. ? 0u : x > 0. ? 2u : 1u;
        return true;
    case MECH_EXPR_RINT: {
        const double stair = mech_expr_of_one(op, x);
        memcpy(side, &stair, sizeof *side);
        return true;
    }
    default:
        return false;
    }
}

/* The same of two numbers. */
static bool side_of_two(enum mech_expr_op op, double a, double b, uint64_t *side)
{
    switch (op) {
    case MECH_EXPR_MAX:
        *side = a < b;
        return true;
    case MECH_EXPR_MIN:
        *side = b < a;
        return true;
    case MECH_EXPR_AND:
    case MECH_EXPR_EQUAL:
    case MECH_EXPR_GREATER:
    case MECH_EXPR_GREATER_OR_EQUAL:
    case MECH_EXPR_LESS:
    case MECH_EXPR_LESS_OR_EQUAL:
    case MECH_EXPR_OR:
    case MECH_EXPR_UNEQUAL:
        *side = mech_expr_of_two(op, a, b) != 0.;
        return true;
    default:
        return false;
    }
}

bool mech_expr_has_ways(const struct mech_expr *e)
{
    uint64_t side;
    bool some = false;

    for (const struct mech_expr_code *c = e->code; c->op != MECH_EXPR_END && !some; c++) {
        some = c->op == MECH_EXPR_IF || side_of_one(c->op, 0., &side) ||
               side_of_two(c->op, 0., 0., &side);
    }
    return some;
}

/* What comes onto the stack. */
static double load(const struct mech_expr_code *c, const double *values)
{
    if (c->op == MECH_EXPR_NUMBER) {
        return c->b;
    }
    return mech_expr_load(c->op, c, values[c->at]);
}

struct walk {
    struct mech_expr_way way;
    unsigned kinks; /* passed */
};

static bool kinks(enum mech_expr_op op)
{
    return op == MECH_EXPR_ABS || op == MECH_EXPR_MAX || op == MECH_EXPR_MIN;
}

/* One more outcome. */
static void pass(struct walk *w, enum mech_expr_op op, uint64_t side)
{
    if (kinks(op) && w->kinks < 64) {
        w->way.kinks |= side << w->kinks++;
        return;
    }
    w->way.jumps = (w->way.jumps ^ side) * prime;
}

struct mech_expr_way mech_expr_way(const struct mech_expr *e, const double *values)
{
    double stack[MECH_EXPR_DEPTH];
    double *top = stack; // behind it
    struct walk w = {.way.jumps = basis};
    uint64_t side = 0;

#define AT_END return w.way
#define AT_LOAD *top = load(c, values)
#define IS_ZERO (*top == 0.)
#define AT_CHOICE pass(&w, MECH_EXPR_IF, !IS_ZERO)
#define AT_ONE                                                                                     \
    if (side_of_one(c->op, top[-1], &side)) {                                                      \
        pass(&w, c->op, side);                                                                     \
    }                                                                                              \
    top[-1] = mech_expr_of_one(c->op, top[-1])
#define AT_TWO                                                                                     \
    if (side_of_two(c->op, top[-1], *top, &side)) {                                                \
        pass(&w, c->op, side);                                                                     \
    }                                                                                              \
    top[-1] = mech_expr_of_two(c->op, top[-1], *top)
#include "solver/expr/frame.inc"
}

/* abs, max or min of x = top[0] and top[1] on a side. */
static double on_side(enum mech_expr_op op, const double *x, bool side)
{
    return op == MECH_EXPR_ABS ? (side ? x[0] : -x[0]) : x[side];
}

double mech_expr_kinked(const struct mech_expr *e, const double *values, uint64_t sides)
{
    double stack[MECH_EXPR_DEPTH];
    double *top = stack; // behind it
    unsigned passed = 0;

#define AT_END return stack[0]
#define AT_LOAD *top = load(c, values)
#define IS_ZERO (*top == 0.)
#define AT_CHOICE
#define AT_ONE                                                                                     \
    top[-1] = kinks(c->op) && passed < 64 ? on_side(c->op, &top[-1], sides >> passed++ & 1u)       \
                                          : mech_expr_of_one(c->op, top[-1])
#define AT_TWO                                                                                     \
    top[-1] = kinks(c->op) && passed < 64 ? on_side(c->op, &top[-1], sides >> passed++ & 1u)       \
                                          : mech_expr_of_two(c->op, top[-1], *top)
#include "solver/expr/frame.inc"
}
