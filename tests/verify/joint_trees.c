/* Trees of joints: eliminated along the tree and by KLU, the same motion; what is no tree goes to
 * another solver; and no step allocates. Bodies in the plane and in space, joints of several kinds
 * with branches, springs along the joints. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#define PLANE_BODY(name, x, y)                                                                     \
    "{'name': '" name "', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [" x ", " y ", 0],"   \
    " 'initialVelocities': [0, 0, 0]}"
#define MARKER(name, body, x, y)                                                                   \
    "{'name': '" name "', 'type': 'MarkerBodyRigid', 'object': '" body "', 'localPosition': [" x   \
    ", " y ", 0]}"
#define MASS(name, node)                                                                           \
    "{'name': '" name "', 'type': 'RigidBody2D', 'node': '" node                                   \
    "', 'physicsMass': 2, 'physicsInertia': 0.3}"
#define JOINT(name, type, a, b, more)                                                              \
    "{'name': '" name "', 'type': '" type "', 'markers': ['" a "', '" b "']" more "}"

/* a link on the ground, on it a slide and a hinge, on that another; the solver is open */
static const char plane[] =
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [" PLANE_BODY("na", "0.5", "0") "," PLANE_BODY("nb", "1.5", "0") "," PLANE_BODY(
        "nc", "1.5",
        "0.2") "," PLANE_BODY("nd", "2.5",
                              "0") "],"
                                   "'objects': [{'name': 'g', 'type': "
                                   "'Ground'}," MASS("a", "na") "," MASS("b", "nb") "," MASS(
                                       "c", "nc") "," MASS("d", "nd") "," JOINT("ja",
                                                                                "Revol"
                                                                                "uteJo"
                                                                                "int2"
                                                                                "D",
                                                                                "g0", "a0",
                                                                                "") "," JOINT("jb",
                                                                                              "Revo"
                                                                                              "lute"
                                                                                              "Join"
                                                                                              "t2D",
                                                                                              "a1",
                                                                                              "b0", "") "," JOINT("jc", "PrismaticJoint2D", "a2", "c0", "") "," JOINT("jd", "RevoluteJoint2D", "b1", "d0", "") "," JOINT("s", "CartesianSpringDamper", "a2", "c0", ", 'stiffness': [90, 0, 0], 'damping': [1, 0, 0]") "],"
                                                                                                                                                                                                                                                                                                                      "'markers': [" MARKER("g0", "g", "0", "0") "," MARKER("a0",
                                                                                                                                                                                                                                                                                                                                                                            "a",
                                                                                                                                                                                                                                                                                                                                                                            "-0.5",
                                                                                                                                                                                                                                                                                                                                                                            "0") "," MARKER("a1", "a", "0.5", "0") "," MARKER("a2", "a", "0.5", "0.2") "," MARKER("b0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                  "b", "-0.5", "0") "," MARKER("b1",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "b", "0.5", "0") "," MARKER("c0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                           "c", "-0.5", "0") "," MARKER("d0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "d",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "-0.5",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "0") "],"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                             "'solver': {'stepSize': 0.002";

#define SPACE_BODY(name, x)                                                                        \
    "{'name': '" name "', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [" x                  \
    ", 0, 0, 1, 0, 0, 0]}"
#define TENSOR(name, node)                                                                         \
    "{'name': '" name "', 'type': 'RigidBody', 'node': '" node                                     \
    "', 'physicsMass': 2, 'physicsInertia': [0.1, 0.3, 0.35, 0, 0, 0.02]}"
#define Z_IS_Y                                                                                     \
    ", 'rotationMarker0': [[1, 0, 0], [0, 0, 1], [0, -1, 0]],"                                     \
    " 'rotationMarker1': [[1, 0, 0], [0, 0, 1], [0, -1, 0]]"

/* hinge, universal joint, ball and cylindrical joint */
static const char space[] =
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [" SPACE_BODY("na", "0.5") "," SPACE_BODY("nb", "1.5") "," SPACE_BODY("nc", "1.5") "," SPACE_BODY(
        "nd",
        "2.5") "],"
               "'objects': [{'name': 'g', 'type': 'Ground'}," TENSOR("a", "na") "," TENSOR(
                   "b",
                   "n"
                   "b") "," TENSOR("c",
                                   "nc") "," TENSOR("d",
                                                    "nd") "," JOINT("ja", "RevoluteJointZ", "g0",
                                                                    "a0",
                                                                    Z_IS_Y) "," JOINT("jb",
                                                                                      "GenericJoin"
                                                                                      "t",
                                                                                      "a1",
                                                                                      "b0", ", 'constrainedAxes': [1, 1, 1, 1, 0, 0]") "," JOINT("jc",
                                                                                                                                                 "SphericalJoint",
                                                                                                                                                 "c0",
                                                                                                                                                 "a1", "") "," JOINT("jd", "GenericJoint", "b1", "d0", ", 'constrainedAxes': [0, 1, 1, 0, 1, 1]") "," JOINT("s",
                                                                                                                                                                                                                                                            "CartesianSpringDamper", "b1", "d0", ", 'stiffness': [90, 0, 0], 'damping': [1, 0, 0]") "],"
                                                                                                                                                                                                                                                                                                                                                    "'markers': [" MARKER("g0", "g", "0", "0") "," MARKER("a0",
                                                                                                                                                                                                                                                                                                                                                                                                          "a",
                                                                                                                                                                                                                                                                                                                                                                                                          "-0.5", "0") "," MARKER("a1",
                                                                                                                                                                                                                                                                                                                                                                                                                                  "a",
                                                                                                                                                                                                                                                                                                                                                                                                                                  "0.5",
                                                                                                                                                                                                                                                                                                                                                                                                                                  "0") "," MARKER("b0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                  "b",
                                                                                                                                                                                                                                                                                                                                                                                                                                                  "-0.5", "0") "," MARKER("b1", "b", "0.5", "0") "," MARKER("c0", "c", "-0.5", "0") "," MARKER("d0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "d",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "-0.5",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                               "0") "],"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'd0', 'load': [0, 3, 1]}],"
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                    "'solver': {'stepSize': 0.002";

static struct mech_sim *with(const char *text, const char *more)
{
    char full[8192];

    snprintf(full, sizeof full, "%s%s}}", text, more);
    return model_of(full);
}

static void step(struct mech_sim *s, uint64_t count, const char *linear)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count};
    struct mech_step_report report;

    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
    if (linear) {
        CU_ASSERT_STRING_EQUAL(report.linear, linear);
    }
}

/* Newton stops at 1e-8 of the first residual, and both take different roundings there */
static void trees_move_as_klu_says(void)
{
    const char *const models[] = {plane, space};
    const int32_t coordinates[] = {12, 28}, rows[] = {8, 17};

    for (int i = 0; i < 2; i++) {
        struct mech_sim *const tree = with(models[i], "");
        struct mech_sim *const klu = with(models[i], ", 'linear': 'klu'");

        for (int part = 0; part < 4; part++) {
            step(tree, 50, "tree");
            step(klu, 50, "klu");
            const struct mech_state_view a = model_state(tree), b = model_state(klu);

            for (int32_t k = 0; k < coordinates[i]; k++) {
                CHECK_NEAR(a.q[k], b.q[k], 1e-8);
            }
            for (int32_t k = 0; k < rows[i]; k++) {
                CHECK_NEAR(a.lambda[k], b.lambda[k], 1e-6 * (1. + fabs(b.lambda[k])));
            }
        }
        mech_sim_destroy(tree);
        mech_sim_destroy(klu);
    }
}

static void steps_of_trees_do_not_allocate(void)
{
    const char *const models[] = {plane, space};

    for (int i = 0; i < 2; i++) {
        struct mech_sim *const s = with(models[i], "");

        step(s, 1, "tree");
        alloc_count_start();
        step(s, 500, NULL);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

/* the end of the last link on the ground as well: a four-bar, whose last body has four rows */
static void loops_go_to_another_solver(void)
{
    struct mech_sim
        *const
            s =
                model_of(
                    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [" PLANE_BODY("na", "0", "0.5") "," PLANE_BODY("nb", "0.5", "1") "," PLANE_BODY(
                        "nc", "1",
                        "0.5") "],"
                               "'objects': [{'name': 'g', 'type': 'Ground'}," MASS("a", "na") "," MASS("b", "nb") "," MASS("c", "nc") "," JOINT(
                                   "j0", "RevoluteJoint2D",
                                   "g0", "a0",
                                   "") "," JOINT("j1", "RevoluteJoint2D", "a1", "b0",
                                                 "") "," JOINT("j2", "RevoluteJoint2D", "b1", "c0",
                                                               "") "," JOINT("j3",
                                                                             "RevoluteJoint2D",
                                                                             "c1", "g1",
                                                                             "") "],"
                                                                                 "'markers': "
                                                                                 "[" MARKER("g0", "g", "0", "0") "," MARKER("g1", "g", "1", "0") "," MARKER("a0", "a", "0", "-0.5") "," MARKER(
                                                                                     "a1",
                                                                                     "a",
                                                                                     "0",
                                                                                     "0.5") "," MARKER("b0",
                                                                                                       "b",
                                                                                                       "-0.5",
                                                                                                       "0") "," MARKER("b1",
                                                                                                                       "b",
                                                                                                                       "0.5",
                                                                                                                       "0") "," MARKER("c0",
                                                                                                                                       "c",
                                                                                                                                       "0",
                                                                                                                                       "0.5") "," MARKER("c1",
                                                                                                                                                         "c",
                                                                                                                                                         "0",
                                                                                                                                                         "-0.5") "],"
                                                                                                                                                                 "'solver': {'stepSize': 0.002}}");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 10};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_STRING_NOT_EQUAL(report.linear, "tree");
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(trees_move_as_klu_says), UNIT_TEST(steps_of_trees_do_not_allocate),
           UNIT_TEST(loops_go_to_another_solver))
