/* The window map against closed forms, and against couplings that run. */
#include "solver/couple/stability.h"

#include "tests/unit/solver/couple/halves.h"
#include "tests/unit/unit.h"

/* Two masses, a spring and a damper between them by their displacements and velocities. */
static struct halves masses(double m)
{
    struct halves h = {0};
    for (int i = 0; i < 2; i++) {
        h.half[i] = (struct half){.m = m,
                                  .gain = {1.},
                                  .inputs = 1,
                                  .count = 2,
                                  .outputs = {HALF_X, HALF_V},
                                  .x = i == 0,
                                  .v = 0.3 * i};
    }
    return h;
}

static void joined(double k, double c, struct mech_couple_connection *out)
{
    for (int i = 0; i < 8; i++) {
        const int from = i / 4, to = i / 2 % 2, output = i % 2;
        out[i] = (struct mech_couple_connection){
            from, output, to, 0, (from == to ? -1. : 1.) * (output == 0 ? k : c), 0.};
    }
}

static int started(struct halves *h, const char *scheme, int32_t hold,
                   const struct mech_couple_connection *some)
{
    const struct mech_couple_setup setup = {.connections = some,
                                            .connection_count = 8,
                                            .options = {.scheme = scheme,
                                                        .relative_tolerance = 1e-13,
                                                        .absolute_tolerance = 1e-13,
                                                        .max_iterations = 200,
                                                        .relaxation = 0.5,
                                                        .hold = hold}};
    return halves_try(h, HALF_DERIVED, &setup);
}

static int stability(const struct halves *h, double size, struct mech_couple_stability *out)
{
    double A[2][4], B[2][2], C[4] = {1., 0., 0., 1.}, D[2] = {0.};
    struct mech_couple_linear parts[2];
    char reason[MECH_COUPLE_REASON];
    for (int i = 0; i < 2; i++) {
        const struct half *const one = h->half + i;
        A[i][0] = 0.;
        A[i][1] = 1.;
        A[i][2] = -one->k / one->m;
        A[i][3] = -one->c / one->m;
        B[i][0] = 0.;
        B[i][1] = 1. / one->m;
        parts[i] = (struct mech_couple_linear){2, A[i], B[i], C, D};
    }
    return mech_couple_stability(h->couple, parts, size, NULL, reason, out);
}

/* Stable iff H < 2 c/k and H < 2 m_r/c, of free masses with reduced mass m_r. */
static void explicit_coupling_is_stable_up_to_its_closed_form(void)
{
    const double cases[][2] = {{100., 1.}, {1., 10.}, {100., 0.01}, {1e4, 3.}};
    for (int i = 0; i < 4; i++) {
        const double k = cases[i][0], c = cases[i][1], reduced = 0.5;
        const double bound = fmin(2. * c / k, 2. * reduced / c);
        struct halves h = masses(2. * reduced);
        struct mech_couple_connection some[8];
        struct mech_couple_stability s;
        joined(k, c, some);
        CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
        CU_ASSERT_EQUAL(stability(&h, 3. * bound, &s), 0);
        CU_ASSERT(!s.stable);
        CHECK_NEAR(s.largest / bound, 1., 2e-3);
        CU_ASSERT_EQUAL(stability(&h, 0.99 * bound, &s), 0);
        CU_ASSERT(s.stable);
        CHECK_NEAR(s.radius, 1., 1e-9); // they move freely together
        CU_ASSERT_EQUAL(stability(&h, 1.01 * bound, &s), 0);
        CU_ASSERT(s.radius > 1.);
        mech_couple_destroy(h.couple);
    }
}

/* Without a damper it grows by √(1 + k H²/(2 m_r)) a window. */
static void undamped_explicit_coupling_is_never_stable(void)
{
    struct halves h = masses(1.);
    struct mech_couple_connection some[8];
    struct mech_couple_stability s;
    joined(100., 0., some);
    CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
    for (double size = 1e-7; size < 0.2; size *= 3.) {
        CU_ASSERT_EQUAL(stability(&h, size, &s), 0);
        CHECK_NEAR(s.radius, sqrt(1. + 100. * size * size / (2. * 0.5)), 1e-8);
        CU_ASSERT(!s.stable);
        /* windows of a 1000th of the size grow by 50 H², more than 1e-12 or less */
        CU_ASSERT(size > 1e3 * sqrt(1e-12 / 50.)
                      ? s.end == MECH_COUPLE_END_LEAST && s.largest == 0.
                      : s.end == MECH_COUPLE_END_UNTOLD && isnan(s.largest));
    }
    mech_couple_destroy(h.couple);
}

/* Stable below 2 c/k = 2e-7 s, where a window grows or fades by 1e-12 at most: no end is made up,
 * and no size is called stable that may be none. */
static void a_bound_within_rounding_is_untold(void)
{
    struct halves h = masses(1.);
    struct mech_couple_connection some[8];
    struct mech_couple_stability s;
    joined(100., 1e-5, some);
    CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
    for (double size = 1e-8; size < 1e-4; size *= 3.) {
        CU_ASSERT_EQUAL(stability(&h, size, &s), 0);
        CU_ASSERT(!s.stable);
        CU_ASSERT_EQUAL(s.end, MECH_COUPLE_END_UNTOLD);
        CU_ASSERT(isnan(s.largest));
    }
    /* none of the sizes from 1e-5 s on is stable */
    CU_ASSERT_EQUAL(stability(&h, 1e-2, &s), 0);
    CU_ASSERT(!s.stable);
    CU_ASSERT_EQUAL(s.end, MECH_COUPLE_END_LEAST);
    mech_couple_destroy(h.couple);
}

/* A spring that pushes drives the masses apart, in windows of any size. */
static void what_grows_by_itself_is_never_stable(void)
{
    static const char *const schemes[] = {"Jacobi", "GaussSeidel", "InterfaceNewton"};
    for (int i = 0; i < 3; i++) {
        struct halves h = masses(1.);
        struct mech_couple_connection some[8];
        struct mech_couple_stability s;
        joined(-30., 0., some);
        CU_ASSERT_EQUAL_FATAL(started(&h, schemes[i], 0, some), 0);
        for (double size = 1e-5; size < 0.2; size *= 3.) {
            CU_ASSERT_EQUAL(stability(&h, size, &s), 0);
            CU_ASSERT(!s.stable);
            CU_ASSERT(!(s.largest > 0.));
        }
        mech_couple_destroy(h.couple);
    }
}

/* A damper that makes windows below 2e-5 s stable by 1e-8 a window. */
static void a_weak_damper_has_its_bound(void)
{
    struct halves h = masses(1.);
    struct mech_couple_connection some[8];
    struct mech_couple_stability s;
    joined(100., 1e-3, some);
    CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
    for (double size = 1e-6; size < 5e-3; size *= 3.) {
        CU_ASSERT_EQUAL(stability(&h, size, &s), 0);
        CHECK_NEAR(s.largest / 2e-5, 1., 2e-3);
    }
    mech_couple_destroy(h.couple);
}

/* An undamped oscillator that a free mass pushes and that does not push back: its own motion, whose
 * windows are exact, neither grows nor fades, whatever the units of displacements are. */
static void fast_oscillators_keep_their_size(void)
{
    const double cases[][2] = {{1e4, 1e-3}, {1e5, 1e-4}, {1e3, 1e-2}};
    for (int i = 0; i < 3; i++) {
        const double w = cases[i][0], size = cases[i][1];
        struct halves h = masses(1.);
        struct mech_couple_connection some[8];
        struct mech_couple_stability s;
        joined(100., 0., some);
        for (int k = 0; k < 8; k++) {
            some[k].factor = some[k].from == 1 && some[k].to == 0 ? some[k].factor : 0.;
        }
        CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
        h.half[0].k = w * w;
        CU_ASSERT_EQUAL(stability(&h, size, &s), 0);
        CU_ASSERT(s.stable);
        CU_ASSERT(isinf(s.largest));
        CU_ASSERT_EQUAL(stability(&h, 1000. * size, &s), 0);
        CHECK_NEAR(s.radius, 1., 1e-9);
        mech_couple_destroy(h.couple);
    }
}

/* Masses on springs to the ground, all three dampers of 0.01 N s/m (references: 3.7e-4 s). */
static void the_benchmark_has_its_published_boundary(void)
{
    struct halves h = masses(1.);
    struct mech_couple_connection some[8];
    struct mech_couple_stability s;
    joined(100., 0.01, some);
    for (int i = 0; i < 2; i++) {
        h.half[i].k = i == 0 ? 10. : 1000.;
        h.half[i].c = 0.01;
    }
    CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
    CU_ASSERT_EQUAL(stability(&h, 1e-3, &s), 0);
    CHECK_NEAR(s.largest, 3.7e-4, 0.05e-4);
    mech_couple_destroy(h.couple);
}

/* The growth that a coupling which runs comes to is the radius. */
static void the_map_is_that_of_couplings_that_run(void)
{
    static const char *const schemes[] = {"Jacobi", "GaussSeidel", "InterfaceNewton"};
    for (int i = 0; i < 9; i++) {
        const char *const scheme = schemes[i % 3];
        const int32_t hold = i / 3;
        struct halves h = masses(1.);
        struct mech_couple_connection some[8];
        struct mech_couple_stability s;
        // a real eigenvalue leads: a damper so strong that the masses jump to and fro, or a spring
        // that pushes
        joined(-30., 0.5, some);
        const double size = 0.05;
        CU_ASSERT_EQUAL_FATAL(started(&h, scheme, hold, some), 0);
        CU_ASSERT_EQUAL(stability(&h, size, &s), 0);
        CU_ASSERT_EQUAL(halves_run(&h, size, 200), 0);
        const double before = h.half[0].x - h.half[1].x;
        CU_ASSERT_EQUAL(halves_run(&h, size, 1), 0);
        CHECK_NEAR((h.half[0].x - h.half[1].x) / before, s.radius, 1e-8);
        CU_ASSERT(s.radius > 1.1);
        mech_couple_destroy(h.couple);
    }
}

/* Converged coupling of damped masses is stable at sizes at which explicit coupling is not. */
static void iterated_coupling_is_stable_where_explicit_is_not(void)
{
    double largest[2];
    for (int i = 0; i < 2; i++) {
        struct halves h = masses(1.);
        struct mech_couple_connection some[8];
        struct mech_couple_stability s;
        joined(100., 1., some);
        CU_ASSERT_EQUAL_FATAL(started(&h, i == 0 ? "Jacobi" : "IQN-ILS", 0, some), 0);
        CU_ASSERT_EQUAL(stability(&h, 0.1, &s), 0);
        largest[i] = s.largest;
        CU_ASSERT_EQUAL(s.stable, i == 1);
        mech_couple_destroy(h.couple);
    }
    CU_ASSERT(largest[1] > 10. * largest[0]);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

static void it_says_what_it_cannot_do(void)
{
    struct halves h = masses(1.);
    struct mech_couple_connection some[8];
    struct mech_couple_stability s;
    struct mech_interrupt ask = {.wanted = always};
    const struct mech_couple_linear many[2] = {{.states = 300}, {0}};
    char reason[MECH_COUPLE_REASON];
    double D[2] = {0.};
    joined(100., 1., some);
    CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", 0, some), 0);
    CU_ASSERT_EQUAL(mech_couple_stability(h.couple, many, 1., NULL, reason, &s), MECH_UNSUPPORTED);
    CU_ASSERT(reason[0] != '\0');
    const struct mech_couple_linear still[2] = {{.D = D}, {.D = D}};
    CU_ASSERT_EQUAL(mech_couple_stability(h.couple, still, 1., &ask, reason, &s), MECH_CANCELLED);
    mech_couple_destroy(h.couple);
}

/* Sizes and matrices are checked before anything is computed. */
static void it_checks_what_it_is_given(void)
{
    static const double sizes[] = {0., -1., NAN, INFINITY, 5e-324, 1e308};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    for (int32_t hold = 0; hold < 2; hold++) {
        struct halves h = masses(1.);
        struct mech_couple_connection some[8];
        struct mech_couple_stability s;
        char reason[MECH_COUPLE_REASON];
        joined(100., 1., some);
        CU_ASSERT_EQUAL_FATAL(started(&h, "Jacobi", hold, some), 0);
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            CU_ASSERT_EQUAL(stability(&h, sizes[k], &s), MECH_INVALID);
        }
        for (int k = 0; k < 4 * 3; k++) {
            double A[4] = {0., 1., 0., 0.}, B[2] = {0., 1.}, C[4] = {1., 0., 0., 1.}, D[2] = {0.};
            double other[4] = {0.};
            double *const matrices[] = {A, B, C, D};
            const struct mech_couple_linear parts[2] = {{2, other, other, other, other},
                                                        {2, A, B, C, D}};
            matrices[k % 4][1] = values[k / 4];
            CU_ASSERT_EQUAL(mech_couple_stability(h.couple, parts, 0.1, NULL, reason, &s),
                            MECH_NOT_FINITE);
            CU_ASSERT_EQUAL(reason[sizeof "matrix"], "ABCD"[k % 4]);
        }
        mech_couple_destroy(h.couple);
    }
}

UNIT_TESTS(UNIT_TEST(explicit_coupling_is_stable_up_to_its_closed_form),
           UNIT_TEST(undamped_explicit_coupling_is_never_stable),
           UNIT_TEST(a_bound_within_rounding_is_untold),
           UNIT_TEST(what_grows_by_itself_is_never_stable), UNIT_TEST(a_weak_damper_has_its_bound),
           UNIT_TEST(fast_oscillators_keep_their_size),
           UNIT_TEST(the_benchmark_has_its_published_boundary),
           UNIT_TEST(the_map_is_that_of_couplings_that_run),
           UNIT_TEST(iterated_coupling_is_stable_where_explicit_is_not),
           UNIT_TEST(it_says_what_it_cannot_do), UNIT_TEST(it_checks_what_it_is_given))
