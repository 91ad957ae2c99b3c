/* The FMU's binary for FMI 3.0 by a small importer: bits as by the solver's own interface, states,
 * refusals. */
#include "tests/unit/clients/fmu/importer.h"

#include <pthread.h>

enum { STEPS = 1000 };

/* in [0, 1); D. Knuth's MMIX generator */
static double next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) * 0x1p-53;
}

static void same_values(const struct imported *f, void *i)
{
    for (size_t k = 0; k < f->layout.n; k++) {
        const struct mechp_fmi_variable *const v = &f->layout.at[k];
        double want[16], got[16];
        CU_ASSERT_FATAL(v->size <= 16);
        mechp_fmi_layout_get(&f->layout, f->sim, v, want);
        CU_ASSERT_EQUAL(f->fmi3.GetFloat64(i, &v->reference, 1, got, (size_t)v->size),
                        MECHP_FMI3_OK);
        CU_ASSERT_EQUAL(memcmp(want, got, (size_t)v->size * sizeof *got), 0);
    }
}

/* One step on both sides; true: done on both. */
static bool both_step(const struct imported *f, void *i, double size)
{
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = size};
    struct mech_step_report report;
    double last = NAN;
    const double time = mech_sim_time(f->sim);
    const int code = mech_sim_step(f->sim, &r, &report);
    CU_ASSERT(code >= 0);
    CU_ASSERT_EQUAL(do_step(f, i, time, size, &last),
                    code == 0 ? MECHP_FMI3_OK : MECHP_FMI3_DISCARD);
    CU_ASSERT_EQUAL(last, mech_sim_time(f->sim));
    return code == 0;
}

/* The present state by bytes and back. */
static void by_bytes(const struct imported *f, void *i, void **state)
{
    size_t size = 0;
    CU_ASSERT_EQUAL(f->fmi3.SerializedFMUStateSize(i, *state, &size), MECHP_FMI3_OK);
    uint8_t *const bytes = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(f->fmi3.SerializeFMUState(i, *state, bytes, size), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f->fmi3.FreeFMUState(i, state), MECHP_FMI3_OK);
    CU_ASSERT_PTR_NULL(*state);
    CU_ASSERT_EQUAL(f->fmi3.DeserializeFMUState(i, bytes, size, state), MECHP_FMI3_OK);
    /* a byte that is another is seen */
    bytes[size / 2] ^= 1;
    void *other = NULL;
    CU_ASSERT_EQUAL(f->fmi3.DeserializeFMUState(i, bytes, size, &other), MECHP_FMI3_ERROR);
    CU_ASSERT_PTR_NULL(other);
    free(bytes);
}

/* All values of an input, at random. */
static void set_both(const struct imported *f, void *i, const struct mechp_fmi_variable *in,
                     uint64_t *seed)
{
    double values[16];
    for (int32_t k = 0; k < in->size; k++) {
        values[k] = next_random(seed) - 0.5;
    }
    CU_ASSERT_EQUAL(f->fmi3.SetFloat64(i, &in->reference, 1, values, (size_t)in->size),
                    MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(mech_sim_set_input(f->sim, in->channel, values, 0, NULL), 0);
}

/* 1,000 steps of random sizes, an input that is set at random, rollbacks by memory and bytes. */
static void runs_as_the_solver(const char *name, const char *input)
{
    struct imported f = import_example(name);
    void *const i = instantiate(&f, false, false), *state = NULL;
    void *const saved = malloc(mech_sim_saved_size(f.sim));
    const double h = mech_sim_step_size(f.sim);
    uint64_t seed = 20;

    CU_ASSERT_PTR_NOT_NULL_FATAL(saved);
    initialize(&f, i);
    for (int k = 0; k < STEPS; k++) {
        if (input && k % 3 == 0) {
            set_both(&f, i, variable(&f, input), &seed);
        }
        if (k % 10 == 0) {
            mech_sim_save(f.sim, saved);
            CU_ASSERT_EQUAL(f.fmi3.GetFMUState(i, &state), MECHP_FMI3_OK);
            both_step(&f, i, h * (0.1 + 3. * next_random(&seed)));
            if (k % 20 == 0) {
                by_bytes(&f, i, &state);
            }
            CU_ASSERT_EQUAL(mech_sim_restore(f.sim, saved), 0);
            CU_ASSERT_EQUAL(f.fmi3.SetFMUState(i, state), MECHP_FMI3_OK);
            same_values(&f, i);
        }
        if (!both_step(&f, i, h * (0.1 + 3. * next_random(&seed)))) {
            CU_FAIL("a step failed");
            break;
        }
        same_values(&f, i);
    }
    CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &state), MECHP_FMI3_OK);
    f.fmi3.FreeInstance(i);
    free(saved);
    forget_import(&f);
}

static void a_linear_model_runs_as_by_the_solver(void)
{
    runs_as_the_solver("driven-oscillator", "push");
}

static void joints_run_as_by_the_solver(void)
{
    runs_as_the_solver("slider-crank", "torque");
}

static void impacts_run_as_by_the_solver(void)
{
    runs_as_the_solver("bouncing-ball", NULL);
}

static void friction_runs_as_by_the_solver(void)
{
    runs_as_the_solver("sliding-sphere", NULL);
}

static void a_flexible_body_runs_as_by_the_solver(void)
{
    runs_as_the_solver("flexible-cantilever", "torque");
}

static void an_input_that_sets_a_parameter_runs_as_by_the_solver(void)
{
    runs_as_the_solver("flexible-cantilever", "tip");
}

static void a_wrong_token_is_refused(void)
{
    struct imported f = import_example("mass1d");
    void *const i = f.fmi3.InstantiateCoSimulation("one", "{no}", f.folder, false, true, false,
                                                   false, NULL, 0, &f, take_message, NULL);
    CU_ASSERT_PTR_NULL(i);
    CU_ASSERT_EQUAL(f.messages, 1);
    CU_ASSERT_PTR_NOT_NULL(strstr(f.text, f.token));
    CU_ASSERT_PTR_NULL(f.fmi3.InstantiateCoSimulation(
        "one", f.token, "/nowhere", false, true, false, false, NULL, 0, &f, take_message, NULL));
    CU_ASSERT_EQUAL(f.messages, 2);
    CU_ASSERT_PTR_NULL(f.fmi3.InstantiateCoSimulation("one", f.token, NULL, false, true, false,
                                                      false, NULL, 0, &f, take_message, NULL));
    CU_ASSERT_STRING_EQUAL(f.text, "there are no resources");
    forget_import(&f);
}

/* "speed" is the initial velocity of the sphere */
static void parameters_shape_the_initial_state_until_it_is_there(void)
{
    struct imported f = import_example("sliding-sphere");
    void *const i = instantiate(&f, false, false);

    CU_ASSERT_EQUAL(set_one(&f, i, variable(&f, "parameter:speed")->name, 2.5), MECHP_FMI3_OK);
    initialize(&f, i);
    CU_ASSERT_EQUAL(get_one(&f, i, "speed"), 2.5);
    CU_ASSERT_EQUAL(set_one(&f, i, "parameter:speed", 3.5), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(get_one(&f, i, "speed"), 2.5);
    CU_ASSERT_EQUAL(f.fmi3.Reset(i), MECHP_FMI3_OK);
    initialize(&f, i);
    same_values(&f, i);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

static void what_a_state_does_not_allow_is_refused(void)
{
    struct imported f = import_example("driven-oscillator");
    void *const i = instantiate(&f, false, false);
    double last = 0., value;
    const uint32_t nowhere = 77, time = 0;

    CU_ASSERT_EQUAL(do_step(&f, i, 0., 0.01, &last), MECHP_FMI3_ERROR);
    CU_ASSERT_STRING_EQUAL(f.text, "fmi3DoStep is not allowed in this state");
    CU_ASSERT_EQUAL(f.fmi3.ExitInitializationMode(i), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.Terminate(i), MECHP_FMI3_ERROR);
    initialize(&f, i);
    CU_ASSERT_EQUAL(f.fmi3.EnterInitializationMode(i, false, 0., 0., false, 0.), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.EnterEventMode(i), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.GetFloat64(i, &nowhere, 1, &value, 1), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.GetFloat64(i, &time, 1, &value, 2), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(set_one(&f, i, "x1", 1.), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(set_one(&f, i, "push", (double)INFINITY), MECHP_FMI3_DISCARD);
    CU_ASSERT_EQUAL(do_step(&f, i, 1., 0.01, &last), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(do_step(&f, i, 0., -0.01, &last), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.EnterConfigurationMode(i), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.SetTime(i, 1.), MECHP_FMI3_ERROR);
    same_values(&f, i);
    CU_ASSERT_EQUAL(f.fmi3.Terminate(i), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(do_step(&f, i, 0., 0.01, &last), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.Reset(i), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.DoStep(NULL, 0., 0.01, false, NULL, NULL, NULL, NULL), MECHP_FMI3_ERROR);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

static void a_stop_time_is_kept(void)
{
    struct imported f = import_example("mass1d");
    void *const i = instantiate(&f, false, false);
    double last = 0.;

    CU_ASSERT_EQUAL(f.fmi3.EnterInitializationMode(i, false, 0., 0., true, 0.3), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.ExitInitializationMode(i), MECHP_FMI3_OK);
    for (int k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL(do_step(&f, i, last, 0.1, &last), MECHP_FMI3_OK);
    }
    CU_ASSERT_EQUAL(do_step(&f, i, last, 0.1, &last), MECHP_FMI3_ERROR);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* The first impact ends the step; then event mode, and the rest of it. */
static void an_event_ends_a_step_early(void)
{
    struct imported f = import_example("bouncing-ball");
    void *const i = instantiate(&f, true, true);
    bool event = false, terminate = true, early = false, flags[5];
    double last = 0., next;

    initialize(&f, i);
    CU_ASSERT_EQUAL(do_step(&f, i, 0., 1., &last), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f.fmi3.EnterStepMode(i), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.DoStep(i, 0., 10., true, &event, &terminate, &early, &last),
                    MECHP_FMI3_OK);
    CU_ASSERT(event && early && !terminate);
    CU_ASSERT(last > 0. && last < 10.);
    CU_ASSERT_EQUAL(f.fmi3.EnterEventMode(i), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.UpdateDiscreteStates(i, &flags[0], &flags[1], &flags[2], &flags[3],
                                                &flags[4], &next),
                    MECHP_FMI3_OK);
    CU_ASSERT(!flags[0] && !flags[1] && !flags[4]);
    CU_ASSERT_EQUAL(f.fmi3.EnterStepMode(i), MECHP_FMI3_OK);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

struct worker {
    const struct imported *f;
    void *instance;
    pthread_t thread;
    uint32_t reference;
    int failed;
    double value;
};

/* no check here: CUnit has one thread */
static void *work(void *at)
{
    struct worker *const w = at;
    double last = 0.;
    for (int k = 0; k < 300; k++) {
        w->failed += do_step(w->f, w->instance, last, 0.004, &last) != MECHP_FMI3_OK;
    }
    w->failed +=
        w->f->fmi3.GetFloat64(w->instance, &w->reference, 1, &w->value, 1) != MECHP_FMI3_OK;
    return NULL;
}

static void instances_share_nothing(void)
{
    enum { WORKERS = 4 };
    struct imported f = import_example("slider-crank");
    struct worker w[WORKERS];

    for (int k = 0; k < WORKERS; k++) {
        w[k] = (struct worker){.f = &f,
                               .instance = instantiate(&f, false, false),
                               .reference = variable(&f, "x")->reference};
        initialize(&f, w[k].instance);
        CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(w[k].instance, false, 0, NULL), MECHP_FMI3_OK);
        CU_ASSERT_EQUAL(set_one(&f, w[k].instance, "torque", k < 2 ? 0.1 : 0.2), MECHP_FMI3_OK);
    }
    for (int k = 0; k < WORKERS; k++) {
        CU_ASSERT_EQUAL_FATAL(pthread_create(&w[k].thread, NULL, work, &w[k]), 0);
    }
    for (int k = 0; k < WORKERS; k++) {
        pthread_join(w[k].thread, NULL);
        CU_ASSERT_EQUAL(w[k].failed, 0);
        f.fmi3.FreeInstance(w[k].instance);
    }
    CU_ASSERT_EQUAL(memcmp(&w[0].value, &w[1].value, sizeof w[0].value), 0);
    CU_ASSERT_EQUAL(memcmp(&w[2].value, &w[3].value, sizeof w[0].value), 0);
    CU_ASSERT(w[0].value != w[2].value);
    forget_import(&f);
}

/* Jᵀ w · s = w · J s */
static void adjoint_and_directional_derivatives_agree(void)
{
    struct imported f = import_example("slider-crank");
    void *const i = instantiate(&f, false, false);
    const uint32_t out = variable(&f, "bearing")->reference;
    const uint32_t in = variable(&f, "torque")->reference;
    const size_t n = (size_t)variable(&f, "bearing")->size;
    double slope[16], weights[16], back = 0., sum = 0.;
    const double one = 1.;

    initialize(&f, i);
    CU_ASSERT_EQUAL(f.fmi3.GetDirectionalDerivative(i, &out, 1, &in, 1, &one, 1, slope, n),
                    MECHP_FMI3_OK);
    for (size_t k = 0; k < n; k++) {
        weights[k] = 1. + (double)k;
        sum += weights[k] * slope[k];
    }
    CU_ASSERT_EQUAL(f.fmi3.GetAdjointDerivative(i, &out, 1, &in, 1, weights, n, &back, 1),
                    MECHP_FMI3_OK);
    CU_ASSERT(fabs(sum) > 0.);
    /* both are differences of fourth order, right to about 1e-12 of a smooth function */
    CHECK_NEAR(back, sum, 1e-9 * fabs(sum));
    CU_ASSERT_EQUAL(f.fmi3.GetDirectionalDerivative(i, &in, 1, &in, 1, &one, 1, slope, 1),
                    MECHP_FMI3_ERROR);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* x1 and its velocity of the oscillator */
static void derivatives_of_outputs_are_rates(void)
{
    struct imported f = import_example("driven-oscillator");
    void *const i = instantiate(&f, false, false);
    const uint32_t x2 = variable(&f, "x2")->reference;
    const int32_t first = 1, second = 2;
    double rate = NAN, last = 0.;

    initialize(&f, i);
    for (int k = 0; k < 10; k++) {
        CU_ASSERT_EQUAL(do_step(&f, i, last, 0.05, &last), MECHP_FMI3_OK);
    }
    CU_ASSERT_EQUAL(f.fmi3.GetOutputDerivatives(i, &x2, 1, &first, &rate, 1), MECHP_FMI3_OK);
    /* a difference over a 64th of the step size: its error is that squared */
    CHECK_NEAR(rate, get_one(&f, i, "v2"), 1e-6 * (1. + fabs(rate)));
    CU_ASSERT_EQUAL(f.fmi3.GetOutputDerivatives(i, &x2, 1, &second, &rate, 1), MECHP_FMI3_ERROR);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* A call that returns an error logs one message, or none. */
static void check_logged(struct imported *f, void *i, bool logged)
{
    f->messages = 0;
    CU_ASSERT_EQUAL(f->fmi3.EnterStepMode(i), MECHP_FMI3_ERROR);
    CU_ASSERT_EQUAL(f->messages, logged ? 1 : 0);
}

/* 3.0.2, 2.3.2: a category is chosen without a change of the others. */
static void log_categories_are_chosen_one_by_one(void)
{
    struct imported f = import_example("mass1d");
    void *const i = instantiate(&f, false, false);
    const char *const errors[] = {"logStatusError"}, *const discards[] = {"logStatusDiscard"};
    const char *const none[] = {"logStatusDiscard", "logNothing"};

    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, false, 1, discards), MECHP_FMI3_OK);
    check_logged(&f, i, true);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, false, 1, errors), MECHP_FMI3_OK);
    check_logged(&f, i, false);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, true, 1, discards), MECHP_FMI3_OK);
    check_logged(&f, i, false);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, true, 1, errors), MECHP_FMI3_OK);
    check_logged(&f, i, true);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, true, 1, discards), MECHP_FMI3_OK);
    check_logged(&f, i, true);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, false, 0, NULL), MECHP_FMI3_OK);
    check_logged(&f, i, false);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, true, 2, none), MECHP_FMI3_ERROR);
    check_logged(&f, i, false);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, true, 0, NULL), MECHP_FMI3_OK);
    check_logged(&f, i, true);
    CU_ASSERT_EQUAL(f.fmi3.SetDebugLogging(i, false, 2, none), MECHP_FMI3_ERROR);
    check_logged(&f, i, true);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* 3.0.2, 2.3.2: starts, and parameters that have been set. */
static void values_are_there_before_the_initialization(void)
{
    struct imported f = import_example("spring-mass-damper");
    void *const i = instantiate(&f, false, false);

    same_values(&f, i);
    CU_ASSERT_EQUAL(set_one(&f, i, "k", 100.), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(get_one(&f, i, "k"), 100.);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

UNIT_TESTS(UNIT_TEST(a_linear_model_runs_as_by_the_solver), UNIT_TEST(joints_run_as_by_the_solver),
           UNIT_TEST(impacts_run_as_by_the_solver), UNIT_TEST(friction_runs_as_by_the_solver),
           UNIT_TEST(a_flexible_body_runs_as_by_the_solver),
           UNIT_TEST(an_input_that_sets_a_parameter_runs_as_by_the_solver),
           UNIT_TEST(a_wrong_token_is_refused),
           UNIT_TEST(parameters_shape_the_initial_state_until_it_is_there),
           UNIT_TEST(what_a_state_does_not_allow_is_refused), UNIT_TEST(a_stop_time_is_kept),
           UNIT_TEST(an_event_ends_a_step_early), UNIT_TEST(instances_share_nothing),
           UNIT_TEST(adjoint_and_directional_derivatives_agree),
           UNIT_TEST(derivatives_of_outputs_are_rates),
           UNIT_TEST(log_categories_are_chosen_one_by_one),
           UNIT_TEST(values_are_there_before_the_initialization))
