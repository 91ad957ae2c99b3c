/* RevoluteJointZ: a hinge about the z-axis of the joint's frame (Exudyn's ObjectJointRevoluteZ). */
#include "solver/items/body/body.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>

static const int32_t held[6] = {1, 1, 1, 1, 1, 0};
static const struct mech_pair_ops pair = {MECH_JOINT_AXIS_PAIR, .held = held};
static const struct mech_object_ops ops = {MECH_JOINT_AXIS_OBJECT, .pair = &pair};

const struct mech_item_type mech_item_joint_revolute_z = {
    .name = "RevoluteJointZ",
    MECH_JOINT_AXIS_TYPE("RevoluteJointZ", "A hinge about the z-axis of the joint's frame."),
    .ops.object = &ops,
};
