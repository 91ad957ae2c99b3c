/* RigidBody: a rigid body in space, its node anywhere in it (Exudyn's ObjectRigidBody).
 *
 *     m (v̇ + R (Ω̇ × c + Ω × (Ω × c))) = f         v of the node, global, f too
 *     J Ω̇ + Ω × J Ω + m c × Rᵀ v̇ = τ              Ω, c, J and τ body-fixed, about the node
 *
 * c is the centre of mass. m and J are constant and folded into M; what remains is a record:
 *
 *     M_q = m [ 0, −R [c]×; [c]× Rᵀ, 0 ],   gyroscopic torque, centrifugal force
 *
 * of which a body with c = 0 has the gyroscopic torque alone, and none when its three moments of
 * inertia are equal. A small rotation δθ about body-fixed axes: δR = R [δθ]×, so that
 *
 *     δ(R w) = −R [w]× δθ,   δ(Rᵀ a) = [Rᵀ a]× δθ,   ∂(Ω × J Ω)/∂Ω = [Ω]× J − [J Ω]×
 *     ∂(Ω × (Ω × c))/∂Ω = −[Ω × c]× − [Ω]× [c]× */
#include "solver/base/err.h"
#include "solver/items/body/body.h"
#include "solver/linalg/v3.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct rigid_body {
    struct mech_ref node;
    double inertia[6]; /* kg m²: xx yy zz yz xz xy */
    double mass;       /* kg */
    double center[3];  /* m, of mass */
    struct mech_items geometry;
    struct mech_visualization visualization;
};

struct record {
    const int32_t *slot, *q_slot; /* [6] and those of the node's coordinates */
    bool vector;                  /* of rotation; Euler parameters otherwise */
    bool offset;                  /* c is not 0 */
    double J[9], mass, center[3];
};

static void matrix_of(const struct rigid_body *b, double J[9])
{
    const double *const i = b->inertia;
    const double rows[9] = {i[0], i[5], i[4], i[5], i[1], i[3], i[4], i[3], i[2]};

    memcpy(J, rows, sizeof rows);
}

static bool inertia(const void *description)
{
    return mech_v3_norm(((const struct rigid_body *)description)->center) > 0.;
}

/* J − m (c·c 1 − c cᵀ), about the centre of mass, is positive definite: by its leading minors */
static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct rigid_body *const b = description;
    const double *const c = b->center, square = mech_v3_dot(c, c);
    double J[9];
    char place[2 * MECH_DIAG_PATH];

    matrix_of(description, J);
    for (int i = 0; i < 9; i++) {
        J[i] -= b->mass * ((i % 4 == 0 ? square : 0.) - c[i / 3] * c[i % 3]);
    }
    const double minor = J[0] * J[4] - J[1] * J[1];
    const double det = J[0] * (J[4] * J[8] - J[5] * J[5]) - J[1] * (J[1] * J[8] - J[5] * J[2]) +
                       J[2] * (J[1] * J[5] - J[4] * J[2]);
    snprintf(place, sizeof place, "%s/physicsInertia", path);
    if (!(J[0] > 0. && minor > 0. && det > 0.)) {
        mech_diag_add(d, place, "is not positive definite%s",
                      inertia(b) ? " about the centre of mass" : "");
    }
}

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct rigid_body *b = description;

    *out = (struct mech_attachment){.refs = &b->node, .n = 1, .field = "node"};
}

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    mech_fit_node(site, MECH_NODE_RIGID, "NodeRigidBodyEP or NodeRigidBodyRotVecLG");
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct rigid_body *b = description;
    double J[9];

    matrix_of(b, J);
    for (int32_t i = 0; i < 3; i++) {
        MECH_TRY(mech_terms_add(terms, MECH_TERM_M, i, i, b->mass));
        for (int32_t k = 0; k < 3; k++) {
            if (J[3 * i + k] != 0.) {
                MECH_TRY(mech_terms_add(terms, MECH_TERM_M, 3 + i, 3 + k, J[3 * i + k]));
            }
        }
    }
    return 0;
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct rigid_body *const b = description;
    struct record *const r = at;

    *r = (struct record){.slot = site->slot,
                         .q_slot = site->q_slot,
                         .vector = site->nq == site->n,
                         .offset = inertia(b),
                         .mass = b->mass,
                         .center = {b->center[0], b->center[1], b->center[2]}};
    matrix_of(description, r->J);
    const double *const J = r->J;
    const bool round = J[1] == 0. && J[2] == 0. && J[5] == 0. && J[0] == J[4] && J[4] == J[8];
    return r->offset || !round;
}

/* Ω, R, Rᵀ v̇ and w = Ω × (Ω × c) + Ω̇ × c of a body with c ≠ 0; v̇ = 0 when it is not given */
struct offset_terms {
    double omega[3], R[9], a[3], w[3];
};

static void offset_terms(const struct record *r, const struct mech_eval *e,
                         struct offset_terms *out)
{
    double arm[3];

    memset(out, 0, sizeof *out);
    mech_rigid_rotation(r->q_slot, r->vector, e->q, out->R);
    for (int i = 0; i < 3; i++) {
        out->omega[i] = e->v[r->slot[3 + i]];
    }
    mech_v3_cross(out->omega, r->center, arm);
    mech_v3_cross(out->omega, arm, out->w);
    if (e->vdot) {
        double linear[3], angular[3], turned[3];

        for (int i = 0; i < 3; i++) {
            linear[i] = e->vdot[r->slot[i]];
            angular[i] = e->vdot[r->slot[3 + i]];
        }
        mech_m3_mul_transposed(out->R, linear, out->a);
        mech_v3_cross(angular, r->center, turned);
        mech_v3_add(out->w, 1., turned, out->w);
    }
}

/* m R w and m c × Rᵀ v̇ */
static void offset_force(const struct record *r, const struct mech_eval *e, double *g)
{
    struct offset_terms o;
    double global[3], torque[3];

    offset_terms(r, e, &o);
    mech_m3_mul(o.R, o.w, global);
    mech_v3_cross(r->center, o.a, torque);
    for (int i = 0; i < 3; i++) {
        g[r->slot[i]] += r->mass * global[i];
        g[r->slot[3 + i]] += r->mass * torque[i];
    }
}

static void force(void *records, size_t n, const struct mech_eval *e, double *g)
{
    for (struct record *r = records, *end = r + n; r < end; r++) {
        const double omega[3] = {e->v[r->slot[3]], e->v[r->slot[4]], e->v[r->slot[5]]};
        double momentum[3], torque[3];

        mech_m3_mul(r->J, omega, momentum);
        mech_v3_cross(omega, momentum, torque);
        for (int i = 0; i < 3; i++) {
            g[r->slot[3 + i]] += torque[i];
        }
        if (r->offset) {
            offset_force(r, e, g);
        }
    }
}

/* values[place] of the block at (row, col) += scale A [9] */
static void add_block(const double A[9], double scale, int row, int col, const int32_t *place,
                      double *values)
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            values[place[6 * (row + i) + col + k]] += scale * A[3 * i + k];
        }
    }
}

static void offset_tangent(const struct record *r, const struct mech_eval *e, const double c[3],
                           const int32_t *place, double *values)
{
    struct offset_terms o;
    double arm[3], a[9], b[9], cross[9], turned[9];

    offset_terms(r, e, &o);
    mech_m3_cross(r->center, cross);

    /* M_q: R [c]× is turned, and its transpose is −[c]× Rᵀ */
    mech_m3_product(o.R, cross, turned);
    add_block(turned, -c[2] * r->mass, 0, 3, place, values);
    mech_m3_transpose(turned, a);
    add_block(a, -c[2] * r->mass, 3, 0, place, values);
    if (c[0] == 0. && c[1] == 0.) {
        return;
    }

    /* force by rotation, and by Ω */
    mech_m3_cross(o.w, a);
    mech_m3_product(o.R, a, b);
    add_block(b, -c[0] * r->mass, 0, 3, place, values);
    mech_v3_cross(o.omega, r->center, arm);
    mech_m3_cross(arm, a);
    mech_m3_product(o.R, a, b);
    add_block(b, -c[1] * r->mass, 0, 3, place, values);
    mech_m3_cross(o.omega, a);
    mech_m3_product(a, cross, b);
    mech_m3_product(o.R, b, a);
    add_block(a, -c[1] * r->mass, 0, 3, place, values);

    /* torque by rotation */
    mech_m3_cross(o.a, a);
    mech_m3_product(cross, a, b);
    add_block(b, c[0] * r->mass, 3, 3, place, values);
}

static void tangent(void *records, size_t n, const struct mech_eval *e, const double c[3],
                    const int32_t *place, double *values)
{
    for (struct record *r = records, *end = r + n; r < end; r++, place += 36) {
        const double omega[3] = {e->v[r->slot[3]], e->v[r->slot[4]], e->v[r->slot[5]]};
        double momentum[3], spin[9], turned[9];

        mech_m3_mul(r->J, omega, momentum);
        mech_m3_cross(omega, spin);
        mech_m3_product(spin, r->J, spin);
        mech_m3_cross(momentum, turned);
        for (int i = 0; i < 9; i++) {
            spin[i] -= turned[i];
        }
        add_block(spin, c[1], 3, 3, place, values);
        if (r->offset) {
            offset_tangent(r, e, c, place, values);
        }
    }
}

/* ½ vᵀ M_q v = m v · R (Ω × c) */
static double energy(void *records, size_t n, const struct mech_eval *e)
{
    double sum = 0.;

    for (struct record *r = records, *end = r + n; r < end; r++) {
        struct offset_terms o;
        double local[3], swing[3];

        if (!r->offset) {
            continue;
        }
        offset_terms(r, e, &o);
        mech_v3_cross(o.omega, r->center, local);
        mech_m3_mul(o.R, local, swing);
        for (int i = 0; i < 3; i++) {
            sum += r->mass * e->v[r->slot[i]] * swing[i];
        }
    }
    return sum;
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    (void)description;
    mech_rigid_pose(seat, e, local, out);
}

static double mass_of(const void *description, double center[3])
{
    const struct rigid_body *const b = description;

    memcpy(center, b->center, sizeof b->center);
    return b->mass;
}

static const struct mech_field fields[] = {
    MECH_GEOMETRY_FIELD(rigid_body, geometry),
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct rigid_body, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "NodeRigidBodyEP or NodeRigidBodyRotVecLG: the body's frame"},
    {.name = "physicsCenterOfMass",
     .kind = MECH_REALS,
     .offset = offsetof(struct rigid_body, center),
     .flags = MECH_TUNABLE,
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "centre of mass in the body's frame"},
    {.name = "physicsInertia",
     .kind = MECH_REALS,
     .offset = offsetof(struct rigid_body, inertia),
     .flags = MECH_REQUIRED | MECH_TUNABLE,
     .count = 6,
     .unit = "kg m^2",
     MECH_ANY_REAL,
     .doc = "inertia tensor about the node, in the body's frame: xx, yy, zz, yz, xz, xy"},
    {.name = "physicsMass",
     .kind = MECH_REAL,
     .offset = offsetof(struct rigid_body, mass),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "mass of the body"},
    MECH_VISUALIZATION_FIELD(rigid_body, visualization),
};

static const struct mech_object_ops ops = {
    .body = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .record_size = sizeof(struct record),
    .record_coordinates = 6,
    .record = record,
    .inertia = inertia,
    .force = force,
    .tangent = tangent,
    .energy = energy,
    .pose = pose,
    .mass = mass_of,
    .outputs = MECH_RIGID_OUTPUTS,
    .output = mech_pose_output,
    .geometry = offsetof(struct rigid_body, geometry),
    .visualization = offsetof(struct rigid_body, visualization),
};

const struct mech_item_type mech_item_body_rigid_body = {
    .name = "RigidBody",
    .category = MECH_OBJECT,
    .table = {.name = "RigidBody",
              .doc = "A rigid body in space.",
              .size = sizeof(struct rigid_body),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
