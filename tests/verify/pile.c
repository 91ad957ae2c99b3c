/* Spheres dropped into a box come to rest on it: 125 of them, half a box wide (tests/bench/spheres
 * does the same with 500). */
#include "tests/verify/pile.h"
#include "tests/unit/unit.h"

static void dropped_spheres_weigh_what_they_weigh(void)
{
    struct pile p;

    pile_create(&p, 125, 0.5, 0.);
    pile_begin(&p);
    for (int i = 0; i < 1200; i++) {
        pile_step(&p);
    }
    /* while they fall and hit each other; rounding of some 700 sums */
    CU_ASSERT(p.momentum < 1e-12);
    /* while they hit at 3 m/s, with 50 sweeps only */
    CU_ASSERT(p.overlap < 2e-3);
    pile_begin(&p);
    for (int i = 0; i < 400; i++) {
        pile_step(&p);
    }
    CU_ASSERT(p.momentum < 1e-12);
    CHECK_NEAR(p.floor / p.steps, 1., 1e-3);
    CU_ASSERT(p.overlap < 1e-4);
    CU_ASSERT(p.contacts / p.steps > 1.5 * p.n);
    pile_destroy(&p);
}

UNIT_TESTS(UNIT_TEST(dropped_spheres_weigh_what_they_weigh))
