/* Every marker with every load, input and sensor, alone, beside a joint and beside a faulty one: a
 * document is taken or refused with reasons, and what was taken steps. */
#include "tests/unit/model.h"

#include "solver/items/document.h"
#include "solver/items/ops.h"

/* One marker of every type; a type without one fails the first test. */
static const char *const markers[] = {
    "'type': 'MarkerGroundCoordinate'",
    "'type': 'MarkerBodyMass', 'object': 'rigid'",
    "'type': 'MarkerBodyPosition', 'object': 'rigid'",
    "'type': 'MarkerBodyPosition', 'object': 'slider'",
    "'type': 'MarkerBodyPosition', 'object': 'ground'",
    "'type': 'MarkerBodyRigid', 'object': 'rigid'",
    "'type': 'MarkerBodyRigid', 'object': 'rotor'",
    "'type': 'MarkerBodyRigid', 'object': 'ground'",
    "'type': 'MarkerNodeCoordinate', 'node': 'n1', 'coordinate': 0",
    "'type': 'MarkerNodeCoordinate', 'node': 'state', 'coordinate': 1",
    "'type': 'MarkerNodeCoordinate', 'node': 'still', 'coordinate': 0",
    "'type': 'MarkerNodeCoordinates', 'node': 'n1'",
    "'type': 'MarkerNodeCoordinates', 'node': 'state'",
    "'type': 'MarkerNodeCoordinates', 'node': 'still'",
    "'type': 'MarkerNodePosition', 'node': 'n6'",
    "'type': 'MarkerNodePosition', 'node': 'still'",
    "'type': 'MarkerNodeRigid', 'node': 'n6'",
    "'type': 'MarkerNodeRotationCoordinate', 'node': 'n6', 'rotationCoordinate': 2",
};
enum { MARKERS = sizeof markers / sizeof *markers };

/* Objects beside them: none, joints whose rows are all held coordinates, a joint in space, a joint
 * between a marker and itself, and one whose matrix does not fit, which ends assembly early. */
static const char *const beside[] = {
    "",
    ", {'name': 'j', 'type': 'CoordinateConstraint', 'markers': ['mx', 'mg']}",
    ", {'name': 'j', 'type': 'SphericalJoint', 'markers': ['mp', 'mo']}",
    ", {'name': 'j', 'type': 'SphericalJoint', 'markers': ['mp', 'mp']}",
    (", {'name': 'j', 'type': 'CoordinateVectorConstraint', 'markers': ['mx', 'mg'],"
     " 'scalingMarker0': [[1, 2, 3]]}"),
};
enum { BESIDE = sizeof beside / sizeof *beside };

static const char *const integrators[] = {"GeneralizedAlpha", "EventDriven", "RK44"};
enum { INTEGRATORS = sizeof integrators / sizeof *integrators };

/* A document with the marker m and more; what it comes to. */
static int outcome(int marker, int object, int integrator, const char *more)
{
    static char text[8192];
    struct mech_diag diag;
    struct mech_sim *s = NULL;

    snprintf(text, sizeof text,
             "{'mechd': 1, 'solver': {'integrator': '%s'}, 'nodes': ["
             "{'name': 'n1', 'type': 'Node1D'}, {'name': 'n2', 'type': 'Node1D'},"
             "{'name': 'n6', 'type': 'NodeRigidBodyRotVecLG'},"
             "{'name': 'state', 'type': 'NodeGenericODE1', 'numberOfODE1Coordinates': 2,"
             " 'referenceCoordinates': [0, 0]}, {'name': 'still', 'type': 'NodePointGround'}],"
             "'objects': [{'name': 'ground', 'type': 'Ground'},"
             "{'name': 'slider', 'type': 'Mass1D', 'node': 'n1', 'physicsMass': 1},"
             "{'name': 'rotor', 'type': 'Rotor1D', 'node': 'n2', 'physicsInertia': 1},"
             "{'name': 'rigid', 'type': 'RigidBody', 'node': 'n6', 'physicsMass': 1,"
             " 'physicsInertia': [1, 1, 1, 0, 0, 0]}%s],"
             "'markers': [{'name': 'm', %s}, {'name': 'mg', 'type': 'MarkerGroundCoordinate'},"
             "{'name': 'mx', 'type': 'MarkerNodeCoordinate', 'node': 'n1', 'coordinate': 0},"
             "{'name': 'mp', 'type': 'MarkerBodyPosition', 'object': 'rigid'},"
             "{'name': 'mo', 'type': 'MarkerBodyPosition', 'object': 'ground'}]%s}",
             integrators[integrator], beside[object], markers[marker], more);
    mech_diag_init(&diag);
    int code = model_read(text, &diag, &s);
    CU_ASSERT(code == 0 || (code == MECH_INVALID && diag.total > 0));
    if (code == 0) {
        CU_ASSERT_EQUAL(model_steps(s, 2), 0);
    } else if (code < 0) {
        fprintf(stderr, "%d: %s\n", code, text);
    }
    mech_sim_destroy(s);
    mech_diag_fini(&diag);
    return code;
}

/* In all surroundings; true when some of them took it. */
static bool any_takes(const char *more)
{
    bool taken = false;

    for (int k = 0; k < MARKERS * BESIDE * INTEGRATORS; k++) {
        taken |=
            outcome(k / BESIDE / INTEGRATORS, k / INTEGRATORS % BESIDE, k % INTEGRATORS, more) == 0;
    }
    return taken;
}

static void every_marker_type_is_here(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        char wanted[80];
        bool found = false;

        snprintf(wanted, sizeof wanted, "'type': '%s'", (*t)->name);
        for (int k = 0; k < MARKERS; k++) {
            found |= strncmp(markers[k], wanted, strlen(wanted)) == 0;
        }
        CU_ASSERT((*t)->category != MECH_MARKER || found);
    }
    CU_ASSERT(any_takes(""));
}

static void every_marker_meets_every_load_and_input(void)
{
    static const char *const inputs[] = {"", "'component': 0,", "'component': 3,"};
    char more[400];

    for (int k = 0; k < 3; k++) {
        snprintf(more, sizeof more, ", 'inputs': [{'name': 'u', %s 'marker': 'm'}]", inputs[k]);
        CU_ASSERT(any_takes(more));
    }
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        for (int k = 0; k < 3 && (*t)->category == MECH_LOAD; k++) {
            const bool one = (*t)->ops.load->size == 1;

            snprintf(more, sizeof more,
                     ", 'loads': [{'name': 'l', 'type': '%s', 'marker': 'm', '%s': %s}],"
                     "'inputs': [{'name': 'u', %s 'load': 'l'}]",
                     (*t)->name, mech_table_find(&(*t)->table, "load") ? "load" : "loadVector",
                     one ? "1" : "[1, 2, 3]", inputs[k]);
            CU_ASSERT(any_takes(more) || k == 2);
        }
    }
}

static void every_marker_meets_every_sensor(void)
{
    static const char *const targets[] = {
        "'type': 'SensorMarker', 'marker': 'm'", "'type': 'SensorBody', 'object': 'rigid'",
        "'type': 'SensorNode', 'node': 'state'", "'type': 'SensorObject', 'object': 'j'"};

    for (int v = 0; mech_output_names[v]; v++) {
        for (int k = 0; k < 4; k++) {
            char more[300];

            snprintf(more, sizeof more, ", 'sensors': [{'name': 's', %s, 'outputVariable': '%s'}]",
                     targets[k], mech_output_names[v]);
            (void)any_takes(more);
        }
    }
    CU_ASSERT(any_takes(", 'sensors': [{'name': 's', 'type': 'SensorMarker', 'marker': 'm',"
                        "'outputVariable': 'Position'}]"));
}

static void a_scheme_without_joints_names_the_joint_it_refuses(void)
{
    CU_ASSERT(model_refused(
        "{'mechd': 1, 'solver': {'integrator': 'EventDriven'},"
        "'nodes': [{'name': 'n', 'type': 'Node1D'}],"
        "'objects': [{'name': 'slider', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1},"
        "{'name': 'held', 'type': 'CoordinateConstraint', 'markers': ['m', 'g']}],"
        "'markers': [{'name': 'g', 'type': 'MarkerGroundCoordinate'},"
        "{'name': 'm', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}]}",
        "/solver/integrator", "\"held\""));
}

UNIT_TESTS(UNIT_TEST(every_marker_type_is_here), UNIT_TEST(every_marker_meets_every_load_and_input),
           UNIT_TEST(every_marker_meets_every_sensor),
           UNIT_TEST(a_scheme_without_joints_names_the_joint_it_refuses))
