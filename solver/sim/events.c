/* Events of a step that no scheme has located: what acts at the end of an internal step is compared
 * with what acted at its start.
 *
 *   interactions   a contact acts while its first row has an impulse; a relay is at its lower
 *                  bound, at its upper one, or between
 *   joints         a one-sided row acts while `open` says so (solver/model/state.h)
 *   bodies         a pair of shapes touches while one of its contacts has an impulse, or under
 *                  penalty a force; pairs, not points, so that contacts that wander along a face
 *                  are no events
 *
 * A rigid contact that begins to act while its bodies approach is met by an impact. If they part at
 * the end of that internal step it does not last: an impact alone. Of a pair with several points
 * the fastest one counts, and it parts when all of them do. Where no impulse is known of a contact
 * that touches and does not approach, as at the start or where q or v have been set, whether it
 * acts is taken from the first internal step.
 *
 * What acts where a command starts is known from the one that ended or started there, if that
 * asked for events; else it is found from the state.
 *
 * Runs in commands that ask for events alone: it copies the state once an internal step, and looks
 * for contacts once more in those in which a pair of shapes begins to touch. */
#include "solver/base/err.h"
#include "solver/base/hash.h"
#include "solver/model/contact_rows.h"
#include "solver/model/touch.h"
#include "solver/sim/event_motion.h"
#include "solver/sim/internal.h"
#include "solver/step/acting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row of an interaction does; OTHER: no row that events are of. */
enum acts { OTHER, UNKNOWN, OPEN, ACTS, AT_LOWER, BETWEEN, AT_UPPER };

/* The share of the speed of an impact below which bodies do not part: solvers leave about 1e-8. */
static const double parting = 1e-6;
/* A share of the size of two shapes: a smaller gap where no impulse is known is none, as for
 * mech_scene_stands. */
static const double touching = 1e-6;

/* What acts in a state. */
struct known {
    uint64_t state;     /* hash of the state; it may change without what acts, by its inputs */
    bool filled, found; /* found: from the state itself, not from the steps that led to it */
    unsigned char *row; /* [impulse] enum acts of the first row of each contact */
    uint64_t *pair;     /* [contact] pairs that touch, ascending */
    size_t pairs;
};

struct mech_event_watch {
    struct mech_state before; /* at the start of the internal step */
    double *memory;
    struct known now, start, end; /* of the last internal step; where the command started, and where
                                     the last one that was looked at ended */
    uint64_t *fresh;              /* [contact] the pairs of now.pair to come */
    struct mech_contact_list near; /* what touches where the first internal step starts, if no
                                      contact is known there */
    struct mech_event_motion motion;
    bool placed; /* motion is in the middle of this internal step */
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
        forget(&w->now);
        forget(&w->start);
        forget(&w->end);
        free(w->fresh);
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
    w->fresh = calloc((size_t)s->sizes.contact + 1, sizeof *w->fresh);
    if (!w->memory || !w->fresh) {
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, w->memory, &w->before);
    MECH_TRY(lay(&w->now, &s->sizes));
    MECH_TRY(lay(&w->start, &s->sizes));
    MECH_TRY(lay(&w->end, &s->sizes));
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

/* Whether the two sides of a row part in a state (side 1) or approach each other (−1). */
static bool row_moves(const struct mech_contact_rows *rows, int32_t r, const struct mech_state *s,
                      double side, double h)
{
    double speeds = 0., lengths = fabs(rows->b[r]);

    for (int32_t k = rows->start[r]; k < rows->start[r + 1]; k++) {
        speeds += fabs(rows->value[k] * s->v[rows->column[k]]);
        lengths += fabs(rows->value[k] * s->q[rows->place[k]]);
    }
    return mech_event_counts(side * mech_contact_rows_speed(rows, r, s->v), speeds, lengths, h);
}

static enum acts relay(const struct mech_set *set, double unit, double l)
{
    static const enum acts is[] = {[MECH_RELAY_LOWER] = AT_LOWER,
                                   [MECH_RELAY_BETWEEN] = BETWEEN,
                                   [MECH_RELAY_UPPER] = AT_UPPER};

    return is[mech_relay_of(set, unit, l)];
}

/* What a contact does, by its first row's impulse of a step of h. */
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

/* One row's change; returns what it does from here on. `rigid`: it is met by impacts. */
static enum acts change(const struct mech_sim *s, const struct mech_contact_rows *rows, int32_t r,
                        enum acts was, enum acts is, struct mech_logged *event)
{
    struct mech_event_log *const log = s->command.log;
    const bool rigid = !rows->compliance || !(rows->compliance[r] > 0.);

    if (is >= AT_LOWER) {
        if (was != is && was != UNKNOWN) {
            add(log, *event, MECH_LOGGED_SWITCHES);
        }
        return is;
    }
    if (was == OPEN && is == ACTS) {
        const struct mech_state *const before = &s->compared->before;

        event->speed = -mech_contact_rows_speed(rows, r, before->v);
        const bool met = rigid && row_moves(rows, r, before, -1., s->command.h);
        const bool parts =
            met && mech_contact_rows_speed(rows, r, s->next.v) > parting * event->speed;

        if (met) {
            add(log, *event, MECH_LOGGED_IMPACT);
        }
        if (parts) {
            return OPEN;
        }
        add(log, *event, MECH_LOGGED_CLOSES);
    } else if (was == ACTS && is == OPEN) {
        add(log, *event, MECH_LOGGED_OPENS);
    }
    return is;
}

static void look_at_contacts(struct mech_sim *s, struct mech_logged event)
{
    const struct mech_contact_rows *const rows = mech_model_contacts(s->model);
    int32_t k = 0;

    for (int32_t r = 0, first = 0; r < rows->count; k++) {
        const struct mech_set *const set = rows->sets ? &rows->sets[k] : NULL;
        unsigned char *const was = &s->compared->now.row[r];

        first = rows->interaction[r] != rows->interaction[first] ? r : first;
        event.row = r - first;
        event.item = mech_model_contact_name(s->model, r);
        const enum acts is = acting(set, s->command.h, s->next.impulse[r]);
        if (is != OTHER) {
            *was = (unsigned char)change(s, rows, r, (enum acts) * was, is, &event);
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
        unsigned char *const was = &s->compared->now.row[base + r];
        const enum acts is = rows->sets[r].kind == MECH_SET_BILATERAL ? OTHER
                             : rows->sets[r].kind == MECH_SET_BOX
                                 ? relay(&rows->sets[r], 1., s->next.impulse[base + r])
                             : s->next.impulse[base + r] > 0. ? ACTS
                                                              : OPEN;

        first = rows->interaction[r] != rows->interaction[first] ? r : first;
        event.row = r - first;
        event.item = all[rows->interaction[r]].name;
        if (is != OTHER && *was != UNKNOWN && *was != is) {
            add(s->command.log, event,
                is >= AT_LOWER ? MECH_LOGGED_SWITCHES
                : is == ACTS   ? MECH_LOGGED_CLOSES
                               : MECH_LOGGED_OPENS);
        }
        *was = (unsigned char)is;
    }
}

/* What the rows do at the start of a command, from s->next. */
static void begin_rows(struct mech_sim *s)
{
    const struct mech_contact_rows *const rows = mech_model_contacts(s->model);
    const double h = s->next.at->last_step;
    int32_t k = 0;

    memset(s->compared->now.row, UNKNOWN, (size_t)s->sizes.impulse + 1);
    for (int32_t r = 0; r < rows->count; k++) {
        const struct mech_set *const set = rows->sets ? &rows->sets[k] : NULL;
        enum acts is = acting(set, h, s->next.impulse[r]);
        double rounding = 0.;

        if (is == OPEN && !(mech_contact_rows_gap(rows, r, s->next.q, &rounding) > rounding) &&
            !row_moves(rows, r, &s->next, -1., step_of(s, &s->next))) {
            is = UNKNOWN;
        }
        /* no law of contact lets a row with an impulse part, but that of impacts */
        is = is == ACTS && row_moves(rows, r, &s->next, 1., h) ? OPEN : is;
        s->compared->now.row[r] = (unsigned char)is;
        r += set ? set->rows : 1;
    }
    for (int32_t r = 0; h > 0. && r < mech_model_first_order_rows(s->model)->count; r++) {
        const struct mech_set *const set = &mech_model_first_order_rows(s->model)->sets[r];
        const double l = s->next.impulse[rows->count + r];

        s->compared->now.row[rows->count + r] =
            (unsigned char)(set->kind == MECH_SET_BOX ? relay(set, 1., l)
                            : l > 0.                  ? ACTS
                                                      : OPEN);
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

/* How the bodies of n contacts of a pair, those that push, move in the internal step. */
struct meeting {
    bool approaches; /* at its start, one of them */
    bool leaves;     /* at its end, all of them, faster than the rest of an impact */
    double speed;    /* of the fastest approach, m/s */
};

static int meeting_of(struct mech_sim *s, const struct mech_touched *t, size_t n,
                      struct meeting *out)
{
    struct mech_event_watch *const w = s->compared;
    struct mech_event_parting at;

    *out = (struct meeting){.leaves = true};
    if (!w->placed) {
        MECH_TRY(mech_event_motion_place(&w->motion, s->model, &w->before, s->command.h, false));
        w->placed = true;
    }
    for (size_t i = 0; i < n; i++) {
        if (mech_touched_pushes(&t[i])) {
            MECH_TRY(mech_event_motion_of(&w->motion, s->model, &w->before, &t[i], false, &at));
            out->approaches = out->approaches || at.approaches;
            out->speed = fmax(out->speed, -at.speed);
        }
    }
    for (size_t i = 0; i < n && out->leaves; i++) {
        if (mech_touched_pushes(&t[i])) {
            MECH_TRY(mech_event_motion_of(&w->motion, s->model, &s->next, &t[i], true, &at));
            out->leaves = at.leaves && at.speed > parting * out->speed;
        }
    }
    return 0;
}

/* A pair of n contacts begins to touch; *stays: it has not parted again. Returns as meeting_of. */
static int meet(struct mech_sim *s, const struct mech_touched *t, size_t n,
                struct mech_logged *event, bool *stays)
{
    struct meeting of;

    *stays = true;
    MECH_TRY(meeting_of(s, t, n, &of));
    if (!of.approaches && is_near(s->compared, mech_touched_pair(t))) {
        return 0;
    }
    const bool met = of.approaches && !mech_model_penalty(s->model);

    *stays = !met || !of.leaves;
    event->speed = of.speed;
    name(s, mech_touched_pair(t), event);
    if (met) {
        add(s->command.log, *event, MECH_LOGGED_IMPACT);
    }
    if (*stays) {
        add(s->command.log, *event, MECH_LOGGED_CLOSES);
    }
    return 0;
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

static int look_at_bodies(struct mech_sim *s, struct mech_logged event)
{
    struct mech_event_watch *const w = s->compared;
    const size_t touched = (size_t)s->next.at->touched;
    size_t n = 0;

    for (size_t i = 0, of; i < touched; i += of) {
        const struct mech_touched *const t = &s->next.touched[i];
        bool push;

        of = count_pair(t, touched - i, &push);
        if (push && !among(w->now.pair, w->now.pairs, mech_touched_pair(t))) {
            MECH_TRY(meet(s, t, of, &event, &push));
        }
        if (push) {
            w->fresh[n++] = mech_touched_pair(t);
        }
    }
    for (size_t i = 0; i < w->now.pairs; i++) {
        if (!among(w->fresh, n, w->now.pair[i])) {
            name(s, w->now.pair[i], &event);
            add(s->command.log, event, MECH_LOGGED_OPENS);
        }
    }
    memcpy(w->now.pair, w->fresh, n * sizeof *w->now.pair);
    w->now.pairs = n;
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
    if (state->at->touched > 0 || (state->at->last_step > 0. && !state->at->changed) ||
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

/* Pairs that touch, by the impulses of the step that has led here; not those whose impulse was that
 * of an impact, and that part. */
static int find_pairs(struct mech_sim *s)
{
    struct mech_event_watch *const w = s->compared;
    const size_t touched = (size_t)s->next.at->touched;

    w->now.pairs = 0;
    if (touched == 0) {
        return 0;
    }
    MECH_TRY(mech_event_motion_place(&w->motion, s->model, &s->next, s->next.at->last_step, true));
    for (size_t i = 0; i < touched; i++) {
        const struct mech_touched *const t = &s->next.touched[i];
        const uint64_t id = mech_touched_pair(t);
        struct mech_event_parting at = {.leaves = false};

        if (!mech_touched_pushes(t) || (w->now.pairs > 0 && w->now.pair[w->now.pairs - 1] == id)) {
            continue;
        }
        if (!mech_model_penalty(s->model)) {
            MECH_TRY(mech_event_motion_of(&w->motion, s->model, &s->next, t, true, &at));
        }
        if (!at.leaves) {
            w->now.pair[w->now.pairs++] = id;
        }
    }
    return 0;
}

/* --- a command -------------------------------------------------------------------------------- */

/* What acts in a state depends on these. */
static uint64_t hash_of(const struct mech_sim *s)
{
    const struct mech_state *const at = &s->next;
    const struct mech_state_sizes *const n = &s->sizes;
    uint64_t h = mech_hash(at->q, (size_t)n->q * sizeof *at->q, at->at->steps);

    h = mech_hash(at->v, (size_t)n->v * sizeof *at->v, h);
    h = mech_hash(at->impulse, (size_t)n->impulse * sizeof *at->impulse, h);
    return mech_hash(at->touched, (size_t)at->at->touched * sizeof *at->touched, h);
}

static void keep(const struct mech_sim *s, const struct known *from, struct known *to)
{
    memcpy(to->row, from->row, (size_t)s->sizes.impulse + 1);
    memcpy(to->pair, from->pair, from->pairs * sizeof *from->pair);
    to->pairs = from->pairs;
}

int mech_sim_events_begin(struct mech_sim *s)
{
    MECH_TRY(make(s));
    struct mech_event_watch *const w = s->compared;
    const uint64_t here = hash_of(s);

    w->near.n = 0;
    if (w->end.filled && w->end.state == here) {
        const struct known start = w->start;

        w->start = w->end;
        w->end = start;
    } else if (!w->start.filled || w->start.state != here) {
        w->start.filled = false;
        begin_rows(s);
        MECH_TRY(find_pairs(s));
        keep(s, &w->now, &w->start);
        w->start.state = here;
        w->start.filled = w->start.found = true;
    }
    keep(s, &w->start, &w->now);
    return w->start.found ? find_near(s) : 0;
}

void mech_sim_events_step(struct mech_sim *s)
{
    mech_state_copy(&s->next, &s->compared->before);
    s->compared->placed = false;
}

int mech_sim_events_look(struct mech_sim *s)
{
    const struct mech_logged event = {.since = s->compared->before.at->time,
                                      .time = s->next.at->time};
    struct mech_logged of = event;

    if (!s->type->locates) {
        of.of = MECH_LOGGED_INTERACTION;
        look_at_contacts(s, of);
        look_at_laws(s, of);
    }
    of.of = MECH_LOGGED_JOINT;
    look_at_joints(s, of);
    of.of = MECH_LOGGED_BODIES;
    return look_at_bodies(s, of);
}

void mech_sim_events_end(struct mech_sim *s)
{
    struct mech_event_watch *const w = s->compared;

    keep(s, &w->now, &w->end);
    w->end.state = hash_of(s);
    w->end.filled = true;
    w->end.found = false;
}

const struct mech_state *mech_sim_events_before(const struct mech_sim *s)
{
    return &s->compared->before;
}
