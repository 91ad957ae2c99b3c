/* Iterations within one internal step end on request, and leave the state as it was. */
#include "solver/sim/analysis.h"
#include "solver/sim/problem.h"
#include "tests/unit/model.h"

#define OSCILLATOR(solver)                                                                         \
    MODEL_OSCILLATOR(", 'initialCoordinates': [0.5]", "1",                                         \
                     ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"    \
                     "'stiffness': 100, 'damping': 1}",                                            \
                     "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 3}",          \
                     ", 'solver': {" solver "}")

/* a mass that one row lets leave at once and the other only with −1 m/s, and a solver that would
 * try for hours */
#define PINCHED(integrator, iterations)                                                            \
    "{'mechd': 1, 'name': 'pinched', 'objects': [{'name': 'm', 'type': 'LagrangianLinearTIDS',"    \
    "'M': {'diag': [1]}, 'q0': [0], 'v0': [1]}], 'interactions': ["                                \
    "{'name': 'a', 'systems': ['m'], 'relation': {'type': 'LagrangianLinearTIR', 'H': [[1]],"      \
    "'b': [-1]}, 'law': {'type': 'NewtonImpact', 'e': 0}},"                                        \
    "{'name': 'b', 'systems': ['m'], 'relation': {'type': 'LagrangianLinearTIR', 'H': [[-1]],"     \
    "'b': [-1]}, 'law': {'type': 'NewtonImpact', 'e': 1}}],"                                       \
    "'solver': {'integrator': '" integrator "', 'stepSize': 0.01, 'vi': {'type': 'psor',"          \
    "'tolerance': 1e-12, 'maxIterations': " iterations "}}}"

struct question {
    int asked, from; /* times; wanted from this one on, 0: never */
};

static bool wanted(void *context)
{
    struct question *const q = context;
    q->asked++;
    return q->from > 0 && q->asked >= q->from;
}

/* One internal step is interrupted: what was committed stays, to the bit. */
static void check_step(const char *model, double size)
{
    struct mech_sim *const s = model_of(model);
    const size_t bytes = mech_sim_snapshot_size(s);
    char *const before = malloc(bytes), *const after = malloc(bytes);
    CU_ASSERT_FATAL(before != NULL && after != NULL);
    struct question q = {.from = 2};
    const struct mech_step_request r = {.kind = MECH_STEP_SIZE, .size = size};
    struct mech_step_report report;
    const size_t n = mech_sim_snapshot_write(s, before);
    mech_sim_set_interrupt(s, wanted, &q);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_CANCELLED);
    CU_ASSERT_EQUAL(report.outcome, MECH_CANCELLED);
    CU_ASSERT_STRING_EQUAL(report.reason, mech_err_text(MECH_CANCELLED));
    CU_ASSERT_EQUAL(q.asked, 2);
    CU_ASSERT_EQUAL(mech_sim_snapshot_write(s, after), n);
    CU_ASSERT_EQUAL(memcmp(before, after, n), 0);

    // it is asked anew with the next command
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), MECH_CANCELLED);
    CU_ASSERT(q.asked > 2);

    // and what runs without a command does not get the last one
    q.from = 0;
    CU_ASSERT_EQUAL(mech_sim_reset(s), 0);
    free(before);
    free(after);
    mech_sim_destroy(s);
}

static void complementarity_solvers_end(void)
{
    check_step(PINCHED("MoreauJean", "1000000000"), 0.01);
}

static void substeps_end(void)
{
    check_step(OSCILLATOR("'integrator': 'DOPRI5', 'stepSize': 1e9"), 1e9);
    check_step(OSCILLATOR("'integrator': 'ODE23', 'stepSize': 1e9"), 1e9);
    check_step("{'mechd': 1, 'name': 'fall', 'objects': [{'name': 'm',"
               "'type': 'LagrangianLinearTIDS', 'M': {'diag': [1]}, 'K': {'diag': [100]},"
               "'q0': [1], 'v0': [0]}], 'solver': {'integrator': 'EventDriven', 'stepSize': 1e9}}",
               1e9);
}

/* Rests on a contact, whose forces are a problem to be solved where a step starts, too. */
static void starts_are_not_interrupted(void)
{
    check_step("{'mechd': 1, 'name': 'rest', 'objects': [{'name': 'm',"
               "'type': 'LagrangianLinearTIDS', 'M': {'diag': [1]}, 'q0': [0], 'v0': [0],"
               "'Fext': [-9.81]}, {'name': 'o', 'type': 'LagrangianLinearTIDS',"
               "'M': {'diag': [1]}, 'K': {'diag': [100]}, 'q0': [1], 'v0': [0]}],"
               "'interactions': [{'name': 'c', 'systems': ['m'], 'relation': {"
               "'type': 'LagrangianLinearTIR', 'H': [[1]]}, 'law': {'type': 'NewtonImpact',"
               "'e': 0.5}}], 'solver': {'integrator': 'EventDriven', 'stepSize': 1e9,"
               "'vi': {'type': 'psor', 'tolerance': 1e-10}}}",
               1e9);
}

/* Boxes on each other, whose impulses are taken as good as they are; one mass is a parameter. */
#define BOX(name, node, mass)                                                                      \
    "{'name': '" name "', 'type': 'RigidBody', 'node': '" node "', 'physicsMass': " mass ","       \
    "'physicsInertia': [0.01, 0.01, 0.01, 0, 0, 0], 'geometry': [{'shape': 'Box',"                 \
    "'size': [0.2, 0.2, 0.2]}]}"
#define BOXES                                                                                      \
    "{'mechd': 1, 'name': 'boxes', 'gravity': [0, 0, -9.81], 'parameters': {'w': 1},"              \
    "'nodes': [{'name': 'p', 'type': 'NodeRigidBodyEP',"                                           \
    "'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0]}, {'name': 'q', 'type': 'NodeRigidBodyEP',"   \
    "'referenceCoordinates': [0.03, 0.02, 0.3, 1, 0, 0, 0]}], 'objects': [{'name': 'ground',"      \
    "'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}, " BOX("a", "p", "2") ", " BOX(           \
        "b", "q",                                                                                  \
        "'=w'") "], 'inputs': [{'name': 'w', 'parameter': 'w'}], 'sensors': [{"                    \
                "'name': 's', 'type': 'SensorBody', 'object': 'a', 'outputVariable': "             \
                "'Velocity'}],"                                                                    \
                "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.002, 'vi': {'type': 'psor'," \
                "'maxIterations': 60, 'tolerance': 1e-14, 'onFailure': 'accept'}}}"

/* Whenever it is interrupted, a derivative by a parameter reports that, or was complete before. */
static void derivatives_end(void)
{
    struct mech_sim *const s = model_of(BOXES);
    struct question q = {.from = 0};
    const struct mech_step_request settle = {.kind = MECH_STEP_COUNT, .count = 20};
    const struct mech_step_request step = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    double whole[64] = {0.}, out[64] = {0.};
    const double direction[] = {1.};
    struct mech_jvp jvp = {.step = &step, .inputs = direction, .outputs = whole};
    CU_ASSERT_EQUAL(mech_sim_step(s, &settle, &report), 0);
    CU_ASSERT_FATAL(mech_sim_output_size(s) <= 64);
    mech_sim_set_interrupt(s, wanted, &q);
    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
    const int all = q.asked;
    CU_ASSERT(all > 10);
    jvp.outputs = out;
    for (int from = 1; from <= all; from++) {
        q = (struct question){.from = from};
        CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), MECH_CANCELLED);
    }
    q.from = 0;
    CU_ASSERT_EQUAL(mech_sim_jvp(s, &jvp), 0);
    CU_ASSERT_EQUAL(memcmp(out, whole, mech_sim_output_size(s) * sizeof *out), 0);
    mech_sim_destroy(s);
}

static void steps_without_an_interrupt_continue(void)
{
    struct mech_sim *const s = model_of(OSCILLATOR("'integrator': 'DOPRI5', 'stepSize': 10"));
    struct question q = {.from = 0};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    mech_sim_set_interrupt(s, wanted, &q);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT(q.asked > 0);
    mech_sim_set_interrupt(s, NULL, NULL);
    q.asked = 0;
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    CU_ASSERT_EQUAL(q.asked, 0);
    mech_sim_destroy(s);
}

static void equilibria_end(void)
{
    struct mech_sim *const s = model_of(OSCILLATOR("'stepSize': 0.01"));
    struct question q = {.from = 1};
    const struct mech_statics_query query = {.request.load_steps = 1, .keep = true};
    struct mech_statics_report report;
    mech_sim_set_interrupt(s, wanted, &q);
    CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), MECH_CANCELLED);
    CU_ASSERT_STRING_EQUAL(report.reason, mech_err_text(MECH_CANCELLED));
    q.from = 0;
    CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
    mech_sim_destroy(s);
}

/* Modes, complex ones too, and a linearization end at an interrupt at any call, and the next one is
 * as if nothing had been. */
static void analyses_end(void)
{
    struct mech_sim *const s = model_of(OSCILLATOR("'stepSize': 0.01"));
    struct question q = {.from = 0};
    mech_sim_set_interrupt(s, wanted, &q);
    for (int damped = 0; damped < 2; damped++) {
        struct mech_modes modes;
        q = (struct question){.from = 0};
        CU_ASSERT_EQUAL(mech_sim_modes(s, 1, damped, &modes), 0);
        mech_modes_fini(&modes);
        const int all = q.asked;
        CU_ASSERT(all > 0);
        for (int from = 1; from <= all; from++) {
            q = (struct question){.from = from};
            CU_ASSERT_EQUAL(mech_sim_modes(s, 1, damped, &modes), MECH_CANCELLED);
            CU_ASSERT_STRING_EQUAL(modes.reason, mech_err_text(MECH_CANCELLED));
            mech_modes_fini(&modes);
        }
    }
    struct mech_linearization l;
    char reason[160] = "";
    double A[4];
    CU_ASSERT_EQUAL(mech_sim_linearize_init(s, &l, reason), 0);
    CU_ASSERT_EQUAL_FATAL(l.states, 2);
    l.A = A;
    for (int from = 1; from <= l.states; from++) { // before each column
        q = (struct question){.from = from};
        CU_ASSERT_EQUAL(mech_sim_linearize(s, &l, reason), MECH_CANCELLED);
        CU_ASSERT_STRING_EQUAL(reason, mech_err_text(MECH_CANCELLED));
    }
    q.from = 0;
    CU_ASSERT_EQUAL(mech_sim_linearize(s, &l, reason), 0);
    mech_linearize_fini(&l);
    mech_sim_destroy(s);
}

/* Sensitivities ask before each evaluation of the equations: four at least for each known. */
static void adjoints_end(void)
{
    struct mech_sim *const s = model_of(OSCILLATOR("'stepSize': 0.01"));
    double q_of[1], v_of[1], seed[] = {1.}, whole[2];
    struct mech_point_derivative d = {
        .at = {.time = NAN}, .adjoint = true, .values = {.q = q_of, .v = v_of, .vdot = seed}};
    struct question q = {.from = 0};
    mech_sim_set_interrupt(s, wanted, &q);
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    whole[0] = q_of[0];
    whole[1] = v_of[0];
    const int all = q.asked;
    CU_ASSERT(all >= 8);
    for (int from = 1; from <= all; from++) {
        q = (struct question){.from = from};
        CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), MECH_CANCELLED);
        CU_ASSERT_EQUAL(q.asked, from);
    }
    q.from = 0;
    CU_ASSERT_EQUAL(mech_sim_point_derivative(s, &d), 0);
    CU_ASSERT(q_of[0] == whole[0] && v_of[0] == whole[1]);
    mech_sim_destroy(s);
}

/* A problem, a step and one of a first-order system that are not solved: an interrupt at any call
 * cancels them, also during the search for whether there is a solution at all. */
static void explanations_end(void)
{
    enum { ROWS = 200 };
    static double values[ROWS * ROWS], r[ROWS];
    const struct mech_lone_problem p = {
        .N = {.kind = MECH_MAT_DENSE, .rows = ROWS, .cols = ROWS, .values = values},
        .r = {.n = ROWS, .x = r},
        .vi = {.type = "psor", .tolerance = 1e-10, .max_iterations = 1}};
    for (size_t i = 0; i < ROWS; i++) {
        r[i] = i % 3 == 0 ? 1. : -1.;
        values[i * ROWS + i] = 2.;
        if (i > 0) {
            values[i * ROWS + i - 1] = values[(i - 1) * ROWS + i] = -1.;
        }
    }
    int all = 1;
    for (int from = 0; from <= all; from += from < 2 ? 1 : 1 + all / 8) {
        struct question q = {.from = from};
        struct mech_interrupt interrupt = {.wanted = wanted, .context = &q};
        struct mech_lone_solution solution;
        struct mech_arena arena;
        struct mech_diag diag;
        mech_arena_init(&arena, 0);
        mech_diag_init(&diag);
        CU_ASSERT_EQUAL(mech_lone_problem_solve(&p, &arena, &interrupt, &diag, &solution),
                        from == 0 ? MECH_VI_NOT_CONVERGED : MECH_CANCELLED);
        CU_ASSERT_EQUAL(q.asked, from == 0 ? q.asked : from);
        all = from == 0 ? q.asked : all;
        mech_diag_fini(&diag);
        mech_arena_fini(&arena);
    }
    CU_ASSERT(all > 10); /* the solver and its caller ask once or twice */

    struct mech_sim *const s = model_of(PINCHED("MoreauJean", "1"));
    const struct mech_step_request step = {.kind = MECH_STEP_COUNT, .count = 1};
    struct question q = {.from = 0};
    struct mech_step_report report;
    mech_sim_set_interrupt(s, wanted, &q);
    CU_ASSERT_EQUAL(mech_sim_step(s, &step, &report), MECH_VI_NOT_CONVERGED);
    all = q.asked;
    CU_ASSERT(all >= 2); /* one sweep asks nothing */
    for (int from = 1; from <= all; from++) {
        q = (struct question){.from = from};
        CU_ASSERT_EQUAL(mech_sim_step(s, &step, &report), MECH_CANCELLED);
        CU_ASSERT_EQUAL(q.asked, from);
    }
    mech_sim_destroy(s);
}

/* Creation asks between its stages; the document stays the caller's, no fault is added. */
static void creation_ends(void)
{
    char text[] = OSCILLATOR("'stepSize': 0.01");
    for (char *c = text; *c != '\0'; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const json = json_loads(text, 0, NULL);
    struct mech_document *document = NULL;
    struct mech_diag diag;
    struct mech_sim *s = NULL;
    int asked = 1;
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(json, "", &diag, &document), 0);
    for (int from = 1; from <= asked; from++) {
        struct question q = {.from = from};
        const struct mech_interrupt ask = {.wanted = wanted, .context = &q};
        CU_ASSERT_EQUAL(mech_sim_create_asking(document, &ask, &diag, &s), MECH_CANCELLED);
        CU_ASSERT_PTR_NULL(s);
        CU_ASSERT_EQUAL(diag.count, 0);
        asked = from == 1 ? 3 : asked;
    }
    struct question never = {.from = 0};
    const struct mech_interrupt ask = {.wanted = wanted, .context = &never};
    CU_ASSERT_EQUAL_FATAL(mech_sim_create_asking(document, &ask, &diag, &s), 0);
    CU_ASSERT(never.asked >= asked);
    // that caller is forgotten
    const int before = never.asked;
    CU_ASSERT_EQUAL(mech_sim_reset(s), 0);
    CU_ASSERT_EQUAL(never.asked, before);
    mech_diag_fini(&diag);
    json_decref(json);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(analyses_end), UNIT_TEST(adjoints_end), UNIT_TEST(creation_ends),
           UNIT_TEST(explanations_end), UNIT_TEST(complementarity_solvers_end),
           UNIT_TEST(substeps_end), UNIT_TEST(starts_are_not_interrupted),
           UNIT_TEST(derivatives_end), UNIT_TEST(steps_without_an_interrupt_continue),
           UNIT_TEST(equilibria_end))
