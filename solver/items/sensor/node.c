/* SensorNode: an output variable of a node. */
#include "solver/items/ops.h"

#include <stddef.h>

struct sensor_node {
    struct mech_ref node;
    int32_t variable; /* enum mech_output */
};

static const struct mech_ref *ref(const void *description)
{
    return &((const struct sensor_node *)description)->node;
}

static enum mech_output variable(const void *description)
{
    return (enum mech_output)((const struct sensor_node *)description)->variable;
}

static const struct mech_field fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct sensor_node, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node"},
    {.name = "outputVariable",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct sensor_node, variable),
     .flags = MECH_REQUIRED,
     .choices = mech_output_names,
     .doc = "the measured variable"},
};

static const struct mech_sensor_ops ops = {
    .target = MECH_NODE,
    .field = "node",
    .ref = ref,
    .variable = variable,
};

const struct mech_item_type mech_item_sensor_node = {
    .name = "SensorNode",
    .category = MECH_SENSOR,
    .table = {.name = "SensorNode",
              .doc = "An output variable of a node.",
              .size = sizeof(struct sensor_node),
              MECH_FIELDS(fields)},
    .ops.sensor = &ops,
};
