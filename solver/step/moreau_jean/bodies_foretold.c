/* Contacts that are open where the step detects them, and may close within it.
 *
 * A row bars the half-space behind the nearest features: no less than the bodies bar, and more
 * where one of them passes an edge. Rows take part in the step but for those that the free motion,
 * from q_m on and θ h long, would run into. Of these some are sure to bar what the bodies bar:
 * closed ones, and those of bodies that move little sideways (mech_scene_bars). For the others that
 * motion is followed (mech_scene_sweep). A pair that starts to touch takes part, with the
 * places and normals of that touch where they differ; a pair that passes waits, and is replaced by
 * rows of the features it has passed, which the free motion does not run into.
 *
 * The motion after the impulses is followed as well. A pair that waits takes part once that motion
 * makes it touch. A pair that pushes, and is not sure, has to touch in the motion without its own
 * impulses; otherwise it waits. Each change costs the impulses once more. After LATE changes
 * no row is removed any more, and all waiting rows take part as detected. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LATE = 4 };

/* How exactly is looked: at the free motion; at the motion after the impulses, for what acts, where
 * others cost the impulses once more; at the same, for what waits and overlaps then. */
static const struct mech_scene_sweep
    free_motion = {.allowed = 1e-5, .close = 1e-5, .alike = 0.995, .sure = 1e-6, .beside = true},
    after_impulses = {.allowed = 1e-5, .close = 1e-3, .alike = 0.88, .sure = 1e-3},
    for_waiting = {.allowed = 1e-4, .close = -1e-4, .alike = 0.995};
/* of the colliders' sizes: how far a row has to push for a look at it */
static const double matters = 1e-3;

void mech_foretold_fini(struct mech_foretold *f)
{
    mech_contact_list_fini(&f->open);
    mech_contact_list_fini(&f->near);
    mech_contact_list_fini(&f->known);
    mech_contact_list_fini(&f->met);
    free(f->pair);
    free(f->of);
    free(f->turn);
    *f = (struct mech_foretold){.pairs = 0};
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Room for n contacts. */
static int reserve_list(struct mech_contact_list *list, int32_t n)
{
    if (n > list->capacity) {
        const int32_t capacity = n + n / 2 + 64;
        struct mech_contact *const at = realloc(list->at, (size_t)capacity * sizeof *at);

        if (!at) {
            return MECH_NO_MEMORY;
        }
        list->at = at;
        list->capacity = capacity;
    }
    return 0;
}

static int reserve_pairs(struct mech_foretold *f, int32_t n)
{
    if (n > f->most) {
        const int32_t most = n + n / 2 + 64;
        struct mech_foretold_pair *const pair = realloc(f->pair, (size_t)most * sizeof *pair);

        if (!pair) {
            return MECH_NO_MEMORY;
        }
        f->pair = pair;
        f->most = most;
    }
    return 0;
}

/* Room beside the list of what is near that has its capacity: no step grows what the last one
 * grew. */
static int reserve(struct mech_moreau_bodies *s)
{
    struct mech_foretold *const f = &s->foretold;
    const int32_t n = f->near.capacity;

    MECH_TRY(reserve_list(&s->list, n));
    MECH_TRY(reserve_list(&f->open, n));
    MECH_TRY(reserve_list(&f->known, n));
    MECH_TRY(reserve_list(&f->met, n));
    return reserve_pairs(f, n);
}

static int append(struct mech_contact_list *list, const struct mech_contact *c)
{
    MECH_TRY(reserve_list(list, list->n + 1));
    list->at[list->n++] = *c;
    return 0;
}

/* Contacts of the list from `from` on are near, and nothing more is known of them. */
static int mark_from(struct mech_moreau_bodies *s, int32_t from)
{
    struct mech_foretold *const f = &s->foretold;

    if (s->list.n > f->ofs) {
        const int32_t ofs = s->list.capacity;
        struct mech_foretold_of *const more = realloc(f->of, (size_t)ofs * sizeof *more);

        if (!more) {
            return MECH_NO_MEMORY;
        }
        f->of = more;
        double *const turn = realloc(f->turn, 3 * (size_t)ofs * sizeof *turn);

        if (!turn) {
            return MECH_NO_MEMORY;
        }
        f->turn = turn;
        f->ofs = ofs;
    }
    for (int32_t i = from; i < s->list.n; i++) {
        f->of[i] = (struct mech_foretold_of){.mark = MECH_FORETOLD_NEAR};
    }
    return 0;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Ids of what acts or waits, ascending, in the model's scratch; *n of them. */
static int list_ids(const struct mech_moreau_bodies *s, uint64_t **ids, int32_t *n)
{
    const struct mech_foretold *const f = &s->foretold;

    *n = 0;
    *ids = mech_arena_alloc(mech_model_scratch(s->model), (size_t)(s->list.n + f->open.n) + 1,
                            sizeof **ids);
    if (!*ids) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < s->list.n; i++) {
        if (f->of[i].mark != MECH_FORETOLD_OUT) {
            (*ids)[(*n)++] = s->list.at[i].id;
        }
    }
    for (int32_t i = 0; i < f->pairs; i++) {
        for (int32_t k = f->pair[i].from; k < f->pair[i].to; k++) {
            (*ids)[(*n)++] = f->open.at[k].id;
        }
    }
    qsort(*ids, (size_t)*n, sizeof **ids, ascending);
    return 0;
}

/* --- rows and motions ------------------------------------------------------------------------- */

/* Some contacts of one pair, one after the other. */
struct some {
    const struct mech_contact *at;
    int32_t n;
};

/* Those from number `from` on that are of the same pair. */
static struct some pair_at(const struct mech_contact_list *list, int32_t from)
{
    struct some out = {list->at + from, 1};

    while (from + out.n < list->n && out.at[out.n].id >> 24 == out.at->id >> 24) {
        out.n++;
    }
    return out;
}

static const struct mech_scene *scene_of(const struct mech_moreau_bodies *s,
                                         const struct mech_scene_sweep *how,
                                         struct mech_scene_sweep *sweep)
{
    *sweep = *how;
    sweep->span = s->theta * s->h;
    return mech_model_touch_scene(s->model, &sweep->motion);
}

/* Whether contact i of the pair stands, or another of its direction does: one face against another,
 * which is barred as a whole. */
static bool stands(const struct mech_moreau_bodies *s, const struct some *pair, int32_t i)
{
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = scene_of(s, &free_motion, &sweep);

    if (mech_scene_stands(scene, &pair->at[i])) {
        return true;
    }
    for (int32_t k = 0; k < pair->n; k++) {
        if (k != i && mech_v3_dot(pair->at[k].normal, pair->at[i].normal) > 1. - 1e-12 &&
            mech_scene_stands(scene, &pair->at[k])) {
            return true;
        }
    }
    return false;
}

/* Whether the pair starts to touch in the given motion; how, if otherwise, into f->met. */
static int look_through(struct mech_moreau_bodies *s, const struct some *known,
                        const struct mech_scene_sweep *how, enum mech_scene_way *way)
{
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = scene_of(s, how, &sweep);

    s->foretold.met.n = 0;
    return mech_scene_sweep(scene, &sweep, known->at, known->n, &s->foretold.met, way);
}

static void set_out(struct mech_moreau_bodies *s, const struct mech_eval *e)
{
    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        mech_model_touch_set_out(s->model, e, i);
    }
}

/* --- what is near ----------------------------------------------------------------------------- */

static int wait_for(struct mech_foretold *f, const struct mech_contact *c, bool first)
{
    if (first) {
        MECH_TRY(reserve_pairs(f, f->pairs + 1));
        f->pair[f->pairs++] = (struct mech_foretold_pair){.from = f->open.n};
    }
    MECH_TRY(append(&f->open, c));
    f->pair[f->pairs - 1].to = f->open.n;
    return 0;
}

/* f->met behind the list, without what has the id of one from `from` on; ascending. */
static int append_met(struct mech_moreau_bodies *s, int32_t from)
{
    const struct mech_contact_list *const met = &s->foretold.met;
    const int32_t before = s->list.n;

    for (int32_t i = 0; i < met->n; i++) {
        bool there = false;

        for (int32_t k = from; k < before; k++) {
            there = there || s->list.at[k].id == met->at[i].id;
        }
        if (!there) {
            MECH_TRY(append(&s->list, &met->at[i]));
        }
    }
    struct mech_contact *const at = s->list.at;

    for (int32_t i = from + 1; i < s->list.n; i++) {
        for (int32_t k = i; k > from && at[k - 1].id > at[k].id; k--) {
            const struct mech_contact c = at[k];

            at[k] = at[k - 1];
            at[k - 1] = c;
        }
    }
    return 0;
}

/* A pair that is not sure: what stands acts; the rest as the motion says. While it waits, what it
 * passes acts, unless it stands elsewhere. */
static int decide(struct mech_moreau_bodies *s, const struct some *pair)
{
    struct mech_foretold *const f = &s->foretold;
    const int32_t from = s->list.n, waiting = f->open.n;
    enum mech_scene_way way;

    MECH_TRY(look_through(s, pair, &free_motion, &way));
    for (int32_t i = 0; i < pair->n; i++) {
        if (way == MECH_WAY_KNOWN || stands(s, pair, i)) {
            MECH_TRY(append(&s->list, &pair->at[i]));
        } else if (way == MECH_WAY_FREE) {
            MECH_TRY(wait_for(f, &pair->at[i], f->open.n == waiting));
        }
    }
    if (way == MECH_WAY_OTHER || (way == MECH_WAY_FREE && s->list.n == from)) {
        MECH_TRY(append_met(s, from));
    }
    if (way == MECH_WAY_FREE && f->open.n > waiting) {
        f->pair[f->pairs - 1].of = from;
        f->pair[f->pairs - 1].ofs = s->list.n;
    }
    return 0;
}

/* What is near acts or waits; `closing`: only what the motion runs into acts. */
static int divide(struct mech_moreau_bodies *s, bool closing)
{
    struct mech_foretold *const f = &s->foretold;
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = scene_of(s, &free_motion, &sweep);

    for (int32_t from = 0; from < f->near.n;) {
        const struct some pair = pair_at(&f->near, from);
        bool closes = false, doubted = false;

        for (int32_t i = 0; i < pair.n && !doubted; i++) {
            if (mech_scene_gap_after(scene, &sweep, &pair.at[i]) < 0.) {
                closes = true;
                doubted = !stands(s, &pair, i) && !mech_scene_bars(scene, &sweep, &pair.at[i]);
            }
        }
        if (doubted) {
            MECH_TRY(decide(s, &pair));
        }
        for (int32_t i = 0; i < pair.n && !doubted; i++) {
            MECH_TRY(closes || !closing ? append(&s->list, &pair.at[i])
                                        : wait_for(f, &pair.at[i], i == 0));
        }
        from += pair.n;
    }
    return 0;
}

int mech_moreau_bodies_foretell(struct mech_moreau_bodies *s, const struct mech_eval *e)
{
    struct mech_foretold *const f = &s->foretold;

    f->pairs = f->open.n = f->rounds = s->list.n = 0;
    MECH_TRY(mech_model_touch_find(s->model, e, s->h, &f->near));
    MECH_TRY(reserve(s));
    set_out(s, e);
    MECH_TRY(divide(s, false));
    return mark_from(s, 0);
}

/* --- the motion after the impulses ------------------------------------------------------------ */

/* Contacts of bodies that move farther than the detection assumed. */
static int widen(struct mech_moreau_bodies *s)
{
    struct mech_foretold *const f = &s->foretold;
    uint64_t *ids;
    int32_t there, n = 0;

    MECH_TRY(mech_model_touch_widen(s->model, s->theta * s->h, &f->near));
    MECH_TRY(list_ids(s, &ids, &there));
    for (int32_t i = 0; i < f->near.n; i++) {
        if (!bsearch(&f->near.at[i].id, ids, (size_t)there, sizeof *ids, ascending)) {
            f->near.at[n++] = f->near.at[i];
        }
    }
    f->near.n = n;
    return divide(s, true);
}

/* Whether one of the contacts [from, from + pair->n) of the list pushes that is not sure. */
static bool is_doubted(const struct mech_moreau_bodies *s, const struct some *pair, int32_t from)
{
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = scene_of(s, &after_impulses, &sweep);

    for (int32_t i = 0; i < pair->n; i++) {
        if (s->foretold.of[from + i].mark == MECH_FORETOLD_PUSHES && !stands(s, pair, i) &&
            !mech_scene_bars(scene, &sweep, &pair->at[i])) {
            return true;
        }
    }
    return false;
}

/* Whether what pushes of the pair would be run into, in the motion that is set out, so far that it
 * matters. */
static bool does_matter(const struct mech_moreau_bodies *s, const struct some *pair, int32_t from)
{
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = scene_of(s, &after_impulses, &sweep);

    for (int32_t i = 0; i < pair->n; i++) {
        if (s->foretold.of[from + i].mark == MECH_FORETOLD_PUSHES &&
            mech_scene_gap_after(scene, &sweep, &pair->at[i]) <
                -matters * mech_scene_size(scene, &pair->at[i])) {
            return true;
        }
    }
    return false;
}

/* The pair's bodies set out at these velocities. */
static void set_out_pair(struct mech_moreau_bodies *s, const struct mech_state *state,
                         const struct some *pair, const double *v)
{
    const double t = state->at->time + s->theta * s->h;
    const struct mech_eval e = mech_model_point(s->model, state, t, s->q_m, v);
    int32_t body[2];

    mech_model_touch_bodies_of(s->model, pair->at, body);
    for (int k = 0; k < 2; k++) {
        if (body[k] >= 0) {
            mech_model_touch_set_out(s->model, &e, body[k]);
        }
    }
}

/* The pair that waits while the list's contacts from number `from` on act; NULL: there is none. */
static struct mech_foretold_pair *waiting_of(struct mech_foretold *f, int32_t from, int32_t n)
{
    for (int32_t i = 0; i < f->pairs; i++) {
        if (f->pair[i].of == from && f->pair[i].ofs == from + n) {
            return &f->pair[i];
        }
    }
    return NULL;
}

/* The pair of the list's contacts from number `from` on, which pushes: what is not justified is
 * marked as taken out, and waits or acts otherwise. */
static int justify(struct mech_moreau_bodies *s, const struct mech_state *state,
                   mech_moreau_bodies_undo *undo, const struct some *pair, int32_t from)
{
    struct mech_foretold *const f = &s->foretold;
    const int32_t waiting = f->open.n, before = s->list.n;
    enum mech_scene_way way = MECH_WAY_KNOWN;

    memcpy(f->v, state->v, ((size_t)s->nv + 1) * sizeof *f->v);
    MECH_TRY(undo(s, from, from + pair->n, f->v));
    set_out_pair(s, state, pair, f->v);
    if (does_matter(s, pair, from)) {
        MECH_TRY(look_through(s, pair, &after_impulses, &way));
    }
    set_out_pair(s, state, pair, state->v);
    if (way == MECH_WAY_KNOWN) {
        return 0;
    }
    struct mech_foretold_pair *const waits = waiting_of(f, from, pair->n);

    for (int32_t i = 0; i < pair->n; i++) {
        if (waits || !stands(s, pair, i)) {
            f->of[from + i].mark = MECH_FORETOLD_OUT;
            if (way == MECH_WAY_FREE && !waits) {
                MECH_TRY(wait_for(f, &pair->at[i], f->open.n == waiting));
            }
        }
    }
    if (waits) {
        waits->of = waits->ofs = 0;
    }
    return way == MECH_WAY_OTHER ? append_met(s, before) : 0;
}

/* Pairs of the list's first n contacts that push and are not justified. */
static int justify_all(struct mech_moreau_bodies *s, const struct mech_state *state,
                       mech_moreau_bodies_undo *undo, int32_t n, bool *out)
{
    for (int32_t from = 0; from < n;) {
        const struct mech_contact_list first = {.at = s->list.at, .n = n};
        const struct some pair = pair_at(&first, from);

        if (is_doubted(s, &pair, from)) {
            MECH_TRY(justify(s, state, undo, &pair, from));
            for (int32_t i = from; i < from + pair.n; i++) {
                *out = *out || s->foretold.of[i].mark == MECH_FORETOLD_OUT;
            }
        }
        from += pair.n;
    }
    return 0;
}

/* Whether the motion that is set out runs into a row of the pair. */
static bool is_met(const struct mech_moreau_bodies *s, const struct some *pair)
{
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = scene_of(s, &after_impulses, &sweep);

    for (int32_t i = 0; i < pair->n; i++) {
        if (mech_scene_gap_after(scene, &sweep, &pair->at[i]) < 0.) {
            return true;
        }
    }
    return false;
}

/* Whether what acts while the pair waits pushes in about its direction. */
static bool is_pushed(const struct mech_foretold *f, const struct mech_contact *at,
                      const struct mech_foretold_pair *pair)
{
    for (int32_t k = pair->of; k < pair->ofs; k++) {
        if (f->of[k].mark == MECH_FORETOLD_PUSHES &&
            mech_v3_dot(at[k].normal, f->open.at[pair->from].normal) > after_impulses.alike) {
            return true;
        }
    }
    return false;
}

/* Of the first n pairs that wait those act that the motion meets. */
static int meet(struct mech_moreau_bodies *s, int32_t n, bool *out)
{
    struct mech_foretold *const f = &s->foretold;
    int32_t left = 0;

    for (int32_t i = 0; i < f->pairs; i++) {
        const struct mech_foretold_pair pair = f->pair[i];
        const struct some known = {f->open.at + pair.from, pair.to - pair.from};
        enum mech_scene_way way = MECH_WAY_FREE;

        /* where that pushes, no more is missing than the solvers leave */
        if (i < n && is_met(s, &known) && !is_pushed(f, s->list.at, &pair)) {
            MECH_TRY(look_through(s, &known, &for_waiting, &way));
        }
        if (way == MECH_WAY_FREE) {
            f->pair[left++] = pair;
        }
        for (int32_t k = pair.of; k < pair.ofs && way != MECH_WAY_FREE; k++) {
            f->of[k].mark = MECH_FORETOLD_OUT;
            *out = true;
        }
        for (int32_t k = 0; k < known.n && way == MECH_WAY_KNOWN; k++) {
            MECH_TRY(append(&s->list, &known.at[k]));
        }
        if (way == MECH_WAY_OTHER) {
            MECH_TRY(append_met(s, s->list.n));
        }
    }
    f->pairs = left;
    return 0;
}

/* All waiting rows act, as detected. */
static int meet_all(struct mech_moreau_bodies *s)
{
    struct mech_foretold *const f = &s->foretold;

    for (int32_t i = 0; i < f->pairs; i++) {
        for (int32_t k = f->pair[i].from; k < f->pair[i].to; k++) {
            MECH_TRY(append(&s->list, &f->open.at[k]));
        }
    }
    f->pairs = 0;
    return 0;
}

int mech_moreau_bodies_look(struct mech_moreau_bodies *s, const struct mech_state *state,
                            mech_moreau_bodies_undo *undo, struct mech_foretold_change *change)
{
    struct mech_foretold *const f = &s->foretold;
    struct mech_arena *const scratch = mech_model_scratch(s->model);
    const double t = mech_moreau_bodies_middle(s, state);
    const struct mech_eval e = mech_model_point(s->model, state, t, s->q_m, state->v);
    const int32_t before = s->list.n, waiting = f->pairs;

    *change = (struct mech_foretold_change){.added = 0};
    set_out(s, &e);
    if (f->rounds < LATE) {
        MECH_TRY(justify_all(s, state, undo, before, &change->out));
    }
    MECH_TRY(meet(s, waiting, &change->out));
    MECH_TRY(mark_from(s, before));
    if (mech_model_touch_goes_farther(s->model, s->theta * s->h)) {
        const struct mech_arena_mark mark = mech_arena_mark(scratch);
        const int code = widen(s);

        mech_arena_release(scratch, mark);
        MECH_TRY(code);
    }
    if (s->list.n > before && f->rounds >= LATE) {
        MECH_TRY(meet_all(s));
    }
    MECH_TRY(mark_from(s, before));
    change->added = s->list.n - before;
    f->rounds += change->added || change->out;
    return 0;
}
