/* Bespoke programs of floors_linear.h. A step of Moreau–Jean with θ = ½ and unit masses:
 *
 *     W Δv = h (F − C v − K (q + h θ v)),  W = 1 + h θ C + h² θ² K,  q ← q + h (v + θ Δv)
 *
 * with Newton's impact law where a gap closes within the half step. */
#include "tests/bench/floors_linear.h"

#include "tests/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double theta = 0.5;

static void *memory(size_t count, size_t size)
{
    void *const at = calloc(count, size);
    if (at == NULL) {
        (void)fprintf(stderr, "no memory for a floor\n");
        exit(2);
    }
    return at;
}

/* --- a chain of masses ------------------------------------------------------------------------ */

static const double chain_h = 1e-3, stiffness = 1000., damping = 0.1, pushed = 1., gap_start = 1e-3,
                    restitution = 0.5;
/* a chain loses its energy in so many steps; then it starts anew */
enum { CHAIN_STEPS = 20000 };

void floor_masses_init(struct floor_masses *f, int32_t n)
{
    const size_t size = (size_t)n;
    double *const all = memory(10 * size, sizeof *all);
    const double h = chain_h;
    *f = (struct floor_masses){.n = n, .kd = all, .ke = all + size, .cd = all + 2 * size};
    f->ce = all + 3 * size;
    f->l = all + 4 * size;
    f->inverse = all + 5 * size;
    f->push = all + 6 * size;
    f->q = all + 7 * size;
    f->v = all + 8 * size;
    f->y = all + 9 * size;
    // W = L D Lᵀ from the wall to the stop
    double above = 0.;
    for (int32_t i = 0; i < n; i++) {
        f->kd[i] = stiffness * (i == n - 1 ? 1. : 2.);
        f->cd[i] = damping * (i == n - 1 ? 1. : 2.);
        f->ke[i] = i == n - 1 ? 0. : -stiffness;
        f->ce[i] = i == n - 1 ? 0. : -damping;
        const double d = 1. + h * theta * f->cd[i] + h * h * theta * theta * f->kd[i];
        f->inverse[i] = 1. / (d - above);
        f->l[i] = (h * theta * f->ce[i] + h * h * theta * theta * f->ke[i]) * f->inverse[i];
        above = f->l[i] * f->l[i] / f->inverse[i];
        f->v[i] = 1e-3 * (i % 5 - 2);
    }
    // an impulse of 1 N s on the last mass, away from the stop
    double x = -f->inverse[n - 1];
    for (int32_t i = n - 1; i >= 0; i--) {
        x = i == n - 1 ? x : -f->l[i] * x;
        f->push[i] = x;
    }
}

void floor_masses_fini(struct floor_masses *f)
{
    free(f->kd);
    *f = (struct floor_masses){.n = 0};
}

static void start_anew(struct floor_masses *f)
{
    for (int32_t i = 0; i < f->n; i++) {
        f->q[i] = 0.;
        f->v[i] = 1e-3 * (i % 5 - 2);
    }
}

/* Residual and forward elimination in one pass. */
static void down(struct floor_masses *f)
{
    const int32_t n = f->n;
    const double h = chain_h;
    const double *const kd = f->kd, *const ke = f->ke, *const cd = f->cd, *const ce = f->ce;
    const double *const q = f->q, *const v = f->v, *const l = f->l;
    double *const y = f->y;
    double last = 0., shear = 0., factor = 0.;
    double x = q[0] + h * theta * v[0];
    for (int32_t i = 0; i < n - 1; i++) {
        const double next = q[i + 1] + h * theta * v[i + 1];
        const double force = kd[i] * x + cd[i] * v[i] + ke[i] * next + ce[i] * v[i + 1] + shear;
        shear = ke[i] * x + ce[i] * v[i];
        last = -h * force - factor * last;
        factor = l[i];
        y[i] = last;
        x = next;
    }
    const double force = kd[n - 1] * x + cd[n - 1] * v[n - 1] + shear;
    y[n - 1] = h * (pushed - force) - factor * last;
}

/* Backward elimination, velocities and coordinates in another. */
static void up(struct floor_masses *f)
{
    const double h = chain_h;
    const double *const l = f->l, *const inverse = f->inverse, *const y = f->y;
    double *const q = f->q, *const v = f->v;
    double last = 0.;
    for (int32_t i = f->n - 1; i >= 0; i--) {
        last = y[i] * inverse[i] - l[i] * last;
        q[i] += h * (v[i] + theta * last);
        v[i] += last;
    }
}

/* Newton's law at the stop: all velocities change by a multiple of one vector. */
static void stop(struct floor_masses *f, double before)
{
    const int32_t n = f->n;
    const double h = chain_h, after = f->v[n - 1];
    const double wanted = -restitution * before;
    if (!(after > wanted)) {
        return;
    }
    const double impulse = (wanted - after) / f->push[n - 1];
    for (int32_t i = 0; i < n; i++) {
        f->q[i] += h * theta * impulse * f->push[i];
        f->v[i] += impulse * f->push[i];
    }
}

void floor_masses_step(void *masses, uint64_t count)
{
    struct floor_masses *const f = masses;
    for (uint64_t k = 0; k < count; k++) {
        if (f->steps++ % CHAIN_STEPS == 0) {
            start_anew(f);
        }
        const double before = f->v[f->n - 1];
        const double gap = gap_start - f->q[f->n - 1] - chain_h * theta * before;
        down(f);
        up(f);
        if (gap <= 0.) {
            stop(f, before);
        }
    }
    bench_use(f->v);
}

/* --- two masses ------------------------------------------------------------------------------- */

void floor_two_init(struct floor_two *f)
{
    const double h = chain_h, a = h * theta * damping + h * h * theta * theta * stiffness;
    const double W[2][2] = {{1. + 2. * a, -a}, {-a, 1. + a}};
    const double det = W[0][0] * W[1][1] - W[0][1] * W[1][0];
    *f = (struct floor_two){
        .K = {{2. * stiffness, -stiffness}, {-stiffness, stiffness}},
        .C = {{2. * damping, -damping}, {-damping, damping}},
        .inverse = {{W[1][1] / det, -W[0][1] / det}, {-W[1][0] / det, W[0][0] / det}},
        .v = {-2e-3, -1e-3}};
}

void floor_two_step(void *two, uint64_t count)
{
    struct floor_two *const f = two;
    const double h = chain_h;
    double q[2] = {f->q[0], f->q[1]}, v[2] = {f->v[0], f->v[1]};
    for (uint64_t k = 0; k < count; k++) {
        double r[2], change[2];
        for (int i = 0; i < 2; i++) {
            r[i] = h * (i * pushed - f->C[i][0] * v[0] - f->C[i][1] * v[1] -
                        f->K[i][0] * (q[0] + h * theta * v[0]) -
                        f->K[i][1] * (q[1] + h * theta * v[1]));
        }
        for (int i = 0; i < 2; i++) {
            change[i] = f->inverse[i][0] * r[0] + f->inverse[i][1] * r[1];
        }
        const double wanted = -restitution * v[1];
        if (gap_start - q[1] - h * theta * v[1] <= 0. && v[1] + change[1] > wanted) {
            const double impulse = (wanted - v[1] - change[1]) / f->inverse[1][1];
            change[0] += f->inverse[0][1] * impulse;
            change[1] += f->inverse[1][1] * impulse;
        }
        for (int i = 0; i < 2; i++) {
            q[i] += h * (v[i] + theta * change[i]);
            v[i] += change[i];
        }
    }
    memcpy(f->q, q, sizeof q);
    memcpy(f->v, v, sizeof v);
    bench_use(f->q);
}

/* --- a ball ----------------------------------------------------------------------------------- */

void floor_ball_step(void *ball, uint64_t count)
{
    struct floor_ball *const f = ball;
    const double h = 5e-3;
    for (uint64_t k = 0; k < count; k++) {
        double v = f->v - 9.81 * h;
        if (f->q + h * theta * f->v <= 0.) {
            const double wanted = -0.9 * f->v;
            v = v < wanted ? wanted : v;
        }
        f->q += h * (theta * v + (1. - theta) * f->v);
        f->v = v;
    }
    bench_use(&f->q);
}

/* --- a column of beads ------------------------------------------------------------------------ */

enum { PIVOTS = 50 };

/* Impulses of the rows that push, T l = r: T is 1 at the floor, 2 elsewhere, −1 between
 * neighbours. Rows that do not push part the system. */
static void solve_active(int32_t n, const unsigned char *pushes, const double *r, double *l)
{
    double inverse[FLOOR_BEADS_MOST];
    for (int32_t i = 0; i < n; i++) {
        const unsigned char joined = i > 0 && pushes[i - 1];
        const double before = joined ? inverse[i - 1] : 0.;
        if (pushes[i]) {
            inverse[i] = 1. / ((i == 0 ? 1. : 2.) - before);
            l[i] = (r[i] + (joined ? l[i - 1] : 0.)) * inverse[i];
        } else {
            l[i] = 0.;
        }
    }
    for (int32_t i = n - 2; i >= 0; i--) {
        if (pushes[i] && pushes[i + 1]) {
            l[i] += inverse[i] * l[i + 1];
        }
    }
}

/* 0 ≤ T l − r ⟂ l ≥ 0 on the closed contacts. */
static void impulses(int32_t n, const unsigned char *closed, const double *r, double *l)
{
    unsigned char pushes[FLOOR_BEADS_MOST];
    for (int32_t i = 0; i < n; i++) {
        pushes[i] = closed[i] && r[i] > 0.;
    }
    for (int pivot = 0, changed = 1; changed && pivot < PIVOTS; pivot++) {
        solve_active(n, pushes, r, l);
        changed = 0;
        for (int32_t i = 0; i < n; i++) {
            if (!closed[i]) {
                continue;
            }
            const double w = (i == 0 ? 1. : 2.) * l[i] - (i > 0 ? l[i - 1] : 0.) -
                             (i + 1 < n ? l[i + 1] : 0.) - r[i];
            const unsigned char should = pushes[i] ? l[i] >= 0. : w < -1e-12;
            changed |= should != pushes[i];
            pushes[i] = should;
        }
    }
}

static void beads_step(struct floor_beads *f)
{
    const double h = 5e-4;
    const int32_t n = f->n;
    unsigned char closed[FLOOR_BEADS_MOST];
    double r[FLOOR_BEADS_MOST], l[FLOOR_BEADS_MOST] = {0.};
    int any = 0;
    for (int32_t i = 0; i < n; i++) {
        const double rate = f->v[i] - (i > 0 ? f->v[i - 1] : 0.);
        const double gap = f->q[i] - (i > 0 ? f->q[i - 1] + 0.2 : 0.1);
        closed[i] = gap + h * theta * rate <= 0.;
        any |= closed[i];
        r[i] = -(1. + 0.9) * rate + (i > 0 ? 0. : 9.81 * h);
    }
    if (any) {
        impulses(n, closed, r, l);
    }
    for (int32_t i = 0; i < n; i++) {
        const double change = -9.81 * h + l[i] - (i + 1 < n ? l[i + 1] : 0.);
        f->q[i] += h * (f->v[i] + theta * change);
        f->v[i] += change;
    }
}

void floor_beads_run(void *beads, uint64_t count)
{
    struct floor_beads *const f = beads;
    for (uint64_t k = 0; k < count; k++) {
        for (int32_t i = 0; i < f->n; i++) {
            f->q[i] = 1. + 0.25 * i;
            f->v[i] = 0.;
        }
        for (int64_t step = 0; step < f->steps; step++) {
            beads_step(f);
        }
    }
    bench_use(f->q);
}

/* --- bytes ------------------------------------------------------------------------------------ */

void floor_bytes_init(struct floor_bytes *f, size_t size)
{
    f->size = size;
    f->at = memory(size / sizeof *f->at + 1, sizeof *f->at);
    f->copy = memory(size / sizeof *f->copy + 1, sizeof *f->copy);
}

void floor_bytes_fini(struct floor_bytes *f)
{
    free(f->at);
    free(f->copy);
}

void floor_bytes_copy(void *bytes, uint64_t count)
{
    struct floor_bytes *const f = bytes;
    for (uint64_t k = 0; k < count; k++) {
        f->at[0] = k;
        memcpy(f->copy, f->at, f->size);
        bench_use((const double *)(const void *)f->copy);
        memcpy(f->at, f->copy, f->size);
        bench_use((const double *)(const void *)f->at);
    }
}

/* Four lanes of multiply and rotate. */
static uint64_t hash(const uint64_t *at, size_t count)
{
    uint64_t lane[4] = {1, 2, 3, 4};
    for (size_t i = 0; i + 4 <= count; i += 4) {
        for (size_t k = 0; k < 4; k++) {
            lane[k] = (lane[k] ^ at[i + k]) * UINT64_C(0x9e3779b97f4a7c15);
            lane[k] = lane[k] << 31 | lane[k] >> 33;
        }
    }
    return lane[0] ^ lane[1] ^ lane[2] ^ lane[3];
}

void floor_bytes_hash(void *bytes, uint64_t count)
{
    struct floor_bytes *const f = bytes;
    const size_t words = f->size / sizeof *f->at;
    for (uint64_t k = 0; k < count; k++) {
        f->at[0] = k;
        memcpy(f->copy, f->at, f->size);
        f->copy[0] ^= hash(f->at, words);
        f->at[0] = hash(f->copy, words);
        memcpy(f->at + 1, f->copy + 1, f->size - sizeof *f->at);
    }
    bench_use((const double *)(const void *)f->at);
}
