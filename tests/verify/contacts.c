/* Contacts between shapes under Moreau–Jean (solver/step/moreau_jean_bodies_touch.c) against closed
 * forms and balances. */
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

UNIT_TESTS(UNIT_TEST(a_sliding_sphere_obeys_the_law_that_is_asked_for),
           UNIT_TEST(a_sliding_sphere_comes_to_roll_at_5_7),
           UNIT_TEST(a_bouncing_sphere_loses_by_e2))
