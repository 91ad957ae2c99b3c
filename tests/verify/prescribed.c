/* Velocities that a linear system prescribes for its coordinates, and constraints by vectors that
 * hold a coordinate, in Moreau–Jean and in the schemes of smooth motion.
 *
 * Two masses on springs; the first moves with w(t) = 0.3 cos 5t, and the second follows. */
#include "solver/step/stepper.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 2400 };

/* prescribed, more of the document, solver */
#define DRIVEN                                                                                     \
    "{'mechd': 1, 'parameters': {'w': 5}, 'objects': [{'name': 's', 'type':"                       \
    " 'LagrangianLinearTIDS', 'M': [[2, 0.5], [0.5, 1]], 'C': [[0.4, -0.1], [-0.1, 0.3]],"         \
    " 'K': [[60, -20], [-20, 50]], 'v0': [0.3, 0.5], 'Fext': [1, 2], 'prescribed': [%s]}]%s,"      \
    " 'solver': {%s}}"
#define MOVED "{'coordinate': 0, 'velocity': '=0.3*cos(w*t)'}"

static struct mech_sim *driven(const char *integrator, double theta, double h)
{
    char text[TEXT], solver[TEXT / 2];

    snprintf(solver, sizeof solver,
             "'integrator': '%s', 'theta': %.17g, 'stepSize': %.17g, 'newton': "
             "{'relativeTolerance': 1e-12}",
             integrator, theta, h);
    snprintf(text, sizeof text, DRIVEN, MOVED, "", solver);
    return model_of(text);
}

/* the scheme's own equations: the held velocity, its coordinate by θ, and what is left of the first
 * equation is the reaction */
static void a_prescribed_velocity_is_kept_and_its_coordinate_follows(void)
{
    const double h = 0.01;

    for (int k = 0; k < 2; k++) {
        const double theta = k ? 0.5 : 0.8;
        struct mech_sim *const s = driven("MoreauJean", theta, h);

        for (int i = 0; i < 300; i++) {
            const double q[] = {view_of(s).q[0], view_of(s).q[1]};
            const double v[] = {view_of(s).v[0], view_of(s).v[1]};

            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            const struct mech_state_view now = view_of(s);
            double r[2], u[2], mean[2];

            CHECK_NEAR(now.v[0], 0.3 * cos(5. * now.time), 1e-16);
            CHECK_NEAR(now.q[0], q[0] + h * (theta * now.v[0] + (1. - theta) * v[0]), 1e-16);
            for (int j = 0; j < 2; j++) {
                mean[j] = theta * now.v[j] + (1. - theta) * v[j];
                u[j] = q[j] + h * theta * mean[j];
            }
            r[0] = 2. * (now.v[0] - v[0]) + 0.5 * (now.v[1] - v[1]) +
                   h * (0.4 * mean[0] - 0.1 * mean[1] + 60. * u[0] - 20. * u[1] - 1.);
            r[1] = 0.5 * (now.v[0] - v[0]) + (now.v[1] - v[1]) +
                   h * (-0.1 * mean[0] + 0.3 * mean[1] - 20. * u[0] + 50. * u[1] - 2.);
            CHECK_NEAR(r[0], h * now.lambda[0], 1e-14);
            CHECK_NEAR(r[1], 0., 1e-14);
        }
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

/* q and v after 1 s */
static void run(const char *integrator, int n, double y[4])
{
    struct mech_sim *const s = driven(integrator, 0.5, 1. / n);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    memcpy(y, view_of(s).q, 2 * sizeof *y);
    memcpy(y + 2, view_of(s).v, 2 * sizeof *y);
    mech_sim_destroy(s);
}

static void all_schemes_follow_the_same_motion(void)
{
    static const struct {
        const char *name;
        int steps, order;
    } schemes[] = {{"MoreauJean", 200, 2},
                   {"RK44", 100, 4},
                   {"ExplicitEuler", 400, 1},
                   {"VelocityVerlet", 200, 2},
                   {"GeneralizedAlpha", 200, 2}};
    double best[4];

    run("RK67", 400, best);
    CHECK_NEAR(best[0], 0.06 * sin(5.), 1e-12);
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        double a[4], b[4];

        run(schemes[k].name, schemes[k].steps, a);
        run(schemes[k].name, 2 * schemes[k].steps, b);
        const double order = log2(model_distance(a, best, 4) / model_distance(b, best, 4));

        CHECK_ORDER(schemes[k].name, order, schemes[k].order, 0.15);
    }
}

/* a piston at 2 m/s meets a mass of 3 kg at rest, which leaves at (1 + e) 2 m/s; the piston goes
 * on */
static void a_piston_is_not_slowed_by_what_it_meets(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, "
        "3]}, 'q0': [0, 0.0995], 'v0': [2, 0], 'prescribed': [{'coordinate': 0, 'velocity': 2}]}],"
        " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type': "
        "'LagrangianLinearTIR', 'H': [[-1, 1]]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}}],"
        " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.001}}");
    double impulse = 0.;

    for (int i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        CU_ASSERT_EQUAL(view_of(s).v[0], 2.);
        impulse += view_of(s).impulse[0];
        /* the drive takes the impulse */
        CHECK_NEAR(1e-3 * view_of(s).lambda[0], view_of(s).impulse[0], 1e-14);
    }
    CHECK_NEAR(view_of(s).v[1], 3., 1e-14);
    CHECK_NEAR(impulse, 9., 1e-13);
    mech_sim_destroy(s);
}

/* What is prescribed comes within 0.1 mm of its stop, twice, where its row is active, or rests at
 * it: no impulse is needed, whatever the solver. */
static void what_comes_near_its_stop_or_rests_there_needs_no_impulse(void)
{
    static const char *const motions[] = {"'=-0.1*sin(t)'", "0"};
    static const char *const solvers[] = {"", ", 'vi': {'type': 'psor'}"};

    for (int k = 0; k < 12; k++) {
        char text[TEXT];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]]"
                 ", 'q0': [%s], 'prescribed': [{'coordinate': 0, 'velocity': %s}]}],"
                 "'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type':"
                 "'LagrangianLinearTIR', 'H': [[1]]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}}],"
                 "'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': 0.01%s}}",
                 k % 2 ? "0" : "0.2001", motions[k % 2], 0.5 + 0.25 * (k / 2 % 3), solvers[k / 6]);
        struct mech_sim *const s = model_of(text);
        double least = INFINITY;

        for (int i = 0; i < 1000; i++) {
            CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
            CU_ASSERT_EQUAL(view_of(s).impulse[0], 0.);
            least = fmin(least, view_of(s).q[0]);
        }
        /* h² w/12 of what is integrated at θ = ½; at others the slips of a half turn cancel */
        CHECK_NEAR(least, k % 2 ? 0. : 1e-4, k % 2 ? 0. : 1e-5);
        mech_sim_destroy(s);
    }
}

/* a vector constraint of one coordinate is that coordinate's constraint */
static void a_vector_constraint_holds_a_coordinate_too(void)
{
    static const char *const held[] = {
        "'type': 'CoordinateConstraint', 'markers': ['g', 'x'], 'factorValue1': 2, 'offset': "
        "'=0.2*sin(3*t)'",
        "'type': 'CoordinateVectorConstraint', 'markers': ['g', 'x'], 'scalingMarker1': [[2]], "
        "'offset': ['=0.2*sin(3*t)']"};
    static const char *const schemes[] = {"MoreauJean", "RK44"};
    double q[2][2], lambda[2];

    for (int scheme = 0; scheme < 2; scheme++) {
        for (int k = 0; k < 2; k++) {
            char text[TEXT];

            snprintf(text, sizeof text,
                     "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                     "'numberOfODE2Coordinates': 2, 'initialCoordinates_t': [0.3, 0.5]}], "
                     "'objects': [{'name': 'o', 'type': "
                     "'GenericODE2', 'nodes': ['n'], 'massMatrix': [[2, 0.5], [0.5, 1]], "
                     "'stiffnessMatrix': [[60, -20], [-20, 50]]}, {'name': 'c', %s}], 'markers': "
                     "[{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': "
                     "'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}], 'solver': "
                     "{'integrator': '%s', 'stepSize': 0.002}}",
                     held[k], schemes[scheme]);
            struct mech_sim *const s = model_of(text);

            CU_ASSERT_EQUAL(model_steps(s, 500), 0);
            memcpy(q[k], view_of(s).q, sizeof q[k]);
            lambda[k] = view_of(s).lambda[0];
            mech_sim_destroy(s);
        }
        CHECK_NEAR(q[1][0], 0.1 * sin(3.), 1e-15);
        CHECK_NEAR(q[1][0], q[0][0], 1e-15);
        CHECK_NEAR(q[1][1], q[0][1], 1e-13);
        CHECK_NEAR(lambda[1], lambda[0], 1e-11);
    }
}

static void what_cannot_be_prescribed_is_refused(void)
{
    char text[TEXT];

    snprintf(text, sizeof text, DRIVEN, "{'coordinate': 2, 'velocity': 0}", "", "");
    CU_ASSERT(model_refused(text, "/objects/0/prescribed/0/coordinate", "2 coordinates"));
    snprintf(text, sizeof text, DRIVEN, MOVED ", {'coordinate': 0, 'velocity': 0}", "", "");
    CU_ASSERT(model_refused(text, "/objects/0/prescribed/1/coordinate", "already"));
    snprintf(text, sizeof text, DRIVEN, "{'coordinate': 1, 'velocity': '=0.3*x'}", "", "");
    CU_ASSERT(model_refused(text, "/objects/0/prescribed/0/velocity", ""));
    snprintf(text, sizeof text, DRIVEN, "{'coordinate': 1}", "", "");
    CU_ASSERT(model_refused(text, "/objects/0/prescribed/0", "velocity"));
}

#define DRIVEN_POINT                                                                               \
    "{'mechd': 1, 'parameters': {'w': %.17g}, 'nodes': [{'name': 'n', 'type':"                     \
    "'Node1D', 'initialCoordinates': [%.17g], 'initialVelocities': [%.17g]}],"                     \
    "'objects': [{'name': 'b', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2},"                  \
    "{'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"                         \
    "'offset%s': '=sin(w*t)/w'}], 'markers': [{'name': 'g', 'type':"                               \
    "'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"                     \
    "'node': 'n'}], 'solver': {'integrator': '%s', 'stepSize': %.17g, 'startTime': %.17g}}"

/* x = sin(w t)/w, whose derivatives no expression gives: fast, slow and very slow beside the step
 * size of the document, and steps far smaller than that */
static void derivatives_of_a_motion_follow_from_its_expression(void)
{
    static const struct {
        double w, h, taken;
        const char *integrator;
    } cases[] = {
        {62831.85307179586, 1e-6, 1e-6, "RK44"},  {6.283185307179586, 1e-6, 1e-6, "RK44"},
        {6.283185307179586, 1e-3, 1e-3, "RK44"},  {0.006283185307179586, 1., 1., "RK44"},
        {62831.85307179586, 1e-9, 1e-9, "RK44"},  {201.06192982974676, 1., 1e-3, "RK44"},
        {314.1592653589793, 0.1, 0.1, "DOPRI5"},  {314.1592653589793, 0.1, 0.1, "ODE23"},
        {6.283185307179586e-9, 1e6, 1e6, "RK44"}, {6.283185307179586e9, 1e-12, 1e-12, "RK44"},
    };
    static const char *const fields[] = {"", "UserFunction"};

    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        const double w = cases[k / 2].w, start = 0.6 / w;
        char text[TEXT];

        snprintf(text, sizeof text, DRIVEN_POINT, w, sin(0.6) / w, cos(0.6), fields[k % 2],
                 cases[k / 2].integrator, cases[k / 2].h, start);
        struct mech_sim *const s = model_of(text);

        for (int i = 0; i < 5; i++) {
            CU_ASSERT_EQUAL(model_step(s, cases[k / 2].taken), 0);
        }
        const struct mech_state_view now = view_of(s);

        /* of the velocity's amplitude, and of the force's, 2 w; the phase is rounded */
        CHECK_NEAR(now.v[0], cos(w * now.time), 1e-13 * (1. + w * now.time));
        CHECK_NEAR(fabs(now.lambda[0]) / (2. * w), fabs(sin(w * now.time)),
                   1e-13 * (1. + w * now.time));
        mech_sim_destroy(s);
    }
}

#define BENT_POINT                                                                                 \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [%.17g],"        \
    "'initialVelocities': [%.17g]}], 'objects': [{'name': 'b', 'type': 'Mass1D', 'node': 'n',"     \
    "'physicsMass': 2}, {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"      \
    "'offset': '=%s'}], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name':"     \
    "'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}], 'solver': {'integrator': '%s',"           \
    "'stepSize': 0.001, 'startTime': %.17g}}"

/* Slopes that differ on both sides, and numbers beyond doubles inside: a step that begins there is
 * taken, and the force on 2 kg is that of the curvature after it. */
static void motions_are_followed_from_where_their_slope_is_not_plain(void)
{
    static const struct {
        const char *motion;
        double start, x, v, a;
    } cases[] = {
        {"max(0,t^2)", 0., 0., 0., 2.},
        {"min(t^2,2*t^2)", 0., 0., 0., 2.},
        {"abs(t)^2", 0., 0., 0., 2.},
        {"sqrt(t^2)^2", 0., 0., 0., 2.},
        {"sqrt(t^4)", 0., 0., 0., 2.},
        {"t^2*sqrt(1+t)/sqrt(1+t)", 0., 0., 0., 2.},
        {"acos(cos(t))^2", 0., 0., 0., 2.},
        {"asin(sin(2*pi*t))^2/(2*pi)^2", 0.5, 0., 0., 2.},
        {"1/(1+exp(-1000*(t-1)))", 0., 0., 0., 0.},
        {"1/cosh(1000*(t-1))", 0., 0., 0., 0.},
        {"exp(-exp(-1000*(t-1)))", 0., 0., 0., 0.},
    };
    static const char *const integrators[] = {"RK44", "GeneralizedAlpha"};

    for (size_t k = 0; k < 2 * (sizeof cases / sizeof *cases); k++) {
        char text[TEXT];

        snprintf(text, sizeof text, BENT_POINT, cases[k / 2].x, cases[k / 2].v, cases[k / 2].motion,
                 integrators[k % 2], cases[k / 2].start);
        struct mech_sim *const s = model_of(text);

        for (int i = 1; i <= 3; i++) {
            CU_ASSERT_EQUAL(model_step(s, 1e-3), 0);
            const struct mech_state_view now = view_of(s);

            CHECK_NEAR(now.v[0], cases[k / 2].a * i * 1e-3, 1e-9);
            CHECK_NEAR(fabs(now.lambda[0]), 2. * cases[k / 2].a, 1e-6);
        }
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_prescribed_velocity_is_kept_and_its_coordinate_follows),
           UNIT_TEST(derivatives_of_a_motion_follow_from_its_expression),
           UNIT_TEST(motions_are_followed_from_where_their_slope_is_not_plain),
           UNIT_TEST(all_schemes_follow_the_same_motion),
           UNIT_TEST(a_piston_is_not_slowed_by_what_it_meets),
           UNIT_TEST(what_comes_near_its_stop_or_rests_there_needs_no_impulse),
           UNIT_TEST(a_vector_constraint_holds_a_coordinate_too),
           UNIT_TEST(what_cannot_be_prescribed_is_refused))
