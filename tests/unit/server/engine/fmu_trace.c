/* Outputs within a step: their messages, and those of the tests' FMU. */
#include "server/engine/fmu_trace.h"

#include "server/engine/fmu_binary.h"
#include "tests/unit/server/engine/hosting.h"

static const char updates[] = "canHandleVariableCommunicationStepSize=\"true\" "
                              "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                              "providesIntermediateUpdate=\"true\"";
static const int32_t grows = 0, counts = 1; /* y, and one without intermediate update */

enum { ROOM = 16 };

/* A second of two steps, with the trace of one output. */
static int second(const struct mechd_engine *e, struct mech_trace *trace, bool trial)
{
    const struct mech_step_request r = {.size = 1., .trace = trace, .trial = trial};
    return run(e, &r);
}

static void outputs_are_read_after_each_internal_step(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    double rows[2 * ROOM] = {0.};
    struct mech_trace trace = {
        .outputs = &grows, .output_count = 1, .width = 2, .rows = rows, .room = ROOM};
    // undone, done again, and without one
    for (int k = 0; k < 2; k++) {
        trace.count = 0;
        trace.total = 0;
        CU_ASSERT_EQUAL(second(&e, &trace, k == 0), 0);
        CU_ASSERT_EQUAL_FATAL(trace.count, 8);
        CU_ASSERT_EQUAL(trace.total, 8);
        for (int j = 0; j < 8; j++) {
            CU_ASSERT_EQUAL(rows[2 * j], 1. + (j + 1) / 8.);
            CU_ASSERT_EQUAL(rows[2 * j + 1], 1. + (j + 1) / 8.);
        }
    }
    CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
    CU_ASSERT_EQUAL(trace.total, 8);
    CU_ASSERT_EQUAL(output(&e), 3.);
    mechd_engine_destroy(&e);
}

static void rows_without_room_are_counted(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    double rows[2 * 5 + 1] = {[10] = 7.};
    struct mech_trace trace = {
        .outputs = &grows, .output_count = 1, .width = 2, .rows = rows, .room = 5};
    CU_ASSERT_EQUAL(second(&e, &trace, false), 0);
    CU_ASSERT(trace.count == 5 && trace.total == 8);
    CU_ASSERT(rows[8] == 1.625 && rows[10] == 7.);
    mechd_engine_destroy(&e);
}

/* More columns than the FMU has outputs. */
static void an_output_may_be_read_several_times(void)
{
    enum { TIMES = 64 };
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    static double rows[(TIMES + 1) * ROOM];
    int32_t outputs[TIMES] = {0};
    struct mech_trace trace = {
        .outputs = outputs, .output_count = TIMES, .width = TIMES + 1, .rows = rows, .room = ROOM};
    CU_ASSERT_EQUAL(second(&e, &trace, false), 0);
    CU_ASSERT_EQUAL(trace.count, 8);
    for (size_t k = 0; k < trace.count * trace.width; k++) {
        CU_ASSERT_EQUAL(rows[k], 1. + (double)(k / trace.width + 1) / 8.);
    }
    mechd_engine_destroy(&e);
}

static void what_cannot_be_read_within_steps_is_refused(void)
{
    static const struct {
        enum mechd_fmi_version version;
        const char *abilities;
        const int32_t *output;
    } cases[] = {{MECHD_FMI_3, updates, &counts},
                 {MECHD_FMI_3, all_of_3, &grows},
                 {MECHD_FMI_2, all_of_2, &grows}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct mechd_engine e = begun(cases[k].version, cases[k].abilities);
        double rows[2 * ROOM];
        struct mech_trace trace = {
            .outputs = cases[k].output, .output_count = 1, .width = 2, .rows = rows, .room = ROOM};
        CU_ASSERT(!mechd_engine_fmu_traces(&e, *cases[k].output));
        CU_ASSERT_EQUAL(second(&e, &trace, false), MECH_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "has no intermediate update"));
        CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
        mechd_engine_destroy(&e);
    }
}

/* The step is undone, and the next one is as if it had not been. */
static void what_the_fmu_does_wrong_there_is_refused(void)
{
    static const struct {
        int mood;
        const char *part;
    } cases[] = {{CONTROLLER_HIDES, "fmi3GetFloat64 returned status 3"},
                 {CONTROLLER_STRAYS, "its time is not within the step"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct mechd_engine e = begun(MECHD_FMI_3, updates);
        double rows[2 * ROOM];
        struct mech_trace trace = {
            .outputs = &grows, .output_count = 1, .width = 2, .rows = rows, .room = ROOM};
        CU_ASSERT_EQUAL(set_parameter(&e, MOOD, cases[k].mood), 0);
        CU_ASSERT_EQUAL(second(&e, &trace, false), MECH_ENGINE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, cases[k].part));
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
        CU_ASSERT_EQUAL(output(&e), 2.);
        mechd_engine_destroy(&e);
    }
}

static enum mechp_fmi3_status get_narrow(void *component, const uint32_t vr[], size_t n,
                                         float values[], size_t n_values)
{
    for (size_t k = 0; k < n_values; k++) {
        values[k] = (float)(vr[0] + k) + 0.5f;
    }
    return MECHP_FMI3_OK;
}

static enum mechp_fmi3_status get_wide(void *component, const uint32_t vr[], size_t n,
                                       double values[], size_t n_values)
{
    values[0] = vr[0];
    return MECHP_FMI3_OK;
}

/* Not where it is tentative, or may not be read; of both types. */
static void only_finished_internal_steps_are_read(void)
{
    struct mechd_fmu_traced at[] = {{7, MECHD_FMU_FLOAT32, 3}, {9, MECHD_FMU_FLOAT64, 1}};
    double rows[5];
    static const double sought[] = {1.5, 7.5, 8.5, 9.5, 9.};
    struct mechd_fmu_trace t = {.at = at, .count = 2, .width = 5, .room = 1, .numbers = rows};
    struct mechd_binary b = {.version = MECHD_FMI_3,
                             .trace = &t,
                             .three = {.GetFloat32 = get_narrow, .GetFloat64 = get_wide}};
    bool early = true;
    double early_time = NAN;
    mechd_binary_update(&b, 1., false, true, false, true, &early, &early_time);
    mechd_binary_update(&b, 1., false, false, true, true, &early, &early_time);
    CU_ASSERT(t.rows == 0 && t.total == 0 && !early);
    mechd_binary_update(&b, 1.5, false, true, true, true, &early, &early_time);
    mechd_binary_update(&b, 2., false, true, true, true, &early, &early_time);
    CU_ASSERT(t.rows == 1 && t.total == 2 && b.update_failed == 0);
    CU_ASSERT_EQUAL(memcmp(rows, sought, sizeof rows), 0);
    b.trace = NULL;
    mechd_binary_update(&b, 2., false, true, true, true, &early, &early_time);
    CU_ASSERT_EQUAL(t.total, 2);
}

static struct mechd_pipe_message message_of(const uint32_t *words, size_t n)
{
    struct mechd_pipe_message m = {0};
    mechd_pipe_begin(&m, MECHD_FMU_TRACE);
    for (size_t k = 0; k < n; k++) {
        mechd_pipe_put_u32(&m, words[k]);
    }
    return m;
}

static void questions_go_there_and_back(void)
{
    const struct mechd_fmu_traced at[] = {{7, MECHD_FMU_FLOAT32, 3}, {9, MECHD_FMU_FLOAT64, 1}};
    struct mechd_pipe_message m = message_of(NULL, 0);
    struct mechd_fmu_trace t;
    mechd_fmu_trace_put(at, 2, 100, &m);
    CU_ASSERT_FATAL(mechd_fmu_trace_get(&m, &t));
    CU_ASSERT(t.count == 2 && t.width == 5 && t.room == 100 && t.rows == 0 && t.total == 0);
    CU_ASSERT(t.at[0].reference == 7 && t.at[0].type == MECHD_FMU_FLOAT32 && t.at[0].elements == 3);
    mechd_fmu_trace_fini(&t);
    CU_ASSERT_PTR_NULL(t.numbers);
    mechd_pipe_fini(&m);
}

static void questions_that_are_none_are_refused(void)
{
    const uint32_t wide = MECHD_FMU_FLOAT64, whole = MECHD_FMU_INT32;
    const uint32_t cases[][8] = {
        {1, 1, 7, wide},                       // without its elements
        {1, 1, 7, wide, 0},                    // no elements
        {1, 1, 7, whole, 1},                   // a type that does not vary
        {1, 1, 7, wide, 1, 1},                 // something behind it
        {1, 2, 7, wide, 1},                    // one of two
        {1, UINT32_MAX, 7, wide, 1},           // far too many
        {1, 1, 7, wide, UINT32_MAX},           // far too large
        {1, 1, 7, wide, MECHD_FMU_TRACE_MOST}, // with its time too large
        {MECHD_FMU_TRACE_MOST, 1, 7, wide, 1}, // too many rows of two numbers
        {UINT32_MAX, 1, 7, wide, 1}};
    const size_t sizes[] = {4, 5, 5, 6, 5, 5, 5, 5, 5, 5};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mechd_pipe_message m = message_of(cases[k], sizes[k]);
        struct mechd_fmu_trace t = {.width = 1};
        CU_ASSERT(!mechd_fmu_trace_get(&m, &t));
        CU_ASSERT(t.width == 0 && t.at == NULL);
        mechd_pipe_fini(&m);
    }
}

/* Rows that were not asked for, or are not there. */
static void answers_that_are_none_are_refused(void)
{
    const uint32_t cases[][2] = {{1, 2}, {4, 3}, {2, 2}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mechd_pipe_message m = message_of(cases[k], 2);
        double rows[4] = {0.};
        struct mech_trace trace = {.width = 2, .rows = rows, .room = 2};
        CU_ASSERT(!mechd_fmu_rows_get(&m, &trace));
        mechd_pipe_fini(&m);
    }
}

static void rows_are_finite_and_of_the_step(void)
{
    static const double good[] = {1., 5., 1., 6., 2., 7.};
    const struct mechd_fmu_span span = {.time = 1., .size = 1.};
    static const struct {
        size_t at;
        double value;
    } cases[] = {{0, 0.9}, {2, 0.}, {4, 2.1}, {4, NAN}, {3, INFINITY}};
    double rows[6];
    const struct mech_trace trace = {.width = 2, .rows = rows, .room = 3, .count = 3};
    memcpy(rows, good, sizeof rows);
    CU_ASSERT(mechd_fmu_rows_good(&trace, 0, &span));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memcpy(rows, good, sizeof rows);
        rows[cases[k].at] = cases[k].value;
        CU_ASSERT(!mechd_fmu_rows_good(&trace, 0, &span));
    }
    // those of the steps before are not looked at
    memcpy(rows, good, sizeof rows);
    rows[0] = 0.;
    CU_ASSERT(mechd_fmu_rows_good(&trace, 1, &span));
}

/* The 1,000th step of 1 ms from -1 s; to the FMU it begins at -0.001 s, 2e-17 s before. */
static void rows_near_0_are_of_the_step_as_far_as_sums_are_known(void)
{
    double rows[] = {-1e-3, 0.};
    const struct mech_trace trace = {.width = 2, .rows = rows, .room = 1, .count = 1};
    for (int from = 0; from < 2; from++) {
        const struct mechd_fmu_span span = {
            .time = -1e-3 + 2e-17, .size = 1e-3, .start = from ? -1. : -1e-3};
        CU_ASSERT_EQUAL(mechd_fmu_rows_good(&trace, 0, &span), from);
    }
}

UNIT_TESTS(UNIT_TEST(outputs_are_read_after_each_internal_step),
           UNIT_TEST(rows_without_room_are_counted), UNIT_TEST(an_output_may_be_read_several_times),
           UNIT_TEST(what_cannot_be_read_within_steps_is_refused),
           UNIT_TEST(what_the_fmu_does_wrong_there_is_refused),
           UNIT_TEST(only_finished_internal_steps_are_read), UNIT_TEST(questions_go_there_and_back),
           UNIT_TEST(questions_that_are_none_are_refused),
           UNIT_TEST(answers_that_are_none_are_refused), UNIT_TEST(rows_are_finite_and_of_the_step),
           UNIT_TEST(rows_near_0_are_of_the_step_as_far_as_sums_are_known))
