/* RigidBody: a rigid body in space whose node is its centre of mass.
 *
 *     m v̇ = f,   J Ω̇ + Ω × J Ω = τ      v global, Ω and τ body-fixed
 *
 * J is constant in the body's frame and folded into M; the gyroscopic torque is a record, which a
 * body with three equal moments of inertia does not need. Source: Exudyn's ObjectRigidBody. */
#include "solver/items/body.h"
#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct rigid_body {
    struct mech_ref node;
    double inertia[6]; /* kg m²: xx yy zz yz xz xy */
    double mass;       /* kg */
    struct mech_visualization visualization;
};

struct record {
    int32_t slot[3]; /* of Ω */
    double J[9];
};

static void matrix_of(const struct rigid_body *b, double J[9])
{
    const double *const i = b->inertia;
    const double rows[9] = {i[0], i[5], i[4], i[5], i[1], i[3], i[4], i[3], i[2]};

    memcpy(J, rows, sizeof rows);
}

/* positive definite by its leading minors */
static void check(const void *description, const char *path, struct mech_diag *d)
{
    double J[9];
    char place[2 * MECH_DIAG_PATH];

    matrix_of(description, J);
    const double minor = J[0] * J[4] - J[1] * J[1];
    const double det = J[0] * (J[4] * J[8] - J[5] * J[5]) - J[1] * (J[1] * J[8] - J[5] * J[2]) +
                       J[2] * (J[1] * J[5] - J[4] * J[2]);
    snprintf(place, sizeof place, "%s/physicsInertia", path);
    if (!(J[0] > 0. && minor > 0. && det > 0.)) {
        mech_diag_add(d, place, "is not positive definite");
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
    mech_fit_node(site, MECH_NODE_RIGID, "NodeRigidBodyEP");
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
    struct record *const r = at;

    matrix_of(description, r->J);
    memcpy(r->slot, site->slot + 3, sizeof r->slot);
    const double *const J = r->J;
    const bool round = J[1] == 0. && J[2] == 0. && J[5] == 0. && J[0] == J[4] && J[4] == J[8];
    return !round;
}

static void force(void *records, size_t n, const struct mech_eval *e, double *g)
{
    for (struct record *r = records, *end = r + n; r < end; r++) {
        const double omega[3] = {e->v[r->slot[0]], e->v[r->slot[1]], e->v[r->slot[2]]};
        double momentum[3], torque[3];

        mech_m3_mul(r->J, omega, momentum);
        mech_v3_cross(omega, momentum, torque);
        for (int i = 0; i < 3; i++) {
            g[r->slot[i]] += torque[i];
        }
    }
}

/* x × as a matrix by rows */
static void cross_matrix(const double x[3], double out[9])
{
    const double rows[9] = {0., -x[2], x[1], x[2], 0., -x[0], -x[1], x[0], 0.};

    memcpy(out, rows, sizeof rows);
}

/* ∂(Ω × J Ω)/∂Ω = [Ω]× J − [J Ω]× */
static void tangent(void *records, size_t n, const struct mech_eval *e, const double c[3],
                    const int32_t *place, double *values)
{
    for (struct record *r = records, *end = r + n; r < end; r++, place += 36) {
        const double omega[3] = {e->v[r->slot[0]], e->v[r->slot[1]], e->v[r->slot[2]]};
        double momentum[3], spin[9], turned[9];

        mech_m3_mul(r->J, omega, momentum);
        cross_matrix(omega, spin);
        mech_m3_product(spin, r->J, spin);
        cross_matrix(momentum, turned);
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                values[place[6 * (3 + i) + 3 + k]] += c[1] * (spin[3 * i + k] - turned[3 * i + k]);
            }
        }
    }
}

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    (void)description;
    mech_rigid_pose(seat, e, local, out);
}

static double mass_of(const void *description, double center[3])
{
    center[0] = center[1] = center[2] = 0.;
    return ((const struct rigid_body *)description)->mass;
}

static const struct mech_field fields[] = {
    {.name = "node",
     .kind = MECH_REF,
     .offset = offsetof(struct rigid_body, node),
     .flags = MECH_REQUIRED,
     .target = MECH_NODE,
     .doc = "NodeRigidBodyEP at the centre of mass"},
    {.name = "physicsInertia",
     .kind = MECH_REALS,
     .offset = offsetof(struct rigid_body, inertia),
     .flags = MECH_REQUIRED | MECH_TUNABLE,
     .count = 6,
     .unit = "kg m^2",
     MECH_ANY_REAL,
     .doc = "inertia tensor about the centre of mass: xx, yy, zz, yz, xz, xy"},
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
    .force = force,
    .tangent = tangent,
    .pose = pose,
    .mass = mass_of,
    .outputs = MECH_RIGID_OUTPUTS,
    .output = mech_pose_output,
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
