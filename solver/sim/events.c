/* Events of a step that no scheme has located: what acts at the end of an internal step is compared
 * with what acted at its start.
 *
 *   interactions   a contact acts while its first row has an impulse; a relay is at its lower
 *                  bound, at its upper one, or between
 *   joints         a one-sided row acts while `open` says so (solver/model/state.h)
 *   bodies         a pair of shapes touches while one of its contacts has an impulse, or under
 *                  penalty a force; pairs, not points, so that contacts that wander along a face
 *                  are no events
 *   expressions    see event_switches.c
 *
 * A rigid contact that begins to act while its bodies approach is met by an impact. If they part at
 * the end of that internal step it does not last: an impact alone, and it does not act there. Of a
 * pair with several points the fastest one counts, and it parts when all of them do. Where no
 * impulse is known of a contact that touches and does not approach, as at the start or where q or v
 * have been set, whether it acts is taken from the first internal step.
 *
 * What acts follows from the state alone, by one law at the start of a command and at the end of
 * each internal step: v_k = v_{k+1} − h v̇ is the velocity at the start of the step that has led
 * there. So a restored state has the events of the one that was saved.
 *
 * Runs in commands that ask for events alone: it copies the state once an internal step, and looks
 * for contacts once more in those in which a pair of shapes with restitution pushes, and in those
 * in which a pair begins to touch. */
#include "solver/base/err.h"
#include "solver/model/contact_rows.h"
#include "solver/model/touch.h"
#include "solver/sim/event_motion.h"
#include "solver/sim/internal.h"
#include "solver/step/acting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row of an interaction does; OTHER: no row that events are of, or a suspended one. */
enum acts { OTHER, UNKNOWN, OPEN, ACTS, AT_LOWER, BETWEEN, AT_UPPER };

/* The share of the speed of an impact below which bodies do not part: solvers leave about 1e-8. */
static const double parting = 1e-6;
/* A share of the size of two shapes: a smaller gap where no impulse is known is none, as for
 * mech_scene_stands. */
static const double touching = 1e-6;

/* What acts in a state. */
struct known {
    unsigned char *row; /* [impulse] enum acts of the first row of each contact */
    uint64_t *pair;     /* [contact] pairs that touch, ascending */
    size_t pairs;
};

struct mech_event_watch {
    struct mech_state before; /* at the start of the internal step */
    double *memory;
    double *Mg;                    /* [nv + 1] scratch */
    struct known was, now;         /* at the start and at the end of the last internal step */
    struct mech_contact_list near; /* what touches where the first internal step starts, if no
                                      contact is known there */
    struct mech_event_motion motion;
};

static void forget(struct known *k)
{
    free(k->row);
    free(k->pair);
}

void mech_sim_events_fini(struct mech_sim *s)
{
    struct mech_event_watch *const w = s->compared;

    if (w) {
        mech_contact_list_fini(&w->near);
        mech_event_motion_fini(&w->motion);
        forget(&w->was);
        forget(&w->now);
        free(w->Mg);
        free(w->memory);
        free(w);
        s->compared = NULL;
    }
}

/* The rows of a model, and the contacts of a step, at most; one more. */
static int lay(struct known *k, const struct mech_state_sizes *n)
{
    k->row = calloc((size_t)n->impulse + 1, sizeof *k->row);
    k->pair = calloc((size_t)n->contact + 1, sizeof *k->pair);
    return k->row && k->pair ? 0 : MECH_NO_MEMORY;
}

static int make_all(struct mech_sim *s, struct mech_event_watch *w)
{
    w->memory = calloc(1, mech_state_bytes(&s->sizes));
    w->Mg = calloc((size_t)s->sizes.v + 1, sizeof *w->Mg);
    if (!w->memory || !w->Mg) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, w->memory, &w->before);
    MECH_TRY(lay(&w->was, &s->sizes));
    MECH_TRY(lay(&w->now, &s->sizes));
    return mech_event_motion_make(&w->motion, s->model);
}

static int make(struct mech_sim *s)
{
    if (s->compared) {
        return 0;
    }
    s->compared = calloc(1, sizeof *s->compared);
    const int code = s->compared ? make_all(s, s->compared) : MECH_NO_MEMORY;

    if (code) {
        mech_sim_events_fini(s);
    }
    return code;
}

/* The length of the steps around a state. */
static double step_of(const struct mech_sim *s, const struct mech_state *state)
{
    return state->at->last_step > 0. ? state->at->last_step : s->document->solver.step_size;
}

/* --- interactions ----------------------------------------------------------------------------- */

/* Whether no step has led to the coordinates and velocities of a state. */
static bool is_unled(const struct mech_state *s)
{
    return !(s->at->last_step > 0.) || (s->at->changed & MECH_CHANGED_MOTION);
}

/* Whether the two sides of a row part with velocities v (side 1) or approach each other (−1). */
static bool row_moves(const struct mech_contact_rows *rows, int32_t r, const double *q,
                      const double *v, double side, double h)
{
    double speeds = 0., lengths = fabs(rows->b[r]);

    for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
        speeds += fabs(rows->value[k] * v[rows->column[k]]);
        lengths += fabs(rows->value[k] * q[rows->place[k]]);
    }
    return mech_event_counts(side * mech_contact_rows_speed(rows, r, v), speeds, lengths, h);
}

static bool is_rigid(const struct mech_contact_rows *rows, int32_t r)
{
    return !rows->compliance || !(rows->compliance[r] > 0.);
}

/* The speed by which other forces close a row within a step, at least: of its impulse P, which has
 * changed its speed by `change`, what that is less than w P, w = (g·g)²/(g·M g) ≤ g·M⁻¹ g. */
static double pressed(const struct mech_sim *s, const struct mech_contact_rows *rows, int32_t r,
                      double change)
{
    double *const g = s->compared->motion.d, *const Mg = s->compared->Mg;
    double square = 0., mass = 0.;

    memset(g, 0, ((size_t)s->sizes.v + 1) * sizeof *g);
    for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
        g[rows->column[k]] += rows->value[k];
    }
    mech_mat_mul(mech_model_linear(s->model)->M, 1., g, 0., Mg);
    for (int32_t i = 0; i < s->sizes.v; i++) {
        square += g[i] * g[i];
        mass += g[i] * Mg[i];
    }
    return mass > 0. ? square * square / mass * s->next.impulse[r] - change : 0.;
}

/* Whether the impulse of a row's contact was that of an impact, after which its sides part: no
 * other law lets a row with an impulse part. They do not where the next step, u⁺ ≥ −e u, has an
 * impulse again. Where q or v have been set, whether they part now. */
static bool has_parted(const struct mech_sim *s, const struct mech_contact_rows *rows, int32_t r)
{
    const struct mech_state *const to = &s->next;
    const double *const v0 = s->compared->motion.v0;

    if (is_unled(to)) {
        return row_moves(rows, r, to->q, to->v, 1., step_of(s, to));
    }
    const double u0 = mech_contact_rows_speed(rows, r, v0);
    const double u = mech_contact_rows_speed(rows, r, to->v);

    return is_rigid(rows, r) && row_moves(rows, r, to->q, v0, -1., to->at->last_step) &&
           u > -parting * u0 && (1. + rows->e[r]) * u > pressed(s, rows, r, u - u0);
}

static enum acts relay(const struct mech_set *set, double unit, double l)
{
    static const enum acts is[] = {[MECH_RELAY_LOWER] = AT_LOWER,
                                   [MECH_RELAY_BETWEEN] = BETWEEN,
                                   [MECH_RELAY_UPPER] = AT_UPPER};

    return is[mech_relay_of(set, unit, l)];
}

/* What a contact does, by its first row's impulse of a step of h, or a law of first order by its
 * multiplier, h = 1. */
static enum acts acting(const struct mech_set *set, double h, double impulse)
{
    if (set && set->kind == MECH_SET_BILATERAL) {
        return OTHER;
    }
    if (set && set->kind == MECH_SET_BOX) {
        return h > 0. ? relay(set, h, impulse) : UNKNOWN;
    }
    return impulse > 0. ? ACTS : OPEN;
}

static void add(struct mech_event_log *log, struct mech_logged event, enum mech_logged_kind kind)
{
    event.kind = kind;
    event.speed = kind == MECH_LOGGED_IMPACT ? event.speed : 0.;
    mech_event_log_add(log, &event);
}

/* One row's change. An impulse meets a rigid contact that did not act and approached. */
static void change(const struct mech_sim *s, const struct mech_contact_rows *rows, int32_t r,
                   struct mech_logged *event)
{
    const enum acts was = (enum acts)s->compared->was.row[r];
    const enum acts is = (enum acts)s->compared->now.row[r];
    const struct mech_state *const before = &s->compared->before;
    struct mech_event_log *const log = s->command.log;

    if (is >= AT_LOWER) {
        if (was != is && was != UNKNOWN) {
            add(log, *event, MECH_LOGGED_SWITCHES);
        }
        return;
    }
    if (was == OPEN && s->next.impulse[r] > 0.) {
        event->speed = -mech_contact_rows_speed(rows, r, before->v);
        if (is == OPEN || (is_rigid(rows, r) &&
                           row_moves(rows, r, before->q, before->v, -1., s->command.plan.h))) {
            add(log, *event, MECH_LOGGED_IMPACT);
        }
        if (is == ACTS) {
            add(log, *event, MECH_LOGGED_CLOSES);
        }
    } else if (was == ACTS && is == OPEN) {
        add(log, *event, MECH_LOGGED_OPENS);
    }
}

static void look_at_contacts(struct mech_sim *s, struct mech_logged event)
{
    const struct mech_contact_rows *const rows = mech_model_contacts(s->model);
    int32_t k = 0;

    for (int32_t r = 0, first = 0; r < rows->count; k++) {
        const struct mech_set *const set = rows->sets ? &rows->sets[k] : NULL;

        first = rows->interaction[r] != rows->interaction[first] ? r : first;
        event.row = r - first;
        event.item = mech_model_contact_name(s->model, r);
        if (s->compared->now.row[r] != OTHER) {
            change(s, rows, r, &event);
        }
        r += set ? set->rows : 1;
    }
}

/* Diodes and relays between systems of first order. */
static void look_at_laws(struct mech_sim *s, struct mech_logged event)
{
    const struct mech_first_order_rows *const rows = mech_model_first_order_rows(s->model);
    const struct mech_interaction *const all = s->document->interactions.at;
    const int32_t base = mech_model_contacts(s->model)->count;

    for (int32_t r = 0, first = 0; r < rows->count; r++) {
        const enum acts was = (enum acts)s->compared->was.row[base + r];
        const enum acts is = (enum acts)s->compared->now.row[base + r];

        first = rows->interaction[r] != rows->interaction[first] ? r : first;
        event.row = r - first;
        event.item = all[rows->interaction[r]].name;
        if (is != OTHER && was != UNKNOWN && was != is) {
            add(s->command.log, event,
                is >= AT_LOWER ? MECH_LOGGED_SWITCHES
                : is == ACTS   ? MECH_LOGGED_CLOSES
                               : MECH_LOGGED_OPENS);
        }
    }
}

/* What the rows do in s->next. */
static void find_rows(struct mech_sim *s, unsigned char *row)
{
    const struct mech_contact_rows *const rows = mech_model_contacts(s->model);
    const struct mech_first_order_rows *const laws = mech_model_first_order_rows(s->model);
    const double h = s->next.at->last_step;
    int32_t k = 0;

    memset(row, UNKNOWN, (size_t)s->sizes.impulse + 1);
    for (int32_t r = 0; r < rows->count; k++) {
        const struct mech_set *const set = rows->sets ? &rows->sets[k] : NULL;
        enum acts is =
            mech_is_suspended(rows->suspended, r) ? OTHER : acting(set, h, s->next.impulse[r]);
        double rounding = 0.;

        if (is == OPEN && is_unled(&s->next) &&
            !(mech_contact_rows_gap(rows, r, s->next.q, &rounding) > rounding) &&
            !row_moves(rows, r, s->next.q, s->next.v, -1., step_of(s, &s->next))) {
            is = UNKNOWN;
        }
        is = is == ACTS && has_parted(s, rows, r) ? OPEN : is;
        row[r] = (unsigned char)is;
        r += set ? set->rows : 1;
    }
    for (int32_t r = 0; r < laws->count && h > 0.; r++) {
        const double l = s->next.impulse[rows->count + r];

        row[rows->count + r] =
            (unsigned char)(mech_is_suspended(laws->suspended, r) ? OTHER
                                                                  : acting(&laws->sets[r], 1., l));
    }
}

/* --- joints ----------------------------------------------------------------------------------- */

static void look_at_joints(const struct mech_sim *s, struct mech_logged event)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const double *const was = s->compared->before.open, *const is = s->next.open;

    for (int32_t r = 0, first = 0; rows->one_sided && r < rows->count; r++) {
        first = rows->object[r] != rows->object[first] ? r : first;
        if (rows->side[r] == 0 || was[r] > 1. || is[r] > 1. || was[r] == is[r]) {
            continue;
        }
        event.row = r - first;
        event.item = mech_model_joint_name(s->model, r);
        add(s->command.log, event, is[r] == 0. ? MECH_LOGGED_CLOSES : MECH_LOGGED_OPENS);
    }
}

/* --- bodies ----------------------------------------------------------------------------------- */

static bool among(const uint64_t *pair, size_t pairs, uint64_t id)
{
    size_t low = 0, high = pairs;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (pair[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < pairs && pair[low] == id;
}

static void name(const struct mech_sim *s, uint64_t pair, struct mech_logged *event)
{
    int32_t collider[2];

    mech_model_touch_pair(pair << 24, collider);
    event->item = mech_model_touch_name(s->model, collider[0]);
    event->with = mech_model_touch_name(s->model, collider[1]);
}

/* Whether a pair touches where the first internal step starts, of which no contact is known. */
static bool is_near(const struct mech_event_watch *w, uint64_t pair)
{
    for (int32_t i = 0; i < w->near.n; i++) {
        if (w->near.at[i].id >> 24 == pair) {
            return true;
        }
    }
    return false;
}

/* The contacts of the pair of the first one: how many; *push: one of them has an impulse. */
static size_t count_pair(const struct mech_touched *t, size_t most, bool *push)
{
    size_t n = 0;

    *push = false;
    for (; n < most && mech_touched_pair(&t[n]) == mech_touched_pair(t); n++) {
        *push = *push || mech_touched_pushes(&t[n]);
    }
    return n;
}

/* The restitution of a pair's impacts; 0: it has none after which its bodies part. */
static double restitution_of(const struct mech_sim *s, const struct mech_touched *t)
{
    struct mech_contact c = {.id = t->id};

    if (mech_model_penalty(s->model) || is_unled(&s->next)) {
        return 0.;
    }
    mech_model_touch_pair(t->id, c.collider);
    const struct mech_material material = mech_model_touch_material(s->model, &c);

    return material.compliance > 0. ? 0. : material.restitution;
}

/* Whether one contact's impulse was that of an impact with rebound: only that law, u⁺ = −e u by its
 * row where e |u| is fast enough, lets it part. A contact that lasts mirrors the u that its row
 * turns by, but has no such speed without it. */
static int has_rebounded(struct mech_sim *s, const struct mech_touched *t, double e, bool *out)
{
    struct mech_event_motion *const m = &s->compared->motion;
    const double least = mech_model_contact_settings(s->model)->min_bounce_speed;
    struct mech_event_parting start, end;

    MECH_TRY(mech_event_motion_of(m, s->model, m->v0, t, false, &start));
    MECH_TRY(mech_event_motion_of(m, s->model, s->next.v, t, true, &end));
    *out = start.approaches && -e * fmax(start.row, start.speed) > least &&
           end.row > -0.5 * e * start.row;
    return 0;
}

/* Whether the impulses of the n contacts of a pair were those of an impact, after which its bodies
 * part. *placed: its motion is in the middle of the step. Returns as mech_event_motion_of. */
static int pair_has_parted(struct mech_sim *s, const struct mech_touched *t, size_t n, bool *placed,
                           bool *out)
{
    const double e = restitution_of(s, t);

    *out = e > 0.;
    if (*out && !*placed) {
        MECH_TRY(mech_event_motion_place(&s->compared->motion, s->model, &s->next,
                                         s->next.at->last_step, true));
        *placed = true;
    }
    for (size_t i = 0; i < n && *out; i++) {
        if (mech_touched_pushes(&t[i])) {
            MECH_TRY(has_rebounded(s, &t[i], e, out));
        }
    }
    return 0;
}

/* The pairs that touch in s->next, by the impulses of the step that has led there. */
static int find_pairs(struct mech_sim *s, struct known *out)
{
    const size_t touched = (size_t)s->next.at->touched;
    bool placed = false;

    out->pairs = 0;
    for (size_t i = 0, of; i < touched; i += of) {
        const struct mech_touched *const t = &s->next.touched[i];
        bool push, parted = false;

        of = count_pair(t, touched - i, &push);
        if (push) {
            MECH_TRY(pair_has_parted(s, t, of, &placed, &parted));
        }
        if (push && !parted) {
            out->pair[out->pairs++] = mech_touched_pair(t);
        }
    }
    return 0;
}

/* A pair of n contacts that did not touch has an impulse. *placed: the motion is in the middle of
 * this internal step, as seen from its start. Returns as mech_event_motion_of. */
static int meet(struct mech_sim *s, const struct mech_touched *t, size_t n, bool *placed,
                struct mech_logged *event)
{
    struct mech_event_watch *const w = s->compared;
    const bool stays = among(w->now.pair, w->now.pairs, mech_touched_pair(t));
    struct mech_event_parting at;
    bool met = !stays;

    event->speed = 0.;
    if (!*placed) {
        MECH_TRY(
            mech_event_motion_place(&w->motion, s->model, &w->before, s->command.plan.h, false));
        *placed = true;
    }
    for (size_t i = 0; i < n; i++) {
        if (mech_touched_pushes(&t[i])) {
            MECH_TRY(mech_event_motion_of(&w->motion, s->model, w->before.v, &t[i], false, &at));
            met = met || at.approaches;
            event->speed = fmax(event->speed, -at.speed);
        }
    }
    if (!met && is_near(w, mech_touched_pair(t))) {
        return 0;
    }
    name(s, mech_touched_pair(t), event);
    if (met && !mech_model_penalty(s->model)) {
        add(s->command.log, *event, MECH_LOGGED_IMPACT);
    }
    if (stays) {
        add(s->command.log, *event, MECH_LOGGED_CLOSES);
    }
    return 0;
}

static int look_at_bodies(struct mech_sim *s, struct mech_logged event)
{
    struct mech_event_watch *const w = s->compared;
    const size_t touched = (size_t)s->next.at->touched;
    bool placed = false;

    for (size_t i = 0, of; i < touched; i += of) {
        const struct mech_touched *const t = &s->next.touched[i];
        bool push;

        of = count_pair(t, touched - i, &push);
        if (push && !among(w->was.pair, w->was.pairs, mech_touched_pair(t))) {
            MECH_TRY(meet(s, t, of, &placed, &event));
        }
    }
    for (size_t i = 0; i < w->was.pairs; i++) {
        if (!among(w->now.pair, w->now.pairs, w->was.pair[i])) {
            name(s, w->was.pair[i], &event);
            add(s->command.log, event, MECH_LOGGED_OPENS);
        }
    }
    w->near.n = 0;
    return 0;
}

/* What touches in a state that has no contacts because it is a start, or its q or v were set. */
static int find_near(struct mech_sim *s)
{
    const struct mech_state *const state = &s->next;
    struct mech_contact_list *const near = &s->compared->near;
    int32_t n = 0;

    near->n = 0;
    if (state->at->touched > 0 || !is_unled(state) ||
        (mech_model_touch_bodies(s->model) == 0 && !mech_model_penalty(s->model))) {
        return 0;
    }
    const struct mech_scene_motion *motion;
    const struct mech_eval e =
        mech_model_point(s->model, state, state->at->time, state->q, state->v);
    MECH_TRY(mech_model_touch_find(s->model, &e, step_of(s, state), near));
    for (int32_t i = 0; i < near->n; i++) {
        const struct mech_contact *const c = &near->at[i];

        if (c->gap <= touching * mech_scene_size(mech_model_touch_scene(s->model, &motion), c)) {
            near->at[n++] = *c;
        }
    }
    near->n = n;
    return 0;
}

/* --- a command -------------------------------------------------------------------------------- */

/* What acts in s->next. */
static int find_known(struct mech_sim *s, struct known *out)
{
    mech_event_motion_back(&s->compared->motion, s->model, &s->next);
    if (!s->type->locates) {
        find_rows(s, out->row);
    }
    return find_pairs(s, out);
}

int mech_sim_events_begin(struct mech_sim *s)
{
    MECH_TRY(make(s));
    MECH_TRY(find_known(s, &s->compared->now));
    MECH_TRY(find_near(s));
    return mech_sim_switches_begin(s);
}

void mech_sim_events_step(struct mech_sim *s)
{
    mech_state_copy(&s->next, &s->compared->before);
}

int mech_sim_events_look(struct mech_sim *s)
{
    struct mech_event_watch *const w = s->compared;
    const struct mech_logged event = {.since = w->before.at->time, .time = s->next.at->time};
    struct mech_logged of = event;
    const struct known was = w->was;

    w->was = w->now;
    w->now = was;
    MECH_TRY(find_known(s, &w->now));
    if (!s->type->locates) {
        of.of = MECH_LOGGED_INTERACTION;
        look_at_contacts(s, of);
        look_at_laws(s, of);
    }
    of.of = MECH_LOGGED_JOINT;
    look_at_joints(s, of);
    mech_sim_switches_look(s, event);
    of.of = MECH_LOGGED_BODIES;
    return look_at_bodies(s, of);
}

const struct mech_state *mech_sim_events_before(const struct mech_sim *s)
{
    return &s->compared->before;
}
