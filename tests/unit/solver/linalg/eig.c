/* Null spaces: orthonormal, of the right dimension, and nothing that is not finite. */
#include "solver/linalg/eig.h"

#include "solver/base/err.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static void a_null_space_is_orthonormal_and_mapped_to_zero(void)
{
    // by columns: the second row is twice the first
    const double rows[8] = {1., 2., 2., 4., 0., 0., -1., -2.};
    double G[8], Z[16];
    int32_t dimension = -1;
    memcpy(G, rows, sizeof G);
    CU_ASSERT_EQUAL(mech_eig_null(2, 4, G, Z, &dimension), 0);
    CU_ASSERT_EQUAL_FATAL(dimension, 3);
    for (int a = 0; a < 3; a++) {
        for (int b = 0; b < 3; b++) {
            double dot = 0.;
            for (int i = 0; i < 4; i++) {
                dot += Z[4 * a + i] * Z[4 * b + i];
            }
            CHECK_NEAR(dot, a == b, 1e-15 * 16);
        }
        double image = 0.;
        for (int i = 0; i < 4; i++) {
            image += rows[2 * i] * Z[4 * a + i];
        }
        CHECK_NEAR(image, 0., 1e-15 * 16);
    }
}

static void without_columns_there_is_no_direction(void)
{
    double none = 7.;
    int32_t dimension = -1;
    CU_ASSERT_EQUAL(mech_eig_null(3, 0, &none, &none, &dimension), 0);
    CU_ASSERT_EQUAL(dimension, 0);
    CHECK_NEAR(none, 7., 0);
}

static void what_is_not_finite_is_refused(void)
{
    double G[2] = {1., (double)NAN}, Z[4];
    int32_t dimension = -1;
    CU_ASSERT_EQUAL(mech_eig_null(1, 2, G, Z, &dimension), MECH_NOT_FINITE);
}

UNIT_TESTS(UNIT_TEST(a_null_space_is_orthonormal_and_mapped_to_zero),
           UNIT_TEST(without_columns_there_is_no_direction),
           UNIT_TEST(what_is_not_finite_is_refused))
