/* Step size control of implicit schemes: errors follow the tolerance, with joints at position level
 * (whose accelerations belong to a step size) and at velocity level, with rotations; failures of
 * Newton's method make steps smaller; a step that fails has no effect; interrupted runs continue
 * with the same bits. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* integrator, step size, members of adaptive, members of solver */
#define PENDULUM                                                                                   \
    "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"          \
    "'referenceCoordinates': [0, -2], 'initialVelocities': [6, 0]},"                               \
    "{'name': 'g', 'type': 'NodePointGround'}], 'objects': [{'name': 'b',"                         \
    "'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5}, {'name': 'd',"                       \
    "'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"                      \
    "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"                       \
    "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {'integrator': '%s',"   \
    "'stepSize': %.17g, 'spectralRadius': 0.8, 'adaptive': {%s}%s}}"

#define CONTROL "'mode': 'error', 'absoluteTolerance': %g, 'relativeTolerance': %g"

/* q, v, λ of the pendulum at 1 s */
static void swing(const char *integrator, double tolerance, double y[5])
{
    char text[2048], adaptive[256];

    snprintf(adaptive, sizeof adaptive, CONTROL, tolerance, tolerance);
    snprintf(text, sizeof text, PENDULUM, integrator, 0.5, adaptive,
             ", 'newton': {'relativeTolerance': 1e-12, 'absoluteTolerance': 1e-15}");
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    memcpy(y, model_state(s).q, 2 * sizeof *y);
    memcpy(y + 2, model_state(s).v, 2 * sizeof *y);
    y[4] = model_state(s).lambda[0];
    mech_sim_destroy(s);
}

/* The error of a substep is the tolerance, tol ~ h³ at order 2, and 1/h of them add up: tol^(2/3).
 * 1e3 in the tolerance are 1e2 in the error of positions, velocities, and of the multiplier. That
 * of the trapezoidal rule alternates between twice its error and none: the sums over some
 * tolerances are compared. */
static void errors_of_joints_follow_the_tolerance(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "HHT", "TrapezoidalIndex2"};
    double best[5];

    swing("TrapezoidalIndex2", 1e-13, best);
    for (int i = 0; i < 3; i++) {
        double coarse[5], fine[5], size[3][2] = {{0.}};

        for (int j = 0; j < 8; j++) {
            swing(schemes[i], 1e-6 * pow(0.8, j), coarse);
            swing(schemes[i], 1e-9 * pow(0.8, j), fine);
            for (int k = 0; k < 5; k++) {
                size[k / 2][0] = hypot(size[k / 2][0], coarse[k] - best[k]);
                size[k / 2][1] = hypot(size[k / 2][1], fine[k] - best[k]);
            }
        }
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(log10(size[k][0] / size[k][1]), 2., 0.25);
        }
    }
}

/* A damped oscillator under an expression's load and a first-order pair, beside each other:
 * u'' + 2 u' + 100 u = sin 4t, y' = [[-1, 4], [-4, -1]] y. */
#define FORCED(integrator, h, adaptive)                                                            \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [1]},"           \
    "{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates': [1, 0]}], 'objects': ["        \
    "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}, {'name': 's',"                \
    "'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 100, 'damping': 2},"    \
    "{'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'], 'systemMatrix': [[-1, 4], [-4, -1]]}],"  \
    "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x',"                   \
    "'type': 'MarkerNodeCoordinate', 'node': 'n'}], 'loads': [{'name': 'F',"                       \
    "'type': 'LoadCoordinate', 'marker': 'x', 'load': '=sin(4*t)'}], 'solver': {"                  \
    "'integrator': '" integrator "', 'stepSize': " h ", 'adaptive': {" adaptive "}}}"

/* u, u' and y at 2 s; how many substeps */
static void force(const char *integrator, double tolerance, double y[4],
                  struct mech_step_report *report)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 8};
    char text[2048];

    snprintf(text, sizeof text, FORCED("%s", "0.25", CONTROL), integrator, tolerance, tolerance);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, report), 0);
    y[0] = model_state(s).q[0];
    y[1] = model_state(s).v[0] / 10.;
    memcpy(y + 2, model_state(s).x, 2 * sizeof *y);
    mech_sim_destroy(s);
}

/* ImplicitEuler: tol ~ h², the sum of errors ~ h: 1e2 in the tolerance are 1e1 */
static void errors_of_forced_motion_follow_the_tolerance(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "HHT", "Newmark", "TrapezoidalIndex2",
                                          "ImplicitEuler"};
    struct mech_step_report report[2];
    double best[4];

    force("DOPRI5", 1e-13, best, report);
    for (int i = 0; i < 5; i++) {
        const bool euler = i == 4;
        double coarse[4], fine[4], size[2][2] = {{0.}};

        force(schemes[i], euler ? 1e-5 : 1e-6, coarse, &report[0]);
        force(schemes[i], euler ? 1e-7 : 1e-9, fine, &report[1]);
        for (int k = 0; k < 4; k++) {
            size[k / 2][0] = hypot(size[k / 2][0], coarse[k] - best[k]);
            size[k / 2][1] = hypot(size[k / 2][1], fine[k] - best[k]);
        }
        for (int k = 0; k < 2; k++) {
            CHECK_NEAR(log10(size[k][0] / size[k][1]), euler ? 1. : 2., 0.15);
            /* some hundred substeps of the tolerance each, twice where two coordinates share it */
            CU_ASSERT(size[k][0] < (euler ? 2e-5 : 2e-6) * (double)report[0].substeps);
        }
        CHECK_NEAR(log10((double)report[1].substeps / (double)report[0].substeps), 1., 0.1);
    }
}

/* ẋ₁ = −1000 (x₁ − x₂) follows x₂ = cos t: no step is too large for the stability of these implicit
 * schemes; an explicit pair takes 3/1000 s at most */
static void stiff_states_take_large_steps(void)
{
    static const char *const schemes[] = {"TrapezoidalIndex2", "GeneralizedAlpha", "DOPRI5"};
    uint64_t substeps[3];

    for (int i = 0; i < 3; i++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1',"
                 "'initialCoordinates': [0.999999000001, 1, 0]}], 'objects': [{'name': 'o',"
                 "'type': 'GenericODE1', 'nodes': ['y'], 'systemMatrix':"
                 "[[-1000, 1000, 0], [0, 0, 1], [0, -1, 0]]}], 'solver': {'integrator': '%s',"
                 "'stepSize': 10, 'adaptive': {" CONTROL "}}}",
                 schemes[i], 1e-5, 1e-5);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
        CHECK_NEAR(model_state(s).x[0], (1e6 * cos(10.) + 1e3 * sin(10.)) / (1e6 + 1.), 3e-3);
        CHECK_NEAR(model_state(s).x[1], cos(10.), 3e-3);
        substeps[i] = report.substeps;
        mech_sim_destroy(s);
    }
    /* 180, 180 and 2984 */
    CU_ASSERT(substeps[0] < 300 && substeps[1] < 300);
    CU_ASSERT(substeps[2] > 2500);
}

static void a_tumbling_body_follows_the_tolerance(void)
{
    double y[3][13];
    static const double tolerance[] = {1e-6, 1e-9, 1e-11};

    for (int i = 0; i < 3; i++) {
        char text[2048];

        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
            "'initialVelocities': [1, 0, 0, 0, 0.5, 1, -0.7]}], 'objects': [{'name': 'b',"
            "'type': 'RigidBody', 'node': 'n', 'physicsMass': 2, 'physicsInertia':"
            "[0.1, 0.2, 0.15, 0.01, 0, 0.02]}], 'solver': {'stepSize': 0.5, 'adaptive': {" CONTROL
            "}}}",
            tolerance[i], tolerance[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        memcpy(y[i], model_state(s).q, 7 * sizeof(double));
        memcpy(y[i] + 7, model_state(s).v, 6 * sizeof(double));
        mech_sim_destroy(s);
    }
    double size[2] = {0.};
    for (int k = 0; k < 13; k++) {
        size[0] = hypot(size[0], y[0][k] - y[2][k]);
        size[1] = hypot(size[1], y[1][k] - y[2][k]);
    }
    /* the best is wrong by a twentieth of the second */
    CHECK_NEAR(log10(size[0] / size[1]), 2., 0.15);
}

/* A mass falls from (0.1, 0.9) until its rope of 1 m is tight after √(0.2 (0.9 + √0.99)) s, and
 * swings from there; the catch is found within a substep. */
static void a_rope_is_caught_by_the_way(void)
{
    static const double tolerance[] = {1e-6, 1e-9, 1e-12};
    double x[3];

    for (int i = 0; i < 3; i++) {
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'g', 'type':"
                 "'NodePointGround'}, {'name': 'n', 'type': 'NodePoint2D',"
                 "'referenceCoordinates': [0.1, 0.9]}], 'objects': [{'name': 'b',"
                 "'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1}, {'name': 'rope',"
                 "'type': 'DistanceConstraint', 'markers': ['mg', 'mn'], 'distance': 1,"
                 "'unilateral': true}], 'markers': [{'name': 'mg', 'type': 'MarkerNodePosition',"
                 "'node': 'g'}, {'name': 'mn', 'type': 'MarkerNodePosition', 'node': 'n'}],"
                 "'solver': {'stepSize': 0.1, 'adaptive': {" CONTROL "}}}",
                 tolerance[i], tolerance[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 10), 0);
        CHECK_NEAR(hypot(model_state(s).q[0], model_state(s).q[1]), 1., 1e-9);
        x[i] = model_state(s).q[0];
        mech_sim_destroy(s);
    }
    CHECK_NEAR(log10(fabs(x[0] - x[2]) / fabs(x[1] - x[2])), 2., 0.5);
}

/* --- failures of Newton's method -------------------------------------------------------------- */

#define FEW ", 'newton': {'maxIterations': 4}"

static void failures_make_smaller_steps(void)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 10};
    struct mech_step_report report;
    char text[2048];

    /* half a second at 3 rad/s and more: four iterations are too few */
    snprintf(text, sizeof text, PENDULUM, "GeneralizedAlpha", 0.5, "", FEW);
    struct mech_sim *const stiff = model_of(text);
    CU_ASSERT_EQUAL(mech_sim_step(stiff, &r, &report), MECH_NOT_CONVERGED);
    mech_sim_destroy(stiff);

    snprintf(text, sizeof text, PENDULUM, "GeneralizedAlpha", 0.5, "'mode': 'failure'", FEW);
    struct mech_sim *const s = model_of(text);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.steps, 10);
    CU_ASSERT(report.refused > 0);
    CU_ASSERT(report.substeps > 10 && report.substeps < 200);
    CU_ASSERT_EQUAL(report.reason[0], 0);
    CHECK_NEAR(hypot(model_state(s).q[0], model_state(s).q[1]), 2., 1e-8);
    mech_sim_destroy(s);

    /* where nothing fails the step is the internal step, to the bit */
    snprintf(text, sizeof text, PENDULUM, "GeneralizedAlpha", 0.01, "'mode': 'failure'", "");
    struct mech_sim *const one = model_of(text);
    snprintf(text, sizeof text, PENDULUM, "GeneralizedAlpha", 0.01, "", "");
    struct mech_sim *const two = model_of(text);
    CU_ASSERT_EQUAL(model_steps(one, 100) || model_steps(two, 100), 0);
    CU_ASSERT(memcmp(model_state(one).q, model_state(two).q, 2 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(one).lambda, model_state(two).lambda, sizeof(double)) == 0);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

static void what_asks_for_smaller_steps_is_undone(void)
{
    static const char *const adaptive[] = {"'mode': 'failure', 'minimumStepSize': 0.1",
                                           "'mode': 'error', 'minimumStepSize': 0.02"};
    static const char *const why[] = {"Newton's method stopped after 1 ", "the error requires"};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};

    for (int i = 0; i < 2; i++) {
        struct mech_step_report report;
        char text[2048];

        snprintf(text, sizeof text, PENDULUM, "GeneralizedAlpha", 0.5, adaptive[i],
                 i ? "" : ", 'newton': {'maxIterations': 1}");
        struct mech_sim *const s = model_of(text);
        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_STEP_TOO_SMALL);
        CU_ASSERT(strstr(report.reason, why[i]) != NULL);
        CU_ASSERT(report.refused > 0);
        CU_ASSERT_EQUAL(model_state(s).q[1], -2.);
        CU_ASSERT_EQUAL(model_state(s).v[0], 6.);
        CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
        mech_sim_destroy(s);
    }
}

/* the sizes of the last and the next substep are part of the state; steps allocate nothing */
static void interrupted_runs_go_on_to_the_bit(void)
{
    char text[2048];

    snprintf(text, sizeof text, PENDULUM, "GeneralizedAlpha", 0.07, "'mode': 'error'", "");
    struct mech_sim *const a = model_of(text), *const b = model_of(text);
    const size_t size = mech_sim_snapshot_size(a);
    void *const bytes = malloc(size);
    bool same = false;

    CU_ASSERT_EQUAL(model_steps(a, 5), 0);
    mech_sim_snapshot_write(a, bytes);
    alloc_count_start();
    CU_ASSERT_EQUAL(model_steps(a, 7), 0);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CU_ASSERT_EQUAL(model_steps(b, 2), 0);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, size, &same), 0);
    CU_ASSERT_EQUAL(model_steps(b, 7), 0);
    CU_ASSERT(memcmp(model_state(a).q, model_state(b).q, 2 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(a).v, model_state(b).v, 2 * sizeof(double)) == 0);
    CU_ASSERT(memcmp(model_state(a).lambda, model_state(b).lambda, sizeof(double)) == 0);
    free(bytes);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

UNIT_TESTS(UNIT_TEST(errors_of_joints_follow_the_tolerance),
           UNIT_TEST(errors_of_forced_motion_follow_the_tolerance),
           UNIT_TEST(stiff_states_take_large_steps),
           UNIT_TEST(a_tumbling_body_follows_the_tolerance), UNIT_TEST(failures_make_smaller_steps),
           UNIT_TEST(a_rope_is_caught_by_the_way), UNIT_TEST(what_asks_for_smaller_steps_is_undone),
           UNIT_TEST(interrupted_runs_go_on_to_the_bit))
