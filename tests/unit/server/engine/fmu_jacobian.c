/* Derivatives of a step of the tests' FMUs: those of their equations, and no trace is left. */
#include "server/engine/fmu_jacobian.h"

#include "server/engine/fmu_instance.h"
#include "solver/base/err.h"
#include "tests/fmus/tank.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/server/engine/hosting.h"

enum { Y, SETS };

static struct mech_derived told;

static int derive(const struct mechd_engine *e, const struct mech_jacobian_query *q, double *out)
{
    struct mechd_fmu_jacobian *j = NULL;
    bool done = false;
    int rc = mechd_fmu_jacobian_begin(e, q, out, &told, &j);
    while (rc == 0 && !done) {
        rc = mechd_fmu_jacobian_advance(j, &done);
    }
    mechd_fmu_jacobian_end(j);
    return rc;
}

/* y = gain (u + x), where x grows by u h in each step of h. */
static void it_is_that_of_the_equations_and_leaves_no_trace(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const double u = -40., rate[] = {8.};
    const struct mech_input_change in = {.index = U, .values = &u, .order = 1, .derivatives = rate};
    const struct mech_step_request with = {.size = 1., .inputs = &in, .input_count = 1};
    const int32_t outputs[] = {Y};
    const struct mech_jacobian_query q = {.step = &with, .outputs = outputs, .output_count = 1};
    double matrix[1] = {NAN};
    CU_ASSERT_EQUAL(set_parameter(&e, GAIN, 3.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    const double y = output(&e);
    CU_ASSERT_EQUAL(mechd_engine_input_size(&e), 1);
    CU_ASSERT_EQUAL(mechd_fmu_derive.rows(e.self, &q), 1);
    CU_ASSERT_EQUAL(mechd_fmu_derive.rows(e.self, &(struct mech_jacobian_query){.step = &with}), 2);
    CU_ASSERT_EQUAL(derive(&e, &q, matrix), 0);
    // its rounding: that of outputs of 100 over a change of 40 eps^(1/3)
    CHECK_NEAR(matrix[0], 3. * 2., 1e-9);
    CU_ASSERT(told.differenced);
    CU_ASSERT_FALSE(told.kinked);
    CU_ASSERT_EQUAL(told.time, 2.5);
    CU_ASSERT_EQUAL(told.steps, 3 * 2);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(output(&e), y);
    CU_ASSERT_FALSE(mechd_engine_has_trial(&e));
    // u is 1 again
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), y + 1.5);
    mechd_engine_destroy(&e);
}

static void what_fails_is_reported_and_undone(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const struct mech_step_request one = {.size = 0.5}, none = {.size = -1.}, two = {.size = 1.};
    double matrix[2];
    CU_ASSERT_EQUAL(derive(&e, &(struct mech_jacobian_query){.step = &none}, matrix), MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(told.reason, "greater than 0"));
    CU_ASSERT_EQUAL(
        derive(&e, &(struct mech_jacobian_query){.step = &two, .steps_most = 5}, matrix),
        MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(told.reason, "1 inputs over 2 steps"));
    CU_ASSERT_EQUAL(
        derive(&e, &(struct mech_jacobian_query){.step = &two, .steps_most = 6}, matrix), 0);
    for (long n = 0; n < 2; n++) {
        struct mechd_fmu_jacobian *made = NULL;
        alloc_refuse_start(n, false);
        CU_ASSERT_EQUAL(mechd_fmu_jacobian_begin(&e, &(struct mech_jacobian_query){.step = &one},
                                                 matrix, &told, &made),
                        MECH_NO_MEMORY);
        CU_ASSERT_EQUAL(alloc_refuse_stop(), 1);
        CU_ASSERT_PTR_NULL(made);
    }
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_DISCARDS), 0);
    CU_ASSERT_EQUAL(derive(&e, &(struct mech_jacobian_query){.step = &one}, matrix),
                    MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(told.reason, "fmi3DoStep returned status 2"));
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_BEHAVES), 0);
    // given up between two of its steps
    struct mechd_fmu_jacobian *j = NULL;
    bool done = false;
    CU_ASSERT_EQUAL(mechd_fmu_jacobian_begin(&e, &(struct mech_jacobian_query){.step = &two},
                                             matrix, &told, &j),
                    0);
    CU_ASSERT_EQUAL(mechd_fmu_jacobian_advance(j, &done), 0);
    mechd_fmu_jacobian_end(j);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    mechd_engine_destroy(&e);
    // without states there are no steps that are undone
    const struct mechd_engine other = begun(MECHD_FMI_2, all_of_2);
    CU_ASSERT_EQUAL(derive(&other, &(struct mech_jacobian_query){.step = &one}, matrix),
                    MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(told.reason, "cannot save its state"));
    CU_ASSERT_EQUAL(step(&other, 0.5), 0);
    mechd_engine_destroy(&other);
}

/* The tank that is full at the end of the step is emptied if a little more flows into it. */
static void limits_are_respected_and_kinks_are_reported(void)
{
    struct mechd_fmu_package *const p = package_from(
        MECHD_FMI_3,
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"tank\" "
        "instantiationToken=\"" TANK_TOKEN "\"><CoSimulation modelIdentifier=\"tank\" "
        "hasEventMode=\"true\" mightReturnEarlyFromDoStep=\"true\" "
        "canHandleVariableCommunicationStepSize=\"true\" canGetAndSetFMUState=\"true\" "
        "canSerializeFMUState=\"true\"/><DefaultExperiment stepSize=\"8\"/><ModelVariables>"
        "<Float64 name=\"level\" valueReference=\"0\" causality=\"output\"/>"
        "<Float64 name=\"valve\" valueReference=\"2\" causality=\"input\" "
        "variability=\"discrete\" start=\"0\"/>"
        "<Float64 name=\"inflow\" valueReference=\"1\" causality=\"input\" start=\"1\" "
        "max=\"1\"/></ModelVariables></fmiModelDescription>",
        MECH_TESTS_TANK, "tank");
    const struct mechd_engine e = made(p, 0);
    const struct mech_step_request half = {.size = 0.5}, whole = {.size = 1.};
    double matrix[2] = {NAN, NAN};
    CU_ASSERT_EQUAL_FATAL(mechd_engine_fmu_begin(&e), 0);
    mechd_fmu_package_unref(p);
    // a discrete input has no slope; at its maximum the other one goes down alone
    CU_ASSERT_EQUAL(derive(&e, &(struct mech_jacobian_query){.step = &half}, matrix), 0);
    CU_ASSERT_EQUAL(matrix[0], 0.);
    CHECK_NEAR(matrix[1], 0.5, 1e-9);
    CU_ASSERT_FALSE(told.kinked);
    // it ticks in each run: these are no events of the step
    struct mech_event_log log = {.count = 0};
    const struct mech_step_request watched = {.size = 0.5, .events = &log};
    CU_ASSERT_EQUAL(derive(&e, &(struct mech_jacobian_query){.step = &watched}, matrix), 0);
    CU_ASSERT_EQUAL(log.total, 0);
    CU_ASSERT_EQUAL(
        run(&e, &(struct mech_step_request){.size = 0.5, .events = &log, .trial = true}), 0);
    CU_ASSERT_EQUAL(log.total, 2);
    // it would be emptied before the end if more could flow in
    CU_ASSERT_EQUAL(derive(&e, &(struct mech_jacobian_query){.step = &whole}, matrix), 0);
    CU_ASSERT_FALSE(told.kinked);
    // 0.5 flows in: emptied at 2 s if the inflow is no smaller
    struct mech_diag diag;
    const double inflow = 0.5;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mechd_engine_set_inputs(
                        &e, &(struct mech_input_change){.index = 1, .values = &inflow}, 1, &diag),
                    0);
    mech_diag_fini(&diag);
    CU_ASSERT_EQUAL(step(&e, 1.), 0);
    CU_ASSERT_EQUAL(derive(&e, &(struct mech_jacobian_query){.step = &whole}, matrix), 0);
    CU_ASSERT(told.kinked);
    mechd_engine_destroy(&e);
}

UNIT_TESTS(UNIT_TEST(it_is_that_of_the_equations_and_leaves_no_trace),
           UNIT_TEST(what_fails_is_reported_and_undone),
           UNIT_TEST(limits_are_respected_and_kinks_are_reported))
