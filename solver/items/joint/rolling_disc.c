/* RollingDisc: a thin disc (marker 1, its center) rolls without slip on a plane (marker 0, a point
 * of it). With a the disc's axis, n the plane's normal, d = p₁ − p₀, r the radius, s = |a × n|:
 *
 *     w = a × n / s    along the track        l = n × w   across it
 *     c = r a × w      from the center to the contact point
 *     u = v₁ + ω₁ × c − v₀ − ω₀ × (d + c)     what slips
 *
 *     l · u = 0,  w · u = 0  (velocities),   g = n · d − r s = 0,  ġ = n · u
 *
 * So all rows pull at the contact point: F = λ_l l + λ_w w + λ_n n on the disc. Source: Exudyn's
 * ObjectJointRollingDisc, which holds the normal direction at velocity level; here it cannot drift.
 * There is no such disc at s = 0 (it lies flat): the residual is not a number then. */
#include "solver/items/connector/pair.h"

#include <stddef.h>
#include <stdio.h>

enum { LATERAL, ALONG, NORMAL, AXES };

struct rolling_disc {
    struct mech_refs markers;
    double axes[3], radius, axis[3], normal[3];
    bool active;
};

struct record {
    int32_t n, row_axis[AXES];
    double radius, axis[3], normal[3]; /* unit vectors in the frames of their markers */
};

/* The disc on the plane, global axes. */
struct contact {
    double a[3], d[3], s;
    double e[AXES][3]; /* l, w, n */
    double c[3];
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct rolling_disc *j = description;

    *out = (struct mech_attachment){
        .refs = j->markers.refs, .n = j->markers.n, .field = "markers", .list = true};
}

static void check(const void *description, const char *path, struct mech_diag *d)
{
    const struct rolling_disc *j = description;
    char place[2 * MECH_DIAG_PATH];

    for (int i = 0; i < AXES; i++) {
        if (j->axes[i] != 0. && j->axes[i] != 1.) {
            snprintf(place, sizeof place, "%s/constrainedAxes/%d", path, i);
            mech_diag_add(d, place, "must be 0 (free) or 1 (constrained)");
        }
    }
    if (mech_v3_norm(j->axis) == 0.) {
        snprintf(place, sizeof place, "%s/discAxis", path);
        mech_diag_add(d, place, "needs a direction, not zeros");
    }
    if (mech_v3_norm(j->normal) == 0.) {
        snprintf(place, sizeof place, "%s/planeNormal", path);
        mech_diag_add(d, place, "needs a direction, not zeros");
    }
}

static int32_t rows(const void *description)
{
    const struct rolling_disc *j = description;

    return (j->axes[0] > 0.) + (j->axes[1] > 0.) + (j->axes[2] > 0.);
}

static uint32_t velocity(const void *description)
{
    const struct rolling_disc *j = description;
    const uint32_t tangential = (uint32_t)(j->axes[LATERAL] > 0.) + (j->axes[ALONG] > 0.);

    return (1u << tangential) - 1u;
}

static void unit(const double x[3], double out[3])
{
    const double zero[3] = {0., 0., 0.};

    mech_v3_add(zero, 1. / mech_v3_norm(x), x, out);
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct rolling_disc *j = description;
    struct record *const r = at;

    (void)site;
    *r = (struct record){.radius = j->radius};
    unit(j->axis, r->axis);
    unit(j->normal, r->normal);
    for (int32_t k = 0; k < AXES; k++) {
        if (j->axes[k] > 0.) {
            r->row_axis[r->n++] = k;
        }
    }
    return j->active && r->n > 0;
}

static struct contact contact_of(const struct record *r, const struct mech_pose *const pose[2])
{
    struct contact x;
    double *const w = x.e[ALONG];

    mech_m3_mul(pose[1]->R, r->axis, x.a);
    mech_m3_mul(pose[0]->R, r->normal, x.e[NORMAL]);
    mech_v3_add(pose[1]->p, -1., pose[0]->p, x.d);
    mech_v3_cross(x.a, x.e[NORMAL], w);
    x.s = mech_v3_norm(w);
    unit(w, w);
    mech_v3_cross(x.e[NORMAL], w, x.e[LATERAL]);
    mech_v3_cross(x.a, w, x.c);
    for (int i = 0; i < 3; i++) {
        x.c[i] *= r->radius;
    }
    return x;
}

/* How e and c follow turns of the plane (by t0) and of the disc (by t1). */
static void vary(const struct record *r, const struct contact *x, const double t0[3],
                 const double t1[3], double e[AXES][3], double c[3])
{
    double a[3], part[3], w[3];

    mech_v3_cross(t1, x->a, a);
    mech_v3_cross(t0, x->e[NORMAL], e[NORMAL]);
    /* (a × n)' without its part along w, which is s' */
    mech_v3_cross(a, x->e[NORMAL], w);
    mech_v3_cross(x->a, e[NORMAL], part);
    mech_v3_add(w, 1., part, w);
    mech_v3_add(w, -mech_v3_dot(w, x->e[ALONG]), x->e[ALONG], w);
    for (int i = 0; i < 3; i++) {
        e[ALONG][i] = w[i] / x->s;
    }
    mech_v3_cross(e[NORMAL], x->e[ALONG], e[LATERAL]);
    mech_v3_cross(x->e[NORMAL], e[ALONG], part);
    mech_v3_add(e[LATERAL], 1., part, e[LATERAL]);
    mech_v3_cross(a, x->e[ALONG], c);
    mech_v3_cross(x->a, e[ALONG], part);
    for (int i = 0; i < 3; i++) {
        c[i] = r->radius * (c[i] + part[i]);
    }
}

/* W: force F on the disc at the contact point, −F on the plane there; arm0 = d + c, arm1 = c */
static void pull(const double F[3], const double arm0[3], const double arm1[3], double W[12])
{
    double moment[3];

    for (int i = 0; i < 3; i++) {
        W[i] -= F[i];
        W[6 + i] += F[i];
    }
    mech_v3_cross(arm0, F, moment);
    mech_v3_add(W + 3, -1., moment, W + 3);
    mech_v3_cross(arm1, F, moment);
    mech_v3_add(W + 9, 1., moment, W + 9);
}

static void residual(void *record, double t, const struct mech_pose *const pose[2], double *g)
{
    const struct record *const r = record;
    const struct contact x = contact_of(r, pose);

    (void)t;
    for (int32_t k = 0; k < r->n; k++) {
        g[k] = r->row_axis[k] == NORMAL ? mech_v3_dot(x.e[NORMAL], x.d) - r->radius * x.s : 0.;
    }
}

static void jacobian(void *record, const struct mech_pose *const pose[2], double G[][12])
{
    const struct record *const r = record;
    const struct contact x = contact_of(r, pose);
    double arm[3];

    mech_v3_add(x.d, 1., x.c, arm);
    for (int32_t k = 0; k < r->n; k++) {
        pull(x.e[r->row_axis[k]], arm, x.c, G[k]);
    }
}

static void slip(const struct contact *x, const struct mech_pose *const pose[2], double u[3])
{
    double arm[3], part[3];

    mech_v3_add(x->d, 1., x->c, arm);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, u);
    mech_v3_cross(pose[1]->omega, x->c, part);
    mech_v3_add(u, 1., part, u);
    mech_v3_cross(pose[0]->omega, arm, part);
    mech_v3_add(u, -1., part, u);
}

/* bias = e' · u + e · (ω₁ × c' − ω₀ × (d' + c')) */
static void rate(void *record, double t, const struct mech_pose *const pose[2], double *gt,
                 double *bias)
{
    const struct record *const r = record;
    const struct contact x = contact_of(r, pose);
    double u[3], e[AXES][3], c[3], arm[3], a[3], b[3];

    (void)t;
    (void)gt;
    slip(&x, pose, u);
    vary(r, &x, pose[0]->omega, pose[1]->omega, e, c);
    mech_v3_add(pose[1]->v, -1., pose[0]->v, arm);
    mech_v3_add(arm, 1., c, arm);
    mech_v3_cross(pose[1]->omega, c, a);
    mech_v3_cross(pose[0]->omega, arm, b);
    mech_v3_add(a, -1., b, a);
    for (int32_t k = 0; k < r->n; k++) {
        bias[k] = mech_v3_dot(e[r->row_axis[k]], u) + mech_v3_dot(x.e[r->row_axis[k]], a);
    }
}

static void stiffness(void *record, const struct mech_pose *const pose[2], const double *lambda,
                      double Wx[12][12])
{
    const struct record *const r = record;
    const struct contact x = contact_of(r, pose);
    double F[3] = {0., 0., 0.}, arm[3];

    for (int32_t k = 0; k < r->n; k++) {
        mech_v3_add(F, lambda[k], x.e[r->row_axis[k]], F);
    }
    mech_v3_add(x.d, 1., x.c, arm);
    for (int j = 0; j < 12; j++) {
        double d[3] = {0., 0., 0.}, turn[2][3] = {{0.}}, e[AXES][3], c[3], f[3] = {0., 0., 0.};
        double turned[12] = {0.}, moved[12] = {0.};

        if (j % 6 < 3) {
            d[j % 3] = j < 6 ? -1. : 1.;
        } else {
            turn[j / 6][j % 3] = 1.;
        }
        vary(r, &x, turn[0], turn[1], e, c);
        for (int32_t k = 0; k < r->n; k++) {
            mech_v3_add(f, lambda[k], e[r->row_axis[k]], f);
        }
        /* F turns at arms that stand, and stands at arms that move: then only moments change */
        pull(f, arm, x.c, turned);
        mech_v3_add(d, 1., c, d);
        pull(F, d, c, moved);
        for (int i = 0; i < 12; i++) {
            Wx[i][j] += turned[i] + (i % 6 < 3 ? 0. : moved[i]);
        }
    }
}

/* flat on the plane a disc has no track: the sine of the tilt is at most the angle to there */
static void reach(const void *record, const struct mech_pose *const pose[2], double reach[2])
{
    reach[1] = contact_of(record, pose).s;
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
    .velocity = velocity,
};

/* slip across and along, and the gap */
static void equations(const struct record *r, const struct mech_pose *const pose[2],
                      const struct contact *x, double g[AXES])
{
    double u[3];

    slip(x, pose, u);
    for (int32_t k = 0; k < r->n; k++) {
        const int32_t axis = r->row_axis[k];

        g[axis] = axis == NORMAL ? mech_v3_dot(x->e[NORMAL], x->d) - r->radius * x->s
                                 : mech_v3_dot(x->e[axis], u);
    }
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    struct record r;
    double x[9] = {0.}, c[3], e[AXES][3];

    (void)record(description, NULL, &r);
    const struct contact at = contact_of(&r, view->pose);
    switch (variable) {
    case MECH_OUTPUT_POSITION:
        mech_v3_add(view->pose[1]->p, 1., at.c, x);
        break;
    case MECH_OUTPUT_VELOCITY:
        vary(&r, &at, view->pose[0]->omega, view->pose[1]->omega, e, c);
        mech_v3_add(view->pose[1]->v, 1., c, x);
        break;
    case MECH_OUTPUT_ROTATION_MATRIX:
        for (int i = 0; i < 9; i++) {
            x[i] = at.e[i % 3][i / 3];
        }
        return mech_pair_give(x, 9, capacity, values, count);
    case MECH_OUTPUT_CONSTRAINT_EQUATION:
        equations(&r, view->pose, &at, x);
        break;
    case MECH_OUTPUT_FORCE:
    case MECH_OUTPUT_FORCE_LOCAL:
        if (view->record && !view->lambda && capacity) {
            return MECH_UNSUPPORTED;
        }
        for (int32_t k = 0; k < r.n && view->lambda; k++) {
            if (variable == MECH_OUTPUT_FORCE) {
                mech_v3_add(x, view->lambda[k], at.e[r.row_axis[k]], x);
            } else {
                x[r.row_axis[k]] = view->lambda[k];
            }
        }
        break;
    default:
        return MECH_UNSUPPORTED;
    }
    return mech_pair_give(x, 3, capacity, values, count);
}

static const double ones[] = {1., 1., 1.}, along_x[] = {1., 0., 0.}, along_z[] = {0., 0., 1.};

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(rolling_disc, active),
    {.name = "constrainedAxes",
     .kind = MECH_REALS,
     .offset = offsetof(struct rolling_disc, axes),
     .count = 3,
     .unit = "",
     .presets = ones,
     .min = 0.,
     .max = 1.,
     .doc =
         "1: constrained, 0: free; slip across the track, slip along it, distance from the plane"},
    {.name = "discAxis",
     .kind = MECH_REALS,
     .offset = offsetof(struct rolling_disc, axis),
     .count = 3,
     .unit = "",
     .presets = along_x,
     MECH_ANY_REAL,
     .doc = "axis of the disc in the frame of the second marker"},
    {.name = "discRadius",
     .kind = MECH_REAL,
     .offset = offsetof(struct rolling_disc, radius),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE,
     .unit = "m",
     MECH_NOT_NEGATIVE,
     .doc = "radius of the disc"},
    MECH_PAIR_FIELD_MARKERS(rolling_disc, markers),
    {.name = "planeNormal",
     .kind = MECH_REALS,
     .offset = offsetof(struct rolling_disc, normal),
     .count = 3,
     .unit = "",
     .presets = along_z,
     MECH_ANY_REAL,
     .doc = "normal of the plane, towards the disc, in the frame of the first marker"},
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_RIGID,
    .pair = &pair,
    .outputs = 1u << MECH_OUTPUT_POSITION | 1u << MECH_OUTPUT_VELOCITY |
               1u << MECH_OUTPUT_ROTATION_MATRIX | 1u << MECH_OUTPUT_FORCE |
               1u << MECH_OUTPUT_FORCE_LOCAL | 1u << MECH_OUTPUT_CONSTRAINT_EQUATION,
    .output = output,
};

const struct mech_item_type mech_item_joint_rolling_disc = {
    .name = "RollingDisc",
    .category = MECH_OBJECT,
    .table = {.name = "RollingDisc",
              .doc = "A thin disc that rolls without slip on a plane. The plane is at the first "
                     "marker, the centre of the disc at the second; distance and slip are of the "
                     "second less the first.",
              .size = sizeof(struct rolling_disc),
              MECH_FIELDS(fields)},
    .check = check,
    .ops.object = &ops,
};
