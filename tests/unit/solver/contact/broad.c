/* Broad phase: the pairs are those of comparing all boxes with all, in order, whatever the sizes,
 * the places and the calls before. */
#include "solver/contact/broad.h"

#include "tests/unit/solver/contact/shapes.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

enum { MOST = 3000 };

struct scene {
    struct mech_bounds box[MOST];
    int32_t body[MOST];
};

static bool overlap(const struct mech_bounds *a, const struct mech_bounds *b)
{
    for (int i = 0; i < 3; i++) {
        if (a->high[i] < b->low[i] || b->high[i] < a->low[i]) {
            return false;
        }
    }
    return true;
}

/* true when find's pairs are all pairs of the first n boxes that overlap, ascending */
static bool is_right(struct mech_broad *b, const struct scene *s, int32_t n)
{
    int32_t k = 0;

    if (mech_broad_find(b, s->box, s->body, n) != 0) {
        return false;
    }
    for (int32_t i = 0; i < n; i++) {
        for (int32_t j = i + 1; j < n; j++) {
            if (s->body[i] != s->body[j] && overlap(&s->box[i], &s->box[j])) {
                if (k >= b->pairs || b->pair[2 * k] != i || b->pair[2 * k + 1] != j) {
                    return false;
                }
                k++;
            }
        }
    }
    return k == b->pairs;
}

static void place(struct mech_bounds *box, const double center[3], double x, double y, double z)
{
    const double half[3] = {x, y, z};

    for (int i = 0; i < 3; i++) {
        box->low[i] = center[i] - half[i];
        box->high[i] = center[i] + half[i];
    }
}

/* n boxes with half edges small to large within ±range; every seventh belongs to the ground */
static void scatter(struct scene *s, int32_t n, double small, double large, double range)
{
    uint64_t seed = (uint64_t)n;

    for (int32_t i = 0; i < n; i++) {
        double center[3], half[3];

        for (int k = 0; k < 3; k++) {
            center[k] = random_between(&seed, -range, range);
            half[k] = small * pow(large / small, random_between(&seed, 0., 1.));
        }
        place(&s->box[i], center, half[0], half[1], half[2]);
        s->body[i] = i % 7 == 0 ? -1 : i / 2;
    }
}

static void pairs_are_those_of_all_comparisons(void)
{
    static const int32_t counts[] = {0, 1, 2, 5, 9, 10, 100, 1000, 3000};
    struct scene *const s = malloc(sizeof *s);
    struct mech_broad b = {.n = 0};

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        const int32_t n = counts[k];
        const double range = 0.3 * cbrt(n + 1.);

        scatter(s, n, 0.2, 0.2, range);
        CU_ASSERT(is_right(&b, s, n));
        scatter(s, n, 0.01, 1., range);
        CU_ASSERT(is_right(&b, s, n));
        scatter(s, n, 1e-6, 1e3, range);
        CU_ASSERT(is_right(&b, s, n));
        /* all at one place; far from the origin */
        scatter(s, n < 500 ? n : 500, 0.3, 0.4, 0.01);
        CU_ASSERT(is_right(&b, s, n < 500 ? n : 500));
        scatter(s, n, 0.2, 0.2, range);
        for (int32_t i = 0; i < n; i++) {
            s->box[i].low[1] += 1e7;
            s->box[i].high[1] += 1e7;
        }
        CU_ASSERT(is_right(&b, s, n));
    }
    mech_broad_fini(&b);
    free(s);
}

static void columns_layers_and_boxes_far_away_are_found(void)
{
    struct scene *const s = malloc(sizeof *s);
    struct mech_broad b = {.n = 0};

    /* boxes of a lattice touch, along lines, in planes and in space */
    for (int shape = 0; shape < 4; shape++) {
        const int32_t row = shape == 0 ? 1 : shape == 1 ? 1000 : shape == 2 ? 32 : 10;

        for (int32_t i = 0; i < 1000; i++) {
            const double center[3] = {i % row, i / row % row, i / row / row};

            place(&s->box[i], center, 0.5, 0.5, 0.5);
            s->body[i] = i;
        }
        /* one is very far away */
        s->box[17].low[2] += 1e6;
        s->box[17].high[2] += 1e6;
        CU_ASSERT(is_right(&b, s, 1000));
        /* and one so far that its coordinates are coarser than it is */
        s->box[18].low[0] = 1e18;
        s->box[18].high[0] = 1e18 + 256.;
        CU_ASSERT(is_right(&b, s, 1000));
    }
    mech_broad_fini(&b);
    free(s);
}

static void unbounded_flat_and_empty_boxes_are_found(void)
{
    struct scene *const s = malloc(sizeof *s);
    struct mech_broad b = {.n = 0};

    scatter(s, 400, 0.2, 0.3, 3.);
    for (int axis = 0; axis < 3; axis++) {
        /* a plane across each axis, a half-space, a point and a sheet */
        s->box[100 * axis] =
            (struct mech_bounds){{-INFINITY, -INFINITY, -INFINITY}, {INFINITY, INFINITY, INFINITY}};
        s->box[100 * axis].high[axis] = 0.1;
        s->body[100 * axis] = -1;
        s->box[100 * axis + 1] = (struct mech_bounds){{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};
        s->box[100 * axis + 2] = (struct mech_bounds){{-9., -9., -9.}, {9., 9., 9.}};
        s->box[100 * axis + 2].low[axis] = s->box[100 * axis + 2].high[axis] = 0.7;
    }
    CU_ASSERT(is_right(&b, s, 400));
    CU_ASSERT(b.pairs > 400);
    mech_broad_fini(&b);
    free(s);
}

static void the_same_memory_serves_again(void)
{
    struct scene *const s = malloc(sizeof *s);
    struct mech_broad b = {.n = 0};

    scatter(s, 2000, 0.1, 0.2, 3.);
    CU_ASSERT(is_right(&b, s, 2000));
    const size_t held = mech_broad_memory(&b);
    scatter(s, 500, 0.1, 0.2, 3.);
    CU_ASSERT(is_right(&b, s, 500));
    scatter(s, 2000, 0.1, 0.2, 3.);
    CU_ASSERT(is_right(&b, s, 2000));
    CU_ASSERT_EQUAL(mech_broad_memory(&b), held);
    mech_broad_fini(&b);
    free(s);
}

UNIT_TESTS(UNIT_TEST(pairs_are_those_of_all_comparisons),
           UNIT_TEST(columns_layers_and_boxes_far_away_are_found),
           UNIT_TEST(unbounded_flat_and_empty_boxes_are_found),
           UNIT_TEST(the_same_memory_serves_again))
