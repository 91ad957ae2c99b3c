/* Rigid bodies whose node is not their centre of mass: the same body given about two points, tops
 * and pendulums in closed form, momentum and energy of a free body. */
#include "solver/linalg/v3.h"
#include "solver/sim/analysis.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* One body, about its centre of mass or about a node from which that is (0.3, −0.2, 0.4) away:
 * v_node = v_c − Ω × c, J_node = J_c + m (c·c 1 − c cᵀ) with m = 2, Ω = (1, 2, −1.5). */
#define CENTRE(velocities)                                                                         \
    "'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'" velocities                                 \
    "}], 'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"            \
    "'physicsInertia': [0.5, 0.7, 0.9, 0.05, 0.04, 0.03]}"
#define AWAY(velocities)                                                                           \
    "'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"                   \
    "[-0.3, 0.2, -0.4, 1, 0, 0, 0]" velocities                                                     \
    "}], 'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"            \
    "'physicsInertia': [0.9, 1.2, 1.16, 0.21, -0.2, 0.15],"                                        \
    "'physicsCenterOfMass': [0.3, -0.2, 0.4]}"
static const char *const about[2] = {
    CENTRE(", 'initialVelocities': [0.5, 0.1, -0.2, 0, 0.5, 1, -0.75]"),
    AWAY(", 'initialVelocities': [0, 0.95, 0.6, 0, 0.5, 1, -0.75]"),
};
static const char *const at_rest[2] = {CENTRE(""), AWAY("")};
/* the corner (0.5, 0.5, 0) from the centre of mass, as seen from the two */
static const double corner[2][3] = {{0.5, 0.5, 0.}, {0.8, 0.3, 0.4}};

/* the body on a spring at its corner, under all kinds of loads */
static struct mech_sim *driven(int which, const char *solver)
{
    char text[4096];
    const double *const p = corner[which];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0.5, 0, -9.81], %s, {'name': 'g', 'type': 'Ground'},"
             "{'name': 's', 'type': 'SpringDamper', 'markers': ['m0', 'm1'], 'referenceLength': 1,"
             "'stiffness': 30, 'damping': 0.3}], 'markers': [{'name': 'm0',"
             "'type': 'MarkerBodyPosition', 'object': 'g', 'localPosition': [0, 0, 2]},"
             "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition':"
             "[%.17g, %.17g, %.17g]}, {'name': 'mass', 'type': 'MarkerBodyMass', 'object': 'b'}],"
             "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm1', 'bodyFixed': true,"
             "'load': [1, 2, 3]}, {'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm1',"
             "'load': ['=sin(3*t)', 0.2, -0.1]}, {'name': 'a', 'type': 'LoadMassProportional',"
             "'marker': 'mass', 'load': [0.3, '=t', 0]}], 'solver': {%s}}",
             about[which], p[0], p[1], p[2], solver);
    return model_of(text);
}

static void corner_of(const struct mech_sim *s, int which, enum mech_output variable, double x[3])
{
    const struct mech_item_query query = {MECH_OBJECT, "b", variable, MECH_CURRENT, corner[which]};
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, x, &count), 0);
}

static void check_alike(const char *solver, uint64_t steps, double tolerance)
{
    static const enum mech_output variables[] = {MECH_OUTPUT_POSITION, MECH_OUTPUT_VELOCITY,
                                                 MECH_OUTPUT_ACCELERATION,
                                                 MECH_OUTPUT_ANGULAR_ACCELERATION};
    struct mech_sim *const s[2] = {driven(0, solver), driven(1, solver)};

    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(model_steps(s[k], steps), 0);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        double x[2][3];

        corner_of(s[0], 0, variables[i], x[0]);
        corner_of(s[1], 1, variables[i], x[1]);
        for (int r = 0; r < 3; r++) {
            CHECK_NEAR(x[1][r], x[0][r], tolerance * (i < 2 ? 1. : 50.));
        }
    }
    for (int k = 0; k < 2; k++) {
        mech_sim_destroy(s[k]);
    }
}

/* accelerations agree at the start to rounding; motions to the error of the schemes at h = 1e-3 */
static void one_body_described_about_two_points(void)
{
    check_alike("'stepSize': 1e-9, 'integrator': 'ExplicitEuler'", 1, 1e-12);
    check_alike("'stepSize': 0.001, 'integrator': 'RK67'", 1000, 1e-11);
    check_alike("'stepSize': 0.001, 'integrator': 'VelocityVerlet'", 1000, 1e-4);
    check_alike("'stepSize': 0.001, 'integrator': 'TrapezoidalIndex2'", 1000, 1e-4);
    check_alike("'stepSize': 0.001, 'spectralRadius': 0.8", 1000, 1e-4);
}

/* linear momentum, angular momentum about the origin and energy */
static void balance(struct mech_sim *s, double out[7])
{
    static const double J[9] = {0.9, 0.15, -0.2, 0.15, 1.2, 0.21, -0.2, 0.21, 1.16};
    static const double c[3] = {0.3, -0.2, 0.4};
    const struct mech_point now = {.time = NAN};
    const struct mech_state_view at = model_state(s);
    double M[36], R[9], local[3], p[6] = {0.}, L[3];

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &now, MECH_WANT_MASS, M), 0);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_ROTATION_MATRIX, R);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            p[i] += M[6 * i + k] * at.v[k];
        }
    }
    /* angular momentum about the node, R (J Ω + m c × Rᵀ v), from its definition */
    mech_m3_mul_transposed(R, at.v, local);
    mech_v3_cross(c, local, L);
    for (int i = 0; i < 3; i++) {
        L[i] = 2. * L[i] + mech_v3_dot(J + 3 * i, at.v + 3);
        CHECK_NEAR(p[3 + i], L[i], 1e-13);
    }
    mech_m3_mul(R, L, local);
    mech_v3_cross(at.q, p, L);
    for (int i = 0; i < 3; i++) {
        out[i] = p[i];
        out[3 + i] = L[i] + local[i];
    }
    out[6] = mech_sim_energy(s);
}

/* largest change of the seven over 2 s of free flight */
static double drift(const char *scheme, double h)
{
    char text[2048];
    double first[7], last[7], worst = 0.;

    snprintf(text, sizeof text,
             "{'mechd': 1, %s], 'solver': {'stepSize': %.17g, 'integrator': '%s'}}", about[1], h,
             scheme);
    struct mech_sim *const s = model_of(text);

    balance(s, first);
    /* of the motion of the centre and about it: ½ m v_c² + ½ Ω · J_c Ω */
    const double spin = 0.5 * (0.5 + 2.8 + 2.025) + 0.05 * -3. + 0.04 * -1.5 + 0.03 * 2.;
    CHECK_NEAR(first[6], 0.3 + spin, 1e-14);
    CHECK_NEAR(first[0], 1., 1e-15);
    CHECK_NEAR(first[1], 0.2, 1e-15);
    CHECK_NEAR(first[2], -0.4, 1e-15);
    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)(2. / h + 0.5)), 0);
    balance(s, last);
    for (int i = 0; i < 7; i++) {
        worst = fmax(worst, fabs(last[i] - first[i]));
    }
    mech_sim_destroy(s);
    return worst;
}

/* what a free body keeps changes with the order of the scheme, and is kept to 1e-11 by the sixth */
static void free_body_keeps_momentum_and_energy(void)
{
    CHECK_ORDER("TrapezoidalIndex2",
                log2(drift("TrapezoidalIndex2", 0.01) / drift("TrapezoidalIndex2", 0.005)), 2.,
                0.1);
    CHECK_ORDER_FROM("RK44", log2(drift("RK44", 0.02) / drift("RK44", 0.01)), 3.9);
    CHECK_NEAR(drift("RK67", 0.002), 0., 1e-13);
}

/* %s: joint's angle, inertia, centre, more of the body's node; %s */
#define PIVOT(joint, node, inertia, center, rest)                                                  \
    "{'mechd': 1, 'gravity': [0, 0, -9.80665], 'nodes': [{'name': 'n', 'type': "                   \
    "'NodeRigidBodyEP'" node                                                                       \
    "}], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody',"          \
    "'node': 'n', 'physicsMass': 1, 'physicsInertia': [" inertia                                   \
    "], 'physicsCenterOfMass': [" center "]}, {'name': 'j', 'markers': ['m0', 'm1'], " joint       \
    "}], 'markers': [{'name': 'm0',"                                                               \
    "'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid',"         \
    "'object': 'b'}], 'solver': {" rest "}}"

/* the pendulum on a ball joint of joints_space.c, its node at the joint: J about it is
 * diag(0.04, 4.1, 4.1) */
static void pendulum_about_its_joint(void)
{
    static const double expected[3][3] = {
        {1.66081, 0, -1.11432}, {-0.892381, 0, -1.78988}, {-1.95112, 0, -0.439479}};
    static const double center[3] = {2., 0., 0.};
    static const uint64_t steps[] = {500, 500, 1000};
    struct mech_sim *const s = model_of(PIVOT(
        "'type': 'SphericalJoint'", "", "0.04, 4.1, 4.1, 0, 0, 0", "2, 0, 0", "'stepSize': 0.001"));

    for (int i = 0; i < 3; i++) {
        const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT,
                                              center};
        double p[3];
        size_t count = 0;

        CU_ASSERT_EQUAL_FATAL(model_steps(s, steps[i]), 0);
        CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, p, &count), 0);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(p[k], expected[i][k], 2e-4);
        }
    }
    mech_sim_destroy(s);
}

/* a rod of length 4 on a hinge whose axis is inclined by 45°, released where it is horizontal:
 * ω̇ = m g (l/2) sin 45° / (J_z + m l²/4) = 3.382609 */
static void inclined_pendulum_starts_as_it_must(void)
{
#define INCLINED                                                                                   \
    "[[1, 0, 0], [0, 0.70710678118654757, -0.70710678118654757],"                                  \
    "[0, 0.70710678118654757, 0.70710678118654757]]"
    const char *const solvers[] = {"'stepSize': 1e-9",
                                   "'stepSize': 1e-9, 'integrator': 'TrapezoidalIndex2'"};

    for (int i = 0; i < 2; i++) {
        char text[2048];
        double a[3];

        snprintf(text, sizeof text,
                 PIVOT("'type': 'RevoluteJointZ', 'rotationMarker0': " INCLINED
                       ", 'rotationMarker1': " INCLINED,
                       "", "0.04, 4.1, 4.1, 0, 0, 0", "2, 0, 0", "%s"),
                 solvers[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_ANGULAR_ACCELERATION, a);
        CHECK_NEAR(mech_v3_norm(a), 9.80665 * 2. * sqrt(0.5) / 4.1, 2e-6);
        CHECK_NEAR(mech_v3_norm(a), 3.382609, 2e-6);
        mech_sim_destroy(s);
    }
}

/* A heavy top about its point, A = 0.3, C = 0.2, m = 1, l = 0.4: it precesses steadily at the
 * angle ϑ with the rate p when A p² cos ϑ − C ω₃ p + m g l = 0. Distance of its centre at t = 1. */
static double top_distance(double h, uint64_t steps, const char *scheme)
{
    const double A = 0.3, C = 0.2, l = 0.4, theta = 0.5, p = 2.;
    const double spin = (A * p * p * cos(theta) + 9.80665 * l) / (C * p);
    const double e[4] = {cos(0.5 * theta), 0., sin(0.5 * theta), 0.};
    /* body-fixed: precession about the vertical, and what the spin needs beyond it */
    const double omega[3] = {-p * sin(theta), 0., spin};
    char text[2048];

    /* ė = ½ e ∘ (0, Ω) at e = (e₀, 0, e₂, 0) */
    snprintf(text, sizeof text,
             PIVOT("'type': 'SphericalJoint'",
                   ", 'referenceCoordinates': [0, 0, 0, %.17g, 0, %.17g, 0], 'initialVelocities':"
                   "[0, 0, 0, 0, %.17g, 0, %.17g]",
                   "0.3, 0.3, 0.2, 0, 0, 0", "0, 0, 0.4", "'stepSize': %.17g%s"),
             e[0], e[2], 0.5 * (e[0] * omega[0] + e[2] * omega[2]),
             0.5 * (e[0] * omega[2] - e[2] * omega[0]), h, scheme);
    struct mech_sim *const s = model_of(text);
    const double energy = mech_sim_energy(s);
    const struct mech_item_query query = {MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT,
                                          (const double[3]){0., 0., 0.4}};
    double x[3];
    size_t count = 0;

    CHECK_NEAR(energy,
               0.5 * A * p * p * sin(theta) * sin(theta) + 0.5 * C * spin * spin +
                   9.80665 * l * cos(theta),
               1e-12);
    CU_ASSERT_EQUAL(model_steps(s, steps), 0);
    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, x, &count), 0);
    CHECK_NEAR(mech_sim_energy(s), energy, 100. * h * h);
    CHECK_NEAR(model_state(s).v[5], spin, 1e-6);
    mech_sim_destroy(s);
    x[0] -= l * sin(theta) * cos(p);
    x[1] -= l * sin(theta) * sin(p);
    x[2] -= l * cos(theta);
    return mech_v3_norm(x);
}

static void heavy_top_precesses_steadily(void)
{
    static const char *const schemes[] = {", 'integrator': 'TrapezoidalIndex2'",
                                          ", 'spectralRadius': 0.9"};

    for (int i = 0; i < 2; i++) {
        const double coarse = top_distance(0.002, 500, schemes[i]);
        const double fine = top_distance(0.001, 1000, schemes[i]);

        CHECK_ORDER(i ? "GeneralizedAlpha" : "TrapezoidalIndex2", log2(coarse / fine), 2., 0.1);
        CU_ASSERT(fine < 1e-3);
    }
}

/* on springs at its corner the body has the same frequencies about either point */
static void modes_do_not_depend_on_the_point(void)
{
    double square[2][6];

    for (int k = 0; k < 2; k++) {
        char text[2048];
        struct mech_modes modes;

        snprintf(text, sizeof text,
                 "{'mechd': 1, %s, {'name': 'g', 'type': 'Ground'}, {'name': 's',"
                 "'type': 'CartesianSpringDamper', 'markers': ['m0', 'm1'],"
                 "'stiffness': [30, 40, 50], 'offset': [0.5, 0.5, 0]}], 'markers': [{'name': 'm0',"
                 "'type': 'MarkerBodyPosition', 'object': 'g'}, {'name': 'm1',"
                 "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition':"
                 "[%.17g, %.17g, %.17g]}]}",
                 at_rest[k], corner[k][0], corner[k][1], corner[k][2]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(mech_sim_modes(s, 6, false, &modes), 0);
        CU_ASSERT_EQUAL_FATAL(modes.count, 6);
        for (int i = 0; i < 6; i++) {
            square[k][i] = modes.modes[i].square;
        }
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
    CU_ASSERT(square[0][5] > 40.);
    for (int i = 0; i < 6; i++) {
        CHECK_NEAR(square[1][i], square[0][i], 1e-11);
    }
}

static void steps_with_an_offset_allocate_nothing(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "RK44", "VelocityVerlet"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char solver[128];

        snprintf(solver, sizeof solver, "'stepSize': 0.001, 'integrator': '%s'", schemes[i]);
        struct mech_sim *const s = driven(1, solver);

        CU_ASSERT_EQUAL(model_steps(s, 10), 0);
        alloc_count_start();
        const int code = model_steps(s, 1000);
        const long count = alloc_count_stop();
        CU_ASSERT_EQUAL(code, 0);
        CU_ASSERT_EQUAL(count, 0);
        mech_sim_destroy(s);
    }
}

static void bodies_that_cannot_be_are_refused(void)
{
    CU_ASSERT(model_refused(PIVOT("'type': 'SphericalJoint'", "", "0.04, 3.9, 4.1, 0, 0, 0",
                                  "2, 0, 0", "'stepSize': 0.001"),
                            "/objects/1/physicsInertia", "about the centre of mass"));
    CU_ASSERT(model_refused(
        PIVOT("'type': 'SphericalJoint'", "", "1, 1, 1, 2, 0, 0", "0, 0, 0", "'stepSize': 0.001"),
        "/objects/1/physicsInertia", "not positive definite"));
}

UNIT_TESTS(UNIT_TEST(one_body_described_about_two_points),
           UNIT_TEST(free_body_keeps_momentum_and_energy), UNIT_TEST(pendulum_about_its_joint),
           UNIT_TEST(inclined_pendulum_starts_as_it_must), UNIT_TEST(heavy_top_precesses_steadily),
           UNIT_TEST(modes_do_not_depend_on_the_point),
           UNIT_TEST(steps_with_an_offset_allocate_nothing),
           UNIT_TEST(bodies_that_cannot_be_are_refused))
