/* Contact points of convex shapes: they lie on both surfaces, the least gap is the shapes',
 * features last, and turning shapes around turns contacts around. */
#include "solver/contact/hull.h"

#include "tests/unit/solver/contact/shapes.h"
#include "tests/unit/unit.h"

#include <stdlib.h>

static const double unit[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};
static const double zero[3] = {0., 0., 0.};

static int by_id(const void *a, const void *b)
{
    const struct mech_contact *const x = a, *const y = b;

    return (x->id > y->id) - (x->id < y->id);
}

static void touch(const struct mech_convex *a, const struct mech_convex *b, double reach,
                  struct mech_contact_list *list)
{
    struct mech_touching out = {.list = list, .reach = reach, .collider = {0, 1}};
    struct mech_convex_gap gap;

    list->n = 0;
    if (mech_convex_gap(a, b, reach, &gap) == 0) {
        mech_hull_touch(a, b, &gap, &out);
    }
    CU_ASSERT_EQUAL(out.code, 0);
    if (list->n > 0) {
        qsort(list->at, (size_t)list->n, sizeof *list->at, by_id);
    }
}

/* distance of a point from a shape's surface; negative inside */
static double height_over(const struct mech_convex *c, const double x[3])
{
    const struct mech_shape point = points_shape(zero, 1, 0.);
    const struct mech_convex p = {&point, x, unit};
    struct mech_convex_gap gap;

    return mech_convex_gap(c, &p, 1e9, &gap) == 0 ? gap.gap : INFINITY;
}

struct kit {
    struct mech_arena arena;
    struct mech_shape shape[6];
    struct mech_contact_list list, other;
};

static const double segment[6] = {0., 0., -0.5, 0., 0., 0.5};

static void kit_init(struct kit *k)
{
    static const double cube[3] = {0.5, 0.5, 0.5}, slab[3] = {0.8, 0.5, 0.2};
    uint64_t seed = 5;
    double x[60];

    memset(k, 0, sizeof *k);
    mech_arena_init(&k->arena, 0);
    for (int i = 0; i < 20; i++) {
        random_direction(&seed, x + 3 * i);
    }
    k->shape[0] = box_shape(cube, &k->arena);
    k->shape[1] = box_shape(slab, &k->arena);
    k->shape[2] = hull_shape(x, 20, &k->arena);
    k->shape[3] = cylinder_shape(0.4, 0.5);
    k->shape[4] = points_shape(segment, 2, 0.2);
    k->shape[4].half_length = 0.5;
    k->shape[5] = points_shape(zero, 1, 0.3);
}

static void kit_fini(struct kit *k)
{
    mech_contact_list_fini(&k->list);
    mech_contact_list_fini(&k->other);
    mech_arena_fini(&k->arena);
}

static void a_box_on_a_box_has_the_corners_of_the_overlap(void)
{
    struct kit k;

    kit_init(&k);
    const double up[3] = {0.3, 0.2, 0.69};
    const struct mech_convex a = {&k.shape[1], zero, unit}, b = {&k.shape[0], up, unit};
    touch(&a, &b, 0.01, &k.list);
    CU_ASSERT_EQUAL_FATAL(k.list.n, 4);
    double low[2] = {1., 1.}, high[2] = {-1., -1.};
    for (int i = 0; i < 4; i++) {
        const struct mech_contact *const c = &k.list.at[i];

        CHECK_NEAR(c->gap, -0.01, 1e-15);
        CHECK_NEAR(c->normal[2], 1., 0);
        CHECK_NEAR(c->point[0][2], 0.2, 1e-15);
        CHECK_NEAR(c->point[1][2], 0.19, 1e-15);
        for (int j = 0; j < 2; j++) {
            low[j] = fmin(low[j], c->point[0][j]);
            high[j] = fmax(high[j], c->point[0][j]);
        }
    }
    /* x: −0.2 to 0.8; y: −0.3 to 0.5 */
    CHECK_NEAR(low[0], -0.2, 1e-15);
    CHECK_NEAR(high[0], 0.8, 1e-15);
    CHECK_NEAR(low[1], -0.3, 1e-15);
    CHECK_NEAR(high[1], 0.5, 1e-15);
    kit_fini(&k);
}

static void placed(uint64_t *seed, int turn, double p[3], double R[9])
{
    random_direction(seed, p);
    const double far = random_between(seed, 0.2, 1.5);
    for (int i = 0; i < 3; i++) {
        p[i] *= far;
    }
    memcpy(R, unit, sizeof unit);
    if (turn == 1) {
        random_rotation(seed, R);
    } else if (turn == 2) {
        /* nearly upright: faces meet faces */
        const double x[3] = {random_between(seed, -1e-3, 1e-3), random_between(seed, -1e-3, 1e-3),
                             random_between(seed, -3., 3.)};
        mech_so3_exp(x, R);
    }
}

static void points_lie_on_both_surfaces_and_the_least_gap_is_the_shapes(void)
{
    struct kit k;
    uint64_t seed = 11;

    kit_init(&k);
    for (int round = 0; round < 8000; round++) {
        const int i = round % 6, j = round / 6 % 6, turn = round / 36 % 3;
        double p[3], R[9], least = INFINITY;
        struct mech_convex_gap gap;

        placed(&seed, turn, p, R);
        const struct mech_convex a = {&k.shape[i], zero, unit}, b = {&k.shape[j], p, R};
        const double reach = 0.05;
        touch(&a, &b, reach, &k.list);
        if (mech_convex_gap(&a, &b, reach, &gap) != 0) {
            CU_ASSERT_EQUAL(k.list.n, 0);
            continue;
        }
        CU_ASSERT(k.list.n >= 1 && k.list.n <= 4);
        for (int c = 0; c < k.list.n; c++) {
            const struct mech_contact *const at = &k.list.at[c];
            double d[3];

            mech_v3_add(at->point[1], -1., at->point[0], d);
            CHECK_NEAR(mech_v3_dot(d, at->normal), at->gap, 1e-12);
            mech_v3_cross(d, at->normal, d);
            CHECK_NEAR(mech_v3_norm(d), 0., 1e-12);
            CHECK_NEAR(mech_v3_norm(at->normal), 1., 1e-14);
            CU_ASSERT(at->gap <= reach);
            CU_ASSERT(c == 0 || at->id > k.list.at[c - 1].id);
            least = fmin(least, at->gap);
            /* corners count as inside within 1e-6 of the size; a normal that meets a round side's
             * line at 3° less than a right angle leaves its end by 0.4 (1 − cos 3°) */
            const double off = 6e-4;
            CU_ASSERT(height_over(&a, at->point[0]) <= off);
            CU_ASSERT(height_over(&b, at->point[1]) <= off);
        }
        CHECK_NEAR(least, gap.gap, 2e-6);
    }
    kit_fini(&k);
}

static void shapes_the_other_way_round_touch_at_the_same_points(void)
{
    struct kit k;
    uint64_t seed = 17;
    int several = 0;

    kit_init(&k);
    for (int round = 0; round < 3000; round++) {
        const int i = round % 6, j = round / 6 % 6, turn = round / 36 % 3;
        double p[3], R[9];

        placed(&seed, turn, p, R);
        const struct mech_convex a = {&k.shape[i], zero, unit}, b = {&k.shape[j], p, R};
        touch(&a, &b, 0.02, &k.list);
        touch(&b, &a, 0.02, &k.other);
        /* of faces with more than four corners in common others may be chosen */
        if (i == 2 || j == 2 || (i < 4 && j < 4)) {
            CU_ASSERT_EQUAL(k.list.n > 0, k.other.n > 0);
            continue;
        }
        CU_ASSERT_EQUAL_FATAL(k.list.n, k.other.n);
        several += k.list.n > 1;
        for (int c = 0; c < k.list.n; c++) {
            double nearest = INFINITY;

            for (int d = 0; d < k.list.n; d++) {
                double x[3], y[3], z[3];

                mech_v3_add(k.list.at[c].point[0], -1., k.other.at[d].point[1], x);
                mech_v3_add(k.list.at[c].point[1], -1., k.other.at[d].point[0], y);
                mech_v3_add(k.list.at[c].normal, 1., k.other.at[d].normal, z);
                nearest = fmin(nearest, mech_v3_norm(x) + mech_v3_norm(y) + mech_v3_norm(z));
            }
            /* of edges side by side either may be the one whose ends are found: half a degree of
             * half a meter */
            CHECK_NEAR(nearest, 0., 0.009);
        }
    }
    CU_ASSERT(several > 10);
    kit_fini(&k);
}

/* A cube slides and turns a little on a slab: the same four features all the way, also where both
 * have the same outline but for rounding. */
static void features_last_while_shapes_slide(void)
{
    static const struct {
        int below, above;
    } pairs[] = {{1, 0}, {0, 0}, {1, 3}};
    struct kit k;

    kit_init(&k);
    for (size_t s = 0; s < sizeof pairs / sizeof *pairs; s++) {
        const double reach = k.shape[pairs[s].below].half[2];
        uint64_t ids[4] = {0};
        uint64_t seed = 3;

        for (int step = 0; step < 200; step++) {
            const double slide = pairs[s].above == pairs[s].below ? 0. : 1e-3 * step;
            const double p[3] = {slide + random_between(&seed, -1e-9, 1e-9),
                                 random_between(&seed, -1e-9, 1e-9),
                                 reach + 0.5 + random_between(&seed, -1e-6, 1e-6)};
            const double x[3] = {random_between(&seed, -1e-7, 1e-7),
                                 random_between(&seed, -1e-7, 1e-7),
                                 random_between(&seed, -1e-9, 1e-9)};
            double R[9];

            mech_so3_exp(x, R);
            const struct mech_convex a = {&k.shape[pairs[s].below], zero, unit};
            const struct mech_convex b = {&k.shape[pairs[s].above], p, R};
            touch(&a, &b, 1e-3, &k.list);
            CU_ASSERT_EQUAL_FATAL(k.list.n, 4);
            for (int c = 0; c < 4; c++) {
                CU_ASSERT(step == 0 || k.list.at[c].id == ids[c]);
                /* none leaves the faces */
                CU_ASSERT(fabs(k.list.at[c].point[0][1]) < 0.5 + 2e-6);
                CU_ASSERT(fabs(k.list.at[c].point[1][0] - p[0]) < 0.5 + 2e-6);
                ids[c] = k.list.at[c].id;
            }
        }
    }
    kit_fini(&k);
}

/* Shifts and turns of about what counts as inside: no point leaves the outline. */
static void nearly_the_same_outlines_meet_within_them(void)
{
    struct kit k;
    uint64_t seed = 41;

    kit_init(&k);
    for (int round = 0; round < 1000; round++) {
        const double p[3] = {random_between(&seed, -4e-6, 4e-6), random_between(&seed, -4e-6, 4e-6),
                             1.};
        const double x[3] = {0., 0., random_between(&seed, -4e-6, 4e-6)};
        double R[9];

        mech_so3_exp(x, R);
        const struct mech_convex a = {&k.shape[0], zero, unit}, b = {&k.shape[0], p, R};
        touch(&a, &b, 1e-3, &k.list);
        CU_ASSERT_EQUAL(k.list.n, 4);
        for (int c = 0; c < k.list.n; c++) {
            CU_ASSERT(fabs(k.list.at[c].point[0][0]) < 0.5 + 2e-6);
            CU_ASSERT(fabs(k.list.at[c].point[0][1]) < 0.5 + 2e-6);
        }
    }
    kit_fini(&k);
}

/* Over the slab's rim two corners give way to two crossings of edges, and two stay. */
static void features_name_the_corners_and_edges_that_meet(void)
{
    struct kit k;

    kit_init(&k);
    const double inside[3] = {0.2, 0., 0.7}, over[3] = {0.5, 0., 0.7};
    const struct mech_convex a = {&k.shape[1], zero, unit}, b = {&k.shape[0], inside, unit};
    const struct mech_convex c = {&k.shape[0], over, unit};
    touch(&a, &b, 1e-3, &k.list);
    touch(&a, &c, 1e-3, &k.other);
    CU_ASSERT_EQUAL_FATAL(k.list.n, 4);
    CU_ASSERT_EQUAL_FATAL(k.other.n, 4);
    int same = 0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            same += k.list.at[i].id == k.other.at[j].id;
        }
    }
    CU_ASSERT_EQUAL(same, 2);
    kit_fini(&k);
}

static void a_rigid_motion_moves_the_points(void)
{
    struct kit k;
    uint64_t seed = 23;

    kit_init(&k);
    for (int round = 0; round < 1500; round++) {
        const int i = round % 6, j = round / 6 % 6, turn = 1 + round / 36 % 2;
        double p[3], R[9], shift[3], turned[9], q[3], Q[9];

        placed(&seed, turn, p, R);
        random_direction(&seed, shift);
        random_rotation(&seed, turned);
        mech_m3_mul(turned, p, q);
        mech_v3_add(q, 1., shift, q);
        mech_m3_product(turned, R, Q);
        const struct mech_convex a = {&k.shape[i], zero, unit}, b = {&k.shape[j], p, R};
        const struct mech_convex c = {&k.shape[i], shift, turned}, d = {&k.shape[j], q, Q};
        touch(&a, &b, 0.02, &k.list);
        touch(&c, &d, 0.02, &k.other);
        struct mech_convex_gap one, two;
        if (mech_convex_gap(&a, &b, 9., &one) == 0 && mech_convex_gap(&c, &d, 9., &two) == 0) {
            double n[3];

            CHECK_NEAR(two.gap, one.gap, 1e-10);
            mech_m3_mul(turned, one.normal, n);
            mech_v3_add(n, -1., two.normal, n);
            /* deep inside, two directions may be as short */
            CU_ASSERT(one.gap < -0.1 || mech_v3_norm(n) < 1e-5);
        }
        CU_ASSERT(fabs(one.gap - 0.02) < 1e-9 || (k.list.n > 0) == (k.other.n > 0));
    }
    kit_fini(&k);
}

UNIT_TESTS(UNIT_TEST(a_box_on_a_box_has_the_corners_of_the_overlap),
           UNIT_TEST(points_lie_on_both_surfaces_and_the_least_gap_is_the_shapes),
           UNIT_TEST(shapes_the_other_way_round_touch_at_the_same_points),
           UNIT_TEST(features_last_while_shapes_slide),
           UNIT_TEST(nearly_the_same_outlines_meet_within_them),
           UNIT_TEST(features_name_the_corners_and_edges_that_meet),
           UNIT_TEST(a_rigid_motion_moves_the_points))
