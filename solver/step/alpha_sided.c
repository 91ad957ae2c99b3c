/* Steps of the generalized-α family with one-sided rows. A step is cut at the moment at which an
 * open row reaches its limit, s g = 0, found by steps of other lengths from the same start (regula
 * falsi, Illinois variant: M. Dowell, P. Jarratt, BIT 11 (1971)). There the velocities jump to what
 * the rows allow (inelastic impact), v̇ and λ are computed again, and the rest of the step follows.
 * A row whose multiplier changes its sign opens at the end of its step: an error of O(h²) once.
 *
 * A part of less than h/100 is a Taylor step of order 2: its error is below that of a whole step,
 * while the scheme would divide the tolerance of g by its length. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/alpha_internal.h"
#include "solver/step/sided.h"

#include <math.h>
#include <string.h>

enum { MOST_IMPACTS = 64, MOST_CUTS = 60 };
/* Of the reach of each row: nearer to its limit it is at it. */
static const double within = 1.;

int mech_alpha_sided_init(struct alpha *s)
{
    struct mech_state_sizes n = *mech_model_sizes(s->model);
    const size_t rows = (size_t)s->rows;

    if (!mech_model_joints(s->model)->one_sided) {
        return 0;
    }
    n.carry = mech_alpha_carry(s->model);
    double *const block = mech_arena_alloc(&s->arena, 1, mech_state_bytes(&n));
    s->gap = mech_arena_alloc(&s->arena, 3 * rows, sizeof *s->gap);
    if (!block || !s->gap) {
        return MECH_NO_MEMORY;
    }
    s->floor = s->gap + rows;
    s->reach = s->floor + rows;
    for (size_t r = 0; r < rows; r++) {
        s->reach[r] = 1.;
    }
    mech_state_place(&n, block, &s->from);
    return 0;
}

/* s g of all rows beside their reach, infinite of those that are not open; returns ġ by rates.bias
 * when asked. */
static void look(struct alpha *s, const struct mech_state *state, bool speeds)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, s->gap);
    if (speeds) {
        mech_rates_joint_speed(&s->rates, &e, s->rates.bias);
    }
    for (int32_t r = 0; r < s->rows; r++) {
        s->gap[r] = rows->side[r] && state->open[r] != 0. ? rows->side[r] * s->gap[r] / s->reach[r]
                                                          : HUGE_VAL;
    }
}

/* The least of gap − floor: below 0 some row is beyond its limit. */
static double least_gap(const struct alpha *s)
{
    double least = HUGE_VAL;

    for (int32_t r = 0; r < s->rows; r++) {
        least = fmin(least, s->gap[r] - s->floor[r]);
    }
    return least;
}

/* From s->from to t_end */
static int advance(struct alpha *s, struct mech_state *state, double h, double t_end,
                   struct mech_step_result *result)
{
    const double dt = t_end - s->from.at->time;

    mech_state_copy(&s->from, state);
    if (dt < 0.01 * h) {
        for (int32_t i = 0; i < s->nv; i++) {
            s->d[i] = dt * (state->v[i] + 0.5 * dt * state->vdot[i]);
            state->v[i] += dt * state->vdot[i];
        }
        mech_model_move(s->model, state->q, s->d, state->q);
        if (s->nx) {
            MECH_TRY(mech_rates_xdot(&s->rates, state, state->at->time, state->x, s->rate, result));
        }
        for (int32_t i = 0; i < s->nx; i++) {
            state->x[i] += dt * s->rate[i];
        }
    } else {
        MECH_TRY(mech_alpha_part(s, state, dt, t_end, result));
    }
    state->at->time = t_end;
    return 0;
}

/* A rope is stretched with this speed. */
static void log_impact(const struct alpha *s, const struct mech_state *state, int32_t row,
                       double speed, struct mech_event_log *log)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    int32_t first = row;

    while (first > 0 && rows->object[first - 1] == rows->object[row]) {
        first--;
    }
    const struct mech_logged event = {.kind = MECH_LOGGED_IMPACT,
                                      .of = MECH_LOGGED_JOINT,
                                      .row = row - first,
                                      .since = state->at->time,
                                      .time = state->at->time,
                                      .speed = speed,
                                      .item = mech_model_joint_name(s->model, row)};
    mech_event_log_add(log, &event);
}

/* Rows at their limit that close, or with `resting` that do not part: they act from here on.
 * Returns how many. */
static int close_rows(struct alpha *s, struct mech_state *state, double reach, bool resting,
                      struct mech_event_log *log)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    int closed = 0;

    look(s, state, true);
    for (int32_t r = 0; r < s->rows; r++) {
        const double speed = rows->side[r] * s->rates.bias[r];

        if (state->open[r] != 0. && s->gap[r] <= reach &&
            (speed < 0. || (resting && speed == 0.))) {
            state->open[r] = 0.;
            closed++;
            if (log && speed < 0.) {
                log_impact(s, state, r, -speed, log);
            }
        }
    }
    return closed;
}

/* What rows may miss at the beginning of a part: what they miss already. */
static void set_floor(struct alpha *s, const struct mech_state *state)
{
    look(s, state, false);
    for (int32_t r = 0; r < s->rows; r++) {
        s->floor[r] = fmin(0., s->gap[r]);
    }
}

/* Whether a row within reach of its limit closes: ġ towards it. */
static bool closes(struct alpha *s, const struct mech_state *state)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    bool any = false;

    look(s, state, true);
    for (int32_t r = 0; r < s->rows; r++) {
        any = any || (s->gap[r] <= within && rows->side[r] * s->rates.bias[r] < 0.);
    }
    return any;
}

/* The state at the moment at which the first row reaches its limit, which it passed before `late`;
 * the start itself when a row lies at its limit there and leaves it at once. With `hop` rows part
 * from their limits at the start: one that stays within reach of its own is at it where it closes
 * again. */
static int find_limit(struct alpha *s, struct mech_state *state, double h, double late, bool hop,
                      struct mech_step_result *result)
{
    double early = s->from.at->time, gap_late = least_gap(s), gap_early;
    int side = 0;

    look(s, &s->from, false);
    gap_early = fmax(least_gap(s), 0.);
    for (int k = 0; k < MOST_CUTS && late - s->from.at->time > 1e-9 * h; k++) {
        const double share = gap_early > within ? gap_late / (gap_late - gap_early) : 0.5;
        const double t = late - share * (late - early);

        if (!(t > early && t < late)) {
            break;
        }
        MECH_TRY(advance(s, state, h, t, result));
        look(s, state, false);
        const double gap = least_gap(s);
        if (fabs(gap) <= within && gap_early > within) {
            return 0;
        }
        if (hop && fabs(gap) <= within) {
            if (closes(s, state)) {
                return 0;
            }
            early = t;
            gap_early = gap;
            side = 0;
        } else if (gap <= within) {
            late = t;
            gap_late = gap;
            gap_early *= side < 0 ? 0.5 : 1.;
            side = -1;
        } else {
            early = t;
            gap_early = gap;
            gap_late *= side > 0 ? 0.5 : 1.;
            side = 1;
        }
    }
    return advance(s, state, h, early, result);
}

static int impact(struct alpha *s, struct mech_state *state, struct mech_step_result *result)
{
    MECH_TRY(mech_sided_impact(&s->rates, state, result));
    return mech_rates_start(&s->rates, state, result);
}

/* Rows that pull the wrong way at the end of the step open; counts those that act. */
static int release_rows(struct alpha *s, struct mech_state *state, struct mech_step_result *result)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    bool released = false;

    while (mech_sided_release(s->model, MECH_FORCES_MET, state)) {
        released = true;
    }
    result->contacts = 0;
    for (int32_t r = 0; r < s->rows; r++) {
        result->contacts += rows->side[r] && state->open[r] == 0.;
    }
    return released ? mech_rates_start(&s->rates, state, result) : 0;
}

/* How far from its limit each row counts as at it, m: some rounding of the lengths in it */
static void set_reach(struct alpha *s, const struct mech_state *state)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, s->gap);
    mech_balance_lengths(&s->balance);
    for (int32_t r = 0; r < s->rows; r++) {
        const double length = s->balance.L[r] + fabs(s->gap[r]);
        const bool known = rows->side[r] && isfinite(length) && length > 0.;

        s->reach[r] = known ? MECH_LIMIT_MET * length : 1.;
    }
}

int mech_alpha_sided(struct alpha *s, struct mech_state *state, double h, double t_end,
                     struct mech_step_result *result)
{
    const double begin = state->at->time;
    double reach = within;
    bool resting = false;

    set_reach(s, state);
    for (int k = 0; k < MOST_IMPACTS; k++) {
        if (close_rows(s, state, reach, resting, result->log) > 0) {
            MECH_TRY(impact(s, state, result));
        }
        if (!(state->at->time < t_end)) {
            state->at->time = begin;
            return release_rows(s, state, result);
        }
        set_floor(s, state);
        mech_state_copy(state, &s->from);
        MECH_TRY(advance(s, state, h, t_end, result));
        look(s, state, false);
        if (least_gap(s) >= -within) {
            state->at->time = begin;
            return release_rows(s, state, result);
        }
        MECH_TRY(find_limit(s, state, h, t_end, resting, result));
        look(s, state, false);
        reach = fmax(within, (1. + 1e-9) * least_gap(s));
        resting = state->at->time == s->from.at->time;
    }
    for (int32_t r = 0; r < s->rows; r++) {
        if (s->gap[r] - s->floor[r] <= within) {
            mech_text_format(
                result->reason, sizeof result->reason,
                "the joint \"%.64s\" closes and opens more than %d times within a step",
                mech_model_joint_name(s->model, r), (int)MOST_IMPACTS);
        }
    }
    return MECH_NOT_CONVERGED;
}
