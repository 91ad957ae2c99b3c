/* Moments of the flows of inputs: what inputs that act over a command have worked. */
#include "tests/unit/model.h"

#define FREE                                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialVelocities': [3]}],"           \
    "'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2}%s],"               \
    "'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0},"     \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'}],"                                            \
    "'loads': [{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}],"                \
    "'inputs': [{'name': 'F', 'load': 'F'}],"                                                      \
    "'solver': {'integrator': 'GeneralizedAlpha', 'spectralRadius': 1, 'stepSize': 0.01}}"
#define SPRING                                                                                     \
    ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 70}"
#define BODY                                                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"                              \
    "'initialVelocities': [0.1, 0, 0.3, 0, 0.5, 1, 1.5]}],"                                        \
    "'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"                \
    "'physicsInertia': [1, 2, 3, 0, 0, 0]}],"                                                      \
    "'markers': [{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'b',"                          \
    "'localPosition': [0.1, 0.2, -0.3]}],"                                                         \
    "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm', 'load': [0, 0, 0],"         \
    "'bodyFixed': true}, {'name': 'G', 'type': 'LoadForceVector', 'marker': 'm',"                  \
    "'load': [0, 0, 0]}, {'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'm',"                 \
    "'load': [0, 0, 0], 'bodyFixed': true}],"                                                      \
    "'inputs': [{'name': 'F', 'load': 'F'}, {'name': 'G', 'load': 'G', 'component': 1},"           \
    "{'name': 'T', 'load': 'T'}],"                                                                 \
    "'solver': {'integrator': 'GeneralizedAlpha', 'spectralRadius': 1, 'stepSize': %g}}"

enum { MOST = 8 };

/* A step of that size with these constant inputs; returns the growth of energy. */
static double run(struct mech_sim *s, double size, const double *u, double *moments)
{
    const size_t inputs = mech_sim_variable_count(s, MECH_INPUT);
    struct mech_input_change change[MOST];
    struct mech_step_report report;
    size_t at = 0;
    for (size_t i = 0; i < inputs; i++) {
        struct mech_variable v;
        mech_sim_variable(s, MECH_INPUT, i, &v);
        change[i] = (struct mech_input_change){.index = (int32_t)i, .values = u + at};
        at += (size_t)v.size;
    }
    const double before = mech_sim_energy(s);
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE,
                                        .size = size,
                                        .inputs = change,
                                        .input_count = inputs,
                                        .moments = moments};
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    return mech_sim_energy(s) - before;
}

static void moments_of_uniform_motion_are_powers_of_time(void)
{
    char text[2000];
    double moments[MECH_FLOW_MOMENTS], u = 0.;
    (void)snprintf(text, sizeof text, FREE, "");
    struct mech_sim *const s = model_of(text);
    (void)run(s, 0.5, &u, moments);
    for (int r = 0; r <= MECH_FLOW_ORDER; r++) {
        // the trapezoidal rule is exact up to r = 1
        const double exact = 3. * pow(0.5, r + 1) / (r + 1);
        CHECK_NEAR(moments[r], exact, r < 2 ? 1e-14 : 1e-3 * exact);
    }
    mech_sim_destroy(s);
}

static void work_of_a_held_force_is_the_growth_of_energy(void)
{
    char text[2000];
    double moments[MECH_FLOW_MOMENTS];
    (void)snprintf(text, sizeof text, FREE, SPRING);
    struct mech_sim *const s = model_of(text);
    for (int k = 0; k < 5; k++) {
        const double u = 40. - 30. * k;
        const double grown = run(s, 0.1 + 0.003 * k, &u, moments);
        CHECK_NEAR(u * moments[0], grown, 1e-13 * 100.);
    }
    mech_sim_destroy(s);
}

/* Forces at a marker that moves, and torques that turn with it; an error of second order. */
static void work_at_a_moving_marker_too(void)
{
    double error[2];
    for (int k = 0; k < 2; k++) {
        const double u[7] = {4., -3., 2., 5., 0.5, -1., 2.};
        double moments[7 * MECH_FLOW_MOMENTS], work = 0.;
        char text[3000];
        (void)snprintf(text, sizeof text, BODY, k == 0 ? 2e-3 : 1e-3);
        struct mech_sim *const s = model_of(text);
        const double grown = run(s, 0.4, u, moments);
        for (int i = 0; i < 7; i++) {
            work += u[i] * moments[i];
        }
        error[k] = fabs(work - grown);
        CU_ASSERT(fabs(grown) > 0.01);
        CHECK_NEAR(work / grown, 1., 1e-3);
        mech_sim_destroy(s);
    }
    CHECK_NEAR(log2(error[0] / error[1]), 2., 0.3);
}

static void a_trial_has_them_and_in_slices_they_are_the_same(void)
{
    char text[2000];
    double whole[MECH_FLOW_MOMENTS], parts[MECH_FLOW_MOMENTS];
    struct mech_step_report report;
    (void)snprintf(text, sizeof text, FREE, SPRING);
    struct mech_sim *const s = model_of(text);
    struct mech_step_request r = {
        .kind = MECH_STEP_SIZE, .size = 0.2, .trial = true, .moments = whole};
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    r.moments = parts;
    CU_ASSERT_EQUAL(mech_sim_step_begin(s, &r, &report), 0);
    for (bool done = false; !done;) {
        CU_ASSERT_EQUAL_FATAL(mech_sim_step_advance(s, 3, &done), 0);
    }
    mech_sim_step_finish(s);
    for (int k = 0; k <= MECH_FLOW_ORDER; k++) {
        CU_ASSERT_EQUAL(whole[k], parts[k]);
    }
    CU_ASSERT(whole[0] != 0.);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(moments_of_uniform_motion_are_powers_of_time),
           UNIT_TEST(work_of_a_held_force_is_the_growth_of_energy),
           UNIT_TEST(work_at_a_moving_marker_too),
           UNIT_TEST(a_trial_has_them_and_in_slices_they_are_the_same))
