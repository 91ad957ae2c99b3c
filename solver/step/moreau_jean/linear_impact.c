/* Impacts of the Moreau–Jean scheme: which contact rows are active, and their impulses
 *
 *     w = A P + H v_free + e ẏ_k,   0 ≤ w ⊥ P ≥ 0      (Newton's law, w = ẏ_{k+1} + e ẏ_k)
 *
 * or the law of the contact: friction, equality, relay (sys/sets.h),
 * or the law of a compliant contact (linear.h).
 *
 * A = H W⁻¹ Hᵀ of all rows is made once per h; a step gathers the active part of it: sparse where A
 * is a narrow band, as that of a column is, so that the step costs what its contacts do. Where W is
 * diagonal, W⁻¹HᵀP is added entry by entry of H; otherwise by kept columns of W⁻¹Hᵀ, or by one more
 * solve when they would take too much memory. The impulses of the last step start the next.
 * Cost of a step without active rows: the entries of H twice.
 */
#include "solver/step/moreau_jean/linear.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/symmetric.h"
#include "solver/model/gap.h"
#include "solver/step/conflict.h"
#include "solver/vi/chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* rows from which on a band is worth its indices */
enum { BANDED_LEAST = 4 };
/* of what a row moves in a step: an overlap of held coordinates that comes of the update's order */
static const double grazing = 1e-3;
/* of the lengths in a row: rounding of its gap, with room */
static const double rounding = 1e-12;

static int32_t row_count(const struct mech_impacts *c)
{
    return !c->rows ? 0 : c->rows->count;
}

/* Mask of the kinds of all contacts. */
static uint32_t kinds_of(const struct mech_contact_rows *rows)
{
    uint32_t kinds = 0;
    for (int32_t i = 0; rows->sets && i < rows->contacts; i++) {
        kinds |= 1u << rows->sets[i].kind;
    }
    return rows->sets ? kinds : 1u << MECH_SET_UNILATERAL;
}

/* Complementarity solvers in their order: the requested one, or the usual ones. */
static int choose(struct mech_impacts *c)
{
    const int32_t count = row_count(c);
    const uint32_t kinds = kinds_of(c->rows);
    const char *const asked[] = {c->settings.vi.type, NULL};
    const char *const *const names = asked[0] ? asked : mech_vi_default(kinds, count);
    for (int k = 0; k < MECH_IMPACT_SOLVERS && names[k]; k++) {
        c->type[k] = mech_vi_find(names[k]);
        if (!c->type[k] || (kinds & ~c->type[k]->kinds) != 0) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(c->type[k]->create(count, &c->solver[k]));
    }
    return 0;
}

static bool is_soft(const struct mech_impacts *c, int32_t row)
{
    return c->rows->compliance && c->rows->compliance[row] > 0.;
}

static int find_held(struct mech_impacts *c)
{
    const struct mech_contact_rows *const rows = c->rows;

    if (!c->settings.held) {
        return 0;
    }
    c->held = calloc((size_t)rows->count, sizeof *c->held);
    if (!c->held) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < rows->count; i++) {
        c->held[i] = !is_soft(c, i);
        for (int32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            c->held[i] = c->held[i] && c->settings.held[rows->column[k]];
        }
    }
    return 0;
}

/* A is symmetric up to rounding if M, C and K are; itself it would not say, as it has the rounding
 * of large matrices in small entries. Diagonals say nothing: what stiff springs tie moves on the
 * small pairs beside them. */
static int find_symmetric(struct mech_impacts *c)
{
    const struct mech_linear_part *const part = c->motion->part;
    const struct mech_mat *const of[] = {part->M, part->C, part->K};
    static const double to[] = {MECH_SYMMETRIC_TO, 0.};
    struct mech_arena arena;
    int code = 0;

    mech_arena_init(&arena, 0);
    c->symmetric = true;
    for (int k = 0; k < 3 && code == 0 && c->symmetric; k++) {
        code = mech_symmetric(&arena, of[k], to, &c->symmetric);
    }
    mech_arena_fini(&arena);
    return code;
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
    MECH_TRY(find_held(c));
    MECH_TRY(find_symmetric(c));
    const bool keep = !motion->inverse && count * n <= MECH_CONTACT_COLUMNS_MOST;
    const size_t columns = keep ? count * n : 0;
    const size_t band = count * (2 * MECH_BANDED_SET_WIDTH + 1);
    c->memory = calloc(2 * count * count + columns + n + 5 * count, sizeof *c->memory);
    c->active = calloc(2 * count + 1 + band, sizeof *c->active);
    if (rows->sets) {
        c->sets = calloc((size_t)rows->contacts, sizeof *c->sets);
    }
    if (!c->memory || !c->active || (rows->sets && !c->sets)) {
        return MECH_NO_MEMORY;
    }
    c->A = c->memory;
    c->part = c->A + count * count;
    double *next = c->part + count * count;
    c->columns = keep ? next : NULL;
    next += columns;
    c->work = next;
    c->colptr = c->active + count;
    c->rowind = c->colptr + count + 1;
    c->width = -1;
    c->gap = c->work + n;
    c->speed = c->gap + count;
    c->b = c->speed + count;
    c->P = c->b + count;
    c->best = c->P + count;
    return 0;
}

void mech_impacts_fini(struct mech_impacts *c)
{
    for (int k = 0; k < MECH_IMPACT_SOLVERS; k++) {
        if (c->solver[k]) {
            c->type[k]->destroy(c->solver[k]);
        }
    }
    free(c->memory);
    free(c->active);
    free(c->held);
    free(c->sets);
    *c = (struct mech_impacts){.rows = NULL};
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

/* b and *E of a compliant contact with this gap and speed at the start of the step */
static double softness(const struct mech_impacts *c, int32_t row, double gap, double speed,
                       double *E)
{
    const struct mech_gap_step step = {.h = c->motion->h, .theta = c->motion->theta};
    return mech_gap_soft(&step, c->rows->compliance[row], c->rows->damping[row], gap, speed, E);
}

/* Width of the band of A, or -1: dense enough to be taken as a whole. */
static int32_t width_of(const double *A, int32_t count)
{
    int32_t width = 0;
    for (int32_t j = 0; j < count; j++) {
        const double *const a = A + (size_t)j * (size_t)count;
        for (int32_t i = 0; i < count; i++) {
            const int32_t apart = i < j ? j - i : i - j;
            width = a[i] != 0. && apart > width ? apart : width;
        }
    }
    return width <= MECH_BANDED_SET_WIDTH && count >= BANDED_LEAST ? width : -1;
}

int mech_impacts_factor(struct mech_impacts *c)
{
    const int32_t count = row_count(c);
    const size_t n = (size_t)c->motion->part->nv;
    for (int32_t j = 0; j < count; j++) {
        double *const column = c->columns ? c->columns + (size_t)j * n : c->work;
        memset(column, 0, n * sizeof *column);
        row_add(c->rows, j, 1., column);
        MECH_TRY(mech_free_motion_solve(c->motion, column));
        double *const a = c->A + (size_t)j * (size_t)count;
        for (int32_t i = 0; i < count; i++) {
            a[i] = row_dot(c->rows, i, column);
        }
        if (is_soft(c, j)) {
            double E;
            (void)softness(c, j, 0., 0., &E);
            a[j] += E;
        }
    }
    c->width = count > 0 && c->symmetric ? width_of(c->A, count) : -1;
    return 0;
}

/* dv += W⁻¹ Hᵀ P of the active rows */
static int push(struct mech_impacts *c, double *restrict dv)
{
    const size_t n = (size_t)c->motion->part->nv;
    const double *const inverse = c->motion->inverse;
    if (!inverse && !c->columns) {
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
        if (inverse) {
            for (int32_t k = c->rows->start[row]; k < c->rows->start[row + 1]; k++) {
                const int32_t at = c->rows->column[k];
                dv[at] += inverse[at] * c->rows->value[k] * p;
            }
        } else if (c->columns) {
            const double *restrict const column = c->columns + (size_t)row * n;
            for (size_t k = 0; k < n; k++) {
                dv[k] += column[k] * p;
            }
        } else {
            row_add(c->rows, row, p, c->work);
        }
    }
    if (any && !inverse && !c->columns) {
        MECH_TRY(mech_free_motion_solve(c->motion, c->work));
        for (size_t k = 0; k < n; k++) {
            dv[k] += c->work[k];
        }
    }
    return 0;
}

/* --- the step
 * ------------------------------------------------------------------------------------ */

/* Closed, judged by its first row; relays and equalities always are, suspended ones never. */
static bool is_closed(const struct mech_impacts *c, const struct mech_set *set, int32_t row,
                      const double *v, double y)
{
    if (mech_is_suspended(c->rows->suspended, row)) {
        return false;
    }
    return set->kind == MECH_SET_BILATERAL || set->kind == MECH_SET_BOX ||
           y + c->settings.gamma * c->motion->h * row_dot(c->rows, row, v) <= c->settings.threshold;
}

static void find_contacts(struct mech_impacts *c, const double *q, const double *v)
{
    int32_t row = 0;
    c->contacts = 0;
    for (int32_t i = 0; i < c->rows->contacts; i++) {
        struct mech_set set = c->rows->sets[i];
        const double y = row_dot(c->rows, row, q) + c->rows->b[row];
        if (is_closed(c, &set, row, v, y)) {
            c->gap[c->count] = y;
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
    if (c->sets) {
        find_contacts(c, q, v);
        return;
    }
    for (int32_t i = 0; i < count; i++) {
        const double y = row_dot(c->rows, i, q) + c->rows->b[i];
        const double speed = row_dot(c->rows, i, v);
        if (y + ahead * speed <= c->settings.threshold &&
            !mech_is_suspended(c->rows->suspended, i)) {
            c->active[c->count] = i;
            c->gap[c->count] = y;
            c->speed[c->count++] = speed;
        }
    }
}

/* A of the active rows within its band: they ascend, so that none gets wider */
static void gather_band(struct mech_impacts *c, struct mech_mat *N)
{
    const int32_t m = c->count, count = row_count(c);
    int32_t entries = 0;
    for (int32_t j = 0; j < m; j++) {
        const int32_t column = c->active[j];
        const double *const from = c->A + (size_t)column * (size_t)count;
        int32_t i = j;
        c->colptr[j] = entries;
        while (i > 0 && c->active[i - 1] >= column - c->width) {
            i--;
        }
        for (; i < m && c->active[i] <= column + c->width; i++) {
            c->rowind[entries] = i;
            c->part[entries++] = from[c->active[i]];
        }
    }
    c->colptr[m] = entries;
    N->kind = MECH_MAT_CSC;
    N->colptr = c->colptr;
    N->rowind = c->rowind;
    N->values = c->part;
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
        if (is_soft(c, row)) {
            double E;
            c->b[i] = free_speed + softness(c, row, c->gap[i], c->speed[i], &E);
        }
    }
    *N = (struct mech_mat){.kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = c->symmetric};
    if (c->width >= 0 && m >= BANDED_LEAST) {
        gather_band(c, N);
        return;
    }
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
               struct mech_step_result *result, double *acceptance)
{
    struct mech_vi_result r = {.iterations = 0, .residual = 0.};
    const struct mech_vi_settings *const vi = &c->settings.vi;
    const struct mech_vi_limits limits = {vi->tolerance, vi->max_iterations, c->settings.interrupt};
    const int code = c->type[k]->solve(c->solver[k], p, &limits, c->P, &r);
    result->vi_iterations += r.iterations;
    result->residual = r.residual;
    *acceptance = r.acceptance;
    return code;
}

/* The solver to begin with: the second one, when it is the usual first one of so few active rows,
 * or of rows of which so few touch. */
static int first_solver(const struct mech_impacts *c, int32_t active)
{
    if (!c->type[1]) {
        return 0;
    }
    const int32_t rows = c->width >= 0 ? BANDED_LEAST : active;
    const char *const first = mech_vi_default(kinds_of(c->rows), rows)[0];
    return strcmp(first, c->type[0]->name) != 0 && strcmp(first, c->type[1]->name) == 0 ? 1 : 0;
}

const char *mech_impacts_solver(const struct mech_impacts *c)
{
    const int32_t count = row_count(c);
    return count == 0 ? "" : c->type[first_solver(c, count)]->name;
}

/* One solver after the other until one gets there. Failures that are accepted leave the best P of
 * all of them. */
static int run_all(struct mech_impacts *c, const struct mech_problem *p,
                   struct mech_step_result *result)
{
    const size_t bytes = (size_t)c->count * sizeof *c->P;
    double least = HUGE_VAL, acceptance = HUGE_VAL, residual = HUGE_VAL;
    int code = MECH_VI_NOT_CONVERGED;
    int k = first_solver(c, c->count);
    for (; k < MECH_IMPACT_SOLVERS && c->type[k] && code > 0; k++) {
        code = run(c, k, p, result, &acceptance);
        if (code == MECH_VI_NOT_CONVERGED && acceptance < least) {
            least = acceptance;
            residual = result->residual;
            memcpy(c->best, c->P, bytes);
        }
    }
    const bool accept = c->settings.vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    if (code > 0 && accept && least < HUGE_VAL) {
        memcpy(c->P, c->best, bytes);
        result->residual = residual;
        return 0;
    }
    return code;
}

/* Who meets in active set i. */
static struct mech_conflict_names names_of(const void *self, int32_t i)
{
    const struct mech_impacts *const c = self;
    int32_t row = 0;

    for (int32_t k = 0; k < i; k++) {
        row += c->sets ? c->sets[k].rows : 1;
    }
    return (struct mech_conflict_names){
        {mech_model_contact_name(c->settings.model, c->active[row]), NULL}};
}

/* The reason why there is no P, if it can be determined. */
static void tell_conflict(struct mech_impacts *c, const struct mech_problem *p,
                          struct mech_step_result *result)
{
    const struct mech_conflict_of of = {.self = c, .names = names_of};
    const struct mech_vi_limits limits = {.tolerance = c->settings.vi.tolerance,
                                          .interrupt = c->settings.interrupt};

    result->reason[0] = '\0';
    if (c->settings.model && c->P) {
        (void)mech_conflict_tell(p, &limits, c->P, &of, result->reason, sizeof result->reason);
    }
}

/* Whether active row i, of held coordinates alone, does at v + dv what its law asks for: it is at
 * rest, or opens, or the step ends without an overlap. */
static bool is_met(const struct mech_impacts *c, int32_t i, bool rests, const double *v,
                   const double *dv)
{
    const struct mech_contact_rows *const rows = c->rows;
    const int32_t row = c->active[i];
    const double h = c->motion->h, theta = c->motion->theta;
    double after = 0., size = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        const int32_t at = rows->column[k];

        after += rows->value[k] * (v[at] + dv[at]);
        size += fabs(rows->value[k]) * (fabs(v[at]) + fabs(v[at] + dv[at]));
    }
    const double gap = c->gap[i] + h * (theta * after + (1. - theta) * c->speed[i]);
    const double allowed = grazing * h * size + rounding * fabs(rows->b[row]);

    return rests ? h * fabs(after) <= allowed
                 : after + rows->e[row] * c->speed[i] >= 0. || gap >= -allowed;
}

/* Takes contacts out of the active ones whose coordinates are all held: P = 0 where their law is
 * met without, and where it is not, no P is one. Relays stay: theirs is bounded. */
static int leave_out_held(struct mech_impacts *c, const double *v, const double *dv,
                          struct mech_step_result *result)
{
    const bool accept = c->settings.vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    int32_t contacts = 0, count = 0;

    for (int32_t i = 0, k = 0; k < c->count; i++) {
        const struct mech_set set =
            c->sets ? c->sets[i] : (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1};
        const bool out = c->held[c->active[k]] && set.kind != MECH_SET_BOX;

        if (out && !is_met(c, k, set.kind == MECH_SET_BILATERAL, v, dv) && !accept) {
            const char *const name =
                c->settings.model ? mech_model_contact_name(c->settings.model, c->active[k]) : "";

            mech_text_format(result->reason, sizeof result->reason,
                             "no impulses satisfy these contacts together: \"%.60s\", of which "
                             "every coordinate is prescribed",
                             name);
            return MECH_VI_NOT_CONVERGED;
        }
        for (int32_t last = k + set.rows; k < last; k++) {
            c->active[count] = c->active[k];
            c->gap[count] = c->gap[k];
            c->speed[count] = c->speed[k];
            count += !out;
        }
        if (c->sets) {
            c->sets[contacts] = set;
            contacts += !out;
        }
    }
    c->count = count;
    c->contacts = contacts;
    return 0;
}

/* What the impulses add to kinetic energy between v and v + dv. */
static double gain_of(const struct mech_impacts *c, const double *v, const double *dv)
{
    double work = 0., size = 0.;

    for (int32_t i = 0; i < c->count; i++) {
        if (c->P[i] != 0.) {
            const double before = c->P[i] * c->speed[i];
            const double change = c->P[i] * row_dot(c->rows, c->active[i], dv);

            work += before + 0.5 * change;
            size += fabs(before) + fabs(change);
        }
    }
    return mech_step_gain(work, size);
}

int mech_impacts_solve(struct mech_impacts *c, const double *v, double *dv, double *impulse,
                       struct mech_step_result *result)
{
    result->contacts = c->count;
    if (c->held) {
        MECH_TRY(leave_out_held(c, v, dv, result));
    }
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
                                   .friction = c->rows->friction,
                                   .rounding = MECH_PROBLEM_ROUNDING};

    gather(c, v, dv, impulse, &N);
    const int code = run_all(c, &p, result);

    if (code == MECH_VI_NOT_CONVERGED) {
        tell_conflict(c, &p, result);
    }
    MECH_TRY(code);

    memset(impulse, 0, (size_t)row_count(c) * sizeof *impulse);
    for (int32_t i = 0; i < c->count; i++) {
        impulse[c->active[i]] = c->P[i];
    }
    MECH_TRY(push(c, dv));
    result->impact_gain += gain_of(c, v, dv);
    return 0;
}
