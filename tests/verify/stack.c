/* Boxes that rest and slide, against closed forms: flat faces carry more contacts than there are
 * equations, so that impulses are not unique and motions are. */
#include "tests/unit/model.h"

static void motion(const struct mech_sim *s, const char *name, double p[3], double v[3])
{
    model_values(s, MECH_OBJECT, name, MECH_OUTPUT_POSITION, p);
    model_values(s, MECH_OBJECT, name, MECH_OUTPUT_VELOCITY, v);
}

/* ten cubes of 1 kg and 1 m on a floor for a minute */
static void ten_boxes_stand_for_a_minute(void)
{
    char text[8192], *at = text;

    at +=
        sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'solver': {'integrator': 'MoreauJean',"
                    "'theta': 1, 'stepSize': 0.005}, 'nodes': [");
    for (int i = 0; i < 10; i++) {
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0,"
                      "%g, 1, 0, 0, 0]}",
                      i ? ", " : "", i, 0.5 + i);
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                      "'Plane'}]}");
    for (int i = 0; i < 10; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 1,"
                      "'physicsInertia': [0.16666666666666666, 0.16666666666666666,"
                      "0.16666666666666666, 0, 0, 0], 'geometry': [{'shape': 'Box', 'size':"
                      "[1, 1, 1]}]}",
                      i, i);
    }
    sprintf(at, "]}");
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL_FATAL(model_steps(s, 12000), 0);
    CU_ASSERT_EQUAL(mech_sim_contacts(s), 40);
    for (int i = 0; i < 10; i++) {
        char name[8];
        double p[3], v[3];

        snprintf(name, sizeof name, "b%d", i);
        motion(s, name, p, v);
        CHECK_NEAR(p[0], 0., 1e-8);
        CHECK_NEAR(p[1], 0., 1e-8);
        CHECK_NEAR(p[2], 0.5 + i, 1e-8);
    }
    mech_sim_destroy(s);
}

/* a box on a table that is tilted by a about y, let go; μ = ½ */
static struct mech_sim *on_table(double a, double theta, const char *solver)
{
    char text[4096];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm', 'friction': 0.5}],"
             "'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [%.17g, 0,"
             "%.17g, %.17g, 0, %.17g, 0]}], 'objects': [{'name': 'g', 'type': 'Ground',"
             "'geometry': [{'shape': 'Box', 'size': [20, 4, 1], 'position': [%.17g, 0, %.17g],"
             "'rotation': [0, %.17g, 0], 'material': 'm'}]}, {'name': 'b', 'type': 'RigidBody',"
             "'node': 'n', 'physicsMass': 2, 'physicsInertia': [0.033, 0.048, 0.068, 0, 0, 0],"
             "'geometry': [{'shape': 'Box', 'size': [0.5, 0.4, 0.2], 'material': 'm'}]}],"
             "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005, 'theta': %g%s}}",
             0.1 * sin(a), 0.1 * cos(a), cos(0.5 * a), sin(0.5 * a), -0.5 * sin(a), -0.5 * cos(a),
             a, theta, solver);
    return model_of(text);
}

/* sticks below tan a = μ, and slides above, at g (sin a − μ cos a) t; with a matrix too */
static void a_box_slips_at_the_right_angle(void)
{
    static const char *const solvers[] = {"", ", 'vi': {'type': 'admm'}"};

    for (int k = 0; k < 8; k++) {
        const bool slips = k % 2;
        const double a = atan(0.5) + (slips ? 0.1 : -0.1) * 3.14159265358979312 / 180.;
        struct mech_sim *const s = on_table(a, k / 2 % 2 ? 0.5 : 1., solvers[k / 4]);
        double p[3], v[3];

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 400), 0);
        motion(s, "b", p, v);
        const double speed = slips ? 2. * 9.81 * (sin(a) - 0.5 * cos(a)) : 0.;

        CHECK_NEAR(v[0], speed * cos(a), 1e-7);
        CHECK_NEAR(v[2], -speed * sin(a), 1e-7);
        CHECK_NEAR(v[1], 0., 1e-8);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(ten_boxes_stand_for_a_minute), UNIT_TEST(a_box_slips_at_the_right_angle))
