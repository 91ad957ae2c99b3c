/* FlexibleBodyModal: against points that fly freely, a rigid body, closed forms of cantilevers, and
 * conservation laws of a body in space. */
#include "solver/linalg/v3.h"
#include "solver/sim/analysis.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/model.h"

/* a frame that moves, in the words of both nodes: Ω = (1, 0.8, −1.4) */
#define BY_PARAMETERS                                                                              \
    "{'name': 'f', 'type': 'NodeRigidBodyEP', 'initialVelocities':"                                \
    "[0.5, -0.2, 0.3, 0, 0.5, 0.4, -0.7]}"
#define BY_VECTOR                                                                                  \
    "{'name': 'f', 'type': 'NodeRigidBodyRotVecLG', 'initialVelocities':"                          \
    "[0.5, -0.2, 0.3, 1, 0.8, -1.4]}"

/* Three points of 1, 2 and 3 kg in a triangle, whose three modes change the lengths of its sides,
 * so that with the frame they can move as they like. */
#define BODY(stiffness)                                                                            \
    "{'name': 'b', 'type': 'FlexibleBodyModal', 'nodes': ['f', 'a'],"                              \
    "'referencePositions': [[0, 0, 0], [1, 0, 0], [0.3, 0.8, 0.2]], 'massMatrix':"                 \
    "{'diag': [1, 1, 1, 2, 2, 2, 3, 3, 3]}, 'stiffnessMatrix': {'diag': [" stiffness "]},"         \
    "'modes': [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0],"       \
    "[0, 0, 1], [0, 0, 0]]}"
#define TRIANGLE(node, stiffness, solver)                                                          \
    "{'mechd': 1, 'nodes': [" node                                                                 \
    ", {'name': 'a', 'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 3,"                     \
    "'initialCoordinates': [0.1, 0, -0.05], 'initialCoordinates_t': [0.3, -0.4, 0.2]}], "          \
    "'objects': "                                                                                  \
    "[" BODY(stiffness) "], 'solver': {" solver "}}"
#define NO_STIFFNESS "0, 0, 0, 0, 0, 0, 0, 0, 0"
#define STIFF "0, 0, 0, 40, 0, 0, 30, 20, 50"

static const double points[3][3] = {{0., 0., 0.}, {1., 0., 0.}, {0.3, 0.8, 0.2}};

static void point_of(const struct mech_sim *s, int i, enum mech_output variable, double x[3])
{
    const struct mech_item_query query = {MECH_OBJECT, "b", variable, MECH_CURRENT, points[i]};
    size_t count = 0;

    CU_ASSERT_EQUAL(mech_sim_item_output(s, &query, 3, x, &count), 0);
}

/* without stiffness nothing holds the points together: each goes straight on */
static void loose_points_fly_straight(void)
{
    static const char *const texts[] = {
        TRIANGLE(BY_PARAMETERS, NO_STIFFNESS, "'stepSize': 0.001, 'integrator': 'RK67'"),
        TRIANGLE(BY_VECTOR, NO_STIFFNESS, "'stepSize': 0.001, 'integrator': 'RK67'")};

    for (int k = 0; k < 2; k++) {
        struct mech_sim *const s = model_of(texts[k]);
        double start[3][3], speed[3][3];

        for (int i = 0; i < 3; i++) {
            point_of(s, i, MECH_OUTPUT_POSITION, start[i]);
            point_of(s, i, MECH_OUTPUT_VELOCITY, speed[i]);
        }
        CU_ASSERT_EQUAL(model_steps(s, 500), 0);
        for (int i = 0; i < 3; i++) {
            double now[3], v[3], a[3];

            point_of(s, i, MECH_OUTPUT_POSITION, now);
            point_of(s, i, MECH_OUTPUT_VELOCITY, v);
            point_of(s, i, MECH_OUTPUT_ACCELERATION, a);
            for (int r = 0; r < 3; r++) {
                CHECK_NEAR(now[r], start[i][r] + 0.5 * speed[i][r], 1e-11);
                CHECK_NEAR(v[r], speed[i][r], 1e-11);
                CHECK_NEAR(a[r], 0., 1e-10);
            }
        }
        mech_sim_destroy(s);
    }
}

/* momentum, angular momentum about the origin, energy: from the points' own velocities */
static void balance(const struct mech_sim *s, double out[7])
{
    memset(out, 0, 7 * sizeof *out);
    for (int i = 0; i < 3; i++) {
        const double m = 1. + i;
        double x[3], v[3], L[3];

        point_of(s, i, MECH_OUTPUT_POSITION, x);
        point_of(s, i, MECH_OUTPUT_VELOCITY, v);
        mech_v3_cross(x, v, L);
        for (int r = 0; r < 3; r++) {
            out[r] += m * v[r];
            out[3 + r] += m * L[r];
            out[6] += 0.5 * m * v[r] * v[r];
        }
    }
}

static double drift(const char *scheme, double h)
{
    char text[4096];
    double first[7], last[7], worst = 0.;

    snprintf(text, sizeof text,
             TRIANGLE(BY_PARAMETERS, STIFF, "'stepSize': %.17g, 'integrator': '%s'"), h, scheme);
    struct mech_sim *const s = model_of(text);

    balance(s, first);
    const double *const a = model_state(s).q + 7;
    const double stored = 20. * a[0] * a[0] + 15. * a[1] * a[1] + 10. * a[2] * a[2];
    const double energy = mech_sim_energy(s);
    CHECK_NEAR(energy, first[6] + stored, 1e-14);
    CU_ASSERT_EQUAL(model_steps(s, (uint64_t)(1. / h + 0.5)), 0);
    balance(s, last);
    first[6] = energy;
    last[6] = mech_sim_energy(s);
    for (int i = 0; i < 7; i++) {
        worst = fmax(worst, fabs(last[i] - first[i]));
    }
    mech_sim_destroy(s);
    return worst;
}

static void body_in_space_keeps_momentum_and_energy(void)
{
    CHECK_NEAR(drift("RK67", 0.001), 0., 1e-11);
    CHECK_ORDER_FROM("RK44", log2(drift("RK44", 0.01) / drift("RK44", 0.005)), 3.9);
    CHECK_ORDER("TrapezoidalIndex2",
                log2(drift("TrapezoidalIndex2", 0.01) / drift("TrapezoidalIndex2", 0.005)), 2.,
                0.1);
}

/* with its modes held it is the rigid body of the same points */
static void held_modes_leave_a_rigid_body(void)
{
#define HOLD(name)                                                                                 \
    ", {'name': '" name "', 'type': 'CoordinateConstraint', 'markers': ['z', '" name "'],"         \
    "'offset': 0}"
#define SPRING                                                                                     \
    ", {'name': 'g', 'type': 'Ground'}, {'name': 's', 'type': 'SpringDamper', 'markers':"          \
    "['m0', 'm1'], 'referenceLength': 1, 'stiffness': 30, 'damping': 0.3}"
#define MARKERS                                                                                    \
    "{'name': 'm0', 'type': 'MarkerBodyPosition', 'object': 'g', 'localPosition': [0, 0, 2]},"     \
    "{'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'b', 'localPosition': [0.3, 0.8, 0.2]},"  \
    "{'name': 'm', 'type': 'MarkerBodyMass', 'object': 'b'}"
#define LOADS                                                                                      \
    ", 'loads': [{'name': 'a', 'type': 'LoadMassProportional', 'marker': 'm', 'load':"             \
    "[0.5, 0, '=t']}], 'gravity': [0, 0.3, -9.81], 'solver': {'stepSize': 0.002,"                  \
    "'newton': {'relativeTolerance': 1e-11}}"
    /* about the frame: Σ m (x·x 1 − x xᵀ), with x₁ = (1, 0, 0), x₂ = (0.3, 0.8, 0.2) */
    struct mech_sim *const rigid = model_of(
        "{'mechd': 1, 'nodes': [" BY_PARAMETERS "], 'objects': [{'name': 'b', 'type': 'RigidBody',"
        "'node': 'f', 'physicsMass': 6, 'physicsCenterOfMass': ['=2.9/6', '=2.4/6', '=0.6/6'],"
        "'physicsInertia': [2.04, 2.39, 4.19, -0.48, -0.18, -0.72]}" SPRING "],"
        "'markers': [" MARKERS "]" LOADS "}");
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'nodes': [" BY_PARAMETERS ", {'name': 'a', 'type': 'NodeGenericODE2',"
        "'numberOfODE2Coordinates': 3}], 'objects': [" BODY(STIFF) HOLD("a0") HOLD("a1") HOLD("a2")
            SPRING "], 'markers': [{'name': 'z', 'type': 'MarkerGroundCoordinate'}, {'name': 'a0',"
                   "'type': 'MarkerNodeCoordinate', 'node': 'a', 'coordinate': 0}, {'name': 'a1',"
                   "'type': 'MarkerNodeCoordinate', 'node': 'a', 'coordinate': 1}, {'name': 'a2',"
                   "'type': 'MarkerNodeCoordinate', 'node': 'a', 'coordinate': 2}," MARKERS
                   "]" LOADS "}");

    CU_ASSERT_EQUAL(model_steps(rigid, 500), 0);
    CU_ASSERT_EQUAL(model_steps(s, 500), 0);
    for (int i = 0; i < 3; i++) {
        static const enum mech_output variables[] = {MECH_OUTPUT_POSITION, MECH_OUTPUT_VELOCITY,
                                                     MECH_OUTPUT_ACCELERATION};

        for (int v = 0; v < 3; v++) {
            double x[3], y[3];

            point_of(rigid, i, variables[v], x);
            point_of(s, i, variables[v], y);
            for (int r = 0; r < 3; r++) {
                CHECK_NEAR(y[r], x[r], 1e-7);
            }
        }
    }
    CHECK_NEAR(mech_sim_energy(s), mech_sim_energy(rigid), 1e-7);
    mech_sim_destroy(rigid);
    mech_sim_destroy(s);
}

/* A clamped body with one mode, the deflection of a tip of 3 kg on a stiffness of 50: √(k/m), the
 * sag m g/k, the same seen by a marker at the tip. */
#define CANTILEVER                                                                                 \
    "{'mechd': 1, 'gravity': [0, 0, -9.81], 'nodes': [{'name': 'f', 'type': 'NodeRigidBodyEP'},"   \
    "{'name': 'a', 'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 1}], 'objects': ["        \
    "{'name': 'b', 'type': 'FlexibleBodyModal', 'nodes': ['f', 'a'], 'referencePositions':"        \
    "[[0, 0, 0], [1, 0, 0], [0.3, 0.8, 0.2]], 'massMatrix': {'diag': [1, 1, 1, 2, 2, 2, 3, 3,"     \
    "3]}, 'stiffnessMatrix': {'diag': [" STIFF "]}, 'dampingMatrix': {'diag': [0, 0, 0, 0, 0, 0,"  \
    "0, 0, 5]}, 'modes': [[0], [0], [0], [0], [0], [0], [0], [0], [1]]}, {'name': 'g',"            \
    "'type': 'Ground'}, {'name': 'j', 'type': 'GenericJoint', 'markers': ['m0', 'm1']}],"          \
    "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g'}, {'name': 'm1',"         \
    "'type': 'MarkerBodyRigid', 'object': 'b'}], 'solver': {'stepSize': 0.01}}"

static void cantilever_has_its_frequency_and_sag(void)
{
    struct mech_sim *const s = model_of(CANTILEVER);
    struct mech_statics_report report;
    struct mech_modes modes;
    double tip[3], q[8];

    CU_ASSERT_EQUAL(mech_sim_modes(s, 1, false, &modes), 0);
    CU_ASSERT_EQUAL_FATAL(modes.count, 1);
    CHECK_NEAR(modes.modes[0].square, 50. / 3., 1e-10);
    mech_modes_fini(&modes);
    CU_ASSERT_EQUAL(
        mech_sim_statics(
            s, &(struct mech_statics_query){.request = {.load_steps = 1}, .keep = true, .q = q},
            &report),
        0);
    CHECK_NEAR(q[7], -3. * 9.81 / 50., 1e-9);
    point_of(s, 2, MECH_OUTPUT_POSITION, tip);
    CHECK_NEAR(tip[2], 0.2 - 3. * 9.81 / 50., 1e-9);
    CU_ASSERT_EQUAL(model_steps(s, 10), 0);
    alloc_count_start();
    const int code = model_steps(s, 100);
    const long count = alloc_count_stop();
    CU_ASSERT_EQUAL(code, 0);
    CU_ASSERT_EQUAL(count, 0);
    point_of(s, 2, MECH_OUTPUT_POSITION, tip);
    CHECK_NEAR(tip[2], 0.2 - 3. * 9.81 / 50., 1e-8);
    mech_sim_destroy(s);
}

#define REFUSED(mass, modes, nodes)                                                                \
    "{'mechd': 1, 'nodes': [{'name': 'f', 'type': 'NodeRigidBodyEP'}, {'name': 'a',"               \
    "'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 1}], 'objects': [{'name': 'b',"         \
    "'type': 'FlexibleBodyModal', 'nodes': [" nodes "], 'referencePositions': [[0, 0, 0],"         \
    "[1, 0, 0], [0.3, 0.8, 0.2]], 'massMatrix': {'diag': [" mass "]}, 'stiffnessMatrix':"          \
    "{'diag': [" STIFF "]}, 'modes': [" modes "]}]}"
#define ONE_MODE "[0], [0], [0], [0], [0], [0], [0], [0], [1]"
#define LUMPED "1, 1, 1, 2, 2, 2, 3, 3, 3"

static void what_does_not_fit_is_refused(void)
{
    CU_ASSERT(model_refused(REFUSED("1, 1, 1, 2, 2, 4, 3, 3, 3", ONE_MODE, "'f', 'a'"),
                            "/objects/0/massMatrix", "times the unit matrix"));
    CU_ASSERT(model_refused(REFUSED(LUMPED, "[0], [1]", "'f', 'a'"), "/objects/0/modes",
                            "for 3 positions needs 9 rows and from 1 to 94 columns"));
    CU_ASSERT(model_refused(REFUSED("1, 1, 1, 2, 2, 2", ONE_MODE, "'f', 'a'"),
                            "/objects/0/massMatrix", "for 3 positions needs 9 rows and columns"));
    CU_ASSERT(model_refused(REFUSED(LUMPED, ONE_MODE, "'a', 'f'"), "/objects/0/nodes",
                            "needs a NodeRigidBodyEP"));
    CU_ASSERT(model_refused(REFUSED(LUMPED,
                                    "[0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0],"
                                    "[1, 0], [0, 1], [0, 0]",
                                    "'f', 'a'"),
                            "/objects/0/nodes", "a coordinate for each mode"));
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'nodes': [{'name': 'f', 'type': 'NodeRigidBodyEP'}, {'name': 'a',"
        "'type': 'NodeGenericODE2', 'numberOfODE2Coordinates': 1}], 'objects': [{'name': 'b',"
        "'type': 'FlexibleBodyModal', 'nodes': ['f', 'a'], 'referencePositions': [[0, 0, 0],"
        "[1, 0, 0], [0.3, 0.8, 0.2]], 'massMatrix': {'diag': [" LUMPED "]}, 'stiffnessMatrix':"
        "{'shape': [9, 9], 'coo': [[0, 1, 5], [8, 8, 50]]}, 'modes': [" ONE_MODE "]}]}",
        "/objects/0/stiffnessMatrix", "symmetric"));
}

UNIT_TESTS(UNIT_TEST(loose_points_fly_straight), UNIT_TEST(body_in_space_keeps_momentum_and_energy),
           UNIT_TEST(held_modes_leave_a_rigid_body),
           UNIT_TEST(cantilever_has_its_frequency_and_sag), UNIT_TEST(what_does_not_fit_is_refused))
