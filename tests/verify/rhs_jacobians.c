/* The Jacobian of the first-order form agrees with differences of that form: on all examples, at
 * the start and in motion, and with every kind of joint, between rigid and deformable bodies that
 * tumble, where joints are closed and where they are not. */
#include "tests/verify/example.h"

#include <dirent.h>
#include <string.h>

enum { MOST = 400 };

/* Differences of fourth order over 2^-12 of coordinates of about 1 leave 1e-11 of curvature, and of
 * rounding. */
static const double step = 0x1p-12, allowed = 1e-9;

/* v or q or x, one number of which is moved. */
struct unknowns {
    double q[MOST], v[MOST], x[MOST];
};

static double *number(struct unknowns *u, const struct mech_sizes *n, int j)
{
    return j < n->q ? u->q + j : j < n->q + n->v ? u->v + (j - n->q) : u->x + (j - n->q - n->v);
}

/* Column j of ∂[q̇; v̇; ẋ]/∂[q; v; x] at u; false: the form does not exist there. */
static bool difference(struct mech_sim *s, struct unknowns *u, int j, int size, double *out)
{
    static double sample[4][MOST];
    const struct mech_sizes n = mech_sim_sizes(s);
    const struct mech_point at = {.time = NAN, .q = u->q, .v = u->v, .x = u->x};
    double *const x = number(u, &n, j), value = *x, h = step * fmax(1., fabs(value));
    int code = 0;

    for (int k = 0; k < 4 && code == 0; k++) {
        *x = value + (k % 2 ? -h : h) / (k < 2 ? 1. : 2.);
        code = mech_sim_evaluate(s, &at, MECH_WANT_FIRST_ORDER, sample[k]);
    }
    *x = value;
    for (int i = 0; i < size; i++) {
        const double wide = (sample[0][i] - sample[1][i]) / (2. * h);
        const double close = (sample[2][i] - sample[3][i]) / h;

        out[i] = close + (close - wide) / 3.;
    }
    return code == 0;
}

/* All columns, to `allowed` of the largest number. */
static void compare(struct mech_sim *s, struct unknowns *u, const char *name)
{
    static double J[MOST * MOST], column[MOST];
    const struct mech_point at = {.time = NAN, .q = u->q, .v = u->v, .x = u->x};
    int32_t size, columns;
    double most = 0., off = 0.;
    int worst = 0;

    mech_sim_want_shape(s, MECH_WANT_RHS_JACOBIAN, &size, &columns);
    CU_ASSERT_FATAL(size <= MOST);
    CU_ASSERT_EQUAL_FATAL(mech_sim_evaluate(s, &at, MECH_WANT_RHS_JACOBIAN, J), 0);
    for (int j = 0; j < size; j++) {
        CU_ASSERT(difference(s, u, j, size, column));
        for (int i = 0; i < size; i++) {
            const double apart = fabs(J[i * size + j] - column[i]);

            most = fmax(most, fabs(column[i]));
            worst = apart > off ? i * size + j : worst;
            off = isfinite(apart) ? fmax(off, apart) : HUGE_VAL;
        }
    }
    CU_ASSERT(off <= allowed * most);
    if (!(off <= allowed * most)) {
        fprintf(stderr, "%s: row %d, column %d off by %.3g of %.3g\n", name, (int)(worst / size),
                (int)(worst % size), off, most);
    }
}

static void take_state(struct mech_sim *s, struct unknowns *u)
{
    const struct mech_sizes n = mech_sim_sizes(s);
    const struct mech_state_view now = model_state(s);

    for (int32_t i = 0; i < n.q; i++) {
        u->q[i] = now.q[i];
    }
    for (int32_t i = 0; i < n.v; i++) {
        u->v[i] = now.v[i];
    }
    for (int32_t i = 0; i < n.x; i++) {
        u->x[i] = now.x[i];
    }
}

/* --- examples --------------------------------------------------------------------------------- */

static void examples_have_the_slopes_of_their_rates(void)
{
    static struct unknowns u;
    char path[1024];
    DIR *const folder = opendir(MECH_TESTS_FOLDER "/../server/examples");

    CU_ASSERT_FATAL(folder != NULL);
    for (const struct dirent *f = readdir(folder); f; f = readdir(folder)) {
        int32_t size, columns;

        if (!strstr(f->d_name, ".json")) {
            continue;
        }
        snprintf(path, sizeof path, "%s/../server/examples/%s", MECH_TESTS_FOLDER, f->d_name);
        char *const text = example_text(path);
        struct mech_sim *const s = model_of(text);

        mech_sim_want_shape(s, MECH_WANT_RHS_JACOBIAN, &size, &columns);
        for (int k = 0; k < 2 && size <= MOST; k++) {
            CU_ASSERT(k == 0 || model_steps(s, 37) == 0);
            take_state(s, &u);
            compare(s, &u, f->d_name);
        }
        mech_sim_destroy(s);
        free(text);
    }
    closedir(folder);
}

/* --- joints ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} models[] = {
    {"joints of many kinds",
     "{'mechd': 1, 'gravity': [0, 1, -9.81], 'nodes': [{'name': 'n0', 'type': "
     "'NodeRigidBodyEP', 'referenceCoordinates': [0.1, 0.2, 0.3, 1, 0, 0, 0]}, {'name': 'n1', "
     "'type': 'NodeRigidBodyEP', 'referenceCoordinates': [0.3, -0.2, 0.3, 1, 0, 0, 0]}], "
     "'objects': [{'name': 'b0', 'type': 'RigidBody', 'node': 'n0', 'physicsMass': 2, "
     "'physicsInertia': [0.3, 0.4, 0.6, 0.01, 0.02, 0.03]}, {'name': 'b1', 'type': "
     "'RigidBody', 'node': 'n1', 'physicsMass': 2, 'physicsInertia': [0.3, 0.4, 0.6, 0.01, "
     "0.02, 0.03]}, {'name': 'rod', 'type': 'DistanceConstraint', 'markers': ['m2', 'm1'], "
     "'distance': 0.5916079783099616}, {'name': 'ball', 'type': 'SphericalJoint', 'markers': "
     "['m0', 'm1']}, {'name': 'roll', 'type': 'RollingDisc', 'markers': ['m0', 'm3'], "
     "'discRadius': 0.4}, {'name': 'gear', 'type': 'CoordinateConstraint', 'markers': ['a0', "
     "'a1'], 'factorValue1': 2, 'velocityLevel': true}, {'name': 'vector', 'type': "
     "'CoordinateVectorConstraint', 'markers': ['x0', 'x1'], 'scalingMarker1': [[2]], "
     "'quadraticTermMarker0': [[3]], 'offset': [0.48]}], 'markers': [{'name': 'm0', 'type': "
     "'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0.3, 0.1, 0.2]}, {'name': 'm1', "
     "'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0.1, 0.5, 0.2]}, {'name': "
     "'m2', 'type': 'MarkerBodyRigid', 'object': 'b0', 'localPosition': [0, 0, 0.7]}, "
     "{'name': 'm3', 'type': 'MarkerBodyRigid', 'object': 'b1', 'localPosition': [0.1, 0.5, "
     "0.6]}, {'name': 'a0', 'type': 'MarkerNodeRotationCoordinate', 'node': 'n0', "
     "'rotationCoordinate': 1}, {'name': 'a1', 'type': 'MarkerNodeRotationCoordinate', "
     "'node': 'n1', 'rotationCoordinate': 0}, {'name': 'x0', 'type': 'MarkerNodeCoordinate', "
     "'node': 'n0', 'coordinate': 1}, {'name': 'x1', 'type': 'MarkerNodeCoordinate', 'node': "
     "'n1', 'coordinate': 2}]}"},
    {"a joint at the origin, which is off by rounding",
     "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'n', 'type': 'NodeRigidBody2D',"
     "'referenceCoordinates': [0, 0, 0.4]}], 'objects': [{'name': 'g', 'type': 'Ground'},"
     "{'name': 'b', 'type': 'RigidBody2D', 'node': 'n', 'physicsMass': 2, 'physicsInertia': 0.5},"
     "{'name': 'j', 'type': 'RevoluteJoint2D', 'markers': ['m0', 'm1']}], 'markers': [{'name':"
     "'m0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1', 'type': 'MarkerBodyRigid',"
     "'object': 'b'}]}"},
    {"a slide that turns",
     "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'n0', 'type': "
     "'NodeRigidBodyRotVecLG', 'referenceCoordinates': [0.1, 0.2, 0.3, 0, 0, 0]}, {'name': "
     "'n1', 'type': 'NodeRigidBodyRotVecLG', 'referenceCoordinates': [0.5, -0.2, 0.3, 0, 0, "
     "0]}], 'objects': [{'name': 'g', 'type': 'Ground'}, {'name': 'b0', 'type': 'RigidBody', "
     "'node': 'n0', 'physicsMass': 2, 'physicsInertia': [0.3, 0.4, 0.6, 0.01, 0.02, 0.03]}, "
     "{'name': 'b1', 'type': 'RigidBody', 'node': 'n1', 'physicsMass': 2, 'physicsInertia': "
     "[0.3, 0.4, 0.6, 0.01, 0.02, 0.03]}, {'name': 'r', 'type': 'RevoluteJointZ', 'markers': "
     "['m', 'm0']}, {'name': 's', 'type': 'PrismaticJointX', 'markers': ['m0', 'm1']}], "
     "'markers': [{'name': 'm', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': "
     "[0.4, 0.3, 0.5]}, {'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'b0', "
     "'localPosition': [0.3, 0.1, 0.2]}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': "
     "'b1', 'localPosition': [0.1, 0.5, 0.2]}]}"},
    {"a point inside a short element, on a slide and a rod of 40 m",
     "{'mechd': 1, 'gravity': [0, -9.81, 0], 'nodes': [{'name': 'a', 'type': "
     "'NodePoint2DSlope1', 'referenceCoordinates': [0, 0, 1, 0]}, {'name': 'b', 'type': "
     "'NodePoint2DSlope1', 'referenceCoordinates': [0.1, 0.01, 0.9, 0.3]}, {'name': 'p', "
     "'type': 'NodePoint2D', 'referenceCoordinates': [-40, 0]}], 'objects': [{'name': 'g', "
     "'type': 'Ground'}, {'name': 'c', 'type': 'ANCFCable2D', 'nodes': ['a', 'b'], "
     "'physicsLength': 0.1, 'physicsMassPerLength': 2, 'physicsAxialStiffness': 50, "
     "'physicsBendingStiffness': 0.02}, {'name': 'm', 'type': 'MassPoint2D', 'node': 'p', "
     "'physicsMass': 1}, {'name': 'j', 'type': 'PrismaticJoint2D', 'markers': ['h', 'i'], "
     "'axisMarker0': [1, 0, 0], 'normalMarker1': [0, 1, 0], 'constrainRotation': false}, "
     "{'name': 'd', 'type': 'DistanceConstraint', 'markers': ['p', 'i'], 'distance': "
     "40.05125001950626}], 'markers': [{'name': 'h', 'type': 'MarkerBodyRigid', 'object': "
     "'g', 'localPosition': [0.05125, 0.00125, 0]}, {'name': 'i', 'type': 'MarkerBodyRigid', "
     "'object': 'c', 'localPosition': [0.05, 0, 0]}, {'name': 'p', 'type': "
     "'MarkerNodePosition', 'node': 'p'}]}"},
};
enum { MODELS = sizeof models / sizeof *models };

/* Euler parameters of two nodes have length 1. */
static void make_unit(double *e)
{
    const double length = sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);

    for (int i = 0; i < 4; i++) {
        e[i] /= length;
    }
}

/* Closed and at rest; closed to rounding, at velocities that need not suit the joints; and where
 * they are not closed either. */
static void joints_have_the_slopes_of_their_rates(void)
{
    static struct unknowns u;

    for (int k = 0; k < 3 * MODELS; k++) {
        struct mech_sim *const s = model_of(models[k / 3].text);
        const struct mech_sizes n = mech_sim_sizes(s);

        take_state(s, &u);
        for (int32_t i = 0; i < n.v && k % 3 > 0; i++) {
            u.v[i] = sin(1. + 3. * i);
        }
        for (int32_t i = 0; i < n.q && k % 3 > 0; i++) {
            u.q[i] += (k % 3 > 1 ? 0.02 : 1e-17) * sin(2. + 5. * i);
        }
        for (int32_t i = 0; i < n.q && n.q > n.v; i += 7) {
            make_unit(u.q + i + 3);
        }
        compare(s, &u, models[k / 3].name);
        mech_sim_destroy(s);
    }
}

UNIT_TESTS(UNIT_TEST(examples_have_the_slopes_of_their_rates),
           UNIT_TEST(joints_have_the_slopes_of_their_rates))
