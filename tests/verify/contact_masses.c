/* Bodies in contact with masses and sizes far from 1 kg and 1 m move as those of 1 kg and 1 m do:
 * contacts are accepted relative to the terms that balance in them, for light and heavy bodies, and
 * for light ones under heavy ones. */
#include "tests/unit/model.h"
#include "tests/verify/put.h"

/* Speed after 0.1 s of a ball of 0.1 m that slides at 1 m/s on a plane, friction 0.2, with more in
 * the material, a spring of `spring` m/s^2 per m to where it began, and more in the model. */
static double slid(double mass, const char *material, double spring, const char *more)
{
    char text[4000];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
        "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0],"
        "'initialVelocities': [1, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'g', 'type':"
        "'Ground', 'geometry': [{'shape': 'Plane', 'material': {'friction': 0.2%s}}]}, {'name':"
        "'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': %.17g, 'physicsInertia':"
        "[%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape': 'Sphere', 'radius': 0.1,"
        "'material': {'friction': 1%s}}]}%s",
        material, mass, 0.004 * mass, 0.004 * mass, 0.004 * mass, material,
        spring > 0. ? "" : "],");
    if (spring > 0.) {
        snprintf(
            text + strlen(text), sizeof text - strlen(text),
            ", {'name': 's', 'type': 'SpringDamper', 'markers': ['o', 'm'], 'stiffness': %.17g,"
            "'referenceLength': 1}], 'markers': [{'name': 'o', 'type': 'MarkerBodyPosition',"
            "'object': 'g', 'localPosition': [-1, 0, 0.1]}, {'name': 'm', 'type':"
            "'MarkerBodyPosition', 'object': 'b'}],",
            spring * mass);
    }
    snprintf(text + strlen(text), sizeof text - strlen(text),
             "%s'solver': {'integrator': 'MoreauJean', 'stepSize': 0.001}}", more);
    struct mech_sim *const s = model_of(text);
    const int code = model_steps(s, 100);
    const double v = view_of(s).v[0];

    CU_ASSERT_EQUAL(code, 0);
    mech_sim_destroy(s);
    return v;
}

static const double masses[] = {1e-12, 1e-10, 1e-6, 1e6, 1e12};

static void a_ball_is_braked_by_friction_whatever_its_mass(void)
{
    static const char *const rolls = ", 'rollingFriction': 0.01, 'spinningFriction': 0.005";
    static const char *const laws[] = {"", "'contact': {'friction': 'associated'}, "};

    CHECK_NEAR(slid(1., "", 0., ""), 1. - 0.2 * 9.81 * 0.1, 1e-9);
    for (int k = 0; k < 8; k++) {
        const char *const material = k & 1 ? rolls : "", *const law = laws[k >> 2];
        const double spring = k & 2 ? 30. : 0., as = slid(1., material, spring, law);

        for (size_t i = 0; i < sizeof masses / sizeof *masses; i++) {
            const double v = slid(masses[i], material, spring, law);

            CHECK_NEAR(v, as, 1e-9);
            if (fabs(v - as) > 1e-9) {
                fprintf(stderr, "case %d, %g kg: %.15g, %.15g\n", k, masses[i], v, as);
            }
        }
    }
}

/* Height of the highest of boxes of 0.2 m on each other after 0.5 s; masses from the lowest. */
static double stacked(const double *mass, int count, const char *more)
{
    struct text *const t = calloc(1, sizeof *t);

    put(t, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [");
    for (int i = 0; i < count; i++) {
        put(t,
            "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, %.17g, 1,"
            "0, 0, 0]}",
            i ? "," : "", i, 0.1 + 0.2 * i);
    }
    put(t, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}");
    for (int i = 0; i < count; i++) {
        const double J = mass[i] * 0.04 / 6.;

        put(t,
            ",{'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': %.17g,"
            "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape': 'Box',"
            "'size': [0.2, 0.2, 0.2]}]}",
            i, i, mass[i], J, J, J);
    }
    put(t, "], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005%s}}", more);
    struct mech_sim *const s = model_of(t->at);

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    const double z = view_of(s).q[7 * (count - 1) + 2];

    mech_sim_destroy(s);
    free(t);
    return z;
}

static void stacks_stand_whatever_they_weigh(void)
{
    for (size_t i = 0; i < sizeof masses / sizeof *masses; i++) {
        const double m = masses[i], stack[5] = {m, m, m, m, m};

        CHECK_NEAR(stacked(stack, 5, ""), 0.9, 1e-4);
        CHECK_NEAR(stacked(stack, 5, ", 'vi': {'type': 'psor'}"), 0.9, 1e-4);
    }
}

static void heavy_boxes_stand_on_light_ones(void)
{
    for (double heavy = 1e2; heavy < 2e6; heavy *= 1e2) {
        CHECK_NEAR(stacked((double[]){1., heavy}, 2, ""), 0.3, 1e-4);
    }
    /* doubles balance impulses that large to 2e-7 of what presses: accepted, and no conflict */
    for (double heavy = 1e8; heavy < 2e9; heavy *= 10.) {
        CHECK_NEAR(stacked((double[]){1., heavy}, 2, ""), 0.3, 1e-4);
    }
}

/* A box of 1 kg between the floor and a lid that is led down at `closing`, with gravity or without:
 * no impulses are a solution, however slowly it closes beside what presses. */
static void a_vice_that_closes_is_no_heavy_box(void)
{
    static const double closing[] = {1e-7, 1e-6, 1e-5}, gravity[] = {0., -9.81};

    for (int k = 0; k < 6; k++) {
        char text[4000];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'gravity': [0, 0, %g], 'nodes': [{'name': 'n', 'type':"
                 "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0]}, {'name':"
                 "'ln', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, 0.3],"
                 "'initialVelocities': [0, 0, %g]}], 'objects': [{'name': 'floor', 'type':"
                 "'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'box', 'type':"
                 "'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.00667, 0.00667,"
                 "0.00667, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size': [0.2, 0.2, 0.2]}]},"
                 "{'name': 'lid', 'type': 'MassPoint', 'node': 'ln', 'physicsMass': 1, 'geometry':"
                 "[{'shape': 'Box', 'size': [1, 1, 0.2]}]}, {'name': 'led', 'type':"
                 "'CoordinateConstraint', 'markers': ['g', 'l'], 'offsetUserFunction': '=%g*t',"
                 "'offsetUserFunction_t': '=%g+0*t'}], 'markers': [{'name': 'g', 'type':"
                 "'MarkerGroundCoordinate'}, {'name': 'l', 'type': 'MarkerNodeCoordinate', 'node':"
                 "'ln', 'coordinate': 2}], 'contact': {'jointed': true}, 'solver': {'integrator':"
                 "'MoreauJean', 'stepSize': 0.005}}",
                 gravity[k / 3], -closing[k % 3], -closing[k % 3], -closing[k % 3]);
        struct mech_sim *const s = model_of(text);
        const struct mech_step_request one = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;

        CU_ASSERT_NOT_EQUAL(mech_sim_step(s, &one, &report), 0);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "satisfy these contacts together"));
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "\"floor\"–\"box\""));
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "\"box\"–\"lid\""));
        mech_sim_destroy(s);
    }
}

/* Speeds over √r after 100 steps of a ball of radius r that rolls at 0.7 √(2 r), and of one that
 * lies on it; both resist rolling and spinning. v [4]: along the plane, and turns times r. */
static void rolled(double r, const char *more, double v[4])
{
    char text[4000], body[2][1000];
    const double J = 0.4 * r * r, speed = sqrt(r);

    for (int i = 0; i < 2; i++) {
        snprintf(body[i], sizeof body[i],
                 "{'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 1,"
                 "'physicsInertia': [%.17g, %.17g, %.17g, 0, 0, 0], 'geometry': [{'shape':"
                 "'Sphere', 'radius': %.17g, 'material': 'm'}]}",
                 i, i, J, J, J, r);
    }
    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm', 'friction': 0.9,"
             "'rollingFriction': %.17g, 'spinningFriction': %.17g}], 'nodes': [{'name': 'n0',"
             "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, %.17g, 1, 0, 0, 0],"
             "'initialVelocities': [%.17g, 0, 0, 0, 0, 0, 0]}, {'name': 'n1', 'type':"
             "'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, 0, %.17g, 1, 0, 0, 0]}],"
             "'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane',"
             "'material': 'm'}]}, %s, %s], %s'solver': {'integrator': 'MoreauJean', 'theta': 1,"
             "'stepSize': %.17g%s}}",
             0.04 * r, 0.02 * r, r, 0.7 * sqrt(2.) * speed, 0.7 * r, r + sqrt(3.51) * r, body[0],
             body[1], strstr(more, "associated") ? "'contact': {'friction': 'associated'}, " : "",
             1e-3 * sqrt(2.) * speed, strstr(more, "psor") ? ", 'vi': {'type': 'psor'}" : "");
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    for (int i = 0; i < 2; i++) {
        v[2 * i] = view_of(s).v[6 * i] / speed;
        v[2 * i + 1] = view_of(s).v[6 * i + 4] * r / speed;
    }
    mech_sim_destroy(s);
}

static void balls_that_resist_rolling_roll_whatever_their_size(void)
{
    static const char *const kinds[] = {"", "psor", "associated", "psor, associated"};
    static const double radii[] = {0.5, 2.4e-4, 1e-4, 1e-7};

    for (int k = 0; k < 4; k++) {
        double as[4], v[4];

        rolled(1., kinds[k], as);
        CU_ASSERT(as[0] > 0.1 && as[1] > 0.1); /* m/s: it rolls still */
        for (int i = 0; i < 4; i++) {
            rolled(radii[i], kinds[k], v);
            for (int j = 0; j < 4; j++) {
                CHECK_NEAR(v[j], as[j], 1e-8);
            }
        }
    }
}

UNIT_TESTS(UNIT_TEST(a_ball_is_braked_by_friction_whatever_its_mass),
           UNIT_TEST(balls_that_resist_rolling_roll_whatever_their_size),
           UNIT_TEST(stacks_stand_whatever_they_weigh), UNIT_TEST(heavy_boxes_stand_on_light_ones),
           UNIT_TEST(a_vice_that_closes_is_no_heavy_box))
