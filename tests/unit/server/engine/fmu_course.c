/* Courses of inputs over a step: their values, and messages that have fewer bytes than they say. */
#include "server/engine/fmu_course.h"

#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static const double tau[] = {0., 1., 3.};
static const double samples[] = {1., -1., 5., -5., 1., 7.};
static const double cubic[] = {1., 2., 3., 4.};

static void polynomials_have_derivatives(void)
{
    const struct mechd_fmu_course c = {.elements = 1, .rows = 4, .start = 10., .values = cubic};
    // 1 + 2 τ + 3 τ² + 4 τ³ at τ = 0.5
    CHECK_NEAR(mechd_fmu_course_value(&c, 0, 10.5), 1. + 1. + 0.75 + 0.5, 1e-15);
    CHECK_NEAR(mechd_fmu_course_slope(&c, 0, 10.5, 1), 2. + 3. + 3., 1e-14);
    CHECK_NEAR(mechd_fmu_course_slope(&c, 0, 10.5, 2), 6. + 12., 1e-14);
    CHECK_NEAR(mechd_fmu_course_slope(&c, 0, 10.5, 3), 24., 1e-14);
    CU_ASSERT_EQUAL(mechd_fmu_course_slope(&c, 0, 10.5, 4), 0.);
}

static void samples_are_joined_by_straight_lines(void)
{
    const struct mechd_fmu_course c = {
        .elements = 2, .rows = 3, .start = 2., .tau = tau, .values = samples};
    static const struct {
        double time, values[2];
    } at[] = {{1., {1., -1.}}, {2., {1., -1.}}, {2.25, {2., -2.}}, {3., {5., -5.}},
              {4.5, {2., 4.}}, {5., {1., 7.}},  {9., {1., 7.}}};
    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        CHECK_NEAR(mechd_fmu_course_value(&c, 0, at[k].time), at[k].values[0], 1e-15);
        CHECK_NEAR(mechd_fmu_course_value(&c, 1, at[k].time), at[k].values[1], 1e-15);
    }
    const struct mechd_fmu_course one = {.elements = 1, .rows = 1, .tau = tau, .values = cubic};
    CU_ASSERT_EQUAL(mechd_fmu_course_value(&one, 0, 7.), 1.);
}

static void a_zero_to_which_nothing_is_added_keeps_its_sign(void)
{
    static const double zeros[] = {-0., 0., 0., 5.}, times[] = {-1., 0., 1., 2.};
    static const double through[] = {1., -0., 5., -0.};
    for (size_t rows = 1; rows <= 3; rows++) {
        const struct mechd_fmu_course c = {.elements = 1, .rows = rows, .values = zeros};
        CU_ASSERT(signbit(mechd_fmu_course_value(&c, 0, 0.)));
        CU_ASSERT(signbit(mechd_fmu_course_value(&c, 0, 0.5)));
    }
    const struct mechd_fmu_course c = {.elements = 1, .rows = 4, .values = zeros};
    CU_ASSERT(signbit(mechd_fmu_course_value(&c, 0, 0.)));
    CHECK_NEAR(mechd_fmu_course_value(&c, 0, 0.5), 0.625, 1e-15);
    const struct mechd_fmu_course s = {.elements = 1, .rows = 4, .tau = times, .values = through};
    CU_ASSERT(signbit(mechd_fmu_course_value(&s, 0, 0.)));
    CU_ASSERT(signbit(mechd_fmu_course_value(&s, 0, 2.)));
    CHECK_NEAR(mechd_fmu_course_value(&s, 0, 0.5), 2.5, 1e-15);
}

static void a_message_has_all_of_them_or_none(void)
{
    const struct mechd_fmu_course both[] = {
        {.reference = 7,
         .type = MECHD_FMU_FLOAT32,
         .elements = 2,
         .rows = 3,
         .start = 2.,
         .tau = tau,
         .values = samples},
        {.reference = 8, .type = MECHD_FMU_FLOAT64, .elements = 1, .rows = 4, .values = cubic}};
    struct mechd_pipe_message m = {.verb = 0};
    struct mechd_fmu_courses got;
    mechd_pipe_begin(&m, 1);
    mechd_fmu_courses_put(both, 2, &m);
    CU_ASSERT(mechd_fmu_courses_get(&m, &got));
    CU_ASSERT_EQUAL_FATAL(got.count, 2);
    CU_ASSERT_EQUAL(got.at[0].reference, 7);
    CU_ASSERT_EQUAL(got.at[0].type, MECHD_FMU_FLOAT32);
    CU_ASSERT_EQUAL(memcmp(got.at[0].tau, tau, sizeof tau), 0);
    CU_ASSERT_EQUAL(memcmp(got.at[0].values, samples, sizeof samples), 0);
    CU_ASSERT_EQUAL(got.at[1].rows, 4);
    CU_ASSERT_PTR_NULL(got.at[1].tau);
    CU_ASSERT_EQUAL(memcmp(got.at[1].values, cubic, sizeof cubic), 0);
    mechd_fmu_courses_fini(&got);
    // cut anywhere, with any of its first numbers beyond what is there
    const size_t whole = m.size;
    for (m.size = 0; m.size < whole; m.size++) {
        m.at = 0;
        m.failed = false;
        CU_ASSERT_FALSE(mechd_fmu_courses_get(&m, &got));
        CU_ASSERT_PTR_NULL(got.at);
    }
    for (size_t word = 0; word < 6; word++) {
        static const uint32_t huge[] = {UINT32_MAX, 0x80000000};
        unsigned char before[4];
        memcpy(before, m.bytes + 4 * word, sizeof before);
        for (size_t k = 0; word != 1 && word != 5 && k < 2; k++) { // a reference, a flag: any value
            memcpy(m.bytes + 4 * word, &huge[k], sizeof huge[k]);
            m.at = 0;
            m.failed = false;
            CU_ASSERT_FALSE(mechd_fmu_courses_get(&m, &got));
        }
        memcpy(m.bytes + 4 * word, before, sizeof before);
    }
    mechd_pipe_fini(&m);
}

UNIT_TESTS(UNIT_TEST(polynomials_have_derivatives), UNIT_TEST(samples_are_joined_by_straight_lines),
           UNIT_TEST(a_zero_to_which_nothing_is_added_keeps_its_sign),
           UNIT_TEST(a_message_has_all_of_them_or_none))
