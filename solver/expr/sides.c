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

/* A variable as it moves forward or back. */
static struct mech_series moving(const double *values, size_t i, const struct mech_expr_path *path,
                                 double s, struct mech_series_scale scale)
{
    struct mech_series x = mech_series_of(values[i]);

    if (i >= path->first && i < path->first + path->count) {
        const struct mech_expr_motion m = path->along[i - path->first];

        x.c[scale.grain] = m.rate * s;
        x.c[2 * scale.grain] = 0.5 * m.curvature * s * s;
        x.moves = m.rate != 0. || m.curvature != 0.;
    }
    return x;
}

static struct mech_series two(enum mech_expr_op op, struct mech_series a, struct mech_series b,
                              struct mech_series_scale scale)
{
    return mech_series_two(op, &a, &b, scale);
}

/* What an operation loads of x. */
static struct mech_series load_of(const struct mech_expr_code *c, const struct mech_series x,
                                  struct mech_series_scale scale)
{
    const struct mech_series A = mech_series_of(c->a), B = mech_series_of(c->b);

    switch (c->op) {
#define PLUS(a, b) two(MECH_EXPR_ADD, a, b, scale)
#define TIMES(a, b) two(MECH_EXPR_MULTIPLY, a, b, scale)
#define LOAD(symbol, value, by_x, by_xx, moves)                                                    \
    case MECH_EXPR_##symbol:                                                                       \
        return value;
#include "solver/expr/loads.def"
#undef LOAD
#undef TIMES
#undef PLUS
    default:
        return B;
    }
}

/* Behind the point, where the motion goes on by s. */
static struct mech_series run(const struct mech_expr *e, const double *values,
                              const struct mech_expr_path *path, double s, int grain)
{
    struct mech_series stack[MECH_EXPR_DEPTH];
    struct mech_series *top = stack; // behind it
    const struct mech_series_scale scale = {grain, blur_of(values, path)};

#define AT_END return stack[0]
#define AT_LOAD                                                                                    \
    *top = c->op == MECH_EXPR_NUMBER                                                               \
               ? mech_series_of(c->b)                                                              \
               : load_of(c, moving(values, (size_t)c->at, path, s, scale), scale)
#define IS_ZERO (top->c[0] == 0.)
#define AT_CHOICE                                                                                  \
    if (mech_series_is_vague(top)) {                                                               \
        return *top;                                                                               \
    }
#define AT_ONE top[-1] = mech_series_one(c->op, &top[-1], scale)
#define AT_TWO top[-1] = mech_series_two(c->op, &top[-1], top, scale)
#include "solver/expr/frame.inc"
}

/* Powers of s that are known, the first ones tried first; rarer ones reach less far. */
static const int grains[] = {2, 4, 3, 6};

/* d = first and second derivative by s. A power s^e between whole ones makes the first infinite if
 * e < 1, and the second if e < 2, with the sign of e (e - 1). */
static void derivatives_of(const struct mech_series *x, int grain, double d[2])
{
    int k = 1;

    while (k < 2 * grain && (x->c[k] == 0. || (k == grain && isfinite(x->c[k])))) {
        k++;
    }
    d[0] = k < grain ? x->c[k] * INFINITY : x->c[grain];
    d[1] = k == 2 * grain ? 2. * x->c[k] : x->c[k] * (k <= grain ? -INFINITY : INFINITY);
}

/* d of the side where s is `step`; whether it has a value. */
static bool side(const struct mech_expr *e, const double *values, const struct mech_expr_path *path,
                 double step, double d[2])
{
    d[0] = d[1] = NAN;
    for (size_t i = 0; i < sizeof grains / sizeof *grains && (isnan(d[0]) || isnan(d[1])); i++) {
        const struct mech_series x = run(e, values, path, step, grains[i]);
        double found[2];

        if (isnan(x.c[0]) && !mech_series_is_vague(&x)) {
            return i > 0;
        }
        derivatives_of(&x, grains[i], found);
        for (int n = 0; n < 2; n++) {
            d[n] = isnan(d[n]) && !mech_series_is_vague(&x) ? found[n] : d[n];
        }
    }
    return true;
}

void mech_expr_sides(const struct mech_expr *e, const double *values,
                     const struct mech_expr_path *path, double y[3])
{
    double d[2][2];
    const bool has[] = {side(e, values, path, unit, d[0]), side(e, values, path, -unit, d[1])};

    y[0] = mech_expr_at(e, values);
    // a side without a value does not count
    for (int k = 0; k < 2; k++) {
        if (!has[k]) {
            d[k][0] = -d[1 - k][0];
            d[k][1] = d[1 - k][1];
        }
    }
    // nor does an infinite curvature beside a finite one
    for (int k = 0; k < 2; k++) {
        if (isinf(d[k][1]) && isfinite(d[0][0]) && isfinite(d[1][0]) && isfinite(d[1 - k][1])) {
            d[k][1] = d[1 - k][1];
        }
    }
    y[1] = 0.5 * (d[0][0] - d[1][0]) / unit;
    y[2] = 0.5 * (d[0][1] + d[1][1]) / unit / unit;
}
