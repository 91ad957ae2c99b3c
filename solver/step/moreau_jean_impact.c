/* Impacts of the Moreau–Jean scheme: which contact rows are active, and their impulses
 *
 *     w = A P + H v_free + e ẏ_k,   0 ≤ w ⊥ P ≥ 0      (Newton's law, w = ẏ_{k+1} + e ẏ_k)
 *
 * or the law of the contact: friction, equality, relay (sys/sets.h).
 *
 * A = H W⁻¹ Hᵀ of all rows is made once per h; a step gathers the active part of it. Where W is
 * diagonal, W⁻¹HᵀP is added entry by entry of H; otherwise by kept columns of W⁻¹Hᵀ, or by one more
 * solve when they would take too much memory. The impulses of the last step start the next.
 * Cost of a step without active rows: the entries of H twice.
 */
#include "solver/step/moreau_jean.h"

#include "solver/base/err.h"
#include "solver/vi/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int32_t row_count(const struct mech_impacts *c)
{
    return c->rows == NULL ? 0 : c->rows->count;
}

/* Mask of the kinds of all contacts. */
static uint32_t kinds_of(const struct mech_contact_rows *rows)
{
    uint32_t kinds = 0;
    for (int32_t i = 0; rows->sets != NULL && i < rows->contacts; i++) {
        kinds |= 1u << rows->sets[i].kind;
    }
    return rows->sets != NULL ? kinds : 1u << MECH_SET_UNILATERAL;
}

/* Complementarity solvers in their order: the one that was asked for, or the usual ones. */
static int choose(struct mech_impacts *c)
{
    const int32_t count = row_count(c);
    const uint32_t kinds = kinds_of(c->rows);
    const char *const asked[] = {c->settings.vi.type, NULL};
    const char *const *const names = asked[0] != NULL ? asked : mech_vi_default(kinds, count);
    for (int k = 0; k < MECH_IMPACT_SOLVERS && names[k] != NULL; k++) {
        c->type[k] = mech_vi_find(names[k]);
        if (c->type[k] == NULL || (kinds & ~c->type[k]->kinds) != 0) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(c->type[k]->create(count, &c->solver[k]));
    }
    return 0;
}

int mech_impacts_init(struct mech_impacts *c, const struct mech_contact_rows *rows,
                      const struct mech_free_motion *motion,
                      const struct mech_moreau_jean_settings *settings)
{
    *c = (struct mech_impacts){.rows = rows, .motion = motion, .settings = *settings};
    const size_t count = (size_t)row_count(c), n = (size_t)motion->part->nv;
    if (count == 0) {
        return 0;
    }
    if (count > MECH_CONTACT_ROWS_MOST) {
        return MECH_UNSUPPORTED;
    }
    MECH_TRY(choose(c));
    const bool keep = motion->inverse == NULL && count * n <= MECH_CONTACT_COLUMNS_MOST;
    const size_t columns = keep ? count * n : 0;
    c->memory = calloc(2 * count * count + columns + n + 4 * count, sizeof *c->memory);
    c->active = calloc(count, sizeof *c->active);
    if (rows->sets != NULL) {
        c->sets = calloc((size_t)rows->contacts, sizeof *c->sets);
    }
    if (c->memory == NULL || c->active == NULL || (rows->sets != NULL && c->sets == NULL)) {
        return MECH_NO_MEMORY;
    }
    c->A = c->memory;
    c->part = c->A + count * count;
    double *next = c->part + count * count;
    c->columns = keep ? next : NULL;
    next += columns;
    c->work = next;
    c->speed = c->work + n;
    c->b = c->speed + count;
    c->P = c->b + count;
    c->best = c->P + count;
    return 0;
}

void mech_impacts_fini(struct mech_impacts *c)
{
    for (int k = 0; k < MECH_IMPACT_SOLVERS; k++) {
        if (c->solver[k] != NULL) {
            c->type[k]->destroy(c->solver[k]);
        }
    }
    free(c->memory);
    free(c->active);
    free(c->sets);
    *c = (struct mech_impacts){.rows = NULL};
}

const char *mech_impacts_solver(const struct mech_impacts *c)
{
    if (row_count(c) == 0) {
        return "";
    }
    return c->type[0]->name;
}

/* --- H
 * ------------------------------------------------------------------------------------------ */

/* row i of H times x */
static double row_dot(const struct mech_contact_rows *rows, int32_t i, const double *x)
{
    double sum = 0.;
    for (int32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        sum += rows->value[k] * x[rows->column[k]];
    }
    return sum;
}

/* x += p × row i of Hᵀ */
static void row_add(const struct mech_contact_rows *rows, int32_t i, double p, double *x)
{
    for (int32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        x[rows->column[k]] += rows->value[k] * p;
    }
}

int mech_impacts_factor(struct mech_impacts *c)
{
    const int32_t count = row_count(c);
    const size_t n = (size_t)c->motion->part->nv;
    for (int32_t j = 0; j < count; j++) {
        double *const column = c->columns != NULL ? c->columns + (size_t)j * n : c->work;
        memset(column, 0, n * sizeof *column);
        row_add(c->rows, j, 1., column);
        MECH_TRY(mech_free_motion_solve(c->motion, column));
        double *const a = c->A + (size_t)j * (size_t)count;
        for (int32_t i = 0; i < count; i++) {
            a[i] = row_dot(c->rows, i, column);
        }
    }
    return 0;
}

/* dv += W⁻¹ Hᵀ P of the active rows */
static int push(struct mech_impacts *c, double *restrict dv)
{
    const size_t n = (size_t)c->motion->part->nv;
    const double *const inverse = c->motion->inverse;
    if (inverse == NULL && c->columns == NULL) {
        memset(c->work, 0, n * sizeof *c->work);
    }
    bool any = false;
    for (int32_t i = 0; i < c->count; i++) {
        const double p = c->P[i];
        const int32_t row = c->active[i];
        if (p == 0.) {
            continue;
        }
        any = true;
        if (inverse != NULL) {
            for (int32_t k = c->rows->start[row]; k < c->rows->start[row + 1]; k++) {
                const int32_t at = c->rows->column[k];
                dv[at] += inverse[at] * c->rows->value[k] * p;
            }
        } else if (c->columns != NULL) {
            const double *restrict const column = c->columns + (size_t)row * n;
            for (size_t k = 0; k < n; k++) {
                dv[k] += column[k] * p;
            }
        } else {
            row_add(c->rows, row, p, c->work);
        }
    }
    if (any && inverse == NULL && c->columns == NULL) {
        MECH_TRY(mech_free_motion_solve(c->motion, c->work));
        for (size_t k = 0; k < n; k++) {
            dv[k] += c->work[k];
        }
    }
    return 0;
}

/* --- the step
 * ------------------------------------------------------------------------------------ */

/* Closed, judged by its first row; relays and equalities always are. */
static bool is_closed(const struct mech_impacts *c, const struct mech_set *set, int32_t row,
                      const double *q, const double *v)
{
    if (set->kind == MECH_SET_BILATERAL || set->kind == MECH_SET_BOX) {
        return true;
    }
    const double y = row_dot(c->rows, row, q) + c->rows->b[row];
    return y + c->settings.gamma * c->motion->h * row_dot(c->rows, row, v) <= c->settings.threshold;
}

static void find_contacts(struct mech_impacts *c, const double *q, const double *v)
{
    int32_t row = 0;
    c->contacts = 0;
    for (int32_t i = 0; i < c->rows->contacts; i++) {
        struct mech_set set = c->rows->sets[i];
        if (is_closed(c, &set, row, q, v)) {
            for (int32_t k = 0; k < set.rows; k++) {
                c->active[c->count] = row + k;
                c->speed[c->count++] = row_dot(c->rows, row + k, v);
            }
            set.lower *= c->motion->h;
            set.upper *= c->motion->h;
            c->sets[c->contacts++] = set;
        }
        row += set.rows;
    }
}

void mech_impacts_find(struct mech_impacts *c, const double *q, const double *v)
{
    const int32_t count = row_count(c);
    const double ahead = c->settings.gamma * c->motion->h;
    c->count = 0;
    if (c->sets != NULL) {
        find_contacts(c, q, v);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const double y = row_dot(c->rows, i, q) + c->rows->b[i];
        const double speed = row_dot(c->rows, i, v);
        if (y + ahead * speed <= c->settings.threshold) {
            c->active[c->count] = i;
            c->speed[c->count++] = speed;
        }
    }
}

/* The problem of the active rows; A as it is when all of them are. */
static void gather(struct mech_impacts *c, const double *v, const double *dv, const double *impulse,
                   struct mech_mat *N)
{
    const int32_t m = c->count, count = row_count(c);
    for (int32_t i = 0; i < m; i++) {
        const int32_t row = c->active[i];
        double free_speed = 0.;
        for (int32_t k = c->rows->start[row]; k < c->rows->start[row + 1]; k++) {
            const int32_t at = c->rows->column[k];
            free_speed += c->rows->value[k] * (v[at] + dv[at]);
        }
        c->b[i] = free_speed + c->rows->e[row] * c->speed[i];
        c->P[i] = impulse[row];
    }
    *N = (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true};
    N->values = m == count ? c->A : c->part;
    if (m == count) {
        return;
    }
    for (int32_t j = 0; j < m; j++) {
        const double *const from = c->A + (size_t)c->active[j] * (size_t)count;
        double *const to = c->part + (size_t)j * (size_t)m;
        for (int32_t i = 0; i < m; i++) {
            to[i] = from[c->active[i]];
        }
    }
}

static int run(struct mech_impacts *c, int k, const struct mech_problem *p,
               struct mech_step_result *result)
{
    struct mech_vi_result r = {.iterations = 0, .residual = 0.};
    const struct mech_vi_settings *const vi = &c->settings.vi;
    const struct mech_vi_limits limits = {vi->tolerance, vi->max_iterations};
    const int code = c->type[k]->solve(c->solver[k], p, &limits, c->P, &r);
    result->vi_iterations += r.iterations;
    result->residual = r.residual;
    return code;
}

/* True when so few rows are active that the second solver is the usual first one. */
static bool begins_later(const struct mech_impacts *c)
{
    if (c->type[1] == NULL) {
        return false;
    }
    const char *const first = mech_vi_default(kinds_of(c->rows), c->count)[0];
    return strcmp(first, c->type[0]->name) != 0 && strcmp(first, c->type[1]->name) == 0;
}

/* One solver after the other until one gets there. Failures that are accepted leave the best P of
 * all of them. */
static int run_all(struct mech_impacts *c, const struct mech_problem *p,
                   struct mech_step_result *result)
{
    const size_t bytes = (size_t)c->count * sizeof *c->P;
    double least = HUGE_VAL;
    int code = MECH_VI_NOT_CONVERGED;
    for (int k = 0; k < MECH_IMPACT_SOLVERS && c->type[k] != NULL && code > 0; k++) {
        if (k == 0 && begins_later(c)) {
            continue;
        }
        code = run(c, k, p, result);
        if (code == MECH_VI_NOT_CONVERGED && result->residual < least) {
            least = result->residual;
            memcpy(c->best, c->P, bytes);
        }
    }
    const bool accept = c->settings.vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    if (code > 0 && accept && least < HUGE_VAL) {
        memcpy(c->P, c->best, bytes);
        result->residual = least;
        return 0;
    }
    return code;
}

int mech_impacts_solve(struct mech_impacts *c, const double *v, double *dv, double *impulse,
                       struct mech_step_result *result)
{
    result->contacts = c->count;
    if (c->count == 0) {
        memset(impulse, 0, (size_t)row_count(c) * sizeof *impulse);
        return 0;
    }
    struct mech_mat N;
    const struct mech_problem p = {.m = c->count,
                                   .N = &N,
                                   .r = c->b,
                                   .sets = c->sets,
                                   .count = c->contacts,
                                   .friction = MECH_COULOMB};

    gather(c, v, dv, impulse, &N);
    MECH_TRY(run_all(c, &p, result));

    memset(impulse, 0, (size_t)row_count(c) * sizeof *impulse);
    for (int32_t i = 0; i < c->count; i++) {
        impulse[c->active[i]] = c->P[i];
    }
    return push(c, dv);
}
