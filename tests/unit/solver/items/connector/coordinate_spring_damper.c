/* CoordinateSpringDamper: linear form, force law, outputs, off switch. */
#include "solver/sim/analysis.h"

#include "tests/unit/model.h"

#define PAIR(spring)                                                                               \
    "{'mechd': 1, 'parameters': {'c': 2}, 'nodes': [{'name': 'a', 'type': 'Node1D',"               \
    "'referenceCoordinates': [5], 'initialCoordinates': [0.1], 'initialVelocities': [1]},"         \
    "{'name': 'b', 'type': 'Node1D', 'referenceCoordinates': [9], 'initialCoordinates': [0.4],"    \
    "'initialVelocities': [3]}], 'objects': [{'name': 'ma', 'type': 'Mass1D', 'node': 'a',"        \
    "'physicsMass': 1}, {'name': 'mb', 'type': 'Mass1D', 'node': 'b', 'physicsMass': 1},"          \
    "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['x', 'y'], " spring "}],"         \
    "'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'a'},"                      \
    "{'name': 'y', 'type': 'MarkerNodeCoordinate', 'node': 'b'}]}"

static void check_force(const char *text, double expected)
{
    struct mech_sim *const s = model_of(text);
    double f[2];

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_LHS, f), 0);
    CHECK_NEAR(f[0], -expected, 1e-13);
    CHECK_NEAR(f[1], expected, 1e-13);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_FORCE), expected, 1e-13);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_DISPLACEMENT), 0.3, 1e-15);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_VELOCITY), 2., 1e-15);
    mech_sim_destroy(s);
}

static void force_is_k_u_minus_offset_plus_d_v(void)
{
    check_force(PAIR("'stiffness': 100, 'damping': 3, 'offset': 0.05"), 100. * 0.25 + 6.);
}

static void a_law_sees_its_own_numbers_and_the_parameters(void)
{
    check_force(PAIR("'stiffness': 100, 'damping': 3, 'offset': 0.05,"
                     "'springForceUserFunction': '=c*k*u^2 + d*v*offset + t'"),
                2. * 100. * 0.09 + 3. * 2. * 0.05);
}

static void it_can_be_switched_off(void)
{
    check_force(PAIR("'stiffness': 100, 'active': false"), 0.);
    check_force(PAIR("'stiffness': 100, 'active': false, 'springForceUserFunction': '=k*u'"), 0.);
}

/* of a law that turns within 0.1 µm, and of one whose derivative by u alone is given */
static void slopes_are_those_of_the_law_at_any_scale(void)
{
    static const char *const laws[] = {
        "'=1e-5*tanh(u/1e-7)'", "{'formula': '=1e-5*tanh(u/1e-7)', 'partial': {'v': '=0'}}",
        "{'formula': '=7*u', 'partial': {'u': '=100'}}", "'=max(100*u, 100*u + u^2)'"};

    for (size_t i = 0; i < sizeof laws / sizeof *laws; i++) {
        char text[1024];
        struct mech_modes modes;

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR("", "1",
                                  ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers':"
                                  "['g', 'x'], 'springForceUserFunction': %s}",
                                  "", ""),
                 laws[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
        CU_ASSERT_EQUAL_FATAL(modes.count, 1);
        CHECK_NEAR(modes.modes[0].frequency, 10. / 6.283185307179586, 1e-13);
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
}

/* A mass under 1 N meets a force of 1 N that begins at 5 mm: it goes on as fast as it is then. */
static void newton_passes_a_law_that_jumps(void)
{
    static const char *const laws[] = {"'=u>0.005 ? 1 : 0'", "'=(u>0.005)'",
                                       "'=0.5*(1 + sign(u - 0.005))'",
                                       "'=max(0, min(1, rint(u/0.01)))'"};
    static const char *const integrators[] = {"GeneralizedAlpha", "Newmark", "HHT",
                                              "TrapezoidalIndex2", "ImplicitEuler"};

    for (size_t k = 0; k < 20; k++) {
        const char *const law = laws[k % 4], *const integrator = integrators[k / 4];
        char text[1024];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR("", "1",
                                  ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers':"
                                  "['g', 'x'], 'springForceUserFunction': %s}",
                                  "{'name': 'f', 'type': 'LoadCoordinate', 'marker': 'x', "
                                  "'load': 1}",
                                  ", 'solver': {'integrator': '%s', 'stepSize': 0.001}"),
                 law, integrator);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 500), 0);
        /* t = 0.1 s at 5 mm with 0.1 m/s; a step of the method away from it at most */
        CHECK_NEAR(model_state(s).v[0], 0.1, 2e-3);
        CHECK_NEAR(model_state(s).q[0], 0.045, 1e-3);
        mech_sim_destroy(s);
    }
}

/* Newton with either comes to the same motion, without differences. */
static void given_and_own_derivatives_agree(void)
{
    struct mech_sim *const given =
        model_of(PAIR("'stiffness': 100, 'springForceUserFunction': {'formula': '=k*u^3 + 2*v',"
                      "'partial': {'u': '=3*k*u^2', 'v': '=2'}}"));
    struct mech_sim *const own =
        model_of(PAIR("'stiffness': 100, 'springForceUserFunction': '=k*u^3 + 2*v'"));
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 500};
    struct mech_step_report a, b;

    CU_ASSERT_EQUAL(mech_sim_step(given, &r, &a), 0);
    CU_ASSERT_EQUAL(mech_sim_step(own, &r, &b), 0);
    CU_ASSERT_FALSE(a.differenced);
    CU_ASSERT_FALSE(b.differenced);
    /* both stop at residuals of 1e-10 N on 1 kg and more: 500 steps of 1e-3 s add up to far less */
    CHECK_NEAR(model_state(given).q[0], model_state(own).q[0], 1e-10);
    mech_sim_destroy(given);
    mech_sim_destroy(own);
}

/* a law that is linear steps as the linear form does */
static void a_linear_law_equals_the_linear_form(void)
{
    struct mech_sim *const law =
        model_of(PAIR("'stiffness': 100, 'damping': 3, 'springForceUserFunction': '=k*u + d*v'"));
    struct mech_sim *const form = model_of(PAIR("'stiffness': 100, 'damping': 3"));

    CU_ASSERT_EQUAL(model_steps(law, 500), 0);
    CU_ASSERT_EQUAL(model_steps(form, 500), 0);
    CHECK_NEAR(model_state(law).q[0], model_state(form).q[0], 1e-11);
    CHECK_NEAR(model_state(law).q[1], model_state(form).q[1], 1e-11);
    mech_sim_destroy(law);
    mech_sim_destroy(form);
}

UNIT_TESTS(UNIT_TEST(force_is_k_u_minus_offset_plus_d_v),
           UNIT_TEST(a_law_sees_its_own_numbers_and_the_parameters),
           UNIT_TEST(it_can_be_switched_off), UNIT_TEST(given_and_own_derivatives_agree),
           UNIT_TEST(slopes_are_those_of_the_law_at_any_scale),
           UNIT_TEST(newton_passes_a_law_that_jumps),
           UNIT_TEST(a_linear_law_equals_the_linear_form))
