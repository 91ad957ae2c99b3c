/* The equations at any point, against hand calculation and finite differences. */
#include "tests/unit/model.h"

static struct mech_sim *linear_system(void)
{
    return model_of("{'mechd': 1, 'parameters': {'a': 3}, 'objects': [{'name': 's',"
                    "'type': 'LagrangianLinearTIDS', 'M': {'diag': [2, 4]},"
                    "'C': [[3, -1], [-1, 1]], 'K': [[10, -4], [-4, 6]], 'q0': [0.1, 0.2],"
                    "'v0': [1, -1], 'z': [5], 'Fext': ['=a*t + z0', 7]}]}");
}

static void siconos_operators_of_a_linear_system(void)
{
    struct mech_sim *const s = linear_system();
    const double q[] = {0.5, -0.25}, v[] = {2., 3.}, z[] = {8.};
    const struct mech_point at = {.time = 2., .q = q, .v = v, .z = z};
    /* F = Fext − C v − K q */
    const double force[] = {3. * 2. + 8. - (6. - 3.) - (5. + 1.), 7. - (-2. + 3.) - (-2. - 1.5)};
    double f[2], x[4], mass[4], jacobian[16];

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_FORCES, f), 0);
    CHECK_NEAR(f[0], force[0], 1e-14);
    CHECK_NEAR(f[1], force[1], 1e-14);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_LHS, f), 0);
    CHECK_NEAR(f[0], 3. + 6., 1e-14);
    CHECK_NEAR(f[1], 1. - 3.5, 1e-14);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_FIRST_ORDER, x), 0);
    CU_ASSERT_EQUAL(x[0], 2.);
    CU_ASSERT_EQUAL(x[1], 3.);
    CHECK_NEAR(x[2], force[0] / 2., 1e-14);
    CHECK_NEAR(x[3], force[1] / 4., 1e-14);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_MASS, mass), 0);
    CU_ASSERT(mass[0] == 2. && mass[1] == 0. && mass[2] == 0. && mass[3] == 4.);

    /* [[0, 1], [−M⁻¹K, −M⁻¹C]] */
    const double expected[] = {0.,  0., 1.,   0.,  0., 0.,   0.,   1.,
                               -5., 2., -1.5, 0.5, 1., -1.5, 0.25, -0.25};
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_RHS_JACOBIAN, jacobian), 0);
    for (int i = 0; i < 16; i++) {
        CHECK_NEAR(jacobian[i], expected[i], 1e-14);
    }
    mech_sim_destroy(s);
}

static void evaluation_leaves_the_state(void)
{
    struct mech_sim *const s = linear_system();
    const double q[] = {9., 9.};
    double f[2];

    CU_ASSERT_EQUAL(
        mech_sim_evaluate(s, &(struct mech_point){.time = 5., .q = q}, MECH_WANT_RHS, f), 0);
    CU_ASSERT_EQUAL(model_state(s).q[0], 0.1);
    CU_ASSERT_EQUAL(mech_sim_time(s), 0.);
    const double bad[] = {NAN, 0.};
    CU_ASSERT_EQUAL(
        mech_sim_evaluate(s, &(struct mech_point){.time = 5., .q = bad}, MECH_WANT_RHS, f),
        MECH_NOT_FINITE);
    mech_sim_destroy(s);
}

/* Exudyn: an object's left-hand side is d v + k (u − offset), loads stand on the right */
static void left_and_right_of_items(void)
{
    struct mech_sim *const s = model_of(MODEL_OSCILLATOR(
        ", 'referenceCoordinates': [2], 'initialCoordinates': [0.5], 'initialVelocities': [3]", "4",
        ", {'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
        "'stiffness': 100, 'damping': 2, 'offset': 0.1}",
        "{'name': 'F', 'type': 'LoadCoordinate', 'marker': 'x', 'load': 11}", ""));
    double f;

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_LHS, &f), 0);
    CHECK_NEAR(f, 100. * (0.5 - 0.1) + 2. * 3., 1e-12);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN}, MECH_WANT_RHS, &f), 0);
    CHECK_NEAR(f, 11. - 46., 1e-12);
    CHECK_NEAR(mech_sim_energy(s), 0.5 * 4. * 9. + 0.5 * 100. * 0.16, 1e-12);
    mech_sim_destroy(s);
}

/* tangents of a force law between two masses and the ground, against central differences */
static void tangents_of_a_law_are_its_derivatives(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'Node1D', 'initialCoordinates': [0.3]},"
        "{'name': 'b', 'type': 'Node1D', 'initialCoordinates': [-0.2],"
        "'initialVelocities': [1.5]}],"
        "'objects': [{'name': 'ma', 'type': 'Mass1D', 'node': 'a', 'physicsMass': 1},"
        "{'name': 'mb', 'type': 'Mass1D', 'node': 'b', 'physicsMass': 2},"
        "{'name': 's', 'type': 'CoordinateSpringDamper', 'markers': ['x', 'y'],"
        "'stiffness': 40, 'damping': 3,"
        "'springForceUserFunction': {'formula': '=k*u^3 + d*v*u^2',"
        "'partial': {'u': '=3*k*u^2 + 2*d*v*u', 'v': '=d*u^2'}}},"
        "{'name': 'r', 'type': 'CoordinateSpringDamper', 'markers': ['y', 'g'],"
        "'springForceUserFunction': '=sin(u) + 2*v'}],"
        "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"
        "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'a'},"
        "{'name': 'y', 'type': 'MarkerNodeCoordinate', 'node': 'b'}]}");
    const double q[] = {0.3, -0.2}, v[] = {0.7, 1.5}, step = 1e-6;
    const struct mech_point at = {.time = 0., .q = q, .v = v};
    double dq[4], dv[4];

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_DFDQ, dq), 0);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &at, MECH_WANT_DFDV, dv), 0);
    for (int j = 0; j < 4; j++) {
        double to[2][2] = {{q[0], q[1]}, {v[0], v[1]}}, up[2], down[2];
        const struct mech_point near = {.time = 0., .q = to[0], .v = to[1]};

        to[j / 2][j % 2] += step;
        CU_ASSERT_EQUAL(mech_sim_evaluate(s, &near, MECH_WANT_FORCES, up), 0);
        to[j / 2][j % 2] -= 2. * step;
        CU_ASSERT_EQUAL(mech_sim_evaluate(s, &near, MECH_WANT_FORCES, down), 0);
        for (int i = 0; i < 2; i++) {
            const double *const column = j < 2 ? dq : dv;

            /* central differences of step 1e-6: error f''' h²/6 + ε f/h, below 1e-8 */
            CHECK_NEAR(column[2 * i + j % 2], (up[i] - down[i]) / (2. * step), 1e-7);
        }
    }
    mech_sim_destroy(s);
}

/* a mass at rest below its rod of 2 m, which pulls it back: ∂v̇/∂x = −g/L, no other slope */
static void joints_have_their_part_in_the_equations(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, -10, 0], 'nodes': [{'name': 'n', 'type': 'NodePoint2D',"
        "'referenceCoordinates': [0, -2]}, {'name': 'g', 'type': 'NodePointGround'}],"
        "'objects': [{'name': 'b', 'type': 'MassPoint2D', 'node': 'n', 'physicsMass': 1.5},"
        "{'name': 'd', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 2}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerNodePosition', 'node': 'g'},"
        "{'name': 'm1', 'type': 'MarkerNodePosition', 'node': 'n'}]}");
    const struct mech_point now = {.time = NAN};
    const double aside[] = {1.5, -2.};
    double x[4], A[16], G[2], g;

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &now, MECH_WANT_FIRST_ORDER, x), 0);
    for (int i = 0; i < 4; i++) {
        CHECK_NEAR(x[i], 0., 1e-14);
    }
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &now, MECH_WANT_RHS_JACOBIAN, A), 0);
    const double expected[] = {0., 0., 1., 0., 0., 0., 0., 1., -5., 0., 0., 0., 0., 0., 0., 0.};
    for (int i = 0; i < 16; i++) {
        /* differences of what is of size 10, over steps down to 2^-6 m */
        CHECK_NEAR(A[i], expected[i], 1e-12);
    }
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN, .q = aside},
                                      MECH_WANT_CONSTRAINTS, &g),
                    0);
    CHECK_NEAR(g, 0.5, 1e-15);
    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN, .q = aside},
                                      MECH_WANT_CONSTRAINT_JACOBIAN, G),
                    0);
    CHECK_NEAR(G[0], 0.6, 1e-15);
    CHECK_NEAR(G[1], -0.8, 1e-15);
    mech_sim_destroy(s);
}

/* two bodies in space, a spring and a load between: slopes by motions are what forces at turned
 * bodies say, and sparse matrices are the others without their zeros */
static void rotations_have_their_slopes(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
        "'initialVelocities': [0.1, 0.2, 0.3, 0, 0.5, -0.25, 0.75]}, {'name': 'o',"
        "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [2, 0.5, 0.25, 0.8, 0, 0.6, 0]}],"
        "'objects': [{'name': 'b', 'type': 'RigidBody', 'node': 'n', 'physicsMass': 2,"
        "'physicsInertia': [1, 2, 3, 0.1, 0.2, 0.3]}, {'name': 'c', 'type': 'RigidBody',"
        "'node': 'o', 'physicsMass': 1, 'physicsInertia': [1, 1, 2, 0, 0, 0]},"
        "{'name': 's', 'type': 'SpringDamper', 'markers': ['p', 'r'], 'stiffness': 30,"
        "'damping': 2, 'referenceLength': 1}], 'markers': ["
        "{'name': 'p', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0.5, 0.2, 0]},"
        "{'name': 'r', 'type': 'MarkerBodyRigid', 'object': 'c', 'localPosition': [0, 0, 0.3]}],"
        "'loads': [{'name': 'F', 'type': 'LoadForceVector', 'marker': 'p', 'load': [1, 2, 3]}]}");
    const struct mech_point now = {.time = NAN};
    double slope[144], q[14], forces[2][12];
    const double step = 1e-5;

    CU_ASSERT_EQUAL(mech_sim_evaluate(s, &now, MECH_WANT_DFDQ, slope), 0);
    for (int j = 3; j < 6; j++) {
        for (int k = 0; k < 2; k++) {
            /* e ∘ (1, ½ dθ), to second order of length 1 */
            const double half = (k ? -0.5 : 0.5) * step;
            memcpy(q, model_state(s).q, sizeof q);
            q[3] = sqrt(1. - half * half);
            q[1 + j] = half;
            CU_ASSERT_EQUAL(mech_sim_evaluate(s, &(struct mech_point){.time = NAN, .q = q},
                                              MECH_WANT_FORCES, forces[k]),
                            0);
        }
        for (int i = 0; i < 12; i++) {
            CHECK_NEAR(slope[12 * i + j], (forces[0][i] - forces[1][i]) / (2. * step), 1e-8);
        }
    }

    static const enum mech_want sparse[] = {MECH_WANT_MASS, MECH_WANT_DFDQ, MECH_WANT_DFDV};
    for (int w = 0; w < 3; w++) {
        struct mech_arena arena;
        struct mech_triplet *t = NULL;
        size_t count;

        mech_arena_init(&arena, 0);
        CU_ASSERT_EQUAL(mech_sim_evaluate(s, &now, sparse[w], slope), 0);
        CU_ASSERT_EQUAL(mech_sim_evaluate_sparse(s, &now, sparse[w], &arena, &t, &count), 0);
        CU_ASSERT(count > 0 && count < 144);
        for (size_t k = 0; k < count; k++) {
            double *const at = &slope[12 * t[k].row + t[k].col];

            CU_ASSERT_EQUAL(*at, t[k].value);
            *at = 0.;
        }
        for (int i = 0; i < 144; i++) {
            CU_ASSERT_EQUAL(slope[i], 0.);
        }
        mech_arena_fini(&arena);
    }
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(joints_have_their_part_in_the_equations),
           UNIT_TEST(rotations_have_their_slopes), UNIT_TEST(siconos_operators_of_a_linear_system),
           UNIT_TEST(evaluation_leaves_the_state), UNIT_TEST(left_and_right_of_items),
           UNIT_TEST(tangents_of_a_law_are_its_derivatives))
