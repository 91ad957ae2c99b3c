/* What the Moreau–Jean core does at its edges: solvers that fail, matrices that are singular,
 * numbers that overflow, many rows. Its results are verified in tests/verify/nonsmooth_lti.c.
 */
#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "tests/unit/unit.h"
#include "tests/verify/lti_cases.h"

#include <math.h>

/* with `rod` one more row, open, between the first and the last: A is no narrow band then */
static void begin_column(struct lti_case *c, int32_t n, const char *type, int32_t max_iterations,
                         bool rod)
{
    lti_begin(c, n, 5e-4, &(struct lti_bands){.M = {1.}}, LTI_LEANEST);
    c->settings.vi.type = type;
    c->settings.vi.max_iterations = max_iterations;
    c->settings.vi.tolerance = 1e-12;
    // rounding lifts what rests by some 1e-22 m, which must not open the contact
    c->settings.threshold = 1e-12;
    lti_contact(c, 1, (int32_t[]){0}, (double[]){1.}, 0., 0.);
    for (int32_t i = 1; i < n; i++) {
        lti_contact(c, 2, (int32_t[]){i - 1, i}, (double[]){-1., 1.}, 0., 0.);
    }
    if (rod) {
        lti_contact(c, 2, (int32_t[]){0, n - 1}, (double[]){-1., 1.}, 1., 0.);
    }
    lti_ready(c);
    for (int32_t i = 0; i < n; i++) {
        c->force[i] = -9.81;
    }
}

static void begin_beads(struct lti_case *c, int32_t n, const char *type, int32_t max_iterations)
{
    begin_column(c, n, type, max_iterations, false);
}

static void a_column_at_rest_carries_its_weight(void)
{
    // P of row i is the weight above it times h; no solver moves what rests
    for (int k = 0; k < 2; k++) {
        struct lti_case c;
        begin_beads(&c, 12, k == 0 ? "lemke" : "psor", 20000);
        CU_ASSERT_EQUAL(lti_run(&c, 3), 0);
        CU_ASSERT_EQUAL(c.result.contacts, 12);
        for (int32_t i = 0; i < 12; i++) {
            CHECK_NEAR(c.state.impulse[i], 9.81 * 5e-4 * (12 - i), 1e-11);
            CHECK_NEAR(c.state.v[i], 0., 1e-11);
        }
        lti_end(&c);
    }
}

static void many_active_rows_are_solved_whichever_solver_gets_there(void)
{
    // 220 rows in a column: PSOR would need about 220² sweeps and hands over to pivoting
    struct lti_case c;
    begin_column(&c, 220, NULL, 50, true);
    CU_ASSERT_EQUAL(lti_run(&c, 1), 0);
    CU_ASSERT_STRING_EQUAL(mech_impacts_solver(&c.core.impacts), "psor");
    CU_ASSERT(c.result.vi_iterations > 50);
    CU_ASSERT_EQUAL(lti_run(&c, 1), 0);
    CU_ASSERT_EQUAL(c.result.contacts, c.n);
    CHECK_NEAR(c.state.impulse[0], 9.81 * 5e-4 * c.n, 1e-11);
    lti_end(&c);
}

static void a_long_column_is_pivoted_as_a_band(void)
{
    struct lti_case c;
    begin_beads(&c, 250, NULL, 50);
    CU_ASSERT_EQUAL(lti_run(&c, 1), 0);
    CU_ASSERT_STRING_EQUAL(mech_impacts_solver(&c.core.impacts), "lemke");
    CU_ASSERT_EQUAL(c.core.impacts.width, 1);
    // all rows press from the start: one factor finds them
    CU_ASSERT_EQUAL(c.result.vi_iterations, 1);
    for (int32_t i = 0; i < c.n; i++) {
        CHECK_NEAR(c.state.impulse[i], 9.81 * 5e-4 * (c.n - i), 1e-11);
    }
    lti_end(&c);
}

static void impulses_that_are_not_found_fail_the_step_and_say_so(void)
{
    struct lti_case c;
    begin_beads(&c, 12, "psor", 2);
    CU_ASSERT_EQUAL(lti_run(&c, 1), MECH_VI_NOT_CONVERGED);
    CU_ASSERT(c.result.residual > 1e-12);
    CU_ASSERT_EQUAL(c.result.vi_iterations, 2);
    CU_ASSERT_PTR_NOT_NULL(strstr(c.result.reason, "12 active contact rows"));
    lti_end(&c);
}

static void impulses_that_are_not_found_can_be_accepted(void)
{
    struct lti_case c;
    begin_beads(&c, 12, "psor", 2);
    c.core.impacts.settings.vi.on_failure = MECH_ON_FAILURE_ACCEPT;
    CU_ASSERT_EQUAL(lti_run(&c, 1), 0);
    CU_ASSERT(c.result.residual > 1e-12);
    CU_ASSERT(c.state.impulse[0] > 0.);
    lti_end(&c);
}

static void a_singular_iteration_matrix_names_its_coordinate(void)
{
    // no mass, no spring on the first coordinate
    struct lti_case c;
    for (enum lti_form form = LTI_BAND; form < LTI_FORMS; form++) {
        lti_begin(&c, 4, 1e-3, &(struct lti_bands){.M = {1.}, .first = {-1.}}, form);
        if (mech_moreau_jean_init(&c.core, &c.part, NULL, &c.settings, c.h) == 0) {
            int32_t where = -1;
            CU_ASSERT_EQUAL(mech_moreau_jean_factor(&c.core, c.h, &where), MECH_SINGULAR);
            CU_ASSERT_EQUAL(where, 0);
        } else {
            // KLU sees an empty column before any number
            CU_ASSERT_EQUAL(form, LTI_CSC);
        }
        lti_end(&c);
    }
}

static void a_massless_coordinate_with_a_spring_is_no_fault(void)
{
    // W = h²θ²K there: the coordinate follows F = K q
    struct lti_case c;
    lti_begin(&c, 2, 1e-3, &(struct lti_bands){.M = {1.}, .K = {50.}, .first = {-1.}}, LTI_LEANEST);
    c.settings.theta = 1.;
    lti_ready(&c);
    c.force[0] = 10.;
    CU_ASSERT_EQUAL(lti_run(&c, 3), 0);
    CHECK_NEAR(c.state.q[0], 0.2, 1e-15);
    lti_end(&c);
}

static void impulses_act_the_same_with_and_without_kept_columns(void)
{
    const struct lti_bands bands = {.M = {2., 0.5}, .K = {2000., -1000.}};
    struct lti_case kept, solved;
    struct lti_case *const both[] = {&kept, &solved};
    int impacts = 0;
    for (int k = 0; k < 2; k++) {
        struct lti_case *const c = both[k];
        lti_begin(c, 8, 1e-3, &bands, LTI_LEANEST);
        lti_contact(c, 2, (int32_t[]){2, 6}, (double[]){1., -1.}, 1.3e-4, 0.25);
        lti_contact(c, 1, (int32_t[]){7}, (double[]){1.}, 1.7e-4, 0.5);
        lti_ready(c);
        CU_ASSERT_PTR_NOT_NULL(c->core.impacts.columns);
        if (k == 1) {
            // as for systems whose columns would be too many
            c->core.impacts.columns = NULL;
        }
        c->force[7] = -3.;
        c->force[6] = 2.;
        for (int32_t i = 0; i < 100; i++) {
            CU_ASSERT_EQUAL(lti_run(c, 1), 0);
            impacts += k == 0 && c->state.impulse[0] + c->state.impulse[1] > 0.;
        }
    }
    for (int32_t i = 0; i < 8; i++) {
        CHECK_NEAR(solved.state.q[i], kept.state.q[i], 1e-14);
        CHECK_NEAR(solved.state.v[i], kept.state.v[i], 1e-13);
    }
    CU_ASSERT(fabs(kept.state.q[7]) > 1e-5);
    CU_ASSERT(impacts > 2);
    lti_end(&kept);
    lti_end(&solved);
}

static void rows_activate_at_the_threshold(void)
{
    // y + γ h ẏ ≤ threshold, the equality included
    for (int k = 0; k < 3; k++) {
        struct lti_case c;
        lti_begin(&c, 1, 0.5, &(struct lti_bands){.M = {1.}}, LTI_LEANEST);
        lti_contact(&c, 1, (int32_t[]){0}, (double[]){1.}, 0., 0.);
        c.settings.gamma = 0.25;
        c.settings.threshold = 0.5;
        lti_ready(&c);
        c.state.q[0] = k == 2 ? 1.0 + 1e-15 : 1.;
        c.state.v[0] = k == 0 ? -4.5 : -4.;
        CU_ASSERT_EQUAL(lti_run(&c, 1), 0);
        CU_ASSERT_EQUAL(c.result.contacts, k == 2 ? 0 : 1);
        CHECK_NEAR(c.state.v[0], k == 2 ? -4. : 0., 0.);
        lti_end(&c);
    }
}

static void too_many_rows_and_unknown_solvers_are_refused(void)
{
    struct lti_case c;
    lti_begin(&c, 1, 1e-3, &(struct lti_bands){.M = {1.}}, LTI_LEANEST);
    c.contacts = (struct mech_contact_rows){.count = MECH_CONTACT_ROWS_MOST + 1};
    CU_ASSERT_EQUAL(mech_moreau_jean_init(&c.core, &c.part, &c.contacts, &c.settings, c.h),
                    MECH_UNSUPPORTED);
    mech_moreau_jean_fini(&c.core);
    lti_contact(&c, 1, (int32_t[]){0}, (double[]){1.}, 0., 0.);
    c.settings.vi.type = "no such solver";
    c.contacts = (struct mech_contact_rows){.count = 1, .start = c.start};
    CU_ASSERT_EQUAL(mech_moreau_jean_init(&c.core, &c.part, &c.contacts, &c.settings, c.h),
                    MECH_UNSUPPORTED);
    lti_end(&c);
}

/* A chain with stops between its masses, K(0, 1) more by a share of it and C(0, 1) by `turn`, whose
 * step is so short that A, M⁻¹ but for 1e-10 of it, says nothing of either. */
static bool are_contacts_symmetric(enum lti_form form, double share, double turn)
{
    const struct lti_bands bands = {.M = {1.}, .C = {1., 1e-3}, .K = {2e3, -1e3}};
    struct lti_case c;
    int32_t where;

    lti_begin(&c, 8, 1e-9, &bands, form);
    for (int32_t i = 1; i < 8; i++) {
        lti_contact(&c, 2, (int32_t[]){i - 1, i}, (double[]){-1., 1.}, 0., 0.);
    }
    *mech_mat_place(&c.K, 0, 1) *= 1. + share;
    *mech_mat_place(&c.C, 0, 1) += turn;
    c.K.symmetric = c.K.symmetric && share == 0.;
    c.C.symmetric = c.C.symmetric && turn == 0.;
    lti_ready(&c);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_jean_factor(&c.core, c.h, &where), 0);
    const bool symmetric = c.core.impacts.symmetric;
    /* a band is read by one half */
    CU_ASSERT(symmetric || c.core.impacts.width == -1);
    lti_end(&c);
    return symmetric;
}

static void contacts_are_as_symmetric_as_the_system(void)
{
    for (enum lti_form form = LTI_LEANEST; form < LTI_FORMS; form++) {
        CU_ASSERT(are_contacts_symmetric(form, 0., 0.));
        CU_ASSERT(are_contacts_symmetric(form, 1e-12, 0.));
        CU_ASSERT(are_contacts_symmetric(form, 0., 1e-12));
        CU_ASSERT(!are_contacts_symmetric(form, 1e-6, 0.));
        CU_ASSERT(!are_contacts_symmetric(form, 0., 0.1));
    }
}

/* x₁ y₁ x₂ y₂ of mass 1, x₁ tied to x₂ and y₁ to y₂ by springs of 1e12 N/m, K(x₁, y₁) = 450 N/m =
 * −K(y₁, x₁), some times; all x₁ and y₁ are pressed onto stops. */
static void stiff_ties_leave_contacts_unsymmetric(void)
{
    enum { COUNT = 16 };
    static const char *const types[] = {NULL, "lemke", "nsgs"};

    for (int k = 0; k < 3; k++) {
        const struct lti_bands bands = {.M = {1.}, .K = {1e12}};
        struct lti_case c;

        lti_begin(&c, COUNT, 0.1, &bands, LTI_DENSE);
        c.settings.vi.type = types[k];
        c.settings.vi.tolerance = 1e-10;
        for (int32_t i = 0; i < COUNT; i += 4) {
            for (int32_t j = i; j < i + 2; j++) {
                *mech_mat_place(&c.K, j, j + 2) = *mech_mat_place(&c.K, j + 2, j) = -1e12;
                lti_contact(&c, 1, (int32_t[]){j}, (double[]){1.}, 0., 0.);
            }
            *mech_mat_place(&c.K, i, i + 1) = 450.;
            *mech_mat_place(&c.K, i + 1, i) = -450.;
        }
        c.K.symmetric = false;
        lti_ready(&c);
        for (int32_t i = 0; i < COUNT; i++) {
            c.state.v[i] = i % 2 ? -1. : -3.;
        }
        CU_ASSERT_EQUAL(lti_run(&c, 1), 0);
        CU_ASSERT(!c.core.impacts.symmetric);
        for (int32_t i = 0; i < COUNT / 2; i++) {
            const double v = c.state.v[4 * (i / 2) + i % 2], P = c.state.impulse[i];

            /* known to the rounding of h²θ² 1e12 */
            CU_ASSERT(v > -1e-5);
            CU_ASSERT(P > -1e-5);
            CU_ASSERT(fmin(v, P) < 1e-5);
        }
        lti_end(&c);
    }
}

UNIT_TESTS(UNIT_TEST(a_column_at_rest_carries_its_weight),
           UNIT_TEST(many_active_rows_are_solved_whichever_solver_gets_there),
           UNIT_TEST(a_long_column_is_pivoted_as_a_band),
           UNIT_TEST(impulses_that_are_not_found_fail_the_step_and_say_so),
           UNIT_TEST(impulses_that_are_not_found_can_be_accepted),
           UNIT_TEST(a_singular_iteration_matrix_names_its_coordinate),
           UNIT_TEST(a_massless_coordinate_with_a_spring_is_no_fault),
           UNIT_TEST(impulses_act_the_same_with_and_without_kept_columns),
           UNIT_TEST(contacts_are_as_symmetric_as_the_system),
           UNIT_TEST(stiff_ties_leave_contacts_unsymmetric),
           UNIT_TEST(rows_activate_at_the_threshold),
           UNIT_TEST(too_many_rows_and_unknown_solvers_are_refused))
