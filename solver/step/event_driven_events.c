/* Events within a substep. The gap of an open row is a polynomial by the continuous extension of
 * the pair (dense.h),
 *
 *     y(θ) = y₀ + h ẏ₀ θ + (Y₄ + Y₅ − Y₃) θ² − (Y₄ + 2 Y₅) θ³ + Y₅ θ⁴,   Y₂ = h Σ b_i ẏ_i
 *     Y₃ = h ẏ₀ − Y₂,  Y₄ = Y₂ − h ẏ₁ − Y₃,  Y₅ = h Σ d_i ẏ_i
 *
 * made of speeds alone, so that flights far shorter than what q resolves keep their shape. It shows
 * where to look: the event itself is found by steps of the pair from the start of the substep, of
 * full order, with Newton's method on y, or by bracketing on λ. */
#include "solver/step/event_driven.h"

#include "solver/base/err.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* points of a substep between which a gap is looked at, and steps towards a root */
enum { SAMPLES = 8, NEWTON_MOST = 12 };

/* λ that counts as 0, relative to the accelerations it holds */
static const double weightless = 1e-12;

struct mech_event_carry mech_event_carry(const struct mech_events *e, const struct mech_state *s)
{
    const size_t m = (size_t)e->rows.rows->count;
    double *const at = s->carry + MECH_EVENT_ROWS;

    return (struct mech_event_carry){at, at + m, at + 2 * m};
}

double mech_event_speed(const struct mech_events *e, int32_t row, const double *v)
{
    return mech_event_rows_dot(&e->rows, row, v);
}

int mech_event_take(struct mech_events *e, struct mech_state *s, double h, double t_end,
                    struct mech_step_result *result)
{
    const size_t bytes = (size_t)e->rows.rows->count * sizeof(double);
    const struct mech_event_carry from = mech_event_carry(e, &e->start);

    mech_state_copy(&e->start, s);
    if (bytes) {
        memcpy(e->rows.log, from.lambda, bytes);
    }
    e->rows.calls = 1;
    MECH_TRY(mech_erk_step(e->erk, s, h, t_end, result));
    s->at->time = t_end;
    if (bytes) {
        memcpy(mech_event_carry(e, s).lambda, e->rows.lambda, bytes);
    }
    return 0;
}

/* ẏ of a row at a stage */
static double stage_speed(const struct mech_events *e, int32_t row, int32_t stage)
{
    const struct mech_contact_rows *const rows = e->rows.rows;
    const double *const rate = e->erk->kq[stage];
    double sum = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        sum += rows->value[k] * rate[rows->place[k]];
    }
    return sum;
}

/* Σ w_i ẏ_i over `count` stages */
static double weigh(const struct mech_events *e, int32_t row, const double *w, int32_t count)
{
    double sum = 0.;

    for (int32_t i = 0; i < count; i++) {
        sum += w[i] != 0. ? w[i] * stage_speed(e, row, i) : 0.;
    }
    return sum;
}

static void expand(const struct mech_events *e, int32_t row, double h, double c[4])
{
    const struct mech_tableau *const b = e->erk->tableau;
    const double first = h * stage_speed(e, row, 0), last = h * stage_speed(e, row, b->stages);
    const double y2 = h * weigh(e, row, b->b, b->stages), y3 = first - y2, y4 = y2 - last - y3;
    const double y5 = h * weigh(e, row, b->d, b->stages + 1);

    c[0] = first;
    c[1] = y4 + y5 - y3;
    c[2] = -(y4 + 2. * y5);
    c[3] = y5;
}

/* --- the first crossing ----------------------------------------------------------------------- */

struct gap {
    double y0;
    const double *c;
};

static double value(void *context, double x)
{
    const struct gap *const g = context;

    return g->y0 + x * (g->c[0] + x * (g->c[1] + x * (g->c[2] + x * g->c[3])));
}

static double slope(void *context, double x)
{
    const struct gap *const g = context;

    return g->c[0] + x * (2. * g->c[1] + x * (3. * g->c[2] + x * 4. * g->c[3]));
}

/* The slope over x, where c0 = 0: as it begins. */
static double bend(void *context, double x)
{
    const struct gap *const g = context;

    return 2. * g->c[1] + x * (3. * g->c[2] + x * 4. * g->c[3]);
}

/* The crossing between a, where y is positive or begins to be, and b, where it is not. */
static double cross(struct gap *g, double a, double b)
{
    double from = a;

    if (!(value(g, a) > 0.)) {
        /* up and down again: from the top on */
        double (*const rise)(void *, double) = g->c[0] > 0. ? slope : bend;

        from = mech_dense_root(rise, g, a, b);
        if (!(value(g, from) > 0.)) {
            return a;
        }
    }
    const double root = mech_dense_root(value, g, from, b);

    return isnan(root) ? b : root;
}

double mech_event_crossing(double y0, const double c[4], double slow)
{
    const bool still = y0 <= 0. && c[0] <= 0. && c[0] >= -slow;
    const double begin[] = {still ? 0. : c[0], c[1], c[2], c[3]};
    struct gap g = {fmax(y0, 0.), begin};
    double a = 0.;

    /* what hardly moves goes where it is after the first sample, or where it is drawn to */
    if (y0 <= 0. && begin[0] <= 0. && !(still && value(&g, 1. / SAMPLES) > 0.)) {
        const double first = c[1] != 0. ? c[1] : c[2] != 0. ? c[2] : c[3];

        if (!still || first < 0.) {
            return 0.;
        }
    }
    for (int k = 1; k <= SAMPLES; k++) {
        const double b = (double)k / SAMPLES;

        if (value(&g, b) <= 0.) {
            return cross(&g, a, b);
        }
        if (a > 0. || y0 > 0.) {
            const double low =
                slope(&g, a) < 0. && slope(&g, b) > 0. ? mech_dense_root(slope, &g, a, b) : a;

            if (value(&g, low) < 0.) {
                return cross(&g, a, low);
            }
        }
        a = b;
    }
    return 2.;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Gaps of open rows at the end of a step of h whose stages are computed. */
static void carry_gaps(const struct mech_events *e, struct mech_state *s, double h)
{
    const struct mech_tableau *const b = e->erk->tableau;
    const struct mech_event_carry from = mech_event_carry(e, &e->start);
    const struct mech_event_carry to = mech_event_carry(e, s);

    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        to.gap[r] =
            from.flags[r] == MECH_ROW_OPEN ? from.gap[r] + h * weigh(e, r, b->b, b->stages) : 0.;
    }
}

static void find_gap(struct mech_events *e, double h, struct mech_event *event)
{
    const struct mech_event_carry from = mech_event_carry(e, &e->start);

    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        double *const c = e->coefficients + 4 * (size_t)r;

        if (from.flags[r] != MECH_ROW_OPEN || mech_event_rows_suspended(&e->rows, r)) {
            continue;
        }
        expand(e, r, h, c);
        const double at = mech_event_crossing(from.gap[r], c, e->rows.rest * h);
        if (at <= 1. && at * h < event->h) {
            *event = (struct mech_event){MECH_EVENT_GAP, r, at * h};
        }
    }
}

/* Where stages saw λ of held rows below 0, as a time since the start of the substep. */
static bool note_lifts(struct mech_events *e, double h)
{
    const struct mech_event_carry from = mech_event_carry(e, &e->start);
    const struct mech_tableau *const b = e->erk->tableau;
    const size_t m = (size_t)e->rows.rows->count;
    bool any = false;

    for (size_t r = 0; r < m; r++) {
        const double diagonal = e->rows.A[r * m + r];
        const double least = -weightless * e->rows.size[r] / diagonal;

        e->reach[r] = 0.;
        if (from.flags[r] != MECH_ROW_HELD || mech_event_rows_bilateral(&e->rows, (int32_t)r)) {
            continue;
        }
        for (int32_t i = b->stages; i > 0; i--) {
            if (e->rows.log[(size_t)i * m + r] < least) {
                e->reach[r] = i == b->stages ? h : b->c[i] * h;
            }
        }
        any = any || e->reach[r] > 0.;
    }
    return any;
}

/* λ of e->row after a step of h from the start. */
static double multiplier(void *context, double h)
{
    struct mech_events *const e = context;

    if (h == 0.) {
        return mech_event_carry(e, &e->start).lambda[e->row];
    }
    const int code = mech_event_take(e, e->state, h, e->start.at->time + h, e->result);

    e->failed = e->failed ? e->failed : code;
    return e->rows.lambda[e->row];
}

static int find_lift(struct mech_events *e, struct mech_event *event)
{
    const struct mech_event_carry from = mech_event_carry(e, &e->start);

    e->failed = 0;
    for (int32_t r = 0; r < e->rows.rows->count; r++) {
        if (e->reach[r] == 0.) {
            continue;
        }
        e->row = r;
        /* stages are estimates: a step decides */
        if (!(multiplier(e, e->reach[r]) < 0.)) {
            continue;
        }
        const double at =
            from.lambda[r] <= 0. ? 0. : mech_dense_root(multiplier, e, 0., e->reach[r]);
        if (at < event->h) {
            *event = (struct mech_event){MECH_EVENT_LIFT, r, at};
        }
    }
    return e->failed;
}

/* Newton's method on the gap of the event's row, by steps from the start; s ends there. */
static int locate_gap(struct mech_events *e, struct mech_state *s, double most,
                      struct mech_event *event, struct mech_step_result *result)
{
    const struct mech_tableau *const b = e->erk->tableau;
    const double y0 = mech_event_carry(e, &e->start).gap[event->row];
    double last = HUGE_VAL;

    for (int k = 0; k < NEWTON_MOST; k++) {
        MECH_TRY(mech_event_take(e, s, event->h, e->start.at->time + event->h, result));
        const double y = y0 + event->h * weigh(e, event->row, b->b, b->stages);
        const double speed = mech_event_speed(e, event->row, s->v);
        const double change = speed < 0. ? -y / speed : 0.;

        if (fabs(change) <= 4. * DBL_EPSILON * event->h || !(fabs(change) < last)) {
            return 0;
        }
        last = fabs(change);
        event->h = fmin(fmax(event->h + change, 0.5 * event->h), most);
    }
    /* s belongs to the h before the last change */
    return mech_event_take(e, s, event->h, e->start.at->time + event->h, result);
}

int mech_event_find(struct mech_events *e, struct mech_state *s, double h, double t_end,
                    struct mech_event *event, struct mech_step_result *result)
{
    *event = (struct mech_event){MECH_EVENT_NONE, -1, HUGE_VAL};
    const bool lifts = note_lifts(e, h);

    find_gap(e, h, event);
    e->state = s;
    e->result = result;
    if (lifts) {
        MECH_TRY(find_lift(e, event));
    }
    if (event->kind == MECH_EVENT_NONE) {
        event->h = h;
        MECH_TRY(lifts ? mech_event_take(e, s, h, t_end, result) : 0);
    } else if (event->h == 0.) {
        mech_state_copy(&e->start, s);
        return 0;
    } else if (event->kind == MECH_EVENT_GAP) {
        MECH_TRY(locate_gap(e, s, h, event, result));
    } else {
        MECH_TRY(mech_event_take(e, s, event->h, e->start.at->time + event->h, result));
    }
    carry_gaps(e, s, event->h);
    return 0;
}
