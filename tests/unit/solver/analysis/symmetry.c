/* Real modes are those of the whole stiffness: what is not symmetric in it is judged by what it
 * does to the modes that are asked for, however large or small it is beside its rows. */
#include "solver/analysis/symmetry.h"

#include "solver/analysis/tangents.h"
#include "solver/sim/analysis.h"
#include "solver/sim/internal.h"
#include "tests/unit/model.h"

enum { N = MECH_MODES_DENSE + 20, TEXT = 256 * N };

static void check_refused(struct mech_sim *s, int32_t count)
{
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_modes(s, count, false, &modes), MECH_UNSUPPORTED);
    CU_ASSERT(strstr(modes.reason, "the stiffness is not symmetric") != NULL);
    mech_modes_fini(&modes);
}

/* --- soft motions of stiff rows --------------------------------------------------------------- */

/* x₁ x₂ y₁ y₂ of mass 1: springs of 1e12 N/m tie x₁ to x₂ and y₁ to y₂, of 1 N/m x₁ and y₁ to the
 * ground; a and b couple x₁ and y₁. Of the rest, `more`, a joint holds one coordinate. */
#define TIED(a, b, zero, row, one, more)                                                           \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2', 'referenceCoordinates': [0,"  \
    "0, 0, 0" zero "]}], 'objects': [{'name': 's', 'type': 'GenericODE2', 'nodes': ['n'],"         \
    "'massMatrix': [[1, 0, 0, 0" zero "], [0, 1, 0, 0" zero "], [0, 0, 1, 0" zero                  \
    "], [0, 0, 0, 1" zero "]" one "], 'stiffnessMatrix': [[1000000000001, -1e12, " a ", 0" row     \
    "], [-1e12, 1e12, 0, 0" zero "], [" b ", 0, 1000000000001, -1e12" zero                         \
    "], [0, 0, -1e12, 1e12" zero "]" more
#define FREE(a, b) TIED(a, b, "", "", "", "]}]}")
#define HELD(a, b)                                                                                 \
    TIED(a, b, ", 0", ", 1e3", ", [0, 0, 0, 0, 1]",                                                \
         ", [2e3, 0, 0, 0, 3]]}, {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g',"   \
         "'x']}], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x',"      \
         "'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 4}]}")

/* Ties leave M = 2 for both, so that λ = ½ (1 ± i a). */
static void what_is_tied_by_stiff_springs_flutters(void)
{
    static const char *const turned[] = {FREE("100", "-100"), HELD("100", "-100"),
                                         FREE("10", "-10")};
    static const char *const even[] = {FREE("0.25", "0.25"), HELD("0.25", "0.25")};
    struct mech_modes modes;

    for (size_t k = 0; k < sizeof turned / sizeof *turned; k++) {
        struct mech_sim *const s = model_of(turned[k]);
        int found = 0;

        check_refused(s, 2);
        CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, 8, true, &modes), 0);
        for (int i = 0; i < modes.count && k < 2; i++) {
            /* known to the rounding of 1e12 */
            const double re = modes.modes[i].re, im = modes.modes[i].im;

            found += fabs(re * re - im * im + 0.5) < 1e-2 && fabs(fabs(2. * re * im) - 50.) < 1e-2;
        }
        CU_ASSERT_EQUAL(found, k < 2 ? 2 : 0);
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
    for (size_t k = 0; k < sizeof even / sizeof *even; k++) {
        struct mech_sim *const s = model_of(even[k]);

        CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, 2, false, &modes), 0);
        CHECK_NEAR(modes.modes[0].square, 0.5 * (1. - 0.25), 1e-2);
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
}

/* A shaft that bends in two planes, K = 1e9 (2 −1)² in each, λ = 1e9 (2 sin(π/2n))⁴, with a bearing
 * of kxy and kyx in the middle. */
static struct mech_sim *shaft(double kxy, double kyx)
{
    enum { NODES = N / 2 };
    static char text[TEXT];
    char *at = text;

    at += sprintf(at, "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                      "'M': {'diag': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s1", i ? "," : "");
    }
    at += sprintf(at, "]}, 'K': {'shape': [%d, %d], 'coo': [[%d, %d, %.17g], [%d, %d, %.17g]", N, N,
                  NODES, NODES + 1, kxy, NODES + 1, NODES, kyx);
    for (int i = 0; i < N; i++) {
        const int node = i / 2;
        const double own = node == 0 || node == NODES - 1 ? 5e9 : 6e9;

        at += sprintf(at, ", [%d, %d, %g]", i, i, own);
        for (int j = 1; j <= 2 && node + j < NODES; j++) {
            const double k = j == 1 ? -4e9 : 1e9;

            at += sprintf(at, ", [%d, %d, %g], [%d, %d, %g]", i, i + 2 * j, k, i + 2 * j, i, k);
        }
    }
    at += sprintf(at, "]}, 'q0': [");
    for (int i = 0; i < N; i++) {
        at += sprintf(at, "%s0", i ? "," : "");
    }
    sprintf(at, "]}], 'solver': {'integrator': 'Newmark'}}");
    return model_of(text);
}

static void a_bearing_turns_a_long_shaft(void)
{
    struct mech_modes modes;
    struct mech_sim *s = shaft(2., -2.);

    check_refused(s, 2);
    mech_sim_destroy(s);
    s = shaft(2., 2.);
    CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, 2, false, &modes), 0);
    const double pi = 3.14159265358979323846, w = 2. * sin(pi / (N + 2)), middle = 2. / (N / 2 + 1);

    /* λ ∓ 2 φ², φ² = 2/(n + 1) in the middle, up to its square over the next one's distance */
    CHECK_NEAR(modes.modes[0].square, 1e9 * w * w * w * w - 2. * middle, 1e-3);
    CHECK_NEAR(modes.modes[1].square, 1e9 * w * w * w * w + 2. * middle, 1e-3);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* --- far away --------------------------------------------------------------------------------- */

/* Coordinates of mass 1 on springs of 1 and `far`, coupled by b and −b, and of `from` and more, in
 * steps of `step`. */
static struct mech_sim *apart(int n, double far, double b, double from, double step)
{
    static char text[TEXT];
    char *at = text;

    at += sprintf(at, "{'mechd': 1, 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
                      "'M': {'diag': [");
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "%s1", i ? "," : "");
    }
    at += sprintf(at, "]}, 'K': {'shape': [%d, %d], 'coo': [[0, 1, %.17g], [1, 0, %.17g]", n, n, b,
                  -b);
    for (int i = 0; i < n; i++) {
        at += sprintf(at, ", [%d, %d, %.17g]", i, i, i == 0 ? 1. : i == 1 ? far : from + step * i);
    }
    at += sprintf(at, "]}, 'q0': [");
    for (int i = 0; i < n; i++) {
        at += sprintf(at, "%s0", i ? "," : "");
    }
    sprintf(at, "]}], 'solver': {'integrator': 'Newmark'}}");
    return model_of(text);
}

/* λ becomes 1 + b²/far. */
static void what_is_far_away_moves_by_the_square_over_the_distance(void)
{
    static const struct {
        double far, b;
        bool moves;
    } cases[] = {{1e14, 9.9e5, true}, {1e12, 9.9e3, true}, {1e14, 5e3, true},
                 {1e14, 500., false}, {1e12, 40., false},  {1e6, 5e-2, false}};

    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int large = 0; large < 2; large++) {
            struct mech_sim *const s = apart(large ? N : 20, cases[k].far, cases[k].b, 1e3, 1.);
            struct mech_modes modes;

            if (cases[k].moves) {
                check_refused(s, 1);
            } else {
                CU_ASSERT_EQUAL(mech_sim_modes(s, 1, false, &modes), 0);
                CHECK_NEAR(modes.modes[0].square, 1., 2e-8);
                mech_modes_fini(&modes);
            }
            mech_sim_destroy(s);
        }
    }
}

/* λ becomes 1 − 5 b², by a mode that is nearer than twice that, but not among those that many
 * coordinates have known. */
static void what_is_near_and_not_known_moves_as_well(void)
{
    for (int large = 0; large < 2; large++) {
        struct mech_sim *s = apart(large ? N : 20, 1.2, 6e-5, 1.1, 1e-3);
        struct mech_modes modes;

        check_refused(s, 1);
        mech_sim_destroy(s);
        s = apart(large ? N : 20, 1.2, 4e-9, 1.1, 1e-3);
        CU_ASSERT_EQUAL(mech_sim_modes(s, 1, false, &modes), 0);
        CHECK_NEAR(modes.modes[0].square, 1., 2e-8);
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
}

/* What is computed leaves the result small. */
static void results_hold_no_scratch(void)
{
    enum { n = 300 };
    struct mech_sim *const s = apart(n, 1e6, 0., 1e3, 1.);
    struct mech_modes modes;

    CU_ASSERT_EQUAL_FATAL(mech_sim_modes(s, 10, false, &modes), 0);
    CU_ASSERT(modes.arena.total < (size_t)8 * 10 * n * sizeof(double));
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

/* --- moments ---------------------------------------------------------------------------------- */

/* A body that springs of k N m hold against turns, and two of 1e4 N/m, whose forces nearly balance,
 * at a point of it. */
#define BODY(q, k, point, one, other, loads)                                                       \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP', 'referenceCoordinates': " q   \
    "}], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b', 'type': 'RigidBody', 'node':"  \
    "'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0]}, {'name': 's', 'type':"          \
    "'RigidBodySpringDamper', 'markers': ['mg', 'mb'], 'intrinsicFormulation': true, 'stiffness':" \
    "[[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, 0, " k ", 0, 0],"         \
    "[0, 0, 0, 0, " k ", 0], [0, 0, 0, 0, 0, " k "]]}, {'name': 'c', 'type':"                      \
    "'CartesianSpringDamper', 'markers': ['one', 'p'], 'stiffness': [1e4, 1e4, 1e4]}, {'name':"    \
    "'d', 'type': 'CartesianSpringDamper', 'markers': ['other', 'p'], 'stiffness': [1e4, 1e4,"     \
    "1e4]}], 'markers': [{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'mb'," \
    "'type': 'MarkerBodyRigid', 'object': 'b'}, {'name': 'p', 'type': 'MarkerBodyPosition',"       \
    "'object': 'b', 'localPosition': " point "}, {'name': 'one', 'type': 'MarkerBodyPosition',"    \
    "'object': 'g', 'localPosition': " one "}, {'name': 'other', 'type': 'MarkerBodyPosition',"    \
    "'object': 'g', 'localPosition': " other "}], 'loads': [" loads "], 'solver': {'newton':"      \
    "{'relativeTolerance': 1e-2}}}"

/* Less what is known of its difference nothing is left; with the other sign twice of it is. */
static void what_statics_leave_of_moments_has_a_sign(void)
{
    struct mech_sim *const s =
        model_of(BODY("[0, 0, 0, 0.8, 0.6, 0, 0]", "0", "[0.3, 0.1, 0.2]", "[1, -0.564, 1.052]",
                      "[-0.399, 0.2356, -0.7483]", ""));
    const struct mech_state *const at = &s->point;
    struct mech_symmetry symmetry;
    struct mech_modes modes;
    struct mech_arena arena;
    struct mech_mat M, K;

    CU_ASSERT_EQUAL(mech_sim_modes(s, 6, false, &modes), 0);
    mech_modes_fini(&modes);
    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_tangent_mass(s->model, at, &arena, &M), 0);
    CU_ASSERT_EQUAL_FATAL(mech_tangents(s->model, at, false, &arena, &K), 0);
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;

        /* inertia 1 */
        CU_ASSERT(fabs(at->vdot[3 + k]) > 0.1);
        CHECK_NEAR(mech_mat_get(&K, 3 + i, 3 + j) - mech_mat_get(&K, 3 + j, 3 + i), at->vdot[3 + k],
                   1e-9);
    }
    CU_ASSERT_EQUAL_FATAL(mech_symmetry(s->model, at, &M, &K, &arena, &symmetry), 0);
    CU_ASSERT_EQUAL(symmetry.odd.kind, MECH_MAT_ZERO);
    mech_arena_fini(&arena);
    mech_sim_destroy(s);
}

/* A torque of 8 N m about x that turns with the body, on springs of 1000 N m that are nearly alike
 * about y and z: λ = 1000 ± 4 i. Of moments 6 N m are left, of 1000. */
static void a_torque_beside_what_statics_leave_is_seen(void)
{
#define LEFT(q, loads)                                                                             \
    BODY(q, "1e3", "[0.03, 0.01, 0.02]", "[0.73, -0.39, 0.92]", "[-0.66, 0.406, -0.883]", loads)
    static const char *const models[] = {
        LEFT("[0, 0, 0, 1, 0, 0, 0]", ""),
        LEFT("[0, 0, 0, 0.999992000010667, 0.003999989333341867, 0, 0]",
             "{'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'mb', 'bodyFixed': true, 'load':"
             "[8, 0, 0]}")};

    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = model_of(models[k]);
        struct mech_modes modes;

        if (k) {
            check_refused(s, 6);
        } else {
            CU_ASSERT_EQUAL(mech_sim_modes(s, 6, false, &modes), 0);
            mech_modes_fini(&modes);
        }
        mech_sim_destroy(s);
    }
}

/* --- joints ----------------------------------------------------------------------------------- */

/* K = w wᵀ + Gᵀ C − Cᵀ G on five coordinates with joints G, of mass 1, the last three of `mass`;
 * w = (1, 2, 0, 1, −1), C of the size of 1e6: what is not symmetric does nothing where G φ = 0.
 * Beside them `more` on springs. */
static struct mech_sim *held(const char *mass, int more)
{
    static char text[TEXT];
    char *at = text;

    at += sprintf(
        at,
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2', 'referenceCoordinates':"
        "[0, 0, 0, 0, 0]}], 'objects': [{'name': 's', 'type': 'GenericODE2', 'nodes': ['n'],"
        "'massMatrix': [[1, 0, 0, 0, 0], [0, 1, 0, 0, 0], [0, 0, %s, 0, 0], [0, 0, 0, %s, 0],"
        "[0, 0, 0, 0, %s]], 'stiffnessMatrix': [[1, 1400002, -1300000, 100001, 599999], [-1399998,"
        "4, 1600000, -699998, 799998], [1300000, -1600000, 0, -300000, 1300000], [-99999, 700002,"
        "300000, 1, 3099999], [-600001, -800002, -1300000, -3100001, 1]]}, {'name': 'c', 'type':"
        "'CoordinateVectorConstraint', 'markers': ['g', 'x'], 'scalingMarker1': [[0.3, 0.7, 0.1,"
        "0.7, 0.3], [0.1, -0.6, 0.9, 0.2, 0.5], [0.2, 0.4, 0.4, 0.6, 0.8]]}",
        mass, mass, mass);
    if (more) {
        at += sprintf(at, ", {'name': 'o', 'type': 'LagrangianLinearTIDS', 'M': {'diag': [");
        for (int i = 0; i < more; i++) {
            at += sprintf(at, "%s1", i ? "," : "");
        }
        at += sprintf(at, "]}, 'K': {'diag': [");
        for (int i = 0; i < more; i++) {
            at += sprintf(at, "%s%d", i ? "," : "", 5 + i * i);
        }
        at += sprintf(at, "]}, 'q0': [");
        for (int i = 0; i < more; i++) {
            at += sprintf(at, "%s0", i ? "," : "");
        }
        at += sprintf(at, "]}");
    }
    sprintf(at, "], 'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'}, {'name': 'x',"
                "'type': 'MarkerNodeCoordinates', 'node': 'n'}]}");
    return model_of(text);
}

/* Solutions behind a shift, which a free motion asks for, are those of the joints as well, and
 * light coordinates have large shapes: λ = 0 and that of the part of w within G φ = 0, its length
 * squared in M⁻¹. */
static void joints_hold_beside_what_is_free(void)
{
    static const struct {
        const char *mass;
        double square;
    } cases[] = {
        {"1", 0.4704338729410105}, {"1e-6", 1.5090243827015841}, {"1e-12", 1.50902777777438}};

    for (int k = 0; k < 6; k++) {
        const bool large = k % 2;
        struct mech_sim *const s = held(cases[k / 2].mass, large ? N : 0);
        struct mech_modes modes;

        CU_ASSERT_EQUAL(mech_sim_modes(s, 2, false, &modes), 0);
        CU_ASSERT_EQUAL_FATAL(modes.count, 2);
        CU_ASSERT_EQUAL(modes.linear[0] != '\0', large);
        for (int i = 0; i < 2; i++) {
            CHECK_NEAR(modes.modes[i].square, i ? cases[k / 2].square : 0., 1e-7);
        }
        mech_modes_fini(&modes);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(what_is_tied_by_stiff_springs_flutters),
           UNIT_TEST(a_bearing_turns_a_long_shaft),
           UNIT_TEST(what_is_far_away_moves_by_the_square_over_the_distance),
           UNIT_TEST(what_is_near_and_not_known_moves_as_well), UNIT_TEST(results_hold_no_scratch),
           UNIT_TEST(what_statics_leave_of_moments_has_a_sign),
           UNIT_TEST(a_torque_beside_what_statics_leave_is_seen),
           UNIT_TEST(joints_hold_beside_what_is_free))
