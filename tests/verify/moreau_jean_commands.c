/* Commands of a simulation with Moreau–Jean: forces in time, forces of one command, trials,
 * snapshots, faults. */
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

static const char ball[] =
    "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]], 'q0': [1],"
    " 'Fext': [-9.81]}],"
    " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR',"
    " 'H': [[1]]}, 'law': {'type': 'NewtonImpact', 'e': 0.9}}],"
    " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}}";

/* two masses and springs, a force in time, a stop */
static const char driven[] =
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}],"
    " 'objects': [{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 2},"
    " {'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1, 0], [0, 1]],"
    " 'K': [[200, -100], [-100, 100]], 'Fext': ['=3*cos(40*t)', '=5*sin(10*t)']}],"
    " 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}],"
    " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type': 'LagrangianLinearTIR',"
    " 'H': [[0, -1]], 'b': [0.02]}, 'law': {'type': 'NewtonImpact', 'e': 0.5}}],"
    " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.001, 'theta': 0.5}}";

static void force_is_averaged_over_the_step_with_theta(void)
{
    // M = 1, F = 6 t: v_{k+1} − v_k = h [(1 − θ) F(t_k) + θ F(t_{k+1})]
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"
        " 'Fext': ['=6*t']}],"
        " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.5, 'theta': 0.75}}");
    CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    // 0.5 × (0.75 × 3) + 0.5 × (0.25 × 3 + 0.75 × 6)
    CHECK_NEAR(view_of(s).v[0], 3.75, 1e-15);
    mech_sim_destroy(s);
}

static void forces_of_a_command_act_during_that_command_only(void)
{
    struct mech_sim *const s = model_of(driven);
    const struct mech_marker_force force = {.marker = 0, .values = {4.}};
    const struct mech_step_request pushed = {
        .kind = MECH_STEP_COUNT, .count = 10, .forces = &force, .force_count = 1};
    struct mech_step_report report;
    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    CU_ASSERT_EQUAL(mech_sim_step(s, &pushed, &report), 0);
    CHECK_NEAR(view_of(s).v[0], 4. / 2. * 0.01, 1e-15);
    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    CHECK_NEAR(view_of(s).v[0], 4. / 2. * 0.01, 1e-15);
    mech_sim_destroy(s);
}

static void a_trial_leaves_no_trace(void)
{
    struct mech_sim *const plain = model_of(driven), *const tried = model_of(driven);
    const struct mech_marker_force force = {.marker = 0, .values = {4.}};
    const struct mech_step_request trial = {
        .kind = MECH_STEP_COUNT, .count = 77, .forces = &force, .force_count = 1, .trial = true};
    const struct mech_step_request other = {.kind = MECH_STEP_SIZE, .size = 0.0034, .trial = true};
    struct mech_step_report report;
    for (int k = 0; k < 20; k++) {
        CU_ASSERT_EQUAL(mech_sim_step(tried, k % 2 == 0 ? &trial : &other, &report), 0);
        CU_ASSERT_EQUAL(model_steps(tried, 31), 0);
        CU_ASSERT_EQUAL(model_steps(plain, 31), 0);
    }
    const struct mech_state_view a = view_of(plain), b = view_of(tried);
    CU_ASSERT_EQUAL(memcmp(a.q, b.q, 3 * sizeof *a.q), 0);
    CU_ASSERT_EQUAL(memcmp(a.v, b.v, 3 * sizeof *a.v), 0);
    CU_ASSERT(a.q[2] != 0.);
    mech_sim_destroy(plain);
    mech_sim_destroy(tried);
}

static void a_restored_run_repeats_its_bits(void)
{
    // in another simulation, whose W was last made for another step size
    struct mech_sim *const first = model_of(driven), *const second = model_of(driven);
    const struct mech_step_request odd = {.kind = MECH_STEP_SIZE, .size = 0.0007};
    struct mech_step_report report;
    const size_t size = mech_sim_snapshot_size(first);
    void *const bytes = malloc(size);
    bool same = false;
    CU_ASSERT_EQUAL(model_steps(first, 333), 0);
    mech_sim_snapshot_write(first, bytes);
    CU_ASSERT_EQUAL(mech_sim_step(second, &odd, &report), 0);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(second, bytes, size, &same), 0);
    CU_ASSERT_EQUAL(model_steps(first, 400), 0);
    CU_ASSERT_EQUAL(model_steps(second, 400), 0);
    const struct mech_state_view a = view_of(first), b = view_of(second);
    CU_ASSERT_EQUAL(memcmp(a.q, b.q, 3 * sizeof *a.q), 0);
    CU_ASSERT_EQUAL(memcmp(a.v, b.v, 3 * sizeof *a.v), 0);
    CU_ASSERT_EQUAL(memcmp(a.vdot, b.vdot, 3 * sizeof *a.v), 0);
    CU_ASSERT_EQUAL(memcmp(a.impulse, b.impulse, sizeof *a.impulse), 0);
    free(bytes);
    mech_sim_destroy(first);
    mech_sim_destroy(second);
}

static void a_thousand_steps_allocate_nothing(void)
{
    static const char *const models[] = {ball, driven};
    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = model_of(models[k]);
        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        alloc_count_start();
        CU_ASSERT_EQUAL(model_steps(s, 1000), 0);
        CU_ASSERT_EQUAL(alloc_count_stop(), 0);
        mech_sim_destroy(s);
    }
}

static void acceleration_is_the_mean_of_the_last_step(void)
{
    struct mech_sim *const s = model_of(ball);
    const double v = 2.;
    const struct mech_state_view set = {.time = NAN, .v = &v};
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &set), 0);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CHECK_NEAR(view_of(s).vdot[0], -9.81, 1e-13);
    CHECK_NEAR(view_of(s).v[0], 2. - 9.81 * 0.005, 1e-15);
    mech_sim_destroy(s);
}

static void what_moreau_jean_cannot_take_is_refused(void)
{
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]]}],"
        " 'solver': {'integrator': 'MoreauJean', 'vi': {'type': 'nsgs9'}}}",
        "/solver/vi/type", "nsgs9"));
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': [[1]]}],"
        " 'solver': {'integrator': 'MoreauJean', 'vi': {'type': 'minres'}}}",
        "/solver/vi/type", "does not support"));
}

/* the same end of five beads that fall on each other, whichever solver finds the impulses */
static void every_solver_that_takes_impacts_gives_the_same_steps(void)
{
    static const char *const names[] = {"lemke",  "admm", "apgd", "barzilai",
                                        "jacobi", "nsgs", "psor", "semismooth"};
    double first[5] = {0.};

    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 " 'M': {'diag': [1, 1, 1, 1, 1]}, 'q0': [1, 2.1, 3.2, 4.3, 5.4],"
                 " 'Fext': [-9.81, -9.81, -9.81, -9.81, -9.81]}],"
                 " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation':"
                 " {'type': 'LagrangianLinearTIR', 'H': [[1, 0, 0, 0, 0], [-1, 1, 0, 0, 0],"
                 " [0, -1, 1, 0, 0], [0, 0, -1, 1, 0], [0, 0, 0, -1, 1]],"
                 " 'b': [0, -1, -1, -1, -1]}, 'law': {'type': 'NewtonImpact', 'e': 0}}],"
                 " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01,"
                 " 'vi': {'type': '%s', 'tolerance': 1e-12, 'maxIterations': 20000}}}",
                 names[k]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 100), 0);
        for (int i = 0; i < 5; i++) {
            first[i] = k == 0 ? view_of(s).q[i] : first[i];
            CHECK_NEAR(view_of(s).q[i], first[i], 1e-9);
        }
        CHECK_NEAR(view_of(s).v[4], 0., 1e-9); /* they lie on each other */
        CU_ASSERT(view_of(s).q[4] < 4.2);
        mech_sim_destroy(s);
    }
}

static void a_step_whose_impulses_are_not_found_changes_nothing(void)
{
    // two dependent rows that one sweep of PSOR cannot settle
    struct mech_sim *const s =
        model_of("{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                 " 'M': [[1, 0], [0, 1]], 'v0': [-1, -2]}],"
                 " 'interactions': [{'name': 'c', 'systems': ['s'], 'relation':"
                 " {'type': 'LagrangianLinearTIR', 'H': [[1, 0.5], [0.5, 1]]},"
                 " 'law': {'type': 'NewtonImpact', 'e': 0}}],"
                 " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01,"
                 " 'vi': {'type': 'psor', 'maxIterations': 1}}}");
    const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = 1};
    struct mech_step_report report;
    CU_ASSERT_EQUAL(mech_sim_step(s, &request, &report), MECH_VI_NOT_CONVERGED);
    CU_ASSERT_EQUAL(report.outcome, MECH_VI_NOT_CONVERGED);
    CU_ASSERT(report.residual > 1e-10);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "2 active contact rows"));
    CHECK_NEAR(view_of(s).time, 0., 0.);
    CHECK_NEAR(view_of(s).v[1], -2., 0.);
    mech_sim_destroy(s);
}

static void a_force_that_is_not_finite_is_named(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'objects': [{'name': 'rod', 'type': 'LagrangianLinearTIDS', 'M': [[1]],"
        " 'Fext': ['=1/(t-0.5)']}],"
        " 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.25}}");
    const struct mech_step_request request = {.kind = MECH_STEP_COUNT, .count = 4};
    struct mech_step_report report;
    CU_ASSERT_EQUAL(mech_sim_step(s, &request, &report), MECH_NOT_FINITE);
    CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "rod"));
    CHECK_NEAR(view_of(s).time, 0., 0.);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(force_is_averaged_over_the_step_with_theta),
           UNIT_TEST(forces_of_a_command_act_during_that_command_only),
           UNIT_TEST(a_trial_leaves_no_trace), UNIT_TEST(a_restored_run_repeats_its_bits),
           UNIT_TEST(a_thousand_steps_allocate_nothing),
           UNIT_TEST(acceleration_is_the_mean_of_the_last_step),
           UNIT_TEST(what_moreau_jean_cannot_take_is_refused),
           UNIT_TEST(every_solver_that_takes_impacts_gives_the_same_steps),
           UNIT_TEST(a_step_whose_impulses_are_not_found_changes_nothing),
           UNIT_TEST(a_force_that_is_not_finite_is_named))
