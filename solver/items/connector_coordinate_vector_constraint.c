/* CoordinateVectorConstraint: linear (and quadratic) equations between the coordinates of two
 * markers. With X, Y the scaling and quadratic matrices, q total coordinates, q² by components:
 *
 *     position level   g = X₁ q₁ + Y₁ q₁² − X₀ q₀ − Y₀ q₀² − offset(t) = 0
 *     velocity level   (X₁ + 2 Y₁ diag q₁) v₁ − (X₀ + 2 Y₀ diag q₀) v₀ − offset(t) = 0
 *
 * Source: Exudyn's ObjectConnectorCoordinateVector. A marker of a single coordinate counts as a
 * vector of one. The output Force is λ, as Exudyn gives it, with the sign of −λ here. */
#include "solver/items/pair.h"
#include "solver/items/timed.h"
#include "solver/linalg/mat_walk.h"

#include <stddef.h>
#include <stdio.h>

struct vector_constraint {
    struct mech_refs markers;
    struct mech_mat scaling[2], quadratic[2];
    struct mech_values offset;
    bool active, velocity;
};

struct record {
    int32_t rows, n;
    bool velocity;
    double *X, *Y;             /* [rows][n]; Y NULL: none */
    struct mech_timed *offset; /* [rows] */
};

static void markers(const void *description, struct mech_attachment *out)
{
    const struct vector_constraint *c = description;

    *out = (struct mech_attachment){
        .refs = c->markers.refs, .n = c->markers.n, .field = "markers", .list = true};
}

static int32_t rows(const void *description, const struct mech_site *site)
{
    const struct vector_constraint *c = description;
    int32_t most = 0;

    (void)site;
    for (int k = 0; k < 2; k++) {
        most = c->scaling[k].rows > most ? c->scaling[k].rows : most;
        most = c->quadratic[k].rows > most ? c->quadratic[k].rows : most;
    }
    return most;
}

static void fit(const void *description, const struct mech_site *site)
{
    static const char *const names[] = {"scalingMarker0", "scalingMarker1", "quadraticTermMarker0",
                                        "quadraticTermMarker1"};
    const struct vector_constraint *c = description;
    const struct mech_mat *const given[] = {&c->scaling[0], &c->scaling[1], &c->quadratic[0],
                                            &c->quadratic[1]};
    const int32_t count = rows(description, site);
    char place[2 * MECH_DIAG_PATH];

    if (count == 0) {
        snprintf(place, sizeof place, "%s/scalingMarker1", site->path);
        mech_diag_add(site->diag, place, "no matrix says what is constrained");
    }
    for (int i = 0; i < 4; i++) {
        const int32_t cols = i % 2 ? site->n - site->first : site->first;

        if (given[i]->rows != 0 && (given[i]->rows != count || given[i]->cols != cols)) {
            snprintf(place, sizeof place, "%s/%s", site->path, names[i]);
            mech_diag_add(site->diag, place, "is %d x %d, must be %d x %d: equations x coordinates",
                          (int)given[i]->rows, (int)given[i]->cols, (int)count, (int)cols);
        }
    }
    if (c->offset.n != 0 && c->offset.n != (size_t)count) {
        snprintf(place, sizeof place, "%s/offset", site->path);
        mech_diag_add(site->diag, place, "has %zu numbers, there are %d equations", c->offset.n,
                      (int)count);
    }
}

/* to [rows][n] += sign · A in the columns of marker k */
static int spread(const struct mech_site *site, const struct mech_mat *A, int k, double *to)
{
    struct mech_triplet *t = NULL;
    size_t n = 0;

    if (A->rows == 0 || A->cols == 0) {
        return 0;
    }
    MECH_TRY(mech_mat_triplets(site->arena, A, &t, &n));
    for (size_t i = 0; i < n; i++) {
        to[(size_t)t[i].row * (size_t)site->n + (size_t)(t[i].col + (k ? site->first : 0))] +=
            k ? t[i].value : -t[i].value;
    }
    return 0;
}

static void release(void *at)
{
    const struct record *const r = at;

    for (int32_t i = 0; i < r->rows && r->offset; i++) {
        mech_timed_fini(&r->offset[i]);
    }
}

static int read_offset(const struct vector_constraint *c, const struct mech_site *site,
                       struct record *r)
{
    static const char *const locals[] = {"t", NULL};
    struct mech_scope scope = {.count = 0};

    for (size_t i = 0; i < c->offset.n; i++) {
        char place[2 * MECH_DIAG_PATH];

        if (!scope.count) {
            MECH_TRY(mech_scope_init(&scope, site->arena, locals, site->parameters, site->values));
        }
        snprintf(place, sizeof place, "%s/offset/%zu", site->path, i);
        MECH_TRY(mech_timed_read(&r->offset[i], &c->offset, i, &scope, place, site->diag));
    }
    return 0;
}

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct vector_constraint *c = description;
    struct record *const r = at;

    *r = (struct record){.rows = rows(description, site), .n = site->n, .velocity = c->velocity};
    if (!c->active) {
        return 0;
    }
    const size_t entries = (size_t)r->rows * (size_t)r->n;
    const bool curved = c->quadratic[0].rows || c->quadratic[1].rows;

    r->X = mech_arena_alloc(site->arena, entries, sizeof *r->X);
    r->Y = curved ? mech_arena_alloc(site->arena, entries, sizeof *r->Y) : NULL;
    r->offset = mech_arena_alloc(site->arena, (size_t)r->rows, sizeof *r->offset);
    if (!r->X || !r->offset || (curved && !r->Y)) {
        return MECH_NO_MEMORY;
    }
    for (int k = 0; k < 2; k++) {
        MECH_TRY(spread(site, &c->scaling[k], k, r->X));
        if (curved) {
            MECH_TRY(spread(site, &c->quadratic[k], k, r->Y));
        }
    }
    const int code = read_offset(c, site, r);
    if (code) {
        release(r);
        return code;
    }
    return 1;
}

static bool velocity(const void *description)
{
    return ((const struct vector_constraint *)description)->velocity;
}

static void residual(void *record, const struct mech_equation_point *at, double *g)
{
    const struct record *const r = record;

    for (int32_t i = 0; i < r->rows; i++) {
        const double *const X = r->X + (size_t)i * (size_t)r->n;
        const double *const Y = r->Y ? r->Y + (size_t)i * (size_t)r->n : NULL;

        g[i] = -mech_timed_value(&r->offset[i], at->t);
        for (int32_t k = 0; k < r->n; k++) {
            g[i] += (X[k] + (Y ? Y[k] * at->q[k] : 0.)) * at->q[k];
        }
    }
}

static void jacobian(void *record, const struct mech_equation_point *at, double *G)
{
    const struct record *const r = record;
    const size_t entries = (size_t)r->rows * (size_t)r->n;

    for (size_t k = 0; k < entries; k++) {
        G[k] = r->X[k] + (r->Y ? 2. * r->Y[k] * at->q[k % (size_t)r->n] : 0.);
    }
}

static void rate(void *record, const struct mech_equation_point *at, double *gt, double *bias)
{
    const struct record *const r = record;

    for (int32_t i = 0; i < r->rows; i++) {
        const struct mech_timed *const offset = &r->offset[i];

        gt[i] = r->velocity ? -mech_timed_value(offset, at->t) : -mech_timed_rate(offset, at->t);
        bias[i] =
            r->velocity ? -mech_timed_rate(offset, at->t) : -mech_timed_curvature(offset, at->t);
        for (int32_t k = 0; k < r->n && r->Y; k++) {
            bias[i] += 2. * r->Y[(size_t)i * (size_t)r->n + (size_t)k] * at->v[k] * at->v[k];
        }
    }
}

static void stiffness(void *record, const struct mech_equation_point *at, const double *lambda,
                      double *K)
{
    const struct record *const r = record;

    (void)at;
    for (int32_t i = 0; i < r->rows && r->Y; i++) {
        for (int32_t k = 0; k < r->n; k++) {
            K[(size_t)k * (size_t)(r->n + 1)] +=
                2. * r->Y[(size_t)i * (size_t)r->n + (size_t)k] * lambda[i];
        }
    }
}

static const struct mech_equation_ops equation = {
    .record_size = sizeof(struct record),
    .record = record,
    .release = release,
    .rows = rows,
    .velocity = velocity,
    .residual = residual,
    .jacobian = jacobian,
    .rate = rate,
    .stiffness = stiffness,
};

/* what is left of the equations: at velocity level G v + g_t */
static double left_of(const struct mech_view *view, int32_t row)
{
    const struct record *const r = view->record;
    const struct mech_equation_point *const at = view->point;
    const double *const X = r->X + (size_t)row * (size_t)r->n;
    const double *const Y = r->Y ? r->Y + (size_t)row * (size_t)r->n : NULL;
    double sum = -mech_timed_value(&r->offset[row], at->t);

    for (int32_t k = 0; k < r->n; k++) {
        const double by = Y ? Y[k] * at->q[k] : 0.;

        sum += r->velocity ? (X[k] + 2. * by) * at->v[k] : (X[k] + by) * at->q[k];
    }
    return sum;
}

static int output(const void *description, const struct mech_view *view, enum mech_output variable,
                  size_t capacity, double *values, size_t *count)
{
    (void)description;
    if (view->record && variable == MECH_OUTPUT_FORCE && !view->lambda && capacity) {
        return MECH_UNSUPPORTED;
    }
    *count = (size_t)view->rows;
    for (int32_t i = 0; i < view->rows && (size_t)i < capacity; i++) {
        values[i] = !view->record                   ? 0.
                    : variable == MECH_OUTPUT_FORCE ? -view->lambda[i]
                                                    : left_of(view, i);
    }
    return 0;
}

#define MATRIX(key, at, text)                                                                      \
    {                                                                                              \
        .name = key, .kind = MECH_MATRIX, .offset = offsetof(struct vector_constraint, at),        \
        .unit = NULL, MECH_ANY_REAL, .doc = text                                                   \
    }

static const struct mech_field fields[] = {
    MECH_PAIR_FIELD_ACTIVE(vector_constraint, active),
    MECH_PAIR_FIELD_MARKERS(vector_constraint, markers),
    {.name = "offset",
     .kind = MECH_VALUES,
     .offset = offsetof(struct vector_constraint, offset),
     .unit = NULL,
     MECH_ANY_REAL,
     .doc = "what is subtracted from each equation: numbers, expressions in t and the "
            "parameters, or tables; none without it"},
    MATRIX("quadraticTermMarker0", quadratic[0],
           "factors of the squared coordinates of the first marker; none without it"),
    MATRIX("quadraticTermMarker1", quadratic[1],
           "factors of the squared coordinates of the second marker; none without it"),
    MATRIX("scalingMarker0", scaling[0],
           "factors of the first marker's coordinates, a row an equation; none without it"),
    MATRIX("scalingMarker1", scaling[1],
           "factors of the second marker's coordinates, a row an equation; none without it"),
    {.name = "velocityLevel",
     .kind = MECH_BOOL,
     .offset = offsetof(struct vector_constraint, velocity),
     .doc = "whether velocities are constrained; the offset is then a velocity"},
};

static const struct mech_object_ops ops = {
    .markers = markers,
    .marker_kinds = 1u << MECH_MARKER_COORDINATE | 1u << MECH_MARKER_COORDINATES,
    .fit = fit,
    .equation = &equation,
    .outputs = 1u << MECH_OUTPUT_FORCE | 1u << MECH_OUTPUT_CONSTRAINT_EQUATION,
    .output = output,
};

const struct mech_item_type mech_item_connector_coordinate_vector_constraint = {
    .name = "CoordinateVectorConstraint",
    .category = MECH_OBJECT,
    .table = {.name = "CoordinateVectorConstraint",
              .doc = "Linear or quadratic equations between the coordinates of two markers.",
              .size = sizeof(struct vector_constraint),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
