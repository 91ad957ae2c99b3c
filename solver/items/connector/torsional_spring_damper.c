/* TorsionalSpringDamper: spring, damper and actuator about the z axes of two joint frames.
 *
 *     θ = atan2(y₀·x₁ − x₀·y₁, x₀·x₁ + y₀·y₁),   θ̇ = b · (ω₁ − ω₀),   b = (z₀ + z₁)/(1 + z₀·z₁)
 *     τ = k (θ − offset) + d (θ̇ − velocityOffset) + torque   or   F(u = θ, v = θ̇, t, …)
 *
 * x, y, z are the axes of the frames, θ the twist of the relative rotation (its quaternion q gives
 * 2 atan2(q₃, q₀)), counted over turns. Between bodies in the plane, rotors and the ground the
 * turns are those of their coordinates (turned.h). Elsewhere the last θ is kept in z of the state,
 * and the next one is the nearest to it, right while a step turns by less than π. τ > 0 turns the
 * first marker forward and the second back, τ b and −τ b. On a hinge, where z₀ = z₁ = b, this is
 * Exudyn's ObjectConnectorTorsionalSpringDamper with its data node; where the axes part, Exudyn
 * takes the last Tait–Bryan angle and z₀ instead, whose torque stores no energy exactly.
 *
 * Of b:  δb = (δz₀ + δz₁)/w − b (δz₀·z₁ + z₀·δz₁)/w,  w = 1 + z₀·z₁,  δz = δθ × z */
#include "solver/items/body/body.h"
#include "solver/items/connector/force_law.h"
#include "solver/items/joint/rows.h"
#include "solver/items/turned.h"
#include "solver/linalg/so3.h"

#include <math.h>
#include <stddef.h>

struct torsional_spring_damper {
    struct mech_spring_item spring;
    double rotation0[9], rotation1[9]; /* of the joint in the frames of the markers, by rows */
};

static const char *const locals[] = {"u", "v", "t", "k", "d", "torque", "offset", "velocityOffset",
                                     NULL};

struct record {
    struct mech_spring spring;
    int32_t z; /* place of θ after the last step */
    double rotation[2][9];
    const struct mech_turned *turned; /* or NULL: coordinates do not count the turns */
};

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct torsional_spring_damper *c = description;

    mech_joint_rotations_check(c->rotation0, c->rotation1, path, d);
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct torsional_spring_damper *c = description;
    struct record *const r = at;

    r->z = site->z;
    r->turned = NULL;
    memcpy(r->rotation[0], c->rotation0, sizeof c->rotation0);
    memcpy(r->rotation[1], c->rotation1, sizeof c->rotation1);
    return mech_spring_init(&r->spring, &c->spring, site, "springTorqueUserFunction", locals);
}

/* The joint's frames in space: axis k of frame s is axes[s][k]. */
static void axes_of(const struct record *r, const struct mech_pose *const pose[2],
                    double axes[2][3][3])
{
    for (int s = 0; s < 2; s++) {
        double R[9];

        mech_m3_product(pose[s]->R, r->rotation[s], R);
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++) {
                axes[s][k][i] = R[3 * i + k];
            }
        }
    }
}

static int settle(void *record, struct mech_settling *at)
{
    const struct record *const r = record;

    return mech_turned_new(&mech_angles_twist, r->rotation, at, &((struct record *)record)->turned);
}

/* θ by the coordinates, or else nearest to `kept`; axes that point against each other have none:
 * not a number */
static double angle_of(const struct record *r, const struct mech_pose *const pose[2],
                       double axes[2][3][3], double kept)
{
    double last[3] = {kept};
    const double s = mech_v3_dot(axes[0][1], axes[1][0]) - mech_v3_dot(axes[0][0], axes[1][1]);
    const double c = mech_v3_dot(axes[0][0], axes[1][0]) + mech_v3_dot(axes[0][1], axes[1][1]);

    if (r->turned) {
        mech_turned_last(r->turned, pose, last);
    }
    return s == 0. && c == 0. ? NAN : mech_so3_near(atan2(s, c), last[0]);
}

/* θ and G at the poses; with H where `turned` */
static struct mech_stretch stretch_of(const struct record *r, const double *kept,
                                      const struct mech_pose *const pose[2], bool turned)
{
    struct mech_stretch x = {.u = 0.};
    double axes[2][3][3], b[3];

    axes_of(r, pose, axes);
    const double *const z[2] = {axes[0][2], axes[1][2]};
    const double w = 1. + mech_v3_dot(z[0], z[1]);

    x.u = angle_of(r, pose, axes, kept ? kept[r->z] : 0.);
    for (int i = 0; i < 3; i++) {
        b[i] = (z[0][i] + z[1][i]) / w;
        x.G[3 + i] = -b[i];
        x.G[9 + i] = b[i];
    }
    /* ∂b/∂θ of frame s: −[z_s]×/w − b (z_s × z_other)ᵀ/w */
    for (int s = 0; s < 2 && turned; s++) {
        static const int next[3] = {1, 2, 0};
        double B[3][3], tilt[3];

        mech_v3_cross(z[s], z[1 - s], tilt);
        for (int i = 0; i < 3; i++) {
            const int k = next[i], l = next[k];

            B[i][i] = -b[i] * tilt[i] / w;
            B[i][k] = (z[s][l] - b[i] * tilt[k]) / w;
            B[i][l] = (-z[s][k] - b[i] * tilt[l]) / w;
        }
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) {
                x.H[3 + i][6 * s + 3 + k] = -B[i][k];
                x.H[9 + i][6 * s + 3 + k] = B[i][k];
            }
        }
    }
    return x;
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    const struct record *const r = record;
    const struct mech_stretch x = stretch_of(r, e->z, pose, false);

    mech_spring_wrench(&r->spring, e, &x, pose, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct record *const r = record;
    const struct mech_stretch x = stretch_of(r, e->z, pose, true);

    mech_spring_slope(&r->spring, e, &x, pose, Wx, Wt);
}

static double energy(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2])
{
    const struct record *const r = record;

    return mech_spring_energy(&r->spring, stretch_of(r, e->z, pose, false).u);
}

static void keep(void *record, const struct mech_pose *const pose[2], double *z)
{
    double axes[2][3][3];

    axes_of(record, pose, axes);
    const double angle = angle_of(record, pose, axes, z[0]);
    z[0] = isnan(angle) ? z[0] : angle;
}

/* Turns that are kept are counted in the current configuration only, elsewhere θ is in [−π, π]. */
static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct torsional_spring_damper *c = description;
    const bool now = view->configuration == MECH_CURRENT && view->record;
    struct record r = {.z = 0};
    double value;

    if (view->record) {
        r = *(const struct record *)view->record;
    } else {
        memcpy(r.rotation[0], c->rotation0, sizeof c->rotation0);
        memcpy(r.rotation[1], c->rotation1, sizeof c->rotation1);
        r.turned = view->settled ? ((const struct record *)view->settled)->turned : NULL;
    }
    const struct mech_stretch x = stretch_of(&r, now ? view->at.z : NULL, view->pose, false);

    switch (variable) {
    case MECH_OUTPUT_ROTATION:
        value = mech_spring_output(&r.spring, &x, view, MECH_SPRING_STRETCH);
        break;
    case MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL:
        value = mech_spring_output(&r.spring, &x, view, MECH_SPRING_RATE);
        break;
    case MECH_OUTPUT_TORQUE_LOCAL:
        value = mech_spring_output(&r.spring, &x, view, MECH_SPRING_FORCE);
        break;
    default:
        return MECH_UNSUPPORTED;
    }
    return mech_pair_give(&value, 1, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(torsional_spring_damper, spring.active),
    MECH_SPRING_FIELD(torsional_spring_damper, "damping", damping, "N m s/rad",
                      "damping d of the rate of rotation"),
    MECH_PAIR_FIELD_MARKERS(torsional_spring_damper, spring.markers),
    MECH_SPRING_FIELD(torsional_spring_damper, "offset", offset, "rad",
                      "rotation at which the spring has no torque"),
    MECH_FIELD_ROTATION(torsional_spring_damper, rotation0, "rotationMarker0", "first"),
    MECH_FIELD_ROTATION(torsional_spring_damper, rotation1, "rotationMarker1", "second"),
    MECH_SPRING_FIELD_LAW(torsional_spring_damper, "springTorqueUserFunction", locals,
                          "torque law in u = rotation, v = its rate, t, k, d, torque, offset, "
                          "velocityOffset instead of the linear one"),
    MECH_SPRING_FIELD(torsional_spring_damper, "stiffness", stiffness, "N m/rad",
                      "stiffness k of the spring"),
    MECH_SPRING_FIELD(torsional_spring_damper, "torque", force, "N m",
                      "torque of an actuator; a positive one turns the second marker backward"),
    MECH_SPRING_FIELD(torsional_spring_damper, "velocityOffset", rate, "rad/s",
                      "rate of rotation at which the damper has no torque"),
};

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct record),
    .record = record,
    .release = mech_spring_release,
    .wrench = wrench,
    .slope = slope,
    .energy = energy,
    .data = 1,
    .keep = keep,
    .settle = settle,
};

static const struct mech_object_ops ops = {
    .markers = mech_spring_markers,
    .marker_kinds = 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = 1u << MECH_OUTPUT_ROTATION | 1u << MECH_OUTPUT_ANGULAR_VELOCITY_LOCAL |
               1u << MECH_OUTPUT_TORQUE_LOCAL,
    .output = output,
};

const struct mech_item_type mech_item_connector_torsional_spring_damper = {
    .name = "TorsionalSpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "TorsionalSpringDamper",
              .doc = "A spring and damper about the z axes of two frames, counted over turns: "
                     "between bodies in the plane, rotors and the ground as their coordinates do, "
                     "otherwise from the smallest angle at the start. "
                     "Angle and rate are those of the second marker less those of the "
                     "first; a positive torque turns the first forward.",
              .size = sizeof(struct torsional_spring_damper),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
