/* Inputs that vary over a command, of the tests' FMU: with derivatives, as polynomials, as samples;
 * and which FMU follows which of them. */
#include "server/engine/fmu_follow.h"

#include "server/engine/fmu_jacobian.h"
#include "server/os/log.h"
#include "tests/unit/server/engine/hosting.h"

#include <unistd.h>

static const char interpolates[] = "canHandleVariableCommunicationStepSize=\"true\" "
                                   "canInterpolateInputs=\"true\"";
static const char updates[] = "canHandleVariableCommunicationStepSize=\"true\" "
                              "canGetAndSetFMUState=\"true\" canSerializeFMUState=\"true\" "
                              "providesIntermediateUpdate=\"true\"";

static const double one = 1., slope[] = {1., 2.};
static const struct mech_input_change ramp = {
    .index = U, .values = &one, .order = 1, .derivatives = slope};

/* 1 s, in two steps. */
static int second(const struct mechd_engine *e, const struct mech_input_change *in, bool trial)
{
    const struct mech_step_request r = {
        .size = 1., .inputs = in, .input_count = in != NULL ? 1 : 0, .trial = trial};
    return run(e, &r);
}

static double value(const struct mechd_engine *e)
{
    double u = NAN;
    mechd_engine_get_input(e, U, &u);
    return u;
}

static void derivatives_act_within_steps(enum mechd_fmi_version version, const char *abilities,
                                         double last)
{
    const struct mechd_engine e = begun(version, abilities);
    CU_ASSERT_EQUAL(second(&e, &ramp, false), 0);
    CU_ASSERT_EQUAL(value(&e), 2.);
    CHECK_NEAR(output(&e), last + 1.5, 1e-14);
    // they go on until it is set again, and no longer
    CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
    CHECK_NEAR(output(&e), last + 1. + 4., 1e-14);
    CU_ASSERT_EQUAL(set_input(&e, 2.), 0);
    CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
    CHECK_NEAR(output(&e), 2. + 6., 1e-14);
    CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
    CHECK_NEAR(output(&e), 2. + 8., 1e-14);
    mechd_engine_destroy(&e);
}

static void an_fmu_of_version_2_has_derivatives_of_inputs(void)
{
    derivatives_act_within_steps(MECHD_FMI_2, interpolates, 2.);
}

/* In the middles of quarters: the last one is 1/16 s before the end. */
static void an_fmu_of_version_3_has_inputs_within_its_steps(void)
{
    derivatives_act_within_steps(MECHD_FMI_3, updates, 2. - 1. / 16.);
}

/* One that may be set between steps alone is not named to the FMU, which refuses such names. */
static void only_inputs_that_may_be_set_within_steps_are_named(void)
{
    char xml[4096];
    (void)snprintf(xml, sizeof xml, "%s",
                   describe(MECHD_FMI_3, updates, "startTime=\"1\" stepSize=\"0.5\""));
    static const char mark[] = "intermediateUpdate=\"true\"";
    char *const token = strstr(xml, CONTROLLER_TOKEN);
    CU_ASSERT_PTR_NOT_NULL_FATAL(token);
    for (char *at = strstr(xml, mark); at != NULL; at = strstr(xml, mark)) {
        memset(at, ' ', sizeof mark - 1);
    }
    memcpy(token, CONTROLLER_UNNAMED, strlen(CONTROLLER_UNNAMED));
    struct mechd_fmu_package *const p = package_of(MECHD_FMI_3, xml);
    const struct mechd_engine e = made(p, 0);
    static const struct mech_input_signal g = {.n = 2, .values = slope};
    CU_ASSERT_EQUAL_FATAL(mechd_engine_fmu_begin(&e), 0);
    CU_ASSERT_EQUAL(second(&e, &ramp, false), 0);
    CU_ASSERT_EQUAL(output(&e), 1.5 + 0.5 + 0.75);
    CU_ASSERT_EQUAL(second(&e, &(struct mech_input_change){.index = U, .signal = &g}, false),
                    MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "only between its steps"));
    mechd_engine_destroy(&e);
    mechd_fmu_package_unref(p);
}

static void one_that_follows_none_holds_them_over_each_step(void)
{
    const struct mechd_engine e = begun(MECHD_FMI_3, all_of_3);
    CU_ASSERT_EQUAL(second(&e, &ramp, false), 0);
    CU_ASSERT_EQUAL(output(&e), 1.5 + 0.5 + 0.75);
    mechd_engine_destroy(&e);
}

/* 1 + 3 τ² from 1 s on. */
static void a_polynomial_acts_over_the_command_and_its_end_is_held(void)
{
    static const double coefficients[] = {1., 0., 3.};
    static const struct mech_input_signal g = {.start = 1., .n = 3, .values = coefficients};
    static const struct mech_input_change in = {.index = U, .signal = &g};
    const struct mechd_engine two = begun(MECHD_FMI_2, interpolates);
    CU_ASSERT_EQUAL(second(&two, &in, false), 0);
    CU_ASSERT_EQUAL(value(&two), 4.);
    CHECK_NEAR(output(&two), 4. + 2., 1e-14);
    CU_ASSERT_EQUAL(second(&two, NULL, false), 0);
    CU_ASSERT_EQUAL(value(&two), 4.);
    CHECK_NEAR(output(&two), 4. + 6., 1e-14);
    mechd_engine_destroy(&two);
    const struct mechd_engine three = begun(MECHD_FMI_3, updates);
    double sum = 0.;
    for (int k = 0; k < 8; k++) {
        sum += (1. + 3. * pow((k + 0.5) / 8., 2)) / 8.;
    }
    // undone, and done again
    for (int k = 0; k < 2; k++) {
        double both[2] = {NAN, NAN};
        CU_ASSERT_EQUAL(second(&three, &in, true), 0);
        mechd_engine_trial_outputs(&three, both);
        CHECK_NEAR(both[0], 1. + 3. * pow(7.5 / 8., 2) + sum, 1e-14);
        CU_ASSERT_EQUAL(value(&three), 1.);
    }
    CU_ASSERT_EQUAL(mechd_engine_commit(&three), 0);
    CU_ASSERT_EQUAL(value(&three), 4.);
    CU_ASSERT_EQUAL(second(&three, NULL, false), 0);
    CHECK_NEAR(output(&three), 4. + sum + 4., 1e-14);
    mechd_engine_destroy(&three);
}

static void second_derivatives_act_within_steps(void)
{
    static const struct mech_input_change in = {
        .index = U, .values = &one, .order = 2, .derivatives = slope};
    const struct mechd_engine e = begun(MECHD_FMI_2, interpolates);
    // 1 + τ + τ²
    CU_ASSERT_EQUAL(second(&e, &in, false), 0);
    CHECK_NEAR(output(&e), 3. + 1. + 1. / 2. + 1. / 3., 1e-14);
    mechd_engine_destroy(&e);
}

/* It ends where it began, but the FMU has had another value last. */
static void what_an_fmu_was_given_within_its_steps_is_set_again(void)
{
    static const double coefficients[] = {1., 8., -16.};
    static const struct mech_input_signal g = {.start = 1., .n = 3, .values = coefficients};
    static const struct mech_input_change in = {.index = U, .signal = &g};
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    const struct mech_step_request half = {.size = 0.5, .inputs = &in, .input_count = 1};
    CU_ASSERT_EQUAL(run(&e, &half), 0);
    CU_ASSERT_EQUAL(value(&e), 1.);
    const double grown = output(&e) - (1. + 8. * 0.4375 - 16. * 0.4375 * 0.4375);
    CU_ASSERT_EQUAL(step(&e, 0.5), 0);
    CHECK_NEAR(output(&e), 1. + grown + 0.5, 1e-14);
    mechd_engine_destroy(&e);
}

static void samples_act_over_the_command(void)
{
    static const double tau[] = {-1., 0., 0.25, 0.75, 0.8, 2.}, values[] = {9., 0., 4., 4., 0., 0.};
    static const struct mech_input_signal g = {.start = 1., .n = 6, .tau = tau, .values = values};
    static const struct mech_input_change in = {.index = U, .signal = &g};
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    CU_ASSERT_EQUAL(second(&e, &in, false), 0);
    // in the middles of eighths: 1, 3, 4, 4, 4, 4, 0, 0
    CHECK_NEAR(output(&e), 20. / 8., 1e-14);
    CU_ASSERT_EQUAL(value(&e), 0.);
    mechd_engine_destroy(&e);
}

static void what_an_fmu_does_not_follow_is_refused(void)
{
    static const double rows[17] = {1., 1.}, infinite[] = {1., INFINITY};
    static const struct {
        enum mechd_fmi_version version;
        const char *abilities, *part;
        struct mech_input_signal signal;
    } cases[] = {
        {MECHD_FMI_2, all_of_2, "constant over the step: the FMU does not interpolate", {.n = 2}},
        {MECHD_FMI_3, all_of_3, "constant over the step: the FMU has no intermediate", {.n = 2}},
        {MECHD_FMI_2, interpolates, "interpolates only polynomials", {.n = 2, .tau = rows}},
        {MECHD_FMI_2, interpolates, "at most 16 coefficients", {.n = 17}},
        {MECHD_FMI_3, updates, "must be finite", {.n = 2, .values = infinite}},
        {MECHD_FMI_3, updates, "must be finite", {.n = 2, .tau = rows, .values = infinite}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct mechd_engine e = begun(cases[k].version, cases[k].abilities);
        struct mech_input_signal g = cases[k].signal;
        g.values = g.values != NULL ? g.values : rows;
        CU_ASSERT_EQUAL(second(&e, &(struct mech_input_change){.index = U, .signal = &g}, false),
                        MECH_INVALID);
        CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, cases[k].part));
        CU_ASSERT_EQUAL(mechd_engine_time(&e), 1.);
        mechd_engine_destroy(&e);
    }
}

static void what_the_fmu_refuses_is_reported(void)
{
    // a derivative that this one does not take
    static const double cubic[] = {1., 0., 0., 1.};
    static const struct mech_input_signal g = {.start = 1., .n = 4, .values = cubic};
    static const struct mech_input_change in = {.index = U, .signal = &g};
    const struct mechd_engine two = begun(MECHD_FMI_2, interpolates);
    CU_ASSERT_EQUAL(second(&two, &in, false), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "fmi2SetRealInputDerivatives returned status 3"));
    mechd_engine_destroy(&two);
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_KEEPS), 0);
    CU_ASSERT_EQUAL(second(&e, &in, false), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "fmi3SetFloat64 returned status 3"));
    CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
    CU_ASSERT_EQUAL(output(&e), 2.);
    // it may ask for none: derivatives then act at the starts of steps, u = 1 and 1.5
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, CONTROLLER_QUIET), 0);
    CU_ASSERT_EQUAL(second(&e, &in, false), MECH_ENGINE_FAILED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "does not read inputs within the step"));
    CU_ASSERT_EQUAL(second(&e, NULL, false), 0);
    CU_ASSERT_EQUAL(second(&e, &ramp, false), 0);
    CU_ASSERT_EQUAL(output(&e), 1.5 + 2. + 0.5 + 0.75);
    mechd_engine_destroy(&e);
}

static size_t count_of(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
        n++;
    }
    return n;
}

static void ramp_twice(enum mechd_fmi_version version, const char *abilities, int mood)
{
    const struct mechd_engine e = begun(version, abilities);
    mechd_engine_fmu_call(&e, "i-8");
    CU_ASSERT_EQUAL(set_parameter(&e, MOOD, mood), 0);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(second(&e, &ramp, false), 0);
    }
    mechd_engine_destroy(&e);
}

static void inputs_that_hold_their_values_are_logged_once(void)
{
    static char text[16384];
    char path[] = "/tmp/mechd-fmu-follow-XXXXXX";
    const int file = mkstemp(path), usual = dup(STDERR_FILENO);
    CU_ASSERT_FATAL(file >= 0 && usual >= 0);
    CU_ASSERT(dup2(file, STDERR_FILENO) >= 0);
    ramp_twice(MECHD_FMI_3, all_of_3, CONTROLLER_BEHAVES);
    ramp_twice(MECHD_FMI_2, all_of_2, CONTROLLER_BEHAVES);
    ramp_twice(MECHD_FMI_3, updates, CONTROLLER_QUIET);
    ramp_twice(MECHD_FMI_3, updates, CONTROLLER_BEHAVES);
    CU_ASSERT(dup2(usual, STDERR_FILENO) >= 0);
    CU_ASSERT(pread(file, text, sizeof text - 1, 0) > 0);
    CU_ASSERT_EQUAL(count_of(text, "event=fmu-message instance=i-8 status=1 category=\"mechd\""),
                    3);
    CU_ASSERT_EQUAL(count_of(text, "start of each step: the FMU has no intermediate update"), 1);
    CU_ASSERT_EQUAL(count_of(text, "start of each step: the FMU does not interpolate inputs"), 1);
    CU_ASSERT_EQUAL(count_of(text, "fmi3DoStep does not read inputs within a step"), 1);
    (void)close(usual);
    (void)close(file);
    CU_ASSERT_EQUAL(unlink(path), 0);
}

static void a_jacobian_is_by_values(void)
{
    static const struct mech_input_signal g = {.n = 2, .values = slope};
    static const struct mech_input_change in = {.index = U, .signal = &g};
    const struct mech_step_request r = {.size = 1., .inputs = &in, .input_count = 1};
    const struct mechd_engine e = begun(MECHD_FMI_3, updates);
    struct mechd_fmu_jacobian *j = NULL;
    struct mech_derived told;
    double out[2];
    CU_ASSERT_EQUAL(
        mechd_fmu_jacobian_begin(&e, &(struct mech_jacobian_query){.step = &r}, out, &told, &j),
        MECH_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(told.reason, "not signals"));
    mechd_engine_destroy(&e);
}

// the log finds out what its file is by its first line
UNIT_TESTS(UNIT_TEST(inputs_that_hold_their_values_are_logged_once),
           UNIT_TEST(an_fmu_of_version_2_has_derivatives_of_inputs),
           UNIT_TEST(only_inputs_that_may_be_set_within_steps_are_named),
           UNIT_TEST(an_fmu_of_version_3_has_inputs_within_its_steps),
           UNIT_TEST(one_that_follows_none_holds_them_over_each_step),
           UNIT_TEST(a_polynomial_acts_over_the_command_and_its_end_is_held),
           UNIT_TEST(second_derivatives_act_within_steps),
           UNIT_TEST(what_an_fmu_was_given_within_its_steps_is_set_again),
           UNIT_TEST(samples_act_over_the_command),
           UNIT_TEST(what_an_fmu_does_not_follow_is_refused),
           UNIT_TEST(what_the_fmu_refuses_is_reported), UNIT_TEST(a_jacobian_is_by_values))
