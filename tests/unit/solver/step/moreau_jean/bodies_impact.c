/* What is left of a step's contacts. */
#include "solver/step/moreau_jean/bodies.h"

#include "tests/unit/unit.h"

#include <math.h>

/* two contacts of masses of 1 kg, each with a velocity of its own */
static double miss(double *P, double *v)
{
    double N[4] = {1., 0., 0., 1.}, value[2] = {1., 1.}, zeros[2] = {0.}, c[2], q[2], noise[2];
    int32_t start[3] = {0, 1, 2}, column[2] = {0, 1};
    struct mech_set set[2] = {{.kind = MECH_SET_UNILATERAL, .rows = 1},
                              {.kind = MECH_SET_UNILATERAL, .rows = 1}};
    struct mech_moreau_bodies s = {
        .N = {.kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .symmetric = true, .values = N},
        .impacts = {.count = 2,
                    .sets = 2,
                    .set = set,
                    .start = start,
                    .column = column,
                    .value = value,
                    .b = zeros,
                    .E = zeros,
                    .P = P},
        .c = c,
        .q = q,
        .zero = zeros,
        .noise = noise};

    CU_ASSERT_EQUAL_FATAL(mech_acceptance_create(2, &s.accept), 0);
    const double most = mech_moreau_bodies_miss(&s, v);

    mech_acceptance_destroy(s.accept);
    return most;
}

/* pushed at 1 m/s, half of which is left: q = −1 m/s */
static void contacts_miss_beside_their_data(void)
{
    CHECK_NEAR(miss((double[2]){1., 0.}, (double[2]){0., 0.}), 0., 0.);
    CHECK_NEAR(miss((double[2]){0.5, 0.}, (double[2]){-0.5, 0.}), 0.5, 1e-15);
}

/* what is left of an impulse where a body flies off at 0.5 m/s */
static void impulses_that_nothing_asks_for_miss_beside_the_speeds(void)
{
    CHECK_NEAR(miss((double[2]){1e-9, 0.}, (double[2]){0.5, 0.}), 2e-9, 1e-20);
    CHECK_NEAR(miss((double[2]){1e-13, 0.}, (double[2]){0.5, 0.}), 0., 0.);
}

static void what_is_not_a_number_is_not_hidden(void)
{
    CU_ASSERT(isnan(miss((double[2]){0.5, 0.5}, (double[2]){NAN, -0.5})));
    CU_ASSERT(isnan(miss((double[2]){0.5, 0.5}, (double[2]){-0.5, NAN})));
}

UNIT_TESTS(UNIT_TEST(contacts_miss_beside_their_data),
           UNIT_TEST(impulses_that_nothing_asks_for_miss_beside_the_speeds),
           UNIT_TEST(what_is_not_a_number_is_not_hidden))
