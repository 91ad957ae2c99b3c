/* Factors of band matrices: what they solve, and the rows they name. */
#include "solver/linalg/band.h"

#include "tests/unit/unit.h"

/* 4 on the diagonal, -1 beside it: every order, and the smallest ones, have their own ends. */
static void a_tridiagonal_system_of_every_small_order_is_solved(void)
{
    enum { MOST = 7 };
    for (int32_t n = 1; n <= MOST; n++) {
        double diagonal[MOST], above[MOST], r[MOST], inverse[MOST], x[MOST];
        for (int32_t i = 0; i < n; i++) {
            diagonal[i] = 4. + i;
            above[i] = -1.;
            x[i] = (4. + i) * (i + 1.) - (i > 0 ? i : 0.) - (i < n - 1 ? i + 2. : 0.);
        }
        CU_ASSERT_EQUAL(mech_tridiagonal_factor(n, diagonal, above, r, inverse), -1);
        mech_tridiagonal_solve(n, r, inverse, x);
        for (int32_t i = 0; i < n; i++) {
            CHECK_NEAR(x[i], i + 1., 1e-14 * MOST);
        }
    }
}

static void a_pivot_of_zero_names_its_row(void)
{
    const double diagonal[3] = {1., 2., 0.}, above[2] = {0., 0.};
    double r[3], inverse[3];
    CU_ASSERT_EQUAL(mech_tridiagonal_factor(3, diagonal, above, r, inverse), 2);
    CU_ASSERT_EQUAL(mech_tridiagonal_factor(1, diagonal + 2, above, r, inverse), 0);
}

UNIT_TESTS(UNIT_TEST(a_tridiagonal_system_of_every_small_order_is_solved),
           UNIT_TEST(a_pivot_of_zero_names_its_row))
