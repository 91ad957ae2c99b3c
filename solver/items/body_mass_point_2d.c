/* MassPoint2D: m v̇ = f at a point in the x-y plane (Exudyn's ObjectMassPoint2D). */
#include "solver/base/err.h"
#include "solver/items/body.h"
#include "solver/linalg/v3.h"

#include <stddef.h>

struct mass_point_2d {
    struct mech_ref node;
    double mass; /* kg */
    struct mech_visualization visualization;
};

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct mass_point_2d *b = description;

    *out = (struct mech_attachment){.refs = &b->node, .n = 1, .field = "node"};
}

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    mech_fit_node(site, MECH_NODE_POINT_2D, "NodePoint2D");
}

static int linear(const void *description, struct mech_terms *terms)
{
    for (int32_t i = 0; i < 2; i++) {
        MECH_TRY(mech_terms_add(terms, MECH_TERM_M, i, i,
                                ((const struct mass_point_2d *)description)->mass));
    }
    return 0;
}

/* all points of the body move as its node does */
static const char *jacobian(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9])
{
    (void)description;
    (void)local;
    for (int i = 0; i < 2; i++) {
        J[i][i] = 1.;
    }
    for (int i = 0; i < 9; i++) {
        R[i] = mech_identity3[i];
    }
    return NULL;
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    (void)description;
    mech_point_pose(seat, e, 2, out);
    mech_v3_add(out->p, 1., local, out->p);
}

static double mass_of(const void *description, double center[3])
{
    center[0] = center[1] = center[2] = 0.;
    return ((const struct mass_point_2d *)description)->mass;
}

static const struct mech_field fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct mass_point_2d, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "the point"},
    {.name = "physicsMass",
     .kind = MECH_REAL,
     .offset = offsetof(struct mass_point_2d, mass),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "mass of the body"},
    MECH_VISUALIZATION_FIELD(mass_point_2d, visualization),
};

static const struct mech_object_ops ops = {
    .body = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .pose = pose,
    .mass = mass_of,
    .jacobian = jacobian,
    .outputs = MECH_POINT_OUTPUTS | 1u << MECH_OUTPUT_ROTATION_MATRIX,
    .output = mech_pose_output,
    .visualization = offsetof(struct mass_point_2d, visualization),
};

const struct mech_item_type mech_item_body_mass_point_2d = {
    .name = "MassPoint2D",
    .category = MECH_OBJECT,
    .table = {.name = "MassPoint2D",
              .doc = "A point mass in the x-y plane.",
              .size = sizeof(struct mass_point_2d),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
