/* MarkerNodeRotationCoordinate: the rotation of a rigid node about one global axis k.
 *
 *     value      Tait–Bryan angle k (xyz) of its rotation matrix, counted over turns; of a node in
 *                the plane φ
 *     velocity   ω_k, the global angular velocity
 *     force      a torque about the global axis k
 *
 * Source: Exudyn's MarkerNodeRotationCoordinate. The angle's rate is ω_k while the node turns about
 * axis k alone. The angles after the last step are kept in z of the state, and the next ones are
 * those nearest to them, right while a step turns by less than a quarter turn. */
#include "solver/items/ops.h"
#include "solver/linalg/so3.h"

#include <stddef.h>
#include <string.h>

struct marker_node_rotation_coordinate {
    struct mech_ref node;
    int32_t coordinate;
};

static const struct mech_ref *seat(const void *description, enum mech_category *category)
{
    *category = MECH_NODE;
    return &((const struct marker_node_rotation_coordinate *)description)->node;
}

static const char *map(const void *description, const struct mech_seat *on,
                       struct mech_marker_map *out, const char **field)
{
    const struct marker_node_rotation_coordinate *m = description;
    const enum mech_node_kind kind = on->item->type->ops.node->kind;

    if (kind != MECH_NODE_RIGID_2D && kind != MECH_NODE_RIGID) {
        *field = "node";
        return "needs a node that rotates";
    }
    if (kind == MECH_NODE_RIGID_2D && m->coordinate != 2) {
        *field = "rotationCoordinate";
        return "must be 2: a node in the plane rotates about z only";
    }
    out->moving = kind == MECH_NODE_RIGID;
    for (int32_t i = 0; i < on->n; i++) {
        out->slot[i] = on->slot[i];
    }
    out->n = on->n;
    out->kept = out->moving ? 3 : 0;
    out->J[0][2] = out->moving ? 0. : 1.;
    return NULL;
}

/* All three angles of a node in space at the point */
static void angles_of(const struct mech_seat *on, const struct mech_eval *e, const double R[9],
                      double angles[3])
{
    if (e->z) {
        mech_so3_angles_near(R, e->z + on->z, angles);
    } else {
        mech_so3_angles(R, angles);
    }
}

static void keep(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 double *z)
{
    struct mech_pose at = {.n = on->n, .slot = on->slot};

    (void)description;
    on->item->type->ops.node->pose(on->item->description, on, e, &at);
    angles_of(on, e, at.R, z);
}

static void pose(const void *description, const struct mech_seat *on, const struct mech_eval *e,
                 struct mech_pose *out)
{
    const struct marker_node_rotation_coordinate *m = description;
    const int32_t k = m->coordinate;
    double angles[3];

    on->item->type->ops.node->pose(on->item->description, on, e, out);
    const bool flat = on->item->type->ops.node->kind == MECH_NODE_RIGID_2D;

    if (!flat) {
        angles_of(on, e, out->R, angles);
    }
    const double value = flat ? e->q[on->q_slot[2]] : angles[k];

    out->kind = MECH_POSE_GENERAL;
    memset(out->p, 0, sizeof out->p);
    memset(out->v, 0, sizeof out->v);
    memset(out->J, 0, 3 * sizeof out->J[0]);
    memset(out->arm, 0, sizeof out->arm);
    out->p[0] = value;
    out->v[0] = out->omega[k];
    out->turn[k] = 1.;
    memcpy(out->J[0], out->J[3 + k], sizeof out->J[0]);
}

static const struct mech_field fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct marker_node_rotation_coordinate, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the node, of a rigid body"},
    {.name = "rotationCoordinate",
     .kind = MECH_INT,
     .offset = offsetof(struct marker_node_rotation_coordinate, coordinate),
     .flags = MECH_REQUIRED,
     .min = 0.,
     .max = 2.,
     .doc = "global axis of the rotation: 0 x, 1 y, 2 z"},
};

static const struct mech_marker_ops ops = {
    .kind = MECH_MARKER_ROTATION,
    .seat = seat,
    .map = map,
    .pose = pose,
    .keep = keep,
};

const struct mech_item_type mech_item_marker_node_rotation_coordinate = {
    .name = "MarkerNodeRotationCoordinate",
    .category = MECH_MARKER,
    .table = {.name = "MarkerNodeRotationCoordinate",
              .doc = "Rotation of a node about one axis, counted over turns, where torques act.",
              .size = sizeof(struct marker_node_rotation_coordinate),
              MECH_FIELDS(fields)},
    .ops.marker = &ops,
};
