/* Contact by penalty: its tangent is the derivative of its forces, by positions and velocities,
 * and Newton's method converges as it does where the tangent is exact. */
#include "solver/linalg/mat_walk.h"
#include "solver/model/penalty_internal.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

enum { MOST = 32 };

#define BODY(name, q, v)                                                                           \
    "{'name': 'n" name "', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': " q                  \
    ", 'initialVelocities': " v "}"
#define SOFT "'material': {'friction': 0.4, 'compliance': 1e-4, 'damping': 20}"
#define RIGID(name, shape)                                                                         \
    "{'name': 'b" name "', 'type': 'RigidBody', 'node': 'n" name "', 'physicsMass': 1.3,"          \
    "'physicsInertia': [0.02, 0.03, 0.04, 0.002, 0.001, 0.003], 'physicsCenterOfMass':"            \
    "[0.01, 0.005, -0.01], 'geometry': [{" shape ", " SOFT "}]}"
#define GROUND(shape) "{'name': 'g', 'type': 'Ground', 'geometry': [{" shape ", " SOFT "}]}"
#define SCENE(nodes, objects) SCENE_AT("1e-4", nodes, objects)
#define SCENE_AT(h, nodes, objects)                                                                \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'contact': {'method': 'penalty'}, 'nodes': [" nodes    \
    "], 'objects': [" objects "], 'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': " h     \
    "}}"
#define BALL "'shape': 'Sphere', 'radius': 0.1, 'position': [0.02, 0.01, 0]"
#define BOX "'shape': 'Box', 'size': [0.2, 0.3, 0.1]"
#define ROD "'shape': 'Capsule', 'radius': 0.05, 'length': 0.3"

#define POINT(more)                                                                                \
    SCENE("{'name': 'p', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, 0.0965]}",            \
          "{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Sphere', 'radius': 1,"          \
          "'position': [0.01, 0.02, -1], " more "}]}, {'name': 'b', 'type': 'MassPoint', 'node':"  \
          "'p', 'physicsMass': 1, 'geometry': [{'shape': 'Sphere', 'radius': 0.1, " more "}]}")

static const char *const scenes[] = {
    SCENE(BODY("0", "[0, 0, 0.0965, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
          GROUND("'shape': 'Plane', 'normal': [0.1, 0.05, 1]") ", " RIGID("0", BALL)),
    /* a corner below a plane */
    SCENE(BODY("0", "[0, 0, 0.1793, 0.86, 0.4, 0.3, 0.1]", "[0, 0, 0, 0, 0, 0, 0]"),
          GROUND("'shape': 'Plane'") ", " RIGID("0", BOX)),
    /* two that both move */
    SCENE(BODY("0", "[0, 0, 0, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]") ", " BODY(
              "1", "[0.1, 0.09, 0.146, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
          RIGID("0", BALL) ", " RIGID("1", BALL)),
    SCENE(BODY("0", "[0, 0, 0, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]") ", " BODY(
              "1", "[0.02, 0.03, 0.0985, 0.7, 0.1, 0.7, 0.1]", "[0, 0, 0, 0, 0, 0, 0]"),
          RIGID("0", BOX) ", " RIGID("1", ROD)),
    POINT(SOFT),
    /* without friction, and without any damping */
    POINT("'material': {'friction': 0, 'compliance': 1e-4, 'damping': 20}"),
    POINT("'material': {'friction': 0, 'compliance': 1e-4, 'damping': 0}"),
    /* in the plane, beside a body in space */
    SCENE(
        "{'name': 'p', 'type': 'NodeRigidBody2D', 'referenceCoordinates': [0, 0.081, 0.3]}, " BODY(
            "0", "[5, -0.415, 0, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
        GROUND("'shape': 'Plane', 'normal': [0.1, 1, 0]") ", {'name': 'b', 'type':"
                                                          "'RigidBody2D', 'node': 'p', "
                                                          "'physicsMass': 1, 'physicsInertia': "
                                                          "0.01, 'geometry': [{" BALL ", " SOFT
                                                          "}]}, " RIGID("0", BALL)),
    /* two pairs, each with its records */
    SCENE(BODY("0", "[0, 0, 0.0965, 1, 0, 0, 0]", "[0.1, 0.2, 0, 0, 0, 0, 0]") ", " BODY(
              "1", "[0.5, 0.1, 0.097, 1, 0, 0, 0]", "[-0.2, 0.1, 0, 0, 0, 0, 0]"),
          GROUND("'shape': 'Plane', 'normal': [0.02, 0.05, 1]") ", " RIGID("0", BALL) ", " RIGID(
              "1", BALL))};

/* A corner of a box 0.5 µm before the edge of another one, past which differences of 3 µm reach:
 * they find it on the other side alone. */
static const char at_an_edge[] =
    SCENE(BODY("0", "[-5e-7, 0.05, 0.0965, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
          GROUND(BOX) ", " RIGID("0", BOX));

/* A ball on the flat ridge, 2 µm wide, of a roof: differences across find its edges instead. */
static const char on_a_ridge[] = SCENE(
    BODY("0", "[0, 0, 0.0965, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
    GROUND(
        "'shape': 'Mesh', 'vertices': [[-1e-6, -1, 0], [1e-6, -1, 0], [1e-6, 1, 0], [-1e-6,"
        "1, 0], [-1, -1, -0.4], [-1, 1, -0.4], [1, -1, -0.4], [1, 1, -0.4]], 'triangles':"
        "[[0, 1, 2], [0, 2, 3], [4, 0, 3], [4, 3, 5], [1, 6, 7], [1, 7, 2]]") ", " RIGID("0",
                                                                                         "'shape': "
                                                                                         "'Sphere',"
                                                                                         " 'radius'"
                                                                                         ": 0.1"));

struct point {
    struct mech_sim *s;
    int32_t n;
    double v[MOST + 1];
};

/* g at the point moved by d, with velocities v. */
static void forces(const struct point *p, const double *d, const double *v, double *g)
{
    double q[2 * MOST];
    const struct mech_state *const now = &p->s->now;

    mech_model_move(p->s->model, now->q, d, q);
    const struct mech_eval e = mech_model_point(p->s->model, now, now->at->time, q, v);
    memset(g, 0, (MOST + 1) * sizeof *g);
    mech_model_nonlinear(p->s->model, &e, g);
}

/* The largest difference of a column of the tangent to central ones, of its largest entry. */
static double off_by(const struct point *p, bool velocity, bool exact)
{
    const struct mech_state *const now = &p->s->now;
    struct mech_mat W = *mech_model_pattern(p->s->model);
    struct mech_eval e = mech_model_point(p->s->model, now, now->at->time, now->q, p->v);
    const double c[3] = {velocity ? 0. : 1., velocity ? 1. : 0., 0.};
    const double step = velocity ? 1e-5 : 1e-7;
    double values[MOST * MOST] = {0.}, off = 0., largest = 0.;
    struct mech_arena arena;
    int32_t *places = NULL;

    e.exact = exact;
    CU_ASSERT_FATAL(mech_mat_stored(&W) <= MOST * MOST);
    W.values = values;
    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_model_places(p->s->model, &arena, &W, &places), 0);
    mech_model_tangent(p->s->model, &e, c, places, values);
    for (int32_t j = 0; j < p->n; j++) {
        double d[MOST + 1] = {0.}, v[MOST + 1], g[2][MOST + 1];

        memcpy(v, p->v, sizeof v);
        for (int side = 0; side < 2; side++) {
            *(velocity ? &v[j] : &d[j]) = (velocity ? p->v[j] : 0.) + (side ? step : -step);
            forces(p, d, v, g[side]);
        }
        for (int32_t i = 0; i < p->n; i++) {
            const double *const at = mech_mat_place(&W, i, j);
            const double expected = (g[1][i] - g[0][i]) / (2. * step);

            off = fmax(off, fabs((at ? *at : 0.) - expected));
            largest = fmax(largest, fabs(expected));
        }
    }
    mech_arena_fini(&arena);
    /* nothing depends on velocities where there is no damping */
    CU_ASSERT(velocity || largest > 0.);
    return largest > 0. ? off / largest : off;
}

/* By positions and velocities, exact or as Newton's method has it. */
static void check_tangents(const struct point *p, const char *where)
{
    for (int way = 0; way < 4; way++) {
        const bool velocity = way % 2, exact = way < 2;
        const double off = off_by(p, velocity, exact);
        /* that of Newton's method leaves out how surfaces turn: 0.04 of a radius deep */
        const double most = velocity || exact ? 1e-7 : 0.05;

        CU_ASSERT(off < most);
        if (!(off < most)) {
            fprintf(stderr, "%s, by %s%s: %.3g\n", where, velocity ? "velocity" : "position",
                    exact ? ", exact" : "", off);
        }
    }
}

static void tangents_are_derivatives_of_forces(void)
{
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        for (int slides = 0; slides < 2; slides++) {
            struct point p = {.s = model_of(scenes[k])};
            char where[32];

            /* records of the last step, whose springs have a stretch */
            CU_ASSERT_EQUAL_FATAL(model_steps(p.s, 5), 0);
            CU_ASSERT_FATAL(p.s->now.at->touched > 0);
            p.n = p.s->sizes.v;
            CU_ASSERT_FATAL(p.n <= MOST);
            for (int32_t i = 0; i < p.n; i++) {
                p.v[i] = p.s->now.v[i] + (slides ? 0.3 : 1e-3) * sin(1. + 3. * i);
            }
            snprintf(where, sizeof where, "scene %d, %s", (int)k, slides ? "slides" : "sticks");
            check_tangents(&p, where);
            mech_sim_destroy(p.s);
        }
    }
}

static void what_is_lost_on_one_side_has_the_difference_of_the_other(void)
{
    struct point p = {.s = model_of(at_an_edge)};

    p.n = p.s->sizes.v;
    for (int32_t i = 0; i < p.n; i++) {
        p.v[i] = 1e-3 * sin(1. + 3. * i);
    }
    /* of order 1 in 3 µm, beside a depth of 3.5 mm */
    CU_ASSERT(off_by(&p, false, true) < 5e-3);
    mech_sim_destroy(p.s);
}

static void what_is_lost_on_both_sides_has_surfaces_that_do_not_turn(void)
{
    struct point p = {.s = model_of(on_a_ridge)};

    p.n = p.s->sizes.v;
    for (int32_t i = 0; i < p.n; i++) {
        p.v[i] = 1e-3 * sin(1. + 3. * i);
    }
    /* on the ridge itself they do not */
    CU_ASSERT(off_by(&p, false, true) < 1e-6);
    mech_sim_destroy(p.s);
}

/* A plate on a hundred spikes. */
static void tangents_allocate_nothing(void)
{
    enum { SIDE = 10, ROOM = 400 * SIDE * SIDE };
    static char text[3 * ROOM];
    char vertices[ROOM] = "", triangles[ROOM] = "", *v = vertices, *t = triangles;

    for (int i = 0; i < SIDE * SIDE; i++) {
        const double x = 0.02 * (i % SIDE), y = 0.02 * (i / SIDE);
        const int k = 4 * i;

        v += sprintf(v, "%s[%g, %g, -0.01], [%g, %g, -0.01], [%g, %g, -0.01], [%g, %g, 0]",
                     i ? "," : "", x - 0.005, y - 0.005, x + 0.005, y - 0.005, x, y + 0.005, x, y);
        t += sprintf(t, "%s[%d, %d, %d], [%d, %d, %d], [%d, %d, %d]", i ? "," : "", k, k + 1, k + 3,
                     k + 1, k + 2, k + 3, k + 2, k, k + 3);
    }
    snprintf(text, sizeof text,
             SCENE(BODY("0", "[0.09, 0.09, 0.0495, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
                   GROUND("'shape': 'Mesh', 'vertices': [%s], 'triangles': [%s]") ", " RIGID(
                       "0", "'shape': 'Box', 'size': [0.3, 0.3, 0.1]")),
             vertices, triangles);
    struct point p = {.s = model_of(text)};
    double g[MOST + 1], d[MOST + 1] = {0.};

    p.n = p.s->sizes.v;
    /* the first search makes room for itself */
    forces(&p, d, p.v, g);
    CU_ASSERT(p.s->model->rows.penalty->list.n > 64);
    const struct mech_eval at = mech_model_point(p.s->model, &p.s->now, 0., p.s->now.q, p.s->now.v);
    struct mech_eval e = at;
    int32_t places[MOST * MOST] = {0};
    double values[MOST * MOST] = {0.};

    e.exact = true;
    alloc_count_start();
    mech_penalty_tangent(p.s->model, &e, (const double[]){1., 1.}, places, values);
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    mech_sim_destroy(p.s);
}

/* What rests has real modes, and the same ones, wherever it is. */
static void modes_do_not_depend_on_the_place(void)
{
    static const char *const places[] = {"0", "100", "1000", "10000"};
    static const struct {
        const char *z, *shape;
    } grounds[] = {{"0.049", "'shape': 'Plane'"}, {"0.099", "'shape': 'Box', 'size': [1, 1, 0.1]"}};

    for (int k = 0; k < 2; k++) {
        double near[6] = {0.};

        for (int far = 0; far < 4; far++) {
            const char *const x = places[far];
            char text[4096];

            snprintf(text, sizeof text,
                     SCENE(BODY("0", "[%s, %s, %s, 1, 0, 0, 0]", "[0, 0, 0, 0, 0, 0, 0]"),
                           GROUND("%s, 'position': [%s, %s, 0]") ", " RIGID("0", BOX)),
                     x, x, grounds[k].z, grounds[k].shape, x, x);
            struct mech_sim *const s = model_of(text);
            const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
            struct mech_statics_report report;
            struct mech_modes modes;

            CU_ASSERT_EQUAL_FATAL(mech_sim_statics(s, &query, &report), 0);
            CU_ASSERT_EQUAL(mech_sim_modes(s, 6, false, &modes), 0);
            CU_ASSERT_EQUAL(modes.count, 6);
            for (int i = 0; i < modes.count; i++) {
                near[i] = far ? near[i] : modes.modes[i].square;
                /* rounding of 10 km beside differences of 3 µm: 3e-7 */
                CHECK_NEAR(modes.modes[i].square, near[i], 1e-6 * near[i]);
            }
            mech_modes_fini(&modes);
            mech_sim_destroy(s);
        }
    }
}

/* A rotor that shapes far away say nothing of, and these far from the origin: differences of 3 µm
 * at 140 km are known to 4e-5, at 7000 km to 2e-3. */
static void what_contacts_are_known_to_is_theirs(void)
{
    static const struct {
        const char *x, *kxy, *reason;
    } cases[] = {{"1e5", "0", NULL},
                 {"1e5", "0.01", "the stiffness is not symmetric"},
                 {"5e6", "0", "so far from the origin"}};

    for (int k = 0; k < 3; k++) {
        char text[4096];
        const char *const x = cases[k].x, *const kxy = cases[k].kxy;

        snprintf(text, sizeof text,
                 SCENE(BODY("0", "[%s, %s, 0.049, 1, 0, 0, 0]",
                            "[0, 0, 0, 0, 0, 0, 0]") ", {"
                                                     "'name': 'r', 'type': 'NodeGenericODE2', "
                                                     "'referenceCoordinates': [0, 0]}",
                       GROUND("'shape': 'Plane', 'position': [%s, %s, 0]") ", " RIGID(
                           "0", BOX) ","
                                     "{'name': 'R', 'type': 'GenericODE2', 'nodes': ['r'], "
                                     "'massMatrix': [[1, 0],"
                                     "[0, 1]], 'stiffnessMatrix': [[1000, %s], [-%s, 1000]]}"),
                 x, x, x, x, kxy, kxy);
        struct mech_sim *const s = model_of(text);
        const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
        struct mech_statics_report report;
        struct mech_modes modes;

        CU_ASSERT_EQUAL_FATAL(mech_sim_statics(s, &query, &report), 0);
        CU_ASSERT_EQUAL(mech_sim_modes(s, 8, false, &modes),
                        cases[k].reason ? MECH_UNSUPPORTED : 0);
        CU_ASSERT(!cases[k].reason || strstr(modes.reason, cases[k].reason) != NULL);
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
}

/* What rests without a stretch or a velocity is not held where there is no friction. */
#define SMOOTH "'material': {'friction': 0, 'compliance': 1e-4, 'damping': 20}"
static void without_friction_nothing_holds_what_rests(void)
{
    static const char *const resting[] = {
        POINT(SMOOTH),
        SCENE("{'name': 'p', 'type': 'NodePoint', 'referenceCoordinates': [0, 0, 0.0965]}",
              "{'name': 'g', 'type': 'Ground', 'geometry': [{'shape': 'Plane', " SMOOTH
              "}]}, {'name': 'b', 'type': 'MassPoint', 'node': 'p', 'physicsMass': 1, 'geometry':"
              "[{'shape': 'Sphere', 'radius': 0.1, " SMOOTH "}]}")};

    for (uint64_t steps = 0; steps < 2; steps++) {
        for (size_t k = 0; k < sizeof resting / sizeof *resting; k++) {
            struct point p = {.s = model_of(resting[k])};

            CU_ASSERT_FATAL(steps == 0 || model_steps(p.s, steps) == 0);
            p.n = p.s->sizes.v;
            memcpy(p.v, p.s->now.v, (size_t)p.n * sizeof *p.v);
            check_tangents(&p, k ? "at rest on a plane" : "at rest on a sphere");
            mech_sim_destroy(p.s);
        }
    }
}

/* A ball that slides and spins on another, fixed one, so that the direction of its slip changes. */
#define BALLS                                                                                      \
    SCENE_AT("1e-3",                                                                               \
             "{'name': 'n0', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0, 0, 0.099, 1,"  \
             "0, 0, 0], 'initialVelocities': [0.05, 0, 0, 0, 1, 3, 3]}",                           \
             GROUND("'shape': 'Sphere', 'radius': 0.2, 'position': [0, 0, -0.2]") ", " RIGID(      \
                 "0", BALL))

static void newtons_method_knows_how_slips_turn(void)
{
    struct mech_sim *const s = model_of(BALLS);
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 50};
    struct mech_step_report report;

    CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
    /* with a tangent that leaves that out it is 147 */
    CU_ASSERT(report.iterations <= 105);
    mech_sim_destroy(s);
}

/* The values of the tangent with weights c, all of which must be there: their largest. */
static double largest_of(const struct mech_sim *s, const double *q, const double c[3])
{
    const struct mech_state *const now = &s->now;
    struct mech_mat W = *mech_model_pattern(s->model);
    struct mech_eval e = mech_model_point(s->model, now, now->at->time, q, now->v);
    double values[MOST * MOST] = {0.}, sum = 0.;
    struct mech_arena arena;
    int32_t *places = NULL;

    W.values = values;
    e.exact = true;
    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_model_places(s->model, &arena, &W, &places), 0);
    mech_model_tangent(s->model, &e, c, places, values);
    for (size_t k = 0; k < mech_mat_stored(&W); k++) {
        sum += fabs(values[k]);
    }
    mech_arena_fini(&arena);
    return sum;
}

/* Nothing is looked for that has no weight, and bodies at no place have no tangent. */
static void weights_and_places_count(void)
{
    struct mech_sim *const s = model_of(POINT(SOFT));
    static const double none[3] = {0., 0., 1.}, both[3] = {1., 1., 0.};
    double q[3] = {INFINITY, 0., 0.};

    CU_ASSERT_EQUAL_FATAL(model_steps(s, 1), 0);
    CU_ASSERT_EQUAL(largest_of(s, q, none), 0.);
    CU_ASSERT(isnan(largest_of(s, q, both)));
    CU_ASSERT(largest_of(s, s->now.q, both) > 1e3);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(tangents_are_derivatives_of_forces),
           UNIT_TEST(what_is_lost_on_one_side_has_the_difference_of_the_other),
           UNIT_TEST(what_is_lost_on_both_sides_has_surfaces_that_do_not_turn),
           UNIT_TEST(tangents_allocate_nothing), UNIT_TEST(modes_do_not_depend_on_the_place),
           UNIT_TEST(what_contacts_are_known_to_is_theirs),
           UNIT_TEST(without_friction_nothing_holds_what_rests),
           UNIT_TEST(newtons_method_knows_how_slips_turn), UNIT_TEST(weights_and_places_count))
