/* Statics; see statics.h. One factorization and one solve an iteration. */
#include "solver/analysis/statics.h"

#include "solver/analysis/shapes.h"
#include "solver/analysis/tangents.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/balance.h"
#include "solver/step/rates.h"
#include "solver/step/saddle.h"
#include "solver/step/sided.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct statics {
    const struct mech_model *model;
    struct mech_state *state;
    struct mech_statics_report *report;
    struct mech_arena arena;
    struct mech_rates rates;
    struct mech_saddle saddle; /* of models with joints */
    int32_t n, rows;
    struct mech_balance balance;
    double left, off; /* of forces beside what balances; of joints beside lengths and motions */
    double *loads;    /* [n + 1] what is not yet on: F − item forces */
    double *r;        /* [n + rows + 1] */
    double *q;        /* [nq + 1], and the two of the rows: start of a load step */
    double *lambda, *open; /* [rows + 1] */
    double *moved;         /* [n + 1] motion of the last iteration */
    double *way;           /* [n + 1] sizes of all motions at this share of the loads */
};

static bool is_finite(const struct statics *s)
{
    double sum = 0.;

    for (int32_t i = 0; i < s->n + s->rows; i++) {
        sum += 0. * s->r[i];
    }
    return sum == 0.;
}

/* r = F − K u − g with the share `load` of the loads, and behind it the joints' g */
static int residual_at(struct statics *s, struct mech_state *now, double load)
{
    const struct mech_rate_point at = {now, now->at->time, now->q, now->v, NULL};
    const double *const items = mech_model_item_force(s->model);
    struct mech_step_result result = {.iterations = 0};

    now->held = 1. - load;
    int code = mech_rates_force_with(&s->rates, &at, s->rows ? now->lambda : NULL, s->r, &result);

    code = code ? code : mech_model_force(s->model, now, now->at->time, s->loads);
    if (code) {
        memcpy(s->report->reason, result.reason, sizeof s->report->reason);
        return code;
    }
    for (int32_t i = 0; i < s->n; i++) {
        s->r[i] -= (1. - load) * (s->loads[i] - items[i]);
    }
    const struct mech_eval e = mech_model_point(s->model, now, at.t, now->q, now->v);

    if (s->rows) {
        mech_model_pose(s->model, &e);
        mech_model_joint_residual(s->model, &e, s->r + s->n);
        for (int32_t r = 0; r < s->rows; r++) {
            /* one-sided rows that are open ask for nothing */
            s->r[s->n + r] = now->open[r] != 0. ? 0. : s->r[s->n + r];
        }
    }
    if (!is_finite(s)) {
        char reason[120];

        mech_model_tell_infinite(s->model, &e, reason, sizeof reason);
        mech_text_format(s->report->reason, sizeof s->report->reason, "%s, at %.4g of the loads",
                         reason, load);
        return MECH_NOT_FINITE;
    }
    return 0;
}

/* What forces did on the way of this load step. */
static double work_done(const struct statics *s)
{
    double work = 0.;

    for (int32_t i = 0; i < s->n; i++) {
        work += s->balance.S[s->balance.block[i]] * s->way[i];
    }
    return work;
}

/* What the forces at a row would do over g, beside that; 1 where there are none: a gap that means
 * nothing to the forces is rounding. */
static double share_of(const struct statics *s, int32_t row, double g, double work)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_balance *const b = &s->balance;
    double force = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        const int32_t of = b->block[rows->column[k]];
        const double G = fabs(s->saddle.g[k]);

        force = of < b->blocks && G > 0. ? fmax(force, b->S[of] / G) : force;
    }
    return force > 0. && work > 0. ? force * fabs(g) / work : 1.;
}

/* That, and what it leaves beside all terms that balance. */
static int residual(struct statics *s, double load)
{
    const double least = mech_model_settings(s->model)->newton.absolute_tolerance;
    struct mech_state *const now = s->state;
    struct mech_eval e = mech_model_point(s->model, now, now->at->time, now->q, now->v);

    MECH_TRY(residual_at(s, now, load));
    e.lambda = s->rows ? now->lambda : NULL;
    mech_balance_all(&s->balance, &e);
    memcpy(s->balance.S, s->balance.all, (size_t)s->balance.blocks * sizeof *s->balance.S);
    mech_balance_complete(&s->balance);
    s->left = mech_balance_left(&s->balance, s->r, least);
    const double work = work_done(s);

    s->off = 0.;
    if (s->rows) {
        mech_model_pose(s->model, &e);
        mech_balance_lengths(&s->balance);
        mech_balance_motion(&s->balance, s->moved, NULL, (const double[3]){1., 0., 0.});
    }
    for (int32_t r = 0; r < s->rows; r++) {
        mech_balance_row(&s->balance, r, s->saddle.g);
        s->balance.S_row[r] += s->balance.L[r];
        const double g = s->r[s->n + r];
        const double left = mech_balance_row_left(&s->balance, r, g, least);

        s->off = fmax(s->off, fmin(left, share_of(s, r, g, work)));
    }
    s->report->residual = s->left;
    return 0;
}

/* Whether rounding leaves no less of the forces and of the joints' equations. */
static int rounding(struct statics *s, double load, double tolerance, bool *met)
{
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    const struct mech_statics_report before = *s->report;
    const size_t n = (size_t)s->n + (size_t)s->rows;
    double *const r = mech_arena_alloc(scratch, n + 1, sizeof *r);
    int code = r ? 0 : MECH_NO_MEMORY;

    if (code == 0) {
        memcpy(r, s->r, n * sizeof *r);
        mech_balance_still(&s->balance);
    }
    for (int side = 0; side < MECH_NUDGES && code == 0; side++) {
        struct mech_state nudged;

        code = mech_balance_nudge(&s->balance, s->state, side, scratch, &nudged);
        code = code ? code : residual_at(s, &nudged, load);
        if (code == 0) {
            mech_balance_moved(&s->balance, s->r, r);
        }
    }
    if (r) {
        memcpy(s->r, r, n * sizeof *r);
    }
    mech_arena_release(scratch, mark);
    *s->report = before;
    *met = code == 0 && mech_balance_rounds(&s->balance, s->r, tolerance, MECH_FORCES_MET);
    return code < 0 ? code : 0;
}

/* r := the motion by [K Gᵀ; G 0]; λ moves too */
static int solve_joints(struct statics *s)
{
    const struct mech_state *const now = s->state;
    struct mech_eval e = mech_model_point(s->model, now, now->at->time, now->q, now->v);
    struct mech_step_result result = {.iterations = 0};

    e.lambda = now->lambda;
    for (int32_t i = 0; i < s->rows; i++) {
        s->r[s->n + i] = -s->r[s->n + i];
    }
    int code = mech_saddle_factor(&s->saddle, &e, (const double[3]){1., 0., 0.}, &result);
    code = code ? code : mech_saddle_solve(&s->saddle, s->r, &result);
    if (code) {
        memcpy(s->report->reason, result.reason, sizeof s->report->reason);
        return code;
    }
    snprintf(s->report->linear, sizeof s->report->linear, "%s", mech_saddle_linear(&s->saddle));
    for (int32_t i = 0; i < s->rows; i++) {
        s->state->lambda[i] -= s->r[s->n + i];
    }
    return 0;
}

/* r := K⁻¹ r with the tangent stiffness */
static int solve(struct statics *s)
{
    struct mech_step_result result = {.iterations = 0};
    struct mech_lsol *solver = NULL;
    struct mech_arena arena;
    struct mech_mat K;

    mech_arena_init(&arena, 0);
    int code = mech_tangents(s->model, s->state, false, &arena, &K);
    if (code == 0 && K.kind == MECH_MAT_ZERO) {
        code = MECH_SINGULAR;
        mech_singular_reason(s->model, "stiffness", 0, &result);
    } else if (code == 0) {
        code = mech_lsol_create(NULL, &K, &solver);
        if (code == 0) {
            mech_lsol_listen(solver, mech_model_interrupt(s->model));
        }
        if (code == MECH_SINGULAR) {
            mech_text_format(result.reason, sizeof result.reason, "the stiffness is singular");
        }
        if (code == 0) {
            code = mech_linear_outcome(s->model, "stiffness", solver, mech_lsol_factor(solver, &K),
                                       &result);
        }
    }
    if (code == 0) {
        snprintf(s->report->linear, sizeof s->report->linear, "%s", mech_lsol_name(solver));
        code = mech_linear_outcome(s->model, "stiffness", solver, mech_lsol_solve(solver, s->r, 1),
                                   &result);
    }
    if (code > 0) {
        memcpy(s->report->reason, result.reason, sizeof s->report->reason);
    }
    mech_lsol_destroy(solver);
    mech_arena_fini(&arena);
    return code;
}

/* The reason: how far it came, and where most is out of balance. */
static int diverged(struct statics *s, double load, double tolerance)
{
    char name[32];

    if (s->left <= tolerance) {
        mech_text_format(
            s->report->reason, sizeof s->report->reason,
            "Newton's method stopped at %.4g of the loads: the joints are off by %.3g of their"
            " lengths",
            load, s->off);
        return MECH_NOT_CONVERGED;
    }
    mech_balance_worst(&s->balance, s->r, name, sizeof name);
    mech_text_format(s->report->reason, sizeof s->report->reason,
                     "Newton's method stopped at %.4g of the loads with relative residual %.3g, "
                     "wanted %.3g, most of it at \"%s\"",
                     load, s->left, tolerance, name);
    return MECH_NOT_CONVERGED;
}

/* Newton's method at one share of the loads. Where it comes no closer, what rounding leaves of
 * forces that balance is close enough. */
static int equilibrium(struct statics *s, double load)
{
    const struct mech_newton_settings *const newton = &mech_model_settings(s->model)->newton;
    double tolerance = 0., before = INFINITY;

    memset(s->moved, 0, (size_t)s->n * sizeof *s->moved);
    memset(s->way, 0, (size_t)s->n * sizeof *s->way);
    for (int32_t k = 0;; k++) {
        MECH_TRY(residual(s, load));
        if (k == 0) {
            /* of one side of what balances */
            tolerance = fmax(newton->relative_tolerance * fmin(s->left, 0.5), MECH_FORCES_MET);
        }
        const double left = fmax(s->left, s->off);
        bool met = s->left <= tolerance && s->off <= MECH_FORCES_MET;

        if (k > 0 && !met && left > 0.25 * before) {
            MECH_TRY(rounding(s, load, tolerance, &met));
        }
        before = left;
        if (met) {
            return 0;
        }
        if (k == newton->max_iterations || mech_interrupted(mech_model_interrupt(s->model))) {
            return diverged(s, load, tolerance);
        }
        MECH_TRY(s->rows ? solve_joints(s) : solve(s));
        s->report->iterations++;
        memcpy(s->moved, s->r, (size_t)s->n * sizeof *s->moved);
        for (int32_t i = 0; i < s->n; i++) {
            s->way[i] += fabs(s->r[i]);
        }
        mech_model_move(s->model, s->state->q, s->r, s->state->q);
    }
}

/* One more one-sided row that acts, being beyond its limit, or none any more, being pulled. False:
 * all are as they should be. */
static bool change_sides(struct statics *s)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, s->state, s->state->at->time, s->state->q, s->state->v);
    double *const g = s->r + s->n, most = 0.;
    int32_t worst = -1;

    if (!rows->one_sided) {
        return false;
    }
    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, g);
    mech_balance_lengths(&s->balance);
    for (int32_t r = 0; r < s->rows; r++) {
        const double beyond = -rows->side[r] * g[r] / s->balance.L[r];

        if (rows->side[r] && s->state->open[r] != 0. && beyond > fmax(most, MECH_FORCES_MET)) {
            most = beyond;
            worst = r;
        }
    }
    if (worst >= 0) {
        s->state->open[worst] = 0.;
    }
    return worst >= 0 || mech_sided_release(s->model, MECH_FORCES_MET, s->state);
}

/* Equilibrium with those one-sided rows that have to act. */
static int settle(struct statics *s, double load)
{
    int code = equilibrium(s, load);

    for (int32_t k = 0; code == 0 && change_sides(s); k++) {
        if (k > 2 * s->rows + 2) {
            mech_text_format(s->report->reason, sizeof s->report->reason,
                             "the one-sided joints open and close without end");
            return MECH_NOT_CONVERGED;
        }
        code = equilibrium(s, load);
    }
    return code;
}

/* Raise the loads; a step that fails is tried again half as long. */
static int raise(struct statics *s, int32_t load_steps)
{
    const double step = 1. / load_steps, least = step / 1024.;
    const size_t nq = (size_t)mech_model_sizes(s->model)->q + 1, rows = (size_t)s->rows;
    double load = 0., wanted = step;

    while (load < 1.) {
        /* the last step ends at 1 however the sum was rounded */
        const double to = load + wanted > 1. - 1e-9 * step ? 1. : load + wanted;

        memcpy(s->q, s->state->q, nq * sizeof *s->q);
        memcpy(s->lambda, s->state->lambda, rows * sizeof *s->lambda);
        memcpy(s->open, s->state->open, rows * sizeof *s->open);
        const int code = settle(s, to);
        if (code < 0 || (code > 0 && 0.5 * wanted < least)) {
            return code;
        }
        if (code > 0) {
            /* from there with what was in balance, not with what this search came to */
            memcpy(s->state->q, s->q, nq * sizeof *s->q);
            memcpy(s->state->lambda, s->lambda, rows * sizeof *s->lambda);
            memcpy(s->state->open, s->open, rows * sizeof *s->open);
            wanted *= 0.5;
            continue;
        }
        mech_model_keep(s->model, s->state);
        load = to;
        s->report->load = load;
        s->report->load_steps++;
        /* smaller steps lead to the same place */
        MECH_TRY(mech_analysis_overlaps(s->model, s->state, s->report->reason));
    }
    return 0;
}

int mech_statics(const struct mech_model *m, struct mech_state *s,
                 const struct mech_statics_request *request, struct mech_statics_report *report)
{
    const struct mech_state_sizes *const n = mech_model_sizes(m);
    struct statics self = {
        .model = m, .state = s, .report = report, .n = n->v, .rows = mech_model_joints(m)->count};
    struct mech_step_result result = {.iterations = 0};

    *report = (struct mech_statics_report){.load = 0.};
    if (n->impulse > 0) {
        mech_text_format(report->reason, sizeof report->reason,
                         "statics support only models without interactions");
        return MECH_UNSUPPORTED;
    }
    self.loads = calloc(4 * ((size_t)n->v + 1) + 3 * ((size_t)self.rows + 1) + (size_t)n->q + 1,
                        sizeof *self.loads);
    if (!self.loads) {
        return MECH_NO_MEMORY;
    }
    self.r = self.loads + n->v + 1;
    self.q = self.r + n->v + self.rows + 1;
    self.moved = self.q + n->q + 1;
    self.way = self.moved + n->v + 1;
    self.lambda = self.way + n->v + 1;
    self.open = self.lambda + self.rows + 1;
    memset(s->v, 0, ((size_t)n->v + 1) * sizeof *s->v);
    memset(s->vdot, 0, (size_t)n->v * sizeof *s->vdot);
    mech_arena_init(&self.arena, 0);
    int code = mech_balance_init(&self.balance, m, &self.arena);
    code = code ? code : mech_rates_init(&self.rates, m, NULL, &result);
    if (code == 0 && self.rows) {
        code = mech_saddle_init(&self.saddle, m, NULL, true, &result);
    }
    if (code == 0 && self.rows) {
        /* multipliers to begin with: those of rest */
        mech_saddle_form(&self.saddle, (const double[3]){0., 0., 1.});
        code = mech_rates_start(&self.rates, s, &result);
    }
    if (code > 0) {
        memcpy(report->reason, result.reason, sizeof report->reason);
    }
    code = code ? code : raise(&self, request->load_steps);
    mech_saddle_fini(&self.saddle);
    mech_rates_fini(&self.rates);
    mech_arena_fini(&self.arena);
    free(self.loads);
    s->held = 0.;
    s->at->changed = 1;
    return code;
}
