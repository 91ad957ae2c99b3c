/* Trees of joints: elimination along the tree and KLU give the same motion; models that are no tree
 * go to another solver; and no step allocates memory. Bodies in the plane and in space, joints of
 * several kinds with branches, springs along the joints. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* a link on the ground, on it a slide and a hinge, on that another; solver and document are open */
static const char plane[] =
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'na', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [0.5, 0, 0]}, {'name': 'nb', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [1.5, 0, 0]}, {'name': 'nc', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [1.5, 0.2, 0]}, {'name': 'nd', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [2.5, 0, 0]}], 'objects': [{'name': 'g', "
    "'type': 'Ground'}, {'name': 'a', 'type': 'RigidBody2D', 'node': 'na', 'physicsMass': 2, "
    "'physicsInertia': 0.3}, {'name': 'b', 'type': 'RigidBody2D', 'node': 'nb', 'physicsMass': "
    "2, 'physicsInertia': 0.3}, {'name': 'c', 'type': 'RigidBody2D', 'node': 'nc', "
    "'physicsMass': 2, 'physicsInertia': 0.3}, {'name': 'd', 'type': 'RigidBody2D', 'node': "
    "'nd', 'physicsMass': 2, 'physicsInertia': 0.3}, {'name': 'ja', 'type': 'RevoluteJoint2D', "
    "'markers': ['g0', 'a0']}, {'name': 'jb', 'type': 'RevoluteJoint2D', 'markers': ['a1', "
    "'b0']}, {'name': 'jc', 'type': 'PrismaticJoint2D', 'markers': ['a2', 'c0']}, {'name': "
    "'jd', 'type': 'RevoluteJoint2D', 'markers': ['b1', 'd0']}, {'name': 's', 'type': "
    "'CartesianSpringDamper', 'markers': ['a2', 'c0'], 'stiffness': [90, 0, 0], 'damping': [1, "
    "0, 0]}], 'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', 'object': 'g', "
    "'localPosition': [0, 0, 0]}, {'name': 'a0', 'type': 'MarkerBodyRigid', 'object': 'a', "
    "'localPosition': [-0.5, 0, 0]}, {'name': 'a1', 'type': 'MarkerBodyRigid', 'object': 'a', "
    "'localPosition': [0.5, 0, 0]}, {'name': 'a2', 'type': 'MarkerBodyRigid', 'object': 'a', "
    "'localPosition': [0.5, 0.2, 0]}, {'name': 'b0', 'type': 'MarkerBodyRigid', 'object': 'b', "
    "'localPosition': [-0.5, 0, 0]}, {'name': 'b1', 'type': 'MarkerBodyRigid', 'object': 'b', "
    "'localPosition': [0.5, 0, 0]}, {'name': 'c0', 'type': 'MarkerBodyRigid', 'object': 'c', "
    "'localPosition': [-0.5, 0, 0]}, {'name': 'd0', 'type': 'MarkerBodyRigid', 'object': 'd', "
    "'localPosition': [-0.5, 0, 0]}], 'solver': {'stepSize': 0.002";

/* hinge, universal joint, ball and cylindrical joint */
static const char space[] =
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'na', 'type': "
    "'NodeRigidBodyEP', 'referenceCoordinates': [0.5, 0, 0, 1, 0, 0, 0]}, {'name': 'nb', "
    "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1.5, 0, 0, 1, 0, 0, 0]}, {'name': "
    "'nc', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [1.5, 0, 0, 1, 0, 0, 0]}, "
    "{'name': 'nd', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [2.5, 0, 0, 1, 0, 0, "
    "0]}], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'a', 'type': 'RigidBody', "
    "'node': 'na', 'physicsMass': 2, 'physicsInertia': [0.1, 0.3, 0.35, 0, 0, 0.02]}, {'name': "
    "'b', 'type': 'RigidBody', 'node': 'nb', 'physicsMass': 2, 'physicsInertia': [0.1, 0.3, "
    "0.35, 0, 0, 0.02]}, {'name': 'c', 'type': 'RigidBody', 'node': 'nc', 'physicsMass': 2, "
    "'physicsInertia': [0.1, 0.3, 0.35, 0, 0, 0.02]}, {'name': 'd', 'type': 'RigidBody', "
    "'node': 'nd', 'physicsMass': 2, 'physicsInertia': [0.1, 0.3, 0.35, 0, 0, 0.02]}, {'name': "
    "'ja', 'type': 'RevoluteJointZ', 'markers': ['g0', 'a0'], 'rotationMarker0': [[1, 0, 0], "
    "[0, 0, 1], [0, -1, 0]], 'rotationMarker1': [[1, 0, 0], [0, 0, 1], [0, -1, 0]]}, {'name': "
    "'jb', 'type': 'GenericJoint', 'markers': ['a1', 'b0'], 'constrainedAxes': [1, 1, 1, 1, 0, "
    "0]}, {'name': 'jc', 'type': 'SphericalJoint', 'markers': ['c0', 'a1']}, {'name': 'jd', "
    "'type': 'GenericJoint', 'markers': ['b1', 'd0'], 'constrainedAxes': [0, 1, 1, 0, 1, 1]}, "
    "{'name': 's', 'type': 'CartesianSpringDamper', 'markers': ['b1', 'd0'], 'stiffness': [90, "
    "0, 0], 'damping': [1, 0, 0]}], 'markers': [{'name': 'g0', 'type': 'MarkerBodyRigid', "
    "'object': 'g', 'localPosition': [0, 0, 0]}, {'name': 'a0', 'type': 'MarkerBodyRigid', "
    "'object': 'a', 'localPosition': [-0.5, 0, 0]}, {'name': 'a1', 'type': 'MarkerBodyRigid', "
    "'object': 'a', 'localPosition': [0.5, 0, 0]}, {'name': 'b0', 'type': 'MarkerBodyRigid', "
    "'object': 'b', 'localPosition': [-0.5, 0, 0]}, {'name': 'b1', 'type': 'MarkerBodyRigid', "
    "'object': 'b', 'localPosition': [0.5, 0, 0]}, {'name': 'c0', 'type': 'MarkerBodyRigid', "
    "'object': 'c', 'localPosition': [-0.5, 0, 0]}, {'name': 'd0', 'type': 'MarkerBodyRigid', "
    "'object': 'd', 'localPosition': [-0.5, 0, 0]}], 'loads': [{'name': 'F', 'type': "
    "'LoadForceVector', 'marker': 'd0', 'load': [0, 3, 1]}], 'solver': {'stepSize': 0.002";

/* a four-bar: the last of its bodies has four rows */
static const char four_bar[] =
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'na', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [0, 0.5, 0]}, {'name': 'nb', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [0.5, 1, 0]}, {'name': 'nc', 'type': "
    "'NodeRigidBody2D', 'referenceCoordinates': [1, 0.5, 0]}], 'objects': [{'name': 'g', "
    "'type': 'Ground'}, {'name': 'a', 'type': 'RigidBody2D', 'node': 'na', 'physicsMass': 2, "
    "'physicsInertia': 0.3}, {'name': 'b', 'type': 'RigidBody2D', 'node': 'nb', 'physicsMass': "
    "2, 'physicsInertia': 0.3}, {'name': 'c', 'type': 'RigidBody2D', 'node': 'nc', "
    "'physicsMass': 2, 'physicsInertia': 0.3}, {'name': 'j0', 'type': 'RevoluteJoint2D', "
    "'markers': ['g0', 'a0']}, {'name': 'j1', 'type': 'RevoluteJoint2D', 'markers': ['a1', "
    "'b0']}, {'name': 'j2', 'type': 'RevoluteJoint2D', 'markers': ['b1', 'c0']}, {'name': "
    "'j3', 'type': 'RevoluteJoint2D', 'markers': ['c1', 'g1']}], 'markers': [{'name': 'g0', "
    "'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0, 0, 0]}, {'name': 'g1', "
    "'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [1, 0, 0]}, {'name': 'a0', "
    "'type': 'MarkerBodyRigid', 'object': 'a', 'localPosition': [0, -0.5, 0]}, {'name': 'a1', "
    "'type': 'MarkerBodyRigid', 'object': 'a', 'localPosition': [0, 0.5, 0]}, {'name': 'b0', "
    "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [-0.5, 0, 0]}, {'name': 'b1', "
    "'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0.5, 0, 0]}, {'name': 'c0', "
    "'type': 'MarkerBodyRigid', 'object': 'c', 'localPosition': [0, 0.5, 0]}, {'name': 'c1', "
    "'type': 'MarkerBodyRigid', 'object': 'c', 'localPosition': [0, -0.5, 0]}], 'solver': "
    "{'stepSize': 0.002";

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

/* Newton stops at 1e-8 of what balances, and both take different roundings there */
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

/* a row of hinged links, long enough that rows of joints would come before their bodies */
static struct mech_sim *row_of_links(int n)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const f = open_memstream(&text, &size);

    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs("{'mechd': 1, 'gravity': [0, -9.81, 0], 'objects': [{'name': 'g', 'type': 'Ground'}", f);
    for (int i = 0; i < n; i++) {
        fprintf(f,
                ", {'name': 'b%d', 'type': 'RigidBody2D', 'node': 'n%d', 'physicsMass': 2, "
                "'physicsInertia': 0.3}, {'name': 'j%d', 'type': 'RevoluteJoint2D', 'markers': "
                "['e%d', 's%d']}",
                i, i, i, i, i);
    }
    fputs("], 'nodes': [", f);
    for (int i = 0; i < n; i++) {
        fprintf(f,
                "%s{'name': 'n%d', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [%g, 0, 0]}",
                i ? ", " : "", i, i + 0.5);
    }
    fputs("], 'markers': [{'name': 'e0', 'type': 'MarkerBodyRigid', 'object': 'g'}", f);
    for (int i = 0; i < n; i++) {
        fprintf(f,
                ", {'name': 's%d', 'type': 'MarkerBodyRigid', 'object': 'b%d', 'localPosition': "
                "[-0.5, 0, 0]}, {'name': 'e%d', 'type': 'MarkerBodyRigid', 'object': 'b%d', "
                "'localPosition': [0.5, 0, 0]}",
                i, i, i + 1, i);
    }
    fputs("], 'solver': {'linear': 'klu', 'stepSize': 0.001}}", f);
    fclose(f);
    struct mech_sim *const s = model_of(text);
    free(text);
    return s;
}

/* joints on closed loops, all the way round, and chains: pivots from the diagonal serve */
static void steps_by_klu_do_not_allocate(void)
{
    static const char *const examples[] = {"four-bar", "slider-crank"};

    for (int i = 0; i < 5; i++) {
        struct mech_sim *s = NULL;

        if (i < 2) {
            char path[512];

            snprintf(path, sizeof path, "%s/../server/examples/%s.json", MECH_TESTS_FOLDER,
                     examples[i]);
            json_t *const model = json_load_file(path, 0, NULL);
            CU_ASSERT_PTR_NOT_NULL_FATAL(model);
            json_object_set_new(json_object_get(model, "solver"), "linear", json_string("klu"));
            char *const text = json_dumps(model, 0);
            s = model_of(text);
            free(text);
            json_decref(model);
        } else {
            s = i == 4 ? row_of_links(24) : with(i == 2 ? plane : space, ", 'linear': 'klu'");
        }
        step(s, 1, "klu");
        alloc_count_start();
        step(s, 500, NULL);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

static void loops_go_to_another_solver(void)
{
    struct mech_sim *const s = with(four_bar, "");
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 10};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_STRING_NOT_EQUAL(report.linear, "tree");
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(trees_move_as_klu_says), UNIT_TEST(steps_of_trees_do_not_allocate),
           UNIT_TEST(steps_by_klu_do_not_allocate), UNIT_TEST(loops_go_to_another_solver))
