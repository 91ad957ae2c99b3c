/* Arithmetic of power series on one side of a point (A. Griewank, A. Walther, Evaluating
 * Derivatives (2008), section 13.2); see series.h. Most functions follow from a differential
 * equation:
 *
 *     f' = h u'    gives    k f_k = Σ j u_j h_{k-j},  j = 1 … k
 *
 * and x^n at x = s^m (a + …) is s^(m n) (a + …)^n. At the end of what acos, asin and acosh are
 * defined for, where acos(cos t) is at t = 0, they are 2 asin √((1 - x)/2) and
 * 2 asinh √((x - 1)/2). */
#include "solver/expr/series.h"

#include <float.h>

enum { LAST = MECH_SERIES_LAST };

struct mech_series mech_series_of(double x)
{
    return (struct mech_series){.c = {x}};
}

/* From `first` on. */
static void fill(struct mech_series *f, int first, double with)
{
    for (int k = first; k <= LAST; k++) {
        f->c[k] = with;
    }
}

struct mech_series mech_series_vague(void)
{
    struct mech_series f = {.c = {NAN, INFINITY}, .moves = true};

    fill(&f, 2, NAN);
    return f;
}

bool mech_series_is_vague(const struct mech_series *x)
{
    return isnan(x->c[0]) && isinf(x->c[1]);
}

/* No value on this side. */
static struct mech_series outside(void)
{
    struct mech_series f = {.moves = true};

    fill(&f, 0, NAN);
    return f;
}

double mech_series_kind(const struct mech_series *x, struct mech_series_scale scale)
{
    int k = 1;

    while (k < scale.grain && x->c[k] == 0.) {
        k++;
    }
    return isinf(x->c[0]) ? fabs(x->c[1]) : k == scale.grain && isfinite(x->c[k]) ? 0. : NAN;
}

/* x, all others c. */
static struct mech_series with_rest(double x, double c)
{
    struct mech_series f = {.c = {x}, .moves = true};

    fill(&f, 1, c);
    return f;
}

int mech_series_lead(const struct mech_series *x, struct mech_series_scale scale)
{
    for (int k = 1; k <= LAST; k++) {
        const int more = k + scale.grain;
        const double next = more <= LAST && isfinite(x->c[more]) ? x->c[more] : 0.;
        const bool rounding = fabs(x->c[k]) <= scale.blur * fabs(next);

        if (isnan(x->c[k]) || (x->c[k] != 0. && !rounding)) {
            return k;
        }
    }
    return LAST + 1;
}

/* --- what series are made of ------------------------------------------------------------------ */

static struct mech_series sum(const struct mech_series *a, const struct mech_series *b, double sign,
                              struct mech_series_scale scale)
{
    struct mech_series f = {.moves = a->moves || b->moves};

    for (int k = 0; k <= LAST; k++) {
        f.c[k] = a->c[k] + sign * b->c[k];
    }
    return isinf(f.c[0])
               ? with_rest(f.c[0], mech_series_kind(a, scale) + mech_series_kind(b, scale))
               : f;
}

static struct mech_series scaled(const struct mech_series *x, double by)
{
    struct mech_series f = *x;

    for (int k = 0; k <= LAST; k++) {
        f.c[k] = x->c[k] * by;
    }
    return f;
}

/* The first coefficient that is not 0. */
static int order(const struct mech_series *x)
{
    int k = 0;

    while (k <= LAST && x->c[k] == 0.) {
        k++;
    }
    return k;
}

/* 0 of one times infinite of the other, as in t √t, is of higher order; of two broken powers the
 * product may be a whole one. */
static struct mech_series product(const struct mech_series *a, const struct mech_series *b,
                                  struct mech_series_scale scale)
{
    const int m = order(a), n = order(b);
    struct mech_series f = {.moves = a->moves || b->moves};

    if ((!a->moves && a->c[0] == 0.) || (!b->moves && b->c[0] == 0.)) {
        return mech_series_of(0.);
    }
    const double value = a->c[0] * b->c[0];
    if (!isfinite(value)) {
        return with_rest(value, mech_series_kind(a, scale) + mech_series_kind(b, scale));
    }
    if (m <= LAST && n <= LAST && !isfinite(a->c[m]) && !isfinite(b->c[n])) {
        fill(&f, m + n - 1, NAN);
    }
    for (int k = m + n; k <= LAST; k++) {
        for (int j = m; j <= k - n; j++) {
            f.c[k] += a->c[j] * b->c[k - j];
        }
    }
    f.c[0] = value;
    return f;
}

/* f_k of f' = h u', where h is known up to k - 1. */
static double integral(const struct mech_series *u, const struct mech_series *h, int k)
{
    double by_k = 0.;

    for (int j = 1; j <= k; j++) {
        by_k += j * u->c[j] * h->c[k - j];
    }
    return by_k / k;
}

static struct mech_series integrated(double value, const struct mech_series *u,
                                     const struct mech_series *h)
{
    struct mech_series f = {.c = {value}, .moves = true};

    for (int k = 1; k <= LAST; k++) {
        f.c[k] = integral(u, h, k);
    }
    return f;
}

/* x^n with the value v; c0 is neither 0 nor infinite. */
static struct mech_series regular_power(const struct mech_series *x, double n, double v)
{
    struct mech_series f = {.c = {v}, .moves = true};

    for (int k = 1; k <= LAST; k++) {
        double by_k = 0.;

        for (int j = 1; j <= k; j++) {
            by_k += (n * j - (k - j)) * x->c[j] * f.c[k - j];
        }
        f.c[k] = by_k / k / x->c[0];
    }
    return f;
}

/* x^n where c0 is 0. */
static struct mech_series power_of_zero(const struct mech_series *x, double n,
                                        struct mech_series_scale scale)
{
    const int m = mech_series_lead(x, scale);
    const bool known = m <= LAST && isfinite(x->c[m]);
    const double exponent = m * n, first = known ? pow(x->c[m], n) : 1.;
    struct mech_series part = {.moves = true}, f = {.moves = true};

    if (isnan(first)) {
        return outside();
    }
    if (n < 0.) {
        return with_rest(copysign(INFINITY, first), known ? INFINITY : NAN);
    }
    for (int k = 0; k <= LAST; k++) {
        part.c[k] = k + m <= LAST ? x->c[k + m] : NAN;
    }
    part = regular_power(&part, n, first);
    for (int k = 0; k <= LAST; k++) {
        if (known ? k < exponent : k <= exponent - n) {
            f.c[k] = 0.; // what is not known is of higher order than s^(m - 1)
        } else if (known && exponent == floor(exponent)) {
            f.c[k] = part.c[k - (int)exponent];
        } else {
            f.c[k] = known && k < exponent + 1. ? copysign(INFINITY, first) : NAN;
        }
    }
    return f;
}

static struct mech_series power_by(const struct mech_series *x, double n,
                                   struct mech_series_scale scale)
{
    const double v = pow(x->c[0], n);

    if (!x->moves || n == 0.) {
        return mech_series_of(v);
    }
    if (x->c[0] == 0.) {
        return power_of_zero(x, n, scale);
    }
    if (isinf(x->c[0])) {
        const double c = mech_series_kind(x, scale);
        return isinf(v) || c == 0. ? with_rest(v, c) : with_rest(v, NAN);
    }
    return isinf(v) ? with_rest(v, mech_series_kind(x, scale)) : regular_power(x, n, v);
}

/* --- functions of one ------------------------------------------------------------------------- */

static struct mech_series exponential(const struct mech_series *x, struct mech_series_scale scale)
{
    struct mech_series f = {.c = {exp(x->c[0])}, .moves = true};

    if (f.c[0] == 0.) {
        // smaller than any power of what made x infinite
        return isnan(mech_series_kind(x, scale)) ? with_rest(0., NAN) : with_rest(0., 0.);
    }
    if (isinf(f.c[0])) {
        return with_rest(f.c[0], mech_series_kind(x, scale));
    }
    for (int k = 1; k <= LAST; k++) {
        f.c[k] = integral(x, &f, k);
    }
    return f;
}

static struct mech_series logarithm(const struct mech_series *x, double value, double slope,
                                    struct mech_series_scale scale)
{
    if (x->c[0] == 0. || isinf(x->c[0])) {
        return with_rest(value, x->c[0] != 0. && mech_series_kind(x, scale) == 0. ? 0. : NAN);
    }
    const struct mech_series h = regular_power(x, -1., slope);

    return integrated(value, x, &h);
}

/* f where f' = g x', g' = sign f x'. */
static struct mech_series wave(const struct mech_series *x, double f0, double g0, double sign,
                               struct mech_series_scale scale)
{
    struct mech_series f = {.c = {f0}, .moves = true}, g = {.c = {g0}, .moves = true};

    if (isinf(f0)) {
        return with_rest(f0, mech_series_kind(x, scale));
    }
    for (int k = 1; k <= LAST; k++) {
        f.c[k] = integral(x, &g, k);
        g.c[k] = sign * integral(x, &f, k);
    }
    return f;
}

/* f where f' = h x', h = 1 + sign f². */
static struct mech_series tangent(const struct mech_series *x, double f0, double h0, double sign,
                                  struct mech_series_scale scale)
{
    struct mech_series f = {.c = {f0}, .moves = true}, h = {.c = {h0}, .moves = true};

    if (isinf(x->c[0])) {
        return with_rest(f0, isnan(mech_series_kind(x, scale)) ? NAN : 0.);
    }
    for (int k = 1; k <= LAST; k++) {
        f.c[k] = integral(x, &h, k);
        for (int j = 0; j <= k; j++) {
            h.c[k] += sign * f.c[j] * f.c[k - j];
        }
    }
    return f;
}

/* f where f' = factor w^n x', w = ±1 + b x², which has the value w0; of = {b, n, factor}. */
static struct mech_series inverse(const struct mech_series *x, double value, const double of[3],
                                  double w0, struct mech_series_scale scale)
{
    struct mech_series w = product(x, x, scale);

    if (isinf(x->c[0])) {
        return with_rest(value, mech_series_kind(x, scale) == 0. ? 0. : NAN);
    }
    w = scaled(&w, of[0]);
    w.c[0] = w0;
    if (w0 == 0. || isinf(w0)) {
        // beyond 1e154 the derivatives of atan are below 1e-300
        return with_rest(value, isinf(w0) && of[1] == -1. ? 0. : NAN);
    }
    struct mech_series h = regular_power(&w, of[1], pow(w0, of[1]));

    h = scaled(&h, of[2]);
    return integrated(value, x, &h);
}

/* 1 - |x|, or x - 1, of what comes near 0 and is known to 2e-16: where it touches 0, or is a square
 * within rounding, as what comes from cos and cosh is. */
static void straighten(struct mech_series *r, struct mech_series_scale scale)
{
    const int one = scale.grain, m = mech_series_lead(r, scale);
    const double slope = r->c[one], bend = r->c[2 * one];
    const double square = bend > 0. ? slope * slope / (4. * bend) : INFINITY;

    if (m < one) {
        return;
    }
    if (r->c[0] <= 2. * DBL_EPSILON && (m > one || square <= 16. * DBL_EPSILON * DBL_EPSILON)) {
        r->c[0] = r->c[one] = 0.;
    } else if (fabs(r->c[0] - square) <= 2. * DBL_EPSILON) {
        r->c[0] = square;
    }
}

/* acos, asin, acosh near |x| = 1. */
static struct mech_series at_end(enum mech_expr_op op, const struct mech_series *x,
                                 struct mech_series_scale scale)
{
    const bool hyperbolic = op == MECH_EXPR_ACOSH;
    const double side = x->c[0] < 0. ? -1. : 1.;
    struct mech_series r = scaled(x, hyperbolic ? 1. : -side);

    r.c[0] = hyperbolic ? x->c[0] - 1. : 1. - fabs(x->c[0]);
    straighten(&r, scale);
    r = scaled(&r, 0.5);
    r = power_by(&r, 0.5, scale);
    const double of[] = {hyperbolic ? 1. : -1., -0.5, 2.};
    struct mech_series f = inverse(&r, 0., of, 1. + of[0] * r.c[0] * r.c[0], scale);

    if (isnan(r.c[0])) {
        return outside();
    }
    f = scaled(&f, op == MECH_EXPR_ASIN ? -side : hyperbolic ? 1. : side);
    f.c[0] = mech_expr_of_one(op, x->c[0]);
    return f;
}

static struct mech_series arc(enum mech_expr_op op, const struct mech_series *x,
                              struct mech_series_scale scale)
{
    const double value = mech_expr_of_one(op, x->c[0]), u = x->c[0];
    const double left = op == MECH_EXPR_ACOSH ? u - 1. : 1. - fabs(u);

    if (isnan(value)) {
        return outside();
    }
    if (left < MECH_EXPR_NEAR_END && op != MECH_EXPR_ATANH) {
        return at_end(op, x, scale);
    }
    switch (op) {
    case MECH_EXPR_ACOSH:
        return inverse(x, value, (const double[]){1., -0.5, 1.}, (u - 1.) * (u + 1.), scale);
    case MECH_EXPR_ATANH:
        return inverse(x, value, (const double[]){-1., -1., 1.}, (1. - u) * (1. + u), scale);
    default:
        return inverse(x, value, (const double[]){-1., -0.5, op == MECH_EXPR_ASIN ? 1. : -1.},
                       (1. - u) * (1. + u), scale);
    }
}

/* |x|, sign and rint where x is 0 or between two whole numbers. */
static struct mech_series jump(enum mech_expr_op op, const struct mech_series *x,
                               struct mech_series_scale scale)
{
    const int m = mech_series_lead(x, scale);
    const double by = m > LAST ? 0. : x->c[m];
    struct mech_series f = *x;

    if (op == MECH_EXPR_ABS) {
        f = by < 0. ? scaled(x, -1.) : f;
        f.c[0] = m <= LAST ? 0. : f.c[0];
        fill(&f, isnan(by) ? m : LAST + 1, NAN);
        return f;
    }
    if (isnan(by)) {
        return mech_series_vague();
    }
    return mech_series_of(op == MECH_EXPR_SIGN ? mech_expr_of_one(op, by)
                                               : floor(x->c[0] + 0.5) - (by < 0.));
}

/* The ones that are not smooth, but for where they are. */
static struct mech_series piecewise(enum mech_expr_op op, const struct mech_series *x,
                                    struct mech_series_scale scale)
{
    const double u = x->c[0], half = u + 0.5;

    if (x->moves && (op == MECH_EXPR_RINT ? half == floor(half) : u == 0.)) {
        return jump(op, x, scale);
    }
    return op == MECH_EXPR_ABS && u < 0. ? scaled(x, -1.)
           : op == MECH_EXPR_ABS         ? *x
                                         : mech_series_of(mech_expr_of_one(op, u));
}

struct mech_series mech_series_one(enum mech_expr_op op, const struct mech_series *x,
                                   struct mech_series_scale scale)
{
    const double u = x->c[0], value = mech_expr_of_one(op, u);

    if (!x->moves) {
        return mech_series_of(value);
    }
    if (isnan(u)) {
        return mech_series_is_vague(x) ? mech_series_vague() : outside();
    }
    switch (op) {
    case MECH_EXPR_ABS:
    case MECH_EXPR_RINT:
    case MECH_EXPR_SIGN:
        return piecewise(op, x, scale);
    case MECH_EXPR_NEGATE:
        return scaled(x, -1.);
    case MECH_EXPR_SQRT:
        return power_by(x, 0.5, scale);
    case MECH_EXPR_EXP:
        return exponential(x, scale);
    default:
        break;
    }
    if (isnan(value)) {
        return outside();
    }
    switch (op) {
    case MECH_EXPR_LN:
        return logarithm(x, value, 1. / u, scale);
    case MECH_EXPR_LOG10:
        return logarithm(x, value, 1. / (2.30258509299404568402 * u), scale);
    case MECH_EXPR_LOG2:
        return logarithm(x, value, 1. / (0.69314718055994530942 * u), scale);
    case MECH_EXPR_SIN:
        return wave(x, value, cos(u), -1., scale);
    case MECH_EXPR_COS:
        return wave(x, value, -sin(u), -1., scale);
    case MECH_EXPR_SINH:
        return wave(x, value, cosh(u), 1., scale);
    case MECH_EXPR_COSH:
        return wave(x, value, sinh(u), 1., scale);
    case MECH_EXPR_TAN:
        return tangent(x, value, 1. + value * value, 1., scale);
    case MECH_EXPR_TANH:
        return tangent(x, value, 1. / (cosh(u) * cosh(u)), -1., scale);
    case MECH_EXPR_ATAN:
        return inverse(x, value, (const double[]){1., -1., 1.}, 1. + u * u, scale);
    case MECH_EXPR_ASINH:
        return inverse(x, value, (const double[]){1., -0.5, 1.}, 1. + u * u, scale);
    default:
        return arc(op, x, scale);
    }
}

/* --- functions of two ------------------------------------------------------------------------- */

static struct mech_series quotient(const struct mech_series *a, const struct mech_series *b,
                                   struct mech_series_scale scale)
{
    const double value = a->c[0] / b->c[0];

    if (!a->moves && a->c[0] == 0.) {
        return mech_series_of(0.);
    }
    if (isnan(value)) {
        return outside();
    }
    if (b->c[0] == 0. && b->moves) {
        const struct mech_series pole = power_of_zero(b, -1., scale);

        return with_rest(copysign(INFINITY, a->c[0] * pole.c[0]),
                         mech_series_kind(a, scale) + pole.c[1]);
    }
    if (isinf(value)) {
        return with_rest(value, mech_series_kind(a, scale) + mech_series_kind(b, scale));
    }
    if (isinf(b->c[0])) {
        return with_rest(value,
                         mech_series_kind(b, scale) == 0. ? mech_series_kind(a, scale) : NAN);
    }
    const struct mech_series by = regular_power(b, -1., 1. / b->c[0]);

    struct mech_series f = product(a, &by, scale);

    f.c[0] = value;
    return f;
}

static struct mech_series power(const struct mech_series *a, const struct mech_series *b,
                                struct mech_series_scale scale)
{
    if (!b->moves) {
        return power_by(a, b->c[0], scale);
    }
    if (!a->moves && a->c[0] == 0.) {
        return mech_series_of(pow(0., b->c[0]));
    }
    // exp(b ln a)
    const double value = pow(a->c[0], b->c[0]);
    struct mech_series f = mech_series_one(MECH_EXPR_LN, a, scale);

    f = product(&f, b, scale);
    if (isnan(value) || !isfinite(f.c[0])) {
        return isnan(value) ? outside() : with_rest(value, NAN);
    }
    f = exponential(&f, scale);
    f.c[0] = value;
    return f;
}

/* max, min. */
static struct mech_series chosen(enum mech_expr_op op, const struct mech_series *a,
                                 const struct mech_series *b, struct mech_series_scale scale)
{
    const bool greatest = op == MECH_EXPR_MAX;
    bool second = greatest ? a->c[0] < b->c[0] : b->c[0] < a->c[0];
    struct mech_series f = *a;

    if (a->c[0] == b->c[0] && isfinite(a->c[0])) {
        const struct mech_series w = sum(a, b, -1., scale);
        const int m = mech_series_lead(&w, scale);

        if (m <= LAST && isnan(w.c[m])) {
            fill(&f, m, NAN);
            f.moves = true;
            return f;
        }
        second = m <= LAST && (w.c[m] < 0.) == greatest;
    }
    return second ? *b : f;
}

struct mech_series mech_series_two(enum mech_expr_op op, const struct mech_series *a,
                                   const struct mech_series *b, struct mech_series_scale scale)
{
    struct mech_series f;

    if (!a->moves && !b->moves) {
        return mech_series_of(mech_expr_of_two(op, a->c[0], b->c[0]));
    }
    if (mech_series_is_vague(a) || mech_series_is_vague(b)) {
        const bool nothing = (!a->moves && a->c[0] == 0.) || (!b->moves && b->c[0] == 0.);

        return op == MECH_EXPR_MULTIPLY && nothing ? mech_series_of(0.) : mech_series_vague();
    }
    switch (op) {
    case MECH_EXPR_ADD:
        f = sum(a, b, 1., scale);
        break;
    case MECH_EXPR_SUBTRACT:
        f = sum(a, b, -1., scale);
        break;
    case MECH_EXPR_MULTIPLY:
        f = product(a, b, scale);
        break;
    case MECH_EXPR_DIVIDE:
        f = quotient(a, b, scale);
        break;
    case MECH_EXPR_POWER:
        f = power(a, b, scale);
        break;
    case MECH_EXPR_ATAN2:
        f = mech_series_angle(a, b, scale);
        break;
    case MECH_EXPR_MAX:
    case MECH_EXPR_MIN:
        f = chosen(op, a, b, scale);
        break;
    default:
        return mech_series_of(mech_expr_of_two(op, a->c[0], b->c[0]));
    }
    return isnan(f.c[0]) && !mech_series_is_vague(&f) ? outside() : f;
}
