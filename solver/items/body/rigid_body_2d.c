/* RigidBody2D: m ẍ = f_x, m ÿ = f_y, J φ̈ = τ_z for a body in the x-y plane whose node is its
 * centre of mass (Exudyn's ObjectRigidBody2D). */
#include "solver/base/err.h"
#include "solver/items/body/body.h"

#include <stddef.h>

struct rigid_body_2d {
    struct mech_ref node;
    double inertia; /* kg m² about the centre of mass */
    double mass;    /* kg */
    struct mech_items geometry;
    struct mech_visualization visualization;
};

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct rigid_body_2d *b = description;

    *out = (struct mech_attachment){.refs = &b->node, .n = 1, .field = "node"};
}

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    mech_fit_node(site, MECH_NODE_RIGID_2D, "NodeRigidBody2D");
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct rigid_body_2d *b = description;

    MECH_TRY(mech_terms_add(terms, MECH_TERM_M, 0, 0, b->mass));
    MECH_TRY(mech_terms_add(terms, MECH_TERM_M, 1, 1, b->mass));
    return mech_terms_add(terms, MECH_TERM_M, 2, 2, b->inertia);
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    (void)description;
    mech_rigid_2d_pose(seat, e, local, out);
}

static double mass_of(const void *description, double center[3])
{
    center[0] = center[1] = center[2] = 0.;
    return ((const struct rigid_body_2d *)description)->mass;
}

/* Rotation is the scalar angle, as in Exudyn. */
static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    if (variable == MECH_OUTPUT_ROTATION) {
        *count = 1;
        if (capacity) {
            values[0] = view->at.q[view->q_slot[2]];
        }
        return 0;
    }
    return mech_pose_output(description, view, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_GEOMETRY_FIELD(rigid_body_2d, geometry),
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct rigid_body_2d, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "NodeRigidBody2D at the centre of mass"},
    {.name = "physicsInertia",
     .kind = MECH_REAL,
     .offset = offsetof(struct rigid_body_2d, inertia),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg m^2",
     MECH_NOT_NEGATIVE,
     .doc = "moment of inertia about the centre of mass"},
    {.name = "physicsMass",
     .kind = MECH_REAL,
     .offset = offsetof(struct rigid_body_2d, mass),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "mass of the body"},
    MECH_VISUALIZATION_FIELD(rigid_body_2d, visualization),
};

static const struct mech_object_ops ops = {
    .body = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .pose = pose,
    .mass = mass_of,
    .outputs = MECH_RIGID_OUTPUTS,
    .output = output,
    .geometry = offsetof(struct rigid_body_2d, geometry),
    .visualization = offsetof(struct rigid_body_2d, visualization),
};

const struct mech_item_type mech_item_body_rigid_body_2d = {
    .name = "RigidBody2D",
    .category = MECH_OBJECT,
    .table = {.name = "RigidBody2D",
              .doc = "A rigid body in the x-y plane.",
              .size = sizeof(struct rigid_body_2d),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
