/* Which solvers find the impulses of a step: problems of one contact and of two. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

static const char ball[] =
    BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, 0]"),
                 BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "1", "{}"));

/* Runs the problem c = N P + q of two contacts without friction, of the ball and the plane; P into
 * out, or the reason. */
static int run(double N[4], const double q[2], double out[2], char reason[160])
{
    struct mech_set set[2] = {{.kind = MECH_SET_UNILATERAL, .rows = 1},
                              {.kind = MECH_SET_UNILATERAL, .rows = 1}};
    struct mech_impact_set who[2] = {{.kind = MECH_IMPACT_TOUCH}, {.kind = MECH_IMPACT_TOUCH}};
    struct mech_contact between = {.collider = {0, 1}};
    double guess[2] = {0.}, speeds[2], given[2] = {q[0], q[1]}, trial[2], best[2], zero[2] = {0.};
    struct bodies b;

    bodies_open(&b, ball, 0.01);
    struct mech_moreau_bodies s = {
        .model = b.c.model,
        .N = {.kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .symmetric = true, .values = N},
        .impacts = {.count = 2, .sets = 2, .set = set, .who = who, .guess = guess},
        .c = speeds,
        .q = given,
        .trial = trial,
        .best = best,
        .zero = zero,
        .most = 2,
        .friction = MECH_COULOMB,
        .list = {.at = &between, .n = 1},
        .acceptable = b.s->acceptable};

    CU_ASSERT_EQUAL_FATAL(mech_acceptance_create(2, &s.accept), 0);
    const int code = mech_moreau_bodies_run(&s, &b.result);

    CU_ASSERT_FALSE(s.accepted);
    memcpy(out, best, sizeof best);
    snprintf(reason, 160, "%.159s", b.result.reason);
    for (int i = 0; i < MECH_IMPACT_SOLVERS_MOST; i++) {
        if (s.solver[i]) {
            mech_vi_types[i]->destroy(s.solver[i]);
        }
    }
    mech_acceptance_destroy(s.accept);
    bodies_close(&b);
    return code;
}

static void two_contacts_push_as_their_equations_say(void)
{
    double P[2];
    char why[160];

    CU_ASSERT_EQUAL_FATAL(run((double[4]){2., 1., 1., 2.}, (const double[2]){-3., -3.}, P, why), 0);
    CHECK_NEAR(P[0], 1., 1e-9);
    CHECK_NEAR(P[1], 1., 1e-9);
}

/* N P + q = (0, 1): the second opens */
static void a_contact_that_opens_does_not_push(void)
{
    double P[2];
    char why[160];

    CU_ASSERT_EQUAL_FATAL(run((double[4]){2., 1., 1., 2.}, (const double[2]){-4., -1.}, P, why), 0);
    CHECK_NEAR(P[0], 2., 1e-9);
    CHECK_NEAR(P[1], 0., 1e-9);
    CU_ASSERT_EQUAL_FATAL(run((double[4]){2., 1., 1., 2.}, (const double[2]){4., 1.}, P, why), 0);
    CHECK_NEAR(P[0], 0., 0.);
    CHECK_NEAR(P[1], 0., 0.);
}

/* two contacts of one row: any sum of theirs */
static void contacts_that_repeat_each_other_share(void)
{
    double P[2];
    char why[160];

    CU_ASSERT_EQUAL_FATAL(run((double[4]){2., 2., 2., 2.}, (const double[2]){-4., -4.}, P, why), 0);
    CHECK_NEAR(P[0] + P[1], 2., 1e-9);
    CU_ASSERT(P[0] >= 0. && P[1] >= 0.);
}

/* opposite rows that both close: no impulse helps */
static void a_conflict_has_no_impulses(void)
{
    double P[2];
    char why[160];

    CU_ASSERT_EQUAL(run((double[4]){1., -1., -1., 1.}, (const double[2]){-1., -1.}, P, why),
                    MECH_VI_NOT_CONVERGED);
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "ball"));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "plane"));
}

/* ½ PᵀN P + P·q */
static void work_is_what_impulses_add_to_kinetic_energy(void)
{
    double N[4] = {2., 0., 0., 4.}, q[2] = {-1., 1.}, speeds[2], zero[2] = {0.};
    struct mech_set set[2] = {{.kind = MECH_SET_UNILATERAL, .rows = 1},
                              {.kind = MECH_SET_UNILATERAL, .rows = 1}};
    struct mech_moreau_bodies s = {
        .N = {.kind = MECH_MAT_DENSE, .rows = 2, .cols = 2, .symmetric = true, .values = N},
        .impacts = {.count = 2, .sets = 2, .set = set},
        .c = speeds,
        .q = q,
        .zero = zero};

    CHECK_NEAR(mech_moreau_bodies_work(&s, (const double[2]){1., 2.}), 10., 1e-14);
    CHECK_NEAR(mech_moreau_bodies_work(&s, (const double[2]){0.5, 0.}), 0., 0.);
    CHECK_NEAR(mech_moreau_bodies_work(&s, (const double[2]){0., 0.}), 0., 0.);
}

static void few_contacts_get_short_turns(void)
{
    struct bodies b;

    bodies_open(&b, ball, 0.01);
    CU_ASSERT_TRUE(mech_moreau_bodies_hurries(b.s, MECH_ACCEPTABLE_FROM - 1));
    CU_ASSERT_FALSE(mech_moreau_bodies_hurries(b.s, MECH_ACCEPTABLE_FROM));
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(two_contacts_push_as_their_equations_say),
           UNIT_TEST(a_contact_that_opens_does_not_push),
           UNIT_TEST(contacts_that_repeat_each_other_share), UNIT_TEST(a_conflict_has_no_impulses),
           UNIT_TEST(work_is_what_impulses_add_to_kinetic_energy),
           UNIT_TEST(few_contacts_get_short_turns))
