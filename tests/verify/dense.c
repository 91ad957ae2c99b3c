/* Motion between the ends of steps: error h⁴ of cubic interpolation, roots to rounding, and dense
 * output of the pairs with step size control, whose substeps then need not end at communication
 * points. Models: a falling mass; ẍ = −100 x, x(0) = 1, with a first-order pair beside it. */
#include "solver/step/dense.h"
#include "solver/sim/internal.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#define SPRING                                                                                     \
    ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'], 'stiffness': 200}"

/* %s, %.17g, %s: integrator, step size, members of adaptive */
#define OSCILLATOR                                                                                 \
    MODEL_OSCILLATOR(", 'initialCoordinates': [1]", "2", SPRING,                                   \
                     "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",          \
                     ", 'inputs': [{'name': 'force', 'load': 'F'}], 'solver': {"                   \
                     "'integrator': '%s', 'stepSize': %.17g, 'adaptive': {%s}}")

static struct mech_sim *oscillator(const char *integrator, double h, const char *adaptive)
{
    char text[2048];

    snprintf(text, sizeof text, OSCILLATOR, integrator, h, adaptive);
    return model_of(text);
}

/* --- roots ------------------------------------------------------------------------------------ */

static double cubic(void *context, double t)
{
    ++*(int *)context;
    return t * t * t - 2.;
}

static double kink(void *context, double t)
{
    ++*(int *)context;
    return t < 0.3 ? -1. : 1e-9;
}

static void roots_are_found_to_rounding(void)
{
    int count = 0;

    CHECK_NEAR(mech_dense_root(cubic, &count, 0., 10.), cbrt(2.), 1e-15);
    CU_ASSERT(count < 20);
    /* no slope to follow: halves of the interval */
    count = 0;
    CHECK_NEAR(mech_dense_root(kink, &count, 0., 1.), 0.3, 1e-15);
    CU_ASSERT(count < 70);
    CU_ASSERT(isnan(mech_dense_root(cubic, &count, 2., 3.)));
    count = 0;
    CHECK_NEAR(mech_dense_root(kink, &count, 1., 0.), 0.3, 1e-15);
}

/* --- interpolation between two states --------------------------------------------------------- */

/* The extension of the last step of a simulation. */
struct extension {
    struct mech_dense dense;
    double memory[5 * 4];
};

/* a finished step leaves the state before it in s->next */
static void extend(const struct mech_sim *s, struct extension *x)
{
    struct mech_step_result result;
    struct mech_rates rates;

    CU_ASSERT_FATAL(mech_dense_size(&s->sizes) <= sizeof x->memory / sizeof *x->memory);
    CU_ASSERT_EQUAL_FATAL(mech_rates_init(&rates, s->model, NULL, &result), 0);
    mech_dense_place(&x->dense, &s->sizes, x->memory);
    CU_ASSERT_EQUAL(mech_dense_between(&x->dense, &rates, &s->next, &s->now, &result), 0);
    mech_rates_fini(&rates);
}

static double height(void *context, double t)
{
    const struct extension *const x = context;
    double q, v;

    mech_dense_at(&x->dense, t, &q, &v, NULL);
    return q;
}

/* from 1.3 m at 9.81 m/s²: √(2 · 1.3/9.81) */
static void the_time_of_a_bounce_is_found(void)
{
    static const char *const schemes[] = {"RK44", "GeneralizedAlpha", "DOPRI5", "VelocityVerlet"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D',"
                 "'initialCoordinates': [1.3]}], 'objects': [{'name': 'm', 'type': 'Mass1D',"
                 "'node': 'n', 'physicsMass': 2}], 'markers': [{'name': 'x',"
                 "'type': 'MarkerNodeCoordinate', 'node': 'n'}], 'loads': [{'name': 'F',"
                 "'type': 'LoadCoordinate', 'marker': 'x', 'load': -19.62}],"
                 "'solver': {'integrator': '%s', 'stepSize': 0.2}}",
                 schemes[i]);
        struct mech_sim *const s = model_of(text);
        struct extension x;

        CU_ASSERT_EQUAL(model_steps(s, 2) || model_steps(s, 1), 0);
        extend(s, &x);
        CHECK_NEAR(x.dense.t0, 0.4, 1e-15);
        CU_ASSERT(s->next.q[0] > 0. && s->now.q[0] < 0.);
        CHECK_NEAR(mech_dense_root(height, &x, x.dense.t0, x.dense.t1), sqrt(2.6 / 9.81), 1e-12);
        mech_sim_destroy(s);
    }
}

/* largest error of q, v/10 and x in a first step of h; ẋ = [[−1, 4], [−4, −1]] x, x(0) = (1, 0) */
static double error_within(double h)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [1]},"
             "{'name': 'y', 'type': 'NodeGenericODE1', 'initialCoordinates': [1, 0]}], 'objects': ["
             "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2}" SPRING
             ", {'name': 'o', 'type': 'GenericODE1', 'nodes': ['y'], 'systemMatrix':"
             "[[-1, 4], [-4, -1]]}], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"
             "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}], 'solver': {"
             "'integrator': 'RK67', 'stepSize': %.17g}}",
             h);
    struct mech_sim *const s = model_of(text);
    struct extension ext;
    double worst = 0.;

    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    extend(s, &ext);
    for (int k = 0; k <= 20; k++) {
        const double t = k * h / 20.;
        double q, v, x[2];

        mech_dense_at(&ext.dense, t, &q, &v, x);
        worst = fmax(worst, fabs(q - cos(10. * t)));
        worst = fmax(worst, fabs(v / 10. + sin(10. * t)));
        worst = fmax(worst, fabs(x[0] - exp(-t) * cos(4. * t)));
        worst = fmax(worst, fabs(x[1] + exp(-t) * sin(4. * t)));
    }
    mech_sim_destroy(s);
    return worst;
}

static void interpolation_errs_by_the_fourth_power(void)
{
    CHECK_ORDER("values within steps", log2(error_within(0.02) / error_within(0.01)), 4., 0.1);
}

/* --- dense output ----------------------------------------------------------------------------- */

#define DENSE "'denseOutput': true, 'absoluteTolerance': 1e-9, 'relativeTolerance': 1e-9"

/* the error at points that no substep ends at is that of the substeps' ends */
static void communication_points_cost_no_substeps(void)
{
    static const char *const pairs[] = {"DOPRI5", "ODE23"};

    for (int p = 0; p < 2; p++) {
        struct mech_sim *const s = oscillator(pairs[p], 0.5, DENSE);
        struct mech_sim *const whole = oscillator(pairs[p], 0.5, DENSE);
        const struct mech_step_request fine = {.kind = MECH_STEP_SIZE, .size = 1e-4};
        uint64_t substeps = 0;
        double worst = 0.;

        for (int k = 0; k < 20000; k++) {
            struct mech_step_report report;

            CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &fine, &report), 0);
            substeps += report.substeps;
            const struct mech_state_view at = model_state(s);
            worst = fmax(worst, fabs(at.q[0] - cos(10. * at.time)));
            worst = fmax(worst, fabs(at.v[0] / 10. + sin(10. * at.time)));
            worst = fmax(worst, fabs(at.vdot[0] / 100. + at.q[0]));
        }
        printf("%s: %d substeps, worst error %.2g\n", pairs[p], (int)substeps, worst);
        CU_ASSERT(substeps < (p ? 8000 : 600));
        /* cubic interpolation would be wrong by (10 h)^4/384 = 3e-8 in DOPRI5's substeps */
        CU_ASSERT(worst < (p ? 1e-7 : 1e-8));
        /* asking for points changes nothing; their times add up to 2e-13 s more, at 9 m/s */
        CU_ASSERT_EQUAL(model_step(whole, 2.), 0);
        CHECK_NEAR(model_state(whole).q[0], model_state(s).q[0], 1e-11);
        mech_sim_destroy(s);
        mech_sim_destroy(whole);
    }
}

/* a force from t = 0.35 on: the run goes on from the interpolated point */
static void changes_begin_where_they_are_made(void)
{
    struct mech_sim *const s = oscillator("DOPRI5", 0.5, DENSE);
    const double force = 200.;
    const double x0 = cos(3.5) - 1., v0 = -10. * sin(3.5);

    CU_ASSERT_EQUAL(model_step(s, 0.35), 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &force, 0, NULL), 0);
    CU_ASSERT_EQUAL(model_step(s, 0.65), 0);
    /* x − 1 swings freely from there: F/k = 1 */
    CHECK_NEAR(model_state(s).q[0], 1. + x0 * cos(6.5) + v0 / 10. * sin(6.5), 1e-7);
    mech_sim_destroy(s);
}

/* the extension is part of the state; a step that interpolates allocates nothing */
static void interrupted_runs_go_on_to_the_bit(void)
{
    struct mech_sim *const a = oscillator("DOPRI5", 0.3, DENSE);
    struct mech_sim *const b = oscillator("DOPRI5", 0.3, DENSE);
    const size_t size = mech_sim_snapshot_size(a);
    void *const bytes = malloc(size);
    bool same = false;

    CU_ASSERT_EQUAL(model_step(a, 0.0123), 0);
    mech_sim_snapshot_write(a, bytes);
    CU_ASSERT_EQUAL(model_step(b, 0.7), 0);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, size, &same), 0);
    alloc_count_start();
    for (int k = 0; k < 100; k++) {
        CU_ASSERT_EQUAL(model_step(a, 1e-3), 0);
    }
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    for (int k = 0; k < 100; k++) {
        CU_ASSERT_EQUAL(model_step(b, 1e-3), 0);
    }
    CU_ASSERT_EQUAL(model_state(a).q[0], model_state(b).q[0]);
    CU_ASSERT_EQUAL(model_state(a).v[0], model_state(b).v[0]);
    free(bytes);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

UNIT_TESTS(UNIT_TEST(roots_are_found_to_rounding), UNIT_TEST(the_time_of_a_bounce_is_found),
           UNIT_TEST(interpolation_errs_by_the_fourth_power),
           UNIT_TEST(communication_points_cost_no_substeps),
           UNIT_TEST(changes_begin_where_they_are_made),
           UNIT_TEST(interrupted_runs_go_on_to_the_bit))
