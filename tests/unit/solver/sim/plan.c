/* The internal steps of a command: what the rule says of a request, and that a simulation does as
 * it says, whatever the step before. */
#include "solver/sim/plan.h"
#include "tests/unit/model.h"

#define SWING                                                                                      \
    MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "1",                                         \
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"    \
                     "'stiffness': 100, 'damping': 1}",                                            \
                     "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': '=sin(t)'}",  \
                     ", 'solver': {'stepSize': 0.001, 'startTime': %.17g}")

static const double h = 0.001;

static struct mech_step_plan plan_of(struct mech_step_request r, double now, double last)
{
    struct mech_step_plan plan;

    CU_ASSERT_EQUAL(mech_step_plan(&r, now, (struct mech_moment){now, 0.}, h, last, &plan), 0);
    CU_ASSERT_EQUAL(plan.start.time, now);
    return plan;
}

static void a_length_is_divided_into_equal_steps_of_at_most_h(void)
{
    const struct mech_step_plan size =
        plan_of((struct mech_step_request){.kind = MECH_STEP_SIZE, .size = 0.0025}, 7., 0.);

    CU_ASSERT_EQUAL(size.count, 3);
    CU_ASSERT_EQUAL(size.h, 0.0025 / 3.);
    CU_ASSERT_EQUAL(size.end.time, 7.0025);
    const struct mech_step_plan until =
        plan_of((struct mech_step_request){.kind = MECH_STEP_UNTIL, .until = 7.0025}, 7., 0.);
    CU_ASSERT_EQUAL(until.count, 3);
    CU_ASSERT_EQUAL(until.h, (7.0025 - 7.) / 3.);
    CU_ASSERT_EQUAL(until.end.time, 7.0025);
    const struct mech_step_plan count =
        plan_of((struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 3}, 7., 0.);
    CU_ASSERT_EQUAL(count.count, 3);
    CU_ASSERT_EQUAL(count.h, h);
    CU_ASSERT_EQUAL(count.end.time, 7.003);
}

static void each_kind_reads_its_own_member(void)
{
    const struct mech_step_request all = {.size = 0.5, .until = 9., .count = 4};
    struct mech_step_request r = all;

    r.kind = MECH_STEP_SIZE;
    CU_ASSERT_EQUAL(plan_of(r, 7., 0.).end.time, 7.5);
    r.kind = MECH_STEP_UNTIL;
    CU_ASSERT_EQUAL(plan_of(r, 7., 0.).end.time, 9.);
    r.kind = MECH_STEP_COUNT;
    CU_ASSERT_EQUAL(plan_of(r, 7., 0.).end.time, 7.004);
}

/* Steps keep their size where only the rounding of times would change it. */
static void the_size_of_the_step_before_is_kept(void)
{
    const double last = 0.0025 / 3.;
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = 7.0025};

    CU_ASSERT_NOT_EQUAL(plan_of(r, 7., 0.).h, last);
    CU_ASSERT_EQUAL(plan_of(r, 7., last).h, last);
    CU_ASSERT_EQUAL(plan_of(r, 7., last).end.time, 7.0025);
    CU_ASSERT_NOT_EQUAL(plan_of(r, 7., 0.9 * last).h, 0.9 * last);
}

static void a_request_without_steps_is_refused(void)
{
    const struct mech_step_request bad[] = {
        {.kind = MECH_STEP_SIZE, .size = 0., .until = 9.},
        {.kind = MECH_STEP_SIZE, .size = NAN},
        {.kind = MECH_STEP_SIZE, .size = INFINITY},
        {.kind = MECH_STEP_SIZE, .size = 1e-30},
        {.kind = MECH_STEP_SIZE, .size = 2e9},
        {.kind = MECH_STEP_UNTIL, .until = 7., .size = 1.},
        {.kind = MECH_STEP_UNTIL, .until = INFINITY},
        {.kind = MECH_STEP_COUNT, .count = 0, .size = 1.},
        {.kind = MECH_STEP_COUNT, .count = (uint64_t)1e12 + 1},
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mech_step_plan plan;

        CU_ASSERT_EQUAL(mech_step_plan(&bad[i], 7., (struct mech_moment){7., 0.}, h, 0., &plan),
                        MECH_INVALID);
    }
}

static void a_simulation_does_what_its_plan_says(void)
{
    static const double starts[] = {0., 86400., 1e9};

    for (int i = 0; i < 3; i++) {
        char text[2000];

        snprintf(text, sizeof text, SWING, starts[i]);
        struct mech_sim *const s = model_of(text);

        for (int k = 0; k < 300; k++) {
            const struct mech_step_request kinds[] = {
                {.kind = MECH_STEP_UNTIL, .until = mech_sim_time(s) + 0.0025},
                {.kind = MECH_STEP_UNTIL, .until = mech_sim_time(s) + 0.005},
                {.kind = MECH_STEP_SIZE, .size = 0.0025},
                {.kind = MECH_STEP_SIZE, .size = 0.004},
                {.kind = MECH_STEP_COUNT, .count = 2},
            };
            const struct mech_step_request *const r = &kinds[k / 3 % 5];
            struct mech_step_report report;
            struct mech_step_plan plan;

            CU_ASSERT_EQUAL_FATAL(mech_sim_plan(s, r, &plan), 0);
            CU_ASSERT_EQUAL(plan.start.time, mech_sim_time(s));
            CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, r, &report), 0);
            CU_ASSERT_EQUAL(report.steps, plan.count);
            CU_ASSERT_EQUAL(report.step_size, plan.h);
            CU_ASSERT_EQUAL(mech_sim_time(s), plan.end.time);
        }
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_length_is_divided_into_equal_steps_of_at_most_h),
           UNIT_TEST(each_kind_reads_its_own_member),
           UNIT_TEST(the_size_of_the_step_before_is_kept),
           UNIT_TEST(a_request_without_steps_is_refused),
           UNIT_TEST(a_simulation_does_what_its_plan_says))
