/* Many contacts at the default settings: how many iterations a step takes. */
#include "tests/unit/model.h"
#include "tests/verify/crowd.h"
#include "tests/verify/pile.h"

#include <float.h>

/* `count` steps; the complementarity iterations of the dearest one in *most. Their sum. */
static uint64_t steps_of(struct mech_sim *s, int count, uint64_t *most, bool *failed)
{
    uint64_t sum = 0;

    *most = 0;
    *failed = false;
    for (int i = 0; i < count && !*failed; i++) {
        const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
        struct mech_step_report report;

        *failed = mech_sim_step(s, &r, &report) != 0;
        if (*failed) {
            fprintf(stderr, "step %d: %s\n", i, report.reason);
        }
        sum += report.vi_iterations;
        *most = report.vi_iterations > *most ? report.vi_iterations : *most;
    }
    return sum;
}

/* Six dominoes of 20 × 100 × 200 mm, 80 mm apart, the first pushed over. */
static void dominoes_fall(void)
{
    static const double thetas[] = {0.5, 1.};

    for (int k = 0; k < 2; k++) {
        char text[8192], *at = text;
        uint64_t most;
        bool failed;

        at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'materials': [{'name': 'm',"
                          "'friction': 0.4}], 'nodes': [");
        for (int i = 0; i < 6; i++) {
            at += sprintf(at,
                          "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                          "[%g, 0, 0.1, 1, 0, 0, 0], 'initialVelocities': [%g, 0, 0, 0, 0, %g, 0]}",
                          i ? ", " : "", i, 0.08 * i, i ? 0. : 0.2, i ? 0. : 2.);
        }
        at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                          "'Plane', 'material': 'm'}]}");
        for (int i = 0; i < 6; i++) {
            at += sprintf(at,
                          ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass':"
                          "0.4, 'physicsInertia': [1.67e-3, 1.35e-3, 3.47e-4, 0, 0, 0],"
                          "'geometry': [{'shape': 'Box', 'size': [0.02, 0.1, 0.2], 'material':"
                          "'m'}]}",
                          i, i);
        }
        sprintf(at, "], 'solver': {'integrator': 'MoreauJean', 'theta': %g, 'stepSize': 0.005}}",
                thetas[k]);
        struct mech_sim *const s = model_of(text);
        const uint64_t sum = steps_of(s, 100, &most, &failed);

        CU_ASSERT(!failed);
        /* four turns of 200 sweeps and 50 steps of Newton's method; on the mean not one turn */
        CU_ASSERT(most <= 4 * 250);
        CU_ASSERT(sum <= 100 * 250);
        mech_sim_destroy(s);
    }
}

/* Spheres into a box of planes, so many steps of 5 ms */
static void spheres_drop(void)
{
    static const struct {
        int count, steps;
        double width;  /* of the box, m */
        uint64_t most; /* iterations a step on the mean */
    } cases[] = {
        /* 514 and 624 where each step goes on to the tolerance */
        {100, 150, 0.4, 450},
        {200, 150, 0.5, 550},
        /* 1,000 sweeps with momentum in every step, and on the mean not twice as many without:
         * piles that come to rest go on to contact.acceptable */
        {500, 200, 0.8, 3000}};

    for (int k = 0; k < 3 && unit_case(k); k++) {
        char *const text = pile_text(cases[k].count, cases[k].width,
                                     "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}");
        uint64_t most;
        bool failed;
        struct mech_sim *const s = model_of(text);
        const uint64_t sum = steps_of(s, cases[k].steps, &most, &failed);

        CU_ASSERT(!failed);
        CU_ASSERT(sum <= (uint64_t)cases[k].steps * cases[k].most);
        mech_sim_destroy(s);
        free(text);
    }
}

/* What resists rolling and spinning is for sweeps alone. A pile of it that has come to rest stays,
 * and does not creep by what sweeps leave. */
static void spheres_that_resist_rolling_come_to_rest(void)
{
    enum { COUNT = 60, STEPS = 150 };
    static const char before[] = "'friction': 0.4",
                      more[] = ", 'rollingFriction': 0.005, 'spinningFriction': 0.005";
    char *const text =
        pile_text(COUNT, 0.3, "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}");
    char *const at = strstr(text, before) + strlen(before);
    char *const all = malloc(strlen(text) + sizeof more);
    uint64_t most;
    bool failed;

    sprintf(all, "%.*s%s%s", (int)(at - text), text, more, at);
    struct mech_sim *const s = model_of(all);

    (void)steps_of(s, STEPS, &most, &failed);
    CU_ASSERT(!failed);
    for (int i = 0; i < 6 * COUNT; i++) {
        CHECK_NEAR(model_state(s).v[i], 0., 1e-7);
    }
    mech_sim_destroy(s);
    free(text);
    free(all);
}

/* The simulation of a document, which it frees. */
static struct mech_sim *sim_of(char *text)
{
    struct mech_sim *const s = pile_read(text);

    free(text);
    return s;
}

static struct mech_sim *cubes(int count, const double cube[2], const double place[4],
                              const char *rest)
{
    return sim_of(crowd_cubes(count, cube, place, rest));
}

static struct mech_sim *wall(int rows, int columns)
{
    return sim_of(crowd_wall(rows, columns));
}

static struct mech_sim *crowd(struct crowd of)
{
    return sim_of(crowd_text(of));
}

static void a_box_lands(void)
{
    static const char *const laws[] = {"coulomb", "associated"};

    for (int k = 0; k < 2; k++) {
        for (uint64_t seed = 1; seed <= 20; seed++) {
            struct mech_sim *const s = sim_of(crowd_above(1, seed, laws[k]));
            uint64_t most;
            bool failed;

            (void)steps_of(s, 150, &most, &failed);
            CU_ASSERT(!failed);
            /* sweeps and steps of Newton's method: fewer than the turns of two members */
            CU_ASSERT(most < 4 * 250);
            mech_sim_destroy(s);
        }
    }
}

static void a_turned_cube_lands(void)
{
    static const char *const laws[] = {"coulomb", "associated"};
    static const double sizes[] = {1. / 148., 1. / 5920.};

    for (int k = 0; k < 4; k++) {
        const double h = sizes[k / 2];
        char rest[400];
        uint64_t most;
        bool failed;

        snprintf(rest, sizeof rest,
                 "'solver': {'integrator': 'MoreauJean', 'stepSize': %.17g}, 'contact':"
                 "{'friction': '%s'}, 'materials': [{'name': 'm', 'friction': 0.18, 'restitution':"
                 "0.125}]",
                 h, laws[k % 2]);
        struct mech_sim *const s =
            cubes(1, (double[]){0.0524, 0.37}, (double[]){0.12, 0., 0.3, 0.}, rest);
        (void)steps_of(s, (int)(1.5 / h), &most, &failed);

        CU_ASSERT(!failed);
        CU_ASSERT(most <= 300);
        mech_sim_destroy(s);
    }
}

/* Towers that stand from the start. */
static void a_tower_stands(void)
{
    static const int counts[] = {10, 50, 200, 600, 1000};

    for (int k = 0; k < 5 && unit_case(k); k++) {
        const int steps = counts[k] > 200 ? 20 : 200;
        uint64_t most;
        bool failed;
        struct mech_sim *const s =
            cubes(counts[k], (double[]){0.1, 1.}, (double[]){0.1, 0., 0., 0.},
                  "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}, 'materials':"
                  "[{'name': 'm', 'friction': 0.5}]");
        const uint64_t sum = steps_of(s, steps, &most, &failed);

        CU_ASSERT(!failed);
        /* the taller, the more sweeps a step of the second order is worth */
        CU_ASSERT(sum <= (uint64_t)steps * (counts[k] > 200 ? 120 : 150));
        CU_ASSERT(most <= 1000);
        mech_sim_destroy(s);
    }
}

/* Towers of boxes 1 mm apart that drop by 1 cm and strike each other. Sweeps do not bring impulses
 * from end to end; where the method of second order does not find them by Coulomb's law, it does by
 * associated laws. */
static void a_tower_drops(void)
{
    static const int counts[] = {50, 100};

    for (int k = 0; k < 2 && unit_case(k); k++) {
        const char *dearest = "";
        uint64_t most = 0;
        struct mech_sim *const s =
            cubes(counts[k], (double[]){0.1, 8.}, (double[]){0.11, 1e-3, 0., 0.},
                  "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}, 'materials':"
                  "[{'name': 'm', 'friction': 0.5}]");

        for (int i = 0; i < 40; i++) {
            const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 1};
            struct mech_step_report report;

            CU_ASSERT_EQUAL_FATAL(mech_sim_step(s, &r, &report), 0);
            dearest = report.vi_iterations > most ? report.vi : dearest;
            most = report.vi_iterations > most ? report.vi_iterations : most;
        }
        /* all sweeps, from where others have stopped, are 10,000 */
        CU_ASSERT(most <= 5000);
        CU_ASSERT_STRING_EQUAL(dearest, "semismooth");
        mech_sim_destroy(s);
    }
}

/* Far from the origin gaps are rounded to more than the speeds of the tolerance close in a step:
 * impulses do not go from corner to corner for that, and no box leaves its height. */
static void a_tower_stands_far_away(void)
{
    static const double far[] = {1e4, 1e6};
    enum { COUNT = 50, STEPS = 100 };

    for (int k = 0; k < 2; k++) {
        uint64_t most;
        bool failed;
        struct mech_sim *const s =
            cubes(COUNT, (double[]){0.1, 1.}, (double[]){0.1, 0., 0., far[k]},
                  "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005}, 'materials':"
                  "[{'name': 'm', 'friction': 0.5}]");
        const uint64_t sum = steps_of(s, STEPS, &most, &failed);

        CU_ASSERT(!failed);
        CU_ASSERT(sum <= 60 * STEPS);
        for (int i = 0; i < COUNT; i++) {
            const double z = model_state(s).q[7 * (size_t)i + 2];

            CHECK_NEAR(z, far[k] + 0.1 + 0.2 * i, 2. * DBL_EPSILON * far[k]);
        }
        mech_sim_destroy(s);
    }
}

/* Walls of whose steps sweeps alone take 1,000 without an end are found by the second order once,
 * and kept by few sweeps a step; nothing sinks. */
static void walls_stand(void)
{
    static const int sizes[][3] = {{12, 12, 60}, {14, 30, 25}, {20, 50, 15}};

    for (int k = 0; k < 3 && unit_case(k); k++) {
        const int columns = sizes[k][1], steps = sizes[k][2];
        struct mech_sim *const s = wall(sizes[k][0], columns);
        uint64_t most;
        bool failed;
        const uint64_t sum = steps_of(s, steps, &most, &failed);

        CU_ASSERT(!failed);
        CU_ASSERT(sum <= 200 * (uint64_t)steps);
        for (int i = 0; i < sizes[k][0] * columns; i++) {
            CHECK_NEAR(model_state(s).q[7 * (size_t)i + 2], 0.1 + 0.2 * (i / columns), 1e-9);
        }
        mech_sim_destroy(s);
    }
}

/* Boxes that fall into a heap: few sweeps bring each contact as near to a solution as is enough
 * beside what its impulse changes by. */
static void boxes_fall_into_a_heap(void)
{
    static const int sizes[][3] = {{30, 150, 110}, {60, 150, 160}, {150, 100, 200}};

    for (int k = 0; k < 3 && unit_case(k); k++) {
        const int steps = sizes[k][1];
        struct mech_sim *const s = crowd((struct crowd){.falling = sizes[k][0]});
        uint64_t most;
        bool failed;
        const uint64_t sum = steps_of(s, steps, &most, &failed);

        CU_ASSERT(!failed);
        /* 120, 190 and 480 a step of them where each step goes on to the tolerance */
        CU_ASSERT(sum <= (uint64_t)(sizes[k][2] * steps));
        mech_sim_destroy(s);
    }
}

/* With much friction neither sweeps nor the method of second order may get there, and members that
 * take N cost thousands of sweeps an iteration: associated laws, one after the other, do. */
static void boxes_with_much_friction_fall(void)
{
    static const struct crowd crowds[] = {{8, 8, .falling = 60, .speed = 20., .friction = 2.},
                                          {.falling = 40, .speed = 8., .friction = 2., .seed = 1},
                                          {.falling = 40, .speed = 8., .friction = 2., .seed = 2}};

    for (int k = 0; k < 3 && unit_case(k); k++) {
        struct mech_sim *const s = crowd(crowds[k]);
        uint64_t most;
        bool failed;

        (void)steps_of(s, 40, &most, &failed);
        CU_ASSERT(!failed);
        /* all sweeps, from where others have stopped, are 10,000 */
        CU_ASSERT(most <= 5000);
        mech_sim_destroy(s);
    }
}

/* What falls beside a tower or wall, on one slab with it, or spins on it, is no measure for what
 * that misses. */
static void nothing_sinks_beside_what_moves(void)
{
    static const struct {
        struct crowd crowd;
        int steps;
        double sinks; /* m; where all go on to the tolerance, a third of it or less */
    } cases[] = {{{50, 1, .falling = 60, .speed = 3.}, 60, 1e-8},
                 {{50, 1, .falling = 60, .speed = 20.}, 20, 1e-8},
                 {{60, 1, .spin = 30.}, 40, 1e-7},
                 {{10, 1, .spin = 100., .falling = 60}, 40, 1e-8},
                 {{60, 1, .falling = 60, .speed = 1000.}, 40, 2e-5},
                 {{60, 1, .falling = 60, .speed = 20., .slab = 1e6}, 40, 1e-6},
                 {{12, 12, .falling = 60, .speed = 20., .slab = 1e6}, 20, 1e-8},
                 {{12, 12, .falling = 60, .speed = 20., .slab = 1e3}, 20, 4e-6}};

    for (int k = 0; k < 8 && unit_case(k); k++) {
        const struct crowd of = cases[k].crowd;
        const int slabs = of.slab > 0. ? 1 : 0;
        struct mech_sim *const s = crowd(of);
        uint64_t most;
        bool failed;

        (void)steps_of(s, cases[k].steps, &most, &failed);
        CU_ASSERT(!failed);
        double sinks = 0.;

        for (int i = 0; i < of.rows * of.columns; i++) {
            const double at = (slabs ? 0.3 : 0.1) + 0.2 * (i / of.columns);

            sinks = fmax(sinks, fabs(model_state(s).q[7 * (size_t)(slabs + i) + 2] - at));
        }
        CU_ASSERT(sinks <= cases[k].sinks);
        mech_sim_destroy(s);
    }
}

/* A wall of bricks of 0.4 × 0.2 × 0.2 m and 16 kg, flush side by side, with 50 sweeps a step that
 * are accepted as they are: the spins that they leave make moments, as a brick's inertia differs
 * from axis to axis. */
static void bricks_take_what_sweeps_come_to(void)
{
    enum { ROWS = 12, COUNT = ROWS * ROWS, STEPS = 20 };
    char *const text = malloc(2000 + 400 * (size_t)COUNT), *at = text;

    at += sprintf(at, "{'mechd': 1, 'gravity': [0, 0, -9.81], 'solver': {'integrator':"
                      "'MoreauJean', 'stepSize': 0.005, 'vi': {'onFailure': 'accept',"
                      "'maxIterations': 50}}, 'materials': [{'name': 'm', 'friction': 0.5}],"
                      "'nodes': [");
    for (int i = 0; i < COUNT; i++) {
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates':"
                      "[%.17g, 0, %.17g, 1, 0, 0, 0]}",
                      i ? ", " : "", i, 0.4 * (i % ROWS) + 0.2 * (i / ROWS % 2),
                      0.1 + 0.2 * (i / ROWS));
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground', 'geometry': [{'shape':"
                      "'Plane', 'material': 'm'}]}");
    for (int i = 0; i < COUNT; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 16,"
                      "'physicsInertia': [0.1067, 0.2667, 0.2667, 0, 0, 0], 'geometry': [{'shape':"
                      "'Box', 'size': [0.4, 0.2, 0.2], 'material': 'm'}]}",
                      i, i);
    }
    sprintf(at, "]}");
    struct mech_sim *const s = pile_read(text);
    uint64_t most;
    bool failed;
    const uint64_t sum = steps_of(s, STEPS, &most, &failed);

    CU_ASSERT(!failed);
    /* on the mean not three repeats */
    CU_ASSERT(sum <= 150 * STEPS);
    mech_sim_destroy(s);
    free(text);
}

/* What a snapshot holds of a tower that comes to rest leads on as the tower itself does, by as many
 * iterations and to the same bits: where the impulses of the last step were not in it, the first
 * step would take more. */
static void impulses_come_through_snapshots(void)
{
    static const char rest[] = "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.005},"
                               "'materials': [{'name': 'm', 'friction': 0.5}]";
    const double cube[] = {0.1, 1.}, place[] = {0.11, 1e-3, 0., 0.};
    struct mech_sim *const s = cubes(20, cube, place, rest), *const o =
                                                                 cubes(20, cube, place, rest);
    void *const bytes = malloc(mech_sim_snapshot_size(s));
    uint64_t most;
    bool failed;

    for (int k = 0; k < 10; k++) {
        (void)steps_of(s, 13, &most, &failed);
        CU_ASSERT(!failed);
        const size_t size = mech_sim_snapshot_write(s, bytes);

        CU_ASSERT_EQUAL_FATAL(mech_sim_snapshot_read(o, bytes, size, NULL), 0);
        const uint64_t led = steps_of(s, 1, &most, &failed);

        CU_ASSERT_EQUAL(steps_of(o, 1, &most, &failed), led);
        CU_ASSERT_EQUAL(mech_sim_state_hash(s), mech_sim_state_hash(o));
    }
    free(bytes);
    mech_sim_destroy(s);
    mech_sim_destroy(o);
}

UNIT_TESTS(UNIT_TEST(dominoes_fall), UNIT_TEST(impulses_come_through_snapshots),
           UNIT_TEST(a_box_lands), UNIT_TEST(a_turned_cube_lands), UNIT_TEST(a_tower_stands),
           UNIT_TEST(a_tower_stands_far_away), UNIT_TEST(a_tower_drops), UNIT_TEST(walls_stand),
           UNIT_TEST(boxes_fall_into_a_heap), UNIT_TEST(boxes_with_much_friction_fall),
           UNIT_TEST(nothing_sinks_beside_what_moves), UNIT_TEST(bricks_take_what_sweeps_come_to),
           UNIT_TEST(spheres_drop), UNIT_TEST(spheres_that_resist_rolling_come_to_rest))
