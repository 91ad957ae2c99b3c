/* Impulses of a step's contacts; see moreau_jean_bodies.h.
 *
 *     c = N P + q,   N = H W_G⁻¹ Hᵀ + E,   q = H v + b − H W_G⁻¹ Hᵀ P      at the present v and P
 *
 * N is dense, one solve with the saddle matrix a row. Tangents need not be symmetric, and
 * complementarity solvers ask for it: they get ½ (N + Nᵀ), and what that leaves is asked for again
 * at the velocities reached, from where Newton's iterations go on. */
#include "solver/base/err.h"
#include "solver/step/moreau_jean_bodies.h"
#include "solver/vi/chain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* iterations of members that were not asked for */
enum { FACTORS = 50, OTHERS = 2000 };

void mech_moreau_bodies_push(const struct mech_impact_rows *rows, double share, const double *P,
                             double *x)
{
    for (int32_t i = 0; i < rows->count; i++) {
        const double p = share * P[i];

        for (int32_t k = rows->start[i]; k < rows->start[i + 1] && p != 0.; k++) {
            x[rows->column[k]] += rows->value[k] * p;
        }
    }
}

static double row_dot(const struct mech_impact_rows *rows, int32_t i, const double *x)
{
    double sum = 0.;

    for (int32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        sum += rows->value[k] * x[rows->column[k]];
    }
    return sum;
}

/* Room for all rows of this step. */
static int reserve(struct mech_moreau_bodies *s)
{
    const int32_t most = s->impacts.most;
    const size_t n = (size_t)most;

    if (s->impacts.count <= s->most) {
        return 0;
    }
    s->most = 0;
    free(s->N.values);
    free(s->c);
    s->N.values = malloc(n * n * sizeof *s->N.values);
    s->c = calloc(5 * n, sizeof *s->c);
    for (int i = 0; i < MECH_IMPACT_SOLVERS_MOST; i++) {
        if (s->solver[i]) {
            mech_vi_types[i]->destroy(s->solver[i]);
            s->solver[i] = NULL;
        }
    }
    if (!s->N.values || !s->c) {
        return MECH_NO_MEMORY;
    }
    s->q = s->c + n;
    s->trial = s->q + n;
    s->best = s->trial + n;
    s->zero = s->best + n;
    s->most = most;
    return 0;
}

/* x [nv + rows] = W_G⁻¹ of a push in it; what goes to the ground is lost. */
static int solve(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    memset(s->x + s->nv, 0, (size_t)s->rows * sizeof *s->x);
    return mech_saddle_solve(&s->saddle, s->x, result);
}

/* N for the factors that the saddle has now. */
static int form(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    const int32_t m = rows->count;
    double *const N = s->N.values;

    s->N = (struct mech_mat){
        .kind = MECH_MAT_DENSE, .rows = m, .cols = m, .symmetric = true, .values = N};
    for (int32_t j = 0; j < m; j++) {
        memset(s->x, 0, ((size_t)s->nv + 1) * sizeof *s->x);
        for (int32_t k = rows->start[j]; k < rows->start[j + 1]; k++) {
            s->x[rows->column[k]] += rows->value[k];
        }
        MECH_TRY(solve(s, result));
        s->x[s->nv] = 0.; /* the ground's */
        for (int32_t i = 0; i < m; i++) {
            N[(size_t)j * (size_t)m + (size_t)i] = row_dot(rows, i, s->x);
        }
    }
    for (int32_t j = 0; j < m; j++) {
        for (int32_t i = 0; i < j; i++) {
            double *const upper = &N[(size_t)j * (size_t)m + (size_t)i];
            double *const lower = &N[(size_t)i * (size_t)m + (size_t)j];

            *upper = *lower = 0.5 * (*upper + *lower);
        }
        N[(size_t)j * (size_t)m + (size_t)j] += rows->E[j];
    }
    s->formed = true;
    return 0;
}

static struct mech_problem problem_of(const struct mech_moreau_bodies *s)
{
    return (struct mech_problem){.m = s->impacts.count,
                                 .N = &s->N,
                                 .r = s->q,
                                 .sets = s->impacts.set,
                                 .count = s->impacts.sets,
                                 .friction = s->friction};
}

/* c = H v + E P + b, and q = c − N P */
static void speeds(struct mech_moreau_bodies *s, const double *v)
{
    const struct mech_impact_rows *const rows = &s->impacts;
    const struct mech_problem p = problem_of(s);

    mech_problem_speed(&(struct mech_problem){.m = p.m, .N = p.N, .r = s->zero}, rows->P, s->q);
    for (int32_t i = 0; i < rows->count; i++) {
        s->c[i] = row_dot(rows, i, v) + rows->E[i] * rows->P[i] + rows->b[i];
        s->q[i] = s->c[i] - s->q[i];
    }
}

double mech_moreau_bodies_miss(struct mech_moreau_bodies *s, const double *v)
{
    if (s->impacts.count == 0) {
        return 0.;
    }
    speeds(s, v);
    return mech_sets_residual(s->impacts.set, s->impacts.sets, s->friction, s->impacts.P, s->c,
                              s->q);
}

/* --- solvers ---------------------------------------------------------------------------------- */

/* Run one member from `trial`. Those that are tried because others failed get less time: a step
 * that cannot be had is told soon. */
static int run(struct mech_moreau_bodies *s, const char *name, bool fallback,
               struct mech_vi_result *out)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;
    const struct mech_vi_type *const type = mech_vi_find(name);
    const bool many = s->impacts.sets >= MECH_ACCEPTABLE_FROM && !vi->type;
    const int32_t first = s->acceptable > 0. && many ? MECH_ACCEPTABLE_AFTER : INT32_MAX;
    const int32_t later = !many ? INT32_MAX : type && type->factors ? FACTORS : OTHERS;
    const int32_t enough = fallback ? later : first;
    const struct mech_vi_limits limits = {vi->tolerance,
                                          vi->max_iterations < enough ? vi->max_iterations : enough,
                                          mech_model_interrupt(s->model)};
    const struct mech_problem p = problem_of(s);
    int i = 0;

    while (mech_vi_types[i] && strcmp(mech_vi_types[i]->name, name) != 0) {
        i++;
    }
    if (!mech_vi_types[i] || i >= MECH_IMPACT_SOLVERS_MOST ||
        (mech_problem_kinds(&p) & ~mech_vi_types[i]->kinds) != 0) {
        return MECH_UNSUPPORTED;
    }
    if (!s->solver[i]) {
        MECH_TRY(mech_vi_types[i]->create(s->most, &s->solver[i]));
    }
    const int code = mech_vi_types[i]->solve(s->solver[i], &p, &limits, s->trial, out);

    if (code == 0 || code == MECH_VI_NOT_CONVERGED) {
        s->used = mech_vi_types[i]->name;
    }
    return code;
}

static int not_solved(const struct mech_moreau_bodies *s, int code, double residual,
                      struct mech_step_result *result)
{
    const struct mech_vi_settings *const vi = &mech_model_settings(s->model)->vi;

    if (code == MECH_UNSUPPORTED) {
        snprintf(result->reason, sizeof result->reason,
                 "the complementarity solver \"%.32s\" does not take these contacts, or %d rows",
                 vi->type ? vi->type : "", (int)s->impacts.count);
        return code;
    }
    if (!(residual < HUGE_VAL)) {
        snprintf(result->reason, sizeof result->reason,
                 "no complementarity solver found finite impulses of %d contacts",
                 (int)s->impacts.sets);
        return code;
    }
    snprintf(result->reason, sizeof result->reason,
             "the impulses of %d contacts have residual %.3g after %d iterations, wanted %.3g "
             "(contact.acceptable, solver.vi)",
             (int)s->impacts.sets, residual, (int)result->vi_iterations, vi->tolerance);
    return code;
}

/* P of this problem: the member that is named, or one after the other. */
static int run_all(struct mech_moreau_bodies *s, struct mech_step_result *result)
{
    const struct mech_settings *const settings = mech_model_settings(s->model);
    const struct mech_problem p = problem_of(s);
    const char *const asked[] = {settings->vi.type, NULL};
    const char *const *const names =
        settings->vi.type ? asked : mech_vi_default(mech_problem_kinds(&p), p.m);
    const size_t bytes = (size_t)p.m * sizeof *s->trial;
    int first = MECH_UNSUPPORTED, code = MECH_UNSUPPORTED;
    double least = HUGE_VAL;

    const bool few = p.count < MECH_ACCEPTABLE_FROM;
    for (int k = 0; names[k] && code > 0 && (few || !(least <= s->acceptable)); k++) {
        struct mech_vi_result here = {.residual = HUGE_VAL};

        if (s->sweeps.failed && !settings->vi.type && mech_vi_find(names[k])->sweeps) {
            continue;
        }
        memcpy(s->trial, least < HUGE_VAL ? s->best : s->impacts.guess, bytes);
        code = run(s, names[k], k > 0, &here);
        result->vi_iterations += here.iterations;
        first = first == MECH_UNSUPPORTED || first == MECH_SINGULAR ? code : first;
        if (code == 0 || (code == MECH_VI_NOT_CONVERGED && here.residual < least)) {
            least = here.residual;
            memcpy(s->best, s->trial, bytes);
        }
    }
    s->sweeps.failed = false;
    if (code < 0) {
        return code;
    }
    result->residual = least < HUGE_VAL ? least : 0.;
    const bool accepts = settings->vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    if (code > 0 && (accepts || least <= s->acceptable) && least < HUGE_VAL) {
        s->accepted = true;
        code = 0;
    }
    return code ? not_solved(s, first, least, result) : 0;
}

int mech_moreau_bodies_impact(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result)
{
    struct mech_impact_rows *const rows = &s->impacts;

    if (!s->formed) {
        MECH_TRY(reserve(s));
        MECH_TRY(form(s, result));
    }
    speeds(s, state->v);
    MECH_TRY(run_all(s, result));

    /* v and λ by what has changed in P */
    for (int32_t i = 0; i < rows->count; i++) {
        s->trial[i] = s->best[i] - rows->P[i];
        rows->P[i] = rows->guess[i] = s->best[i];
    }
    memset(s->x, 0, ((size_t)s->nv + 1) * sizeof *s->x);
    mech_moreau_bodies_push(rows, 1., s->trial, s->x);
    MECH_TRY(solve(s, result));
    for (int32_t i = 0; i < s->nv; i++) {
        state->v[i] += s->x[i];
    }
    for (int32_t i = 0; i < s->rows; i++) {
        state->lambda[i] -= s->x[s->nv + i] / s->h;
    }
    return 0;
}
