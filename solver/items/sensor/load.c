/* SensorLoad: the value of a load, as it acts now. */
#include "solver/items/ops.h"

#include <stddef.h>

struct sensor_load {
    struct mech_ref load;
};

static const struct mech_ref *ref(const void *description)
{
    return &((const struct sensor_load *)description)->load;
}

static const struct mech_field fields[] = {
    {.name = "load",
     .kind = MECH_REF,
     .offset = offsetof(struct sensor_load, load),
     .flags = MECH_REQUIRED,
     .target = MECH_LOAD,
     .doc = "the load"},
};

/* without `variable`: the one variable that the load has */
static const struct mech_sensor_ops ops = {
    .target = MECH_LOAD,
    .field = "load",
    .ref = ref,
};

const struct mech_item_type mech_item_sensor_load = {
    .name = "SensorLoad",
    .category = MECH_SENSOR,
    .table = {.name = "SensorLoad",
              .doc = "The value of a load.",
              .size = sizeof(struct sensor_load),
              MECH_FIELDS(fields)},
    .ops.sensor = &ops,
};
