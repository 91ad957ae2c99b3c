/* Inputs over a step: polynomials and samples, what holds afterwards, what is refused. */
#include "solver/sim/internal.h"
#include "solver/step/stepper.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#include <string.h>

/* A free mass of 2 kg with a force `force`, its x and the parameter p as outputs and inputs. */
#define MASS(solver)                                                                               \
    "{'mechd': 1, 'parameters': {'p': 2}, 'nodes': [{'name': 'n', 'type': 'NodePoint2D'}],"        \
    "'objects': [{'name': 'm', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': '=p'}],"         \
    "'markers': [{'name': 'x', 'type': 'MarkerNodePosition', 'node': 'n'}], 'loads': ["            \
    "{'name': 'F', 'type': 'LoadForceVector', 'marker': 'x', 'load': [0, 0, 0]}],"                 \
    "'inputs': [{'name': 'force', 'load': 'F'}, {'name': 'mass', 'parameter': 'p'}],"              \
    "'solver': {" solver "}}"
#define RUNGE "'integrator': 'RK67', 'stepSize': 0.1"
#define ALPHA "'stepSize': 0.01"

static int step(struct mech_sim *s, double H, const struct mech_input_signal *g, bool trial,
                struct mech_step_report *report)
{
    const struct mech_input_change in = {.index = 0, .signal = g};
    const struct mech_step_request r = {
        .kind = MECH_STEP_SIZE, .size = H, .inputs = &in, .input_count = 1, .trial = trial};

    return mech_sim_step(s, &r, report);
}

/* 2 ẍ = 1 + 2 τ + 6 τ³, 2 ÿ = −4 τ² from τ = 0 at t = 0.5: RK67 integrates it exactly */
static void a_polynomial_is_integrated_as_such(void)
{
    struct mech_sim *const s = model_of(MASS(RUNGE));
    const double c[] = {1., 0., 0., 2., 0., 0., 0., -4., 0., 6., 0., 0.};
    const struct mech_input_signal g = {.start = 0.5, .n = 4, .values = c};
    struct mech_step_report report;
    double now[3];

    CU_ASSERT_EQUAL(model_step(s, 0.5), 0);
    CU_ASSERT_EQUAL(step(s, 1., &g, false, &report), 0);
    CU_ASSERT_EQUAL(report.steps, 10);
    CHECK_NEAR(model_state(s).v[0], 0.5 * (1. + 1. + 1.5), 1e-13);
    CHECK_NEAR(model_state(s).q[0], 0.5 * (0.5 + 1. / 3. + 0.3), 1e-13);
    CHECK_NEAR(model_state(s).v[1], -0.5 * 4. / 3., 1e-13);
    CHECK_NEAR(model_state(s).q[1], -0.5 / 3., 1e-13);

    /* the last value holds */
    mech_sim_get_input(s, 0, now);
    CHECK_NEAR(now[0], 9., 1e-13);
    CHECK_NEAR(now[1], -4., 1e-13);
    const double v = model_state(s).v[0];
    CU_ASSERT_EQUAL(model_step(s, 1.), 0);
    CHECK_NEAR(model_state(s).v[0], v + 4.5, 1e-12);
    mech_sim_destroy(s);
}

/* Straight lines between samples are inputs with a first derivative, step by step; RK67 is exact
 * where the samples are at the ends of its steps. */
static void samples_are_joined_by_straight_lines(void)
{
    struct mech_sim *const s = model_of(MASS(RUNGE)), *const o = model_of(MASS(RUNGE));
    const double tau[] = {0., 0.1, 0.4}, values[] = {0., 0., 0., 3., 1., 0., -3., 2., 0.};
    const double rate[2][3] = {{30., 10., 0.}, {-20., 10. / 3., 0.}};
    const double end[] = {-3., 2., 0.};
    const struct mech_input_signal g = {.n = 3, .tau = tau, .values = values};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(step(s, 0.5, &g, false, &report), 0);
    for (int k = 0; k < 3; k++) {
        const struct mech_input_change in = {.index = 0,
                                             .order = k < 2,
                                             .values = k < 2 ? values + 3 * k : end,
                                             .derivatives = k < 2 ? rate[k] : NULL};
        const struct mech_step_request r = {.kind = MECH_STEP_UNTIL,
                                            .until = k < 2 ? tau[k + 1] : 0.5,
                                            .inputs = &in,
                                            .input_count = 1};

        CU_ASSERT_EQUAL(mech_sim_step(o, &r, &report), 0);
    }
    CHECK_NEAR(model_distance(model_state(s).q, model_state(o).q, 2), 0., 1e-13);
    CHECK_NEAR(model_distance(model_state(s).v, model_state(o).v, 2), 0., 1e-13);
    /* 2 v = ∫ F */
    CHECK_NEAR(model_state(s).v[0], 0.5 * (0.15 + 0. - 0.3), 1e-13);
    CHECK_NEAR(model_state(s).v[1], 0.5 * (0.05 + 0.45 + 0.2), 1e-13);
    mech_sim_destroy(s);
    mech_sim_destroy(o);
}

/* One constant coefficient, and one sample, are a value that holds, to the bit. */
static void a_constant_is_a_value_that_holds(void)
{
    static const char *const models[] = {MASS(RUNGE), MASS(ALPHA)};
    const double value[] = {3., -1., 0.}, tau = 0.;

    for (int k = 0; k < 4; k++) {
        struct mech_sim *const s = model_of(models[k / 2]), *const o = model_of(models[k / 2]);
        const struct mech_input_signal g = {.n = 1, .tau = k % 2 ? &tau : NULL, .values = value};
        struct mech_step_report report;

        CU_ASSERT_EQUAL(step(s, 0.3, &g, false, &report), 0);
        CU_ASSERT_EQUAL(mech_sim_set_input(o, 0, value, 0, NULL), 0);
        CU_ASSERT_EQUAL(model_step(o, 0.3), 0);
        CU_ASSERT_EQUAL(model_state(s).q[0], model_state(o).q[0]);
        CU_ASSERT_EQUAL(model_state(s).v[1], model_state(o).v[1]);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
}

static void a_dropped_trial_leaves_no_trace_of_them(void)
{
    struct mech_sim *const s = model_of(MASS(ALPHA)), *const o = model_of(MASS(ALPHA));
    const double c[] = {1., 0., 0., 5., 0., 0.};
    const struct mech_input_signal g = {.n = 2, .values = c};
    struct mech_step_report report;
    double now[3];

    CU_ASSERT_EQUAL(step(s, 0.1, &g, true, &report), 0);
    mech_sim_get_input(s, 0, now);
    CU_ASSERT_EQUAL(now[0], 0.);
    CU_ASSERT_EQUAL(model_step(s, 0.1), 0);
    CU_ASSERT_EQUAL(model_step(o, 0.1), 0);
    CU_ASSERT_EQUAL(model_state(s).q[0], model_state(o).q[0]);

    /* a committed one holds its last value */
    CU_ASSERT_EQUAL(step(s, 0.1, &g, true, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_commit(s), 0);
    mech_sim_get_input(s, 0, now);
    CHECK_NEAR(now[0], 1. + 5. * 0.2, 1e-14);
    mech_sim_destroy(s);
    mech_sim_destroy(o);
}

static void what_is_no_input_over_a_step_is_refused(void)
{
    struct mech_sim *const s = model_of(MASS(ALPHA));
    const double values[] = {1., 0., 0., 5., 0., 0.}, equal[] = {0.1, 0.1};
    const double infinite[] = {1., 0., NAN};
    const struct mech_input_signal good = {.n = 2, .values = values};
    const struct mech_input_signal bad[] = {{.n = 0, .values = values},
                                            {.n = 2, .tau = equal, .values = values},
                                            {.n = 1, .values = infinite},
                                            {.start = INFINITY, .n = 1, .values = values}};
    const struct mech_input_change set = {.index = 0, .signal = &good},
                                   parameter = {.index = 1, .signal = &good};
    const struct mech_step_request r = {
        .kind = MECH_STEP_SIZE, .size = 0.1, .inputs = &parameter, .input_count = 1};
    struct mech_step_report report;
    struct mech_diag diag;

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CU_ASSERT_EQUAL(step(s, 0.1, &bad[k], false, &report), MECH_INVALID);
        CU_ASSERT(report.reason[0]);
    }
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_INVALID);
    CU_ASSERT(strstr(report.reason, "parameter") != NULL);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL(mech_sim_set_inputs(s, &set, 1, &diag), MECH_INVALID);
    mech_diag_fini(&diag);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    mech_sim_destroy(s);
}

/* Where the force held at 0 at first, a signal from 0 on acts from its first internal step, as a
 * value with that rate does: with every integrator, on a mass or a state of first order. */
static void a_signal_that_begins_at_the_held_value_acts_at_once(void)
{
    const double zero = 0., rate = 5., c[] = {0., 5.};
    const struct mech_input_signal g = {.start = 0.05, .n = 2, .values = c};

    for (const struct mech_stepper_type *const *t = mech_stepper_types; *t; t++) {
        char text[1024];
        struct mech_step_report report;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': %s}], 'objects': [{'name': 'm',"
                 "%s}], 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n',"
                 "'coordinate': 0}], 'inputs': [{'name': 'force', 'marker': 'x'}],"
                 "'solver': {'integrator': '%s', 'stepSize': 0.01}}",
                 (*t)->first_order ? "'NodeGenericODE1', 'initialCoordinates': [0]" : "'Node1D'",
                 (*t)->first_order ? "'type': 'GenericODE1', 'nodes': ['n']"
                                   : "'type': 'Mass1D', 'node': 'n', 'physicsMass': 2",
                 (*t)->name);
        struct mech_sim *const s = model_of(text), *const o = model_of(text);
        CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &zero, 0, NULL), 0);
        CU_ASSERT_EQUAL(mech_sim_set_input(o, 0, &zero, 0, NULL), 0);
        CU_ASSERT_EQUAL(model_step(s, 0.05), 0);
        CU_ASSERT_EQUAL(model_step(o, 0.05), 0);
        CU_ASSERT_EQUAL(step(s, 0.05, &g, false, &report), 0);
        CU_ASSERT_EQUAL(mech_sim_set_input(o, 0, &zero, 1, &rate), 0);
        CU_ASSERT_EQUAL(model_step(o, 0.05), 0);

        const double is = (*t)->first_order ? model_state(s).x[0] : model_state(s).v[0];
        const double due = (*t)->first_order ? model_state(o).x[0] : model_state(o).v[0];
        CU_ASSERT(due > 0.);
        if (fabs(is - due) > 1e-13) {
            fprintf(stderr, "%s: %.17g, not %.17g\n", (*t)->name, is, due);
        }
        CHECK_NEAR(is, due, 1e-13);
        mech_sim_destroy(s);
        mech_sim_destroy(o);
    }
}

/* Of an input that is named twice in one command, the last one holds: signal, value or release. */
static void the_last_of_an_input_named_twice_holds(void)
{
    const double value[] = {3., 0., 0.}, c[] = {1., 0., 0., 5., 0., 0.};
    const struct mech_input_signal g = {.n = 2, .values = c};
    const struct mech_input_change of[][2] = {
        {{.index = 0, .signal = &g}, {.index = 0, .values = value}},
        {{.index = 0, .signal = &g}, {.index = 0}},
        {{.index = 0, .values = value}, {.index = 0, .signal = &g}}};
    const double impulse[] = {0.6, 0., 0.2 + 0.1};

    for (size_t k = 0; k < 3; k++) {
        struct mech_sim *const s = model_of(MASS(RUNGE));
        struct mech_step_request r = {
            .kind = MECH_STEP_SIZE, .size = 0.2, .inputs = of[k], .input_count = 2};
        struct mech_step_report report;

        CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
        CHECK_NEAR(2. * model_state(s).v[0], impulse[k], 1e-13);
        mech_sim_destroy(s);
    }
}

/* While their command runs they are read; that it has begun is no reason to keep them after it. */
static void a_command_that_does_not_begin_keeps_no_signal(void)
{
    struct mech_sim *const s = model_of(MASS(RUNGE)), *const o = model_of(MASS(RUNGE));
    const double c[] = {1., 0., 0., 5., 0., 0.}, mass = -1.;
    const struct mech_input_signal g = {.n = 2, .values = c};
    const struct mech_input_change in[] = {{.index = 0, .signal = &g},
                                           {.index = 1, .values = &mass}};
    const struct mech_step_request r = {
        .kind = MECH_STEP_SIZE, .size = 0.2, .inputs = in, .input_count = 2};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_INVALID);
    CU_ASSERT_PTR_NULL(s->next.signals);
    CU_ASSERT_EQUAL(model_step(s, 0.2), 0);
    CU_ASSERT_EQUAL(model_step(o, 0.2), 0);
    CU_ASSERT_EQUAL(mech_sim_state_hash(s), mech_sim_state_hash(o));
    mech_sim_destroy(s);
    mech_sim_destroy(o);
}

static void steps_with_them_allocate_nothing(void)
{
    struct mech_sim *const s = model_of(MASS(ALPHA));
    const double c[] = {1., 0., 0., 5., 0., 0.};
    const struct mech_input_signal g = {.n = 2, .values = c};
    const struct mech_input_change in = {.index = 0, .signal = &g};
    const struct mech_step_request r = {
        .kind = MECH_STEP_COUNT, .count = 1000, .inputs = &in, .input_count = 1};
    struct mech_step_report report;
    bool done = false;

    CU_ASSERT_EQUAL(mech_sim_step_begin(s, &r, &report), 0);
    alloc_count_start();
    CU_ASSERT_EQUAL(mech_sim_step_advance(s, UINT64_MAX, &done), 0);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_sim_step_finish(s);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(a_polynomial_is_integrated_as_such),
           UNIT_TEST(samples_are_joined_by_straight_lines),
           UNIT_TEST(a_constant_is_a_value_that_holds),
           UNIT_TEST(a_dropped_trial_leaves_no_trace_of_them),
           UNIT_TEST(what_is_no_input_over_a_step_is_refused),
           UNIT_TEST(a_signal_that_begins_at_the_held_value_acts_at_once),
           UNIT_TEST(the_last_of_an_input_named_twice_holds),
           UNIT_TEST(a_command_that_does_not_begin_keeps_no_signal),
           UNIT_TEST(steps_with_them_allocate_nothing))
