/* Rows of the event-driven scheme; see event_driven_rows.h. Rows that are held are independent:
 * those that depend on others rest beside them, found by a bordered L D Lᵀ of A_hh. Cost of a v̇:
 * the entries of H and the columns of M⁻¹Hᵀ of the held rows, and their number squared. */
#include "solver/step/event_driven_rows.h"

#include "solver/base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* remainder of a row of A after the held ones that still counts as 0 */
static const double dependent = 1e-11;
/* accelerations that count as 0, relative to what they are sums of */
static const double still = 1e-12;

bool mech_event_rows_bilateral(const struct mech_event_rows *c, int32_t row)
{
    return c->rows->sets && c->rows->sets[row].kind == MECH_SET_BILATERAL;
}

bool mech_event_rows_suspended(const struct mech_event_rows *c, int32_t row)
{
    return mech_is_suspended(c->rows->suspended, row);
}

double mech_event_rows_dot(const struct mech_event_rows *c, int32_t row, const double *x)
{
    const struct mech_contact_rows *const rows = c->rows;
    double sum = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        sum += rows->value[k] * x[rows->column[k]];
    }
    return sum;
}

double mech_event_rows_size(const struct mech_event_rows *c, int32_t row, const double *x)
{
    const struct mech_contact_rows *const rows = c->rows;
    double sum = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        sum += fabs(rows->value[k] * x[rows->column[k]]);
    }
    return sum;
}

/* x += p × column `row` of M⁻¹Hᵀ */
static void push(const struct mech_event_rows *c, int32_t row, double p, double *x)
{
    const struct mech_contact_rows *const rows = c->rows;

    if (c->columns) {
        const double *const column = c->columns + (size_t)row * (size_t)c->nv;

        for (int32_t i = 0; i < c->nv; i++) {
            x[i] += p * column[i];
        }
        return;
    }
    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        x[rows->column[k]] += p * rows->value[k] * c->inverse[rows->column[k]];
    }
}

/* --- init ------------------------------------------------------------------------------------- */

static int choose(struct mech_event_rows *c)
{
    static const char *const usual[] = {"lemke", "semismooth", "psor", NULL};
    const char *const asked[] = {c->settings.type, NULL};
    const char *const *const names = asked[0] ? asked : usual;
    uint32_t kinds = 1u << MECH_SET_UNILATERAL;

    for (int32_t i = 0; i < c->rows->count; i++) {
        kinds |= mech_event_rows_bilateral(c, i) ? 1u << MECH_SET_BILATERAL : 0u;
    }
    for (int k = 0; k < MECH_EVENT_SOLVERS && names[k]; k++) {
        c->type[k] = mech_vi_find(names[k]);
        if (!c->type[k] || (kinds & ~c->type[k]->kinds) != 0) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(c->type[k]->create(c->rows->count, &c->solver[k]));
    }
    return 0;
}

static int allocate(struct mech_event_rows *c, bool diagonal)
{
    const size_t m = (size_t)c->rows->count, n = (size_t)c->nv;
    const size_t kept = diagonal ? n : m * n;

    c->memory = calloc(3 * m * m + kept + (6 + MECH_EVENT_STAGES) * m, sizeof *c->memory);
    c->list = calloc(2 * m, sizeof *c->list);
    c->sets = calloc(m, sizeof *c->sets);
    if (!c->memory || !c->list || !c->sets) {
        return MECH_NO_MEMORY;
    }
    double *at = c->memory;
    c->A = at, at += m * m;
    c->part = at, at += m * m;
    c->L = at, at += m * m;
    c->inverse = diagonal ? at : NULL;
    c->columns = diagonal ? NULL : at;
    at += kept;
    c->flags = at, at += m;
    c->r = at, at += m;
    c->P = at, at += m;
    c->best = at, at += m;
    c->lambda = at, at += m;
    c->size = at, at += m;
    c->log = at;
    c->held = c->list + m;
    return 0;
}

int mech_event_rows_init(struct mech_event_rows *c, const struct mech_model *m,
                         struct mech_rates *rates)
{
    const struct mech_mat *const M = mech_model_linear(m)->M;
    const struct mech_contact_rows *const rows = mech_model_contacts(m);
    const bool diagonal = M->kind == MECH_MAT_DIAG;

    *c = (struct mech_event_rows){.rows = rows,
                                  .settings = mech_model_settings(m)->vi,
                                  .interrupt = mech_model_interrupt(m),
                                  .nv = mech_model_sizes(m)->v,
                                  .rest = mech_model_settings(m)->events.rest_speed};
    const size_t count = (size_t)rows->count, n = (size_t)c->nv;
    if (count == 0) {
        return 0;
    }
    if (count > MECH_EVENT_ROWS_MOST || (!diagonal && count * n > MECH_EVENT_COLUMNS_MOST)) {
        return MECH_UNSUPPORTED;
    }
    MECH_TRY(choose(c));
    MECH_TRY(allocate(c, diagonal));
    for (size_t i = 0; diagonal && i < n; i++) {
        c->inverse[i] = 1. / M->values[i];
    }
    for (int32_t j = 0; j < rows->count; j++) {
        double *const column = diagonal ? NULL : c->columns + (size_t)j * n;

        for (int32_t k = rows->start[j]; !diagonal && k < rows->start[j + 1]; k++) {
            column[rows->column[k]] += rows->value[k];
        }
        if (!diagonal) {
            MECH_TRY(mech_lsol_solve(rates->mass, column, 1));
        }
    }
    double *const x = calloc(n + 1, sizeof *x);
    if (!x) {
        return MECH_NO_MEMORY;
    }
    for (int32_t j = 0; j < rows->count; j++) {
        memset(x, 0, n * sizeof *x);
        push(c, j, 1., x);
        for (int32_t i = 0; i < rows->count; i++) {
            c->A[(size_t)j * count + (size_t)i] = mech_event_rows_dot(c, i, x);
        }
    }
    free(x);
    return 0;
}

void mech_event_rows_fini(struct mech_event_rows *c)
{
    for (int k = 0; k < MECH_EVENT_SOLVERS; k++) {
        if (c->solver[k]) {
            c->type[k]->destroy(c->solver[k]);
        }
    }
    free(c->memory);
    free(c->list);
    free(c->sets);
    *c = (struct mech_event_rows){.rows = NULL};
}

/* --- held rows -------------------------------------------------------------------------------- */

/* Border L with this row; false: it depends on those that are held already. */
static bool border(struct mech_event_rows *c, int32_t row)
{
    const size_t m = (size_t)c->rows->count, n = (size_t)c->held_count;
    double *const l = c->L + n * m;
    const double size = c->A[(size_t)row * m + (size_t)row];
    double d = size;

    for (size_t j = 0; j < n; j++) {
        double sum = c->A[(size_t)c->held[j] * m + (size_t)row];

        for (size_t k = 0; k < j; k++) {
            sum -= l[k] * c->L[j * m + k] / c->L[k * m + k];
        }
        l[j] = sum * c->L[j * m + j];
        d -= l[j] * sum;
    }
    if (!(d > dependent * size)) {
        return false;
    }
    l[n] = 1. / d;
    c->held[c->held_count++] = row;
    return true;
}

void mech_event_rows_hold(struct mech_event_rows *c, const double *flags)
{
    const size_t bytes = (size_t)c->rows->count * sizeof *flags;

    if (bytes == 0 || memcmp(flags, c->flags, bytes) == 0) {
        return;
    }
    memcpy(c->flags, flags, bytes);
    c->held_count = 0;
    for (int32_t i = 0; i < c->rows->count; i++) {
        if (flags[i] == MECH_ROW_HELD) {
            (void)border(c, i);
        }
    }
}

/* x := A_hh⁻¹ x, x [held_count] */
static void solve_held(const struct mech_event_rows *c, double *x)
{
    const size_t m = (size_t)c->rows->count, n = (size_t)c->held_count;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++) {
            x[i] -= c->L[i * m + j] * x[j];
        }
    }
    for (size_t i = n; i-- > 0;) {
        x[i] *= c->L[i * m + i];
        for (size_t k = i + 1; k < n; k++) {
            x[i] -= c->L[k * m + i] * x[k];
        }
    }
}

/* x += M⁻¹H_hᵀ p with H_h x = 0 afterwards; p [held_count] in c->r */
static void clear_rows(struct mech_event_rows *c, double *x)
{
    for (int32_t i = 0; i < c->held_count; i++) {
        c->r[i] = -mech_event_rows_dot(c, c->held[i], x);
    }
    solve_held(c, c->r);
    for (int32_t i = 0; i < c->held_count; i++) {
        push(c, c->held[i], c->r[i], x);
    }
}

void mech_event_rows_project(struct mech_event_rows *c, double *v)
{
    clear_rows(c, v);
}

void mech_event_rows_apply(struct mech_event_rows *c, double *vdot)
{
    const size_t m = (size_t)c->rows->count;

    if (m == 0) {
        return;
    }
    memset(c->lambda, 0, m * sizeof *c->lambda);
    for (int32_t i = 0; i < c->rows->count; i++) {
        c->size[i] = c->flags[i] == MECH_ROW_OPEN ? 0. : mech_event_rows_size(c, i, vdot);
    }
    clear_rows(c, vdot);
    for (int32_t i = 0; i < c->held_count; i++) {
        c->lambda[c->held[i]] = c->r[i];
    }
    if (c->calls < MECH_EVENT_STAGES) {
        memcpy(c->log + (size_t)c->calls++ * m, c->lambda, m * sizeof *c->log);
    }
}

/* --- problems --------------------------------------------------------------------------------- */

/* The rows that touch into the list, their A and sets; how many. */
static int32_t gather(struct mech_event_rows *c, const bool *touch)
{
    const size_t m = (size_t)c->rows->count;
    int32_t n = 0;

    for (int32_t i = 0; i < c->rows->count; i++) {
        if (touch[i]) {
            c->sets[n] = (struct mech_set){
                .kind = mech_event_rows_bilateral(c, i) ? MECH_SET_BILATERAL : MECH_SET_UNILATERAL,
                .rows = 1};
            c->list[n++] = i;
        }
    }
    for (int32_t j = 0; j < n; j++) {
        for (int32_t i = 0; i < n; i++) {
            c->part[(size_t)j * (size_t)n + (size_t)i] =
                c->A[(size_t)c->list[j] * m + (size_t)c->list[i]];
        }
    }
    return n;
}

/* P of the problem with r, n rows. */
static int solve(struct mech_event_rows *c, int32_t n, struct mech_step_result *result)
{
    const struct mech_vi_limits limits = {c->settings.tolerance, c->settings.max_iterations,
                                          c->interrupt};
    const struct mech_mat N = {
        .kind = MECH_MAT_DENSE, .rows = n, .cols = n, .symmetric = true, .values = c->part};
    const struct mech_problem p = {.m = n, .N = &N, .r = c->r, .sets = c->sets, .count = n};
    const size_t bytes = (size_t)n * sizeof *c->P;
    double least = HUGE_VAL, residual = HUGE_VAL;
    int code = MECH_VI_NOT_CONVERGED;

    memset(c->P, 0, bytes);
    for (int k = 0; k < MECH_EVENT_SOLVERS && c->type[k] && code > 0; k++) {
        struct mech_vi_result vi = {.iterations = 0};

        code = c->type[k]->solve(c->solver[k], &p, &limits, c->P, &vi);
        result->vi_iterations += vi.iterations;
        result->residual = fmax(result->residual, code ? 0. : vi.residual);
        if (code == MECH_VI_NOT_CONVERGED && vi.acceptance < least) {
            least = vi.acceptance;
            residual = vi.residual;
            memcpy(c->best, c->P, bytes);
        }
    }
    if (code > 0 && least < HUGE_VAL) {
        memcpy(c->P, c->best, bytes);
        result->residual = residual;
        return c->settings.on_failure == MECH_ON_FAILURE_ACCEPT ? 0 : MECH_VI_NOT_CONVERGED;
    }
    return code;
}

int mech_event_rows_impact(struct mech_event_rows *c, const bool *touch, double *v, double *P,
                           struct mech_step_result *result)
{
    const int32_t n = gather(c, touch);

    for (int32_t i = 0; i < n; i++) {
        const int32_t row = c->list[i];
        const double speed = mech_event_rows_dot(c, row, v), e = c->rows->e[row];

        c->r[i] = speed + (-e * speed > c->rest ? e * speed : 0.);
    }
    MECH_TRY(solve(c, n, result));
    for (int32_t i = 0; i < n; i++) {
        push(c, c->list[i], c->P[i], v);
        P[c->list[i]] += c->P[i];
    }
    return 0;
}

/* Σ_j |A_ij P_j| of the gathered rows */
static double push_size(const struct mech_event_rows *c, int32_t n, int32_t i, double *sum)
{
    double size = 0.;

    *sum = c->r[i];
    for (int32_t j = 0; j < n; j++) {
        const double a = c->part[(size_t)j * (size_t)n + (size_t)i] * c->P[j];

        *sum += a;
        size += fabs(a);
    }
    return size;
}

int mech_event_rows_close(struct mech_event_rows *c, const bool *touch, const double *vdot,
                          double *flags, struct mech_step_result *result)
{
    const int32_t m = c->rows->count, n = gather(c, touch);

    for (int32_t i = 0; i < n; i++) {
        c->r[i] = mech_event_rows_dot(c, c->list[i], vdot);
    }
    MECH_TRY(n ? solve(c, n, result) : 0);
    for (int32_t i = 0; i < m; i++) {
        flags[i] = MECH_ROW_OPEN;
    }
    /* those that push first, then those that lie there without a push */
    c->held_count = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t i = 0; i < n; i++) {
            const int32_t row = c->list[i];
            const bool pushes = c->P[i] > 0. || mech_event_rows_bilateral(c, row);
            double w = 0.;
            const double size = push_size(c, n, i, &w) + mech_event_rows_size(c, row, vdot);

            if (pushes == (pass == 0) && (pushes || w <= still * size)) {
                flags[row] = border(c, row) ? MECH_ROW_HELD : MECH_ROW_RESTS;
            }
        }
    }
    /* the factors are those of ascending rows, independent of the history */
    memset(c->flags, 0, (size_t)m * sizeof *c->flags);
    c->held_count = 0;
    mech_event_rows_hold(c, flags);
    return 0;
}
