/* CoordinateVectorConstraint: linear (and quadratic) equations between the coordinates of two
 * markers. With X, Y the scaling and quadratic matrices, q total coordinates, q² by components:
 *
 *     position level   g = X₁ q₁ + Y₁ q₁² − X₀ q₀ − Y₀ q₀² − offset(t) = 0
 *     velocity level   (X₁ + 2 Y₁ diag q₁) v₁ − (X₀ + 2 Y₀ diag q₀) v₀ − offset(t) = 0
 *
 * Source: Exudyn's ObjectConnectorCoordinateVector. A marker of a single coordinate counts as a
 * vector of one. The output Force is λ, as Exudyn gives it, with the sign of −λ here. */
#include "solver/items/connector/coordinate_rows.h"
#include "solver/items/connector/pair.h"

#include <stddef.h>
#include <stdio.h>

struct vector_constraint {
    struct mech_refs markers;
    struct mech_mat scaling[2], quadratic[2];
    struct mech_values offset;
    bool active, velocity;
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
        mech_diag_add(site->diag, place, "no matrix defines the constraint");
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

static int record(const void *description, const struct mech_site *site, void *at)
{
    const struct vector_constraint *c = description;
    struct mech_coordinate_rows *const r = at;
    const bool curved = c->quadratic[0].rows || c->quadratic[1].rows;

    *r = (struct mech_coordinate_rows){
        .rows = rows(description, site), .n = site->n, .velocity = c->velocity};
    MECH_TRY(mech_coordinate_rows_new(r, site, curved));
    for (int k = 0; k < 2; k++) {
        const int32_t first = k ? site->first : 0;
        const double sign = k ? 1. : -1.;

        MECH_TRY(mech_coordinate_rows_add(r, site, &c->scaling[k], first, sign, r->X));
        if (curved) {
            MECH_TRY(mech_coordinate_rows_add(r, site, &c->quadratic[k], first, sign, r->Y));
        }
    }
    MECH_TRY(mech_coordinate_rows_offset(r, site, &c->offset, "offset"));
    return c->active;
}

static bool velocity(const void *description)
{
    return ((const struct vector_constraint *)description)->velocity;
}

static const struct mech_equation_ops equation = {
    MECH_COORDINATE_ROWS_OPERATIONS,
    .record = record,
    .rows = rows,
    .velocity = velocity,
    .stiffness = mech_coordinate_rows_stiffness,
};

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
     .doc = "the term subtracted from each equation: numbers, expressions in t and the "
            "parameters, or tables; default: none"},
    MATRIX("quadraticTermMarker0", quadratic[0],
           "factors of the squared coordinates of the first marker; default: none"),
    MATRIX("quadraticTermMarker1", quadratic[1],
           "factors of the squared coordinates of the second marker; default: none"),
    MATRIX("scalingMarker0", scaling[0],
           "factors of the first marker's coordinates, one row per equation; default: none"),
    MATRIX("scalingMarker1", scaling[1],
           "factors of the second marker's coordinates, one row per equation; default: none"),
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
    .output = mech_coordinate_rows_output,
};

const struct mech_item_type mech_item_connector_coordinate_vector_constraint = {
    .name = "CoordinateVectorConstraint",
    .category = MECH_OBJECT,
    .table = {.name = "CoordinateVectorConstraint",
              .doc =
                  "Linear or quadratic equations between the coordinates of two markers. The terms "
                  "of the second marker (scalingMarker1, quadraticTermMarker1), less those of the "
                  "first, are the offset; coordinates are total, reference plus displacement.",
              .size = sizeof(struct vector_constraint),
              MECH_FIELDS(fields)},
    .ops.object = &ops,
};
