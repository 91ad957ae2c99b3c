/* Coordinates, bodies and markers: what does not fit together is refused with its place. */
#include "tests/unit/model.h"

#define NODE "{'name': 'n', 'type': 'Node1D'}"
#define MASS "{'name': 'm', 'type': 'Mass1D', 'node': 'n', 'physicsMass': 1}"
#define BODY "'nodes': [" NODE "], 'objects': [" MASS "]"

static void a_node_has_one_body(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [" MASS ","
                            "{'name': 'r', 'type': 'Rotor1D', 'node': 'n', 'physicsInertia': 1}]}",
                            "/objects/1/node", "belongs to \"m\""));
}

static void a_node_without_body_is_a_singular_mass(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "]}", "/nodes/0", "no body"));
}

static void singular_mass_matrices_are_named(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 's',"
                            "'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 0]}}]}",
                            "/objects/0", "singular"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 'a',"
                            "'type': 'LagrangianLinearTIDS', 'M': [[1]]}, {'name': 'b',"
                            "'type': 'LagrangianLinearTIDS', 'M': [[1, 1], [1, 1]]}]}",
                            "/objects/1", "singular"));
}

static void all_systems_without_mass_are_named_at_once(void)
{
    const char *const text = "{'mechd': 1, 'objects': [{'name': 'a',"
                             "'type': 'LagrangianLinearTIDS', 'M': [[0]]}, {'name': 'b',"
                             "'type': 'LagrangianLinearTIDS', 'M': {'diag': [1, 0]}}]}";

    CU_ASSERT(model_refused(text, "/objects/0", "no mass"));
    CU_ASSERT(model_refused(text, "/objects/1", "coordinate 1 has no mass"));
}

static void a_body_with_one_coordinate_needs_such_a_node(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                            "'numberOfODE2Coordinates': 2}], 'objects': [" MASS "]}",
                            "/objects/0/node", "one second-order"));
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE1',"
                            "'initialCoordinates': [1]}], 'objects': [" MASS "]}",
                            "/objects/0/node", "one second-order"));
}

static void sizes_of_matrices_follow_the_nodes(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                            "'numberOfODE2Coordinates': 2}], 'objects': [{'name': 'o',"
                            "'type': 'GenericODE2', 'nodes': ['n'], 'massMatrix': [[1]],"
                            "'stiffnessMatrix': {'diag': [1, 2, 3]}, 'forceVector': [1]}]}",
                            "/objects/0/massMatrix", "1 x 1"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 's',"
                            "'type': 'LagrangianLinearTIDS', 'M': [[1]], 'K': {'diag': [1, 2]},"
                            "'q0': [1, 2, 3]}]}",
                            "/objects/0/q0", "3 numbers"));
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodeGenericODE2',"
                            "'referenceCoordinates': [1, 2], 'initialCoordinates': [1]}]}",
                            "/nodes/0/initialCoordinates", "1 numbers"));
}

static void markers_sit_on_coordinates_that_exist(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, " BODY ", 'markers': [{'name': 'x',"
                            "'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 1}]}",
                            "/markers/0/coordinate", "fewer"));
    CU_ASSERT(model_refused("{'mechd': 1, 'objects': [{'name': 's',"
                            "'type': 'LagrangianLinearTIDS', 'M': [[1]]}], 'markers': [{"
                            "'name': 'x', 'type': 'MarkerBodyPosition', 'object': 's'}]}",
                            "/markers/0/object", "body"));
}

static void connectors_and_loads_need_their_kind_of_marker(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [" MASS ","
                            "{'name': 's', 'type': 'CoordinateSpringDamper',"
                            "'markers': ['p', 'g']}], 'markers': [{'name': 'p',"
                            "'type': 'MarkerBodyPosition', 'object': 'm'},"
                            "{'name': 'g', 'type': 'MarkerGroundCoordinate'}]}",
                            "/objects/1/markers/0", "kind"));
    CU_ASSERT(model_refused("{'mechd': 1, " BODY ", 'markers': [{'name': 'p',"
                            "'type': 'MarkerBodyPosition', 'object': 'm'}], 'loads': [{"
                            "'name': 'T', 'type': 'LoadTorqueVector', 'marker': 'p'}]}",
                            "/loads/0/marker", "kind"));
}

static void a_force_off_the_axis_of_a_rotor_is_refused(void)
{
    CU_ASSERT(model_refused("{'mechd': 1, 'nodes': [" NODE "], 'objects': [{'name': 'r',"
                            "'type': 'Rotor1D', 'node': 'n', 'physicsInertia': 1}], 'markers': [{"
                            "'name': 'p', 'type': 'MarkerBodyRigid', 'object': 'r',"
                            "'localPosition': [1, 0, 0]}]}",
                            "/markers/0/localPosition", "axis"));
}

UNIT_TESTS(UNIT_TEST(a_node_has_one_body), UNIT_TEST(a_node_without_body_is_a_singular_mass),
           UNIT_TEST(singular_mass_matrices_are_named),
           UNIT_TEST(all_systems_without_mass_are_named_at_once),
           UNIT_TEST(a_body_with_one_coordinate_needs_such_a_node),
           UNIT_TEST(sizes_of_matrices_follow_the_nodes),
           UNIT_TEST(markers_sit_on_coordinates_that_exist),
           UNIT_TEST(connectors_and_loads_need_their_kind_of_marker),
           UNIT_TEST(a_force_off_the_axis_of_a_rotor_is_refused))
