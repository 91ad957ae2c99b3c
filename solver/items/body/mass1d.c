/* Mass1D: a mass with one translational coordinate along the x-axis of its frame.
 *
 *     m q̈ = f,   f = [1 0 0]·R₀ᵀ F     for every force F on the body; torques do nothing
 *     p = p_ref + R₀ ([q, 0, 0]ᵀ + local),   q = q_ref + u
 *
 * Source: Exudyn's ObjectMass1D. All points of the body move alike. */
#include "solver/items/body/body.h"

#include <stddef.h>

struct mass1d {
    struct mech_ref node;
    double mass; /* kg */
    struct mech_frame frame;
    struct mech_items geometry;
    struct mech_visualization visualization;
};

static void check(const void *description, const char *path, struct mech_diag *d)
{
    mech_frame_check(&((const struct mass1d *)description)->frame, path, d);
}

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct mass1d *b = description;

    *out = (struct mech_attachment){.refs = &b->node, .n = 1, .field = "node"};
}

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    mech_fit_one_coordinate(site);
}

static int linear(const void *description, struct mech_terms *terms)
{
    return mech_terms_add(terms, MECH_TERM_M, 0, 0, ((const struct mass1d *)description)->mass);
}

static const char *jacobian(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9])
{
    const struct mass1d *b = description;

    (void)local;
    for (int i = 0; i < 3; i++) {
        J[i][0] = b->frame.rotation[3 * i];
        J[3 + i][0] = 0.;
    }
    for (int i = 0; i < 9; i++) {
        R[i] = b->frame.rotation[i];
    }
    return NULL;
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    const struct mass1d *b = description;
    const double point[3] = {e->q[seat->q_slot[0]] + local[0], local[1], local[2]};

    mech_rotate(b->frame.rotation, point, out->p);
    for (int i = 0; i < 3; i++) {
        out->p[i] += b->frame.position[i];
        out->J[i][0] = b->frame.rotation[3 * i];
        out->v[i] = out->J[i][0] * e->v[seat->slot[0]];
    }
    for (int i = 0; i < 9; i++) {
        out->R[i] = b->frame.rotation[i];
    }
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct mass1d *b = description;
    const int32_t s = view->q_slot[0];
    const double q = view->at.q[s], u = q - view->at.q_ref[s];
    const double point[3] = {q + view->local[0], view->local[1], view->local[2]};
    struct mech_motion m = {.omega = {0.}};

    mech_rotate(b->frame.rotation, point, m.position);
    for (int i = 0; i < 3; i++) {
        const double x_axis = b->frame.rotation[3 * i];

        m.position[i] += b->frame.position[i];
        m.displacement[i] = x_axis * u;
        m.velocity[i] = x_axis * view->at.v[view->slot[0]];
    }
    for (int i = 0; i < 9; i++) {
        m.rotation[i] = b->frame.rotation[i];
    }
    return mech_motion_output(&m, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_GEOMETRY_FIELD(mass1d, geometry),
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct mass1d, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "node with one coordinate"},
    {.name = "physicsMass",
     .kind = MECH_REAL,
     .offset = offsetof(struct mass1d, mass),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "mass of the body"},
    MECH_FRAME_FIELD_POSITION(mass1d, frame),
    MECH_FRAME_FIELD_ROTATION(mass1d, frame),
    MECH_VISUALIZATION_FIELD(mass1d, visualization),
};

static const struct mech_object_ops ops = {
    .body = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .pose = pose,
    .jacobian = jacobian,
    .outputs = MECH_MOTION_OUTPUTS,
    .output = output,
    .geometry = offsetof(struct mass1d, geometry),
    .visualization = offsetof(struct mass1d, visualization),
};

const struct mech_item_type mech_item_body_mass1d = {
    .name = "Mass1D",
    .category = MECH_OBJECT,
    .table = {.name = "Mass1D",
              .doc = "A mass with one translational coordinate.",
              .size = sizeof(struct mass1d),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
