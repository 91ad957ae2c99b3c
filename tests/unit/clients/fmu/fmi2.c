/* The FMU's binary for FMI 2.0 by a small importer: bits as by the solver's own interface. */
#include "tests/unit/clients/fmu/importer_2.h"

static void same_values(const struct imported_2 *f, void *c)
{
    for (size_t k = 0; k < f->base.layout.n; k++) {
        const struct mechp_fmi_variable *const v = &f->base.layout.at[k];
        double want, got = NAN;
        mechp_fmi_layout_get(&f->base.layout, f->base.sim, v, &want);
        CU_ASSERT_EQUAL(f->fmi2.GetReal(c, &v->reference, 1, &got), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(memcmp(&want, &got, sizeof got), 0);
    }
}

/* An input with two derivatives, set anew every third step. */
static void inputs_with_derivatives_run_as_by_the_solver(void)
{
    struct imported_2 f;
    import_2(&f, "slider-crank");
    void *const c = instantiate_2(&f), *state = NULL;
    const struct mechp_fmi_variable *const in = variable(&f.base, "torque");
    const double h = mech_sim_step_size(f.base.sim);
    const unsigned twice[2] = {in->reference, in->reference};
    const int orders[2] = {1, 2};

    initialize_2(&f, c, 0.);
    for (int k = 0; k < 1000; k++) {
        const double size = h * (0.25 + (double)(k * 7 % 11) / 4.);
        const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = size};
        const double value = (double)(k % 13 - 6) / 50., rates[2] = {0.3 * value, -value};
        struct mech_step_report report;

        if (k % 3 == 0) {
            CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &in->reference, 1, &value), MECHP_FMI2_OK);
            CU_ASSERT_EQUAL(f.fmi2.SetRealInputDerivatives(c, twice, 2, orders, rates),
                            MECHP_FMI2_OK);
            CU_ASSERT_EQUAL(mech_sim_set_input(f.base.sim, in->channel, &value, 2, rates), 0);
        }
        const double time = mech_sim_time(f.base.sim);
        if (k % 50 == 0) {
            CU_ASSERT_EQUAL(f.fmi2.GetFMUstate(c, &state), MECHP_FMI2_OK);
            CU_ASSERT_EQUAL(f.fmi2.DoStep(c, time, 2. * size, 0), MECHP_FMI2_OK);
            CU_ASSERT_EQUAL(f.fmi2.SetFMUstate(c, state), MECHP_FMI2_OK);
        }
        CU_ASSERT_EQUAL(f.fmi2.DoStep(c, time, size, 0), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(mech_sim_step(f.base.sim, &r, &report), 0);
        same_values(&f, c);
    }
    CU_ASSERT_EQUAL(f.fmi2.FreeFMUstate(c, &state), MECHP_FMI2_OK);
    f.fmi2.FreeInstance(c);
    forget_import(&f.base);
}

/* A parameter that is set in the initialization makes the state anew, at the start time. */
static void the_start_time_outlives_parameters(void)
{
    struct imported_2 f;
    import_2(&f, "sliding-sphere");
    void *const c = instantiate_2(&f);
    const unsigned speed = variable(&f.base, "parameter:speed")->reference, time = 0;
    double value = 2.;

    CU_ASSERT_EQUAL(f.fmi2.SetupExperiment(c, 0, 0., 5., 0, 0.), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.EnterInitializationMode(c), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &speed, 1, &value), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.ExitInitializationMode(c), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.GetReal(c, &time, 1, &value), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(value, 5.);
    CU_ASSERT_EQUAL(f.fmi2.DoStep(c, 5., 0.01, 1), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.GetRealStatus(c, MECHP_FMI2_LAST_SUCCESSFUL_TIME, &value),
                    MECHP_FMI2_OK);
    CHECK_NEAR(value, 5.01, 1e-12);
    f.fmi2.FreeInstance(c);
    forget_import(&f.base);
}

static void what_a_state_does_not_allow_is_refused(void)
{
    struct imported_2 f;
    import_2(&f, "mass1d");
    void *const c = instantiate_2(&f);
    const unsigned time = 0;
    double value;

    CU_ASSERT_EQUAL(f.fmi2.DoStep(c, 0., 0.01, 1), MECHP_FMI2_ERROR);
    CU_ASSERT_STRING_EQUAL(f.base.text, "fmi2DoStep is not allowed in this state");
    CU_ASSERT_EQUAL(f.fmi2.GetReal(c, &time, 1, &value), MECHP_FMI2_ERROR);
    initialize_2(&f, c, 0.);
    CU_ASSERT_EQUAL(f.fmi2.SetupExperiment(c, 0, 0., 0., 0, 0.), MECHP_FMI2_ERROR);
    CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &time, 1, &value), MECHP_FMI2_ERROR);
    CU_ASSERT_EQUAL(f.fmi2.CancelStep(c), MECHP_FMI2_ERROR);
    CU_ASSERT_EQUAL(f.fmi2.GetInteger(c, &time, 0, NULL), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.GetInteger(c, &time, 1, NULL), MECHP_FMI2_ERROR);
    CU_ASSERT_EQUAL(f.fmi2.Terminate(c), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.GetReal(c, &time, 1, &value), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.DoStep(c, 0., 0.01, 1), MECHP_FMI2_ERROR);
    f.fmi2.FreeInstance(c);
    CU_ASSERT_PTR_NULL(f.fmi2.Instantiate("one", MECHP_FMI2_MODEL_EXCHANGE, f.base.token, f.uri,
                                          &f.callbacks, 0, 1));
    CU_ASSERT_PTR_NULL(f.fmi2.Instantiate("one", MECHP_FMI2_CO_SIMULATION, f.base.token,
                                          "http://example.org/", &f.callbacks, 0, 1));
    CU_ASSERT_STRING_EQUAL(f.base.text, "the location of the resources is not the URI of a file");
    /* a path ends at NUL, a URI does not */
    snprintf(f.uri + strlen(f.uri), 8, "%%00/x");
    CU_ASSERT_PTR_NULL(f.fmi2.Instantiate("one", MECHP_FMI2_CO_SIMULATION, f.base.token, f.uri,
                                          &f.callbacks, 0, 1));
    forget_import(&f.base);
}

/* Of an array one element is set anew in its course: the others go on as they were. */
static void elements_of_an_input_move_on_their_own(void)
{
    struct imported_2 f;
    import_2(&f, "flexible-cantilever");
    void *const c = instantiate_2(&f);
    const unsigned one = variable(&f.base, "torque[1]")->reference;
    const unsigned two = variable(&f.base, "torque[2]")->reference;
    const unsigned twice[2] = {two, two};
    const int orders[2] = {1, 2};
    const double h = mech_sim_step_size(f.base.sim), start = 1e-3, rates[2] = {2e-3, 0.5},
                 other = 1e-4;
    double value = NAN;

    initialize_2(&f, c, 0.);
    CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &two, 1, &start), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.SetRealInputDerivatives(c, twice, 2, orders, rates), MECHP_FMI2_OK);
    for (int k = 0; k < 4; k++) {
        const double t = (k + 1) * h;
        CU_ASSERT_EQUAL(f.fmi2.DoStep(c, k * h, h, 1), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &one, 1, &other), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(f.fmi2.GetReal(c, &two, 1, &value), MECHP_FMI2_OK);
        CHECK_NEAR(value, start + rates[0] * t + 0.5 * rates[1] * t * t, 1e-12 * start);
    }
    f.fmi2.FreeInstance(c);
    forget_import(&f.base);
}

/* What is set before the start time is known holds from there on. */
static void inputs_hold_from_the_start_time_on(void)
{
    struct imported_2 f;
    import_2(&f, "driven-oscillator");
    void *const c = instantiate_2(&f);
    const unsigned in = variable(&f.base, "push")->reference;
    const double one = 1., rate = 3.;
    const int order = 1;
    double value = NAN;

    CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &in, 1, &one), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(f.fmi2.SetRealInputDerivatives(c, &in, 1, &order, &rate), MECHP_FMI2_OK);
    initialize_2(&f, c, 5.);
    CU_ASSERT_EQUAL(f.fmi2.GetReal(c, &in, 1, &value), MECHP_FMI2_OK);
    CU_ASSERT_EQUAL(value, one);
    f.fmi2.FreeInstance(c);
    forget_import(&f.base);
}

/* 2.0.5, 2.1.3: values may be discarded, and steps; no derivatives. */
static void derivatives_are_refused_by_an_error(void)
{
    struct imported_2 f;
    import_2(&f, "slider-crank");
    void *const c = instantiate_2(&f);
    const unsigned in = variable(&f.base, "torque")->reference;
    const double huge = (double)INFINITY, one = 1.;
    const int order = 1;

    initialize_2(&f, c, 0.);
    CU_ASSERT_EQUAL(f.fmi2.SetReal(c, &in, 1, &huge), MECHP_FMI2_DISCARD);
    CU_ASSERT_EQUAL(f.fmi2.SetRealInputDerivatives(c, &in, 1, &order, &huge), MECHP_FMI2_ERROR);
    CU_ASSERT_STRING_EQUAL(f.base.text, "a derivative is not finite");
    CU_ASSERT_EQUAL(f.fmi2.SetRealInputDerivatives(c, &in, 1, &order, &one), MECHP_FMI2_OK);
    f.fmi2.FreeInstance(c);
    forget_import(&f.base);
}

/* 2.0.5, 2.1.5: a category is chosen without a change of the others. */
static void log_categories_are_chosen_one_by_one(void)
{
    struct imported_2 f;
    import_2(&f, "mass1d");
    void *const c = instantiate_2(&f);
    const char *const categories[] = {"logStatusError", "logStatusDiscard"};
    static const struct {
        int on, first, count, told;
    } turns[] = {{0, 1, 1, 1}, {0, 0, 1, 0}, {1, 1, 1, 0}, {1, 0, 1, 1},
                 {1, 1, 1, 1}, {0, 0, 0, 0}, {1, 0, 0, 1}};

    for (size_t k = 0; k < sizeof turns / sizeof *turns; k++) {
        CU_ASSERT_EQUAL(f.fmi2.SetDebugLogging(c, turns[k].on, (size_t)turns[k].count,
                                               categories + turns[k].first),
                        MECHP_FMI2_OK);
        f.base.messages = 0;
        CU_ASSERT_EQUAL(f.fmi2.ExitInitializationMode(c), MECHP_FMI2_ERROR);
        CU_ASSERT_EQUAL(f.base.messages, turns[k].told);
    }
    f.fmi2.FreeInstance(c);
    forget_import(&f.base);
}

UNIT_TESTS(UNIT_TEST(log_categories_are_chosen_one_by_one),
           UNIT_TEST(elements_of_an_input_move_on_their_own),
           UNIT_TEST(inputs_hold_from_the_start_time_on),
           UNIT_TEST(derivatives_are_refused_by_an_error),
           UNIT_TEST(inputs_with_derivatives_run_as_by_the_solver),
           UNIT_TEST(the_start_time_outlives_parameters),
           UNIT_TEST(what_a_state_does_not_allow_is_refused))
