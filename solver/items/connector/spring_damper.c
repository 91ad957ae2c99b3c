/* SpringDamper: spring, damper and actuator along the line between two points.
 *
 *     L = |p₁ − p₀|,  n = (p₁ − p₀)/L,  u = L − L₀,  v = L̇ − velocityOffset
 *     f = k u + d v + force   or   f = F(u, v, t, k, d, force)
 *     force f n on the first point, −f n on the second: f > 0 pulls (Exudyn's SpringDamper)
 *
 *     ∂(f n)/∂(p₁ − p₀) = n (f_u n + f_v P Δv/L)ᵀ + f P/L,  P = 1 − n nᵀ
 *     ∂(f n)/∂Δv = f_v n nᵀ
 *
 * At L = 0 there is no direction n, and no force unless L₀, velocityOffset and force are 0 and
 * there is no law: then k L n = k (p₁ − p₀) is smooth, and the damper's force is the limit d Δv of
 * a motion through that point. */
#include "solver/items/connector/force_law.h"
#include "solver/items/connector/pair.h"

#include <math.h>
#include <stddef.h>

struct spring_damper {
    struct mech_spring_item spring; /* its offset is not used */
    double length;
};

static const char *const locals[] = {"u", "v", "t", "k", "d", "force", NULL};

struct record {
    struct mech_spring spring;
    double length, rate; /* at which u and v are 0 */
};

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct spring_damper *c = description;
    struct record *const r = at;
    const int active =
        mech_spring_init(&r->spring, &c->spring, site, "springForceUserFunction", locals);

    r->length = c->length;
    r->rate = c->spring.rate;
    r->spring.rate = 0.;
    return active;
}

/* The line; at L = 0 along Δv, where the force does not depend on the direction. */
static struct mech_line line_of(const struct record *r, const struct mech_pose *const pose[2])
{
    const struct mech_spring *const s = &r->spring;
    struct mech_line l = mech_line_of(pose);

    if (l.L == 0. && r->length == 0. && r->rate == 0. && s->force == 0. && !s->law.value) {
        const double speed = mech_v3_norm(l.u);

        for (int i = 0; i < 3; i++) {
            l.n[i] = speed > 0. ? l.u[i] / speed : 0.;
        }
        l.rate = speed;
    }
    return l;
}

static double tension(const struct record *r, const struct mech_eval *e, const struct mech_line *l,
                      double *slope)
{
    return mech_spring_force(&r->spring, e, l->L - r->length, l->rate - r->rate, slope);
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    const struct mech_line l = line_of(record, pose);
    const double f = tension(record, e, &l, NULL);
    double F[3];

    for (int i = 0; i < 3; i++) {
        F[i] = f * l.n[i];
    }
    mech_opposed_force(F, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct mech_line l = line_of(record, pose);
    double by[2];
    const double f = tension(record, e, &l, by);

    if (l.L > 0. || isnan(l.rate)) {
        mech_line_slope(&l, f, by, Wx, Wt);
        return;
    }
    mech_pair_slope((const double[9]){[0] = by[0], [4] = by[0], [8] = by[0]}, Wx);
    mech_pair_slope((const double[9]){[0] = by[1], [4] = by[1], [8] = by[1]}, Wt);
}

static double energy(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2])
{
    const struct record *const r = record;

    (void)e;
    return mech_spring_energy(&r->spring, mech_line_of(pose).L - r->length);
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct mech_line l =
        view->record ? line_of(view->record, view->pose) : mech_line_of(view->pose);
    double F[3] = {0., 0., 0.}, f = 0.;

    (void)description;
    if (variable != MECH_OUTPUT_FORCE && variable != MECH_OUTPUT_FORCE_LOCAL) {
        return mech_line_output(view, variable, capacity, values, count);
    }
    if (view->record) {
        f = tension(view->record, &view->at, &l, NULL);
        mech_v3_add(F, f, l.n, F);
    }
    return variable == MECH_OUTPUT_FORCE ? mech_pair_give(F, 3, capacity, values, count)
                                         : mech_pair_give(&f, 1, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(spring_damper, spring.active),
    MECH_SPRING_FIELD(spring_damper, "damping", damping, "N s/m", "damping of the rate of length"),
    MECH_SPRING_FIELD(spring_damper, "force", force, "N",
                      "force of an actuator; a positive one pulls"),
    MECH_PAIR_FIELD_MARKERS(spring_damper, spring.markers),
    {.name = "referenceLength",
     .kind = MECH_REAL,
     .offset = offsetof(struct spring_damper, length),
     .flags = MECH_TUNABLE,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "length at which the spring has no force"},
    MECH_SPRING_FIELD_LAW(spring_damper, "springForceUserFunction", locals,
                          "force law in u = L - referenceLength, v = its rate - velocityOffset, t, "
                          "k, d, force instead of the linear one"),
    MECH_SPRING_FIELD(spring_damper, "stiffness", stiffness, "N/m", "stiffness of the spring"),
    MECH_SPRING_FIELD(spring_damper, "velocityOffset", rate, "m/s",
                      "rate of length at which the damper has no force"),
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
    .marker_kinds = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_LINE_OUTPUTS | 1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_FORCE_LOCAL,
    .output = output,
};

const struct mech_item_type mech_item_connector_spring_damper = {
    .name = "SpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "SpringDamper",
              .doc =
                  "A spring and damper along the line between two points, which may coincide when "
                  "referenceLength, velocityOffset and force are 0 and there is no law. "
                  "Its line is the point of the second marker less that of the first; a "
                  "positive force pulls.",
              .size = sizeof(struct spring_damper),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
