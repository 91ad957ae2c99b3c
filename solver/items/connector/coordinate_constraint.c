/* CoordinateConstraint: one coordinate follows another, or time.
 *
 *     g = factorValue1 u₁ − u₀ − offset(t) = 0       u displacements from the reference
 *     factorValue1 v₁ − v₀ − offset(t) = 0           at velocity level
 *
 * Rotation markers give angles instead of u. The offset is a number, or a function of time; its
 * derivatives are those of the function or the points. At velocity level the function
 * is offsetUserFunction_t. Source: Exudyn's ObjectConnectorCoordinate. The output Force has
 * Exudyn's sign, −λ. */
#include "solver/items/connector/pair.h"
#include "solver/items/switches.h"

#include <stddef.h>
#include <stdio.h>

struct coordinate_constraint {
    struct mech_refs markers;
    double factor;
    struct mech_values offset; /* [1] */
    bool active, velocity;
    struct mech_formula law, law_t;
};

static const char *const locals[] = {"t", "offset", NULL};

struct record {
    bool velocity;
    double factor;
    struct mech_timed *given; /* value of the field offset, which a law reads; NULL: no law */
    struct mech_timed offset;
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct coordinate_constraint *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static void release(void *at)
{
    struct record *const r = at;

    if (r->given) {
        mech_timed_fini(r->given);
    }
    mech_timed_fini(&r->offset);
}

static int compile(const struct mech_scope *scope, const char *text, const char *field,
                   const struct mech_site *site, struct mech_expr **out)
{
    char place[2 * MECH_DIAG_PATH];

    snprintf(place, sizeof place, "%s/%s", site->path, field);
    return text ? mech_scope_compile(scope, text, place, site->diag, out) : 0;
}

/* The offset, or the speed, by a law, which reads the field offset. */
static int read_law(const struct coordinate_constraint *c, const struct mech_site *site,
                    struct record *r)
{
    const struct mech_formula *const law = c->velocity ? &c->law_t : &c->law;
    const char *const rate = c->velocity || !c->law_t.text ? law->partial[0] : c->law_t.text;
    const char *const field = c->velocity ? "offsetUserFunction_t" : "offsetUserFunction";
    struct mech_timed *const offset = &r->offset;
    struct mech_scope scope;

    if (!law->text) {
        return 0;
    }
    r->given = mech_arena_alloc(site->arena, 1, sizeof *r->given);
    if (!r->given || mech_scope_init(&scope, site->arena, locals, site->parameters, site->values)) {
        return MECH_NO_MEMORY;
    }
    *r->given = *offset;
    *offset = (struct mech_timed){.vars = scope.vars, .inner = r->given};
    int code = compile(&scope, law->text, field, site, &offset->value);
    if (code >= 0) {
        code = compile(&scope, rate, rate == law->partial[0] ? field : "offsetUserFunction_t", site,
                       &offset->rate);
    }
    return code < 0 ? code : 0;
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    static const char *const time_only[] = {"t", NULL};
    const struct coordinate_constraint *c = description;
    struct record *const r = at;
    struct mech_scope scope;
    char place[2 * MECH_DIAG_PATH];

    *r = (struct record){.factor = c->factor, .velocity = c->velocity};
    if (mech_scope_init(&scope, site->arena, time_only, site->parameters, site->values)) {
        return MECH_NO_MEMORY;
    }
    snprintf(place, sizeof place, "%s/offset", site->path);
    int code = mech_timed_read(&r->offset, &c->offset, 0, &scope, place, site->diag);
    if (code >= 0) {
        code = read_law(c, site, r);
    }
    if (code >= 0 && c->active) {
        code = mech_switches_timed(site->switches, &r->offset, site->item, 0);
    }
    if (code < 0) {
        release(r);
        return code;
    }
    return c->active;
}

static int32_t rows(const void *description)
{
    (void)description;
    return 1;
}

static void residual(void *record, double t, const struct mech_pose *const pose[2], double *g)
{
    const struct record *const r = record;

    if (!r->velocity) {
        g[0] = r->factor * pose[1]->p[0] - pose[0]->p[0] - mech_timed_value(&r->offset, t);
    }
}

static void jacobian(void *record, const struct mech_pose *const pose[2], double G[][12])
{
    (void)pose;
    G[0][0] = -1.;
    G[0][6] = ((const struct record *)record)->factor;
}

static void rate(void *record, double t, const struct mech_pose *const pose[2], double *gt,
                 double *bias)
{
    const struct record *const r = record;

    double y[3];

    (void)pose;
    mech_timed_motion(&r->offset, t, y);
    gt[0] = r->velocity ? -y[0] : -y[1];
    bias[0] = r->velocity ? -y[1] : -y[2];
}

static uint32_t velocity(const void *description)
{
    return ((const struct coordinate_constraint *)description)->velocity;
}

static const struct mech_pair_ops pair = {
    .record_size = sizeof(struct record),
    .record = record,
    .release = release,
    .rows = rows,
    .linear = true,
    .residual = residual,
    .jacobian = jacobian,
    .rate = rate,
    .velocity = velocity,
};

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    const struct record *const r = view->record;
    double x;

    (void)description;
    if (variable == MECH_OUTPUT_CONSTRAINT_EQUATION && r && r->velocity) {
        x = r->factor * view->pose[1]->v[0] - view->pose[0]->v[0] -
            mech_timed_value(&r->offset, view->at.t);
    } else if (variable == MECH_OUTPUT_DISPLACEMENT) {
        x = view->pose[1]->p[0] - view->pose[0]->p[0];
    } else if (variable == MECH_OUTPUT_VELOCITY) {
        x = view->pose[1]->v[0] - view->pose[0]->v[0];
    } else {
        return mech_joint_output(&pair, view, variable, capacity, values, count);
    }
    return mech_pair_give(&x, 1, capacity, values, count);
}

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(coordinate_constraint, active),
    {.name = "factorValue1",
     .kind = MECH_REAL,
     .offset = offsetof(struct coordinate_constraint, factor),
     .flags = MECH_TUNABLE,
     .unit = "",
     .preset = 1.,
     MECH_ANY_REAL,
     .doc = "factor of the second coordinate"},
    MECH_PAIR_FIELD_MARKERS(coordinate_constraint, markers),
    {.name = "offset",
     .kind = MECH_VALUES,
     .offset = offsetof(struct coordinate_constraint, offset),
     .flags = MECH_TUNABLE,
     .count = 1,
     .unit = "m or rad",
     MECH_ANY_REAL,
     .doc = "the second coordinate, times its factor, less the first one: a number, an "
            "expression in t and the parameters, or a table"},
    {.name = "offsetUserFunction",
     .kind = MECH_FORMULA,
     .offset = offsetof(struct coordinate_constraint, law),
     .locals = locals,
     .doc = "the offset as a function of t (and offset)"},
    {.name = "offsetUserFunction_t",
     .kind = MECH_FORMULA,
     .offset = offsetof(struct coordinate_constraint, law_t),
     .locals = locals,
     .doc = "time derivative of offsetUserFunction, found from that function if omitted; with "
            "velocityLevel the offset as a function of t (and offset)"},
    {.name = "velocityLevel",
     .kind = MECH_BOOL,
     .offset = offsetof(struct coordinate_constraint, velocity),
     .doc = "whether velocities are constrained; the offset is then a velocity"},
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_COORDINATE | 1u << MECH_MARKER_ROTATION,
    .pair = &pair,
    .outputs = 1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY |
               1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_CONSTRAINT_EQUATION,
    .output = output,
};

const struct mech_item_type mech_item_connector_coordinate_constraint = {
    .name = "CoordinateConstraint",
    .category = MECH_OBJECT,
    .table = {.name = "CoordinateConstraint",
              .doc = "One coordinate follows another, or a function of time. "
                     "factorValue1 times the displacement of the second marker, less "
                     "that of the first, is the offset.",
              .size = sizeof(struct coordinate_constraint),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
