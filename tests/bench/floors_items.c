/* The chain of floors_items.h: M q̈ + Σ springs = f, generalized-α of Chung and Hulbert (1993). */
#include "tests/bench/floors_items.h"

#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double h = 1e-3, radius = 0.9;

/* it starts anew each second, as the chain of chains.h does */
enum { TURN = 1000 };

/* weights of the method */
struct weights {
    double beta, gamma, aux_old, a_old, a_new; /* aux ← (… ) */
    double velocity, mass;                     /* of the increment Δq: v and a */
};

static struct weights weights_of(double rho)
{
    const double am = (2. * rho - 1.) / (rho + 1.), af = rho / (rho + 1.);
    const double gamma = 0.5 - am + af, beta = 0.25 * (0.5 + gamma) * (0.5 + gamma);
    return (struct weights){.beta = beta,
                            .gamma = gamma,
                            .aux_old = -am / (1. - am),
                            .a_old = af / (1. - am),
                            .a_new = (1. - af) / (1. - am),
                            .velocity = gamma / (beta * h),
                            .mass = (1. - am) / ((1. - af) * beta * h * h)};
}

static double *reals(int32_t n)
{
    double *const at = calloc((size_t)n + 1, sizeof *at);
    if (at == NULL) {
        (void)fprintf(stderr, "no memory for a floor\n");
        exit(2);
    }
    return at;
}

static void start(struct floor_items *f)
{
    const size_t bytes = ((size_t)f->n + 1) * sizeof *f->q;
    memset(f->q, 0, bytes);
    memset(f->a, 0, bytes);
    memset(f->aux, 0, bytes);
    for (int32_t i = 0; i < f->n; i++) {
        f->v[i] = 1e-3 * (i % 5 - 2);
    }
    f->a[f->n - 1] = 1. / f->mass[f->n - 1];
    f->aux[f->n - 1] = f->a[f->n - 1];
}

void floor_items_init(struct floor_items *f, int32_t n, enum floor_law law)
{
    double **const all[] = {&f->mass, &f->q, &f->v, &f->a, &f->aux, &f->main, &f->next, &f->r};
    *f = (struct floor_items){.n = n, .law = law};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = reals(n);
    }
    f->spring = calloc((size_t)n, sizeof *f->spring);
    if (f->spring == NULL) {
        exit(2);
    }
    for (int32_t i = 0; i < n; i++) {
        f->mass[i] = 1.;
        f->spring[i] = (struct floor_spring){.a = i == 0 ? n : i - 1, .b = i, .k = 1000., .d = 0.1};
    }
}

void floor_items_fini(struct floor_items *f)
{
    double *const all[] = {f->mass, f->q, f->v, f->a, f->aux, f->main, f->next, f->r};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free(all[k]);
    }
    free(f->spring);
}

static void predict(struct floor_items *f, const struct weights *w)
{
    for (int32_t i = 0; i < f->n; i++) {
        const double aux = w->a_old * f->a[i] + w->aux_old * f->aux[i];
        f->q[i] += h * f->v[i] + h * h * ((0.5 - w->beta) * f->aux[i] + w->beta * aux);
        f->v[i] += h * ((1. - w->gamma) * f->aux[i] + w->gamma * aux);
        f->aux[i] = aux;
        f->a[i] = 0.;
    }
}

/* Residual and tridiagonal matrix, one call per type. */
static void springs(struct floor_items *f, const struct weights *w)
{
    for (int32_t i = 0; i < f->n; i++) {
        const struct floor_spring s = f->spring[i];
        const double u = f->q[s.b] - f->q[s.a], rate = f->v[s.b] - f->v[s.a];
        double force = s.k * u + s.d * rate, stiff = s.k;
        if (f->law == FLOOR_CUBIC) {
            force += 0.1 * s.k * u * u * u;
            stiff += 0.3 * s.k * u * u;
        }
        const double j = stiff + w->velocity * s.d;
        f->r[s.a] += force;
        f->r[s.b] -= force;
        f->main[s.a] += j;
        f->main[s.b] += j;
        f->next[s.a] -= j;
    }
}

static void masses(struct floor_items *f, const struct weights *w)
{
    for (int32_t i = 0; i < f->n; i++) {
        f->r[i] = -f->mass[i] * f->a[i];
        f->main[i] = w->mass * f->mass[i];
        f->next[i] = 0.;
    }
    f->r[f->n - 1] += 1.;
}

static void solve(struct floor_items *f)
{
    const int32_t n = f->n;
    double factor = 0., above = 0., last = 0.;
    for (int32_t i = 0; i < n; i++) {
        const double inverse = 1. / (f->main[i] - factor * above);
        last = f->r[i] - factor * last;
        f->r[i] = last;
        f->main[i] = inverse;
        above = f->next[i];
        factor = above * inverse;
        f->next[i] = factor;
    }
    last = 0.;
    for (int32_t i = n - 1; i >= 0; i--) {
        last = f->r[i] * f->main[i] - f->next[i] * last;
        f->r[i] = last;
    }
}

void floor_items_step(void *items, uint64_t count)
{
    struct floor_items *const f = items;
    const struct weights w = weights_of(radius);
    for (uint64_t k = 0; k < count; k++) {
        if (f->done++ % TURN == 0) {
            start(f);
        }
        predict(f, &w);
        masses(f, &w);
        springs(f, &w);
        solve(f);
        for (int32_t i = 0; i < f->n; i++) {
            f->q[i] += f->r[i];
            f->v[i] += w.velocity * f->r[i];
            f->a[i] += w.mass * f->r[i];
            f->aux[i] += f->r[i] / (w.beta * h * h);
        }
    }
    bench_use(f->q);
}
