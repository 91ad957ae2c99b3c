/* Multipliers of an Euler–Moreau step; see euler_moreau_rows.h. Cost of a step: the entries of C, a
 * warm start of the solver, the columns of W⁻¹B of the multipliers that are not 0. */
#include "solver/step/euler_moreau_rows.h"

#include "solver/base/err.h"
#include "solver/step/conflict.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIVOTING_ROWS = 200 }; /* up to which pivoting comes first */

/* Mask of the kinds of all rows. */
static uint32_t kinds_of(const struct mech_first_order_rows *rows)
{
    uint32_t kinds = 0;

    for (int32_t i = 0; i < rows->count; i++) {
        kinds |= 1u << rows->sets[i].kind;
    }
    return kinds;
}

bool mech_relations_suit(const struct mech_first_order_rows *rows, const struct mech_vi_type *type)
{
    const uint32_t kinds = kinds_of(rows), box = 1u << MECH_SET_BOX;
    const uint32_t wide = (kinds & ~box) | (kinds & box ? 1u << MECH_SET_UNILATERAL : 0u);

    return (kinds & ~type->kinds) == 0 || (wide & ~type->kinds) == 0;
}

/* A solver that does not take relays gets the wider problem. */
static bool widens(const struct mech_relations *c, const struct mech_vi_type *type)
{
    return c->boxes > 0 && !(type->kinds & 1u << MECH_SET_BOX);
}

static int32_t count_boxes(const struct mech_set *sets, int32_t count)
{
    int32_t boxes = 0;

    for (int32_t i = 0; i < count; i++) {
        boxes += sets[i].kind == MECH_SET_BOX;
    }
    return boxes;
}

/* Solvers in their order for problems that need not be symmetric: the same ones, whatever rows are
 * suspended. */
static int choose(struct mech_relations *c)
{
    static const char *const bilateral[] = {"bilateral", "semismooth", "lemke", NULL};
    static const char *const few[] = {"lemke", "semismooth", "psor", NULL};
    static const char *const many[] = {"semismooth", "psor", "lemke", NULL};
    const char *const asked[] = {c->settings.type, NULL};
    const bool linear = kinds_of(c->rows) == 1u << MECH_SET_BILATERAL;
    const int32_t most = c->rows->count + count_boxes(c->rows->sets, c->rows->count);
    const char *const *const names = asked[0]                ? asked
                                     : linear                ? bilateral
                                     : most <= PIVOTING_ROWS ? few
                                                             : many;

    for (int k = 0; k < MECH_RELATION_SOLVERS && names[k]; k++) {
        c->type[k] = mech_vi_find(names[k]);
        if (!c->type[k] || !mech_relations_suit(c->rows, c->type[k])) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(
            c->type[k]->create(c->count + (widens(c, c->type[k]) ? c->boxes : 0), &c->solver[k]));
    }
    return 0;
}

/* Sets of the wider problem: each row's own, then one for each relay. */
static void widen_sets(struct mech_relations *c)
{
    for (int32_t i = 0; i < c->count + c->boxes; i++) {
        const bool equality = i < c->count && c->sets[i].kind == MECH_SET_BILATERAL;

        c->wide[i] = (struct mech_set){.kind = equality ? MECH_SET_BILATERAL : MECH_SET_UNILATERAL,
                                       .rows = 1};
    }
}

/* The rows that are not suspended. */
static int find_rows(struct mech_relations *c)
{
    const struct mech_first_order_rows *const rows = c->rows;
    const size_t most = (size_t)rows->count;

    c->row = calloc(2 * most, sizeof *c->row);
    c->sets = calloc(most, sizeof *c->sets);
    if (!c->row || !c->sets) {
        return MECH_NO_MEMORY;
    }
    c->place = c->row + most;
    for (int32_t i = 0; i < rows->count; i++) {
        c->place[i] = mech_is_suspended(rows->suspended, i) ? -1 : c->count;
        if (c->place[i] >= 0) {
            c->row[c->count] = i;
            c->sets[c->count++] = rows->sets[i];
        }
    }
    c->boxes = count_boxes(c->sets, c->count);
    return 0;
}

int mech_relations_init(struct mech_relations *c, const struct mech_first_order_rows *rows,
                        int32_t nx, const struct mech_settings *settings,
                        struct mech_interrupt *interrupt)
{
    const size_t n = (size_t)nx;

    *c = (struct mech_relations){.rows = rows,
                                 .settings = settings->vi,
                                 .interrupt = interrupt,
                                 .nx = nx,
                                 .gamma = settings->relation_gamma};
    if (rows->count == 0) {
        return 0;
    }
    if (rows->count > MECH_RELATION_ROWS_MOST) {
        return MECH_UNSUPPORTED;
    }
    MECH_TRY(find_rows(c));
    MECH_TRY(choose(c));
    const size_t m = (size_t)c->count;
    const size_t wide = c->boxes ? m + (size_t)c->boxes : 0;
    const size_t columns = m * n <= MECH_RELATION_COLUMNS_MOST ? m * n : 0;
    c->memory = calloc(m * m + columns + n + 1 + 4 * m + wide * (wide + 2), sizeof *c->memory);
    c->wide = calloc(wide + 1, sizeof *c->wide);
    if (!c->memory || !c->wide || mech_acceptance_create((int32_t)m, &c->accept) != 0) {
        return MECH_NO_MEMORY;
    }
    c->N = c->memory;
    c->columns = columns ? c->N + m * m : NULL;
    c->work = c->N + m * m + columns;
    c->r = c->work + n + 1;
    c->w = c->r + m;
    c->l = c->w + m;
    c->best = c->l + m;
    c->wide_N = c->best + m;
    c->wide_r = c->wide_N + wide * wide;
    c->wide_l = c->wide_r + wide;
    if (wide) {
        widen_sets(c);
    }
    return 0;
}

void mech_relations_fini(struct mech_relations *c)
{
    for (int k = 0; k < MECH_RELATION_SOLVERS; k++) {
        if (c->solver[k]) {
            c->type[k]->destroy(c->solver[k]);
        }
    }
    mech_acceptance_destroy(c->accept);
    free(c->memory);
    free(c->wide);
    free(c->row);
    free(c->sets);
    *c = (struct mech_relations){.rows = NULL};
}

/* --- matrices --------------------------------------------------------------------------------- */

/* row i of C times x */
static double row_dot(const struct mech_first_order_rows *rows, int32_t i, const double *x)
{
    double sum = 0.;

    for (int32_t k = rows->C_start[i]; k < rows->C_start[i + 1]; k++) {
        sum += rows->C_value[k] * x[rows->C_column[k]];
    }
    return sum;
}

/* x += s × column j of B */
static void column_add(const struct mech_first_order_rows *rows, int32_t j, double s, double *x)
{
    for (int32_t k = rows->B_start[j]; k < rows->B_start[j + 1]; k++) {
        x[rows->B_row[k]] += s * rows->B_value[k];
    }
}

/* [N, 1; −1, 0] with the ones at the relays */
static void widen_matrix(struct mech_relations *c)
{
    const size_t m = (size_t)c->count, wide = m + (size_t)c->boxes;
    size_t box = m;

    memset(c->wide_N, 0, wide * wide * sizeof *c->wide_N);
    for (size_t j = 0; j < m; j++) {
        memcpy(c->wide_N + j * wide, c->N + j * m, m * sizeof *c->N);
        if (c->sets[j].kind == MECH_SET_BOX) {
            c->wide_N[j * wide + box] = -1.;
            c->wide_N[box++ * wide + j] = 1.;
        }
    }
}

int mech_relations_factor(struct mech_relations *c, struct mech_lsol *solver, double h)
{
    const struct mech_first_order_rows *const rows = c->rows;
    const size_t m = (size_t)c->count, n = (size_t)c->nx;

    c->h = 0.;
    for (size_t j = 0; j < m; j++) {
        double *const column = c->columns ? c->columns + j * n : c->work;

        memset(column, 0, n * sizeof *column);
        column_add(rows, c->row[j], 1., column);
        MECH_TRY(mech_lsol_solve(solver, column, 1));
        for (size_t i = 0; i < m; i++) {
            c->N[j * m + i] = h * c->gamma * row_dot(rows, c->row[i], column);
        }
    }
    /* D joins rows of one interaction: all of them are suspended, or none */
    for (size_t i = 0; i < m; i++) {
        for (int32_t k = rows->D_start[c->row[i]]; k < rows->D_start[c->row[i] + 1]; k++) {
            c->N[(size_t)c->place[rows->D_column[k]] * m + i] += rows->D_value[k];
        }
    }
    if (c->boxes) {
        widen_matrix(c);
    }
    c->h = h;
    return 0;
}

int mech_relations_push(struct mech_relations *c, struct mech_lsol *solver, double *dx)
{
    const size_t n = (size_t)c->nx;

    if (!c->columns) {
        memset(c->work, 0, n * sizeof *c->work);
    }
    for (int32_t j = 0; j < c->count; j++) {
        const double s = c->h * c->l[j];

        if (s == 0.) {
            continue;
        }
        if (!c->columns) {
            column_add(c->rows, c->row[j], s, c->work);
            continue;
        }
        const double *const column = c->columns + (size_t)j * n;
        for (size_t i = 0; i < n; i++) {
            dx[i] += s * column[i];
        }
    }
    if (!c->columns && c->count > 0) {
        MECH_TRY(mech_lsol_solve(solver, c->work, 1));
        for (size_t i = 0; i < n; i++) {
            dx[i] += c->work[i];
        }
    }
    return 0;
}

/* --- the solution ----------------------------------------------------------------------------- */

static struct mech_mat dense(int32_t n, double *values)
{
    return (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = n, .cols = n, .values = values};
}

/* The wider problem by solver k, and its λ. */
static int solve_wide(struct mech_relations *c, int k, const struct mech_vi_limits *limits,
                      double *lambda, struct mech_vi_result *vi)
{
    const int32_t m = c->count, wide = m + c->boxes;
    const struct mech_set *const sets = c->sets;
    const struct mech_mat N = dense(wide, c->wide_N);
    const struct mech_problem p = {
        .m = wide, .N = &N, .r = c->wide_r, .sets = c->wide, .count = wide};
    int32_t box = m;

    memcpy(c->wide_r, c->r, (size_t)m * sizeof *c->r);
    for (int32_t j = 0; j < m; j++) {
        c->wide_l[j] = lambda[j];
        if (sets[j].kind == MECH_SET_BOX) {
            c->wide_l[j] -= sets[j].lower;
            /* s of the last λ: where it stood at its upper bound */
            c->wide_l[box] = lambda[j] == sets[j].upper ? fmax(0., -c->w[j]) : 0.;
            c->wide_r[box++] = sets[j].upper - sets[j].lower;
            for (int32_t i = 0; i < m; i++) {
                c->wide_r[i] += c->N[(size_t)j * (size_t)m + (size_t)i] * sets[j].lower;
            }
        }
    }
    const int code = c->type[k]->solve(c->solver[k], &p, limits, c->wide_l, vi);
    for (int32_t j = 0; j < m; j++) {
        const bool relay = sets[j].kind == MECH_SET_BOX;

        lambda[j] = relay ? fmin(sets[j].lower + c->wide_l[j], sets[j].upper) : c->wide_l[j];
    }
    return code;
}

static struct mech_problem problem_of(const struct mech_relations *c, const struct mech_mat *N)
{
    return (struct mech_problem){
        .m = c->count, .N = N, .r = c->r, .sets = c->sets, .count = c->count};
}

/* λ by solver k, and how far it is from a solution. */
static int solve_by(struct mech_relations *c, int k, struct mech_step_result *result)
{
    const struct mech_vi_limits limits = {c->settings.tolerance, c->settings.max_iterations,
                                          c->interrupt};
    const struct mech_mat N = dense(c->count, c->N);
    const struct mech_problem p = problem_of(c, &N);
    struct mech_vi_result vi = {.iterations = 0};
    const int code = widens(c, c->type[k])
                         ? solve_wide(c, k, &limits, c->l, &vi)
                         : c->type[k]->solve(c->solver[k], &p, &limits, c->l, &vi);

    result->vi_iterations += vi.iterations;
    if (code != 0 && code != MECH_VI_NOT_CONVERGED) {
        return code;
    }
    mech_problem_speed(&p, c->l, c->w);
    mech_acceptance_form(c->accept, &p);
    mech_acceptance_weigh(c->accept, &p);
    mech_acceptance_weigh_at(c->accept, &p, c->l, limits.tolerance);
    result->residual = mech_acceptance_of(c->accept, &p, c->l, c->w);
    return result->residual <= limits.tolerance ? code : MECH_VI_NOT_CONVERGED;
}

/* One solver after the other until one gets there; the best λ of failures. */
static int solve_all(struct mech_relations *c, struct mech_step_result *result)
{
    const size_t bytes = (size_t)c->count * sizeof *c->l;
    double least = HUGE_VAL;
    int code = MECH_VI_NOT_CONVERGED;

    for (int k = 0; k < MECH_RELATION_SOLVERS && c->type[k] && code > 0; k++) {
        code = solve_by(c, k, result);
        if (code == MECH_VI_NOT_CONVERGED && result->residual < least) {
            least = result->residual;
            memcpy(c->best, c->l, bytes);
        }
    }
    if (code > 0 && least < HUGE_VAL) {
        memcpy(c->l, c->best, bytes);
        result->residual = least;
        return c->settings.on_failure == MECH_ON_FAILURE_ACCEPT ? 0 : MECH_VI_NOT_CONVERGED;
    }
    return code;
}

int mech_relations_solve(struct mech_relations *c, const double *x, double *lambda,
                         struct mech_step_result *result)
{
    for (int32_t i = 0; i < c->count; i++) {
        c->r[i] = row_dot(c->rows, c->row[i], x) + c->rows->e[c->row[i]];
        c->w[i] = 0.;
        c->l[i] = lambda[c->row[i]];
    }
    const int code = c->count ? solve_all(c, result) : 0;

    result->contacts = c->count;
    memset(lambda, 0, (size_t)c->rows->count * sizeof *lambda);
    for (int32_t i = 0; i < c->count; i++) {
        lambda[c->row[i]] = c->l[i];
    }
    return code;
}

struct named {
    const struct mech_relations *c;
    const struct mech_model *m;
};

static struct mech_conflict_names names_of(const void *self, int32_t i)
{
    const struct named *const of = self;

    return (struct mech_conflict_names){{mech_model_first_order_name(of->m, of->c->row[i]), NULL}};
}

bool mech_relations_conflict(struct mech_relations *c, const struct mech_model *m, char *text,
                             size_t size)
{
    const struct mech_mat N = dense(c->count, c->N);
    const struct mech_problem p = problem_of(c, &N);
    const struct named self = {.c = c, .m = m};
    const struct mech_conflict_of of = {
        .lead = "no multipliers satisfy the laws of these interactions together",
        .self = &self,
        .names = names_of};
    const struct mech_vi_limits limits = {.tolerance = c->settings.tolerance,
                                          .interrupt = c->interrupt};

    return mech_conflict_tell(&p, &limits, c->l, &of, text, size);
}
