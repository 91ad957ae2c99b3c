/* Contacts that cannot all be satisfied end the step with their names, with any solver, and leave
 * the state unchanged. */
#include "tests/unit/model.h"

static const char *const solvers[] = {"",
                                      ", 'theta': 1",
                                      ", 'vi': {'type': 'psor'}",
                                      ", 'vi': {'type': 'nsgs'}",
                                      ", 'vi': {'type': 'apgd'}",
                                      ", 'vi': {'type': 'admm'}",
                                      ", 'vi': {'type': 'semismooth'}"};
enum { SOLVERS = sizeof solvers / sizeof *solvers };

/* Steps of 0.01 s until one is refused, within 1 s: with both pairs in the reason, and the state as
 * it was. */
static void must_end(struct mech_sim *s, const char *const pairs[2])
{
    const struct mech_step_request one = {.kind = MECH_STEP_SIZE, .size = 0.01};
    const size_t size = (size_t)mech_sim_sizes(s).q * sizeof(double);
    struct mech_step_report report = {.steps = 0};
    double *const before = malloc(size);
    int code = 0;

    for (int i = 0; i < 100 && code == 0; i++) {
        memcpy(before, model_state(s).q, size);
        code = mech_sim_step(s, &one, &report);
    }
    CU_ASSERT_EQUAL(code, MECH_VI_NOT_CONVERGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, pairs[0]));
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, pairs[1]));
    CU_ASSERT_EQUAL(memcmp(before, model_state(s).q, size), 0);
    free(before);
}

/* a ball on the ground, and a lid that is led down on it at 0.5 m/s: they meet at t = 0.2 */
static void a_ball_under_a_lid_that_is_led_down_is_not_crushed(void)
{
    for (int k = 0; k < SOLVERS; k++) {
        char text[4096];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'bn', 'type': 'NodeRigidBodyEP',"
                 "'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0]}, {'name': 'ln', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 1.2, 1, 0, 0, 0],"
                 "'initialVelocities': [0, 0, -0.5, 0, 0, 0, 0]}], 'markers': [{'name': 'g',"
                 "'type': 'MarkerGroundCoordinate'}, {'name': 'm', 'type': 'MarkerNodeCoordinate',"
                 "'node': 'ln', 'coordinate': 2}], 'objects': [{'name': 'ground', 'type': 'Ground',"
                 "'geometry': [{'shape': 'Plane'}]}, {'name': 'ball', 'type': 'RigidBody', 'node':"
                 "'bn', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0], 'geometry':"
                 "[{'shape': 'Sphere', 'radius': 0.5}]}, {'name': 'lid', 'type': 'RigidBody',"
                 "'node': 'ln', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0],"
                 "'geometry': [{'shape': 'Box', 'size': [1, 1, 0.2]}]}, {'name': 'down', 'type':"
                 "'CoordinateConstraint', 'markers': ['g', 'm'], 'offsetUserFunction': '=-0.5*t',"
                 "'offsetUserFunction_t': '=-0.5+0*t'}], 'contact': {'jointed': true}, 'solver':"
                 "{'integrator': 'MoreauJean', 'stepSize': 0.01%s}}",
                 solvers[k]);
        struct mech_sim *const s = model_of(text);

        must_end(s, (const char *const[2]){"\"ground\"–\"ball\"", "\"ball\"–\"lid\""});
        CHECK_NEAR(model_state(s).q[9], 1.1, 0.011);
        mech_sim_destroy(s);
    }
}

/* a bead at rest between two walls that are led together, from 0.3 m on each side at 0.5 m/s: they
 * meet it at t = 0.4 */
static void a_bead_between_walls_that_close_is_not_run_through(void)
{
    for (int k = 0; k < SOLVERS; k++) {
        char text[4096];

        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'gravity': [0, 0, 0], 'nodes': [{'name': 'bn', 'type': 'NodePoint'},"
            "{'name': 'ln', 'type': 'NodePoint', 'referenceCoordinates': [-0.4, 0, 0],"
            "'initialVelocities': [0.5, 0, 0]}, {'name': 'rn', 'type': 'NodePoint',"
            "'referenceCoordinates': [0.4, 0, 0], 'initialVelocities': [-0.5, 0, 0]}],"
            "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'l', 'type':"
            "'MarkerNodeCoordinate', 'node': 'ln', 'coordinate': 0}, {'name': 'r', 'type':"
            "'MarkerNodeCoordinate', 'node': 'rn', 'coordinate': 0}], 'objects': [{'name':"
            "'bead', 'type': 'MassPoint', 'node': 'bn', 'physicsMass': 0.1, 'geometry': [{"
            "'shape': 'Sphere', 'radius': 0.1}]}, {'name': 'left', 'type': 'MassPoint', 'node':"
            "'ln', 'physicsMass': 1, 'geometry': [{'shape': 'Box', 'size': [0.2, 1, 1]}]},"
            "{'name': 'right', 'type': 'MassPoint', 'node': 'rn', 'physicsMass': 1, 'geometry':"
            "[{'shape': 'Box', 'size': [0.2, 1, 1]}]}, {'name': 'in', 'type':"
            "'CoordinateConstraint', 'markers': ['g', 'l'], 'offsetUserFunction': '=0.5*t',"
            "'offsetUserFunction_t': '=0.5+0*t'}, {'name': 'out', 'type':"
            "'CoordinateConstraint', 'markers': ['g', 'r'], 'offsetUserFunction': '=-0.5*t',"
            "'offsetUserFunction_t': '=-0.5+0*t'}], 'contact': {'jointed': true}, 'solver':"
            "{'integrator': 'MoreauJean', 'stepSize': 0.01%s}}",
            solvers[k]);
        struct mech_sim *const s = model_of(text);

        must_end(s, (const char *const[2]){"\"bead\"–\"left\"", "\"bead\"–\"right\""});
        CHECK_NEAR(model_state(s).q[0], 0., 0.011);
        CHECK_NEAR(model_state(s).q[3], -0.2, 0.011);
        mech_sim_destroy(s);
    }
}

/* The same bead in touch with both walls, which are led along x; it slides past them at `fast`,
 * with friction, and is pulled to the right. */
static struct mech_sim *sliding_bead(double fast, const double walls[2], double pull,
                                     const char *solver)
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'gravity': [%g, 0, 0], 'materials': [{'name': 'rough', 'friction': 0.2}],"
        "'nodes': [{'name': 'bn', 'type': 'NodePoint', 'initialVelocities': [0, %g, 0]},"
        "{'name': 'ln', 'type': 'NodePoint', 'referenceCoordinates': [-0.2, 0, 0],"
        "'initialVelocities': [%g, 0, 0]}, {'name': 'rn', 'type': 'NodePoint',"
        "'referenceCoordinates': [0.2, 0, 0], 'initialVelocities': [%g, 0, 0]}],"
        "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'l', 'type':"
        "'MarkerNodeCoordinate', 'node': 'ln', 'coordinate': 0}, {'name': 'r', 'type':"
        "'MarkerNodeCoordinate', 'node': 'rn', 'coordinate': 0}], 'objects': [{'name':"
        "'bead', 'type': 'MassPoint', 'node': 'bn', 'physicsMass': 0.1, 'geometry': [{"
        "'shape': 'Sphere', 'radius': 0.1, 'material': 'rough'}]}, {'name': 'left', 'type':"
        "'MassPoint', 'node': 'ln', 'physicsMass': 1, 'geometry': [{'shape': 'Box', 'size':"
        "[0.2, 1e6, 1], 'material': 'rough'}]}, {'name': 'right', 'type': 'MassPoint', 'node':"
        "'rn', 'physicsMass': 1, 'geometry': [{'shape': 'Box', 'size': [0.2, 1e6, 1],"
        "'material': 'rough'}]}, {'name': 'in', 'type': 'CoordinateConstraint', 'markers':"
        "['g', 'l'], 'offsetUserFunction': '=%g*t', 'offsetUserFunction_t': '=%g+0*t'},"
        "{'name': 'out', 'type': 'CoordinateConstraint', 'markers': ['g', 'r'],"
        "'offsetUserFunction': '=%g*t', 'offsetUserFunction_t': '=%g+0*t'}],"
        "'contact': {'jointed': true}, 'solver': {'integrator': 'MoreauJean', 'stepSize':"
        "0.01%s}}",
        pull, fast, walls[0], walls[1], walls[0], walls[0], walls[1], walls[1], solver);
    return model_of(text);
}

/* From 1e-14 of the slide on, where less is rounding of it; also beside what presses more. */
static void walls_that_close_hold_a_bead_however_fast_it_slides(void)
{
    static const struct {
        double fast, closing, pull; /* m/s, m/s, m/s² */
    } at[] = {{1e-3, 1e-12, 0.}, {1e-3, 1., 0.},   {1., 1e-12, 0.}, {1., 1e-5, 0.},  {1., 1., 0.},
              {100., 1e-6, 0.},  {1e3, 1e-9, 0.},  {1e6, 1e-7, 0.}, {1e6, 1e-3, 0.}, {1e6, 1., 0.},
              {0., 1e-6, 9.81},  {1., 1e-6, 9.81}, {1., 1e-5, 9.81}};

    for (size_t k = 0; k < SOLVERS * sizeof at / sizeof *at; k++) {
        const size_t i = k / SOLVERS;
        struct mech_sim *const s =
            sliding_bead(at[i].fast, (double[2]){at[i].closing, -at[i].closing}, at[i].pull,
                         solvers[k % SOLVERS]);

        must_end(s, (const char *const[2]){"\"bead\"–\"left\"", "\"bead\"–\"right\""});
        CHECK_NEAR(mech_sim_time(s), 0., 0.);
        mech_sim_destroy(s);
    }
}

/* One wall flees as fast as the other follows: that has a solution, which is stepped. */
static void walls_that_move_together_take_a_bead_along(void)
{
    static const double fast[] = {1e-3, 1., 100., 1e4};

    for (size_t k = 0; k < SOLVERS * sizeof fast / sizeof *fast; k++) {
        const struct mech_step_request steps = {.kind = MECH_STEP_COUNT, .count = 5};
        struct mech_step_report report = {.steps = 0};
        struct mech_sim *const s =
            sliding_bead(fast[k / SOLVERS], (double[2]){0.01, 0.01}, 0., solvers[k % SOLVERS]);

        CU_ASSERT_EQUAL(mech_sim_step(s, &steps, &report), 0);
        CHECK_NEAR(model_state(s).v[0], 0.01, 1e-9);
        mech_sim_destroy(s);
    }
}

/* A ball and a wall, both led along x by the same motion, written in two ways: the speed at which
 * they close is rounding, and no impulse changes it. */
static void what_closes_by_rounding_alone_is_stepped(void)
{
    static const double fast[] = {1e-4, 1e-3, 1e-2};
    static const char *const by[] = {"", ", 'theta': 1", ", 'vi': {'type': 'semismooth'}"};

    for (size_t k = 0; k < sizeof fast / sizeof *fast * (sizeof by / sizeof *by); k++) {
        const struct mech_step_request steps = {.kind = MECH_STEP_COUNT, .count = 100};
        struct mech_step_report report = {.steps = 0};
        char text[4096];

        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'materials': [{'name': 'rough', 'friction': 0.2}], 'nodes': ["
            "{'name': 'ln', 'type': 'NodePoint', 'referenceCoordinates': [-0.1, 0, 0],"
            "'initialVelocities': [0.1, 0, 0]}, {'name': 'rn', 'type': 'NodePoint',"
            "'referenceCoordinates': [0.1, 0, 0], 'initialVelocities': [0.1, %g, 0]}],"
            "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'l', 'type':"
            "'MarkerNodeCoordinate', 'node': 'ln', 'coordinate': 0}, {'name': 'u', 'type':"
            "'MarkerNodeCoordinate', 'node': 'ln', 'coordinate': 1}, {'name': 'r', 'type':"
            "'MarkerNodeCoordinate', 'node': 'rn', 'coordinate': 0}], 'objects': [{'name':"
            "'left', 'type': 'MassPoint', 'node': 'ln', 'physicsMass': 1, 'geometry': [{'shape':"
            "'Box', 'size': [0.2, 1e3, 1], 'material': 'rough'}]}, {'name': 'right', 'type':"
            "'MassPoint', 'node': 'rn', 'physicsMass': 1, 'geometry': [{'shape': 'Sphere',"
            "'radius': 0.1, 'material': 'rough'}]}, {'name': 'in', 'type':"
            "'CoordinateConstraint', 'markers': ['g', 'l'], 'offsetUserFunction':"
            "'=0.1*sin(t)', 'offsetUserFunction_t': '=0.1*cos(t)'}, {'name': 'up', 'type':"
            "'CoordinateConstraint', 'markers': ['g', 'u']}, {'name': 'out', 'type':"
            "'CoordinateConstraint', 'markers': ['g', 'r'], 'offsetUserFunction':"
            "'=0.1*cos(t-pi/2)', 'offsetUserFunction_t': '=-0.1*sin(t-pi/2)'}],"
            "'contact': {'jointed': true}, 'solver': {'integrator': 'MoreauJean', 'stepSize':"
            "0.01%s}}",
            fast[k % 3], by[k / 3]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(mech_sim_step(s, &steps, &report), 0);
        CHECK_NEAR(model_state(s).v[0], 0.1 * cos(1.), 1e-6);
        mech_sim_destroy(s);
    }
}

/* What is led into another thing has no mass to give way with, N = 0, which some solvers cannot
 * divide by: a point into a plane, and a coordinate of a linear system into its stop. */
static void a_point_that_is_led_into_the_ground_is_named(void)
{
    static const char *const dividing[] = {"", ", 'vi': {'type': 'jacobi'}",
                                           ", 'vi': {'type': 'psor'}", ", 'vi': {'type': 'nsgs'}",
                                           ", 'vi': {'type': 'apgd'}"};

    for (size_t k = 0; k < sizeof dividing / sizeof *dividing; k++) {
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint', 'referenceCoordinates':"
                 "[0, 0, 0.3], 'initialVelocities': [0, 0, -0.5]}], 'markers': [{'name': 'g',"
                 "'type': 'MarkerGroundCoordinate'}, {'name': 'm', 'type': 'MarkerNodeCoordinate',"
                 "'node': 'n', 'coordinate': 2}], 'objects': [{'name': 'ground', 'type': 'Ground',"
                 "'geometry': [{'shape': 'Plane'}]}, {'name': 'ball', 'type': 'MassPoint', 'node':"
                 "'n', 'physicsMass': 1, 'geometry': [{'shape': 'Sphere', 'radius': 0.2}]},"
                 "{'name': 'down', 'type': 'CoordinateConstraint', 'markers': ['g', 'm'],"
                 "'offsetUserFunction': '=-0.5*t', 'offsetUserFunction_t': '=-0.5+0*t'}],"
                 "'contact': {'jointed': true}, 'solver': {'integrator': 'MoreauJean', 'stepSize':"
                 "0.01%s}}",
                 dividing[k]);
        struct mech_sim *const s = model_of(text);

        must_end(s, (const char *const[2]){"\"ground\"–\"ball\"", "no impulses satisfy"});
        CHECK_NEAR(model_state(s).q[2], 0.2, 0.011);
        mech_sim_destroy(s);
    }
}

static void a_coordinate_that_is_led_into_its_stop_is_named(void)
{
    static const char *const dividing[] = {
        "", ", 'vi': {'type': 'psor'}", ", 'vi': {'type': 'jacobi'}", ", 'vi': {'type': 'lemke'}"};

    for (size_t k = 0; k < sizeof dividing / sizeof *dividing; k++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M':"
                 "{'diag': [1, 3]}, 'q0': [0.1, 0], 'v0': [-0.5, 0], 'prescribed': [{'coordinate':"
                 "0, 'velocity': -0.5}]}], 'interactions': [{'name': 'stop', 'systems': ['s'],"
                 "'relation': {'type': 'LagrangianLinearTIR', 'H': [[1, 0]]}, 'law': {'type':"
                 "'NewtonImpact', 'e': 0}}], 'solver': {'integrator': 'MoreauJean', 'stepSize':"
                 "0.01%s}}",
                 dividing[k]);
        struct mech_sim *const s = model_of(text);

        must_end(s, (const char *const[2]){"\"stop\"", "no impulses satisfy"});
        CHECK_NEAR(model_state(s).q[0], 0., 0.011);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_ball_under_a_lid_that_is_led_down_is_not_crushed),
           UNIT_TEST(a_bead_between_walls_that_close_is_not_run_through),
           UNIT_TEST(walls_that_close_hold_a_bead_however_fast_it_slides),
           UNIT_TEST(walls_that_move_together_take_a_bead_along),
           UNIT_TEST(what_closes_by_rounding_alone_is_stepped),
           UNIT_TEST(a_point_that_is_led_into_the_ground_is_named),
           UNIT_TEST(a_coordinate_that_is_led_into_its_stop_is_named))
