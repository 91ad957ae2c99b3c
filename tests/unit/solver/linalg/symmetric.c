/* Matrices that are not symmetric are not taken for symmetric, whatever is large beside them:
 * modes are refused, and contacts of such systems have the impulses of the whole matrix. Those that
 * are symmetric but for rounding are not refused. */
#include "solver/linalg/symmetric.h"
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

enum { N = MECH_MODES_DENSE + 20, TEXT = 64 * N };

/* --- pairs ------------------------------------------------------------------------------------ */

/* Whether A [3 × 3] by rows is symmetric. */
static bool judged(const double *rows)
{
    struct mech_triplet t[9];
    struct mech_arena arena;
    struct mech_mat A;
    bool symmetric = false;

    mech_arena_init(&arena, 0);
    for (int k = 0; k < 9; k++) {
        t[k] = (struct mech_triplet){k / 3, k % 3, rows[k]};
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&arena, 3, 3, t, 9, &A), 0);
    CU_ASSERT_EQUAL(mech_symmetric(&arena, &A, MECH_SYMMETRIC_TO, &symmetric), 0);
    mech_arena_fini(&arena);
    return symmetric;
}

static void each_pair_is_judged_beside_its_own_rows(void)
{
    static const struct {
        double A[9];
        bool symmetric;
    } cases[] = {{{3., 1., 0., -1., 3., 0., 0., 0., 1e3}, false},
                 {{3., 1., 0., -1., 3., 0., 0., 0., 1e15}, false},
                 {{1e-9, 1e-12, 0., -1e-12, 1e-9, 0., 0., 0., 1e15}, false},
                 {{0., 1., 0., -1., 0., 0., 0., 0., 1e15}, false},
                 {{3., 1., 0., 0., 3., 0., 0., 0., 1.}, false},
                 {{3., 1., 2., -1., 3., 4., -2., 5., 1.}, false},
                 /* as given by hand to ten digits */
                 {{3., 1., 0., 1.0000000005, 3., 0., 0., 0., 1e-9}, true},
                 /* what is left of a sum of 1e9 in another place of the row */
                 {{3., 1e-4, 1e9, -1e-4, 3., 0., 1e9, 0., 1e18}, true},
                 {{3., 1., 1e9, -1., 3., 0., 1e9, 0., 1e18}, false},
                 /* unlike units: a coupling is small beside the root of the product */
                 {{1e-6, 1., 0., 1.0000000005, 1e6, 0., 0., 0., 1.}, true},
                 /* numbers whose product leaves the range of doubles */
                 {{1e300, 1e299, 0., 1e299, 1e300, 1e290, 0., 1e290, 1e300}, true},
                 {{1e300, 1e299, 0., -1e299, 1e300, 1e290, 0., 1e290, 1e300}, false},
                 {{1e-300, 1e-301, 0., -1e-301, 1e-300, 0., 0., 0., 1e-300}, false}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        CU_ASSERT_EQUAL(judged(cases[k].A), cases[k].symmetric);
        if (judged(cases[k].A) != cases[k].symmetric) {
            fprintf(stderr, "case %d\n", (int)k);
        }
    }
}

/* Both parts of A [3 × 3]; places 0 and 1 may differ by 0.5. */
static void parts_add_up(void)
{
    static const double A[] = {3., 1., 0., 0.6, 3., 2., 4., 0., 1e3};
    static const int32_t block[] = {0, 0, 1};
    static const double most[][3] = {{0.5, 0.5, 0.5}, {0.3, 0.3, 9.}};
    struct mech_triplet t[9];
    struct mech_arena arena;
    struct mech_mat a, even, odd;

    mech_arena_init(&arena, 0);
    for (int full = 0; full < 2; full++) {
        int count = 0;

        for (int k = 0; k < 9; k++) {
            t[count] = (struct mech_triplet){k / 3, k % 3, A[k]};
            count += full || A[k] != 0.;
        }
        CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&arena, 3, 3, t, (size_t)count, &a), 0);
        for (int k = 0; k < 2; k++) {
            const struct mech_symmetric_slack slack = {block, most[k], 0.};

            CU_ASSERT_EQUAL_FATAL(mech_symmetric_split(&arena, &a, 1e-9, &slack, &even, &odd), 0);
            CU_ASSERT(even.symmetric);
            for (int i = 0; i < 9; i++) {
                const double other = A[3 * (i % 3) + i / 3];
                const bool left = i / 3 + i % 3 == 1 && k == 0;

                CHECK_NEAR(mech_mat_get(&even, i / 3, i % 3), 0.5 * (A[i] + other), 0.);
                CHECK_NEAR(mech_mat_get(&odd, i / 3, i % 3), left ? 0. : 0.5 * (A[i] - other), 0.);
            }
        }
    }
    mech_arena_fini(&arena);
}

/* --- modes ------------------------------------------------------------------------------------ */

static void check_refused(struct mech_sim *s, const char *what)
{
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 2, false, &modes), MECH_UNSUPPORTED);
    CU_ASSERT(strstr(modes.reason, what) != NULL);
    mech_modes_fini(&modes);
}

/* beside the others a coordinate that a joint holds */
#define HELD                                                                                       \
    "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}, {'name': 'c', 'type':"        \
    "'CoordinateConstraint', 'markers': ['g', 'x']},"

/* λ² = −(3 ± i) of the first two, however large or light what is beside them. */
static void small_stiffnesses_are_judged_beside_large_ones(void)
{
    static const char *const beside[][2] = {{"1e-9", "1e3"}, {"1e-9", "1e12"}, {"1", "1e15"}};

    for (int k = 0; k < 6; k++) {
        char text[1024];
        struct mech_modes modes;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'objects': [%s {'name':"
                 "'s', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 1, %s]}, 'K': [[3, 1, 0],"
                 "[-1, 3, 0], [0, 0, %s]], 'q0': [0, 0, 0], 'v0': [0, 0, 0]}], 'markers': [{'name':"
                 "'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x', 'type':"
                 "'MarkerNodeCoordinate', 'node': 'n'}]}",
                 k < 3 ? "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}," : HELD,
                 beside[k % 3][0], beside[k % 3][1]);
        struct mech_sim *const s = model_of(text);

        check_refused(s, "stiffness is not symmetric");
        if (k == 0) {
            CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, 6, true, &modes), 0);
            int found = 0;
            for (int i = 0; i < modes.count; i++) {
                const double re = modes.modes[i].re, im = modes.modes[i].im;

                found +=
                    fabs(re * re - im * im + 3.) < 1e-9 && fabs(fabs(2. * re * im) - 1.) < 1e-9;
            }
            CU_ASSERT_EQUAL(found, 2);
            mech_modes_fini(&modes);
        }
        mech_sim_destroy(s);
    }
}

/* Four coordinates, the last of which a joint holds: a and −a between the first two, b and −b
 * between the others, which the joint bars, however large. */
static void a_large_pair_that_is_held_says_nothing_of_a_small_one(void)
{
    static const char *const pairs[][2] = {{"0", "2"}, {"0", "1e10"}, {"1", "2"}, {"1", "1e10"}};

    for (int k = 0; k < 4; k++) {
        char text[1024];
        struct mech_modes modes;

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                 "'referenceCoordinates': [0, 0, 0, 0]}], 'objects': [{'name': 's', 'type':"
                 "'GenericODE2', 'nodes': ['n'], 'massMatrix': [[1, 0, 0, 0], [0, 1, 0, 0],"
                 "[0, 0, 1, 0], [0, 0, 0, 1]], 'stiffnessMatrix': [[3, %s, 0, 0], [-%s, 3, 0, 0],"
                 "[0, 0, 3, %s], [0, 0, -%s, 3]]}, {'name': 'c', 'type': 'CoordinateConstraint',"
                 "'markers': ['g', 'x']}], 'markers': [{'name': 'g', 'type':"
                 "'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinate', 'node':"
                 "'n', 'coordinate': 3}]}",
                 pairs[k][0], pairs[k][0], pairs[k][1], pairs[k][1]);
        struct mech_sim *const s = model_of(text);

        if (k >= 2) {
            check_refused(s, "stiffness is not symmetric");
        } else {
            CU_ASSERT_EQUAL(mech_sim_modes(s, 4, false, &modes), 0);
            CU_ASSERT_EQUAL(modes.count, 3);
            for (int i = 0; i < modes.count; i++) {
                CHECK_NEAR(modes.modes[i].square, 3., 1e-12);
            }
            mech_modes_fini(&modes);
        }
        mech_sim_destroy(s);
    }
}

/* Three joints together hold the last three of five coordinates: what is free has of these what
 * rounding leaves, and of a pair of 1e10 between both as much. */
static void what_rounding_leaves_of_held_pairs_is_none_of_the_stiffness(void)
{
    static const char *const model =
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
        "'referenceCoordinates': [0, 0, 0, 0, 0]}], 'objects': [{'name': 's', 'type':"
        "'GenericODE2', 'nodes': ['n'], 'massMatrix': [[1, 0.1, 0, 0.2, 0], [0.1, 1, 0.3, 0, 0],"
        "[0, 0.3, 1, 0, 0.1], [0.2, 0, 0, 1, 0], [0, 0, 0.1, 0, 1]], 'stiffnessMatrix':"
        "[[3, 1, 1e10, -2e10, 3e10], [1, 3, 1e10, 1e10, -1e10], [2e10, 1e10, 3, 0, 0],"
        "[1e10, -2e10, 0, 3, 0], [3e10, 2e10, 0, 0, 3]]}, {'name': 'c', 'type':"
        "'CoordinateVectorConstraint', 'markers': ['g', 'x'], 'scalingMarker1': [[0, 0, 0.1, 0.7,"
        "0.3], [0, 0, 0.9, 0.2, 0.5], [0, 0, 0.4, 0.6, 0.8]]}], 'markers': [{'name': 'g', 'type':"
        "'MarkerGroundCoordinate'}, {'name': 'x', 'type': 'MarkerNodeCoordinates', 'node': 'n'}]}";
    struct mech_sim *const s = model_of(model);
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 2);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* Two pendulums that are let go at 30°: their moments do not balance, so that K differs from its
 * transpose where their hinges hold, and not where they swing. */
#define AT(k, z)                                                                                   \
    "{'name': 'n" k "', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.25,"                 \
    "-0.4330127018922193, " z ", 1, 0, 0, 0]}"
#define PENDULUM(k)                                                                                \
    ", {'name': 'b" k "', 'type': 'RigidBody', 'node': 'n" k "', 'physicsMass': 2,"                \
    "'physicsInertia': [0.1, 0.2, 0.3, 0, 0, 0]}, {'name': 'j" k "', 'type': 'RevoluteJointZ',"    \
    "'markers': ['g" k "', 'h" k "']}"
#define HINGE(k, z)                                                                                \
    "{'name': 'g" k "', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0, 0, " z      \
    "]}, {'name': 'h" k "', 'type': 'MarkerBodyRigid', 'object': 'b" k "', 'localPosition':"       \
    "[-0.25, 0.4330127018922193, 0]}"
#define PENDULUMS                                                                                  \
    "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [" AT("0", "0") ", " AT(                      \
        "1", "1") "], 'objects': [{'name': 'g', 'type': 'Ground'}" PENDULUM("0")                   \
        PENDULUM("1") "], 'markers': [" HINGE("0", "0") ", " HINGE("1", "1") "]}"

static void joints_hold_what_is_not_symmetric(void)
{
    struct mech_sim *const s = model_of(PENDULUMS);
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 12, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 2);
    for (int i = 0; i < modes.count; i++) {
        /* m g l cos 30° / (J + m l²), l = 0.5 m */
        CHECK_NEAR(modes.modes[i].square, 2. * 9.81 * 0.4330127018922193 / (0.3 + 0.5), 1e-9);
    }
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* The same of more bodies than can be projected. */
static void many_joints_hold_what_is_not_symmetric(void)
{
    enum { BODIES = MECH_MODES_DENSE / 6 + 1, EACH = 512 };
    static char text[3 * BODIES * EACH];
    char *at = text;
    struct mech_modes modes;

    at += sprintf(at, "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [");
    for (int i = 0; i < BODIES; i++) {
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.25,"
                      "-0.4330127018922193, %d, 1, 0, 0, 0]}",
                      i ? "," : "", i, i);
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground'}");
    for (int i = 0; i < BODIES; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 2,"
                      "'physicsInertia': [0.1, 0.2, 0.3, 0, 0, 0]}, {'name': 'j%d', 'type':"
                      "'RevoluteJointZ', 'markers': ['g%d', 'h%d']}",
                      i, i, i, i, i);
    }
    at += sprintf(at, "], 'markers': [");
    for (int i = 0; i < BODIES; i++) {
        at += sprintf(at,
                      "%s{'name': 'g%d', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition':"
                      "[0, 0, %d]}, {'name': 'h%d', 'type': 'MarkerBodyRigid', 'object': 'b%d',"
                      "'localPosition': [-0.25, 0.4330127018922193, 0]}",
                      i ? "," : "", i, i, i, i);
    }
    sprintf(at, "]}");
    struct mech_sim *const s = model_of(text);

    CU_ASSERT_EQUAL(mech_sim_modes(s, 3, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 3);
    for (int i = 0; i < modes.count; i++) {
        CHECK_NEAR(modes.modes[i].square, 2. * 9.81 * 0.4330127018922193 / (0.3 + 0.5), 1e-9);
    }
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* Chains of coordinates on springs of 3 N/m, the last one of `last`; the first two are coupled by a
 * and b. */
static struct mech_sim *band(double a, double b, double last)
{
    static char text[TEXT];
    char *at = text;

    at += sprintf(at, "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                      "'M': {'diag': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s1", i ? "," : "");
    }
    at += sprintf(at, "]}, 'K': {'banded': {'lower': 1, 'upper': 1, 'rows': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s[%.17g,%.17g,%.17g]", i ? "," : "", i == 1 ? b : 0.,
                      i < N - 1 ? 3. : last, i == 0 ? a : 0.);
    }
    at += sprintf(at, "]}}, 'q0': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s0", i ? "," : "");
    }
    sprintf(at, "]}], 'solver': {'integrator': 'Newmark'}}");
    return model_of(text);
}

static void many_coordinates_are_judged_pair_by_pair(void)
{
    static const double last[] = {3., 1e9, 1e15};

    for (int k = 0; k < 3; k++) {
        struct mech_sim *s = band(1., -1., last[k]);
        struct mech_modes modes;

        check_refused(s, "stiffness is not symmetric");
        mech_sim_destroy(s);
        /* up to rounding it is symmetric */
        s = band(1., 1. + 1e-12, last[k]);
        CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, 2, false, &modes), 0);
        CHECK_NEAR(modes.modes[0].square, 2., 1e-9);
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
}

/* One mode, the lowest by itself, which is turned into one far above it: λ = 2, not 1. */
static void what_is_far_away_counts(void)
{
    static char text[TEXT];
    char *at = text;

    at += sprintf(at, "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                      "'M': {'diag': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s1", i ? "," : "");
    }
    at += sprintf(at, "]}, 'K': {'shape': [%d, %d], 'coo': [[0, 1, 1e3], [1, 0, -1e3]", N, N);
    for (int i = 0; i < N; i++) {
        at += sprintf(at, ", [%d, %d, %g]", i, i, i == 0 ? 1. : i == 1 ? 1e6 : 1e3 + i);
    }
    at += sprintf(at, "]}, 'q0': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s0", i ? "," : "");
    }
    sprintf(at, "]}], 'solver': {'integrator': 'Newmark'}}");
    struct mech_sim *const s = model_of(text);
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 1, false, &modes), MECH_UNSUPPORTED);
    CU_ASSERT(strstr(modes.reason, "stiffness is not symmetric") != NULL);
    CU_ASSERT(strstr(modes.reason, "use complex modes") == NULL);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* Coordinates beside a body that turns: what statics leave of moments is not in their forces. */
static void tolerances_of_statics_are_of_moments(void)
{
    static const char *const tolerances[] = {"1e-8", "1e-2", "0.9"};

    for (int k = 0; k < 3; k++) {
        char text[1024];

        snprintf(text, sizeof text,
                 "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                 "'referenceCoordinates': [0, 0]}, {'name': 'r', 'type': 'NodeRigidBodyEP'}],"
                 "'objects': [{'name': 's', 'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix':"
                 "[[1, 0], [0, 1]], 'stiffnessMatrix': [[1000, 5], [-5, 1000]]}, {'name': 'b',"
                 "'type': 'RigidBody', 'node': 'r', 'physicsMass': 1, 'physicsInertia': [1, 2, 3,"
                 "0, 0, 0]}], 'solver': {'newton': {'relativeTolerance': %s}}}",
                 tolerances[k]);
        struct mech_sim *const s = model_of(text);

        check_refused(s, "stiffness is not symmetric");
        mech_sim_destroy(s);
    }
}

/* Bodies on bushings of 1e9 N/m and 1e3 N m, turned by a force beside the middle; the second one is
 * on the first by another bushing, or by a joint and a spring that turns. */
#define BUSHING(name, markers, k)                                                                  \
    "{'name': '" name "', 'type': 'RigidBodySpringDamper', 'markers': [" markers                   \
    "], 'intrinsicFormulation': true, 'stiffness': [[" k ", 0, 0, 0, 0, 0], [0, " k                \
    ", 0, 0, 0, 0], [0, 0, " k ", 0, 0, 0], [0, 0, 0, 1e3, 0, 0], [0, 0, 0, 0, 2e3, 0],"           \
    "[0, 0, 0, 0, 0, 3e3]]}"
#define BUSHED(newton)                                                                             \
    "{'mechd': 1, 'nodes': [{'name': 'na', 'type': 'NodeRigidBodyEP'}], 'objects': [{'name': 'g'," \
    "'type': 'Ground'}, {'name': 'a', 'type': 'RigidBody', 'node': 'na', 'physicsMass': 20,"       \
    "'physicsInertia': [1, 2, 3, 0.1, 0.2, 0.3]}, " BUSHING(                                       \
        "s", "'mg', 'ma'", "1e9") "],"                                                             \
                                  "'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', "         \
                                  "'object': 'g'}, {'name': 'ma', 'type':"                         \
                                  "'MarkerBodyRigid', 'object': 'a'}, {'name': 'f', 'type': "      \
                                  "'MarkerBodyRigid', 'object': 'a',"                              \
                                  "'localPosition': [0.3, 0.1, 0.2]}], 'loads': [{'name': 'F', "   \
                                  "'type': 'LoadForceVector',"                                     \
                                  "'marker': 'f', 'load': [700, -400, 900]}], 'solver': {" newton  \
                                  "}}"
#define BUSHINGS(second, newton)                                                                   \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'na', 'type': 'NodeRigidBodyEP'},"  \
    "{'name': 'nb', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.3, 0, -1, 1, 0, 0, 0]}"  \
    "], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'a', 'type': 'RigidBody', 'node':"   \
    "'na', 'physicsMass': 20, 'physicsInertia': [1, 2, 3, 0.1, 0.2, 0.3]}, {'name': 'b', 'type':"  \
    "'RigidBody', 'node': 'nb', 'physicsMass': 5, 'physicsInertia': [1, 1, 0.1, 0, 0, "            \
    "0]}," BUSHING(                                                                                \
        "s", "'mg', 'ma'",                                                                         \
        "1e9") ", " second "], 'markers': [{'name': 'mg', 'type':"                                 \
               "'MarkerBodyRigid', 'object': 'g'}, {'name': 'ma', 'type': 'MarkerBodyRigid', "     \
               "'object': 'a'},"                                                                   \
               "{'name': 'ea', 'type': 'MarkerBodyRigid', 'object': 'a', 'localPosition': [0.3, "  \
               "0, 0]},"                                                                           \
               "{'name': 'eb', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0, 0, " \
               "1]},"                                                                              \
               "{'name': 'f', 'type': 'MarkerBodyRigid', 'object': 'a', 'localPosition': [0.3, "   \
               "0.1, 0.2]}],"                                                                      \
               "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'f', 'load':"         \
               "[700, -400, 900]}], 'solver': {" newton "}}"
#define JOINTED                                                                                    \
    "{'name': 'j', 'type': 'SphericalJoint', 'markers': ['ea', 'eb']}, " BUSHING(                  \
        "t", "'ea', 'eb'", "0")

/* Real modes of what is at rest are those of the complex solver, which asks for no symmetry. */
static void bushings_at_rest_have_real_modes(void)
{
    static const char *const models[] = {
        BUSHED(""), BUSHED("'newton': {'relativeTolerance': 1e-2}"),
        BUSHINGS(BUSHING("t", "'ea', 'eb'", "1e9"), ""), BUSHINGS(JOINTED, ""),
        /* where moments do not balance, K differs from its transpose */
        BUSHINGS(BUSHING("t", "'ea', 'eb'", "1e9"), "'newton': {'relativeTolerance': 1e-3}"),
        BUSHINGS(JOINTED, "'newton': {'relativeTolerance': 1e-3}")};

    for (size_t k = 0; k < sizeof models / sizeof *models; k++) {
        struct mech_sim *const s = model_of(models[k]);
        const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
        const int count = k < 2 ? 6 : k % 2 ? 9 : 12;
        struct mech_statics_report report;
        struct mech_modes real, complex;

        CU_ASSERT_EQUAL_FATAL(mech_sim_statics(s, &query, &report), 0);
        CU_ASSERT_EQUAL(mech_sim_modes(s, count, false, &real), 0);
        CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, count, true, &complex), 0);
        CU_ASSERT_EQUAL(real.count, count);
        for (int i = 0; i < real.count; i++) {
            const double expected = complex.modes[i].square;

            CHECK_NEAR(real.modes[i].square, expected, 1e-3 * expected);
        }
        mech_modes_fini(&real);
        mech_modes_fini(&complex);
        mech_sim_destroy(s);
    }
}

/* --- contacts --------------------------------------------------------------------------------- */

/* Coordinates that are pressed onto stops, with a stiffness that turns pairs of them into each
 * other, so that N = (M + h²θ²K)⁻¹ is a narrow band: 0 ≤ v ⊥ P ≥ 0 of the whole N. Beside them one
 * that is light and free. */
static void contacts_of_an_unsymmetric_system_stop_it(void)
{
    enum { STOPS = 12 };
    static const char *const solvers[] = {"", ", 'vi': {'type': 'lemke'}",
                                          ", 'vi': {'type': 'nsgs'}",
                                          ", 'vi': {'type': 'semismooth'}"};

    for (int k = 0; k < 4; k++) {
        char text[8192], *at = text;

        at += sprintf(at, "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                          "'M': {'diag': [1e-9");
        for (int i = 0; i < STOPS; i++) {
            at += sprintf(at, ", 1");
        }
        at += sprintf(at, "]}, 'K': {'shape': [%d, %d], 'coo': [[0, 0, 1e3]", STOPS + 1, STOPS + 1);
        for (int i = 1; i <= STOPS; i++) {
            at += sprintf(at, ", [%d, %d, 3]", i, i);
            at += i % 2 ? 0 : sprintf(at, ", [%d, %d, 9e5], [%d, %d, -9e5]", i, i - 1, i - 1, i);
        }
        at += sprintf(at, "]}, 'q0': [0");
        for (int i = 0; i < STOPS; i++) {
            at += sprintf(at, ", 0");
        }
        at += sprintf(at, "], 'v0': [0");
        for (int i = 0; i < STOPS; i++) {
            at += sprintf(at, ", %d", -3 + i % 3);
        }
        at += sprintf(at,
                      "]}], 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {"
                      "'type': 'LagrangianLinearTIR', 'H': {'shape': [%d, %d], 'coo': [",
                      STOPS, STOPS + 1);
        for (int i = 0; i < STOPS; i++) {
            at += sprintf(at, "%s[%d, %d, 1]", i ? ", " : "", i, i + 1);
        }
        at += sprintf(at, "]}, 'b': [0");
        for (int i = 1; i < STOPS; i++) {
            at += sprintf(at, ", 0");
        }
        sprintf(at,
                "]}, 'law': {'type': 'NewtonImpact', 'e': 0}}], 'solver': {'integrator':"
                "'MoreauJean', 'stepSize': 0.001%s}}",
                solvers[k]);
        struct mech_sim *const s = model_of(text);

        CU_ASSERT_EQUAL(model_steps(s, 1), 0);
        for (int i = 1; i <= STOPS; i++) {
            const double v = model_state(s).v[i], P = model_state(s).impulse[i - 1];

            CU_ASSERT(v > -1e-9);
            CU_ASSERT(P > -1e-9);
            CU_ASSERT(fmin(v, P) < 1e-9);
        }
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(each_pair_is_judged_beside_its_own_rows),
           UNIT_TEST(small_stiffnesses_are_judged_beside_large_ones),
           UNIT_TEST(a_large_pair_that_is_held_says_nothing_of_a_small_one),
           UNIT_TEST(what_rounding_leaves_of_held_pairs_is_none_of_the_stiffness),
           UNIT_TEST(joints_hold_what_is_not_symmetric), UNIT_TEST(parts_add_up),
           UNIT_TEST(many_joints_hold_what_is_not_symmetric), UNIT_TEST(what_is_far_away_counts),
           UNIT_TEST(tolerances_of_statics_are_of_moments),
           UNIT_TEST(many_coordinates_are_judged_pair_by_pair),
           UNIT_TEST(bushings_at_rest_have_real_modes),
           UNIT_TEST(contacts_of_an_unsymmetric_system_stop_it))
