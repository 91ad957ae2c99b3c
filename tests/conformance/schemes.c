/* Every coupling scheme keeps the contract: it comes to the solution, a failed window leaves
 * nothing behind, a restored coupling goes on to the bit, nothing allocates. */
#include "solver/couple/scheme.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/solver/couple/halves.h"
#include "tests/unit/unit.h"

static const double size = 1e-3;

static struct mech_couple_options usual(const struct mech_scheme_type *type)
{
    return (struct mech_couple_options){.scheme = type->name,
                                        .relative_tolerance = 1e-10,
                                        .absolute_tolerance = 1e-13,
                                        .max_iterations = 50,
                                        .relaxation = 0.8,
                                        .reuse = 1};
}

/* Two masses of 1 kg on springs of 1 N/m each, joined by one of 1 N/m, from x = (1, 0);
 * or by a line, of one window unless a largest one is given. */
static struct halves joined_by(const struct mech_scheme_type *type,
                               const struct mech_couple_options *options,
                               enum mech_couple_flow flow)
{
    static const struct mech_couple_connection crossed[] = {{0, 0, 1, 0, 1., 0.},
                                                            {1, 0, 0, 0, 1., 0.}};
    const bool line = (type->laws & 1u << MECH_COUPLE_LINE) != 0;
    const struct mech_couple_bond bond = {.name = "joint",
                                          .participant = {0, 1},
                                          .kind = flow,
                                          .gap = flow == MECH_COUPLE_VELOCITY,
                                          .law = line ? MECH_COUPLE_LINE : MECH_COUPLE_SPRING,
                                          .stiffness = 1.,
                                          .delay = options->maximum > 0. ? options->maximum : size,
                                          .impedance = size};
    const struct mech_couple_setup setup = {.connections = crossed,
                                            .connection_count = type->bonds ? 0 : 2,
                                            .bonds = &bond,
                                            .bond_count = type->bonds,
                                            .options = *options};
    struct halves h = {0};
    for (int i = 0; i < 2; i++) {
        h.half[i] = (struct half){.m = 1.,
                                  .k = type->bonds ? 1. : 2.,
                                  .gain = {1.},
                                  .inputs = 1,
                                  .count = 1,
                                  .outputs = {flow == MECH_COUPLE_VELOCITY ? HALF_V : HALF_X},
                                  .x = i == 0,
                                  .steps = options->waveform > 0 ? 7 : 0,
                                  .method = options->waveform > 0 ? HALF_RK4 : HALF_EXACT};
    }
    // NULL where the scheme does not take the options
    (void)halves_try(&h, HALF_DERIVED, &setup);
    return h;
}

static struct halves joined(const struct mech_scheme_type *type,
                            const struct mech_couple_options *options)
{
    return joined_by(type, options, MECH_COUPLE_DISPLACEMENT);
}

static int run(struct halves *h, int windows)
{
    // partners point into the struct, which joined() has returned by value
    for (int i = 0; i < 2; i++) {
        h->partner[i].self = h->half + i;
    }
    return halves_run(h, size, windows);
}

static void names_are_sorted_by_their_files_and_known(void)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        CU_ASSERT_PTR_EQUAL(mech_scheme_find((*t)->name), *t);
        CU_ASSERT(strlen((*t)->doc) > 10);
        CU_ASSERT_EQUAL((*t)->iterates, (*t)->correct != NULL);
        CU_ASSERT((*t)->bonds == ((*t)->laws != 0));
    }
    CU_ASSERT_PTR_NULL(mech_scheme_find("jacobi"));
}

static void every_scheme_comes_to_the_solution(void)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        const struct mech_couple_options options = usual(*t);
        struct halves h = joined(*t, &options);
        CU_ASSERT_EQUAL(run(&h, 1000), 0);
        // all are of first order at least; the spring of a line rests at its first gap, 1
        const bool line = ((*t)->laws & 1u << MECH_COUPLE_LINE) != 0;
        const double difference = line ? 2. / 3. + cos(sqrt(3.)) / 3. : cos(sqrt(3.));
        CHECK_NEAR(h.half[0].x, 0.5 * (cos(1.) + difference), 2. * size);
        mech_couple_destroy(h.couple);
    }
}

static void failed_windows_leave_nothing_behind(void)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        for (int side = 0; side < 2; side++) {
            const struct mech_couple_options options = usual(*t);
            struct halves h = joined(*t, &options);
            CU_ASSERT_EQUAL(run(&h, 3), 0);
            const struct half before[] = {h.half[0], h.half[1]};
            h.half[side].fail_trial = h.half[side].trials + 1;
            CU_ASSERT_EQUAL(run(&h, 1), MECH_NOT_CONVERGED);
            CU_ASSERT_EQUAL(mech_couple_report(h.couple)->participant, side);
            for (int i = 0; i < 2; i++) {
                CU_ASSERT_EQUAL(h.half[i].commits, before[i].commits);
                CHECK_NEAR(h.half[i].x, before[i].x, 0.);
            }
            CU_ASSERT_EQUAL(run(&h, 3), 0);
            CHECK_NEAR(mech_couple_time(h.couple), 6. * size, 1e-15);
            mech_couple_destroy(h.couple);
        }
    }
}

static void restored_couplings_go_on_to_the_bit(void)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        const struct mech_couple_options options = usual(*t);
        struct halves h = joined(*t, &options);
        CU_ASSERT_EQUAL(run(&h, 5), 0);
        void *const bytes = malloc(mech_couple_saved_size(h.couple));
        const struct half before[] = {h.half[0], h.half[1]};
        mech_couple_save(h.couple, bytes);
        CU_ASSERT_EQUAL(run(&h, 5), 0);
        const double x = h.half[0].x, v = h.half[1].v;
        memcpy(h.half, before, sizeof before);
        CU_ASSERT_EQUAL(mech_couple_restore(h.couple, bytes, mech_couple_saved_size(h.couple)), 0);
        CU_ASSERT_EQUAL(run(&h, 5), 0);
        CHECK_NEAR(h.half[0].x, x, 0.);
        CHECK_NEAR(h.half[1].v, v, 0.);
        free(bytes);
        mech_couple_destroy(h.couple);
    }
}

/* Continue with `size` bytes from anywhere: refused, and nothing changes, or taken, and windows
 * succeed or fail. */
static void go_on_with(struct halves *h, const void *bytes, void *before)
{
    const size_t all = mech_couple_saved_size(h->couple);
    void *const after = malloc(all);
    mech_couple_save(h->couple, before);
    const int code = mech_couple_restore(h->couple, bytes, all);
    mech_couple_save(h->couple, after);
    CU_ASSERT(code == 0 || code == MECH_MISMATCH);
    CU_ASSERT(memcmp(after, code == 0 ? bytes : before, all) == 0);
    (void)run(h, 2);
    free(after);
}

/* Under the sanitizers each access outside the numbers is found; without them the worst are. */
static void bytes_that_no_coupling_writes_lead_out_of_no_memory(void)
{
    static const int32_t ints[] = {-1, 3, 1000, 1 << 24, INT32_MAX, INT32_MIN};
    static const double reals[] = {-1., 0.5, 4., 2000., 1e300, (double)NAN};
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        const struct mech_couple_options options = usual(*t);
        struct halves h = joined(*t, &options);
        CU_ASSERT_EQUAL(run(&h, 5), 0);
        const struct half half[] = {h.half[0], h.half[1]};
        const size_t all = mech_couple_saved_size(h.couple);
        char *const good = malloc(all), *const forged = malloc(all), *const before = malloc(all);
        mech_couple_save(h.couple, good);
        // waves of lines are values, and many
        const size_t most = all < 8192 ? all : 8192;
        for (size_t at = 0; at < most; at += sizeof *ints) {
            for (size_t k = 0; k < sizeof ints / sizeof *ints; k++) {
                const bool real = at % sizeof *reals == 0;
                memcpy(forged, good, all);
                memcpy(forged + at, &ints[k], sizeof *ints);
                go_on_with(&h, forged, before);
                memcpy(forged + at, real ? (const void *)&reals[k] : (const void *)&ints[k],
                       real ? sizeof *reals : sizeof *ints);
                go_on_with(&h, forged, before);
                memcpy(h.half, half, sizeof half);
                CU_ASSERT_EQUAL(mech_couple_restore(h.couple, good, all), 0);
            }
        }
        CU_ASSERT_EQUAL(run(&h, 5), 0);
        free(good);
        free(forged);
        free(before);
        mech_couple_destroy(h.couple);
    }
}

/* Windows after the bytes with one number that is not finite: refused, or not read by them, which
 * then come to `x`. */
static void go_on_without(struct halves *h, char *bytes, size_t at, double wrong, double x)
{
    const size_t all = mech_couple_saved_size(h->couple);
    double good = 0.;
    memcpy(&good, bytes + at, sizeof good);
    // two counts are no number; both are 0 in the least significant bits of what is not finite
    if (good != 0. && fabs(good) < 1e-290) {
        return;
    }
    memcpy(bytes + at, &wrong, sizeof wrong);
    const int code = mech_couple_restore(h->couple, bytes, all);
    memcpy(bytes + at, &good, sizeof good);
    CU_ASSERT(code == 0 || code == MECH_MISMATCH);
    if (code == 0) {
        CU_ASSERT_EQUAL(run(h, 4), 0);
        CHECK_NEAR(h->half[1].x, x, 0.);
    }
}

static void go_on_without_each(struct halves *h)
{
    CU_ASSERT_EQUAL(run(h, 5), 0);
    const struct half half[] = {h->half[0], h->half[1]};
    const size_t all = mech_couple_saved_size(h->couple);
    char *const bytes = malloc(all);
    mech_couple_save(h->couple, bytes);
    CU_ASSERT_EQUAL(run(h, 4), 0);
    const double x = h->half[1].x;
    // of the waves of a line the first ones
    for (size_t at = 0; at < all && at < 8192; at += sizeof x) {
        for (int k = 0; k < 2; k++) {
            memcpy(h->half, half, sizeof half);
            CU_ASSERT_EQUAL(mech_couple_restore(h->couple, bytes, all), 0);
            go_on_without(h, bytes, at, k == 0 ? (double)NAN : -(double)INFINITY, x);
        }
    }
    free(bytes);
    mech_couple_destroy(h->couple);
}

/* Held inputs read the ends before the last one, iterations the columns of the last window, bonds
 * by velocities their gap. */
static void numbers_that_are_not_finite_enter_no_window(void)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        struct mech_couple_options options = usual(*t);
        for (int k = 0; k < 2; k++) {
            options.hold = (*t)->bonds ? 0 : 2 * k;
            struct halves h =
                joined_by(*t, &options,
                          (*t)->bonds && k == 1 ? MECH_COUPLE_VELOCITY : MECH_COUPLE_DISPLACEMENT);
            go_on_without_each(&h);
        }
    }
}

static void nothing_allocates_while_stepping(void)
{
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        const struct mech_couple_options options = usual(*t);
        struct halves h = joined(*t, &options);
        alloc_count_start();
        const int code = run(&h, 1000);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        CU_ASSERT_EQUAL(code, 0);
        mech_couple_destroy(h.couple);
    }
}

static uint64_t dice(uint64_t *state, uint64_t sides)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % sides;
}

/* Windows of any size, of which some trials fail: both halves have done the same ones. */
static void shake(struct halves *h, uint64_t seed)
{
    uint64_t state = seed;
    for (int w = 0; w < 30; w++) {
        const double before[] = {h->half[0].x, h->half[1].v, mech_couple_time(h->couple)};
        const double window = pow(10., -1. - 0.01 * (double)dice(&state, 300));
        struct half *const victim = h->half + dice(&state, 2);
        victim->fail_trial = dice(&state, 3) == 0 ? victim->trials + 1 + (int)dice(&state, 3) : 0;
        const int code = mech_couple_run_window(h->couple, h->partner, window);
        CU_ASSERT_EQUAL(code, mech_couple_report(h->couple)->outcome);
        CU_ASSERT_EQUAL(h->half[0].commits, h->half[1].commits);
        CU_ASSERT_EQUAL(h->half[0].commits, (int)mech_couple_windows(h->couple));
        CU_ASSERT(isfinite(h->half[0].x) && isfinite(h->half[1].v));
        if (code != 0) {
            CU_ASSERT_EQUAL(code, MECH_NOT_CONVERGED);
            CHECK_NEAR(h->half[0].x, before[0], 0.);
            CHECK_NEAR(h->half[1].v, before[1], 0.);
            CHECK_NEAR(mech_couple_time(h->couple), before[2], 0.);
        }
    }
}

static void any_options_keep_all_or_none(void)
{
    int made = 0;
    for (const struct mech_scheme_type *const *t = mech_scheme_types; *t != NULL; t++) {
        for (int o = 0; o < 32; o++) {
            struct mech_couple_options options = usual(*t);
            options.hold = o % 4;
            options.waveform = o / 4 % 4;
            options.adaptive_absolute = o >= 16 ? 1e-4 : 0.;
            options.minimum = 1e-9;
            options.maximum = 1.;
            struct halves h = joined(*t, &options);
            if (h.couple == NULL) {
                CU_ASSERT((*t)->matrix && (options.waveform > 0 || options.hold > 0));
                continue;
            }
            made++;
            for (int i = 0; i < 2; i++) {
                h.partner[i].self = h.half + i;
            }
            shake(&h, (uint64_t)o);
            mech_couple_destroy(h.couple);
        }
    }
    // all of 9 · 32 but waveforms of Newton's method, and bonds with hold or waveform
    CU_ASSERT_EQUAL(made, 288 - 24 - 2 * 30);
}

UNIT_TESTS(UNIT_TEST(names_are_sorted_by_their_files_and_known),
           UNIT_TEST(every_scheme_comes_to_the_solution),
           UNIT_TEST(failed_windows_leave_nothing_behind),
           UNIT_TEST(restored_couplings_go_on_to_the_bit),
           UNIT_TEST(bytes_that_no_coupling_writes_lead_out_of_no_memory),
           UNIT_TEST(numbers_that_are_not_finite_enter_no_window),
           UNIT_TEST(nothing_allocates_while_stepping), UNIT_TEST(any_options_keep_all_or_none))
