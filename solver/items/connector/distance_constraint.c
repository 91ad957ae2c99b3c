/* DistanceConstraint: keeps the distance of two points, or as a rope keeps it from growing.
 *
 *     g = |p₁ − p₀| − distance = 0,   ġ = nᵀ (v₁ − v₀),   n = (p₁ − p₀)/L
 *     g̈ − nᵀ Δa = |P Δv|²/L,   ∂(λ n)/∂(p₁ − p₀) = λ P/L,   P = 1 − n nᵀ
 *
 * unilateral: g ≤ 0 with λ ≤ 0. Source: Exudyn's ObjectConnectorDistance. λ > 0 pushes the points
 * apart; the output Force has Exudyn's sign: positive pulls. */
#include "solver/items/connector/pair.h"

#include <stddef.h>

struct distance_constraint {
    struct mech_refs markers;
    double distance;
    bool active, unilateral;
};

struct record {
    double distance;
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct distance_constraint *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct distance_constraint *c = description;

    (void)site;
    ((struct record *)at)->distance = c->distance;
    return c->active;
}

static int32_t rows(const void *description)
{
    (void)description;
    return 1;
}

static void residual(void *record, double t, const struct mech_pose *const pose[2], double *g)
{
    (void)t;
    g[0] = mech_line_of(pose).L - ((const struct record *)record)->distance;
}

static void jacobian(void *record, const struct mech_pose *const pose[2], double G[][12])
{
    const struct mech_line l = mech_line_of(pose);

    (void)record;
    for (int i = 0; i < 3; i++) {
        G[0][i] = -l.n[i];
        G[0][6 + i] = l.n[i];
    }
}

static void rate(void *record, double t, const struct mech_pose *const pose[2], double *gt,
                 double *bias)
{
    const struct mech_line l = mech_line_of(pose);

    (void)record;
    (void)t;
    (void)gt;
    bias[0] = (mech_v3_dot(l.u, l.u) - l.rate * l.rate) / l.L;
}

static void stiffness(void *record, const struct mech_pose *const pose[2], const double *lambda,
                      double Wx[12][12])
{
    const struct mech_line l = mech_line_of(pose);
    double S[9];

    /* the force on the first point is −λ n */
    (void)record;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            S[3 * i + j] = -lambda[0] / l.L * ((i == j ? 1. : 0.) - l.n[i] * l.n[j]);
        }
    }
    mech_pair_slope(S, Wx);
}

/* ends at one place have no direction */
static void reach(const void *record, const struct mech_pose *const pose[2], double reach[2])
{
    (void)record;
    reach[0] = mech_line_of(pose).L;
}

static int32_t side(const void *description)
{
    return ((const struct distance_constraint *)description)->unilateral ? -1 : 0;
}

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct record),
    .record = record,
    .rows = rows,
    .residual = residual,
    .jacobian = jacobian,
    .rate = rate,
    .stiffness = stiffness,
    .reach = reach,
    .side = side,
};

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    (void)description;
    return variable == MECH_OUTPUT_FORCE || variable == MECH_OUTPUT_CONSTRAINT_EQUATION
               ? mech_joint_output(&pair, view, variable, capacity, values, count)
               : mech_line_output(view, variable, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(distance_constraint, active),
    {.name = "distance",
     .kind = MECH_REAL,
     .offset = offsetof(struct distance_constraint, distance),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "distance of the two points; the largest one when unilateral"},
    MECH_PAIR_FIELD_MARKERS(distance_constraint, markers),
    {.name = "unilateral",
     .kind = MECH_BOOL,
     .offset = offsetof(struct distance_constraint, unilateral),
     .doc = "whether it is a rope: the points may approach, and are stopped without rebound"},
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_POSITION | 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = MECH_LINE_OUTPUTS | 1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_CONSTRAINT_EQUATION,
    .output = output,
};

const struct mech_item_type mech_item_connector_distance_constraint = {
    .name = "DistanceConstraint",
    .category = MECH_OBJECT,
    .table = {.name = "DistanceConstraint",
              .doc = "Keeps the distance of two points constant, or limits it. "
                     "Its line is the point of the second marker less that of the "
                     "first; a positive force pulls.",
              .size = sizeof(struct distance_constraint),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
