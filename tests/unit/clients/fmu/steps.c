/* Steps of a component as importers ask for them, and what a refused call leaves. */
#include "tests/unit/clients/fmu/importer_2.h"

enum { STEPS = 100000 };

/* What an importer gets that adds up its own time. */
static void own_sums_of_time_are_taken(void)
{
    static const double sizes[] = {1e-3, 1e-2, 0.1, 1. / 3.};
    struct imported_2 f;
    import_2(&f, "mass1d");
    struct imported g = import_example("mass1d");
    void *const i = instantiate(&g, false, false);

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const double h = sizes[k];
        void *const c = instantiate_2(&f);
        double sum = 0., last = 0.;
        int good[2] = {0, 0};
        CU_ASSERT_EQUAL(f.fmi2.SetupExperiment(c, 0, 0., 0., 1, STEPS * h), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(f.fmi2.EnterInitializationMode(c), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(f.fmi2.ExitInitializationMode(c), MECHP_FMI2_OK);
        CU_ASSERT_EQUAL(g.fmi3.Reset(i), MECHP_FMI3_OK);
        initialize(&g, i);
        for (int n = 0; n < STEPS; n++) {
            good[0] += f.fmi2.DoStep(c, sum, h, 1) == MECHP_FMI2_OK;
            good[1] += do_step(&g, i, sum, h, &last) == MECHP_FMI3_OK;
            sum += h;
        }
        CU_ASSERT_EQUAL(good[0], STEPS);
        CU_ASSERT_EQUAL(good[1], STEPS);
        /* the stop time is reached; a step that was lost is seen */
        CU_ASSERT_EQUAL(f.fmi2.DoStep(c, sum, h, 1), MECHP_FMI2_ERROR);
        CU_ASSERT_EQUAL(do_step(&g, i, sum - h, h, &last), MECHP_FMI3_ERROR);
        CU_ASSERT_EQUAL(do_step(&g, i, sum + h, h, &last), MECHP_FMI3_ERROR);
        f.fmi2.FreeInstance(c);
    }
    g.fmi3.FreeInstance(i);
    forget_import(&g);
    forget_import(&f.base);
}

/* k h − t is h but for the rounding of times: impacts are where steps of h have them. */
static void differences_of_times_are_whole_steps(void)
{
    enum { BOUNCES = 100 };
    const double h = 0.05;
    struct imported f = import_example("bouncing-ball");
    void *const a = instantiate(&f, false, false), *const b = instantiate(&f, false, false);
    double last[2] = {0.};
    int other = 0, good = 0;

    initialize(&f, a);
    initialize(&f, b);
    for (int k = 1; k <= BOUNCES; k++) {
        const double size = k * h - last[1];

        other += size != h;
        good += do_step(&f, a, last[0], h, &last[0]) == MECHP_FMI3_OK &&
                do_step(&f, b, last[1], size, &last[1]) == MECHP_FMI3_OK &&
                get_one(&f, a, "speed") == get_one(&f, b, "speed") && last[0] == last[1];
        last[1] = k * h;
    }
    CU_ASSERT_EQUAL(good, BOUNCES);
    CU_ASSERT(other > BOUNCES / 2);
    f.fmi3.FreeInstance(a);
    f.fmi3.FreeInstance(b);
    forget_import(&f);
}

/* The same of times near 0, which are sums from a start before it: known to an ulp of that. */
static void differences_near_0_are_whole_steps(void)
{
    struct imported f = import_example("spring-mass-damper");
    const double h = mech_sim_step_size(f.sim), start = -1.;
    const int steps = (int)(1. / h) + 20;
    void *const a = instantiate(&f, false, false), *const b = instantiate(&f, false, false);
    double last[2] = {start, start};
    int other = 0, good = 0;

    for (int k = 0; k < 2; k++) {
        void *const i = k ? b : a;

        CU_ASSERT_EQUAL(f.fmi3.EnterInitializationMode(i, false, 0., start, false, 0.),
                        MECHP_FMI3_OK);
        CU_ASSERT_EQUAL(f.fmi3.ExitInitializationMode(i), MECHP_FMI3_OK);
    }
    for (int k = 1; k <= steps; k++) {
        const double size = start + k * h - last[1];

        other += size != h;
        good += do_step(&f, a, last[0], h, &last[0]) == MECHP_FMI3_OK &&
                do_step(&f, b, last[1], size, &last[1]) == MECHP_FMI3_OK &&
                get_one(&f, a, "x") == get_one(&f, b, "x") && fabs(last[0] - last[1]) < 1e-15;
        last[1] = start + k * h;
    }
    CU_ASSERT_EQUAL(good, steps);
    CU_ASSERT(other > steps / 2);
    f.fmi3.FreeInstance(a);
    f.fmi3.FreeInstance(b);
    forget_import(&f);
}

/* The last step of so many that are added up ends at the stop time. */
static void a_sum_ends_at_the_stop_time(void)
{
    const double h = 1e-3;
    struct imported f = import_example("mass1d");
    void *const i = instantiate(&f, false, false);
    double sum = 0., last = 0.;
    int good = 0;

    for (int n = 0; n < STEPS; n++) {
        sum += h;
    }
    /* less than STEPS h by 1e-9 s */
    CU_ASSERT_EQUAL(
        f.fmi3.EnterInitializationMode(i, false, 0., 0., true, fmin(sum, 2. * STEPS * h - sum)),
        MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.ExitInitializationMode(i), MECHP_FMI3_OK);
    for (int n = 0; n < STEPS; n++) {
        good += do_step(&f, i, last, h, &last) == MECHP_FMI3_OK;
    }
    CU_ASSERT_EQUAL(good, STEPS);
    CU_ASSERT_EQUAL(do_step(&f, i, last, h, &last), MECHP_FMI3_ERROR);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* A joint that a parameter activates stops the mass at once. */
static const char latched[] =
    "{\"mechd\":1,\"parameters\":{\"latch\":0,\"m\":1},\"nodes\":[{\"name\":\"x\",\"type\":"
    "\"Node1D\","
    "\"initialVelocities\":[3]}],\"objects\":[{\"name\":\"mass\",\"type\":\"Mass1D\",\"node\":"
    "\"x\","
    "\"physicsMass\":\"=m\"},{\"name\":\"lock\","
    "\"type\":\"CoordinateConstraint\",\"markers\":[\"g\",\"at\"],\"active\":\"=latch\"}],"
    "\"markers\":"
    "[{\"name\":\"g\",\"type\":\"MarkerGroundCoordinate\"},{\"name\":\"at\",\"type\":"
    "\"MarkerNodeCoordinate\",\"node\":\"x\"}],\"inputs\":[{\"name\":\"mass\",\"parameter\":\"m\"}]"
    ","
    "\"sensors\":[{\"name\":\"s\",\"type\":\"SensorNode\",\"node\":\"x\",\"outputVariable\":"
    "\"Coordinates_t\"}],\"outputs\":[{\"name\":\"v\",\"sensor\":\"s\"}],\"solver\":{"
    "\"integrator\":"
    "\"TrapezoidalIndex2\",\"stepSize\":0.001}}";

static void a_refused_value_leaves_the_state(void)
{
    struct imported f = import_text(latched);
    void *const i = instantiate(&f, false, false);
    const unsigned both[] = {variable(&f, "latch")->reference, variable(&f, "mass")->reference};
    const double good[] = {1., 2.}, bad[] = {1., -1.};
    double last = 0.;

    initialize(&f, i);
    CU_ASSERT_EQUAL(f.fmi3.SetFloat64(i, both, 2, bad, 2), MECHP_FMI3_DISCARD);
    CU_ASSERT_EQUAL(get_one(&f, i, "v"), 3.);
    CU_ASSERT_EQUAL(get_one(&f, i, "latch"), 0.);
    CU_ASSERT_EQUAL(get_one(&f, i, "mass"), 1.);
    CU_ASSERT_EQUAL(f.fmi3.SetFloat64(i, both, 2, good, 2), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(get_one(&f, i, "v"), 0.);
    CU_ASSERT_EQUAL(get_one(&f, i, "mass"), 2.);
    CU_ASSERT_EQUAL(do_step(&f, i, 0., 0.001, &last), MECHP_FMI3_OK);
    CHECK_NEAR(get_one(&f, i, "v"), 0., 1e-12);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

/* What the pointer holds before is nothing that the FMU may use. */
static void a_state_from_bytes_is_a_new_one(void)
{
    struct imported f = import_example("mass1d");
    void *const i = instantiate(&f, false, false);
    char odd;
    void *state = NULL, *other = &odd;
    size_t size = 0;

    initialize(&f, i);
    CU_ASSERT_EQUAL(f.fmi3.GetFMUState(i, &state), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.SerializedFMUStateSize(i, state, &size), MECHP_FMI3_OK);
    uint8_t *const bytes = malloc(size);
    CU_ASSERT_PTR_NOT_NULL_FATAL(bytes);
    CU_ASSERT_EQUAL(f.fmi3.SerializeFMUState(i, state, bytes, size), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.DeserializeFMUState(i, bytes, size, &other), MECHP_FMI3_OK);
    CU_ASSERT(other != &odd && other != state);
    CU_ASSERT_EQUAL(f.fmi3.SetFMUState(i, other), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &other), MECHP_FMI3_OK);
    CU_ASSERT_EQUAL(f.fmi3.FreeFMUState(i, &state), MECHP_FMI3_OK);
    free(bytes);
    f.fmi3.FreeInstance(i);
    forget_import(&f);
}

UNIT_TESTS(UNIT_TEST(own_sums_of_time_are_taken), UNIT_TEST(differences_of_times_are_whole_steps),
           UNIT_TEST(differences_near_0_are_whole_steps), UNIT_TEST(a_sum_ends_at_the_stop_time),
           UNIT_TEST(a_refused_value_leaves_the_state), UNIT_TEST(a_state_from_bytes_is_a_new_one))
