/* Where the process of an instance is after whatever has come to nothing, and that the instance is
 * where it was. */
#include "server/engine/fmu_instance.h"

#include "server/os/log.h"
#include "tests/unit/server/engine/hosting.h"

#include <unistd.h>

enum { BYTES = 4096 };

static struct mechd_fmu_instance *inside(const struct mechd_engine *e)
{
    return e->self;
}

/* The end of a step of 0.5 s from 1 s with u = 1, where the mood is a good one. */
static void expect_a_good_step(const struct mechd_engine *e)
{
    CU_ASSERT_EQUAL(set_parameter(e, MOOD, CONTROLLER_BEHAVES), 0);
    CU_ASSERT_EQUAL(step(e, 0.5), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(e), 1.5);
    CU_ASSERT_EQUAL(output(e), 1.5);
}

static void what_a_library_forges_is_no_answer(void)
{
    static const int moods[] = {CONTROLLER_FORGES, CONTROLLER_FORGES_FAILURE,
                                CONTROLLER_ANSWERS_TWICE};
    for (size_t k = 0; k < sizeof moods / sizeof *moods; k++) {
        const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
        CU_ASSERT_EQUAL(set_parameter(&e, MOOD, moods[k]), 0);
        CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "sent an invalid answer"));
        CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_ENDED);
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        CU_ASSERT_EQUAL(mechd_engine_reset(&e), 0);
        expect_a_good_step(&e);
        mechd_engine_destroy(&e);
    }
}

static void start_values_that_it_refuses_are_no_instance(void)
{
    static const struct {
        double u, gain;
        const char *part;
    } bad[] = {{1., -1., "fmi3SetFloat64 returned status 3"},
               {1e308, 100., "infinite or not a number"}};
    struct mechd_fmu_package *const p = package(MECHD_FMI_3, all_of_3);
    const struct mechd_engine e = made(p, 0);
    struct mech_diag diag;
    mech_diag_init(&diag);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT(mechd_engine_fmu_start(&e, MECH_INPUT, U, &bad[k].u, "", &diag));
        CU_ASSERT(mechd_engine_fmu_start(&e, MECH_PARAMETER, GAIN, &bad[k].gain, "", &diag));
        CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&e), MECH_ENGINE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), bad[k].part));
        CU_ASSERT_NOT_EQUAL(step(&e, 0.5), 0);
    }
    const double one = 1.;
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_INPUT, U, &one, "", &diag));
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_PARAMETER, GAIN, &one, "", &diag));
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&e), 0);
    expect_a_good_step(&e);
    mech_diag_fini(&diag);
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

static void a_reset_that_fails_leaves_the_instance_as_it_was(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    char path[256];
    (void)snprintf(path, sizeof path, "%s/binaries/%s/controller.so",
                   mechd_engine_package(&e)->folder, mechd_fmu_platform(MECHD_FMI_3));
    CU_ASSERT_EQUAL(run(&e, &(struct mech_step_request){.size = 0.5, .trial = true}), 0);
    CU_ASSERT_EQUAL(unlink(path), 0);
    CU_ASSERT_EQUAL(mechd_engine_reset(&e), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), "cannot be loaded"));
    // the trial too
    CU_ASSERT(mechd_engine_has_trial(&e));
    CU_ASSERT_EQUAL(mechd_engine_commit(&e), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    mechd_engine_destroy(&e);
}

static void a_state_that_it_refuses_leaves_the_instance_as_it_was(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    struct mechd_fmu_point *const now = &inside(&e)->now;
    char bytes[BYTES];
    // what it has saved, cut
    now->state_size--;
    const size_t size = mechd_engine_snapshot_write(&e, bytes);
    now->state_size++;
    CU_ASSERT_FATAL(size <= sizeof bytes);
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, size, NULL), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), "fmi3DeserializeFMUState"));
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_MOVED);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    expect_a_good_step(&e);
    // nor does it begin one that had ended
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_ABORTS), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, size, NULL), MECH_ENGINE_FAILED);
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_ENDED);
    CU_ASSERT_PTR_NULL(inside(&e)->session.hosted);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    mechd_engine_destroy(&e);
}

/* It is bounded by what it was at the start: here as if that had been less. */
static void a_state_that_grows_beyond_its_bound_undoes_the_step(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const size_t most = inside(&e)->state_most;
    CU_ASSERT(most > inside(&e)->now.state_size);
    inside(&e)->state_most = inside(&e)->now.state_size - 1;
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "the FMU's state has grown to"));
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    inside(&e)->state_most = most;
    expect_a_good_step(&e);
    mechd_engine_destroy(&e);
}

static void a_command_that_is_abandoned_is_undone_or_ends_the_process(void)
{
    for (int k = 0; k < 2; k++) {
        const bool saves = k == 0;
        const struct mechd_engine e =
            saves ? begun(MECHD_FMI_3, all_of_3) : begun(MECHD_FMI_2, all_of_2);
        const struct mech_step_request three = {.kind = MECH_STEP_COUNT, .count = 3};
        bool done = true;
        // before its first step nothing has happened
        CU_ASSERT_EQUAL(mechd_engine_step_begin(&e, &three, &report), 0);
        mechd_engine_step_abandon(&e);
        CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_AT_POINT);
        CU_ASSERT_EQUAL(mechd_engine_step_begin(&e, &three, &report), 0);
        CU_ASSERT_EQUAL(mechd_engine_step_advance(&e, 1, &done), 0);
        CU_ASSERT_FALSE(done);
        CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_MOVED);
        mechd_engine_step_abandon(&e);
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        if (saves) {
            expect_a_good_step(&e);
        } else {
            static const char *const ended = "a command was stopped before its end, and the FMU "
                                             "cannot restore its state; reset starts it again";
            CU_ASSERT_STRING_EQUAL(report.reason, ended);
            CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
            CU_ASSERT_STRING_EQUAL(report.reason, ended);
            CU_ASSERT_EQUAL(mechd_engine_reset(&e), 0);
            expect_a_good_step(&e);
        }
        mechd_engine_destroy(&e);
    }
}

static void a_trial_is_there_until_anything_changes(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const struct mech_step_request trial = {.size = 0.5, .trial = true};
    char bytes[BYTES], after[BYTES];
    // a refused value changes nothing
    CU_ASSERT_EQUAL(run(&e, &trial), 0);
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_AT_TRIAL);
    CU_ASSERT_EQUAL(set_input(&e, NAN), MECH_INVALID);
    CU_ASSERT_EQUAL(set_parameter(&e, GAIN, 101.), MECH_INVALID);
    CU_ASSERT(mechd_engine_has_trial(&e));
    // its bytes are those of the point that it becomes
    const size_t size = mechd_engine_trial_write(&e, bytes);
    CU_ASSERT_FATAL(size <= mechd_engine_snapshot_size(&e) && size <= sizeof bytes);
    CU_ASSERT_EQUAL(mechd_engine_commit(&e), 0);
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_AT_POINT);
    CU_ASSERT_EQUAL(mechd_engine_snapshot_write(&e, after), size);
    CU_ASSERT_EQUAL(memcmp(bytes, after, size), 0);
    for (int k = 0; k < 4; k++) {
        CU_ASSERT_EQUAL(run(&e, &trial), 0);
        CU_ASSERT(mechd_engine_has_trial(&e));
        const int rc =
            k == 0   ? set_input(&e, 1.)
            : k == 1 ? set_parameter(&e, GAIN, 1.)
            : k == 2
                ? mechd_engine_snapshot_read(&e, bytes, size, NULL)
                : mechd_engine_step_begin(&e, &(struct mech_step_request){.size = 0.5}, &report);
        CU_ASSERT_EQUAL(rc, 0);
        CU_ASSERT_FALSE(mechd_engine_has_trial(&e));
        CU_ASSERT_EQUAL(mechd_engine_commit(&e), MECH_NOT_FOUND);
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    }
    mechd_engine_step_abandon(&e);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    mechd_engine_destroy(&e);
}

static void inputs_that_it_does_not_have_are_refused(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const struct mechd_fmu_channels *const c = &inside(&e)->channels;
    const double nan = NAN, one = 1., rates[] = {INFINITY, 0.};
    const struct mech_input_signal constant = {.n = 1, .values = &one};
    const struct mech_input_change bad[] = {
        {.index = U, .values = &nan},
        {.index = U, .values = &one, .order = 2, .derivatives = rates},
        {.index = U, .signal = &constant}};
    static const char *const parts[] = {"must be finite", "must be finite", "takes only values"};
    CU_ASSERT_EQUAL(c->count[MECH_INPUT], 1);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct mech_diag diag;
        mech_diag_init(&diag);
        CU_ASSERT_EQUAL(mechd_engine_set_inputs(&e, &bad[k], 1, &diag), MECH_INVALID);
        CU_ASSERT_EQUAL_FATAL(diag.count, 1);
        CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/inputs/u");
        CU_ASSERT_PTR_NOT_NULL(strstr(diag.entries[0].text, parts[k]));
        mech_diag_fini(&diag);
        const struct mech_step_request with = {.size = 0.5, .inputs = &bad[k], .input_count = 1};
        CU_ASSERT_EQUAL(run(&e, &with), MECH_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, parts[k]));
    }
    // u = 1 + t' at the start of each of two steps: x grows by 0.5 (1 + 1.5)
    const double slope[] = {1.};
    const struct mech_input_change ramp = {
        .index = U, .values = &one, .order = 1, .derivatives = slope};
    double moments[MECH_FLOW_MOMENTS] = {1., 1., 1., 1., 1.};
    CU_ASSERT_EQUAL(run(&e,
                        &(struct mech_step_request){
                            .size = 1., .inputs = &ramp, .input_count = 1, .moments = moments}),
                    0);
    CU_ASSERT_EQUAL(report.steps, 2);
    CU_ASSERT_EQUAL(output(&e), 1.5 + 1.25);
    // velocities conjugate to its inputs are not known
    for (int k = 0; k <= MECH_FLOW_ORDER; k++) {
        CU_ASSERT_EQUAL(moments[k], 0.);
    }
    mechd_engine_destroy(&e);
}

static void after_a_value_that_it_refuses_it_is_restored_or_has_all_values_again(void)
{
    for (int k = 0; k < 2; k++) {
        const struct mechd_engine e =
            k == 0 ? begun(MECHD_FMI_3, all_of_3) : begun(MECHD_FMI_2, all_of_2);
        CU_ASSERT_EQUAL(set_parameter(&e, GAIN, -1.), 0);
        CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
        CU_ASSERT_PTR_NOT_NULL(
            strstr(report.reason, k == 0 ? "fmi3SetFloat64 returned" : "fmi2SetReal returned"));
        CU_ASSERT_EQUAL(inside(&e)->place, k == 0 ? MECHD_FMU_MOVED : MECHD_FMU_AT_POINT);
        CU_ASSERT_FALSE(inside(&e)->sent_known);
        CU_ASSERT_EQUAL(set_parameter(&e, GAIN, 2.), 0);
        CU_ASSERT_EQUAL(step(&e, 0.5), 0);
        CU_ASSERT_EQUAL(output(&e), 3.);
        CU_ASSERT_EQUAL(sets(&e), k == 0 ? 1. : 2.);
        mechd_engine_destroy(&e);
    }
}

static const double along[] = {1.};

static void derivatives_pass_nothing_on_that_stays(void)
{
    double slopes[2] = {NAN, NAN};
    const struct mechd_engine e =
        begun(MECHD_FMI_3, "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                           "providesDirectionalDerivatives=\"true\"");
    CU_ASSERT_EQUAL(sets(&e), 1.);
    CU_ASSERT_EQUAL(set_input(&e, 2.), 0);
    CU_ASSERT_EQUAL(mechd_engine_fmu_derive(&e, along, slopes), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), "fmi3GetDirectionalDerivative"));
    // set again to what it was: it has not been set at all
    CU_ASSERT_EQUAL(set_input(&e, 1.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(sets(&e), 1.);
    mechd_engine_destroy(&e);
}

static void one_that_cannot_be_put_back_is_passed_nothing_for_derivatives(void)
{
    static const char why[] = "only the next step passes to the FMU, which cannot save its state";
    double slopes[2] = {NAN, NAN};
    const struct mechd_engine e = begun(MECHD_FMI_2, "providesDirectionalDerivative=\"true\"");
    // one of two outputs has none: the call is refused, and nothing is lost by it
    CU_ASSERT_EQUAL(mechd_engine_fmu_derive(&e, along, slopes), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), "fmi2GetDirectionalDerivative"));
    CU_ASSERT_EQUAL(mechd_engine_fmu_derive(&e, along, slopes), MECH_ENGINE_FAILED);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(sets(&e), 1.);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(k == 0 ? set_input(&e, 2.) : set_parameter(&e, GAIN, 2.), 0);
        CU_ASSERT_EQUAL(mechd_engine_fmu_derive(&e, along, slopes), MECH_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&e), why));
        CU_ASSERT_EQUAL(step(&e, 0.5), 0);
        CU_ASSERT_EQUAL(sets(&e), 2.);
        CU_ASSERT_EQUAL(mechd_engine_fmu_derive(&e, along, slopes), MECH_ENGINE_FAILED);
    }
    mechd_engine_destroy(&e);
}

static bool at_once(void *context)
{
    (void)context;
    return true;
}

static void one_that_cannot_be_put_back_ends_when_it_is_stopped(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_2, all_of_2);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_LOOPS), 0);
    mechd_engine_set_interrupt(&e, at_once, NULL, NULL);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_CANCELLED);
    mechd_engine_set_interrupt(&e, NULL, NULL, NULL);
    CU_ASSERT_STRING_EQUAL(
        report.reason,
        "the FMU was still computing, so its process was ended; reset starts it again");
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_ENDED);
    CU_ASSERT_EQUAL(mechd_engine_reset(&e), 0);
    expect_a_good_step(&e);
    mechd_engine_destroy(&e);
}

/* So that one whose process was ended can continue. */
static void a_place_is_its_own_until_it_is_destroyed(void)
{
    struct mechd_fmu_places places = {.most = 1};
    struct mechd_fmu_package *const p = package(MECHD_FMI_3, all_of_3);
    const struct mechd_engine e = made(p, 0), other = made(p, 0);
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_INPUT, U, (const double[]){1.}, "", &diag));
    mech_diag_fini(&diag);
    inside(&e)->places = inside(&other)->places = &places;
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&e), 0);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_LOOPS), 0);
    mechd_engine_set_interrupt(&e, at_once, NULL, NULL);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_CANCELLED);
    mechd_engine_set_interrupt(&e, NULL, NULL, NULL);
    CU_ASSERT_EQUAL(inside(&e)->place, MECHD_FMU_RENEWED);
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&other), MECH_ENGINE_FAILED);
    CU_ASSERT(mechd_engine_fmu_is_full(&other));
    CU_ASSERT_PTR_NOT_NULL(strstr(mechd_engine_refusal(&other), "1 FMUs are running"));
    expect_a_good_step(&e);
    // nor does one that has crashed lose it, or one that is reset
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_ABORTS), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&other), MECH_ENGINE_FAILED);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(mechd_engine_reset(&e), 0);
    }
    CU_ASSERT_FALSE(mechd_engine_fmu_is_full(&e));
    expect_a_good_step(&e);
    mechd_engine_destroy(&e);
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&other), 0);
    mechd_engine_destroy(&other);
    CU_ASSERT_EQUAL(atomic_load(&places.taken), 0);
    mechd_fmu_package_unref(p);
}

static void a_step_that_ends_where_it_should_not_is_reported(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_STOPS), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "asks to end the simulation at t = 1.25 s"));
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    expect_a_good_step(&e);
    mechd_engine_destroy(&e);
}

static void the_step_is_that_of_the_description(void)
{
    static const struct {
        const char *abilities, *experiment;
        double h;
    } cases[] = {{"", "stepSize=\"0.25\" stopTime=\"4\"", 0.25},
                 {"fixedInternalStepSize=\"0.125\"", "startTime=\"1\"", 0.125},
                 {"", "startTime=\"1\" stopTime=\"3\"", 2e-3},
                 {"", "stopTime=\"3\"", 3e-3},
                 {"", "startTime=\"1\"", 0.01}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mechd_fmu_package *const p =
            package_of(MECHD_FMI_3, describe(MECHD_FMI_3, cases[k].abilities, cases[k].experiment));
        const struct mechd_engine e = made(p, 0);
        CHECK_NEAR(mechd_engine_step_size(&e), cases[k].h, 1e-18);
        mechd_engine_destroy(&e);
        mechd_fmu_package_unref(p);
    }
}

static void variables_that_cannot_be_shown_make_no_engine(void)
{
    struct mechd_fmu_package *const p = package_of(
        MECHD_FMI_3,
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"c\" instantiationToken=\"t\">"
        "<CoSimulation modelIdentifier=\"controller\"/><ModelVariables>"
        "<UInt64 name=\"n\" valueReference=\"1\" causality=\"structuralParameter\" start=\"0\"/>"
        "<Float64 name=\"a\" valueReference=\"2\" causality=\"input\">"
        "<Dimension valueReference=\"1\"/></Float64></ModelVariables></fmiModelDescription>");
    const struct mechd_fmu_settings settings = {.program = MECH_TESTS_HOST};
    struct mechd_engine e = {NULL, NULL};
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mechd_engine_of_fmu(p, &settings, &e, &diag), MECH_UNSUPPORTED);
    CU_ASSERT_PTR_NULL(e.self);
    CU_ASSERT_EQUAL(diag.count, 1);
    mech_diag_fini(&diag);
    mechd_fmu_package_unref(p);
}

static void what_it_logs_is_in_the_log_with_the_name_of_its_instance(void)
{
    char path[] = "/tmp/mechd-fmu-log-XXXXXX", text[BYTES] = "";
    const int file = mkstemp(path), usual = dup(STDERR_FILENO);
    CU_ASSERT_FATAL(file >= 0 && usual >= 0);
    mechd_log_set_level(MECHD_DEBUG);
    CU_ASSERT(dup2(file, STDERR_FILENO) >= 0);
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    mechd_engine_fmu_call(&e, "i-7");
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    mechd_engine_destroy(&e);
    CU_ASSERT(dup2(usual, STDERR_FILENO) >= 0);
    mechd_log_set_level(MECHD_INFO);
    const ssize_t n = pread(file, text, sizeof text - 1, 0);
    CU_ASSERT(n > 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "event=fmu-message instance=i-7 status=0 "
                                        "category=\"steps\" message=\"a step of the controller\""));
    (void)close(usual);
    (void)close(file);
    CU_ASSERT_EQUAL(unlink(path), 0);
}

/* Of y = gain (u + x) and of what does not depend on u. */
static void a_seed_of_two_outputs_is_adjoined(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const double seed[] = {2., 5.};
    double inputs[] = {NAN};
    CU_ASSERT_EQUAL(set_parameter(&e, GAIN, 3.), 0);
    CU_ASSERT_EQUAL(mechd_engine_fmu_adjoin(&e, seed, inputs), 0);
    CU_ASSERT_EQUAL(inputs[0], 6.);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    mechd_engine_destroy(&e);
}

// the log finds out what its file is by its first line
UNIT_TESTS(UNIT_TEST(what_it_logs_is_in_the_log_with_the_name_of_its_instance),
           UNIT_TEST(what_a_library_forges_is_no_answer),
           UNIT_TEST(start_values_that_it_refuses_are_no_instance),
           UNIT_TEST(a_reset_that_fails_leaves_the_instance_as_it_was),
           UNIT_TEST(a_state_that_it_refuses_leaves_the_instance_as_it_was),
           UNIT_TEST(a_state_that_grows_beyond_its_bound_undoes_the_step),
           UNIT_TEST(a_command_that_is_abandoned_is_undone_or_ends_the_process),
           UNIT_TEST(a_trial_is_there_until_anything_changes),
           UNIT_TEST(inputs_that_it_does_not_have_are_refused),
           UNIT_TEST(after_a_value_that_it_refuses_it_is_restored_or_has_all_values_again),
           UNIT_TEST(derivatives_pass_nothing_on_that_stays),
           UNIT_TEST(one_that_cannot_be_put_back_is_passed_nothing_for_derivatives),
           UNIT_TEST(one_that_cannot_be_put_back_ends_when_it_is_stopped),
           UNIT_TEST(a_place_is_its_own_until_it_is_destroyed),
           UNIT_TEST(a_step_that_ends_where_it_should_not_is_reported),
           UNIT_TEST(the_step_is_that_of_the_description),
           UNIT_TEST(variables_that_cannot_be_shown_make_no_engine),
           UNIT_TEST(a_seed_of_two_outputs_is_adjoined))
