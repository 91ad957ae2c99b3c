/* The event-driven scheme against closed forms: a bouncing ball, balls that meet, an oscillator
 * before a stop, a contact that is released; balances, rest, and failures without effect. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#include <string.h>

#define GRAVITY 9.81
#define PI 3.14159265358979323846
#define SOLVER(more) "'solver': {'integrator': 'EventDriven', 'stepSize': 0.1" more "}}"
#define TIGHT ", 'adaptive': {'relativeTolerance': 1e-12, 'absoluteTolerance': 1e-14}"
#define TIR(H, b) "'relation': {'type': 'LagrangianLinearTIR', 'H': " H ", 'b': " b "}"
#define BALL(e, more)                                                                              \
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"           \
    "'q0': [1.1], 'Fext': [-9.81]}], 'interactions': [{'name': 'c', 'systems': ['s']," TIR(        \
        "[[1]]", "[-0.1]") ", 'law': {'type': 'NewtonImpact', 'e': " e "}}]," SOLVER(more)

/* one command; its report */
static struct mech_step_report until(struct mech_sim *s, double t)
{
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = t};
    struct mech_step_report report;
    const int code = mech_sim_step(s, &r, &report);

    if (code) {
        fprintf(stderr, "step: %s\n", report.reason);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    return report;
}

/* t_n = t_1 (1 + 2 e + … + 2 e^(n−1)): no impact 1e-12 s before, one in the 2e-12 s after */
static void impacts_of_a_ball_are_found_to_a_picosecond(void)
{
    static const double es[] = {0.9, 0.5};
    static const char *const models[] = {BALL("0.9", ""), BALL("0.5", "")};

    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = model_of(models[k]);
        const double first = sqrt(2. / GRAVITY);
        double t = first, flight = 2. * es[k] * first, speed = GRAVITY * first;

        for (int n = 1; n <= 15; n++) {
            CU_ASSERT_EQUAL(until(s, t - 1e-12).impacts, 0);
            CHECK_NEAR(model_state(s).v[0], -speed, 1e-11);
            CU_ASSERT_EQUAL(until(s, t + 1e-12).impacts, 1);
            speed *= es[k];
            CHECK_NEAR(model_state(s).v[0], speed, 1e-11);
            CHECK_NEAR(model_state(s).impulse[0], speed * (1. + 1. / es[k]), 1e-11);
            t += flight;
            flight *= es[k];
        }
        mech_sim_destroy(s);
    }
}

/* the series ends at t_1 (1 + e)/(1 − e), after which it lies still and weighs m g */
static void a_ball_comes_to_rest_when_its_series_ends_and_stays(void)
{
    struct mech_sim *const s = model_of(BALL("0.9", ""));
    const double end = sqrt(2. / GRAVITY) * 1.9 / 0.1;

    until(s, end * (1. - 1e-9));
    CU_ASSERT(model_state(s).v[0] != 0.);
    const struct mech_step_report last = until(s, end * (1. + 1e-9));
    CU_ASSERT(last.impacts > 0);
    CU_ASSERT_EQUAL(last.contacts, 1);
    CU_ASSERT_EQUAL(model_state(s).v[0], 0.);
    for (int k = 0; k < 100; k++) {
        const double before = model_state(s).time;
        const struct mech_step_report report = until(s, 9. + 0.1 * k);

        CU_ASSERT_EQUAL(report.impacts, 0);
        CU_ASSERT_EQUAL(model_state(s).v[0], 0.);
        CU_ASSERT_EQUAL(model_state(s).vdot[0], 0.);
        CHECK_NEAR(model_state(s).q[0], 0.1, 2e-15);
        if (k > 0) {
            CHECK_NEAR(model_state(s).impulse[0], GRAVITY * (9. + 0.1 * k - before), 1e-12);
        }
    }
    mech_sim_destroy(s);
}

/* the rebound of an internal step adds what the weight does: m Δv = P − m g h */
static void momentum_balances_in_each_step(void)
{
    struct mech_sim *const s = model_of(BALL("0.8", ""));
    int hits = 0;

    for (int k = 0; k < 80; k++) {
        const double before = model_state(s).v[0];

        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        CHECK_NEAR(model_state(s).v[0] - before, model_state(s).impulse[0] - 0.1 * GRAVITY, 1e-13);
        CU_ASSERT(model_state(s).impulse[0] >= 0.);
        hits += model_state(s).impulse[0] > 0.;
    }
    CU_ASSERT(hits > 20);
    mech_sim_destroy(s);
}

/* ẍ = −ω² x from (0, v0), a stop at d: the first impact at asin(ω d/v0)/ω, the next each a time
 * (2π − 2ψ)/ω later, ψ = atan2(u/ω, d) after a rebound with u */
static void an_oscillator_meets_its_stop_when_the_sine_does(void)
{
    const double omega = 3., d = 0.5, e = 0.7;
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[2]],"
        "'K': [[18]], 'v0': [2.5]}], 'interactions': [{'name': 'c', 'systems': ['s']," TIR(
            "[[-1]]", "[0.5]") ", 'law': {'type': 'NewtonImpact', 'e': 0.7}}]," SOLVER(TIGHT));
    double t = asin(omega * d / 2.5) / omega, speed = sqrt(2.5 * 2.5 - omega * omega * d * d);

    for (int n = 0; n < 10; n++) {
        CU_ASSERT_EQUAL(until(s, t - 1e-9).impacts, 0);
        CU_ASSERT_EQUAL(until(s, t + 1e-9).impacts, 1);
        CHECK_NEAR(model_state(s).impulse[0], 2. * (1. + e) * speed, 1e-9);
        speed *= e;
        const double psi = atan2(speed / omega, d), radius = hypot(speed / omega, d);

        /* half way to the next, at the far end */
        until(s, t + (PI - psi) / omega);
        CHECK_NEAR(model_state(s).q[0], -radius, 1e-10);
        CHECK_NEAR(model_state(s).v[0], 0., 1e-9);
        t += 2. * (PI - psi) / omega;
    }
    mech_sim_destroy(s);
}

/* at the tolerances of every day too, an impact without rebound leaves the mass at its stop to
 * rounding: the event is found by steps, not by what interpolates them */
static void a_mass_stays_where_its_stop_is(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[2]],"
        "'K': [[18]], 'Fext': ['=30 + 2*sin(9*t)']}], 'interactions': [{'name': 'c',"
        "'systems': ['s']," TIR("[[-1]]",
                                "[0.5]") ", 'law': {'type': 'NewtonImpact', 'e': "
                                         "0}}]," SOLVER(", 'adaptive': {'relativeTolerance': 1e-5, "
                                                        "'absoluteTolerance': 1e-6}"));

    CU_ASSERT_EQUAL(until(s, 0.5).impacts, 1);
    for (int k = 6; k < 20; k++) {
        CU_ASSERT_EQUAL(until(s, 0.1 * k).contacts, 1);
        CHECK_NEAR(model_state(s).q[0], 0.5, 2e-16);
    }
    mech_sim_destroy(s);
}

/* pressed by cos 2t, let go where that is 0: λ ≥ 0, then x = ∫∫ −cos 2t */
static void a_contact_is_let_go_when_its_load_changes_sign(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"
        "'Fext': ['=-cos(2*t)']}], 'interactions': [{'name': 'c', 'systems': ['s']," TIR(
            "[[1]]", "[0]") ", 'law': {'type': 'NewtonImpact', 'e': 0.5}}]," SOLVER(TIGHT));
    const double free = 0.25 * PI;

    for (int k = 1; k <= 30; k++) {
        const double t = 0.1 * k, from = 0.1 * (k - 1);
        const struct mech_step_report report = until(s, t);
        const double pushed = 0.5 * (sin(2. * fmin(t, free)) - sin(2. * fmin(from, free)));

        CU_ASSERT_EQUAL(report.impacts, 0);
        CU_ASSERT_EQUAL(report.contacts, t < free ? 1 : 0);
        CHECK_NEAR(model_state(s).impulse[0], pushed, 1e-10);
        const double away = t > free ? t - free : 0.;
        CHECK_NEAR(model_state(s).q[0], 0.5 * away + 0.25 * (cos(2. * fmax(t, free))), 1e-10);
        CHECK_NEAR(model_state(s).v[0], t > free ? 0.5 - 0.5 * sin(2. * t) : 0., 1e-10);
    }
    mech_sim_destroy(s);
}

/* a ball against three that touch: all gaps obey Newton's law at once */
#define ROW_OF_BALLS(e)                                                                            \
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"                       \
    "'M': {'diag': [1, 1, 1, 1]}, 'q0': [-1, 0, 0, 0], 'v0': [2, 0, 0, 0]}],"                      \
    "'interactions': [{'name': 'c', 'systems': ['s']," TIR(                                        \
        "[[-1, 1, 0, 0], [0, -1, 1, 0], [0, 0, -1, 1]]",                                           \
        "[0, 0, 0]") ", 'law': {'type': 'NewtonImpact', 'e': " e "}}]," SOLVER("")

static void contacts_that_touch_share_an_impact(void)
{
    struct mech_sim *s = model_of(ROW_OF_BALLS("0"));

    CU_ASSERT_EQUAL(until(s, 1.).impacts, 1);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(model_state(s).v[i], 0.5, 1e-15);
        CHECK_NEAR(model_state(s).q[i], 0.25, 1e-15);
    }
    mech_sim_destroy(s);
    s = model_of(ROW_OF_BALLS("1"));
    CU_ASSERT_EQUAL(until(s, 0.55).impacts, 1);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(model_state(s).v[i], i ? 1. : -1., 1e-15);
    }
    /* P = 3/2, 1, 1/2 of the momentum m v */
    for (int i = 0; i < 3; i++) {
        CHECK_NEAR(model_state(s).impulse[i], 3. - i, 1e-14);
    }
    mech_sim_destroy(s);
}

/* a rod that falls flat on both ends keeps its angle; it lies on a third support between them,
 * which depends on the two: λ is not unique, its sum is */
static void a_rod_that_falls_flat_does_not_turn(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 "'M': {'diag': [3, 0.25]}, 'q0': [0.3, 0], 'Fext': [-30, 0]}],"
                 "'interactions': [{'name': 'c', 'systems': ['s']," TIR(
                     "[[1, -0.5], [1, 0.5], [1, 0.1]]",
                     "[0, 0, 0]") ", 'law': {'type': 'NewtonImpact', 'e': 0.6}}]," SOLVER(""));

    CHECK_NEAR((double)until(s, sqrt(0.06) + 1e-12).impacts, 1., 0.);
    CHECK_NEAR(model_state(s).v[0], 0.6 * 10. * sqrt(0.06), 1e-11);
    CHECK_NEAR(model_state(s).v[1], 0., 1e-14);
    until(s, 1.5);
    for (int k = 1; k < 50; k++) {
        const struct mech_step_report report = until(s, 1.5 + 0.1 * k);
        const double *const P = model_state(s).impulse;

        CU_ASSERT_EQUAL(report.impacts, 0);
        CU_ASSERT_EQUAL(report.contacts, 3);
        CHECK_NEAR(P[0] + P[1] + P[2], 3., 1e-12);
        CU_ASSERT(P[0] >= 0. && P[1] >= 0. && P[2] >= 0.);
        CHECK_NEAR(model_state(s).q[0], 0., 1e-14);
        CHECK_NEAR(model_state(s).q[1], 0., 1e-14);
    }
    mech_sim_destroy(s);
}

/* a column of five that fall on each other and come to rest; masses grow upwards */
static void a_column_comes_to_rest_and_carries_what_lies_above(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
        "'M': {'diag': [1, 2, 3, 4, 5]}, 'q0': [0.1, 0.25, 0.4, 0.6, 0.9],"
        "'Fext': [-10, -20, -30, -40, -50]}], 'interactions': [{'name': 'c', 'systems': ['s']," TIR(
            "[[1, 0, 0, 0, 0], [-1, 1, 0, 0, 0], [0, -1, 1, 0, 0], [0, 0, -1, 1, 0],"
            "[0, 0, 0, -1, 1]]",
            "[0, 0, 0, 0, 0]") ", 'law': {'type': 'NewtonImpact', 'e': 0.4}}]," SOLVER(""));
    uint64_t impacts = 0;

    for (int k = 1; k <= 100; k++) {
        impacts += until(s, 0.1 * k).impacts;
    }
    CU_ASSERT(impacts > 20);
    const double weights[] = {150., 140., 120., 90., 50.};
    for (int i = 0; i < 5; i++) {
        CHECK_NEAR(model_state(s).q[i], 0., 1e-12);
        CHECK_NEAR(model_state(s).v[i], 0., 1e-15);
        CHECK_NEAR(model_state(s).impulse[i], 0.1 * weights[i], 1e-11);
    }
    mech_sim_destroy(s);
}

/* full M, e = 1: energy stays over many impacts, as far as tolerances let it */
static void elastic_impacts_keep_energy(void)
{
    static const double M[2][2] = {{2., 0.5}, {0.5, 1.}}, K[2][2] = {{40., -15.}, {-15., 20.}};
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
        "'M': [[2, 0.5], [0.5, 1]], 'K': [[40, -15], [-15, 20]], 'v0': [1, -2]}],"
        "'interactions': [{'name': 'c', 'systems': ['s']," TIR(
            "[[1, 0], [0, 1], [-1, 0.5]]",
            "[0.05, 0.1, 0.12]") ", 'law': {'type': 'NewtonImpact', 'e': 1}}]," SOLVER(TIGHT));
    uint64_t impacts = 0;

    for (int k = 1; k <= 500; k++) {
        impacts += until(s, 0.1 * k).impacts;
        const double *const q = model_state(s).q, *const v = model_state(s).v;
        double energy = 0.;

        for (int i = 0; i < 2; i++) {
            for (int j = 0; j < 2; j++) {
                energy += 0.5 * (v[i] * M[i][j] * v[j] + q[i] * K[i][j] * q[j]);
            }
        }
        CHECK_NEAR(energy, 2., 1e-9);
        CU_ASSERT(q[0] + 0.05 > -1e-13 && q[1] + 0.1 > -1e-13 &&
                  -q[0] + 0.5 * q[1] + 0.12 > -1e-13);
    }
    CU_ASSERT(impacts > 100);
    mech_sim_destroy(s);
}

/* two masses under one Equality are one; the velocities are made to fit first */
static void an_equality_holds_and_takes_part_in_impacts(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 "'M': {'diag': [1, 3]}, 'q0': [1, 1], 'v0': [4, 0], 'Fext': [-10, -30]}],"
                 "'interactions': [{'name': 'tie', 'systems': ['s']," TIR(
                     "[[1, -1]]",
                     "[0]") ", 'law': {'type': 'Equality'}},"
                            "{'name': 'floor', 'systems': ['s']," TIR(
                                "[[0, 1]]",
                                "[0]") ", 'law': {'type': 'NewtonImpact', 'e': 0.5}}]," SOLVER(""));
    /* v = 1 upwards: 1 + t − 5 t² = 0 */
    const double hit = (1. + sqrt(21.)) / 10.;

    CU_ASSERT_EQUAL(until(s, hit - 1e-12).impacts, 1);
    CHECK_NEAR(model_state(s).v[0], -sqrt(21.), 1e-10);
    CU_ASSERT_EQUAL(until(s, hit + 1e-12).impacts, 1);
    CHECK_NEAR(model_state(s).v[0], 0.5 * sqrt(21.), 1e-10);
    CHECK_NEAR(model_state(s).v[1], 0.5 * sqrt(21.), 1e-10);
    until(s, 10.);
    CHECK_NEAR(model_state(s).q[0], 0., 1e-13);
    CHECK_NEAR(model_state(s).q[1], 0., 1e-13);
    mech_sim_destroy(s);
}

/* a body with one coordinate more than velocities stands before the ball in q */
static void what_moves_beside_does_not_matter(void)
{
    struct mech_sim *const a = model_of(BALL("0.6", TIGHT));
    struct mech_sim *const b = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
        "'initialVelocities': [1, 0, 0, 0.15, 2, 0.05, 0]},"
        "{'name': 'x', 'type': 'NodeGenericODE1', 'initialCoordinates': [1]}],"
        "'objects': [{'name': 'body', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"
        "'physicsInertia': [1, 2, 3, 0, 0, 0]},"
        "{'name': 'o', 'type': 'GenericODE1', 'nodes': ['x'], 'systemMatrix': [[-1]]},"
        "{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"
        "'q0': [1.1], 'Fext': [-9.81]}], 'interactions': [{'name': 'c', 'systems': ['s']," TIR(
            "[[1]]", "[-0.1]") ", 'law': {'type': 'NewtonImpact', 'e': 0.6}}]," SOLVER(TIGHT));

    until(a, 1.2);
    until(b, 1.2);
    CHECK_NEAR(model_state(b).q[7], model_state(a).q[0], 1e-11);
    CHECK_NEAR(model_state(b).v[6], model_state(a).v[0], 1e-10);
    CHECK_NEAR(model_state(b).x[0], exp(-1.2), 1e-11);
    CHECK_NEAR(model_state(b).q[0], 1.2, 1e-12);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

/* ends of communication steps are no events */
static void the_size_of_commands_does_not_matter(void)
{
    static const double sizes[] = {0.1, 0.0173, 0.77};
    double q[3], v[3];

    for (int k = 0; k < 3; k++) {
        struct mech_sim *const s = model_of(BALL("0.7", ""));

        for (int i = 1; sizes[k] * i < 2.; i++) {
            until(s, sizes[k] * i);
        }
        until(s, 2.1);
        q[k] = model_state(s).q[0];
        v[k] = model_state(s).v[0];
        mech_sim_destroy(s);
    }
    for (int k = 1; k < 3; k++) {
        CHECK_NEAR(q[k], q[0], 1e-12);
        CHECK_NEAR(v[k], v[0], 1e-11);
    }
}

/* before, amid, and after the last impacts */
static void restored_and_uninterrupted_runs_agree_to_the_bit(void)
{
    static const double times[] = {1.23, 8.55, 8.5787, 9.5};

    for (int k = 0; k < 4; k++) {
        struct mech_sim *const a = model_of(BALL("0.9", "")), *const b = model_of(BALL("0.9", ""));
        const size_t size = mech_sim_snapshot_size(a);
        char *const bytes = calloc(3, size);
        bool same = false;

        until(a, times[k]);
        mech_sim_snapshot_write(a, bytes);
        until(a, 12.);
        mech_sim_snapshot_write(a, bytes + size);
        until(b, 0.3);
        CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, size, &same), 0);
        until(b, 12.);
        mech_sim_snapshot_write(b, bytes + 2 * size);
        CU_ASSERT_EQUAL(memcmp(bytes + size, bytes + 2 * size, size), 0);
        free(bytes);
        mech_sim_destroy(a);
        mech_sim_destroy(b);
    }
}

/* an input that lifts the ball acts from its communication point on */
static void a_new_input_lets_a_resting_ball_go(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'parameters': {'F': -10}, 'objects': [{'name': 's',"
                 "'type': 'LagrangianLinearTIDS', 'M': [[1]], 'q0': [0], 'Fext': ['=F']}],"
                 "'inputs': [{'name': 'F', 'parameter': 'F'}],"
                 "'interactions': [{'name': 'c', 'systems': ['s']," TIR(
                     "[[1]]", "[0]") ", 'law': {'type': 'NewtonImpact', 'e': 0.5}}]," SOLVER(""));
    const double lift = 2.;

    CU_ASSERT_EQUAL(until(s, 1.).contacts, 1);
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &lift, 0, NULL), 0);
    CU_ASSERT_EQUAL(until(s, 2.).contacts, 0);
    CHECK_NEAR(model_state(s).q[0], 1., 1e-14);
    mech_sim_destroy(s);
}

static void steps_allocate_nothing(void)
{
    struct mech_sim *const s = model_of(BALL("0.9", ""));

    until(s, 0.2);
    alloc_count_start();
    until(s, 9.5);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_sim_destroy(s);
}

static void what_it_cannot_take_is_refused(void)
{
#define ONE(law, b, more)                                                                          \
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"                       \
    "'M': {'diag': [1, 1]}}], 'interactions': [{'name': 'c', 'systems': ['s']," TIR(               \
        "[[1, 0], [0, 1]]", b) ", 'law': " law "}]," SOLVER(more)

    CU_ASSERT(model_refused(
        ONE("{'type': 'NewtonImpactFriction', 'dimension': 2, 'mu': 0.3}", "[0, 0]", ""),
        "/interactions/0/law", "friction"));
    CU_ASSERT(
        model_refused(ONE("{'type': 'Relay'}", "[0, 0]", ""), "/interactions/0/law", "relays"));
    CU_ASSERT(model_refused(ONE("{'type': 'NewtonImpact', 'compliance': 1e-3}", "[0, 0]", ""),
                            "/interactions/0/law/compliance", "rigid"));
    CU_ASSERT(model_refused(
        ONE("{'type': 'NewtonImpact'}", "[0, 0]", ", 'adaptive': {'denseOutput': true}"),
        "/solver/adaptive/denseOutput", "EventDriven"));
    CU_ASSERT(model_refused(ONE("{'type': 'NewtonImpact'}", "[0, 0]", ", 'vi': {'type': 'what'}"),
                            "/solver/vi/type", "what"));
    CU_ASSERT(model_refused(ONE("{'type': 'NewtonImpact'}", "[0, -0.1]", ""), "/interactions/0",
                            "cannot begin"));
#undef ONE
}

static void too_many_impacts_fail_and_change_nothing(void)
{
    struct mech_sim *const s = model_of(BALL("0.9", ", 'eventDriven': {'maxEvents': 10}"));
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = 9.};
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_STEP_TOO_SMALL);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "accumulate"));
    CU_ASSERT_EQUAL(model_state(s).time, 0.);
    CU_ASSERT_EQUAL(model_state(s).q[0], 1.1);
    mech_sim_destroy(s);
}

UNIT_TESTS(
    UNIT_TEST(impacts_of_a_ball_are_found_to_a_picosecond),
    UNIT_TEST(a_ball_comes_to_rest_when_its_series_ends_and_stays),
    UNIT_TEST(momentum_balances_in_each_step),
    UNIT_TEST(an_oscillator_meets_its_stop_when_the_sine_does),
    UNIT_TEST(a_contact_is_let_go_when_its_load_changes_sign),
    UNIT_TEST(a_mass_stays_where_its_stop_is), UNIT_TEST(contacts_that_touch_share_an_impact),
    UNIT_TEST(a_rod_that_falls_flat_does_not_turn),
    UNIT_TEST(a_column_comes_to_rest_and_carries_what_lies_above),
    UNIT_TEST(elastic_impacts_keep_energy), UNIT_TEST(an_equality_holds_and_takes_part_in_impacts),
    UNIT_TEST(what_moves_beside_does_not_matter), UNIT_TEST(the_size_of_commands_does_not_matter),
    UNIT_TEST(restored_and_uninterrupted_runs_agree_to_the_bit),
    UNIT_TEST(a_new_input_lets_a_resting_ball_go), UNIT_TEST(steps_allocate_nothing),
    UNIT_TEST(what_it_cannot_take_is_refused), UNIT_TEST(too_many_impacts_fail_and_change_nothing))
