/* SphericalJoint: two points coincide (Exudyn's ObjectJointSpherical with all axes constrained).
 *
 *     g = p₁ − p₀ */
#include "solver/items/body/body.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>

static int record(const void *description, const struct mech_site *site, void *at)
{
    struct mech_joint_record *const r = at;

    (void)site;
    *r = (struct mech_joint_record){.n = 3};
    for (int i = 0; i < 3; i++) {
        r->row[i].side = -1;
        r->row[i].a[i] = 1.;
    }
    memcpy(r->frame, mech_identity3, sizeof r->frame);
    return ((const struct mech_joint_frame *)description)->active;
}

static int32_t rows(const void *description)
{
    (void)description;
    return 3;
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(mech_joint_frame, active),
    MECH_PAIR_FIELD_MARKERS(mech_joint_frame, markers),
};

static const struct mech_pair_ops pair = {
    MECH_JOINT_ROWS_FIXED,
    .record = record,
    .rows = rows,
};

static const struct mech_object_ops ops = {
    .markers = mech_joint_frame_markers,
    .marker_kinds = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_JOINT_OUTPUTS,
    .output = mech_joint_rows_output,
};

const struct mech_item_type mech_item_joint_spherical = {
    .name = "SphericalJoint",
    .category = MECH_OBJECT,
    .table = {.name = "SphericalJoint",
              .doc = "Two points coincide. "
                     "The displacement is the second marker less the first.",
              .size = sizeof(struct mech_joint_frame),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
