/* The pendulum in space of floors_links.h. Vectors are in axes of the world, moments about the
 * link's hinge o. With the classical accelerations α and a of o, a link and all beyond it answer
 * with
 *
 *     n = A α + B a + n₀,   f = Bᵀ α + C a + f₀
 *
 * R. Featherstone, Int. J. Robotics Research 2 (1983): one pass from the wall for velocities, one
 * from the tip for A, B, C, n₀ and f₀, one from the wall for accelerations. */
#include "tests/bench/bench.h"
#include "tests/bench/floors_links.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double h = 1e-3, gravity = 9.81, half = 0.5;
static const double about[3] = {0.01, 0.0833, 0.0833};

enum { TURN = 1000 };

struct floor_space_link {
    double q, rate;
    double R[3][3], s[3], d[3]; /* pose, hinge, from o to the next o */
    double w[3];                /* angular velocity */
    double bias[6];             /* of α and a through the hinge */
    double A[3][3], B[3][3], C[3][3], n[3], f[3];
    double Un[3], Uf[3], inverse, u;
};

static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

void floor_space_init(struct floor_space *f, int32_t n)
{
    *f = (struct floor_space){.n = n, .link = calloc((size_t)n, sizeof(struct floor_space_link))};
    if (f->link == NULL) {
        (void)fprintf(stderr, "no memory for a floor\n");
        exit(2);
    }
}

void floor_space_fini(struct floor_space *f)
{
    free(f->link);
}

void floor_space_tip(const struct floor_space *f, double out[3])
{
    memset(out, 0, 3 * sizeof *out);
    for (int32_t i = 0; i < f->n; i++) {
        for (int k = 0; k < 3; k++) {
            out[k] += f->link[i].d[k];
        }
    }
}

/* Pose and velocity of a link from those of the link before. Hinges: y of even links, z of odd. */
static void move(struct floor_space_link *t, const struct floor_space_link *before, int y)
{
    static const double one[3][3] = {{1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}}, rest[3] = {0.};
    const double(*const P)[3] = before != NULL ? before->R : one;
    const double *const w = before != NULL ? before->w : rest;
    const double c = cos(t->q), s = sin(t->q);
    for (int i = 0; i < 3; i++) {
        const double a = P[i][0], b = y ? -P[i][2] : P[i][1];
        t->R[i][0] = c * a + s * b;
        t->R[i][1] = y ? P[i][1] : c * b - s * a;
        t->R[i][2] = y ? s * a - c * b : P[i][2];
        t->s[i] = y ? P[i][1] : P[i][2];
        t->d[i] = t->R[i][0];
    }
    double across[3];
    cross(w, t->s, across);
    for (int i = 0; i < 3; i++) {
        t->w[i] = w[i] + t->s[i] * t->rate;
        t->bias[i] = across[i] * t->rate;
        t->bias[3 + i] = 0.;
    }
    if (before != NULL) {
        double turned[3];
        cross(w, before->d, turned);
        cross(w, turned, t->bias + 3);
    }
}

/* Inertia of the link alone, with its centre at half of d, and the forces of its motion. */
static void body(struct floor_space_link *t)
{
    const double c[3] = {half * t->d[0], half * t->d[1], half * t->d[2]};
    const double cc = dot(c, c);
    double Iw[3];
    for (int i = 0; i < 3; i++) {
        for (int j = i; j < 3; j++) {
            double sum = -c[i] * c[j];
            for (int k = 0; k < 3; k++) {
                sum += t->R[i][k] * about[k] * t->R[j][k];
            }
            t->A[i][j] = t->A[j][i] = i == j ? sum + cc : sum;
        }
    }
    const double B[3][3] = {{0., -c[2], c[1]}, {c[2], 0., -c[0]}, {-c[1], c[0], 0.}};
    const double C[3][3] = {{1., 0., 0.}, {0., 1., 0.}, {0., 0., 1.}};
    memcpy(t->B, B, sizeof B);
    memcpy(t->C, C, sizeof C);
    for (int i = 0; i < 3; i++) {
        Iw[i] = dot(t->A[i], t->w);
    }
    cross(t->w, Iw, t->n);
    double turned[3];
    cross(t->w, c, turned);
    cross(t->w, turned, t->f);
    // the weight, as an acceleration upwards
    t->f[2] += gravity;
    t->n[0] += gravity * c[1];
    t->n[1] -= gravity * c[0];
}

/* What the hinge passes on of A, B, C and the forces. */
static void project(struct floor_space_link *t)
{
    for (int i = 0; i < 3; i++) {
        t->Un[i] = dot(t->A[i], t->s);
        t->Uf[i] = t->B[0][i] * t->s[0] + t->B[1][i] * t->s[1] + t->B[2][i] * t->s[2];
    }
    t->inverse = 1. / dot(t->Un, t->s);
    for (int i = 0; i < 3; i++) {
        t->n[i] += dot(t->A[i], t->bias) + dot(t->B[i], t->bias + 3);
        t->f[i] += t->B[0][i] * t->bias[0] + t->B[1][i] * t->bias[1] + t->B[2][i] * t->bias[2] +
                   dot(t->C[i], t->bias + 3);
    }
    t->u = -dot(t->s, t->n);
    for (int i = 0; i < 3; i++) {
        const double n = t->Un[i] * t->inverse, f = t->Uf[i] * t->inverse;
        for (int j = 0; j < 3; j++) {
            t->A[i][j] -= n * t->Un[j];
            t->B[i][j] -= n * t->Uf[j];
            t->C[i][j] -= f * t->Uf[j];
        }
        t->n[i] += n * t->u;
        t->f[i] += f * t->u;
    }
}

/* To the hinge of the link before: B′ = B + d× C, A′ = A − B d× + d× Bᵀ − d× C d×. */
static void pass_on(const struct floor_space_link *t, struct floor_space_link *before)
{
    const double *const d = before->d;
    double moment[3], X[3][3];
    cross(d, t->f, moment);
    for (int j = 0; j < 3; j++) {
        // column j of d× C and of d× Bᵀ
        const double c[3] = {t->C[0][j], t->C[1][j], t->C[2][j]};
        double dc[3], db[3];
        cross(d, c, dc);
        cross(d, t->B[j], db);
        for (int i = 0; i < 3; i++) {
            X[i][j] = t->B[i][j] + dc[i];
            before->B[i][j] += X[i][j];
            before->C[i][j] += t->C[i][j];
            before->A[i][j] += t->A[i][j] + db[i];
        }
        before->n[j] += t->n[j] + moment[j];
        before->f[j] += t->f[j];
    }
    // − (B + d× C) d×
    for (int i = 0; i < 3; i++) {
        before->A[i][0] -= X[i][1] * d[2] - X[i][2] * d[1];
        before->A[i][1] -= X[i][2] * d[0] - X[i][0] * d[2];
        before->A[i][2] -= X[i][0] * d[1] - X[i][1] * d[0];
    }
}

static void accelerate(struct floor_space *f)
{
    double alpha[3] = {0.}, a[3] = {0.};
    for (int32_t i = 0; i < f->n; i++) {
        struct floor_space_link *const t = &f->link[i];
        if (i > 0) {
            double turned[3];
            cross(alpha, f->link[i - 1].d, turned);
            for (int k = 0; k < 3; k++) {
                a[k] += turned[k];
            }
        }
        const double rate2 = (t->u - dot(t->Un, alpha) - dot(t->Uf, a)) * t->inverse;
        for (int k = 0; k < 3; k++) {
            alpha[k] += t->bias[k] + t->s[k] * rate2;
            a[k] += t->bias[3 + k];
        }
        t->rate += h * rate2;
        t->q += h * t->rate;
    }
}

void floor_space_step(void *space, uint64_t count)
{
    struct floor_space *const f = space;
    for (uint64_t k = 0; k < count; k++) {
        if (f->done++ % TURN == 0) {
            memset(f->link, 0, (size_t)f->n * sizeof *f->link);
        }
        for (int32_t i = 0; i < f->n; i++) {
            move(&f->link[i], i > 0 ? &f->link[i - 1] : NULL, i % 2 == 0);
            body(&f->link[i]);
        }
        for (int32_t i = f->n - 1; i >= 0; i--) {
            project(&f->link[i]);
            if (i > 0) {
                pass_on(&f->link[i], &f->link[i - 1]);
            }
        }
        accelerate(f);
    }
    bench_use(&f->link[0].q);
}
