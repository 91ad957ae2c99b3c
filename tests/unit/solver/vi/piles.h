/* Scenes of bodies in contact for tests and benchmarks: spheres in a box that fall by Moreau–Jean
 * steps of their own (contacts found by comparing all pairs, warm start by merging sorted lists),
 * and stacks of boxes. Lengths m, masses kg, gravity along −z. */
#pragma once

#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/vi/body_contacts.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct pile {
    int32_t count, contacts, most;
    double *x;      /* [count × 3] */
    double *radius; /* [count] */
    double *inverse_mass, *inverse_inertia, *velocity;
    struct mech_body_contact *contact, *before;
    int64_t *id, *id_before; /* [most] increasing */
    int32_t contacts_before;
    double side; /* of the box's square floor, from −side/2 to side/2; 0: no walls */
    double mu, rolling, spinning;
    double margin; /* contacts are reported up to this gap */
};

static inline void *pile_memory(size_t count, size_t size)
{
    void *const memory = calloc(count > 0 ? count : 1, size);

    if (!memory) {
        abort();
    }
    return memory;
}

static inline struct pile *pile_create(int32_t count, int32_t most)
{
    struct pile *const p = pile_memory(1, sizeof *p);
    const size_t n = (size_t)count, m = (size_t)most;

    *p = (struct pile){.count = count, .most = most, .mu = 0.4, .margin = 5e-4};
    p->x = pile_memory(3 * n, sizeof(double));
    p->radius = pile_memory(n, sizeof(double));
    p->inverse_mass = pile_memory(3 * n, sizeof(double));
    p->inverse_inertia = pile_memory(9 * n, sizeof(double));
    p->velocity = pile_memory(6 * n, sizeof(double));
    p->contact = pile_memory(m, sizeof *p->contact);
    p->before = pile_memory(m, sizeof *p->before);
    p->id = pile_memory(m, sizeof *p->id);
    p->id_before = pile_memory(m, sizeof *p->id_before);
    return p;
}

static inline void pile_destroy(struct pile *p)
{
    free(p->x);
    free(p->radius);
    free(p->inverse_mass);
    free(p->inverse_inertia);
    free(p->velocity);
    free(p->contact);
    free(p->before);
    free(p->id);
    free(p->id_before);
    free(p);
}

static inline struct mech_contact_bodies pile_bodies(const struct pile *p)
{
    return (struct mech_contact_bodies){p->count, p->inverse_mass, p->inverse_inertia, p->velocity};
}

static inline double pile_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) * 0x1p-53;
}

/* mass of a body, and its moments of inertia about the axes of the world */
static inline void pile_set_mass(struct pile *p, int32_t i, double m, const double J[3])
{
    for (int k = 0; k < 3; k++) {
        p->inverse_mass[3 * i + k] = 1. / m;
        p->inverse_inertia[9 * i + 4 * k] = 1. / J[k];
    }
}

static inline void pile_set_sphere(struct pile *p, int32_t i, const double x[3], double r, double m)
{
    const double J = 0.4 * m * r * r;

    memcpy(p->x + 3 * (size_t)i, x, 3 * sizeof *x);
    p->radius[i] = r;
    pile_set_mass(p, i, m, (double[]){J, J, J});
}

/* A contact at the point x with the unit normal n from body i to body j; impulse of earlier. */
static inline struct mech_body_contact *pile_touch(struct pile *p, int32_t i, int32_t j,
                                                   const double x[3], const double n[3])
{
    struct mech_body_contact *const c = &p->contact[p->contacts++];
    const int axis = fabs(n[0]) < 0.6 ? 0 : 1;
    double across[3] = {0.};

    if (p->contacts > p->most) {
        abort();
    }
    *c = (struct mech_body_contact){.body = {i, j}, .mu = p->mu};
    c->rolling = p->rolling;
    c->spinning = p->spinning;
    memcpy(c->n, n, sizeof c->n);
    across[axis] = 1.;
    mech_v3_cross(n, across, c->t1);
    const double size = mech_v3_norm(c->t1);

    for (int k = 0; k < 3; k++) {
        c->t1[k] /= size;
        c->arm[0][k] = i >= 0 ? x[k] - p->x[3 * i + k] : 0.;
        c->arm[1][k] = j >= 0 ? x[k] - p->x[3 * j + k] : 0.;
    }
    return c;
}

/* sphere j on the plane n·x = d, from which n points away */
static inline void pile_touch_plane(struct pile *p, int32_t j, const double n[3], double d,
                                    double h, int64_t id)
{
    const double gap = mech_v3_dot(n, p->x + 3 * (size_t)j) - d - p->radius[j];

    if (gap <= p->margin) {
        double x[3];

        mech_v3_add(p->x + 3 * (size_t)j, -p->radius[j], n, x);
        struct mech_body_contact *const c = pile_touch(p, -1, j, x, n);

        for (int k = 0; k < 3; k++) {
            c->arm[1][k] = -p->radius[j] * n[k];
        }
        c->b[0] = fmax(gap / h, -0.6);
        p->id[p->contacts - 1] = id;
    }
}

static inline void pile_touch_spheres(struct pile *p, int32_t i, int32_t j, double h, int64_t id)
{
    const double *const a = p->x + 3 * (size_t)i, *const b = p->x + 3 * (size_t)j;
    const double reach = p->radius[i] + p->radius[j];
    double n[3], x[3];

    mech_v3_add(b, -1., a, n);
    const double distance2 = mech_v3_dot(n, n), near = reach + p->margin;

    if (distance2 > near * near) {
        return;
    }
    const double distance = sqrt(distance2);

    for (int k = 0; k < 3; k++) {
        n[k] /= distance;
    }
    mech_v3_add(a, p->radius[i], n, x);
    struct mech_body_contact *const c = pile_touch(p, i, j, x, n);

    for (int k = 0; k < 3; k++) {
        c->arm[0][k] = p->radius[i] * n[k];
        c->arm[1][k] = -p->radius[j] * n[k];
    }
    c->b[0] = fmax((distance - reach) / h, -0.6);
    p->id[p->contacts - 1] = id;
}

/* all contacts of spheres, floor z = 0 and walls, with the impulses of the last call */
static inline void pile_find(struct pile *p, double h)
{
    static const double normal[5][3] = {
        {0., 0., 1.}, {1., 0., 0.}, {-1., 0., 0.}, {0., 1., 0.}, {0., -1., 0.}};
    struct mech_body_contact *const last = p->contact;
    int64_t *const last_id = p->id;
    int32_t k = 0;

    p->contact = p->before;
    p->id = p->id_before;
    p->before = last;
    p->id_before = last_id;
    p->contacts_before = p->contacts;
    p->contacts = 0;
    for (int32_t i = 0; i < p->count; i++) {
        for (int w = 0; w < (p->side > 0. ? 5 : 1); w++) {
            pile_touch_plane(p, i, normal[w], w == 0 ? 0. : -0.5 * p->side, h,
                             (int64_t)i << 32 | w);
        }
        for (int32_t j = i + 1; j < p->count; j++) {
            pile_touch_spheres(p, i, j, h, (int64_t)i << 32 | (8 + j));
        }
    }
    for (int32_t i = 0; i < p->contacts; i++) {
        while (k < p->contacts_before && p->id_before[k] < p->id[i]) {
            k++;
        }
        if (k < p->contacts_before && p->id_before[k] == p->id[i]) {
            memcpy(p->contact[i].impulse, p->before[k].impulse, sizeof p->before[k].impulse);
            memcpy(p->contact[i].couple, p->before[k].couple, sizeof p->before[k].couple);
        }
    }
}

static inline void pile_fall(struct pile *p, double h)
{
    for (int32_t i = 0; i < p->count; i++) {
        if (p->inverse_mass[3 * i + 2] > 0.) {
            p->velocity[6 * i + 2] -= 9.81 * h;
        }
    }
}

static inline void pile_move(struct pile *p, double h)
{
    for (int32_t i = 0; i < p->count; i++) {
        mech_v3_add(p->x + 3 * (size_t)i, h, p->velocity + 6 * (size_t)i, p->x + 3 * (size_t)i);
    }
}

/* `count` spheres above the floor of a box, one per cell of a grid, a little off its middle */
static inline struct pile *pile_of_spheres(int32_t count, int32_t wide, uint64_t seed)
{
    struct pile *const p = pile_create(count, 8 * count + 64);
    const double r = 0.05, cell = 2.2 * r;
    uint64_t state = seed;

    p->side = wide * cell;
    for (int32_t i = 0; i < count; i++) {
        const int32_t at[3] = {i % wide, i / wide % wide, i / (wide * wide)};
        double x[3];

        for (int k = 0; k < 3; k++) {
            x[k] = (at[k] + 0.5) * cell + 0.15 * r * (pile_random(&state) - 0.5) -
                   (k < 2 ? 0.5 * p->side : 0.);
        }
        pile_set_sphere(p, i, x, r, 1.);
    }
    return p;
}

/* `count` spheres on each other, at rest */
static inline struct pile *pile_of_column(int32_t count)
{
    struct pile *const p = pile_create(count, 2 * count);

    for (int32_t i = 0; i < count; i++) {
        pile_set_sphere(p, i, (double[]){0., 0., 0.1 * i + 0.05}, 0.05, 1.);
    }
    return p;
}

/* `count` boxes 1 × 1 × height on each other, with a contact at each corner */
static inline struct pile *pile_of_boxes(int32_t count, double height)
{
    struct pile *const p = pile_create(count, 4 * count);
    const double J = (1. + height * height) / 12.;

    for (int32_t i = 0; i < count; i++) {
        p->x[3 * i + 2] = (i + 0.5) * height;
        pile_set_mass(p, i, 1., (double[]){J, J, 1. / 6.});
        for (int k = 0; k < 4; k++) {
            const double x[3] = {k % 2 ? 0.5 : -0.5, k / 2 ? 0.5 : -0.5, i * height};

            pile_touch(p, i - 1, i, x, (double[]){0., 0., 1.});
        }
    }
    return p;
}
