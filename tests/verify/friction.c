/* Moreau–Jean with friction, equalities and relays, against closed forms: a block that slides and
 * stops, sticks or slips on an incline, in the plane and in space, with every solver of the
 * impulses. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = 1400 };
static const double g = 9.81, h = 0.005;

/* a block of 1 kg over the plane z = 0 of a table: coordinates (z, x, y), gravity turned by `angle`
 * about y, start velocity v along x; dimension 2 leaves y out of the contact. The threshold keeps a
 * contact that an impulse within its tolerance has opened by 1e-15 m. */
static struct mech_sim *block(double angle, double v, double mu, int dimension, const char *vi)
{
    char text[TEXT];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
             " 'M': {'diag': [1, 1, 1]}, 'v0': [0, %.17g, 0], 'Fext': [%.17g, %.17g, 0]}],"
             " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation':"
             " {'type': 'LagrangianLinearTIR', 'H': [[1, 0, 0], [0, 1, 0]%s]},"
             " 'law': {'type': 'NewtonImpactFriction', 'dimension': %d, 'en': 0, 'mu': %.17g}}],"
             " 'solver': {'integrator': 'MoreauJean', 'theta': 0.5, 'gamma': 0.5,"
             " 'stepSize': 0.005, 'activationThreshold': 1e-9, 'vi': {'tolerance': 1e-12, "
             "'maxIterations': 20000%s%s%s}}}",
             v, -g * cos(angle), g * sin(angle), dimension == 3 ? ", [0, 0, 1]" : "", dimension, mu,
             vi ? ", 'type': '" : "", vi ? vi : "", vi ? "'" : "");
    return model_of(text);
}

static void check_sliding(struct mech_sim *s)
{
    CU_ASSERT_EQUAL(model_steps(s, 50), 0);
    CHECK_NEAR(view_of(s).v[1], 1.26425, 1e-12);
    CHECK_NEAR(view_of(s).impulse[0], g * h, 4e-12); /* the residual is relative to a speed of 2 */
    CHECK_NEAR(view_of(s).impulse[1], -0.3 * g * h, 4e-12);
    CU_ASSERT_EQUAL(model_steps(s, 50), 0);
    CHECK_NEAR(view_of(s).q[1], 0.632125, 1e-11);
    CU_ASSERT_EQUAL(model_steps(s, 35), 0);
    CHECK_NEAR(view_of(s).q[1], 0.6795478125, 1e-11);
    CU_ASSERT(view_of(s).v[1] > 0.01);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CHECK_NEAR(view_of(s).v[1], 0., 1e-12); /* step 136: it stops */
    CU_ASSERT_EQUAL(model_steps(s, 20), 0);
    CHECK_NEAR(view_of(s).q[1], 0.6795815, 5e-8);
    CHECK_NEAR(view_of(s).impulse[1], 0., 1e-12);
    CHECK_NEAR(view_of(s).q[0], 0., 1e-12);
}

static void a_sliding_block_stops_in_its_step(void)
{
    static const char *const names[] = {NULL,   "nsgs", "semismooth", "admm",
                                        "apgd", "psor", "barzilai",   "jacobi"};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        for (int dimension = 2; dimension <= 3; dimension++) {
            struct mech_sim *const s = block(0., 2., 0.3, dimension, names[k]);

            check_sliding(s);
            mech_sim_destroy(s);
        }
    }
}

/* A sphere of 1 kg that slides over a floor at 30 m/s presses with g h, 3e5 times slower at this h:
 * an iteration a step. */
static void a_fast_slide_takes_few_iterations(void)
{
    static const char *const members[] = {"admm", "apgd", "barzilai", "jacobi", "nsgs", "psor"};

    for (size_t k = 0; k < sizeof members / sizeof *members; k++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 20};
        struct mech_step_report report = {0};
        char text[TEXT];

        snprintf(
            text, sizeof text,
            "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type':"
            " 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0],"
            " 'initialVelocities': [30, 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'floor',"
            " 'type': 'Ground', 'geometry': [{'shape': 'Plane', 'material': {'friction': 0.2}}]},"
            " {'name': 's', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 1,"
            " 'physicsInertia': [0.004, 0.004, 0.004, 0, 0, 0], 'geometry': [{'shape': 'Sphere',"
            " 'material': {'friction': 1}, 'radius': 0.1}]}], 'solver': {'integrator':"
            " 'MoreauJean', 'stepSize': 1e-5, 'vi': {'type': '%s'}}}",
            members[k]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
        if (report.vi_iterations > 20) {
            fprintf(stderr, "%s: %d\n", members[k], (int)report.vi_iterations);
        }
        CU_ASSERT(report.vi_iterations <= 20);
        /* μ g h a step, but for one */
        CHECK_NEAR(view_of(s).v[0], 30. - 0.2 * g * 20e-5, 0.2 * g * 1e-5);
        mech_sim_destroy(s);
    }
}

static void an_incline_holds_up_to_the_angle_of_friction(void)
{
    const double mu = 0.5, limit = atan(mu);

    for (int k = -1; k <= 1; k += 2) {
        const double a = limit + k * 1e-6;
        struct mech_sim *const s = block(a, 0., mu, 3, NULL);

        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        if (k < 0) {
            CHECK_NEAR(view_of(s).v[1], 0., 1e-14);
            CHECK_NEAR(view_of(s).impulse[1], -g * h * sin(a), 1e-13);
            CHECK_NEAR(view_of(s).impulse[0], g * h * cos(a), 1e-13);
        } else {
            CHECK_NEAR(view_of(s).v[1], g * h * (sin(a) - mu * cos(a)), 1e-13);
            CU_ASSERT(view_of(s).v[1] > 0.);
        }
        mech_sim_destroy(s);
    }
}

/* the block leaves along the diagonal of the table: friction turns with it */
static void friction_points_against_the_motion(void)
{
    struct mech_sim *const s = block(0., 1., 0.2, 3, NULL);
    const double v[] = {0., 3., 4.};
    const struct mech_state_view set = {.time = NAN, .v = v};

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &set), 0);
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    const double left = 5. - 0.2 * g * 100. * h;

    CHECK_NEAR(view_of(s).v[1], 0.6 * left, 1e-11);
    CHECK_NEAR(view_of(s).v[2], 0.8 * left, 1e-11);
    mech_sim_destroy(s);
}

/* what falls is stopped, and what it loses along the tangent is at most μ times the impact */
static void an_impact_takes_friction_along(void)
{
    struct mech_sim *const s = block(0., 2., 0.3, 3, NULL);
    const double q[] = {1e-3, 0., 0.}, v[] = {-4., 2., 0.};
    const struct mech_state_view set = {.time = NAN, .q = q, .v = v};

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &set), 0);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CHECK_NEAR(view_of(s).v[0], 0., 1e-14);
    CHECK_NEAR(view_of(s).v[1], 2. - 0.3 * (4. + g * h), 1e-13);
    mech_sim_destroy(s);
}

/* a ball of radius 0.5 m that slides on a plane; coordinates (z, x, turn): the contact slips by
 * v − ω r */
static struct mech_sim *ball(const char *law, const char *solver)
{
    char text[TEXT];

    snprintf(text, sizeof text,
             "{'mechd': 1, %s 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': "
             "{'diag': [2, 2, 0.2]}, 'v0': [0, 1, 0], 'Fext': [-19.62, 0, 0]}], 'interactions': "
             "[{'name': 'c', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR', 'H': "
             "[[1, 0, 0], [0, 1, -0.5]]}, 'law': {'type': 'NewtonImpactFriction', 'dimension': 2, "
             "'mu': 0.4}}], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005, "
             "'activationThreshold': 1e-9, 'vi': {'tolerance': 1e-13, 'maxIterations': 20000%s}}}",
             law, solver);
    return model_of(text);
}

/* one step from the closed forms of both laws (m = 2, J = 0.4 m r²) */
static void the_document_chooses_the_law_of_friction(void)
{
    static const char *const solvers[] = {"", ", 'type': 'apgd'", ", 'type': 'admm'",
                                          ", 'type': 'nsgs'", ", 'type': 'semismooth'"};

    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        struct mech_sim *const relaxed = ball("'contact': {'friction': 'associated'},", solvers[k]);
        struct mech_sim *const strict = ball("'contact': {'friction': 'coulomb'},", solvers[k]);

        CU_ASSERT_EQUAL(model_steps(relaxed, 1), 0);
        CHECK_NEAR(view_of(relaxed).impulse[0] / 2., 0.287853, 5e-7);
        CHECK_NEAR(view_of(relaxed).v[1], 0.884859, 5e-7);
        CHECK_NEAR(view_of(relaxed).v[0], 0.238803, 5e-7);
        CU_ASSERT_EQUAL(model_steps(strict, 1), 0);
        CHECK_NEAR(view_of(strict).v[1], 0.980380, 1e-12);
        CHECK_NEAR(view_of(strict).v[0], 0., 1e-12);
        CHECK_NEAR(view_of(strict).v[2] * 0.5, 0.04905, 1e-12);
        mech_sim_destroy(relaxed);
        mech_sim_destroy(strict);
    }
}

/* friction takes angular momentum about the plane from no body: it ends at v = ω r = 5/7 v0, when
 * 2 v0/(7 μ g) is over */
static void a_ball_slides_until_it_rolls(void)
{
    struct mech_sim *const s = ball("", "");
    const int slides = (int)(2. / (7. * 0.4 * g) / h);

    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)slides), 0);
    CHECK_NEAR(view_of(s).v[1], 1. - 0.4 * g * h * slides, 1e-11);
    CU_ASSERT(view_of(s).v[1] - 0.5 * view_of(s).v[2] > 1e-3);
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(view_of(s).v[1], 5. / 7., 1e-11);
    CHECK_NEAR(0.5 * view_of(s).v[2], 5. / 7., 1e-11);
    CHECK_NEAR(view_of(s).impulse[1], 0., 1e-11);
    mech_sim_destroy(s);
}

static void an_equality_keeps_its_rows_at_rest(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 " 'M': {'diag': [2, 3]}, 'v0': [1, 1], 'Fext': [5, 0]}],"
                 " 'interactions': [{'name': 'rod', 'systems': ['s'], 'relation':"
                 " {'type': 'LagrangianLinearTIR', 'H': [[1, -1]]}, 'law': {'type': 'Equality'}}],"
                 " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}");

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    /* both move as one of 5 kg under 5 N */
    CHECK_NEAR(view_of(s).v[0], 2., 1e-12);
    CHECK_NEAR(view_of(s).v[1], 2., 1e-12);
    CHECK_NEAR(view_of(s).impulse[0], -3. * 0.01, 1e-13);
    mech_sim_destroy(s);
}

/* a relay is dry friction of given force: m v̇ = F − 2 sign v */
static void a_relay_is_dry_friction(void)
{
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 " 'M': [[1]], 'v0': [1], 'Fext': [1.5]}],"
                 " 'interactions': [{'name': 'pad', 'systems': ['s'], 'relation':"
                 " {'type': 'LagrangianLinearTIR', 'H': [[1]]},"
                 " 'law': {'type': 'Relay', 'lb': -2, 'ub': 2}}],"
                 " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}");

    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(view_of(s).v[0], 1. - 0.5, 1e-12);
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(view_of(s).v[0], 0., 1e-12);
    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    CHECK_NEAR(view_of(s).v[0], 0., 1e-12);
    CHECK_NEAR(view_of(s).impulse[0], -1.5 * 0.01, 1e-13); /* it holds against the force */
    mech_sim_destroy(s);
}

static void steps_with_friction_allocate_nothing(void)
{
    struct mech_sim *const s = block(0.2, 2., 0.3, 3, NULL);

    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    alloc_count_start();
    CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_sim_destroy(s);
}

static void what_cannot_be_is_refused(void)
{
    static const char model[] =
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]]}],"
        " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation':"
        " {'type': 'LagrangianLinearTIR', 'H': [[1]]}, 'law': {%s}}],"
        " 'solver': {'integrator': 'MoreauJean'%s}}";
    char text[TEXT];

    snprintf(text, sizeof text, model, "'type': 'NewtonImpactFriction', 'mu': 0.1", "");
    CU_ASSERT(model_refused(text, "/interactions/0/relation/H", "needs 3"));
    snprintf(text, sizeof text, model, "'type': 'NewtonImpactFriction', 'mu': -0.1", "");
    CU_ASSERT(model_refused(text, "/interactions/0/law/mu", ""));
    snprintf(text, sizeof text, model, "'type': 'Relay', 'lb': 1, 'ub': -1", "");
    CU_ASSERT(model_refused(text, "/interactions/0/law/lb", "above"));
    snprintf(text, sizeof text, model, "'type': 'Relay'", ", 'vi': {'type': 'lemke'}");
    CU_ASSERT(model_refused(text, "/solver/vi/type", "does not support"));
}

UNIT_TESTS(UNIT_TEST(a_sliding_block_stops_in_its_step),
           UNIT_TEST(a_fast_slide_takes_few_iterations),
           UNIT_TEST(an_incline_holds_up_to_the_angle_of_friction),
           UNIT_TEST(friction_points_against_the_motion), UNIT_TEST(an_impact_takes_friction_along),
           UNIT_TEST(the_document_chooses_the_law_of_friction),
           UNIT_TEST(a_ball_slides_until_it_rolls), UNIT_TEST(an_equality_keeps_its_rows_at_rest),
           UNIT_TEST(a_relay_is_dry_friction), UNIT_TEST(steps_with_friction_allocate_nothing),
           UNIT_TEST(what_cannot_be_is_refused))
