/* Equations between coordinates, rolling, and one-sided distances, against closed forms. Where
 * nothing else is said: 100 steps to 1 s, generalized-α with ρ = 0.9. */
#include "tests/unit/model.h"

#include <math.h>
#include <string.h>

/* two shafts, J = 10 and 100, torque 6 on the first, with a constraint between m0 and m1 */
#define SHAFTS(constraint)                                                                         \
    "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'Node1D'}, {'name': 'n1', 'type': 'Node1D'}],"  \
    "'objects': [{'name': 'b0', 'type': 'Rotor1D', 'node': 'n0', 'physicsInertia': 10},"           \
    "{'name': 'b1', 'type': 'Rotor1D', 'node': 'n1', 'physicsInertia': 100},"                      \
    "{'name': 'gear', " constraint ", 'markers': ['m0', 'm1']}], 'markers': ["                     \
    "{'name': 'm0', 'type': 'MarkerNodeCoordinate', 'node': 'n0'},"                                \
    "{'name': 'm1', 'type': 'MarkerNodeCoordinate', 'node': 'n1'},"                                \
    "{'name': 'v0', 'type': 'MarkerNodeCoordinates', 'node': 'n0'},"                               \
    "{'name': 'v1', 'type': 'MarkerNodeCoordinates', 'node': 'n1'}], 'loads': ["                   \
    "{'name': 'T', 'type': 'LoadCoordinate', 'marker': 'm0', 'load': 6}],"                         \
    "'solver': {'stepSize': 0.01}}"

static void gears_share_the_torque(void)
{
    static const char *const models[] = {
        SHAFTS("'type': 'CoordinateConstraint', 'factorValue1': -10"),
        SHAFTS("'type': 'CoordinateVectorConstraint', 'scalingMarker0': [[-0.1]],"
               "'scalingMarker1': [[1]]"),
        SHAFTS("'type': 'CoordinateVectorConstraint', 'scalingMarker0': [[1]],"
               "'scalingMarker1': [[-10]], 'velocityLevel': true")};

    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct mech_sim *const s = model_of(models[i]);

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        /* Newton's absolute tolerance is a torque of 1e-10 on 11 kg m² */
        CHECK_NEAR(model_value(s, MECH_NODE, "n0", MECH_OUTPUT_COORDINATES_TT), 6. / 11., 1e-11);
        CHECK_NEAR(model_value(s, MECH_NODE, "n1", MECH_OUTPUT_COORDINATES_TT), -0.6 / 11., 1e-11);
        CHECK_NEAR(model_value(s, MECH_NODE, "n0", MECH_OUTPUT_COORDINATES), 3. / 11., 1e-11);
        CHECK_NEAR(model_value(s, MECH_NODE, "n1", MECH_OUTPUT_COORDINATES), -0.3 / 11., 1e-11);
        mech_sim_destroy(s);
    }
}

/* rope over a movable pulley: 2 x₀ + x₁ = 0 between masses 3 and 1 under g = 9.81 */
static void pulleys_halve_the_way(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'g', 'type': 'NodePointGround'},"
        "{'name': 'n', 'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 2}], 'objects': ["
        "{'name': 'b', 'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix': {'diag': [3, 1]},"
        "'forceVector': [29.43, 9.81]}, {'name': 'rope', 'type': 'CoordinateVectorConstraint',"
        "'markers': ['mg', 'mn'], 'scalingMarker1': [[2, 1]]}], 'markers': ["
        "{'name': 'mg', 'type': 'MarkerNodeCoordinates', 'node': 'g'},"
        "{'name': 'mn', 'type': 'MarkerNodeCoordinates', 'node': 'n'}],"
        "'solver': {'stepSize': 0.01}}");
    double x[2], tension;

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES, x);
    CHECK_NEAR(x[0], 0.5 * 9.81 / 7., 1e-12);
    CHECK_NEAR(x[1], -9.81 / 7., 1e-12);
    tension = model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE);
    /* m₁ x₁'' = m₁ g − T */
    CHECK_NEAR(tension, 9.81 * (1. + 2. / 7.), 1e-11);
    mech_sim_destroy(s);
}

/* what 2 kg on the parabola y = x² under g = 10 lose of their 20 J in 0.6 s */
static double lost_in_the_bowl(int halvings)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'g', 'type':"
             "'NodePointGround'}, {'name': 'n', 'type': 'NodePoint2D',"
             "'referenceCoordinates': [1, 1]}], 'objects': ["
             "{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2},"
             "{'name': 'bowl', 'type': 'CoordinateVectorConstraint', 'markers': ['mg', 'mn'],"
             "'scalingMarker1': [[0, -1]], 'quadraticTermMarker1': [[1, 0]]}], 'markers': ["
             "{'name': 'mg', 'type': 'MarkerNodeCoordinates', 'node': 'g'},"
             "{'name': 'mn', 'type': 'MarkerNodeCoordinates', 'node': 'n'}],"
             "'solver': {'stepSize': %.17g, 'spectralRadius': 0.95}}",
             ldexp(1e-3, -halvings));
    struct mech_sim *const s = model_of(text);
    double p[3], v[3];

    CU_ASSERT_EQUAL(model_steps(s, 600ull << halvings), 0);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_POSITION, p);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_VELOCITY, v);
    mech_sim_destroy(s);
    CHECK_NEAR(p[1], p[0] * p[0], 1e-9);
    CU_ASSERT(v[0] * v[0] > 1.);
    return 20. - (v[0] * v[0] + v[1] * v[1] + 20. * p[1]);
}

static void quadratic_terms_make_a_bowl(void)
{
    const double coarse = lost_in_the_bowl(0), fine = lost_in_the_bowl(1);

    CHECK_NEAR(coarse, 0., 1e-3);
    /* order 2 */
    CHECK_NEAR(log2(coarse / fine), 2., 0.1);
}

/* offset(t) = sin(3 t) of the velocity, or of the position */
static void offsets_drive(void)
{
    static const char *const level[] = {"false", "true"};

    for (int i = 0; i < 2; i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'parameters': {'w': 3}, 'nodes': [{'name': 'g',"
                 "'type': 'NodePointGround'}, {'name': 'n', 'type': 'Node1D',"
                 "'initialVelocities': [%d]}], 'objects': [{'name': 'b', 'type': 'Mass1D',"
                 "'node': 'n', 'physicsMass': 2}, {'name': 'drive',"
                 "'type': 'CoordinateVectorConstraint', 'markers': ['mg', 'mn'],"
                 "'scalingMarker1': [[2]], 'offset': ['=2*sin(w*t)'], 'velocityLevel': %s}],"
                 "'markers': [{'name': 'mg', 'type': 'MarkerNodeCoordinates', 'node': 'g'},"
                 "{'name': 'mn', 'type': 'MarkerNodeCoordinates', 'node': 'n'}],"
                 "'solver': {'stepSize': 0.001}}",
                 i ? 0 : 3, level[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
        /* h² ω³/12 of the rules that integrate velocities is 2e-6 */
        CHECK_NEAR(model_value(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES),
                   i ? (1. - cos(3.)) / 3. : sin(3.), i ? 3e-6 : 1e-9);
        CHECK_NEAR(model_value(s, MECH_NODE, "n", MECH_OUTPUT_COORDINATES_T),
                   i ? sin(3.) : 3. * cos(3.), i ? 1e-9 : 1e-4);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "drive", MECH_OUTPUT_CONSTRAINT_EQUATION), 0., 1e-9);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(gears_share_the_torque), UNIT_TEST(pulleys_halve_the_way),
           UNIT_TEST(quadratic_terms_make_a_bowl), UNIT_TEST(offsets_drive))
