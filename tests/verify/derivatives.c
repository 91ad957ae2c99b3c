/* Derivatives of steps against central differences of whole runs: a spring with a cubic law, a
 * slider-crank, a pendulum in space with Euler parameters; with respect to forces, torques, a
 * parameter and the initial state; for every integrator that supports the model. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

enum { MOST = 64 };

/* what is varied: an input, or one coordinate, or one velocity */
struct direction {
    int32_t input, q, v; /* −1: not */
    double step;         /* of the differences */
};

struct subject {
    const char *text; /* with @ for the integrator */
    double H;
    int before; /* steps that are done first */
};

static struct mech_sim *build(const struct subject *subject, const char *integrator)
{
    char *const text = malloc(strlen(subject->text) + 64);

    const char *const at = strchr(subject->text, '@');

    sprintf(text, "%.*s%s%s", (int)(at - subject->text), subject->text, integrator, at + 1);
    struct mech_sim *const s = model_of(text);
    free(text);
    CU_ASSERT_EQUAL(subject->before ? model_steps(s, (uint64_t)subject->before) : 0, 0);
    return s;
}

/* outputs at the end of a step that starts with the direction added */
static void run_beside(const struct subject *subject, const char *integrator,
                       const struct direction *d, double step, double *outputs)
{
    struct mech_sim *const s = build(subject, integrator);
    const struct mech_sizes n = mech_sim_sizes(s);
    double q[MOST], v[MOST];

    memcpy(q, model_state(s).q, (size_t)n.q * sizeof *q);
    memcpy(v, model_state(s).v, (size_t)n.v * sizeof *v);
    if (d->q >= 0) {
        q[d->q] += step;
    }
    if (d->v >= 0) {
        v[d->v] += step;
    }
    /* the step begins with v' at the present values in any case */
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = q, .v = v}),
                    0);
    if (d->input >= 0) {
        double now;

        mech_sim_get_input(s, d->input, &now);
        now += step;
        CU_ASSERT_EQUAL(mech_sim_set_input(s, d->input, &now, 0, NULL), 0);
    }
    CU_ASSERT_EQUAL(model_step(s, subject->H), 0);
    mech_sim_get_outputs(s, outputs);
    mech_sim_destroy(s);
}

/* fourth order central difference of runs */
static void difference(const struct subject *subject, const char *integrator,
                       const struct direction *d, size_t n, double *out)
{
    double at[4][MOST];

    for (int k = 0; k < 4; k++) {
        run_beside(subject, integrator, d, d->step * (k % 2 ? -1. : 1.) * (k < 2 ? 1. : 0.5),
                   at[k]);
    }
    for (size_t i = 0; i < n; i++) {
        const double wide = (at[0][i] - at[1][i]) / (2. * d->step);
        const double close = (at[2][i] - at[3][i]) / d->step;

        out[i] = close + (close - wide) / 3.;
    }
}

/* The same bits turn by turn, with readers between, and nothing changed when it is given up. */
static void check_turns(struct mech_sim *s, struct mech_jvp *jvp, const double *whole, size_t n)
{
    double before[MOST], between[MOST];
    static const uint64_t most[] = {1, 3, 10, 30, 100, 300, UINT64_MAX};

    mech_sim_get_outputs(s, before);
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        struct mech_derivation *d = NULL;
        bool done = false;

        CU_ASSERT_EQUAL_FATAL(mech_sim_jvp_begin(s, jvp, &d), 0);
        for (uint64_t i = 0; !done && i < most[k]; i++) {
            CU_ASSERT_EQUAL_FATAL(mech_sim_derivation_advance(d, 1, &done), 0);
            if (mech_sim_readable(s)) {
                mech_sim_get_outputs(s, between);
                CU_ASSERT(memcmp(between, before, n * sizeof *before) == 0);
            }
        }
        mech_sim_derivation_end(d);
        CU_ASSERT(mech_sim_readable(s));
        mech_sim_get_outputs(s, between);
        CU_ASSERT(memcmp(between, before, n * sizeof *before) == 0);
    }
    CU_ASSERT(memcmp(jvp->outputs, whole, n * sizeof *whole) == 0);
}

/* every output to `allowed` of the largest derivative of a like output */
static void check(const struct subject *subject, const char *integrator, const struct direction *d,
                  bool differenced, double allowed)
{
    struct mech_sim *const s = build(subject, integrator);
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = subject->H};
    const size_t n = mech_sim_output_size(s);
    double q[MOST] = {0.}, v[MOST] = {0.}, inputs[MOST] = {0.}, found[MOST], expected[MOST];
    struct mech_jvp jvp = {.step = &r, .q = q, .v = v, .inputs = inputs, .outputs = found};

    if (d->q >= 0) {
        q[d->q] = 1.;
    }
    if (d->v >= 0) {
        v[d->v] = 1.;
    }
    if (d->input >= 0) {
        inputs[d->input] = 1.;
    }
    const int code = mech_sim_jvp(s, &jvp);
    if (code) {
        fprintf(stderr, "%s: %s\n", integrator, jvp.derived.reason);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    CU_ASSERT_EQUAL(jvp.derived.differenced, differenced);
    CU_ASSERT(!jvp.derived.kinked);
    double turned[MOST];
    jvp.outputs = turned;
    check_turns(s, &jvp, found, n);
    difference(subject, integrator, d, n, expected);
    double largest = 0.;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, fabs(expected[i]));
    }
    CU_ASSERT(largest > 0.);
    for (size_t i = 0; i < n; i++) {
        if (!(fabs(found[i] - expected[i]) <= allowed * largest)) {
            fprintf(stderr, "%s, direction %d %d %d, output %zu: %.12g, by runs %.12g\n",
                    integrator, (int)d->input, (int)d->q, (int)d->v, i, found[i], expected[i]);
        }
        CHECK_NEAR(found[i], expected[i], allowed * largest);
    }
    mech_sim_destroy(s);
}

#define NEWTON "'newton': {'relativeTolerance': 1e-13, 'absoluteTolerance': 1e-11}"

/* --- a spring with a cubic law ---------------------------------------------------------------- */

static const struct subject duffing = {
    MODEL_OSCILLATOR(
        ", 'initialCoordinates': [0.8], 'initialVelocities': [2]", "1.6",
        ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': "
        "'=k',"
        "'damping': 0.5, 'springForceUserFunction': {'formula': '=k*u + 30*u^3 + d*v',"
        "'partial': {'u': '=k + 90*u^2', 'v': '=d'}}}",
        "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=5*cos(2*t)'}",
        ", 'parameters': {'k': 40}, 'sensors': [{'name': 'p', 'type': 'SensorNode', 'node': 'n',"
        "'outputVariable': 'Coordinates'}, {'name': 'v', 'type': 'SensorNode', 'node': 'n',"
        "'outputVariable': 'Coordinates_t'}],"
        "'inputs': [{'name': 'F', 'load': 'F'}, {'name': 'k', 'parameter': 'k'}],"
        "'outputs': [{'name': 'p', 'sensor': 'p'}, {'name': 'v', 'sensor': 'v'}],"
        "'solver': {'integrator': '@', 'stepSize': 0.01, " NEWTON "}"),
    0.2, 13};

static void a_cubic_spring(void)
{
    static const char *const implicit[] = {"GeneralizedAlpha", "HHT", "Newmark",
                                           "TrapezoidalIndex2", "ImplicitEuler"};
    static const char *const direct[] = {"RK44", "RK67", "ExplicitEuler", "VelocityVerlet",
                                         "SymplecticEuler"};
    static const struct direction along[] = {
        {0, -1, -1, 0.5}, {-1, 0, -1, 0.01}, {-1, -1, 0, 0.05}};

    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 5; i++) {
            check(&duffing, implicit[i], &along[k], false, 1e-8);
            check(&duffing, direct[i], &along[k], true, 1e-8);
        }
    }
    /* by a parameter the runs are differenced */
    check(&duffing, "GeneralizedAlpha", &(struct direction){1, -1, -1, 0.2}, true, 1e-7);
    check(&duffing, "RK44", &(struct direction){1, -1, -1, 0.2}, true, 1e-7);
}

/* --- a slider-crank --------------------------------------------------------------------------- */

static const struct subject crank = {
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': ["
    "{'name': 'a', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [0.25, 0.4330127018922193,"
    "1.0471975511965976]},"
    "{'name': 'b', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [1.4013878188659973,"
    "0.4330127018922193, -0.44783239692893245]}],"
    "'objects': [{'name': 'g', 'type': 'Ground'},"
    "{'name': 'A', 'type': 'RigidBody2D', 'node': 'a', 'physicsMass': 2, 'physicsInertia': 0.2},"
    "{'name': 'B', 'type': 'RigidBody2D', 'node': 'b', 'physicsMass': 3, 'physicsInertia': 1},"
    "{'name': 'j0', 'type': 'RevoluteJoint2D', 'markers': ['g0', 'a0']},"
    "{'name': 'j1', 'type': 'RevoluteJoint2D', 'markers': ['a1', 'b0']},"
    "{'name': 'j2', 'type': 'PrismaticJoint2D', 'markers': ['b1', 'g1'],"
    "'constrainRotation': false},"
    "{'name': 'spring', 'type': 'SpringDamper', 'markers': ['g1', 'b1'], 'stiffness': 50,"
    "'damping': 2, 'referenceLength': 0.5}],"
    "'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
    "{'name': 'g1', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [1, 0, 0]},"
    "{'name': 'a0', 'type': 'MarkerBodyRigid', 'object': 'A', 'localPosition': [-0.5, 0, 0]},"
    "{'name': 'a1', 'type': 'MarkerBodyRigid', 'object': 'A', 'localPosition': [0.5, 0, 0]},"
    "{'name': 'b0', 'type': 'MarkerBodyRigid', 'object': 'B', 'localPosition': [-1, 0, 0]},"
    "{'name': 'b1', 'type': 'MarkerBodyRigid', 'object': 'B', 'localPosition': [1, 0, 0]}],"
    "'loads': [{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'a0', 'load': [0, 0, 20]},"
    "{'name': 'F', 'type': 'LoadForceVector', 'marker': 'b1', 'load': [-10, 0, 0]}],"
    "'sensors': [{'name': 'p', 'type': 'SensorBody', 'object': 'B', 'outputVariable': 'Position'},"
    "{'name': 'v', 'type': 'SensorBody', 'object': 'A', 'outputVariable': 'AngularVelocity'},"
    "{'name': 'r', 'type': 'SensorObject', 'object': 'j1', 'outputVariable': 'ForceLocal'}],"
    "'inputs': [{'name': 'T', 'load': 'T', 'component': 2},"
    "{'name': 'F', 'load': 'F', 'component': 0}],"
    "'outputs': [{'name': 'p', 'sensor': 'p'}, {'name': 'v', 'sensor': 'v', 'component': 2},"
    "{'name': 'r', 'sensor': 'r'}],"
    "'solver': {'integrator': '@', 'stepSize': 0.005, 'spectralRadius': 0.8, " NEWTON "}}",
    0.1, 20};

static void a_slider_crank(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "TrapezoidalIndex2", "HHT",
                                          "ImplicitEuler"};

    for (int i = 0; i < 4; i++) {
        check(&crank, schemes[i], &(struct direction){0, -1, -1, 0.5}, false, 1e-7);
        check(&crank, schemes[i], &(struct direction){1, -1, -1, 0.5}, false, 1e-7);
    }
}

/* After steps of 5 ms: 3 of 4 ms. Positions and velocities that are varied belong to no size. */
static void steps_of_another_size(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "TrapezoidalIndex2", "HHT",
                                          "ImplicitEuler"};
    struct subject shorter = crank;

    shorter.H = 0.012;
    for (int i = 0; i < 4; i++) {
        check(&shorter, schemes[i], &(struct direction){0, -1, -1, 0.5}, false, 1e-7);
        check(&shorter, schemes[i], &(struct direction){-1, -1, 5, 0.01}, false, 1e-6);
    }
}

/* --- a pendulum in space ---------------------------------------------------------------------- */

static const struct subject pendulum = {
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': ["
    "{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1, 0, 0, 1, 0, 0, 0],"
    "'initialVelocities': [0, 0.5, 0, 0, 0.7, 0, 0.25]}],"
    "'objects': [{'name': 'g', 'type': 'Ground'},"
    "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"
    "'physicsInertia': [0.1, 0.5, 0.4, 0.01, 0.02, 0.03]},"
    "{'name': 'j', 'type': 'SphericalJoint', 'markers': ['g0', 'b0']}],"
    "'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
    "{'name': 'b0', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [-1, 0, 0]},"
    "{'name': 'b1', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0.5, 0.1, 0]}],"
    "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'b1', 'load': [1, 2, 0]},"
    "{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'b1', 'load': [0.5, 0, 0],"
    "'bodyFixed': true}],"
    "'sensors': [{'name': 'p', 'type': 'SensorBody', 'object': 'b', 'outputVariable': 'Position',"
    "'localPosition': [0, 0.3, 0.2]},"
    "{'name': 'v', 'type': 'SensorBody', 'object': 'b', 'outputVariable': 'AngularVelocityLocal'},"
    "{'name': 'a', 'type': 'SensorBody', 'object': 'b', 'outputVariable': 'Acceleration'},"
    "{'name': 'r', 'type': 'SensorObject', 'object': 'j', 'outputVariable': 'ForceLocal'}],"
    "'inputs': [{'name': 'F', 'load': 'F', 'component': 1},"
    "{'name': 'T', 'load': 'T', 'component': 0}],"
    "'outputs': [{'name': 'p', 'sensor': 'p'}, {'name': 'v', 'sensor': 'v'},"
    "{'name': 'a', 'sensor': 'a'}, {'name': 'r', 'sensor': 'r'}],"
    "'solver': {'integrator': '@', 'stepSize': 0.01, 'spectralRadius': 0.8, " NEWTON "}}",
    0.2, 20};

static void a_pendulum_in_space(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "TrapezoidalIndex2", "HHT",
                                          "ImplicitEuler"};

    for (int i = 0; i < 4; i++) {
        check(&pendulum, schemes[i], &(struct direction){0, -1, -1, 0.1}, false, 1e-6);
        check(&pendulum, schemes[i], &(struct direction){1, -1, -1, 0.1}, false, 1e-6);
        /* a turn about the joint would have to move all coordinates: velocities that break it */
        check(&pendulum, schemes[i], &(struct direction){-1, -1, 5, 0.01}, false, 1e-6);
    }
}

/* --- two links in space ----------------------------------------------------------------------- */

/* tangents of reactions and of global torques are not symmetric here */
static const struct subject links = {
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': ["
    "{'name': 'n0', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1, 0, 0, 1, 0, 0, 0]},"
    "{'name': 'n1', 'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [3, 0, 0, 0, 0, 0]}],"
    "'objects': [{'name': 'g', 'type': 'Ground'},"
    "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 2,"
    "'physicsInertia': [0.1, 0.5, 0.4, 0.01, 0.02, 0.03]},"
    "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 1,"
    "'physicsInertia': [0.3, 0.3, 0.3, 0, 0, 0]},"
    "{'name': 'j0', 'type': 'SphericalJoint', 'markers': ['g0', 'a0']},"
    "{'name': 'j1', 'type': 'RevoluteJointZ', 'markers': ['e0', 'a1'], 'rotationMarker0':"
    "[[1, 0, 0], [0, 0, -1], [0, 1, 0]], 'rotationMarker1': [[1, 0, 0], [0, 0, -1], [0, 1, 0]]}],"
    "'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
    "{'name': 'a0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [-1, 0, 0]},"
    "{'name': 'e0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [1, 0, 0]},"
    "{'name': 'a1', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [-1, 0, 0]},"
    "{'name': 'e1', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [1, 0, 0]}],"
    "'loads': [{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'e1', 'load': [0.5, 2, 3]}],"
    "'sensors': [{'name': 'p', 'type': 'SensorBody', 'object': 'b1', 'outputVariable': 'Position',"
    "'localPosition': [0, 0.3, 0.2]},"
    "{'name': 'v', 'type': 'SensorBody', 'object': 'b0', 'outputVariable': 'AngularVelocity'},"
    "{'name': 'r', 'type': 'SensorObject', 'object': 'j1', 'outputVariable': 'Force'}],"
    "'inputs': [{'name': 'T', 'load': 'T', 'component': 1}],"
    "'outputs': [{'name': 'p', 'sensor': 'p'}, {'name': 'v', 'sensor': 'v'},"
    "{'name': 'r', 'sensor': 'r'}],"
    "'solver': {'integrator': '@', 'stepSize': 0.01, 'spectralRadius': 0.8, " NEWTON "}}",
    0.1, 20};

static void two_links_in_space(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "TrapezoidalIndex2", "HHT",
                                          "ImplicitEuler"};

    for (int i = 0; i < 4; i++) {
        check(&links, schemes[i], &(struct direction){0, -1, -1, 0.1}, false, 1e-6);
    }
}

/* --- impacts ---------------------------------------------------------------------------------- */

/* a ball of 1 kg over a floor, let go so that it hits in the fifth of ten steps, restitution 0.8 */
static struct mech_sim *ball(double height)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'objects': [{'name': 'b', 'type': 'LagrangianLinearTIDS',"
             "'M': {'diag': [1]}, 'q0': [%.17g], 'v0': [-2], 'Fext': [-10]}],"
             "'interactions': [{'name': 'i', 'systems': ['b'], 'relation':"
             "{'type': 'LagrangianLinearTIR', 'H': [[1]]}, 'law': {'type': 'NewtonImpact',"
             "'e': 0.8}}], 'solver': {'integrator': 'MoreauJean', 'theta': 0.5, 'gamma': 0.5,"
             "'stepSize': 0.01}}",
             height);
    return model_of(text);
}

static void impacts_hold_while_the_same_contacts_act(void)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 10};
    const double one = 1.;
    double dq, dv;
    struct mech_jvp jvp = {.step = &r, .v = &one, .dq = &dq, .dv = &dv};

    /* the step that hits keeps the mean of the two velocities: of ten steps, five turned */
    struct mech_sim *s = ball(0.095);
    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
    CU_ASSERT(jvp.derived.differenced && !jvp.derived.kinked);
    CHECK_NEAR(dv, -0.8, 1e-9);
    mech_sim_destroy(s);

    /* free flight: exact */
    s = ball(10.);
    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
    CHECK_NEAR(dv, 1., 1e-9);
    CHECK_NEAR(dq, 0.1, 1e-9);
    CU_ASSERT(!jvp.derived.kinked);
    mech_sim_destroy(s);

    /* it is over the threshold, q + ½ h v = 0, of the first step by less than the runs beside */
    s = ball(0.01 + 1e-9);
    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
    CU_ASSERT(jvp.derived.kinked);
    mech_sim_destroy(s);
}

/* The direction is finite, and what a step makes of it is not. */
static void a_derivative_beyond_the_range_of_doubles_is_refused(void)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    const double huge = 1e308;
    double found[1];
    struct mech_jvp jvp = {.step = &r, .v = &huge, .outputs = found};
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'objects': [{'name':"
                 "'m', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}], 'sensors': [{'name': 's',"
                 "'type': 'SensorNode', 'node': 'n', 'outputVariable': 'Coordinates'}], 'solver':"
                 "{'integrator': 'GeneralizedAlpha', 'stepSize': 100}}");

    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), MECH_NOT_FINITE);
    CU_ASSERT(jvp.derived.reason[0] != '\0');
    mech_sim_destroy(s);
}

/* --- a law with a kink nearby ----------------------------------------------------------------- */

#define SPRING(law)                                                                                \
    MODEL_OSCILLATOR(                                                                              \
        "", "1.6",                                                                                 \
        ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"                 \
        "'springForceUserFunction': '" law "'}",                                                   \
        "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",                       \
        ", 'inputs': [{'name': 'F', 'load': 'F'}], 'solver': {'stepSize': 1e-4, " NEWTON "}")

/* A step, by its coordinate, its velocity and a force. */
static void spring_step(const char *text, double dv[3])
{
    const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
    const double unit = 1.;
    struct mech_sim *const s = model_of(text);

    for (int k = 0; k < 3; k++) {
        struct mech_jvp jvp = {.step = &one, .dv = dv + k};

        *(k == 0 ? &jvp.q : k == 1 ? &jvp.v : &jvp.inputs) = &unit;
        CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
        CU_ASSERT(!jvp.derived.differenced && !jvp.derived.kinked);
    }
    mech_sim_destroy(s);
}

/* The spring is engaged by 1e-5 m. */
static void a_start_keeps_the_branch_of_a_law(void)
{
    double smooth[3], engaged[3];

    spring_step(SPRING("=1000*(u + 1e-5)"), smooth);
    spring_step(SPRING("=1000*max(u + 1e-5, 0)"), engaged);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(engaged[k], smooth[k], 1e-10 * fabs(smooth[k]));
    }
}

UNIT_TESTS(UNIT_TEST(impacts_hold_while_the_same_contacts_act), UNIT_TEST(a_cubic_spring),
           UNIT_TEST(a_derivative_beyond_the_range_of_doubles_is_refused),
           UNIT_TEST(a_slider_crank), UNIT_TEST(steps_of_another_size),
           UNIT_TEST(a_pendulum_in_space), UNIT_TEST(two_links_in_space),
           UNIT_TEST(a_start_keeps_the_branch_of_a_law))
