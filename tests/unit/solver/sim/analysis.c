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

/* A ball of 1 kg that springs of 1000 N/m hold 0.1 m over a floor, in its middle; at the
 * equilibrium for these loads it is there. */
static struct mech_sim *over_floor(double radius, const char *rest)
{
    char text[4096];

    snprintf(
        text, sizeof text,
        "{'mechd': 1, 'gravity': [0, 0, -10], 'nodes': [{'name': 'n', 'type': 'NodeRigidBodyEP',"
        "'referenceCoordinates': [0, 0, 0.1, 1, 0, 0, 0]}], 'objects': [{'name': 'floor', 'type':"
        "'Ground', 'geometry': [{'shape': 'Plane', 'material': 'm'}]}, {'name': 'ball', 'type': "
        "'RigidBody', 'node':"
        "'n', 'physicsMass': 1, 'physicsInertia': [1, 1, 1, 0, 0, 0], 'geometry': [{'shape':"
        "'Sphere', 'radius': %.17g, 'material': 'm'}]}, {'name': 's', 'type': "
        "'RigidBodySpringDamper', 'markers':"
        "['m0', 'm1'], 'stiffness': [[1000, 0, 0, 0, 0, 0], [0, 1000, 0, 0, 0, 0],"
        "[0, 0, 1000, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}],"
        "'markers': [{'name': 'm0', 'type': 'MarkerBodyRigid', 'object': 'floor', 'localPosition':"
        "[0, 0, 0.11]}, {'name': 'm1', 'type': 'MarkerBodyRigid', 'object': 'ball'}]%s}",
        radius, rest);
    return model_of(text);
}

#define IMPULSES                                                                                   \
    ", 'materials': [{'name': 'm', 'restitution': 1}], 'solver': {'integrator': 'MoreauJean', "    \
    "'stepSize': 0.001}"
/* 1000 N/m together */
#define PENALTY                                                                                    \
    ", 'materials': [{'name': 'm', 'compliance': 5e-4}], 'contact': {'method': 'penalty'},"        \
    "'solver': {'integrator': 'GeneralizedAlpha', 'stepSize': 0.001}"

static void statics_name_shapes_that_overlap(void)
{
    static const double radii[] = {0.09, 0.1, 0.101};

    for (int k = 0; k < 3; k++) {
        struct mech_sim *const s = over_floor(radii[k], IMPULSES);
        const struct mech_statics_query query = {.request = {.load_steps = 2}, .keep = true};
        struct mech_statics_report report;
        const double before = model_state(s).q[2];
        const int code = mech_sim_statics(s, &query, &report);

        CU_ASSERT_EQUAL(code, k < 2 ? 0 : MECH_UNSUPPORTED);
        if (k == 2) {
            CU_ASSERT_PTR_NOT_NULL(strstr(report.reason, "\"floor\" and \"ball\" overlap by"));
            CU_ASSERT_EQUAL(model_state(s).q[2], before);
        }
        mech_sim_destroy(s);
    }
}

/* at rest 1 mm deep: 1000 (0.11 − z) + 1000 (0.102 − z) = 10 */
static void statics_have_forces_by_penalty(void)
{
    struct mech_sim *const s = over_floor(0.102, PENALTY);
    const struct mech_statics_query query = {.request = {.load_steps = 1}, .keep = true};
    struct mech_statics_report report;

    CU_ASSERT_EQUAL(mech_sim_statics(s, &query, &report), 0);
    CHECK_NEAR(model_state(s).q[2], 0.101, 1e-10);
    mech_sim_destroy(s);
}

/* 1 µm over the floor they do not touch; by rounding they do, and where they overlap */
static void small_motions_are_refused_where_shapes_touch(void)
{
    static const double radii[] = {0.1 - 1e-6, 0.1, 0.1 - 1e-16, 0.1001};

    for (int k = 0; k < 4; k++) {
        struct mech_sim *const s = over_floor(radii[k], IMPULSES);
        const char *const named = "\"floor\" and \"ball\" touch";
        const int wanted = k == 0 ? 0 : MECH_UNSUPPORTED;
        struct mech_modes modes;
        struct mech_linearization linear;
        char reason[160] = "";

        for (int damped = 0; damped < 2; damped++) {
            CU_ASSERT_EQUAL(mech_sim_modes(s, 6, damped, &modes), wanted);
            CU_ASSERT(k == 0 || strstr(modes.reason, named));
            mech_modes_fini(&modes);
        }
        CU_ASSERT_EQUAL(mech_sim_linearize_init(s, &linear, reason), wanted);
        CU_ASSERT(k == 0 || strstr(reason, named));
        mech_linearize_fini(&linear);
        mech_sim_destroy(s);
    }
}

/* the shapes are 0.5 mm apart after the rebound, but the last step pushed */
static void small_motions_are_refused_after_a_push(void)
{
    struct mech_sim *const s = over_floor(0.09, IMPULSES);
    const struct mech_state_view falls = {.time = NAN,
                                          .q = (double[]){0., 0., 0.0905, 1., 0., 0., 0.},
                                          .v = (double[]){0., 0., -1., 0., 0., 0.}};
    struct mech_modes modes;

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &falls), 0);
    CU_ASSERT_EQUAL(model_steps(s, 1), 0);
    CU_ASSERT_EQUAL(mech_sim_contacts(s), 1);
    CU_ASSERT(model_state(s).q[2] > 0.0904);
    CU_ASSERT_EQUAL(mech_sim_modes(s, 6, false, &modes), MECH_UNSUPPORTED);
    mech_modes_fini(&modes);
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(contacts_end_where_statics_are_kept),
           UNIT_TEST(statics_name_shapes_that_overlap), UNIT_TEST(statics_have_forces_by_penalty),
           UNIT_TEST(small_motions_are_refused_where_shapes_touch),
           UNIT_TEST(small_motions_are_refused_after_a_push))
