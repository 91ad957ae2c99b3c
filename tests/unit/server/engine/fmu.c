/* The engine `fmu`: the tests' FMU behind the contract of engines, and what its faults leave. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/server/engine/hosting.h"

#include <pthread.h>
#include <unistd.h>

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
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "only by multiples of 0.5 s"));
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

/* One that is refused leaves the instance where it was, whatever has become of the processes: also
 * where the new one has begun, and what it gives cannot be had. */
static void a_reset_without_memory_leaves_it_where_it_was(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    char bytes[4096 * 4];
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CU_ASSERT_FATAL(mechd_engine_snapshot_size(&e) <= sizeof bytes);
    const size_t size = mechd_engine_snapshot_write(&e, bytes);
    int refused = 0, went_on = 0;
    for (int rc = -1; rc != 0 && refused < 200; refused++) {
        alloc_refuse_start(refused, false);
        rc = mechd_engine_reset(&e);
        (void)alloc_refuse_stop();
        if (rc != 0) {
            CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.5);
            const int stepped = step(&e, 0.5);
            went_on += stepped == 0;
            CU_ASSERT(stepped == 0 ? output(&e) == 2. : stepped == MECH_ENGINE_FAILED);
            CU_ASSERT_EQUAL_FATAL(mechd_engine_snapshot_read(&e, bytes, size, NULL), 0);
        }
    }
    CU_ASSERT(refused > 3 && refused < 200 && went_on > 0);
    CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
    CU_ASSERT_EQUAL(output(&e), 1.);
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
    mechd_engine_set_interrupt(&e, at_third, NULL, &asked);
    CU_ASSERT_EQUAL(step(&e, 0.5), MECH_CANCELLED);
    mechd_engine_set_interrupt(&e, NULL, NULL, NULL);
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
           UNIT_TEST(a_reset_without_memory_leaves_it_where_it_was),
           UNIT_TEST(an_endless_step_is_stopped_and_undone),
           UNIT_TEST(a_folder_goes_with_the_last_reference),
           UNIT_TEST(many_instances_are_used_in_several_threads))
