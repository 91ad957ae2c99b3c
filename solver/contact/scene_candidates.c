/* Candidates of a scene: the bounded colliders by their boxes (broad.h), and the unbounded against
 * all of these, planes by their distance to the boxes. Both come out ascending. */
#include "solver/base/err.h"
#include "solver/contact/scene.h"
#include "solver/linalg/v3.h"

#include <stdlib.h>

static bool apart(const struct mech_scene *s, int32_t a, int32_t b)
{
    const int32_t low = a < b ? a : b, high = a < b ? b : a;

    for (int32_t k = s->apart_start[low]; k < s->apart_start[low + 1]; k++) {
        if (s->apart[k] == high) {
            return true;
        }
    }
    return false;
}

bool mech_scene_may(const struct mech_scene *s, int32_t i, int32_t j)
{
    const struct mech_scene_place *const a = &s->place[i], *const b = &s->place[j];

    if (a->body == b->body || !s->pair[a->kind * s->kinds + b->kind]) {
        return false;
    }
    if (a->body >= 0 && b->body >= 0 && apart(s, a->body, b->body)) {
        return false;
    }
    if (a->group == b->group && a->group != 0) {
        return a->group > 0;
    }
    return (a->category & b->mask) != 0 && (b->category & a->mask) != 0;
}

static int reserve(struct mech_scene *s, size_t count)
{
    if (count <= s->candidate_capacity) {
        return 0;
    }
    const size_t capacity = count > 2 * s->candidate_capacity ? count : 2 * s->candidate_capacity;
    uint64_t *const a = realloc(s->candidates, capacity * sizeof *a);

    s->candidates = a ? a : s->candidates;
    uint64_t *const b = a ? realloc(s->sorting, capacity * sizeof *b) : NULL;
    if (!b) {
        return MECH_NO_MEMORY;
    }
    s->sorting = b;
    s->candidate_capacity = capacity;
    return 0;
}

/* Against collider i, a plane or something else without bounds: those boxes of which some lies at
 * or behind it. */
static void against(struct mech_scene *s, int32_t i, double around)
{
    const struct mech_convex *const plane = &s->placed[i];
    double n[3], size[3];

    mech_m3_mul(plane->R, plane->shape->normal, n);
    const double level = 2. * (mech_v3_dot(n, plane->p) + around);

    for (int k = 0; k < 3; k++) {
        size[k] = fabs(n[k]);
    }
    for (int32_t k = 0; k < s->bounded_count; k++) {
        const struct mech_bounds *const b = &s->box[k];
        double twice = -level;

        for (int l = 0; l < 3; l++) {
            twice += n[l] * (b->low[l] + b->high[l]) - size[l] * (b->high[l] - b->low[l]);
        }
        const uint64_t j = (uint64_t)(uint32_t)s->bounded[k], u = (uint64_t)(uint32_t)i;

        s->candidates[s->candidate_count] = j < u ? j << 32 | u : u << 32 | j;
        s->candidate_count += twice <= 0.;
    }
}

/* Ascending, by digits of 8 bits from the lowest; i and j are below 2^bits. */
static void sort_candidates(struct mech_scene *s)
{
    int bits = 1;

    while (bits < 31 && s->n >> bits > 0) {
        bits++;
    }
    for (int half = 0; half < 2; half++) {
        for (int shift = 32 * half; shift < 32 * half + bits; shift += 8) {
            uint32_t start[257] = {0};

            for (size_t k = 0; k < s->candidate_count; k++) {
                start[1 + (s->candidates[k] >> shift & 255)]++;
            }
            for (int d = 0; d < 256; d++) {
                start[d + 1] += start[d];
            }
            for (size_t k = 0; k < s->candidate_count; k++) {
                s->sorting[start[s->candidates[k] >> shift & 255]++] = s->candidates[k];
            }
            uint64_t *const swap = s->candidates;

            s->candidates = s->sorting;
            s->sorting = swap;
        }
    }
}

int mech_scene_candidates(struct mech_scene *s, const struct mech_scene_query *query)
{
    MECH_TRY(mech_broad_find(&s->broad, s->box, s->bounded_body, s->bounded_count));
    s->candidate_count = 0;
    for (int32_t u = 0; u < s->unbounded_count; u++) {
        const int32_t i = s->unbounded[u];

        MECH_TRY(reserve(s, s->candidate_count + (size_t)s->bounded_count));
        against(s, i, 0.5 * query->margin + s->place[i].reach);
    }
    sort_candidates(s);
    return 0;
}
