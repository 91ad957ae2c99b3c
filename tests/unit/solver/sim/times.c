/* Steps at large times: a period of one step size is one internal step, whichever of size, count
 * and until asks for it, and all three go to the same bits. */
#include "tests/unit/model.h"

#define DRIVEN                                                                                     \
    MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "1",                                         \
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"    \
                     "'stiffness': 100, 'damping': 1}",                                            \
                     "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=sin(t)'}",  \
                     ", 'solver': {'integrator': '%s', 'stepSize': %s}")
#define SWING                                                                                      \
    MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "1",                                         \
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"    \
                     "'stiffness': 100, 'damping': 1}",                                            \
                     "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=sin(t)'}",  \
                     ", 'solver': {'stepSize': 0.001, 'startTime': %.17g%s}")

static const double starts[] = {0., 3600., 86400., 1e6, 1e9};
enum { STARTS = sizeof starts / sizeof *starts, PERIODS = 3000 };

static struct mech_sim *swing(double start, const char *more)
{
    char text[2000];

    snprintf(text, sizeof text, SWING, start, more);
    return model_of(text);
}

/* One period by each of the three, periods of so many steps. */
static void three_ways(double start, uint64_t steps)
{
    static const double h = 0.001;
    struct mech_sim *const s[] = {swing(start, ""), swing(start, ""), swing(start, "")};
    const double period = (double)steps * h;
    int wrong = 0;

    for (uint64_t k = 1; k <= PERIODS / steps; k++) {
        const struct mech_step_request r[] = {
            {.kind = MECH_STEP_COUNT, .count = steps},
            {.kind = MECH_STEP_SIZE, .size = period},
            {.kind = MECH_STEP_UNTIL, .until = start + (double)k * period},
        };
        for (int i = 0; i < 3; i++) {
            struct mech_step_report report;

            CU_ASSERT_EQUAL_FATAL(mech_sim_step(s[i], &r[i], &report), 0);
            wrong += report.steps != steps || report.step_size != h;
            wrong += model_state(s[i]).q[0] != model_state(s[0]).q[0];
            wrong += model_state(s[i]).v[0] != model_state(s[0]).v[0];
            wrong += mech_sim_time(s[i]) != r[2].until;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(mech_sim_step_count(s[i]), PERIODS / steps * steps);
        mech_sim_destroy(s[i]);
    }
}

static void size_count_and_until_are_the_same_steps_at_any_time(void)
{
    for (int i = 0; i < STARTS; i++) {
        three_ways(starts[i], 1);
        three_ways(starts[i], 5);
    }
}

/* A period of one and a half steps is two steps of three quarters, and their size stays. */
static void a_period_that_is_no_multiple_has_steps_of_one_size(void)
{
    for (int i = 0; i < STARTS; i++) {
        struct mech_sim *const s = swing(starts[i], "");
        double size = 0.;

        for (int k = 1; k <= PERIODS; k++) {
            const struct mech_step_request r = {.kind = MECH_STEP_UNTIL,
                                                .until = starts[i] + k * 0.0015};
            struct mech_step_report report;

            CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
            CU_ASSERT_EQUAL(report.steps, 2);
            CU_ASSERT(k == 1 || report.step_size == size);
            size = report.step_size;
        }
        mech_sim_destroy(s);
    }
}

/* A controlled step that has no reason to divide is one substep. */
static void control_sees_no_rest_of_a_step(void)
{
    static const char *const controlled[] = {
        ", 'adaptive': {'mode': 'error', 'absoluteTolerance': 1, 'relativeTolerance': 1}",
        ", 'integrator': 'TrapezoidalIndex2', 'adaptive': {'mode': 'error', 'absoluteTolerance': 1,"
        "'relativeTolerance': 1}",
        ", 'integrator': 'DOPRI5', 'adaptive': {'mode': 'error', 'absoluteTolerance': 1,"
        "'relativeTolerance': 1}",
    };
    for (int i = 0; i < STARTS; i++) {
        for (size_t j = 0; j < sizeof controlled / sizeof *controlled; j++) {
            struct mech_sim *const s = swing(starts[i], controlled[j]);
            uint64_t substeps = 0;

            for (int k = 1; k <= 500; k++) {
                const struct mech_step_request r = {.kind = MECH_STEP_UNTIL,
                                                    .until = starts[i] + k * 0.001};
                struct mech_step_report report;

                CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
                substeps += report.substeps;
            }
            CU_ASSERT_EQUAL(substeps, 500);
            mech_sim_destroy(s);
        }
    }
}

/* One command of many steps, and as many commands of one. */
static void commands_in_parts_end_at_the_same_bits(void)
{
    for (int i = 0; i < STARTS; i++) {
        struct mech_sim *const whole = swing(starts[i], ""), *const parts = swing(starts[i], "");

        CU_ASSERT_EQUAL(model_steps(whole, PERIODS), 0);
        for (int k = 0; k < PERIODS; k++) {
            CU_ASSERT_EQUAL(model_steps(parts, 1), 0);
        }
        CU_ASSERT(mech_sim_time(whole) == starts[i] + PERIODS * 0.001);
        CU_ASSERT(mech_sim_time(parts) == mech_sim_time(whole));
        CU_ASSERT(model_state(parts).q[0] == model_state(whole).q[0]);
        mech_sim_destroy(whole);
        mech_sim_destroy(parts);
    }
}

/* A step that is split uses the matrices of its own internal step, whatever was stepped before: it
 * has the bits of a model with that step size. */
static void another_step_size_means_other_factors(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        const struct mech_step_request trial = {.kind = MECH_STEP_COUNT, .count = 1, .trial = true};
        struct mech_step_report report;
        struct mech_sim *s[2];
        if (info.first_order) {
            continue;
        }
        for (int k = 0; k < 2; k++) {
            char text[2048];

            snprintf(text, sizeof text, DRIVEN, info.name, k ? "0.0025" : "0.003");
            s[k] = model_of(text);
            CU_ASSERT_EQUAL(mech_sim_step(s[k], &trial, &report), 0);
            CU_ASSERT_EQUAL(model_step(s[k], 0.01), 0);
            CU_ASSERT_EQUAL(model_step(s[k], 0.01), 0);
        }
        CU_ASSERT_EQUAL(model_state(s[0]).q[0], model_state(s[1]).q[0]);
        CU_ASSERT_EQUAL(model_state(s[0]).v[0], model_state(s[1]).v[0]);
        mech_sim_destroy(s[0]);
        mech_sim_destroy(s[1]);
    }
}

UNIT_TESTS(UNIT_TEST(another_step_size_means_other_factors),
           UNIT_TEST(size_count_and_until_are_the_same_steps_at_any_time),
           UNIT_TEST(a_period_that_is_no_multiple_has_steps_of_one_size),
           UNIT_TEST(control_sees_no_rest_of_a_step),
           UNIT_TEST(commands_in_parts_end_at_the_same_bits))
