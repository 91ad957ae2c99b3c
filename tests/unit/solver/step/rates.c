/* Accelerations and multipliers of models with joints against the dense system that differences of
 * the residuals build; joints that repeat each other; masses of all sizes; nothing at all. */
#include "solver/step/rates.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "solver/step/saddle.h"
#include "tests/unit/compiled.h"

enum { MOST = 32 };

/* two bodies that tumble, a ball between them and a hinge's worth of distance to the ground */
#define BODIES(mass, inertia, more)                                                                \
    "{'mechd': 1, 'gravity': [0, 1, -9.81], 'nodes': ["                                            \
    "{'name': 'n0', 'type': 'NodeRigidBodyEP',"                                                    \
    "'referenceCoordinates': [0.1, 0.2, 0.3, 0.8, 0.2, -0.4, 0.4]},"                               \
    "{'name': 'n1', 'type': 'NodeRigidBodyEP',"                                                    \
    "'referenceCoordinates': [1.2, -0.3, 0.6, 0.7, -0.5, 0.1, 0.5]}], 'objects': ["                \
    "{'name': 'g', 'type': 'Ground'},"                                                             \
    "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': " mass ","                   \
    "'physicsInertia': " inertia "},"                                                              \
    "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': " mass ","                   \
    "'physicsInertia': " inertia "},"                                                              \
    "{'name': 'ball', 'type': 'SphericalJoint', 'markers': ['m0', 'm1']},"                         \
    "{'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['mg', 'far'], 'distance': 1}" more  \
    "], 'markers': ["                                                                              \
    "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0.2, 3, 1]},"      \
    "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0.3, 0.1, 0.2]}," \
    "{'name': 'far', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0, -0.4, 0.3]}," \
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0.1, 0.5, 0.2]}"  \
    "]}"

static void residual(const struct compiled *c, const double *v, double h, double *g)
{
    double d[MOST] = {0.}, moved[MOST] = {0.};

    for (int32_t i = 0; i < mech_model_sizes(c->model)->v; i++) {
        d[i] = h * v[i];
    }
    mech_model_move(c->model, c->state.q, d, moved);
    const struct mech_eval e = mech_model_point(c->model, &c->state, 0., moved, c->state.v);
    mech_model_pose(c->model, &e);
    mech_model_joint_residual(c->model, &e, g);
}

/* A [n × n] by columns: M, G and Gᵀ; G by differences */
static void dense(const struct compiled *c, double *A)
{
    const int32_t nv = mech_model_sizes(c->model)->v, rows = mech_model_joints(c->model)->count;
    const int32_t n = nv + rows;
    struct mech_mat_walk walk = {.a = mech_model_linear(c->model)->M};
    double g[2][MOST];

    memset(A, 0, (size_t)(n * n) * sizeof *A);
    CU_ASSERT_FALSE(mech_model_inertia(c->model));
    while (mech_mat_next(&walk)) {
        A[walk.col * n + walk.row] += walk.value;
    }
    for (int32_t j = 0; j < nv; j++) {
        double one[MOST] = {0.};

        one[j] = 1.;
        residual(c, one, 1e-5, g[1]);
        residual(c, one, -1e-5, g[0]);
        for (int32_t r = 0; r < rows; r++) {
            A[j * n + nv + r] = A[(nv + r) * n + j] = (g[1][r] - g[0][r]) / 2e-5;
        }
    }
}

static void solve(double *A, int32_t n, double *x)
{
    const struct mech_mat W = {.kind = MECH_MAT_DENSE, .rows = n, .cols = n, .values = A};
    struct mech_lsol *lu = NULL;

    CU_ASSERT_EQUAL_FATAL(mech_lsol_create("dense_lu", &W, &lu), 0);
    CU_ASSERT_EQUAL(mech_lsol_factor(lu, &W), 0);
    CU_ASSERT_EQUAL(mech_lsol_solve(lu, x, 1), 0);
    mech_lsol_destroy(lu);
}

/* v̇ and λ, and the push, by the linear solver of this name against dense LU */
static void compare(const char *text, const char *linear, double size)
{
    static double A[MOST * MOST], B[MOST * MOST];
    struct mech_step_result result = {.iterations = 0};
    struct compiled c;
    struct mech_rates r;
    double f[MOST], x[MOST], y[MOST] = {0.}, vdot[MOST], lambda[MOST], dv[MOST], g[3][MOST];

    compiled_open(&c, text);
    const int32_t nv = mech_model_sizes(c.model)->v, rows = mech_model_joints(c.model)->count;
    const int32_t n = nv + rows;
    for (int32_t i = 0; i < nv; i++) {
        c.state.v[i] = sin(1. + 3. * i);
    }
    dense(&c, A);
    memcpy(B, A, sizeof B);
    const struct mech_rate_point at = {&c.state, 0., c.state.q, c.state.v, NULL};
    CU_ASSERT_EQUAL_FATAL(mech_rates_init(&r, c.model, linear, &result), 0);
    CU_ASSERT_EQUAL(mech_rates_force(&r, &at, f, &result), 0);
    memcpy(x, f, (size_t)nv * sizeof *x);
    for (int k = 0; k < 3; k++) {
        residual(&c, c.state.v, (k - 1) * 1e-4, g[k]);
    }
    for (int32_t i = 0; i < rows; i++) {
        x[nv + i] = -(g[0][i] - 2. * g[1][i] + g[2][i]) / 1e-8;
        y[nv + i] = 0.25 * (g[2][i] - g[0][i]) / 2e-4;
    }
    solve(A, n, x);
    solve(B, n, y);
    CU_ASSERT_EQUAL(mech_rates_vdot(&r, &at, vdot, &result), 0);
    mech_rates_reactions(&r, vdot, lambda);
    CU_ASSERT_EQUAL(mech_rates_push(&r, &at, 0.25, dv, &result), 0);
    /* second differences: 1e-16 / 1e-8 of rounding, h² of the series; accelerations up to 50 */
    for (int32_t i = 0; i < nv; i++) {
        CHECK_NEAR(vdot[i], x[i], 5e-6 * (1. + fabs(x[i])));
        CHECK_NEAR(dv[i], y[i], 5e-6 * (1. + fabs(y[i])));
    }
    for (int32_t i = 0; i < rows; i++) {
        CHECK_NEAR(lambda[i], -x[nv + i], 5e-6 * size * (1. + fabs(x[nv + i] / size)));
    }
    mech_rates_fini(&r);
    compiled_close(&c);
}

static void accelerations_solve_the_dense_system(void)
{
    compare(BODIES("2", "[0.3, 0.4, 0.6, 0.01, 0.02, 0.03]", ""), NULL, 1.);
    compare(BODIES("2", "[0.3, 0.4, 0.6, 0.01, 0.02, 0.03]", ""), "dense_lu", 1.);
    compare(BODIES("2", "[0.3, 0.4, 0.6, 0.01, 0.02, 0.03]", ""), "klu", 1.);
}

static void masses_of_all_sizes_give_the_same_accelerations(void)
{
    compare(BODIES("2e-6", "[0.3e-6, 0.4e-6, 0.6e-6, 0, 0, 0]", ""), NULL, 1e-6);
    compare(BODIES("2e6", "[0.3e6, 0.4e6, 0.6e6, 0, 0, 0]", ""), NULL, 1e6);
}

static void a_joint_that_repeats_another_is_named(void)
{
    static const char *const linear[] = {NULL, "dense_lu", "klu"};
    struct compiled c;

    compiled_open(&c,
                  BODIES("2", "[0.3, 0.4, 0.6, 0, 0, 0]",
                         ", {'name': 'again', 'type': 'DistanceConstraint',"
                         "'markers': ['mg', 'far'], 'distance': 1},"
                         "{'name': 'other', 'type': 'DistanceConstraint', 'markers': ['mg', 'm1'],"
                         "'distance': 2}"));
    for (int k = 0; k < 3; k++) {
        struct mech_step_result result = {.iterations = 0};
        struct mech_saddle s = {.model = NULL};
        const struct mech_eval e = mech_model_point(c.model, &c.state, 0., c.state.q, c.state.v);

        CU_ASSERT_EQUAL_FATAL(mech_saddle_init(&s, c.model, linear[k], false, &result), 0);
        mech_saddle_form(&s, (const double[3]){1., 0., 0.});
        mech_model_pose(c.model, &e);
        CU_ASSERT_EQUAL(mech_saddle_factor(&s, &e, NULL, &result), MECH_SINGULAR);
        CU_ASSERT_EQUAL(result.dependent, 5);
        CU_ASSERT_PTR_NOT_NULL(strstr(result.reason, "\"again\""));
        CU_ASSERT_STRING_EQUAL(result.place, "/objects/5");
        mech_saddle_fini(&s);
    }
    compiled_close(&c);
}

static void without_coordinates_there_is_nothing_to_do(void)
{
    struct mech_step_result result = {.iterations = 0};
    double v[2] = {7., 7.};
    struct compiled c;
    struct mech_rates r;

    compiled_open(&c, "{'mechd': 1}");
    const struct mech_rate_point at = {&c.state, 0., c.state.q, c.state.v, NULL};
    CU_ASSERT_EQUAL(mech_rates_init(&r, c.model, NULL, &result), 0);
    CU_ASSERT_EQUAL(mech_rates_vdot(&r, &at, v, &result), 0);
    CU_ASSERT_EQUAL(mech_rates_push(&r, &at, 1., v, &result), 0);
    CHECK_NEAR(v[1], 7., 0.);
    mech_rates_fini(&r);
    compiled_close(&c);
}

UNIT_TESTS(UNIT_TEST(accelerations_solve_the_dense_system),
           UNIT_TEST(masses_of_all_sizes_give_the_same_accelerations),
           UNIT_TEST(a_joint_that_repeats_another_is_named),
           UNIT_TEST(without_coordinates_there_is_nothing_to_do))
