/* Bases of small motions by the singular values of G in measures of inertia, its rows made alike;
 * see motions.h. Cost: 20 n³. */
#include "solver/analysis/motions.h"

#include "solver/base/err.h"
#include "solver/linalg/eig.h"
#include "solver/model/balance.h"
#include "solver/step/slopes.h"

#include <math.h>
#include <string.h>

/* Of the largest row with the same unit: a smaller one keeps that size, for it may be rounding. */
static const double least_row = 1e-5;

/* Rows of G that count. */
struct wanted {
    const struct mech_model *model;
    const struct mech_state *state;
    const double *values; /* of G */
    const enum mech_row_unit *unit;
    bool velocity; /* those at velocity level too */
    bool measured;
};

static bool counts(const struct wanted *w, int32_t r)
{
    return (w->velocity || !mech_model_joints(w->model)->velocity[r]) && w->state->open[r] == 0.;
}

/* G [count × n] by columns in measures of inertia; rows [count]: their units. */
static void measure(const struct mech_motions *b, const struct wanted *w, int32_t count, double *G,
                    enum mech_row_unit *units)
{
    const struct mech_joint_rows *const rows = mech_model_joints(w->model);
    size_t at = 0;

    for (int32_t r = 0; r < rows->count; r++) {
        if (!counts(w, r)) {
            continue;
        }
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            const int32_t i = rows->column[k];

            if (i < b->n) {
                G[(size_t)i * (size_t)count + at] += w->values[k] * b->size[i];
            }
        }
        units[at++] = w->unit[r];
    }
}

static double norm_of_row(const double *G, int32_t n, int32_t count, int32_t r)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum = hypot(sum, G[(size_t)i * (size_t)count + (size_t)r]);
    }
    return sum;
}

/* Rows of size 1, which does not change what they allow; of such a size that rounding does not
 * become a row. */
static void level(int32_t n, int32_t count, const enum mech_row_unit *units, double *G)
{
    double most[3] = {0.};

    for (int32_t r = 0; r < count; r++) {
        most[units[r]] = fmax(most[units[r]], norm_of_row(G, n, count, r));
    }
    most[MECH_ROW_OWN] = 0.;
    for (int32_t r = 0; r < count; r++) {
        const double size = fmax(norm_of_row(G, n, count, r), least_row * most[units[r]]);

        for (int32_t i = 0; i < n && size > 0.; i++) {
            G[(size_t)i * (size_t)count + (size_t)r] /= size;
        }
    }
}

static double dot(size_t n, const double *x, const double *y)
{
    double sum = 0.;

    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
    }
    return sum;
}

/* Gram–Schmidt, twice: "twice is enough" (W. Kahan; B. Parlett, The Symmetric Eigenvalue Problem,
 * 1980, 6.9) */
static void make_orthonormal(size_t n, size_t columns, double *Z)
{
    for (size_t k = 0; k < columns; k++) {
        double *const z = Z + k * n;

        for (int pass = 0; pass < 2; pass++) {
            const double size = sqrt(dot(n, z, z));

            for (size_t i = 0; i < n && size > 0.; i++) {
                z[i] /= size;
            }
            for (size_t j = 0; j < k; j++) {
                const double part = dot(n, Z + j * n, z);

                for (size_t i = 0; i < n; i++) {
                    z[i] -= part * Z[j * n + i];
                }
            }
        }
        const double size = sqrt(dot(n, z, z));

        for (size_t i = 0; i < n && size > 0.; i++) {
            z[i] /= size;
        }
    }
}

/* A basis of what they allow. */
static int basis_of(struct mech_motions *b, const struct wanted *w, double **basis,
                    int32_t *columns)
{
    const struct mech_joint_rows *const rows = mech_model_joints(w->model);
    const size_t n = (size_t)b->n;
    int32_t count = 0;

    *basis = mech_arena_alloc(&b->arena, n * n, sizeof **basis);
    double *const G = mech_arena_alloc(&b->arena, (size_t)rows->count * n, sizeof *G);
    enum mech_row_unit *const units =
        mech_arena_alloc(&b->arena, (size_t)rows->count, sizeof *units);
    if (!*basis || !G || !units) {
        return MECH_NO_MEMORY;
    }
    for (int32_t r = 0; r < rows->count; r++) {
        count += counts(w, r);
    }
    for (size_t i = 0; i < n && count == 0; i++) {
        (*basis)[i * (n + 1)] = 1.;
    }
    if (count > 0) {
        measure(b, w, count, G, units);
        level(b->n, count, units, G);
        MECH_TRY(mech_eig_null(count, b->n, G, *basis, columns));
    }
    for (size_t k = 0; k < (size_t)*columns * n; k++) {
        (*basis)[k] *= b->size[k % n];
    }
    if (!w->measured) {
        make_orthonormal(n, (size_t)*columns, *basis);
    }
    return 0;
}

static int measures_of(struct mech_motions *b, const struct mech_model *m,
                       const struct mech_eval *e)
{
    struct mech_slopes slopes;
    int code = mech_slopes_init(&slopes, m);
    double first = 0.;

    if (code == 0) {
        mech_slopes_at(&slopes, e);
    }
    for (int32_t i = 0; i < b->n && code == 0; i++) {
        const double own =
            slopes.M->kind == MECH_MAT_ZERO ? 0. : fabs(mech_mat_get(slopes.M, i, i));

        first = first > 0. ? first : own;
        b->size[i] = own > 0. ? sqrt(first / own) : 1.;
    }
    mech_slopes_fini(&slopes);
    return code;
}

int mech_motions_init(struct mech_motions *b, const struct mech_model *m,
                      const struct mech_state *s, bool measured)
{
    const struct mech_joint_rows *const rows = mech_model_joints(m);
    const struct mech_eval e = mech_model_point(m, s, s->at->time, s->q, s->v);
    const int32_t n = mech_model_sizes(m)->v;

    *b = (struct mech_motions){.n = n, .positions = n, .velocities = n};
    mech_arena_init(&b->arena, 0);
    if (rows->count == 0) {
        return 0;
    }
    double *const values =
        mech_arena_alloc(&b->arena, (size_t)rows->start[rows->count], sizeof *values);
    enum mech_row_unit *const unit = mech_arena_alloc(&b->arena, (size_t)rows->count, sizeof *unit);
    b->size = mech_arena_alloc(&b->arena, (size_t)n + 1, sizeof *b->size);
    if (!values || !unit || !b->size) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(measures_of(b, m, &e));
    mech_model_pose(m, &e);
    mech_model_joint_jacobian(m, values);
    mech_model_row_units(m, unit);
    struct wanted w = {m, s, values, unit, true, measured};
    MECH_TRY(basis_of(b, &w, &b->V, &b->velocities));
    if (rows->nonholonomic) {
        w.velocity = false;
        MECH_TRY(basis_of(b, &w, &b->Q, &b->positions));
    } else {
        b->Q = b->V;
        b->positions = b->velocities;
    }
    for (int32_t i = 0; i < n && !measured; i++) {
        b->size[i] = 1.;
    }
    return 0;
}

void mech_motions_fini(struct mech_motions *b)
{
    mech_arena_fini(&b->arena);
    *b = (struct mech_motions){0};
}

void mech_motions_column(int32_t n, const double *basis, int32_t j, double *out)
{
    if (basis) {
        memcpy(out, basis + (size_t)j * (size_t)n, (size_t)n * sizeof *out);
        return;
    }
    memset(out, 0, (size_t)n * sizeof *out);
    out[j] = 1.;
}

void mech_motions_project(const struct mech_motions *b, const double *basis, int32_t columns,
                          const double *x, double *out, size_t stride)
{
    const size_t n = (size_t)b->n;

    for (size_t k = 0; k < (size_t)columns; k++) {
        double sum = basis ? 0. : x[k];

        for (size_t i = 0; basis && i < n; i++) {
            sum += basis[k * n + i] / b->size[i] * (x[i] / b->size[i]);
        }
        out[k * stride] = sum;
    }
}
