/* Angles of bodies in the plane and of rotors, whose coordinates count turns: what they are at the
 * start, when the state is set and after steps of any size. */
#include "tests/unit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846
#define TURN (2. * PI)

/* whose axis k is z of the body, by rows */
static const char *const frames[] = {"[[0, 1, 0], [0, 0, 1], [1, 0, 0]]",
                                     "[[0, 0, 1], [1, 0, 0], [0, 1, 0]]",
                                     "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"};

struct scene {
    const char *reference, *displacement, *velocity; /* of both nodes: x, y, angle */
    const char *markers;                             /* of springs */
    double size;                                     /* of a step, s */
};

/* Bodies in the plane on nodes n0, at 3 rad, and n1; between markers a spring, and bushings that
 * measure, whose axis 0, 1, 2 is z, by Tait–Bryan angles (t0 …) and rotation vectors (r0 …). */
static struct mech_sim *plane(const struct scene *c, double stiffness)
{
    char *const text = malloc(1 << 15);
    int n = snprintf(
        text, 1 << 15,
        "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodeRigidBody2D',"
        "'referenceCoordinates': [0, 0, 3], 'initialCoordinates': [0, 0, 0]},"
        "{'name': 'n1', 'type': 'NodeRigidBody2D', 'referenceCoordinates': %s,"
        "'initialCoordinates': %s, 'initialVelocities': %s}], 'markers': ["
        "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0'},"
        "{'name': 'm1', 'type': 'MarkerNodeRigid', 'node': 'n1'},"
        "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}], 'sensors': ["
        "{'name': 's0', 'type': 'SensorBody', 'object': 'b1', 'outputVariable': 'Rotation'},"
        "{'name': 's1', 'type': 'SensorNode', 'node': 'n1', 'outputVariable': 'Rotation'},"
        "{'name': 's2', 'type': 'SensorMarker', 'marker': 'm1', 'outputVariable': 'Rotation'}],"
        "'solver': {'stepSize': %g, 'spectralRadius': 1}, 'objects': [{'name': 'g', 'type': "
        "'Ground'},"
        "{'name': 'b0', 'type': 'RigidBody2D', 'node': 'n0', 'physicsMass': 1, "
        "'physicsInertia': 1e9},"
        "{'name': 'b1', 'type': 'RigidBody2D', 'node': 'n1', 'physicsMass': 1, "
        "'physicsInertia': 0.5},"
        "{'name': 'spring', 'type': 'TorsionalSpringDamper', 'markers': %s, 'stiffness': %g}",
        c->reference, c->displacement, c->velocity, c->size, c->markers, stiffness);

    for (int k = 0; k < 6; k++) {
        n += snprintf(text + n, (size_t)((1 << 15) - n),
                      ", {'name': '%c%d', 'type': 'RigidBodySpringDamper', 'markers': %s,"
                      "'intrinsicFormulation': %s, 'rotationMarker0': %s, 'rotationMarker1': %s}",
                      k < 3 ? 't' : 'r', k % 3, c->markers, k < 3 ? "false" : "true", frames[k % 3],
                      frames[k % 3]);
    }
    (void)snprintf(text + n, (size_t)((1 << 15) - n), "]}");
    struct mech_sim *const s = model_of(text);
    free(text);
    return s;
}

/* All springs at an angle, all sensors at another. */
static void check_angles(const struct mech_sim *s, double angle, double total)
{
    static const char *const bushings[] = {"t0", "t1", "t2", "r0", "r1", "r2"};
    const double bar = 1e-14 * (1. + fabs(angle) + fabs(total));
    double x[6];

    CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION), angle, bar);
    for (int k = 0; k < 6; k++) {
        double expected[3] = {0.};

        expected[k % 3] = angle;
        model_values(s, MECH_OBJECT, bushings[k], MECH_OUTPUT_ROTATION, x);
        CHECK_NEAR(model_distance(x, expected, 3), 0., 10. * bar);
    }
    const double shown[3] = {0., 0., total};
    CHECK_NEAR(model_value(s, MECH_SENSOR, "s0", MECH_OUTPUT_ROTATION), total, bar);
    model_values(s, MECH_SENSOR, "s1", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, shown, 3), 0., bar);
    model_values(s, MECH_SENSOR, "s2", MECH_OUTPUT_ROTATION, x);
    CHECK_NEAR(model_distance(x, shown, 3), 0., bar);
}

static void turns_at_the_start_count(void)
{
    const struct {
        struct scene scene;
        double angle, total;
    } cases[] = {
        {{"[0, 0, 0.3]", "[0, 0, 40]", "[0, 0, 0]", "['mg', 'm1']", 1e-3}, 40.3, 40.3},
        {{"[0, 0, 0.3]", "[0, 0, 40]", "[0, 0, 0]", "['m1', 'mg']", 1e-3}, -40.3, 40.3},
        {{"[0, 0, 0]", "[0, 0, -23]", "[0, 0, 0]", "['mg', 'm1']", 1e-3}, -23., -23.},
        /* in the reference by less than half a turn, whatever the coordinates count there */
        {{"[0, 0, -3]", "[0, 0, 0]", "[0, 0, 0]", "['m0', 'm1']", 1e-3}, TURN - 6., -3.},
        {{"[0, 0, -3]", "[0, 0, 40]", "[0, 0, 0]", "['m0', 'm1']", 1e-3}, TURN + 34., 37.},
        {{"[0, 0, 9]", "[0, 0, 1e4]", "[0, 0, 0]", "['m0', 'm1']", 1e-3}, 1e4 + 6. - TURN, 10009.},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mech_sim *const s = plane(&cases[i].scene, 0.);

        check_angles(s, cases[i].angle, cases[i].total);
        CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        check_angles(s, cases[i].angle, cases[i].total);
        mech_sim_destroy(s);
    }
}

static void a_spring_wound_at_the_start_unwinds(void)
{
    struct mech_sim *const s =
        plane(&(struct scene){"[0, 0, 0]", "[0, 0, 40]", "[0, 0, 0]", "['mg', 'm1']", 1e-3}, 2.);

    /* ω = 2 rad/s; order 2: (ω h)²/12 of the phase */
    for (int k = 1; k <= 6; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 500), 0);
        CHECK_NEAR(model_state(s).q[5], 40. * cos((double)k), 40. * 6. * 4e-6 / 12.);
    }
    mech_sim_destroy(s);
}

/* Whatever they were before. */
static void a_state_that_is_set_has_its_turns(void)
{
    struct mech_sim *const s =
        plane(&(struct scene){"[0, 0, 0]", "[0, 0, 40]", "[0, 0, 0]", "['mg', 'm1']", 1e-3}, 0.);
    const double angles[] = {-25., 3., 1e5, 0.};

    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        const double q[6] = {0., 0., 3., 0., 0., angles[i]};

        CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = q}), 0);
        check_angles(s, angles[i], angles[i]);
        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        check_angles(s, angles[i], angles[i]);
    }
    mech_sim_destroy(s);
}

/* 10 rad a step */
static void a_step_may_have_more_than_a_turn(void)
{
    struct mech_sim *const s =
        plane(&(struct scene){"[0, 0, 0]", "[0, 0, 0]", "[0, 0, 1000]", "['mg', 'm1']", 0.01}, 0.);

    for (int k = 1; k <= 20; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        const double phi = model_state(s).q[5];

        CHECK_NEAR(phi, 10. * k, 1e-10);
        check_angles(s, phi, phi);
    }
    mech_sim_destroy(s);
}

/* Rotors on one axis, z of frame k, the second frame turned by half a turn about it: 3.5 turns and
 * π; with markers exchanged π less 3.5 turns. */
static void rotors_count_turns(void)
{
    for (int k = 0; k < 6; k++) {
        char text[4096];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'Node1D'}, {'name': 'n1', 'type': "
                 "'Node1D', 'initialCoordinates': [%.17g]}], 'markers': ["
                 "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0'},"
                 "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1'}], 'objects': ["
                 "{'name': 'b0', 'type': 'Rotor1D', 'node': 'n0', 'physicsInertia': 2,"
                 "'referenceRotation': %s}, {'name': 'b1', 'type': 'Rotor1D', 'node': 'n1',"
                 "'physicsInertia': 3, 'referenceRotation': %s},"
                 "{'name': 'spring', 'type': 'TorsionalSpringDamper', 'markers': [%s],"
                 "'rotationMarker1': [[-1, 0, 0], [0, -1, 0], [0, 0, 1]]}]}",
                 7. * PI, frames[k % 3], frames[k % 3], k < 3 ? "'m0', 'm1'" : "'m1', 'm0'");
        struct mech_sim *const s = model_of(text);

        CHECK_NEAR(model_value(s, MECH_OBJECT, "spring", MECH_OUTPUT_ROTATION),
                   k < 3 ? 8. * PI : -6. * PI, 1e-13);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(turns_at_the_start_count), UNIT_TEST(a_spring_wound_at_the_start_unwinds),
           UNIT_TEST(a_state_that_is_set_has_its_turns),
           UNIT_TEST(a_step_may_have_more_than_a_turn), UNIT_TEST(rotors_count_turns))
