/* Gravity: Newton's attraction of two points with given masses.
 *
 *     f = G m₀ m₁ / L²    and below d = minDistanceRegularization    f = G m₀ m₁ / (L² + (L − d)²)
 *
 * pulls along the line; f and ∂f/∂L are continuous at d. Potential: −G m₀ m₁ / L, below d what
 * integrates f, −G m₀ m₁ (1 + π/4 − atan(2 L/d − 1))/d. Source: Exudyn's ObjectConnectorGravity. */
#include "solver/items/connector/pair.h"

#include <stddef.h>

struct gravity {
    struct mech_refs markers;
    double constant, mass[2], shortest;
    bool active;
};

struct record {
    double strength, shortest; /* G m₀ m₁, N m²; d, m */
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct gravity *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct gravity *c = description;

    (void)site;
    *(struct record *)at = (struct record){c->constant * c->mass[0] * c->mass[1], c->shortest};
    return c->active;
}

/* The line; where the points meet and f is finite, there is no direction and no force. */
static struct mech_line line_of(const struct record *r, const struct mech_pose *const pose[2])
{
    struct mech_line l = mech_line_of(pose);

    if (l.L == 0. && r->shortest > 0.) {
        l.n[0] = l.n[1] = l.n[2] = l.rate = 0.;
        l.L = r->shortest;
    }
    return l;
}

static double pull(const struct record *r, double L, double *slope)
{
    const double below = L < r->shortest ? L - r->shortest : 0.;
    const double square = L * L + below * below;

    *slope = -2. * r->strength * (L + below) / (square * square);
    return r->strength / square;
}

static void force_of(const struct record *r, const struct mech_pose *const pose[2], double F[3])
{
    const struct mech_line l = line_of(r, pose);
    double slope;
    const double f = pull(r, l.L, &slope);

    for (int i = 0; i < 3; i++) {
        F[i] = f * l.n[i];
    }
}

static void wrench(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                   double W[12])
{
    double F[3];

    (void)e;
    force_of(record, pose, F);
    mech_opposed_force(F, W);
}

static void slope(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2],
                  double Wx[12][12], double Wt[12][12])
{
    const struct mech_line l = line_of(record, pose);
    double by[2] = {0., 0.};
    const double f = pull(record, l.L, by);

    (void)e;
    mech_line_slope(&l, f, by, Wx, Wt);
}

static double energy(void *record, const struct mech_eval *e, const struct mech_pose *const pose[2])
{
    const struct record *const r = record;
    const double L = mech_line_of(pose).L, d = r->shortest;

    /* π/4 = atan(1) */

    (void)e;
    return L >= d ? -r->strength / L : -r->strength / d * (1. + atan(1.) - atan(2. * L / d - 1.));
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
    MECH_PAIR_FIELD_ACTIVE(gravity, active),
    {.name = "gravitationalConstant",
     .kind = MECH_REAL,
     .offset = offsetof(struct gravity, constant),
     .flags = MECH_TUNABLE,
     .unit = "m^3/(kg s^2)",
     .preset = 6.6743e-11, /* CODATA 2018 */
     MECH_ANY_REAL,
     .doc = "gravitational constant; a negative one repels"},
    MECH_PAIR_FIELD_MARKERS(gravity, markers),
    {.name = "mass0",
     .kind = MECH_REAL,
     .offset = offsetof(struct gravity, mass[0]),
     .flags = MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "attracting mass at the first point"},
    {.name = "mass1",
     .kind = MECH_REAL,
     .offset = offsetof(struct gravity, mass[1]),
     .flags = MECH_TUNABLE,
     .unit = "kg",
     MECH_NOT_NEGATIVE,
     .doc = "attracting mass at the second point"},
    {.name = "minDistanceRegularization",
     .kind = MECH_REAL,
     .offset = offsetof(struct gravity, shortest),
     .flags = MECH_TUNABLE,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "distance d below which the force is G m0 m1/(L^2 + (L-d)^2)"},
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
    .outputs = MECH_LINE_OUTPUTS | 1u << MECH_OUTPUT_FORCE,
    .output = output,
};

const struct mech_item_type mech_item_connector_gravity = {
    .name = "Gravity",
    .category = MECH_OBJECT,
    .table = {.name = "Gravity",
              .doc = "Newton's attraction of two masses. "
                     "Its line is the point of the second marker less that of the "
                     "first; a positive force pulls.",
              .size = sizeof(struct gravity),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
