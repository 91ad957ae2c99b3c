/* Vectors and rotations: identities that hold for every rotation. */
#include "solver/linalg/so3.h"

#include "tests/unit/unit.h"

#include <float.h>

/* Entries are sums of three products of numbers of size 1. */
static const double rounding = 8. * DBL_EPSILON;

static void angles_and_matrix_are_inverse(void)
{
    for (double x = -3.1; x < 3.15; x += 0.31) {
        for (double y = -1.57; y < 1.575; y += 0.157) {
            for (double z = -3.1; z < 3.15; z += 0.31) {
                const double angles[3] = {x, y, z};
                double r[9], back[3];
                mech_so3_from_angles(angles, r);
                CU_ASSERT(mech_so3_is_rotation(r, rounding));
                mech_so3_angles(r, back);
                // near ±π/2 the first and last angle lose what cos φ1 loses
                const double loss = rounding / cos(y);
                CHECK_NEAR(back[0], x, loss);
                CHECK_NEAR(back[1], y, rounding);
                CHECK_NEAR(back[2], z, loss);
            }
        }
    }
}

static void the_matrix_is_the_product_of_its_three_turns(void)
{
    const double angles[3] = {0.3, -0.7, 1.1};
    const double x[3] = {0.3, 0., 0.}, y[3] = {0., -0.7, 0.}, z[3] = {0., 0., 1.1};
    double rx[9], ry[9], rz[9], r[9];
    mech_so3_from_angles(x, rx);
    mech_so3_from_angles(y, ry);
    mech_so3_from_angles(z, rz);
    // each turn by itself: x to y, y to z, z to x
    CHECK_NEAR(rx[7], sin(0.3), 0);
    CHECK_NEAR(ry[2], sin(-0.7), 0);
    CHECK_NEAR(rz[3], sin(1.1), 0);
    mech_m3_product(rx, ry, r);
    mech_m3_product(r, rz, r);
    double whole[9];
    mech_so3_from_angles(angles, whole);
    for (int i = 0; i < 9; i++) {
        CHECK_NEAR(whole[i], r[i], rounding);
    }
}

static void a_locked_rotation_comes_back_as_the_same_matrix(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        // cos(π/2) is not 0 in floating point, so the matrix is written out
        const double s = sin(0.8), c = cos(0.8);
        const double r[9] = {0., 0., sign, sign * s, c, 0., -sign * c, s, 0.};
        double angles[3], back[9];
        mech_so3_angles(r, angles);
        CHECK_NEAR(angles[2], 0., 0);
        mech_so3_from_angles(angles, back);
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR(back[i], r[i], rounding);
        }
    }
}

/* Of a locked rotation only φ0 ± φ2 is known: φ2 stays as it was, and φ0 follows. */
static void angles_go_on_through_a_locked_rotation(void)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        const double s = sin(0.8), c = cos(0.8), quarter = 2. * atan(1.);
        const double r[9] = {0., 0., sign, sign * s, c, 0., -sign * c, s, 0.};
        const double last[3] = {0.8 - sign * 0.3 + 4. * quarter + 0.01, sign * quarter - 0.01, 0.3};
        double plain[3], angles[3], back[9];
        mech_so3_angles(r, plain);
        mech_so3_near_angles(plain, true, last, angles);
        CHECK_NEAR(angles[0], last[0] - 0.01, rounding);
        CHECK_NEAR(angles[1], sign * quarter, rounding);
        CHECK_NEAR(angles[2], 0.3, rounding);
        mech_so3_from_angles(angles, back);
        for (int i = 0; i < 9; i++) {
            CHECK_NEAR(back[i], r[i], rounding);
        }
    }
}

static void cross_dot_and_transpose_keep_their_identities(void)
{
    const double a[3] = {1., -2., 3.}, b[3] = {4., 5., -6.};
    double c[3];
    mech_v3_cross(a, b, c);
    CHECK_NEAR(c[0], -3., 0);
    CHECK_NEAR(c[1], 18., 0);
    CHECK_NEAR(c[2], 13., 0);
    CHECK_NEAR(mech_v3_dot(a, c), 0., 0);
    CHECK_NEAR(mech_v3_norm(b), sqrt(77.), 0);
    mech_v3_add(a, 2., b, c);
    CHECK_NEAR(c[2], -9., 0);
    const double m[9] = {1, 2, 3, 4, 5, 6, 7, 8, 10};
    double t[9], x[3], y[3];
    mech_m3_transpose(m, t);
    mech_m3_mul_transposed(m, a, x);
    mech_m3_mul(t, a, y);
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(x[i], y[i], 0);
    }
    CHECK_NEAR(x[0], 14., 0);
    // in place
    double z[3] = {1., -2., 3.};
    mech_m3_mul(m, z, z);
    CHECK_NEAR(z[0], 6., 0);
    CHECK_NEAR(z[1], 12., 0);
    CHECK_NEAR(z[2], 21., 0);
}

static void what_is_no_rotation_is_refused(void)
{
    const double mirror[9] = {1, 0, 0, 0, 1, 0, 0, 0, -1};
    const double stretched[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1 + 1e-6};
    const double sheared[9] = {1, 1e-6, 0, 0, 1, 0, 0, 0, 1};
    const double broken[9] = {1, 0, 0, 0, 1, 0, 0, 0, NAN};
    CU_ASSERT(!mech_so3_is_rotation(mirror, 1e-9));
    CU_ASSERT(!mech_so3_is_rotation(stretched, 1e-9));
    CU_ASSERT(!mech_so3_is_rotation(sheared, 1e-9));
    CU_ASSERT(!mech_so3_is_rotation(broken, 1e-9));
    CU_ASSERT(mech_so3_is_rotation(stretched, 1e-5));
}

static void vectors_and_matrices_are_inverse(void)
{
    static const double angles[] = {0., 1e-12, 1e-5, 0.09, 0.11, 1.5, 2.5, 3.1, 3.1415};

    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        for (int k = 0; k < 4; k++) {
            const double axis[3] = {k == 0 ? 1. : 0.6, k == 1 ? 0. : -0.48, k == 2 ? 0. : 0.64};
            const double scale = angles[i] / mech_v3_norm(axis);
            const double x[3] = {scale * axis[0], scale * axis[1], scale * axis[2]};
            double r[9], back[3];

            mech_so3_exp(x, r);
            CU_ASSERT(mech_so3_is_rotation(r, rounding));
            mech_so3_log(r, back);
            for (int c = 0; c < 3; c++) {
                CHECK_NEAR(back[c], x[c], 4. * rounding);
            }
        }
    }
}

static void left_jacobians_are_derivatives_and_inverse(void)
{
    static const double angles[] = {1e-7, 0.01, 0.099, 0.101, 1., 3.};

    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        const double x[3] = {0.6 * angles[i], -0.48 * angles[i], 0.64 * angles[i]}, h = 1e-5;
        double J[9], inverse[9], product[9], r[9];

        mech_so3_left(x, J);
        mech_so3_left_inverse(x, inverse);
        mech_m3_product(J, inverse, product);
        mech_so3_exp(x, r);
        mech_m3_transpose(r, r);
        for (int k = 0; k < 3; k++) {
            double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]}, a[9], b[9];
            double above[3], below[3];

            up[k] += h;
            down[k] -= h;
            mech_so3_exp(up, a);
            mech_so3_exp(down, b);
            mech_m3_product(a, r, a);
            mech_m3_product(b, r, b);
            mech_so3_log(a, above);
            mech_so3_log(b, below);
            for (int c = 0; c < 3; c++) {
                // central differences: h² and ε/h
                CHECK_NEAR(J[3 * c + k], (above[c] - below[c]) / (2. * h), 1e-9);
                CHECK_NEAR(product[3 * c + k], c == k ? 1. : 0., 100. * rounding);
            }
        }
    }
}

/* also where the angle is so small that series take over, and at half a turn */
static void vectors_and_parameters_are_inverse(void)
{
    static const double lengths[] = {0., 1e-9, 1e-5, 2e-4, 0.3, 3.14159, 3.141592653589793};

    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++) {
        const double a = lengths[k], theta[3] = {a * 2. / 7., a * -3. / 7., a * 6. / 7.};
        double e[4], back[3], R[9], once[3], twice[3];

        mech_so3_parameters(theta, e);
        CHECK_NEAR(e[0] * e[0] + mech_v3_dot(e + 1, e + 1), 1., 1e-15);
        mech_so3_vector(e, back);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(back[i], theta[i], 1e-15 + 4e-16 * a);
        }
        /* O. Rodrigues: x + sin a n × x + (1 − cos a) n × (n × x) */
        const double n[3] = {2. / 7., -3. / 7., 6. / 7.}, x[3] = {1., 2., -0.5};
        double y[3];
        mech_so3_from_parameters(e, R);
        mech_m3_mul(R, x, y);
        mech_v3_cross(n, x, once);
        mech_v3_cross(n, once, twice);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(y[i], x[i] + sin(a) * once[i] + (1. - cos(a)) * twice[i], 4e-15);
        }
    }
}

UNIT_TESTS(UNIT_TEST(vectors_and_parameters_are_inverse), UNIT_TEST(angles_and_matrix_are_inverse),
           UNIT_TEST(the_matrix_is_the_product_of_its_three_turns),
           UNIT_TEST(a_locked_rotation_comes_back_as_the_same_matrix),
           UNIT_TEST(angles_go_on_through_a_locked_rotation),
           UNIT_TEST(cross_dot_and_transpose_keep_their_identities),
           UNIT_TEST(what_is_no_rotation_is_refused), UNIT_TEST(vectors_and_matrices_are_inverse),
           UNIT_TEST(left_jacobians_are_derivatives_and_inverse))
