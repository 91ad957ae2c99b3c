/* Coordinates held by constraints, taken out of a full mass matrix, against closed forms. */
#include "solver/step/pins.h"

#include "solver/base/err.h"
#include "tests/unit/compiled.h"

/* M = [2 1; 1 3] × scale, 4 x₀ = 3 held; `more` objects */
#define PINNED(masses, more)                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"                              \
    "'referenceCoordinates': [0, 0]}], 'objects': [{'name': 'o', 'type': 'GenericODE2',"           \
    "'nodes': ['n'], 'massMatrix': " masses "}" more "], 'markers': ["                             \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'},"                                             \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},"                 \
    "{'name': 'y', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 1}]}"
#define PIN(name)                                                                                  \
    ", {'name': '" name "', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"                \
    "'factorValue1': 4, 'offset': 3}"

static void check_solution(const char *text, double scale)
{
    struct mech_step_result result = {.iterations = 0};
    struct compiled c;
    struct mech_pins p;
    double q[3] = {0.}, v[3] = {5., 6., 0.}, vdot[3], lambda[1], dv[2];
    const double f[3] = {7. * scale, 11. * scale, 0.};

    compiled_open(&c, text);
    CU_ASSERT_EQUAL_FATAL(mech_pins_init(&p, c.model, NULL, true, &result), 0);
    CU_ASSERT_EQUAL_FATAL(p.count, 1);
    mech_pins_hold(&p, &c.state, 0., q, v);
    CHECK_NEAR(q[0], 0.75, 1e-15);
    CHECK_NEAR(v[0], 0., 0.);
    CHECK_NEAR(v[1], 6., 0.);
    const struct mech_eval e = mech_model_point(c.model, &c.state, 0., q, v);
    CU_ASSERT_EQUAL(mech_pins_solve(&p, &e, f, vdot, &result), 0);
    CHECK_NEAR(vdot[0], 0., 0.);
    CHECK_NEAR(vdot[1], 11. / 3., 1e-14);
    mech_pins_reactions(&p, f, vdot, lambda);
    CHECK_NEAR(lambda[0] / scale, (11. / 3. - 7.) / 4., 1e-14);
    /* 4 dv₀ = 2; M dv has an entry at x₀ alone: dv₁ = −dv₀/3 */
    CU_ASSERT_EQUAL(mech_pins_push(&p, (const double[1]){2.}, dv, &result), 0);
    CHECK_NEAR(dv[0], 0.5, 1e-15);
    CHECK_NEAR(dv[1], -0.5 / 3., 1e-15);
    mech_pins_fini(&p);
    compiled_close(&c);
}

static void what_is_free_moves_as_the_held_leave_it(void)
{
    check_solution(PINNED("[[2, 1], [1, 3]]", PIN("p")), 1.);
    check_solution(PINNED("[[2e-100, 1e-100], [1e-100, 3e-100]]", PIN("p")), 1e-100);
    check_solution(PINNED("[[2e100, 1e100], [1e100, 3e100]]", PIN("p")), 1e100);
}

static int32_t pins_of(const char *text)
{
    struct mech_step_result result = {.iterations = 0};
    struct compiled c;
    struct mech_pins p;

    compiled_open(&c, text);
    CU_ASSERT_EQUAL(mech_pins_init(&p, c.model, NULL, true, &result), 0);
    const int32_t count = p.count;
    mech_pins_fini(&p);
    compiled_close(&c);
    return count;
}

static void what_is_held_twice_or_beside_others_is_left_to_the_joints(void)
{
    CU_ASSERT_EQUAL(pins_of(PINNED("[[2, 1], [1, 3]]", "")), 0);
    CU_ASSERT_EQUAL(pins_of(PINNED("[[2, 1], [1, 3]]", PIN("p"))), 1);
    CU_ASSERT_EQUAL(pins_of(PINNED("[[2, 1], [1, 3]]", PIN("p") PIN("twice"))), 0);
    CU_ASSERT_EQUAL(pins_of(PINNED("[[2, 1], [1, 3]]",
                                   PIN("p") ", {'name': 'both', 'type': 'CoordinateConstraint',"
                                            "'markers': ['x', 'y']}")),
                    0);
}

UNIT_TESTS(UNIT_TEST(what_is_free_moves_as_the_held_leave_it),
           UNIT_TEST(what_is_held_twice_or_beside_others_is_left_to_the_joints))
