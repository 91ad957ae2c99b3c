/* CoordinateConstraint: one coordinate follows another, or time.
 *
 *     g = factorValue1 u₁ − u₀ − offset(t) = 0       u displacements from the reference
 *
 * The offset is a number, or a function of time; its rate comes with the function, or from
 * differences. Source: Exudyn's ObjectConnectorCoordinate. The output Force has Exudyn's sign, −λ.
 */
#include "solver/items/pair.h"
#include "solver/items/timed.h"

#include <stddef.h>
#include <stdio.h>

struct coordinate_constraint {
    struct mech_refs markers;
    double factor, offset;
    bool active;
    struct mech_formula law;
};

enum { OFFSET = 1 };
static const char *const locals[] = {"t", "offset", NULL};

struct record {
    double factor;
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
    mech_timed_fini(&((struct record *)at)->offset);
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct coordinate_constraint *c = description;
    struct record *const r = at;
    struct mech_timed *const offset = &r->offset;
    struct mech_scope scope;
    char place[2 * MECH_DIAG_PATH];

    *r = (struct record){.factor = c->factor, .offset.number = c->offset};
    if (!c->active || !c->law.text) {
        return c->active;
    }
    if (mech_scope_init(&scope, site->arena, locals, site->parameters, site->values)) {
        return MECH_NO_MEMORY;
    }
    offset->vars = scope.vars;
    offset->vars[OFFSET] = c->offset;
    snprintf(place, sizeof place, "%s/offsetUserFunction", site->path);
    int code = mech_scope_compile(&scope, c->law.text, place, site->diag, &offset->value);
    if (code >= 0 && c->law.partial[0]) {
        code = mech_scope_compile(&scope, c->law.partial[0], place, site->diag, &offset->rate);
    }
    if (code < 0) {
        release(r);
        return code;
    }
    return 1;
}

static int32_t rows(const void *description)
{
    (void)description;
    return 1;
}

static void residual(void *record, double t, const struct mech_pose *const pose[2], double *g)
{
    const struct record *const r = record;

    g[0] = r->factor * pose[1]->p[0] - pose[0]->p[0] - mech_timed_value(&r->offset, t);
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

    (void)pose;
    gt[0] = -mech_timed_rate(&r->offset, t);
    bias[0] = -mech_timed_curvature(&r->offset, t);
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
};

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    double x;

    (void)description;
    if (variable == MECH_OUTPUT_DISPLACEMENT) {
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
     .kind = MECH_REAL,
     .offset = offsetof(struct coordinate_constraint, offset),
     .flags = MECH_TUNABLE,
     .unit = "m or rad",
     MECH_ANY_REAL,
     .doc = "what the second coordinate, times its factor, is more than the first"},
    {.name = "offsetUserFunction",
     .kind = MECH_FORMULA,
     .offset = offsetof(struct coordinate_constraint, law),
     .locals = locals,
     .doc = "the offset as a function of t (and offset)"},
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_COORDINATE,
    .pair = &pair,
    .outputs = 1u << MECH_OUTPUT_DISPLACEMENT | 1u << MECH_OUTPUT_VELOCITY |
               1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_CONSTRAINT_EQUATION,
    .output = output,
};

const struct mech_item_type mech_item_connector_coordinate_constraint = {
    .name = "CoordinateConstraint",
    .category = MECH_OBJECT,
    .table = {.name = "CoordinateConstraint",
              .doc = "One coordinate follows another, or a function of time.",
              .size = sizeof(struct coordinate_constraint),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
