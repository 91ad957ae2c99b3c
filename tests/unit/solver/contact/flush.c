/* Seams between flush shapes of one body: which contacts are of the seam alone. */
#include "solver/contact/flush.h"
#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/unit.h"

enum { BOXES = 4 };

/* Boxes of 1 m side by side along x from the origin, the last 1e-3 m farther away. */
static void boxes(struct shapes *shapes, struct mech_collider c[BOXES])
{
    shapes_init(shapes);
    for (int k = 0; k < BOXES; k++) {
        c[k] = shapes_collider(shapes_box(shapes, 1., 1., 1.));
        c[k].body = -1;
        c[k].p[0] = k + (k == BOXES - 1 ? 1e-3 : 0.);
    }
}

static void neighbours_without_a_gap_are_listed_both_ways(void)
{
    struct mech_collider c[BOXES];
    struct shapes shapes;
    struct mech_flush f;

    boxes(&shapes, c);
    CU_ASSERT_EQUAL_FATAL(mech_flush_build(c, BOXES, 0, &f), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.start);
    const int32_t start[BOXES + 1] = {0, 1, 3, 4, 4}, at[] = {1, 0, 2, 1};

    for (int k = 0; k <= BOXES; k++) {
        CU_ASSERT_EQUAL(f.start[k], start[k]);
    }
    for (int k = 0; k < start[BOXES]; k++) {
        CU_ASSERT_EQUAL(f.at[k], at[k]);
    }
    mech_flush_fini(&f);

    /* of two bodies they are none */
    c[0].body = 0;
    c[1].body = 1;
    CU_ASSERT_EQUAL_FATAL(mech_flush_build(c, 2, 2, &f), 0);
    CU_ASSERT_PTR_NULL(f.start);
    mech_flush_fini(&f);
    shapes_fini(&shapes);
}

static void the_covered_face_is_hidden_and_the_top_is_not(void)
{
    static const double up[3] = {0., 0., 1.}, back[3] = {-1., 0., 0.};
    static const double slanted[3] = {-0.6, 0., 0.8};
    struct mech_collider c[BOXES];
    struct shapes shapes;

    boxes(&shapes, c);
    /* of the second box: its edge above the first, from the side and from above, and its top */
    CU_ASSERT(mech_flush_hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, back));
    CU_ASSERT(mech_flush_hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, slanted));
    CU_ASSERT(!mech_flush_hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, up));
    CU_ASSERT(!mech_flush_hides(&c[1], &c[0], (const double[]){0.9, 0.2, 0.5}, up));

    /* half a box higher, the first one's top is the foot of a step */
    c[1].p[2] = 0.5;
    CU_ASSERT(!mech_flush_hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, back));
    CU_ASSERT(!mech_flush_hides(&c[1], &c[0], (const double[]){0.5, 0., 0.8}, back));
    shapes_fini(&shapes);
}

UNIT_TESTS(UNIT_TEST(neighbours_without_a_gap_are_listed_both_ways),
           UNIT_TEST(the_covered_face_is_hidden_and_the_top_is_not))
