/* Observed order of convergence of every integrator, on a damped oscillator under a harmonic load
 * and a first-order pair, against the closed forms; within 0.1 of the theoretical order. Pairs with
 * step size control are told to allow any error, so that they take the steps that they are given.
 *
 * m ü + d u̇ + k u = F sin Ωt:  u = A sin Ωt + B cos Ωt + e^(−δt)(a cos ωt + b sin ωt). */
#include "solver/step/stepper.h"
#include "tests/unit/model.h"

static const double m = 2., d = 3., k = 50., F = 7., W = 4., u0 = 0.3, v0 = -0.8, T = 1.;

/* u and u̇ at t */
static void exact(double t, double *u, double *v)
{
    const double r = k - m * W * W, det = r * r + d * d * W * W;
    const double A = F * r / det, B = -F * d * W / det, delta = d / (2. * m);
    const double w = sqrt(k / m - delta * delta);
    const double a = u0 - B, b = (v0 - A * W + delta * a) / w;
    const double decay = exp(-delta * t), c = cos(w * t), s = sin(w * t);

    *u = A * sin(W * t) + B * cos(W * t) + decay * (a * c + b * s);
    *v = A * W * cos(W * t) - B * W * sin(W * t) +
         decay * ((b * w - delta * a) * c - (a * w + delta * b) * s);
}

/* error at T with n steps: displacement and velocity together, so that no zero of one of them hides
 * it */
static double error_of(const char *integrator, int n)
{
    char text[2048];

    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialCoordinates': [0.3], 'initialVelocities': [-0.8]", "2",
                              ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                              "'markers': ['g', 'x'], 'stiffness': 50, 'damping': 3}",
                              "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x',"
                              "'load': '=7*sin(4*t)'}",
                              ", 'solver': {'integrator': '%s', 'stepSize': %.17g,"
                              "'theta': 1, 'spectralRadius': 0.8,"
                              "'adaptive': {'absoluteTolerance': 1e9}}"),
             integrator, T / n);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    double u, v;
    exact(T, &u, &v);
    const double error = hypot(model_state(s).q[0] - u, (model_state(s).v[0] - v) / 5.);
    mech_sim_destroy(s);
    return error;
}

static void every_integrator_has_its_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        /* step counts at which the error is of its asymptotic form and far above rounding */
        const int n = info.order >= 6 ? 60 : info.order >= 4 ? 200 : 1000;
        const double order = log2(error_of(info.name, n) / error_of(info.name, 2 * n));

        if (!(fabs(order - info.order) <= 0.1)) {
            fprintf(stderr, "%s: order %.3f, expected %d\n", info.name, order, (int)info.order);
        }
        CHECK_NEAR(order, info.order, 0.1);
    }
}

/* ẏ = [[−1, 4], [−4, −1]] y, y(0) = (1, 0):  y(1) = e⁻¹ (cos 4, −sin 4) */
static double state_error_of(const char *integrator, int n)
{
    char text[1024];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'y', 'type': 'NodeGenericODE1',"
             "'initialCoordinates': [1, 0]}], 'objects': [{'name': 'o', 'type': 'GenericODE1',"
             "'nodes': ['y'], 'systemMatrix': [[-1, 4], [-4, -1]]}],"
             "'solver': {'integrator': '%s', 'stepSize': %.17g,"
             "'adaptive': {'absoluteTolerance': 1e9}}}",
             integrator, T / n);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    const double error =
        hypot(model_state(s).x[0] - exp(-1.) * cos(4.), model_state(s).x[1] + exp(-1.) * sin(4.));
    mech_sim_destroy(s);
    return error;
}

static void first_order_states_have_their_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        const int n = info.order >= 6 ? 40 : info.order >= 4 ? 100 : 1000;

        if (!info.nonsmooth) {
            const double order =
                log2(state_error_of(info.name, n) / state_error_of(info.name, 2 * n));

            if (!(fabs(order - info.order) <= 0.1)) {
                fprintf(stderr, "%s: order %.3f, expected %d\n", info.name, order, (int)info.order);
            }
            CHECK_NEAR(order, info.order, 0.1);
        }
    }
}

/* v₁ = (v₀ − h k/m q₀)/(1 + h² k/m), q₁ = q₀ + h v₁; of ẋ = −x: x₁ = x₀/(1 + h) */
static void implicit_euler_takes_the_rates_at_the_end(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D', 'initialCoordinates': [0.3],"
        "'initialVelocities': [2]}, {'name': 'y', 'type': 'NodeGenericODE1',"
        "'initialCoordinates': [3]}], 'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n',"
        "'physicsMass': 2}, {'name': 's', 'type': 'CoordinateSpringDamper',"
        "'markers': ['g', 'x'], 'stiffness': 50}, {'name': 'o', 'type': 'GenericODE1',"
        "'nodes': ['y'], 'systemMatrix': [[-1]]}], 'markers': [{'name': 'g',"
        "'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate',"
        "'node': 'n'}], 'solver': {'integrator': 'ImplicitEuler', 'stepSize': 0.5}}");
    const double v1 = (2. - 0.5 * 25. * 0.3) / (1. + 0.25 * 25.);

    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CHECK_NEAR(model_state(s).v[0], v1, 1e-15);
    CHECK_NEAR(model_state(s).q[0], 0.3 + 0.5 * v1, 1e-15);
    CHECK_NEAR(model_state(s).x[0], 2., 1e-15);
    mech_sim_destroy(s);
}

/* x of a pendulum of 2 m on a rod after 1 s */
static double pendulum(const char *integrator, int n)
{
    char text[2048];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
             "'referenceCoordinates': [0, -2], 'initialVelocities': [3, 0]},"
             "{'name': 'g', 'type': 'NodePointGround'}], 'objects': [{'name': 'b',"
             "'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5}, {'name': 'd',"
             "'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"
             "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
             "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}],"
             "'solver': {'integrator': '%s', 'stepSize': %.17g, 'spectralRadius': 0.8}}",
             integrator, T / n);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    const double x = model_state(s).q[0];
    mech_sim_destroy(s);
    return x;
}

/* by three step sizes: log2 of the ratio of differences */
static void joints_keep_the_order(void)
{
    struct mech_integrator_info info;
    int checked = 0;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (mech_stepper_find(info.name)->joints) {
            const double a = pendulum(info.name, 400), b = pendulum(info.name, 800);
            const double order = log2(fabs(a - b) / fabs(b - pendulum(info.name, 1600)));

            CHECK_NEAR(order, info.order, 0.1);
            checked++;
        }
    }
    CU_ASSERT(checked >= 5);
}

/* Moreau–Jean with θ = ½ is the trapezoidal rule while nothing touches */
static void free_oscillation_keeps_its_energy(void)
{
    const char *const schemes[] = {"TrapezoidalIndex2", "Newmark", "MoreauJean"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        char text[2048];

        snprintf(text, sizeof text,
                 MODEL_OSCILLATOR(", 'initialCoordinates': [0.3]", "2",
                                  ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                                  "'markers': ['g', 'x'], 'stiffness': 50}",
                                  "", ", 'solver': {'integrator': '%s', 'stepSize': 0.01}"),
                 schemes[i]);
        struct mech_sim *const s = model_of(text);
        const double before = mech_sim_energy(s);

        CHECK_NEAR(before, 2.25, 1e-15);
        CU_ASSERT_EQUAL(model_steps(s, 10000), 0);
        /* rounding of 10,000 steps, a random walk: 100 ε E is 5e-14 */
        CHECK_NEAR(mech_sim_energy(s), before, 1e-12);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(every_integrator_has_its_order),
           UNIT_TEST(first_order_states_have_their_order), UNIT_TEST(joints_keep_the_order),
           UNIT_TEST(implicit_euler_takes_the_rates_at_the_end),
           UNIT_TEST(free_oscillation_keeps_its_energy))
