/* SpringDamper: spring, damper and actuator along the line between two points.
 *
 *     L = |p₁ − p₀|,  n = (p₁ − p₀)/L,  u = L − L₀,  v = L̇ − velocityOffset
 *     f = k u + d v + force   or   f = F(u, v, t, k, d, force)
 *     force f n on the first point, −f n on the second: f > 0 pulls (Exudyn's SpringDamper)
 *
 *     ∂(f n)/∂(p₁ − p₀) = n (f_u n + f_v P Δv/L)ᵀ + f P/L,  P = 1 − n nᵀ
 *     ∂(f n)/∂Δv = f_v n nᵀ */
#include "solver/items/force_law.h"
#include "solver/items/pair.h"

#include <stddef.h>

struct spring_damper {
    struct mech_refs markers;
    double stiffness, damping, length, force, velocity;
    bool active;
    struct mech_formula law;
};

static const char *const locals[] = {"u", "v", "t", "k", "d", "force", NULL};

struct record {
    double length, rate; /* at which u and v are 0 */
    struct mech_spring spring;
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct spring_damper *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct spring_damper *c = description;
    const double constants[] = {c->stiffness, c->damping, c->force};
    struct record *const r = at;

    *r = (struct record){.length = c->length,
                         .rate = c->velocity,
                         .spring = {.k = c->stiffness, .d = c->damping, .force = c->force}};
    if (!c->active) {
        return 0;
    }
    MECH_TRY(mech_force_law_init(&r->spring.law, &c->law, site, "springForceUserFunction", locals,
                                 constants));
    return 1;
}

static void release(void *at)
{
    mech_force_law_fini(&((struct record *)at)->spring.law);
}

static bool differenced(const void *at)
{
    return mech_force_law_differenced(&((const struct record *)at)->spring.law);
}

static double tension(const struct record *r, double t, const struct mech_line *l, double *slope)
{
    return mech_spring_force(&r->spring, t, l->L - r->length, l->rate - r->rate, slope);
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    const struct mech_line l = mech_line_of(pose);
    const double f = tension(record, e->t, &l, NULL);
    double F[3];

    for (int i = 0; i < 3; i++) {
        F[i] = f * l.n[i];
    }
    mech_pair_force(F, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct mech_line l = mech_line_of(pose);
    double by[2], S[9], D[9];
    const double f = tension(record, e->t, &l, by);

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const double P = (i == j ? 1. : 0.) - l.n[i] * l.n[j];
            const double across = (l.u[j] - l.rate * l.n[j]) / l.L; /* (P Δv / L)_j */

            S[3 * i + j] = l.n[i] * (by[0] * l.n[j] + by[1] * across) + f / l.L * P;
            D[3 * i + j] = by[1] * l.n[i] * l.n[j];
        }
    }
    mech_pair_slope(S, Wx);
    mech_pair_slope(D, Wt);
}

static double energy(void *record, const struct mech_pose *const pose[2])
{
    const struct record *const r = record;

    return mech_spring_energy(&r->spring, mech_line_of(pose).L - r->length);
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct mech_line l = mech_line_of(view->pose);
    double F[3] = {0., 0., 0.}, f = 0.;

    (void)description;
    if (variable != MECH_OUTPUT_FORCE && variable != MECH_OUTPUT_FORCE_LOCAL) {
        return mech_line_output(view, variable, capacity, values, count);
    }
    if (view->record) {
        f = tension(view->record, view->at.t, &l, NULL);
        mech_v3_add(F, f, l.n, F);
    }
    return variable == MECH_OUTPUT_FORCE ? mech_pair_give(F, 3, capacity, values, count)
                                         : mech_pair_give(&f, 1, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(spring_damper, active),
    {.name = "damping",
     .kind = MECH_REAL,
     .offset = offsetof(struct spring_damper, damping),
     .flags = MECH_TUNABLE,
     .unit = "N s/m",
     MECH_ANY_REAL,
     .doc = "damping of the rate of length"},
    {.name = "force",
     .kind = MECH_REAL,
     .offset = offsetof(struct spring_damper, force),
     .flags = MECH_TUNABLE,
     .unit = "N",
     MECH_ANY_REAL,
     .doc = "force of an actuator, positive pulls"},
    MECH_PAIR_FIELD_MARKERS(spring_damper, markers),
    {.name = "referenceLength",
     .kind = MECH_REAL,
     .offset = offsetof(struct spring_damper, length),
     .flags = MECH_TUNABLE,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "length at which the spring has no force"},
    {.name = "springForceUserFunction",
     .kind = MECH_FORMULA,
     .offset = offsetof(struct spring_damper, law),
     .locals = locals,
     .doc = "force law in u = L - referenceLength, v = its rate - velocityOffset, t, k, d, force "
            "instead of the linear one"},
    {.name = "stiffness",
     .kind = MECH_REAL,
     .offset = offsetof(struct spring_damper, stiffness),
     .flags = MECH_TUNABLE,
     .unit = "N/m",
     MECH_ANY_REAL,
     .doc = "stiffness of the spring"},
    {.name = "velocityOffset",
     .kind = MECH_REAL,
     .offset = offsetof(struct spring_damper, velocity),
     .flags = MECH_TUNABLE,
     .unit = "m/s",
     MECH_ANY_REAL,
     .doc = "rate of length at which the damper has no force"},
};

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct record),
    .record = record,
    .release = release,
    .differenced = differenced,
    .wrench = wrench,
    .slope = slope,
    .energy = energy,
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_LINE_OUTPUTS | 1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_FORCE_LOCAL,
    .output = output,
};

const struct mech_item_type mech_item_connector_spring_damper = {
    .name = "SpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "SpringDamper",
              .doc = "A spring and damper along the line between two points.",
              .size = sizeof(struct spring_damper),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
