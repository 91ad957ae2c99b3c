/* Newton's method with matrices that are kept over steps: the same motion, fewer matrices, and the
 * same bits after a restore, in a simulation that never had those matrices. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* three bars in space on ball joints, the last one on a spring */
static struct mech_sim *chain(const char *solver)
{
    char text[8192];
    int n = snprintf(text, sizeof text, "{'mechd': 1, 'gravity': [0, 1, -9.81], 'nodes': [");

    for (int i = 0; i < 3; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%g, 0, 0, 1, 0, 0, 0]}",
                      i ? "," : "", i, i + 0.5);
    }
    n += snprintf(text + n, sizeof text - (size_t)n,
                  "], 'objects': [{'name': 'g', 'type': 'Ground'}");
    for (int i = 0; i < 3; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 1,"
                      "'physicsInertia': [0.01, 0.1, 0.1, 0, 0, 0]}, {'name': 'j%d',"
                      "'type': 'SphericalJoint', 'markers': ['%s%d', 's%d']}",
                      i, i, i, i ? "e" : "o", i ? i - 1 : 0, i);
    }
    n += snprintf(text + n, sizeof text - (size_t)n,
                  ", {'name': 'k', 'type': 'SpringDamper', 'markers': ['o0', 'e2'],"
                  "'referenceLength': 2.5, 'stiffness': 30, 'damping': 0.5}], 'markers': ["
                  "{'name': 'o0', 'type': 'MarkerBodyRigid', 'object': 'g'}");
    for (int i = 0; i < 3; i++) {
        n += snprintf(text + n, sizeof text - (size_t)n,
                      ", {'name': 's%d', 'type': 'MarkerBodyRigid', 'object': 'b%d',"
                      "'localPosition': [-0.5, 0, 0]}, {'name': 'e%d', 'type': 'MarkerBodyRigid',"
                      "'object': 'b%d', 'localPosition': [0.5, 0, 0]}",
                      i, i, i, i);
    }
    snprintf(text + n, sizeof text - (size_t)n, "], 'solver': {'stepSize': 0.001%s}}", solver);
    return model_of(text);
}

static const char modified[] = ", 'newton': {'modified': true}";

static uint64_t iterations_of(struct mech_sim *s, uint64_t steps)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = steps};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    return report.iterations;
}

static void both_methods_move_alike(void)
{
    struct mech_sim *const full = chain(""), *const kept = chain(modified);
    const uint64_t a = iterations_of(full, 500), b = iterations_of(kept, 500);

    for (int i = 0; i < 21; i++) {
        /* Newton's tolerance of 1e-8 of what balances, in 500 steps */
        CHECK_NEAR(model_state(kept).q[i], model_state(full).q[i], 1e-6);
    }
    /* matrices that are not the present ones cost iterations, and not many */
    CU_ASSERT(b > a);
    CU_ASSERT(b < 3 * a);
    mech_sim_destroy(full);
    mech_sim_destroy(kept);
}

static void restored_states_go_on_alike(void)
{
    const char *const solvers[] = {modified, ", 'linear': 'klu', 'newton': {'modified': true}",
                                   ", 'adaptive': {'mode': 'error'}, 'newton': {'modified': true}"};

    for (int k = 0; k < 3; k++) {
        struct mech_sim *const one = chain(solvers[k]), *const two = chain(solvers[k]);
        const size_t size = mech_sim_snapshot_size(one);
        void *const bytes = malloc(size);
        bool same = false;

        CU_ASSERT_EQUAL(model_steps(one, 203), 0);
        mech_sim_snapshot_write(one, bytes);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(two, bytes, size, &same), 0);
        alloc_count_start();
        const int code = model_steps(one, 300);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        CU_ASSERT_EQUAL(code, 0);
        CU_ASSERT_EQUAL(model_steps(two, 300), 0);
        CU_ASSERT(memcmp(model_state(one).q, model_state(two).q, 21 * sizeof(double)) == 0);
        CU_ASSERT(memcmp(model_state(one).v, model_state(two).v, 18 * sizeof(double)) == 0);
        CU_ASSERT(memcmp(model_state(one).lambda, model_state(two).lambda, 9 * sizeof(double)) ==
                  0);
        free(bytes);
        mech_sim_destroy(one);
        mech_sim_destroy(two);
    }
}

UNIT_TESTS(UNIT_TEST(both_methods_move_alike), UNIT_TEST(restored_states_go_on_alike))
