/* RevoluteJointZ: a hinge about the z-axis of the joint's frame (Exudyn's ObjectJointRevoluteZ). */
#include "solver/items/body/body.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>

static int record(const void *description, const struct mech_site *site, void *at)
{
    static const int32_t axes[6] = {1, 1, 1, 1, 1, 0};

    (void)site;
    return mech_joint_frame_record(description, axes, at);
}

static int32_t rows(const void *description)
{
    (void)description;
    return 5;
}

static const struct mech_pair_ops pair = {
    MECH_JOINT_ROWS_OPERATIONS,
    .record = record,
    .rows = rows,
};

static const struct mech_object_ops ops = {
    .markers = mech_joint_frame_markers,
    .marker_kinds = 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_JOINT_OUTPUTS,
    .output = mech_joint_rows_output,
};

const struct mech_item_type mech_item_joint_revolute_z = {
    .name = "RevoluteJointZ",
    .category = MECH_OBJECT,
    .table = {.name = "RevoluteJointZ",
              .doc = "A hinge about the z-axis of the joint's frame. "
                     "The displacement is the second marker less the first, in the "
                     "frame of the first.",
              .size = sizeof(struct mech_joint_frame),
              .fields = mech_joint_frame_fields,
              .count = MECH_JOINT_FRAME_FIELDS},
    .check = mech_joint_frame_check,
    .ops.object = &ops,
};
