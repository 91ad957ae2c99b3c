/* RevoluteJoint2D: two points coincide in the x-y plane (Exudyn's ObjectJointRevolute2D).
 *
 *     g = [x y] of p₁ − p₀ */
#include "solver/items/body/body.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>

struct revolute_joint_2d {
    struct mech_refs markers;
    bool active;
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct revolute_joint_2d *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    struct mech_joint_record *const r = at;

    (void)site;
    *r = (struct mech_joint_record){
        .n = 2, .row = {{.side = -1, .a = {1., 0., 0.}}, {.side = -1, .a = {0., 1., 0.}}}};
    memcpy(r->frame, mech_identity3, sizeof r->frame);
    return ((const struct revolute_joint_2d *)description)->active;
}

static int32_t rows(const void *description)
{
    (void)description;
    return 2;
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(revolute_joint_2d, active),
    MECH_PAIR_FIELD_MARKERS(revolute_joint_2d, markers),
};

static const struct mech_pair_ops pair = {
    MECH_JOINT_ROWS_FIXED,
    .record = record,
    .rows = rows,
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_JOINT_OUTPUTS,
    .output = mech_joint_rows_output,
};

const struct mech_item_type mech_item_joint_revolute_2d = {
    .name = "RevoluteJoint2D",
    .category = MECH_OBJECT,
    .table = {.name = "RevoluteJoint2D",
              .doc = "Two points coincide in the x-y plane. "
                     "The displacement is the second marker less the first.",
              .size = sizeof(struct revolute_joint_2d),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
