/* Interactions: rows over the coordinates of several systems, and what is refused. */
#include "tests/unit/model.h"

#define BALL(name, q0)                                                                             \
    "{'name': '" name "', 'type': 'LagrangianLinearTIDS', 'M': [[1]], 'q0': [" q0 "],"             \
    "'Fext': [-9.81]}"
#define CONTACT(systems, H, b)                                                                     \
    "{'name': 'c" systems "', 'systems': [" systems "], 'relation': {"                             \
    "'type': 'LagrangianLinearTIR', 'H': " H ", 'b': " b "},"                                      \
    "'law': {'type': 'NewtonImpact', 'e': 0.5}}"
#define SOLVER ", 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}"

/* two balls as two systems give the bits of two balls as one system */
static void rows_run_over_several_systems(void)
{
    struct mech_sim *const two = model_of("{'mechd': 1, 'objects': [" BALL("a", "1") "," BALL(
        "b",
        "2") "], 'interactions': ["
             "{'name': 'floor', 'systems': ['a'], 'relation': {'type': 'LagrangianLinearTIR',"
             "'H': [[1]], 'b': [-0.1]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}},"
             "{'name': 'pair', 'systems': ['b', 'a'], 'relation': {'type': 'LagrangianLinearTIR',"
             "'H': [[1, -1]], 'b': [-0.2]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}}]" SOLVER
             "}");
    struct mech_sim *const one =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 "'M': {'diag': [1, 1]}, 'q0': [1, 2], 'Fext': [-9.81, -9.81]}], 'interactions': [{"
                 "'name': 'c', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR',"
                 "'H': [[1, 0], [-1, 1]], 'b': [-0.1, -0.2]}, 'law': {'type': 'NewtonImpact',"
                 "'e': 0.5}}]" SOLVER "}");

    CU_ASSERT_EQUAL(mech_sim_sizes(two).impulse, 2);
    for (int i = 0; i < 500; i++) {
        CU_ASSERT_EQUAL(model_steps(two, 1), 0);
        CU_ASSERT_EQUAL(model_steps(one, 1), 0);
        for (int k = 0; k < 2; k++) {
            CU_ASSERT_EQUAL(model_state(two).q[k], model_state(one).q[k]);
            CU_ASSERT_EQUAL(model_state(two).impulse[k], model_state(one).impulse[k]);
        }
    }
    /* at rest on each other */
    CHECK_NEAR(model_state(one).q[0], 0.1, 0.01);
    CHECK_NEAR(model_state(one).q[1], 0.3, 0.02);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

static void columns_must_match_the_systems(void)
{
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'objects': [" BALL("a", "1") "], 'interactions': [{"
                                                   "'name': 'c', 'systems': ['a'], 'relation': {"
                                                   "'type': 'LagrangianLinearTIR', 'H': [[1, 2]]},"
                                                   "'law': {'type': 'NewtonImpact'}}]" SOLVER "}",
        "/interactions/0/relation/H", "2 columns"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [" BALL(
                                "a", "1") "], 'interactions': [{"
                                          "'name': 'c', 'systems': ['a'], 'relation': {"
                                          "'type': 'LagrangianLinearTIR', 'H': [[1]], 'b': [1, 2]},"
                                          "'law': {'type': 'NewtonImpact'}}]" SOLVER "}",
                            "/interactions/0/relation/b", "2 numbers"));
}

static void smooth_schemes_take_no_interactions(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [" BALL(
                     "a", "1") "], 'interactions': [{"
                               "'name': 'c', 'systems': ['a'], 'relation': {"
                               "'type': 'LagrangianLinearTIR', 'H': [[1]]},"
                               "'law': {'type': 'NewtonImpact'}}], 'solver': {'integrator': '%s'}}",
                 info.name);
        if (!info.nonsmooth) {
            CU_ASSERT(model_refused(text, "/solver/integrator", "interactions"));
        } else if (!info.first_order) {
            mech_sim_destroy(model_of(text));
        }
    }
}

UNIT_TESTS(UNIT_TEST(rows_run_over_several_systems), UNIT_TEST(columns_must_match_the_systems),
           UNIT_TEST(smooth_schemes_take_no_interactions))
