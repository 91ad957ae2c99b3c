/* The sentence of a step that failed: what, where, when, and which steps are stable. */
#include "tests/unit/model.h"

static int fails(const char *text, uint64_t count, struct mech_step_report *report)
{
    struct mech_sim *const s = model_of(text);
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count};
    const int code = mech_sim_step(s, &r, report);

    mech_sim_destroy(s);
    return code;
}

static bool has(const struct mech_step_report *report, const char *words)
{
    const bool found = strstr(report->reason, words) != NULL;

    if (!found) {
        fprintf(stderr, "no \"%s\" in \"%s\"\n", words, report->reason);
    }
    return found;
}

/* ω = 100/s, and damped by 2 D ω: rates of ω, or for D > 1 of D + √(D² − 1) times that */
static void an_explicit_scheme_reports_its_stable_step(void)
{
    static const char *const schemes[] = {"RK44", "ExplicitEuler", "VelocityVerlet"};

    for (int k = 0; k < 3; k++) {
        for (int damped = 0; damped < 2; damped++) {
            struct mech_step_report report;
            char text[2048];

            snprintf(text, sizeof text,
                     MODEL_OSCILLATOR(", 'initialCoordinates': [1]", "2",
                                      ", {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers':"
                                      "['g', 'x'], 'stiffness': 20000, 'damping': %d}",
                                      "", ", 'solver': {'integrator': '%s', 'stepSize': 0.5}"),
                     damped ? 500 : 0, schemes[k]);
            CU_ASSERT_EQUAL(fails(text, 2000, &report), MECH_NOT_FINITE);
            CU_ASSERT(has(&report, "coordinate 0, of /"));
            CU_ASSERT(has(&report, "; the step began at t = "));
            /* the rates of a damping of 500 are 50 and 200 */
            CU_ASSERT(has(&report, damped ? "below about 0.01 s" : "below about 0.02 s"));
        }
    }
}

/* a decay of 1000/s and a vibration of 2000/s */
static void an_explicit_scheme_reports_its_stable_step_of_first_order_systems(void)
{
    static const char *const systems[] = {"[[-1000, 0], [0, -10]]", "[[0, 2000], [-2000, 0]]"};

    for (int k = 0; k < 2; k++) {
        struct mech_step_report report;
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 'a', 'type': 'FirstOrderLinearTIDS', 'A': %s,"
                 "'x0': [1, 1]}], 'solver': {'integrator': 'RK44', 'stepSize': 0.01}}",
                 systems[k]);
        CU_ASSERT_EQUAL(fails(text, 1000, &report), MECH_NOT_FINITE);
        CU_ASSERT(has(&report, k ? "first-order state 1, of" : "first-order state 0, of"));
        CU_ASSERT(has(&report, ", of /objects/0, became"));
        CU_ASSERT(has(&report, k ? "below about 0.001 s" : "below about 0.002 s"));
    }
}

/* (1 + 1.5)/(1 - 1.5): each step makes of b five times as much, with the other sign */
static void a_first_order_system_is_named(void)
{
    struct mech_step_report report;

    CU_ASSERT_EQUAL(
        fails("{'mechd': 1, 'objects': [{'name': 'a', 'type': 'FirstOrderLinearTIDS', 'A': [[-1]],"
              "'x0': [1]}, {'name': 'b', 'type': 'FirstOrderLinearTIDS', 'A': [[-1, 0], [0, 3000]],"
              "'x0': [1, 1]}], 'solver': {'integrator': 'EulerMoreau', 'theta': 0.5,"
              "'stepSize': 0.001}}",
              1000, &report),
        MECH_NOT_FINITE);
    CU_ASSERT(has(&report, "first-order state 2, of /objects/1, became infinite"));
    CU_ASSERT(has(&report, "; the step began at t = 0.4"));
}

static void the_failure_of_newton_names_the_time_and_the_item(void)
{
    struct mech_step_report report;

    CU_ASSERT_EQUAL(
        fails(MODEL_OSCILLATOR("", "1",
                               ", {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers':"
                               "['g', 'x'], 'springForceUserFunction': '=100*sign(v - 1)'}",
                               "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 20}",
                               ", 'solver': {'stepSize': 0.01}"),
              100, &report),
        MECH_NOT_CONVERGED);
    CU_ASSERT(has(&report, "most of it at \"m\""));
    CU_ASSERT(has(&report, "; the step began at t = 0"));
}

/* A law that ends at 0 (√u, u^1.5) has a value there, and a slope on one side. */
static void a_law_that_ends_at_rest_has_a_slope(void)
{
    static const char *const laws[] = {"=1e4*u^1.5", "=1e4*sqrt(u)", "=1e4*u^1.5*(1 + 0.3*v)",
                                       "=50*sqrt(v)"};
    static const char *const schemes[] = {"GeneralizedAlpha", "MoreauJean", "TrapezoidalIndex2",
                                          "RK44"};

    for (int k = 0; k < 16; k++) {
        struct mech_step_report report;
        char text[2048];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR("", "1",
                                  ", {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers':"
                                  "['g', 'x'], 'springForceUserFunction': '%s'}",
                                  "", ", 'solver': {'integrator': '%s', 'stepSize': 0.01}"),
                 laws[k % 4], schemes[k / 4]);
        CU_ASSERT_EQUAL(fails(text, 3, &report), 0);
        if (report.outcome) {
            fprintf(stderr, "%s, %s: %s\n", laws[k % 4], schemes[k / 4], report.reason);
        }
    }
}

UNIT_TESTS(UNIT_TEST(an_explicit_scheme_reports_its_stable_step),
           UNIT_TEST(an_explicit_scheme_reports_its_stable_step_of_first_order_systems),
           UNIT_TEST(a_first_order_system_is_named),
           UNIT_TEST(the_failure_of_newton_names_the_time_and_the_item),
           UNIT_TEST(a_law_that_ends_at_rest_has_a_slope))
