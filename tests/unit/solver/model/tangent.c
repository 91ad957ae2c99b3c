/* The tangents of a whole model are what differences of its forces say: bodies that tumble, with
 * markers of every kind on them, loads, springs, and joints whose multipliers act. */
#include "solver/linalg/mat_walk.h"
#include "solver/model/model.h"
#include "tests/unit/model.h"

static const char text[] =
    "{'mechd': 1, 'gravity': [0, 1, -9.81], 'nodes': ["
    "{'name': 'n0', 'type': 'NodeRigidBodyEP',"
    "'referenceCoordinates': [0.1, 0.2, 0.3, 0.8, 0.2, -0.4, 0.4]},"
    "{'name': 'n1', 'type': 'NodeRigidBodyEP',"
    "'referenceCoordinates': [1.2, -0.3, 0.6, 0.7, -0.5, 0.1, 0.5]}], 'objects': ["
    "{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 2,"
    "'physicsInertia': [0.3, 0.4, 0.6, 0.01, 0.02, 0.03]},"
    "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 2,"
    "'physicsInertia': [0.6, 0.4, 0.3, 0.03, 0.02, 0.01]},"
    "{'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['m0', 'm1'], 'distance': 1},"
    "{'name': 'ball', 'type': 'SphericalJoint', 'markers': ['m0', 'm1']},"
    "{'name': 'roll', 'type': 'RollingDisc', 'markers': ['m0', 'm1'], 'discRadius': 0.4},"
    "{'name': 'gear', 'type': 'CoordinateConstraint', 'markers': ['a0', 'a1'],"
    "'factorValue1': 2, 'velocityLevel': true},"
    "{'name': 'vector', 'type': 'CoordinateVectorConstraint', 'markers': ['x0', 'x1'],"
    "'scalingMarker1': [[2]], 'quadraticTermMarker0': [[3]]}], 'markers': ["
    "{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0.3, 0.1, 0.2]},"
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0.1, 0.5, 0.2]},"
    "{'name': 'a0', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n0',"
    "'rotationCoordinate': 1},"
    "{'name': 'a1', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n1',"
    "'rotationCoordinate': 0},"
    "{'name': 'x0', 'type': 'MarkerNodeCoordinate', 'node': 'n0', 'coordinate': 1},"
    "{'name': 'x1', 'type': 'MarkerNodeCoordinate', 'node': 'n1', 'coordinate': 2}], 'loads': ["
    "{'name': 'T', 'type': 'LoadCoordinate', 'marker': 'a0', 'load': 6},"
    "{'name': 'F', 'type': 'LoadForceVector', 'marker': 'm1', 'load': [1, 2, 3]},"
    "{'name': 'B', 'type': 'LoadTorqueVector', 'marker': 'm0', 'bodyFixed': true,"
    "'load': [3, -1, 2]}], 'solver': {'stepSize': 0.01}}";

static struct mech_document *read_document(void)
{
    char *const json = strdup(text);
    struct mech_document *document = NULL;
    struct mech_diag diag;

    for (char *c = json; *c; c++) {
        *c = *c == '\'' ? '"' : *c;
    }
    json_t *const value = json_loads(json, 0, NULL);
    free(json);
    CU_ASSERT_PTR_NOT_NULL_FATAL(value);
    mech_diag_init(&diag);
    CU_ASSERT_EQUAL_FATAL(mechp_bind_read(value, "", &diag, &document), 0);
    mech_diag_fini(&diag);
    json_decref(value);
    return document;
}

static void tangents_are_derivatives_of_forces(void)
{
    struct mech_document *const document = read_document();
    struct mech_model *m = NULL;
    struct mech_diag diag;
    struct mech_state s = {.block = NULL};
    struct mech_arena arena;
    int32_t *places = NULL;
    double lambda[16], moved[32], v[16], d[16], g[2][16], values[512];

    mech_diag_init(&diag);
    const int code = mech_model_compile(document, NULL, &diag, &m);
    for (size_t i = 0; i < diag.count; i++) {
        fprintf(stderr, "%s: %s\n", diag.entries[i].path, diag.entries[i].text);
    }
    CU_ASSERT_EQUAL_FATAL(code, 0);
    const struct mech_state_sizes *const n = mech_model_sizes(m);
    CU_ASSERT_EQUAL_FATAL(n->v, 12);
    CU_ASSERT_EQUAL(n->lambda, 9);
    double *const block = calloc(1, mech_state_bytes(n));
    mech_state_place(n, block, &s);
    mech_model_initial(m, &s);
    for (int32_t i = 0; i < 12; i++) {
        v[i] = s.v[i] = sin(1. + 3. * i);
        lambda[i] = cos(2. + 5. * i);
    }
    v[12] = 0.;

    const struct mech_mat *const pattern = mech_model_pattern(m);
    struct mech_mat W = *pattern;
    CU_ASSERT_FATAL(mech_mat_stored(pattern) < 500);
    memset(values, 0, sizeof values);
    W.values = values;
    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL(mech_model_places(m, &arena, &W, &places), 0);
    struct mech_eval e = mech_model_point(m, &s, 0.2, s.q, v);
    e.lambda = lambda;
    mech_model_tangent(m, &e, (const double[3]){1., 0., 0.}, places, values);

    for (int32_t j = 0; j < 12; j++) {
        const double h = 1e-6;

        for (int side = 0; side < 2; side++) {
            memset(d, 0, sizeof d);
            memset(g[side], 0, sizeof g[side]);
            d[j] = side ? h : -h;
            moved[14] = 0.;
            mech_model_move(m, s.q, d, moved);
            e = mech_model_point(m, &s, 0.2, moved, v);
            e.lambda = lambda;
            mech_model_nonlinear(m, &e, g[side]);
        }
        for (int32_t i = 0; i < 12; i++) {
            const double *const at = mech_mat_place(&W, i, j);

            /* central differences: 1e-12 and rounding 1e-9 of forces of 20 N */
            CHECK_NEAR(at ? *at : 0., (g[1][i] - g[0][i]) / (2. * h), 2e-7);
        }
    }
    mech_arena_fini(&arena);
    free(block);
    mech_model_destroy(m);
    mech_document_destroy(document);
    mech_diag_fini(&diag);
}

UNIT_TESTS(UNIT_TEST(tangents_are_derivatives_of_forces))
