/* SensorObject: an output variable of any object. */
#include "solver/items/ops.h"

#include <stddef.h>

struct sensor_object {
    struct mech_ref object;
    int32_t variable; /* enum mech_output */
};

static const struct mech_ref *ref(const void *description)
{
    return &((const struct sensor_object *)description)->object;
}

static enum mech_output variable(const void *description)
{
    return (enum mech_output)((const struct sensor_object *)description)->variable;
}

static const struct mech_field fields[] = {
    {.name = "object",
     .kind = MECH_REF,
     .offset = offsetof(struct sensor_object, object),
     .flags = MECH_REQUIRED,
     .target = MECH_OBJECT,
     .doc = "the object"},
    {.name = "outputVariable",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct sensor_object, variable),
     .flags = MECH_REQUIRED,
     .choices = mech_output_names,
     .doc = "the measured variable"},
};

static const struct mech_sensor_ops ops = {
    .target = MECH_OBJECT,
    .field = "object",
    .ref = ref,
    .variable = variable,
};

const struct mech_item_type mech_item_sensor_object = {
    .name = "SensorObject",
    .category = MECH_SENSOR,
    .table = {.name = "SensorObject",
              .doc = "An output variable of any object.",
              .size = sizeof(struct sensor_object),
              MECH_FIELDS(fields)},
    .ops.sensor = &ops,
};
