/* The spheres of floors_spheres.h. A contact's impulse is a number along n and a vector across; the
 * velocity of a sphere is one line of memory. */
#include "tests/bench/floors_spheres.h"

#include "tests/bench/bench.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 50, TOUCHES_OF_ONE = 12 };
static const double h = 5e-3, gravity = 9.81, mu = 0.4;

static void *memory(size_t count, size_t size)
{
    void *const at = calloc(count, size);
    if (at == NULL) {
        (void)fprintf(stderr, "no memory for a floor\n");
        exit(2);
    }
    return at;
}

static void allocate(struct floor_spheres *f)
{
    const size_t n = (size_t)f->count;
    f->most = TOUCHES_OF_ONE * f->count;
    f->x = memory(3 * n, sizeof *f->x);
    f->v = memory(8 * (n + 1), sizeof *f->v);
    f->v_before = memory(8 * (n + 1), sizeof *f->v_before);
    f->touch = memory((size_t)f->most, sizeof *f->touch);
    f->before = memory((size_t)f->most, sizeof *f->before);
    f->first = memory(n, sizeof *f->first);
    f->next = memory((size_t)f->most, sizeof *f->next);
    f->cell = memory(n, sizeof *f->cell);
    f->order = memory(n, sizeof *f->order);
    int32_t cells = 1;
    for (int k = 0; k < 3; k++) {
        f->size[k] = (int32_t)((f->high[k] - f->low[k]) / (2. * f->radius + f->margin));
        cells *= f->size[k];
    }
    f->begin = memory((size_t)cells + 1, sizeof *f->begin);
}

void floor_spheres_fini(struct floor_spheres *f)
{
    void *const all[] = {f->x,     f->v,    f->v_before, f->touch, f->before,
                         f->first, f->next, f->cell,     f->order, f->begin};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        free(all[k]);
    }
}

/* --- detection -------------------------------------------------------------------------------- */

static void sort_into_cells(struct floor_spheres *f)
{
    const int32_t cells = f->size[0] * f->size[1] * f->size[2];
    memset(f->begin, 0, ((size_t)cells + 1) * sizeof *f->begin);
    for (int32_t i = 0; i < f->count; i++) {
        int32_t at = 0;
        for (int k = 2; k >= 0; k--) {
            const double s = (f->x[3 * i + k] - f->low[k]) / (f->high[k] - f->low[k]) * f->size[k];
            const int32_t c = s < 0. ? 0 : s >= f->size[k] ? f->size[k] - 1 : (int32_t)s;
            at = at * f->size[k] + c;
        }
        f->cell[i] = at;
        f->begin[at + 1]++;
    }
    for (int32_t c = 0; c < cells; c++) {
        f->begin[c + 1] += f->begin[c];
    }
    for (int32_t i = f->count - 1; i >= 0; i--) {
        f->order[--f->begin[f->cell[i] + 1]] = i;
    }
    // begin[c + 1] is now where cell c begins
    memmove(f->begin, f->begin + 1, (size_t)cells * sizeof *f->begin);
    f->begin[cells] = f->count;
}

/* A new touch, with the impulse of the same one before. */
static struct floor_touch *add(struct floor_spheres *f, int32_t a, int32_t b, int32_t wall)
{
    if (f->touches == f->most) {
        (void)fprintf(stderr, "too many contacts of a floor\n");
        exit(2);
    }
    struct floor_touch *const t = &f->touch[f->touches++];
    *t = (struct floor_touch){.a = a, .b = b + wall};
    for (int32_t k = f->first[a]; k >= 0; k = f->next[k]) {
        if (f->before[k].b == t->b) {
            t->normal = f->before[k].normal;
            memcpy(t->across, f->before[k].across, sizeof t->across);
        }
    }
    return t;
}

static void touch_pair(struct floor_spheres *f, int32_t i, int32_t j)
{
    const double *const a = f->x + 3 * i, *const b = f->x + 3 * j;
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double near = 2. * f->radius + f->margin, d2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (d2 < near * near) {
        const double distance = sqrt(d2), inverse = 1. / distance;
        struct floor_touch *const t = i < j ? add(f, i, j, 0) : add(f, j, i, 0);
        for (int k = 0; k < 3; k++) {
            t->n[k] = (i < j ? d[k] : -d[k]) * inverse;
        }
        t->gap = distance - 2. * f->radius;
    }
}

static void touch_walls(struct floor_spheres *f, int32_t i)
{
    for (int k = 0; k < 3; k++) {
        for (int side = 0; side < 2; side++) {
            const double gap =
                (side ? f->high[k] - f->x[3 * i + k] : f->x[3 * i + k] - f->low[k]) - f->radius;
            if (gap < f->margin) {
                struct floor_touch *const t = add(f, i, f->count, 2 * k + side);
                t->n[k] = side ? 1. : -1.;
                t->gap = gap;
            }
        }
    }
}

/* Spheres of a cell with those behind them in it, and with those of half the cells around. */
static void touch_cell(struct floor_spheres *f, const int32_t at[3])
{
    const int32_t own = at[0] + f->size[0] * (at[1] + f->size[1] * at[2]);
    for (int32_t k = f->begin[own]; k < f->begin[own + 1]; k++) {
        touch_walls(f, f->order[k]);
        for (int32_t l = k + 1; l < f->begin[own + 1]; l++) {
            touch_pair(f, f->order[k], f->order[l]);
        }
    }
    for (int32_t side = 14; side < 27 && f->begin[own] < f->begin[own + 1]; side++) {
        const int32_t x = at[0] + side % 3 - 1, y = at[1] + side / 3 % 3 - 1,
                      z = at[2] + side / 9 - 1;
        if (x < 0 || y < 0 || x >= f->size[0] || y >= f->size[1] || z >= f->size[2]) {
            continue;
        }
        const int32_t other = x + f->size[0] * (y + f->size[1] * z);
        for (int32_t k = f->begin[own]; k < f->begin[own + 1]; k++) {
            for (int32_t l = f->begin[other]; l < f->begin[other + 1]; l++) {
                touch_pair(f, f->order[k], f->order[l]);
            }
        }
    }
}

static void find(struct floor_spheres *f)
{
    struct floor_touch *const last = f->touch;
    f->touch = f->before;
    f->before = last;
    f->touches_before = f->touches;
    f->touches = 0;
    memset(f->first, -1, (size_t)f->count * sizeof *f->first);
    for (int32_t k = 0; k < f->touches_before; k++) {
        f->next[k] = f->first[f->before[k].a];
        f->first[f->before[k].a] = k;
    }
    sort_into_cells(f);
    for (int32_t z = 0; z < f->size[2]; z++) {
        for (int32_t y = 0; y < f->size[1]; y++) {
            for (int32_t x = 0; x < f->size[0]; x++) {
                touch_cell(f, (int32_t[]){x, y, z});
            }
        }
    }
}

/* --- impulses --------------------------------------------------------------------------------- */

/* p acts on sphere b and −p on a, at the point between them. */
static void push(const struct floor_spheres *f, const struct floor_touch *t, const double p[3])
{
    const double m = 1. / f->mass, J = f->radius / (0.4 * f->mass * f->radius * f->radius);
    double *const a = f->v + 8 * (size_t)t->a;
    const double *const n = t->n;
    const double turn[3] = {J * (n[1] * p[2] - n[2] * p[1]), J * (n[2] * p[0] - n[0] * p[2]),
                            J * (n[0] * p[1] - n[1] * p[0])};
    for (int k = 0; k < 3; k++) {
        a[k] -= m * p[k];
        a[4 + k] -= turn[k];
    }
    if (t->b < f->count) {
        double *const b = f->v + 8 * (size_t)t->b;
        for (int k = 0; k < 3; k++) {
            b[k] += m * p[k];
            b[4 + k] -= turn[k];
        }
    }
}

static void sweep_one(const struct floor_spheres *f, struct floor_touch *t)
{
    const bool wall = t->b >= f->count;
    const double *const a = f->v + 8 * (size_t)t->a;
    const double *const b = f->v + 8 * (size_t)(wall ? f->count : t->b);
    const double *const n = t->n, r = f->radius, bodies = wall ? 1. : 2.;
    // 1/m, and 1/m + r²/J = 3.5/m
    const double along = f->mass / bodies, over = f->mass / (3.5 * bodies);
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double w[3] = {r * (a[4] + b[4]), r * (a[5] + b[5]), r * (a[6] + b[6])};
    const double rate = n[0] * d[0] + n[1] * d[1] + n[2] * d[2];
    const double bias = t->gap > 0. ? t->gap / h : fmax(t->gap / h, -0.6);
    double normal = t->normal - along * (rate + bias);
    normal = normal > 0. ? normal : 0.;
    const double u[3] = {d[0] - rate * n[0] - (w[1] * n[2] - w[2] * n[1]),
                         d[1] - rate * n[1] - (w[2] * n[0] - w[0] * n[2]),
                         d[2] - rate * n[2] - (w[0] * n[1] - w[1] * n[0])};
    double across[3] = {t->across[0] - over * u[0], t->across[1] - over * u[1],
                        t->across[2] - over * u[2]};
    const double size2 = across[0] * across[0] + across[1] * across[1] + across[2] * across[2];
    const double most = mu * normal;
    const double scale = size2 > most * most ? most / sqrt(size2) : 1.;
    double p[3];
    for (int k = 0; k < 3; k++) {
        across[k] *= scale;
        p[k] = across[k] - t->across[k] + (normal - t->normal) * n[k];
        t->across[k] = across[k];
    }
    t->normal = normal;
    push(f, t, p);
}

static void sweeps(struct floor_spheres *f, int sweep_count)
{
    for (int s = 0; s < sweep_count; s++) {
        for (int32_t k = 0; k < f->touches; k++) {
            sweep_one(f, &f->touch[k]);
        }
    }
}

static void step(struct floor_spheres *f)
{
    find(f);
    for (int32_t i = 0; i < f->count; i++) {
        f->v[8 * i + 2] -= h * gravity;
    }
    memcpy(f->v_before, f->v, 8 * ((size_t)f->count + 1) * sizeof *f->v);
    for (int32_t k = 0; k < f->touches; k++) {
        const struct floor_touch *const t = &f->touch[k];
        const double p[3] = {t->normal * t->n[0] + t->across[0], t->normal * t->n[1] + t->across[1],
                             t->normal * t->n[2] + t->across[2]};
        push(f, t, p);
    }
    sweeps(f, SWEEPS);
    for (int32_t i = 0; i < f->count; i++) {
        for (int k = 0; k < 3; k++) {
            f->x[3 * i + k] += h * f->v[8 * i + k];
        }
    }
}

/* --- units ------------------------------------------------------------------------------------ */

void floor_spheres_init(struct floor_spheres *f, double margin, int32_t steps)
{
    const double width = 0.8;
    *f = (struct floor_spheres){.count = 500,
                                .radius = 0.05,
                                .margin = margin,
                                .low = {-0.5 * width, -0.5 * width, 0.},
                                .high = {0.5 * width, 0.5 * width, 4.}};
    f->mass = 4. / 3. * 3.14159265358979312 * f->radius * f->radius * f->radius * 1000.;
    allocate(f);
    const int32_t per = (int32_t)(width / (2.2 * f->radius));
    uint32_t seed = 1;
    for (int32_t i = 0; i < f->count; i++) {
        const int32_t at[2] = {i / per % per, i % per};
        for (int k = 0; k < 2; k++) {
            seed = 1664525u * seed + 1013904223u;
            f->x[3 * i + k] = (at[k] + 0.5) * width / per - 0.5 * width +
                              ((double)(seed >> 8) / 16777216. - 0.5) * 2e-3;
        }
        f->x[3 * i + 2] = 0.08 + 2.3 * f->radius * (i / per / per);
    }
    for (int32_t k = 0; k < steps; k++) {
        step(f);
    }
}

void floor_balls_init(struct floor_spheres *f, const double *x, int32_t count, double radius,
                      const double high[3])
{
    *f = (struct floor_spheres){.count = count, .radius = radius, .mass = 1., .margin = 2e-5};
    memcpy(f->high, high, sizeof f->high);
    allocate(f);
    memcpy(f->x, x, 3 * (size_t)count * sizeof *x);
}

void floor_spheres_step(void *spheres, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        step(spheres);
    }
    bench_use(((const struct floor_spheres *)spheres)->v);
}

void floor_spheres_sweep(void *spheres, uint64_t count)
{
    struct floor_spheres *const f = spheres;
    sweeps(f, (int)count);
    bench_use(f->v);
}

void floor_spheres_solve(void *spheres, uint64_t count)
{
    struct floor_spheres *const f = spheres;
    for (uint64_t k = 0; k < count; k++) {
        memcpy(f->v, f->v_before, 8 * ((size_t)f->count + 1) * sizeof *f->v);
        for (int32_t i = 0; i < f->touches; i++) {
            f->touch[i].normal = 0.;
            memset(f->touch[i].across, 0, sizeof f->touch[i].across);
        }
        sweeps(f, SWEEPS);
    }
    bench_use(f->v);
}

void floor_spheres_find(void *spheres, uint64_t count)
{
    for (uint64_t k = 0; k < count; k++) {
        find(spheres);
    }
    bench_use(&((const struct floor_spheres *)spheres)->touch->gap);
}
