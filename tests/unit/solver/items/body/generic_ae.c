/* Equations between the coordinates of nodes against closed forms. */
#include "tests/unit/model.h"

/* two masses of 1 and 3 kg on a line each, and what holds them */
#define PAIR(equation)                                                                             \
    "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'Node1D'}, {'name': 'b', 'type': 'Node1D',"      \
    "'referenceCoordinates': [2], 'initialCoordinates': [-2]}], 'objects': [{'name': 'm',"         \
    "'type': 'Mass1D', 'node': 'a', 'physicsMass': 1}, {'name': 'n', 'type': 'Mass1D',"            \
    "'node': 'b', 'physicsMass': 3}, {'name': 'c', 'type': 'GenericAE', 'nodes': ['a', "           \
    "'b']," equation "}], 'parameters': {'k': 0.4}, 'solver': {'spectralRadius': 0.9,"             \
    "'stepSize': 0.001}}"

static double at_end(const char *text, double *second, double *force)
{
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    const double first = model_state(s).q[0];
    *second = model_state(s).q[1];
    *force = model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_FORCE);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_CONSTRAINT_EQUATION), 0., 1e-9);
    mech_sim_destroy(s);
    return first;
}

/* q_a + 2 q_b = r(t) = k (1 − cos 3t): λ = r̈/(1 + 4/3), q_a = r/(7/3), q_b = 2/3 q_a */
static void a_weighted_sum_follows_its_function(void)
{
    const double r = 0.4 * (1. - cos(3.)), curvature = 0.4 * 9. * cos(3.);
    double second, force;
    const double first = at_end(
        PAIR("'constraintMatrix': [[1, 2]], 'rhsVector': ['=k*(1-cos(3*t))']"), &second, &force);

    /* the scheme's error at h = 1e-3, of second order */
    CHECK_NEAR(first, r / (7. / 3.), 1e-6);
    CHECK_NEAR(second, 2. / 3. * r / (7. / 3.), 1e-6);
    CHECK_NEAR(force, -curvature / (7. / 3.), 1e-4);
}

/* v_a + 2 v_b = k t at velocity level: λ = k/(7/3), q_a = ½ k t²/(7/3) */
static void velocities_follow_theirs(void)
{
    double second, force;
    const double first =
        at_end(PAIR("'constraintMatrix': [[1, 2]], 'rhsVector': ['=k*t'], 'velocityLevel': true"),
               &second, &force);

    CHECK_NEAR(first, 0.2 / (7. / 3.), 1e-9);
    CHECK_NEAR(second, 2. / 3. * first, 1e-9);
    CHECK_NEAR(force, -0.4 / (7. / 3.), 1e-9);
}

/* as many equations as coordinates: both move as prescribed, whatever their masses */
static void several_equations_hold_together(void)
{
    double second, force;
    const double first = at_end(
        PAIR("'constraintMatrix': [[1, 1], [1, -1]], 'rhsVector': ['=t^2', 0]"), &second, &force);

    CHECK_NEAR(first, 0.5, 1e-9);
    CHECK_NEAR(second, 0.5, 1e-9);
    /* λ₀ + λ₁ = 1 · 1, λ₀ − λ₁ = 3 · 1 */
    CHECK_NEAR(force, -2., 1e-6);
}

static void equations_that_do_not_fit_are_named(void)
{
    CU_ASSERT(model_refused(PAIR("'constraintMatrix': [[1, 2, 3]]"), "/objects/2/constraintMatrix",
                            "1 x 3"));
    CU_ASSERT(model_refused(PAIR("'constraintMatrix': [[1, 2]], 'rhsVector': [1, 2]"),
                            "/objects/2/rhsVector", "2 numbers"));
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'}], 'objects': [{"
        "'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"
        "[1, 1, 1, 0, 0, 0]}, {'name': 'c', 'type': 'GenericAE', 'nodes': ['n'],"
        "'constraintMatrix': [[1, 0, 0, 0, 0, 0]]}]}",
        "/objects/1", "second-order"));
}

UNIT_TESTS(UNIT_TEST(a_weighted_sum_follows_its_function), UNIT_TEST(velocities_follow_theirs),
           UNIT_TEST(several_equations_hold_together),
           UNIT_TEST(equations_that_do_not_fit_are_named))
