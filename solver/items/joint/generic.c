/* GenericJoint: holds any of three translations and three rotations in the joint's frame at the
 * first marker (Exudyn's ObjectJointGeneric). */
#include "solver/items/body/body.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>
#include <stdio.h>

static const double all[6] = {1., 1., 1., 1., 1., 1.};

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct mech_joint_frame *c = description;
    int32_t axes[6];

    (void)site;
    for (int i = 0; i < 6; i++) {
        axes[i] = c->axes[i] > 0.5;
    }
    return mech_joint_frame_record(c, axes, at);
}

static int32_t rows(const void *description)
{
    const struct mech_joint_frame *c = description;
    int32_t n = 0;

    for (int i = 0; i < 6; i++) {
        n += c->axes[i] > 0.5;
    }
    return n;
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct mech_joint_frame *c = description;

    mech_joint_frame_check(description, path, d);
    for (int i = 0; i < 6; i++) {
        if (c->axes[i] != 0. && c->axes[i] != 1.) {
            char place[2 * MECH_DIAG_PATH];

            snprintf(place, sizeof place, "%s/constrainedAxes/%d", path, i);
            mech_diag_add(d, place, "must be 0 (free) or 1 (constrained)");
        }
    }
    if (rows(description) == 0) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/constrainedAxes", path);
        mech_diag_add(d, place, "constrains nothing: at least one must be 1");
    }
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(mech_joint_frame, active),
    {.name = "constrainedAxes",
     .kind = MECH_REALS,
     .offset = offsetof(struct mech_joint_frame, axes),
     .count = 6,
     .unit = "",
     .presets = all,
     .min = 0.,
     .max = 1.,
     .doc = "1: constrained, 0: free; translations along x, y, z, rotations about x, y, z"},
    MECH_PAIR_FIELD_MARKERS(mech_joint_frame, markers),
    MECH_JOINT_FIELD_ROTATION(rotation0, "rotationMarker0", "first"),
    MECH_JOINT_FIELD_ROTATION(rotation1, "rotationMarker1", "second"),
};

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

const struct mech_item_type mech_item_joint_generic = {
    .name = "GenericJoint",
    .category = MECH_OBJECT,
    .table = {.name = "GenericJoint",
              .doc = "Constrains chosen translations and rotations between two frames. The "
                     "displacement is the second marker less the first, in the frame of the first.",
              .size = sizeof(struct mech_joint_frame),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
