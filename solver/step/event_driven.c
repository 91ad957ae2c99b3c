/* Event-driven integration of systems with impacts (V. Acary, B. Brogliato, Numerical Methods for
 * Nonsmooth Dynamical Systems, Springer 2008, chapter 8). Between events the pair DOPRI5 with step
 * size control integrates
 *
 *     M v̇ = f + H_hᵀ λ,   ÿ_h = H_h v̇ = 0 on the held rows
 *
 * and stops where the gap y of an open row falls to 0, or λ of a held one. There
 *
 *     velocities      0 ≤ H v⁺ − e (−H v⁻)⁺ ⊥ P ≥ 0   over all rows that touch, together
 *     accelerations   0 ≤ ÿ ⊥ λ ≥ 0 over those that touch and do not part
 *
 * A rebound slower than eventDriven.restSpeed leaves the contact closed, so that the infinitely
 * many impacts of a ball that comes to rest are finitely many. Rows are linear in q: what is held
 * at ÿ = 0 stays at y = 0 to rounding. `impulse` is ∫ λ dt plus the impacts of the last internal
 * step, N s. Order 5 between events. Equalities are held always, their velocities made to fit at a
 * start. */
#include "solver/step/event_driven.h"

#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"
#include "solver/model/contact_rows.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* events in a row at one time, and how close in time gaps close together, as a share of a step */
enum { STUCK_MOST = 1000 };
static const double together = 1e-9;

/* --- what it takes ---------------------------------------------------------------------------- */

static void check_laws(const struct mech_contact_rows *rows, struct mech_diag *d)
{
    int32_t row = 0;

    for (int32_t i = 0; rows->sets && i < rows->contacts; i++) {
        const enum mech_set_kind kind = rows->sets[i].kind;

        if (kind == MECH_SET_CONE || kind == MECH_SET_ROLLING || kind == MECH_SET_BOX) {
            char path[64];

            snprintf(path, sizeof path, "/interactions/%d/law", (int)rows->interaction[row]);
            mech_diag_add(d, path, "EventDriven supports no %s; use MoreauJean",
                          kind == MECH_SET_BOX ? "relays" : "friction");
        }
        row += rows->sets[i].rows;
    }
    for (int32_t i = 0; rows->compliance && i < rows->count; i++) {
        if (rows->compliance[i] > 0.) {
            char path[64];

            snprintf(path, sizeof path, "/interactions/%d/law/compliance",
                     (int)rows->interaction[i]);
            mech_diag_add(d, path, "EventDriven supports only rigid contacts; use MoreauJean");
        }
    }
}

static void check(const struct mech_model *m, struct mech_diag *d)
{
    const struct mech_settings *const settings = mech_model_settings(m);
    const struct mech_contact_rows *const rows = mech_model_contacts(m);
    const struct mech_vi_type *const vi =
        settings->vi.type ? mech_vi_find(settings->vi.type) : NULL;

    check_laws(rows, d);
    if (rows->count > MECH_EVENT_ROWS_MOST) {
        mech_diag_add(d, "/interactions", "%d contact rows; EventDriven supports at most %d",
                      (int)rows->count, (int)MECH_EVENT_ROWS_MOST);
    }
    if (settings->adaptive.dense) {
        mech_diag_add(d, "/solver/adaptive/denseOutput", "EventDriven ends its substeps itself");
    }
    if (settings->vi.type && !vi) {
        mech_diag_add(d, "/solver/vi/type", "there is no complementarity solver \"%s\"",
                      settings->vi.type);
    }
}

static int32_t carry(const struct mech_model *m)
{
    return MECH_EVENT_ROWS + 3 * mech_model_contacts(m)->count;
}

static bool divides(const struct mech_model *m)
{
    (void)m;
    return true;
}

static void destroy(void *self)
{
    struct mech_events *const e = self;

    if (e) {
        mech_erk_destroy(e->erk);
        mech_event_rows_fini(&e->rows);
        free(e->start_memory);
        free(e->memory);
        free(e->touch);
        free(e);
    }
}

static int prepare(struct mech_events *e, struct mech_step_result *result)
{
    const struct mech_settings *const settings = mech_model_settings(e->model);
    struct mech_state_sizes n = *mech_model_sizes(e->model);
    const size_t m = (size_t)mech_model_contacts(e->model)->count;
    void *erk = NULL;

    e->gap_tolerance = settings->events.gap_tolerance;
    e->most = settings->events.max_events;
    MECH_TRY(mech_erk_create(e->model, &mech_tableau_dopri5, result, &erk));
    e->erk = erk;
    n.carry = carry(e->model);
    e->start_memory = calloc(1, mech_state_bytes(&n));
    e->memory = calloc(8 * m + (size_t)n.v + 1, sizeof *e->memory);
    e->touch = calloc(m + 1, sizeof *e->touch);
    if (!e->start_memory || !e->memory || !e->touch) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&n, e->start_memory, &e->start);
    e->coefficients = e->memory;
    e->reach = e->memory + 4 * m;
    e->before = e->memory + 5 * m;
    e->free = e->memory + 8 * m;
    const int code = mech_event_rows_init(&e->rows, e->model, &e->erk->rates);
    if (code == MECH_UNSUPPORTED) {
        mech_text_format(
            result->reason, sizeof result->reason,
            "the interactions are too many for EventDriven with this mass matrix, or the "
            "complementarity solver does not support them");
    }
    MECH_TRY(code);
    e->erk->rates.held = m ? &e->rows : NULL;
    return 0;
}

static int create(const struct mech_model *m, struct mech_step_result *result, void **self)
{
    struct mech_events *const e = calloc(1, sizeof *e);

    *self = NULL;
    if (!e) {
        return MECH_NO_MEMORY;
    }
    e->model = m;
    const int code = prepare(e, result);
    if (code) {
        destroy(e);
        return code;
    }
    *self = e;
    return 0;
}

/* --- what happens at an event ----------------------------------------------------------------- */

/* The rows that touch at s: closed ones, and gaps that close now. */
static void find_touching(struct mech_events *e, const struct mech_state *s,
                          const struct mech_event *event)
{
    const struct mech_event_carry c = mech_event_carry(e, s);
    const double h = mech_model_settings(e->model)->step_size;
    const double moment = together * h + mech_time_rounding(s->at->time, h);

    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        const double speed = mech_event_speed(e, r, s->v);
        const bool now = event->kind == MECH_EVENT_GAP && event->row == r;

        if (mech_event_rows_suspended(&e->rows, r)) {
            e->touch[r] = false;
            continue;
        }
        e->touch[r] = c.flags[r] != MECH_ROW_OPEN || now ||
                      (speed <= e->rows.rest && c.gap[r] <= fmax(0., -speed) * moment);
        if (event->kind == MECH_EVENT_LIFT && event->row == r) {
            e->touch[r] = false;
        }
        if (e->touch[r] || (event->kind == MECH_EVENT_LIFT && event->row == r)) {
            c.gap[r] = 0.;
        }
    }
}

/* The speed at which a row is met, of one with two sides that at which it moves; 0: it rounds to
 * rest. */
static double met_at(const struct mech_events *e, int32_t r, const struct mech_state *s)
{
    const double speed = mech_event_speed(e, r, s->v);
    const double size = DBL_EPSILON * mech_event_rows_size(&e->rows, r, s->v);
    const double met = mech_event_rows_bilateral(&e->rows, r) ? fabs(speed) : -speed;

    return met > 4. * size ? met : 0.;
}

static bool approaches(const struct mech_events *e, const struct mech_state *s)
{
    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        if (e->touch[r] && met_at(e, r, s) > 0.) {
            return true;
        }
    }
    return false;
}

/* Of the rows that touch, those that do not part are closed as the accelerations ask for; v̇ and λ
 * of s. */
static int close_rows(struct mech_events *e, struct mech_state *s, struct mech_step_result *result)
{
    const struct mech_event_carry c = mech_event_carry(e, s);
    const struct mech_rate_point now = {s, s->at->time, s->q, s->v, NULL};
    const int32_t m = e->rows.rows->count;

    if (m > 0) {
        for (int32_t r = 0; r < m; r++) {
            e->touch[r] = e->touch[r] && (mech_event_speed(e, r, s->v) <= e->rows.rest ||
                                          mech_event_rows_bilateral(&e->rows, r));
        }
        e->erk->rates.held = NULL;
        const int code = mech_rates_vdot(&e->erk->rates, &now, e->free, result);
        e->erk->rates.held = &e->rows;
        MECH_TRY(code);
        MECH_TRY(mech_event_rows_close(&e->rows, e->touch, e->free, c.flags, result));
        if (s->carry[MECH_EVENT_WAITS] == 0.) {
            mech_event_rows_project(&e->rows, s->v);
        }
    }
    e->rows.calls = 0;
    MECH_TRY(mech_erk_finish(e->erk, s, s->at->time, result));
    if (m > 0) {
        memcpy(c.lambda, e->rows.lambda, (size_t)m * sizeof *c.lambda);
    }
    return 0;
}

static int no_solution(const struct mech_events *e, const struct mech_state *s, int code,
                       struct mech_step_result *result)
{
    if (code == MECH_VI_NOT_CONVERGED) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the contacts at t = %.9g were not resolved (%d rows), residual %g",
                         s->at->time, (int)e->rows.rows->count, result->residual);
    }
    return code;
}

/* Flags, speeds of what is met, and impulses before an event. */
static void remember(struct mech_events *e, const struct mech_state *s)
{
    const struct mech_event_carry c = mech_event_carry(e, s);
    const int32_t m = e->rows.rows->count;

    for (int32_t r = 0; r < m; r++) {
        e->before[r] = c.flags[r];
        e->before[m + r] = met_at(e, r, s);
        e->before[2 * m + r] = s->impulse[r];
    }
}

/* The impacts, and the rows that close or open, at the event that is over. */
static void log_rows(const struct mech_events *e, const struct mech_state *s,
                     struct mech_event_log *log)
{
    const struct mech_contact_rows *const rows = e->rows.rows;
    const struct mech_event_carry c = mech_event_carry(e, s);
    const double t = s->at->time;

    for (int32_t r = 0, row = 0; r < rows->count; r++, row++) {
        row = r > 0 && rows->interaction[r] != rows->interaction[r - 1] ? 0 : row;
        struct mech_logged event = {.of = MECH_LOGGED_INTERACTION,
                                    .row = row,
                                    .since = t,
                                    .time = t,
                                    .item = mech_model_contact_name(e->model, r)};
        const bool was = e->before[r] != MECH_ROW_OPEN, is = c.flags[r] != MECH_ROW_OPEN;
        const double speed = e->before[rows->count + r];

        if (mech_event_rows_bilateral(&e->rows, r)) {
            continue;
        }
        /* what was closed is not met, though others may load it */
        if (s->impulse[r] != e->before[2 * rows->count + r] && !was && speed > 0.) {
            event.kind = MECH_LOGGED_IMPACT;
            event.speed = speed;
            mech_event_log_add(log, &event);
            event.speed = 0.;
        }
        if (was != is) {
            event.kind = is ? MECH_LOGGED_CLOSES : MECH_LOGGED_OPENS;
            mech_event_log_add(log, &event);
        }
    }
}

static int meet(struct mech_events *e, struct mech_state *s, const struct mech_event *event,
                struct mech_step_result *result)
{
    if (result->log) {
        remember(e, s);
    }
    find_touching(e, s, event);
    s->carry[MECH_EVENT_WAITS] = 0.;
    if (approaches(e, s)) {
        const int code = mech_event_rows_impact(&e->rows, e->touch, s->v, s->impulse, result);

        result->impacts++;
        MECH_TRY(no_solution(e, s, code, result));
    }
    MECH_TRY(no_solution(e, s, close_rows(e, s, result), result));
    if (result->log) {
        log_rows(e, s, result->log);
    }
    return 0;
}

/* --- start ------------------------------------------------------------------------------------ */

/* Which rows touch follows from q and v alone: the state may have been set. */
static int start(void *self, struct mech_state *s, struct mech_step_result *result)
{
    struct mech_events *const e = self;
    const struct mech_contact_rows *const rows = e->rows.rows;
    const struct mech_event_carry c = mech_event_carry(e, s);
    bool waits = false;

    for (int32_t r = 0; r < rows->count; r++) {
        const double speed = mech_event_speed(e, r, s->v);
        const bool both = mech_event_rows_bilateral(&e->rows, r);
        double rounding = 0.;
        const double y = mech_contact_rows_gap(rows, r, s->q, &rounding);

        if (mech_event_rows_suspended(&e->rows, r)) {
            e->touch[r] = false;
            continue;
        }
        if (!both && y < -e->gap_tolerance - rounding) {
            mech_text_format(
                result->reason, sizeof result->reason,
                "the gap of interaction %d is %.3g m: EventDriven cannot begin with an overlap",
                (int)rows->interaction[r], y);
            snprintf(result->place, sizeof result->place, "/interactions/%d",
                     (int)rows->interaction[r]);
            return MECH_INVALID;
        }
        /* a flight continues with its own gap */
        const bool flies = c.flags[r] == MECH_ROW_OPEN && c.gap[r] >= 0. &&
                           fabs(c.gap[r] - y) <= rounding && speed > e->rows.rest;
        e->touch[r] = both || (y <= e->gap_tolerance && fabs(speed) <= e->rows.rest);
        c.gap[r] = e->touch[r] ? 0. : flies ? c.gap[r] : fmax(y, 0.);
        waits =
            waits || (both ? fabs(speed) > e->rows.rest : c.gap[r] <= 0. && speed < -e->rows.rest);
    }
    s->carry[MECH_EVENT_WAITS] = waits;
    return no_solution(e, s, close_rows(e, s, result), result);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Impulses of the held rows over a step of h whose λ are logged. */
static void add_impulse(const struct mech_events *e, struct mech_state *s, double h)
{
    const struct mech_tableau *const b = e->erk->tableau;
    const size_t m = (size_t)e->rows.rows->count;

    for (size_t r = 0; r < m; r++) {
        double sum = 0.;

        for (int32_t i = 0; i < b->stages; i++) {
            sum += b->b[i] * e->rows.log[(size_t)i * m + r];
        }
        s->impulse[r] += h * sum;
    }
}

/* A gap is the carried one while H q + b is not more exact. */
static void settle_gaps(const struct mech_events *e, struct mech_state *s)
{
    const struct mech_event_carry c = mech_event_carry(e, s);

    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        double rounding = 0.;
        const double y = mech_contact_rows_gap(e->rows.rows, r, s->q, &rounding);

        if (c.flags[r] == MECH_ROW_OPEN && fabs(c.gap[r] - y) > rounding) {
            c.gap[r] = y;
        }
    }
}

/* Whether a row that rests on others would sink. */
static bool sinks(const struct mech_events *e, const struct mech_state *s)
{
    const struct mech_event_carry c = mech_event_carry(e, s);

    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        if (c.flags[r] == MECH_ROW_RESTS &&
            mech_event_speed(e, r, s->vdot) < -1e-9 * e->rows.size[r]) {
            return true;
        }
    }
    return false;
}

/* From e->start over a good substep to its end, or to the first event in it. */
static int go_on(struct mech_events *e, struct mech_state *s, double h, double t_end,
                 struct mech_step_result *result)
{
    struct mech_event event;

    MECH_TRY(mech_event_find(e, s, h, t_end, &event, result));
    if (event.h > 0.) {
        add_impulse(e, s, event.h);
        /* the speeds that accelerations round to */
        mech_event_rows_project(&e->rows, s->v);
        settle_gaps(e, s);
        mech_model_keep(e->model, s);
    }
    e->stuck = event.h > 0. ? 0 : e->stuck + 1;
    if (event.kind == MECH_EVENT_NONE && !sinks(e, s)) {
        return 0;
    }
    if (e->stuck > STUCK_MOST || ++e->count > e->most) {
        mech_text_format(result->reason, sizeof result->reason,
                         "impacts accumulate at t = %.9g: more than %d %s", s->at->time,
                         e->stuck > STUCK_MOST ? STUCK_MOST : (int)e->most,
                         e->stuck > STUCK_MOST ? "at once" : "events in one internal step");
        return MECH_STEP_TOO_SMALL;
    }
    return meet(e, s, &event, result);
}

static int too_small(const struct mech_state *s, int code, struct mech_step_result *result)
{
    if (code <= 0 || !result->reason[0]) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the error requires substeps under the minimum at t = %.9g", s->at->time);
    }
    return MECH_STEP_TOO_SMALL;
}

static int substeps(struct mech_events *e, struct mech_state *s, struct mech_control *c,
                    double t_end, struct mech_step_result *result)
{
    e->count = e->stuck = 0;
    while (s->at->time < t_end) {
        const double t = s->at->time, end = mech_control_plan(c, t, t_end);
        double error = NAN;

        mech_event_rows_hold(&e->rows, mech_event_carry(e, s).flags);
        mech_state_copy(s, &e->start);
        int code = mech_event_take(e, s, c->step, end, result);
        code =
            code ? code : e->erk->substeps.estimate(e->erk, &e->start, s, c->step, &error, result);
        if (code < 0) {
            return code;
        }
        const bool good = mech_control_judge(c, code ? NAN : error);
        if (good) {
            MECH_TRY(go_on(e, s, c->step, end, result));
            result->substeps++;
        } else {
            mech_state_copy(&e->start, s);
            result->refused++;
        }
        if ((result->substeps + result->refused) % MECH_SUBSTEPS_ASK_EVERY == 0 &&
            mech_interrupted(mech_model_interrupt(e->model))) {
            return MECH_CANCELLED;
        }
        if (!good && mech_control_exhausted(c, s->at->time)) {
            return too_small(s, code, result);
        }
    }
    return 0;
}

static int step(void *self, struct mech_state *s, double h, double t_end,
                struct mech_step_result *result)
{
    static const struct mech_event begin = {MECH_EVENT_START, -1, 0.};
    struct mech_events *const e = self;
    const struct mech_adaptive_settings *const a = &mech_model_settings(e->model)->adaptive;
    const double most = a->maximum_step > 0. ? fmin(a->maximum_step, h) : h;
    const size_t m = (size_t)e->rows.rows->count;
    struct mech_control c;

    for (size_t r = 0; r < m; r++) {
        s->impulse[r] = 0.;
    }
    if (s->carry[MECH_EVENT_WAITS] != 0.) {
        mech_state_copy(s, &e->start);
        MECH_TRY(meet(e, s, &begin, result));
    }
    mech_control_begin(&c, a, e->erk->tableau->lower, most, s->carry[MECH_EVENT_NEXT]);
    MECH_TRY(substeps(e, s, &c, t_end, result));
    s->carry[MECH_EVENT_NEXT] = c.next;
    for (size_t r = 0; r < m; r++) {
        result->contacts += mech_event_carry(e, s).flags[r] != MECH_ROW_OPEN;
    }
    result->reason[0] = '\0';
    return 0;
}

static const char *linear(const void *self)
{
    const struct mech_events *const e = self;

    return mech_erk_linear(e->erk);
}

static const char *vi(const void *self)
{
    const struct mech_events *const e = self;

    return e->rows.type[0] ? e->rows.type[0]->name : "";
}

const struct mech_stepper_type mech_stepper_event_driven = {
    .name = "EventDriven",
    .doc = "Dormand and Prince's embedded Runge–Kutta pair between impacts, which are located to "
           "rounding (settings eventDriven, adaptive)",
    .order = 5,
    .explicit_scheme = true,
    .nonsmooth = true,
    .rotations = true,
    .locates = true,
    .check = check,
    .carry = carry,
    .divides = divides,
    .create = create,
    .start = start,
    .step = step,
    .linear = linear,
    .vi = vi,
    .destroy = destroy,
};
