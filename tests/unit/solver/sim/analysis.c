/* What an analysis leaves of the state. */
#include "solver/sim/analysis.h"
#include "tests/unit/model.h"

/* A ball on a spring that was pressed on the floor: at the equilibrium, 10 mm over it, the contact
 * of its last step is none any more, for no reader and no step. */
static void contacts_end_where_statics_are_kept(void)
{
    struct mech_sim *const s = model_of(
        "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
        "'referenceCoordinates': [0, 0, 0.09, 1, 0, 0, 0]}], 'objects': [{'name': 'g', 'type':"
        "'Ground', 'geometry': [{'shape': 'Plane'}]}, {'name': 'b', 'type': 'RigidBody', 'node':"
        "'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0], 'geometry': [{'shape':"
        "'Sphere', 'radius': 0.09}]}, {'name': 's', 'type': 'RigidBodySpringDamper', 'markers':"
        "['m0', 'm1'], 'stiffness': [[1000, 0, 0, 0, 0, 0], [0, 1000, 0, 0, 0, 0],"
        "[0, 0, 1000, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'g', 'localPosition': [0, "
        "0, 0.11]}, {'name': 'm1',"
        "'type': 'MarkerBodyRigid', 'object': 'b'}], 'sensors': [{'name': 'f', 'type': 'SensorBody'"
        ", 'object': 'b', 'outputVariable': 'ContactForce'}], 'solver': {'integrator':"
        "'MoreauJean', 'stepSize': 0.001}}");
    const struct mech_state_view falls = {.time = NAN, .v = (double[]){0., 0., -1., 0., 0., 0.}};
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
    struct mech_statics_report report;
    struct mech_logged at[8];
    struct mech_event_log log = {.at = at, .room = 8};
    const struct mech_step_request r = {.kind = MECH_STEP_COUNT, .count = 3, .events = &log};
    struct mech_step_report stepped;
    double force[16] = {0.};

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &falls), 0);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CU_ASSERT_EQUAL(mech_sim_contacts(s), 1);
    mech_sim_get_outputs(s, force);
    CU_ASSERT(force[2] > 900.);

    CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
    CHECK_NEAR(model_state(s).q[2], 0.1, 1e-12);
    CU_ASSERT_EQUAL(mech_sim_contacts(s), 0);
    mech_sim_get_outputs(s, force);
    CU_ASSERT_EQUAL(force[2], 0.);
    CU_ASSERT_EQUAL(mech_sim_step(s, &r, &stepped), 0);
    CU_ASSERT_EQUAL(log.total, 0);
    CHECK_NEAR(model_state(s).q[2], 0.1, 1e-12);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(contacts_end_where_statics_are_kept))
