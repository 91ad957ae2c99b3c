/* RigidBodySpringDamper: springs and dampers in all six directions between two joint frames.
 *
 *     (F, τ) = stiffness (u − offset) + damping v        u, v [6] and the wrench: rigid_relative.h
 *
 * or six expressions in u and v (force_law.h); F along the displacement > 0 pulls. u holds
 * displacements and Tait–Bryan angles in the frame of the first marker, as in Exudyn's
 * ObjectConnectorRigidBodySpringDamper; with intrinsicFormulation it is taken halfway between the
 * markers with the rotation vector, and an elastic spring (symmetric stiffness) stores its energy
 * ½ (u − offset)ᵀ stiffness (u − offset) exactly. Exudyn's flag of that name has the same purpose
 * but other measures: where turns are large, its numbers are others. */
#include "solver/items/body/body.h"
#include "solver/items/connector/force_law.h"
#include "solver/items/connector/rigid_relative.h"
#include "solver/items/joint/rows.h"
#include "solver/items/turned.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <stddef.h>

struct rigid_spring {
    struct mech_refs markers;
    double stiffness[36], damping[36], offset[6], rotation0[9], rotation1[9];
    bool active, intrinsic;
    struct mech_values law;
};

static const char *const locals[] = {"u0", "u1", "u2", "u3", "u4", "u5", "v0", "v1", "v2", "v3",
                                     "v4", "v5", "f0", "f1", "f2", "f3", "f4", "f5", "t",  NULL};

struct record {
    struct mech_springs springs;
    int32_t z; /* place of the angles after the last step */
    struct mech_measure measure;
    const struct mech_turned *turned; /* or NULL: coordinates do not count the turns */
    bool elastic;                     /* its energy is known */
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct rigid_spring *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct rigid_spring *c = description;

    mech_joint_rotations_check(c->rotation0, c->rotation1, path, d);
}

/* all but the law */
static void fill(const struct rigid_spring *c, struct record *r)
{
    *r = (struct record){
        .springs = {.n = 6}, .measure.halfway = c->intrinsic, .elastic = c->intrinsic && !c->law.n};
    memcpy(r->springs.K, c->stiffness, sizeof c->stiffness);
    memcpy(r->springs.D, c->damping, sizeof c->damping);
    memcpy(r->springs.offset, c->offset, sizeof c->offset);
    memcpy(r->measure.rotation[0], c->rotation0, sizeof c->rotation0);
    memcpy(r->measure.rotation[1], c->rotation1, sizeof c->rotation1);
    for (int i = 0; i < 36; i++) {
        r->elastic = r->elastic && c->stiffness[i] == c->stiffness[6 * (i % 6) + i / 6];
    }
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct rigid_spring *c = description;
    struct record *const r = at;

    fill(c, r);
    r->z = site->z;
    if (!c->active) {
        return 0;
    }
    MECH_TRY(mech_springs_law(&r->springs, &c->law, site, "springForceTorqueUserFunction", locals));
    return 1;
}

static void release(void *at)
{
    mech_springs_fini(&((struct record *)at)->springs);
}

static bool differenced(const void *at)
{
    return mech_springs_differenced(&((const struct record *)at)->springs);
}

/* Of frames halfway: whether both bodies turn about one axis e, and the frames differ by a turn
 * about it; then e, and frames [2] whose z it is. */
static bool straight(const struct mech_measure *measure, const struct mech_pose *const pose[2],
                     double e[3], double frames[2][9])
{
    double axis[3], A[2][9], off[3], Q[9], other[3] = {0.};

    if (!mech_turned_axis(pose, axis)) {
        return false;
    }
    for (int s = 0; s < 2; s++) {
        mech_m3_product(pose[s]->R, measure->rotation[s], A[s]);
    }
    mech_m3_mul_transposed(A[0], axis, e);
    mech_m3_mul_transposed(A[1], axis, off);
    mech_v3_add(off, -1., e, off);
    /* Q: two directions across e, then e */
    other[fabs(e[0]) < 0.6 ? 0 : 1] = 1.;
    mech_v3_cross(other, e, other);
    const double length = mech_v3_norm(other);
    for (int i = 0; i < 3; i++) {
        Q[3 * i] = other[i] / length;
    }
    const double x[3] = {Q[0], Q[3], Q[6]};
    double y[3];
    mech_v3_cross(e, x, y);
    for (int i = 0; i < 3; i++) {
        Q[3 * i + 1] = y[i];
        Q[3 * i + 2] = e[i];
    }
    for (int s = 0; s < 2; s++) {
        mech_m3_product(measure->rotation[s], Q, frames[s]);
    }
    return mech_v3_norm(off) < 1e-6; /* frames are given to 1e-6 */
}

static int settle(void *record, struct mech_settling *at)
{
    struct record *const r = record;
    const struct mech_measure *const measure = &r->measure;
    double frames[2][9];

    if (!measure->halfway) {
        return mech_turned_new(&mech_angles_tait_bryan, measure->rotation, at, &r->turned);
    }
    if (!straight(measure, at->reference, r->measure.axis, frames)) {
        mech_turned_tell(measure->rotation, at);
        return 0;
    }
    const double(*const about)[9] = (const double(*)[9])frames;
    MECH_TRY(mech_turned_new(&mech_angles_twist, about, at, &r->turned));
    r->measure.straight = r->turned;
    return 0;
}

static struct mech_relative relative_of(const struct record *r, const double *z,
                                        const struct mech_pose *const pose[2])
{
    const double *const e = r->measure.axis;
    struct mech_relative x;
    double last[3];

    if (r->turned) {
        mech_turned_last(r->turned, pose, last);
    }
    for (int i = 2; i >= 0 && r->measure.straight; i--) {
        last[i] = last[0] * e[i];
    }
    mech_relative_at(&r->measure, r->turned ? last : z ? z + r->z : NULL, pose, &x);
    return x;
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    const struct record *const r = record;
    const struct mech_relative x = relative_of(r, e->z, pose);
    double f[6];

    mech_springs_force(&r->springs, e, x.u, x.v, f);
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 6; k++) {
            W[i] += x.L[i][k] * f[k];
        }
    }
}

/* ∂(L f)/∂δ + L (f_u U + f_v V),  L f_v Vt */
static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct record *const r = record;
    const struct mech_relative x = relative_of(r, e->z, pose);
    double f[6], fu[36], fv[36], U[6][12], V[6][12], Vt[6][12];
    double by_motion[6][12] = {{0.}}, by_twist[6][12] = {{0.}};

    mech_springs_force(&r->springs, e, x.u, x.v, f);
    mech_springs_slope(&r->springs, e, x.u, x.v, fu, fv);
    mech_relative_slopes(&x, f, U, V, Vt, Wx);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 12; j++) {
                by_motion[i][j] += fu[6 * i + k] * U[k][j] + fv[6 * i + k] * V[k][j];
                by_twist[i][j] += fv[6 * i + k] * Vt[k][j];
            }
        }
    }
    for (int i = 0; i < 12; i++) {
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 12; j++) {
                Wx[i][j] += x.L[i][k] * by_motion[k][j];
                Wt[i][j] += x.L[i][k] * by_twist[k][j];
            }
        }
    }
}

static double energy(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2])
{
    const struct record *const r = record;

    return r->elastic ? mech_springs_energy(&r->springs, relative_of(r, e->z, pose).u) : NAN;
}

static void keep(void *record, const struct mech_pose *const pose[2], double *z)
{
    struct record there = *(const struct record *)record;

    there.z = 0;
    memcpy(z, relative_of(&there, z, pose).phi, 3 * sizeof *z);
}

static const char *beyond(const void *record, const double *z)
{
    const struct mech_measure *const measure = &((const struct record *)record)->measure;
    const double right = 2. * atan(1.);

    if (measure->halfway) {
        return !measure->straight && mech_v3_norm(z) > 3. * right
                   ? "its rotation vector is beyond three quarters of a "
                     "turn; near a whole turn its "
                     "torques across the axis grow without bounds"
                   : NULL;
    }
    return fabs(z[1]) > right
               ? "its Tait-Bryan angles are beyond a quarter turn about y, where they are not "
                 "unique; turn its frames so that large rotations are about x or z"
               : NULL;
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    struct record there;
    double f[6] = {0.}, W[12] = {0.};

    if (view->record) {
        there = *(const struct record *)view->record;
    } else {
        fill(description, &there);
    }
    if (!view->record && view->settled) {
        there.measure = ((const struct record *)view->settled)->measure;
        there.turned = ((const struct record *)view->settled)->turned;
    }
    const bool now = view->configuration == MECH_CURRENT && view->record;
    const struct mech_relative x = relative_of(&there, now ? view->at.z : NULL, view->pose);

    if (view->record) {
        mech_springs_force(&there.springs, &view->at, x.u, x.v, f);
    }
    mech_m3_mul(x.A, f, W);
    mech_m3_mul(x.A, f + 3, W + 3);
    switch (variable) {
    case MECH_OUTPUT_DISPLACEMENT_LOCAL:
        return mech_pair_give(x.u, 3, capacity, values, count);
    case MECH_OUTPUT_ROTATION:
        return mech_pair_give(x.u + 3, 3, capacity, values, count);
    case MECH_OUTPUT_VELOCITY_LOCAL:
        return mech_pair_give(x.v, 3, capacity, values, count);
    case MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL:
        return mech_pair_give(x.v + 3, 3, capacity, values, count);
    case MECH_OUTPUT_FORCE:
        return mech_pair_give(W, 3, capacity, values, count);
    case MECH_OUTPUT_TORQUE:
        return mech_pair_give(W + 3, 3, capacity, values, count);
    case MECH_OUTPUT_FORCE_LOCAL:
        return mech_pair_give(f, 3, capacity, values, count);
    case MECH_OUTPUT_TORQUE_LOCAL:
        return mech_pair_give(f + 3, 3, capacity, values, count);
    default:
        return MECH_UNSUPPORTED;
    }
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(rigid_spring, active),
    {.name = "damping",
     .kind = MECH_REALS,
     .offset = offsetof(struct rigid_spring, damping),
     .flags = MECH_TUNABLE,
     .count = 36,
     .columns = 6,
     .unit = "N s/m, N m s/rad",
     MECH_ANY_REAL,
     .doc = "damping matrix of relative velocities, then angular velocities, in the joint's frame"},
    {.name = "intrinsicFormulation",
     .kind = MECH_BOOL,
     .offset = offsetof(struct rigid_spring, intrinsic),
     .doc =
         "true: forces in the frame and at the point halfway between the markers, rotations as a "
         "rotation vector; false: in the frame of the first marker, rotations as Tait-Bryan angles "
         "xyz, which are unique within a quarter turn about y. The rotation vector counts turns "
         "only where the frames differ, to 1e-6, by a rotation about the common axis of bodies in "
         "the plane, rotors or the ground (forces along the halfway frame then repeat after two "
         "turns); elsewhere it is at most a whole turn long, and the shortest one at the start"},
    MECH_PAIR_FIELD_MARKERS(rigid_spring, markers),
    {.name = "offset",
     .kind = MECH_REALS,
     .offset = offsetof(struct rigid_spring, offset),
     .flags = MECH_TUNABLE,
     .count = 6,
     .unit = "m, rad",
     MECH_ANY_REAL,
     .doc = "displacements and angles at which the springs have no force"},
    MECH_FIELD_ROTATION(rigid_spring, rotation0, "rotationMarker0", "first"),
    MECH_FIELD_ROTATION(rigid_spring, rotation1, "rotationMarker1", "second"),
    {.name = "springForceTorqueUserFunction",
     .kind = MECH_VALUES,
     .offset = offsetof(struct rigid_spring, law),
     .count = 6,
     .unit = "N, N m",
     MECH_ANY_REAL,
     .locals = locals,
     .doc = "three forces and three torques instead of the linear ones, each a number or an "
            "expression in u0 ... u5 = displacement and rotation, v0 ... v5 = their rates, f0 ... "
            "f5 = the linear forces and torques, t"},
    {.name = "stiffness",
     .kind = MECH_REALS,
     .offset = offsetof(struct rigid_spring, stiffness),
     .flags = MECH_TUNABLE,
     .count = 36,
     .columns = 6,
     .unit = "N/m, N m/rad",
     MECH_ANY_REAL,
     .doc = "stiffness matrix of displacements, then rotations, in the joint's frame"},
};

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct record),
    .record = record,
    .release = release,
    .differenced = differenced,
    .wrench = wrench,
    .slope = slope,
    .energy = energy,
    .data = 3,
    .keep = keep,
    .settle = settle,
    .late = true,
    .beyond = beyond,
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = 1u << MECH_OUTPUT_DISPLACEMENT_LOCAL | 1u << MECH_OUTPUT_ROTATION |
               1u << MECH_OUTPUT_VELOCITY_LOCAL | 1u << MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL |
               1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_TORQUE | 1u << MECH_OUTPUT_FORCE_LOCAL |
               1u << MECH_OUTPUT_TORQUE_LOCAL,
    .output = output,
};

const struct mech_item_type mech_item_connector_rigid_body_spring_damper = {
    .name = "RigidBodySpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "RigidBodySpringDamper",
              .doc = "Springs and dampers in six directions between two frames. Displacements, "
                     "rotations and velocities are those of the second marker less those of the "
                     "first; a positive force pulls. Angles count turns. If a step ends beyond a "
                     "quarter turn about y or, with intrinsicFormulation and where turns are not "
                     "counted, beyond three quarters of a turn, its report has a warning.",
              .size = sizeof(struct rigid_spring),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
