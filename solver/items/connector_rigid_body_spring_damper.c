/* RigidBodySpringDamper: springs and dampers in all six directions between two joint frames.
 *
 *     A_s = R_s rotationMarker_s,  d = p₁ − p₀
 *     u = (Aᵀ d, φ),  v = (Aᵀ w, Aᵀ (ω₁ − ω₀)),  (F, τ) = stiffness (u − offset) + damping v
 *
 * or six expressions in u and v (force_law.h); F and τ are given in A, F along d > 0 pulls.
 *
 * As Exudyn's ObjectConnectorRigidBodySpringDamper, unless intrinsicFormulation: A = A₀, φ are the
 * Tait–Bryan angles xyz of A₀ᵀ A₁, w = v₁ − v₀; A F and A τ act on the first marker, −A F and −A τ
 * on the second. The angles are unique while the second is within ±90° (there their rates grow
 * beyond bounds) and the others within ±180° (there they jump): large turns belong to x or z. The
 * forces act at both points, so that their couple d × F is not balanced where F is not along d.
 *
 * intrinsicFormulation: A = A₀ exp(φ/2), halfway between the frames, φ the rotation vector of
 * A₀ᵀ A₁, well-defined below half a turn about any axis; w = v₁ − v₀ + d × (ω₀ + ω₁)/2; the forces
 * act at (p₀ + p₁)/2, so that they are in balance, and the order of the markers does not matter.
 *
 * Exact tangents, with δψ = δθ₁ − δθ₀, N = A₀ ½ J(φ/2) J⁻¹(φ) A₀ᵀ, J the left Jacobian of so3.h:
 *
 *     A follows δθ = δθ₀ + N δψ,  δφ = B A₀ᵀ δψ,   B = J⁻¹(φ); of Tait–Bryan angles N = 0 and
 *     B = [1, s₁ s₀/c₁, −s₁ c₀/c₁; 0, c₀, s₀; 0, −s₀/c₁, c₀/c₁] */
#include "solver/items/body.h"
#include "solver/items/force_law.h"
#include "solver/items/joint_rows.h"
#include "solver/linalg/so3.h"

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
    double rotation[2][9];
    bool intrinsic;
};

/* Where the frames are and how they move. */
struct relative {
    double A[9];       /* in which forces are given */
    double N[9], B[9]; /* of the tangents; B A₀ᵀ */
    double d[3], w[3], spin[3], mean[3];
    double u[6], v[6];
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
    *r = (struct record){.springs = {.n = 6}, .intrinsic = c->intrinsic};
    memcpy(r->springs.K, c->stiffness, sizeof c->stiffness);
    memcpy(r->springs.D, c->damping, sizeof c->damping);
    memcpy(r->springs.offset, c->offset, sizeof c->offset);
    memcpy(r->rotation[0], c->rotation0, sizeof c->rotation0);
    memcpy(r->rotation[1], c->rotation1, sizeof c->rotation1);
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct rigid_spring *c = description;
    struct record *const r = at;

    fill(c, r);
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
    return ((const struct record *)at)->springs.vars != NULL;
}

/* --- kinematics ------------------------------------------------------------------------------- */

/* out = A Bᵀ */
static void times_transposed(const double A[9], const double B[9], double out[9])
{
    double T[9];

    mech_m3_transpose(B, T);
    mech_m3_product(A, T, out);
}

/* B of Tait–Bryan angles */
static void angle_rates(const double phi[3], double B[9])
{
    const double s0 = sin(phi[0]), c0 = cos(phi[0]), s1 = sin(phi[1]), c1 = cos(phi[1]);
    const double rows[9] = {1., s1 * s0 / c1, -s1 * c0 / c1, 0., c0, s0, 0., -s0 / c1, c0 / c1};

    memcpy(B, rows, sizeof rows);
}

static struct relative relative_of(const struct record *r, const struct mech_pose *const pose[2])
{
    struct relative x = {.N = {0.}};
    double A[2][9], turn[9];

    for (int s = 0; s < 2; s++) {
        mech_m3_product(pose[s]->R, r->rotation[s], A[s]);
    }
    mech_m3_transpose(A[0], turn);
    mech_m3_product(turn, A[1], turn);
    memcpy(x.A, A[0], sizeof x.A);
    if (r->intrinsic) {
        double half[3], J[9], E[9];

        mech_so3_log(turn, x.u + 3);
        for (int i = 0; i < 3; i++) {
            half[i] = 0.5 * x.u[3 + i];
            x.mean[i] = 0.5 * (pose[0]->omega[i] + pose[1]->omega[i]);
        }
        mech_so3_exp(half, E);
        mech_m3_product(A[0], E, x.A);
        mech_so3_left_inverse(x.u + 3, x.B);
        mech_so3_left(half, J);
        mech_m3_product(J, x.B, J);
        mech_m3_product(A[0], J, J);
        times_transposed(J, A[0], x.N);
        for (int i = 0; i < 9; i++) {
            x.N[i] *= 0.5;
        }
    } else {
        mech_so3_angles(turn, x.u + 3);
        angle_rates(x.u + 3, x.B);
    }
    times_transposed(x.B, A[0], x.B);

    mech_v3_add(pose[1]->p, -1., pose[0]->p, x.d);
    mech_v3_cross(x.d, x.mean, x.w);
    mech_v3_add(x.w, 1., pose[1]->v, x.w);
    mech_v3_add(x.w, -1., pose[0]->v, x.w);
    mech_v3_add(pose[1]->omega, -1., pose[0]->omega, x.spin);
    mech_m3_mul_transposed(x.A, x.d, x.u);
    mech_m3_mul_transposed(x.A, x.w, x.v);
    mech_m3_mul_transposed(x.A, x.spin, x.v + 3);
    return x;
}

/* --- forces ----------------------------------------------------------------------------------- */

/* f [6] in A; F [6] in space */
static void force_of(const struct record *r, double t, const struct relative *x, double f[6],
                     double F[6])
{
    mech_springs_force(&r->springs, t, x->u, x->v, f);
    mech_m3_mul(x->A, f, F);
    mech_m3_mul(x->A, f + 3, F + 3);
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    const struct record *const r = record;
    const struct relative x = relative_of(r, pose);
    double f[6], F[6], couple[3] = {0., 0., 0.};

    force_of(r, e->t, &x, f, F);
    if (r->intrinsic) {
        mech_v3_cross(x.d, F, couple);
    }
    for (int i = 0; i < 3; i++) {
        W[i] += F[i];
        W[6 + i] -= F[i];
        W[3 + i] += F[3 + i] + 0.5 * couple[i];
        W[9 + i] -= F[3 + i] - 0.5 * couple[i];
    }
}

/* out += s [x]× in */
static void add_cross(double s, const double x[3], double in[3][12], double out[3][12])
{
    static const int next[3] = {1, 2, 0};

    for (int i = 0; i < 3; i++) {
        const int k = next[i], l = next[k];

        for (int j = 0; j < 12; j++) {
            out[i][j] += s * (x[k] * in[l][j] - x[l] * in[k][j]);
        }
    }
}

/* out += M in, M by rows */
static void add_product(const double M[9], double in[3][12], double out[3][12])
{
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 12; j++) {
                out[i][j] += M[3 * i + k] * in[k][j];
            }
        }
    }
}

/* How u and v follow motions, v twists; and how A turns with motions. */
struct variation {
    double u[6][12], v[6][12], vt[6][12], turn[3][12], d[3][12];
};

static void vary(const struct record *r, const struct relative *x, struct variation *out)
{
    double relative[3][12] = {{0.}}, mean[3][12] = {{0.}}, part[3][12] = {{0.}};
    double At[9];

    *out = (struct variation){.turn = {{0.}}};
    mech_m3_transpose(x->A, At);
    for (int i = 0; i < 3; i++) {
        out->d[i][i] = -1.;
        out->d[i][6 + i] = 1.;
        out->turn[i][3 + i] = 1.;
        relative[i][3 + i] = -1.;
        relative[i][9 + i] = 1.;
        mean[i][3 + i] = mean[i][9 + i] = r->intrinsic ? 0.5 : 0.;
    }
    add_product(x->N, relative, out->turn);

    /* Aᵀ (δd + d × δθ), B A₀ᵀ δψ */
    memcpy(part, out->d, sizeof part);
    add_cross(1., x->d, out->turn, part);
    add_product(At, part, out->u);
    add_product(x->B, relative, out->u + 3);

    /* Aᵀ (δd × mean + w × δθ), Aᵀ (spin × δθ) */
    memset(part, 0, sizeof part);
    add_cross(-1., x->mean, out->d, part);
    add_cross(1., x->w, out->turn, part);
    add_product(At, part, out->v);
    memset(part, 0, sizeof part);
    add_cross(1., x->spin, out->turn, part);
    add_product(At, part, out->v + 3);

    /* by twists: Aᵀ (Δv + d × mean ω), Aᵀ Δω */
    memcpy(part, out->d, sizeof part);
    add_cross(1., x->d, mean, part);
    add_product(At, part, out->vt);
    add_product(At, relative, out->vt + 3);
}

/* Slopes of the wrench from those of F and τ in space, dF [6][12]. */
static void spread(const struct record *r, const struct relative *x, const double F[6],
                   double d[3][12], double dF[6][12], double slope[12][12])
{
    double couple[3][12] = {{0.}};

    if (r->intrinsic) {
        add_cross(-1., F, d, couple);
        add_cross(1., x->d, dF, couple);
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 12; j++) {
            slope[i][j] += dF[i][j];
            slope[6 + i][j] -= dF[i][j];
            slope[3 + i][j] += dF[3 + i][j] + 0.5 * couple[i][j];
            slope[9 + i][j] -= dF[3 + i][j] - 0.5 * couple[i][j];
        }
    }
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct record *const r = record;
    const struct relative x = relative_of(r, pose);
    double f[6], F[6], fu[36], fv[36], none[3][12] = {{0.}};
    double local[2][6][12] = {{{0.}}}, global[2][6][12] = {{{0.}}};
    struct variation by;

    force_of(r, e->t, &x, f, F);
    mech_springs_slope(&r->springs, e->t, x.u, x.v, fu, fv);
    vary(r, &x, &by);
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            for (int j = 0; j < 12; j++) {
                local[0][i][j] += fu[6 * i + k] * by.u[k][j] + fv[6 * i + k] * by.v[k][j];
                local[1][i][j] += fv[6 * i + k] * by.vt[k][j];
            }
        }
    }
    /* δ(A f) = A δf + δθ × A f */
    for (int part = 0; part < 6; part += 3) {
        add_product(x.A, local[0] + part, global[0] + part);
        add_product(x.A, local[1] + part, global[1] + part);
        add_cross(-1., F + part, by.turn, global[0] + part);
    }
    spread(r, &x, F, by.d, global[0], Wx);
    spread(r, &x, F, none, global[1], Wt);
}

/* --- outputs ---------------------------------------------------------------------------------- */

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    struct record there;
    double f[6] = {0.}, F[6] = {0.};

    if (view->record) {
        there = *(const struct record *)view->record;
    } else {
        fill(description, &there);
    }
    const struct relative x = relative_of(&there, view->pose);

    if (view->record) {
        force_of(&there, view->at.t, &x, f, F);
    }
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
        return mech_pair_give(F, 3, capacity, values, count);
    case MECH_OUTPUT_TORQUE:
        return mech_pair_give(F + 3, 3, capacity, values, count);
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
     .doc = "forces in the frame and at the point halfway between the markers, by the rotation "
            "vector; otherwise in the frame of the first marker, by Tait-Bryan angles xyz"},
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
              .doc = "Springs and dampers in six directions between two frames.",
              .size = sizeof(struct rigid_spring),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
