/* A scene: its colliders, which pairs may touch, and the way from placements to contacts. */
#include "solver/contact/scene.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <stdlib.h>
#include <string.h>

/* --- creation --------------------------------------------------------------------------------- */

/* [n] zeroed elements of which at least one exists. */
static void *some(size_t n, size_t size)
{
    return calloc(n > 0 ? n : 1, size);
}

static int allocate(struct mech_scene *s)
{
    const size_t n = (size_t)s->n;

    s->colliders = some(n, sizeof *s->colliders);
    s->placed = some(n, sizeof *s->placed);
    s->place = some(n, sizeof *s->place);
    s->box = some(n, sizeof *s->box);
    s->bounded = some(n, sizeof *s->bounded);
    s->bounded_body = some(n, sizeof *s->bounded_body);
    s->unbounded = some(n, sizeof *s->unbounded);
    s->apart_start = some((size_t)s->bodies + 1, sizeof *s->apart_start);
    return s->colliders && s->placed && s->place && s->box && s->bounded && s->bounded_body &&
                   s->unbounded && s->apart_start
               ? 0
               : MECH_NO_MEMORY;
}

static bool is_plain(const struct mech_collider *c)
{
    static const double same[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};

    for (int i = 0; i < 9; i++) {
        if (fabs(c->R[i] - same[i]) > 0.) {
            return false;
        }
    }
    return !(mech_v3_norm(c->p) > 0.);
}

/* Copies the colliders and divides them by bounds and types. */
static void take(struct mech_scene *s, const struct mech_collider *colliders)
{
    for (int32_t i = 0; i < s->n; i++) {
        struct mech_collider *const c = &s->colliders[i];
        int32_t same = 0;

        *c = colliders[i];
        s->place[i] = (struct mech_scene_place){.body = c->body,
                                                .group = c->group,
                                                .category = c->category,
                                                .mask = c->mask,
                                                .plain = is_plain(c)};
        s->placed[i] =
            (struct mech_convex){.shape = &c->shape, .p = s->place[i].p, .R = s->place[i].R};
        if (isfinite(c->shape.high[0] - c->shape.low[0])) {
            s->bounded_body[s->bounded_count] = c->body;
            s->bounded[s->bounded_count++] = i;
        } else {
            s->unbounded[s->unbounded_count++] = i;
        }
        while (same < i && s->colliders[same].shape.type != c->shape.type) {
            same++;
        }
        s->place[i].kind = same < i ? s->place[same].kind : s->kinds++;
    }
}

static int choose_pairs(struct mech_scene *s)
{
    const size_t kinds = (size_t)s->kinds;
    const struct mech_shape **const shape = some(kinds, sizeof *shape);

    s->pair = some(kinds * kinds, sizeof *s->pair);
    s->turned = some(kinds * kinds, sizeof *s->turned);
    if (!shape || !s->pair || !s->turned) {
        free(shape);
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < s->n; i++) {
        shape[s->place[i].kind] = &s->colliders[i].shape;
    }
    for (size_t a = 0; a < kinds; a++) {
        for (size_t b = 0; b < kinds; b++) {
            s->pair[a * kinds + b] =
                mech_shape_pair_find(shape[a], shape[b], &s->turned[a * kinds + b]);
        }
    }
    free(shape);
    return 0;
}

/* The pairs of bodies that never touch, by the smaller of the two. */
static int part(struct mech_scene *s, const int32_t *pairs, int32_t count)
{
    s->apart = some((size_t)count, sizeof *s->apart);
    if (!s->apart) {
        return MECH_NO_MEMORY;
    }
    for (int32_t k = 0; k < count; k++) {
        s->apart_start[pairs[2 * k] + 1]++;
    }
    for (int32_t b = 0; b < s->bodies; b++) {
        s->apart_start[b + 1] += s->apart_start[b];
    }
    // each start moves to the next one's while the lists fill, and back afterwards
    for (int32_t k = 0; k < count; k++) {
        s->apart[s->apart_start[pairs[2 * k]]++] = pairs[2 * k + 1];
    }
    for (int32_t b = s->bodies; b > 0; b--) {
        s->apart_start[b] = s->apart_start[b - 1];
    }
    s->apart_start[0] = 0;
    return 0;
}

static int build(struct mech_scene *s, const struct mech_scene_description *d)
{
    MECH_TRY(allocate(s));
    take(s, d->colliders);
    MECH_TRY(choose_pairs(s));
    MECH_TRY(mech_flush_build(s->colliders, s->n, s->bodies, &s->flush));
    return part(s, d->apart, d->apart_count);
}

int mech_scene_create(const struct mech_scene_description *d, struct mech_scene **out)
{
    *out = NULL;
    if (d->n > MECH_COLLIDERS_MOST) {
        return MECH_UNSUPPORTED;
    }
    struct mech_scene *const s = calloc(1, sizeof *s);
    if (!s) {
        return MECH_NO_MEMORY;
    }
    s->n = d->n;
    s->bodies = d->bodies;
    const int code = build(s, d);
    if (code != 0) {
        mech_scene_destroy(s);
        return code;
    }
    *out = s;
    return 0;
}

void mech_scene_destroy(struct mech_scene *s)
{
    if (!s) {
        return;
    }
    free(s->colliders);
    free(s->placed);
    free(s->place);
    free(s->box);
    free(s->bounded);
    free(s->bounded_body);
    free(s->unbounded);
    mech_broad_fini(&s->broad);
    mech_flush_fini(&s->flush);
    free(s->pair);
    free(s->turned);
    free(s->apart_start);
    free(s->apart);
    free(s->candidates);
    free(s->sorting);
    free(s);
}

size_t mech_scene_memory(const struct mech_scene *s)
{
    const size_t each = sizeof *s->colliders + sizeof *s->placed + sizeof *s->place +
                        sizeof *s->box + 3 * sizeof(int32_t);
    const size_t pairs = (size_t)s->kinds * (size_t)s->kinds;

    return sizeof *s + (size_t)s->n * each + pairs * (sizeof *s->pair + sizeof *s->turned) +
           ((size_t)s->bodies + 1 + (size_t)s->apart_start[s->bodies]) * sizeof(int32_t) +
           2 * s->candidate_capacity * sizeof *s->candidates + mech_broad_memory(&s->broad) +
           mech_flush_memory(&s->flush, s->n);
}

struct mech_material mech_scene_material(const struct mech_scene *s, const struct mech_contact *c)
{
    return mech_material_pair(&s->colliders[c->collider[0]].material,
                              &s->colliders[c->collider[1]].material);
}

/* --- contacts --------------------------------------------------------------------------------- */

/* Ascending by id from `first` on: the few contacts of one pair. */
static void sort_from(struct mech_contact_list *list, int32_t first)
{
    for (int32_t k = first + 1; k < list->n; k++) {
        const struct mech_contact c = list->at[k];
        int32_t at = k;

        while (at > first && list->at[at - 1].id > c.id) {
            list->at[at] = list->at[at - 1];
            at--;
        }
        list->at[at] = c;
    }
}

/* A global point in the frame of a collider's body, whose axes R turns into from global ones. */
static void global_to_body(const struct mech_collider *c, const struct mech_convex *at,
                           const double R[9], const double point[3], double out[3])
{
    double d[3];

    mech_v3_add(point, -1., at->p, d);
    mech_m3_mul(R, d, d);
    mech_v3_add(d, 1., c->p, out);
}

/* Whether a contact is none on the side of its collider number k: one of a seam. */
static bool hidden(const struct mech_scene *s, const struct mech_contact *c, int k,
                   const struct mech_convex *const at[2])
{
    const int32_t own = c->collider[k], other = c->collider[1 - k];
    const struct mech_collider *const collider = &s->colliders[own];
    struct mech_collider placed = s->colliders[other];
    double R[9], x[3], n[3];
    const struct mech_flush_contact contact = {.x = x, .n = n, .gap = c->gap, .other = &placed};

    /* R turns from global axes into those of the body */
    mech_m3_transpose(at[k]->R, R);
    mech_m3_product(collider->R, R, R);
    global_to_body(collider, at[k], R, c->point[k], x);
    global_to_body(collider, at[k], R, at[1 - k]->p, placed.p);
    mech_m3_product(R, at[1 - k]->R, placed.R);
    mech_m3_mul(R, c->normal, n);
    for (int i = 0; i < 3; i++) {
        n[i] = k == 0 ? n[i] : -n[i];
    }
    for (int32_t e = s->flush.start[own]; e < s->flush.start[own + 1]; e++) {
        const int32_t neighbour = s->flush.at[e];

        if (mech_scene_may(s, neighbour, other) &&
            mech_flush_hides(collider, &s->colliders[neighbour], &contact)) {
            return true;
        }
    }
    return false;
}

/* Contacts from `first` on without those of seams. */
static void drop_seams(const struct mech_scene *s, const struct mech_convex *const at[2],
                       int32_t first, struct mech_contact_list *list)
{
    int32_t n = first;

    for (int32_t k = first; k < list->n; k++) {
        bool hides = false;

        for (int i = 0; i < 2 && !hides; i++) {
            const int32_t own = list->at[k].collider[i];

            hides = s->flush.start[own + 1] > s->flush.start[own] && hidden(s, &list->at[k], i, at);
        }
        if (!hides) {
            list->at[n++] = list->at[k];
        }
    }
    list->n = n;
}

/* What a pair finds where colliders of some bodies are flush. */
static void touch_flush(const struct mech_scene *s, const struct mech_shape_pair *pair,
                        const struct mech_convex *const at[2], struct mech_touching *out)
{
    const int32_t own = out->collider[out->turned], from = s->flush.start[own];
    const struct mech_flush_of flush = {.scene = s,
                                        .mesh = own,
                                        .other = out->collider[!out->turned],
                                        .at = s->flush.at + from,
                                        .n = s->flush.start[own + 1] - from};
    const int32_t first = out->list->n;

    out->flush = flush.n > 0 ? &flush : NULL;
    pair->find(at[out->turned], at[!out->turned], out);
    out->flush = NULL;
    if (out->list->n > first && out->code == 0) {
        drop_seams(s, at, first, out->list);
    }
}

/* As mech_scene_touch, with numbers in the place of arrays: one of these for each pair of boxes. */
static inline int touch_at(const struct mech_scene *s, int32_t i, int32_t j,
                           const struct mech_convex *const at[2], double reach,
                           struct mech_contact_list *list)
{
    const int32_t kinds = s->place[i].kind * s->kinds + s->place[j].kind, first = list->n;
    struct mech_touching out = {
        .list = list, .reach = reach, .collider = {i, j}, .turned = s->turned[kinds]};

    if (s->flush.start) {
        touch_flush(s, s->pair[kinds], at, &out);
    } else {
        s->pair[kinds]->find(at[out.turned], at[!out.turned], &out);
    }
    if (list->n > first + 1) {
        sort_from(list, first);
    }
    return out.code;
}

int mech_scene_touch(const struct mech_scene *s, const int32_t collider[2],
                     const struct mech_convex *const at[2], double reach,
                     struct mech_contact_list *list)
{
    return touch_at(s, collider[0], collider[1], at, reach, list);
}

static int touch(const struct mech_scene *s, int32_t i, int32_t j, struct mech_contact_list *list)
{
    if (!mech_scene_may(s, i, j)) {
        return 0;
    }
    return touch_at(s, i, j, (const struct mech_convex *const[2]){&s->placed[i], &s->placed[j]},
                    s->margin + s->place[i].reach + s->place[j].reach, list);
}

int mech_scene_find(struct mech_scene *s, const struct mech_scene_query *query,
                    struct mech_contact_list *list)
{
    list->n = 0;
    s->margin = query->margin;
    MECH_TRY(mech_scene_place(s, query));
    MECH_TRY(mech_scene_candidates(s, query));
    size_t other = 0;

    // two ascending lists become one
    for (int32_t k = 0; k <= s->broad.pairs; k++) {
        const bool last = k == s->broad.pairs;
        const int32_t i = last ? INT32_MAX : s->bounded[s->broad.pair[2 * k]];
        const int32_t j = last ? INT32_MAX : s->bounded[s->broad.pair[2 * k + 1]];
        const uint64_t here = (uint64_t)(uint32_t)i << 32 | (uint64_t)(uint32_t)j;

        for (; other < s->candidate_count && s->candidates[other] < here; other++) {
            const uint64_t c = s->candidates[other];

            MECH_TRY(touch(s, (int32_t)(c >> 32), (int32_t)(c & INT32_MAX), list));
        }
        if (!last) {
            MECH_TRY(touch(s, i, j, list));
        }
    }
    return 0;
}
