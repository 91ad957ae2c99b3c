/* One model by every linear solver: the same motion to rounding times the condition of the
 * matrices, by the solver that was asked for, or a refusal that names it. Models: a chain of masses
 * (linear), a chain of pendulums in the plane (joints), a body in space on springs (nonlinear). */
#include "solver/lsol/lsol.h"
#include "tests/unit/model.h"

enum { LINKS = 6, MOST_TEXT = 16384, MOST_NUMBERS = 64 };

struct text {
    char at[MOST_TEXT];
    size_t n;
};

static void add(struct text *t, const char *piece)
{
    t->n += (size_t)snprintf(t->at + t->n, sizeof t->at - t->n, "%s", piece);
}

/* a piece for each link, with its number and the one before; # and @ stand for them */
static void add_links(struct text *t, const char *piece)
{
    for (int i = 1; i <= LINKS; i++) {
        for (const char *c = piece; *c; c++) {
            if (*c == '#' || *c == '@') {
                t->n += (size_t)snprintf(t->at + t->n, sizeof t->at - t->n, "%d",
                                         *c == '#' ? i : i - 1);
            } else {
                t->at[t->n++] = *c;
            }
        }
        t->at[t->n++] = i < LINKS ? ',' : ' ';
    }
    t->at[t->n] = '\0';
}

static void finish(struct text *t, const char *solver)
{
    add(t, ", 'solver': {'stepSize': 0.005, 'newton': {'relativeTolerance': 1e-12}");
    if (solver) {
        add(t, ", 'linear': '");
        add(t, solver);
        add(t, "'");
    }
    add(t, "}}");
}

static void chain(struct text *t)
{
    add(t, "{'mechd': 1, 'nodes': [");
    add_links(t, "{'name': 'n#', 'type': 'Node1D', 'initialVelocities': [#]}");
    add(t, "], 'objects': [");
    add_links(t, "{'name': 'b#', 'type': 'Mass1D', 'node': 'n#', 'physicsMass': 2},"
                 "{'name': 's#', 'type': 'CoordinateSpringDamper', 'markers': ['m@', 'm#'],"
                 "'stiffness': 300, 'damping': 1}");
    add(t, "], 'markers': [{'name': 'm0', 'type': 'MarkerGroundCoordinate'},");
    add_links(t, "{'name': 'm#', 'type': 'MarkerNodeCoordinate', 'node': 'n#'}");
    add(t, "]");
}

static void pendulums(struct text *t)
{
    add(t, "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n0',"
           "'type': 'NodePointGround'},");
    add_links(t, "{'name': 'n#', 'type': 'NodePoint2D', 'referenceCoordinates': [#, 0]}");
    add(t, "], 'objects': [");
    add_links(t, "{'name': 'b#', 'type': 'MassPoint2D', 'node': 'n#', 'physicsMass': 2},"
                 "{'name': 'd#', 'type': 'DistanceConstraint', 'markers': ['m@', 'm#'],"
                 "'distance': 1}");
    add(t, "], 'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'n0'},");
    add_links(t, "{'name': 'm#', 'type': 'MarkerNodePosition', 'node': 'n#'}");
    add(t, "]");
}

static void body(struct text *t)
{
    add(t, "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
           "'initialVelocities': [0.3, -0.2, 0.1, 0, 0.5, 1, -0.7]}], 'objects': [{'name': 'g',"
           "'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"
           "'physicsInertia': [0.1, 0.2, 0.15, 0.01, 0, 0.02]},");
    add_links(t, "{'name': 's#', 'type': 'CartesianSpringDamper', 'markers': ['g#', 'm#'],"
                 "'stiffness': [30, 40, 50], 'damping': [0.5, 0.5, 0.5]}");
    add(t, "], 'markers': [");
    add_links(t, "{'name': 'g#', 'type': 'MarkerBodyPosition', 'object': 'g',"
                 "'localPosition': [0.#, 0.1, 0]}, {'name': 'm#', 'type': 'MarkerBodyPosition',"
                 "'object': 'b', 'localPosition': [0.#, 0.1, 0]}");
    add(t, "]");
}

/* q, v, λ after half a second; the solver that the report names */
static size_t end_of(struct mech_sim *s, double *y, const char **used)
{
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 100};
    const struct mech_sizes n = mech_sim_sizes(s);
    struct mech_step_report report;

    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &report), 0);
    *used = report.linear;
    const struct mech_state_view at = model_state(s);
    memcpy(y, at.q, (size_t)n.q * sizeof *y);
    memcpy(y + n.q, at.v, (size_t)n.v * sizeof *y);
    memcpy(y + n.q + n.v, at.lambda, (size_t)n.lambda * sizeof *y);
    return (size_t)(n.q + n.v + n.lambda);
}

/* One model by all; returns how many took it. */
static int compare(void (*write)(struct text *), double tolerance)
{
    struct text t = {.n = 0};
    double y[MOST_NUMBERS], best[MOST_NUMBERS], size = 1.;
    const char *used;
    int taken = 0;

    write(&t);
    finish(&t, NULL);
    struct mech_sim *const chosen = model_of(t.at);
    const size_t count = end_of(chosen, best, &used);
    mech_sim_destroy(chosen);
    for (size_t i = 0; i < count; i++) {
        size = fmax(size, fabs(best[i]));
    }
    for (const struct mech_lsol_type *const *type = mech_lsol_types; *type; type++) {
        struct mech_diag diag;
        struct mech_sim *s = NULL;

        t.n = 0;
        write(&t);
        finish(&t, (*type)->name);
        mech_diag_init(&diag);
        const int code = model_read(t.at, &diag, &s);
        if (code == 0) {
            double worst = 0.;

            (void)end_of(s, y, &used);
            for (size_t i = 0; i < count; i++) {
                worst = fmax(worst, fabs(y[i] - best[i]));
            }
            CU_ASSERT_STRING_EQUAL(used, (*type)->name);
            CHECK_NEAR(worst / size, 0., tolerance);
            taken++;
        } else {
            CU_ASSERT_EQUAL(code, MECH_INVALID);
            CU_ASSERT_FATAL(diag.count > 0);
            CU_ASSERT_STRING_EQUAL(diag.entries[0].path, "/solver/linear");
            CU_ASSERT(strstr(diag.entries[0].text, (*type)->name) != NULL);
        }
        mech_diag_fini(&diag);
        mech_sim_destroy(s);
    }
    return taken;
}

/* condition about 10: some roundings */
static void a_chain_of_masses_moves_alike(void)
{
    CU_ASSERT_EQUAL(compare(chain, 1e-13), 7);
}

/* 1.5e-10 is what Newton's tolerance leaves in the multipliers, which stand beside 1/h² */
static void pendulums_swing_alike(void)
{
    CU_ASSERT_EQUAL(compare(pendulums, 1e-9), 3);
}

static void a_body_on_springs_moves_alike(void)
{
    CU_ASSERT_EQUAL(compare(body, 1e-12), 3);
}

UNIT_TESTS(UNIT_TEST(a_chain_of_masses_moves_alike), UNIT_TEST(pendulums_swing_alike),
           UNIT_TEST(a_body_on_springs_moves_alike))
