/* Energy and order of the Moreau–Jean scheme.
 *
 * At θ = ½ and constant F the balance of one step holds to rounding (solver/README.md):
 *     ΔE = F·Δq − h v̄ᵀ C v̄ + (H v̄)ᵀ P,   E = ½ vᵀ M v + ½ qᵀ K q,   v̄ = ½ (v_k + v_{k+1})
 */
#include "tests/unit/unit.h"
#include "tests/verify/lti_cases.h"

#include <math.h>

static double product(const struct mech_mat *a, const double *x, const double *y)
{
    double t[LTI_MOST], sum = 0.;
    mech_mat_mul(a, 1., y, 0., t);
    for (int32_t i = 0; i < a->rows; i++) {
        sum += x[i] * t[i];
    }
    return sum;
}

static double energy(const struct lti_case *c)
{
    return 0.5 * product(&c->M, c->state.v, c->state.v) +
           0.5 * product(&c->K, c->state.q, c->state.q);
}

/* chain of 20 masses between a wall and a stop, pushed against the stop */
static void begin_chain(struct lti_case *c, double damping, double e)
{
    const struct lti_bands bands = {
        .M = {2., 0.25}, .C = {2. * damping, -damping}, .K = {2000., -1000.}};
    lti_begin(c, 20, 1e-3, &bands, LTI_LEANEST);
    lti_contact(c, 1, (int32_t[]){19}, (double[]){-1.}, 1e-3, e);
    lti_contact(c, 2, (int32_t[]){4, 5}, (double[]){-1., 1.}, 2e-4, e);
    lti_ready(c);
    for (int32_t i = 0; i < 20; i++) {
        c->force[i] = i % 3 - 0.5;
        c->state.v[i] = 0.1 * (i % 2);
    }
}

static void energy_balance_of_a_step_holds_to_rounding(void)
{
    struct lti_case c;
    begin_chain(&c, 0.1, 0.7);
    int32_t impacts = 0;
    double q[LTI_MOST], v[LTI_MOST], mean[LTI_MOST];
    for (int32_t k = 0; k < 2000; k++) {
        const double before = energy(&c);
        memcpy(q, c.state.q, sizeof q);
        memcpy(v, c.state.v, sizeof v);
        CU_ASSERT_EQUAL_FATAL(lti_run(&c, 1), 0);
        double work = 0., size = before;
        for (int32_t i = 0; i < c.n; i++) {
            mean[i] = 0.5 * (v[i] + c.state.v[i]);
            work += c.force[i] * (c.state.q[i] - q[i]);
            size += fabs(c.force[i] * (c.state.q[i] - q[i]));
        }
        work -= c.h * product(&c.C, mean, mean);
        for (int32_t r = 0; r < c.rows; r++) {
            double speed = 0.;
            for (int32_t i = c.start[r]; i < c.start[r + 1]; i++) {
                speed += c.value[i] * mean[c.column[i]];
            }
            work += speed * c.state.impulse[r];
            impacts += c.state.impulse[r] > 0.;
        }
        CHECK_NEAR(energy(&c) - before, work, 1e-12 * size);
    }
    // the balance has to have seen impacts
    CU_ASSERT(impacts > 10);
    lti_end(&c);
}

static void energy_is_kept_without_damping_and_impact(void)
{
    struct lti_case c;
    begin_chain(&c, 0., 1.);
    c.contacts.count = 0;
    memset(c.force, 0, sizeof c.force);
    const double before = energy(&c);
    CU_ASSERT_EQUAL(lti_run(&c, 5000), 0);
    // θ = ½ is the midpoint rule: no drift, only the walk of 5000 roundings
    CHECK_NEAR(energy(&c), before, 1e-12 * before);
    lti_end(&c);
}

static void impacts_obey_newtons_law(void)
{
    struct lti_case c;
    begin_chain(&c, 0.1, 0.7);
    int32_t impacts = 0;
    for (int32_t k = 0; k < 2000; k++) {
        double before[2];
        for (int32_t r = 0; r < 2; r++) {
            before[r] = r == 0 ? -c.state.v[19] : c.state.v[5] - c.state.v[4];
        }
        CU_ASSERT_EQUAL_FATAL(lti_run(&c, 1), 0);
        for (int32_t r = 0; r < 2; r++) {
            CU_ASSERT(c.state.impulse[r] >= 0.);
            if (c.state.impulse[r] > 0.) {
                const double after = r == 0 ? -c.state.v[19] : c.state.v[5] - c.state.v[4];
                CHECK_NEAR(after, -0.7 * before[r], 1e-13);
                impacts++;
            }
        }
    }
    CU_ASSERT(impacts > 10);
    lti_end(&c);
}

static void ball_of_radius_0_1_gains_1_6e_5_joule_in_one_step(void)
{
    // E = ½ v² + 9.81 q of the ball of nonsmooth_lti: y + γ h ẏ lets it rest above the floor
    struct lti_case c;
    lti_begin(&c, 1, 0.005, &(struct lti_bands){.M = {1.}}, LTI_LEANEST);
    lti_contact(&c, 1, (int32_t[]){0}, (double[]){1.}, -0.1, 0.9);
    lti_ready(&c);
    c.force[0] = -9.81;
    c.state.q[0] = 1.;
    double gain = 0.;
    for (int32_t k = 0; k < 2000; k++) {
        const double before = energy(&c) + 9.81 * c.state.q[0];
        CU_ASSERT_EQUAL_FATAL(lti_run(&c, 1), 0);
        const double g = energy(&c) + 9.81 * c.state.q[0] - before;
        gain = g > gain ? g : gain;
    }
    CHECK_NEAR(gain, 1.6e-5, 0.05e-5);
    lti_end(&c);
}

/* error of the speed of one mass on a spring, started at q = 1, after 1 s */
static double oscillator_error(double theta, double h)
{
    struct lti_case c;
    lti_begin(&c, 1, h, &(struct lti_bands){.M = {1.}, .K = {100.}}, LTI_LEANEST);
    c.settings.theta = theta;
    lti_ready(&c);
    c.state.q[0] = 1.;
    CU_ASSERT_EQUAL(lti_run(&c, (int32_t)lround(1. / h)), 0);
    const double error = fabs(c.state.v[0] + 10. * sin(10.));
    lti_end(&c);
    return error;
}

static void smooth_motion_is_of_second_order_at_theta_half_and_first_otherwise(void)
{
    CHECK_ORDER("θ = ½", log2(oscillator_error(0.5, 2e-4) / oscillator_error(0.5, 1e-4)), 2., 0.05);
    CHECK_ORDER("θ = 1", log2(oscillator_error(1., 2e-4) / oscillator_error(1., 1e-4)), 1., 0.05);
}

UNIT_TESTS(UNIT_TEST(energy_balance_of_a_step_holds_to_rounding),
           UNIT_TEST(energy_is_kept_without_damping_and_impact),
           UNIT_TEST(impacts_obey_newtons_law),
           UNIT_TEST(ball_of_radius_0_1_gains_1_6e_5_joule_in_one_step),
           UNIT_TEST(smooth_motion_is_of_second_order_at_theta_half_and_first_otherwise))
