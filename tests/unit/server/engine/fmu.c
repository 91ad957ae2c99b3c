/* The engine `fmu`: the tests' FMU behind the contract of engines, and what its faults leave. */
#include "server/engine/fmu_engine.h"

#include "tests/fmus/controller.h"
#include "tests/unit/server/zip.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { U, GAIN = 0, FIXED = 1, MOOD = 2 };

/* Its description as of a version, with the abilities given. */
static const char *describe(enum mechd_fmi_version version, const char *abilities)
{
    static char xml[4096];
    const bool two = version == MECHD_FMI_2;
    const char *const open = two ? "<ScalarVariable" : "<Float64";
    char u[320], y[320], gain[320], more[640];
    (void)snprintf(u, sizeof u, "%s name=\"u\" valueReference=\"1\" causality=\"input\" %s", open,
                   two ? "><Real start=\"0\"/></ScalarVariable>" : "start=\"0\"/>");
    const char *const end = two ? "><Real/></ScalarVariable>" : "/>";
    (void)snprintf(y, sizeof y,
                   "%s name=\"y\" valueReference=\"2\" causality=\"output\" %s"
                   "%s name=\"sets\" valueReference=\"6\" causality=\"output\" %s",
                   open, end, open, end);
    (void)snprintf(gain, sizeof gain,
                   "%s name=\"gain\" valueReference=\"3\" causality=\"parameter\" "
                   "variability=\"tunable\" %s",
                   open,
                   two ? "><Real start=\"1\" max=\"100\"/></ScalarVariable>"
                       : "start=\"1\" max=\"100\"/>");
    (void)snprintf(more, sizeof more,
                   "%s name=\"on\" valueReference=\"4\" causality=\"parameter\" "
                   "variability=\"fixed\" %s%s name=\"mood\" valueReference=\"5\" "
                   "causality=\"parameter\" variability=\"tunable\" %s",
                   two ? open : "<Boolean",
                   two ? "><Boolean start=\"true\"/></ScalarVariable>" : "start=\"true\"/>",
                   two ? open : "<Int32",
                   two ? "><Integer start=\"0\"/></ScalarVariable>" : "start=\"0\"/>");
    (void)snprintf(xml, sizeof xml,
                   "<fmiModelDescription fmiVersion=\"%s\" modelName=\"controller\" %s=\"%s\">"
                   "<CoSimulation modelIdentifier=\"controller\" %s/>"
                   "<DefaultExperiment startTime=\"1\" stepSize=\"0.5\"/>"
                   "<ModelVariables>%s%s%s%s</ModelVariables>"
                   "</fmiModelDescription>",
                   two ? "2.0" : "3.0", two ? "guid" : "instantiationToken", CONTROLLER_TOKEN,
                   abilities, u, y, gain, more);
    return xml;
}

static const char all_of_3[] = "canHandleVariableCommunicationStepSize=\"true\" "
                               "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\"";
static const char all_of_2[] = "canHandleVariableCommunicationStepSize=\"true\"";

/* The uploaded FMU. */
static struct mechd_fmu_package *package(enum mechd_fmi_version version, const char *abilities)
{
    static struct zip z;
    static char library[ZIP_MOST / 2];
    char path[64];
    FILE *const in = fopen(MECH_TESTS_CONTROLLER, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    const size_t n = fread(library, 1, sizeof library, in);
    (void)fclose(in);
    CU_ASSERT_FATAL(n > 0 && n < sizeof library);
    memset(&z, 0, sizeof z);
    zip_add(&z, (struct zip_file){.path = "modelDescription.xml",
                                  .bytes = describe(version, abilities)});
    (void)snprintf(path, sizeof path, "binaries/%s/controller.so", mechd_fmu_platform(version));
    zip_add(&z, (struct zip_file){.path = path, .bytes = library, .size = n});
    zip_end(&z);
    struct mechd_fmu_package *p = NULL;
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_fmu_package_open(z.bytes, z.size, "/tmp", &p, &diag);
    if (rc != 0) {
        (void)fprintf(stderr, "%d %s\n", rc, diag.count > 0 ? diag.entries[0].text : "");
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(p);
    mech_diag_fini(&diag);
    return p;
}

static struct mechd_engine made(struct mechd_fmu_package *p, uint64_t ms)
{
    const struct mechd_fmu_settings settings = {
        .program = MECH_TESTS_HOST, .memory = MECH_TESTS_MEMORY, .call_ms = ms};
    struct mechd_engine e = {NULL, NULL};
    struct mech_diag diag;
    mech_diag_init(&diag);
    (void)signal(SIGPIPE, SIG_IGN);
    CU_ASSERT_EQUAL(mechd_engine_of_fmu(p, &settings, &e, &diag), 0);
    mech_diag_fini(&diag);
    CU_ASSERT_PTR_NOT_NULL_FATAL(e.self);
    return e;
}

/* Begun with u = 1; the caller destroys it. */
static struct mechd_engine begun(enum mechd_fmi_version version, const char *abilities)
{
    struct mechd_fmu_package *const p = package(version, abilities);
    const struct mechd_engine e = made(p, 0);
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_INPUT, U, (const double[]){1.}, "", &diag));
    mech_diag_fini(&diag);
    const int rc = mechd_engine_fmu_begin(&e);
    if (rc != 0) {
        (void)fprintf(stderr, "%d %s\n", rc, mechd_engine_refusal(&e));
    }
    CU_ASSERT_EQUAL_FATAL(rc, 0);
    mechd_fmu_package_unref(p);
    return e;
}

static double output(const struct mechd_engine *e)
{
    double both[2] = {NAN, NAN};
    mechd_engine_get_outputs(e, both);
    return both[0];
}

/* How often its input has been set. */
static double sets(const struct mechd_engine *e)
{
    double both[2] = {NAN, NAN};
    mechd_engine_get_outputs(e, both);
    return both[1];
}

static struct mech_step_report report;

static int run(const struct mechd_engine *e, const struct mech_step_request *r)
{
    bool done = false;
    int rc = mechd_engine_step_begin(e, r, &report);
    while (rc == 0 && !done) {
        rc = mechd_engine_step_advance(e, 1, &done);
    }
    if (rc == 0) {
        mechd_engine_step_finish(e);
    }
    return rc;
}

static int step(const struct mechd_engine *e, double size)
{
    return run(e, &(struct mech_step_request){.kind = MECH_STEP_SIZE, .size = size});
}

static int set_parameter(const struct mechd_engine *e, int32_t index, double value)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_engine_set_parameters(e, 1, &index, &value, &diag);
    mech_diag_fini(&diag);
    return rc;
}

static int set_input(const struct mechd_engine *e, double value)
{
    struct mech_diag diag;
    mech_diag_init(&diag);
    const int rc = mechd_engine_set_inputs(
        e, &(struct mech_input_change){.index = U, .values = &value}, 1, &diag);
    mech_diag_fini(&diag);
    return rc;
}

static void it_steps_from_its_start_values(enum mechd_fmi_version version, const char *abilities)
{
    const struct mechd_engine e = begun(version, abilities);
    CU_ASSERT_STRING_EQUAL(e.ops->title(e.self), "controller");
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    CU_ASSERT_EQUAL(mechd_engine_step_size(&e), 0.5);
    CU_ASSERT_EQUAL(output(&e), 1.);
    // 1.2 s are three steps of 0.4 s; x grows by u h in each
    CU_ASSERT_EQUAL(step(&e, 1.2), 0);
    CU_ASSERT_EQUAL(report.steps, 3);
    CHECK_NEAR(report.step_size, 0.4, 1e-15);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 2.2);
    CU_ASSERT_EQUAL(mechd_engine_step_count(&e), 3);
    CHECK_NEAR(output(&e), 1. + 1.2, 1e-15);
    CU_ASSERT_EQUAL(set_input(&e, 3.), 0);
    CU_ASSERT_EQUAL(set_parameter(&e, GAIN, 2.), 0);
    CU_ASSERT_EQUAL(run(&e, &(struct mech_step_request){.kind = MECH_STEP_COUNT, .count = 2}), 0);
    CHECK_NEAR(output(&e), 2. * (3. + 1.2 + 3.), 1e-14);
    // reset: a fresh process with the start values
    CU_ASSERT_EQUAL(mechd_engine_reset(&e), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    CU_ASSERT_EQUAL(mechd_engine_get_parameter(&e, GAIN), 1.);
    CU_ASSERT_EQUAL(output(&e), 1.);
    mechd_engine_destroy(&e);
}

static void an_fmu_of_version_2_steps(void)
{
    it_steps_from_its_start_values(MECHD_FMI_2, all_of_2);
}

static void an_fmu_of_version_3_steps(void)
{
    it_steps_from_its_start_values(MECHD_FMI_3, all_of_3);
}

static void start_values_are_set_before_it_is_initialized(void)
{
    struct mechd_fmu_package *const p = package(MECHD_FMI_3, all_of_3);
    const struct mechd_engine e = made(p, 0);
    struct mech_diag diag;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mechd_engine_variable_find(&e, MECH_PARAMETER, "gain"), GAIN);
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_PARAMETER, GAIN, (const double[]){5.}, "/a", &diag));
    CU_ASSERT(mechd_engine_fmu_start(&e, MECH_INPUT, U, (const double[]){2.}, "/b", &diag));
    CU_ASSERT(mech_diag_clean(&diag));
    CU_ASSERT(
        !mechd_engine_fmu_start(&e, MECH_PARAMETER, GAIN, (const double[]){101.}, "/c", &diag));
    CU_ASSERT(
        !mechd_engine_fmu_start(&e, MECH_PARAMETER, MOOD, (const double[]){0.5}, "/d", &diag));
    CU_ASSERT_EQUAL_FATAL(diag.count, 2);
    CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/c");
    CU_ASSERT_PTR_NOT_NULL(strstr(diag.entries[1].text, "whole number"));
    CU_ASSERT_EQUAL(mechd_engine_fmu_begin(&e), 0);
    CU_ASSERT_EQUAL(output(&e), 10.);
    // what is fixed stays
    CU_ASSERT_EQUAL(set_parameter(&e, FIXED, 0.), MECH_INVALID);
    CU_ASSERT_EQUAL(set_parameter(&e, FIXED, 1.), 0);
    mech_diag_fini(&diag);
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

static void trials_are_undone_or_committed(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    const double u = 7.;
    const struct mech_input_change in = {.index = U, .values = &u};
    const struct mech_step_request trial = {
        .kind = MECH_STEP_SIZE, .size = 0.5, .inputs = &in, .input_count = 1, .trial = true};
    double both[2] = {0., 0.}, held = 0.;
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(run(&e, &trial), 0);
        CU_ASSERT(mechd_engine_has_trial(&e));
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        CU_ASSERT_EQUAL(mechd_engine_trial_time(&e), 1.5);
        mechd_engine_trial_outputs(&e, both);
        CU_ASSERT_EQUAL(both[0], 7. + 3.5);
        CU_ASSERT_EQUAL(both[1], 2.);
        mechd_engine_get_input(&e, U, &held);
        CU_ASSERT_EQUAL(held, 1.);
    }
    // dropped by a step, then taken; what is restored has its inputs, which are not set again
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(sets(&e), 1.);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    CU_ASSERT(!mechd_engine_has_trial(&e));
    CU_ASSERT_EQUAL(mechd_engine_commit(&e), MECH_NOT_FOUND);
    CU_ASSERT_EQUAL(run(&e, &trial), 0);
    CU_ASSERT_EQUAL(mechd_engine_commit(&e), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 2.);
    CU_ASSERT_EQUAL(output(&e), 7. + 0.5 + 3.5);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 7. + 0.5 + 7.);
    mechd_engine_destroy(&e);
}

static void snapshots_are_restored(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    CU_ASSERT(mechd_engine_keeps_state(&e));
    CU_ASSERT_EQUAL(set_input(&e, 2.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    const size_t most = mechd_engine_snapshot_size(&e);
    char *const bytes = malloc(most);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    const size_t size = mechd_engine_snapshot_write(&e, bytes);
    CU_ASSERT(size <= most);
    CU_ASSERT_EQUAL(set_input(&e, 9.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    const double there = output(&e);
    bool reproducible = false;
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, size, &reproducible), 0);
    CU_ASSERT(reproducible);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(output(&e), 3.);
    CU_ASSERT_EQUAL(set_input(&e, 9.), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), there);
    // damaged bytes change nothing
    bytes[size - 1] = (char)(bytes[size - 1] ^ 1);
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, size, &reproducible), MECH_MISMATCH);
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, 8, &reproducible), MECH_MISMATCH);
    CU_ASSERT_EQUAL(output(&e), there);
    free(bytes);
    mechd_engine_destroy(&e);
}

static void what_cannot_be_done_is_refused_with_its_reason(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_2, "");
    CU_ASSERT(!mechd_engine_keeps_state(&e));
    CU_ASSERT_EQUAL(step(&e, 0.7), MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "whole numbers of steps of 0.5 s"));
    CU_ASSERT_EQUAL(step(&e, 1.), 0);
    CU_ASSERT_EQUAL(step(&e, -1.), MECH_INVALID);
    CU_ASSERT_EQUAL(run(&e, &(struct mech_step_request){.size = 0.5, .trial = true}), MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "cannot save its state"));
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 2.5);
    mechd_engine_destroy(&e);
}

static void a_refused_step_is_undone(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_DISCARDS), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "fmi3DoStep returned status 2"));
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_BEHAVES), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    mechd_engine_destroy(&e);
    // without states it has ended, and begins again with a reset
    const struct mechd_engine two = begun(MECHD_FMI_2, all_of_2);
    CU_ASSERT_EQUAL(set_parameter(&two, MOOD, CONTROLLER_DISCARDS), 0);
    CU_ASSERT_EQUAL(step(&two, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "cannot restore its state"));
    CU_ASSERT_EQUAL(set_parameter(&two, MOOD, CONTROLLER_BEHAVES), 0);
    CU_ASSERT_EQUAL(step(&two, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_EQUAL(mechd_engine_reset(&two), 0);
    CU_ASSERT_EQUAL(step(&two, 0.5), 0);
    mechd_engine_destroy(&two);
}

static void an_fmu_may_end_the_simulation(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    char bytes[4096 * 4];
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_ENDS), 0);
    // not before the end of a command
    CU_ASSERT_EQUAL(step(&e, 1.), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "asks to end the simulation at t = 1.5 s"));
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    const size_t size = mechd_engine_snapshot_write(&e, bytes);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "has asked to end"));
    // what is restored has not ended
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, size, NULL), 0);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_BEHAVES), 0);
    CU_ASSERT_EQUAL(step(&e, 1.), 0);
    mechd_engine_destroy(&e);
}

static void a_crash_ends_the_process_until_it_is_reset(void)
{
    const struct mechd_engine neighbour = begun(MECHD_FMI_3, all_of_3);
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    char bytes[4096 * 4];
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_FATAL(mechd_engine_snapshot_size(&e) <= sizeof bytes);
    const size_t size = mechd_engine_snapshot_write(&e, bytes);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_ABORTS), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "aborted (signal 6"));
    // the last values are there, and its reason stands
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    CU_ASSERT_EQUAL(output(&e), 1.5);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "aborted (signal 6"));
    // a snapshot begins another process
    CU_ASSERT_EQUAL(mechd_engine_snapshot_read(&e, bytes, size, NULL), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    CU_ASSERT_EQUAL(step(&neighbour, 0.5), 0);
    mechd_engine_destroy(&neighbour);
    mechd_engine_destroy(&e);
}

static bool at_third(void *context)
{
    return ++*(int *)context >= 3;
}

static void an_endless_step_is_stopped_and_undone(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    int asked = 0;
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_LOOPS), 0);
    mechd_engine_set_interrupt(&e, at_third, &asked);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_CANCELLED);
    mechd_engine_set_interrupt(&e, NULL, NULL);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
    // another process goes on where it was
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_BEHAVES), 0);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    mechd_engine_destroy(&e);
}

static void a_folder_goes_with_the_last_reference(void)
{
    struct mechd_fmu_package *const p = package(MECHD_FMI_3, all_of_3);
    const struct mechd_engine e = made(p, 0);
    char folder[64];
    (void)snprintf(folder, sizeof folder, "%s", p->folder);
    CU_ASSERT_PTR_EQUAL(mechd_engine_package(&e), p);
    CU_ASSERT(p->unpacked > 0);
    mechd_fmu_package_unref(p);
    CU_ASSERT_EQUAL(access(folder, F_OK), 0);
    mechd_engine_destroy(&e);
    CU_ASSERT_EQUAL(access(folder, F_OK), -1);
}

/* Each thread makes, steps and destroys instances of its own; all share the package. */
enum { THREADS = 4, EACH = 13 };

static void *use_some(void *shared)
{
    static const struct mechd_fmu_settings settings = {.program = MECH_TESTS_HOST,
                                                       .memory = MECH_TESTS_MEMORY};
    struct mechd_engine all[EACH];
    struct mech_diag diag;
    size_t *const good = calloc(1, sizeof *good);
    mech_diag_init(&diag);
    for (int k = 0; k < EACH; k++) {
        if (mechd_engine_of_fmu(shared, &settings, &all[k], &diag) != 0 ||
            mechd_engine_fmu_begin(&all[k]) != 0) {
            return good;
        }
    }
    for (int k = 0; k < EACH; k++) {
        struct mech_step_report own;
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = (uint64_t)k + 1};
        bool done = false;
        int rc = set_input(&all[k], 2.);
        rc = rc == 0 ? mechd_engine_step_begin(&all[k], &r, &own) : rc;
        while (rc == 0 && !done) {
            rc = mechd_engine_step_advance(&all[k], 1, &done);
        }
        if (rc == 0) {
            mechd_engine_step_finish(&all[k]);
        }
        *good += rc == 0 && fabs(output(&all[k]) - (2. + (k + 1.))) < 1e-12;
        mechd_engine_destroy(&all[k]);
    }
    mech_diag_fini(&diag);
    return good;
}

static void many_instances_are_used_in_several_threads(void)
{
    struct mechd_fmu_package *const p = package(MECHD_FMI_3, all_of_3);
    pthread_t threads[THREADS];
    (void)signal(SIGPIPE, SIG_IGN);
    for (int k = 0; k < THREADS; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[k], NULL, use_some, p), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        void *good = NULL;
        (void)pthread_join(threads[k], &good);
        CU_ASSERT_EQUAL(*(size_t *)good, EACH);
        free(good);
    }
    mechd_fmu_package_unref(p);
}

UNIT_TESTS(UNIT_TEST(an_fmu_of_version_2_steps), UNIT_TEST(an_fmu_of_version_3_steps),
           UNIT_TEST(start_values_are_set_before_it_is_initialized),
           UNIT_TEST(trials_are_undone_or_committed), UNIT_TEST(snapshots_are_restored),
           UNIT_TEST(what_cannot_be_done_is_refused_with_its_reason),
           UNIT_TEST(a_refused_step_is_undone), UNIT_TEST(an_fmu_may_end_the_simulation),
           UNIT_TEST(a_crash_ends_the_process_until_it_is_reset),
           UNIT_TEST(an_endless_step_is_stopped_and_undone),
           UNIT_TEST(a_folder_goes_with_the_last_reference),
           UNIT_TEST(many_instances_are_used_in_several_threads))
