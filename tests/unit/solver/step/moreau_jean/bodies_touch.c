/* Contacts between shapes as rows of a step: where they are looked for, what their laws ask for,
 * what they find again of those of the last step, and what the state keeps of them. */
#include "solver/linalg/v3.h"
#include "tests/unit/solver/step/moreau_jean/bodies.h"

#define ONE(z, v, material)                                                                        \
    BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, " z "]", v),                         \
                 BODIES_PLANE("{'restitution': 0.5, 'damping': 10}") "," BODIES_BALL(              \
                     "ball", "n", "2", material))
#define SMOOTH "{'friction': 0}"
#define TWO                                                                                        \
    BODIES_MODEL("[0, 0, -10]", "1",                                                               \
                 BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, 0]") "," BODIES_NODE("m", "[5, 0, 0.1]",  \
                                                                              "[0, 0, 0]"),        \
                 BODIES_PLANE(SMOOTH) "," BODIES_BALL("a", "n", "1", SMOOTH) "," BODIES_BALL(      \
                     "b", "m", "1", SMOOTH))

/* the rows of this model's contacts at the start, h = 0.01 s, θ = ½ */
static const struct mech_impact_rows *rows_of(struct bodies *b, const char *text)
{
    bodies_open(b, text, 0.01);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b->s, &b->c.state, &b->result), 0);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_touch(b->s, &b->c.state, 0), 0);
    return &b->s->impacts;
}

static void kept_contacts_are_found_in_any_order(void)
{
    struct mech_touched kept[] = {{.id = 3}, {.id = 5}, {.id = 8}, {.id = 13}};
    struct mech_state_counters counters = {.touched = 4};
    const struct mech_state state = {.at = &counters, .touched = kept};
    /* ids, and the places where they are; 4: nowhere */
    static const uint64_t ids[] = {5, 6, 13, 3, 8, 2, 13, 14, 5, 4, 3};
    static const size_t places[] = {1, 4, 3, 0, 2, 4, 3, 4, 1, 4, 0};
    size_t at = 0;

    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        const struct mech_touched *const found = mech_moreau_bodies_kept(&state, ids[i], &at);

        CU_ASSERT_PTR_EQUAL(found, places[i] < 4 ? &kept[places[i]] : NULL);
    }
}

/* H v of row k at a velocity upward by 1 of the only ball */
static double along(const struct mech_impact_rows *r, int32_t k, int axis)
{
    double sum = 0.;

    for (int32_t i = r->start[k]; i < r->start[k + 1]; i++) {
        sum += r->column[i] == axis ? r->value[i] : 0.;
    }
    return sum;
}

/* at 2 m/s downward from 0.103 m: in the middle, 5 ms later, it overlaps by 7 mm */
static void contacts_are_looked_for_in_the_middle_of_the_step(void)
{
    struct bodies b;

    (void)rows_of(&b, ONE("0.103", "[1, 0, -2]", "{}"));
    CU_ASSERT_EQUAL_FATAL(b.s->list.n, 1);
    CHECK_NEAR(b.s->q_m[0], 0.005, 1e-16);
    CHECK_NEAR(b.s->list.at[0].gap, -0.007, 1e-15);
    bodies_close(&b);
}

static void one_that_is_far_gives_no_rows(void)
{
    struct bodies b;

    CU_ASSERT_EQUAL(rows_of(&b, ONE("3", "[0, 0, -2]", "{}"))->count, 0);
    CU_ASSERT_EQUAL(b.s->list.n, 0);
    bodies_close(&b);
}

/* e = ½ of 2 m/s, closed; where it stays open b is the gap over θ h; e is not read then */
static void a_contact_asks_for_a_rebound_or_for_its_gap(void)
{
    struct bodies b;
    const struct mech_impact_rows *r =
        rows_of(&b, ONE("0.103", "[0, 0, -2]", "{'friction': 0, 'restitution': 0.5}"));

    CU_ASSERT_EQUAL_FATAL(r->count, 1);
    CU_ASSERT_EQUAL(r->who[0].kind, MECH_IMPACT_TOUCH);
    CU_ASSERT_EQUAL(r->who[0].of, 0);
    CU_ASSERT(r->who[0].closes);
    CHECK_NEAR(r->who[0].gap, -0.007, 1e-15);
    CHECK_NEAR(along(r, 0, 2), 1., 1e-15);
    CHECK_NEAR(r->b[0], 0.5 * -2., 1e-14);
    CHECK_NEAR(r->E[0], 0., 0.);
    bodies_close(&b);
    r = rows_of(&b, ONE("0.1006", "[0, 0, -0.1]", "{'friction': 0}"));
    CU_ASSERT_EQUAL_FATAL(r->count, 1);
    CHECK_NEAR(r->b[0], 0.0001 / 0.005, 1e-10);
    bodies_close(&b);
}

/* compliance s = 1e-4 m/N and damping 10 N s/m, 1 mm into the plane: α = θ (hθ + s d) */
static void a_soft_contact_has_its_compliance(void)
{
    const double h = 0.01, s = 1e-4, d = 10., alpha = 0.5 * (0.5 * h + s * d), v = -0.2;
    struct bodies b;
    const struct mech_impact_rows *const r = rows_of(
        &b, ONE("0.099", "[0, 0, -0.2]", "{'friction': 0, 'compliance': 1e-4, 'damping': 10}"));

    CU_ASSERT_EQUAL_FATAL(r->count, 1);
    CHECK_NEAR(r->E[0], s / (h * alpha), 1e-12);
    CHECK_NEAR(r->b[0], (-0.001 + 0.5 * (0.5 * h + s * d) * v) / alpha, 1e-12);
    CU_ASSERT_FALSE(r->who[0].closes);
    bodies_close(&b);
    /* with a damping it pushes only while it is closed */
    CU_ASSERT_EQUAL(rows_of(&b, ONE("0.1001", "[0, 0, 0.2]",
                                    "{'friction': 0, 'compliance': 1e-4, 'damping': 10}"))
                        ->count,
                    0);
    bodies_close(&b);
}

static void friction_has_rows_along_the_surface(void)
{
    struct bodies b;
    const struct mech_impact_rows *const r =
        rows_of(&b, ONE("0.1", "[0, 0, 0]", "{'friction': 0.4}"));

    CU_ASSERT_EQUAL_FATAL(r->count, 3);
    CU_ASSERT_EQUAL(r->sets, 1);
    CU_ASSERT_EQUAL(r->set[0].kind, MECH_SET_CONE);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++) {
            double sum = 0.;

            for (int i = 0; i < 3; i++) {
                sum += along(r, k, i) * along(r, j, i);
            }
            CHECK_NEAR(sum, k == j, 1e-15);
        }
    }
    bodies_close(&b);
}

/* impulses are vectors: they start the next step along its own rows, and push alone */
static void a_contact_starts_from_the_impulse_of_the_last_step(void)
{
    static const double pulls[] = {0.7, -0.7};

    for (int i = 0; i < 2; i++) {
        struct bodies b;
        struct mech_touched *kept;

        bodies_open(&b, ONE("0.1", "[0, 0, 0]", "{'friction': 0.4}"), 0.01);
        CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
        const struct mech_contact *const contact = &b.s->list.at[0];
        const double up = contact->normal[2] > 0. ? 1. : -1.;
        const double impulse[3] = {0.1, -0.2, up * pulls[i]};

        kept = mech_state_touch(&b.c.state, 1);
        *kept = (struct mech_touched){.id = contact->id};
        memcpy(kept->impulse, impulse, sizeof impulse);
        CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_touch(b.s, &b.c.state, 0), 0);
        const struct mech_impact_rows *const r = &b.s->impacts;
        CU_ASSERT_EQUAL_FATAL(r->count, 3);
        CHECK_NEAR(r->guess[0], fmax(0., pulls[i]), 1e-15);
        CHECK_NEAR(hypot(r->guess[1], r->guess[2]), hypot(0.1, 0.2), 1e-15);
        CHECK_NEAR(r->P[0], 0., 0.);
        bodies_close(&b);
    }
}

/* of two balls, one pushes with 0.3 N s, one neither pushes nor touches */
static void the_state_keeps_what_pushes_or_touches(void)
{
    struct bodies b;

    (void)rows_of(&b, TWO);
    CU_ASSERT_EQUAL_FATAL(b.s->impacts.count, 2);
    b.s->impacts.P[0] = 0.;
    b.s->impacts.P[1] = 0.3;
    b.s->list.at[0].gap = 1e-3;
    b.s->list.at[1].gap = 1e-3;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_record(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL(b.result.contacts, 1);
    CU_ASSERT_EQUAL_FATAL(b.c.state.at->touched, 1);
    CU_ASSERT_EQUAL(b.c.state.touched[0].id, b.s->list.at[1].id);
    CHECK_NEAR(mech_v3_norm(b.c.state.touched[0].impulse), 0.3, 1e-15);
    CHECK_NEAR(fabs(b.c.state.touched[0].impulse[2]), 0.3, 1e-15);
    b.result.contacts = 0;
    b.s->list.at[0].gap = 0.;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_record(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL(b.result.contacts, 2);
    CU_ASSERT(b.c.state.touched[0].id < b.c.state.touched[1].id);
    bodies_close(&b);
}

static void they_ascend_by_id_afterwards(void)
{
    struct mech_touched at[] = {{.id = 3}, {.id = 9}, {.id = 4}, {.id = 1}};

    mech_moreau_bodies_sort(at, 4);
    CU_ASSERT(at[0].id == 1 && at[1].id == 3 && at[2].id == 4 && at[3].id == 9);
}

static void more_than_the_state_has_room_for_are_refused(void)
{
    struct bodies b;
    char reason[200];

    bodies_open(&b, TWO, 0.01);
    const int32_t most = mech_model_sizes(b.c.model)->contact;

    CU_ASSERT_PTR_NOT_NULL(mech_moreau_bodies_room(b.s, &b.c.state, most, &b.result));
    CU_ASSERT_EQUAL(b.result.contacts, most);
    CU_ASSERT_PTR_NULL(mech_moreau_bodies_room(b.s, &b.c.state, most + 1, &b.result));
    snprintf(reason, sizeof reason, "%d contacts between shapes; contact.capacity allows %d",
             (int)most + 1, (int)most);
    CU_ASSERT_STRING_EQUAL(b.result.reason, reason);
    CU_ASSERT_EQUAL(b.result.contacts, most);
    bodies_close(&b);
}

static void a_place_that_is_not_finite_has_its_reason(void)
{
    struct bodies b;

    bodies_open(&b, ONE("0.1", "[0, 0, 0]", "{}"), 0.01);
    b.s->q0[0] = INFINITY;
    CU_ASSERT_EQUAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), MECH_NOT_FINITE);
    CU_ASSERT_STRING_EQUAL(b.result.reason, "the placement of a body is not finite");
    bodies_close(&b);
}

UNIT_TESTS(UNIT_TEST(kept_contacts_are_found_in_any_order),
           UNIT_TEST(contacts_are_looked_for_in_the_middle_of_the_step),
           UNIT_TEST(one_that_is_far_gives_no_rows),
           UNIT_TEST(a_contact_asks_for_a_rebound_or_for_its_gap),
           UNIT_TEST(a_soft_contact_has_its_compliance),
           UNIT_TEST(friction_has_rows_along_the_surface),
           UNIT_TEST(a_contact_starts_from_the_impulse_of_the_last_step),
           UNIT_TEST(the_state_keeps_what_pushes_or_touches),
           UNIT_TEST(they_ascend_by_id_afterwards),
           UNIT_TEST(more_than_the_state_has_room_for_are_refused),
           UNIT_TEST(a_place_that_is_not_finite_has_its_reason))
