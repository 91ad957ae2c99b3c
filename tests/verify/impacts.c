/* What an impact may do to velocities and positions (solver/model/gap.h): no rebound without
 * restitution, no kinetic energy from overlaps or from closing them, none through thin walls. */
#include "tests/unit/model.h"

/* as Newton's method with a matrix, and by sweeps without one */
static const char *const solvers[] = {"", ", 'vi': {'type': 'semismooth'}"};
static const double thetas[] = {0.5, 0.75, 1.};
static const double steps[] = {1e-3, 3.7e-3, 1e-2};

/* e = 0, dropped 1 m: never up again, and at rest on the floor after a second more */
static void a_sphere_without_restitution_stays_down(void)
{
    for (int k = 0; k < 18; k++) {
        const double theta = thetas[k % 3], h = steps[k / 3 % 3];
        char text[2048];
        double most = -1.;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 1.5, 1, 0, 0, 0]}], 'objects':"
                 "[{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'b',"
                 "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1,"
                 "0.1, 0, 0, 0], 'geometry': [{'shape': 'Sphere', 'radius': 0.5}]}], 'solver':"
                 "{'integrator': 'MoreauJean', 'theta': %g, 'stepSize': %g%s}}",
                 theta, h, solvers[k / 9]);
        struct mech_sim *const s = model_of(text);

        for (int i = 0; i < 1.5 / h; i++) {
            CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
            most = fmax(most, model_state(s).v[2]);
        }
        CU_ASSERT(most <= 1e-9); /* solver.vi.tolerance 1e-10 of the impulse */
        /* what stays of an overlap is below a millionth of recoverySpeed h */
        CHECK_NEAR(model_state(s).q[2], 0.5, 0.6e-6 * h);
        mech_sim_destroy(s);
    }
}

/* a rod of 1 m on a hinge, let go from the horizontal: a ball at its end meets a wall under it */
static void a_hinged_rod_stays_at_the_wall(void)
{
    for (int k = 0; k < 9; k++) {
        const double theta = thetas[k % 3], h = steps[k / 3];
        char text[4096];
        double back = 0.;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBody2D', 'referenceCoordinates': [0.5, 0, 0]}], 'objects': ["
                 "{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Box', 'size':"
                 "[0.2, 2, 2], 'position': [0, -1.2, 0]}]}, {'name': 'b', 'type':"
                 "'RigidBody2D', 'node': 'n', 'physicsMass': 1, 'physicsInertia': 0.0833,"
                 "'geometry': [{'shape': 'Sphere', 'radius': 0.05, 'position': [0.5, 0, 0]}]},"
                 "{'name': 'j', 'type': 'RevoluteJoint2D', 'markers': ['mg', 'm']}],"
                 "'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'},"
                 "{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition':"
                 "[-0.5, 0, 0]}], 'solver': {'integrator': 'MoreauJean', 'theta': %g,"
                 "'stepSize': %g}}",
                 theta, h);
        struct mech_sim *const s = model_of(text);
        bool hit = false;

        for (int i = 0; i < 1. / h; i++) {
            CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
            const double *const q = model_state(s).q, *const v = model_state(s).v;

            hit = hit || (mech_sim_time(s) > 0.2 && v[2] > -1e-3);
            back = hit ? fmax(back, v[2]) : back;
            /* the hinge holds, while overlaps are closed too */
            CHECK_NEAR(q[0] - 0.5 * cos(q[2]), 0., 1e-9);
            CHECK_NEAR(q[1] - 0.5 * sin(q[2]), 0., 1e-9);
        }
        CU_ASSERT(hit && back <= 1e-9);
        mech_sim_destroy(s);
    }
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static double within(uint32_t *seed, double from, double to)
{
    return from + (to - from) * next(seed) / 16777216.;
}

/* A statement each: the order of arguments is the compiler's. */
enum order { BACKWARD, FORWARD };

static void draw(uint32_t *seed, enum order order, double q[3], double v[6])
{
    for (int i = 0; i < 9; i++) {
        const int k = order == FORWARD ? i : 8 - i;

        if (k < 3) {
            q[k] = k < 2 ? within(seed, -0.1, 0.1) : within(seed, 0.45, 0.6);
        } else {
            v[k - 3] = k < 6 ? within(seed, -4., 4.) : within(seed, -2., 2.);
        }
    }
}

/* Spheres and boxes in a box of planes without gravity, some of them overlapping, some hinged to
 * points in space. */
static struct mech_sim *scene(uint32_t seed, enum order order)
{
    const double theta = thetas[seed % 3], h = steps[seed / 3 % 3], mu = 0.3 * (seed / 9 % 4);
    static char text[16384];
    char *at = text;
    const bool hinged = seed % 2;

    at += sprintf(at, "{'mechd': 1, 'nodes': [");
    for (int i = 0; i < 6; i++) {
        double q[3], v[6];

        draw(&seed, order, q, v);
        at +=
            sprintf(at,
                    "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [%g, %g,"
                    "%g, 1, 0, 0, 0], 'initialVelocities': [%g, %g, %g, 0, %g, %g, %g]}",
                    i ? ", " : "", i, 0.9 * (i % 3) + q[0], 0.9 * (i / 3) + q[1], q[2], v[0], v[1],
                    v[2], v[3], v[4], v[5]);
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                      "'Plane'}, {'shape': 'Box', 'size': [1, 9, 9], 'position': [-1, 0, 0]},"
                      "{'shape': 'Box', 'size': [1, 9, 9], 'position': [2.8, 0, 0]}]}");
    for (int i = 0; i < 6; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %g,"
                      "'physicsInertia': [0.1, 0.15, 0.12, 0, 0, 0], 'geometry': [{%s,"
                      "'material': {'friction': %g}}]}",
                      i, i, within(&seed, 0.5, 3.),
                      i % 2 ? "'shape': 'Box', 'size': [0.9, 0.8, 0.9]"
                            : "'shape': 'Sphere', 'radius': 0.5",
                      mu);
    }
    at +=
        sprintf(at,
                "%s], 'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g',"
                "'localPosition': [0, 0, 1.5]}, {'name': 'm', 'type': 'MarkerBodyRigid',"
                "'object': 'b0', 'localPosition': [0, 0, 1]}], ",
                hinged ? ", {'name': 'j', 'type': 'SphericalJoint', 'markers': ['mg', 'm']}" : "");
    sprintf(at, "'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': %g}}", theta, h);
    /* the hinged one begins where its joint is, at rest */
    if (hinged) {
        char *const c = strstr(text, "'referenceCoordinates': [");
        static const char start[] = "'referenceCoordinates': [0, 0, 0.5, 1, 0, 0, 0]";
        const char *const rest = strchr(c, '}');

        memcpy(c, start, sizeof start - 1);
        memmove(c + sizeof start - 1, rest, strlen(rest) + 1);
    }
    return model_of(text);
}

/* of 150 steps of a scene, what the one that adds most adds to kinetic energy, J; 1 into *failed
 * where a step fails, which wedged at a hinge may have no solution, and changes nothing */
static double most_gained(uint32_t seed, enum order order, int *failed)
{
    struct mech_sim *const s = scene(seed, order);
    double before = mech_sim_energy(s), gained = 0.;

    for (int i = 0; i < 150; i++) {
        if (model_steps(s, 1)) {
            ++*failed;
            CHECK_NEAR(mech_sim_energy(s), before, 0.);
            break;
        }
        const double now = mech_sim_energy(s);

        gained = fmax(gained, now - before);
        before = now;
    }
    mech_sim_destroy(s);
    if (gained > 1e-3) {
        fprintf(stderr, "scene %u, %s: gained %g\n", seed,
                order == FORWARD ? "forward" : "backward", gained);
    }
    return gained;
}

/* without forces, whatever overlaps: kinetic energy does not grow for e = 0 and any μ, but by the
 * gyroscopic moments, whose work is of the scheme's order */
static void overlaps_give_no_energy(void)
{
    int failed = 0;

    for (uint32_t k = 0; k < 8; k++) {
        CU_ASSERT(!unit_case((int)k) ||
                  most_gained(61 * k, k % 4 < 2 ? BACKWARD : FORWARD, &failed) <= 1e-3);
    }
    CU_ASSERT(failed <= 2);
}

/* The same where bodies are wedged, with each other and at a hinge: impulses of any size are in
 * balance there, in line with the hinge as well, and what solvers leave of speeds times these, or
 * of rounding, is no energy. */
static void wedged_bodies_gain_no_energy(void)
{
    static const uint32_t backward[] = {171, 191, 427, 633};
    static const uint32_t forward[] = {10, 363, 391, 435, 487, 541, 645};
    int failed = 0;

    for (size_t k = 0; k < sizeof backward / sizeof *backward; k++) {
        CU_ASSERT(most_gained(backward[k], BACKWARD, &failed) <= 1e-3);
    }
    for (size_t k = 0; k < sizeof forward / sizeof *forward; k++) {
        CU_ASSERT(most_gained(forward[k], FORWARD, &failed) <= 1e-3);
    }
    CU_ASSERT(failed <= 2);
}

/* 9 m/s, h = 0.1 s, a size of 1 m, a wall of 1 cm, θ = ½ */
static void nothing_passes_a_thin_wall(void)
{
    static const char *const shapes[] = {"'shape': 'Sphere', 'radius': 0.5",
                                         "'shape': 'Box', 'size': [1, 1, 1]"};

    for (int k = 0; k < 40; k++) {
        char text[2048];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
                 "'referenceCoordinates': [%g, 0, 0, 1, 0, 0, 0], 'initialVelocities':"
                 "[9, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry':"
                 "[{'shape': 'Box', 'size': [0.01, 9, 9]}]}, {'name': 'b', 'type': 'RigidBody',"
                 "'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0],"
                 "'geometry': [{%s}]}], 'solver': {'integrator': 'MoreauJean', 'theta': 0.5,"
                 "'stepSize': 0.1%s}}",
                 -3. - 0.09 * (k / 4), shapes[k % 2], solvers[k / 2 % 2]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 60), 0);
        CHECK_NEAR(model_value(s, MECH_OBJECT, "b", MECH_OUTPUT_POSITION), -0.505, 0.6e-6 * 0.1);
        CHECK_NEAR(model_state(s).v[0], 0., 1e-9);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_sphere_without_restitution_stays_down),
           UNIT_TEST(a_hinged_rod_stays_at_the_wall), UNIT_TEST(overlaps_give_no_energy),
           UNIT_TEST(wedged_bodies_gain_no_energy), UNIT_TEST(nothing_passes_a_thin_wall))
