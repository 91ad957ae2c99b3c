/* Rotor1D: an inertia that rotates about the z-axis of its frame.
 *
 *     J φ̈ = τ,   τ = [0 0 1]·R₀ᵀ T     for every torque T on the body
 *     R = R₀ Rz(φ),   p = p_ref + R local,   ω = R₀ [0 0 φ̇]ᵀ,   φ = φ_ref + u
 *
 * Source: Exudyn's ObjectRotationalMass1D, whose choices are kept: the output Rotation is the
 * scalar angle, and forces act on the axis only, where they do nothing. */
#include "solver/items/body/body.h"

#include <math.h>
#include <stddef.h>

struct rotor1d {
    struct mech_ref node;
    double inertia; /* kg m² about the axis */
    struct mech_frame frame;
    struct mech_items geometry;
    struct mech_visualization visualization;
};

static void check(const void *description, const char *path, struct mech_diag *d)
{
    mech_frame_check(&((const struct rotor1d *)description)->frame, path, d);
}

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct rotor1d *b = description;

    *out = (struct mech_attachment){.refs = &b->node, .n = 1, .field = "node"};
}

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    mech_fit_one_coordinate(site);
}

static int linear(const void *description, struct mech_terms *terms)
{
    return mech_terms_add(terms, MECH_TERM_M, 0, 0, ((const struct rotor1d *)description)->inertia);
}

static const char *jacobian(const void *description, const double local[3],
                            double J[6][MECH_MARKER_SLOTS], double R[9])
{
    const struct rotor1d *b = description;

    if (local[0] != 0. || local[1] != 0.) {
        return "forces act on the axis of a Rotor1D only: localPosition must be [0, 0, z]";
    }
    for (int i = 0; i < 3; i++) {
        J[i][0] = 0.;
        J[3 + i][0] = b->frame.rotation[3 * i + 2];
    }
    /* a body-fixed torque has the same component about the axis for every angle */
    for (int i = 0; i < 9; i++) {
        R[i] = b->frame.rotation[i];
    }
    return NULL;
}

/* R₀ Rz(φ) */
static void rotation_at(const struct rotor1d *b, double phi, double R[9])
{
    const double c = cos(phi), s = sin(phi), *R0 = b->frame.rotation;

    for (int i = 0; i < 3; i++) {
        R[3 * i] = R0[3 * i] * c + R0[3 * i + 1] * s;
        R[3 * i + 1] = R0[3 * i + 1] * c - R0[3 * i] * s;
        R[3 * i + 2] = R0[3 * i + 2];
    }
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    const struct rotor1d *b = description;

    out->counted = true;
    out->angle = e->q[seat->q_slot[0]];
    out->turned = out->angle - e->q_ref[seat->q_slot[0]];
    rotation_at(b, out->angle, out->R);
    mech_rotate(out->R, local, out->p);
    for (int i = 0; i < 3; i++) {
        out->p[i] += b->frame.position[i];
        out->J[3 + i][0] = b->frame.rotation[3 * i + 2];
        out->omega[i] = out->J[3 + i][0] * e->v[seat->slot[0]];
    }
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct rotor1d *b = description;
    const int32_t s = view->q_slot[0];
    const double phi = view->at.q[s], omega = view->at.v[view->slot[0]];
    struct mech_motion m = {.omega_local = {0., 0., omega}};

    if (variable == MECH_OUTPUT_ROTATION) {
        *count = 1;
        if (capacity) {
            values[0] = phi;
        }
        return 0;
    }
    rotation_at(b, phi, m.rotation);

    /* displacement of the point: from where the reference angle puts it */
    double reference[9], from[3];
    rotation_at(b, view->at.q_ref[s], reference);
    mech_rotate(reference, view->local, from);
    mech_rotate(m.rotation, view->local, m.position);
    const double arm[3] = {-omega * view->local[1], omega * view->local[0], 0.};
    mech_rotate(m.rotation, arm, m.velocity);
    for (int i = 0; i < 3; i++) {
        m.displacement[i] = m.position[i] - from[i];
        m.position[i] += b->frame.position[i];
        m.omega[i] = b->frame.rotation[3 * i + 2] * omega;
    }
    return mech_motion_output(&m, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_GEOMETRY_FIELD(rotor1d, geometry),
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct rotor1d, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "node with one coordinate, the angle"},
    {.name = "physicsInertia",
     .kind = MECH_REAL,
     .offset = offsetof(struct rotor1d, inertia),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg m^2",
     MECH_NOT_NEGATIVE,
     .doc = "moment of inertia about the axis"},
    MECH_FRAME_FIELD_POSITION(rotor1d, frame),
    MECH_FRAME_FIELD_ROTATION(rotor1d, frame),
    MECH_VISUALIZATION_FIELD(rotor1d, visualization),
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
    .geometry = offsetof(struct rotor1d, geometry),
    .visualization = offsetof(struct rotor1d, visualization),
};

const struct mech_item_type mech_item_body_rotor1d = {
    .name = "Rotor1D",
    .category = MECH_OBJECT,
    .table = {.name = "Rotor1D",
              .doc = "An inertia with one coordinate, its angle.",
              .size = sizeof(struct rotor1d),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
