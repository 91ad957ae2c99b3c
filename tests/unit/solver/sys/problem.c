/* The residual that all complementarity solvers are judged by, on numbers worked out by hand. */
#include "solver/sys/problem.h"
#include "tests/unit/unit.h"

#include <math.h>

/* N = (2 1; 0 4), r = (−3, 4) */
static double values[] = {2., 0., 1., 4.};
static const struct mech_mat N = {.kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .values = values};
static const double r[] = {-3., 4.};

static double residual(const struct mech_problem *p, double z0, double z1)
{
    double c[2];

    mech_problem_speed(p, (double[]){z0, z1}, c);
    return mech_problem_residual(p, (double[]){z0, z1}, c);
}

static void residual_is_the_natural_map_over_r(void)
{
    const struct mech_problem p = {.m = 2, .N = &N, .r = r};

    // l = (1, 0): c = (−1, 4), l − max(0, l − c) = (−1, 0)
    CHECK_NEAR(residual(&p, 1., 0.), 0.2, 1e-16);
    // l = (−1, 1): c = (−4, 8), l − max(0, l − c) = (−1 − 3, 1)
    CHECK_NEAR(residual(&p, -1., 1.), sqrt(17.) / 5., 1e-15);
    CHECK_NEAR(residual(&p, 1.5, 0.), 0., 0.);
}

static void bilateral_rows_count_with_c(void)
{
    const struct mech_set sets[] = {{.kind = MECH_SET_BILATERAL, .rows = 1},
                                    {.kind = MECH_SET_UNILATERAL, .rows = 1}};
    const struct mech_problem p = {.m = 2, .N = &N, .r = r, .sets = sets, .count = 2};

    // l = (0.5, 0): c = (−2, 4)
    CHECK_NEAR(residual(&p, 0.5, 0.), 0.4, 1e-16);
}

static void sparse_columns_are_columns(void)
{
    int32_t colptr[] = {0, 1, 3}, rowind[] = {0, 0, 1};
    double stored[] = {2., 1., 4.}, block[4];
    const struct mech_mat sparse = {.kind = MECH_MAT_CSC,
                                    .rows = 2,
                                    .cols = 2,
                                    .colptr = colptr,
                                    .rowind = rowind,
                                    .values = stored};
    const struct mech_problem p = {.m = 2, .N = &sparse, .r = r};

    CHECK_NEAR(residual(&p, -1., 1.), sqrt(17.) / 5., 1e-15);
    mech_problem_block(&p, 0, 2, block);
    CHECK_NEAR(block[1], 1., 0.);
    CHECK_NEAR(block[2], 0., 0.);
}

static void nothing_asked_and_nothing_done_is_no_residual(void)
{
    const double zeros[] = {0., 0.};
    const struct mech_problem p = {.m = 2, .N = &N, .r = zeros};

    CHECK_NEAR(residual(&p, 0., 0.), 0., 0.);
    CU_ASSERT(isinf(residual(&p, 1., 0.)));
}

static void not_a_number_is_not_a_residual_of_zero(void)
{
    const struct mech_problem p = {.m = 2, .N = &N, .r = r};

    CU_ASSERT(isnan(residual(&p, NAN, 0.)));
}

static void an_endless_c_beside_no_force_is_not_a_solution(void)
{
    static const struct mech_set sets[] = {{.kind = MECH_SET_UNILATERAL, .rows = 1},
                                           {.kind = MECH_SET_UNILATERAL, .rows = 1}};
    const struct mech_problem p = {.m = 2, .N = &N, .r = r};
    const struct mech_problem with_sets = {.m = 2, .N = &N, .r = r, .sets = sets, .count = 2};
    const double l[] = {1.5, 0.}, c[] = {0., HUGE_VAL};

    CU_ASSERT(isnan(mech_problem_residual(&p, l, c)));
    CU_ASSERT(isnan(mech_problem_residual(&with_sets, l, c)));
}

UNIT_TESTS(UNIT_TEST(residual_is_the_natural_map_over_r), UNIT_TEST(bilateral_rows_count_with_c),
           UNIT_TEST(sparse_columns_are_columns),
           UNIT_TEST(nothing_asked_and_nothing_done_is_no_residual),
           UNIT_TEST(not_a_number_is_not_a_residual_of_zero),
           UNIT_TEST(an_endless_c_beside_no_force_is_not_a_solution))
