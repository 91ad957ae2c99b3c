/* Derivatives of expressions, on the same stack as values; see expr.h. A function f of x has
 *
 *     (f)' = f_x x',   (f)'' = f_xx x'² + f_x x''
 *
 * and one of a and b the same with partial derivatives. A gradient is four directions at a time.
 * Where slopes may differ on both sides, or come out infinite or not as numbers, they are those of
 * both sides (sides.c). */
#include "solver/expr/program.h"

enum { WIDE = 4 };

/* A number with its derivatives: d[k] in direction k, dd in direction 0 twice. */
struct jet {
    double x, d[WIDE], dd;
    bool moves; /* else all derivatives are 0 */
};

/* Directions, and how variables move in them. */
struct directions {
    const struct mech_expr_motion *along; /* [n] in one direction; NULL: variable first + k moves in
                                           * direction k */
    size_t first, n;
    int wide;   /* directions */
    bool *edge; /* set where slopes may differ on both sides */
};

/* --- functions of one ------------------------------------------------------------------------- */

static void stop(struct jet *j, double x)
{
    *j = (struct jet){.x = x};
}

static void chain(struct jet *j, int wide, double f, double slope, double curvature)
{
    if (!j->moves) {
        stop(j, f);
        return;
    }
    j->x = f;
    j->dd = curvature * j->d[0] * j->d[0] + slope * j->dd;
    for (int k = 0; k < wide; k++) {
        j->d[k] *= slope;
    }
}

/* Whether slopes may differ on both sides, or come out better as a series. */
static bool at_edge(enum mech_expr_op op, double x)
{
    switch (op) {
    case MECH_EXPR_ABS:
    case MECH_EXPR_SIGN:
    case MECH_EXPR_SQRT:
        return x == 0.;
    case MECH_EXPR_RINT:
        return x + 0.5 == floor(x + 0.5);
    case MECH_EXPR_ACOS:
    case MECH_EXPR_ASIN:
        return fabs(x) > 1. - MECH_EXPR_NEAR_END;
    case MECH_EXPR_ACOSH:
        return x < 1. + MECH_EXPR_NEAR_END;
    default:
        return false;
    }
}

static void of_one(struct jet *j, const struct directions *m, enum mech_expr_op op)
{
    const double x = j->x;

    *m->edge = *m->edge || (j->moves && at_edge(op, x));
    switch (op) {
#define ONE(symbol, value, by_x, by_xx)                                                            \
    case MECH_EXPR_##symbol: {                                                                     \
        const double f = value, slope = by_x, curvature = by_xx;                                   \
        chain(j, m->wide, f, slope, curvature);                                                    \
        break;                                                                                     \
    }
#define TWO(symbol, value)
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
    default:
        break;
    }
}

/* --- functions of two ------------------------------------------------------------------------- */

struct partials {
    double a, b, aa, ab, bb;
};

/* j = f(j, b) */
static void chain_two(struct jet *j, const struct jet *b, int wide, double f,
                      const struct partials *p)
{
    double dd = 0.;

    if (j->moves) {
        dd += p->aa * j->d[0] * j->d[0] + p->a * j->dd;
    }
    if (b->moves) {
        dd += p->bb * b->d[0] * b->d[0] + p->b * b->dd;
    }
    if (j->moves && b->moves) {
        dd += 2. * p->ab * j->d[0] * b->d[0];
    }
    for (int k = 0; k < wide; k++) {
        j->d[k] = (j->moves ? p->a * j->d[k] : 0.) + (b->moves ? p->b * b->d[k] : 0.);
    }
    j->x = f;
    j->dd = dd;
    j->moves = j->moves || b->moves;
}

static void multiply(struct jet *j, const struct jet *b, int wide)
{
    const double f = j->x * b->x;

    if ((!j->moves && j->x == 0.) || (!b->moves && b->x == 0.)) {
        stop(j, f);
        return;
    }
    chain_two(j, b, wide, f, &(struct partials){.a = b->x, .b = j->x, .ab = 1.});
}

static void divide(struct jet *j, const struct jet *b, int wide)
{
    const double f = j->x / b->x;

    if (!j->moves && (!b->moves || j->x == 0.)) {
        stop(j, f);
        return;
    }
    if (!b->moves) {
        for (int k = 0; k < wide; k++) {
            j->d[k] /= b->x;
        }
        j->dd /= b->x;
        j->x = f;
        return;
    }
    const double d = (j->d[0] - f * b->d[0]) / b->x;

    j->dd = (j->dd - 2. * d * b->d[0] - f * b->dd) / b->x;
    for (int k = 0; k < wide; k++) {
        j->d[k] = (j->d[k] - f * b->d[k]) / b->x;
    }
    j->x = f;
    j->moves = true;
}

static void power(struct jet *j, const struct jet *b, const struct directions *m)
{
    const double x = j->x, n = b->x, f = pow(x, n);

    if ((!b->moves && n == 0.) || (!j->moves && x == 0. && n > 0.)) {
        stop(j, f);
        return;
    }
    if (!b->moves) {
        const double curvature = n == 1. ? 0. : n * (n - 1.) * pow(x, n - 2.);

        *m->edge = *m->edge || (j->moves && x == 0. && n != floor(n));
        chain(j, m->wide, f, n * pow(x, n - 1.), curvature);
        return;
    }
    const double l = log(x), before = pow(x, n - 1.);

    chain_two(j, b, m->wide, f,
              &(struct partials){.a = n * before,
                                 .b = f * l,
                                 .aa = n * (n - 1.) * pow(x, n - 2.),
                                 .ab = before * (1. + n * l),
                                 .bb = f * l * l});
}

/* The angle of (b, j), which jumps where j passes 0 and b < 0. */
static void angle(struct jet *j, const struct jet *b, const struct directions *m)
{
    const double r = hypot(j->x, b->x), c = b->x / r, s = j->x / r;

    if (!j->moves && !b->moves) {
        stop(j, atan2(j->x, b->x));
        return;
    }
    *m->edge = *m->edge || (j->x == 0. && b->x <= 0.);
    chain_two(j, b, m->wide, atan2(j->x, b->x),
              &(struct partials){.a = c / r,
                                 .b = -s / r,
                                 .aa = -2. * c * s / r / r,
                                 .ab = (s * s - c * c) / r / r,
                                 .bb = 2. * c * s / r / r});
}

static void of_two(struct jet *j, const struct jet *b, const struct directions *m,
                   enum mech_expr_op op)
{
    const int wide = m->wide;

    switch (op) {
    case MECH_EXPR_ADD:
        chain_two(j, b, wide, j->x + b->x, &(struct partials){.a = 1., .b = 1.});
        break;
    case MECH_EXPR_SUBTRACT:
        chain_two(j, b, wide, j->x - b->x, &(struct partials){.a = 1., .b = -1.});
        break;
    case MECH_EXPR_MULTIPLY:
        multiply(j, b, wide);
        break;
    case MECH_EXPR_DIVIDE:
        divide(j, b, wide);
        break;
    case MECH_EXPR_POWER:
        power(j, b, m);
        break;
    case MECH_EXPR_ATAN2:
        angle(j, b, m);
        break;
    case MECH_EXPR_MAX:
    case MECH_EXPR_MIN:
        *m->edge = *m->edge || (j->x == b->x && (j->moves || b->moves));
        if (op == MECH_EXPR_MAX ? j->x < b->x : b->x < j->x) {
            *j = *b;
        }
        break;
    default:
        stop(j, mech_expr_of_two(op, j->x, b->x));
        break;
    }
}

/* --- the program ------------------------------------------------------------------------------ */

/* A number, or a variable as it moves. */
static void load(struct jet *j, const struct mech_expr_code *c, const double *values,
                 const struct directions *m)
{
    if (c->op == MECH_EXPR_NUMBER) {
        stop(j, c->b);
        return;
    }
    const size_t i = (size_t)c->at;
    const double x = values[i];

    stop(j, x);
    if (i >= m->first && i < m->first + m->n) {
        const size_t k = i - m->first;

        j->d[m->along ? 0 : k] = m->along ? m->along[k].rate : 1.;
        j->dd = m->along ? m->along[k].curvature : 0.;
        j->moves = !m->along || j->d[0] != 0. || j->dd != 0.;
    }
    const double A = c->a;
    switch (c->op) {
#define LOAD(symbol, value, by_x, by_xx, moving)                                                   \
    case MECH_EXPR_##symbol:                                                                       \
        if (MECH_EXPR_##symbol != MECH_EXPR_VARIABLE) {                                            \
            j->moves = j->moves && (moving);                                                       \
            chain(j, m->wide, mech_expr_load(MECH_EXPR_##symbol, c, x), by_x, by_xx);              \
        }                                                                                          \
        break;
#include "solver/expr/loads.def"
#undef LOAD
    default:
        break;
    }
}

static struct jet run(const struct mech_expr *e, const double *values, const struct directions *m)
{
    struct jet stack[MECH_EXPR_DEPTH];
    struct jet *top = stack; // behind it

#define AT_END return stack[0]
#define AT_LOAD load(top, c, values, m)
#define IS_ZERO (top->x == 0.)
#define AT_CHOICE
#define AT_ONE of_one(&top[-1], m, c->op)
#define AT_TWO of_two(&top[-1], top, m, c->op)
#include "solver/expr/frame.inc"
}

void mech_expr_along(const struct mech_expr *e, const double *values,
                     const struct mech_expr_motion along[], size_t count, double y[3])
{
    bool edge = false;
    const struct directions m = {.along = along, .n = count, .wide = 1, .edge = &edge};
    const struct jet j = run(e, values, &m);

    y[0] = j.x;
    y[1] = j.d[0];
    y[2] = j.dd;
    if (edge || !isfinite(y[1]) || !isfinite(y[2])) {
        mech_expr_sides(e, values, &(struct mech_expr_path){along, 0, count}, y);
    }
}

double mech_expr_gradient(const struct mech_expr *e, const double *values, size_t first, size_t n,
                          double *gradient)
{
    static const struct mech_expr_motion alone[] = {{1., 0.}};
    double value = 0.;

    for (size_t i = 0; i < n; i += WIDE) {
        const size_t wide = n - i < WIDE ? n - i : WIDE;
        bool edge = false;
        const struct directions m = {
            .first = first + i, .n = wide, .wide = (int)wide, .edge = &edge};
        const struct jet j = run(e, values, &m);

        value = j.x;
        for (size_t k = 0; k < wide; k++) {
            double y[] = {j.x, j.d[k], 0.};

            if (edge || !isfinite(y[1])) {
                mech_expr_sides(e, values, &(struct mech_expr_path){alone, first + i + k, 1}, y);
            }
            gradient[i + k] = y[1];
        }
    }
    return n > 0 ? value : mech_expr_at(e, values);
}
