/* Runs of scenes for the tests of contacts between bodies. */
#pragma once

#include "tests/unit/solver/vi/piles.h"
#include "tests/unit/unit.h"

static const double step = 5e-3, gravity = 9.81;

static const struct mech_body_contacts_options exact = {
    .friction = MECH_COULOMB, .tolerance = 1e-11, .max_sweeps = 200000, .look_every = 10};

static inline int run(struct pile *p, const struct mech_body_contacts_options *options,
                      struct mech_body_contacts_result *result)
{
    const struct mech_contact_bodies bodies = pile_bodies(p);
    struct mech_body_contacts *s = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_body_contacts_create(p->count, p->contacts, &s), 0);
    const int code = mech_body_contacts_solve(s, &bodies, p->contact, p->contacts, options, result);

    mech_body_contacts_destroy(s);
    return code;
}

/* a pile that has fallen for so many steps */
static inline struct pile *fallen(int32_t count, int32_t wide, int steps,
                                  enum mech_friction friction)
{
    struct pile *const p = pile_of_spheres(count, wide, 7);
    struct mech_body_contacts_options options = {
        .friction = friction, .tolerance = 1e-10, .max_sweeps = 200};
    struct mech_body_contacts_result result;

    for (int k = 0; k < steps; k++) {
        pile_find(p, step);
        pile_fall(p, step);
        CU_ASSERT(run(p, &options, &result) >= 0);
        pile_move(p, step);
    }
    pile_find(p, step);
    pile_fall(p, step);
    return p;
}

/* Velocities at random, so that contacts stick, slide, and open: far from the limits between. */
static inline void shake(struct pile *p)
{
    uint64_t state = 11;

    for (int32_t i = 0; i < 6 * p->count; i++) {
        p->velocity[i] += (i % 6 < 3 ? 0.5 : 5.) * (pile_random(&state) - 0.5);
    }
}

/* m = 2, r = 0.3 with v0 = 1 along x on the floor */
static inline struct pile *sliding_sphere(void)
{
    struct pile *const p = pile_create(1, 1);

    pile_set_sphere(p, 0, (double[]){0., 0., 0.3}, 0.3, 2.);
    p->velocity[0] = 1.;
    pile_find(p, step);
    pile_fall(p, step);
    return p;
}
