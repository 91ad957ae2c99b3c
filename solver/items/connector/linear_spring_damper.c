/* LinearSpringDamper: spring, damper and actuator along an axis that turns with the first marker.
 *
 *     x = a · (p₁ − p₀),  a = R₀ axisMarker0 / |axisMarker0|
 *     f = k (x − offset) + d (ẋ − velocityOffset) + force   or   F(u = x, v = ẋ, t, …)
 *
 * f > 0 pulls: f a on the first point with the torque f (p₁ − p₀) × a about it, −f a on the second,
 * so that forces and moments balance and the spring's energy is exact. In a prismatic joint, for
 * which Exudyn's ObjectConnectorLinearSpringDamper is meant, p₁ − p₀ lies along a, and this is the
 * same as there; elsewhere Exudyn leaves the torque out. */
#include "solver/items/connector/force_law.h"
#include "solver/items/joint/rows.h"

#include <stddef.h>
#include <stdio.h>

struct linear_spring_damper {
    struct mech_spring_item spring;
    double axis[3];
};

static const char *const locals[] = {"u", "v", "t", "k", "d", "force", "offset", "velocityOffset",
                                     NULL};

struct record {
    struct mech_spring spring;
    struct mech_joint_record along; /* one row: what a joint across the axis would hold */
};

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct linear_spring_damper *c = description;

    if (!(mech_v3_norm(c->axis) > 0.)) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/axisMarker0", path);
        mech_diag_add(d, place, "needs a direction, not zeros");
    }
}

static struct mech_joint_record along_of(const struct linear_spring_damper *c)
{
    struct mech_joint_record along = {.n = 1};

    mech_v3_add(along.row[0].a, 1. / mech_v3_norm(c->axis), c->axis, along.row[0].a);
    return along;
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct linear_spring_damper *c = description;
    struct record *const r = at;

    r->along = along_of(c);
    return mech_spring_init(&r->spring, &c->spring, site, "springForceUserFunction", locals);
}

/* u and G */
static struct mech_stretch stretch_of(struct mech_joint_record *along,
                                      const struct mech_pose *const pose[2])
{
    struct mech_stretch x = {.u = 0.};
    double G[1][12] = {{0.}};

    mech_joint_rows_residual(along, 0., pose, &x.u);
    mech_joint_rows_jacobian(along, pose, G);
    memcpy(x.G, G[0], sizeof x.G);
    return x;
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    struct record *const r = record;
    const struct mech_stretch x = stretch_of(&r->along, pose);

    mech_spring_wrench(&r->spring, e, &x, pose, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    struct record *const r = record;
    struct mech_stretch x = stretch_of(&r->along, pose);
    const double one = 1.;

    mech_joint_rows_stiffness(&r->along, pose, &one, x.H);
    mech_spring_slope(&r->spring, e, &x, pose, Wx, Wt);
}

static double energy(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2])
{
    struct record *const r = record;

    (void)e;
    return mech_spring_energy(&r->spring, stretch_of(&r->along, pose).u);
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct record *const r = view->record;
    struct mech_joint_record along = along_of(description);
    const struct mech_stretch x = stretch_of(&along, view->pose);
    double value;

    switch (variable) {
    case MECH_OUTPUT_DISPLACEMENT_LOCAL:
        value = mech_spring_output(NULL, &x, view, MECH_SPRING_STRETCH);
        break;
    case MECH_OUTPUT_VELOCITY_LOCAL:
        value = mech_spring_output(NULL, &x, view, MECH_SPRING_RATE);
        break;
    case MECH_OUTPUT_FORCE_LOCAL:
        value = mech_spring_output(r ? &r->spring : NULL, &x, view, MECH_SPRING_FORCE);
        break;
    default:
        return MECH_UNSUPPORTED;
    }
    return mech_pair_give(&value, 1, capacity, values, count);
}

static const double along_x[3] = {1., 0., 0.};

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(linear_spring_damper, spring.active),
    {.name = "axisMarker0",
     .kind = MECH_REALS,
     .offset = offsetof(struct linear_spring_damper, axis),
     .count = 3,
     .unit = "",
     .presets = along_x,
     MECH_ANY_REAL,
     .doc = "axis in the frame of the first marker; its length does not matter"},
    MECH_SPRING_FIELD(linear_spring_damper, "damping", damping, "N s/m",
                      "damping d of the rate of displacement"),
    MECH_SPRING_FIELD(linear_spring_damper, "force", force, "N",
                      "force of an actuator; a positive one pulls"),
    MECH_PAIR_FIELD_MARKERS(linear_spring_damper, spring.markers),
    MECH_SPRING_FIELD(linear_spring_damper, "offset", offset, "m",
                      "displacement along the axis at which the spring has no force"),
    MECH_SPRING_FIELD_LAW(linear_spring_damper, "springForceUserFunction", locals,
                          "force law in u = displacement along the axis, v = its rate, t, k, d, "
                          "force, offset, velocityOffset instead of the linear one"),
    MECH_SPRING_FIELD(linear_spring_damper, "stiffness", stiffness, "N/m",
                      "stiffness k of the spring"),
    MECH_SPRING_FIELD(linear_spring_damper, "velocityOffset", rate, "m/s",
                      "rate of displacement at which the damper has no force"),
};

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct record),
    .record = record,
    .release = mech_spring_release,
    .wrench = wrench,
    .slope = slope,
    .energy = energy,
};

static const struct mech_object_ops ops = {
    .markers = mech_spring_markers,
    .marker_kinds = 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = 1u << MECH_OUTPUT_DISPLACEMENT_LOCAL | 1u << MECH_OUTPUT_VELOCITY_LOCAL |
               1u << MECH_OUTPUT_FORCE_LOCAL,
    .output = output,
};

const struct mech_item_type mech_item_connector_linear_spring_damper = {
    .name = "LinearSpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "LinearSpringDamper",
              .doc = "A spring and damper along an axis of the first marker. "
                     "Displacement and velocity are those of the second marker less "
                     "those of the first, along the axis; a positive force pulls.",
              .size = sizeof(struct linear_spring_damper),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
