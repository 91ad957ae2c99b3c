/* Jacobians of steps restricted to some outputs, and what they hold for: the contacts and one-sided
 * joints that act. */
#include "solver/sim/analysis.h"
#include "tests/verify/example.h"

#include <string.h>

enum { MOST = 4096, ROOM = 16 };

static const struct mech_step_request four = {.kind = MECH_STEP_COUNT, .count = 4};

static int jacobian(struct mech_sim *s, const struct mech_jacobian_query *q, double *out,
                    struct mech_derived *told)
{
    struct mech_derivation *d = NULL;
    int code = mech_sim_jacobian_begin(s, q, out, told, &d);

    for (bool done = false; code == 0 && !done;) {
        code = mech_sim_derivation_advance(d, 1, &done);
    }
    mech_sim_derivation_end(d);
    return code;
}

/* Each output alone, and all in reverse, have the rows of the whole, to the bit. */
static void rows_of_some_outputs_are_those_of_the_whole(void)
{
    static const char *const names[] = {"driven-oscillator", "slider-crank", "robot-arm",
                                        "chain-100"};
    static double whole[MOST], part[MOST];

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        struct mech_sim *const s = example_of(names[k]);
        const size_t n = mech_sim_variable_count(s, MECH_OUTPUT_VARIABLE);
        const size_t columns = mech_sim_input_size(s);
        int32_t reversed[64];
        struct mech_derived told;

        if (columns == 0) {
            mech_sim_destroy(s);
            continue;
        }
        CU_ASSERT_FATAL(n <= 64 && mech_sim_output_size(s) * columns <= MOST);
        CU_ASSERT_EQUAL_FATAL(mech_sim_jacobian(s, &four, 0, whole, &told), 0);
        for (size_t i = 0; i < n; i++) {
            const int32_t one = (int32_t)i;
            const struct mech_jacobian_query q = {
                .step = &four, .outputs = &one, .output_count = 1};
            struct mech_variable v;

            mech_sim_variable(s, MECH_OUTPUT_VARIABLE, i, &v);
            CU_ASSERT_EQUAL(mech_sim_jacobian_rows(s, &q), (size_t)v.size);
            CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, part, &told), 0);
            CU_ASSERT(memcmp(part, whole + (size_t)v.offset * columns,
                             (size_t)v.size * columns * sizeof *part) == 0);
            reversed[n - 1 - i] = one;
        }
        const struct mech_jacobian_query q = {
            .step = &four, .outputs = reversed, .output_count = n};
        const double *at = part;
        CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, part, &told), 0);
        for (size_t i = 0; i < n; i++) {
            struct mech_variable v;

            mech_sim_variable(s, MECH_OUTPUT_VARIABLE, (size_t)reversed[i], &v);
            CU_ASSERT(memcmp(at, whole + (size_t)v.offset * columns,
                             (size_t)v.size * columns * sizeof *at) == 0);
            at += (size_t)v.size * columns;
        }
        mech_sim_destroy(s);
    }
}

/* A ball over the floor at 1.1 m, its radius 0.1 m, with its weight as an input. */
#define BALL                                                                                       \
    "{'mechd': 1, 'parameters': {'f': -9.81}, 'objects': [{'name': 's', 'type':"                   \
    "'LagrangianLinearTIDS', 'M': [[1]], 'q0': [1.1], 'Fext': ['=f']}], 'interactions': ["         \
    "{'name': 'floor', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR', 'H': [[1]],"  \
    "'b': [-0.1]}, 'law': {'type': 'NewtonImpact', 'e': 0}}], 'sensors': [{'name': 'q', 'type':"   \
    "'SensorObject', 'object': 's', 'outputVariable': 'Coordinates'}], 'inputs': [{'name': 'f',"   \
    "'parameter': 'f'}], 'outputs': [{'name': 'y', 'sensor': 'q', 'component': 0}],"               \
    "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}"

static void the_active_set_is_that_of_the_steps(void)
{
    static const struct {
        double from;    /* s */
        uint64_t count; /* internal steps */
        uint64_t total; /* of what acts at their end */
        bool constant;
    } cases[] = {{0., 4, 0, true}, {0.43, 4, 1, false}, {0.6, 4, 1, true}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct mech_sim *const s = model_of(BALL);
        struct mech_active at[ROOM];
        struct mech_active_set set = {.at = at, .room = ROOM};
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = cases[k].count};
        const struct mech_jacobian_query q = {.step = &r, .active = &set};
        struct mech_derived told;
        double out[1];

        CU_ASSERT(cases[k].from == 0. || model_step(s, cases[k].from) == 0);
        CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, out, &told), 0);
        CU_ASSERT_EQUAL(set.total, cases[k].total);
        CU_ASSERT_EQUAL(set.constant, cases[k].constant);
        if (set.count == 1) {
            CU_ASSERT_STRING_EQUAL(at[0].item, "floor");
            CU_ASSERT(at[0].of == MECH_LOGGED_INTERACTION && at[0].row == 0 && !at[0].with);
        }
        mech_sim_destroy(s);
    }
}

/* Without inputs the matrix has no columns, and what acts is the same. */
static void the_active_set_needs_no_inputs(void)
{
    char text[] = BALL;
    char *const from = strstr(text, "'inputs'"), *const to = strstr(text, "'outputs'");

    memmove(from, to, strlen(to) + 1);
    struct mech_sim *const s = model_of(text);
    struct mech_active at[ROOM];
    struct mech_active_set set = {.at = at, .room = ROOM};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 4};
    const struct mech_jacobian_query q = {.step = &r, .active = &set};
    struct mech_derived told;
    double out[1];

    CU_ASSERT_EQUAL(mech_sim_input_size(s), 0);
    CU_ASSERT_EQUAL(model_step(s, 0.43), 0);
    CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, out, &told), 0);
    CU_ASSERT_EQUAL(set.total, 1);
    CU_ASSERT(!set.constant);
    CU_ASSERT(set.count == 1 && strcmp(at[0].item, "floor") == 0);
    mech_sim_destroy(s);
}

/* A sphere that just touches a floor without weight: pressed it rests, lifted it leaves. */
static void contacts_between_shapes_make_a_step_kinked(void)
{
    static const char *const heights[] = {"0.5", "0.7"};

    for (int k = 0; k < 2; k++) {
        char text[2048];
        struct mech_derived told;
        struct mech_active at[ROOM];
        struct mech_active_set set = {.at = at, .room = ROOM};
        const struct mech_jacobian_query q = {.step = &four, .active = &set};
        double out[3 * 3];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
                 "'referenceCoordinates': [0, 0, %s, 1, 0, 0, 0]}], 'objects': [{'name':"
                 "'ground', 'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'b',"
                 "'type': 'RigidBody', 'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1,"
                 "0.1, 0, 0, 0], 'geometry': [{'shape': 'Sphere', 'radius': 0.5}]}], 'markers': ["
                 "{'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'b'}], 'loads': [{'name':"
                 "'F', 'type': 'LoadForceVector', 'marker': 'm', 'load': [0, 0, 0]}], 'sensors':"
                 "[{'name': 'p', 'type': 'SensorBody', 'object': 'b', 'outputVariable':"
                 "'Position'}], 'inputs': [{'name': 'force', 'load': 'F'}], 'outputs': [{'name':"
                 "'p', 'sensor': 'p'}], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}",
                 heights[k]);
        struct mech_sim *const s = model_of(text);
        CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, out, &told), 0);
        CU_ASSERT_EQUAL(told.kinked, k == 0);
        CU_ASSERT_EQUAL(set.total, 0);
        const double down[] = {0., 0., -10.};
        CU_ASSERT_EQUAL(mech_sim_set_input(s, 0, down, 0, NULL), 0);
        CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, out, &told), 0);
        CU_ASSERT_EQUAL(set.total, k == 0);
        if (set.count == 1) {
            CU_ASSERT(at[0].of == MECH_LOGGED_BODIES);
            CU_ASSERT_STRING_EQUAL(at[0].item, "ground");
            CU_ASSERT_STRING_EQUAL(at[0].with, "b");
        }
        mech_sim_destroy(s);
    }
}

/* Something acts at the end of `count` steps from `from` on, and it is the same in all of them or
 * not: at least so many rows and pairs. */
static void check_constant(const char *text, double from, uint64_t count, uint64_t least,
                           bool constant)
{
    struct mech_sim *const s = model_of(text);
    struct mech_active at[ROOM];
    struct mech_active_set set = {.at = at, .room = ROOM};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = count};
    const struct mech_jacobian_query q = {.step = &r, .active = &set};
    struct mech_derived told;
    double out[64];

    CU_ASSERT_FATAL(mech_sim_input_size(s) * mech_sim_output_size(s) <= 64);
    CU_ASSERT(from == 0. || model_step(s, from) == 0);
    CU_ASSERT_EQUAL_FATAL(jacobian(s, &q, out, &told), 0);
    CU_ASSERT(set.total >= least);
    CU_ASSERT_EQUAL(set.constant, constant);
    mech_sim_destroy(s);
}

/* A box of 1 kg on a plane, of which gravity is an input. */
#define BOX(z, e, vx, mu)                                                                          \
    "{'mechd': 1, 'parameters': {'f': 0}, 'gravity': [0, 0, -10], 'nodes': [{'name': 'n', 'type':" \
    "'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, " z ", " e "], 'initialVelocities': [" vx   \
    ", 0, 0, 0, 0, 0, 0]}], 'objects': [{'name': 'ground', 'type': 'Ground', 'geometry': ["        \
    "{'shape': 'Plane', 'material': {'friction': " mu "}}]}, {'name': 'b', 'type': 'RigidBody',"   \
    "'node': 'n', 'physicsMass': 1, 'physicsInertia': [0.1, 0.1, 0.1, 0, 0, 0], 'geometry': ["     \
    "{'shape': 'Box', 'size': [1, 1, 0.4], 'material': {'friction': " mu "}}]}], 'markers': ["     \
    "{'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'b'}], 'loads': [{'name': 'F', 'type':" \
    "'LoadForceVector', 'marker': 'm', 'load': ['=f', 0, 0]}], 'sensors': [{'name': 'p', 'type':"  \
    "'SensorBody', 'object': 'b', 'outputVariable': 'Position'}], 'inputs': [{'name': 'f',"        \
    "'parameter': 'f'}], 'outputs': [{'name': 'p', 'sensor': 'p'}], 'solver': {'integrator':"      \
    "'MoreauJean', 'stepSize': 0.01}}"

/* A block at 0.5 m/s with a friction of 0.5 stops after 0.1 s: until then and from then on a
 * derivative holds, over the stop it does not. So for shapes and for rows. */
static void what_slides_and_stops_is_no_constant_set(void)
{
    static const char *const models[] = {
        BOX("0.2", "1, 0, 0, 0", "0.5", "0.5"),
        "{'mechd': 1, 'parameters': {'f': 0}, 'objects': [{'name': 's', 'type':"
        "'LagrangianLinearTIDS', 'M': [[1, 0], [0, 1]], 'v0': [0.5, 0], 'Fext': ['=f', -10]}],"
        "'interactions': [{'name': 'floor', 'systems': ['s'], 'relation': {'type':"
        "'LagrangianLinearTIR', 'H': [[0, 1], [1, 0]]}, 'law': {'type': 'NewtonImpactFriction',"
        "'dimension': 2, 'en': 0, 'mu': 0.5}}], 'sensors': [{'name': 'q', 'type': 'SensorObject',"
        "'object': 's', 'outputVariable': 'Coordinates'}], 'inputs': [{'name': 'f', 'parameter':"
        "'f'}], 'outputs': [{'name': 'y', 'sensor': 'q', 'component': 0}],"
        "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}"};

    for (int k = 0; k < 2; k++) {
        check_constant(models[k], 0., 5, 1, true);
        check_constant(models[k], 0.05, 10, 1, false);
        check_constant(models[k], 0.2, 5, 1, true);
    }
}

/* ẋ = f − sign x from 1: the relay is at its bound until t = 2, then between. */
static void a_relay_that_leaves_its_bound_is_no_constant_set(void)
{
    static const char relay[] =
        "{'mechd': 1, 'parameters': {'f': 0.5}, 'objects': [{'name': 's', 'type':"
        "'FirstOrderLinearTIDS', 'A': [[0]], 'b': ['=f'], 'x0': [1]}], 'interactions': [{'name':"
        "'relay', 'systems': ['s'], 'relation': {'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B':"
        "[[1]]}, 'law': {'type': 'Relay', 'lb': -1, 'ub': 1}}], 'sensors': [{'name': 'q', 'type':"
        "'SensorObject', 'object': 's', 'outputVariable': 'Coordinates'}], 'inputs': [{'name':"
        "'f', 'parameter': 'f'}], 'outputs': [{'name': 'y', 'sensor': 'q', 'component': 0}],"
        "'solver': {'integrator': 'EulerMoreau', 'theta': 1, 'stepSize': 0.03}}";

    check_constant(relay, 0., 40, 1, true);
    check_constant(relay, 0.03, 80, 1, false);
    check_constant(relay, 2.4, 20, 1, true);
}

/* A smooth box that falls flat: two points of its edge touch, then four, of one pair. */
static void points_that_come_to_a_pair_are_the_same_set(void)
{
    check_constant(BOX("0.2489176", "0.9987502604, 0, 0.0499791693, 0", "0", "0"), 0.1, 20, 1,
                   true);
}

/* The force of a spring is k x + d v: so are its derivatives, at rest, where it is a small
 * difference of large terms, and in motion. */
static void a_force_has_the_slopes_of_its_spring(void)
{
    static const double k = 4000., d = 8.;
    struct mech_sim *const s = example_of("spring-mass-damper");

    for (uint64_t steps = 1; steps < 600; steps *= 8) {
        const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = steps};
        struct mech_derived told;
        double J[3];

        CU_ASSERT_EQUAL(mech_sim_jacobian(s, &request, 0, J, &told), 0);
        CU_ASSERT(!told.differenced);
        CHECK_NEAR(J[2] / (k * J[0] + d * J[1]), 1., 1e-9);
        CU_ASSERT_EQUAL(model_steps(s, 5), 0);
    }
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(rows_of_some_outputs_are_those_of_the_whole),
           UNIT_TEST(the_active_set_is_that_of_the_steps),
           UNIT_TEST(the_active_set_needs_no_inputs),
           UNIT_TEST(what_slides_and_stops_is_no_constant_set),
           UNIT_TEST(a_relay_that_leaves_its_bound_is_no_constant_set),
           UNIT_TEST(points_that_come_to_a_pair_are_the_same_set),
           UNIT_TEST(contacts_between_shapes_make_a_step_kinked),
           UNIT_TEST(a_force_has_the_slopes_of_its_spring))
