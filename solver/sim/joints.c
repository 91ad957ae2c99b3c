/* Deactivated and activated joints and constraints. A model has the rows of all of them; those
 * of a deactivated object are left out, as its states record (state->open is MECH_LET_GO).
 * The model is made to follow a state, and the document's `active` with it, so that
 * snapshots and trials bring joints as they were.
 *
 * Activation is an impact, without rebound: of all velocities that suit the joints the nearest in
 * the metric of M,
 *
 *     M Δv = Gᵀ P,   G (v + Δv) + g_t = 0,   s P ≥ 0 of one-sided rows that act
 *
 * with rows that repeat others left out, as at the start. Contacts take part with the next step.
 * Positions stay, or are brought to the joints by the least motion in the same metric, Newton's
 * method on M Δq = Gᵀ μ, G Δq = −g. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/model/balance.h"
#include "solver/sim/edit.h"
#include "solver/sim/internal.h"
#include "solver/step/sided.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* as at the start of a model, what six written digits give */
static const double may_miss = 1e-6;
/* of that, what a row that is left out may open by in a step */
static const double of_a_step = 1e-3;

/* What a change of the model begins with. */
struct before {
    bool *released; /* [lambda] */
    double *v;      /* [v + 1] of the state; the motion that assembles */
    double *q;      /* [q + 1] */
    double *open;   /* [lambda] */
};

static bool is_released(const struct mech_sim *s, int32_t row)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    return rows->released && rows->released[row];
}

bool mech_sim_row_repeats(const struct mech_sim *s, const struct mech_state *state, int32_t row)
{
    return state->open[row] == 1. && mech_model_joints(s->model)->declared[row] == 0;
}

bool mech_sim_rows_suit(const struct mech_sim *s, const struct mech_state *state)
{
    for (int32_t r = 0; r < s->sizes.lambda; r++) {
        const bool dropped = s->dropped_count > 0 && s->dropped[r] && !is_released(s, r);

        if (is_released(s, r) != (state->open[r] == MECH_LET_GO) ||
            dropped != mech_sim_row_repeats(s, state, r)) {
            return false;
        }
    }
    return true;
}

int mech_sim_drop_rows(struct mech_sim *s, const struct mech_state *state)
{
    const int32_t n = s->sizes.lambda;
    int32_t count = 0;

    for (int32_t r = 0; r < n && state; r++) {
        count += mech_sim_row_repeats(s, state, r);
    }
    if (count > 0 && !s->dropped) {
        s->dropped = mech_arena_alloc(&s->arena, (size_t)n, sizeof *s->dropped);
        if (!s->dropped) {
            return MECH_NO_MEMORY;
        }
    }
    for (int32_t r = 0; r < n && s->dropped; r++) {
        const bool drop = state && mech_sim_row_repeats(s, state, r);

        s->redropped = s->redropped || s->dropped[r] != drop;
        s->dropped[r] = drop;
    }
    s->dropped_count = count;
    return 0;
}

/* `active` of the document's objects as a state has it. */
static void put_active(struct mech_sim *s, const struct mech_state *state)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t r = 0; r < rows->count; r++) {
        const struct mech_item *const item = &s->document->objects.at[rows->object[r]];
        const bool acts = state->open[r] != MECH_LET_GO;
        const struct mech_field *const f =
            acts == is_released(s, r) ? mech_table_find(&item->type->table, "active") : NULL;

        if (f && f->kind == MECH_BOOL) {
            *(bool *)((char *)item->description + f->offset) = acts;
        }
    }
}

int mech_sim_model_of(struct mech_sim *s, const struct mech_state *state, struct mech_diag *diag)
{
    put_active(s, state);
    MECH_TRY(mech_sim_drop_rows(s, state));
    MECH_TRY(mech_sim_rebuild(s, state->parameter, diag));
    return mech_sim_rows_suit(s, state) ? 0 : MECH_MISMATCH;
}

int mech_sim_model_back(struct mech_sim *s)
{
    struct mech_diag ignored;

    mech_diag_init(&ignored);
    s->astray = mech_sim_model_of(s, &s->now, &ignored) != 0;
    mech_diag_fini(&ignored);
    return s->astray ? MECH_NO_MEMORY : 0;
}

/* --- taking up -------------------------------------------------------------------------------- */

static void forget(struct before *b)
{
    free(b->released);
    free(b->v);
    free(b->q);
    free(b->open);
}

static int remember(const struct mech_sim *s, const struct mech_state *state, struct before *b)
{
    const size_t n = (size_t)s->sizes.lambda, v = (size_t)s->sizes.v + 1;
    const size_t q = (size_t)s->sizes.q + 1;

    *b = (struct before){.released = calloc(n + 1, sizeof *b->released),
                         .v = calloc(2 * v, sizeof *b->v),
                         .q = calloc(q, sizeof *b->q),
                         .open = calloc(n + 1, sizeof *b->open)};
    if (!b->released || !b->v || !b->q || !b->open) {
        forget(b);
        return MECH_NO_MEMORY;
    }
    memcpy(b->v, state->v, v * sizeof *b->v);
    memcpy(b->q, state->q, q * sizeof *b->q);
    memcpy(b->open, state->open, n * sizeof *b->open);
    for (size_t r = 0; r < n; r++) {
        b->released[r] = is_released(s, (int32_t)r);
    }
    return 0;
}

/* g of all rows at the state's position, and the row that acts and misses by most, or -1. */
static int32_t find_gaps(const struct mech_sim *s, const struct mech_state *state, double *g)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);
    double most = 0.;
    int32_t worst = -1;

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, g);
    for (int32_t r = 0; r < rows->count; r++) {
        const double side = rows->side[r];
        const double part = side != 0. ? fmax(0., -side * g[r]) : fabs(g[r]);
        const bool acts = !is_released(s, r) && !(rows->dropped && rows->dropped[r]);

        g[r] = acts && part > 0. ? g[r] : 0.;
        if (acts && !(part <= most)) {
            most = part;
            worst = r;
        }
    }
    return worst;
}

/* A row that is taken up, of those that were released (NULL: all), and that the positions miss by
 * more than is allowed where a model starts, or -1. */
static int32_t find_missed(const struct mech_sim *s, const struct mech_state *state,
                           const bool *released)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    double *const g = s->joint_scratch, *const may = g + rows->count;
    int32_t worst = -1;

    (void)find_gaps(s, state, g);
    mech_model_joint_gaps(s->model, may_miss, may);
    for (int32_t r = 0; r < rows->count; r++) {
        const bool taken = !released || released[r];

        if (taken && !is_released(s, r) && !(fabs(g[r]) <= may[r])) {
            worst = worst < 0 || fabs(g[r]) > fabs(g[worst]) ? r : worst;
        }
    }
    return worst;
}

const char *mech_sim_missed_joint(const struct mech_sim *s, const struct mech_state *state)
{
    const int32_t worst = find_missed(s, state, NULL);

    return worst >= 0 ? mech_model_joint_name(s->model, worst) : NULL;
}

static int refuse(const struct mech_sim *s, int32_t row, struct mech_diag *diag)
{
    char path[MECH_DIAG_PATH];

    snprintf(path, sizeof path, "/objects/%d", (int)mech_model_joints(s->model)->object[row]);
    mech_diag_add(
        diag, path,
        "the positions miss the joint \"%s\" by %.3g (m, rad): it is activated within %g, "
        "or with \"positions\": \"assembled\"",
        mech_model_joint_name(s->model, row), s->joint_scratch[row],
        s->joint_scratch[mech_model_joints(s->model)->count + row]);
    return MECH_INVALID;
}

/* Which rows act from here on: those that are activated, one-sided ones where they are at their
 * limit; all others as they did. */
static void set_rows(const struct mech_sim *s, struct mech_state *state, const struct before *b)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);
    double *const g = s->joint_scratch, *const limit = g + rows->count;

    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, g);
    mech_model_limits(s->model, limit);
    for (int32_t r = 0; r < rows->count; r++) {
        const bool known = !b->released[r] && state->open[r] != MECH_SIDE_UNKNOWN;

        if (is_released(s, r)) {
            state->open[r] = MECH_LET_GO;
        } else if (rows->dropped && rows->dropped[r]) {
            state->open[r] = 1.;
        } else if (rows->side[r] == 0) {
            state->open[r] = 0.;
        } else if (!known) {
            state->open[r] = rows->side[r] * g[r] > limit[r];
        }
    }
}

/* Whether each g is within that share of what a model may miss at its start. */
static bool are_within(const struct mech_sim *s, const double *g, double share)
{
    double *const may = s->joint_scratch + s->sizes.lambda;
    bool within = true;

    mech_model_joint_gaps(s->model, share * may_miss, may);
    for (int32_t r = 0; r < s->sizes.lambda; r++) {
        within = within && fabs(g[r]) <= may[r];
    }
    return within;
}

/* q to the joints. 0; MECH_NOT_CONVERGED; or as the linear solver returns. */
static int assemble(struct mech_sim *s, struct mech_rates *rates, struct mech_state *state,
                    double *d, struct mech_step_result *result)
{
    double *const g = s->joint_scratch, before = HUGE_VAL;

    for (int k = 0; k < 100; k++) {
        const struct mech_rate_point at = {state, state->at->time, state->q, state->v, NULL};
        const int32_t worst = find_gaps(s, state, g);
        const double most = worst < 0 ? 0. : fabs(g[worst]);

        /* what rounding leaves does not become less */
        if (most == 0. || (most > 0.5 * before && are_within(s, g, 1e-3))) {
            return 0;
        }
        if (!isfinite(most)) {
            break;
        }
        before = most;
        for (int32_t r = 0; r < s->sizes.lambda; r++) {
            g[r] = -g[r];
        }
        MECH_TRY(mech_rates_answer(rates, &at, g, d, result));
        mech_model_move(s->model, state->q, d, state->q);
    }
    mech_text_format(result->reason, sizeof result->reason,
                     "the joints cannot be brought together");
    return MECH_NOT_CONVERGED;
}

/* v that suits the joints, and the impulses into s->taken. */
static int push(struct mech_sim *s, struct mech_rates *rates, struct mech_state *state, double *dv,
                struct mech_step_result *result)
{
    const struct mech_rate_point now = {state, state->at->time, state->q, state->v, NULL};

    if (rates->joints) {
        MECH_TRY(mech_sided_impact(rates, state, result));
    } else {
        MECH_TRY(mech_rates_push(rates, &now, -1., dv, result));
        for (int32_t i = 0; i < s->sizes.v; i++) {
            state->v[i] += dv[i];
        }
        memset(rates->f, 0, ((size_t)s->sizes.v + 1) * sizeof *rates->f);
    }
    mech_rates_reactions(rates, dv, s->taken);
    for (int32_t r = 0; r < s->sizes.lambda; r++) {
        s->taken[r] = state->open[r] == 0. ? s->taken[r] : 0.;
    }
    return 0;
}

/* One attempt with the rows that are left out now. */
static int meet(struct mech_sim *s, struct mech_state *state, const struct before *b, bool closed,
                struct mech_step_result *result)
{
    double *const d = b->v + s->sizes.v + 1;
    struct mech_rates rates = {0};

    memcpy(state->q, b->q, ((size_t)s->sizes.q + 1) * sizeof *b->q);
    memcpy(state->v, b->v, ((size_t)s->sizes.v + 1) * sizeof *b->v);
    memcpy(state->open, b->open, (size_t)s->sizes.lambda * sizeof *b->open);
    set_rows(s, state, b);
    int code = mech_rates_init(&rates, s->model, s->document->solver.linear, result);

    code = code == 0 && closed ? assemble(s, &rates, state, d, result) : code;
    code = code ? code : push(s, &rates, state, d, result);
    mech_rates_fini(&rates);
    return code;
}

/* The same, with rows left out until none repeats others. MECH_INVALID; negative. */
static int meet_all(struct mech_sim *s, struct mech_state *state, const struct before *b,
                    bool closed, struct mech_diag *diag)
{
    struct mech_step_result result;
    int code;

    do {
        result = (struct mech_step_result){.iterations = 0};
        code = meet(s, state, b, closed, &result);
        if (code != MECH_SINGULAR || !mech_sim_may_drop(s, &result)) {
            break;
        }
        s->redropped = true;
        code = mech_sim_drop_row(s, result.dependent - 1, diag);
    } while (code == 0);
    if (code > 0) {
        mech_diag_add(diag, result.place, "%s",
                      result.reason[0] ? result.reason : mech_err_text(code));
        return MECH_INVALID;
    }
    return code;
}

/* Rows that are left out must not contradict the others. */
static int check_left_out(const struct mech_sim *s, const struct mech_state *state, bool closed,
                          struct mech_diag *diag)
{
    double *const g = s->joint_scratch, *const speed = g + s->sizes.lambda;
    double *const may = speed + s->sizes.lambda;
    const double h = mech_model_settings(s->model)->step_size;
    struct mech_drift off;

    if (s->dropped_count == 0) {
        return 0;
    }
    mech_sim_drift(s, state, &off);
    mech_model_joint_gaps(s->model, may_miss, may);
    for (int32_t r = 0; r < s->sizes.lambda; r++) {
        if (!is_released(s, r) &&
            ((closed && g[r] > may[r]) || speed[r] * h > of_a_step * may[r])) {
            mech_diag_add(diag, "", "the joint \"%s\" contradicts other joints",
                          mech_model_joint_name(s->model, r));
            return MECH_INVALID;
        }
    }
    return 0;
}

/* The state of the model after joints have been deactivated or activated. */
static int suit(struct mech_sim *s, struct mech_state *state, const struct before *b,
                const struct mech_taking *how, struct mech_diag *diag)
{
    const bool some = mech_sim_took(s), again = s->dropped_count > 0;

    if (again) {
        /* others may be the ones that repeat */
        MECH_TRY(mech_sim_drop_rows(s, NULL));
        MECH_TRY(mech_sim_rebuild(s, how->parameters, diag));
        s->redropped = true;
    }
    if (some && !how->closed) {
        const int32_t missed = find_missed(s, state, b->released);

        if (missed >= 0) {
            return refuse(s, missed, diag);
        }
    }
    set_rows(s, state, b);
    if (some || again) {
        MECH_TRY(meet_all(s, state, b, some && how->closed, diag));
    }
    if (some) {
        MECH_TRY(check_left_out(s, state, how->closed, diag));
        state->at->size = 0.;
        state->at->changed |= MECH_CHANGED_MOTION;
    } else {
        memcpy(state->v, b->v, (size_t)s->sizes.v * sizeof *b->v);
    }
    for (int32_t r = 0; r < s->sizes.lambda; r++) {
        state->lambda[r] = state->open[r] != 0. ? 0. : state->lambda[r];
        s->taken[r] = some ? s->taken[r] : 0.;
    }
    if (some && how->closed) {
        (void)mech_state_touch(state, 0);
        mech_model_keep(s->model, state);
    }
    return 0;
}

int mech_sim_change_model(struct mech_sim *s, struct mech_state *state,
                          const struct mech_taking *how, struct mech_diag *diag)
{
    struct before b;
    bool changed = false;

    MECH_TRY(remember(s, state, &b));
    int code = mech_sim_rebuild(s, how->parameters, diag);
    for (int32_t r = 0; r < s->sizes.lambda && code == 0; r++) {
        changed = changed || b.released[r] != is_released(s, r);
    }
    if (changed && !s->took) {
        s->taken = mech_arena_alloc(&s->arena, (size_t)s->sizes.lambda, sizeof *s->taken);
        s->took = mech_arena_alloc(&s->arena, (size_t)s->sizes.lambda, sizeof *s->took);
        code = s->taken && s->took ? 0 : MECH_NO_MEMORY;
    }
    for (int32_t r = 0; r < s->sizes.lambda && s->took && s->taken; r++) {
        s->taken[r] = 0.;
        s->took[r] = code == 0 && b.released[r] && !is_released(s, r);
    }
    code = code == 0 && changed ? suit(s, state, &b, how, diag) : code;
    if (code) {
        memcpy(state->q, b.q, ((size_t)s->sizes.q + 1) * sizeof *b.q);
        memcpy(state->v, b.v, ((size_t)s->sizes.v + 1) * sizeof *b.v);
        memcpy(state->open, b.open, (size_t)s->sizes.lambda * sizeof *b.open);
    } else if (changed) {
        state->at->changed |= MECH_CHANGED_RATES;
    }
    forget(&b);
    return code;
}

bool mech_sim_is_joint(const struct mech_sim *s, size_t object)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    bool found = false;

    for (int32_t r = 0; r < rows->count; r++) {
        found = found || rows->object[r] == (int32_t)object;
    }
    return found;
}

int32_t mech_sim_taken(const struct mech_sim *s, size_t object, const double **impulse)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    int32_t first = 0, count = 0;

    while (s->took && first < rows->count && rows->object[first] != (int32_t)object) {
        first++;
    }
    while (s->took && first + count < rows->count &&
           rows->object[first + count] == (int32_t)object) {
        count++;
    }
    const bool took = count > 0 && s->took[first];

    *impulse = took ? s->taken + first : NULL;
    return took ? count : 0;
}

int32_t mech_sim_taken_next(const struct mech_sim *s, int32_t *row, const double **impulse,
                            int32_t *n)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    while (s->took && *row < rows->count) {
        const int32_t first = *row, object = rows->object[first];

        while (*row < rows->count && rows->object[*row] == object) {
            (*row)++;
        }
        if (s->took[first]) {
            *impulse = s->taken + first;
            *n = *row - first;
            return object;
        }
    }
    return -1;
}

void mech_sim_forget_taken(struct mech_sim *s)
{
    if (s->took) {
        memset(s->took, 0, (size_t)s->sizes.lambda * sizeof *s->took);
    }
}

bool mech_sim_took(const struct mech_sim *s)
{
    bool some = false;

    for (int32_t r = 0; r < s->sizes.lambda && s->took; r++) {
        some = some || s->took[r];
    }
    return some;
}

/* Each row that is left out needs a new stepper, at a cost in proportion to the model: rows
 * times size is bounded, so that no document occupies a thread for more than some seconds. */
static const int64_t most_dropped = 1000000;

bool mech_sim_may_drop(const struct mech_sim *s, const struct mech_step_result *result)
{
    const int64_t size = (int64_t)s->sizes.v + s->sizes.lambda;
    const int32_t row = result->dependent - 1;

    return row >= 0 && s->type->joints && mech_model_joints(s->model)->side[row] == 0 &&
           !(s->dropped && s->dropped[row]) && (s->dropped_count + 1) * size <= most_dropped;
}

int mech_sim_drop_row(struct mech_sim *s, int32_t row, struct mech_diag *diag)
{
    struct mech_machine machine = {s->model, s->type, NULL};

    if (!s->dropped) {
        s->dropped = mech_arena_alloc(&s->arena, (size_t)s->sizes.lambda, sizeof *s->dropped);
        if (!s->dropped) {
            return MECH_NO_MEMORY;
        }
    }
    MECH_TRY(mech_model_drop_row(s->model, row));
    s->dropped[row] = true;
    s->dropped_count++;
    s->type->destroy(s->stepper);
    s->stepper = NULL;
    const int code = mech_machine_step(&machine, diag);
    s->stepper = machine.stepper;
    return code;
}
