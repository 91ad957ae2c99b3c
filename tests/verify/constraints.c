/* Equations between coordinates, rolling, and one-sided distances, against closed forms. Where
 * nothing else is said: 100 steps to 1 s, generalized-α with ρ = 0.9. */
#include "solver/sim/analysis.h"
#include "tests/unit/alloc_count.h"
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
               "'scalingMarker1': [[-10]], 'velocityLevel': true"),
        SHAFTS("'type': 'CoordinateConstraint', 'factorValue1': -10, 'velocityLevel': true")};

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
    CHECK_ORDER("energy", log2(coarse / fine), 2., 0.1);
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

/* two wheels in space about parallel z axes, J = 10 and 100 kg m², torque 6 on the first by its
 * rotation coordinate, geared by angle or by speed */
static struct mech_sim *wheels(const char *gear, double speed)
{
    char text[4096];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': ["
             "{'name': 'n0', 'type': 'NodeRigidBodyEP', 'initialVelocities':"
             "[0, 0, 0, 0, 0, 0, %.17g], 'referenceCoordinates': [0, 0, 0, 1, 0, 0, 0]},"
             "{'name': 'n1', 'type': 'NodeRigidBodyEP', 'initialVelocities':"
             "[0, 0, 0, 0, 0, 0, %.17g], 'referenceCoordinates': [2, 0, 0, 1, 0, 0, 0]}],"
             "'objects': [{'name': 'g', 'type': 'Ground'},"
             "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 1,"
             "'physicsInertia': [3, 4, 10, 0, 0, 0]}, {'name': 'b1', 'type': 'RigidBody',"
             "'node': 'n1', 'physicsMass': 1, 'physicsInertia': [60, 50, 100, 0, 0, 0]},"
             "{'name': 'j0', 'type': 'RevoluteJointZ', 'markers': ['g0', 'm0']},"
             "{'name': 'j1', 'type': 'RevoluteJointZ', 'markers': ['g1', 'm1']},"
             "{'name': 'gear', 'type': 'CoordinateConstraint', 'markers': ['a0', 'a1'],"
             "'factorValue1': -10, %s}], 'markers': ["
             "{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
             "{'name': 'g1', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [2, 0, 0]},"
             "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0'},"
             "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1'},"
             "{'name': 'a0', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n0',"
             "'rotationCoordinate': 2}, {'name': 'a1', 'type': 'MarkerNodeRotationCoordinate',"
             "'node': 'n1', 'rotationCoordinate': 2}], 'loads': [{'name': 'T',"
             "'type': 'LoadCoordinate', 'marker': 'a0', 'load': 6}], 'solver': {'stepSize': 0.01}}",
             0.5 * speed, -0.05 * speed, gear);
    return model_of(text);
}

static void wheels_in_space_are_geared(void)
{
    /* by speed they may turn on past π */
    const char *const gears[] = {"'offset': 0", "'velocityLevel': true"};
    const double speeds[] = {0., 20.};

    for (int i = 0; i < 2; i++) {
        struct mech_sim *const s = wheels(gears[i], speeds[i]);
        double w[3];

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        model_values(s, MECH_OBJECT, "b0", MECH_OUTPUT_ANGULAR_VELOCITY, w);
        CHECK_NEAR(w[2], speeds[i] + 6. / 11., 1e-9);
        model_values(s, MECH_OBJECT, "b1", MECH_OUTPUT_ANGULAR_VELOCITY, w);
        CHECK_NEAR(w[2], -0.1 * (speeds[i] + 6. / 11.), 1e-9);
        /* J₁ α₁ = 10 λ */
        CHECK_NEAR(fabs(model_value(s, MECH_OBJECT, "gear", MECH_OUTPUT_FORCE)), 6. / 11., 1e-7);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "gear", MECH_OUTPUT_CONSTRAINT_EQUATION), 0., 1e-8);
        mech_sim_destroy(s);
    }
}

/* --- ropes ------------------------------------------------------------------------------------ */

/* 1 kg on a rope of 1 m from the origin, g = 10 */
static struct mech_sim *rope(const char *start, double h)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'g', 'type':"
             "'NodePointGround'}, {'name': 'n', 'type': 'NodePoint2D', %s}], 'objects': ["
             "{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1},"
             "{'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['mg', 'mn'],"
             "'distance': 1, 'unilateral': true}], 'markers': ["
             "{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},"
             "{'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],"
             "'solver': {'stepSize': %.17g}}",
             start, h);
    return model_of(text);
}

/* θ'' = −10 sin θ for a time, Runge–Kutta of order 4 in 1e4 steps; y: θ, θ' */
static void swing(double y[2], double time)
{
    const double h = time / 1e4;

    for (int i = 0; i < 10000; i++) {
        const double a = -10. * sin(y[0]), b = -10. * sin(y[0] + 0.5 * h * y[1]);
        const double c = -10. * sin(y[0] + 0.5 * h * (y[1] + 0.5 * h * a));
        const double d = -10. * sin(y[0] + h * (y[1] + 0.5 * h * b));

        y[0] += h * (y[1] + h / 6. * (a + b + c));
        y[1] += h / 6. * (a + 2. * b + 2. * c + d);
    }
}

static double angle_of(const struct mech_sim *s)
{
    double p[3];

    model_values(s, MECH_NODE, "n", MECH_OUTPUT_POSITION, p);
    return atan2(p[0], -p[1]);
}

static void a_rope_catches_what_falls(void)
{
    const double t = sqrt(2. * (0.9 + sqrt(0.99)) / 10.);
    double off[2];

    CHECK_NEAR(t, 0.615628, 5e-7);
    for (int i = 0; i < 2; i++) {
        const double h = 0.01 / (1 << i);
        struct mech_sim *const s = rope("'referenceCoordinates': [0.1, 0.9]", h);
        double p[3], v[3], y[2] = {asin(0.1), -t};

        /* free fall */
        CU_ASSERT_EQUAL(model_steps(s, 61u << i), 0);
        model_values(s, MECH_NODE, "n", MECH_OUTPUT_POSITION, p);
        CHECK_NEAR(p[1], 0.9 - 5. * 0.61 * 0.61, 1e-13);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 0., 0.);

        /* from the catch on: the radial speed is gone, the rest stays */
        CU_ASSERT_EQUAL(model_steps(s, 1u << i), 0);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE), 1., 1e-10);
        model_values(s, MECH_NODE, "n", MECH_OUTPUT_POSITION, p);
        model_values(s, MECH_NODE, "n", MECH_OUTPUT_VELOCITY, v);
        CHECK_NEAR(p[0] * v[0] + p[1] * v[1], 0., 1e-4);
        swing(y, 0.62 - t);
        CHECK_NEAR(angle_of(s), y[0], 1e-6);

        /* on the circle, without rebound */
        for (int k = 0; k < 38 << i; k++) {
            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE), 1., 1e-10);
            CU_ASSERT(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE) > 9.);
        }
        swing(y, 0.38);
        off[i] = fabs(angle_of(s) - y[0]);
        CHECK_NEAR(off[i], 0., 1e-3);
        mech_sim_destroy(s);
    }
    CHECK_ORDER("the swing through the catch", log2(off[0] / off[1]), 2., 0.3);
}

/* from the bottom with v² = 40 = 4 g L the rope slackens at cos θ = −2/3 */
static void a_rope_slackens_and_throws(void)
{
    struct mech_sim *const s =
        rope("'referenceCoordinates': [0, -1], 'initialVelocities': [6.324555320336759, 0]", 1e-3);
    double y[2] = {0., sqrt(40.)}, time = 0., p[3];

    /* when θ passes it */
    for (double step = 0.1; step > 1e-10; step *= 0.5) {
        double next[2] = {y[0], y[1]};

        swing(next, step);
        if (cos(next[0]) > -2. / 3. && next[0] < 3.) {
            memcpy(y, next, sizeof y);
            time += step;
            step *= 2.;
        }
    }
    CHECK_NEAR(y[1] * y[1], 20. / 3., 1e-6);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 50., 1e-9);
    CU_ASSERT_EQUAL(model_steps(s, 550), 0);
    const double flight = 0.55 - time;
    CU_ASSERT(flight > 0.05);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_POSITION, p);
    /* h² ω³/12 with ω = v/L = 6.3 */
    CHECK_NEAR(p[0], sin(y[0]) + flight * y[1] * cos(y[0]), 2e-5);
    CHECK_NEAR(p[1], -cos(y[0]) + flight * y[1] * sin(y[0]) - 5. * flight * flight, 2e-5);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 0., 0.);
    mech_sim_destroy(s);
}

static void a_rope_at_rest_holds(void)
{
    struct mech_sim *const s = rope("'referenceCoordinates': [0, -1]", 0.01);

    CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 10., 1e-12);
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 10., 1e-12);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_DISTANCE), 1., 1e-14);
    mech_sim_destroy(s);
}

/* 1 kg at rest and 3 kg at 4 m/s, until the rope between them is tight: 3 m/s both */
static void a_rope_balances_momentum(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodePoint'}, {'name': 'n1',"
        "'type': 'NodePoint', 'referenceCoordinates': [0.5, 0, 0], 'initialVelocities': [4, 0, 0]"
        "}], 'objects': [{'name': 'b0', 'type': 'MassPoint', 'node': 'n0', 'physicsMass': 1},"
        "{'name': 'b1', 'type': 'MassPoint', 'node': 'n1', 'physicsMass': 3},"
        "{'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 1,"
        "'unilateral': true}], 'markers': ["
        "{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'n0'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n1'}],"
        "'solver': {'stepSize': 0.01}}");
    double p[3];

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_value(s, MECH_NODE, "n0", MECH_OUTPUT_VELOCITY), 3., 1e-12);
    CHECK_NEAR(model_value(s, MECH_NODE, "n1", MECH_OUTPUT_VELOCITY), 3., 1e-12);
    model_values(s, MECH_NODE, "n0", MECH_OUTPUT_POSITION, p);
    CHECK_NEAR(p[0], 3. * (1. - 0.125), 1e-11);
    mech_sim_destroy(s);
}

/* 2 kg fall between two ropes of 5 m that hang from (−3, 0) and (3, 0): both catch at (0, −4) at
 * once, and share the weight by 2 T · 4/5 = m g */
static void two_ropes_catch_together(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D'},"
        "{'name': 'g0', 'type': 'NodePointGround', 'referenceCoordinates': [-3, 0, 0]},"
        "{'name': 'g1', 'type': 'NodePointGround', 'referenceCoordinates': [3, 0, 0]}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2},"
        "{'name': 'r0', 'type': 'DistanceConstraint', 'markers': ['m0', 'm'], 'distance': 5,"
        "'unilateral': true}, {'name': 'r1', 'type': 'DistanceConstraint', 'markers': ['m1', 'm'],"
        "'distance': 5, 'unilateral': true}], 'markers': ["
        "{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g0'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'g1'},"
        "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}],"
        "'solver': {'stepSize': 0.01}}");
    double p[3], v[3];

    CU_ASSERT_EQUAL(model_steps(s, 89), 0);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "r0", MECH_OUTPUT_FORCE), 0., 0.);
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_POSITION, p);
    model_values(s, MECH_NODE, "n", MECH_OUTPUT_VELOCITY, v);
    CHECK_NEAR(p[0], 0., 1e-10);
    CHECK_NEAR(p[1], -4., 1e-10);
    CHECK_NEAR(hypot(v[0], v[1]), 0., 1e-7);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "r0", MECH_OUTPUT_FORCE), 12.5, 1e-6);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "r1", MECH_OUTPUT_FORCE), 12.5, 1e-6);
    mech_sim_destroy(s);
}

/* a spring of 100 N/m pulls 2 kg down from −0.5 m; a rope of 1 m takes the rest, or nothing */
static void statics_find_which_ropes_act(void)
{
    for (int taut = 0; taut < 2; taut++) {
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type':"
                 "'NodePoint2D', 'referenceCoordinates': [0, -0.5]},"
                 "{'name': 'g', 'type': 'NodePointGround'}], 'objects': ["
                 "{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2},"
                 "{'name': 'k', 'type': 'CartesianSpringDamper', 'markers': ['mg', 'm'],"
                 "'stiffness': [100, 100, 0], 'offset': [0, %g, 0]},"
                 "{'name': 'rope', 'type': 'DistanceConstraint', 'markers': ['mg', 'm'],"
                 "'distance': 1, 'unilateral': true}], 'markers': ["
                 "{'name': 'mg', 'type': 'MarkerNodePosition', 'node': 'g'},"
                 "{'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}],"
                 "'solver': {'stepSize': 0.01}}",
                 taut ? -1.5 : -0.6);
        struct mech_sim *const s = model_of(text);
        struct mech_statics_report report;

        const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
        CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
        CHECK_NEAR(model_state(s).q[1], taut ? -1. : -0.8, 1e-9);
        /* 20 N of weight and 50 of the spring */
        CHECK_NEAR(model_value(s, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), taut ? 70. : 0., 1e-6);
        mech_sim_destroy(s);
    }
}

/* which rows act is part of the state: slack at the snapshot, caught afterwards */
static void ropes_restore_to_the_bit(void)
{
    static const char start[] =
        "'referenceCoordinates': [0, -1], 'initialVelocities': [6.324555320336759, 0]";
    struct mech_sim *const one = rope(start, 1e-3), *const two = rope(start, 1e-3);
    const size_t size = mech_sim_snapshot_size(one);
    void *const bytes = malloc(size);
    bool same = false;

    CU_ASSERT_EQUAL(model_steps(one, 550), 0);
    CHECK_NEAR(model_value(one, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE), 0., 0.);
    mech_sim_snapshot_write(one, bytes);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(two, bytes, size, &same), 0);
    alloc_count_start();
    const int code = model_steps(one, 1000);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CU_ASSERT_EQUAL(code, 0);
    CU_ASSERT_EQUAL(model_steps(two, 1000), 0);
    CU_ASSERT(model_value(one, MECH_OBJECT, "rope", MECH_OUTPUT_FORCE) > 0.);
    CU_ASSERT(memcmp(model_state(one).q, model_state(two).q, 2 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(one).v, model_state(two).v, 2 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(one).lambda, model_state(two).lambda, sizeof(double)) == 0);
    free(bytes);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

/* --- rolling ---------------------------------------------------------------------------------- */

/* A disc of 1 kg and radius 0.5, leaning by `lean`, whose center begins on a circle of radius 2 and
 * rolls about its center at `rate`, on the plane z = 0 under g = 9.81. Inertia 1/8 and 1/16 kg m².
 */
static struct mech_sim *disc(double lean, double rate, double h, const char *more)
{
    const double r = 0.5, R = 2., w = cos(0.5 * lean), y = -sin(0.5 * lean);
    /* about the axis and about the disc's own upwards direction; the rest is rolling */
    const double spin = -rate * R / r, up = rate * cos(lean);
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
             "'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, 0, %.17g, %.17g, 0, %.17g, 0],"
             "'initialVelocities': [0, %.17g, 0, 0, %.17g, 0, %.17g]}], 'objects': ["
             "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
             "'physicsMass': 1, 'physicsInertia': [0.125, 0.0625, 0.0625, 0, 0, 0]},"
             "{'name': 'roll', 'type': 'RollingDisc', 'markers': ['mg', 'mb'], 'discRadius': 0.5}],"
             "'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'},"
             "{'name': 'mb', 'type': 'MarkerBodyRigid', 'object': 'b'}],"
             "'solver': {'stepSize': %.17g%s}}",
             R, r * cos(lean), w, y, rate * R, 0.5 * (w * spin + y * up), 0.5 * (w * up - y * spin),
             h, more);
    return model_of(text);
}

/* Ω² = m g r tan β/(C ρ/r + A sin β + m r ρ): moments about the center in steady motion */
static double steady_rate(double lean)
{
    return sqrt(9.81 * 0.5 * tan(lean) / (0.125 * 2. / 0.5 + 0.0625 * sin(lean) + 0.5 * 2.));
}

static void a_disc_rolls_in_a_circle(void)
{
    const double lean = 0.3, rate = steady_rate(lean);
    struct mech_sim *const s = disc(lean, rate, 1e-3, "");
    double p[3], f[3];

    for (int i = 1; i <= 4; i++) {
        CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
        /* h² times rates of some 10/s, growing with the way */
        CHECK_NEAR(p[0], 2. * cos(rate * i), 1e-4);
        CHECK_NEAR(p[1], 2. * sin(rate * i), 1e-4);
        CHECK_NEAR(p[2], 0.5 * cos(lean), 1e-5);
        /* across: the centripetal force; upwards: the weight */
        model_values(s, MECH_OBJECT, "roll", MECH_OUTPUT_FORCE_LOCAL, f);
        CHECK_NEAR(fabs(f[0]), 2. * rate * rate, 1e-3);
        CHECK_NEAR(f[1], 0., 1e-3);
        CHECK_NEAR(f[2], 9.81, 1e-3);
        model_values(s, MECH_OBJECT, "roll", MECH_OUTPUT_CONSTRAINT_EQUATION, f);
        CHECK_NEAR(f[0], 0., 1e-9);
        CHECK_NEAR(f[1], 0., 1e-9);
        CHECK_NEAR(f[2], 0., 1e-9);
        model_values(s, MECH_OBJECT, "roll", MECH_OUTPUT_POSITION, p);
        CHECK_NEAR(p[2], 0., 1e-9);
    }
    mech_sim_destroy(s);
}

/* energy that a wobbling disc loses, largest in 1 s; at index 3 and 2 */
static double lost_in_a_wobble(int halvings, const char *more)
{
    struct mech_sim *const s = disc(0.3, 1.2 * steady_rate(0.3), ldexp(2e-3, -halvings), more);
    const double begin = mech_sim_energy(s);
    double worst = 0., low = 1., high = 0., p[3];

    for (int i = 0; i < 50; i++) {
        CU_ASSERT_EQUAL(model_steps(s, 10u << halvings), 0);
        worst = fmax(worst, fabs(mech_sim_energy(s) - begin));
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
        low = fmin(low, p[2]);
        high = fmax(high, p[2]);
    }
    /* it wobbles */
    CU_ASSERT(high - low > 0.005);
    mech_sim_destroy(s);
    return worst;
}

static void a_wobbling_disc_keeps_its_energy(void)
{
    const char *const schemes[] = {"", ", 'integrator': 'TrapezoidalIndex2'"};

    for (int i = 0; i < 2; i++) {
        const double coarse = lost_in_a_wobble(0, schemes[i]);
        const double fine = lost_in_a_wobble(1, schemes[i]);

        CHECK_NEAR(coarse, 0., 1e-3);
        CHECK_ORDER(i ? "energy, TrapezoidalIndex2" : "energy, GeneralizedAlpha",
                    log2(coarse / fine), 2., 0.3);
    }
}

/* upright and driven by a torque T about its axis: a = T r/(J + m r²), the track along y */
static void a_wheel_accelerates(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
        "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0],"
        "'initialVelocities': [0, 1, 0, 0, -1, 0, 0]}], 'objects': ["
        "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"
        "'physicsMass': 1, 'physicsInertia': [0.125, 0.0625, 0.0625, 0, 0, 0]},"
        "{'name': 'roll', 'type': 'RollingDisc', 'markers': ['mg', 'mb'], 'discRadius': 0.5}],"
        "'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'},"
        "{'name': 'mb', 'type': 'MarkerBodyRigid', 'object': 'b'}], 'loads': [{'name': 'T',"
        "'type': 'LoadTorqueVector', 'marker': 'mb', 'load': [-3, 0, 0]}],"
        "'solver': {'stepSize': 0.01}}");
    const double a = 3. * 0.5 / (0.125 + 0.25);
    double p[3], v[3], f[3];

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_VELOCITY, v);
    model_values(s, MECH_OBJECT, "roll", MECH_OUTPUT_FORCE_LOCAL, f);
    CHECK_NEAR(p[0], 0., 1e-12);
    CHECK_NEAR(p[1], 1. + 0.5 * a, 1e-9);
    CHECK_NEAR(p[2], 0.5, 1e-12);
    CHECK_NEAR(v[1], 1. + a, 1e-9);
    CHECK_NEAR(fabs(f[1]), a, 1e-9);
    CHECK_NEAR(f[2], 9.81, 1e-9);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(gears_share_the_torque), UNIT_TEST(pulleys_halve_the_way),
           UNIT_TEST(quadratic_terms_make_a_bowl), UNIT_TEST(offsets_drive),
           UNIT_TEST(a_rope_catches_what_falls), UNIT_TEST(a_rope_slackens_and_throws),
           UNIT_TEST(a_rope_at_rest_holds), UNIT_TEST(a_rope_balances_momentum),
           UNIT_TEST(ropes_restore_to_the_bit), UNIT_TEST(a_disc_rolls_in_a_circle),
           UNIT_TEST(a_wobbling_disc_keeps_its_energy), UNIT_TEST(a_wheel_accelerates),
           UNIT_TEST(wheels_in_space_are_geared), UNIT_TEST(two_ropes_catch_together),
           UNIT_TEST(statics_find_which_ropes_act))
