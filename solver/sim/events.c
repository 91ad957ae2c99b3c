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
 * Runs in commands that ask for events alone: it copies the state once an internal step. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/contact_rows.h"
#include "solver/model/touch.h"
#include "solver/sim/internal.h"
#include "solver/step/acting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a row of an interaction does; OTHER: no row that events are of. */
enum acts { OTHER, UNKNOWN, OPEN, ACTS, AT_LOWER, BETWEEN, AT_UPPER };

/* The share of the speed of an impact below which bodies do not part: solvers leave about 1e-8. */
static const double parting = 1e-6;
/* A share of the lengths in a contact: speeds that solvers leave at rest move less in a step. */
static const double at_rest = 1e-10;
/* A share of the size of two shapes: a smaller gap where no impulse is known is none, as for
 * mech_scene_stands. */
static const double touching = 1e-6;

struct mech_event_watch {
    struct mech_state before; /* at the start of the internal step */
    double *memory;
    unsigned char *row;     /* [impulse] enum acts of the first row of each contact */
    uint64_t *pair, *fresh; /* [contact] each: pairs that touch, ascending, and those of now */
    size_t pairs;
    struct mech_contact_list near; /* what touches where the first internal step starts, if no
                                      contact is known there */
};

void mech_sim_events_fini(struct mech_sim *s)
{
    if (s->compared) {
        mech_contact_list_fini(&s->compared->near);
        free(s->compared->memory);
        free(s->compared->row);
        free(s->compared->pair);
        free(s->compared);
        s->compared = NULL;
    }
}

static int make(struct mech_sim *s)
{
    const size_t contacts = (size_t)s->sizes.contact + 1;

    if (s->compared) {
        return 0;
    }
    s->compared = calloc(1, sizeof *s->compared);
    struct mech_event_watch *const w = s->compared;
    if (!w) {
        return MECH_NO_MEMORY;
    }
    w->memory = calloc(1, mech_state_bytes(&s->sizes));
    w->row = calloc((size_t)s->sizes.impulse + 1, 1);
    w->pair = calloc(2 * contacts, sizeof *w->pair);
    if (!w->memory || !w->row || !w->pair) {
        mech_sim_events_fini(s);
        return MECH_NO_MEMORY;
    }
    mech_state_place(&s->sizes, w->memory, &w->before);
    w->fresh = w->pair + contacts;
    return 0;
}

/* Whether a speed is more than what solvers leave at rest: against the speeds that it is a
 * difference of, and by the lengths in the contact, over a step of h. */
static bool counts(double speed, double speeds, double lengths, double h)
{
    return speed > parting * speeds && speed * h > at_rest * lengths;
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
    return counts(side * mech_contact_rows_speed(rows, r, s->v), speeds, lengths, h);
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
        unsigned char *const was = &s->compared->row[r];

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
        unsigned char *const was = &s->compared->row[base + r];
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

    memset(s->compared->row, UNKNOWN, (size_t)s->sizes.impulse + 1);
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
        s->compared->row[r] = (unsigned char)is;
        r += set ? set->rows : 1;
    }
    for (int32_t r = 0; h > 0. && r < mech_model_first_order_rows(s->model)->count; r++) {
        const struct mech_set *const set = &mech_model_first_order_rows(s->model)->sets[r];
        const double l = s->next.impulse[rows->count + r];

        s->compared->row[rows->count + r] =
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

/* Velocity of a body's point p in a state, global; of the ground 0. */
static void velocity_at(const struct mech_sim *s, const struct mech_state *state, int32_t object,
                        const double p[3], double v[3])
{
    static const enum mech_output variables[] = {MECH_OUTPUT_POSITION, MECH_OUTPUT_VELOCITY,
                                                 MECH_OUTPUT_ANGULAR_VELOCITY};
    double value[3][3] = {{0.}};

    for (int k = 0; k < 3; k++) {
        const struct mech_output_request r = {.category = MECH_OBJECT,
                                              .index = object,
                                              .variable = variables[k],
                                              .configuration = MECH_CURRENT};
        size_t count = 0;

        if (mech_model_item_output(s->model, state, &r, 3, value[k], &count) || count != 3) {
            memset(value[k], 0, sizeof value[k]);
        }
    }
    double arm[3], turned[3];
    mech_v3_add(p, -1., value[0], arm);
    mech_v3_cross(value[2], arm, turned);
    mech_v3_add(value[1], 1., turned, v);
}

/* How the bodies of a contact move along its normal. */
struct parting {
    double speed; /* at which they part */
    bool leaves;  /* more than rounding */
    bool approaches;
};

static struct parting parting_of(const struct mech_sim *s, const struct mech_state *state,
                                 const struct mech_touched *t, double h)
{
    double v[2][3], between[3];
    int32_t collider[2];

    mech_model_touch_pair(t->id, collider);
    for (int side = 0; side < 2; side++) {
        int32_t object, place;

        mech_model_touch_collider(s->model, collider[side], &object, &place);
        velocity_at(s, state, object, t->p, v[side]);
    }
    mech_v3_add(v[1], -1., v[0], between);
    const double speed = mech_v3_dot(t->n, between);
    const double speeds = mech_v3_norm(v[0]) + mech_v3_norm(v[1]);
    const double lengths = mech_v3_norm(t->arm[0]) + mech_v3_norm(t->arm[1]) + fabs(t->gap);
    return (struct parting){.speed = speed,
                            .leaves = counts(speed, speeds, lengths, h),
                            .approaches = counts(-speed, speeds, lengths, h)};
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

/* A pair of n contacts begins to touch; false: it has parted again. */
static bool meet(const struct mech_sim *s, const struct mech_touched *t, size_t n,
                 struct mech_logged *event)
{
    const double h = s->command.h;
    bool met = false, parts = true;

    event->speed = 0.;
    for (size_t i = 0; i < n; i++) {
        if (mech_touched_pushes(&t[i])) {
            const struct parting at = parting_of(s, &s->compared->before, &t[i], h);

            met = met || at.approaches;
            event->speed = fmax(event->speed, -at.speed);
        }
    }
    if (!met && is_near(s->compared, mech_touched_pair(t))) {
        return true;
    }
    met = met && !mech_model_penalty(s->model);
    for (size_t i = 0; i < n && met && parts; i++) {
        parts = !mech_touched_pushes(&t[i]) ||
                parting_of(s, &s->next, &t[i], h).speed > parting * event->speed;
    }
    name(s, mech_touched_pair(t), event);
    if (met) {
        add(s->command.log, *event, MECH_LOGGED_IMPACT);
    }
    if (!met || !parts) {
        add(s->command.log, *event, MECH_LOGGED_CLOSES);
    }
    return !met || !parts;
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

static void look_at_bodies(struct mech_sim *s, struct mech_logged event)
{
    struct mech_event_watch *const w = s->compared;
    const size_t touched = (size_t)s->next.at->touched;
    size_t n = 0;

    for (size_t i = 0, of; i < touched; i += of) {
        const struct mech_touched *const t = &s->next.touched[i];
        bool push;

        of = count_pair(t, touched - i, &push);
        if (push && (among(w->pair, w->pairs, mech_touched_pair(t)) || meet(s, t, of, &event))) {
            w->fresh[n++] = mech_touched_pair(t);
        }
    }
    for (size_t i = 0; i < w->pairs; i++) {
        if (!among(w->fresh, n, w->pair[i])) {
            name(s, w->pair[i], &event);
            add(s->command.log, event, MECH_LOGGED_OPENS);
        }
    }
    memcpy(w->pair, w->fresh, n * sizeof *w->pair);
    w->pairs = n;
    w->near.n = 0;
}

/* Whether a contact whose impulse was that of an impact is being left. */
static bool is_left(const struct mech_sim *s, const struct mech_touched *t)
{
    return !mech_model_penalty(s->model) &&
           parting_of(s, &s->next, t, s->next.at->last_step).leaves;
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

static int begin_bodies(struct mech_sim *s)
{
    struct mech_event_watch *const w = s->compared;

    w->pairs = 0;
    for (size_t i = 0; i < (size_t)s->next.at->touched; i++) {
        const struct mech_touched *const t = &s->next.touched[i];
        const uint64_t id = mech_touched_pair(t);

        if (mech_touched_pushes(t) && !(w->pairs > 0 && w->pair[w->pairs - 1] == id) &&
            !is_left(s, t)) {
            w->pair[w->pairs++] = id;
        }
    }
    return find_near(s);
}

/* --- a command -------------------------------------------------------------------------------- */

int mech_sim_events_begin(struct mech_sim *s)
{
    MECH_TRY(make(s));
    begin_rows(s);
    return begin_bodies(s);
}

void mech_sim_events_step(struct mech_sim *s)
{
    mech_state_copy(&s->next, &s->compared->before);
}

bool mech_sim_events_look(struct mech_sim *s, uint64_t before)
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
    look_at_bodies(s, of);
    return s->command.log->total != before;
}

const struct mech_state *mech_sim_events_before(const struct mech_sim *s)
{
    return &s->compared->before;
}
