/* CartesianSpringDamper: springs and dampers along the global axes between two points.
 *
 *     F = k ∘ (p₁ − p₀ − offset) + d ∘ (v₁ − v₀)      on the first point, −F on the second
 *
 * Source: Exudyn's ObjectConnectorCartesianSpringDamper. */
#include "solver/items/pair.h"

#include <stddef.h>

struct cartesian_spring_damper {
    struct mech_refs markers;
    double stiffness[3], damping[3], offset[3];
    bool active;
};

struct record {
    double k[3], d[3], offset[3];
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct cartesian_spring_damper *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct cartesian_spring_damper *c = description;
    struct record *const r = at;

    (void)site;
    memcpy(r->k, c->stiffness, sizeof r->k);
    memcpy(r->d, c->damping, sizeof r->d);
    memcpy(r->offset, c->offset, sizeof r->offset);
    return c->active;
}

static void force_of(const struct record *r, const struct mech_pose *const pose[2], double F[3])
{
    for (int i = 0; i < 3; i++) {
        F[i] = r->k[i] * (pose[1]->p[i] - pose[0]->p[i] - r->offset[i]) +
               r->d[i] * (pose[1]->v[i] - pose[0]->v[i]);
    }
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    double F[3];

    (void)e;
    force_of(record, pose, F);
    mech_pair_force(F, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct record *const r = record;
    const double S[9] = {[0] = r->k[0], [4] = r->k[1], [8] = r->k[2]};
    const double D[9] = {[0] = r->d[0], [4] = r->d[1], [8] = r->d[2]};

    (void)e;
    (void)pose;
    mech_pair_slope(S, Wx);
    mech_pair_slope(D, Wt);
}

static double energy(void *record, const struct mech_pose *const pose[2])
{
    const struct record *const r = record;
    double sum = 0.;

    for (int i = 0; i < 3; i++) {
        const double stretch = pose[1]->p[i] - pose[0]->p[i] - r->offset[i];

        sum += 0.5 * r->k[i] * stretch * stretch;
    }
    return sum;
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
        force_of(view->record, view->pose, F);
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
    .record_size = sizeof(struct record),
    .record = record,
    .wrench = wrench,
    .slope = slope,
    .energy = energy,
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs =
        1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_FORCE,
    .output = output,
};

const struct mech_item_type mech_item_connector_cartesian_spring_damper = {
    .name = "CartesianSpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "CartesianSpringDamper",
              .doc = "Springs and dampers along the global axes between two points.",
              .size = sizeof(struct cartesian_spring_damper),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
