/* Laws of single rows against closed forms: the compliant contact of Moreau–Jean. A mass m that
 * meets a stop of compliance s and damping d at the speed v moves as a damped oscillator,
 *
 *     ω² = 1/(m s),  ζ = ½ d sqrt(s/m) = sin φ,  ω_d = ω cos φ
 *     y(t) = −(v/ω_d) exp(−ζωt) sin ω_d t
 *
 * and leaves when the force is 0: at ω_d t = π − 2φ, with the speed v exp(−(π − 2φ) tan φ). */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 1200 };

struct stop {
    double m, s, d, theta, h, weight, v;
};

/* one mass over a compliant stop at q = 0, or, `welded`, the spring and damper for good */
static struct mech_sim *stopped(const struct stop *c, bool welded)
{
    char text[TEXT], law[TEXT / 2] = "", matrices[TEXT / 4] = "";

    if (welded) {
        snprintf(matrices, sizeof matrices, ", 'K': [[%.17g]], 'C': [[%.17g]]", 1. / c->s, c->d);
    } else {
        snprintf(law, sizeof law,
                 "'interactions': [{'name': 'stop', 'systems': ['s'], 'relation': {'type': "
                 "'LagrangianLinearTIR', 'H': [[1]]}, 'law': {'type': 'NewtonImpact', "
                 "'compliance': %.17g, 'damping': %.17g}}],",
                 c->s, c->d);
    }
    snprintf(text, sizeof text,
             "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': "
             "[[%.17g]], 'v0': [%.17g], 'Fext': [%.17g]%s}], %s 'solver': {'integrator': "
             "'MoreauJean', 'theta': %.17g, 'stepSize': %.17g, 'vi': {'tolerance': 1e-14}}}",
             c->m, c->v, -c->weight, matrices, law, c->theta, c->h);
    return model_of(text);
}

static void a_compliant_contact_that_presses_is_its_spring_and_damper(void)
{
    static const double thetas[] = {0.25, 0.5, 0.75, 1.};

    for (size_t k = 0; k < sizeof thetas / sizeof *thetas; k++) {
        const struct stop c = {
            .m = 2., .s = 1e-3, .d = 5., .theta = thetas[k], .h = 1e-3, .weight = 20., .v = -0.1};
        struct mech_sim *const soft = stopped(&c, false), *const spring = stopped(&c, true);

        for (int i = 0; i < 500; i++) {
            const double v = view_of(soft).v[0];

            CU_ASSERT_EQUAL(model_steps(soft, 1), 0);
            CU_ASSERT_EQUAL(model_steps(spring, 1), 0);
            /* M Δv = P − h weight */
            CHECK_NEAR(c.m * (view_of(soft).v[0] - v) + c.h * c.weight, view_of(soft).impulse[0],
                       1e-14);
            CU_ASSERT(view_of(soft).impulse[0] > 0.);
            CHECK_NEAR(view_of(soft).q[0], view_of(spring).q[0], 1e-15);
            CHECK_NEAR(view_of(soft).v[0], view_of(spring).v[0], 1e-13);
        }
        mech_sim_destroy(soft);
        mech_sim_destroy(spring);
    }
}

static void a_mass_rests_where_its_weight_presses_the_stop(void)
{
    const struct stop c = {
        .m = 2., .s = 1e-3, .d = 30., .theta = 0.5, .h = 1e-3, .weight = 20., .v = -1.};
    struct mech_sim *const s = stopped(&c, false);

    CU_ASSERT_EQUAL(model_steps(s, 20000), 0);
    CHECK_NEAR(view_of(s).q[0], -c.s * c.weight, 1e-13);
    CHECK_NEAR(view_of(s).impulse[0], c.h * c.weight, 1e-13);
    mech_sim_destroy(s);
}

/* y after an eighth of the free period without damping, where it is −v/ω sin 45° */
static double depth(double h, uint64_t steps)
{
    const struct stop c = {.m = 1., .s = 1e-4, .theta = 0.5, .h = h, .v = -1.};
    struct mech_sim *const s = stopped(&c, false);

    CU_ASSERT_EQUAL(model_steps(s, steps), 0);
    const double y = view_of(s).q[0];
    mech_sim_destroy(s);
    return y;
}

static void the_depth_of_an_impact_is_of_second_order(void)
{
    const double eighth = 0.25 * 3.14159265358979323846 * 0.01, exact = -0.01 * sqrt(0.5);
    const double coarse = depth(eighth / 32, 32) - exact, fine = depth(eighth / 64, 64) - exact;

    CU_ASSERT(fabs(coarse) < 1e-4 * 0.01);
    CHECK_NEAR(coarse / fine, 4., 0.1);
}

static void a_rebound_loses_what_its_damping_takes(void)
{
    static const double zetas[] = {0., 0.1, 0.3, 0.6};

    for (size_t k = 0; k < sizeof zetas / sizeof *zetas; k++) {
        const double phi = asin(zetas[k]), omega = 100.;
        const struct stop c = {
            .m = 1., .s = 1e-4, .d = 2. * zetas[k] * omega, .theta = 0.5, .h = 1e-5, .v = -1.};
        struct mech_sim *const s = stopped(&c, false);
        const double contact = (3.14159265358979323846 - 2. * phi) / (omega * cos(phi));

        CU_ASSERT_EQUAL(model_steps(s, (uint64_t)(contact / c.h) - 2), 0);
        CU_ASSERT(view_of(s).impulse[0] > 0.);
        CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
        CU_ASSERT_EQUAL(view_of(s).impulse[0], 0.);
        /* the last step may be without the force: ω² h² ‖y‖ ω of the speed, and ωh of d's */
        CHECK_NEAR(view_of(s).v[0], exp(-(3.14159265358979323846 - 2. * phi) * tan(phi)), 1e-5);
        mech_sim_destroy(s);
    }
}

static void steps_with_compliance_allocate_nothing(void)
{
    const struct stop c = {
        .m = 2., .s = 1e-3, .d = 5., .theta = 0.5, .h = 1e-3, .weight = 20., .v = -1.};
    struct mech_sim *const s = stopped(&c, false);

    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    alloc_count_start();
    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_sim_destroy(s);
}

static void what_contradicts_a_compliance_is_refused(void)
{
    static const char model[] =
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]]}],"
        " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type': "
        "'LagrangianLinearTIR', 'H': [[1]]}, 'law': {'type': 'NewtonImpact', %s}}],"
        " 'solver': {'integrator': 'MoreauJean'%s}}";
    char text[TEXT];

    snprintf(text, sizeof text, model, "'e': 0.5, 'compliance': 1e-3", "");
    CU_ASSERT(model_refused(text, "/interactions/0/law/e", "with a compliance"));
    snprintf(text, sizeof text, model, "'damping': 1", "");
    CU_ASSERT(model_refused(text, "/interactions/0/law/damping", "needs a compliance"));
    snprintf(text, sizeof text, model, "'compliance': -1e-3", "");
    CU_ASSERT(model_refused(text, "/interactions/0/law/compliance", ""));
    snprintf(text, sizeof text, model, "'compliance': 1e-3", ", 'theta': 0");
    CU_ASSERT(model_refused(text, "/solver/theta", "above 0"));
    snprintf(text, sizeof text, model, "'e': 1.5", "");
    CU_ASSERT(model_refused(text, "/interactions/0/law/e", ""));
}

UNIT_TESTS(UNIT_TEST(a_compliant_contact_that_presses_is_its_spring_and_damper),
           UNIT_TEST(a_mass_rests_where_its_weight_presses_the_stop),
           UNIT_TEST(the_depth_of_an_impact_is_of_second_order),
           UNIT_TEST(a_rebound_loses_what_its_damping_takes),
           UNIT_TEST(steps_with_compliance_allocate_nothing),
           UNIT_TEST(what_contradicts_a_compliance_is_refused))
