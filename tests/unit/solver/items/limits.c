/* Ranges and units of parameters by the fields that they set. */
#include "solver/items/limits.h"

#include "tests/unit/model.h"

static const char model[] =
    "{'mechd': 1, 'parameters': {'m': 1, 'rho': 0.5, 'both': 0.25, 'twice': 2, 'angle': 0.1,"
    " 'push': 3, 'unused': 7, 'corner': 2, 'stiff': 5},"
    "'nodes': [{'name': 'n', 'type': 'Node1D', 'referenceCoordinates': ['=angle']},"
    "{'name': 'p', 'type': 'NodePoint'}, {'name': 'g', 'type': 'NodeGenericODE2',"
    " 'numberOfODE2Coordinates': 1}],"
    "'objects': [{'name': 'a', 'type': 'Mass1D', 'node': 'n', 'physicsMass': '= m '},"
    "{'name': 'b', 'type': 'MassPoint', 'node': 'p', 'physicsMass': '=both',"
    " 'visualization': {'show': true, 'graphics': [{'shape': 'Box', 'size': ['=corner', 1, 1],"
    " 'color': [0.5, 0.5, 0.5, '=both']}]}},"
    "{'name': 'c', 'type': 'GenericODE2', 'nodes': ['g'], 'massMatrix': [[1]],"
    " 'stiffnessMatrix': [['=stiff']]}],"
    "'markers': [{'name': 'x', 'type': 'MarkerBodyPosition', 'object': 'b'}],"
    "'loads': [{'name': 'f', 'type': 'LoadForceVector', 'marker': 'x',"
    " 'load': ['=push', '=2*twice', '=t']}],"
    "'solver': {'stepSize': 0.001, 'spectralRadius': '=rho'}}";

static struct mech_limits limits_of(const struct mech_sim *s, const char *name)
{
    const struct mech_document *const d = mech_sim_document(s);
    const int32_t k = mech_sim_variable_find(s, MECH_PARAMETER, name);
    struct mech_limits all[16];

    CU_ASSERT_FATAL(k >= 0 && d->parameters.n <= sizeof all / sizeof *all);
    mech_document_limits(d, all);
    return all[k];
}

static void check(const struct mech_sim *s, const char *name, double min, double max,
                  const char *unit)
{
    const struct mech_limits l = limits_of(s, name);

    CU_ASSERT_EQUAL(l.min, min);
    CU_ASSERT_EQUAL(l.max, max);
    CU_ASSERT_STRING_EQUAL(l.unit, unit);
}

static void a_parameter_has_the_range_and_the_unit_of_its_field(void)
{
    struct mech_sim *const s = model_of(model);

    check(s, "m", 0, HUGE_VAL, "kg");
    check(s, "rho", 0, 1, "");
    check(s, "push", -HUGE_VAL, HUGE_VAL, "N");
    check(s, "corner", -HUGE_VAL, HUGE_VAL, "m");
    check(s, "stiff", -HUGE_VAL, HUGE_VAL, "");
    mech_sim_destroy(s);
}

static void several_fields_give_the_narrowest_range_and_no_unit(void)
{
    struct mech_sim *const s = model_of(model);

    check(s, "both", 0, 1, "");
    mech_sim_destroy(s);
}

static void other_expressions_say_nothing(void)
{
    struct mech_sim *const s = model_of(model);

    check(s, "twice", -HUGE_VAL, HUGE_VAL, "");
    check(s, "unused", -HUGE_VAL, HUGE_VAL, "");
    mech_sim_destroy(s);
}

static void a_field_of_metres_or_radians_gives_no_unit(void)
{
    struct mech_sim *const s = model_of(model);

    check(s, "angle", -HUGE_VAL, HUGE_VAL, "");
    mech_sim_destroy(s);
}

UNIT_TESTS(UNIT_TEST(a_parameter_has_the_range_and_the_unit_of_its_field),
           UNIT_TEST(several_fields_give_the_narrowest_range_and_no_unit),
           UNIT_TEST(other_expressions_say_nothing),
           UNIT_TEST(a_field_of_metres_or_radians_gives_no_unit))
