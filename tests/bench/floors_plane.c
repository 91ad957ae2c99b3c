/* The plane pendulum of floors_links.h. A step of generalized-α solves
 *
 *     M a + Gᵀ λ = f,   g(q) = 0,   q = q̃ + β′ h² Δa
 *
 * by Newton's method for the increments Δa, Δλ. Joint i holds the start of link i to the end of
 * link i − 1 (or to the ground). With the block A of a link, which has taken in all links beyond
 * it,
 *
 *     S = Gs A⁻¹ Gsᵀ,   A of the link before += Geᵀ S⁻¹ Ge,
 *
 * so that one pass from the tip eliminates and one from the wall substitutes back.
 */
#include "tests/bench/bench.h"
#include "tests/bench/floors_links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double h = 1e-3, radius = 0.9, inertia = 0.0833, gravity = -9.81, half = 0.5;

enum { TURN = 1000, ITERATIONS = 2 };

struct floor_plane_link {
    double q[3], v[3], a[3], aux[3], l[2];
    double sin, cos;
    double A[6]; /* 00 01 02 11 12 22 of the block, then of its inverse */
    double S[3]; /* 00 01 11 of S⁻¹ */
    double r[3]; /* right-hand side */
    double g[2]; /* of the joint: Gs A⁻¹ r − g */
};

struct weights {
    double beta, gamma, aux_old, a_old, q_of_a, v_of_a, aux_of_a;
};

static struct weights weights_of(double rho)
{
    const double am = (2. * rho - 1.) / (rho + 1.), af = rho / (rho + 1.);
    const double gamma = 0.5 - am + af, beta = 0.25 * (0.5 + gamma) * (0.5 + gamma);
    const double aux = (1. - af) / (1. - am);
    return (struct weights){.beta = beta,
                            .gamma = gamma,
                            .aux_old = -am / (1. - am),
                            .a_old = af / (1. - am),
                            .q_of_a = beta * h * h * aux,
                            .v_of_a = gamma * h * aux,
                            .aux_of_a = aux};
}

static void start(struct floor_plane *f)
{
    memset(f->link, 0, (size_t)f->n * sizeof *f->link);
    for (int32_t i = 0; i < f->n; i++) {
        f->link[i].q[0] = i + half;
    }
}

void floor_plane_init(struct floor_plane *f, int32_t n)
{
    *f = (struct floor_plane){
        .n = n, .units = 1, .link = calloc((size_t)n, sizeof(struct floor_plane_link))};
    if (f->link == NULL) {
        (void)fprintf(stderr, "no memory for a floor\n");
        exit(2);
    }
}

void floor_plane_fini(struct floor_plane *f)
{
    free(f->link);
}

void floor_plane_tip(const struct floor_plane *f, double out[2])
{
    const struct floor_plane_link *const t = &f->link[f->n - 1];
    out[0] = t->q[0] + half * cos(t->q[2]);
    out[1] = t->q[1] + half * sin(t->q[2]);
}

static void predict(struct floor_plane *f, const struct weights *w)
{
    for (int32_t i = 0; i < f->n; i++) {
        struct floor_plane_link *const t = &f->link[i];
        for (int k = 0; k < 3; k++) {
            // a starts from the last step's
            const double aux = w->aux_of_a * t->a[k] + w->a_old * t->a[k] + w->aux_old * t->aux[k];
            t->q[k] += h * t->v[k] + h * h * ((0.5 - w->beta) * t->aux[k] + w->beta * aux);
            t->v[k] += h * ((1. - w->gamma) * t->aux[k] + w->gamma * aux);
            t->aux[k] = aux;
        }
    }
}

/* Block and residual of a link by itself. */
static void link_of(struct floor_plane_link *t, const struct floor_plane_link *next,
                    const struct weights *w)
{
    const double none[2] = {0., 0.};
    const double *const l = t->l, *const after = next != NULL ? next->l : none;
    const double x = half * t->cos, y = half * t->sin;
    // Gsᵀ l − Geᵀ after; both ends turn the other way, so that the moments add
    const double sum[2] = {l[0] + after[0], l[1] + after[1]};
    t->r[0] = -t->a[0] - (l[0] - after[0]);
    t->r[1] = gravity - t->a[1] - (l[1] - after[1]);
    t->r[2] = -inertia * t->a[2] - (y * sum[0] - x * sum[1]);
    t->A[0] = t->A[3] = 1.;
    t->A[1] = t->A[2] = t->A[4] = 0.;
    t->A[5] = inertia + w->q_of_a * (x * sum[0] + y * sum[1]);
}

/* A⁻¹ of a symmetric block. */
static void invert(double A[6])
{
    const double a = A[0], b = A[1], c = A[2], d = A[3], e = A[4], g = A[5];
    const double m0 = d * g - e * e, m1 = c * e - b * g, m2 = b * e - c * d;
    const double inverse = 1. / (a * m0 + b * m1 + c * m2);
    A[0] = m0 * inverse;
    A[1] = m1 * inverse;
    A[2] = m2 * inverse;
    A[3] = (a * g - c * c) * inverse;
    A[4] = (b * c - a * e) * inverse;
    A[5] = (a * d - b * b) * inverse;
}

/* A link and its joint vanish into the link before. Gs = [1 0 y; 0 1 −x], Ge = −[1 0 −y; 0 1 x]. */
static void eliminate(struct floor_plane_link *t, struct floor_plane_link *before,
                      const struct weights *w)
{
    const double x = half * t->cos, y = half * t->sin;
    invert(t->A);
    const double *const A = t->A;
    const double p0 = A[0] + y * A[2], p1 = A[1] + y * A[4], p2 = A[2] + y * A[5];
    const double s1 = A[3] - x * A[4], s2 = A[4] - x * A[5];
    const double s00 = p0 + y * p2, s01 = p1 - x * p2, s11 = s1 - x * s2;
    const double inverse = 1. / (s00 * s11 - s01 * s01);
    t->S[0] = s11 * inverse;
    t->S[1] = -s01 * inverse;
    t->S[2] = s00 * inverse;

    // gap of the joint, as the increment of a that closes it
    double gap[2] = {t->q[0] - x, t->q[1] - y};
    if (before != NULL) {
        gap[0] -= before->q[0] + half * before->cos;
        gap[1] -= before->q[1] + half * before->sin;
    }
    const double b0 = A[0] * t->r[0] + A[1] * t->r[1] + A[2] * t->r[2];
    const double b1 = A[1] * t->r[0] + A[3] * t->r[1] + A[4] * t->r[2];
    const double b2 = A[2] * t->r[0] + A[4] * t->r[1] + A[5] * t->r[2];
    t->g[0] = b0 + y * b2 + gap[0] / w->q_of_a;
    t->g[1] = b1 - x * b2 + gap[1] / w->q_of_a;
    if (before == NULL) {
        return;
    }
    const double u = half * before->cos, z = half * before->sin;
    const double *const S = t->S;
    const double k0 = -z * S[0] + u * S[1], k1 = -z * S[1] + u * S[2];
    before->A[0] += S[0];
    before->A[1] += S[1];
    before->A[2] += k0;
    before->A[3] += S[2];
    before->A[4] += k1;
    before->A[5] += -z * k0 + u * k1;
    const double f0 = S[0] * t->g[0] + S[1] * t->g[1], f1 = S[1] * t->g[0] + S[2] * t->g[1];
    before->r[0] += f0;
    before->r[1] += f1;
    before->r[2] += -z * f0 + u * f1;
}

/* Increments of a link and its joint from those of the link before. */
static void substitute(struct floor_plane_link *t, const double before[2], const struct weights *w,
                       double end[2])
{
    const double x = half * t->cos, y = half * t->sin;
    const double g0 = t->g[0] - before[0], g1 = t->g[1] - before[1];
    const double l0 = t->S[0] * g0 + t->S[1] * g1, l1 = t->S[1] * g0 + t->S[2] * g1;
    const double r[3] = {t->r[0] - l0, t->r[1] - l1, t->r[2] - y * l0 + x * l1};
    const double *const A = t->A;
    const double da[3] = {A[0] * r[0] + A[1] * r[1] + A[2] * r[2],
                          A[1] * r[0] + A[3] * r[1] + A[4] * r[2],
                          A[2] * r[0] + A[4] * r[1] + A[5] * r[2]};
    t->l[0] += l0;
    t->l[1] += l1;
    for (int k = 0; k < 3; k++) {
        t->a[k] += da[k];
        t->aux[k] += w->aux_of_a * da[k];
        t->v[k] += w->v_of_a * da[k];
        t->q[k] += w->q_of_a * da[k];
    }
    end[0] = da[0] - y * da[2];
    end[1] = da[1] + x * da[2];
}

static void iterate(struct floor_plane *f, const struct weights *w)
{
    for (int32_t i = 0; i < f->n; i++) {
        struct floor_plane_link *const t = &f->link[i];
        t->sin = sin(t->q[2]);
        t->cos = cos(t->q[2]);
        link_of(t, i + 1 < f->n ? t + 1 : NULL, w);
    }
    for (int32_t i = f->n - 1; i >= 0; i--) {
        eliminate(&f->link[i], i > 0 ? &f->link[i - 1] : NULL, w);
    }
    double end[2] = {0., 0.};
    for (int32_t i = 0; i < f->n; i++) {
        const double before[2] = {end[0], end[1]};
        substitute(&f->link[i], before, w, end);
    }
}

void floor_plane_step(void *plane, uint64_t count)
{
    struct floor_plane *const f = plane;
    const struct weights w = weights_of(radius);
    for (uint64_t k = 0; k < count * (uint64_t)f->units; k++) {
        if (f->done++ % TURN == 0) {
            start(f);
        }
        predict(f, &w);
        for (int i = 0; i < ITERATIONS; i++) {
            iterate(f, &w);
        }
    }
    bench_use(f->link[0].q);
}
