/* Data of nodes: where they are in the state, which items read them, which may not. */
#include "tests/unit/model.h"

/* a system whose force reads its own z, between two nodes of data */
static const char *const text =
    "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'NodeGenericData',"
    "'initialCoordinates': [1, 2, 3]}, {'name': 'b', 'type': 'NodeGenericData',"
    "'numberOfDataCoordinates': 20}], 'objects': [{'name': 's', 'type': 'LagrangianLinearTIDS',"
    "'M': [[2]], 'Fext': ['=z0*z1'], 'z': [3, 4]}],"
    "'sensors': [{'name': 'd', 'type': 'SensorNode', 'node': 'a', 'outputVariable':"
    "'Coordinates'}, {'name': 'e', 'type': 'SensorNode', 'node': 'b', 'outputVariable':"
    "'Coordinates'}], 'outputs': [{'name': 'all', 'sensor': 'd'},"
    "{'name': 'last', 'sensor': 'e', 'component': 19}],"
    "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}";

static void values_of(const struct mech_sim *s, enum mech_configuration configuration,
                      double values[3])
{
    size_t count = 0;

    CU_ASSERT_EQUAL(
        mech_sim_item_output(
            s,
            &(struct mech_item_query){MECH_NODE, "a", MECH_OUTPUT_COORDINATES, configuration, NULL},
            3, values, &count),
        0);
    CU_ASSERT_EQUAL(count, 3);
}

static void data_stand_in_the_state_before_those_of_systems(void)
{
    struct mech_sim *const s = model_of(text);
    const double *const z = model_state(s).z;
    double values[3], outputs[4], fresh[25] = {7., 8., 9., [22] = 5., [23] = 3., [24] = 4.};

    CU_ASSERT_EQUAL(mech_sim_sizes(s).z, 25);
    CU_ASSERT(z[0] == 1. && z[1] == 2. && z[2] == 3. && z[22] == 0. && z[23] == 3. && z[24] == 4.);
    values_of(s, MECH_CURRENT, values);
    CU_ASSERT(values[0] == 1. && values[1] == 2. && values[2] == 3.);

    /* steps leave them as they are; the system's force is z0 z1 = 12 of its own */
    CU_ASSERT_EQUAL(model_steps(s, 100), 0);
    CHECK_NEAR(model_state(s).v[0], 6., 1e-12);
    CU_ASSERT_EQUAL(model_state(s).z[1], 2.);
    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .z = fresh}), 0);
    values_of(s, MECH_CURRENT, values);
    CU_ASSERT(values[0] == 7. && values[2] == 9.);
    values_of(s, MECH_INITIAL, values);
    CU_ASSERT(values[0] == 1. && values[2] == 3.);
    values_of(s, MECH_REFERENCE, values);
    CU_ASSERT(values[0] == 0. && values[2] == 0.);
    mech_sim_get_outputs(s, outputs);
    CU_ASSERT(outputs[0] == 7. && outputs[1] == 8. && outputs[2] == 9. && outputs[3] == 5.);
    mech_sim_destroy(s);
}

static void snapshots_hold_data(void)
{
    struct mech_sim *const s = model_of(text);
    const size_t size = mech_sim_snapshot_size(s);
    char *const bytes = calloc(1, size);
    double fresh[25] = {7.};
    bool same;

    CU_ASSERT_EQUAL(mech_sim_set_state(s, &(struct mech_state_view){.time = NAN, .z = fresh}), 0);
    mech_sim_snapshot_write(s, bytes);
    mech_sim_destroy(s);
    struct mech_sim *const other = model_of(text);
    CU_ASSERT_EQUAL(mech_sim_snapshot_read(other, bytes, size, &same), 0);
    CU_ASSERT_EQUAL(model_state(other).z[0], 7.);
    mech_sim_destroy(other);
    free(bytes);
}

#define DATA "{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'NodeGenericData', %s}]%s}"

static void nothing_acts_on_data(void)
{
    char document[1000];

    snprintf(document, sizeof document, DATA, "'initialCoordinates': [1]",
             ", 'objects': [{'name': 'o', 'type': 'GenericODE2', 'nodes': ['a'],"
             "'massMatrix': [[1]]}]");
    CU_ASSERT(model_refused(document, "/objects/0/nodes/0", "data"));
    snprintf(document, sizeof document, DATA, "'initialCoordinates': [1]",
             ", 'objects': [{'name': 'o', 'type': 'GenericODE1', 'nodes': ['a']}]");
    CU_ASSERT(model_refused(document, "/objects/0/nodes/0", "data"));
    snprintf(document, sizeof document, DATA, "'initialCoordinates': [1]",
             ", 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'a'}]");
    CU_ASSERT(model_refused(document, "/markers/0/node", "data"));
    snprintf(document, sizeof document, DATA, "'initialCoordinates': [1]",
             ", 'markers': [{'name': 'x', 'type': 'MarkerNodeCoordinates', 'node': 'a'}]");
    CU_ASSERT(model_refused(document, "/markers/0/node", "data"));
}

static void sizes_that_do_not_agree_are_named(void)
{
    char document[500];

    snprintf(document, sizeof document, DATA,
             "'initialCoordinates': [1], 'numberOfDataCoordinates': 2", "");
    CU_ASSERT(model_refused(document, "/nodes/0/initialCoordinates", "1 numbers"));
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [{'name': 'a', 'type': 'NodeGenericData'}]}",
                            "/nodes/0", "numberOfDataCoordinates"));
}

UNIT_TESTS(UNIT_TEST(data_stand_in_the_state_before_those_of_systems),
           UNIT_TEST(snapshots_hold_data), UNIT_TEST(nothing_acts_on_data),
           UNIT_TEST(sizes_that_do_not_agree_are_named))
