/* Euler–Moreau: circuits with ideal diodes and relays against closed forms.
 *
 * Bridge rectifier. A capacitor C between the nodes a and b, an inductor L beside it; diodes 1 and
 * 2 from a and b to p, 3 and 4 from n to a and b; a resistor R from p to n. λ = (i₁, i₂, i₃, u₄):
 * currents, and the blocked voltage of diode 4; y = (u₁, u₂, u₃, i₄). Kirchhoff's laws:
 *
 *     C v̇ = −i_L − i₁ + i₃,   L i̇_L = v
 *     u₁ = R (i₁ + i₂) − v − u₄,  u₂ = R (i₁ + i₂) − u₄,  u₃ = v + u₄,  i₄ = i₁ + i₂ − i₃
 *
 * D is positive semidefinite and not symmetric. As |v| drives R, the tank sees R itself:
 * C v̇ = −i_L − v/R, whose closed form is that of a damped oscillator. */
#include "tests/unit/model.h"

#include <string.h>

#define R_LOAD 50.
#define C_TANK 1e-3
#define L_TANK 0.02
#define BRIDGE                                                                                     \
    "{'mechd': 1, 'parameters': {'R': 50, 'C': 1e-3, 'L': 0.02},"                                  \
    "'objects': [{'name': 'tank', 'type': 'FirstOrderLinearTIDS', 'M': {'diag': ['=C', '=L']},"    \
    "'A': [[0, -1], [1, 0]], 'x0': [10, 0]}], 'interactions': [{'name': 'bridge',"                 \
    "'systems': ['tank'], 'relation': {'type': 'FirstOrderLinearTIR',"                             \
    "'C': [[-1, 0], [0, 0], [1, 0], [0, 0]], 'B': [[-1, 0, 1, 0], [0, 0, 0, 0]],"                  \
    "'D': [['=R', '=R', 0, -1], ['=R', '=R', 0, -1], [0, 0, 0, 1], [1, 1, -1, 0]]},"               \
    "'law': {'type': 'Complementarity'}}], 'solver': {'integrator': 'EulerMoreau',"                \
    "'stepSize': %.17g, 'theta': %g, 'relationGamma': %g%s}}"

static struct mech_sim *bridge(double h, double theta, double gamma, const char *more)
{
    char text[2048];

    snprintf(text, sizeof text, BRIDGE, h, theta, gamma, more);
    return model_of(text);
}

/* v of the tank at t */
static double tank_voltage(double t)
{
    const double damping = 1. / (2. * R_LOAD * C_TANK);
    const double omega = sqrt(1. / (L_TANK * C_TANK) - damping * damping);

    return 10. * exp(-damping * t) * (cos(omega * t) - damping / omega * sin(omega * t));
}

static double bridge_error(double h, double theta, double gamma)
{
    const double T = 0.1;
    struct mech_sim *const s = bridge(h, theta, gamma, "");

    CU_ASSERT_EQUAL(model_step(s, T), 0);
    const double error = fabs(model_state(s).x[0] - tank_voltage(T));
    mech_sim_destroy(s);
    return error;
}

static void a_bridge_rectifier_damps_like_its_resistor(void)
{
    struct mech_sim *const s = bridge(1e-5, 0.5, 0.5, "");
    int signs = 0;

    for (int k = 1; k <= 200; k++) {
        const double before = model_state(s).x[0];

        CU_ASSERT_EQUAL(model_steps(s, 50), 0);
        const double v = model_state(s).x[0], t = 5e-4 * k;
        const double *const lambda = model_state(s).impulse;

        /* the trapezoidal rule lags by the angle ω t (ω h)²/12: 3.4e-5 V where 10 exp(−10 t) t is
         * largest */
        CHECK_NEAR(v, tank_voltage(t), 3.5e-5);
        /* the load sees |v|, here of the middle of the last step; no current flows backwards */
        CHECK_NEAR(R_LOAD * (lambda[0] + lambda[1]), fabs(tank_voltage(t - 0.5e-5)), 1e-4);
        for (int i = 0; i < 4; i++) {
            CU_ASSERT(lambda[i] >= 0.);
        }
        signs += v * before < 0.;
    }
    CU_ASSERT(signs >= 6);
    mech_sim_destroy(s);
}

static void its_order_is_one_and_two_with_both_weights_at_a_half(void)
{
    const double first = log2(bridge_error(2e-5, 1., 1.) / bridge_error(1e-5, 1., 1.));
    const double second = log2(bridge_error(2e-4, 0.5, 0.5) / bridge_error(1e-4, 0.5, 0.5));

    CHECK_ORDER("θ = γ = 1", first, 1., 0.05);
    CHECK_ORDER("θ = γ = ½", second, 2., 0.05);
}

/* E = ½ C v² + ½ L i²; ΔE = −h λᵀ D λ, to rounding: what the diodes take is 0 */
static void energy_goes_into_the_resistor_alone(void)
{
    struct mech_sim *const s = bridge(1e-3, 0.5, 0.5, "");
    double spent = 0.;

    for (int k = 0; k < 300; k++) {
        const double *x = model_state(s).x;
        const double before = 0.5 * C_TANK * x[0] * x[0] + 0.5 * L_TANK * x[1] * x[1];

        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        x = model_state(s).x;
        const double *const lambda = model_state(s).impulse;
        const double after = 0.5 * C_TANK * x[0] * x[0] + 0.5 * L_TANK * x[1] * x[1];
        const double current = lambda[0] + lambda[1];

        CHECK_NEAR(after - before, -1e-3 * R_LOAD * current * current, 1e-14 * 0.05);
        spent += before - after;
    }
    CU_ASSERT(spent > 0.045);
    mech_sim_destroy(s);
}

static void every_solver_gives_the_same_bridge(void)
{
    static const char *const types[] = {"lemke", "semismooth"};
    double x[2][2];

    for (int k = 0; k < 2; k++) {
        char more[64];

        snprintf(more, sizeof more, ", 'vi': {'type': '%s'}", types[k]);
        struct mech_sim *const s = bridge(1e-4, 1., 1., more);
        CU_ASSERT_EQUAL(model_steps(s, 500), 0);
        memcpy(x[k], model_state(s).x, sizeof x[k]);
        mech_sim_destroy(s);
    }
    CHECK_NEAR(x[0][0], x[1][0], 1e-10);
    CHECK_NEAR(x[0][1], x[1][1], 1e-10);
}

/* C v̇ = i, y = v + R i − U ≥ 0 ⊥ i ≥ 0: v = U (1 − exp(−t/RC)) from below, a charge above U stays.
 * θ = 1: v_{k+1} = (v_k + h U/RC)/(1 + h/RC), which is closed too */
static void a_diode_charges_a_capacitor_and_never_discharges_it(void)
{
    static const char text[] =
        "{'mechd': 1, 'objects': [{'name': 'c', 'type': 'FirstOrderLinearTIDS', 'M': [[2e-3]],"
        "'A': [[0]], 'x0': [0]}, {'name': 'd', 'type': 'FirstOrderLinearTIDS', 'M': [[2e-3]],"
        "'A': [[0]], 'x0': [7]}], 'interactions': ["
        "{'name': 'i', 'systems': ['c'], 'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1]],"
        "'B': [[1]], 'D': [[100]], 'e': [-5]}, 'law': {'type': 'Complementarity'}},"
        "{'name': 'j', 'systems': ['d'], 'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1]],"
        "'B': [[1]], 'D': [[100]], 'e': [-5]}, 'law': {'type': 'Complementarity'}}],"
        "'solver': {'integrator': 'EulerMoreau', 'theta': 1, 'stepSize': 1e-3}}";
    struct mech_sim *const s = model_of(text);
    double v = 0.;

    for (int k = 1; k <= 1000; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        v = (v + 5e-3 * 5.) / (1. + 5e-3);
        CHECK_NEAR(model_state(s).x[0], v, 1e-12);
        CHECK_NEAR(model_state(s).x[0], 5. * (1. - exp(-5e-3 * k)), 5e-3);
        CHECK_NEAR(model_state(s).impulse[0], (5. - v) / 100., 1e-12);
        CU_ASSERT_EQUAL(model_state(s).x[1], 7.);
        CU_ASSERT_EQUAL(model_state(s).impulse[1], 0.);
    }
    /* the rate that is shown has the current in it */
    CHECK_NEAR(model_value(s, MECH_OBJECT, "c", MECH_OUTPUT_COORDINATES_T), (5. - v) / 0.2, 1e-10);
    mech_sim_destroy(s);
}

/* D = 0: a capacitor behind an ideal diode holds the peak of u = sin t, here of its samples: with
 * θ = 0.5 and u̇ = cos t integrated beside it, u_k is known */
static void an_ideal_diode_holds_the_peak(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
                 "'A': {'diag': [0, 0]}, 'b': ['=cos(t)', 0]}], 'interactions': [{'name': 'i',"
                 "'systems': ['s'], 'relation': {'type': 'FirstOrderLinearTIR', 'C': [[-1, 1]],"
                 "'B': [[0], [1]]}, 'law': {'type': 'Complementarity'}}],"
                 "'solver': {'integrator': 'EulerMoreau', 'stepSize': 0.01}}");
    double u = 0., peak = 0.;

    for (int k = 0; k < 700; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        u += 0.005 * (cos(k * 0.01) + cos((k + 1) * 0.01));
        peak = fmax(peak, u);
        CHECK_NEAR(model_state(s).x[0], u, 1e-13);
        CHECK_NEAR(model_state(s).x[1], peak, 1e-13);
    }
    CHECK_NEAR(peak, 1., 1e-4);
    mech_sim_destroy(s);
}

/* ẋ = −sign x: x = 1 − t to 0, and 0 from then on, whatever the step */
static void a_relay_reaches_zero_in_finite_time_and_stays(void)
{
    static const double sizes[] = {0.01, 0.03, 0.7};

    for (int k = 0; k < 3; k++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
                 "'A': [[0]], 'x0': [1]}], 'interactions': [{'name': 'i', 'systems': ['s'],"
                 "'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]]},"
                 "'law': {'type': 'Relay', 'lb': -1, 'ub': 1}}],"
                 "'solver': {'integrator': 'EulerMoreau', 'stepSize': %g}}",
                 sizes[k]);
        struct mech_sim *const s = model_of(text);

        for (int i = 1; i <= 150; i++) {
            const double t = sizes[k] * i;

            CU_ASSERT_EQUAL(model_steps(s, 1), 0);
            CHECK_NEAR(model_state(s).x[0], fmax(0., 1. - t), 1e-14);
            if (t > 1. + sizes[k]) {
                CU_ASSERT(fabs(model_state(s).x[0]) <= 1e-16);
                CU_ASSERT(fabs(model_state(s).impulse[0]) <= 1e-13);
            }
        }
        mech_sim_destroy(s);
    }
}

/* Filippov: ẋ₁ = x₂, ẋ₂ = x₁ + p(t) + 2 λ, λ ∈ −sgn s, s = x₁ + x₂. Where s = 0 slides, ẋ₁ = −x₁
 * and ṡ = s + p + 2 λ = 0 give the equivalent control λ = −p/2 */
static void a_sliding_mode_stays_on_its_surface_without_chattering(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
                 "'A': [[0, 1], [1, 0]], 'b': [0, '=0.5 + 0.3*sin(5*t)'], 'x0': [0.5, 0.3]}],"
                 "'interactions': [{'name': 'i', 'systems': ['s'], 'relation':"
                 "{'type': 'FirstOrderLinearTIR', 'C': [[1, 1]], 'B': [[0], [2]]},"
                 "'law': {'type': 'Relay', 'lb': -1, 'ub': 1}}],"
                 "'solver': {'integrator': 'EulerMoreau', 'theta': 1, 'stepSize': 1e-3}}");
    double first = 0., begun = 0., last = 0.;
    int slid = 0;

    for (int k = 1; k <= 4000; k++) {
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        const double *const x = model_state(s).x, lambda = model_state(s).impulse[0];
        const double t = 1e-3 * k;

        if (slid == 0 && fabs(lambda) >= 1.) {
            continue;
        }
        if (slid++ == 0) {
            begun = t;
            first = x[0];
        } else {
            /* s = 0 to rounding, λ the equivalent control, which is smooth */
            CHECK_NEAR(x[0] + x[1], 0., 2e-16);
            CHECK_NEAR(x[0], first * exp(begun - t), 1e-3);
            CHECK_NEAR(lambda, -0.25 - 0.15 * sin(5. * t), 1e-12);
            CU_ASSERT(slid < 3 || fabs(lambda - last) <= 0.75e-3 * 1.001);
        }
        last = lambda;
    }
    CU_ASSERT(slid > 3000);
    mech_sim_destroy(s);
}

static void an_equality_holds_from_the_first_step_on(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
                 "'A': [[-1, 0], [0, -3]], 'x0': [1, 2]}], 'interactions': [{'name': 'i',"
                 "'systems': ['s'], 'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1, -1]],"
                 "'B': [[1], [-1]]}, 'law': {'type': 'Equality'}}],"
                 "'solver': {'integrator': 'EulerMoreau', 'theta': 1, 'stepSize': 1e-3}}");

    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    const double x = model_state(s).x[0];
    CHECK_NEAR(x, 1.5, 5e-3);
    CU_ASSERT_EQUAL(model_steps(s, 999), 0);
    CHECK_NEAR(model_state(s).x[0], model_state(s).x[1], 1e-15);
    /* the mean of both rates */
    CHECK_NEAR(model_state(s).x[0], x * exp(-2. * 0.999), 1e-3);
    mech_sim_destroy(s);
}

static void a_step_without_a_solution_fails_and_changes_nothing(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
        "'A': [[-1]], 'x0': [1]}], 'interactions': [{'name': 'i', 'systems': ['s'],"
        "'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[-1]], 'e': [-0.5]},"
        "'law': {'type': 'Complementarity'}}],"
        "'solver': {'integrator': 'EulerMoreau', 'stepSize': 0.01}}");
    const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = 1000};
    struct mech_step_report report;

    /* x falls to 0.5, from where on no λ ≥ 0 lifts y */
    CU_ASSERT_EQUAL(mech_sim_step(s, &request, &report), MECH_VI_NOT_CONVERGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "multipliers"));
    CHECK_NEAR(report.failed_time, log(2.), 0.02);
    CU_ASSERT_EQUAL(model_state(s).x[0], 1.);
    CU_ASSERT_EQUAL(model_state(s).time, 0.);
    mech_sim_destroy(s);
}

static void a_restored_run_repeats_its_bits(void)
{
    struct mech_sim *const a = bridge(1e-4, 1., 1., ""), *const b = bridge(1e-4, 1., 1., "");
    const size_t size = mech_sim_snapshot_size(a);
    char *const bytes = calloc(3, size);
    bool same = false;

    CU_ASSERT_EQUAL(model_steps(a, 137), 0);
    mech_sim_snapshot_write(a, bytes);
    CU_ASSERT_EQUAL(model_steps(a, 1000), 0);
    mech_sim_snapshot_write(a, bytes + size);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(b, bytes, size, &same), 0);
    CU_ASSERT_EQUAL(model_steps(b, 1000), 0);
    mech_sim_snapshot_write(b, bytes + 2 * size);
    CU_ASSERT_EQUAL(memcmp(bytes + size, bytes + 2 * size, size), 0);
    free(bytes);
    mech_sim_destroy(a);
    mech_sim_destroy(b);
}

UNIT_TESTS(UNIT_TEST(a_bridge_rectifier_damps_like_its_resistor),
           UNIT_TEST(its_order_is_one_and_two_with_both_weights_at_a_half),
           UNIT_TEST(energy_goes_into_the_resistor_alone),
           UNIT_TEST(every_solver_gives_the_same_bridge),
           UNIT_TEST(a_diode_charges_a_capacitor_and_never_discharges_it),
           UNIT_TEST(an_ideal_diode_holds_the_peak),
           UNIT_TEST(a_relay_reaches_zero_in_finite_time_and_stays),
           UNIT_TEST(a_sliding_mode_stays_on_its_surface_without_chattering),
           UNIT_TEST(an_equality_holds_from_the_first_step_on),
           UNIT_TEST(a_step_without_a_solution_fails_and_changes_nothing),
           UNIT_TEST(a_restored_run_repeats_its_bits))
