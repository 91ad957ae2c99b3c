/* Newton's method of a Moreau–Jean step; see moreau_jean_bodies.h for the equations.
 *
 * The matrix takes G at q_θ for the rows too, which belong to q_{k+1}, and ∂q_θ/∂v at rest: off by
 * O(h ω), which costs iterations and no accuracy. It stays while each iteration leaves a tenth of
 * the residual at most. Rows of contacts stay as they are found once a step, after the first
 * iteration, which tells where bodies go without contacts. Where iterations come no closer, what
 * rounding leaves of the forces that balance is close enough (rounding.h): an impulse P is a force
 * P/h, of which doubles hold ε P/h. */
#include "solver/base/err.h"
#include "solver/step/moreau_jean_bodies.h"
#include "solver/step/rounding.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PROJECTIONS = 8 };

/* m or rad: what rows that were left out as repeating others may miss. The joints of a document fit
 * to 1e-6. */
static const double may_part = 1e-5;

static double norm(const double *x, int32_t n)
{
    double sum = 0.;

    for (int32_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sqrt(sum);
}

/* Where nothing pushed, the mean acceleration of the last step goes on. */
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
    const struct mech_rate_point now = {state, state->at->time + theta * h, s->q_m, s->v_m,
                                        state->vdot};

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
    MECH_TRY(mech_rates_force_with(&s->rates, &now, state->lambda, s->r, result));
    mech_mat_mul(mech_model_linear(s->model)->M, h, state->vdot, -h, s->r);
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

/* g [rows] at the end, 0 of rows that do not act */
static double joint_gaps(struct mech_moreau_bodies *s, const struct mech_state *state, double t,
                         double *g)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);
    double most = 0.;

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, g);
    s->missed = 0.;
    for (int32_t r = 0; r < s->rows; r++) {
        if (state->open[r] != 0.) {
            const bool released = rows->released && rows->released[r];
            if (rows->dropped && rows->dropped[r] && !released && fabs(g[r]) > s->missed) {
                s->missed = fabs(g[r]);
                s->missing = r;
            }
            g[r] = 0.;
        }
        most = fmax(most, fabs(g[r]));
    }
    return most;
}

/* v to the joints at the positions that they were brought to */
static int project_velocities(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                              struct mech_step_result *result)
{
    const double within = 0.1 * mech_model_settings(s->model)->newton.absolute_tolerance;
    double *const speed = s->x + s->nv;

    for (int k = 0; k < PROJECTIONS; k++) {
        joint_speeds(s, state, t, speed);
        if (norm(speed, s->rows) <= within) {
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
    const double within = 0.1 * mech_model_settings(s->model)->newton.absolute_tolerance;
    double *const g = s->x + s->nv;

    for (int k = 0; k < PROJECTIONS && joint_gaps(s, state, t, g) > within; k++) {
        memset(s->x, 0, (size_t)s->nv * sizeof *s->x);
        for (int32_t r = 0; r < s->rows; r++) {
            g[r] = -g[r];
        }
        MECH_TRY(mech_saddle_solve(&s->saddle, s->x, result));
        memcpy(s->d, s->x, (size_t)s->nv * sizeof *s->d);
        mech_model_move(s->model, state->q, s->d, state->q);
    }
    if (s->missed > may_part) {
        snprintf(result->reason, sizeof result->reason,
                 "the joint \"%.64s\" was left out as it repeated others, and now misses by %.3g",
                 mech_model_joint_name(s->model, s->missing), s->missed);
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
    int32_t worst = 0;
    int which = 0;

    for (int i = 1; i < 3; i++) {
        which = size[i] / wanted[i] > size[which] / wanted[which] ? i : which;
    }
    for (int32_t i = 1; i < s->nv + s->rows; i++) {
        worst = fabs(s->r[i]) > fabs(s->r[worst]) ? i : worst;
    }
    snprintf(result->reason, sizeof result->reason,
             "Newton's method stopped after %d iterations with residual %.3g of %s, wanted %.3g, "
             "most of it at \"%.40s\"",
             (int)result->iterations, size[which],
             which == 2   ? "the contacts"
             : which == 1 ? "the joints"
                          : "the forces",
             wanted[which],
             worst < s->nv ? mech_model_owner_name(s->model, worst)
                           : mech_model_joint_name(s->model, worst - s->nv));
    result->residual = size[which];
    return MECH_NOT_CONVERGED;
}

/* Sizes of what is left: N, m/s, and the residual of contacts. */
static int sizes_of(struct mech_moreau_bodies *s, const struct mech_state *state, bool first,
                    double size[3], struct mech_step_result *result)
{
    size[0] = norm(s->r, s->nv) / s->h;
    size[1] = norm(s->r + s->nv, s->rows);
    size[2] = first || s->accepted ? 0. : mech_moreau_bodies_miss(s, state->v);
    for (int i = 0; i < 3; i++) {
        if (!isfinite(size[i])) {
            const struct mech_eval e = mech_model_point(
                s->model, state, state->at->time + s->theta * s->h, s->q_m, s->v_m);

            mech_model_tell_infinite(s->model, &e, result->reason, sizeof result->reason);
            return MECH_NOT_FINITE;
        }
    }
    return 0;
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
    MECH_TRY(mech_rounding_nudge(state, mech_model_sizes(s->model), side, scratch, &nudged));
    for (int32_t i = 0; i < s->nv; i++) {
        v0_off[i] = v0[i] * (1. + ((i + side) % 2 ? 1. : -1.) * MECH_ROUNDING_NUDGE);
    }
    for (int32_t i = 0; i < contacts; i++) {
        P_off[i] = P[i] * (1. + ((i + side) % 2 ? -1. : 1.) * MECH_ROUNDING_NUDGE);
    }
    s->v0 = v0_off;
    s->impacts.P = P_off;
    const int code = residual(s, &nudged, t, ignored);

    s->v0 = v0;
    s->impacts.P = P;
    return code;
}

/* close := at least what rounding leaves of forces and joints. */
static int round_off(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                     double close[3])
{
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    const struct mech_arena_mark mark = mech_arena_mark(scratch);
    const size_t n = (size_t)s->nv + (size_t)s->rows;
    struct mech_step_result ignored = {.iterations = 0};
    double *const r = mech_arena_alloc(scratch, n + 1, sizeof *r);
    int code = r ? 0 : MECH_NO_MEMORY;

    if (code == 0) {
        memcpy(r, s->r, n * sizeof *r);
    }
    for (int side = 0; side < MECH_ROUNDING_SIDES && code == 0; side++) {
        code = nudged_residual(s, state, t, side, &ignored);
        for (size_t i = 0; i < n && code == 0; i++) {
            s->r[i] -= r[i];
        }
        if (code == 0) {
            const double force = norm(s->r, s->nv) / s->h, speed = norm(s->r + s->nv, s->rows);

            close[0] = fmax(close[0], MECH_ROUNDING_SHARE * force);
            close[1] = fmax(close[1], MECH_ROUNDING_SHARE * speed);
        }
    }
    mech_arena_release(scratch, mark);
    /* r, the poses and what belongs to v are those of the state again */
    return code < 0 ? code : residual(s, state, t, &ignored);
}

static bool fits(const double size[3], const double tolerance[3])
{
    return size[0] <= tolerance[0] && size[1] <= tolerance[1] && size[2] <= tolerance[2];
}

int mech_moreau_bodies_solve(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                             struct mech_step_result *result)
{
    const struct mech_settings *const settings = mech_model_settings(s->model);
    const struct mech_newton_settings *const newton = &settings->newton;
    double tolerance[3] = {0.}, before[3] = {0.}, size[3];

    s->impacts.count = s->impacts.sets = 0;
    s->accepted = false;
    mech_moreau_bodies_open(s, state);
    predict(s, state);
    for (int32_t k = 0;; k++) {
        bool met;

        MECH_TRY(residual(s, state, t, result));
        MECH_TRY(sizes_of(s, state, k == 0, size, result));
        for (int i = 0; i < 2 && k == 0; i++) {
            tolerance[i] = fmax(newton->relative_tolerance * size[i], newton->absolute_tolerance);
        }
        /* as close to the solver's own tolerance as rounding lets two residuals agree */
        tolerance[2] = 2. * settings->vi.tolerance;
        met = k > 0 && fits(size, tolerance);
        if (k > 1 && !met && stalls(size, before, tolerance) && size[2] <= tolerance[2]) {
            double close[3] = {tolerance[0], tolerance[1], tolerance[2]};

            MECH_TRY(round_off(s, state, t, close));
            met = fits(size, close);
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
        if (s->impacts.count && !s->accepted) {
            MECH_TRY(mech_moreau_bodies_impact(s, state, result));
        }
    }
    if (s->impacts.count == 0) {
        result->residual = fmax(size[0], size[1]);
    }
    result->impact_gain += mech_moreau_bodies_gain(s, state->v);
    MECH_TRY(mech_moreau_bodies_keep(s, state, result));
    MECH_TRY(mech_moreau_bodies_part(s, state, t, result));
    return s->rows ? project(s, state, t, result) : 0;
}
