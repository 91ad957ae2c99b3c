/* Seams between flush shapes of one body: which contacts are of the seam alone. */
#include "solver/contact/flush.h"
#include "solver/contact/scene.h"
#include "solver/linalg/v3.h"
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

/* Whether the contact with the other collider, or one that is of no account, is of the seam. */
static bool hides(const struct mech_collider *c, const struct mech_collider *neighbour,
                  const double x[3], const double n[3], const struct mech_collider *other)
{
    const struct mech_flush_contact contact = {.x = x, .n = n, .other = other ? other : c};

    return mech_flush_hides(c, neighbour, &contact);
}

static void the_covered_face_is_hidden_and_the_top_is_not(void)
{
    static const double up[3] = {0., 0., 1.}, back[3] = {-1., 0., 0.};
    static const double slanted[3] = {-0.6, 0., 0.8};
    struct mech_collider c[BOXES];
    struct shapes shapes;

    boxes(&shapes, c);
    /* of the second box: its edge above the first, from the side and from above, and its top */
    CU_ASSERT(hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, back, NULL));
    CU_ASSERT(hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, slanted, NULL));
    CU_ASSERT(!hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, up, NULL));
    CU_ASSERT(!hides(&c[1], &c[0], (const double[]){0.9, 0.2, 0.5}, up, NULL));

    /* half a box higher, the first one's top is the foot of a step */
    c[1].p[2] = 0.5;
    CU_ASSERT(!hides(&c[1], &c[0], (const double[]){0.5, 0.2, 0.5}, back, NULL));
    CU_ASSERT(!hides(&c[1], &c[0], (const double[]){0.5, 0., 0.8}, back, NULL));
    shapes_fini(&shapes);
}

/* Two boxes, 1 m wide, whose tops meet at the origin and rise from there to both sides. */
static void groove(struct shapes *shapes, double angle, double length, struct mech_collider c[2])
{
    for (int i = 0; i < 2; i++) {
        const double side = i == 0 ? 1. : -1., cosine = cos(angle), sine = side * sin(angle);
        const double R[9] = {cosine, 0., sine, 0., 1., 0., -sine, 0., cosine};

        c[i] = shapes_collider(shapes_box(shapes, 1., length, 1.));
        c[i].body = -1;
        memcpy(c[i].R, R, sizeof R);
        c[i].p[0] = -0.5 * (side * cosine + sine);
        c[i].p[2] = -0.5 * (cosine - side * sine);
    }
}

static void both_sides_of_a_groove_bear(void)
{
    static const double rises[] = {1e-4, 1e-3, 0.01, 0.05, 0.1, 0.4, 0.75};
    struct shapes shapes;

    shapes_init(&shapes);
    for (size_t k = 0; k < sizeof rises / sizeof *rises; k++) {
        for (int i = 0; i < 4; i++) {
            /* tiles, and planks */
            struct mech_collider c[2];
            const int own = i % 2;

            groove(&shapes, rises[k], i < 2 ? 1. : 40., c);
            const double up[3] = {c[own].R[2], 0., c[own].R[8]}, x[3] = {0., 0.2, 0.};

            CU_ASSERT(!hides(&c[own], &c[1 - own], x, up, NULL));
        }
    }
    shapes_fini(&shapes);
}

/* A ball that rolls over such a groove, sunk into one side, is not stopped by the edge of the
 * other; where the groove is so wide that it touches both, it is held by both. */
static void what_rolls_meets_no_edge_of_a_groove(void)
{
    static const double rises[] = {0., 1e-6, 1e-5, 1e-4, 1e-3, 1e-2};
    struct shapes shapes;

    shapes_init(&shapes);
    for (size_t k = 0; k < sizeof rises / sizeof *rises; k++) {
        for (int lean = 0; lean <= 4; lean++) {
            const double x[3] = {0., 0.2, 0.}, leans = rises[k] + 0.01 * lean;
            const double n[3] = {-sin(leans), 0., cos(leans)};
            struct mech_collider c[2];

            groove(&shapes, rises[k], 1., c);
            CU_ASSERT_EQUAL(hides(&c[1], &c[0], x, n, NULL), lean > 0);
        }
    }
    shapes_fini(&shapes);
}

/* --- meshes ----------------------------------------------------------------------------------- */

/* The rectangle from x = `from` to `to` and y = −1 to `wide`, at z = 0, on the ground. */
static struct mech_collider square(struct shapes *shapes, double from, double to, double wide)
{
    return shapes_sheet(shapes, (const double[]){from, -1., 0.},
                        (const double[]){to - from, 0., 0.}, (const double[]){0., wide + 1., 0.});
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

/* A pyramid that stands at z = `foot`, there as wide as it is high: twice `half`. */
static struct mech_collider pyramid(struct shapes *shapes, double half, double foot)
{
    const double x[15] = {-half, -half, 0.,   half, -half, 0., half,     half,
                          0.,    -half, half, 0.,   0.,    0., 2. * half};
    const struct shape_rows rows[] = {{"points", x, 5}, {NULL, NULL, 0}};
    struct mech_collider c = shapes_collider(shapes_from_rows(shapes, "ConvexHull", rows));

    c.p[0] = -half;
    c.p[1] = 0.2;
    c.p[2] = foot;
    return c;
}

/* What lies below a surface by less than its edges are long, 1.65 m in the mean, may be covered by
 * it: the side of what is flush with its border is then inside of both. It is not for what stays
 * below the surface, or is beside it. */
static void the_side_below_a_mesh_is_hidden_from_what_is_in_the_mesh(void)
{
    static const double back[3] = {-1., 0., 0.}, ahead[3] = {1., 0., 0.}, up[3] = {0., 0., 1.};
    static const double depth[] = {1e-9, 1e-5, 1e-3, 0.01, 0.1, 1., 1.6};
    struct shapes shapes;

    shapes_init(&shapes);
    const struct mech_collider mesh = square(&shapes, -1., 0., 1.), box = block(&shapes, 4.);
    struct mech_collider column = shapes_collider(shapes_box(&shapes, 0.2, 0.2, 8.));
    struct mech_collider ball = shapes_collider(shapes_sphere(&shapes, 0.05));
    struct mech_collider wall = block(&shapes, 4.), crate = column;
    /* all that is behind it */
    struct mech_collider half = shapes_collider(shapes_plane(&shapes, 1., 0., 0.));

    half.p[0] = 1e-3;
    column.p[0] = -0.1;
    column.p[1] = 0.2;
    ball.p[0] = -0.05;
    ball.p[1] = 0.2;
    wall.p[0] = -0.5;
    crate.p[0] = -0.1;
    crate.p[1] = 0.2;
    crate.p[2] = -4. - 1e-9;
    for (size_t k = 0; k < sizeof depth / sizeof *depth; k++) {
        const double x[3] = {0., 0.2, -depth[k]};
        const struct mech_collider cone = pyramid(&shapes, 2. * depth[k] + 0.01, -depth[k]);

        CU_ASSERT(hides(&box, &mesh, x, back, &column));
        CU_ASSERT(hides(&box, &mesh, x, back, &cone));
        CU_ASSERT(hides(&box, &mesh, x, back, &half));
        CU_ASSERT(!hides(&box, &mesh, x, back, &crate));
        ball.p[2] = -depth[k];
        CU_ASSERT_EQUAL(hides(&box, &mesh, x, back, &ball), depth[k] < ball.shape.high[2]);
        /* what stands under the border, from outside */
        CU_ASSERT(!hides(&wall, &mesh, x, ahead, &column));
    }
    CU_ASSERT(!hides(&box, &mesh, (const double[]){0., 0.2, 0.}, up, &column));
    CU_ASSERT(!hides(&box, &mesh, (const double[]){0., 0.2, -1.7}, back, &column));
    shapes_fini(&shapes);
}

/* A mesh that rises from the edge of a box, as a ramp, and a body that slides down from it: the
 * box's side is in the groove between both. */
static void the_side_below_a_ramp_is_hidden(void)
{
    static const double back[3] = {-1., 0., 0.}, rises[] = {0., 0.03, 0.17, 0.5, 0.75};
    static const double depth[] = {1e-9, 1e-5, 1e-4, 1e-3, 0.01};
    struct shapes shapes;

    shapes_init(&shapes);
    for (size_t k = 0; k < sizeof rises / sizeof *rises; k++) {
        const double cosine = cos(rises[k]), sine = sin(rises[k]);
        const double R[9] = {cosine, 0., sine, 0., 1., 0., -sine, 0., cosine};
        struct mech_collider mesh = square(&shapes, -1., 0., 1.);
        const struct mech_collider box = block(&shapes, 1.);

        memcpy(mesh.R, R, sizeof R);
        for (size_t d = 0; d < sizeof depth / sizeof *depth; d++) {
            struct mech_collider body = shapes_collider(shapes_box(&shapes, 0.4, 0.4, 0.4));
            const double x[3] = {0., 0.2, -depth[d]};

            /* along the ramp, its foremost lower edge a little past x */
            memcpy(body.R, R, sizeof R);
            body.p[0] = 1e-6 - 0.2 * cosine + 0.2 * sine;
            body.p[1] = 0.2;
            body.p[2] = 0.2 * sine + 0.2 * cosine - depth[d];
            CU_ASSERT(hides(&box, &mesh, x, back, &body));
        }
    }
    shapes_fini(&shapes);
}

/* A roof that rises inward from the upper edge of a wall, and a ball below it at the wall, which it
 * may reach over the eaves' height: the wall stands. */
static void a_wall_below_a_roof_stands(void)
{
    static const double back[3] = {-1., 0., 0.}, rises[] = {0., 0.17, 0.5, 0.78, 1.2};
    struct shapes shapes;

    shapes_init(&shapes);
    const struct mech_collider wall = block(&shapes, 4.);

    for (size_t k = 0; k < sizeof rises / sizeof *rises; k++) {
        const double cosine = cos(rises[k]), sine = sin(rises[k]);
        const double R[9] = {cosine, 0., sine, 0., 1., 0., -sine, 0., cosine};
        struct mech_collider roof = square(&shapes, -3., 0., 1.);

        memcpy(roof.R, R, sizeof R);
        for (int size = 0; size < 4; size++) {
            const double radius = (const double[]){0.01, 0.1, 0.4, 1.}[size];
            /* the roof's plane is 1 mm away from the ball */
            const double low = (radius * (1. - sine) + 1e-3) / cosine, x[3] = {0., 0.2, -low};
            struct mech_collider ball = shapes_collider(shapes_sphere(&shapes, radius));

            ball.p[0] = -radius;
            ball.p[1] = 0.2;
            ball.p[2] = -low;
            CU_ASSERT(!hides(&wall, &roof, x, back, &ball));
        }
    }
    shapes_fini(&shapes);
}

/* What is flush is so where it is, and not along all of the border, and not for what may not touch
 * it. */
static void a_border_goes_on_where_a_neighbour_is(void)
{
    struct mech_collider c[5];
    struct mech_scene *scene;
    struct shapes shapes;

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
    c[3] = shapes_collider(shapes_sphere(&shapes, 0.1));
    c[4] = c[3];
    c[3].body = 0;
    c[4].body = 1;
    c[1].category = 2;
    c[4].mask = ~2;
    const struct mech_scene_description description = {.colliders = c, .n = 5, .bodies = 2};

    CU_ASSERT_EQUAL_FATAL(mech_scene_create(&description, &scene), 0);
    const struct mech_flush *const f = &scene->flush;
    CU_ASSERT_PTR_NOT_NULL_FATAL(f->start);
    CU_ASSERT_EQUAL(f->start[1] - f->start[0], 2);
    struct mech_flush_of of = {scene, 0, 3, f->at + f->start[0], f->start[1] - f->start[0]};

    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){0., 0.5, 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){1e-9, 0.5, 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){0., 0., 0.}));
    CU_ASSERT(!mech_flush_goes_on(&of, (const double[]){0., -0.01, 0.}));
    CU_ASSERT(!mech_flush_goes_on(&of, (const double[]){0., -1., 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){-1., -0.5, 0.}));
    of.other = 4;
    CU_ASSERT(!mech_flush_goes_on(&of, (const double[]){0., 0.5, 0.}));
    CU_ASSERT(mech_flush_goes_on(&of, (const double[]){-1., -0.5, 0.}));
    mech_scene_destroy(scene);
    shapes_fini(&shapes);
}

UNIT_TESTS(UNIT_TEST(neighbours_without_a_gap_are_listed_both_ways),
           UNIT_TEST(the_covered_face_is_hidden_and_the_top_is_not),
           UNIT_TEST(both_sides_of_a_groove_bear), UNIT_TEST(what_rolls_meets_no_edge_of_a_groove),
           UNIT_TEST(the_side_below_a_ramp_is_hidden), UNIT_TEST(a_wall_below_a_roof_stands),
           UNIT_TEST(the_side_below_a_mesh_is_hidden_from_what_is_in_the_mesh),
           UNIT_TEST(a_border_goes_on_where_a_neighbour_is))
