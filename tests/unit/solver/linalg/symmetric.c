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
    static const double to[] = {MECH_SYMMETRIC_TO, MECH_SYMMETRIC_TO};
    bool symmetric = false;

    mech_arena_init(&arena, 0);
    for (int k = 0; k < 9; k++) {
        t[k] = (struct mech_triplet){k / 3, k % 3, rows[k]};
    }
    CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&arena, 3, 3, t, 9, &A), 0);
    CU_ASSERT_EQUAL(mech_symmetric(&arena, &A, to, &symmetric), 0);
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
    struct mech_mat a, even, odd, known;

    mech_arena_init(&arena, 0);
    for (int full = 0; full < 2; full++) {
        int count = 0;

        for (int k = 0; k < 9; k++) {
            t[count] = (struct mech_triplet){k / 3, k % 3, A[k]};
            count += full || A[k] != 0.;
        }
        CU_ASSERT_EQUAL_FATAL(mech_mat_from_triplets(&arena, 3, 3, t, (size_t)count, &a), 0);
        for (int k = 0; k < 2; k++) {
            const struct mech_symmetric_slack slack = {.block = block, .most = most[k]};

            CU_ASSERT_EQUAL_FATAL(mech_symmetric_split(&arena, &a, &slack, &even, &odd, &known), 0);
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

/* A_ij − A_ji = ε_ijk moment_k of the last three is known, of nothing else; a coupling in the same
 * block besides is not. */
static void what_is_known_of_pairs_is_left_out(void)
{
    static const double moment[] = {9., 0.1, 0.2, 0.4}, none[] = {0., 0., 0., 0.};
    static const int32_t block[] = {0, 1, 1, 1};
    static const int8_t place[] = {-1, 0, 1, 2};
    struct mech_symmetric_slack slack = {
        .block = block, .most = none, .place = place, .moment = moment};
    /* by rows */
    double A[16] = {5., 1., 2., 3., 1., 5., 0.4, -0.2, 2., 0., 5., 0.1, 3., 0., 0., 5.};
    struct mech_mat a = {.kind = MECH_MAT_DENSE, .rows = 4, .cols = 4}, even, odd, known;
    struct mech_arena arena;

    mech_arena_init(&arena, 0);
    for (int k = 0; k < 3; k++) {
        double values[16];

        for (int i = 0; i < 16; i++) {
            values[i] = A[4 * (i % 4) + i / 4];
        }
        a.values = values;
        CU_ASSERT_EQUAL_FATAL(mech_symmetric_split(&arena, &a, &slack, &even, &odd, &known), 0);
        CU_ASSERT_EQUAL(odd.kind == MECH_MAT_ZERO, k == 0);
        if (k) {
            /* 1: less by 0.06 at (1, 2); 2: the other sign at (2, 3) as well */
            CHECK_NEAR(mech_mat_get(&odd, 1, 2), -0.03, 1e-15);
            CHECK_NEAR(mech_mat_get(&odd, 2, 1), 0.03, 1e-15);
            CHECK_NEAR(mech_mat_get(&odd, 2, 3), k == 1 ? 0. : -0.1, 1e-15);
            CHECK_NEAR(mech_mat_get(&odd, 3, 1), 0., 0.);
            CHECK_NEAR(mech_mat_get(&known, 0, 3), 5e-15, 1e-16);
        }
        A[6] = 0.34;
        A[11] = k ? -0.1 : A[11];
    }
    mech_arena_fini(&arena);
}

/* --- modes ------------------------------------------------------------------------------------ */

/* n times the same, as a list. */
static const char *list(int n, const char *each, char *text)
{
    char *at = text + sprintf(text, "[");

    for (int i = 0; i < n; i++) {
        at += sprintf(at, "%s%s", i ? "," : "", each);
    }
    sprintf(at, "]");
    return text;
}

#define GROUND "{'name': 'g', 'type': 'MarkerGroundCoordinate'}"

/* A linear system of n coordinates at 0; M 1 and v0 0 where NULL; with other objects before it, and
 * other members of the model. */
static struct mech_sim *system_of(int n, const char *M, const char *K, const char *v0,
                                  const char *objects, const char *rest)
{
    static char text[8 * TEXT], ones[TEXT], zeros[TEXT];

    list(n, "0", zeros);
    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'objects': [%s{'name': 's', 'type': 'LagrangianLinearTIDS', 'M': {'diag':"
        "%s}, 'K': %s, 'q0': %s, 'v0': %s}]%s}",
        objects, M ? M : list(n, "1", ones), K, zeros, v0 ? v0 : zeros, rest);
    return model_of(text);
}

/* The coordinates of a node, with M and K; `more` holds those of its marker x that it names. */
static struct mech_sim *node_of(int n, const char *M, const char *K, const char *more,
                                const char *x)
{
    char text[2048], zeros[64];

    snprintf(text, sizeof text,
             "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
             "'referenceCoordinates': %s}], 'objects': [{'name': 's', 'type': 'GenericODE2', "
             "'nodes': ['n'], 'massMatrix': %s,"
             "'stiffnessMatrix': %s}%s], 'markers': [" GROUND ", {'name': 'x', 'node': 'n', %s}]}",
             list(n, "0", zeros), M, K, more, x);
    return model_of(text);
}

/* Pendulums in a row that are let go at 30°: 2 kg at 0.5 m, 0.3 kg m² about the middle. */
static struct mech_sim *pendulums(int count)
{
    enum { EACH = 512 };
    static char text[3 * EACH * (N / 6 + 1)];
    char *at = text;

    at += sprintf(at, "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [");
    for (int i = 0; i < count; i++) {
        at += sprintf(at,
                      "%s{'name': 'n%d', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.25,"
                      "-0.4330127018922193, %d, 1, 0, 0, 0]}",
                      i ? "," : "", i, i);
    }
    at += sprintf(at, "], 'objects': [{'name': 'g', 'type': 'Ground'}");
    for (int i = 0; i < count; i++) {
        at += sprintf(at,
                      ", {'name': 'b%d', 'type': 'RigidBody', 'node': 'n%d', 'physicsMass': 2,"
                      "'physicsInertia': [0.1, 0.2, 0.3, 0, 0, 0]}, {'name': 'j%d', 'type':"
                      "'RevoluteJointZ', 'markers': ['g%d', 'h%d']}",
                      i, i, i, i, i);
    }
    at += sprintf(at, "], 'markers': [");
    for (int i = 0; i < count; i++) {
        at += sprintf(at,
                      "%s{'name': 'g%d', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition':"
                      "[0, 0, %d]}, {'name': 'h%d', 'type': 'MarkerBodyRigid', 'object': 'b%d',"
                      "'localPosition': [-0.25, 0.4330127018922193, 0]}",
                      i ? "," : "", i, i, i, i);
    }
    sprintf(at, "]}");
    return model_of(text);
}

/* Whether complex modes, which there are of small models, are offered. */
static void check_refused(struct mech_sim *s, int count, bool offered)
{
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, count, false, &modes), MECH_UNSUPPORTED);
    CU_ASSERT(strstr(modes.reason, "stiffness is not symmetric") != NULL);
    CU_ASSERT_EQUAL(strstr(modes.reason, "use complex modes") != NULL, offered);
    mech_modes_fini(&modes);
}

/* Of `wanted` modes there are so many, all with this ω². */
static void check_modes(struct mech_sim *s, int wanted, int count, double square, double to)
{
    struct mech_modes modes;

    CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, wanted, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, count);
    for (int i = 0; i < modes.count; i++) {
        CHECK_NEAR(modes.modes[i].square, square, to);
    }
    mech_modes_fini(&modes);
}

#define MASS "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},"

/* λ² = −(3 ± i) of the first two, however large or light what is beside them. */
static void small_stiffnesses_are_judged_beside_large_ones(void)
{
    static const char *const beside[][2] = {{"1e-9", "1e3"}, {"1e-9", "1e12"}, {"1", "1e15"}};
    /* a coordinate that is free, or that a joint holds */
    static const char *const objects[] = {
        MASS, MASS "{'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x']},"};
    static const char rest[] = ", 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'markers': [" GROUND
                               ", {'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n'}]";

    for (int k = 0; k < 6; k++) {
        char M[64], K[64];
        struct mech_modes modes;

        snprintf(M, sizeof M, "[1, 1, %s]", beside[k % 3][0]);
        snprintf(K, sizeof K, "[[3, 1, 0], [-1, 3, 0], [0, 0, %s]]", beside[k % 3][1]);
        struct mech_sim *const s = system_of(3, M, K, NULL, objects[k / 3], rest);

        check_refused(s, 2, true);
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
        const char *const a = pairs[k][0], *const b = pairs[k][1];
        char K[256];

        snprintf(K, sizeof K, "[[3, %s, 0, 0], [-%s, 3, 0, 0], [0, 0, 3, %s], [0, 0, -%s, 3]]", a,
                 a, b, b);
        struct mech_sim *const s =
            node_of(4, "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]", K,
                    ", {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x']}",
                    "'type': 'MarkerNodeCoordinate', 'coordinate': 3");

        if (k >= 2) {
            check_refused(s, 2, true);
        } else {
            check_modes(s, 4, 3, 3., 1e-12);
        }
        mech_sim_destroy(s);
    }
}

/* Three joints together hold the last three of five coordinates: what is free has of these what
 * rounding leaves, and of a pair of 1e10 between both as much. */
static void what_rounding_leaves_of_held_pairs_is_none_of_the_stiffness(void)
{
    struct mech_sim *const s = node_of(
        5,
        "[[1, 0.1, 0, 0.2, 0], [0.1, 1, 0.3, 0, 0], [0, 0.3, 1, 0, 0.1], [0.2, 0, 0, 1, 0],"
        "[0, 0, 0.1, 0, 1]]",
        "[[3, 1, 1e10, -2e10, 3e10], [1, 3, 1e10, 1e10, -1e10], [2e10, 1e10, 3, 0, 0],"
        "[1e10, -2e10, 0, 3, 0], [3e10, 2e10, 0, 0, 3]]",
        ", {'name': 'c', 'type': 'CoordinateVectorConstraint', 'markers': ['g', 'x'],"
        "'scalingMarker1': [[0, 0, 0.1, 0.7, 0.3], [0, 0, 0.9, 0.2, 0.5], [0, 0, 0.4, 0.6, 0.8]]}",
        "'type': 'MarkerNodeCoordinates'");
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 5, false, &modes), 0);
    CU_ASSERT_EQUAL(modes.count, 2);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* m g l cos 30° / (J + m l²) */
static const double swings = 2. * 9.81 * 0.4330127018922193 / (0.3 + 0.5);

/* Pendulums whose moments do not balance, so that K differs from its transpose where their hinges
 * hold, and not where they swing. */
static void joints_hold_what_is_not_symmetric(void)
{
    struct mech_sim *const s = pendulums(2);

    check_modes(s, 12, 2, swings, 1e-9);
    mech_sim_destroy(s);
}

/* The same of more bodies than can be projected. */
static void many_joints_hold_what_is_not_symmetric(void)
{
    struct mech_sim *const s = pendulums(MECH_MODES_DENSE / 6 + 1);

    check_modes(s, 3, 3, swings, 1e-9);
    mech_sim_destroy(s);
}

/* As many coordinates as are not computed all at once, on springs of 3 N/m, the last one of `last`;
 * the first two are coupled by a and b. */
static struct mech_sim *band(double a, double b, double last)
{
    static char K[TEXT];
    char *at = K;

    at += sprintf(at, "{'banded': {'lower': 1, 'upper': 1, 'rows': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s[%.17g,%.17g,%.17g]", i ? "," : "", i == 1 ? b : 0.,
                      i < N - 1 ? 3. : last, i == 0 ? a : 0.);
    }
    sprintf(at, "]}}");
    return system_of(N, NULL, K, NULL, "", ", 'solver': {'integrator': 'Newmark'}");
}

static void many_coordinates_are_judged_pair_by_pair(void)
{
    static const double last[] = {3., 1e9, 1e15};

    for (int k = 0; k < 3; k++) {
        struct mech_sim *s = band(1., -1., last[k]);
        struct mech_modes modes;

        check_refused(s, 2, false);
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
    static char K[TEXT];
    char *at = K;

    at += sprintf(at, "{'shape': [%d, %d], 'coo': [[0, 1, 1e3], [1, 0, -1e3]", N, N);
    for (int i = 0; i < N; i++) {
        at += sprintf(at, ", [%d, %d, %g]", i, i, i == 0 ? 1. : i == 1 ? 1e6 : 1e3 + i);
    }
    sprintf(at, "]}");
    struct mech_sim *const s =
        system_of(N, NULL, K, NULL, "", ", 'solver': {'integrator': 'Newmark'}");

    check_refused(s, 1, false);
    mech_sim_destroy(s);
}

/* Coordinates beside a body that turns: what statics leave of moments is not in their forces. */
static void tolerances_of_statics_are_of_moments(void)
{
    static const char *const tolerances[] = {"1e-8", "1e-2", "0.9"};

    for (int k = 0; k < 3; k++) {
        char rest[256];

        snprintf(rest, sizeof rest,
                 ", 'nodes': [{'name': 'r', 'type': 'NodeRigidBodyEP'}], 'solver': {'newton':"
                 "{'relativeTolerance': %s}}",
                 tolerances[k]);
        struct mech_sim *const s =
            system_of(2, NULL, "[[1000, 5], [-5, 1000]]", NULL,
                      "{'name': 'b', 'type': 'RigidBody', 'node': 'r', 'physicsMass': 1,"
                      "'physicsInertia': [1, 2, 3, 0, 0, 0]},",
                      rest);

        check_refused(s, 2, true);
        mech_sim_destroy(s);
    }
}

/* Body a on a bushing of 1e9 N/m and 1e3 N m, turned by a force beside the middle; and more. */
#define BUSHING(name, markers, k)                                                                  \
    "{'name': '" name "', 'type': 'RigidBodySpringDamper', 'markers': [" markers                   \
    "], 'intrinsicFormulation': true, 'stiffness': [[" k ", 0, 0, 0, 0, 0], [0, " k                \
    ", 0, 0, 0, 0], [0, 0, " k ", 0, 0, 0], [0, 0, 0, 1e3, 0, 0], [0, 0, 0, 0, 2e3, 0],"           \
    "[0, 0, 0, 0, 0, 3e3]]}"
#define RIGID(name, object, at)                                                                    \
    "{'name': '" name "', 'type': 'MarkerBodyRigid', 'object': '" object "', 'localPosition': " at \
    "}"
#define BUSHED(gravity, nodes, objects, markers, newton)                                           \
    "{'mechd': 1, 'gravity': " gravity                                                             \
    ", 'nodes': [{'name': 'na', 'type': 'NodeRigidBodyEP'}" nodes                                  \
    "], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'a', 'type': 'RigidBody', 'node':"   \
    "'na', 'physicsMass': 20, 'physicsInertia': [1, 2, 3, 0.1, 0.2, 0.3]}, " BUSHING(              \
        "s", "'mg', 'ma'", "1e9") objects                                                          \
        "], 'markers': [" RIGID("mg", "g", "[0, 0, 0]") ", " RIGID(                                \
            "ma", "a", "[0, 0, 0]") ", " RIGID("f", "a", "[0.3, 0.1, 0.2]") markers                \
        "], 'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'f', 'load':"             \
        "[700, -400, 900]}], 'solver': {" newton "}}"
#define ALONE(newton) BUSHED("[0, 0, 0]", "", "", "", newton)
/* a second body, which hangs on the first by these */
#define HANGING(by, newton)                                                                        \
    BUSHED(                                                                                        \
        "[0, 0, -9.81]",                                                                           \
        ", {'name': 'nb', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.3, 0, -1, 1, 0,"   \
        "0, 0]}",                                                                                  \
        ", {'name': 'b', 'type': 'RigidBody', 'node': 'nb', 'physicsMass': 5, 'physicsInertia':"   \
        "[1, 1, 0.1, 0, 0, 0]}, " by,                                                              \
        ", " RIGID("ea", "a", "[0.3, 0, 0]") ", " RIGID("eb", "b", "[0, 0, 1]"), newton)
#define HELD_FAST BUSHING("t", "'ea', 'eb'", "1e9")
#define JOINTED                                                                                    \
    "{'name': 'j', 'type': 'SphericalJoint', 'markers': ['ea', 'eb']}, " BUSHING(                  \
        "t", "'ea', 'eb'", "0")
#define ROUGHLY(to) "'newton': {'relativeTolerance': " to "}"

/* Real modes of what is at rest are those of the complex solver, which asks for no symmetry. */
static void bushings_at_rest_have_real_modes(void)
{
    static const char *const models[] = {
        ALONE(""), ALONE(ROUGHLY("1e-2")), HANGING(HELD_FAST, ""), HANGING(JOINTED, ""),
        /* where moments do not balance, K differs from Kᵀ */
        HANGING(HELD_FAST, ROUGHLY("1e-3")), HANGING(JOINTED, ROUGHLY("1e-3"))};

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
    char M[TEXT], K[TEXT], H[TEXT], v0[TEXT], *at;

    at = M + sprintf(M, "[1e-9");
    for (int i = 0; i < STOPS; i++) {
        at += sprintf(at, ", 1%s", i == STOPS - 1 ? "]" : "");
    }
    at = v0 + sprintf(v0, "[0");
    for (int i = 0; i < STOPS; i++) {
        at += sprintf(at, ", %d%s", -3 + i % 3, i == STOPS - 1 ? "]" : "");
    }
    at = K + sprintf(K, "{'shape': [%d, %d], 'coo': [[0, 0, 1e3]", STOPS + 1, STOPS + 1);
    for (int i = 1; i <= STOPS; i++) {
        at += sprintf(at, ", [%d, %d, 3]", i, i);
        at += i % 2 ? 0 : sprintf(at, ", [%d, %d, 9e5], [%d, %d, -9e5]", i, i - 1, i - 1, i);
    }
    sprintf(at, "]}");
    at = H + sprintf(H, "{'shape': [%d, %d], 'coo': [", STOPS, STOPS + 1);
    for (int i = 0; i < STOPS; i++) {
        at += sprintf(at, "%s[%d, %d, 1]%s", i ? ", " : "", i, i + 1, i == STOPS - 1 ? "]}" : "");
    }
    for (int k = 0; k < 4; k++) {
        char rest[2 * TEXT], zeros[64];

        snprintf(rest, sizeof rest,
                 ", 'interactions': [{'name': 'c', 'systems': ['s'], 'relation': {'type':"
                 "'LagrangianLinearTIR', 'H': %s, 'b': %s}, 'law': {'type': 'NewtonImpact', 'e': 0}"
                 "}], 'solver': {'integrator': 'MoreauJean', 'stepSize': 0.001%s}",
                 H, list(STOPS, "0", zeros), solvers[k]);
        struct mech_sim *const s = system_of(STOPS + 1, M, K, v0, "", rest);

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
           UNIT_TEST(what_is_known_of_pairs_is_left_out),
           UNIT_TEST(many_joints_hold_what_is_not_symmetric), UNIT_TEST(what_is_far_away_counts),
           UNIT_TEST(tolerances_of_statics_are_of_moments),
           UNIT_TEST(many_coordinates_are_judged_pair_by_pair),
           UNIT_TEST(bushings_at_rest_have_real_modes),
           UNIT_TEST(contacts_of_an_unsymmetric_system_stop_it))
