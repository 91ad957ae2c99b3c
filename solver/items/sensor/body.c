/* SensorBody: an output variable of a point of a body. */
#include "solver/items/ops.h"

#include <stddef.h>

struct sensor_body {
    struct mech_ref object;
    int32_t variable; /* enum mech_output */
    double local[3];  /* m, in the body's frame */
};

static const struct mech_ref *ref(const void *description)
{
    return &((const struct sensor_body *)description)->object;
}

static enum mech_output variable(const void *description)
{
    return (enum mech_output)((const struct sensor_body *)description)->variable;
}

static const double *local(const void *description)
{
    return ((const struct sensor_body *)description)->local;
}

static const struct mech_field fields[] = {
    {.name = "localPosition",
     .kind = MECH_REALS,
     .offset = offsetof(struct sensor_body, local),
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "the point, in the body's frame"},
    {.name = "object",
     .kind = MECH_REF,
     .offset = offsetof(struct sensor_body, object),
     .flags = MECH_REQUIRED,
     .target = MECH_OBJECT,
     .doc = "the body"},
    {.name = "outputVariable",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct sensor_body, variable),
     .flags = MECH_REQUIRED,
     .choices = mech_output_names,
     .doc = "the measured variable"},
};

static const struct mech_sensor_ops ops = {
    .target = MECH_OBJECT,
    .body = true,
    .field = "object",
    .ref = ref,
    .variable = variable,
    .local = local,
};

const struct mech_item_type mech_item_sensor_body = {
    .name = "SensorBody",
    .category = MECH_SENSOR,
    .table = {.name = "SensorBody",
              .doc = "An output variable of a point of a body.",
              .size = sizeof(struct sensor_body),
              MECH_FIELDS(fields)},
    .ops.sensor = &ops,
};
