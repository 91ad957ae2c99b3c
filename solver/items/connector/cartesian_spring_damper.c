/* CartesianSpringDamper: springs and dampers along the global axes between two points.
 *
 *     F = k ∘ (p₁ − p₀ − offset) + d ∘ (v₁ − v₀)      on the first point, −F on the second
 *
 * or a law of three forces in u = p₁ − p₀, v = v₁ − v₀, t and F (force_law.h).
 * Source: Exudyn's ObjectConnectorCartesianSpringDamper. */
#include "solver/items/connector/force_law.h"
#include "solver/items/connector/pair.h"

#include <stddef.h>

struct cartesian_spring_damper {
    struct mech_refs markers;
    double stiffness[3], damping[3], offset[3];
    bool active;
    struct mech_values law;
};

static const char *const locals[] = {"u0", "u1", "u2", "v0", "v1", "v2",
                                     "f0", "f1", "f2", "t",  NULL};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct cartesian_spring_damper *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct cartesian_spring_damper *c = description;
    struct mech_springs *const s = at;

    *s = (struct mech_springs){.n = 3};
    for (int i = 0; i < 3; i++) {
        s->K[4 * i] = c->stiffness[i];
        s->D[4 * i] = c->damping[i];
        s->offset[i] = c->offset[i];
    }
    if (!c->active) {
        return 0;
    }
    MECH_TRY(mech_springs_law(s, &c->law, site, "springForceUserFunction", locals));
    return 1;
}

static void release(void *at)
{
    mech_springs_fini(at);
}

static bool differenced(const void *at)
{
    return mech_springs_differenced(at);
}

static void force_of(const struct mech_springs *s, const struct mech_eval *e,
                     const struct mech_pose *const pose[2], double F[3])
{
    double u[3], v[3];

    mech_v3_add(pose[1]->p, -1., pose[0]->p, u);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, v);
    mech_springs_force(s, e, u, v, F);
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    double F[3];

    force_of(record, e, pose, F);
    mech_opposed_force(F, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    double u[3], v[3], S[9], D[9];

    mech_v3_add(pose[1]->p, -1., pose[0]->p, u);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, v);
    mech_springs_slope(record, e, u, v, S, D);
    mech_pair_slope(S, Wx);
    mech_pair_slope(D, Wt);
}

static double energy(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2])
{
    double u[3];

    mech_v3_add(pose[1]->p, -1., pose[0]->p, u);

    (void)e;
    return mech_springs_energy(record, u);
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    double F[3] = {0., 0., 0.};

    (void)description;
    if (variable != MECH_OUTPUT_FORCE) {
        return mech_line_output(view, variable, capacity, values, count);
    }
    if (view->record) {
        force_of(view->record, &view->at, view->pose, F);
    }
    return mech_pair_give(F, 3, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(cartesian_spring_damper, active),
    {.name = "damping",
     .kind = MECH_REALS,
     .offset = offsetof(struct cartesian_spring_damper, damping),
     .flags = MECH_TUNABLE,
     .count = 3,
     .unit = "N s/m",
     MECH_ANY_REAL,
     .doc = "damping along x, y, z"},
    MECH_PAIR_FIELD_MARKERS(cartesian_spring_damper, markers),
    {.name = "offset",
     .kind = MECH_REALS,
     .offset = offsetof(struct cartesian_spring_damper, offset),
     .flags = MECH_TUNABLE,
     .count = 3,
     .unit = "m",
     MECH_ANY_REAL,
     .doc = "vector from the first to the second point at which the springs have no force"},
    {.name = "springForceUserFunction",
     .kind = MECH_VALUES,
     .offset = offsetof(struct cartesian_spring_damper, law),
     .count = 3,
     .unit = "N",
     MECH_ANY_REAL,
     .locals = locals,
     .doc = "three forces instead of the linear ones, each a number or an expression in u0 u1 u2 = "
            "displacement, v0 v1 v2 = velocity, f0 f1 f2 = the linear forces, t"},
    {.name = "stiffness",
     .kind = MECH_REALS,
     .offset = offsetof(struct cartesian_spring_damper, stiffness),
     .flags = MECH_TUNABLE,
     .count = 3,
     .unit = "N/m",
     MECH_ANY_REAL,
     .doc = "stiffness along x, y, z"},
};

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct mech_springs),
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
    .outputs = MECH_LINE_OUTPUTS | 1u << MECH_OUTPUT_FORCE,
    .output = output,
};

const struct mech_item_type mech_item_connector_cartesian_spring_damper = {
    .name = "CartesianSpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "CartesianSpringDamper",
              .doc = "Springs and dampers along the global axes between two points. "
                     "Displacement and velocity are those of the second marker less "
                     "those of the first; a positive force pulls.",
              .size = sizeof(struct cartesian_spring_damper),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
