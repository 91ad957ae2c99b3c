/* PrismaticJoint2D: a point of the second body slides along an axis (Exudyn's
 * ObjectJointPrismatic2D).
 *
 *     (p₁ − p₀) · R₁ normalMarker1 = 0,   and with constrainRotation
 *     (R₀ axisMarker0) · (R₁ normalMarker1) = 0 */
#include "solver/items/body/body.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>
#include <stdio.h>

struct prismatic_joint_2d {
    struct mech_refs markers;
    double axis[3], normal[3];
    bool active, rotation;
};

static const double x_axis[3] = {1., 0., 0.}, y_axis[3] = {0., 1., 0.};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct prismatic_joint_2d *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct prismatic_joint_2d *c = description;
    const char *const names[] = {"axisMarker0", "normalMarker1"};
    const double *const vectors[] = {c->axis, c->normal};

    for (int i = 0; i < 2; i++) {
        if (!(mech_v3_norm(vectors[i]) > 0.)) {
            char place[2 * MECH_DIAG_PATH];

            snprintf(place, sizeof place, "%s/%s", path, names[i]);
            mech_diag_add(d, place, "needs a direction, not zeros");
        }
    }
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct prismatic_joint_2d *c = description;
    struct mech_joint_record *const r = at;

    (void)site;
    *r = (struct mech_joint_record){.n = c->rotation ? 2 : 1};
    r->row[0].side = 1;
    r->row[1].dot = true;
    for (int i = 0; i < 3; i++) {
        r->row[0].a[i] = r->row[1].b[i] = c->normal[i] / mech_v3_norm(c->normal);
        r->row[1].a[i] = c->axis[i] / mech_v3_norm(c->axis);
    }
    memcpy(r->frame, mech_identity3, sizeof r->frame);
    return c->active;
}

static int32_t rows(const void *description)
{
    return ((const struct prismatic_joint_2d *)description)->rotation ? 2 : 1;
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(prismatic_joint_2d, active),
    {.name = "axisMarker0",
     .kind = MECH_REALS,
     .offset = offsetof(struct prismatic_joint_2d, axis),
     .count = 3,
     .unit = "",
     .presets = x_axis,
     MECH_ANY_REAL,
     .doc = "direction of sliding, in the frame of the first marker"},
    {.name = "constrainRotation",
     .kind = MECH_BOOL,
     .offset = offsetof(struct prismatic_joint_2d, rotation),
     .preset = 1.,
     .doc = "whether the relative rotation of the bodies is constrained too"},
    MECH_PAIR_FIELD_MARKERS(prismatic_joint_2d, markers),
    {.name = "normalMarker1",
     .kind = MECH_REALS,
     .offset = offsetof(struct prismatic_joint_2d, normal),
     .count = 3,
     .unit = "",
     .presets = y_axis,
     MECH_ANY_REAL,
     .doc = "normal of the direction of sliding, in the frame of the second marker"},
};

static const struct mech_pair_ops pair = {
    MECH_JOINT_ROWS_OPERATIONS,
    .record = record,
    .rows = rows,
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_JOINT_OUTPUTS,
    .output = mech_joint_rows_output,
};

const struct mech_item_type mech_item_joint_prismatic_2d = {
    .name = "PrismaticJoint2D",
    .category = MECH_OBJECT,
    .table = {.name = "PrismaticJoint2D",
              .doc = "A point slides along an axis of another body in the x-y plane. "
                     "The displacement is the second marker less the first.",
              .size = sizeof(struct prismatic_joint_2d),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
