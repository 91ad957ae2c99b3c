/* Subnormal numbers within steps, and outside of them. */
#include "tests/unit/model.h"

/* what has decayed does not go on in slow numbers below 2.2e-308 */
static void a_system_that_decays_meets_no_subnormals(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'initialCoordinates': [0.5]", "1",
        ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 100,"
        "'damping': 1}",
        "", ", 'solver': {'integrator': 'Newmark', 'stepSize': 0.01}"));
    const volatile double tiny = 1e-310;
    struct mech_state_view state;

    CU_ASSERT_EQUAL(model_steps(s, 200000), 0);
    mech_sim_state(s, &state);
    CU_ASSERT(fabs(state.q[0]) < 1e-300 && fpclassify(state.q[0]) != FP_SUBNORMAL);
    CU_ASSERT(fabs(state.v[0]) < 1e-300 && fpclassify(state.v[0]) != FP_SUBNORMAL);
    /* the caller's mode is as it was */
    CU_ASSERT(tiny / 2. > 0.);
    mech_sim_destroy(s);
}

static void step_sizes_that_count_as_zero_are_refused(void)
{
#define MODEL(solver) MODEL_OSCILLATOR("", "1", "", "", ", 'solver': {" solver "}")
    static const char *const models[] = {
        MODEL("'stepSize': 1e-310, 'integrator': 'GeneralizedAlpha'"),
        MODEL("'stepSize': 1e-310, 'integrator': 'MoreauJean'"),
        MODEL("'stepSize': 1e-310, 'integrator': 'RK44'"),
    };
    const struct mech_step_request requests[] = {{.kind = MECH_STEP_COUNT, .count = 1},
                                                 {.kind = MECH_STEP_SIZE, .size = 1e-310}};
    struct mech_step_report report;

    for (size_t i = 0; i < 6; i++) {
        struct mech_sim *const s = model_of(models[i / 2]);

        CU_ASSERT_EQUAL(mech_sim_step(s, &requests[i % 2], &report), MECH_INVALID);
        CU_ASSERT(report.reason[0]);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_system_that_decays_meets_no_subnormals),
           UNIT_TEST(step_sizes_that_count_as_zero_are_refused))
