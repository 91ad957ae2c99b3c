/* The operations of the integrator: its matrices follow the step size, what starts a step and what
 * a step leaves, first-order states, and when Newton's method takes over from sweeps. */
#include "tests/unit/solver/step/moreau_jean/bodies.h"

#define FALLING                                                                                    \
    BODIES_MODEL("[0, 0, -10]", "1", BODIES_NODE("n", "[0, 0, 5]", "[1, 0, 2]"),                   \
                 BODIES_BALL("ball", "n", "2", "{}"))
#define SPRING                                                                                     \
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag': "        \
    "[2]}, 'C': {'diag': [3]}, 'K': {'diag': [400]}, 'q0': [0.1], 'v0': [1]}], 'solver': "         \
    "{'integrator': 'MoreauJean'}}"
#define FIRST(A)                                                                                   \
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': {'diag': [" A     \
    "]}, 'b': [3], 'x0': [2]}], 'solver': {'integrator': 'MoreauJean'}}"

/* a stepper of a compiled model that has been started, and one step of it */
static void *started(struct compiled *c, const char *text, struct mech_step_result *result)
{
    void *made = NULL;

    compiled_open(c, text);
    *result = (struct mech_step_result){.iterations = 0};
    CU_ASSERT_EQUAL_FATAL(mech_moreau_jean_bodies.create(c->model, result, &made), 0);
    CU_ASSERT_EQUAL_FATAL(mech_moreau_jean_bodies.start(made, &c->state, result), 0);
    return made;
}

static int go(void *s, struct compiled *c, double h, struct mech_step_result *result)
{
    struct mech_state *const state = &c->state;
    const int code = mech_moreau_jean_bodies.step(s, state, h, state->at->time + h, result);

    state->at->time += h;
    state->at->last_step = h;
    return code;
}

static void finished(void *s, struct compiled *c)
{
    mech_moreau_jean_bodies.destroy(s);
    compiled_close(c);
}

/* M v' + C v + K q = 0 by θ = ½, in one iteration: W is that of each step's own size */
static void the_matrix_is_that_of_the_step_size(void)
{
    static const double sizes[] = {0.01, 0.01, 0.004, 0.01, 0.02};
    struct mech_step_result result;
    struct compiled c;
    void *const s = started(&c, SPRING, &result);
    double q = 0.1, v = 1.;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const double h = sizes[i];
        const double after = (2. * v - h * (400. * (q + 0.25 * h * v) + 1.5 * v)) /
                             (2. + 0.5 * h * (3. + 0.5 * h * 400.));

        q += 0.5 * h * (v + after);
        result = (struct mech_step_result){.iterations = 0};
        CU_ASSERT_EQUAL_FATAL(go(s, &c, h, &result), 0);
        CHECK_NEAR(c.state.v[0], after, 1e-13);
        CHECK_NEAR(c.state.q[0], q, 1e-14);
        CU_ASSERT(result.iterations <= 2);
        CHECK_NEAR(c.state.vdot[0], (after - v) / h, 1e-11);
        v = after;
    }
    finished(s, &c);
}

/* its acceleration and a are the mean of the step; q by the mean velocity */
static void a_free_body_falls_as_it_should(void)
{
    struct mech_step_result result;
    struct compiled c;
    void *const s = started(&c, FALLING, &result);

    CHECK_NEAR(c.state.vdot[2], -10., 1e-14);
    CU_ASSERT_EQUAL_FATAL(go(s, &c, 0.01, &result), 0);
    CHECK_NEAR(c.state.v[0], 1., 1e-15);
    CHECK_NEAR(c.state.v[2], 1.9, 1e-14);
    CHECK_NEAR(c.state.q[0] + 0., 0.01, 1e-15);
    CHECK_NEAR(c.state.q[2], 5. + 0.01 * 1.95, 1e-14);
    CHECK_NEAR(c.state.vdot[2], -10., 1e-11);
    CU_ASSERT_EQUAL(c.state.a[2], c.state.vdot[2]);
    CU_ASSERT_EQUAL(c.state.a[0], c.state.vdot[0]);
    finished(s, &c);
}

/* (1 − hθ A) x₁ = (1 + h (1 − θ) A) x₀ + h b, at two sizes */
static void first_order_states_take_the_theta_rule(void)
{
    const double A = -8., b = 3.;
    struct mech_step_result result;
    struct compiled c;
    void *const s = started(&c, FIRST("-8"), &result);
    double x = 2.;

    CU_ASSERT_STRING_EQUAL(mech_moreau_jean_bodies.linear(s), "");
    for (int i = 0; i < 4; i++) {
        const double h = i < 2 ? 0.05 : 0.02;

        x = ((1. + 0.5 * h * A) * x + h * b) / (1. - 0.5 * h * A);
        CU_ASSERT_EQUAL_FATAL(go(s, &c, h, &result), 0);
        CHECK_NEAR(c.state.x[0], x, 1e-15);
    }
    finished(s, &c);
}

/* 1 − hθ A = 0 at h = 0.01 s alone */
static void a_singular_matrix_of_first_order_states_is_refused_once(void)
{
    struct mech_step_result result;
    struct compiled c;
    void *const s = started(&c, FIRST("200"), &result);

    CU_ASSERT_EQUAL(go(s, &c, 0.01, &result), MECH_SINGULAR);
    CU_ASSERT_STRING_EQUAL(result.reason, "the matrix of the first-order states is singular");
    CU_ASSERT_EQUAL(go(s, &c, 0.01, &result), MECH_SINGULAR);
    CU_ASSERT_EQUAL(go(s, &c, 0.001, &result), 0);
    finished(s, &c);
}

/* of a pendulum's mass with a speed along its rod */
static void velocities_are_projected_where_the_settings_ask_for_it(void)
{
    static const char text[] =
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint2D', 'referenceCoordinates': [3, "
        "4], 'initialVelocities': [5, 0]}, {'name': 'g', 'type': 'NodePointGround', "
        "'referenceCoordinates': [0, 0, 0]}], 'objects': [{'name': 'b', 'type': 'MassPoint2D', "
        "'node': 'n', 'physicsMass': 2}, {'name': 'r', 'type': 'DistanceConstraint', 'markers': "
        "['o', 'm'], 'distance': 5}], 'markers': [{'name': 'o', 'type': 'MarkerNodePosition', "
        "'node': 'g'}, {'name': 'm', 'type': 'MarkerNodePosition', 'node': 'n'}], 'solver': "
        "{'integrator': 'MoreauJean', 'velocityProjection': %s}}";

    for (int projects = 0; projects < 2; projects++) {
        struct mech_step_result result;
        struct compiled c;
        char whole[2000];

        snprintf(whole, sizeof whole, text, projects ? "true" : "false");
        void *const s = started(&c, whole, &result);

        // without the part along (3, 4)/5
        CHECK_NEAR(c.state.v[0], projects ? 5. - 9. / 5. : 5., 1e-14);
        CHECK_NEAR(c.state.v[1], projects ? -12. / 5. : 0., 1e-14);
        finished(s, &c);
    }
}

/* a heavy ball on a light one: few sweeps do not get there */
static void newtons_method_takes_over_from_sweeps(void)
{
    static const char text[] =
        "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [" BODIES_NODE("n", "[0, 0, 0.1]",
                                                                      "[0, 0, 0]") ","        //
        BODIES_NODE("m", "[0, 0, 0.3]", "[0, 0, 0]") "], 'objects': [" BODIES_PLANE("{}") "," //
        BODIES_BALL("a", "n", "%s", "{}") "," BODIES_BALL("b", "m", "%s", "{}")               //
        "], 'solver': {'integrator': 'MoreauJean', 'vi': {'maxIterations': %d}}}";

    for (int few = 0; few < 2; few++) {
        struct mech_step_result result;
        struct compiled c;
        char whole[2000];

        snprintf(whole, sizeof whole, text, few ? "0.001" : "1", few ? "1000" : "1",
                 few ? 1 : 1000);
        void *const made = started(&c, whole, &result);
        struct mech_moreau_bodies *const s = made;

        CU_ASSERT(s->sweeps.on);
        CU_ASSERT_STRING_EQUAL(mech_moreau_jean_bodies.vi(s), mech_moreau_bodies_sweeps_name());
        CU_ASSERT_EQUAL_FATAL(go(s, &c, 0.01, &result), 0);
        CU_ASSERT_EQUAL(s->sweeps.failed, few);
        CHECK_NEAR(c.state.v[2], 0., 1e-9);
        CHECK_NEAR(c.state.v[5], 0., 1e-9);
        CU_ASSERT_EQUAL(
            strcmp(mech_moreau_jean_bodies.vi(s), mech_moreau_bodies_sweeps_name()) != 0, few);
        finished(s, &c);
    }
}

/* --- another try ------------------------------------------------------------------------------ */

/* a box that slides on a plane; `settings`, and what else there is of nodes, objects and markers */
#define SLIDING(settings, nodes, objects, markers)                                                 \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], " settings ", 'nodes': [{'name': 'n', 'type': "        \
    "'NodeRigidBodyEP', 'referenceCoordinates': [1, 0, 0.02, 1, 0, 0, 0], 'initialVelocities': "   \
    "[0, 3, 0, 0, 0, 0, 0]}" nodes "], 'objects': [" BODIES_PLANE(                                 \
        "{'friction': 0.3}") ", {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': "   \
                             "1.2, 'physicsInertia': [0.004, 0.004, 0.008, 0, 0, 0], 'geometry': " \
                             "[{'shape': 'Box', 'size': [0.2, 0.2, 0.04], 'material': {"           \
                             "'friction': 0.3}}]}" objects "], 'markers': [" markers "]}"
/* a rod leads it around */
#define LED                                                                                        \
    SLIDING("'contact': {'acceptable': 0}, 'solver': {'integrator': 'MoreauJean', 'vi': {'type': " \
            "'jacobi', 'maxIterations': %d}}",                                                     \
            ", {'name': 'o', 'type': 'NodePointGround', 'referenceCoordinates': [0, 0, 0.02]}",    \
            ", {'name': 'r', 'type': 'DistanceConstraint', 'markers': ['mo', 'mb'], 'distance': "  \
            "1}",                                                                                  \
            "{'name': 'mo', 'type': 'MarkerNodePosition', 'node': 'o'}, {'name': 'mb', 'type': "   \
            "'MarkerBodyPosition', 'object': 'b'}")
/* a ball falls beside it */
#define BESIDE(more_nodes, objects, markers)                                                       \
    SLIDING("'contact': {'capacity': %d}, 'solver': {'integrator': 'MoreauJean'}",                 \
            ", " BODIES_NODE("m", "[5, 0, 0.103]", "[0, 0, 0]") more_nodes,                        \
            ", " BODIES_BALL("a", "m", "1", "{}") objects, markers)

/* The step from `before` without contacts that slide on, by Newton's method, into the state. */
static void by_hand(struct mech_moreau_bodies *s, struct compiled *c,
                    const struct mech_state *before, double h, struct mech_step_result *result)
{
    struct mech_state *const state = &c->state;

    mech_state_copy(before, state);
    *result = (struct mech_step_result){.iterations = 0};
    memcpy(s->q0, state->q, ((size_t)s->nq + 1) * sizeof *s->q0);
    memcpy(s->v0, state->v, ((size_t)s->nv + 1) * sizeof *s->v0);
    mech_state_impulses_for(state, mech_model_contacts(s->model)->count, h);
    s->slides.on = s->slides.any = false;
    CU_ASSERT_EQUAL_FATAL(mech_moreau_bodies_solve(s, state, state->at->time + h, result), 0);
}

static void check_same(const struct mech_moreau_bodies *s, const struct mech_state *a,
                       const struct mech_state *b)
{
    CU_ASSERT_EQUAL(memcmp(a->q, b->q, (size_t)s->nq * sizeof *a->q), 0);
    CU_ASSERT_EQUAL(memcmp(a->v, b->v, (size_t)s->nv * sizeof *a->v), 0);
    CU_ASSERT_EQUAL(memcmp(a->vdot, b->vdot, (size_t)s->nv * sizeof *a->v), 0);
    CU_ASSERT_EQUAL(memcmp(a->lambda, b->lambda, (size_t)s->rows * sizeof *a->v), 0);
    CU_ASSERT_EQUAL_FATAL(a->at->touched, b->at->touched);
    CU_ASSERT_EQUAL(memcmp(a->touched, b->touched, (size_t)a->at->touched * sizeof *a->touched), 0);
}

/* The step after `before`, in which contacts slide on, with so many iterations: as without these
 * from the start, if it is tried again. Returns whether it was. */
static bool is_tried_again(const struct mech_state *before, double h, int most)
{
    struct mech_step_result result, other;
    struct mech_state after = {.q = NULL};
    struct compiled c;
    char whole[2000];

    snprintf(whole, sizeof whole, LED, most);
    void *const made = started(&c, whole, &result);
    struct mech_moreau_bodies *const s = made;
    double *const block = calloc(1, mech_state_bytes(mech_model_sizes(c.model)));

    mech_state_place(mech_model_sizes(c.model), block, &after);
    mech_state_copy(before, &c.state);
    result = (struct mech_step_result){.iterations = 0};
    const bool again = go(s, &c, h, &result) == 0 && !s->slides.on;

    if (again) {
        mech_state_copy(&c.state, &after);
        by_hand(s, &c, before, h, &other);
        check_same(s, &c.state, &after);
        CU_ASSERT_EQUAL(other.impact_gain, result.impact_gain);
    }
    free(block);
    finished(made, &c);
    return again;
}

/* With so few iterations that impulses are found only where friction opposes the end. */
static void another_try_is_as_the_first_one_would_have_been(void)
{
    const double h = 0.01;
    struct mech_step_result result;
    struct compiled c;
    struct mech_state before = {.q = NULL};
    char whole[2000];
    int seen = 0;

    snprintf(whole, sizeof whole, LED, 10000);
    void *const made = started(&c, whole, &result);
    double *const block = calloc(1, mech_state_bytes(mech_model_sizes(c.model)));

    for (int k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL_FATAL(go(made, &c, h, &result), 0);
    }
    mech_state_place(mech_model_sizes(c.model), block, &before);
    mech_state_copy(&c.state, &before);
    for (int most = 1; most < 400 && seen < 5; most++) {
        seen += is_tried_again(&before, h, most);
    }
    CU_ASSERT(seen > 0); /* how many is decided by last digits */
    free(block);
    finished(made, &c);
}

/* a heavy ball falls beside it, on a light one, for which so few sweeps are not enough */
static void what_sweeps_leave_is_newtons_at_once(void)
{
    static const char text[] =
        SLIDING("'solver': {'integrator': 'MoreauJean', 'vi': {'maxIterations': 1}}",
                ", " BODIES_NODE("l", "[5, 0, 0.103]", "[0, 0, 0]") ", " //
                BODIES_NODE("h", "[5, 0, 0.303]", "[0, 0, 0]"),          //
                ", " BODIES_BALL("light", "l", "0.001", "{}") ", "       //
                BODIES_BALL("heavy", "h", "1000", "{}"),
                "");
    const double h = 0.01;
    struct mech_step_result result, other;
    struct mech_state before = {.q = NULL}, after = {.q = NULL};
    struct compiled c;
    void *const made = started(&c, text, &result);
    struct mech_moreau_bodies *const s = made;
    const size_t bytes = mech_state_bytes(mech_model_sizes(c.model));
    double *const block[] = {calloc(1, bytes), calloc(1, bytes)};

    CU_ASSERT(s->sweeps.on);
    mech_state_place(mech_model_sizes(c.model), block[0], &before);
    mech_state_place(mech_model_sizes(c.model), block[1], &after);
    for (int k = 0; k < 2 || (k < 5 && !s->sweeps.failed); k++) {
        mech_state_copy(&c.state, &before);
        result = (struct mech_step_result){.iterations = 0};
        CU_ASSERT_EQUAL_FATAL(go(s, &c, h, &result), 0);
    }
    CU_ASSERT(s->sweeps.failed); /* they land */
    CU_ASSERT(!s->slides.on);    /* the box has slid on in the sweeps */
    mech_state_copy(&c.state, &after);
    by_hand(s, &c, &before, h, &other);
    check_same(s, &c.state, &after);
    CU_ASSERT_EQUAL(result.iterations, 1 + other.iterations);
    free(block[0]);
    free(block[1]);
    finished(made, &c);
}

/* by sweeps, or with a spring elsewhere */
static void beside(char *text, size_t size, bool linked, int capacity)
{
    if (!linked) {
        snprintf(text, size, BESIDE("", "", ""), capacity);
        return;
    }
    snprintf(text, size,
             BESIDE(", {'name': 'l', 'type': 'Node1D'}",
                    ", {'name': 'x', 'type': 'Mass1D', 'node': 'l', 'physicsMass': 1}, {'name': "
                    "'s', 'type': 'CoordinateSpringDamper', 'markers': ['0', 'm'], 'stiffness': 1}",
                    "{'name': '0', 'type': 'MarkerGroundCoordinate'}, {'name': 'm', 'type': "
                    "'MarkerNodeCoordinate', 'node': 'l', 'coordinate': 0}"),
             capacity);
}

static void what_fails_after_its_impulses_is_not_tried_again(void)
{
    for (int k = 0; k < 2; k++) {
        struct mech_step_result result[2];
        int step = 0;

        for (int room = 0; room < 2; room++) {
            struct compiled c;
            char whole[2000];
            int code = 0, n = 0;

            beside(whole, sizeof whole, k, 4 + room);
            void *const made = started(&c, whole, &result[room]);
            struct mech_moreau_bodies *const s = made;

            CU_ASSERT_EQUAL(s->sweeps.on, k == 0);
            while (code == 0 && n < (room ? step : 50)) {
                result[room] = (struct mech_step_result){.iterations = 0};
                code = go(s, &c, 0.01, &result[room]);
                n++;
            }
            step = n;
            CU_ASSERT_EQUAL(code, room ? 0 : MECH_UNSUPPORTED);
            finished(made, &c);
        }
        CU_ASSERT(step > 1 && step < 50);
        CU_ASSERT_EQUAL(result[0].iterations, result[1].iterations);
        CU_ASSERT_EQUAL(result[0].vi_iterations, result[1].vi_iterations);
        CU_ASSERT_EQUAL(result[0].impact_gain, result[1].impact_gain);
    }
}

UNIT_TESTS(UNIT_TEST(the_matrix_is_that_of_the_step_size),
           UNIT_TEST(a_free_body_falls_as_it_should),
           UNIT_TEST(first_order_states_take_the_theta_rule),
           UNIT_TEST(a_singular_matrix_of_first_order_states_is_refused_once),
           UNIT_TEST(velocities_are_projected_where_the_settings_ask_for_it),
           UNIT_TEST(newtons_method_takes_over_from_sweeps),
           UNIT_TEST(another_try_is_as_the_first_one_would_have_been),
           UNIT_TEST(what_sweeps_leave_is_newtons_at_once),
           UNIT_TEST(what_fails_after_its_impulses_is_not_tried_again))
