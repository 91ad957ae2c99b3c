/* Bonds: energy-consistent coupling and transmission lines, by closed forms and balances. */
#include "tests/unit/solver/couple/halves.h"
#include "tests/unit/unit.h"

static struct mech_couple_options options(const char *scheme)
{
    return (struct mech_couple_options){.scheme = scheme,
                                        .relative_tolerance = 1e-13,
                                        .absolute_tolerance = 1e-12,
                                        .max_iterations = 10};
}

static struct mech_couple_bond spring(enum mech_couple_flow kind, double stiffness, double damping)
{
    return (struct mech_couple_bond){.name = "joint",
                                     .participant = {0, 1},
                                     .kind = kind,
                                     .stiffness = stiffness,
                                     .damping = damping};
}

/* The linear benchmark of two masses, cut at its coupling spring. */
static struct halves benchmark(enum half_method method, int32_t steps, enum mech_couple_flow kind)
{
    struct halves h = {.half = {{.m = 1., .k = 10., .v = 100.}, {.m = 1., .k = 1000., .v = -100.}}};
    for (int i = 0; i < 2; i++) {
        h.half[i].gain[0] = 1.;
        h.half[i].inputs = h.half[i].count = 1;
        h.half[i].outputs[0] = kind == MECH_COUPLE_VELOCITY ? HALF_V : HALF_X;
        h.half[i].method = method;
        h.half[i].steps = steps;
    }
    return h;
}

static double energy_of(const struct half *h)
{
    return 0.5 * h->m * h->v * h->v + 0.5 * h->k * h->x * h->x;
}

static void begin(struct halves *h, uint32_t abilities, const struct mech_couple_bond *bond,
                  const struct mech_couple_options *o)
{
    const struct mech_couple_setup setup = {.bonds = bond, .bond_count = 1, .options = *o};
    halves_start(h, abilities, &setup);
}

static void energy_is_kept_for_any_window(void)
{
    const struct mech_couple_options o = options("Energy");
    static const double sizes[] = {1e-3, 1e-2, 0.1, 1.};
    for (int kind = 0; kind < 2; kind++) {
        for (int32_t steps = 1; steps <= 5; steps += 4) {
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct halves h = benchmark(HALF_TRAPEZOIDAL, steps, (enum mech_couple_flow)kind);
                const struct mech_couple_bond b = spring((enum mech_couple_flow)kind, 100., 0.);
                begin(&h, HALF_LINEAR, &b, &o);
                double worst = 0.;
                for (int w = 0; w < (int)(10. / sizes[s] + 0.5); w++) {
                    struct mech_couple_bond_state state;
                    CU_ASSERT_EQUAL_FATAL(halves_run(&h, sizes[s], 1), 0);
                    mech_couple_bond_state(h.couple, 0, &state);
                    const double e = energy_of(h.half) + energy_of(h.half + 1) + state.stored;
                    worst = fmax(worst, fabs(e / 1e4 - 1.));
                }
                CHECK_NEAR(worst, 0., 1e-11);
                mech_couple_destroy(h.couple);
            }
        }
    }
}

/* A spring that is 0.5 m long at rest has energy in it from the start. */
static void a_spring_stores_its_energy_from_its_length_at_rest(void)
{
    const struct mech_couple_options o = options("Energy");
    struct halves h = benchmark(HALF_TRAPEZOIDAL, 3, MECH_COUPLE_DISPLACEMENT);
    struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 100., 0.);
    struct mech_couple_bond_state state;
    b.rest = 0.5;
    begin(&h, HALF_LINEAR, &b, &o);
    for (int w = 0; w < 100; w++) {
        CU_ASSERT_EQUAL_FATAL(halves_run(&h, 0.02, 1), 0);
        mech_couple_bond_state(h.couple, 0, &state);
        const double e = energy_of(h.half) + energy_of(h.half + 1) + state.stored;
        CHECK_NEAR(e, 1e4 + 0.5 * 100. * 0.5 * 0.5, 1e-7);
    }
    mech_couple_destroy(h.couple);
}

static void one_correction_does_with_exact_slopes(void)
{
    struct mech_couple_options o = options("Energy");
    o.relative_tolerance = 1e-9;
    for (int i = 0; i < 2; i++) {
        struct halves h = benchmark(HALF_EXACT, 0, MECH_COUPLE_DISPLACEMENT);
        const struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 100., 0.5);
        begin(&h, i == 0 ? HALF_DERIVED : HALF_LINEAR, &b, &o);
        for (int w = 0; w < 100; w++) {
            CU_ASSERT_EQUAL_FATAL(halves_run(&h, 0.01, 1), 0);
            CU_ASSERT(mech_couple_report(h.couple)->iterations <= 2);
            // difference quotients are kept while the windows stay alike
            CU_ASSERT(w == 0 || mech_couple_report(h.couple)->evaluations <= 4);
        }
        mech_couple_destroy(h.couple);
    }
}

/* x of the first at t = 1 */
static double first_at(int windows)
{
    struct halves h = benchmark(HALF_EXACT, 0, MECH_COUPLE_DISPLACEMENT);
    const struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 100., 0.);
    const struct mech_couple_options o = options("Energy");
    begin(&h, HALF_DERIVED, &b, &o);
    CU_ASSERT_EQUAL(halves_run(&h, 1. / windows, windows), 0);
    mech_couple_destroy(h.couple);
    return h.half[0].x;
}

static void the_energy_scheme_is_of_second_order(void)
{
    const double exact = -4.53844886412;
    const double coarse = fabs(first_at(200) - exact), fine = fabs(first_at(400) - exact);
    CHECK_ORDER("the first mass in windows", log2(coarse / fine), 2., 0.1);
}

static void dampers_take_what_the_balance_lacks(void)
{
    struct halves h = benchmark(HALF_TRAPEZOIDAL, 3, MECH_COUPLE_DISPLACEMENT);
    const struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 100., 2.);
    const struct mech_couple_options o = options("Energy");
    struct mech_couple_bond_state state;
    begin(&h, HALF_LINEAR, &b, &o);
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 300), 0);
    mech_couple_bond_state(h.couple, 0, &state);
    const double kept = energy_of(h.half) + energy_of(h.half + 1);
    CU_ASSERT(state.dissipated > 1000.);
    CHECK_NEAR(kept + state.stored + state.dissipated, 1e4, 1e-8);
    CHECK_NEAR(state.work[0] + state.work[1], kept - 1e4, 1e-8);
    mech_couple_destroy(h.couple);
}

static void rigid_bonds_close_their_gap(void)
{
    struct halves h = benchmark(HALF_TRAPEZOIDAL, 2, MECH_COUPLE_DISPLACEMENT);
    struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 0., 0.);
    const struct mech_couple_options o = options("Energy");
    b.law = MECH_COUPLE_RIGID;
    h.half[1].v = h.half[0].v;
    begin(&h, HALF_LINEAR, &b, &o);
    struct mech_couple_bond_state state;
    for (int w = 0; w < 200; w++) {
        CU_ASSERT_EQUAL_FATAL(halves_run(&h, 1e-3, 1), 0);
        mech_couple_bond_state(h.couple, 0, &state);
        CHECK_NEAR(state.gap, 0., 1e-12);
        CHECK_NEAR(energy_of(h.half) + energy_of(h.half + 1), 1e4, 1e-7);
    }
    // one mass of 2 on 1010: x = v sin(ω t)/ω, to second order
    const double omega = sqrt(505.);
    CHECK_NEAR(h.half[0].x, 100. * sin(omega * 0.2) / omega, 1e-2);
    mech_couple_destroy(h.couple);
}

/* Bodies apart at the start are where the bond holds them after one window, and stay there. */
static void a_rigid_bond_closes_a_gap_that_is_open_at_the_start(void)
{
    static const double rests[] = {0., 0.02};
    for (size_t k = 0; k < sizeof rests / sizeof *rests; k++) {
        struct halves h = benchmark(HALF_TRAPEZOIDAL, 2, MECH_COUPLE_DISPLACEMENT);
        struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 0., 0.);
        const struct mech_couple_options o = options("Energy");
        b.law = MECH_COUPLE_RIGID;
        b.rest = rests[k];
        h.half[0].x = 0.05;
        begin(&h, HALF_LINEAR, &b, &o);
        for (int w = 0; w < 20; w++) {
            CU_ASSERT_EQUAL_FATAL(halves_run(&h, 1e-3, 1), 0);
            CHECK_NEAR(h.half[0].x - h.half[1].x, rests[k], 1e-12);
        }
        mech_couple_destroy(h.couple);
    }
}

static void lines_give_back_what_they_took(void)
{
    for (double impedance = 1e-3; impedance < 1e4; impedance *= 10.) {
        for (int delay = 1; delay <= 7; delay += 3) {
            struct halves h = benchmark(HALF_TRAPEZOIDAL, 2, MECH_COUPLE_DISPLACEMENT);
            struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 0., 0.);
            const struct mech_couple_options o = options("TransmissionLine");
            struct mech_couple_bond_state state;
            b.law = MECH_COUPLE_LINE;
            b.impedance = impedance;
            b.delay = 0.01 * delay;
            begin(&h, HALF_LINEAR, &b, &o);
            for (int w = 0; w < 500; w++) {
                CU_ASSERT_EQUAL_FATAL(halves_run(&h, 0.01, 1), 0);
                mech_couple_bond_state(h.couple, 0, &state);
                const double e = energy_of(h.half) + energy_of(h.half + 1);
                CHECK_NEAR(e + state.stored, 1e4, 1e-6);
                CHECK_NEAR(state.work[0] + state.work[1] + state.stored, 0., 1e-6);
            }
            mech_couple_destroy(h.couple);
        }
    }
}

/* Waves that arrive in parts of two windows come out as their mean: that takes energy, and never
 * gives any. */
static void lines_that_windows_do_not_divide_give_no_energy(void)
{
    for (double impedance = 1e-1; impedance < 1e4; impedance *= 10.) {
        struct halves h = benchmark(HALF_TRAPEZOIDAL, 2, MECH_COUPLE_DISPLACEMENT);
        struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 0., 0.);
        const struct mech_couple_options o = options("TransmissionLine");
        struct mech_couple_bond_state state;
        double before = 1e4;
        b.law = MECH_COUPLE_LINE;
        b.impedance = impedance;
        b.delay = 0.025;
        begin(&h, HALF_LINEAR, &b, &o);
        for (int w = 0; w < 500; w++) {
            CU_ASSERT_EQUAL_FATAL(halves_run(&h, 0.01, 1), 0);
            mech_couple_bond_state(h.couple, 0, &state);
            const double e = energy_of(h.half) + energy_of(h.half + 1) + state.stored;
            CU_ASSERT(e <= before + 1e-9 * 1e4);
            before = e;
        }
        mech_couple_destroy(h.couple);
    }
}

/* x of the first at t = 1, by a line as stiff as the benchmark's spring; its mass falls with its
 * delay, so that both go to the benchmark with the window */
static double line_first_at(int windows)
{
    struct halves h = benchmark(HALF_EXACT, 0, MECH_COUPLE_DISPLACEMENT);
    struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 0., 0.);
    const struct mech_couple_options o = options("TransmissionLine");
    b.law = MECH_COUPLE_LINE;
    b.delay = 1. / windows;
    b.impedance = 100. * b.delay;
    begin(&h, HALF_DERIVED, &b, &o);
    CU_ASSERT_EQUAL(halves_run(&h, 1. / windows, windows), 0);
    mech_couple_destroy(h.couple);
    return h.half[0].x;
}

static void short_lines_are_springs(void)
{
    const double exact = -4.53844886412;
    const double coarse = fabs(line_first_at(1000) - exact);
    const double fine = fabs(line_first_at(2000) - exact);
    CU_ASSERT(fine < 0.02);
    CHECK_ORDER_FROM("the first mass in delays", log2(coarse / fine), 0.8);
}

static void windows_longer_than_a_delay_are_refused(void)
{
    struct halves h = benchmark(HALF_EXACT, 0, MECH_COUPLE_DISPLACEMENT);
    struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 0., 0.);
    const struct mech_couple_options o = options("TransmissionLine");
    b.law = MECH_COUPLE_LINE;
    b.delay = 0.01;
    b.impedance = 1.;
    begin(&h, HALF_DERIVED, &b, &o);
    CU_ASSERT_EQUAL(halves_run(&h, 0.011, 1), MECH_INVALID);
    CU_ASSERT_STRING_EQUAL(mech_couple_report(h.couple)->reason,
                           "bond joint: the window is longer than its delay");
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 1), 0);
    mech_couple_destroy(h.couple);
}

/* A window that is done again after a restore, or the first one after a start, has its own work in
 * its flow, and none of what windows did that no longer count. */
static void flows_begin_anew_where_the_coupling_does(void)
{
    const struct mech_couple_options o = options("Energy");
    const struct mech_couple_bond b = spring(MECH_COUPLE_DISPLACEMENT, 100., 0.);
    struct halves h = benchmark(HALF_TRAPEZOIDAL, 1, MECH_COUPLE_DISPLACEMENT);
    const struct half start[2] = {h.half[0], h.half[1]};
    struct mech_couple_work first, again;

    begin(&h, HALF_LINEAR, &b, &o);
    const size_t size = mech_couple_saved_size(h.couple);
    void *const bytes = malloc(size);
    CU_ASSERT_FATAL(bytes != NULL);
    CU_ASSERT_EQUAL(mech_couple_measure(h.couple, true), 0);
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 1), 0);
    mech_couple_bond_flow(h.couple, 0, &first);
    CU_ASSERT(fabs(first.energy) > 1e-3);

    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 4), 0);
    const struct half there[2] = {h.half[0], h.half[1]};
    CU_ASSERT_EQUAL(mech_couple_measure(h.couple, true), 0);
    mech_couple_save(h.couple, bytes);
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 1), 0);
    struct mech_couple_work next;
    mech_couple_bond_flow(h.couple, 0, &next);
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 7), 0);
    memcpy(h.half, there, sizeof there);
    CU_ASSERT_EQUAL(mech_couple_restore(h.couple, bytes, size), 0);
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 1), 0);
    mech_couple_bond_flow(h.couple, 0, &again);
    CHECK_NEAR(again.power, next.power, 1e-9 * fabs(next.power));
    CHECK_NEAR(again.energy, next.energy, 1e-9 * fabs(next.energy));

    memcpy(h.half, start, sizeof start);
    CU_ASSERT_EQUAL(mech_couple_run_start(h.couple, h.partner, 0.), 0);
    CU_ASSERT_EQUAL(halves_run(&h, 0.01, 1), 0);
    mech_couple_bond_flow(h.couple, 0, &again);
    CHECK_NEAR(again.power, first.power, 1e-9 * fabs(first.power));
    CHECK_NEAR(again.energy, first.energy, 1e-9 * fabs(first.energy));
    free(bytes);
    mech_couple_destroy(h.couple);
}

UNIT_TESTS(UNIT_TEST(energy_is_kept_for_any_window),
           UNIT_TEST(a_spring_stores_its_energy_from_its_length_at_rest),
           UNIT_TEST(one_correction_does_with_exact_slopes),
           UNIT_TEST(the_energy_scheme_is_of_second_order),
           UNIT_TEST(dampers_take_what_the_balance_lacks), UNIT_TEST(rigid_bonds_close_their_gap),
           UNIT_TEST(a_rigid_bond_closes_a_gap_that_is_open_at_the_start),
           UNIT_TEST(lines_give_back_what_they_took),
           UNIT_TEST(lines_that_windows_do_not_divide_give_no_energy),
           UNIT_TEST(short_lines_are_springs), UNIT_TEST(windows_longer_than_a_delay_are_refused),
           UNIT_TEST(flows_begin_anew_where_the_coupling_does))
