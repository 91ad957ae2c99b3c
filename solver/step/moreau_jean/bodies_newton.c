/* Newton's method of a Moreau–Jean step; see bodies.h for the equations.
 *
 * The matrix takes G at q_θ for the rows too, which belong to q_{k+1}, and ∂q_θ/∂v at rest: off by
 * O(h ω), which costs iterations and no accuracy. It stays while each iteration leaves a tenth of
 * the residual at most. Rows of contacts stay as they are found once a step, after the first
 * iteration, which shows where bodies go without contacts, but for what that predicts wrongly. It
 * stops by what balances (balance.h), P among it; where iterations come no closer, by what rounding
 * leaves. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <string.h>

enum { PROJECTIONS = 8 };

/* Of the lengths in a joint's equation: how near positions are brought to the joints. */
static const double near_joints = 0x1p-40;
/* Of relativeTolerance, while iterations come closer: nothing corrects the rest. */
static const double of_last = 1e-3;
/* Of the speeds in a row: how near velocities are brought to the joints. */
static const double near_speeds = 0x1p-37;

/* Where nothing pushed, the mean acceleration of the last step continues. */
static void predict(struct mech_moreau_bodies *s, struct mech_state *state)
{
    bool free = true;

    for (int32_t i = 0; i < mech_model_sizes(s->model)->impulse; i++) {
        free = free && state->impulse[i] == 0.;
    }
    for (int32_t i = 0; i < s->nv && free; i++) {
        state->v[i] += s->h * state->vdot[i];
    }
}

/* Rows that act at velocity level, G v + g_t at the end of the step, [rows] into speed; the poses
 * and s->g are those of the end then. */
static void joint_speeds(struct mech_moreau_bodies *s, const struct mech_state *state, double t,
                         double *speed)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);

    mech_model_pose(s->model, &e);
    mech_model_joint_rate(s->model, &e, s->gt, s->bias);
    mech_model_joint_jacobian(s->model, s->g);
    for (int32_t r = 0; r < s->rows; r++) {
        speed[r] = s->gt[r];
        for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
            speed[r] += s->g[k] * state->v[rows->column[k]];
        }
        speed[r] = state->open[r] != 0. ? 0. : speed[r];
    }
}

/* q_{k+1}, q_θ, v_θ and v̇ that belong to v; r [nv + rows] */
static int residual(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                    struct mech_step_result *result)
{
    const double h = s->h, theta = s->theta;
    const double t_m = state->at->time + theta * h;
    const size_t bytes = (size_t)s->nv * sizeof *s->r;

    for (int32_t i = 0; i < s->nv; i++) {
        s->v_m[i] = (1. - theta) * s->v0[i] + theta * state->v[i];
        s->d[i] = h * s->v_m[i];
        state->vdot[i] = (state->v[i] - s->v0[i]) / h;
    }
    mech_model_move(s->model, s->q0, s->d, state->q);
    if (s->rows) {
        joint_speeds(s, state, t, s->r + s->nv + 1);
    }
    for (int32_t i = 0; i < s->nv; i++) {
        s->d[i] *= theta;
    }
    mech_model_move(s->model, s->q0, s->d, s->q_m);
    struct mech_eval e = mech_model_point(s->model, state, t_m, s->q_m, s->v_m);

    MECH_TRY(mech_step_force(s->model, state, t_m, s->r, result));
    memcpy(s->outer, s->r, bytes);
    e.lambda = state->lambda;
    e.vdot = state->vdot;
    mech_model_resist(s->model, &e, s->rates.u, s->r);
    memcpy(s->force, s->r, bytes);
    mech_mat_mul(mech_model_linear(s->model)->M, h, state->vdot, -h, s->r);
    memcpy(s->inert, s->r, bytes);
    mech_moreau_bodies_push(&s->impacts, -1., s->impacts.P, s->r);
    memmove(s->r + s->nv, s->r + s->nv + 1, (size_t)s->rows * sizeof *s->r);
    return 0;
}

/* Factors at q_θ, whose poses are the last ones. */
static int factor(struct mech_moreau_bodies *s, const struct mech_state *state,
                  struct mech_step_result *result)
{
    const double h = s->h, theta = s->theta;
    struct mech_eval e =
        mech_model_point(s->model, state, state->at->time + theta * h, s->q_m, s->v_m);

    e.lambda = state->lambda;
    e.vdot = state->vdot;
    e.posed = !mech_model_is_linear(s->model);
    s->formed = false;
    return mech_saddle_factor(&s->saddle, &e,
                              (const double[3]){h * h * theta * theta, h * theta, 1.}, result);
}

/* One iteration without contacts: v and λ. */
static int improve(struct mech_moreau_bodies *s, struct mech_state *state,
                   struct mech_step_result *result)
{
    for (int32_t i = 0; i < s->nv + s->rows; i++) {
        s->x[i] = -s->r[i];
    }
    MECH_TRY(mech_saddle_solve(&s->saddle, s->x, result));
    for (int32_t i = 0; i < s->nv; i++) {
        state->v[i] += s->x[i];
    }
    for (int32_t i = 0; i < s->rows; i++) {
        state->lambda[i] -= s->x[s->nv + i] / s->h;
    }
    result->iterations++;
    return 0;
}

/* --- positions -------------------------------------------------------------------------------- */

/* g [rows] at the end, 0 of rows that do not act; the largest beside the lengths in it */
static double joint_gaps(struct mech_moreau_bodies *s, const struct mech_state *state, double t,
                         double *g)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);
    double most = 0.;

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, g);
    mech_balance_lengths(&s->balance);
    s->missed = 0.;
    for (int32_t r = 0; r < s->rows; r++) {
        if (state->open[r] != 0.) {
            const bool released = rows->released && rows->released[r];
            if (rows->dropped && rows->dropped[r] && !released &&
                fabs(g[r]) > s->missed * s->balance.gap[r]) {
                s->missed = fabs(g[r]) / s->balance.gap[r];
                s->missing = r;
            }
            g[r] = 0.;
        }
        const double length = fmax(s->balance.L[r], s->balance.gap[r] / MECH_GAP);

        most = fabs(g[r]) > most * length ? fabs(g[r]) / length : most;
    }
    return most;
}

/* The largest of G v + g_t beside the speeds in it, among them h v̇ and what impulses and forces
 * make one by one; s->g is G. */
static double speeds_left(struct mech_moreau_bodies *s, const struct mech_state *state,
                          const double *speed)
{
    const double least = mech_model_settings(s->model)->newton.absolute_tolerance;
    double most = 0.;

    mech_balance_motion(&s->balance, state->v, state->vdot, (const double[3]){1., s->h, 1.});
    for (int32_t r = 0; r < s->rows; r++) {
        mech_balance_speed(&s->balance, r, true);
        mech_balance_row(&s->balance, r, s->g);
        const double left = mech_balance_row_left(&s->balance, r, speed[r], least);

        if (isnan(left)) {
            return left;
        }
        most = left <= most ? most : left;
    }
    return most;
}

/* v to the joints at the positions that they were brought to */
static int project_velocities(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                              struct mech_step_result *result)
{
    double *const speed = s->x + s->nv;

    for (int k = 0; k < PROJECTIONS; k++) {
        joint_speeds(s, state, t, speed);
        if (speeds_left(s, state, speed) <= near_speeds) {
            break;
        }
        memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
        for (int32_t r = 0; r < s->rows; r++) {
            speed[r] = -speed[r];
        }
        MECH_TRY(mech_saddle_solve(&s->saddle, s->x, result));
        for (int32_t i = 0; i < s->nv; i++) {
            state->v[i] += s->x[i];
        }
    }
    return 0;
}

/* q to the joints, and v where the settings ask for it. Far from its goal, at a point that joints
 * cannot reach, it leaves what it has: the velocities fit. */
static int project(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                   struct mech_step_result *result)
{
    double *const g = s->x + s->nv;

    for (int k = 0; k < PROJECTIONS && joint_gaps(s, state, t, g) > near_joints; k++) {
        memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
        for (int32_t r = 0; r < s->rows; r++) {
            g[r] = -g[r];
        }
        MECH_TRY(mech_saddle_solve(&s->saddle, s->x, result));
        memcpy(s->d, s->x, (size_t)s->nv * sizeof *s->d);
        mech_model_move(s->model, state->q, s->d, state->q);
    }
    if (s->missed > 1.) {
        mech_text_format(
            result->reason, sizeof result->reason,
            "equations of the joint \"%.64s\" that were left out as repetitions are now "
            "violated by %.3g",
            mech_model_joint_name(s->model, s->missing), s->missed * s->balance.gap[s->missing]);
        return MECH_SINGULAR;
    }
    return mech_model_settings(s->model)->velocity_projection
               ? project_velocities(s, state, t, result)
               : 0;
}

/* --- the step --------------------------------------------------------------------------------- */

static int not_converged(const struct mech_moreau_bodies *s, const double size[3],
                         const double wanted[3], struct mech_step_result *result)
{
    char name[24];
    int which = 0;

    for (int i = 1; i < 3; i++) {
        which = size[i] / wanted[i] > size[which] / wanted[which] ? i : which;
    }
    mech_balance_worst(&s->balance, s->r, name, sizeof name);
    mech_text_format(result->reason, sizeof result->reason,
                     "Newton's method stopped after %d iterations with relative residual %.3g in "
                     "%s, wanted %.3g, most of it at \"%s\"",
                     (int)result->iterations, size[which],
                     which == 2   ? "the contacts"
                     : which == 1 ? "the joints"
                                  : "the forces",
                     wanted[which], name);
    result->residual = size[which];
    return MECH_NOT_CONVERGED;
}

/* What is left of forces, joints' velocities and contacts, beside what balances. */
static int sizes_of(struct mech_moreau_bodies *s, const struct mech_state *state, bool first,
                    double size[3], struct mech_step_result *result)
{
    const double least = mech_model_settings(s->model)->newton.absolute_tolerance;

    mech_balance_parts(&s->balance,
                       &(struct mech_balance_parts){
                           .F = s->outer, .f = s->force, .inert = s->inert, .r = s->r, .h = s->h});
    size[0] = mech_balance_left(&s->balance, s->r, least * s->h);
    size[1] = s->rows ? speeds_left(s, state, s->r + s->nv) : 0.;
    size[2] = first || s->accepted ? 0. : mech_moreau_bodies_miss(s, state->v);
    for (int i = 0; i < 3; i++) {
        if (i == 2 ? isnan(size[i]) : !isfinite(size[i])) {
            const struct mech_eval e = mech_model_point(
                s->model, state, state->at->time + s->theta * s->h, s->q_m, s->v_m);

            mech_model_tell_infinite(s->model, &e, result->reason, sizeof result->reason);
            return MECH_NOT_FINITE;
        }
    }
    return 0;
}

/* All terms one by one into the sizes. */
static void measure(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    struct mech_eval e =
        mech_model_point(s->model, state, state->at->time + s->theta * s->h, s->q_m, s->v_m);

    e.lambda = state->lambda;
    e.vdot = state->vdot;
    mech_balance_all(&s->balance, &e);
}

/* Whether the factors still serve: each iteration leaves a tenth at most. */
static bool serves(const double size[3], const double before[3], const double tolerance[3])
{
    for (int i = 0; i < 2; i++) {
        if (size[i] > tolerance[i] && !(size[i] <= 0.1 * before[i])) {
            return false;
        }
    }
    return true;
}

/* True when forces or joints are hardly closer than before. */
static bool stalls(const double size[3], const double before[3], const double tolerance[3])
{
    for (int i = 0; i < 2; i++) {
        if (size[i] > tolerance[i] && size[i] > 0.25 * before[i]) {
            return true;
        }
    }
    return false;
}

/* The residual with every number off by a nudge, v_k and P as well, into s->r. */
static int nudged_residual(struct mech_moreau_bodies *s, const struct mech_state *state, double t,
                           int side, struct mech_step_result *ignored)
{
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    double *const v0 = s->v0, *const P = s->impacts.P;
    const int32_t contacts = s->impacts.count;
    double *const v0_off = mech_arena_alloc(scratch, (size_t)s->nv + 1, sizeof *v0_off);
    double *const P_off = mech_arena_alloc(scratch, (size_t)contacts + 1, sizeof *P_off);
    struct mech_state nudged;

    if (!v0_off || !P_off) {
        return MECH_NO_MEMORY;
    }
    MECH_TRY(mech_balance_nudge(&s->balance, state, side, scratch, &nudged));
    for (int32_t i = 0; i < s->nv; i++) {
        v0_off[i] = v0[i] * (1. + MECH_NUDGE * mech_model_share((uint32_t)i, side + 2));
    }
    for (int32_t i = 0; i < contacts; i++) {
        P_off[i] = P[i] * (1. + MECH_NUDGE * mech_model_share((uint32_t)i, side + 3));
    }
    s->v0 = v0_off;
    s->impacts.P = P_off;
    const int code = residual(s, &nudged, t, ignored);

    s->v0 = v0;
    s->impacts.P = P;
    return code;
}

/* Whether rounding leaves no less of forces and joints. */
static int round_off(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                     const double tolerance[3], bool *met)
{
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    const size_t n = (size_t)s->nv + (size_t)s->rows;
    struct mech_step_result ignored = {.iterations = 0};
    double *const r = mech_arena_alloc(scratch, n + 1, sizeof *r);
    int code = r ? 0 : MECH_NO_MEMORY;

    if (code == 0) {
        memcpy(r, s->r, n * sizeof *r);
        mech_balance_still(&s->balance);
    }
    for (int side = 0; side < MECH_NUDGES && code == 0; side++) {
        code = nudged_residual(s, state, t, side, &ignored);
        if (code == 0) {
            mech_balance_moved(&s->balance, s->r, r);
        }
    }
    mech_arena_release(scratch, mark);
    /* r, the poses and what belongs to v are those of the state again */
    code = code < 0 ? code : residual(s, state, t, &ignored);
    mech_balance_masses(&s->balance, s->g);
    *met = mech_balance_rounds(&s->balance, s->r, tolerance[0], tolerance[1]);
    return code;
}

static bool fits(const double size[3], const double tolerance[3])
{
    return size[0] <= tolerance[0] && size[1] <= tolerance[1] && size[2] <= tolerance[2];
}

/* Impulses for the present v, and of what the motion after them meets. */
static int impact(struct mech_moreau_bodies *s, struct mech_state *state,
                  struct mech_step_result *result)
{
    bool changed;

    do {
        if (s->impacts.count && !s->accepted) {
            MECH_TRY(mech_moreau_bodies_impact(s, state, result));
            if (mech_moreau_bodies_stop_turns(s, state)) {
                MECH_TRY(mech_moreau_bodies_impact(s, state, result));
            }
            if (mech_moreau_bodies_stop_slides(s, state)) {
                MECH_TRY(mech_moreau_bodies_impact(s, state, result));
            }
        }
        MECH_TRY(mech_moreau_bodies_find_more(s, state, &changed, result));
        if (changed) {
            (void)mech_moreau_bodies_stop_slides(s, state);
        }
        s->accepted = s->accepted && !changed;
    } while (changed);
    return 0;
}

int mech_moreau_bodies_solve(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                             struct mech_step_result *result)
{
    const struct mech_settings *const settings = mech_model_settings(s->model);
    const struct mech_newton_settings *const newton = &settings->newton;
    double tolerance[3] = {0.}, before[3] = {0.}, size[3];

    s->impacts.count = s->impacts.sets = 0;
    s->accepted = false;
    mech_balance_begin(&s->balance);
    mech_moreau_bodies_open(s, state);
    predict(s, state);
    for (int32_t k = 0;; k++) {
        bool met;

        MECH_TRY(residual(s, state, t, result));
        MECH_TRY(sizes_of(s, state, k == 0, size, result));
        tolerance[0] = tolerance[1] = fmax(of_last * newton->relative_tolerance, MECH_FORCES_MET);
        /* as close to the solver's own tolerance as rounding lets two residuals agree */
        tolerance[2] = 2. * settings->vi.tolerance;
        met = k > 0 && fits(size, tolerance);
        if (k > 1 && !met && !s->balance.whole) {
            measure(s, state);
            MECH_TRY(sizes_of(s, state, false, size, result));
            met = fits(size, tolerance);
        }
        if (k > 1 && !met && stalls(size, before, tolerance) && size[2] <= tolerance[2]) {
            /* hardly closer than before: within relativeTolerance it is close enough */
            const double enough = fmax(newton->relative_tolerance, MECH_FORCES_MET);

            met = fits(size, (const double[3]){enough, enough, tolerance[2]});
            if (!met) {
                MECH_TRY(round_off(s, state, t, tolerance, &met));
            }
        }
        if (met && s->accepted && !mech_moreau_bodies_still(s, state->v)) {
            /* the matrix that they were accepted with has changed since */
            s->accepted = met = false;
            MECH_TRY(sizes_of(s, state, false, size, result));
        }
        if (met) {
            break;
        }
        if (k == newton->max_iterations ||
            (k > 0 && mech_interrupted(mech_model_interrupt(s->model)))) {
            return not_converged(s, size, tolerance, result);
        }
        if (k == 0 || !serves(size, before, tolerance)) {
            MECH_TRY(factor(s, state, result));
        }
        memcpy(before, size, sizeof before);
        MECH_TRY(improve(s, state, result));
        if (k == 0) {
            MECH_TRY(mech_moreau_bodies_find(s, state, result));
        }
        MECH_TRY(impact(s, state, result));
    }
    if (s->impacts.count == 0) {
        result->residual = fmax(size[0], size[1]);
    }
    s->slides.any = false; /* the impulses are found: no other try */
    result->impact_gain += mech_moreau_bodies_added(s, state);
    MECH_TRY(mech_moreau_bodies_keep(s, state, result));
    MECH_TRY(mech_moreau_bodies_part(s, state, t, result));
    return s->rows ? project(s, state, t, result) : 0;
}
