/* NodePoint2DSlope1: a point in the x-y plane and the slope of a line there: x, y, ∂r/∂x by its two
 * components, q = reference + displacement (Exudyn's NodePoint2DSlope1). */
#include "solver/items/node/slope.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct node_point_2d_slope1 {
    double reference[4], displacement[4], velocity[4];
};

static int32_t size(const void *description)
{
    (void)description;
    return 4;
}

static void start(const void *description, double *reference, double *displacement,
                  double *velocity)
{
    const struct node_point_2d_slope1 *n = description;

    memcpy(reference, n->reference, sizeof n->reference);
    memcpy(displacement, n->displacement, sizeof n->displacement);
    memcpy(velocity, n->velocity, sizeof n->velocity);
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct node_point_2d_slope1 *n = description;

    if (n->reference[2] == 0. && n->reference[3] == 0.) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/referenceCoordinates", path);
        mech_diag_add(d, place, "has a slope of length 0, which has no direction");
    }
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 struct mech_pose *out)
{
    static const struct mech_slope_point point = {.n = 2, .S = {1., 0.}, .D = {0., 1.}};
    static const double origin[3];

    (void)description;
    mech_slope_pose(&point, seat, e, origin, out);
}

static const double straight[4] = {0., 0., 1., 0.};

static const struct mech_field fields[] = {
    {.name = "initialCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_2d_slope1, displacement),
     .count = 4,
     .unit = "m and 1",
     MECH_ANY_REAL,
     .doc = "initial displacements from the reference"},
    {.name = "initialVelocities",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_2d_slope1, velocity),
     .count = 4,
     .unit = "m/s and 1/s",
     MECH_ANY_REAL,
     .doc = "initial velocities"},
    {.name = "referenceCoordinates",
     .kind = MECH_REALS,
     .offset = offsetof(struct node_point_2d_slope1, reference),
     .count = 4,
     .unit = "m and 1",
     .presets = straight,
     MECH_ANY_REAL,
     .doc = "reference coordinates; the slope has length 1 where the line is not stretched"},
};

static const struct mech_node_ops ops = {
    .flexible = true,
    .kind = MECH_NODE_SLOPE_2D,
    .size = size,
    .start = start,
    .pose = pose,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_RIGID_OUTPUTS,
};

const struct mech_item_type mech_item_node_point_2d_slope1 = {
    .name = "NodePoint2DSlope1",
    .category = MECH_NODE,
    .table = {.name = "NodePoint2DSlope1",
              .doc = "A point in the x-y plane and the slope of a line through it.",
              .size = sizeof(struct node_point_2d_slope1),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.node = &ops,
};
