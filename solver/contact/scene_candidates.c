/* Broad phase of a scene: pairs of colliders whose boxes overlap and whose filters let them touch.
 *
 * Bounded colliders by sweep and prune along the axis on which their middles spread most, in an
 * order that is kept from query to query (it saves time and changes nothing else); the unbounded
 * against all, planes by their distance to the boxes. Pairs come out ascending, by a radix sort:
 * the result depends on the boxes alone. */
#include "solver/base/err.h"
#include "solver/contact/scene.h"
#include "solver/linalg/v3.h"

#include <stdlib.h>
#include <string.h>

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
    const struct mech_collider *const a = &s->colliders[i], *const b = &s->colliders[j];

    if (a->body == b->body || !s->pair[s->kind[i] * s->kinds + s->kind[j]]) {
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

static int add(struct mech_scene *s, int32_t i, int32_t j)
{
    if (!mech_scene_may(s, i, j)) {
        return 0;
    }
    if (s->candidate_count == s->candidate_capacity) {
        const size_t capacity = s->candidate_capacity > 0 ? 2 * s->candidate_capacity : 256;
        uint64_t *const a = realloc(s->candidates, capacity * sizeof *a);

        s->candidates = a ? a : s->candidates;
        uint64_t *const b = a ? realloc(s->sorting, capacity * sizeof *b) : NULL;
        if (!b) {
            return MECH_NO_MEMORY;
        }
        s->sorting = b;
        s->candidate_capacity = capacity;
    }
    const uint64_t low = (uint64_t)(uint32_t)(i < j ? i : j);
    const uint64_t high = (uint64_t)(uint32_t)(i < j ? j : i);

    s->candidates[s->candidate_count++] = low << 32 | high;
    return 0;
}

/* The axis along which the middles of the boxes vary most. */
static int widest(const struct mech_scene *s)
{
    double sum[3] = {0.}, squares[3] = {0.};
    int axis = 0;

    for (int32_t k = 0; k < s->bounded_count; k++) {
        const double *const box = s->boxes + 6 * (size_t)s->bounded[k];

        for (int i = 0; i < 3; i++) {
            const double x = box[i] + box[3 + i];

            sum[i] += x;
            squares[i] += x * x;
        }
    }
    for (int i = 0; i < 3; i++) {
        squares[i] -= sum[i] * sum[i] / (s->bounded_count > 0 ? s->bounded_count : 1);
        axis = squares[i] > squares[axis] ? i : axis;
    }
    return axis;
}

static void sort_along(struct mech_scene *s, int axis)
{
    for (int32_t k = 1; k < s->bounded_count; k++) {
        const int32_t i = s->order[k];
        const double x = s->boxes[6 * (size_t)i + (size_t)axis];
        int32_t at = k;

        while (at > 0 && s->boxes[6 * (size_t)s->order[at - 1] + (size_t)axis] > x) {
            s->order[at] = s->order[at - 1];
            at--;
        }
        s->order[at] = i;
    }
}

static bool overlap(const double *a, const double *b, int axis)
{
    return a[axis] <= b[3 + axis] && b[axis] <= a[3 + axis];
}

static int sweep(struct mech_scene *s)
{
    const int axis = widest(s), second = (axis + 1) % 3, third = (axis + 2) % 3;

    sort_along(s, axis);
    for (int32_t k = 0; k < s->bounded_count; k++) {
        const int32_t i = s->order[k];
        const double *const a = s->boxes + 6 * (size_t)i;

        for (int32_t l = k + 1; l < s->bounded_count; l++) {
            const int32_t j = s->order[l];
            const double *const b = s->boxes + 6 * (size_t)j;

            if (b[axis] > a[3 + axis]) {
                break;
            }
            if (overlap(a, b, second) && overlap(a, b, third)) {
                MECH_TRY(add(s, i, j));
            }
        }
    }
    return 0;
}

/* Whether some of a box lies at or behind a plane. */
static bool behind(const struct mech_convex *plane, double around, const double *box)
{
    double n[3], height = -around;

    mech_m3_mul(plane->R, plane->shape->normal, n);
    for (int i = 0; i < 3; i++) {
        height += n[i] * (0.5 * (box[i] + box[3 + i]) - plane->p[i]) -
                  0.5 * fabs(n[i]) * (box[3 + i] - box[i]);
    }
    return height <= 0.;
}

static int against_unbounded(struct mech_scene *s, const struct mech_scene_query *query)
{
    for (int32_t u = 0; u < s->unbounded_count; u++) {
        const int32_t i = s->unbounded[u], body = s->colliders[i].body;
        const double reach = query->reach && body >= 0 ? query->reach[body] : 0.;
        const double around = 0.5 * query->margin + reach;

        for (int32_t k = 0; k < s->bounded_count; k++) {
            const int32_t j = s->bounded[k];

            if (behind(&s->placed[i], around, s->boxes + 6 * (size_t)j)) {
                MECH_TRY(add(s, i, j));
            }
        }
    }
    return 0;
}

/* Ascending, by digits of 11 bits from the lowest; i and j are below 2^bits. */
static void sort_candidates(struct mech_scene *s)
{
    int bits = 1;

    while (bits < 31 && s->n >> bits > 0) {
        bits++;
    }
    for (int half = 0; half < 2; half++) {
        for (int shift = 32 * half; shift < 32 * half + bits; shift += 11) {
            uint32_t start[2049] = {0};

            for (size_t k = 0; k < s->candidate_count; k++) {
                start[1 + (s->candidates[k] >> shift & 2047)]++;
            }
            for (int d = 0; d < 2048; d++) {
                start[d + 1] += start[d];
            }
            for (size_t k = 0; k < s->candidate_count; k++) {
                s->sorting[start[s->candidates[k] >> shift & 2047]++] = s->candidates[k];
            }
            uint64_t *const swap = s->candidates;

            s->candidates = s->sorting;
            s->sorting = swap;
        }
    }
}

int mech_scene_candidates(struct mech_scene *s, const struct mech_scene_query *query)
{
    s->candidate_count = 0;
    MECH_TRY(sweep(s));
    MECH_TRY(against_unbounded(s, query));
    sort_candidates(s);
    return 0;
}
