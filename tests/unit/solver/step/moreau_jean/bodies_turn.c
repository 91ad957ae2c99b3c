/* How rows turn within a step, and what the law of a contact that lasts reads of that. */
#include "solver/linalg/v3.h"
#include "tests/unit/solver/step/moreau_jean/bodies.h"

/* past a ball of 0.3 m at rest: u_N = v · n grows from 0 at the start, where n is up, to that of
 * the middle, h/2 later */
static void a_row_between_balls_turns_with_the_line_of_their_centres(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, 0]", "1", BODIES_NODE("n", "[0, 0, 0.4]", "[2, 0, 0]"),
                     "{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Sphere', 'radius': "
                     "0.3}]}," BODIES_BALL("ball", "n", "1", "{}"));
    const double h = 0.01, speed = 2., distance = 0.4;
    struct bodies b;

    bodies_open(&b, text, h);
    b.c.state.v[0] = 1.; /* the velocities of the start are v0 */
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(b.s->list.n, 1);
    CHECK_NEAR(mech_v3_dot(b.s->foretold.of[0].turn, b.s->list.at[0].normal),
               speed * speed / hypot(distance, 0.5 * h * speed), 1e-9);
    bodies_close(&b);
}

static void on_a_plane_nothing_turns_that_does_not_spin(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[2, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "1", "{}"));
    struct bodies b;

    bodies_open(&b, text, 0.01);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(b.s->list.n, 1);
    CHECK_NEAR(mech_v3_norm(b.s->foretold.of[0].turn), 0., 0.);
    bodies_close(&b);
}

/* What the law of a contact with the plane reads, of a row that turns by `turn` m/s² upward and a
 * speed at the start, where h = 0.01 s and θ = ½: a drift of turn/200, but not below the speed less
 * half of g h = 0.1 m/s where the row turns away; the gap without half of that over h/2. */
static void a_contact_that_lasts_drifts_as_its_row_turns(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "1", "{}"));
    static const struct {
        double turn, speed, drift, gap;
    } cases[] = {
        {-4., -0.02, -0.02, 0.}, /* by what it turns */
        {-40., 0., -0.05, 0.},   /* by what the weight closes at most */
        {40., 0.2, 0.2, -5e-4},  /* towards: its gap without the turn */
        {-40., -0.7, 0., 0.},    /* closes faster than its row turns: it does not last */
        {0., -0.02, 0., 0.},     /* nothing turns */
    };
    struct bodies b;

    bodies_open(&b, text, 0.01);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_detect(b.s, &b.c.state, &b.result), 0);
    CU_ASSERT_EQUAL_FATAL(b.s->list.n, 1);
    struct mech_contact *const contact = &b.s->list.at[0];
    struct mech_foretold_of *const of = &b.s->foretold.of[0];
    const struct mech_material material = mech_model_touch_material(b.c.model, contact);
    struct mech_touched kept = {.id = contact->id};
    const double up = contact->normal[2] > 0. ? 1. : -1.;

    contact->gap = 0.;
    memcpy(kept.impulse, contact->normal, sizeof kept.impulse);
    mech_model_touch_frame(b.c.model, contact, &b.s->touch);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memset(of->turn, 0, sizeof of->turn);
        of->turn[2] = up * cases[k].turn;
        mech_moreau_bodies_lasts(b.s, 0, &material, &b.s->touch, cases[k].speed, &kept);
        CHECK_NEAR(of->drift[0], cases[k].drift, 1e-16);
        CHECK_NEAR(of->drift[1], 0., 0.);
        CHECK_NEAR(of->gap, cases[k].gap, 1e-18);
    }
    bodies_close(&b);
}

static void a_drift_that_may_do_work_is_taken_back(void)
{
    static const struct {
        double drift[3], change[3], left;
        bool gains;
    } cases[] = {
        {{-1., 2., 3.}, {1., -2., -3.}, 0., true},
        {{-1., 0., 0.}, {1., 0., 0.}, 0., true},
        {{2., 0., 0.}, {0., 0., 0.}, 2., false},
        {{2., 0., -1.}, {0., 0., 1.}, 2., true},
    };

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mech_foretold_of of = {.gap = 0.};
        double change[3];

        memcpy(of.drift, cases[k].drift, sizeof of.drift);
        CU_ASSERT_EQUAL(mech_moreau_bodies_may_gain(&of), cases[k].gains);
        mech_moreau_bodies_stop(&of, change);
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(change[i], cases[k].change[i], 0.);
            CHECK_NEAR(of.drift[i], i == 0 ? cases[k].left : 0., 0.);
        }
        CU_ASSERT_FALSE(mech_moreau_bodies_may_gain(&of));
    }
}

/* Work that the solvers have missed as a whole, in units of their tolerance. */
static void what_accepted_impulses_miss_is_no_gain(void)
{
    static const char text[] =
        BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 0.1]", "[0, 0, 0]"),
                     BODIES_PLANE("{}") "," BODIES_BALL("ball", "n", "1", "{}"));
    static const struct {
        bool accepted;
        double off, gain; /* of the tolerance */
    } cases[] = {{false, 0., 1e6 - 1.},
                 {false, 2e6, 1e6 - 1.}, /* of another step */
                 {true, 0., 1e6 - 1.},
                 {true, 1e5, 1e6 - 1e5},
                 {true, 2e6, 0.}};
    struct bodies b;

    bodies_open(&b, text, 0.01);
    const double unit = mech_model_settings(b.s->model)->vi.tolerance;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        b.s->accepted = cases[k].accepted;
        b.s->off = cases[k].off * unit;
        CHECK_NEAR(mech_moreau_bodies_gain(b.s, 1e6 * unit, 1e6 * unit, 1.), cases[k].gain * unit,
                   1e-9 * unit);
        CHECK_NEAR(mech_moreau_bodies_gain(b.s, -1e6 * unit, -2e6 * unit, 1.),
                   cases[k].off > 1e6 && cases[k].accepted ? 1e6 * unit : 0., 1e-9 * unit);
    }
    bodies_close(&b);
}

/* A capsule and a plate that rub on each other, whose row turns away so fast that the law takes
 * from the one what it gives the other to the last bit: none of the solvers makes a gain of what
 * its tolerance leaves. */
static void every_solver_decides_the_same_of_a_turn(void)
{
#define THROWN(name) "{'name': '" name "', 'type': 'NodeRigidBodyRotVecLG', "
#define SMOOTH(name, node, mass)                                                                   \
    "{'name': '" name "', 'type': 'RigidBody', 'node': '" node "', 'physicsMass': " mass           \
    ", 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0], 'geometry': [{'material': {'friction': 0}, "
    static const char format[] = "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [" THROWN(
        "a") "'referenceCoordinates': [0.0868956946054, 0.0199268489453, 0.593638677255,"
             "0.130550830226, -0.0329285272241, -0.103757411222], 'initialVelocities': "
             "[0.663726324903,"
             "0.154447712193, -2.4304004773, 0.971349446837, -0.439681662491, "
             "-0.811034997033]}, " THROWN(
                 "b") "'referenceCoordinates': [0.261552152697, -0.0612134244727, 0.882276411372,"
                      "0.163569597902, 0.365432695208, 0.100422597186], 'initialVelocities': "
                      "[-1.83186316245,"
                      "-0.702223856096, -1.10399976135, 1.28774346111, 2.51321987135, "
                      "0.781486636655]}],"
                      "'objects': [" SMOOTH(
                          "capsule", "a",
                          "1") "'shape': 'Capsule', 'length': 0.453125, 'radius': 0.296875,"
                               "'rotation': [1, -1.75, -3.875]}]}, " SMOOTH(
                                   "plate", "b", "2") "'shape': 'Box', 'size': [0.4375, 0.5, "
                                                      "0.03125]}]}], 'solver': {'integrator':"
                                                      "'MoreauJean', 'stepSize': 0.02, 'theta': "
                                                      "0.5, 'vi': {'tolerance': 1e-10%s}}}";
    static const char *const types[] = {"", "nsgs", "psor", "apgd", "semismooth", "admm"};
    double first[12];

    for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
        char text[3000], type[40] = "";

        if (k > 0) {
            snprintf(type, sizeof type, ", 'type': '%s'", types[k]);
        }
        snprintf(text, sizeof text, format, type);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
        if (k == 0) {
            memcpy(first, model_state(s).v, sizeof first);
        }
        CHECK_NEAR(model_distance(model_state(s).v, first, 12), 0., 1e-8);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_row_between_balls_turns_with_the_line_of_their_centres),
           UNIT_TEST(on_a_plane_nothing_turns_that_does_not_spin),
           UNIT_TEST(a_contact_that_lasts_drifts_as_its_row_turns),
           UNIT_TEST(a_drift_that_may_do_work_is_taken_back),
           UNIT_TEST(what_accepted_impulses_miss_is_no_gain),
           UNIT_TEST(every_solver_decides_the_same_of_a_turn))
