/* CoordinateSpringDamper: spring, damper or force law between two coordinates.
 *
 *     u = u₁ − u₀,  v = v₁ − v₀           displacements from the reference (Exudyn's convention)
 *     f = k (u − offset) + d v            or   f = F(u, v, t, k, d, offset)
 *     left-hand side: + f at coordinate 1, − f at coordinate 0
 *
 * The linear form is folded into K and C. A force law becomes a record; its tangent is [a −a; −a a]
 * with a = c_q ∂F/∂u + c_v ∂F/∂v, from the partial derivatives given with the law or by central
 * differences of step ε^(1/3) max(1, |x|). Source: Exudyn's object of that name. */
#include "solver/base/err.h"
#include "solver/items/ops.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct coordinate_spring_damper {
    struct mech_refs markers; /* [2] */
    double stiffness, damping, offset;
    bool active;
    struct mech_formula law;
};

enum { U, V, T, K, D, OFFSET };
static const char *const locals[] = {"u", "v", "t", "k", "d", "offset", NULL};

struct record {
    int32_t slot[2], q_slot[2];
    double *vars; /* u v t k d offset, parameters */
    struct mech_expr *force, *partial[2];
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
    struct record *r = at;
    struct mech_scope scope;
    char place[2 * MECH_DIAG_PATH];

    if (!c->active || !c->law.text) {
        return 0;
    }
    *r = (struct record){.slot = {site->slot[0], site->slot[1]},
                         .q_slot = {site->q_slot[0], site->q_slot[1]}};
    if (mech_scope_init(&scope, site->arena, locals, site->parameters, site->values)) {
        return MECH_NO_MEMORY;
    }
    r->vars = scope.vars;
    r->vars[K] = c->stiffness;
    r->vars[D] = c->damping;
    r->vars[OFFSET] = c->offset;
    snprintf(place, sizeof place, "%s/springForceUserFunction", site->path);
    int result = mech_scope_compile(&scope, c->law.text, place, site->diag, &r->force);
    for (int i = 0; i < 2 && result >= 0; i++) {
        if (c->law.partial[i]) {
            result =
                mech_scope_compile(&scope, c->law.partial[i], place, site->diag, &r->partial[i]);
        }
    }
    return result < 0 ? result : 1;
}

static void release(void *at)
{
    struct record *r = at;

    mech_expr_destroy(r->force);
    mech_expr_destroy(r->partial[0]);
    mech_expr_destroy(r->partial[1]);
}

/* Put the point into the variables of the law. */
static void place_variables(struct record *r, const struct mech_eval *e)
{
    const int32_t a = r->q_slot[0], b = r->q_slot[1];

    r->vars[U] = e->q[b] - e->q_ref[b] - (e->q[a] - e->q_ref[a]);
    r->vars[V] = e->v[r->slot[1]] - e->v[r->slot[0]];
    r->vars[T] = e->t;
}

static void force(void *records, size_t n, const struct mech_eval *e, double *g)
{
    for (struct record *r = records, *end = r + n; r < end; r++) {
        place_variables(r, e);
        const double f = mech_expr_value(r->force);

        g[r->slot[1]] += f;
        g[r->slot[0]] -= f;
    }
}

/* ∂F/∂(variable i) at the point in the variables. */
static double slope(struct record *r, int i)
{
    if (r->partial[i]) {
        return mech_expr_value(r->partial[i]);
    }
    /* cbrt(DBL_EPSILON): truncation and rounding of a central difference balance */
    const double x = r->vars[i], h = 6.0554544523933395e-06 * fmax(1., fabs(x));

    r->vars[i] = x + h;
    const double above = mech_expr_value(r->force);
    r->vars[i] = x - h;
    const double below = mech_expr_value(r->force);
    r->vars[i] = x;
    return (above - below) / (2. * h);
}

static void tangent(void *records, size_t n, const struct mech_eval *e, const double c[2],
                    const int32_t *place, double *values)
{
    for (struct record *r = records, *end = r + n; r < end; r++, place += 4) {
        place_variables(r, e);
        const double a = c[0] * slope(r, U) + c[1] * slope(r, V);

        values[place[0]] += a;
        values[place[1]] -= a;
        values[place[2]] -= a;
        values[place[3]] += a;
    }
}

static bool differenced(const void *at)
{
    const struct record *r = at;

    return !r->partial[0] || !r->partial[1];
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
        struct record *r = view->record;

        place_variables(r, &view->at);
        x = mech_expr_value(r->force);
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
     .preset = 1.,
     .doc = "whether it acts"},
    {.name = "damping",
     .kind = MECH_REAL,
     .offset = offsetof(struct coordinate_spring_damper, damping),
     .flags = MECH_TUNABLE,
     .unit = "N s/m",
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
     .unit = "m",
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
     .unit = "N/m",
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
    .differenced = differenced,
    .release = release,
    .outputs =
        1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY | 1u << MECH_OUTPUT_FORCE,
    .output = output,
};

const struct mech_item_type mech_item_connector_coordinate_spring_damper = {
    .name = "CoordinateSpringDamper",
    .category = MECH_OBJECT,
    .table = {.name = "CoordinateSpringDamper",
              .doc = "A spring-damper or force law between two coordinates.",
              .size = sizeof(struct coordinate_spring_damper),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
