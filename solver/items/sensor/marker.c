/* SensorMarker: an output variable of a marker. */
#include "solver/items/ops.h"

#include <stddef.h>

struct sensor_marker {
    struct mech_ref marker;
    int32_t variable; /* enum mech_output */
};

static const struct mech_ref *ref(const void *description)
{
    return &((const struct sensor_marker *)description)->marker;
}

static enum mech_output variable(const void *description)
{
    return (enum mech_output)((const struct sensor_marker *)description)->variable;
}

static const struct mech_field fields[] = {
    {.name = "marker",
     .kind = MECH_REF,
     .offset = offsetof(struct sensor_marker, marker),
     .flags = MECH_REQUIRED,
     .target = MECH_MARKER,
     .doc = "the marker"},
    {.name = "outputVariable",
     .kind = MECH_CHOICE,
     .offset = offsetof(struct sensor_marker, variable),
     .flags = MECH_REQUIRED,
     .choices = mech_output_names,
     .doc = "the measured variable"},
};

static const struct mech_sensor_ops ops = {
    .target = MECH_MARKER,
    .field = "marker",
    .ref = ref,
    .variable = variable,
};

const struct mech_item_type mech_item_sensor_marker = {
    .name = "SensorMarker",
    .category = MECH_SENSOR,
    .table = {.name = "SensorMarker",
              .doc = "An output variable of a marker.",
              .size = sizeof(struct sensor_marker),
              MECH_FIELDS(fields)},
    .ops.sensor = &ops,
};
