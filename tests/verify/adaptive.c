/* Step size control of the pairs ODE23 and DOPRI5: the tolerance is met for any internal step,
 * jumps are found, a tolerance that cannot be met ends the step without effect, and a run that was
 * interrupted continues with the same bits. The model is ẍ = −100 x, x(0) = 1. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#define SPRING                                                                                     \
    ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 200}"

static const char *const pairs[] = {"DOPRI5", "ODE23"};

static struct mech_sim *oscillator(const char *integrator, double step, const char *adaptive)
{
    char text[2048];

    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialCoordinates': [1]", "2", SPRING, "",
                              ", 'solver': {'integrator': '%s', 'stepSize': %.17g,"
                              "'adaptive': {%s}}"),
             integrator, step, adaptive);
    return model_of(text);
}

/* error of x at t = 2 */
static double error_at(const char *integrator, int steps, double tolerance)
{
    char adaptive[128];

    snprintf(adaptive, sizeof adaptive, "'absoluteTolerance': %g, 'relativeTolerance': %g",
             tolerance, tolerance);
    struct mech_sim *const s = oscillator(integrator, 2. / steps, adaptive);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)steps), 0);
    const double error = fabs(model_state(s).q[0] - cos(20.));
    mech_sim_destroy(s);
    return error;
}

static void errors_follow_the_tolerance(void)
{
    /* the error of one substep is about the tolerance, and some hundred of them add up; a control
     * that does too much is no good either: the error stays within 1e3 below it */
    for (int p = 0; p < 2; p++) {
        for (double tolerance = 1e-5; tolerance > 1e-10; tolerance *= 1e-2) {
            for (int steps = 1; steps <= 4; steps *= 4) {
                const double error = error_at(pairs[p], steps, tolerance);

                CU_ASSERT(error < 300. * tolerance);
                CU_ASSERT(error > 1e-3 * tolerance);
            }
        }
    }
}

static void a_jump_of_the_load_is_found(void)
{
    for (int p = 0; p < 2; p++) {
        char text[2048];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR("", "1", "",
                                  "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                                  "'load': '=t < 0.34567 ? 0 : 1'}",
                                  ", 'solver': {'integrator': '%s', 'stepSize': 1}"),
                 pairs[p]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        /* DOPRI5's estimate sees 0.003 h of a jump behind its third stage, the velocity 0.46 h */
        CHECK_NEAR(model_state(s).v[0], 1. - 0.34567, 5e-6);
        mech_sim_destroy(s);
    }
}

static void what_asks_for_smaller_steps_is_undone(void)
{
    for (int p = 0; p < 2; p++) {
        struct mech_sim *const s = oscillator(pairs[p], 0.5, "'minimumStepSize': 0.05");
        const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = 1.};
        struct mech_step_report report;

        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_STEP_TOO_SMALL);
        CU_ASSERT(strstr(report.reason, "0.05 s at t = 0") != NULL);
        CU_ASSERT_EQUAL(model_state(s).q[0], 1.);
        CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
        mech_sim_destroy(s);
    }
}

/* the size of the next substep is part of the state */
static void interrupted_runs_go_on_to_the_bit(void)
{
    for (int p = 0; p < 2; p++) {
        struct mech_sim *const a = oscillator(pairs[p], 0.07, "");
        struct mech_sim *const b = oscillator(pairs[p], 0.07, "");
        void *const bytes = malloc(mech_sim_snapshot_size(a));
        bool same = false;

        CU_ASSERT_EQUAL(model_steps(a, 13), 0);
        mech_sim_snapshot_write(a, bytes);
        CU_ASSERT_EQUAL(model_steps(a, 17), 0);
        CU_ASSERT_EQUAL(model_steps(b, 2), 0);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, mech_sim_snapshot_size(b), &same), 0);
        CU_ASSERT_EQUAL(model_steps(b, 17), 0);
        CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
        CU_ASSERT_EQUAL(model_state(a).v[0], model_state(b).v[0]);
        free(bytes);
        mech_sim_destroy(a);
        mech_sim_destroy(b);
    }
}

/* steps as large as allowed where nothing limits them: the first substeps double from 1e-6 */
static void substeps_obey_their_limits(void)
{
    struct mech_sim *const coarse = oscillator("DOPRI5", 2., "'absoluteTolerance': 1e9");
    struct mech_sim *const fine =
        oscillator("DOPRI5", 2., "'absoluteTolerance': 1e9, 'maximumStepSize': 0.01");
    struct mech_sim *const fixed = oscillator("DOPRI5", 0.01, "'absoluteTolerance': 1e9");

    CU_ASSERT_EQUAL(model_steps(coarse, 1), 0);
    CU_ASSERT_EQUAL(model_steps(fine, 1), 0);
    CU_ASSERT_EQUAL(model_steps(fixed, 200), 0);
    CU_ASSERT(fabs(model_state(coarse).q[0] - cos(20.)) > 1.);
    CHECK_NEAR(model_state(fine).q[0], model_state(fixed).q[0], 1e-12);
    mech_sim_destroy(coarse);
    mech_sim_destroy(fine);
    mech_sim_destroy(fixed);
}

static void control_allocates_nothing(void)
{
    for (int p = 0; p < 2; p++) {
        struct mech_sim *const s = oscillator(pairs[p], 0.1, "");

        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(errors_follow_the_tolerance), UNIT_TEST(a_jump_of_the_load_is_found),
           UNIT_TEST(what_asks_for_smaller_steps_is_undone),
           UNIT_TEST(interrupted_runs_go_on_to_the_bit), UNIT_TEST(substeps_obey_their_limits),
           UNIT_TEST(control_allocates_nothing))
