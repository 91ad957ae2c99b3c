/* Statics, modes, linearization and derivatives of steps against closed forms and published
 * references. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

static const double pi = 3.14159265358979323846;

/* --- statics ---------------------------------------------------------------------------------- */

#define SPRING(fields)                                                                             \
    ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], " fields "}"
#define FORCE(value) "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': " value "}"
#define REFERENCE                                                                                  \
    MODEL_OSCILLATOR(", 'referenceCoordinates': [0.5], 'initialCoordinates': [-0.08],"             \
                     "'initialVelocities': [1]",                                                   \
                     "1.6", SPRING("'stiffness': 4000, 'damping': 8"), FORCE("80"), "")

static int statics(struct mech_sim *s, int32_t load_steps, bool keep, double *q,
                   struct mech_statics_report *report)
{
    const struct mech_statics_query query = {
        .request = {.load_steps = load_steps}, .keep = keep, .q = q};

    return mech_sim_statics(s, &query, report);
}

static void a_spring_rests_where_its_force_balances(void)
{
    struct mech_sim *const s = model_of(REFERENCE);
    struct mech_statics_report report;
    double q;

    CU_ASSERT_EQUAL(statics(s, 1, false, &q, &report), 0);
    CHECK_NEAR(q, 0.52, 1e-15);
    CU_ASSERT_EQUAL(report.iterations, 1);
    CU_ASSERT_EQUAL(report.load_steps, 1);
    CU_ASSERT_EQUAL(report.load, 1.);
    CU_ASSERT(report.residual < 1e-10);
    /* nothing changed */
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.42);
    CU_ASSERT_EQUAL(model_state(s).v[0], 1.);

    /* kept, it stays at rest */
    CU_ASSERT_EQUAL(statics(s, 3, true, NULL, &report), 0);
    CU_ASSERT_EQUAL(report.load_steps, 3);
    CHECK_NEAR(model_state(s).q[0], 0.52, 1e-15);
    CU_ASSERT_EQUAL(model_state(s).v[0], 0.);
    CHECK_NEAR(model_state(s).vdot[0], 0., 1e-11);
    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    CHECK_NEAR(model_state(s).q[0], 0.52, 1e-12);
    mech_sim_destroy(s);
}

/* the root of k u + k u³ = F by Cardano's formula; damping does not act */
static void a_cubic_spring_rests_at_its_root(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'initialVelocities': [9]", "1",
        SPRING("'stiffness': 50, 'damping': 3, 'springForceUserFunction': '=k*u + k*u^3 + d*v'"),
        FORCE("5000"), ""));
    struct mech_statics_report report;
    double q;
    const double half = 50., d = sqrt(half * half + 1. / 27.);

    for (int32_t n = 1; n <= 10; n += 9) {
        CU_ASSERT_EQUAL(statics(s, n, false, &q, &report), 0);
        /* the residual is at most 1e-8 of the load, the stiffness at the root over 3,000 N/m */
        CHECK_NEAR(q, cbrt(half + d) + cbrt(half - d), 1.7e-8);
        CU_ASSERT(report.iterations > n);
    }
    mech_sim_destroy(s);
}

/* F = 2 sin u has a turning point at F = 2: no equilibrium beyond it, however small the steps */
static void loads_that_nothing_holds_are_refused(void)
{
    static const char law[] = MODEL_OSCILLATOR(
        "", "1", SPRING("'springForceUserFunction': '=2*sin(u)'"), FORCE("%s"), "");
    struct mech_statics_report report;
    char text[1024];
    double q = 0.;

    snprintf(text, sizeof text, law, "1");
    struct mech_sim *s = model_of(text);
    CU_ASSERT_EQUAL(statics(s, 2, false, &q, &report), 0);
    CHECK_NEAR(q, pi / 6., 1e-9);
    mech_sim_destroy(s);

    snprintf(text, sizeof text, law, "2.5");
    s = model_of(text);
    CU_ASSERT(statics(s, 2, true, NULL, &report) > 0);
    CU_ASSERT(report.reason[0] != '\0');
    CU_ASSERT(report.load > 0.7 && report.load < 0.8001);
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.);
    mech_sim_destroy(s);

    /* a mechanism */
    s = model_of(MODEL_OSCILLATOR("", "1", "", FORCE("1"), ""));
    CU_ASSERT_EQUAL(statics(s, 1, true, NULL, &report), MECH_SINGULAR);
    CU_ASSERT(strstr(report.reason, "/objects/0") != NULL);
    mech_sim_destroy(s);
}

/* a pendulum of 2 m and 1.5 kg, let go at 1 rad: it comes to rest below its hinge, the rod holds
 * its weight; a force beside it pulls it to where tan φ = F/(m g) */
static void a_pendulum_hangs_in_its_joint(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
        "'referenceCoordinates': [1.6829419696157930, -1.0806046117362795],"
        "'initialVelocities': [1.0806046117362795, 1.6829419696157930]},"
        "{'name': 'g', 'type': 'NodePointGround'}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5},"
        "{'name': 'd', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'},"
        "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}],"
        "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}],"
        "'inputs': [{'name': 'F', 'load': 'F'}]}");
    struct mech_statics_report report;
    const double force = 15.;
    double q[2];

    CU_ASSERT_EQUAL(statics(s, 1, true, q, &report), 0);
    CHECK_NEAR(q[0], 0., 1e-9);
    CHECK_NEAR(q[1], -2., 1e-9);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "d", MECH_OUTPUT_FORCE), 15., 1e-8);
    CU_ASSERT(report.linear[0] != '\0');
    (void)mech_sim_set_input(s, 0, &force, 0, NULL);
    CU_ASSERT_EQUAL(statics(s, 4, true, q, &report), 0);
    CU_ASSERT_EQUAL(report.load_steps, 4);
    CHECK_NEAR(q[0], sqrt(2.), 1e-7);
    CHECK_NEAR(q[1], -sqrt(2.), 1e-7);
    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    CHECK_NEAR(model_state(s).q[0], sqrt(2.), 1e-7);
    mech_sim_destroy(s);
}

/* a state off its joint, without any force: the joint alone moves it; then to 0.1 later */
static void joints_are_met_where_no_force_acts(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR("", "5",
                         ", {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"
                         "'offsetUserFunction': '=t < 0.25 ? 0 : 0.1'}",
                         "", ""));
    struct mech_statics_report report;
    const double off = 0.05;
    double q;

    (void)mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .q = &off});
    CU_ASSERT_EQUAL(statics(s, 1, false, &q, &report), 0);
    CHECK_NEAR(q, 0., 1e-10);
    (void)mech_sim_set_state(s, &(struct mech_state_view){.time = 0.5});
    CU_ASSERT_EQUAL(statics(s, 1, false, &q, &report), 0);
    CHECK_NEAR(q, 0.1, 1e-10);
    mech_sim_destroy(s);
}

/* --- modes ------------------------------------------------------------------------------------ */

/* n masses of 2 kg in a row, springs of 50 N/m between them and one to the ground (unless free) */
static struct mech_sim *chain(int n, bool loose)
{
    char *const text = malloc(1024 + 200 * (size_t)n);
    int at = sprintf(text, "{'mechd': 1, 'objects': [{'name': 's',"
                           "'type': 'LagrangianLinearTIDS', 'M': {'diag': [");

    for (int i = 0; i < n; i++) {
        at += sprintf(text + at, "%s2", i ? "," : "");
    }
    at += sprintf(text + at, "]}, 'K': {'shape': [%d, %d], 'coo': [", n, n);
    for (int i = 0; i < n; i++) {
        const int springs = (i > 0 || !loose) + (i + 1 < n);

        at += sprintf(text + at, "%s[%d, %d, %d]", i ? "," : "", i, i, 50 * springs);
        if (i > 0) {
            at += sprintf(text + at, ",[%d, %d, -50],[%d, %d, -50]", i, i - 1, i - 1, i);
        }
    }
    at += sprintf(text + at, "]}, 'q0': [");
    for (int i = 0; i < 2 * n; i++) {
        at += sprintf(text + at, i == n ? "], 'v0': [0" : i ? ",0" : "0");
    }
    sprintf(text + at, "]}], 'solver': {'integrator': 'Newmark'}}");
    struct mech_sim *const s = model_of(text);
    free(text);
    return s;
}

static void check_chain(int n, bool loose, double tolerance)
{
    struct mech_sim *const s = chain(n, loose);
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 10, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 10);
    CU_ASSERT_EQUAL(modes.linear[0] == '\0', n <= MECH_MODES_DENSE);
    for (int j = 0; j < 10; j++) {
        const double angle = loose ? j * pi / (2. * n) : (2. * j + 1.) * pi / (2. * (2. * n + 1.));
        const double w = 2. * sqrt(50. / 2.) * sin(angle);

        CHECK_NEAR(modes.modes[j].square, w * w, tolerance * 100.);
        CHECK_NEAR(modes.modes[j].frequency, w / (2. * pi), j || !loose ? 1e-8 * w + 1e-9 : 1e-5);
        for (int k = 0; k <= j; k++) {
            double product = 0.;

            for (int i = 0; i < n; i++) {
                product += 2. * modes.shapes[j * n + i] * modes.shapes[k * n + i];
            }
            CHECK_NEAR(product, j == k, 1e-10);
        }
    }
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* ω_j = 2 √(k/m) sin((2j − 1) π / (4n + 2)), free: 2 √(k/m) sin((j − 1) π / 2n); the dense solver
 * is exact to rounding of the largest ω², 100, the iteration stops at 1e-13 √n */
static void chains_vibrate_at_their_frequencies(void)
{
    check_chain(30, false, 1e-14);
    check_chain(30, true, 1e-14);
    check_chain(700, false, 1e-13);
    check_chain(700, true, 1e-13);
}

/* hinged_bar_mode: bar .1 × .001 × .01, ρ = 5000, about z at its end, a spring k = 10 at the tip */
static void a_hinged_bar_swings_on_its_spring(void)
{
    const double L = 0.1, m = 5000. * L * 0.001 * 0.01;
    const double J = m * (L * L + 0.001 * 0.001) / 12. + m * L * L / 4.;
    char text[1024];
    struct mech_modes modes;

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'objects': [{'name': 'r',"
             "'type': 'Rotor1D', 'node': 'n', 'physicsInertia': %.17g}, {'name': 's',"
             "'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
             "'springForceUserFunction': '=10*0.1^2*sin(u)*cos(u)'}], 'markers': [{'name': 'g',"
             "'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"
             "'node': 'n'}]}",
             J);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 1);
    CHECK_NEAR(modes.modes[0].frequency, sqrt(10. * L * L / J) / (2. * pi), 1e-12);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* a pendulum of 2 m that hangs in space: twice √(g/L); the rod's reaction is all its stiffness */
/* the same bar as a body in the plane, its hinge as a joint */
static void a_hinged_body_swings_on_its_spring(void)
{
    const double L = 0.1, m = 5000. * L * 0.001 * 0.01;
    const double J = m * (L * L + 0.001 * 0.001) / 12.;
    char text[2048];
    struct mech_modes modes;

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
             "'referenceCoordinates': [0.05, 0, 0]}], 'objects': [{'name': 'g', 'type': 'Ground'},"
             "{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': %.17g,"
             "'physicsInertia': %.17g},"
             "{'name': 'j', 'type': 'RevoluteJoint2D', 'markers': ['g0', 'b0']},"
             "{'name': 's', 'type': 'CartesianSpringDamper', 'markers': ['g1', 'b1'],"
             "'stiffness': [0, 10, 0]}], 'markers': ["
             "{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g'},"
             "{'name': 'b0', 'type': 'MarkerBodyRigid', 'object': 'b',"
             "'localPosition': [-0.05, 0, 0]},"
             "{'name': 'g1', 'type': 'MarkerBodyPosition', 'object': 'g',"
             "'localPosition': [0.1, 0, 0]},"
             "{'name': 'b1', 'type': 'MarkerBodyPosition', 'object': 'b',"
             "'localPosition': [0.05, 0, 0]}]}",
             m, J);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 1);
    CHECK_NEAR(modes.modes[0].frequency, sqrt(10. * L * L / (J + m * L * L / 4.)) / (2. * pi),
               1e-9);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

static void a_pendulum_swings_within_its_joint(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [{'name': 'n', 'type': 'NodePoint',"
        "'referenceCoordinates': [0, 0, -2]}, {'name': 'g', 'type': 'NodePointGround'}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 1.5},"
        "{'name': 'd', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}]}");
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 2);
    for (int i = 0; i < 2; i++) {
        const double *const shape = modes.shapes + 3 * i;

        CHECK_NEAR(modes.modes[i].square, 5., 1e-12);
        CHECK_NEAR(shape[2], 0., 1e-14);
        CHECK_NEAR(1.5 * (shape[0] * shape[0] + shape[1] * shape[1]), 1., 1e-13);
    }
    mech_modes_fini(&modes);
    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, true, &modes), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 2);
    CHECK_NEAR(modes.modes[0].im, sqrt(5.), 1e-12);
    CHECK_NEAR(modes.modes[1].re, 0., 1e-12);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

static void damped_modes_decay(void)
{
    struct mech_sim *s = model_of(REFERENCE);
    struct mech_modes modes;

    /* sdof_complex_mode: f_d − f_0 + D */
    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, true, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 1);
    CHECK_NEAR(modes.modes[0].frequency - 50. / (2. * pi) + modes.modes[0].damping,
               0.0400465912833907, 1e-13);
    CHECK_NEAR(modes.modes[0].damping, 0.05, 1e-15);
    CHECK_NEAR(modes.modes[0].re, -2.5, 1e-13);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);

    /* overdamped: λ = −1 and −100; the shape of a mode is its displacement */
    s = model_of(MODEL_OSCILLATOR("", "1", SPRING("'stiffness': 100, 'damping': 101"), "", ""));
    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, true, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 2);
    CHECK_NEAR(modes.modes[0].re, -1., 1e-12);
    CHECK_NEAR(modes.modes[1].re, -100., 1e-12);
    CU_ASSERT_EQUAL(modes.modes[0].im, 0.);
    CU_ASSERT_EQUAL(modes.shapes[0], 1.);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* (1, ±i) is the shape of a gyroscopic pair: m ẍ + 2 ẏ + k x = 0, m ÿ − 2 ẋ + k y = 0 */
static void gyroscopic_modes_turn(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
        "'M': {'diag': [1, 1]}, 'K': {'diag': [3, 3]}, 'C': [[0, 2], [-2, 0]], 'q0': [0, 0],"
        "'v0': [0, 0]}], 'solver': {'integrator': 'Newmark'}}");
    struct mech_modes modes;

    /* ω² ± 2 ω − 3 = 0 */
    CU_ASSERT_EQUAL(mech_sim_modes(s, 9, true, &modes), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 2);
    CHECK_NEAR(modes.modes[0].im, 1., 1e-13);
    CHECK_NEAR(modes.modes[1].im, 3., 1e-13);
    CHECK_NEAR(modes.modes[1].re, 0., 1e-13);
    for (int i = 0; i < 2; i++) {
        const double *const x = modes.shapes + 2 * i, *const y = modes.imaginary + 2 * i;
        /* (K − ω²) x + i ω 2 y = 0 */
        const double w = modes.modes[i].im;

        CHECK_NEAR((3. - w * w) * x[0] - 2. * w * y[1], 0., 1e-12);
        CHECK_NEAR((3. - w * w) * y[0] + 2. * w * x[1], 0., 1e-12);
        CHECK_NEAR(fmax(hypot(x[0], y[0]), hypot(x[1], y[1])), 1., 1e-12);
    }
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

static void modes_that_are_not_to_be_had_are_refused(void)
{
    struct mech_sim *s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 "'M': {'diag': [1, 1]}, 'K': [[3, 1], [-1, 3]], 'q0': [0, 0], 'v0': [0, 0]}],"
                 "'solver': {'integrator': 'Newmark'}}");
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 2, false, &modes), MECH_UNSUPPORTED);
    CU_ASSERT(strstr(modes.reason, "not symmetric") != NULL);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
    s = chain(MECH_MODES_DENSE + 1, false);
    CU_ASSERT_EQUAL(mech_sim_modes(s, 2, true, &modes), MECH_UNSUPPORTED);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* --- linearization ---------------------------------------------------------------------------- */

#define MEASURED(rest)                                                                             \
    ", 'sensors': [{'name': 'p', 'type': 'SensorNode', 'node': 'n',"                               \
    "'outputVariable': 'Coordinates'}, {'name': 'a', 'type': 'SensorNode', 'node': 'n',"           \
    "'outputVariable': 'Coordinates_tt'}, {'name': 'f', 'type': 'SensorObject', 'object': 's',"    \
    "'outputVariable': 'Force'}], 'inputs': [{'name': 'F', 'load': 'F'}],"                         \
    "'outputs': [{'name': 'p', 'sensor': 'p', 'component': 0}, {'name': 'a', 'sensor': 'a',"       \
    "'component': 0}, {'name': 'f', 'sensor': 'f', 'component': 0}]" rest

static void an_oscillator_is_linearized_exactly(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'initialCoordinates': [0.3], 'initialVelocities': [7]", "1.6",
        SPRING("'stiffness': 4000, 'damping': 8"), FORCE("'=80*sin(t)'"), MEASURED("")));
    double A[4], B[2], C[6], D[3];
    struct mech_linearization l;
    char reason[160];

    CU_ASSERT_EQUAL_FATAL(mech_sim_linearize_init(s, &l, reason), 0);
    CU_ASSERT(l.states == 2 && l.inputs == 1 && l.outputs == 3);
    l.A = A;
    l.B = B;
    l.C = C;
    l.D = D;
    CU_ASSERT_EQUAL(mech_sim_linearize(s, &l, reason), 0);
    const double expected[] = {0.,     1.,  -2500., -5., 0., 0.625, 1., 0.,
                               -2500., -5., 4000.,  8.,  0., 0.625, 0.};
    const double found[] = {A[0], A[1], A[2], A[3], B[0], B[1], C[0], C[1],
                            C[2], C[3], C[4], C[5], D[0], D[1], D[2]};

    for (int i = 0; i < 15; i++) {
        /* rounding of quotients with a step of 1/16 of values up to 1e4 */
        CHECK_NEAR(found[i], expected[i], 1e-10);
    }
    mech_linearize_fini(&l);
    mech_sim_destroy(s);
}

/* a cubic law: the force sensor's derivative is k + 3 k u², by a narrow difference */
static void nonlinear_outputs_are_linearized_at_the_state(void)
{
    struct mech_sim *const s = model_of(
        MODEL_OSCILLATOR(", 'initialCoordinates': [0.3]", "1",
                         SPRING("'stiffness': 50, 'springForceUserFunction': '=k*u + k*u^3'"),
                         FORCE("0"), MEASURED("")));
    double A[4], B[2], C[6], D[3];
    struct mech_linearization l;
    char reason[160];

    CU_ASSERT_EQUAL_FATAL(mech_sim_linearize_init(s, &l, reason), 0);
    l.A = A;
    l.B = B;
    l.C = C;
    l.D = D;
    CU_ASSERT_EQUAL(mech_sim_linearize(s, &l, reason), 0);
    const double slope = 50. + 150. * 0.09;
    CHECK_NEAR(A[2], -slope, 1e-6);
    CHECK_NEAR(C[2], -slope, 1e-6);
    CHECK_NEAR(C[4], slope, 1e-6);
    CHECK_NEAR(C[0], 1., 1e-14);
    CHECK_NEAR(B[1], 1., 1e-14);
    mech_linearize_fini(&l);
    mech_sim_destroy(s);
}

/* --- derivatives of steps --------------------------------------------------------------------- */

static const char *const fixed_step[] = {
    "GeneralizedAlpha", "HHT", "Newmark", "RK44", "RK67", "ExplicitEuler", "VelocityVerlet",
    "TrapezoidalIndex2"};

static struct mech_sim *driven(const char *integrator)
{
    char text[4096];

    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialCoordinates': [0.3], 'initialVelocities': [7]", "1.6",
                              SPRING("'stiffness': 400, 'damping': 8"), FORCE("'=80*sin(t)'"),
                              MEASURED(", 'solver': {'integrator': '%s', 'stepSize': 0.01}")),
             integrator);
    return model_of(text);
}

/* what a step leads to with one number changed, minus what it leads to without */
static void derivatives_are_what_changes_of_the_start_lead_to(void)
{
    for (size_t k = 0; k < sizeof fixed_step / sizeof *fixed_step; k++) {
        for (int which = 0; which < 3; which++) {
            struct mech_sim *const a = driven(fixed_step[k]), *const b = driven(fixed_step[k]);
            const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = 0.1};
            const double one = 1., force = 5., more = 6., q = 1.3, v = 8.;
            double dq, dv, outputs[3], before[3], after[3];
            struct mech_jvp jvp = {.step = &r,
                                   .q = which == 0 ? &one : NULL,
                                   .v = which == 1 ? &one : NULL,
                                   .inputs = which == 2 ? &one : NULL,
                                   .dq = &dq,
                                   .dv = &dv,
                                   .outputs = outputs};

            (void)mech_sim_set_input(a, 0, &force, 0, NULL);
            (void)mech_sim_set_input(b, 0, which == 2 ? &more : &force, 0, NULL);
            (void)mech_sim_set_state(b, &(struct mech_state_view){.time = NAN,
                                                                  .q = which == 0 ? &q : NULL,
                                                                  .v = which == 1 ? &v : NULL});
            CU_ASSERT_EQUAL(mech_sim_jvp(a, &jvp), 0);
            CU_ASSERT_EQUAL(jvp.derived.steps, 10);
            CU_ASSERT_EQUAL(mech_sim_time(a), 0.);
            CU_ASSERT_EQUAL(model_step(a, 0.1), 0);
            CU_ASSERT_EQUAL(model_step(b, 0.1), 0);
            mech_sim_get_outputs(a, before);
            mech_sim_get_outputs(b, after);
            CHECK_NEAR(dq, model_state(b).q[0] - model_state(a).q[0], 1e-13);
            CHECK_NEAR(dv, model_state(b).v[0] - model_state(a).v[0], 1e-12);
            for (int i = 0; i < 3; i++) {
                /* forces and accelerations of some hundreds */
                CHECK_NEAR(outputs[i], after[i] - before[i], 1e-10);
            }
            mech_sim_destroy(a);
            mech_sim_destroy(b);
        }
    }
}

/* an input that follows an expression is held at its present value, 80 sin(t), and varied */
static void inputs_of_a_direction_are_held(void)
{
    struct mech_sim *const a = driven("RK44"), *const b = driven("RK44");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 20};
    const double one = 1.;
    double dq;
    struct mech_jvp jvp = {.step = &r, .inputs = &one, .dq = &dq};

    CU_ASSERT_EQUAL(model_steps(a, 30), 0);
    CU_ASSERT_EQUAL(model_steps(b, 30), 0);
    CU_ASSERT_EQUAL(mech_sim_jvp(a, &jvp), 0);
    const double force = 80. * sin(mech_sim_time(a)), more = force + 1.;
    (void)mech_sim_set_input(a, 0, &force, 0, NULL);
    (void)mech_sim_set_input(b, 0, &more, 0, NULL);
    CU_ASSERT_EQUAL(model_steps(a, 20), 0);
    CU_ASSERT_EQUAL(model_steps(b, 20), 0);
    CHECK_NEAR(dq, model_state(b).q[0] - model_state(a).q[0], 1e-13);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

static void derivatives_that_are_not_to_be_had_are_refused(void)
{
    struct mech_sim *const adaptive = driven("DOPRI5");
    struct mech_sim *const good = driven("RK44");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    const struct mech_step_request bad = {.kind = MECH_STEP_UNTIL, .until = -1.};
    struct mech_jvp jvp = {.step = &r};

    CU_ASSERT_EQUAL(mech_sim_jvp(adaptive, &jvp), MECH_UNSUPPORTED);
    CU_ASSERT(strstr(jvp.derived.reason, "fixed step") != NULL);
    jvp.step = &bad;
    CU_ASSERT_EQUAL(mech_sim_jvp(good, &jvp), MECH_INVALID);
    mech_sim_destroy(adaptive);
    mech_sim_destroy(good);
}

UNIT_TESTS(UNIT_TEST(a_spring_rests_where_its_force_balances),
           UNIT_TEST(a_cubic_spring_rests_at_its_root),
           UNIT_TEST(loads_that_nothing_holds_are_refused),
           UNIT_TEST(a_pendulum_hangs_in_its_joint), UNIT_TEST(joints_are_met_where_no_force_acts),
           UNIT_TEST(chains_vibrate_at_their_frequencies),
           UNIT_TEST(a_hinged_bar_swings_on_its_spring), UNIT_TEST(damped_modes_decay),
           UNIT_TEST(a_pendulum_swings_within_its_joint),
           UNIT_TEST(a_hinged_body_swings_on_its_spring), UNIT_TEST(gyroscopic_modes_turn),
           UNIT_TEST(modes_that_are_not_to_be_had_are_refused),
           UNIT_TEST(an_oscillator_is_linearized_exactly),
           UNIT_TEST(nonlinear_outputs_are_linearized_at_the_state),
           UNIT_TEST(derivatives_are_what_changes_of_the_start_lead_to),
           UNIT_TEST(inputs_of_a_direction_are_held),
           UNIT_TEST(derivatives_that_are_not_to_be_had_are_refused))
