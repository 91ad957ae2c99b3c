/* Systems of first order with states of their own: what X ẋ = A x + b becomes, interactions between
 * them, and what is refused. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

#define SOLVER(name) ", 'solver': {'integrator': '" name "', 'stepSize': 0.01}"
#define SYSTEM(name, A) "{'name': '" name "', 'type': 'FirstOrderLinearTIDS', 'A': " A "}"
#define RELATION(C, B) "{'type': 'FirstOrderLinearTIR', 'C': " C ", 'B': " B "}"
#define MODEL(objects, systems, relation, law, solver)                                             \
    "{'mechd': 1, 'objects': [" objects "], 'interactions': [{'name': 'i', 'systems': [" systems   \
    "], 'relation': " relation ", 'law': {'type': '" law "'}}]" solver "}"

/* M in blocks {0, 2} and {1}: the same states as with M⁻¹A and M⁻¹b written out, by every scheme */
static void a_matrix_before_the_rates_is_divided_out(void)
{
    static const char *const schemes[] = {"DOPRI5", "TrapezoidalIndex2", "ExplicitEuler",
                                          "EulerMoreau"};

    for (size_t k = 0; k < 4; k++) {
        char text[2][1024];
        struct mech_sim *s[2];

        snprintf(
            text[0], sizeof text[0],
            "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
            "'M': [[2, 0, 1], [0, 4, 0], [0, 0, 0.5]], 'A': [[0, 2, 0], [-1, 0, 4], [1, 1, 1]],"
            "'b': [1, '=8*cos(t)', '=z0*t'], 'z': [3], 'x0': [1, 2, 3]}],"
            "'solver': {'integrator': '%s', 'stepSize': 0.01}}",
            schemes[k]);
        /* M⁻¹ = [0.5, 0, -1; 0, 0.25, 0; 0, 0, 2] */
        snprintf(text[1], sizeof text[1],
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
                 "'A': [[-1, 0, -1], [-0.25, 0, 1], [2, 2, 2]],"
                 "'b': ['=0.5 - 3*t', '=2*cos(t)', '=6*t'], 'x0': [1, 2, 3]}],"
                 "'solver': {'integrator': '%s', 'stepSize': 0.01}}",
                 schemes[k]);
        for (int i = 0; i < 2; i++) {
            s[i] = model_of(text[i]);
            CU_ASSERT_EQUAL(model_steps(s[i], 50), 0);
        }
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(model_state(s[0]).x[i], model_state(s[1]).x[i], 1e-12);
        }
        CU_ASSERT(fabs(model_state(s[0]).x[0] - 1.) > 0.1);
        double rates[2][9];
        for (int i = 0; i < 2; i++) {
            model_values(s[i], MECH_OBJECT, "s", MECH_OUTPUT_COORDINATES_T, rates[i]);
        }
        for (int i = 0; i < 3; i++) {
            CHECK_NEAR(rates[0][i], rates[1][i], 1e-11);
        }
        mech_sim_destroy(s[0]);
        mech_sim_destroy(s[1]);
    }
}

/* two systems and nodes beside them give the bits of one system */
static void rows_run_over_several_systems(void)
{
    struct mech_sim *const two = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n',"
        "'type': 'NodeGenericODE1', 'initialCoordinates': [5]}],"
        "'objects': [{'name': 'a', 'type': 'FirstOrderLinearTIDS', 'A': [[-1]], 'x0': [1]},"
        "{'name': 'b', 'type': 'FirstOrderLinearTIDS', 'A': [[0, 1], [-4, 0]], 'x0': [0, 2]}],"
        "'interactions': [{'name': 'i', 'systems': ['b', 'a'], 'relation':"
        "{'type': 'FirstOrderLinearTIR', 'C': [[1, 0, 2]], 'B': [[0], [1], [1]], 'D': [[0.5]],"
        "'e': [-1]}, 'law': {'type': 'Complementarity'}},"
        "{'name': 'j', 'systems': ['a'], 'relation': {'type': 'FirstOrderLinearTIR',"
        "'C': [[1]], 'B': [[1]]}, 'law': {'type': 'Relay', 'lb': -0.1, 'ub': 0.2}}]" SOLVER(
            "EulerMoreau") "}");
    struct mech_sim *const one = model_of(
        "{'mechd': 1, 'objects': ["
        "{'name': 's', 'type': 'FirstOrderLinearTIDS',"
        "'A': [[-1, 0, 0], [0, 0, 1], [0, -4, 0]], 'x0': [1, 0, 2]}],"
        "'interactions': [{'name': 'i', 'systems': ['s'], 'relation':"
        "{'type': 'FirstOrderLinearTIR', 'C': [[2, 1, 0]], 'B': [[1], [0], [1]], 'D': [[0.5]],"
        "'e': [-1]}, 'law': {'type': 'Complementarity'}},"
        "{'name': 'j', 'systems': ['s'], 'relation': {'type': 'FirstOrderLinearTIR',"
        "'C': [[1, 0, 0]], 'B': [[1], [0], [0]]}, 'law': {'type': 'Relay', 'lb': -0.1, 'ub': "
        "0.2}}]" SOLVER("EulerMoreau") "}");
    bool pushed = false, free = false;

    CU_ASSERT_EQUAL(mech_sim_sizes(two).impulse, 2);
    for (int i = 0; i < 300; i++) {
        CU_ASSERT_EQUAL(model_steps(two, 1), 0);
        CU_ASSERT_EQUAL(model_steps(one, 1), 0);
        CU_ASSERT_EQUAL(model_state(two).x[0], 5.);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(model_state(two).x[1 + k], model_state(one).x[k], 1e-13);
        }
        for (int k = 0; k < 2; k++) {
            CHECK_NEAR(model_state(two).impulse[k], model_state(one).impulse[k], 1e-12);
        }
        pushed = pushed || model_state(one).impulse[0] > 0.;
        free = free || model_state(one).impulse[0] == 0.;
    }
    CU_ASSERT(pushed && free);
    mech_sim_destroy(one);
    mech_sim_destroy(two);
}

static void what_does_not_fit_is_refused(void)
{
    CU_ASSERT(model_refused(MODEL(SYSTEM("a", "[[1]]"), "'a'", RELATION("[[1, 2]]", "[[1], [2]]"),
                                  "Complementarity", SOLVER("EulerMoreau")),
                            "/interactions/0/relation/C", "2 columns"));
    CU_ASSERT(model_refused(MODEL(SYSTEM("a", "[[1]]"), "'a'", RELATION("[[1]]", "[[1, 2]]"),
                                  "Complementarity", SOLVER("EulerMoreau")),
                            "/interactions/0/relation/B", "1 × 2"));
    CU_ASSERT(model_refused(
        MODEL(SYSTEM("a", "[[1]]"), "'a'",
              "{'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]], 'D': [[1, 2]]}",
              "Complementarity", SOLVER("EulerMoreau")),
        "/interactions/0/relation/D", "1 × 2"));
    CU_ASSERT(
        model_refused(MODEL(SYSTEM("a", "[[1]]"), "'a'",
                            "{'type': 'FirstOrderLinearTIR', 'C': [[1]], 'B': [[1]], 'e': [1, 2]}",
                            "Complementarity", SOLVER("EulerMoreau")),
                      "/interactions/0/relation/e", "2 numbers"));
    CU_ASSERT(model_refused(MODEL(SYSTEM("a", "[[1]]"), "'a'", RELATION("[[1]]", "[[1]]"),
                                  "NewtonImpact", SOLVER("EulerMoreau")),
                            "/interactions/0/law", "NewtonImpact"));
    CU_ASSERT(model_refused(MODEL("{'name': 'a', 'type': 'LagrangianLinearTIDS', 'M': [[1]]}",
                                  "'a'", "{'type': 'LagrangianLinearTIR', 'H': [[1]]}",
                                  "Complementarity", SOLVER("MoreauJean")),
                            "/interactions/0/law", "Complementarity"));
    CU_ASSERT(model_refused(MODEL(SYSTEM("a", "[[1]]"), "'a'",
                                  "{'type': 'LagrangianLinearTIR', 'H': [[1]]}", "NewtonImpact",
                                  SOLVER("EulerMoreau")),
                            "/interactions/0/systems/0", "second order"));
    CU_ASSERT(
        model_refused(MODEL("{'name': 'a', 'type': 'LagrangianLinearTIDS', 'M': [[1]]}", "'a'",
                            RELATION("[[1]]", "[[1]]"), "Complementarity", SOLVER("EulerMoreau")),
                      "/interactions/0/systems/0", "first order"));
    CU_ASSERT(model_refused(
        MODEL(SYSTEM("a", "[[1]]") ",{'name': 'm',"
                                   "'type': 'LagrangianLinearTIDS', 'M': [[1]]}",
              "'a'", RELATION("[[1]]", "[[1]]"), "Complementarity", SOLVER("EulerMoreau")),
        "/solver/integrator", "\"m\" is of second order"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 'a', 'type': 'FirstOrderLinearTIDS',"
                            "'A': [[1, 0], [0, 1]], 'M': [[1, 2], [2, 4]]}]}",
                            "/objects/0/M", "singular"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 'a', 'type': 'FirstOrderLinearTIDS',"
                            "'A': [[1, 0], [0, 1]], 'M': {'diag': [1, 0]}}]}",
                            "/objects/0/M", "singular"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 'a', 'type': 'FirstOrderLinearTIDS',"
                            "'A': [[1, 0], [0, 1]], 'x0': [1]}]}",
                            "/objects/0/x0", "1 "));
    CU_ASSERT(model_refused(
        MODEL(SYSTEM("a", "[[1]]"), "'a'", RELATION("[[1]]", "[[1]]"), "Relay",
              ", 'solver': {'integrator': 'EulerMoreau', 'vi': {'type': 'bilateral'}}"),
        "/solver/vi/type", "does not support"));
}

static void schemes_for_other_systems_take_no_relations(void)
{
    struct mech_integrator_info info;

    for (size_t i = 0; mech_integrator(i, &info); i++) {
        char text[1024];

        snprintf(text, sizeof text,
                 MODEL(SYSTEM("a", "[[1]]"), "'a'", RELATION("[[1]]", "[[1]]"), "Complementarity",
                       ", 'solver': {'integrator': '%s'}"),
                 info.name);
        if (!info.first_order) {
            CU_ASSERT(model_refused(text, "/solver/integrator", "first order"));
        }
    }
}

/* also when h changes, and by each way of solving */
static void steps_allocate_nothing(void)
{
    static const char *const types[] = {"lemke", "semismooth", "psor"};

    for (int k = 0; k < 3; k++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'FirstOrderLinearTIDS',"
                 "'A': [[0, 1], [-9, 0]], 'b': [0, '=sin(t)'], 'x0': [1, 0]}], 'interactions': ["
                 "{'name': 'i', 'systems': ['s'], 'relation': {'type': 'FirstOrderLinearTIR',"
                 "'C': [[0, 1], [1, 0]], 'B': [[0, 1], [1, 0]], 'D': [[0.1, 0.02], [0.03, 0.2]]},"
                 "'law': {'type': 'Relay'}}], 'solver': {'integrator': 'EulerMoreau',"
                 "'stepSize': 0.01, 'vi': {'type': '%s'}}}",
                 types[k]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(s, 500), 0);
        CU_ASSERT_EQUAL(model_step(s, 0.017), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(a_matrix_before_the_rates_is_divided_out),
           UNIT_TEST(rows_run_over_several_systems), UNIT_TEST(what_does_not_fit_is_refused),
           UNIT_TEST(schemes_for_other_systems_take_no_relations),
           UNIT_TEST(steps_allocate_nothing))
