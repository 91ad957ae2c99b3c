/* The contract of couplings: what is handed out when, all or none, faults by name, saving. */
#include "solver/couple/couple.h"

#include "tests/unit/alloc_count.h"
#include "tests/unit/solver/couple/maps.h"
#include "tests/unit/solver/couple/pair.h"
#include "tests/unit/unit.h"

static void perform(struct halves *h, const struct mech_couple_batch *b)
{
    // in the other order, as a pool might
    for (int32_t i = b->count - 1; i >= 0; i--) {
        struct mech_couple_task *const t = b->tasks + i;
        struct half *const half = h->half + t->participant;
        t->code = t->action == MECH_COUPLE_TRIAL     ? half_trial(half, t)
                  : t->action == MECH_COUPLE_COMMIT  ? half_commit(half, t)
                  : t->action == MECH_COUPLE_DISCARD ? half_discard(half, t)
                                                     : half_now(half, t);
    }
}

static void jacobi_hands_out_all_trials_at_once_then_all_commits(void)
{
    struct halves h = pair();
    const struct mech_couple_setup s = setup_of("Jacobi");
    struct mech_couple_batch b;
    halves_start(&h, HALF_LINEAR, &s);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), MECH_INVALID);
    CU_ASSERT_EQUAL(mech_couple_begin(h.couple, 0.1), 0);
    CU_ASSERT_EQUAL(mech_couple_begin(h.couple, 0.1), MECH_INVALID);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
    CU_ASSERT_EQUAL(b.count, 2);
    CU_ASSERT_EQUAL(b.tasks[0].action, MECH_COUPLE_TRIAL);
    CHECK_NEAR(b.tasks[1].polynomial[0], 1., 0.);
    perform(&h, &b);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
    CU_ASSERT_EQUAL(b.count, 2);
    CU_ASSERT_EQUAL(b.tasks[1].action, MECH_COUPLE_COMMIT);
    CHECK_NEAR(mech_couple_time(h.couple), 0., 0.);
    perform(&h, &b);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
    CU_ASSERT_EQUAL(b.count, 0);
    CHECK_NEAR(mech_couple_time(h.couple), 0.1, 0.);
    // the end of many windows is set, not accumulated
    CU_ASSERT_EQUAL(halves_run(&h, 0.1, 9), 0);
    CHECK_NEAR(mech_couple_time(h.couple), 1., 0.);
    CU_ASSERT_EQUAL(mech_couple_windows(h.couple), 10);
    mech_couple_destroy(h.couple);
}

static void a_failed_window_leaves_nothing_behind(void)
{
    static const char *const schemes[] = {"Aitken", "GaussSeidel", "IQN-ILS", "InterfaceNewton",
                                          "Jacobi"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct halves h = pair(), plain = pair();
        struct mech_couple_setup s = setup_of(schemes[i]);
        s.options.hold = 2;
        s.options.reuse = 0;
        halves_start(&h, HALF_LINEAR, &s);
        halves_start(&plain, HALF_LINEAR, &s);
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 3), 0);
        CU_ASSERT_EQUAL(halves_run(&plain, 0.1, 3), 0);
        h.half[1].fail_trial = h.half[1].trials + 1;
        const int commits = h.half[0].commits;
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 1), MECH_NOT_CONVERGED);
        CU_ASSERT_STRING_EQUAL(mech_couple_report(h.couple)->reason,
                               "right: it fails as it was told to");
        CU_ASSERT_EQUAL(mech_couple_report(h.couple)->participant, 1);
        CU_ASSERT_EQUAL(h.half[0].commits, commits);
        CU_ASSERT_EQUAL(h.half[0].discards, 1);
        CHECK_NEAR(mech_couple_time(h.couple), 0.3, 1e-15);
        // it goes on as if nothing had been
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 3), 0);
        CU_ASSERT_EQUAL(halves_run(&plain, 0.1, 3), 0);
        CHECK_NEAR(h.half[0].x, plain.half[0].x, 0.);
        CHECK_NEAR(h.half[1].v, plain.half[1].v, 0.);
        mech_couple_destroy(h.couple);
        mech_couple_destroy(plain.couple);
    }
}

enum lie {
    LIE_NAN,
    LIE_NOTHING,
    LIE_MANY,
    LIE_TIMES,
    LIE_END,
    LIE_SAMPLE,
    LIE_JACOBIAN,
    LIE_COUNT
};

static void a_lying_participant_is_named(void)
{
    static const char *const reasons[] = {
        "right: an output is not a finite number",
        "right: an output is not a finite number",
        "right: it reports more samples than it announced",
        "right: the times of its samples do not increase",
        "right: its samples do not end with the window",
        "right: a sample is not a finite number",
        "right: its Jacobian is not finite",
    };
    for (int lie = 0; lie < LIE_COUNT; lie++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of(lie == LIE_JACOBIAN ? "InterfaceNewton" : "IQN-ILS");
        struct mech_couple_batch b;
        s.options.waveform = lie == LIE_JACOBIAN ? 0 : 3;
        h.half[0].steps = h.half[1].steps = 4;
        halves_start(&h, HALF_DERIVED, &s);
        CU_ASSERT_EQUAL(mech_couple_begin(h.couple, 0.1), 0);
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL_FATAL(b.count, 2);
        struct mech_couple_task *const t = b.tasks + 1;
        b.count = lie == LIE_NOTHING ? 1 : 2;
        perform(&h, &b);
        switch (lie) {
        case LIE_NAN:
            t->outputs[0] = NAN;
            break;
        case LIE_NOTHING:
            break;
        case LIE_MANY:
            t->samples = 5;
            break;
        case LIE_TIMES:
            t->times[1] = t->times[0];
            break;
        case LIE_END:
            t->times[3] = 0.099;
            break;
        case LIE_SAMPLE:
            t->values[2] = HUGE_VAL;
            break;
        default:
            t->jacobian[0] = NAN;
            break;
        }
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL(b.count, 2);
        CU_ASSERT_EQUAL(b.tasks[0].action, MECH_COUPLE_DISCARD);
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL(b.count, 0);
        CU_ASSERT_STRING_EQUAL(mech_couple_report(h.couple)->reason, reasons[lie]);
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 1), 0);
        mech_couple_destroy(h.couple);
    }
}

static void abandoned_windows_are_discarded(void)
{
    struct halves h = pair();
    const struct mech_couple_setup s = setup_of("GaussSeidel");
    struct mech_couple_batch b;
    halves_start(&h, HALF_LINEAR, &s);
    CU_ASSERT_EQUAL(mech_couple_abandon(h.couple, MECH_CANCELLED, NULL), MECH_INVALID);
    CU_ASSERT_EQUAL(mech_couple_begin(h.couple, 0.1), 0);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
    CU_ASSERT_EQUAL(mech_couple_abandon(h.couple, MECH_CANCELLED, "told to"), 0);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
    CU_ASSERT_EQUAL(b.count, 1);
    CU_ASSERT_EQUAL(b.tasks[0].action, MECH_COUPLE_DISCARD);
    CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
    CU_ASSERT_EQUAL(b.count, 0);
    CU_ASSERT_EQUAL(mech_couple_report(h.couple)->outcome, MECH_CANCELLED);
    CU_ASSERT_EQUAL(halves_run(&h, 0.1, 2), 0);
    mech_couple_destroy(h.couple);
}

/* Up to its commits, which are returned. */
static void go_to_commits(struct halves *h, struct mech_couple_batch *b)
{
    CU_ASSERT_EQUAL(mech_couple_begin(h->couple, 0.1), 0);
    CU_ASSERT_EQUAL(mech_couple_next(h->couple, b), 0);
    while (b->count > 0 && b->tasks[0].action != MECH_COUPLE_COMMIT) {
        CU_ASSERT_EQUAL(mech_couple_withdraw(h->couple, MECH_CANCELLED, ""), MECH_INVALID);
        perform(h, b);
        CU_ASSERT_EQUAL(mech_couple_next(h->couple, b), 0);
    }
    CU_ASSERT_EQUAL(b->count, 2);
}

static void withdrawn_commits_leave_nothing_behind(void)
{
    static const char *const schemes[] = {"Aitken", "GaussSeidel", "IQN-ILS", "InterfaceNewton",
                                          "Jacobi"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct halves h = pair(), plain = pair();
        struct mech_couple_setup s = setup_of(schemes[i]);
        struct mech_couple_batch b;
        s.options.hold = 2;
        s.options.reuse = 0;
        halves_start(&h, HALF_LINEAR, &s);
        halves_start(&plain, HALF_LINEAR, &s);
        CU_ASSERT_EQUAL(mech_couple_withdraw(h.couple, MECH_CANCELLED, ""), MECH_INVALID);
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 3), 0);
        CU_ASSERT_EQUAL(halves_run(&plain, 0.1, 3), 0);
        const int commits = h.half[0].commits;
        go_to_commits(&h, &b);
        CU_ASSERT_EQUAL(mech_couple_withdraw(h.couple, MECH_CANCELLED, "told to"), 0);
        CU_ASSERT_EQUAL(mech_couple_withdraw(h.couple, MECH_CANCELLED, "told to"), MECH_INVALID);
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL(b.count, 2);
        CU_ASSERT_EQUAL(b.tasks[1].action, MECH_COUPLE_DISCARD);
        perform(&h, &b);
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL(b.count, 0);
        CU_ASSERT_EQUAL(mech_couple_report(h.couple)->outcome, MECH_CANCELLED);
        CU_ASSERT_STRING_EQUAL(mech_couple_report(h.couple)->reason, "told to");
        CU_ASSERT_EQUAL(h.half[0].commits, commits);
        CU_ASSERT_EQUAL(mech_couple_windows(h.couple), 3);
        // it goes on as if nothing had been
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 3), 0);
        CU_ASSERT_EQUAL(halves_run(&plain, 0.1, 3), 0);
        CHECK_NEAR(h.half[0].x, plain.half[0].x, 0.);
        CHECK_NEAR(h.half[1].v, plain.half[1].v, 0.);
        mech_couple_destroy(h.couple);
        mech_couple_destroy(plain.couple);
    }
}

static void those_without_rollback_step_last_and_once(void)
{
    for (int scheme = 0; scheme < 2; scheme++) {
        struct halves h = pair();
        const struct mech_couple_setup s = setup_of(scheme == 0 ? "Jacobi" : "GaussSeidel");
        struct mech_couple_setup t = s;
        char reason[MECH_COUPLE_REASON];
        struct mech_couple_batch b;
        for (int i = 0; i < 2; i++) {
            h.about[i] =
                half_about(h.half + i, i == 0 ? "rig" : "model", i == 0 ? 0 : MECH_COUPLE_ROLLBACK);
            h.partner[i] = (struct mech_couple_partner){&half_functions, h.half + i};
        }
        t.participants = h.about;
        t.participant_count = 2;
        CU_ASSERT_EQUAL_FATAL(mech_couple_create(&t, reason, &h.couple), 0);
        CU_ASSERT_EQUAL(mech_couple_run_start(h.couple, h.partner, 0.), 0);
        CU_ASSERT_EQUAL(mech_couple_begin(h.couple, 0.1), 0);
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL(b.count, 1);
        CU_ASSERT_EQUAL(b.tasks[0].participant, 1);
        perform(&h, &b);
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        CU_ASSERT_EQUAL(b.tasks[0].participant, 0);
        b.tasks[0].code = MECH_SINGULAR;
        CU_ASSERT_EQUAL(mech_couple_next(h.couple, &b), 0);
        // what cannot roll back is not asked to
        CU_ASSERT_EQUAL(b.count, 1);
        CU_ASSERT_EQUAL(b.tasks[0].participant, 1);
        mech_couple_destroy(h.couple);
        t.options.scheme = "IQN-ILS";
        CU_ASSERT_EQUAL(mech_couple_create(&t, reason, &h.couple), MECH_UNSUPPORTED);
        CU_ASSERT_STRING_EQUAL(
            reason, "rig: IQN-ILS repeats windows, and this participant cannot roll back");
    }
}

static void restored_couplings_go_on_to_the_bit(void)
{
    static const char *const schemes[] = {"Aitken", "IQN-ILS", "InterfaceNewton", "Jacobi"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct halves h = pair(), other = pair();
        struct mech_couple_setup s = setup_of(schemes[i]);
        s.options.hold = 3;
        halves_start(&h, HALF_LINEAR, &s);
        halves_start(&other, HALF_LINEAR, &s);
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 5), 0);
        const size_t size = mech_couple_saved_size(h.couple);
        void *const bytes = malloc(size);
        mech_couple_save(h.couple, bytes);
        memcpy(other.half, h.half, sizeof h.half);
        CU_ASSERT_EQUAL(mech_couple_restore(other.couple, bytes, size - 1), MECH_MISMATCH);
        CU_ASSERT_EQUAL(mech_couple_restore(other.couple, bytes, size), 0);
        CU_ASSERT_EQUAL(halves_run(&h, 0.1, 5), 0);
        CU_ASSERT_EQUAL(halves_run(&other, 0.1, 5), 0);
        CHECK_NEAR(other.half[0].x, h.half[0].x, 0.);
        CHECK_NEAR(other.half[1].v, h.half[1].v, 0.);
        CHECK_NEAR(mech_couple_time(other.couple), mech_couple_time(h.couple), 0.);
        free(bytes);
        mech_couple_destroy(h.couple);
        mech_couple_destroy(other.couple);
    }
}

static void nothing_allocates_while_stepping(void)
{
    static const char *const schemes[] = {"Aitken", "GaussSeidel", "IQN-ILS", "InterfaceNewton",
                                          "Jacobi"};
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of(schemes[i]);
        s.options.hold = 2;
        s.options.waveform = i == 2 ? 3 : 0;
        h.half[0].steps = h.half[1].steps = 6;
        halves_start(&h, HALF_LINEAR, &s);
        alloc_count_start();
        const int code = halves_run(&h, 0.01, 1000);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        CU_ASSERT_EQUAL(code, 0);
        mech_couple_destroy(h.couple);
    }
}

static void creation_survives_refused_memory(void)
{
    struct maps m = {0};
    const struct mech_couple_options o = {.scheme = "IQN-ILS",
                                          .relative_tolerance = 1e-9,
                                          .absolute_tolerance = 1e-12,
                                          .max_iterations = 9,
                                          .relaxation = 1.};
    int code = MECH_NO_MEMORY;
    maps_fill(&m, 3, 1., 1);
    for (long first = 0; code != 0 && first < 100; first++) {
        alloc_refuse_start(first, false);
        code = maps_create(&m, MECH_COUPLE_ROLLBACK, &o);
        (void)alloc_refuse_stop();
        CU_ASSERT(code == 0 || code == MECH_NO_MEMORY);
    }
    CU_ASSERT_EQUAL(code, 0);
    mech_couple_destroy(m.couple);
}

static void slopes_follow_the_size_of_the_window(void)
{
    static const uint32_t abilities[] = {HALF_LINEAR, HALF_DERIVED};
    for (int i = 0; i < 2; i++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of("InterfaceNewton");
        s.options.hold = 1;
        h.half[0].v = 3.;
        halves_start(&h, abilities[i], &s);
        for (int w = 0; w < 12; w++) {
            CU_ASSERT_EQUAL(halves_run(&h, w % 3 == 0 ? 0.8 : 0.1, 1), 0);
            CU_ASSERT(mech_couple_report(h.couple)->iterations <= 2);
        }
        mech_couple_destroy(h.couple);
    }
}

static void inputs_are_sums_with_factors_and_offsets(void)
{
    /* left gets 2 y_right + 3 − y_left + 0.5, right gets 7 − 4 y_left; maps y = 0.1 u + b */
    static const struct mech_couple_connection k[] = {
        {1, 0, 0, 0, 2., 3.}, {0, 0, 0, 0, -1., 0.5}, {0, 0, 1, 0, -4., 7.}};
    static const char *const schemes[] = {"GaussSeidelIterated", "InterfaceNewton",
                                          "JacobiIterated"};
    const struct mech_couple_participant about[] = {{"left", 1, 1, 0, MECH_COUPLE_ROLLBACK},
                                                    {"right", 1, 1, 0, MECH_COUPLE_ROLLBACK}};
    for (int i = 0; i < 3; i++) {
        struct maps m = {0};
        struct mech_couple_setup s = setup_of(schemes[i]);
        maps_fill(&m, 1, 1., 1);
        for (int p = 0; p < 2; p++) {
            m.map[p].A[0] = 0.1;
            m.map[p].b[0] = 1. + p;
        }
        s.participants = about;
        s.participant_count = 2;
        s.connections = k;
        s.connection_count = 3;
        CU_ASSERT_EQUAL_FATAL(mech_couple_create(&s, m.reason, &m.couple), 0);
        CU_ASSERT_EQUAL(mech_couple_run_start(m.couple, m.partner, 0.), 0);
        CU_ASSERT_EQUAL(mech_couple_run_window(m.couple, m.partner, 1.), 0);
        // y = 1 + 0.1 (2 z + 3.5 − y), z = 2 + 0.1 (7 − 4 y)
        const double y = (1.35 + 0.2 * 2.7) / (1.1 + 0.2 * 0.4);
        CHECK_NEAR(mech_couple_outputs(m.couple, 0)[0], y, 1e-8);
        CHECK_NEAR(mech_couple_outputs(m.couple, 1)[0], 2.7 - 0.4 * y, 1e-8);
        mech_couple_destroy(m.couple);
    }
}

static void waveforms_are_sums_with_factors_and_offsets_too(void)
{
    /* half the gain, twice the factor; the offset is the other way round on the other side */
    double x[2];
    for (int i = 0; i < 2; i++) {
        const double factor = i == 0 ? 1. : 2.;
        const struct mech_couple_connection k[] = {{0, 0, 1, 0, factor, 0.5 * factor},
                                                   {1, 0, 0, 0, factor, -0.5 * factor}};
        struct halves h = pair();
        struct mech_couple_setup s = setup_of("IQN-ILS");
        s.connections = k;
        s.options.waveform = 3;
        for (int p = 0; p < 2; p++) {
            h.half[p].gain[0] = 1. / factor;
            h.half[p].method = HALF_RK4;
            h.half[p].steps = 5;
        }
        halves_start(&h, HALF_LINEAR, &s);
        CU_ASSERT_EQUAL(halves_run(&h, 0.2, 5), 0);
        x[i] = h.half[0].x;
        mech_couple_destroy(h.couple);
    }
    // x_1 − x_2 swings about −1/3, from 1
    CHECK_NEAR(x[0], 0.5 * (cos(1.) - 1. / 3. + 4. / 3. * cos(sqrt(3.))), 1e-5);
    CHECK_NEAR(x[1], x[0], 1e-9);
}

static void waveforms_of_outputs_that_nothing_reads_need_no_samples(void)
{
    static const char *const schemes[] = {"GaussSeidelIterated", "IQN-ILS", "Jacobi",
                                          "JacobiIterated"};
    for (int i = 0; i < 8; i++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of(schemes[i / 2]);
        // the first drives the second, or neither the other
        s.connection_count = h.half[1].inputs = i % 2;
        h.half[0].inputs = 0;
        s.options.waveform = 3;
        for (int p = 0; p < 2; p++) {
            h.half[p].method = HALF_RK4;
            h.half[p].steps = 5;
        }
        halves_start(&h, HALF_LINEAR, &s);
        CU_ASSERT_EQUAL(halves_run(&h, 0.2, 5), 0);
        CHECK_NEAR(h.half[0].x, cos(sqrt(2.)), 1e-5);
        mech_couple_destroy(h.couple);
    }
}

static void relaxation_makes_an_iteration_converge(void)
{
    /* y = −1.5 u around: diverges at ω = 1, contracts by a quarter at ω = 1/2 */
    for (int i = 0; i < 2; i++) {
        struct maps m = {0};
        struct mech_couple_options o = setup_of("GaussSeidelIterated").options;
        maps_fill(&m, 1, 1., 1);
        m.map[0].A[0] = -1.5;
        m.map[1].A[0] = 1.;
        o.relaxation = i == 0 ? 1. : 0.5;
        CU_ASSERT_EQUAL_FATAL(maps_create(&m, MECH_COUPLE_ROLLBACK, &o), 0);
        CU_ASSERT_EQUAL(mech_couple_run_start(m.couple, m.partner, 0.), 0);
        CU_ASSERT_EQUAL(mech_couple_run_window(m.couple, m.partner, 1.),
                        i == 0 ? MECH_NOT_CONVERGED : 0);
        const struct mech_couple_report *const r = mech_couple_report(m.couple);
        CU_ASSERT(i == 0 ? strstr(r->reason, "no convergence after 50 evaluations") != NULL
                         : r->iterations < 25);
        mech_couple_destroy(m.couple);
    }
}

/* One thing changed in a setup that would do. */
static void wrong_setups_are_refused_with_a_reason(void)
{
    const int32_t twice[] = {0, 0};
    const struct mech_couple_connection nowhere[] = {{0, 0, 1, 1, 1., 0.}, {1, 0, 0, 0, 1., 0.}};
    const struct mech_couple_connection nan[] = {{0, 0, 1, 0, NAN, 0.}, {1, 0, 0, 0, 1., 0.}};
    const struct mech_couple_bond bond = {.name = "b", .participant = {0, 1}, .stiffness = 1.};
    for (int i = 0; i < 14; i++) {
        struct halves h = pair();
        struct mech_couple_setup s = setup_of(i == 10 || i == 11 ? "Energy" : "IQN-ILS");
        struct mech_couple_options *const o = &s.options;
        char reason[MECH_COUPLE_REASON];
        for (int p = 0; p < 2; p++) {
            h.about[p] = half_about(h.half + p, p == 0 ? "left" : "right", HALF_LINEAR);
        }
        s.participants = h.about;
        s.participant_count = i == 0 ? 0 : 2;
        o->scheme = i == 1 ? "Iqn" : o->scheme;
        o->hold = i == 2 ? 4 : i == 11 ? 1 : 0;
        o->waveform = i == 3 ? 4 : i == 10 ? 1 : 0;
        o->absolute_tolerance = i == 4 ? 0. : 1e-9;
        o->relaxation = i == 5 ? NAN : 1.;
        o->filter = i == 6 ? 1. : 0.;
        o->order = i == 7 ? twice : NULL;
        s.connections = i == 8 ? nowhere : i == 9 ? nan : crossed;
        s.connection_count = i == 12 ? 1 : 2;
        s.bonds = i == 13 ? &bond : NULL;
        s.bond_count = i == 13;
        const int code = mech_couple_create(&s, reason, &h.couple);
        CU_ASSERT(code == MECH_INVALID || code == MECH_NOT_FOUND || code == MECH_UNSUPPORTED);
        CU_ASSERT(reason[0] != '\0');
        CU_ASSERT_PTR_NULL(h.couple);
    }
}

static void waveforms_that_are_too_long_are_refused_with_their_size(void)
{
    struct halves h = pair();
    struct mech_couple_setup s = setup_of("IQN-ILS");
    char reason[MECH_COUPLE_REASON];
    for (int p = 0; p < 2; p++) {
        h.about[p] = half_about(h.half + p, p == 0 ? "left" : "right", HALF_LINEAR);
    }
    h.about[1].outputs = 96;
    h.about[1].samples = 9900;
    s.participants = h.about;
    s.participant_count = 2;
    s.options.waveform = 3;
    CU_ASSERT_EQUAL(mech_couple_create(&s, reason, &h.couple), MECH_INVALID);
    CU_ASSERT_STRING_EQUAL(
        reason, "right: a waveform of 96 outputs at 9900 substeps; at most 100000 values");
    CU_ASSERT_PTR_NULL(h.couple);
}

UNIT_TESTS(UNIT_TEST(jacobi_hands_out_all_trials_at_once_then_all_commits),
           UNIT_TEST(a_failed_window_leaves_nothing_behind),
           UNIT_TEST(a_lying_participant_is_named), UNIT_TEST(abandoned_windows_are_discarded),
           UNIT_TEST(withdrawn_commits_leave_nothing_behind),
           UNIT_TEST(those_without_rollback_step_last_and_once),
           UNIT_TEST(restored_couplings_go_on_to_the_bit),
           UNIT_TEST(nothing_allocates_while_stepping), UNIT_TEST(creation_survives_refused_memory),
           UNIT_TEST(slopes_follow_the_size_of_the_window),
           UNIT_TEST(inputs_are_sums_with_factors_and_offsets),
           UNIT_TEST(waveforms_are_sums_with_factors_and_offsets_too),
           UNIT_TEST(waveforms_of_outputs_that_nothing_reads_need_no_samples),
           UNIT_TEST(relaxation_makes_an_iteration_converge),
           UNIT_TEST(waveforms_that_are_too_long_are_refused_with_their_size),
           UNIT_TEST(wrong_setups_are_refused_with_a_reason))
