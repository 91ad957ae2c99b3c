/* Derivatives on both sides of a point, by power series of each side; see series.h and expr.h. */
#include "solver/expr/series.h"

#include <float.h>

/* s = 1 is 2⁻³⁰ of the motion's unit: coefficients of what is fast do not grow beyond doubles
 * before the values do */
static const double unit = 0x1p-30;

/* Coefficients of a rounding of the variables themselves, in units of s; of a few operations. */
static double blur_of(const double *values, const struct mech_expr_path *path)
{
    double reach = 0.;

    for (size_t k = 0; k < path->count; k++) {
        if (path->along[k].rate != 0.) {
            reach = fmax(reach, fabs(values[path->first + k] / path->along[k].rate));
        }
    }
    return 16. * DBL_EPSILON * reach / unit;
}

/* A number, or a variable as it moves forward or back. */
static struct mech_series load(const struct mech_expr_code *c, const double *values,
                               const struct mech_expr_path *path, double s)
{
    if (c->op == MECH_EXPR_NUMBER) {
        return mech_series_of(c->b);
    }
    const size_t i = (size_t)c->at;
    struct mech_series x = mech_series_of(values[i]);

    if (i >= path->first && i < path->first + path->count) {
        const struct mech_expr_motion m = path->along[i - path->first];

        x.c[1] = m.rate * s;
        x.c[2] = 0.5 * m.curvature * s * s;
        x.moves = m.rate != 0. || m.curvature != 0.;
    }
    const struct mech_series factor = mech_series_of(c->a), constant = mech_series_of(c->b);
    struct mech_series f = x;

    if (c->op == MECH_EXPR_LINEAR) {
        f = mech_series_two(MECH_EXPR_MULTIPLY, &x, &factor, 0.);
        return mech_series_two(MECH_EXPR_ADD, &f, &constant, 0.);
    }
    for (int n = MECH_EXPR_SQUARE; n <= (int)c->op; n++) {
        f = mech_series_two(MECH_EXPR_MULTIPLY, &f, &x, 0.);
    }
    return f;
}

/* Behind the point, where the motion goes on by s. */
static struct mech_series run(const struct mech_expr *e, const double *values,
                              const struct mech_expr_path *path, double s)
{
    struct mech_series stack[MECH_EXPR_DEPTH];
    struct mech_series *top = stack; // behind it
    const double blur = blur_of(values, path);

    for (const struct mech_expr_code *c = e->code;; c++) {
        switch (c->op) {
        case MECH_EXPR_END:
            return stack[0];
        case MECH_EXPR_NUMBER:
        case MECH_EXPR_VARIABLE:
        case MECH_EXPR_LINEAR:
        case MECH_EXPR_SQUARE:
        case MECH_EXPR_CUBE:
        case MECH_EXPR_FOURTH:
            *top++ = load(c, values, path, s);
            break;
        case MECH_EXPR_IF:
            top--;
            c += top->c[0] == 0. ? c->at : 0;
            break;
        case MECH_EXPR_ELSE:
            c += c->at;
            break;
        case MECH_EXPR_END_IF:
            break;
#define ONE(symbol, value, by_x, by_xx) case MECH_EXPR_##symbol:
#define TWO(symbol, value)
#include "solver/expr/operations.def"
#undef ONE
#undef TWO
            top[-1] = mech_series_one(c->op, &top[-1], blur);
            break;
        default:
            top--;
            top[-1] = mech_series_two(c->op, &top[-1], top, blur);
            break;
        }
    }
}

void mech_expr_sides(const struct mech_expr *e, const double *values,
                     const struct mech_expr_path *path, double y[3])
{
    struct mech_series sides[2] = {run(e, values, path, unit), run(e, values, path, -unit)};

    // a side without a value does not count
    for (int k = 0; k < 2; k++) {
        if (isnan(sides[k].c[0])) {
            sides[k] = sides[1 - k];
            for (int i = 1; i <= MECH_SERIES_LAST; i += 2) {
                sides[k].c[i] = -sides[k].c[i];
            }
        }
    }
    y[0] = mech_expr_at(e, values);
    y[1] = 0.5 * (sides[0].c[1] - sides[1].c[1]) / unit;
    y[2] = (sides[0].c[2] + sides[1].c[2]) / unit / unit;
}
