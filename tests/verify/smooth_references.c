/* Smooth models against published numbers (Exudyn 1.11 reference solutions) and closed forms. Where
 * nothing else is said: 100 steps to 1 s, generalized-α with ρ = 0.9; agreement 1e-9, most are
 * better by orders. */
#include "tests/unit/model.h"

static const double agreement = 1e-9;

static double end_of(const char *text, uint64_t steps)
{
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, steps), 0);
    const double q = model_state(s).q[0];
    mech_sim_destroy(s);
    return q;
}

#define H100 ", 'solver': {'stepSize': 0.01}"
#define MOVING                                                                                     \
    ", 'referenceCoordinates': [1], 'initialCoordinates': [0.5], 'initialVelocities': [0.5]"

static void mass1d_moves_on(void)
{
    CHECK_NEAR(end_of(MODEL_OSCILLATOR(MOVING, "1", "", "", H100), 100), 2., agreement);
}

static void rotor1d_turns_on(void)
{
    CHECK_NEAR(end_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'" MOVING "}],"
                      "'objects': [{'name': 'r', 'type': 'Rotor1D', 'node': 'n',"
                      "'physicsInertia': 1}]" H100 "}",
                      100),
               2., agreement);
}

static void spring_damper_on_a_line(void)
{
    CHECK_NEAR(end_of(MODEL_OSCILLATOR(", 'referenceCoordinates': [1.05]", "1",
                                       ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                                       "'markers': ['g', 'x'], 'stiffness': 100, 'damping': 1,"
                                       "'offset': -0.05}",
                                       "", H100),
                      100),
               0.9733828995763039, agreement);
}

#define LAW                                                                                        \
    ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"                     \
    "'springForceUserFunction': '=0.1*k*u + k*u^3 + d*v',"

static void nonlinear_spring_settles(void)
{
    CHECK_NEAR(end_of(MODEL_OSCILLATOR("", "5", LAW "'stiffness': 5000, 'damping': 80}",
                                       "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                                       "'load': 1}",
                                       H100),
                      100),
               0.0019995154213252597, agreement);
}

static void duffing_sweep_through_resonance(void)
{
    /* f1 = √(k/m)/2π, swept to it over t1 = 50 s */
    CHECK_NEAR(end_of(MODEL_OSCILLATOR(", 'referenceCoordinates': [0.5]", "'=m'",
                                       LAW "'stiffness': '=kk', 'damping': 4}",
                                       "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                                       "'load': '=80*sin(2*pi*(sqrt(kk/m)/(2*pi)/50*0.5*t)*t)'}",
                                       ", 'parameters': {'m': 1.6, 'kk': 4000},"
                                       "'solver': {'stepSize': 0.01, 'spectralRadius': 1}"),
                      5000),
               0.5062872273010911, agreement);
}

/* the sum of the positions at 2 s for four step sizes; the length of the spring is the reference */
static void velocity_verlet_of_a_spring(void)
{
    double sum = 0.;

    for (int i = 0; i < 4; i++) {
        char text[2048];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR(", 'referenceCoordinates': [1], 'initialVelocities': [1]", "10",
                                  ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                                  "'markers': ['g', 'x'], 'stiffness': 1000}",
                                  "",
                                  ", 'solver': {'integrator': 'VelocityVerlet',"
                                  "'stepSize': %.17g}"),
                 1e-3 / (1 << i));
        sum += end_of(text, 2000u << i);
    }
    CHECK_NEAR(sum, 4.365184132226787, agreement);
}

static void generic_ode2_two_points_in_space(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'parameters': {'k': 5000, 'd': 50},"
        "'nodes': [{'name': 'a', 'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 3},"
        "{'name': 'b', 'type': 'NodeGenericODE2', 'referenceCoordinates': [1, 0, 0]}],"
        "'objects': [{'name': 'o', 'type': 'GenericODE2', 'nodes': ['a', 'b'],"
        "'massMatrix': {'diag': [0.5, 0.5, 0.5, 0.5, 0.5, 0.5]},"
        "'stiffnessMatrix': {'shape': [6, 6], 'coo': [[0,0,'=2*k'],[0,3,'=-k'],[3,0,'=-k'],"
        "[3,3,'=k'],[1,1,'=2*k'],[1,4,'=-k'],[4,1,'=-k'],[4,4,'=k'],[2,2,'=2*k'],[2,5,'=-k'],"
        "[5,2,'=-k'],[5,5,'=k']]},"
        "'dampingMatrix': {'shape': [6, 6], 'coo': [[0,0,'=2*d'],[0,3,'=-d'],[3,0,'=-d'],"
        "[3,3,'=d'],[1,1,'=2*d'],[1,4,'=-d'],[4,1,'=-d'],[4,4,'=d'],[2,2,'=2*d'],[2,5,'=-d'],"
        "[5,2,'=-d'],[5,5,'=d']]}}],"
        "'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'b'}],"
        "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 10}],"
        "'solver': {'integrator': 'TrapezoidalIndex2', 'stepSize': 0.01}}");

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_state(s).q[3], 1.0039999999354785, agreement);
    mech_sim_destroy(s);
}

static void generic_ode1_oscillates(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1',"
                 "'initialCoordinates': [1, 0]}], 'objects': [{'name': 'o', 'type': 'GenericODE1',"
                 "'nodes': ['y'], 'systemMatrix': [[0, 1], [-100, 0]], 'rhsVector': [0, 1]}],"
                 "'solver': {'integrator': 'RK44', 'stepSize': 0.01}}");

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_state(s).x[0], -0.8206847097689384, agreement);
    mech_sim_destroy(s);
}

static void static_position_by_damping(void)
{
    /* 500 s of explicit Euler; after 25 s what is left of the start has decayed by e^-62 */
    CHECK_NEAR(end_of(MODEL_OSCILLATOR(", 'referenceCoordinates': [0.5],"
                                       "'initialCoordinates': [-0.08], 'initialVelocities': [1]",
                                       "1.6",
                                       ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                                       "'markers': ['g', 'x'], 'stiffness': 4000, 'damping': 8}",
                                       "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                                       "'load': 80}",
                                       ", 'solver': {'integrator': 'ExplicitEuler',"
                                       "'stepSize': 1e-4}"),
                      5000000),
               0.52, agreement);
}

/* ẍ = −100 x as second-order and ÿ = −50 y + ½ as first-order equations of one model, m = 2 */
static void second_and_first_order_together(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [1]},"
        "{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates': [1, 0]}],"
        "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2},"
        "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
        "'stiffness': 200}, {'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'],"
        "'systemMatrix': [[0, 1], [-50, 0]], 'rhsVector': [0, 0.5]}],"
        "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"
        "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}],"
        "'solver': {'integrator': 'RK67', 'stepSize': 2e-3}}");
    const double w = sqrt(50.);

    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    CHECK_NEAR(model_state(s).q[0], 0.40808206181339224, 1e-10);
    CHECK_NEAR(model_state(s).x[0], 0.01 + 0.99 * cos(2. * w), 1e-10);
    mech_sim_destroy(s);
}

/* one link of 1 m and 10 kg from the horizontal, turned by its weight −m g (L/2) cos φ */
static void physical_pendulum_swings(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1,"
                 "'nodes': [{'name': 'n', 'type': 'Node1D'}],"
                 "'objects': [{'name': 'r', 'type': 'Rotor1D', 'node': 'n',"
                 "'physicsInertia': 3.341666666666667},"
                 "{'name': 'w', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
                 "'springForceUserFunction': '=10*9.81*0.5*cos(u)'}],"
                 "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"
                 "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}],"
                 "'solver': {'integrator': 'RK67', 'stepSize': 1e-3}}");

    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    CHECK_NEAR(model_state(s).q[0], -3.134018551808591, agreement);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(mass1d_moves_on), UNIT_TEST(rotor1d_turns_on),
           UNIT_TEST(spring_damper_on_a_line), UNIT_TEST(nonlinear_spring_settles),
           UNIT_TEST(duffing_sweep_through_resonance), UNIT_TEST(velocity_verlet_of_a_spring),
           UNIT_TEST(generic_ode2_two_points_in_space), UNIT_TEST(generic_ode1_oscillates),
           UNIT_TEST(static_position_by_damping), UNIT_TEST(second_and_first_order_together),
           UNIT_TEST(physical_pendulum_swings))
