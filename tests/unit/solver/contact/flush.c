/* Seams between flush shapes of one body: which contacts are of the seam alone. */
#include "solver/contact/flush.h"
#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/unit.h"

#include <string.h>

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

/* --- meshes ----------------------------------------------------------------------------------- */

static const double square_triangles[6] = {0., 1., 2., 0., 2., 3.};

/* The rectangle from x = `from` to `to` and y = −1 to `wide`, at z = 0, on the ground. */
static struct mech_collider square(struct shapes *shapes, double from, double to, double wide)
{
    const double x[12] = {from, -1., 0., to, -1., 0., to, wide, 0., from, wide, 0.};
    struct mech_collider c = shapes_collider(shapes_mesh(shapes, x, 4, square_triangles, 2));

    c.body = -1;
    return c;
}

/* A box of this height from x = 0 to 1, 2 m wide, its top at z = 0. */
static struct mech_collider block(struct shapes *shapes, double height)
{
    struct mech_collider c = shapes_collider(shapes_box(shapes, 1., 2., height));

    c.body = -1;
    c.p[0] = 0.5;
    c.p[2] = -0.5 * height;
    return c;
}

/* What lies below a surface by less than its edges are long, 1.65 m in the mean, is covered by it:
 * then the side of what is flush with its border is inside of both. */
static void the_side_at_a_mesh_is_hidden_as_deep_as_its_edges_are_long(void)
{
    static const double back[3] = {-1., 0., 0.}, up[3] = {0., 0., 1.};
    static const double depth[] = {1e-9, 1e-5, 1e-3, 0.01, 0.1, 1., 1.6};
    struct shapes shapes;

    shapes_init(&shapes);
    const struct mech_collider mesh = square(&shapes, -1., 0., 1.), box = block(&shapes, 4.);

    for (size_t k = 0; k < sizeof depth / sizeof *depth; k++) {
        const double x[3] = {0., 0.2, -depth[k]};

        CU_ASSERT(mech_flush_hides(&box, &mesh, x, back));
    }
    CU_ASSERT(!mech_flush_hides(&box, &mesh, (const double[]){0., 0.2, 0.}, up));
    CU_ASSERT(!mech_flush_hides(&box, &mesh, (const double[]){0., 0.2, -1.7}, back));
    shapes_fini(&shapes);
}

/* What is flush is so where it is, and not along all of the border. */
static void a_border_goes_on_where_a_neighbour_is(void)
{
    struct mech_collider c[3];
    struct shapes shapes;
    struct mech_flush f;

    shapes_init(&shapes);
    c[0] = square(&shapes, -1., 0., 1.);
    /* half as wide, and on the other side a plane that meets the border from below */
    c[1] = shapes_collider(shapes_box(&shapes, 1., 1., 1.));
    c[1].body = -1;
    c[1].p[0] = c[1].p[1] = 0.5;
    c[1].p[2] = -0.5;
    c[2] = shapes_collider(shapes_plane(&shapes, -1., 0., 0.));
    c[2].body = -1;
    c[2].p[0] = -1.;
    CU_ASSERT_EQUAL_FATAL(mech_flush_build(c, 3, 0, &f), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.start);
    CU_ASSERT_EQUAL(f.start[1] - f.start[0], 2);
    const struct mech_flush_of of = {c, 0, f.at + f.start[0], f.start[1] - f.start[0]};

    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){0., 0.5, 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){1e-9, 0.5, 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){0., 0., 0.}));
    CU_ASSERT(!mech_flush_goes_on(&of, (const double[]){0., -0.01, 0.}));
    CU_ASSERT(!mech_flush_goes_on(&of, (const double[]){0., -1., 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){-1., -0.5, 0.}));
    mech_flush_fini(&f);
    shapes_fini(&shapes);
}

/* Contacts of a hull that stands on a point at p with n colliders of the ground, into list. */
static void stand_on(struct shapes *shapes, const struct mech_collider *ground, int32_t n,
                     const double p[3], struct mech_contact_list *list)
{
    static const double points[12] = {0., 0., 0., -0.1, 0.1, 0.2, -0.1, -0.1, 0.2, 0.1, 0., 0.2};
    const struct shape_rows rows[] = {{"points", points, 4}, {NULL, NULL, 0}};
    const struct mech_placement at = {.p = {p[0], p[1], p[2]},
                                      .R = {1., 0., 0., 0., 1., 0., 0., 0., 1.}};
    const struct mech_scene_query query = {.at = &at};
    struct mech_collider c[4];
    struct mech_scene *scene;

    memcpy(c, ground, (size_t)n * sizeof *c);
    c[n] = shapes_collider(shapes_from_rows(shapes, "ConvexHull", rows));
    c[n].body = 0;
    const struct mech_scene_description description = {.colliders = c, .n = n + 1, .bodies = 1};

    CU_ASSERT_EQUAL_FATAL(mech_scene_create(&description, &scene), 0);
    CU_ASSERT_EQUAL(mech_scene_find(scene, &query, list), 0);
    mech_scene_destroy(scene);
}

static int upward(const struct mech_contact_list *list)
{
    int n = 0;

    for (int32_t i = 0; i < list->n; i++) {
        n += list->at[i].normal[2] > 0.999;
    }
    return n;
}

/* A point 1 mm below the surface, 1e-10 m outside its rim or inside: another way out is as near,
 * whatever is at its other rims. Where the next one goes on, there is none. */
static void a_point_outside_a_free_rim_is_not_on_the_face(void)
{
    static const double outside[3] = {1e-10, 0.3, -1e-3}, inside[3] = {-1e-10, 0.3, -1e-3};
    static const double well_inside[3] = {-0.01, 0.3, -1e-3};
    struct mech_contact_list alone = {.n = 0}, list = {.n = 0};
    struct mech_collider c[3];
    struct shapes shapes;

    shapes_init(&shapes);
    c[0] = square(&shapes, -1., 0., 1.);
    c[2] = square(&shapes, 0., 1., 1.);
    for (int k = 0; k < 4; k++) {
        const double *const p = k % 2 ? inside : outside;

        /* at another rim, or at a part of the same */
        c[1] = k < 2 ? square(&shapes, -2., -1., 1.) : square(&shapes, 0., 1., 0.2);
        stand_on(&shapes, c, 1, p, &alone);
        stand_on(&shapes, c, 2, p, &list);
        CU_ASSERT_EQUAL(upward(&alone), 0);
        CU_ASSERT(k % 2 || alone.n > 0);
        CU_ASSERT_EQUAL(list.n, alone.n);
        for (int32_t i = 0; i < list.n && i < alone.n; i++) {
            for (int r = 0; r < 3; r++) {
                CU_ASSERT_EQUAL(list.at[i].normal[r], alone.at[i].normal[r]);
            }
            CU_ASSERT_EQUAL(list.at[i].gap, alone.at[i].gap);
        }
        c[1] = c[2];
        stand_on(&shapes, c, 2, p, &list);
        CU_ASSERT(upward(&list) > 0);
        CU_ASSERT_EQUAL(upward(&list), list.n);
    }
    stand_on(&shapes, c, 2, well_inside, &list);
    CU_ASSERT_EQUAL(upward(&list), 1);
    mech_contact_list_fini(&alone);
    mech_contact_list_fini(&list);
    shapes_fini(&shapes);
}

UNIT_TESTS(UNIT_TEST(neighbours_without_a_gap_are_listed_both_ways),
           UNIT_TEST(the_covered_face_is_hidden_and_the_top_is_not),
           UNIT_TEST(the_side_at_a_mesh_is_hidden_as_deep_as_its_edges_are_long),
           UNIT_TEST(a_border_goes_on_where_a_neighbour_is),
           UNIT_TEST(a_point_outside_a_free_rim_is_not_on_the_face))
