/* Contacts between shapes under Moreau–Jean (solver/step/moreau_jean/bodies_touch.c) against closed
 * forms and balances. */
#include "solver/linalg/v3.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* A sphere on a floor, m = 1, r = 0.5, J = 0.4 m r² = 0.1. Order: position, velocity, material,
 * members of the contact's settings, of the solver's. */
#define ONE(position, velocity, material, contact, solver)                                         \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"    \
    "'referenceCoordinates': [" position ", 1, 0, 0, 0], 'initialVelocities': [" velocity          \
    ", 0, 0, 0, 0]}], 'objects': [{'name': 'floor', 'type': 'Ground', 'geometry': ["               \
    "{'shape': 'Plane', 'material': {" material "}}]}, {'name': 'b', 'type': 'RigidBody',"         \
    "'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0], 'geometry': ["     \
    "{'shape': 'Sphere', 'radius': 0.5, 'material': {" material "}}]}], 'contact': {" contact      \
    "}, 'solver': {'integrator': 'MoreauJean', " solver "}}"

static void motion(const struct mech_sim *s, const char *name, double v[3], double w[3])
{
    model_values(s, MECH_OBJECT, name, MECH_OUTPUT_VELOCITY, v);
    model_values(s, MECH_OBJECT, name, MECH_OUTPUT_ANGULAR_VELOCITY, w);
}

/* one step of a sphere that slides at 1 m/s, μ = 0.4, h = 5 ms: l_N = m g h, v_x = 1 − μ g h and
 * ω r = 2.5 μ g h under Coulomb's law; under the associated one the contact opens by μ v_T */
static void a_sliding_sphere_obeys_the_law_that_is_asked_for(void)
{
    static const char *const laws[] = {"coulomb", "associated"};
    static const double v_x[] = {0.98038, 0.884859}, v_z[] = {0., 0.238803};

    for (int path = 0; path < 2; path++) {
        for (int k = 0; k < 2; k++) {
            char text[4096];
            double v[3], w[3];

            snprintf(text, sizeof text,
                     ONE("0, 0, 0.5", "1, 0, 0", "'friction': 0.4", "'friction': '%s'",
                         "'theta': 1, 'stepSize': 0.005%s"),
                     laws[k], path ? ", 'vi': {'type': 'semismooth'}" : "");
            struct mech_sim *const s = model_of(text);

            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            motion(s, "b", v, w);
            CHECK_NEAR(v[0], v_x[k], 5e-7);
            CHECK_NEAR(v[2], v_z[k], 5e-7);
            /* the friction that brakes turns: J ω = r m (1 − v_x) */
            CHECK_NEAR(0.1 * w[1], 0.5 * (1. - v[0]), 1e-9);
            mech_sim_destroy(s);
        }
    }
}

/* slides with v₀ − μ g t while 2.5 μ g t < v, then rolls: from t = 2 v₀/(7 μ g) at 5/7 v₀ */
static void a_sliding_sphere_comes_to_roll_at_5_7(void)
{
    const double h = 1e-3, mu = 0.2, rolls = 2. * 2. / (7. * mu * 9.81);
    struct mech_sim *const s = model_of(
        ONE("0, 0, 0.5", "2, 0, 0", "'friction': 0.2", "", "'theta': 0.5, 'stepSize': 1e-3"));
    double v[3], w[3], since = 0.;

    for (int i = 0; i < 500; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        motion(s, "b", v, w);
        if (since == 0. && fabs(v[0] - 0.5 * w[1]) < 1e-9) {
            since = mech_sim_time(s);
        }
        if (mech_sim_time(s) < rolls - h) {
            CHECK_NEAR(v[0], 2. - mu * 9.81 * mech_sim_time(s), 1e-9);
        }
    }
    CHECK_NEAR(since, rolls, h);
    CHECK_NEAR(v[0], 10. / 7., 1e-9);
    CHECK_NEAR(v[2], 0., 1e-12);
    mech_sim_destroy(s);
}

/* heights of rebound fall by e²: that of v² at the impact, whose time is known to a step */
static void a_bouncing_sphere_loses_by_e2(void)
{
    for (int k = 0; k < 2; k++) {
        const double e = k ? 1. : 0.8, h = 2e-4;
        char text[4096];

        snprintf(
            text, sizeof text,
            ONE("0, 0, 1.5", "0, 0, 0", "'restitution': %g", "", "'theta': 0.5, 'stepSize': 2e-4"),
            e, e);
        struct mech_sim *const s = model_of(text);
        double top = 1., last = 1.5, z[3];
        int bounces = 0;
        bool down = true;

        for (int i = 0; i < 10000; i++) {
            CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
            model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, z);
            if (down && z[2] > last) {
                bounces++;
                top = 0.;
            }
            if (!down && z[2] < last) {
                /* v is off by g h at the impact: 2 g h/v of the height */
                CHECK_NEAR(top, pow(e, 2. * bounces), bounces * 3. * 9.81 * h);
            }
            down = z[2] < last || (z[2] == last && down);
            top = fmax(top, z[2] - 0.5);
            last = z[2];
        }
        CU_ASSERT(bounces >= 2);
        if (k) {
            CHECK_NEAR(mech_sim_energy(s), 9.81 * 1.5, 0.05);
        }
        mech_sim_destroy(s);
    }
}

/* Three spheres on a floor and on each other, thrown: the sweeps over contacts and the solvers with
 * a matrix, step by step. */
static struct mech_sim *three(const char *solver)
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm', 'friction': 0.3,"
        "'restitution': 0.4, 'rollingFriction': 0.01, 'spinningFriction': 0.02}], 'nodes': ["
        "{'name': 'n0', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0]"
        "}, {'name': 'n1', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1, 0.1, 0.6, 1, 0,"
        "0, 0], 'initialVelocities': [-1, 0, 0, 0, 1, 2, 3]}, {'name': 'n2', 'type':"
        "'NodeRigidBodyEP', 'referenceCoordinates': [0.4, 0.2, 1.5, 1, 0, 0, 0]}], 'objects': ["
        "{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': 'm'}]},"
        "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 1, 'physicsInertia':"
        "[0.1, 0.1, 0.1, 0, 0, 0], 'geometry': [{'shape': 'Sphere', 'radius': 0.5, 'material':"
        "'m'}]}, {'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 2,"
        "'physicsInertia': [0.2, 0.25, 0.3, 0, 0, 0], 'geometry': [{'shape': 'Sphere', 'radius':"
        "0.5, 'material': 'm'}]}, {'name': 'b2', 'type': 'RigidBody', 'node': 'n2',"
        "'physicsMass': 0.5, 'physicsInertia': [0.05, 0.05, 0.05, 0, 0, 0], 'geometry': ["
        "{'shape': 'Sphere', 'radius': 0.5, 'material': 'm'}]}], 'solver': {'integrator':"
        "'MoreauJean', 'stepSize': 0.002, 'newton': {'relativeTolerance': 1e-13},"
        "'vi': {'tolerance': 1e-12%s}}}",
        solver);
    return model_of(text);
}

static void sweeps_and_matrices_give_the_same_velocities(void)
{
    struct mech_sim *const swept = three(""), *const solved = three(", 'type': 'psor'");
    size_t most = 0;

    for (int i = 0; i < 400; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(swept, 1), 0);
        CU_ASSERT_EQUAL_FATAL(model_steps(solved, 1), 0);
        CHECK_NEAR(model_distance(model_state(swept).v, model_state(solved).v, 18), 0., 1e-8);
        most = mech_sim_contacts(swept) > most ? mech_sim_contacts(swept) : most;
    }
    CU_ASSERT(most >= 4);
    mech_sim_destroy(swept);
    mech_sim_destroy(solved);
}

/* all that touches keeps momentum: the floor's impulses and the weight make it */
static void balance_of(const char *solver)
{
    static const double mass[] = {1., 2., 0.5};
    struct mech_sim *const s = three(solver);
    double p[3] = {-2., 0., 0.};

    for (int i = 0; i < 400; i++) {
        double now[3] = {0.};

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        for (size_t k = 0; k < mech_sim_contacts(s); k++) {
            struct mech_contact_view c;

            mech_sim_contact(s, k, &c);
            for (int j = 0; j < 3 && strcmp(c.of[0].body, "g") == 0; j++) {
                p[j] += c.impulse[j];
            }
        }
        p[2] -= 3.5 * 9.81 * 0.002;
        for (int k = 0; k < 9; k++) {
            now[k % 3] += mass[k / 3] * model_state(s).v[6 * (k / 3) + k % 3];
        }
        CHECK_NEAR(model_distance(p, now, 3), 0., 1e-11);
    }
    mech_sim_destroy(s);
}

static void momentum_changes_by_the_floor_and_the_weight(void)
{
    balance_of("");
    balance_of(", 'type': 'psor'");
}

/* what rests starts from the impulses of the last step, and they are the solution */
static void what_rests_is_solved_by_the_last_step(void)
{
    struct mech_sim *const s = model_of(
        ONE("0, 0, 0.5", "0, 0, 0", "'friction': 0.4", "", "'theta': 1, 'stepSize': 0.005"));
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 100};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(report.vi_iterations, 0);
    CU_ASSERT_EQUAL(report.contacts, 1);
    mech_sim_destroy(s);
}

/* θ = ½: ½ v² + ½ J ω² + g z changes by Σ impulse · mean velocity of the point, to rounding, and by
 * the weight of what is lifted out of the floor */
static void energy_changes_by_the_work_of_impulses(void)
{
    struct mech_sim *const s =
        model_of(ONE("0, 0, 0.8", "2, 0.5, 0", "'friction': 0.2, 'restitution': 0.5", "",
                     "'theta': 0.5, 'stepSize': 0.002, 'newton': {'relativeTolerance': 1e-14}"));
    double v[2][3], w[2][3], energy = mech_sim_energy(s), z = model_state(s).q[2];
    int pushes = 0;

    motion(s, "b", v[0], w[0]);
    for (int i = 0; i < 1000; i++) {
        double work = 0.;

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        motion(s, "b", v[1], w[1]);
        for (size_t k = 0; k < mech_sim_contacts(s); k++) {
            struct mech_contact_view c;

            mech_sim_contact(s, k, &c);
            /* the arm goes down from the middle of the sphere to halfway between the surfaces */
            const double r = 0.5 + 0.5 * c.gap;
            const double mean[3] = {0.5 * (v[0][0] + v[1][0] - r * (w[0][1] + w[1][1])),
                                    0.5 * (v[0][1] + v[1][1] + r * (w[0][0] + w[1][0])),
                                    0.5 * (v[0][2] + v[1][2])};

            work += mech_v3_dot(mean, c.impulse);
            pushes++;
        }
        work += 9.81 * (model_state(s).q[2] - z - 0.002 * 0.5 * (v[0][2] + v[1][2]));
        CHECK_NEAR(mech_sim_energy(s) - energy, work, 1e-12 * 10.);
        z = model_state(s).q[2];
        energy = mech_sim_energy(s);
        memcpy(v[0], v[1], sizeof v[0]);
        memcpy(w[0], w[1], sizeof w[0]);
    }
    CU_ASSERT(pushes > 100);
    mech_sim_destroy(s);
}

/* rolls on at v₀ − ρ g t/(1.4 r) until it stands */
static void rolling_resistance_stops_a_sphere(void)
{
    struct mech_sim *const s =
        model_of(ONE("0, 0, 0.5", "0.7, 0, 0", "'friction': 0.9, 'rollingFriction': 0.02", "",
                     "'theta': 1, 'stepSize': 1e-3"));
    const double slows = 0.02 * 9.81 / (1.4 * 0.5);
    double v[3], w[3], start = 0., begin = 0.;

    for (int i = 0; i < 2600; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        motion(s, "b", v, w);
        if (i == 100) {
            CHECK_NEAR(v[0], 0.5 * w[1], 1e-9);
            start = v[0];
            begin = mech_sim_time(s);
        } else if (i > 100) {
            CHECK_NEAR(v[0], fmax(0., start - slows * (mech_sim_time(s) - begin)), 1e-8);
        }
    }
    CHECK_NEAR(v[0], 0., 1e-9);
    mech_sim_destroy(s);
}

/* a bob on a rod of 1 m swings from the horizontal against a wall at its lowest point: it comes
 * with v² = 2 g l, and goes back to e² of its height */
static void a_pendulum_swings_against_a_wall(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodePoint',"
        "'referenceCoordinates': [1, 0, 0]}, {'name': 'f', 'type': 'NodePointGround'}], 'objects':"
        "[{'name': 'wall', 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'position': [-0.1, 0,"
        "0], 'normal': [1, 0, 0], 'material': {'restitution': 0.7, 'friction': 0}}]},"
        "{'name': 'b', 'type': 'MassPoint', 'node': 'n', 'physicsMass': 2, 'geometry': [{'shape':"
        "'Sphere', 'radius': 0.1, 'material': {'restitution': 0.7}}]},"
        "{'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 1}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'f'}, {'name': 'm1',"
        "'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': {'integrator': 'MoreauJean',"
        "'stepSize': 2e-4}}");
    double top = -1., before = 0.;
    bool hit = false;

    for (int i = 0; i < 6000; i++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;

        CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
        CU_ASSERT(report.drift.position < 1e-10);
        const struct mech_state_view now = model_state(s);

        if (now.v[0] > 0. && before < 0. && !hit) {
            CHECK_NEAR(before, -sqrt(2. * 9.81), 1e-3);
            CHECK_NEAR(now.v[0], 0.7 * sqrt(2. * 9.81), 1e-3);
            hit = true;
        }
        top = hit ? fmax(top, now.q[2]) : top;
        before = now.v[0];
    }
    CU_ASSERT(hit);
    CHECK_NEAR(top, -1. + 0.49, 2e-3);
    mech_sim_destroy(s);
}

/* sinks by s m g under its weight; thrown down at v it stays for half a period and what its weight
 * adds, (π + 2 atan(g/(ω v)))/ω with ω² = 1/(m s), and leaves as fast as it came */
static void a_compliant_floor_is_a_spring(void)
{
    struct mech_sim *s = model_of(ONE("0, 0, 0.5", "0, 0, 0", "'compliance': 5e-5, 'damping': 100",
                                      "", "'theta': 1, 'stepSize': 0.002"));
    double z[3], v[3], w[3];

    CU_ASSERT_EQUAL(model_steps(s, 2000), 0);
    model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, z);
    /* of two materials compliances add up, and the smaller damping counts */
    CHECK_NEAR(z[2], 0.5 - 1e-4 * 9.81, 1e-10);
    mech_sim_destroy(s);

    s = model_of(ONE("0, 0, 0.50001", "0, 0, -3", "'compliance': 5e-5", "",
                     "'theta': 0.5, 'stepSize': 2e-5"));
    double touched = 0., last = 0.;
    for (int i = 0; i < 3000; i++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        if (mech_sim_contacts(s)) {
            last = mech_sim_time(s);
            touched = touched == 0. ? last : touched;
        }
    }
    motion(s, "b", v, w);
    /* ω = 100/s; seen to a step at both ends */
    CHECK_NEAR(last - touched, 0.01 * (3.14159265358979312 + 2. * atan(9.81 / 300.)), 4e-5);
    CHECK_NEAR(v[2] + 9.81 * (mech_sim_time(s) - last), 3., 1e-3);
    mech_sim_destroy(s);
}

/* an overlap opens at overlap/h, but not faster than recoverySpeed, and the body stays at rest */
static void overlaps_are_undone_in_time(void)
{
    static const double depth[] = {1e-4, 0.05}, speed[] = {0.02, 0.6};

    for (int path = 0; path < 2; path++) {
        for (int k = 0; k < 2; k++) {
            char text[4096];
            double v[3], w[3], p[3];

            snprintf(text, sizeof text,
                     ONE("0, 0, %.17g", "0, 0, 0", "", "", "'theta': 1, 'stepSize': 0.005%s"),
                     0.5 - depth[k], path ? ", 'vi': {'type': 'semismooth'}" : "");
            struct mech_sim *const s = model_of(text);

            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            motion(s, "b", v, w);
            CHECK_NEAR(v[2], 0., 1e-9);
            model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
            CHECK_NEAR(p[2], 0.5 - depth[k] + 0.005 * speed[k], 1e-9);
            mech_sim_destroy(s);
        }
    }
}

/* restored and uninterrupted go on to the same bits, and steps allocate nothing */
static void contacts_resume_to_the_bit_and_allocate_nothing(void)
{
    static const char *const solvers[] = {"", ", 'type': 'psor'"};

    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = three(solvers[k]), *const other = three(solvers[k]);
        void *const snapshot = malloc(mech_sim_snapshot_size(s));

        CU_ASSERT_EQUAL(model_steps(s, 300), 0);
        const size_t size = mech_sim_snapshot_write(s, snapshot);

        /* the room for contacts that are not there is left out, and nothing may stand there */
        CU_ASSERT(size < mech_sim_snapshot_size(s));
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(other, snapshot, size + 8, NULL), MECH_MISMATCH);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(other, snapshot, size - 8, NULL), MECH_MISMATCH);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(other, snapshot, size, NULL), 0);
        CU_ASSERT_EQUAL(model_steps(other, 1), 0);
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(s, 99), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        CU_ASSERT_EQUAL(model_steps(other, 99), 0);
        CU_ASSERT_EQUAL(memcmp(model_state(s).q, model_state(other).q, 21 * sizeof(double)), 0);
        CU_ASSERT_EQUAL(memcmp(model_state(s).v, model_state(other).v, 18 * sizeof(double)), 0);
        free(snapshot);
        mech_sim_destroy(s);
        mech_sim_destroy(other);
    }
}

/* a solver with too few iterations fails and keeps the state; where that is accepted it goes on
 * with what was found */
static void a_solver_that_fails_leaves_the_state_or_is_accepted(void)
{
    for (int accept = 0; accept < 2; accept++) {
        char solver[200];

        snprintf(solver, sizeof solver, ", 'type': 'psor', 'maxIterations': 2, 'onFailure': '%s'",
                 accept ? "accept" : "error");
        struct mech_sim *const s = three(solver);
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 200};
        struct mech_step_report report;
        const int code = mech_sim_step(s, &r, &report);

        CU_ASSERT_EQUAL(code, accept ? 0 : MECH_VI_NOT_CONVERGED);
        CU_ASSERT(accept ? report.residual > 1e-12 : report.reason[0] != '\0');
        CU_ASSERT_EQUAL(mech_sim_step_count(s), accept ? 200 : 0);
        CHECK_NEAR(accept ? 0. : model_state(s).q[7], accept ? 0. : 1., 0.);
        mech_sim_destroy(s);
    }
}

static void more_contacts_than_allowed_are_reported(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodePoint',"
        "'referenceCoordinates': [0, 0, 0.5]}], 'objects': [{'name': 'g', 'type': 'Ground',"
        "'geometry': [{'shape': 'Plane'}]}, {'name': 'b', 'type': 'MassPoint', 'node': 'n',"
        "'physicsMass': 1, 'geometry': [{'shape': 'Sphere', 'radius': 0.5}, {'shape': 'Sphere',"
        "'radius': 0.5, 'position': [1, 0, 0]}]}], 'contact': {'capacity': 1},"
        "'solver': {'integrator': 'MoreauJean', 'theta': 1}}");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "contact.capacity"));
    mech_sim_destroy(s);
}

/* a cube that falls on an edge or on a corner tips over and comes to rest on a face, however rough
 * the floor is: two and four points that repeat each other, with the largest μ too */
static void a_cube_comes_to_rest_on_any_floor(void)
{
    static const double mu[] = {0., 0.3, 1., 3., 10.};
    static const char *const turned[] = {"0.9393727, 0.3428978, 0, 0",
                                         "0.9004471, 0.3608440, 0.2165064, 0.1082532"};

    for (int k = 0; k < 10; k++) {
        char text[4096];
        double p[3], v[3], w[3];

        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm', 'friction': "
            "%g}], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
            "[0, 0, 0.25, %s]}], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry':"
            "[{'shape': 'Plane', 'material': 'm'}]}, {'name': 'b', 'type': 'RigidBody', 'node':"
            "'n', 'physicsMass': 1, 'physicsInertia': [0.0066666666666666671,"
            "0.0066666666666666671, 0.0066666666666666671, 0, 0, 0], 'geometry': [{'shape':"
            "'Box', 'size': [0.2, 0.2, 0.2], 'material': 'm'}]}], 'solver': {'integrator':"
            "'MoreauJean', 'theta': 1, 'stepSize': 0.002}}",
            mu[k / 2], turned[k % 2]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
        motion(s, "b", v, w);
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
        CHECK_NEAR(p[2], 0.1, 1e-7);
        CHECK_NEAR(mech_v3_norm(v), 0., 1e-9);
        CHECK_NEAR(mech_v3_norm(w), 0., 1e-8);
        mech_sim_destroy(s);
    }
}

/* A top of a few cm slides without friction at 2 m/s, and its wider rim is within a step's reach of
 * the floor, too: it stands on its smallest face, a triangle. */
static void a_hull_slides_on_the_face_that_it_stands_on(void)
{
    static const char *const floors[] = {
        "'Plane'", "'Mesh', 'vertices': [[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]],"
                   "'triangles': [[0, 1, 2], [0, 2, 3]]"};

    for (int k = 0; k < 4; k++) {
        char text[4096];
        double p[3], v[3], w[3];

        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm', 'friction': 0}],"
            "'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0,"
            "0.02, 1, 0, 0, 0], 'initialVelocities': [2, 0, 0, 0, 0, 0, 0]}], 'objects': [{"
            "'name': 'g', 'type': 'Ground', 'geometry': [{'shape': %s, 'material': 'm'}]}, {'name':"
            "'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.01,"
            "0.01, 0.01, 0, 0, 0], 'geometry': [{'shape': 'ConvexHull', 'material': 'm', 'points':"
            "[[0.05, 0, -0.02], [-0.02, 0.04, -0.02], [-0.02, -0.04, -0.02], [0.1, 0, 0.002],"
            "[0.02, 0.11, 0], [-0.09, 0.05, 0.001], [-0.09, -0.06, 0.003], [0.03, -0.1, 0.004],"
            "[0, 0, 0.05]]}]}], 'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize':"
            "0.015}}",
            floors[k / 2], k % 2 ? 1. : 0.5);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        motion(s, "b", v, w);
        model_values(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION, p);
        CHECK_NEAR(p[2], 0.02, 1e-9);
        CHECK_NEAR(v[0], 2., 1e-12);
        CHECK_NEAR(v[2], 0., 1e-8);
        CHECK_NEAR(mech_v3_norm(w), 0., 1e-7);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_sliding_sphere_obeys_the_law_that_is_asked_for),
           UNIT_TEST(a_sliding_sphere_comes_to_roll_at_5_7),
           UNIT_TEST(a_bouncing_sphere_loses_by_e2),
           UNIT_TEST(sweeps_and_matrices_give_the_same_velocities),
           UNIT_TEST(momentum_changes_by_the_floor_and_the_weight),
           UNIT_TEST(what_rests_is_solved_by_the_last_step),
           UNIT_TEST(energy_changes_by_the_work_of_impulses),
           UNIT_TEST(rolling_resistance_stops_a_sphere),
           UNIT_TEST(a_pendulum_swings_against_a_wall), UNIT_TEST(a_compliant_floor_is_a_spring),
           UNIT_TEST(overlaps_are_undone_in_time),
           UNIT_TEST(contacts_resume_to_the_bit_and_allocate_nothing),
           UNIT_TEST(a_solver_that_fails_leaves_the_state_or_is_accepted),
           UNIT_TEST(more_contacts_than_allowed_are_reported),
           UNIT_TEST(a_cube_comes_to_rest_on_any_floor),
           UNIT_TEST(a_hull_slides_on_the_face_that_it_stands_on))
