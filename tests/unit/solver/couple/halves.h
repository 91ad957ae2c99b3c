/* Participants of the tests of couplings: one mass, m x'' + c x' + k x = Σ gain_i u_i(t), solved
 * exactly for polynomial inputs, or by the schemes of references.
 *
 *     struct half left = {.m = 1., .k = 10., .gain = {1.}, .outputs = {HALF_X}, .x = 1.};
 *     const struct mech_couple_participant about = half_about(&left, "left", 1, 1, abilities);
 */
#pragma once

#include "solver/base/err.h"
#include "solver/couple/drive.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HALF_MOST = 4, HALF_ORDER = 6 };
enum half_output { HALF_X, HALF_V, HALF_A };
enum half_method { HALF_EXACT, HALF_RK4, HALF_ALPHA, HALF_NEWMARK, HALF_TRAPEZOIDAL };

struct half {
    double m, k, c;
    double gain[HALF_MOST];
    double x, v, a;    /* committed */
    double tx, tv, ta; /* of the trial */
    enum half_output outputs[HALF_MOST];
    enum half_method method;
    int32_t inputs, count, steps; /* steps: substeps in a window, 0: one */
    double worst, worst_trial;    /* error against `exact` over substeps */
    double (*exact)(double t);
    double push; /* a force push t⁴ beside the inputs, of methods that take steps */
    int32_t trials, commits, discards; /* counted */
    int32_t fail_trial;                /* number of the trial that fails, from 1; 0: none */
};

/* exp(A t) applied to s[6] of x, v and the Taylor chain f, f', f''/… of the force. */
static inline void half_exponential(const struct half *h, double t, double *s)
{
    // Taylor series on small parts of t: exact to rounding
    const double rate = sqrt(h->k / h->m) + h->c / h->m + 1.;
    const int parts = (int)ceil(fabs(t) * rate * 2.) + 1;
    const double d = t / parts;
    for (int p = 0; p < parts; p++) {
        double term[HALF_ORDER], sum[HALF_ORDER];
        memcpy(term, s, sizeof term);
        memcpy(sum, s, sizeof sum);
        for (int i = 1; i <= 24; i++) {
            const double next[HALF_ORDER] = {
                term[1], (term[2] - h->k * term[0] - h->c * term[1]) / h->m,
                term[3], term[4],
                term[5], 0.};
            for (int j = 0; j < HALF_ORDER; j++) {
                term[j] = next[j] * d / i;
                sum[j] += term[j];
            }
        }
        memcpy(s, sum, sizeof sum);
    }
}

static inline double half_force(const struct half *h, const struct mech_couple_task *task,
                                double at)
{
    double u[HALF_MOST] = {0.}, f = 0.;
    mech_couple_input(task, at, 0, u);
    for (int32_t i = 0; i < h->inputs; i++) {
        f += h->gain[i] * u[i];
    }
    return f + h->push * pow(task->time + at, 4);
}

static inline double half_acceleration(const struct half *h, double x, double v, double f)
{
    return (f - h->k * x - h->c * v) / h->m;
}

static inline void half_tell(const struct half *h, double x, double v, double f, double *y)
{
    for (int32_t o = 0; o < h->count; o++) {
        y[o] = h->outputs[o] == HALF_X   ? x
               : h->outputs[o] == HALF_V ? v
                                         : half_acceleration(h, x, v, f);
    }
}

static inline void half_exact_step(struct half *h, const struct mech_couple_task *task, double at)
{
    double u[4 * HALF_MOST] = {0.}, s[HALF_ORDER] = {h->x, h->v};
    mech_couple_input(task, 0., 3, u);
    for (int32_t r = 0; r < 4; r++) {
        for (int32_t i = 0; i < h->inputs; i++) {
            s[2 + r] += h->gain[i] * u[r * h->inputs + i];
        }
    }
    half_exponential(h, at, s);
    h->tx = s[0];
    h->tv = s[1];
}

static inline void half_rk4_step(struct half *h, const struct mech_couple_task *task, double at,
                                 double d)
{
    double kx[4], kv[4];
    for (int i = 0; i < 4; i++) {
        const double w = i == 0 ? 0. : i == 3 ? 1. : 0.5;
        const double x = h->tx + (i == 0 ? 0. : w * d * kx[i - 1]);
        const double v = h->tv + (i == 0 ? 0. : w * d * kv[i - 1]);
        kx[i] = v;
        kv[i] = half_acceleration(h, x, v, half_force(h, task, at + w * d));
    }
    h->tx += d / 6. * (kx[0] + 2. * kx[1] + 2. * kx[2] + kx[3]);
    h->tv += d / 6. * (kv[0] + 2. * kv[1] + 2. * kv[2] + kv[3]);
}

/* Averaged generalized-α of Chung and Hulbert, with β as published (references: without the
 * square); α_m = α_f = 0, γ = 1/2, β = 1/4: Newmark. */
static inline void half_alpha_step(struct half *h, const struct mech_couple_task *task, double at,
                                   double d)
{
    const bool newmark = h->method != HALF_ALPHA;
    const double am = newmark ? 0. : 0.2, af = newmark ? 0. : 0.4;
    const double gamma = 0.5 - am + af, beta = newmark ? 0.25 : 0.25 * (gamma + 0.5);
    // force at the generalized midpoint
    const double f =
        newmark ? half_force(h, task, at + d) : half_force(h, task, at + (1. - af) * d);
    const double px = h->tx + d * h->tv + d * d * (0.5 - beta) * h->ta;
    const double pv = h->tv + d * (1. - gamma) * h->ta;
    const double xa = (1. - af) * px + af * h->tx, va = (1. - af) * pv + af * h->tv;
    const double left = (1. - am) * h->m + (1. - af) * (h->c * gamma * d + h->k * beta * d * d);
    const double a = (f - am * h->m * h->ta - h->c * va - h->k * xa) / left;
    h->tx = px + d * d * beta * a;
    h->tv = pv + d * gamma * a;
    h->ta = a;
}

/* The trapezoidal rule with the force's own ends, whatever the force did before. */
static inline void half_trapezoidal_step(struct half *h, const struct mech_couple_task *task,
                                         double at, double d)
{
    const double f = 0.5 * (half_force(h, task, at) + half_force(h, task, at + d));
    const double left = h->m + 0.5 * d * h->c + 0.25 * d * d * h->k;
    const double dv = d * (f - h->c * h->tv - h->k * (h->tx + 0.5 * d * h->tv)) / left;
    h->tx += d * (h->tv + 0.5 * dv);
    h->tv += dv;
}

static inline int half_trial(void *self, struct mech_couple_task *task)
{
    struct half *const h = self;
    const int32_t steps = h->steps > 0 ? h->steps : 1;
    const double d = task->size / steps;
    if (++h->trials == h->fail_trial) {
        (void)snprintf(task->reason, sizeof task->reason, "it fails as it was told to");
        return MECH_NOT_CONVERGED;
    }
    h->tx = h->x;
    h->tv = h->v;
    h->ta = h->a;
    h->worst_trial = h->worst;
    for (int32_t i = 0; i < steps; i++) {
        const double at = i * d;
        switch (h->method) {
        case HALF_EXACT:
            half_exact_step(h, task, i + 1 == steps ? task->size : at + d);
            break;
        case HALF_RK4:
            half_rk4_step(h, task, at, d);
            break;
        case HALF_TRAPEZOIDAL:
            half_trapezoidal_step(h, task, at, d);
            break;
        case HALF_ALPHA:
        case HALF_NEWMARK:
            half_alpha_step(h, task, at, d);
            break;
        }
        if (h->exact != NULL) {
            const double t = task->time + at + d;
            h->worst_trial = fmax(h->worst_trial, fabs(h->tx - h->exact(t)));
        }
        if (task->want_samples) {
            task->times[i] = i + 1 == steps ? task->size : at + d;
            half_tell(h, h->tx, h->tv, half_force(h, task, task->times[i]),
                      task->values + i * h->count);
            task->samples = steps;
        }
    }
    half_tell(h, h->tx, h->tv, half_force(h, task, task->size), task->outputs);
    // moments of the mean velocity: those of inputs held over the window are exact
    for (int32_t i = 0; task->want_moments && i < h->inputs; i++) {
        for (int r = 0; r <= MECH_COUPLE_HOLD_MOST; r++) {
            task->moments[r * h->inputs + i] =
                h->gain[i] * (h->tx - h->x) * pow(task->size, r) / (r + 1);
        }
    }
    // the response to Σ shape[k] τ^k from rest
    for (int32_t i = 0; task->want_jacobian && i < h->inputs; i++) {
        double s[HALF_ORDER] = {0.}, factorial = 1., end = 0.;
        for (int32_t k = 0; k <= task->order; k++) {
            factorial *= k > 0 ? k : 1;
            s[2 + k] = h->gain[i] * task->shape[k] * factorial;
            end += h->gain[i] * task->shape[k] * pow(task->size, k);
        }
        half_exponential(h, task->size, s);
        for (int32_t o = 0; o < h->count; o++) {
            task->jacobian[o * h->inputs + i] = h->outputs[o] == HALF_X ? s[0]
                                                : h->outputs[o] == HALF_V
                                                    ? s[1]
                                                    : half_acceleration(h, s[0], s[1], end);
        }
    }
    return 0;
}

static inline int half_now(void *self, struct mech_couple_task *task)
{
    struct half *const h = self;
    const double f = half_force(h, task, 0.);
    h->a = half_acceleration(h, h->x, h->v, f);
    half_tell(h, h->x, h->v, f, task->outputs);
    return 0;
}

static inline int half_commit(void *self, struct mech_couple_task *task)
{
    struct half *const h = self;
    (void)task;
    h->commits++;
    h->x = h->tx;
    h->v = h->tv;
    h->a = h->ta;
    h->worst = h->worst_trial;
    return 0;
}

static inline int half_discard(void *self, struct mech_couple_task *task)
{
    struct half *const h = self;
    (void)task;
    h->discards++;
    return 0;
}

static const struct mech_couple_functions half_functions = {
    .outputs = half_now, .trial = half_trial, .commit = half_commit, .discard = half_discard};

static inline struct mech_couple_participant half_about(const struct half *h, const char *name,
                                                        uint32_t abilities)
{
    return (struct mech_couple_participant){.name = name,
                                            .inputs = h->inputs,
                                            .outputs = h->count,
                                            .samples = h->steps,
                                            .abilities = abilities};
}

/* Two halves and their coupling. */
struct halves {
    struct half half[2];
    struct mech_couple_participant about[2];
    struct mech_couple_partner partner[2];
    struct mech_couple *couple;
};

/* Created and started. 0, or why not. */
static inline int halves_try(struct halves *h, uint32_t abilities,
                             const struct mech_couple_setup *setup)
{
    char reason[MECH_COUPLE_REASON];
    struct mech_couple_setup s = *setup;
    for (int i = 0; i < 2; i++) {
        h->about[i] = half_about(h->half + i, i == 0 ? "left" : "right", abilities);
        h->partner[i] = (struct mech_couple_partner){&half_functions, h->half + i};
    }
    s.participants = h->about;
    s.participant_count = 2;
    MECH_TRY(mech_couple_create(&s, reason, &h->couple));
    return mech_couple_run_start(h->couple, h->partner, 0.);
}

/* The same; ends the program when that fails. */
static inline void halves_start(struct halves *h, uint32_t abilities,
                                const struct mech_couple_setup *setup)
{
    const int code = halves_try(h, abilities, setup);
    if (code != 0) {
        (void)printf("no coupling: %d\n", code);
        exit(1);
    }
}

static inline int halves_run(struct halves *h, double size, int windows)
{
    for (int i = 0; i < windows; i++) {
        MECH_TRY(mech_couple_run_window(h->couple, h->partner, size));
    }
    return 0;
}

#define HALF_LINEAR (MECH_COUPLE_ROLLBACK | MECH_COUPLE_LINEAR)
#define HALF_DERIVED (HALF_LINEAR | MECH_COUPLE_JACOBIAN)
