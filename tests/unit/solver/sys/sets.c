/* Projections onto sets: closed forms, the definition of a nearest point, and the natural map. */
#include "solver/sys/sets.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* uniform in −1 … 1, xorshift */
static double uniform(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (double)(*seed >> 11) / 4503599627370496. - 1.;
}

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void a_point_between_cone_and_polar_goes_to_the_surface(void)
{
    double l[] = {-1., 1., 0.};

    mech_cone_project(2., 3, l);
    CHECK_NEAR(l[0], 0.2, 1e-16);
    CHECK_NEAR(l[1], 0.4, 1e-16);
    CHECK_NEAR(l[2], 0., 0.);
}

/* x − P x ⊥ P x, P x in the cone, x − P x in the polar cone: Moreau's decomposition is unique */
static void projection_is_moreaus_decomposition(void)
{
    uint64_t seed = 88172645463325252u;

    for (int k = 0; k < 2000; k++) {
        const double mu = 10. * fabs(uniform(&seed));
        double x[3], p[3], rest[3];

        for (int i = 0; i < 3; i++) {
            x[i] = p[i] = 3. * uniform(&seed);
        }
        mech_cone_project(mu, 3, p);
        for (int i = 0; i < 3; i++) {
            rest[i] = x[i] - p[i];
        }
        CHECK_NEAR(dot3(rest, p), 0., 1e-14);
        CU_ASSERT(hypot(p[1], p[2]) <= mu * p[0] + 1e-14);
        CU_ASSERT(mu * hypot(rest[1], rest[2]) <= -rest[0] + 1e-13);
    }
}

static void without_friction_a_cone_is_a_half_line(void)
{
    double pulled[] = {-1., 0., 0.}, pressed[] = {2., 1., -1.};

    mech_cone_project(0., 3, pulled);
    mech_cone_project(0., 3, pressed);
    CHECK_NEAR(pulled[0], 0., 0.);
    CHECK_NEAR(pressed[0], 2., 0.);
    CHECK_NEAR(pressed[1], 0., 0.);
    CHECK_NEAR(pressed[2], 0., 0.);
}

static void a_plane_cone_is_a_slice_of_the_one_in_space(void)
{
    uint64_t seed = 12345u;

    for (int k = 0; k < 200; k++) {
        const double mu = fabs(uniform(&seed));
        double plane[2] = {uniform(&seed), uniform(&seed)}, space[3] = {plane[0], plane[1], 0.};

        mech_cone_project(mu, 2, plane);
        mech_cone_project(mu, 3, space);
        CHECK_NEAR(plane[0], space[0], 0.);
        CHECK_NEAR(plane[1], space[1], 0.);
    }
}

static void a_mask_leaves_sets_alone(void)
{
    const struct mech_set sets[] = {{.kind = MECH_SET_UNILATERAL, .rows = 1},
                                    {.kind = MECH_SET_BILATERAL, .rows = 1},
                                    {.kind = MECH_SET_BOX, .rows = 1, .lower = -1., .upper = 2.},
                                    {.kind = MECH_SET_CONE, .rows = 2, .mu = 0.5}};
    const double from[] = {-1., -1., 3., -1., 0.5};
    const bool enabled[] = {true, true, true, false, false};
    double l[5];

    CU_ASSERT_EQUAL(mech_sets_rows(sets, 4), 5);
    memcpy(l, from, sizeof l);
    mech_sets_project(sets, 4, enabled, l);
    const double masked[] = {0., -1., 2., -1., 0.5};
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(l[i], masked[i], 0.);
    }
    mech_sets_project(sets, 4, NULL, l);
    CHECK_NEAR(l[3], 0., 0.);
    CHECK_NEAR(l[4], 0., 0.);
}

/* a block of weight 1 that slides along T1 with friction against it */
static void sliding_fulfils_coulombs_law_and_not_the_associated_one(void)
{
    const struct mech_set cone = {.kind = MECH_SET_CONE, .rows = 3, .mu = 0.3};
    const double l[] = {1., -0.3, 0.}, c[] = {0., 2., 0.}, r[] = {-1., 2.3, 0.};

    CHECK_NEAR(mech_sets_residual(&cone, 1, MECH_COULOMB, l, c, r), 0., 1e-16);
    CU_ASSERT(mech_sets_residual(&cone, 1, MECH_ASSOCIATED, l, c, r) > 0.1);
    /* the associated law lets it rise with μ times its speed */
    const double up[] = {0.6, 2., 0.};
    CHECK_NEAR(mech_sets_residual(&cone, 1, MECH_ASSOCIATED, l, up, r), 0., 1e-16);
}

static void the_residual_of_a_linear_problem_is_scaled_by_its_right_hand_side(void)
{
    const struct mech_set sets[] = {{.kind = MECH_SET_UNILATERAL, .rows = 1},
                                    {.kind = MECH_SET_BILATERAL, .rows = 1}};
    /* l = 1 with c = 0.3: the map is 0.3; a bilateral row counts with c */
    const double l[] = {1., 5.}, c[] = {0.3, -0.4}, r[] = {3., 4.}, zeros[] = {0., 0.};

    CHECK_NEAR(mech_sets_residual(sets, 2, MECH_COULOMB, l, c, r), 0.1, 1e-16);
    CHECK_NEAR(mech_sets_residual(sets, 2, MECH_COULOMB, zeros, zeros, zeros), 0., 0.);
    CU_ASSERT(isnan(mech_sets_residual(sets, 2, MECH_COULOMB, l, (double[]){NAN, 0.}, r)));
}

/* x − P x in the polar cone and orthogonal to P x, P x in the set */
static void a_rolling_contact_is_projected_exactly(void)
{
    uint64_t seed = 2463534242u;

    for (int k = 0; k < 3000; k++) {
        const struct mech_set set = {.kind = MECH_SET_ROLLING,
                                     .rows = 6,
                                     .mu = fabs(uniform(&seed)),
                                     .spinning = k % 5 ? 0.3 * fabs(uniform(&seed)) : 0.,
                                     .rolling = 2. * fabs(uniform(&seed))};
        double x[6], p[6], rest[6], along = 0.;

        for (int i = 0; i < 6; i++) {
            x[i] = p[i] = 2. * uniform(&seed);
        }
        mech_set_project(&set, p);
        for (int i = 0; i < 6; i++) {
            rest[i] = x[i] - p[i];
            along += rest[i] * p[i];
        }
        CHECK_NEAR(along, 0., 1e-13);
        CU_ASSERT(hypot(p[1], p[2]) <= set.mu * p[0] + 1e-14);
        CU_ASSERT(fabs(p[3]) <= set.spinning * p[0] + 1e-14);
        CU_ASSERT(hypot(p[4], p[5]) <= set.rolling * p[0] + 1e-14);
        /* the support of the polar cone: rest · (1, extreme torques and forces) ≤ 0 */
        CU_ASSERT(rest[0] + set.mu * hypot(rest[1], rest[2]) + set.spinning * fabs(rest[3]) +
                      set.rolling * hypot(rest[4], rest[5]) <=
                  1e-13);
    }
}

UNIT_TESTS(UNIT_TEST(a_point_between_cone_and_polar_goes_to_the_surface),
           UNIT_TEST(projection_is_moreaus_decomposition),
           UNIT_TEST(without_friction_a_cone_is_a_half_line),
           UNIT_TEST(a_plane_cone_is_a_slice_of_the_one_in_space),
           UNIT_TEST(a_mask_leaves_sets_alone), UNIT_TEST(a_rolling_contact_is_projected_exactly),
           UNIT_TEST(sliding_fulfils_coulombs_law_and_not_the_associated_one),
           UNIT_TEST(the_residual_of_a_linear_problem_is_scaled_by_its_right_hand_side))
