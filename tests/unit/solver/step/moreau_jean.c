/* Which of its two integrators Moreau–Jean takes for a model. */
#include "solver/step/moreau_jean/ops.h"

#include "solver/base/err.h"
#include "tests/unit/compiled.h"

/* a mass on a coordinate, with more objects */
#define MASS(more)                                                                                 \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'Node1D'}], 'objects': [{'name': 'm', "          \
    "'type': 'Mass1D', 'node': 'n', 'physicsMass': 2}" more "], 'markers': ["                      \
    "{'name': 'g', 'type': 'MarkerGroundCoordinate'},"                                             \
    "{'name': 'x', 'type': 'MarkerNodeCoordinate', 'node': 'n', 'coordinate': 0}],"                \
    "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}"
#define BALL(shapes)                                                                               \
    "{'mechd': 1, 'nodes': [{'name': 'n', 'type': 'NodePoint'}], 'objects': [{'name': 'm', "       \
    "'type': 'MassPoint', 'node': 'n', 'physicsMass': 2" shapes "}, {'name': 'g', "                \
    "'type': 'Ground', 'geometry': [{'shape': 'Plane'}]}],"                                        \
    "'solver': {'integrator': 'MoreauJean', 'stepSize': 0.01}}"

/* The linear one carries a flag and the forces [nv + 1], the other one nothing. */
static void takes(const char *text, bool linear)
{
    const struct mech_stepper_type *const type = mech_stepper_find("MoreauJean");
    struct mech_step_result result = {.iterations = 0};
    struct compiled c;
    void *self = NULL;

    CU_ASSERT_PTR_NOT_NULL_FATAL(type);
    compiled_open(&c, text);
    const int32_t carried = type->carry(c.model);
    CU_ASSERT_EQUAL_FATAL(carried, linear ? mech_model_sizes(c.model)->v + 2 : 0);
    double *const carry = calloc((size_t)carried + 1, sizeof *carry);

    c.state.carry = carry;
    CU_ASSERT_EQUAL_FATAL(type->create(c.model, &result, &self), 0);
    CU_ASSERT_EQUAL(type->start(self, &c.state, &result), 0);
    CU_ASSERT_EQUAL(type->step(self, &c.state, 0.01, 0.01, &result), 0);
    type->destroy(self);
    free(carry);
    compiled_close(&c);
}

static void a_linear_model_takes_the_linear_integrator(void)
{
    takes(MASS(""), true);
    takes(MASS(", {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
               "'stiffness': 3}"),
          true);
    takes(BALL(""), true);
}

static void prescribed_coordinates_are_linear(void)
{
    takes(MASS(", {'name': 'c', 'type': 'CoordinateConstraint', 'markers': ['g', 'x'],"
               "'offset': '=t'}"),
          true);
}

static void what_is_not_linear_takes_the_other_one(void)
{
    takes(MASS(", {'name': 'k', 'type': 'CoordinateSpringDamper', 'markers': ['g', 'x'],"
               "'stiffness': 3, 'springForceUserFunction': '=u^3'}"),
          false);
}

static void shapes_that_touch_take_the_other_one(void)
{
    takes(BALL(", 'geometry': [{'shape': 'Sphere', 'radius': 0.1}]"), false);
}

static void states_of_first_order_take_the_other_one(void)
{
    takes(MASS(", {'name': 's', 'type': 'FirstOrderLinearTIDS', 'A': [[-1]], 'x0': [1]}"), false);
}

UNIT_TESTS(UNIT_TEST(a_linear_model_takes_the_linear_integrator),
           UNIT_TEST(prescribed_coordinates_are_linear),
           UNIT_TEST(what_is_not_linear_takes_the_other_one),
           UNIT_TEST(shapes_that_touch_take_the_other_one),
           UNIT_TEST(states_of_first_order_take_the_other_one))
