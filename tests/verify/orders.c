/* Observed order of convergence of every integrator, on a damped oscillator under a harmonic load
 * and a first-order pair, against the closed forms; within 0.1 of the theoretical order. Pairs with
 * step size control get a tolerance that permits any error, so that they take the steps that they
 * are given.
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
        if (info.first_order) {
            continue;
        }
        /* step counts at which the error is of its asymptotic form and far above rounding */
        const int n = info.order >= 6 ? 60 : info.order >= 4 ? 200 : 1000;
        const double order = log2(error_of(info.name, n) / error_of(info.name, 2 * n));

        CHECK_ORDER(info.name, order, info.order, 0.1);
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

            CHECK_ORDER(info.name, order, info.order, 0.1);
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

/* q, v, λ of a pendulum of 2 m on a rod after 1 s */
static void pendulum(const char *integrator, int n, double y[5])
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
             "'solver': {'integrator': '%s', 'stepSize': %.17g, 'spectralRadius': 0.8, 'theta': 1,"
             "'newton': {'relativeTolerance': 1e-12}}}",
             integrator, T / n);
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    memcpy(y, model_state(s).q, 2 * sizeof *y);
    memcpy(y + 2, model_state(s).v, 2 * sizeof *y);
    y[4] = model_state(s).lambda[0];
    mech_sim_destroy(s);
}

/* positions, velocities and the multiplier, each by three step sizes, at index 3 and index 2; and
 * all schemes swing to the same place */
static void joints_keep_the_order_of_all_that_is_computed(void)
{
    static const char *const parts[] = {"position", "velocity", "multiplier"};
    struct mech_integrator_info info;
    double best[5];
    int checked = 0;

    pendulum("TrapezoidalIndex2", 100000, best);
    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (mech_stepper_find(info.name)->joints) {
            double y[3][5];

            for (int j = 0; j < 3; j++) {
                pendulum(info.name, (info.order > 1 ? 400 : 4000) << j, y[j]);
            }
            for (int j = 0; j < 5; j += 2) {
                const int n = j < 4 ? 2 : 1;
                const double last = model_distance(y[1] + j, y[2] + j, n);
                const double order = log2(model_distance(y[0] + j, y[1] + j, n) / last);
                char of[80];

                snprintf(of, sizeof of, "%s, %s", parts[j / 2], info.name);
                CHECK_ORDER(of, order, info.order, 0.1);
                /* the error that the order predicts, and that of the best */
                CHECK_NEAR(model_distance(y[2] + j, best + j, n), 0.,
                           1.5 * last / (exp2(info.order) - 1.) + 1e-7);
            }
            checked++;
        }
    }
    CU_ASSERT(checked >= 5);
}

/* u and u̇ of the oscillator after 1 s in ten communication steps of n steps, each with a force of
 * its own that is held */
static void held(const char *integrator, int n, double y[2])
{
    char text[2048];

    snprintf(text, sizeof text,
             MODEL_OSCILLATOR(", 'initialCoordinates': [0.3], 'initialVelocities': [-0.8]", "2",
                              ", {'name': 's', 'type': 'CoordinateSpringDamper',"
                              "'markers': ['g', 'x'], 'stiffness': 50, 'damping': 3}",
                              "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 0}",
                              ", 'inputs': [{'name': 'f', 'load': 'F'}], 'solver': {"
                              "'integrator': '%s', 'stepSize': %.17g,"
                              "'theta': 1, 'spectralRadius': 0.8,"
                              "'adaptive': {'absoluteTolerance': 1e9}}"),
             integrator, 0.1 * T / n);
    struct mech_sim *const s = model_of(text);

    for (int j = 0; j < 10; j++) {
        const double force = 20. * cos(2. * j);

        CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, &force, 0, NULL), 0);
        CU_ASSERT_EQUAL(model_steps(s, (uint64_t)n), 0);
    }
    y[0] = model_state(s).q[0];
    y[1] = model_state(s).v[0] / 5.;
    mech_sim_destroy(s);
}

/* the steps begin anew at each jump, so that none costs an order */
static void held_inputs_cost_no_order(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        if (info.first_order) {
            continue;
        }
        const int n = info.order >= 6 ? 3 : info.order >= 4 ? 20 : 100;
        double a[2], b[2], c[2];

        held(info.name, n, a);
        held(info.name, 2 * n, b);
        held(info.name, 4 * n, c);
        const double order = log2(model_distance(a, b, 2) / model_distance(b, c, 2));

        CHECK_ORDER(info.name, order, info.order, 0.1);
    }
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
           UNIT_TEST(first_order_states_have_their_order),
           UNIT_TEST(joints_keep_the_order_of_all_that_is_computed),
           UNIT_TEST(held_inputs_cost_no_order),
           UNIT_TEST(implicit_euler_takes_the_rates_at_the_end),
           UNIT_TEST(free_oscillation_keeps_its_energy))
