/* Couplings against closed forms and published numbers: two oscillators (the oscillator case of
 * preCICE), the explicit coupling of two masses by forces, the linear benchmark of two masses. */
#include "tests/unit/solver/couple/halves.h"
#include "tests/unit/unit.h"

static const double pi = 3.14159265358979323846;

/* --- two oscillators ------------------------------------------------------------------------- */

static double left_exact(double t)
{
    return 0.5 * (cos(2. * pi * t) + cos(6. * pi * t));
}

static double right_exact(double t)
{
    return 0.5 * (cos(2. * pi * t) - cos(6. * pi * t));
}

/* m1 = m2 = 1, k1 = k2 = 4π², k12 = 16π², u(0) = (1, 0) */
static struct halves oscillators(void)
{
    struct halves h = {0};
    for (int i = 0; i < 2; i++) {
        h.half[i] = (struct half){.m = 1.,
                                  .k = 20. * pi * pi,
                                  .gain = {16. * pi * pi},
                                  .outputs = {HALF_X},
                                  .inputs = 1,
                                  .count = 1,
                                  .x = i == 0,
                                  .exact = i == 0 ? left_exact : right_exact};
    }
    return h;
}

static const struct mech_couple_connection crossed[] = {{0, 0, 1, 0, 1., 0.}, {1, 0, 0, 0, 1., 0.}};

/* Errors at t = 1 of that many windows. */
static void run_oscillators(struct halves *h, const struct mech_couple_options *options,
                            uint32_t abilities, int windows)
{
    const struct mech_couple_setup setup = {
        .connections = crossed, .connection_count = 2, .options = *options};
    halves_start(h, abilities, &setup);
    CU_ASSERT_EQUAL(halves_run(h, 1. / windows, windows), 0);
    CHECK_NEAR(mech_couple_time(h->couple), 1., 1e-12);
    mech_couple_destroy(h->couple);
}

static struct mech_couple_options implicit(const char *scheme)
{
    return (struct mech_couple_options){.scheme = scheme,
                                        .relative_tolerance = 1e-12,
                                        .absolute_tolerance = 1e-13,
                                        .max_iterations = 200,
                                        .relaxation = 0.5};
}

struct published {
    int windows;
    double left[3], right[3];
};

/* references: linear over the window, piecewise linear and cubic B-spline through substeps */
static const struct published table[] = {
    {5,
     {3.3437602237727, .0508680377676, 4.48987335769e-3},
     {1.7357639088740, .0509483467981, 4.48943176436e-3}},
    {10,
     {.5338006703088, .0125680395525, 3.00723564152e-4},
     {.4833555656170, .0121802269845, 3.14635204677e-4}},
    {40,
     {.0385803719522, 7.81614046620e-4, 5.82788205106e-6},
     {.0408077321687, 7.47749433740e-4, 5.14465116888e-6}},
};

/* The published runs iterate to 1e-10 of an amplitude of 1, which their errors keep. */
static double precision(double published)
{
    return fmax(1e-6 * published, 1e-10);
}

static void published_waveforms_are_reproduced(void)
{
    static const int32_t order[] = {0, 1};
    for (size_t w = 0; w < sizeof table / sizeof *table; w++) {
        for (int kind = 0; kind < 3; kind++) {
            struct halves h = oscillators();
            struct mech_couple_options o = implicit("IQN-ILS");
            h.half[0].method = HALF_RK4;
            h.half[0].steps = 5;
            h.half[1].method = HALF_ALPHA;
            h.half[1].steps = 100;
            o.order = order;
            o.hold = kind == 0;
            o.waveform = kind == 0 ? 0 : kind == 1 ? 1 : 3;
            run_oscillators(&h, &o, MECH_COUPLE_ROLLBACK, table[w].windows);
            CHECK_NEAR(h.half[0].worst, table[w].left[kind], precision(table[w].left[kind]));
            CHECK_NEAR(h.half[1].worst, table[w].right[kind], precision(table[w].right[kind]));
        }
    }
}

static double newmark_error(const char *scheme, int windows)
{
    struct halves h = oscillators();
    const struct mech_couple_options o = implicit(scheme);
    for (int i = 0; i < 2; i++) {
        h.half[i].method = HALF_NEWMARK;
    }
    run_oscillators(&h, &o, MECH_COUPLE_ROLLBACK, windows);
    return fmax(h.half[0].worst, h.half[1].worst);
}

static void published_end_values_are_reproduced(void)
{
    /* printed to four digits */
    CHECK_NEAR(newmark_error("GaussSeidel", 100), 4.015e-1, 0.5e-4);
    CHECK_NEAR(newmark_error("GaussSeidel", 400), 9.883e-2, 0.5e-5);
    CHECK_NEAR(newmark_error("Jacobi", 100), 8.502e-1, 0.5e-4);
    CHECK_NEAR(newmark_error("Jacobi", 400), 1.986e-1, 0.5e-4);
    CHECK_NEAR(newmark_error("InterfaceNewton", 100), 2.598e-2, 0.5e-5);
    CHECK_NEAR(newmark_error("InterfaceNewton", 400), 1.630e-3, 0.5e-6);
}

/* --- explicit coupling by forces ---------------------------------------------------------- */

/* log of the spectral radius of a window's map of x, v of both [4 × 4], by its powers. */
static double log_radius(const double *map)
{
    double a[16], b[16], log_scale = 0.;
    memcpy(a, map, sizeof a);
    double weight = 1.;
    for (int k = 0; k < 60; k++) {
        double norm = 0.;
        for (int i = 0; i < 16; i++) {
            norm = fmax(norm, fabs(a[i]));
        }
        log_scale += weight * log(norm);
        weight *= 0.5;
        for (int i = 0; i < 16; i++) {
            a[i] /= norm;
        }
        for (int j = 0; j < 4; j++) {
            for (int i = 0; i < 4; i++) {
                b[4 * j + i] = 0.;
                for (int l = 0; l < 4; l++) {
                    b[4 * j + i] += a[4 * l + i] * a[4 * j + l];
                }
            }
        }
        memcpy(a, b, sizeof a);
    }
    return log_scale;
}

/* log of the amplification of a window: each side gets kc (x_other − x) + dc (v_other − v) */
static double amplification(const struct half *sides, double kc, double dc, double size)
{
    double map[16];
    for (int column = 0; column < 4; column++) {
        struct halves h = {0};
        struct mech_couple_connection k[8];
        for (int i = 0; i < 2; i++) {
            h.half[i] = sides[i];
            h.half[i].gain[0] = 1.;
            h.half[i].inputs = 1;
            h.half[i].count = 2;
            h.half[i].outputs[1] = HALF_V;
            h.half[i].x = column == 2 * i;
            h.half[i].v = column == 2 * i + 1;
            const double gain[] = {kc, dc};
            for (int o = 0; o < 2; o++) {
                k[4 * i + o] = (struct mech_couple_connection){i, o, i, 0, -gain[o], 0.};
                k[4 * i + 2 + o] = (struct mech_couple_connection){1 - i, o, i, 0, gain[o], 0.};
            }
        }
        const struct mech_couple_setup setup = {
            .connections = k, .connection_count = 8, .options = {.scheme = "Jacobi"}};
        halves_start(&h, MECH_COUPLE_ROLLBACK, &setup);
        CU_ASSERT_EQUAL(halves_run(&h, size, 1), 0);
        for (int i = 0; i < 2; i++) {
            map[4 * column + 2 * i] = h.half[i].x;
            map[4 * column + 2 * i + 1] = h.half[i].v;
        }
        mech_couple_destroy(h.couple);
    }
    return log_radius(map);
}

static void explicit_forces_are_stable_to_the_closed_form(void)
{
    /* m_r = 2/3. Free masses drift: the eigenvalue 1 is double, and rounding parts it by √ε */
    const struct half sides[] = {{.m = 1.}, {.m = 2.}};
    const double reduced = 2. / 3.;
    for (int i = 0; i < 2; i++) {
        const double k = 100., c = i == 0 ? 0.5 : 30.;
        const double limit = fmin(2. * c / k, 2. * reduced / c);
        CU_ASSERT(amplification(sides, k, c, 0.99 * limit) < 1e-7);
        CU_ASSERT(amplification(sides, k, c, 1.01 * limit) > 1e-5);
    }
}

static void undamped_explicit_forces_grow_as_computed(void)
{
    const struct half sides[] = {{.m = 1.}, {.m = 2.}};
    const double k = 100., reduced = 2. / 3.;
    for (double size = 1e-3; size < 0.3; size *= 3.) {
        const double expected = 0.5 * log1p(k * size * size / (2. * reduced));
        CHECK_NEAR(amplification(sides, k, 0., size), expected, 1e-10);
    }
}

static void the_benchmark_is_stable_up_to_its_window(void)
{
    const struct half sides[] = {{.m = 1., .k = 10., .c = 0.01}, {.m = 1., .k = 1000., .c = 0.01}};
    CU_ASSERT(amplification(sides, 100., 0.01, 3.65e-4) < 0.);
    CU_ASSERT(amplification(sides, 100., 0.01, 3.75e-4) > 0.);
}

/* --- linear benchmark ----------------------------------------------------------------------- */

static void the_benchmark_comes_to_its_closed_form(void)
{
    /* hold 3 through exact subsystems, 8000 windows: 4th order, ω H = 0.004 */
    struct halves h = {
        .half = {{.m = 1., .k = 110., .v = 100.}, {.m = 1., .k = 1100., .v = -100.}}};
    for (int i = 0; i < 2; i++) {
        h.half[i].gain[0] = 100.;
        h.half[i].inputs = h.half[i].count = 1;
    }
    struct mech_couple_options o = implicit("InterfaceNewton");
    o.hold = 3;
    const struct mech_couple_setup setup = {
        .connections = crossed, .connection_count = 2, .options = o};
    halves_start(&h, HALF_DERIVED, &setup);
    CU_ASSERT_EQUAL(halves_run(&h, 1. / 8000., 8000), 0);
    CHECK_NEAR(h.half[0].x, -4.53844886412, 1e-11 * 4.);
    CHECK_NEAR(h.half[1].x, -3.57741133883, 1e-11 * 3.);
    CHECK_NEAR(h.half[0].v, -78.2973096423, 1e-11 * 100.);
    CHECK_NEAR(h.half[1].v, 27.8087202544, 1e-11 * 100.);
    mech_couple_destroy(h.couple);
}

UNIT_TESTS(UNIT_TEST(published_waveforms_are_reproduced),
           UNIT_TEST(published_end_values_are_reproduced),
           UNIT_TEST(explicit_forces_are_stable_to_the_closed_form),
           UNIT_TEST(undamped_explicit_forces_grow_as_computed),
           UNIT_TEST(the_benchmark_is_stable_up_to_its_window),
           UNIT_TEST(the_benchmark_comes_to_its_closed_form))
