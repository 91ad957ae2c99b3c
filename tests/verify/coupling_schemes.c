/* Coupling schemes: how many evaluations they need, and of which order they are. */
#include "tests/unit/solver/couple/halves.h"
#include "tests/unit/solver/couple/maps.h"
#include "tests/unit/unit.h"

static const int32_t in_turn[] = {0, 1};

static struct mech_couple_options options(const char *scheme)
{
    return (struct mech_couple_options){.scheme = scheme,
                                        .relative_tolerance = 1e-9,
                                        .absolute_tolerance = 1e-12,
                                        .max_iterations = 100,
                                        .relaxation = 0.5};
}

/* Evaluations of the first window; that many must do. */
static int32_t evaluations(struct maps *m, uint32_t abilities, const struct mech_couple_options *o)
{
    CU_ASSERT_EQUAL_FATAL(maps_create(m, abilities, o), 0);
    CU_ASSERT_EQUAL(mech_couple_run_start(m->couple, m->partner, 0.), 0);
    CU_ASSERT_EQUAL(mech_couple_run_window(m->couple, m->partner, 1.), 0);
    const int32_t count = mech_couple_report(m->couple)->iterations;
    // outputs fit each other
    for (int p = 0; p < 2; p++) {
        const double *const u = mech_couple_outputs(m->couple, 1 - p);
        const double *const y = mech_couple_outputs(m->couple, p);
        const struct map *const a = m->map + p;
        for (int32_t i = 0; i < a->n; i++) {
            double expected = a->b[i], size = 1.;
            for (int32_t j = 0; j < a->n; j++) {
                expected += a->A[i * a->n + j] * u[j] + (i == j ? a->e * u[j] * u[j] : 0.);
                size += fabs(a->A[i * a->n + j] * u[j]);
            }
            CHECK_NEAR(y[i], expected, 1e-7 * size);
        }
    }
    mech_couple_destroy(m->couple);
    return count;
}

static void quasi_newton_takes_two_evaluations_more_than_unknowns(void)
{
    for (int32_t n = 1; n <= 20; n++) {
        for (unsigned seed = 1; seed <= 5; seed++) {
            struct maps m = {0};
            struct mech_couple_options o = options("IQN-ILS");
            // no contraction: a fixed-point iteration would diverge
            maps_fill(&m, n, 1.5, seed);
            o.order = in_turn;
            CU_ASSERT(evaluations(&m, MECH_COUPLE_ROLLBACK, &o) <= n + 2);
            o.order = NULL;
            if (n <= 10) {
                CU_ASSERT(evaluations(&m, MECH_COUPLE_ROLLBACK, &o) <= 2 * n + 2);
            }
        }
    }
}

static void aitken_takes_three_evaluations_for_one_unknown(void)
{
    for (unsigned seed = 1; seed <= 20; seed++) {
        struct maps m = {0};
        struct mech_couple_options o = options("Aitken");
        maps_fill(&m, 1, 3., seed);
        o.order = in_turn;
        CU_ASSERT(evaluations(&m, MECH_COUPLE_ROLLBACK, &o) <= 3);
    }
}

static void newton_takes_one_correction_for_linear_interfaces(void)
{
    for (int32_t n = 1; n <= 20; n++) {
        struct maps m = {0};
        const struct mech_couple_options o = options("InterfaceNewton");
        maps_fill(&m, n, 1.5, 7);
        const uint32_t abilities = MECH_COUPLE_ROLLBACK | MECH_COUPLE_JACOBIAN;
        CU_ASSERT_EQUAL(evaluations(&m, abilities, &o), 2);
        CU_ASSERT_EQUAL(evaluations(&m, abilities | MECH_COUPLE_LINEAR, &o), 2);
        // by difference quotients, exact of linear participants
        CU_ASSERT_EQUAL(evaluations(&m, MECH_COUPLE_ROLLBACK | MECH_COUPLE_LINEAR, &o), 2);
    }
}

static void newton_converges_on_nonlinear_interfaces(void)
{
    struct maps m = {0};
    const struct mech_couple_options o = options("InterfaceNewton");
    maps_fill(&m, 5, 0.5, 3);
    m.map[0].e = m.map[1].e = 0.1;
    CU_ASSERT(evaluations(&m, MECH_COUPLE_ROLLBACK | MECH_COUPLE_JACOBIAN, &o) <= 8);
    CU_ASSERT(evaluations(&m, MECH_COUPLE_ROLLBACK, &o) <= 12);
}

static void reuse_saves_evaluations_of_later_windows(void)
{
    int32_t last[2];
    for (int32_t reuse = 0; reuse < 2; reuse++) {
        struct maps m = {0};
        struct mech_couple_options o = options("IQN-ILS");
        maps_fill(&m, 6, 1.5, 4);
        o.order = in_turn;
        o.reuse = 5 * reuse;
        CU_ASSERT_EQUAL_FATAL(maps_create(&m, MECH_COUPLE_ROLLBACK, &o), 0);
        CU_ASSERT_EQUAL(mech_couple_run_start(m.couple, m.partner, 0.), 0);
        for (int w = 0; w < 3; w++) {
            // something else to find in each window
            m.map[0].b[w] += 1.;
            CU_ASSERT_EQUAL(mech_couple_run_window(m.couple, m.partner, 1.), 0);
            last[reuse] = mech_couple_report(m.couple)->iterations;
        }
        mech_couple_destroy(m.couple);
    }
    CU_ASSERT(last[0] >= 5);
    CU_ASSERT(last[1] <= 2);
}

static void filters_drop_columns_that_depend_on_others(void)
{
    /* rank 1 in 8 unknowns: one difference shows all, others are rounding */
    struct maps m = {0};
    struct mech_couple_options o = options("IQN-ILS");
    maps_fill(&m, 8, 1., 5);
    for (int32_t i = 0; i < 64; i++) {
        m.map[0].A[i] = 2.;
        m.map[1].A[i] = i % 9 == 0 ? -1. : 0.;
    }
    o.order = in_turn;
    o.filter = 1e-6;
    o.reuse = 3;
    CU_ASSERT_EQUAL_FATAL(maps_create(&m, MECH_COUPLE_ROLLBACK, &o), 0);
    CU_ASSERT_EQUAL(mech_couple_run_start(m.couple, m.partner, 0.), 0);
    for (int w = 0; w < 10; w++) {
        m.map[0].b[0] = 2. + w;
        CU_ASSERT_EQUAL(mech_couple_run_window(m.couple, m.partner, 1.), 0);
        CU_ASSERT(mech_couple_report(m.couple)->iterations <= 4);
    }
    mech_couple_destroy(m.couple);
}

static void loops_at_the_start_are_solved(void)
{
    static const char *const schemes[] = {"Jacobi", "InterfaceNewton", "GaussSeidel"};
    for (int s = 0; s < 3; s++) {
        for (int32_t n = 1; n <= 12; n++) {
            struct maps m = {0};
            const struct mech_couple_options o = options(schemes[s]);
            maps_fill(&m, n, 1.5, 9);
            CU_ASSERT_EQUAL_FATAL(
                maps_create(&m, MECH_COUPLE_ROLLBACK | MECH_COUPLE_FEEDTHROUGH, &o), 0);
            CU_ASSERT_EQUAL(mech_couple_run_start(m.couple, m.partner, 0.), 0);
            CU_ASSERT(mech_couple_report(m.couple)->iterations <= 2 * n + 2);
            const double *const x = mech_couple_outputs(m.couple, 0);
            const double *const y = mech_couple_outputs(m.couple, 1);
            for (int32_t i = 0; i < n; i++) {
                double expected = m.map[0].b[i];
                for (int32_t j = 0; j < n; j++) {
                    expected += m.map[0].A[i * n + j] * y[j];
                }
                CHECK_NEAR(x[i], expected, 1e-7 * (1. + fabs(expected)));
            }
            mech_couple_destroy(m.couple);
        }
    }
}

static void a_loop_without_a_solution_is_reported(void)
{
    /* y = u + 1 around a loop of two */
    struct maps m = {0};
    const struct mech_couple_options o = options("Jacobi");
    maps_fill(&m, 1, 1., 1);
    m.map[0].A[0] = m.map[1].A[0] = 1.;
    m.map[0].b[0] = m.map[1].b[0] = 1.;
    CU_ASSERT_EQUAL_FATAL(maps_create(&m, MECH_COUPLE_ROLLBACK | MECH_COUPLE_FEEDTHROUGH, &o), 0);
    CU_ASSERT_EQUAL(mech_couple_run_start(m.couple, m.partner, 0.), MECH_NOT_CONVERGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(mech_couple_report(m.couple)->reason, "loop at the start"));
    CU_ASSERT_EQUAL(mech_couple_run_window(m.couple, m.partner, 1.), MECH_INVALID);
    mech_couple_destroy(m.couple);
}

/* --- orders --------------------------------------------------------------------------------- */

/* x and v at t = 2 of x'' = −2 x + other + 3 t⁴, both alike but for the force, after that many
 * windows. They start from rest so softly that the first windows, whose polynomials go through
 * fewer ends, cost nothing. */
static void end_of(const char *scheme, int32_t hold, int32_t waveform, int windows, double *end)
{
    struct halves h = {0};
    static const struct mech_couple_connection k[] = {{0, 0, 1, 0, 1., 0.}, {1, 0, 0, 0, 1., 0.}};
    for (int i = 0; i < 2; i++) {
        h.half[i] = (struct half){.m = 1., .k = 2., .gain = {1.}, .inputs = 1, .count = 1};
        h.half[i].steps = 8;
        h.half[i].method = HALF_RK4;
    }
    h.half[0].push = 3.;
    struct mech_couple_options o = options(scheme);
    o.relative_tolerance = 1e-13;
    o.absolute_tolerance = 1e-14;
    o.hold = hold;
    o.waveform = waveform;
    const struct mech_couple_setup setup = {.connections = k, .connection_count = 2, .options = o};
    halves_start(&h, HALF_LINEAR, &setup);
    CU_ASSERT_EQUAL(halves_run(&h, 2. / windows, windows), 0);
    mech_couple_destroy(h.couple);
    for (int i = 0; i < 2; i++) {
        end[2 * i] = h.half[i].x;
        end[2 * i + 1] = h.half[i].v;
    }
}

static double order_of(const char *scheme, int32_t hold, int32_t waveform, int windows)
{
    double end[3][4], off[2] = {0.};
    for (int i = 0; i < 3; i++) {
        end_of(scheme, hold, waveform, windows << i, end[i]);
    }
    for (int k = 0; k < 4; k++) {
        off[0] = fmax(off[0], fabs(end[0][k] - end[1][k]));
        off[1] = fmax(off[1], fabs(end[1][k] - end[2][k]));
    }
    return log2(off[0] / off[1]);
}

/* what has an order, in words that last until the next one */
static const char *words_for(const char *scheme, const char *how, int32_t degree)
{
    static char text[80];
    snprintf(text, sizeof text, "%s, %s of degree %d", scheme, how, (int)degree);
    return text;
}

static const char *held(const char *scheme, int32_t hold)
{
    return words_for(scheme, "hold", hold);
}

static const char *splined(const char *scheme, int32_t degree)
{
    return words_for(scheme, "waveform", degree);
}

static void explicit_schemes_are_of_one_order_more_than_their_hold(void)
{
    for (int32_t hold = 0; hold <= 3; hold++) {
        CHECK_ORDER(held("Jacobi", hold), order_of("Jacobi", hold, 0, 100), hold + 1., 0.2);
        CHECK_ORDER(held("GaussSeidel", hold), order_of("GaussSeidel", hold, 0, 100), hold + 1.,
                    0.2);
    }
}

static void iterated_schemes_are_of_one_order_more_than_their_hold(void)
{
    static const char *const schemes[] = {"Aitken", "GaussSeidelIterated", "IQN-ILS",
                                          "InterfaceNewton", "JacobiIterated"};
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        for (int32_t hold = 0; hold <= 3; hold++) {
            CHECK_ORDER(held(schemes[s], hold), order_of(schemes[s], hold, 0, 50), hold + 1., 0.2);
        }
    }
}

static void waveforms_keep_the_order_of_splines_and_integrators(void)
{
    static const char *const schemes[] = {"Aitken", "GaussSeidelIterated", "IQN-ILS",
                                          "JacobiIterated"};
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        CHECK_ORDER(splined(schemes[s], 1), order_of(schemes[s], 0, 1, 10), 2., 0.2);
        CHECK_ORDER(splined(schemes[s], 3), order_of(schemes[s], 0, 3, 10), 4., 0.3);
        CHECK_ORDER_FROM(splined(schemes[s], 2), order_of(schemes[s], 0, 2, 10), 2.7);
    }
}

/* Error at t = 2 of x'' = −2 x + other, both alike, that start in full swing. */
static double swing_error(const char *scheme, int32_t hold, int windows)
{
    struct halves h = {0};
    static const struct mech_couple_connection k[] = {{0, 0, 1, 0, 1., 0.}, {1, 0, 0, 0, 1., 0.}};
    for (int i = 0; i < 2; i++) {
        h.half[i] = (struct half){.m = 1., .k = 2., .gain = {1.}, .inputs = 1, .count = 1};
    }
    h.half[0].x = 1.;
    h.half[0].v = 2.;
    struct mech_couple_options o = options(scheme);
    o.relative_tolerance = 1e-13;
    o.absolute_tolerance = 1e-14;
    o.hold = hold;
    const struct mech_couple_setup setup = {.connections = k, .connection_count = 2, .options = o};
    halves_start(&h, HALF_LINEAR, &setup);
    CU_ASSERT_EQUAL(halves_run(&h, 2. / windows, windows), 0);
    mech_couple_destroy(h.couple);
    const double w = sqrt(3.);
    const double sum = cos(2.) + 2. * sin(2.), difference = cos(2. * w) + 2. / w * sin(2. * w);
    return fmax(fabs(h.half[0].x - 0.5 * (sum + difference)),
                fabs(h.half[1].x - 0.5 * (sum - difference)));
}

static void the_first_windows_cost_no_order(void)
{
    static const char *const schemes[] = {"Aitken",        "GaussSeidel",     "GaussSeidelIterated",
                                          "IQN-ILS",       "InterfaceNewton", "Jacobi",
                                          "JacobiIterated"};
    for (size_t s = 0; s < sizeof schemes / sizeof *schemes; s++) {
        for (int32_t hold = 1; hold <= 3; hold++) {
            const double coarse = swing_error(schemes[s], hold, 200);
            CHECK_ORDER(held(schemes[s], hold), log2(coarse / swing_error(schemes[s], hold, 400)),
                        hold + 1., 0.2);
        }
    }
}

UNIT_TESTS(UNIT_TEST(quasi_newton_takes_two_evaluations_more_than_unknowns),
           UNIT_TEST(aitken_takes_three_evaluations_for_one_unknown),
           UNIT_TEST(newton_takes_one_correction_for_linear_interfaces),
           UNIT_TEST(newton_converges_on_nonlinear_interfaces),
           UNIT_TEST(reuse_saves_evaluations_of_later_windows),
           UNIT_TEST(filters_drop_columns_that_depend_on_others),
           UNIT_TEST(loops_at_the_start_are_solved),
           UNIT_TEST(a_loop_without_a_solution_is_reported),
           UNIT_TEST(explicit_schemes_are_of_one_order_more_than_their_hold),
           UNIT_TEST(iterated_schemes_are_of_one_order_more_than_their_hold),
           UNIT_TEST(the_first_windows_cost_no_order),
           UNIT_TEST(waveforms_keep_the_order_of_splines_and_integrators))
