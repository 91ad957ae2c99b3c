/* The residual that all complementarity solvers are judged by, on numbers worked out by hand. */
#include "solver/vi/vi.h"
#include "tests/unit/unit.h"

#include <math.h>

/* A = (2 1; 0 4), q = (−3, 4) */
static const double a[] = {2., 0., 1., 4.}, q[] = {-3., 4.};

static void residual_is_the_natural_map_over_q(void)
{
    const struct mech_lcp p = {.n = 2, .A = a, .lda = 2, .q = q};
    // z = (1, 0): w = (−1, 4), z − max(0, z − w) = (−1, 0)
    CHECK_NEAR(mech_lcp_residual(&p, (double[]){1., 0.}), 0.2, 1e-16);
    // z = (−1, 1): w = (−4, 8), z − max(0, z − w) = (−1 − 3, 1)
    CHECK_NEAR(mech_lcp_residual(&p, (double[]){-1., 1.}), sqrt(17.) / 5., 1e-15);
}

static void residual_of_a_solution_is_zero(void)
{
    const struct mech_lcp p = {.n = 2, .A = a, .lda = 2, .q = q};
    CHECK_NEAR(mech_lcp_residual(&p, (double[]){1.5, 0.}), 0., 0.);
}

static void bilateral_rows_count_with_w(void)
{
    const bool bilateral[] = {true, false};
    const struct mech_lcp p = {.n = 2, .A = a, .lda = 2, .q = q, .bilateral = bilateral};
    // z = (0.5, 0): w = (−2, 4)
    CHECK_NEAR(mech_lcp_residual(&p, (double[]){0.5, 0.}), 0.4, 1e-16);
}

static void leading_dimension_is_the_distance_of_columns(void)
{
    const double wide[] = {2., 0., 99., 1., 4., 99.};
    const struct mech_lcp p = {.n = 2, .A = wide, .lda = 3, .q = q};
    CHECK_NEAR(mech_lcp_residual(&p, (double[]){1., 0.5}), sqrt(0.5) / 5., 1e-16);
}

static void nothing_asked_and_nothing_done_is_no_residual(void)
{
    const double zeros[] = {0., 0.};
    const struct mech_lcp p = {.n = 2, .A = a, .lda = 2, .q = zeros};
    CHECK_NEAR(mech_lcp_residual(&p, zeros), 0., 0.);
    CU_ASSERT(isinf(mech_lcp_residual(&p, (double[]){1., 0.})));
}

static void not_a_number_is_not_a_residual_of_zero(void)
{
    const struct mech_lcp p = {.n = 2, .A = a, .lda = 2, .q = q};
    CU_ASSERT(isnan(mech_lcp_residual(&p, (double[]){NAN, 0.})));
}

UNIT_TESTS(UNIT_TEST(residual_is_the_natural_map_over_q), UNIT_TEST(residual_of_a_solution_is_zero),
           UNIT_TEST(bilateral_rows_count_with_w),
           UNIT_TEST(leading_dimension_is_the_distance_of_columns),
           UNIT_TEST(nothing_asked_and_nothing_done_is_no_residual),
           UNIT_TEST(not_a_number_is_not_a_residual_of_zero))
