/* Continuous extension of a step; see dense.h. Roots by T. Chandrupatla, Adv. Eng. Softw. 28
 * (1997): inverse quadratic interpolation where it is safe, bisection elsewhere. */
#include "solver/step/dense.h"

#include "solver/base/err.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_ROOT_STEPS = 200 };

size_t mech_dense_size(const struct mech_state_sizes *n)
{
    return 5 * ((size_t)n->q + (size_t)n->v + (size_t)n->x);
}

void mech_dense_place(struct mech_dense *d, const struct mech_state_sizes *n, double *memory)
{
    const size_t y = (size_t)n->q + (size_t)n->v + (size_t)n->x;

    *d = (struct mech_dense){.nq = n->q,
                             .nv = n->v,
                             .nx = n->x,
                             .y0 = memory,
                             .y1 = memory + y,
                             .r3 = memory + 2 * y,
                             .r4 = memory + 3 * y,
                             .r5 = memory + 4 * y};
}

void mech_dense_hermite(struct mech_dense *d)
{
    const double h = d->t1 - d->t0;

    for (int32_t i = 0; i < d->nq + d->nv + d->nx; i++) {
        const double r2 = d->y1[i] - d->y0[i], r3 = h * d->r3[i] - r2;

        d->r4[i] = r2 - h * d->r4[i] - r3;
        d->r3[i] = r3;
        d->r5[i] = 0.;
    }
}

/* y and its rates at one end */
static int take_end(const struct mech_dense *d, struct mech_rates *rates,
                    const struct mech_state *s, double *y, double *rate,
                    struct mech_step_result *result)
{
    const size_t q = (size_t)d->nq, v = (size_t)d->nv, x = (size_t)d->nx;

    memcpy(y, s->q, q * sizeof *y);
    memcpy(y + q, s->v, v * sizeof *y);
    memcpy(y + q + v, s->x, x * sizeof *y);
    mech_model_qdot(rates->model, s->q, s->v, rate);
    memcpy(rate + q, s->vdot, v * sizeof *rate);
    if (x == 0) {
        return 0;
    }
    /* the slot behind x is the next array's first, or r5's, which hermite fills later */
    return mech_rates_xdot(rates, s, s->at->time, s->x, rate + q + v, result);
}

int mech_dense_between(struct mech_dense *d, struct mech_rates *rates,
                       const struct mech_state *from, const struct mech_state *to,
                       struct mech_step_result *result)
{
    d->t0 = from->at->time;
    d->t1 = to->at->time;
    MECH_TRY(take_end(d, rates, from, d->y0, d->r3, result));
    MECH_TRY(take_end(d, rates, to, d->y1, d->r4, result));
    mech_dense_hermite(d);
    return 0;
}

void mech_dense_at(const struct mech_dense *d, double t, double *q, double *v, double *x)
{
    const double theta = (t - d->t0) / (d->t1 - d->t0), rest = 1. - theta;
    double *const part[] = {q, v, x};
    const int32_t n[] = {d->nq, d->nv, d->nx};
    int32_t at = 0;

    for (int p = 0; p < 3; p++) {
        for (int32_t i = 0; i < n[p]; i++, at++) {
            const double inner = d->r4[at] + rest * d->r5[at];

            part[p][i] =
                d->y0[at] + theta * (d->y1[at] - d->y0[at] + rest * (d->r3[at] + theta * inner));
        }
    }
}

double mech_dense_root(double (*f)(void *context, double t), void *context, double a, double b)
{
    double fa = f(context, a), fb = f(context, b), share = 0.5;

    if (fa == 0. || fb == 0.) {
        return fa == 0. ? a : b;
    }
    if (!(fa * fb < 0.)) {
        return NAN;
    }
    for (int k = 0; k < MOST_ROOT_STEPS; k++) {
        const double t = a + share * (b - a), ft = f(context, t);
        double c = b, fc = fb;

        /* a is the newest point, b the one across the root, c the one before */
        if (signbit(ft) == signbit(fa)) {
            c = a;
            fc = fa;
        } else {
            b = a;
            fb = fa;
        }
        a = t;
        fa = ft;
        const double best = fabs(fa) < fabs(fb) ? a : b;
        const double least = 2. * DBL_EPSILON * fabs(best) + DBL_MIN;

        if (fa == 0. || fabs(b - a) <= 2. * least) {
            return best;
        }
        const double xi = (a - b) / (c - b), phi = (fa - fb) / (fc - fb);
        const double edge = least / fabs(b - a);

        share = 0.5;
        if (phi * phi < xi && (1. - phi) * (1. - phi) < 1. - xi) {
            share = fa / (fb - fa) * fc / (fb - fc) +
                    (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb);
        }
        share = fmin(fmax(share, edge), 1. - edge);
    }
    return fabs(fa) < fabs(fb) ? a : b;
}
