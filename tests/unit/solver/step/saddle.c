/* The matrix of nonlinear steps against one that is gathered from its parts: M, C, K, differences
 * of the forces and of the equations of joints; by every linear solver, with weights of all sizes,
 * and a row that does not act. */
#include "solver/step/saddle.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "tests/unit/compiled.h"

enum { MOST = 24 };

/* two bodies that tumble: a ball between them, a rod and two springs to the ground, one of them
 * linear */
#define BODIES(more)                                                                               \
    "{'mechd': 1, 'gravity': [0, 1, -9.81], 'nodes': ["                                            \
    "{'name': 'n0', 'type': 'NodeRigidBodyEP',"                                                    \
    "'referenceCoordinates': [0.1, 0.2, 0.3, 0.8, 0.2, -0.4, 0.4]},"                               \
    "{'name': 'n1', 'type': 'NodeRigidBodyEP',"                                                    \
    "'referenceCoordinates': [1.2, -0.3, 0.6, 0.7, -0.5, 0.1, 0.5]}], 'objects': ["                \
    "{'name': 'g', 'type': 'Ground'},"                                                             \
    "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 2,"                          \
    "'physicsInertia': [0.3, 0.4, 0.6, 0.01, 0.02, 0.03]},"                                        \
    "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 3,"                          \
    "'physicsInertia': [0.6, 0.4, 0.3, 0.03, 0.02, 0.01]},"                                        \
    "{'name': 'spring', 'type': 'SpringDamper', 'markers': ['mg', 'm1'], 'stiffness': 200,"        \
    "'damping': 5, 'referenceLength': 1},"                                                         \
    "{'name': 'guide', 'type': 'CoordinateSpringDamper', 'markers': ['gc', 'x0'],"                 \
    "'stiffness': 70, 'damping': 9},"                                                              \
    "{'name': 'ball', 'type': 'SphericalJoint', 'markers': ['m0', 'm1']},"                         \
    "{'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['mg', 'far'], 'distance': 1}" more  \
    "], 'markers': ["                                                                              \
    "{'name': 'gc', 'type': 'MarkerGroundCoordinate'},"                                            \
    "{'name': 'x0', 'type': 'MarkerNodeCoordinate', 'node': 'n0', 'coordinate': 1},"               \
    "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0.2, 3, 1]},"      \
    "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0.3, 0.1, 0.2]}," \
    "{'name': 'far', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0, -0.4, 0.3]}," \
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0.1, 0.5, 0.2]}"  \
    "]}"

/* NULL: the tree, for this model has one */
static const char *const solvers[] = {NULL, "dense_lu", "klu"};

struct point {
    struct compiled c;
    int32_t nv, rows, n;
};

static void open_point(struct point *p, const char *text)
{
    compiled_open(&p->c, text);
    p->nv = mech_model_sizes(p->c.model)->v;
    p->rows = mech_model_joints(p->c.model)->count;
    p->n = p->nv + p->rows;
    CU_ASSERT_FATAL(p->n <= MOST);
    for (int32_t i = 0; i < p->nv; i++) {
        p->c.state.v[i] = sin(1. + 3. * i);
    }
}

/* Forces f [nv] and equations g [rows] at the point moved by h in the velocity i. */
static void terms(const struct point *p, int32_t i, double h, bool rate, double *f, double *g)
{
    double d[MOST] = {0.}, q[2 * MOST] = {0.}, v[MOST] = {0.}, all[MOST] = {0.};

    d[i] = rate ? 0. : h;
    mech_model_move(p->c.model, p->c.state.q, d, q);
    memcpy(v, p->c.state.v, (size_t)p->nv * sizeof *v);
    v[i] += rate ? h : 0.;
    const struct mech_eval e = mech_model_point(p->c.model, &p->c.state, 0., q, v);
    mech_model_nonlinear(p->c.model, &e, all);
    memcpy(f, all, (size_t)p->nv * sizeof *f);
    mech_model_joint_residual(p->c.model, &e, g);
}

/* A [n x n] by columns at the point: the differences have errors of 1e-16/h and h². */
static void gather(const struct point *p, const double w[3], const double c[3], double *A)
{
    const struct mech_linear_part *const linear = mech_model_linear(p->c.model);
    const struct mech_mat *const parts[] = {linear->M, linear->C, linear->K};
    const double h = 1e-5;
    double f[2][MOST], g[2][MOST];

    memset(A, 0, (size_t)(p->n * p->n) * sizeof *A);
    for (int k = 0; k < 3; k++) {
        struct mech_mat_walk walk = {.a = parts[k]};
        while (mech_mat_next(&walk)) {
            A[walk.col * p->n + walk.row] += w[k] * walk.value;
        }
    }
    for (int32_t j = 0; j < p->nv; j++) {
        for (int rate = 0; rate < 2; rate++) {
            terms(p, j, h, rate, f[1], g[1]);
            terms(p, j, -h, rate, f[0], g[0]);
            for (int32_t i = 0; i < p->nv; i++) {
                A[j * p->n + i] += c[rate] * (f[1][i] - f[0][i]) / (2. * h);
            }
            for (int32_t r = 0; r < p->rows && !rate; r++) {
                A[j * p->n + p->nv + r] = A[(p->nv + r) * p->n + j] =
                    (g[1][r] - g[0][r]) / (2. * h);
            }
        }
    }
}

/* The product of A and x is the right-hand side, to `tolerance` of the largest term of each row. */
static void expect_solved(const struct point *p, const double *A, const double *x, const double *r,
                          double tolerance)
{
    for (int32_t i = 0; i < p->n; i++) {
        double sum = 0., size = fabs(r[i]);
        for (int32_t j = 0; j < p->n; j++) {
            sum += A[j * p->n + i] * x[j];
            size = fmax(size, fabs(A[j * p->n + i] * x[j]));
        }
        CHECK_NEAR(sum, r[i], tolerance * size);
    }
}

static void right_hand_side(const struct point *p, double *r)
{
    for (int32_t i = 0; i < p->n; i++) {
        r[i] = cos(2. + 5. * i);
    }
}

/* The matrix of a model, by one solver. */
struct matrix {
    struct mech_saddle s;
    struct mech_eval e;
};

static void open_matrix(struct matrix *m, const struct point *p, const char *solver)
{
    struct mech_step_result result = {.iterations = 0};

    m->s = (struct mech_saddle){.model = NULL};
    m->e = mech_model_point(p->c.model, &p->c.state, 0., p->c.state.q, p->c.state.v);
    CU_ASSERT_EQUAL_FATAL(mech_saddle_init(&m->s, p->c.model, solver, true, &result), 0);
}

static void factor(struct matrix *m, const double c[3])
{
    struct mech_step_result result = {.iterations = 0};
    CU_ASSERT_EQUAL_FATAL(mech_saddle_factor(&m->s, &m->e, c, &result), 0);
}

/* Its factor solves A x = r, r as of right_hand_side; x [n] is the solution. */
static void expect_solves(struct matrix *m, const struct point *p, const double *A, double *x)
{
    struct mech_step_result result = {.iterations = 0};
    double r[MOST];

    right_hand_side(p, r);
    memcpy(x, r, (size_t)p->n * sizeof *x);
    CU_ASSERT_EQUAL(mech_saddle_solve(&m->s, x, &result), 0);
    expect_solved(p, A, x, r, 1e-7);
}

static void compare(const double w[3], const double c[3])
{
    static double A[MOST * MOST];
    struct point p;
    double x[MOST];

    open_point(&p, BODIES(""));
    gather(&p, w, c, A);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        struct matrix m;
        open_matrix(&m, &p, solvers[k]);
        CU_ASSERT_STRING_EQUAL(mech_saddle_linear(&m.s), solvers[k] != NULL ? solvers[k] : "tree");
        mech_saddle_form(&m.s, w);
        /* a second factor at the same point is the same matrix */
        for (int times = 0; times < 2; times++) {
            factor(&m, c);
            expect_solves(&m, &p, A, x);
        }
        CU_ASSERT_EQUAL(m.s.factored, 2);
        mech_saddle_fini(&m.s);
    }
    compiled_close(&p.c);
}

static void the_matrix_is_that_of_its_parts(void)
{
    compare((const double[3]){1., 0., 0.}, (const double[3]){0., 0., 0.});
    compare((const double[3]){1., 0.5, 0.25}, (const double[3]){0.25, 0.5, 1.});
}

/* As in steps of 1e-6 s and of 10 s. */
static void weights_may_have_all_sizes(void)
{
    compare((const double[3]){1e6, 1., 1e-6}, (const double[3]){1e-6, 1., 1e6});
    compare((const double[3]){0.1, 1., 10.}, (const double[3]){10., 1., 0.1});
}

static void what_is_formed_anew_replaces_what_was_there(void)
{
    static double A[MOST * MOST];
    const double w[2][3] = {{7., 3., 2.}, {1., 0.5, 0.25}}, c[3] = {0.25, 0.5, 1.};
    struct point p;
    double x[MOST];

    open_point(&p, BODIES(""));
    gather(&p, w[1], c, A);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        struct matrix m;
        open_matrix(&m, &p, solvers[k]);
        for (int form = 0; form < 2; form++) {
            mech_saddle_form(&m.s, w[form]);
            factor(&m, c);
        }
        expect_solves(&m, &p, A, x);
        mech_saddle_fini(&m.s);
    }
    compiled_close(&p.c);
}

/* A rope that is slack: its row is the identity, and nothing of it is in the others. */
static void a_row_that_does_not_act_is_the_identity(void)
{
    static double A[MOST * MOST];
    const double w[3] = {1., 0.5, 0.25}, c[3] = {0.25, 0.5, 1.};
    struct point p;
    double r[MOST], x[MOST];

    open_point(&p, BODIES(", {'name': 'rope', 'type': 'DistanceConstraint',"
                          "'markers': ['mg', 'm1'], 'distance': 9, 'unilateral': true}"));
    const int32_t row = p.n - 1;
    CU_ASSERT_TRUE_FATAL(mech_model_joints(p.c.model)->partial);
    p.c.state.open[p.rows - 1] = 1.;
    gather(&p, w, c, A);
    for (int32_t j = 0; j < p.n; j++) {
        A[j * p.n + row] = A[row * p.n + j] = j == row ? 1. : 0.;
    }
    right_hand_side(&p, r);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        struct matrix m;
        open_matrix(&m, &p, solvers[k]);
        mech_saddle_form(&m.s, w);
        factor(&m, c);
        expect_solves(&m, &p, A, x);
        CHECK_NEAR(x[row], r[row], 0.);
        mech_saddle_fini(&m.s);
    }
    compiled_close(&p.c);
}

static void a_solver_that_does_not_suit_is_refused_with_a_reason(void)
{
    struct mech_step_result result = {.iterations = 0};
    struct mech_saddle s = {.model = NULL};
    struct point p;

    open_point(&p, BODIES(""));
    CU_ASSERT_EQUAL(mech_saddle_init(&s, p.c.model, "cholmod", true, &result), MECH_UNSUPPORTED);
    CU_ASSERT_PTR_NOT_NULL(strstr(result.reason, "cholmod"));
    mech_saddle_fini(&s);
    /* for the matrix of the start another one is taken */
    CU_ASSERT_EQUAL(mech_saddle_init(&s, p.c.model, "cholmod", false, &result), 0);
    CU_ASSERT_STRING_NOT_EQUAL(mech_saddle_linear(&s), "cholmod");
    mech_saddle_fini(&s);
    compiled_close(&p.c);
}

UNIT_TESTS(UNIT_TEST(the_matrix_is_that_of_its_parts), UNIT_TEST(weights_may_have_all_sizes),
           UNIT_TEST(what_is_formed_anew_replaces_what_was_there),
           UNIT_TEST(a_row_that_does_not_act_is_the_identity),
           UNIT_TEST(a_solver_that_does_not_suit_is_refused_with_a_reason))
