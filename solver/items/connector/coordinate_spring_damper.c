/* CoordinateSpringDamper: spring, damper or force law between two coordinates.
 *
 *     u = u₁ − u₀,  v = v₁ − v₀           displacements from the reference (Exudyn's convention)
 *     f = k (u − offset) + d v            or   f = F(u, v, t, k, d, offset)
 *     left-hand side: + f at coordinate 1, − f at coordinate 0
 *
 * The linear form is folded into K and C. A force law (force_law.h) becomes a record; its tangent
 * is [a −a; −a a] with a = c_q ∂F/∂u + c_v ∂F/∂v. Source: Exudyn's object of that name. */
#include "solver/base/err.h"
#include "solver/items/connector/force_law.h"

#include <stddef.h>
#include <stdio.h>

struct coordinate_spring_damper {
    struct mech_refs markers; /* [2] */
    double stiffness, damping, offset;
    bool active;
    struct mech_formula law;
};

static const char *const locals[] = {"u", "v", "t", "k", "d", "offset", NULL};

struct record {
    int32_t slot[2], q_slot[2];
    bool active; /* records stay, as schemes of nonlinear models have data of their own */
    struct mech_spring spring; /* with a law */
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct coordinate_spring_damper *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static void fit(const void *description, const struct mech_site *site)
{
    (void)description;
    if (site->first_order) {
        char place[2 * MECH_DIAG_PATH];

        snprintf(place, sizeof place, "%s/markers", site->path);
        mech_diag_add(site->diag, place, "needs markers of second-order coordinates");
    }
}

static int linear(const void *description, struct mech_terms *terms)
{
    const struct coordinate_spring_damper *c = description;
    const double sign[2] = {-1., 1.};

    if (!c->active || c->law.text) {
        return 0;
    }
    for (int32_t i = 0; i < 2; i++) {
        for (int32_t j = 0; j < 2; j++) {
            const double s = sign[i] * sign[j];

            MECH_TRY(mech_terms_add(terms, MECH_TERM_K, i, j, s * c->stiffness));
            MECH_TRY(mech_terms_add(terms, MECH_TERM_C, i, j, s * c->damping));
        }
        mech_terms_force(terms, i, sign[i] * c->stiffness * c->offset);
    }
    mech_terms_potential(terms, 0.5 * c->stiffness * c->offset * c->offset);
    return 0;
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct coordinate_spring_damper *c = description;
    const double constants[] = {c->stiffness, c->damping, c->offset};
    struct record *r = at;

    if (!c->law.text) {
        return 0;
    }
    *r = (struct record){.active = c->active,
                         .slot = {site->slot[0], site->slot[1]},
                         .q_slot = {site->q_slot[0], site->q_slot[1]}};
    MECH_TRY(mech_force_law_init(&r->spring.law, &c->law, site, "springForceUserFunction", locals,
                                 constants));
    return 1;
}

static void release(void *at)
{
    mech_force_law_fini(&((struct record *)at)->spring.law);
}

/* The force at a point, with its derivatives by displacement and velocity (may be NULL). */
static double force_of(const struct record *r, const struct mech_eval *e, double *slope)
{
    const int32_t a = r->q_slot[0], b = r->q_slot[1];

    if (!r->active) {
        for (int k = 0; slope && k < 2; k++) {
            slope[k] = 0.;
        }
        return 0.;
    }
    return mech_spring_force(&r->spring, e, e->q[b] - e->q_ref[b] - (e->q[a] - e->q_ref[a]),
                             e->v[r->slot[1]] - e->v[r->slot[0]], slope);
}

static void force(void *records, size_t n, const struct mech_eval *e, double *g)
{
    for (struct record *r = records, *end = r + n; r < end; r++) {
        const double f = force_of(r, e, NULL);

        g[r->slot[1]] += f;
        g[r->slot[0]] -= f;
    }
}

static void tangent(void *records, size_t n, const struct mech_eval *e, const double c[3],
                    const int32_t *place, double *values)
{
    for (struct record *r = records, *end = r + n; r < end; r++, place += 4) {
        double slope[2];

        (void)force_of(r, e, slope);
        const double a = c[0] * slope[0] + c[1] * slope[1];

        values[place[0]] += a;
        values[place[1]] -= a;
        values[place[2]] -= a;
        values[place[3]] += a;
    }
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct coordinate_spring_damper *c = description;
    const int32_t a = view->q_slot[0], b = view->q_slot[1];
    const double u = view->at.q[b] - view->at.q_ref[b] - (view->at.q[a] - view->at.q_ref[a]);
    const double v = view->at.v[view->slot[1]] - view->at.v[view->slot[0]];
    double x = 0.;

    if (variable == MECH_OUTPUT_DISPLACEMENT) {
        x = u;
    } else if (variable == MECH_OUTPUT_VELOCITY) {
        x = v;
    } else if (variable == MECH_OUTPUT_FORCE && view->record) {
        x = force_of(view->record, &view->at, NULL);
    } else if (variable == MECH_OUTPUT_FORCE) {
        x = c->active ? c->stiffness * (u - c->offset) + c->damping * v : 0.;
    } else {
        return MECH_UNSUPPORTED;
    }
    *count = 1;
    if (capacity) {
        values[0] = x;
    }
    return 0;
}

static const struct mech_field fields[] = {
    {.name = "active",
     .kind = MECH_BOOL,
     .offset = offsetof(struct coordinate_spring_damper, active),
     .flags = MECH_TUNABLE,
     .preset = 1.,
     .doc = "whether it acts"},
    {.name = "damping",
     .kind = MECH_REAL,
     .offset = offsetof(struct coordinate_spring_damper, damping),
     .flags = MECH_TUNABLE,
     .unit = "N s/m or N m s/rad",
     MECH_ANY_REAL,
     .doc = "damping d"},
    {.name = "markers",
     .kind = MECH_REFS,
     .offset = offsetof(struct coordinate_spring_damper, markers),
     .flags = MECH_REQUIRED,
     .count = 2,
     .target = MECH_MARKER,
     .doc = "the two coordinates"},
    {.name = "offset",
     .kind = MECH_REAL,
     .offset = offsetof(struct coordinate_spring_damper, offset),
     .flags = MECH_TUNABLE,
     .unit = "m or rad",
     MECH_ANY_REAL,
     .doc = "displacement at which the spring is relaxed"},
    {.name = "springForceUserFunction",
     .kind = MECH_FORMULA,
     .offset = offsetof(struct coordinate_spring_damper, law),
     .locals = locals,
     .doc = "force law in u, v, t, k, d, offset instead of the linear one"},
    {.name = "stiffness",
     .kind = MECH_REAL,
     .offset = offsetof(struct coordinate_spring_damper, stiffness),
     .flags = MECH_TUNABLE,
     .unit = "N/m or N m/rad",
     MECH_ANY_REAL,
     .doc = "stiffness k"},
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_COORDINATE,
    .fit = fit,
    .linear = linear,
    .record_size = sizeof(struct record),
    .record_coordinates = 2,
    .record = record,
    .force = force,
    .tangent = tangent,
    .release = release,
    .outputs =
        1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_FORCE,
    .output = output,
};

const struct mech_item_type mech_item_connector_coordinate_spring_damper = {
    .name = "CoordinateSpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "CoordinateSpringDamper",
              .doc = "A spring-damper or force law between two coordinates. "
                     "Displacement and velocity are those of the second marker less "
                     "those of the first; a positive force pulls.",
              .size = sizeof(struct coordinate_spring_damper),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
