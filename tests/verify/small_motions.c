/* Small motions of models with joints: linearizations and modes against closed forms, against each
 * other, and against time simulations. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

static const double pi = 3.14159265358979323846;

enum { MOST = 40 };

struct matrices {
    struct mech_linearization l;
    double A[MOST * MOST], B[MOST * MOST], C[MOST * MOST], D[MOST * MOST];
};

static void linearize(struct mech_sim *s, struct matrices *m)
{
    char reason[160] = "";

    CU_ASSERT_EQUAL_FATAL(mech_sim_linearize_init(s, &m->l, reason), 0);
    CU_ASSERT_FATAL(m->l.states <= MOST && m->l.inputs <= MOST && m->l.outputs <= MOST);
    m->l.A = m->A;
    m->l.B = m->B;
    m->l.C = m->C;
    m->l.D = m->D;
    const int code = mech_sim_linearize(s, &m->l, reason);
    if (code) {
        fprintf(stderr, "%s\n", reason);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
}

/* --- pendulums -------------------------------------------------------------------------------- */

#define PENDULUM_MASS 2.
#define PENDULUM_INERTIA 0.3

/* a bar on a hinge, 0.8 m above its centre of mass, at an angle, with a damper beside it */
static struct mech_sim *bar(double angle, double speed, const char *more)
{
    char text[4096];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n',"
             "'type': 'NodeRigidBody2D', 'referenceCoordinates': [%.17g, %.17g, %.17g],"
             "'initialVelocities': [%.17g, %.17g, %.17g]}],"
             "'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody2D',"
             "'node': 'n', 'physicsMass': 2, 'physicsInertia': 0.3},"
             "{'name': 'j', 'type': 'RevoluteJoint2D', 'markers': ['g0', 'b0']},"
             "{'name': 'd', 'type': 'CoordinateSpringDamper', 'markers': ['gc', 'c'],"
             "'damping': 0.4}],"
             "'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
             "{'name': 'b0', 'type': 'MarkerBodyRigid', 'object': 'b',"
             "'localPosition': [0, 0.8, 0]},"
             "{'name': 'gc', 'type': 'MarkerGroundCoordinate'},"
             "{'name': 'c', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 2}],"
             "'loads': [{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'b0',"
             "'load': [0, 0, 0]}],"
             "'sensors': [{'name': 'p', 'type': 'SensorNode', 'node': 'n',"
             "'outputVariable': 'Coordinates'}, {'name': 'r', 'type': 'SensorObject',"
             "'object': 'j', 'outputVariable': 'ForceLocal'}],"
             "'inputs': [{'name': 'T', 'load': 'T', 'component': 2}],"
             "'outputs': [{'name': 'phi', 'sensor': 'p', 'component': 2},"
             "{'name': 'r', 'sensor': 'r', 'component': 0}]%s}",
             0.8 * sin(angle), -0.8 * cos(angle), angle, 0.8 * cos(angle) * speed,
             0.8 * sin(angle) * speed, speed, more);
    return model_of(text);
}

/* φ̈ = (T − m g L sin φ − d φ̇) / (J + m L²) */
static void a_hanging_bar_is_an_oscillator(void)
{
    struct mech_sim *const s = bar(0., 0., "");
    const double J = PENDULUM_INERTIA + PENDULUM_MASS * 0.64, k = PENDULUM_MASS * 9.81 * 0.8;
    const double b = -0.4 / (2. * J), w = sqrt(k / J - b * b);
    struct matrices m;
    struct mech_modes modes;

    linearize(s, &m);
    CU_ASSERT(m.l.states == 2 && m.l.inputs == 1 && m.l.outputs == 2);
    /* ξ is φ times the length of the basis vector (0.8, 0, 1) */
    const double scale = sqrt(1.64), sign = m.l.motions.Q[2] > 0. ? 1. : -1.;
    const double expected[] = {0., 1., -k / J, -0.4 / J};
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(m.A[i], expected[i], 1e-11);
    }
    CHECK_NEAR(m.B[0], 0., 1e-12);
    CHECK_NEAR(m.B[1], sign * scale / J, 1e-12);
    CHECK_NEAR(m.C[0], sign / scale, 1e-12);
    CHECK_NEAR(m.C[1], 0., 1e-12);
    /* the joint bears m ẍ = m L φ̈ to the side, of a frame that turns by φ under m g */
    CHECK_NEAR(fabs(m.D[1]), PENDULUM_MASS * 0.8 / J, 1e-9);
    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, true, &modes), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 1);
    CHECK_NEAR(modes.modes[0].re, b, 1e-12);
    CHECK_NEAR(modes.modes[0].im, w, 1e-12);
    CU_ASSERT(modes.modes[0].residual < 1e-14);
    CU_ASSERT_EQUAL(modes.speed, 0.);
    CU_ASSERT(modes.acceleration < 1e-14);
    mech_modes_fini(&modes);
    mech_linearize_fini(&m.l);
    mech_sim_destroy(s);
}

/* frozen at an angle and a speed, in axes that stand: η̇ along the path's tangent is
 * L φ̈(φ + δ) − L φ̇² sin δ  of the basis vector; modes say that the state moves */
static void a_swinging_bar_is_frozen_where_it_is(void)
{
    const double angle = 0.7, speed = 1.3, J = PENDULUM_INERTIA + PENDULUM_MASS * 0.64;
    struct mech_sim *const s = bar(angle, speed, "");
    struct matrices m;
    struct mech_modes modes;

    linearize(s, &m);
    const double k = PENDULUM_MASS * 9.81 * 0.8 * cos(angle);
    /* of the basis (0.8 cos, 0.8 sin, 1)/√1.64 the share of the path turns */
    CHECK_NEAR(m.A[0], 0., 1e-9);
    CHECK_NEAR(m.A[1], 1., 1e-12);
    CHECK_NEAR(m.A[2], -k / J - 0.64 / 1.64 * speed * speed, 1e-8);
    CHECK_NEAR(m.A[3], -0.4 / J, 1e-9);
    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
    CHECK_NEAR(modes.speed, speed, 1e-12);
    CU_ASSERT(modes.acceleration > 1.);
    mech_modes_fini(&modes);
    mech_linearize_fini(&m.l);
    mech_sim_destroy(s);
}

/* the same oscillator in ẋ = A x + B u as the model that it comes from, small torques */
static void a_linearization_moves_as_its_model(void)
{
    struct mech_sim *const s =
        bar(0., 0., ", 'solver': {'integrator': 'TrapezoidalIndex2', 'stepSize': 1e-3}");
    struct matrices m;
    const double torque = 1e-5, h = 1e-3;
    double z[2] = {0., 0.}, y[2];

    linearize(s, &m);
    (void)mech_sim_set_input(s, 0, &torque, 0, NULL);
    for (int k = 0; k < 2000; k++) {
        /* the implicit midpoint rule, which has the trapezoidal rule's map here */
        const double a = 1. + 0.25 * h * h * -m.A[2] - 0.5 * h * m.A[3];
        const double mid = (z[1] + 0.5 * h * (m.A[2] * z[0] + m.B[1] * torque)) / a;

        z[0] += h * mid;
        z[1] = 2. * mid - z[1];
    }
    CU_ASSERT_EQUAL(model_steps(s, 2000), 0);
    mech_sim_get_outputs(s, y);
    CHECK_NEAR(y[0] / torque, m.C[0] * z[0] / torque, 1e-9);
    mech_linearize_fini(&m.l);
    mech_sim_destroy(s);
}

/* a body on a ball joint in space: two swings at √(m g L/(J + m L²)) with their own J, and a turn
 * about the vertical that nothing holds; at an attitude that is not 1 */
static void a_body_hangs_in_space(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
        "'referenceCoordinates': [0, 0, -0.8, 0.9689124217106447, 0, 0, 0.24740395925452294]}],"
        "'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody',"
        "'node': 'n', 'physicsMass': 2, 'physicsInertia': [0.3, 0.5, 0.1, 0, 0, 0]},"
        "{'name': 'j', 'type': 'SphericalJoint', 'markers': ['g0', 'b0']}],"
        "'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
        "{'name': 'b0', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0, 0, 0.8]}]}");
    struct mech_modes modes, complex;
    struct matrices m;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 6, false, &modes), 0);
    CU_ASSERT_EQUAL(mech_sim_modes(s, 6, true, &complex), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 3);
    CHECK_NEAR(modes.modes[0].square, 0., 1e-12);
    CHECK_NEAR(modes.modes[1].square, 2. * 9.81 * 0.8 / (0.5 + 1.28), 1e-11);
    CHECK_NEAR(modes.modes[2].square, 2. * 9.81 * 0.8 / (0.3 + 1.28), 1e-11);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT(modes.modes[i].residual < 1e-14);
    }
    /* the free turn is two eigenvalues at 0, or a pair near it (√ of rounding) */
    const int32_t last = complex.count - 1;
    CHECK_NEAR(complex.modes[last].im, modes.modes[2].im, 1e-11);
    CHECK_NEAR(complex.modes[last - 1].im, modes.modes[1].im, 1e-11);
    linearize(s, &m);
    CU_ASSERT_EQUAL(m.l.states, 6);
    mech_linearize_fini(&m.l);
    mech_modes_fini(&modes);
    mech_modes_fini(&complex);
    mech_sim_destroy(s);
}

/* --- a hanging chain -------------------------------------------------------------------------- */

/* n masses on rods below each other, 2 m in all */
static struct mech_sim *hanging_chain(int n)
{
    char *const text = malloc(1024 + 700 * (size_t)n);
    const double L = 2. / n;
    int at = sprintf(text, "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': ["
                           "{'name': 'g', 'type': 'NodePointGround'}");

    for (int i = 1; i <= n; i++) {
        at += sprintf(text + at,
                      ",{'name': 'n%d', 'type': 'NodePoint2D', 'referenceCoordinates': [0, %.17g]}",
                      i, -L * i);
    }
    at += sprintf(text + at, "], 'objects': [");
    for (int i = 1; i <= n; i++) {
        at += sprintf(text + at,
                      "%s{'name': 'b%d', 'type': 'MassPoint2D', 'node': 'n%d',"
                      "'physicsMass': %.17g}, {'name': 'd%d', 'type': 'DistanceConstraint',"
                      "'markers': ['m%d', 'm%d'], 'distance': %.17g}",
                      i > 1 ? "," : "", i, i, 3. / n, i, i - 1, i, L);
    }
    at += sprintf(text + at, "], 'markers': [{'name': 'm0', 'type': 'MarkerNodePosition',"
                             "'node': 'g'}");
    for (int i = 1; i <= n; i++) {
        at += sprintf(text + at, ",{'name': 'm%d', 'type': 'MarkerNodePosition', 'node': 'n%d'}", i,
                      i);
    }
    sprintf(text + at, "]}");
    struct mech_sim *const s = model_of(text);
    free(text);
    return s;
}

/* largest relative error of the first five frequencies, ω = j₀ₖ/2 √(g/L) (D. Bernoulli) */
static double chain_error(int n)
{
    static const double zeros[] = {2.404825557695773, 5.520078110286311, 8.653727912911012,
                                   11.791534439014281, 14.930917708487785};
    struct mech_sim *const s = hanging_chain(n);
    struct mech_modes modes;
    double worst = 0.;

    const int code = mech_sim_modes(s, 5, false, &modes);
    if (code) {
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 5);
    CU_ASSERT_EQUAL(modes.linear[0] != '\0', 2 * n > MECH_MODES_DENSE);
    for (int k = 0; k < 5; k++) {
        const double w = 0.5 * zeros[k] * sqrt(9.81 / 2.);

        worst = fmax(worst, fabs(modes.modes[k].frequency * 2. * pi / w - 1.));
        CU_ASSERT(modes.modes[k].residual < 1e-6);
    }
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
    return worst;
}

/* masses at the ends of their rods are half a rod too low: the error falls as 1/n */
static void a_hanging_chain_has_the_frequencies_of_bessel(void)
{
    const double coarse = chain_error(64), dense = chain_error(200), sparse = chain_error(300);
    const double fine = chain_error(1024);

    CHECK_NEAR(coarse / fine, 16., 1.);
    CHECK_NEAR(dense * 200. / (sparse * 300.), 1., 0.05);
    CU_ASSERT(fine < 1e-3);
}

UNIT_TESTS(UNIT_TEST(a_hanging_bar_is_an_oscillator),
           UNIT_TEST(a_swinging_bar_is_frozen_where_it_is),
           UNIT_TEST(a_linearization_moves_as_its_model), UNIT_TEST(a_body_hangs_in_space),
           UNIT_TEST(a_hanging_chain_has_the_frequencies_of_bessel))
