/* Newton's iteration of implicit steps: what it ends with satisfies the equations at the end of
 * the step and the formulas of the scheme, in units of all sizes; and a step that does not converge
 * has a reason. */
#include "solver/step/stepper.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"
#include "tests/unit/compiled.h"

enum { MOST = 16 };

/* a point on a spring that swings far, between stiffness and weight */
#define POINT(mass, stiffness, damping, solver)                                                    \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n', 'type': 'NodePoint',"          \
    "'referenceCoordinates': [1, 0.2, 0.1], 'initialVelocities': [0, 2, 1]}], 'objects': ["        \
    "{'name': 'g', 'type': 'Ground'},"                                                             \
    "{'name': 'p', 'type': 'MassPoint', 'node': 'n', 'physicsMass': " mass "},"                    \
    "{'name': 's', 'type': 'SpringDamper', 'markers': ['o', 'm'], 'referenceLength': 0.8,"         \
    "'stiffness': " stiffness ", 'damping': " damping "}], 'markers': ["                           \
    "{'name': 'o', 'type': 'MarkerBodyPosition', 'object': 'g'},"                                  \
    "{'name': 'm', 'type': 'MarkerBodyPosition', 'object': 'p'}],"                                 \
    "'solver': {'stepSize': 0.01" solver "}}"

/* two bodies that tumble, a ball between them and a rod to the ground */
static const char bodies[] =
    "{'mechd': 1, 'gravity': [0, 1, -9.81], 'nodes': ["
    "{'name': 'n0', 'type': 'NodeRigidBodyEP',"
    "'referenceCoordinates': [0.3, 0.4, 0.5, 1, 0, 0, 0]},"
    "{'name': 'n1', 'type': 'NodeRigidBodyEP',"
    "'referenceCoordinates': [0.3, 0.4, 0.5, 1, 0, 0, 0]}], 'objects': ["
    "{'name': 'g', 'type': 'Ground'},"
    "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 2,"
    "'physicsInertia': [0.3, 0.4, 0.6, 0.01, 0.02, 0.03]},"
    "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 3,"
    "'physicsInertia': [0.6, 0.4, 0.3, 0.03, 0.02, 0.01]},"
    "{'name': 'ball', 'type': 'SphericalJoint', 'markers': ['m0', 'm1']},"
    "{'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['mg', 'far'], 'distance': 2}"
    "], 'markers': ["
    "{'name': 'mg', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0.3, 0, 2.5]},"
    "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0.2, 0, 0.1]},"
    "{'name': 'far', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0, -0.4, 0]},"
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0.2, 0, 0.1]}"
    "], 'solver': {'stepSize': 0.01}}";

struct run {
    struct compiled c;
    const struct mech_stepper_type *type;
    void *self;
    struct mech_step_result result;
};

static void begin(struct run *r, const char *text, const char *scheme)
{
    compiled_open(&r->c, text);
    r->type = mech_stepper_find(scheme);
    r->result = (struct mech_step_result){.iterations = 0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r->type);
    CU_ASSERT_EQUAL_FATAL(r->type->create(r->c.model, &r->result, &r->self), 0);
    CU_ASSERT_EQUAL_FATAL(r->type->start(r->self, &r->c.state, &r->result), 0);
}

static int advance(struct run *r, double h)
{
    struct mech_state *const s = &r->c.state;
    const double end = s->at->time + h;
    r->result = (struct mech_step_result){.iterations = 0};
    const int outcome = r->type->step(r->self, s, h, end, &r->result);
    s->at->time = end;
    return outcome;
}

static void end(struct run *r)
{
    r->type->destroy(r->self);
    compiled_close(&r->c);
}

/* M v' - F + forces at the state, and the largest of these terms. */
static double imbalance(struct run *r, double *size)
{
    const struct mech_state *const s = &r->c.state;
    const int32_t nv = mech_model_sizes(r->c.model)->v;
    double f[MOST] = {0.}, work[MOST] = {0.}, Ma[MOST] = {0.}, largest = 0.;
    struct mech_eval e = mech_model_point(r->c.model, s, s->at->time, s->q, s->v);

    CU_ASSERT_EQUAL(mech_step_force(r->c.model, s, s->at->time, f, &r->result), 0);
    e.lambda = s->lambda;
    e.vdot = s->vdot;
    mech_model_resist(r->c.model, &e, work, f);
    mech_mat_mul(mech_model_linear(r->c.model)->M, 1., s->vdot, 0., Ma);
    *size = 0.;
    for (int32_t i = 0; i < nv; i++) {
        largest = fmax(largest, fabs(Ma[i] - f[i]));
        *size = fmax(*size, fmax(fabs(Ma[i]), fabs(f[i])));
    }
    return largest;
}

/* A tolerance of 1e-8 of the terms: what the iteration is asked for, with its factor of safety. */
static void expect_balance(struct run *r)
{
    double size = 0.;
    const double left = imbalance(r, &size);
    CHECK_NEAR(left, 0., 1e-8 * size);
}

static void the_end_of_a_step_balances_forces(void)
{
    static const char *const schemes[] = {"GeneralizedAlpha", "Newmark", "TrapezoidalIndex2"};
    for (size_t k = 0; k < sizeof schemes / sizeof *schemes; k++) {
        struct run r;
        begin(&r, POINT("2", "4000", "3", ""), schemes[k]);
        for (int n = 0; n < 20; n++) {
            CU_ASSERT_EQUAL_FATAL(advance(&r, 0.01), 0);
            CU_ASSERT(r.result.iterations >= 1 && r.result.iterations <= 6);
            expect_balance(&r);
        }
        end(&r);
    }
}

/* Newmark, beta 1/4 and gamma 1/2: q and v at the end by the accelerations at both ends. */
static void the_end_of_a_step_is_that_of_the_formulas(void)
{
    const double h = 0.01;
    struct run r;
    begin(&r, POINT("2", "4000", "3", ""), "Newmark");
    for (int n = 0; n < 20; n++) {
        double q[3], v[3], a[3];
        memcpy(q, r.c.state.q, sizeof q);
        memcpy(v, r.c.state.v, sizeof v);
        memcpy(a, r.c.state.vdot, sizeof a);
        CU_ASSERT_EQUAL_FATAL(advance(&r, h), 0);
        for (int i = 0; i < 3; i++) {
            const double b = r.c.state.vdot[i];
            /* a is some 1e3 m/s^2: rounding of 1e3 eps in v, h of that in q */
            CHECK_NEAR(r.c.state.v[i], v[i] + 0.5 * h * (a[i] + b), 1e-11);
            CHECK_NEAR(r.c.state.q[i], q[i] + h * v[i] + 0.25 * h * h * (a[i] + b), 1e-12);
        }
    }
    end(&r);
}

/* kg and N, and 1e12 times as much or as little: the same motion. */
static void equations_of_all_sizes_give_one_motion(void)
{
    static const char *const texts[] = {POINT("2", "4000", "3", ""),
                                        POINT("2e-12", "4e-9", "3e-12", ""),
                                        POINT("2e12", "4e15", "3e12", "")};
    double q[3] = {0.};
    int32_t iterations[3] = {0};
    for (int k = 0; k < 3; k++) {
        struct run r;
        begin(&r, texts[k], "GeneralizedAlpha");
        for (int n = 0; n < 20; n++) {
            CU_ASSERT_EQUAL_FATAL(advance(&r, 0.01), 0);
            iterations[k] += r.result.iterations;
        }
        for (int i = 0; i < 3; i++) {
            q[i] = k == 0 ? r.c.state.q[i] : q[i];
            CHECK_NEAR(r.c.state.q[i], q[i], 1e-8);
        }
        end(&r);
        CU_ASSERT_EQUAL(iterations[k], iterations[0]);
    }
}

static void joints_hold_at_the_end_of_a_step(void)
{
    struct run r;
    begin(&r, bodies, "GeneralizedAlpha");
    const int32_t rows = mech_model_joints(r.c.model)->count;
    for (int n = 0; n < 20; n++) {
        double g[MOST] = {0.};
        CU_ASSERT_EQUAL_FATAL(advance(&r, 0.01), 0);
        expect_balance(&r);
        const struct mech_state *const s = &r.c.state;
        const struct mech_eval e = mech_model_point(r.c.model, s, s->at->time, s->q, s->v);
        mech_model_pose(r.c.model, &e);
        mech_model_joint_residual(r.c.model, &e, g);
        for (int32_t i = 0; i < rows; i++) {
            CHECK_NEAR(g[i], 0., 1e-9);
        }
    }
    end(&r);
}

static void a_step_that_does_not_converge_says_why(void)
{
    struct run r;
    begin(&r, POINT("2", "4e7", "0", ", 'newton': {'maxIterations': 1}"), "GeneralizedAlpha");
    CU_ASSERT_EQUAL(advance(&r, 1.), MECH_NOT_CONVERGED);
    CU_ASSERT_EQUAL(r.result.iterations, 1);
    CU_ASSERT(r.result.reason[0] != '\0');
    end(&r);
}

UNIT_TESTS(UNIT_TEST(the_end_of_a_step_balances_forces),
           UNIT_TEST(the_end_of_a_step_is_that_of_the_formulas),
           UNIT_TEST(equations_of_all_sizes_give_one_motion),
           UNIT_TEST(joints_hold_at_the_end_of_a_step),
           UNIT_TEST(a_step_that_does_not_converge_says_why))
