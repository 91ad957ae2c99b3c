/* Springs between bodies against published numbers (Exudyn 1.11; ADAMS for the hinge) and closed
 * forms. Where nothing else is said: 100 steps to 1 s, generalized-α with ρ = 0.9. */
#include "solver/sim/analysis.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* a body of mass and inertia 1 on the ground; joint and spring, load, rest of the document */
#define BODY(joint, spring, load, rest)                                                            \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP'" rest "}], 'objects': ["       \
    "{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n',"             \
    "'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 'j', 'markers':"            \
    "['m0', 'm1'], 'type': " joint "}, {'name': 's', 'markers': ['m0', 'm1'], 'type': " spring     \
    "}], 'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1',"     \
    "'type': 'MarkerBodyRigid', 'object': 'b'}], 'loads': [" load "],"                             \
    "'solver': {'stepSize': 0.01}}"

static void spring_on_a_slide(void)
{
    struct mech_sim *const s = model_of(
        BODY("'PrismaticJointX'", "'LinearSpringDamper', 'stiffness': 2000, 'damping': 20",
             "{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm1', 'load': [1, 0, 0]}", ""));

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_state(s).q[0], 0.0004999866342439289, 1e-14);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_DISPLACEMENT_LOCAL),
               0.0004999866342439289, 1e-14);
    mech_sim_destroy(s);
}

static void spring_on_a_hinge(void)
{
    struct mech_sim *const s = model_of(
        BODY("'RevoluteJointZ'", "'TorsionalSpringDamper', 'stiffness': 2000, 'damping': 20",
             "{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm1', 'load': [0, 0, 1]}", ""));

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_ROTATION), 0.0004999866342439527,
               1e-14);
    CHECK_NEAR(model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_TORQUE_LOCAL), 1., 1e-4);
    mech_sim_destroy(s);
}

/* a rotor spun at 20 rad/s on a spring with k = J (1 rad/s)²: θ = 20 sin t, three turns each way */
#define SPUN                                                                                       \
    BODY("'RevoluteJointZ'", "'TorsionalSpringDamper', 'stiffness': 1", "",                        \
         ", 'initialVelocities': [0, 0, 0, 0, 0, 0, 10]")

static double rotation(const struct mech_sim *s)
{
    return model_value(s, MECH_OBJECT, "s", MECH_OUTPUT_ROTATION);
}

static void turns_are_counted(void)
{
    struct mech_sim *const s = model_of(SPUN);
    const double energy = mech_sim_energy(s);
    double worst = 0., most = 0.;

    CHECK_NEAR(energy, 200., 1e-10);
    for (int i = 0; i < 63; i++) {
        CU_ASSERT_EQUAL(model_steps(s, 10), 0);
        const double t = model_state(s).time;

        worst = fmax(worst, fabs(rotation(s) - 20. * sin(t)));
        most = fmax(most, fabs(rotation(s)));
    }
    CU_ASSERT(most > 19.9);
    /* h²/12 relative error of the period: 20 × 6.3 × 8e-6 = 1e-3; ρ = 0.9 adds a tenth of it */
    CU_ASSERT(worst < 2e-3);
    CHECK_NEAR(mech_sim_energy(s), energy, 1e-2);
    mech_sim_destroy(s);
}

/* a schemes' substeps count too: one step of 2 s turns by more than two turns */
static void turns_are_counted_by_substeps(void)
{
    static const char *const schemes[] = {"'DOPRI5'", "'GeneralizedAlpha'"};

    for (int i = 0; i < 2; i++) {
        char text[2048];

        /* a rotor in the plane: explicit schemes take no joints */
        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
                 "'initialVelocities': [0, 0, 20]}], 'objects': [{'name': 'g', 'type': 'Ground'},"
                 "{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 1,"
                 "'physicsInertia': 1}, {'name': 's', 'type': 'TorsionalSpringDamper', 'markers':"
                 "['m0', 'm1'], 'stiffness': 1}], 'markers': [{'name': 'm0', 'type':"
                 "'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid',"
                 "'object': 'b'}], 'solver': {'integrator': %s, 'stepSize': 2, 'adaptive':"
                 "{'mode': 'error', 'initialStepSize': 0.01, 'relativeTolerance': 1e-8, "
                 "'absoluteTolerance': 1e-8}}}",
                 schemes[i]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 3), 0);
        CHECK_NEAR(rotation(s), 20. * sin(6.), 2e-3);
        CHECK_NEAR(model_state(s).q[2], 20. * sin(6.), 2e-3);
        mech_sim_destroy(s);
    }
}

/* torque 20 on k = 1: three turns, in load steps of less than half a turn */
static void statics_count_turns(void)
{
    struct mech_sim *const s = model_of(
        BODY("'RevoluteJointZ'", "'TorsionalSpringDamper', 'stiffness': 1",
             "{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm1', 'load': [0, 0, 20]}", ""));
    struct mech_statics_report report;
    const struct mech_statics_query query = {.request = {.load_steps = 8}, .keep = true};

    CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
    CU_ASSERT_EQUAL(report.load_steps, 8);
    CHECK_NEAR(rotation(s), 20., 1e-9);
    mech_sim_destroy(s);
}

/* the count is part of the state: restored elsewhere, put back by a failed or a trial step */
static void counted_turns_are_restored(void)
{
    struct mech_sim *const one = model_of(SPUN), *const two = model_of(SPUN);
    const size_t size = mech_sim_snapshot_size(one);
    void *const bytes = malloc(size);
    bool same = false;
    struct mech_step_report report;

    CU_ASSERT_EQUAL(model_steps(one, 100), 0);
    CU_ASSERT(rotation(one) > 12.);
    mech_sim_snapshot_write(one, bytes);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(two, bytes, size, &same), 0);
    CU_ASSERT_EQUAL(rotation(two), rotation(one));
    CU_ASSERT_EQUAL(mech_sim_sizes(one).z, 1);

    /* a trial of a quarter period, and one that cannot succeed */
    const double before = rotation(one);
    const struct mech_step_request trial = {.kind = MECH_STEP_SIZE, .size = 1., .trial = true};
    const struct mech_step_request wild = {.kind = MECH_STEP_SIZE, .size = 1e306};
    CU_ASSERT_EQUAL(mech_sim_step(one, &trial, &report), 0);
    CU_ASSERT_EQUAL(rotation(one), before);
    CU_ASSERT(mech_sim_step(one, &wild, &report) != 0);
    CU_ASSERT_EQUAL(rotation(one), before);
    mech_sim_discard_trial(one);

    CU_ASSERT_EQUAL(model_steps(one, 300), 0);
    CU_ASSERT_EQUAL(model_steps(two, 300), 0);
    CU_ASSERT_EQUAL(rotation(two), rotation(one));
    CU_ASSERT_EQUAL(model_state(one).q[6], model_state(two).q[6]);
    free(bytes);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

static void counting_allocates_nothing(void)
{
    struct mech_sim *const s = model_of(SPUN);

    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    alloc_count_start();
    const int code = model_steps(s, 1000);
    const long count = alloc_count_stop();
    CU_ASSERT_EQUAL(code, 0);
    CU_ASSERT_EQUAL(count, 0);
    mech_sim_destroy(s);
}

/* a new angle by hand is taken as the nearest turn; a spring at rest finds it by statics */
static void angles_put_in_keep_to_the_nearest_turn(void)
{
    struct mech_sim *const s = model_of(SPUN);
    const double half = 0.5 * 7., q[7] = {0., 0., 0., cos(half), 0., 0., sin(half)};
    const double z = 6.5;
    struct mech_state_view view = {.time = NAN, .q = q};

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &view), 0);
    CHECK_NEAR(rotation(s), 7. - 8. * atan(1.), 1e-13);
    view.z = &z;
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &view), 0);
    CHECK_NEAR(rotation(s), 7., 1e-13);
    CHECK_NEAR(model_state(s).z[0], 7., 1e-13);
    mech_sim_destroy(s);
}

/* the pendulum of 2 m (m = 1, J_y = 0.1, g = 9.80665) on a hinge with k = 200, c = 10, by ADAMS;
 * the peers' bar is an RMS error of 1e-3 over the flight, here every sample keeps it */
static void pendulum_on_a_hinge_with_a_spring(void)
{
    static const double x[4] = {1.977294, 1.994921, 1.991260, 1.990439};
    static const double z[4] = {-0.3005134, -0.1424453, -0.1867703, -0.1953254};
    static const uint64_t steps[4] = {500, 500, 1000, 3000};
#define Z_IS_Y "[[1, 0, 0], [0, 0, 1], [0, -1, 0]]"
#define FRAMES "'rotationMarker0': " Z_IS_Y ", 'rotationMarker1': " Z_IS_Y
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -9.80665], 'nodes': [{'name': 'n', 'type':"
        "'NodeRigidBodyEP', 'referenceCoordinates': [2, 0, 0, 1, 0, 0, 0]}], 'objects': [{'name':"
        "'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
        "'physicsInertia': [0.04, 0.1, 0.1, 0, 0, 0]}, {'name': 'j', 'markers': ['m0', 'm1'],"
        "'type': 'RevoluteJointZ', " FRAMES "}, {'name': 's', 'markers': ['m0', 'm1'],"
        "'type': 'TorsionalSpringDamper', 'stiffness': 200, 'damping': 10, " FRAMES "}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1',"
        "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [-2, 0, 0]}],"
        "'solver': {'stepSize': 0.001}}");

    for (int i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(model_steps(s, steps[i]), 0);
        CHECK_NEAR(model_state(s).q[0], x[i], 2e-4);
        CHECK_NEAR(model_state(s).q[1], 0., 1e-9);
        CHECK_NEAR(model_state(s).q[2], z[i], 2e-4);
    }
    mech_sim_destroy(s);
}

/* a comet that dives to a fifth of the distance below which the pull is softened, and out again */
static void softened_gravity_keeps_energy_and_angular_momentum(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates':"
        "[1, 0], 'initialVelocities': [0, 0.3]}, {'name': 'o', 'type': 'NodePointGround'}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 2}, {'name':"
        "'s', 'type': 'Gravity', 'markers': ['m0', 'm1'], 'gravitationalConstant': 0.5, 'mass0': 2,"
        "'mass1': 2, 'minDistanceRegularization': 0.4}], 'markers': [{'name': 'm0', 'type':"
        "'MarkerNodePosition', 'node': 'o'}, {'name': 'm1', 'type': 'MarkerNodePosition', 'node':"
        "'n'}], 'solver': {'integrator': 'RK67', 'stepSize': 0.002}}");
    const double energy = mech_sim_energy(s);
    double nearest = 1., drift = 0., turn = 0.;

    CHECK_NEAR(energy, 0.5 * 2. * 0.09 - 0.5 * 4., 1e-14);
    for (int i = 0; i < 100; i++) {
        CU_ASSERT_EQUAL(model_steps(s, 20), 0);
        const struct mech_state_view at = model_state(s);

        nearest = fmin(nearest, hypot(at.q[0], at.q[1]));
        drift = fmax(drift, fabs(mech_sim_energy(s) - energy));
        turn = fmax(turn, fabs(at.q[0] * at.v[1] - at.q[1] * at.v[0] - 0.3));
    }
    CU_ASSERT(nearest < 0.12);
    /* order 6 inside; the force has a kink in its second derivative at 0.4 */
    CU_ASSERT(drift < 1e-8);
    CU_ASSERT(turn < 1e-11);
    mech_sim_destroy(s);
}

/* --- six directions --------------------------------------------------------------------------- */

#define FREE(velocities, spring, solver)                                                           \
    "{'mechd': 1, 'parameters': {'k': 5000}, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"   \
    "'initialVelocities': [" velocities "]}], 'objects': [{'name': 'g', 'type': 'Ground'},"        \
    "{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia':"          \
    "[1, 1, 1, 0, 0, 0]}, {'name': 's', 'markers': ['m0', 'm1'], 'type': 'RigidBodySpringDamper'," \
    " " spring "}], 'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'},"         \
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b'}], 'solver': {" solver "}}"

/* Exudyn's small examples of the connector: its numbers differ from version to version by 1.4e-9
 * (of a speed of 1000) and 6e-12 */
static void body_on_a_six_way_spring(void)
{
    struct mech_sim *s = model_of(
        FREE("0, 1000, 0, 0, 0, 0, 0",
             "'stiffness': [[500, 0, 0, 0, 0, 0], [0, 500, 0, 0, 0, 0], [0, 0, 500, 0, 0, 0],"
             "[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]], 'damping':"
             "[[0, 0, 0, 0, 0, 0], [0, 5, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0],"
             "[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]",
             "'stepSize': 0.01"));

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_state(s).q[1], -0.5349299545315868, 5e-9);
    mech_sim_destroy(s);

    /* spun at 4 Hz about x, where its angle may turn */
    s = model_of(FREE("0, 10, 0, 0, 12.566370614359172, 0, 0",
                      "'springForceTorqueUserFunction': ['=k*u0', '=k*u1 + 0.01*k*v1', '=k*u2',"
                      "'=k*u3 + 0.001*k*v3', '=k*u4', '=k*u5']",
                      "'stepSize': 1e-3, 'spectralRadius': 1"));
    const double local[3] = {0.1, 0.1, 0.1};
    double p[3];
    size_t count = 0;

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CU_ASSERT_EQUAL(
        mech_sim_item_output(
            s,
            &(struct mech_item_query){MECH_OBJECT, "b", MECH_OUTPUT_POSITION, MECH_CURRENT, local},
            3, p, &count),
        0);
    CHECK_NEAR(p[0] + p[1], 0.18276224743555652, 1e-11);
    mech_sim_destroy(s);
}

/* two free bodies, joined off their centres, spun against each other: what the spring gives one it
 * takes from the other, in sum of momentum and of its moment; and seen from either marker */
#define DUMBBELL(first, second)                                                                    \
    "{'mechd': 1, 'nodes': [{'name': 'na', 'type': 'NodeRigidBodyEP', 'initialVelocities':"        \
    "[0.3, 0, 0.1, 0, 0.5, 0.7, 0.2]}, {'name': 'nb', 'type': 'NodeRigidBodyEP',"                  \
    "'referenceCoordinates': [1, 0, 0, 1, 0, 0, 0], 'initialVelocities':"                          \
    "[0, 0.2, 0, 0, -0.4, 0.3, 0.9]}], 'objects': [{'name': 'a', 'type': 'RigidBody', 'node':"     \
    "'na', 'physicsMass': 1, 'physicsInertia': [0.1, 0.3, 0.2, 0, 0, 0]}, {'name': 'b', 'type':"   \
    "'RigidBody', 'node': 'nb', 'physicsMass': 2, 'physicsInertia': [0.2, 0.2, 0.1, 0, 0, 0]},"    \
    "{'name': 's', 'markers': ['" first "', '" second "'], 'type': 'RigidBodySpringDamper',"       \
    "'intrinsicFormulation': true, 'stiffness': [[40, 0, 0, 0, 0, 0], [0, 50, 0, 0, 0, 0],"        \
    "[0, 0, 70, 0, 0, 0], [0, 0, 0, 3, 0, 0], [0, 0, 0, 0, 5, 0], [0, 0, 0, 0, 0, 4]]}],"          \
    "'markers': [{'name': 'ma', 'type': 'MarkerBodyRigid', 'object': 'a', 'localPosition':"        \
    "[0.5, 0.1, 0]}, {'name': 'mb', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition':"    \
    "[-0.5, 0.1, 0]}], 'solver': {'stepSize': 2e-3, 'integrator': 'TrapezoidalIndex2'}}"

/* moment of momentum about the origin */
static void moment_of(const struct mech_sim *s, double L[3])
{
    static const double mass[2] = {1., 2.}, inertia[2][3] = {{0.1, 0.3, 0.2}, {0.2, 0.2, 0.1}};
    const struct mech_state_view at = model_state(s);

    L[0] = L[1] = L[2] = 0.;
    for (int k = 0; k < 2; k++) {
        const double *const q = at.q + 7 * k, *const v = at.v + 6 * k;
        double R[9];
        size_t count = 0;

        CU_ASSERT_EQUAL(mech_sim_item_output(s,
                                             &(struct mech_item_query){MECH_OBJECT, k ? "b" : "a",
                                                                       MECH_OUTPUT_ROTATION_MATRIX,
                                                                       MECH_CURRENT, NULL},
                                             9, R, &count),
                        0);
        for (int i = 0; i < 3; i++) {
            const int j = (i + 1) % 3, l = (i + 2) % 3;

            L[i] += mass[k] * (q[j] * v[l] - q[l] * v[j]);
            for (int m = 0; m < 3; m++) {
                L[i] += R[3 * i + m] * inertia[k][m] * v[3 + m];
            }
        }
    }
}

static void halfway_springs_keep_momentum_and_energy_from_either_side(void)
{
    struct mech_sim *const one = model_of(DUMBBELL("ma", "mb"));
    struct mech_sim *const two = model_of(DUMBBELL("mb", "ma"));
    double before[3], after[3];

    const double energy = mech_sim_energy(one);

    moment_of(one, before);
    CU_ASSERT_EQUAL(model_steps(one, 1000), 0);
    CU_ASSERT_EQUAL(model_steps(two, 1000), 0);
    moment_of(one, after);
    /* h² ω² of 2 J, ω = 10 */
    CHECK_NEAR(mech_sim_energy(one), energy, 1e-3);
    const struct mech_state_view a = model_state(one), b = model_state(two);

    for (int i = 0; i < 3; i++) {
        static const double start[3] = {0.3, 0.4, 0.1};

        CHECK_NEAR(a.v[i] + 2. * a.v[6 + i], start[i], 1e-12);
        /* the scheme's error, h² ω² of 1 N m s */
        CHECK_NEAR(after[i], before[i], 2e-4);
    }
    for (int i = 0; i < 14; i++) {
        CHECK_NEAR(a.q[i], b.q[i], 1e-9);
    }
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

/* Exudyn's test of the attraction: a star that is free, a satellite after 1000 steps of 1000 s */
static void satellite_of_a_free_star(void)
{
    const double G = 6.6743e-11, M = 1e20, r = 1e6;
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n0', 'type': 'NodePoint'}, {'name': 'n1', 'type':"
             "'NodePoint', 'referenceCoordinates': [%.17g, 0, 0], 'initialVelocities':"
             "[0, %.17g, 0]}], 'objects': [{'name': 'o0', 'type': 'MassPoint', 'node': 'n0',"
             "'physicsMass': 1e20}, {'name': 'o1', 'type': 'MassPoint', 'node': 'n1',"
             "'physicsMass': 1000}, {'name': 's', 'type': 'Gravity', 'markers': ['m0', 'm1'],"
             "'mass0': 1e20, 'mass1': 1000}], 'markers': [{'name': 'm0', 'type':"
             "'MarkerNodePosition', 'node': 'n0'}, {'name': 'm1', 'type': 'MarkerNodePosition',"
             "'node': 'n1'}], 'solver': {'integrator': 'RK67', 'stepSize': 1000}}",
             r, sqrt(G * M / r));
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    const struct mech_state_view at = model_state(s);

    /* three other satellites of 1 t move the star by 1e-17 of its mass */
    CHECK_NEAR(at.q[3] + at.q[4] + at.q[5], 1014867.2330320379, 1e-4);
    mech_sim_destroy(s);
}

/* A point leaves its anchor at 1 m/s, k = 4 N/m, d = 0.5 N s/m, m = 1 kg and comes back through it:
 * along its line it is the damped oscillator sin(ω t) exp(−δ t)/ω, δ = d/2, ω² = k − δ². */
static void a_spring_without_length_begins_where_its_points_meet(void)
{
    static const char *const integrators[] = {"GeneralizedAlpha", "RK44", "VelocityVerlet"};
    const double delta = 0.25, omega = sqrt(4. - delta * delta);

    for (int i = 0; i < 3; i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint', 'initialVelocities':"
                 "[0.6, 0, 0.8]}], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b',"
                 "'type': 'MassPoint', 'node': 'n', 'physicsMass': 1}, {'name': 's', 'type':"
                 "'SpringDamper', 'markers': ['m0', 'm1'], 'stiffness': 4, 'damping': 0.5}],"
                 "'markers': [{'name': 'm0', 'type': 'MarkerBodyPosition', 'object': 'g'},"
                 "{'name': 'm1', 'type': 'MarkerBodyPosition', 'object': 'b'}],"
                 "'solver': {'integrator': '%s', 'stepSize': 0.0005}}",
                 integrators[i]);
        struct mech_sim *const s = model_of(text);
        double F[9] = {0.};

        model_values(s, MECH_OBJECT, "s", MECH_OUTPUT_FORCE, F);
        CHECK_NEAR(F[0], 0.3, 1e-15);
        CHECK_NEAR(F[2], 0.4, 1e-15);
        CU_ASSERT_EQUAL(model_steps(s, 4000), 0);
        const double u = sin(omega * 2.) * exp(-delta * 2.) / omega;
        /* second order of the schemes: h² times the derivatives, which are of size 10 */
        CHECK_NEAR(model_state(s).q[0], 0.6 * u, 1e-5);
        CHECK_NEAR(model_state(s).q[2], 0.8 * u, 1e-5);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_spring_without_length_begins_where_its_points_meet),
           UNIT_TEST(spring_on_a_slide), UNIT_TEST(spring_on_a_hinge), UNIT_TEST(turns_are_counted),
           UNIT_TEST(turns_are_counted_by_substeps), UNIT_TEST(statics_count_turns),
           UNIT_TEST(counted_turns_are_restored), UNIT_TEST(counting_allocates_nothing),
           UNIT_TEST(angles_put_in_keep_to_the_nearest_turn),
           UNIT_TEST(pendulum_on_a_hinge_with_a_spring),
           UNIT_TEST(softened_gravity_keeps_energy_and_angular_momentum),
           UNIT_TEST(body_on_a_six_way_spring),
           UNIT_TEST(halfway_springs_keep_momentum_and_energy_from_either_side),
           UNIT_TEST(satellite_of_a_free_star))
