/* ANCFCable2D: a thin cable or beam in the plane between two nodes with slopes, by absolute nodal
 * coordinates. Large deformations; the cross-section stays at right angles to the axis.
 *
 *     ρA r̈ : δr + (EA (ε − ε₀) + d_ε ε̇) δε + (EI (κ − κ₀) + d_κ κ̇) δκ, integrated over x, = δW
 *     ε = |r'| − 1,   κ = ∂θ/∂x = (r' × r'')/|r'|²
 *
 * r is cubic in x, so M is constant: it is folded into the model's. ε₀ and κ₀ are given, plus
 * strainIsRelativeToReference times those of the reference configuration. Gauss points: 5 for ε and
 * 3 for κ, or 4 and 2 with useReducedOrderIntegration, as Exudyn's ObjectANCFCable2D.
 *
 * Source: J. Gerstmayr, H. Irschik, J. Sound Vib. 318 (2008) 461–487. Cost: 5 + 3 points with outer
 * products of 8 × 8 each. */
#include "solver/base/err.h"
#include "solver/items/body/body.h"
#include "solver/items/body/cable.h"
#include "solver/items/connector/pair.h"
#include "solver/items/node/slope.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { N = MECH_CABLE_COORDINATES, MOST_POINTS = 8 };

struct cable {
    struct mech_refs nodes;
    double length;            /* m */
    double density;           /* kg/m */
    double EI, EA;            /* N m², N */
    double dI, dA;            /* N m² s, N s */
    double strain, curvature; /* ε₀, κ₀ */
    double relative;          /* 0 to 1 */
    int32_t reduced;
    struct mech_visualization visualization;
};

/* Of one measure at one point of integration. */
struct point {
    bool bending;
    double S1[4], S2[4];
    double weight;                   /* m */
    double stiffness, damping, rest; /* of the measure */
};

struct record {
    int32_t slot[N], q_slot[N];
    struct point point[MOST_POINTS];
    int32_t points;
    double relative;
};

static void nodes(const void *description, struct mech_attachment *out)
{
    const struct cable *b = description;

    *out = (struct mech_attachment){
        .refs = b->nodes.refs, .n = b->nodes.n, .field = "nodes", .list = true};
}

static void fit(const void *description, const struct mech_site *site)
{
    char place[2 * MECH_DIAG_PATH];

    (void)description;
    snprintf(place, sizeof place, "%s/nodes", site->path);
    if (site->kind != MECH_NODE_SLOPE_2D || site->n != N) {
        mech_diag_add(site->diag, place, "needs two NodePoint2DSlope1");
    } else if (site->slot[0] == site->slot[4]) {
        mech_diag_add(site->diag, place, "both ends are the same node");
    }
}

/* ρA ∫ S_i S_j dx of the cubic shape functions */
static int linear(const void *description, struct mech_terms *terms)
{
    const struct cable *b = description;
    const double L = b->length, f = b->density * L / 420.;
    const double mass[4][4] = {{156., 22. * L, 54., -13. * L},
                               {22. * L, 4. * L * L, 13. * L, -3. * L * L},
                               {54., 13. * L, 156., -22. * L},
                               {-13. * L, -3. * L * L, -22. * L, 4. * L * L}};

    for (int32_t k = 0; k < N; k++) {
        for (int32_t l = k % 2; l < N; l += 2) {
            MECH_TRY(mech_terms_add(terms, MECH_TERM_M, k, l, f * mass[k / 2][l / 2]));
        }
    }
    return 0;
}

/* Gauss's points on [0, 1] and their weights; n from 2 to 5 */
static void gauss(int n, double x[5], double w[5])
{
    const double a = sqrt(1.2), b = sqrt(10. / 7.), c = sqrt(30.), d = sqrt(70.);
    const double half[4][5] = {{-sqrt(1. / 3.), sqrt(1. / 3.)},
                               {-sqrt(0.6), 0., sqrt(0.6)},
                               {-sqrt((3. + 2. * a) / 7.), -sqrt((3. - 2. * a) / 7.),
                                sqrt((3. - 2. * a) / 7.), sqrt((3. + 2. * a) / 7.)},
                               {-sqrt(5. + 2. * b) / 3., -sqrt(5. - 2. * b) / 3., 0.,
                                sqrt(5. - 2. * b) / 3., sqrt(5. + 2. * b) / 3.}};
    const double weights[4][5] = {
        {1., 1.},
        {5. / 9., 8. / 9., 5. / 9.},
        {(18. - c) / 36., (18. + c) / 36., (18. + c) / 36., (18. - c) / 36.},
        {(322. - 13. * d) / 900., (322. + 13. * d) / 900., 128. / 225., (322. + 13. * d) / 900.,
         (322. - 13. * d) / 900.}};

    for (int k = 0; k < n; k++) {
        x[k] = 0.5 * (1. + half[n - 2][k]);
        w[k] = 0.5 * weights[n - 2][k];
    }
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct cable *b = description;
    struct record *const r = at;

    memcpy(r->slot, site->slot, sizeof r->slot);
    memcpy(r->q_slot, site->q_slot, sizeof r->q_slot);
    r->relative = b->relative;
    r->points = 0;
    for (int bending = 0; bending < 2; bending++) {
        const int n = (bending ? 3 : 5) - (b->reduced ? 1 : 0);
        double x[5], w[5];

        gauss(n, x, w);
        for (int k = 0; k < n; k++) {
            struct point *const p = &r->point[r->points++];

            *p = (struct point){.bending = bending,
                                .weight = w[k] * b->length,
                                .stiffness = bending ? b->EI : b->EA,
                                .damping = bending ? b->dI : b->dA,
                                .rest = bending ? b->curvature : b->strain};
            mech_cable_shape(b->length, x[k] * b->length, NULL, p->S1, p->S2);
        }
    }
    return 1;
}

static void measure(const struct point *p, const double q[N], bool second,
                    struct mech_cable_strain *out)
{
    if (p->bending) {
        mech_cable_bending(q, p->S1, p->S2, second, out);
    } else {
        mech_cable_axial(q, p->S1, second, out);
    }
}

/* What a measure is at rest. */
static double rest_of(const struct record *r, const struct point *p, const double *reference)
{
    struct mech_cable_strain strain;

    if (r->relative == 0.) {
        return p->rest;
    }
    measure(p, reference, false, &strain);
    return p->rest + r->relative * strain.value;
}

/* Coordinates, reference and velocities of one record. */
struct local {
    double q[N], reference[N], v[N];
};

static struct local local_of(const struct record *r, const struct mech_eval *e)
{
    struct local l;

    for (int k = 0; k < N; k++) {
        l.q[k] = e->q[r->q_slot[k]];
        l.reference[k] = e->q_ref[r->q_slot[k]];
        l.v[k] = e->v[r->slot[k]];
    }
    return l;
}

static double rate_of(const struct mech_cable_strain *s, const double v[N])
{
    double rate = 0.;

    for (int k = 0; k < N; k++) {
        rate += s->gradient[k] * v[k];
    }
    return rate;
}

static void force(void *records, size_t n, const struct mech_eval *e, double *g)
{
    for (const struct record *r = records, *end = r + n; r < end; r++) {
        const struct local l = local_of(r, e);

        for (const struct point *p = r->point; p < r->point + r->points; p++) {
            struct mech_cable_strain s;

            measure(p, l.q, false, &s);
            const double stress = p->stiffness * (s.value - rest_of(r, p, l.reference)) +
                                  p->damping * rate_of(&s, l.v);

            for (int k = 0; k < N; k++) {
                g[r->slot[k]] += p->weight * stress * s.gradient[k];
            }
        }
    }
}

/* T [N][N] += c0 ∂/∂q + c1 ∂/∂v of a point's force */
static void add_tangent(const struct record *r, const struct point *p, const struct local *l,
                        const double c[3], double T[N][N])
{
    struct mech_cable_strain s;
    double turned[N] = {0.};

    measure(p, l->q, true, &s);
    const double stress =
        p->stiffness * (s.value - rest_of(r, p, l->reference)) + p->damping * rate_of(&s, l->v);

    /* ∂(rate)/∂q */
    for (int i = 0; i < N && p->damping != 0.; i++) {
        for (int j = 0; j < N; j++) {
            turned[j] += s.second[i][j] * l->v[i];
        }
    }
    const double along = c[0] * p->stiffness + c[1] * p->damping;
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            T[i][j] += p->weight *
                       (s.gradient[i] * (along * s.gradient[j] + c[0] * p->damping * turned[j]) +
                        c[0] * stress * s.second[i][j]);
        }
    }
}

static void tangent(void *records, size_t n, const struct mech_eval *e, const double c[3],
                    const int32_t *place, double *values)
{
    for (const struct record *r = records, *end = r + n; r < end; r++, place += N * N) {
        const struct local l = local_of(r, e);
        double T[N][N] = {{0.}};

        for (const struct point *p = r->point; p < r->point + r->points; p++) {
            add_tangent(r, p, &l, c, T);
        }
        for (int k = 0; k < N * N; k++) {
            values[place[k]] += T[k / N][k % N];
        }
    }
}

static double energy(void *records, size_t n, const struct mech_eval *e)
{
    double sum = 0.;

    for (const struct record *r = records, *end = r + n; r < end; r++) {
        const struct local l = local_of(r, e);

        for (const struct point *p = r->point; p < r->point + r->points; p++) {
            struct mech_cable_strain s;

            measure(p, l.q, false, &s);
            const double stretch = s.value - rest_of(r, p, l.reference);
            sum += 0.5 * p->weight * p->stiffness * stretch * stretch;
        }
    }
    return sum;
}

/* --- points ----------------------------------------------------------------------------------- */

static void pose(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                 const double local[3], struct mech_pose *out)
{
    const struct cable *b = description;
    struct mech_slope_point at = {.n = 4};

    mech_cable_shape(b->length, local[0], at.S, at.D, NULL);
    mech_slope_pose(&at, seat, e, local, out);
}

static double mass_of(const void *description, double center[3])
{
    const struct cable *b = description;

    center[0] = 0.5 * b->length;
    center[1] = center[2] = 0.;
    return b->density * b->length;
}

/* (1/L) ∫ r dx */
static void centre(const void *description, const struct mech_seat *seat, const struct mech_eval *e,
                   struct mech_pose *out)
{
    const double L = ((const struct cable *)description)->length;
    const struct mech_slope_point at = {.n = 4, .S = {0.5, L / 12., 0.5, -L / 12.}, .rigid = true};
    static const double origin[3];

    mech_slope_pose(&at, seat, e, origin, out);
}

/* length of the axis */
static double line(const void *description)
{
    return ((const struct cable *)description)->length;
}

/* ε, κ, axial force and bending moment at a local position; Rotation is the angle of the slope */
static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct cable *b = description;
    const bool bending =
        variable == MECH_OUTPUT_CURVATURE_LOCAL || variable == MECH_OUTPUT_TORQUE_LOCAL;
    const bool stress = variable == MECH_OUTPUT_FORCE_LOCAL || variable == MECH_OUTPUT_TORQUE_LOCAL;
    struct point p = {.bending = bending, .rest = bending ? b->curvature : b->strain};
    struct mech_cable_strain s;
    struct record r = {.relative = b->relative};

    if (variable == MECH_OUTPUT_ROTATION) {
        const double *const R = view->pose[0]->R, angle = atan2(R[3], R[0]);

        return mech_pair_give(&angle, 1, capacity, values, count);
    }
    if (!bending && !stress && variable != MECH_OUTPUT_STRAIN_LOCAL) {
        const int code = mech_coordinate_output(view, variable, capacity, values, count);

        return code ? mech_pose_output(description, view, variable, capacity, values, count) : code;
    }
    *count = 1;
    if (capacity == 0) {
        return 0;
    }
    memcpy(r.slot, view->slot, sizeof r.slot);
    memcpy(r.q_slot, view->q_slot, sizeof r.q_slot);
    mech_cable_shape(b->length, view->local[0], NULL, p.S1, p.S2);
    const struct local l = local_of(&r, &view->at);
    measure(&p, l.q, false, &s);
    values[0] = !stress ? s.value
                        : (bending ? b->EI : b->EA) * (s.value - rest_of(&r, &p, l.reference)) +
                              (bending ? b->dI : b->dA) * rate_of(&s, l.v);
    return 0;
}

#define REAL_FIELD(key, at, units, text)                                                           \
    .name = key, .kind = MECH_REAL, .offset = offsetof(struct cable, at), .unit = units, .doc = text

static const struct mech_field fields[] = {
    {.name = "nodes",
     .kind = MECH_REFS,
     .offset = offsetof(struct cable, nodes),
     .flags = MECH_REQUIRED,
     .count = 2,
     .target = MECH_NODE,
     .doc = "the NodePoint2DSlope1 at x = 0 and at x = length"},
    {REAL_FIELD("physicsAxialDamping", dA, "N s", "axial force per rate of the axial strain"),
     .flags = MECH_TUNABLE, MECH_NOT_NEGATIVE},
    {REAL_FIELD("physicsAxialStiffness", EA, "N", "axial force per axial strain, EA"),
     .flags = MECH_REQUIRED | MECH_TUNABLE, MECH_NOT_NEGATIVE},
    {REAL_FIELD("physicsBendingDamping", dI, "N m^2 s", "moment per rate of the curvature"),
     .flags = MECH_TUNABLE, MECH_NOT_NEGATIVE},
    {REAL_FIELD("physicsBendingStiffness", EI, "N m^2", "bending moment per curvature, EI"),
     .flags = MECH_REQUIRED | MECH_TUNABLE, MECH_NOT_NEGATIVE},
    {REAL_FIELD("physicsLength", length, "m", "length of the unstretched element"),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN, MECH_NOT_NEGATIVE},
    {REAL_FIELD("physicsMassPerLength", density, "kg/m", "mass per length"),
     .flags = MECH_REQUIRED | MECH_ABOVE_MIN | MECH_TUNABLE, MECH_NOT_NEGATIVE},
    {REAL_FIELD("physicsReferenceAxialStrain", strain, "", "axial strain without axial force"),
     .flags = MECH_TUNABLE, MECH_ANY_REAL},
    {REAL_FIELD("physicsReferenceCurvature", curvature, "1/m", "curvature without bending moment"),
     .flags = MECH_TUNABLE, MECH_ANY_REAL},
    {REAL_FIELD("strainIsRelativeToReference", relative, "",
                "fraction of the reference configuration's strains that is free of stress: 0 "
                "measures strains from the straight line, 1 from the reference configuration"),
     .min = 0., .max = 1.},
    {.name = "useReducedOrderIntegration",
     .kind = MECH_INT,
     .offset = offsetof(struct cable, reduced),
     .min = 0.,
     .max = 1.,
     .doc = "0: 5 Gauss points for the axial strain and 3 for the curvature; 1: 4 and 2"},
    MECH_VISUALIZATION_FIELD(cable, visualization),
};

static const struct mech_object_ops ops = {
    .body = true,
    .element = true,
    .flexible = true,
    .nodes = nodes,
    .fit = fit,
    .linear = linear,
    .record_size = sizeof(struct record),
    .record_coordinates = N,
    .record = record,
    .force = force,
    .tangent = tangent,
    .energy = energy,
    .pose = pose,
    .mass = mass_of,
    .centre = centre,
    .line = line,
    .outputs = MECH_COORDINATE_OUTPUTS | MECH_RIGID_OUTPUTS | 1u << MECH_OUTPUT_STRAIN_LOCAL |
               1u << MECH_OUTPUT_CURVATURE_LOCAL | 1u << MECH_OUTPUT_FORCE_LOCAL |
               1u << MECH_OUTPUT_TORQUE_LOCAL,
    .output = output,
    .visualization = offsetof(struct cable, visualization),
};

const struct mech_item_type mech_item_body_ancf_cable_2d = {
    .name = "ANCFCable2D",
    .category = MECH_OBJECT,
    .table = {.name = "ANCFCable2D",
              .doc = "A cable or thin beam in the x-y plane with large deformations.",
              .size = sizeof(struct cable),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
