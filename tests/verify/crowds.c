/* Many contacts at the default settings: what a step of them costs, in iterations. */
#include "tests/unit/model.h"
#include "tests/verify/pile.h"

/* `count` steps; the complementarity iterations of the dearest one in *most. Their sum. */
static uint64_t steps_of(struct mech_sim *s, int count, uint64_t *most, bool *failed)
{
    uint64_t sum = 0;

    *most = 0;
    *failed = false;
    for (int i = 0; i < count && !*failed; i++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;

        *failed = mech_sim_step(s, &r, &report) != 0;
        if (*failed) {
            fprintf(stderr, "step %d: %s\n", i, report.reason);
        }
        sum += report.vi_iterations;
        *most = report.vi_iterations > *most ? report.vi_iterations : *most;
    }
    return sum;
}

/* Six dominoes of 20 × 100 × 200 mm, 80 mm apart, the first pushed over. */
static void dominoes_fall(void)
{
    static const double thetas[] = {0.5, 1.};

    for (int k = 0; k < 2; k++) {
        char text[8192], *at = text;
        uint64_t most;
        bool failed;

        at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm',"
                          "'friction': 0.4}], 'nodes': [");
        for (int i = 0; i < 6; i++) {
            at += sprintf(at,
                          "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                          "[%g, 0, 0.1, 1, 0, 0, 0], 'initialVelocities': [%g, 0, 0, 0, 0, %g, 0]}",
                          i ? ", " : "", i, 0.08 * i, i ? 0. : 0.2, i ? 0. : 2.);
        }
        at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                          "'Plane', 'material': 'm'}]}");
        for (int i = 0; i < 6; i++) {
            at += sprintf(at,
                          ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass':"
                          "0.4, 'physicsInertia': [1.67e-3, 1.35e-3, 3.47e-4, 0, 0, 0],"
                          "'geometry': [{'shape': 'Box', 'size': [0.02, 0.1, 0.2], 'material':"
                          "'m'}]}",
                          i, i);
        }
        sprintf(at, "], 'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': 0.005}}",
                thetas[k]);
        struct mech_sim *const s = model_of(text);
        const uint64_t sum = steps_of(s, 100, &most, &failed);

        CU_ASSERT(!failed);
        /* four turns of 200 sweeps and 50 steps of Newton's method; on the mean not one turn */
        CU_ASSERT(most <= 4 * 250);
        CU_ASSERT(sum <= 100 * 250);
        mech_sim_destroy(s);
    }
}

/* 500 spheres into a box of planes, 1 s */
static void spheres_drop(void)
{
    char *const text =
        pile_text(500, 0.8, "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}");
    uint64_t most;
    bool failed;
    struct mech_sim *const s = model_of(text);
    const uint64_t sum = steps_of(s, 200, &most, &failed);

    CU_ASSERT(!failed);
    /* 1,000 sweeps with momentum in every step, and on the mean not twice as many without: piles
     * that come to rest go on to contact.acceptable */
    CU_ASSERT(sum <= 200 * 3000);
    mech_sim_destroy(s);
    free(text);
}

UNIT_TESTS(UNIT_TEST(dominoes_fall), UNIT_TEST(spheres_drop))
