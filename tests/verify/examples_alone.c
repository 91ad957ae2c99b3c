/* Examples of few coordinates against closed forms, for the 60 s of which their titles speak: what
 * swings, falls, bounces and slides.
 *
 * Errors of a swing of angular frequency w at a step h: the trapezoidal rule lengthens the period
 * by (w h)^2/12, generalized-alpha with these spectral radii by less than twice as much. */
#include "tests/verify/example.h"

static const double g = 9.81;

enum { SAMPLES = 1200 }; /* of 0.05 s */

/* The largest distance of an output from its closed form. */
static double distance(const char *name, const char *output, double (*form)(double t))
{
    struct mech_sim *const s = example_of(name);
    double most = 0.;

    for (int k = 0; k < SAMPLES; k++) {
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.05), 0);
        const double off = fabs(example_output(s, output, NULL) - form(mech_sim_time(s)));
        most = off <= most ? most : off; // NaN is more
    }
    mech_sim_destroy(s);
    return most;
}

/* --- impacts ---------------------------------------------------------------------------------- */

/* Dropped from 1 m above the ground, with e = 0.9: the height above it. Flight k begins with
 * v0 e^k and lasts 2 v0 e^k/g; they end at t0 (1 + e)/(1 - e) = 19 t0. */
static double bouncing(double t)
{
    const double e = 0.9, fall = sqrt(2. / g);
    double v = g * fall;

    if (t < fall) {
        return 1. - 0.5 * g * t * t;
    }
    if (t >= 19. * fall) {
        return 0.;
    }
    for (t -= fall, v *= e; t > 2. * v / g; v *= e) {
        t -= 2. * v / g;
    }
    return fmax(0., v * t - 0.5 * g * t * t);
}

static double resting_ball(double t)
{
    return 0.1 + bouncing(t);
}

/* events are found to 1e-12 s; a flight of 1e-6 s, which lifts by 1e-12 m, may be taken as rest */
static void the_ball_comes_to_rest_impact_by_impact(void)
{
    CHECK_NEAR(distance("ball-at-rest", "height", resting_ball), 0., 1e-9);
}

/* An impact is a step early or late, 4.2 m/s for 5 ms, so that a flight and those behind it are up
 * to 0.021 m higher or lower; a step may end overlapped by half of that. */
static void the_ball_of_a_decimetre_bounces(void)
{
    struct mech_sim *const s = example_of("bouncing-ball");
    double before = 1., rising = -1., least = 1., now = 1.;
    int peaks = 0;

    for (int k = 0; k < 12000; k++) {
        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        now = example_output(s, "height", NULL);
        least = fmin(least, now);
        if (rising > 0. && now < before && peaks < 5) {
            peaks++;
            CHECK_NEAR(before, 0.1 + 0.9 * pow(0.81, peaks), 0.021 * peaks);
        }
        rising = now - before;
        before = now;
    }
    CU_ASSERT_EQUAL(peaks, 5);
    CHECK_NEAR(least, 0.1, 0.0105);
    CHECK_NEAR(now, 0.1, 0.5 * g * 0.005 * 0.005);
    mech_sim_destroy(s);
}

/* --- swings ----------------------------------------------------------------------------------- */

static double thrown(double t)
{
    return 1.5 + 0.5 * t;
}

/* A mass on a spring of which a force of 80 N takes hold. */
static double pushed(double t)
{
    const double k = 4000., m = 1.6, d = 8., F = 80., decay = 0.5 * d / m;
    const double w = sqrt(k / m - decay * decay);

    return 0.5 + F / k * (1. - exp(-decay * t) * (cos(w * t) + decay / w * sin(w * t)));
}

/* A mode x'' + c x' + w^2 x = f sin(W t) from rest. */
static double driven_mode(double t, double w2, double c, double f)
{
    const double W = 3.7, gap = w2 - W * W, D = gap * gap + c * c * W * W;
    const double a = f * gap / D, b = -f * c * W / D, w = sqrt(w2 - 0.25 * c * c);

    return a * sin(W * t) + b * cos(W * t) -
           exp(-0.5 * c * t) * (b * cos(w * t) + (a * W + 0.5 * c * b) / w * sin(w * t));
}

/* The second of two masses on springs of k = 40, whose modes are (1, 2 - l) with w^2 = l k/m. */
static double driven(double t)
{
    double x = 2.;

    for (int mode = 0; mode < 2; mode++) {
        const double l = 0.5 * (mode == 0 ? 3. - sqrt(5.) : 3. + sqrt(5.)), phi = 2. - l;
        x += phi * driven_mode(t, 40. * l, 0.25 * l, 6. / (1. + phi * phi));
    }
    return x;
}

static void swings_are_those_of_the_closed_forms(void)
{
    /* sums of 6000 steps */
    CHECK_NEAR(distance("mass1d", "x", thrown), 0., 1e-10);
    /* F/k w t exp(-decay t) (w h)^2/6: at most 6.1e-5 */
    CHECK_NEAR(distance("spring-mass-damper", "x", pushed), 0., 6.1e-5);
    /* 1.6 m (w t exp(-decay t) (w h)^2/6, at most 8e-5, and as much of the forced swing) */
    CHECK_NEAR(distance("driven-oscillator", "x2", driven), 0., 2.6e-4);
}

/* Near resonance: the masses swing over many times what the force moves them at rest. */
static void the_drive_is_near_resonance(void)
{
    struct mech_sim *const s = example_of("driven-oscillator");
    double most = 0.;

    for (int k = 0; k < SAMPLES; k++) {
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.05), 0);
        most = k < SAMPLES - 200 ? 0. : fmax(most, fabs(example_output(s, "x2", NULL) - 2.));
    }
    CU_ASSERT(most > 8. * 6. / 40.);
    mech_sim_destroy(s);
}

/* The bridge turns the voltage so that the resistor is always passed in one direction: seen from
 * the oscillator it is a resistor, C v' = -i - v/R, L i' = v, v(0) = 10. */
static double rectified(double t)
{
    const double R = 50., C = 1e-3, L = 0.02, decay = 0.5 / (R * C);
    const double w = sqrt(1. / (L * C) - decay * decay);

    return 10. * exp(-decay * t) * (cos(w * t) - decay / w * sin(w * t));
}

/* 10 V w t exp(-decay t) (w h)^2/12, at most 3.5e-3, and as long as no diode conducts, a step */
static void the_bridge_is_a_resistor_to_the_oscillator(void)
{
    CHECK_NEAR(distance("bridge-rectifier", "voltage", rectified), 0., 0.02);
}

/* --- friction --------------------------------------------------------------------------------- */

/* Sliding stops after 2 v/(7 mu g); a step is late at most. */
static double sliding(double t)
{
    const double mu = 0.2, until = 2. / (7. * mu * g);

    return t < until ? 1. - mu * g * t : 5. / 7.;
}

static double spin(double t)
{
    /* mu m g r over 0.4 m r^2 */
    return (t < 2. / (7. * 0.2 * g) ? 2.5 * 0.2 * g * t : 5. / 7.) / 0.1;
}

static void the_sphere_slides_until_it_rolls(void)
{
    CHECK_NEAR(distance("sliding-sphere", "speed", sliding), 0., 0.2 * g * 1e-3);
    CHECK_NEAR(distance("sliding-sphere", "spin", spin), 0., 25. * 0.2 * g * 1e-3);
}

/* Ice slides with g (sin - mu cos) as long as its middle is on the table, 2.1 m of way; wood and
 * rubber stay. */
static void boxes_slide_whose_friction_is_below_the_slope(void)
{
    struct mech_sim *const s = example_of("tilted-table");
    const double tilt = 0.3, a = g * (sin(tilt) - 0.1 * cos(tilt));
    double most = 0.;

    while (0.5 * a * pow(mech_sim_time(s) + 0.05, 2.) < 2.1) {
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.05), 0);
        CHECK_NEAR(example_output(s, "ice", NULL), -a * mech_sim_time(s) * cos(tilt), 1e-3);
    }
    CU_ASSERT(mech_sim_time(s) > 1.3);
    while (mech_sim_time(s) < 60.) {
        CU_ASSERT_EQUAL_FATAL(model_step(s, 0.05), 0);
        most = fmax(most, fabs(example_output(s, "wood", NULL)));
        most = fmax(most, fabs(example_output(s, "rubber", NULL)));
    }
    CHECK_NEAR(most, 0., 1e-6);
    CHECK_NEAR(model_state(s).q[7], 0.9 * cos(tilt) - 0.1 * sin(tilt), 1e-4);
    CHECK_NEAR(model_state(s).q[14], 0.9 * cos(tilt) - 0.1 * sin(tilt), 1e-4);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(the_ball_comes_to_rest_impact_by_impact),
           UNIT_TEST(the_ball_of_a_decimetre_bounces),
           UNIT_TEST(swings_are_those_of_the_closed_forms), UNIT_TEST(the_drive_is_near_resonance),
           UNIT_TEST(the_bridge_is_a_resistor_to_the_oscillator),
           UNIT_TEST(the_sphere_slides_until_it_rolls),
           UNIT_TEST(boxes_slide_whose_friction_is_below_the_slope))
