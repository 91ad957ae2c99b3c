/* Linear and quadratic rows between coordinates.
 *
 *     g_i = Σ X_ik q_k + Y_ik q_k² − offset_i(t),   G_ik = X_ik + 2 Y_ik q_k
 *     g̈ − G v̇ = Σ 2 Y_ik v_k² − offset_i'',   ∂(Gᵀ λ)_k/∂q_k = Σ 2 Y_ik λ_i */
#include "solver/items/connector/coordinate_rows.h"

#include "solver/base/err.h"
#include "solver/items/switches.h"
#include "solver/linalg/mat_walk.h"

#include <stdio.h>

int mech_coordinate_rows_new(struct mech_coordinate_rows *r, const struct mech_site *site,
                             bool curved)
{
    const size_t entries = (size_t)r->rows * (size_t)r->n;

    r->X = mech_arena_alloc(site->arena, entries, sizeof *r->X);
    r->Y = curved ? mech_arena_alloc(site->arena, entries, sizeof *r->Y) : NULL;
    r->offset = mech_arena_alloc(site->arena, (size_t)r->rows, sizeof *r->offset);
    return !r->X || !r->offset || (curved && !r->Y) ? MECH_NO_MEMORY : 0;
}

int mech_coordinate_rows_add(const struct mech_coordinate_rows *r, const struct mech_site *site,
                             const struct mech_mat *A, int32_t first, double sign, double *to)
{
    struct mech_triplet *t = NULL;
    size_t n = 0;

    if (A->rows == 0 || A->cols == 0) {
        return 0;
    }
    MECH_TRY(mech_mat_triplets(site->arena, A, &t, &n));
    for (size_t i = 0; i < n; i++) {
        to[(size_t)t[i].row * (size_t)r->n + (size_t)(t[i].col + first)] += sign * t[i].value;
    }
    return 0;
}

void mech_coordinate_rows_release(void *record)
{
    const struct mech_coordinate_rows *const r = record;

    for (int32_t i = 0; i < r->rows && r->offset; i++) {
        mech_timed_fini(&r->offset[i]);
    }
}

int mech_coordinate_rows_offset(struct mech_coordinate_rows *r, const struct mech_site *site,
                                const struct mech_values *offset, const char *field)
{
    static const char *const locals[] = {"t", NULL};
    struct mech_scope scope = {.count = 0};
    int code = 0;

    for (size_t i = 0; i < offset->n && code == 0; i++) {
        char place[2 * MECH_DIAG_PATH];

        if (!scope.count) {
            MECH_TRY(mech_scope_init(&scope, site->arena, locals, site->parameters, site->values));
        }
        snprintf(place, sizeof place, "%s/%s/%zu", site->path, field, i);
        code = mech_timed_read(&r->offset[i], offset, i, &scope, place, site->diag);
        code = code ? code
                    : mech_switches_timed(site->switches, &r->offset[i], site->item, (int32_t)i);
    }
    if (code) {
        mech_coordinate_rows_release(r);
    }
    return code;
}

int mech_coordinate_rows_offset_at(struct mech_coordinate_rows *r, const struct mech_site *site,
                                   int32_t row, const struct mech_values *offset, const char *field)
{
    static const char *const locals[] = {"t", NULL};
    struct mech_scope scope;
    char place[2 * MECH_DIAG_PATH];

    MECH_TRY(mech_scope_init(&scope, site->arena, locals, site->parameters, site->values));
    snprintf(place, sizeof place, "%s/%s", site->path, field);
    MECH_TRY(mech_timed_read(&r->offset[row], offset, 0, &scope, place, site->diag));
    return mech_switches_timed(site->switches, &r->offset[row], site->item, row);
}

void mech_coordinate_rows_residual(void *record, const struct mech_equation_point *at, double *g)
{
    const struct mech_coordinate_rows *const r = record;

    for (int32_t i = 0; i < r->rows; i++) {
        const double *const X = r->X + (size_t)i * (size_t)r->n;
        const double *const Y = r->Y ? r->Y + (size_t)i * (size_t)r->n : NULL;

        g[i] = -mech_timed_value(&r->offset[i], at->t);
        for (int32_t k = 0; k < r->n; k++) {
            g[i] += (X[k] + (Y ? Y[k] * at->q[k] : 0.)) * at->q[k];
        }
    }
}

void mech_coordinate_rows_jacobian(void *record, const struct mech_equation_point *at, double *G)
{
    const struct mech_coordinate_rows *const r = record;
    const size_t entries = (size_t)r->rows * (size_t)r->n;

    for (size_t k = 0; k < entries; k++) {
        G[k] = r->X[k] + (r->Y ? 2. * r->Y[k] * at->q[k % (size_t)r->n] : 0.);
    }
}

void mech_coordinate_rows_rate(void *record, const struct mech_equation_point *at, double *gt,
                               double *bias)
{
    const struct mech_coordinate_rows *const r = record;

    for (int32_t i = 0; i < r->rows; i++) {
        double y[3];

        mech_timed_motion(&r->offset[i], at->t, y);
        gt[i] = r->velocity ? -y[0] : -y[1];
        bias[i] = r->velocity ? -y[1] : -y[2];
        for (int32_t k = 0; k < r->n && r->Y; k++) {
            bias[i] += 2. * r->Y[(size_t)i * (size_t)r->n + (size_t)k] * at->v[k] * at->v[k];
        }
    }
}

void mech_coordinate_rows_stiffness(void *record, const struct mech_equation_point *at,
                                    const double *lambda, double *K)
{
    const struct mech_coordinate_rows *const r = record;

    (void)at;
    for (int32_t i = 0; i < r->rows && r->Y; i++) {
        for (int32_t k = 0; k < r->n; k++) {
            K[(size_t)k * (size_t)(r->n + 1)] +=
                2. * r->Y[(size_t)i * (size_t)r->n + (size_t)k] * lambda[i];
        }
    }
}

bool mech_coordinate_rows_constant(const void *record)
{
    return !((const struct mech_coordinate_rows *)record)->Y;
}

/* residual of the equations: at velocity level G v + g_t */
static double left_of(const struct mech_view *view, int32_t row)
{
    const struct mech_coordinate_rows *const r = view->record;
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

int mech_coordinate_rows_output(const void *description, const struct mech_view *view,
                                enum mech_output variable, size_t capacity, double *values,
                                size_t *count)
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
