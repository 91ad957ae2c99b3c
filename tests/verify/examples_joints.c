/* Examples with joints against their equations in few coordinates, energies and closed forms. */
#include "solver/sim/analysis.h"
#include "tests/verify/example.h"

static const double g = 9.81, pi = 3.14159265358979323846;

/* --- equations in few coordinates ------------------------------------------------------------- */

typedef void rates_of(const double *y, double *rates);

enum { STATES = 4 };

/* One step of the classical Runge–Kutta scheme for STATES numbers. */
static void advance(rates_of *f, double *y, double h)
{
    double k[4][STATES], at[STATES];

    f(y, k[0]);
    for (int stage = 1; stage < 4; stage++) {
        for (int i = 0; i < STATES; i++) {
            at[i] = y[i] + (stage == 3 ? h : 0.5 * h) * k[stage - 1][i];
        }
        f(at, k[stage]);
    }
    for (int i = 0; i < STATES; i++) {
        y[i] += h / 6. * (k[0][i] + 2. * k[1][i] + 2. * k[2][i] + k[3][i]);
    }
}

static void run_to(struct mech_sim *s, double time)
{
    const struct mech_step_request r = {.kind = MECH_STEP_UNTIL, .until = time};
    struct mech_step_report report;

    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
}

static void set_input(struct mech_sim *s, const char *name, double value)
{
    const int32_t k = mech_sim_variable_find(s, MECH_INPUT, name);

    CU_ASSERT_FATAL(k >= 0);
    CU_ASSERT_EQUAL(mech_sim_set_input(s, k, &value, 0, NULL), 0);
}

/* --- double pendulum -------------------------------------------------------------------------- */

/* Two bars of 1 kg and 1 m, angles a and b against the horizontal: y = a, b, a', b'.
 *     4/3 a'' + 1/2 cos(a - b) b'' = -1/2 sin(a - b) b'^2 - 3/2 g cos a
 *     1/2 cos(a - b) a'' + 1/3 b'' =  1/2 sin(a - b) a'^2 - 1/2 g cos b */
static void swing(const double *y, double *rates)
{
    const double c = 0.5 * cos(y[0] - y[1]), s = 0.5 * sin(y[0] - y[1]);
    const double p = -s * y[3] * y[3] - 1.5 * g * cos(y[0]);
    const double q = s * y[2] * y[2] - 0.5 * g * cos(y[1]);
    const double det = 4. / 9. - c * c;

    rates[0] = y[2];
    rates[1] = y[3];
    rates[2] = (p / 3. - c * q) / det;
    rates[3] = (4. / 3. * q - c * p) / det;
}

static void two_bars_swing_as_their_equations_say(void)
{
    struct mech_sim *const s = example_of("double-pendulum");
    double y[STATES] = {0.};

    for (int k = 1; k <= 20; k++) {
        run_to(s, 0.05 * k);
        for (int i = 0; i < 500; i++) {
            advance(swing, y, 1e-4);
        }
        CHECK_NEAR(example_output(s, "upper", NULL), y[0], 1e-4);
        CHECK_NEAR(example_output(s, "lower", NULL), y[1], 1e-4);
        CHECK_NEAR(example_output(s, "x", NULL), cos(y[0]) + cos(y[1]), 2e-4);
        CHECK_NEAR(example_output(s, "y", NULL), sin(y[0]) + sin(y[1]), 2e-4);
    }
    mech_sim_destroy(s);
}

/* Left alone it keeps its energy, and forgets how it began: 1e-9 N m for a step become a radian. */
static void left_alone_it_is_chaotic_and_keeps_its_energy(void)
{
    struct mech_sim *const s = example_of("double-pendulum");
    struct mech_sim *const other = example_of("double-pendulum");
    const double energy = mech_sim_energy(s);
    double apart[60], most = 0.;

    set_input(other, "torque", 1e-9);
    CU_ASSERT_EQUAL_FATAL(model_steps(other, 1), 0);
    set_input(other, "torque", 0.);
    for (int k = 0; k < 60; k++) {
        run_to(s, 1. + k);
        run_to(other, 1. + k);
        apart[k] = fabs(example_output(s, "lower", NULL) - example_output(other, "lower", NULL));
        most = fmax(most, apart[k]);
        /* of the 2 m g L by which the tips fall */
        CHECK_NEAR(mech_sim_energy(s), energy, 2e-2 * g);
    }
    CU_ASSERT(apart[0] < 1e-8);
    CU_ASSERT(most > 1.);
    mech_sim_destroy(other);
    mech_sim_destroy(s);
}

/* What the motor gives is its torque times the angle of the first bar. */
static void the_motor_at_the_first_hinge_works(void)
{
    struct mech_sim *const s = example_of("double-pendulum");
    const double energy = mech_sim_energy(s);

    set_input(s, "torque", 20.);
    for (int k = 1; k <= 10; k++) {
        run_to(s, 0.1 * k);
        const double work = 20. * example_output(s, "upper", NULL);
        CHECK_NEAR(mech_sim_energy(s) - energy, work, 1e-3 * fabs(work) + 1e-3);
    }
    CU_ASSERT(example_output(s, "upper", NULL) > 1.);
    mech_sim_destroy(s);
}

/* --- crank and rocker ------------------------------------------------------------------------- */

/* After the second in which the torque drives it, it turns on with the energy that it was given. */
static void a_slider_crank_keeps_what_the_torque_gave_it(void)
{
    struct mech_sim *const s = example_of("slider-crank");

    run_to(s, 1.);
    const double given = 0.1 * model_state(s).q[2];
    CU_ASSERT(given > 1.);
    for (int k = 1; k <= 59 * 20; k++) {
        run_to(s, 1. + 0.05 * k);
        const double angle = model_state(s).q[2], across = 0.1 * sin(angle);
        CHECK_NEAR(example_output(s, "x", NULL), 0.1 * cos(angle) + sqrt(0.09 - across * across),
                   1e-8);
        CHECK_NEAR(mech_sim_energy(s), given, 2e-2 * given);
    }
    mech_sim_destroy(s);
}

/* Crank 0.1, coupler 0.3, rocker 0.25, ground 0.32: where crank and coupler lie in one line, the
 * rocker turns: cos b = (d^2 - 0.32^2 - 0.25^2)/(2 0.32 0.25) with d = 0.4 and 0.2. */
static void a_four_bar_turns_round_and_swings_its_rocker(void)
{
    struct mech_sim *const s = example_of("four-bar");
    const double sum = 0.32 * 0.32 + 0.25 * 0.25, twice = 2. * 0.32 * 0.25;
    double least = INFINITY, most = 0., slowest = INFINITY, lost = 0., speed = 0.;

    run_to(s, 58.);
    const double energy = mech_sim_energy(s), angle = model_state(s).q[2];
    for (int k = 0; k < 2000; k++) {
        const double before = model_state(s).v[2];
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        const double a = 0.5 * pi + example_output(s, "crank", NULL);
        const double b = 1.7989984870659856 + example_output(s, "rocker", NULL);
        speed = model_state(s).v[2];
        slowest = fmin(slowest, speed);
        lost += 1e-3 * 0.02 * 0.5 * (speed * speed + before * before);
        least = fmin(least, b);
        most = fmax(most, b);
        CHECK_NEAR(hypot(0.32 + 0.25 * cos(b) - 0.1 * cos(a), 0.25 * sin(b) - 0.1 * sin(a)), 0.3,
                   1e-8);
    }
    CU_ASSERT(slowest > 1.);
    CHECK_NEAR(least, acos((0.16 - sum) / twice), 1e-3);
    CHECK_NEAR(most, acos((0.04 - sum) / twice), 1e-3);
    /* what the torque gives, the bearing's friction takes, but for what is stored */
    const double given = 0.6 * (model_state(s).q[2] - angle);
    CU_ASSERT(given > 20.);
    CHECK_NEAR(given - lost, mech_sim_energy(s) - energy, 1e-2 * given);
    mech_sim_destroy(s);
}

/* --- top -------------------------------------------------------------------------------------- */

static const double weight = 0.1 * 9.81 * 0.06, about_axis = 0.1 * 0.05 * 0.05 / 2., spun = 150.,
                    across_axis = 0.1 * (0.05 * 0.05 / 4. + 0.06 * 0.06), tilt = 0.4;

/* Tilt, its rate, azimuth; the momenta about the axis and the vertical stay. */
static void precess(const double *y, double *rates)
{
    const double axial = about_axis * spun, s = sin(y[0]);
    const double turn = axial * (cos(tilt) - cos(y[0])) / (across_axis * s * s);

    rates[0] = y[1];
    rates[1] = turn * turn * s * cos(y[0]) + (weight - axial * turn) * s / across_axis;
    rates[2] = turn;
    rates[3] = 0.;
}

/* A step turns the top by 0.15 rad, whose square is the error of a scheme of second order. */
static void a_top_precesses_and_nods(void)
{
    struct mech_sim *const s = example_of("spinning-top");
    const double error = 0.15 * 0.15,
                 slope = 2. * weight * across_axis / pow(about_axis * spun, 2.);
    double y[STATES] = {tilt}, low = cos(tilt), least = 1., most = 0., azimuth = 0., last = 0.;

    /* it nods down to u with u0 - u = slope (1 - u^2) */
    for (int k = 0; k < 100; k++) {
        low = cos(tilt) - slope * (1. - low * low);
    }
    for (int k = 1; k <= 60000; k++) {
        double centre[3], spin;
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        advance(precess, y, 1e-3);
        example_output(s, "centre", centre);
        spin = example_output(s, "spin", NULL);
        azimuth += remainder(atan2(centre[1], centre[0]) - last, 2. * pi);
        last = atan2(centre[1], centre[0]);
        least = fmin(least, centre[2]);
        most = fmax(most, centre[2]);
        if (k % 1000 == 0) {
            CHECK_NEAR(hypot(hypot(centre[0], centre[1]), centre[2]), 0.06, 1e-9);
            CHECK_NEAR(spin, spun, 1e-6 * spun);
        }
    }
    CHECK_NEAR(least, 0.06 * low, error * 0.06 * (cos(tilt) - low));
    CHECK_NEAR(most, 0.06 * cos(tilt), 1e-6);
    CHECK_NEAR(azimuth, y[2], error * y[2]);
    CU_ASSERT(azimuth > 150.);
    mech_sim_destroy(s);
}

/* --- robot ------------------------------------------------------------------------------------ */

/* Of a servo: amplitude and half period of its dance, stiffness, damping, and the moment of the
 * weights that it may have to hold. */
static const struct {
    double amplitude, half, stiffness, damping, weight;
} servos[] = {
    {0.8, 3.5, 3000., 120., 0.}, {0.5, 4., 4000., 160., 51. + 22.}, {-0.6, 4.5, 2500., 80., 22.},
    {1., 5., 300., 8., 1.1},     {0.7, 5.5, 200., 4., 1.7},         {1.5, 6., 60., 1., 0.},
};
enum { SERVOS = 6 };

/* A servo is behind by the speed of the dance times damping over stiffness, and gives way to
 * weights; a quarter more for inertia. */
static void six_servos_follow_a_dance(void)
{
    struct mech_sim *const s = example_of("robot-arm");
    double least[SERVOS] = {0.}, most[SERVOS] = {0.};

    for (int k = 1; k <= 1200; k++) {
        run_to(s, 0.05 * k);
        for (int i = 0; i < SERVOS; i++) {
            char name[] = "angle1";
            name[5] = (char)('1' + i);
            const double w = pi / servos[i].half, a = servos[i].amplitude;
            const double lag =
                (servos[i].damping * fabs(a) * w + servos[i].weight) / servos[i].stiffness;
            const double angle = example_output(s, name, NULL);
            CHECK_NEAR(angle, a * sin(w * 0.05 * k), 1.25 * lag);
            least[i] = fmin(least[i], angle);
            most[i] = fmax(most[i], angle);
        }
    }
    for (int i = 0; i < SERVOS; i++) {
        CU_ASSERT(least[i] < -0.95 * fabs(servos[i].amplitude));
        CU_ASSERT(most[i] > 0.95 * fabs(servos[i].amplitude));
    }
    mech_sim_destroy(s);
}

/* A motor that gives a fiftieth of its servo's stiffness turns its hinge by that angle, and moves
 * the others by the weights alone. */
static void each_hinge_has_a_torque_input(void)
{
    struct mech_sim *const still = example_of("robot-arm");

    run_to(still, 5.);
    for (int i = 0; i < SERVOS; i++) {
        struct mech_sim *const s = example_of("robot-arm");
        char name[] = "motor1", angle[] = "angle1";
        name[5] = (char)('1' + i);
        set_input(s, name, 0.02 * servos[i].stiffness);
        run_to(s, 5.);
        for (int k = 0; k < SERVOS; k++) {
            angle[5] = (char)('1' + k);
            CHECK_NEAR(example_output(s, angle, NULL) - example_output(still, angle, NULL),
                       k == i ? 0.02 : 0., 1e-3);
        }
        mech_sim_destroy(s);
    }
    mech_sim_destroy(still);
}

/* --- cantilever ------------------------------------------------------------------------------- */

/* A strip of 2 m, 0.3 kg/m, bending stiffness 2 N m^2, clamped level: y = angle, its slope by the
 * length, x and height of the point at the length s; `force` pulls its end down.
 *     EI a'' = (w (L - s) + force) cos a,  a(0) = 0,  a'(L) = 0 */
static double hanging(double slope, double force, double *y)
{
    enum { PIECES = 4000 };
    const double h = 2. / PIECES, w = 0.3 * g, stiffness = 2.;

    memset(y, 0, STATES * sizeof *y);
    y[1] = slope;
    for (int k = 0; k < PIECES; k++) {
        /* midpoint rule */
        const double here = w * (2. - k * h) + force, half = here - 0.5 * w * h;
        const double a = y[0] + 0.5 * h * y[1],
                     rate = y[1] + 0.5 * h * here * cos(y[0]) / stiffness;
        y[2] += h * cos(a);
        y[3] += h * sin(a);
        y[0] += h * rate;
        y[1] += h * half * cos(a) / stiffness;
    }
    return y[1];
}

/* The slope at the clamp with which the moment at the end is 0. */
static double shoot(double force, double *y)
{
    double below = -20., above = 0.;

    for (int k = 0; k < 60; k++) {
        const double middle = 0.5 * (below + above);
        if (hanging(middle, force, y) > 0.) {
            above = middle;
        } else {
            below = middle;
        }
    }
    return 0.5 * (below + above);
}

/* Strain and eight elements leave a hundredth of the length. */
static void a_strip_bends_far_under_its_weight_and_a_load(void)
{
    double before = 0.;

    for (int loaded = 0; loaded < 2; loaded++) {
        struct mech_sim *const s = example_of("flexible-cantilever");
        struct mech_statics_report report;
        double out[16], y[STATES], tip[3];

        CU_ASSERT_FATAL(mech_sim_output_size(s) <= 16);
        set_input(s, "tip", loaded ? -2. : 0.);
        const struct mech_statics_query query = {.keep = true, .outputs = out};
        CU_ASSERT_EQUAL_FATAL(mech_sim_statics(s, &query, &report), 0);
        const double slope = shoot(loaded ? 2. : 0., y);
        example_output(s, "tip", tip);
        CHECK_NEAR(tip[0], y[2], 0.02);
        CHECK_NEAR(tip[1], y[3], 0.02);
        CHECK_NEAR(example_output(s, "angle", NULL), y[0], 0.02);
        CHECK_NEAR(fabs(example_output(s, "moment", NULL)), fabs(2. * slope), 0.2);
        CU_ASSERT(tip[1] < before - 0.1 && tip[1] < -1.);
        before = tip[1];
        mech_sim_destroy(s);
    }
}

/* Let go level, it swings for a minute about where it would hang, and its damping takes energy. */
static void a_strip_swings_and_tires(void)
{
    struct mech_sim *const s = example_of("flexible-cantilever");
    const double energy = mech_sim_energy(s);
    double y[STATES], before = 0., rate = 0., least = 0., stored = energy;
    double lowest = 0., highest = -2.;
    int turns = 0;

    shoot(0., y);
    for (int k = 1; k <= 1200; k++) {
        run_to(s, 0.05 * k);
        double tip[3];
        example_output(s, "tip", tip);
        turns += k > 1000 && rate * (tip[1] - before) < 0.;
        rate = tip[1] - before;
        before = tip[1];
        least = fmin(least, tip[1]);
        lowest = k > 1000 ? fmin(lowest, tip[1]) : lowest;
        highest = k > 1000 ? fmax(highest, tip[1]) : highest;
        CU_ASSERT(hypot(tip[0], tip[1]) < 2.02);
        if (k % 100 == 0) {
            CU_ASSERT(mech_sim_energy(s) < stored);
            stored = mech_sim_energy(s);
        }
    }
    CU_ASSERT(turns >= 10);
    CU_ASSERT(least < 1.2 * y[3]);
    CU_ASSERT(lowest < y[3] - 0.05 && y[3] + 0.05 < highest);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(two_bars_swing_as_their_equations_say),
           UNIT_TEST(left_alone_it_is_chaotic_and_keeps_its_energy),
           UNIT_TEST(the_motor_at_the_first_hinge_works),
           UNIT_TEST(a_slider_crank_keeps_what_the_torque_gave_it),
           UNIT_TEST(a_four_bar_turns_round_and_swings_its_rocker),
           UNIT_TEST(a_top_precesses_and_nods), UNIT_TEST(six_servos_follow_a_dance),
           UNIT_TEST(each_hinge_has_a_torque_input),
           UNIT_TEST(a_strip_bends_far_under_its_weight_and_a_load),
           UNIT_TEST(a_strip_swings_and_tires))
