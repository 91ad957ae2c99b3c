/* A sweep part by part: what it makes of one contact, of other sets, and where it ends. */
#include "solver/vi/parts.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

enum { MOST = 6 };

struct posed {
    double N[MOST * MOST]; /* by columns */
    double r[MOST], l[MOST], c[MOST];
    struct mech_set sets[MOST];
    struct mech_mat matrix;
    struct mech_problem problem;
};

/* N = 1, r = 0, l = 0 */
static void pose(struct posed *p, int32_t m, int32_t count)
{
    p->matrix = (struct mech_mat){
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = p->N};
    p->problem =
        (struct mech_problem){.m = m, .N = &p->matrix, .r = p->r, .sets = p->sets, .count = count};
    for (int32_t i = 0; i < m; i++) {
        p->N[i * m + i] = 1.;
    }
}

static bool sweep(struct posed *p)
{
    mech_problem_speed(&p->problem, p->l, p->c);
    return mech_parts_sweep(&p->problem, p->l, p->c);
}

/* c as it was kept is N l + r */
static void check_speed(const struct posed *p)
{
    double c[MOST];

    mech_problem_speed(&p->problem, p->l, c);
    for (int32_t i = 0; i < p->problem.m; i++) {
        CHECK_NEAR(p->c[i], c[i], 1e-12 * (1. + fabs(c[i])));
    }
}

static void one_contact_that_slides_is_solved_at_once(void)
{
    for (double fast = 1.; fast < 1e300; fast *= 1e5) {
        struct posed p = {.r = {-1., 0.6 * fast, -0.8 * fast},
                          .sets = {{.kind = MECH_SET_CONE, .rows = 3, .mu = 0.5}}};

        pose(&p, 3, 1);
        CU_ASSERT(sweep(&p));
        CHECK_NEAR(p.l[0], 1., 0.);
        CHECK_NEAR(p.l[1], -0.3, 1e-16);
        CHECK_NEAR(p.l[2], 0.4, 1e-16);
        check_speed(&p);
    }
}

/* each part by its own coefficient; the last one sticks */
static void the_parts_of_a_rolling_contact_are_bound_one_by_one(void)
{
    struct posed p = {
        .r = {-2., 3., -4., 1e12, 0.03, -0.04},
        .sets = {
            {.kind = MECH_SET_ROLLING, .rows = 6, .mu = 0.5, .spinning = 0.1, .rolling = 0.3}}};

    pose(&p, 6, 1);
    CU_ASSERT(sweep(&p));
    CHECK_NEAR(p.l[0], 2., 0.);
    CHECK_NEAR(p.l[1], -0.6, 1e-15);
    CHECK_NEAR(p.l[2], 0.8, 1e-15);
    CHECK_NEAR(p.l[3], -0.2, 1e-15);
    CHECK_NEAR(p.l[4], -0.03, 1e-16);
    CHECK_NEAR(p.l[5], 0.04, 1e-16);
    check_speed(&p);
    CU_ASSERT(!sweep(&p)); /* nothing moves any more */
}

/* N = [[2, 1], [1, 4]] of two sets, one after the other */
static void sets_follow_each_other(void)
{
    const struct mech_set kinds[] = {{.kind = MECH_SET_BILATERAL, .rows = 1},
                                     {.kind = MECH_SET_UNILATERAL, .rows = 1},
                                     {.kind = MECH_SET_BOX, .rows = 1, .lower = -3., .upper = 0.1}};
    static const double then[] = {0.75, 0.75, 0.1};

    for (int k = 0; k < 3; k++) {
        struct posed p = {.r = {-2., -4.}, .sets = {kinds[0], kinds[k]}};

        pose(&p, 2, 2);
        p.N[0] = 2.;
        p.N[3] = 4.;
        p.N[1] = p.N[2] = 1.;
        CU_ASSERT(sweep(&p));
        CHECK_NEAR(p.l[0], 1., 0.);
        CHECK_NEAR(p.l[1], then[k], 0.);
        check_speed(&p);
    }
}

static void what_opens_has_no_force(void)
{
    struct posed p = {.r = {0.5, 1., 1.},
                      .l = {0.2, 0.1, 0.},
                      .sets = {{.kind = MECH_SET_CONE, .rows = 3, .mu = 0.5}}};

    pose(&p, 3, 1);
    CU_ASSERT(sweep(&p));
    CHECK_NEAR(p.l[0], 0., 0.);
    CHECK_NEAR(p.l[1], 0., 0.);
    check_speed(&p);
    CU_ASSERT(!sweep(&p));
}

/* a diagonal that cannot be divided by, and numbers that are none */
static void what_gives_no_step_ends_it(void)
{
    struct posed p = {.r = {-1., 1.}, .sets = {{.kind = MECH_SET_CONE, .rows = 2, .mu = 0.5}}};

    pose(&p, 2, 1);
    p.N[0] = 0.;
    CU_ASSERT(!sweep(&p));
    CHECK_NEAR(p.l[0], 0., 0.);
    p.N[0] = 1.;
    p.N[3] = 0.;
    CU_ASSERT(!sweep(&p));
    p.N[3] = 1.;
    p.r[0] = NAN;
    CU_ASSERT(!sweep(&p));
    CU_ASSERT(isfinite(p.l[0]));
}

UNIT_TESTS(UNIT_TEST(one_contact_that_slides_is_solved_at_once),
           UNIT_TEST(the_parts_of_a_rolling_contact_are_bound_one_by_one),
           UNIT_TEST(sets_follow_each_other), UNIT_TEST(what_opens_has_no_force),
           UNIT_TEST(what_gives_no_step_ends_it))
