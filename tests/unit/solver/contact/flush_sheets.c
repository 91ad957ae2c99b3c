/* Meshes that are open: which contacts of a collider at, below or beside one are of the seam. */
#include "solver/contact/flush.h"
#include "solver/contact/scene.h"
#include "solver/linalg/so3.h"
#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/unit.h"

#include <string.h>

/* The collider of a body or the ground, turned by Q. */
static struct mech_collider turned(const struct mech_collider *c, const double Q[9], int32_t body)
{
    struct mech_collider out = *c;

    mech_m3_mul(Q, c->p, out.p);
    mech_m3_product(Q, c->R, out.R);
    out.body = body;
    return out;
}

/* Contacts of a body's colliders, of which the first is at p, with n of the ground, into list: as
 * many if the body's frame is turned, and all of it. */
static void touch(const struct mech_collider *ground, int32_t n, const struct mech_collider *body,
                  int32_t m, const double p[3], struct mech_contact_list *list)
{
    static const double frame[2][9] = {{0.36, 0.48, -0.8, -0.8, 0.6, 0., 0.48, 0.64, 0.6},
                                       {1., 0., 0., 0., 1., 0., 0., 0., 1.}};
    static const double all[2][9] = {{0.6, -0.8, 0., 0.8, 0.6, 0., 0., 0., 1.},
                                     {1., 0., 0., 0., 1., 0., 0., 0., 1.}};
    int32_t other = 0;

    for (int k = 0; k < 2; k++) {
        struct mech_placement at;
        const struct mech_scene_query query = {.at = &at};
        struct mech_collider c[8];
        struct mech_scene *scene;

        mech_m3_mul(all[k], p, at.p);
        mech_m3_transpose(frame[k], at.R);
        mech_m3_product(all[k], at.R, at.R);
        for (int32_t i = 0; i < n + m; i++) {
            c[i] = i < n ? turned(&ground[i], all[k], -1) : turned(&body[i - n], frame[k], 0);
        }
        const struct mech_scene_description description = {.colliders = c, .n = n + m, .bodies = 1};

        CU_ASSERT_EQUAL_FATAL(mech_scene_create(&description, &scene), 0);
        CU_ASSERT_EQUAL(mech_scene_find(scene, &query, list), 0);
        mech_scene_destroy(scene);
        CU_ASSERT(k == 0 || list->n == other);
        other = list->n;
    }
}

/* The same of a hull that stands on a point. */
static void stand_on(struct shapes *shapes, const struct mech_collider *ground, int32_t n,
                     const double p[3], struct mech_contact_list *list)
{
    static const double points[12] = {0., 0., 0., -0.1, 0.1, 0.2, -0.1, -0.1, 0.2, 0.1, 0., 0.2};
    const struct shape_rows rows[] = {{"points", points, 4}, {NULL, NULL, 0}};
    const struct mech_collider hull = shapes_collider(shapes_from_rows(shapes, "ConvexHull", rows));

    touch(ground, n, &hull, 1, p, list);
}

static int upward(const struct mech_contact_list *list)
{
    int n = 0;

    for (int32_t i = 0; i < list->n; i++) {
        n += list->at[i].normal[2] > 0.999;
    }
    return n;
}

/* The rectangle of 1 m from x = `from` on, from y = −1 to `wide`, at z = 0. */
static struct mech_collider square(struct shapes *shapes, double from, double wide)
{
    return shapes_sheet(shapes, (const double[]){from, -1., 0.}, (const double[]){1., 0., 0.},
                        (const double[]){0., wide + 1., 0.});
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
    c[0] = square(&shapes, -1., 1.);
    c[2] = square(&shapes, 0., 1.);
    for (int k = 0; k < 4; k++) {
        const double *const p = k % 2 ? inside : outside;

        /* at another rim, or at a part of the same */
        c[1] = k < 2 ? square(&shapes, -2., 1.) : square(&shapes, 0., 0.2);
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

/* Whether the contact with the other collider is of the seam. */
static bool hides(const struct mech_collider *c, const struct mech_collider *neighbour,
                  const double x[3], const double n[3], const struct mech_collider *other)
{
    const struct mech_flush_contact contact = {.x = x, .n = n, .other = other};

    return mech_flush_hides(c, neighbour, &contact);
}

/* A board that leans against the lower edge of a beam and the rim of the shelf on it, narrower or
 * wider than both, and sunk a little into them or not yet there: the beam's edge bears. */
static void a_board_that_grazes_a_shelf_is_not_in_it(void)
{
    static const double c = 0.70710678118654752, x[3] = {0., 0.05, -0.05};
    static const double out[3] = {0., 0.70710678118654752, -0.70710678118654752};
    static const double deep[] = {-1e-6, -1e-9, 0., 1e-9, 1e-6, 5e-6};
    static const double R[9] = {1., 0., 0., 0., c, -c, 0., c, c};
    struct shapes shapes;

    shapes_init(&shapes);
    const struct mech_collider shelf =
        shapes_sheet(&shapes, (const double[]){-0.5, -0.1, 0.}, (const double[]){1., 0., 0.},
                     (const double[]){0., 0.2, 0.});
    struct mech_collider beam = shapes_collider(shapes_box(&shapes, 1., 0.1, 0.05));

    beam.body = -1;
    beam.p[2] = -0.025;
    for (int wide = 0; wide < 3; wide++) {
        const double thick = 0.02;
        struct mech_collider board =
            shapes_collider(shapes_box(&shapes, (const double[]){0.3, 1.2, 5.}[wide], 0.6, thick));

        memcpy(board.R, R, sizeof R);
        for (size_t k = 0; k < sizeof deep / sizeof *deep; k++) {
            /* its upper face is in the plane y − z = 0.1 m, but for this */
            const double off = 0.5 * thick - deep[k];

            board.p[1] = 0.075 + off * c;
            board.p[2] = -0.025 - off * c;
            CU_ASSERT(!hides(&beam, &shelf, x, out, &board));
        }
        /* the beam's side, of a board that stands upright in both */
        board.p[1] = 0.06;
        board.p[2] = 0.;
        memcpy(board.R, (const double[9]){1., 0., 0., 0., 0., -1., 0., 1., 0.}, sizeof R);
        CU_ASSERT(hides(&beam, &shelf, (const double[]){0., 0.05, -0.01},
                        (const double[]){0., 1., 0.}, &board));
    }
    shapes_fini(&shapes);
}

/* A sheet with a fold above a beam, folded up or down by any angle; a post stands in both. */
static void a_sheet_with_a_fold_hides_what_is_below_it(void)
{
    static const double x[3] = {0., 0.05, -0.01}, out[3] = {0., 1., 0.};
    static const double way[][2] = {{1., 0.},    {0.98, 0.2}, {0.98, -0.2}, {0.8, 0.6},
                                    {0.8, -0.6}, {0.6, 0.8},  {0.6, -0.8}};
    struct shapes shapes;

    shapes_init(&shapes);
    struct mech_collider beam = shapes_collider(shapes_box(&shapes, 1., 0.1, 0.05));
    struct mech_collider post = shapes_collider(shapes_box(&shapes, 0.3, 0.02, 1.2));

    beam.body = -1;
    beam.p[2] = -0.025;
    for (size_t k = 0; k < 2 * sizeof way / sizeof *way; k++) {
        const double fold = k % 2 ? 0.05 : 0.050001, *const w = way[k / 2];
        const double points[18] = {-0.5,
                                   -0.1,
                                   0.,
                                   0.5,
                                   -0.1,
                                   0.,
                                   -0.5,
                                   fold,
                                   0.,
                                   0.5,
                                   fold,
                                   0.,
                                   -0.5,
                                   fold + 0.1 * w[0],
                                   0.1 * w[1],
                                   0.5,
                                   fold + 0.1 * w[0],
                                   0.1 * w[1]};
        static const double triangles[12] = {0., 1., 3., 0., 3., 2., 2., 3., 5., 2., 5., 4.};
        const struct mech_collider sheet =
            shapes_collider(shapes_mesh(&shapes, points, 6, triangles, 4));

        post.p[1] = 0.06;
        CU_ASSERT(hides(&beam, &sheet, x, out, &post));
    }
    shapes_fini(&shapes);
}

/* A post whose middle is over the rim of a sheet is half in it, however all of it is turned. */
static void what_is_half_over_a_rim_is_in_the_sheet(void)
{
    static const double axes[][3] = {{0., 0., 1.}, {0.6, 0.8, 0.}, {0.36, 0.48, 0.8}};
    struct shapes shapes;

    shapes_init(&shapes);
    for (int k = 0; k < 300; k++) {
        double turn[3], R[9], x[3] = {0., 0.05, -0.01}, out[3] = {0., 1., 0.};
        struct mech_collider sheet =
            shapes_sheet(&shapes, (const double[]){0., -0.1, 0.}, (const double[]){1., 0., 0.},
                         (const double[]){0., 0.3, 0.});
        struct mech_collider beam = shapes_collider(shapes_box(&shapes, 1., 0.1, 0.05));
        struct mech_collider post = shapes_collider(shapes_box(&shapes, 0.3, 0.02, 1.2));

        mech_v3_add((const double[3]){0.}, 0.021 * k, axes[k % 3], turn);
        mech_so3_exp(turn, R);
        beam.p[2] = -0.025;
        post.p[1] = 0.06;
        beam = turned(&beam, R, -1);
        sheet = turned(&sheet, R, 0);
        post = turned(&post, R, 0);
        mech_m3_mul(R, x, x);
        mech_m3_mul(R, out, out);
        CU_ASSERT(hides(&beam, &sheet, x, out, &post));
    }
    shapes_fini(&shapes);
}

/* A wall that faces one way, with a door; a plank through it, a little in the jamb, lies on the
 * floors of both rooms. */
static void a_plank_through_a_door_lies_on_the_floor_behind_it(void)
{
    static const double up[3] = {0., 0., 1.}, deep[] = {0., 1e-9, 1e-6, 1e-4};
    struct shapes shapes;

    shapes_init(&shapes);
    const struct mech_collider wall =
        shapes_sheet(&shapes, (const double[]){0., 0.5, 0.}, (const double[]){0., 1.5, 0.},
                     (const double[]){0., 0., 2.});
    struct mech_collider floor = shapes_collider(shapes_box(&shapes, 1., 4., 1.));
    struct mech_collider plank = shapes_collider(shapes_box(&shapes, 1., 1., 0.1));

    floor.body = -1;
    floor.p[2] = -0.5;
    plank.p[2] = 0.05 - 1e-6;
    for (size_t k = 0; k < sizeof deep / sizeof *deep; k++) {
        plank.p[1] = deep[k];
        for (int behind = 0; behind < 2; behind++) {
            floor.p[0] = behind ? -0.5 : 0.5;
            CU_ASSERT(!hides(&floor, &wall, (const double[]){floor.p[0], 0.5, 0.}, up, &plank));
        }
    }
    shapes_fini(&shapes);
}

/* The walls of rooms below a sheet, and a ball that touches one of them. */
static void walls_below_a_sheet_stand(void)
{
    struct shapes shapes;
    struct mech_contact_list alone = {.n = 0}, list = {.n = 0};

    shapes_init(&shapes);
    const struct mech_collider box = shapes_collider(shapes_box(&shapes, 0.2, 10., 3.));
    const struct mech_collider roof =
        shapes_sheet(&shapes, (const double[]){-5., -5., 3.}, (const double[]){10., 0., 0.},
                     (const double[]){0., 10., 0.});
    struct {
        struct mech_collider wall;
        double x[3], ball; /* where a ball of this radius is */
    } const at[] = {
        /* flush with the rim from outside, below the rim, in the middle; from both sides */
        {box, {5.1, 0., 1.5}, 0.1},
        {box, {4.9, 0., 1.5}, 0.1},
        {box, {4.9, 0., 1.5}, -0.1},
        {box, {0., 0., 1.5}, 0.1},
        {box, {0., 0., 1.5}, -0.4},
        {box, {4., 0., 1.5}, 1.2},
        /* sheets: at the rim, facing in, and in the middle */
        {shapes_sheet(&shapes, (const double[]){0., -5., -1.5}, (const double[]){0., 0., 3.},
                      (const double[]){0., 10., 0.}),
         {5., 0., 1.5},
         0.1},
        {shapes_sheet(&shapes, (const double[]){0., -5., -1.5}, (const double[]){0., 0., 3.},
                      (const double[]){0., 10., 0.}),
         {1., 0., 1.5},
         0.3},
    };

    for (size_t k = 0; k < sizeof at / sizeof *at; k++) {
        const double radius = fabs(at[k].ball), side = at[k].ball > 0. ? -1. : 1.;
        const double thick = at[k].wall.shape.tree ? 0. : 0.1;
        struct mech_collider ground[2] = {at[k].wall, roof};
        const struct mech_collider ball = shapes_collider(shapes_sphere(&shapes, radius));

        ground[0].body = -1;
        memcpy(ground[0].p, at[k].x, sizeof ground[0].p);
        for (int high = 0; high < 3; high++) {
            /* 1e-4 m deep: by the floor, in the middle, by the roof */
            const double p[3] = {at[k].x[0] + side * (thick + radius - 1e-4), 0.3,
                                 radius + high * (1.5 - radius) - (high == 2 ? 0.01 : 0.)};

            touch(ground, 1, &ball, 1, p, &alone);
            touch(ground, 2, &ball, 1, p, &list);
            CU_ASSERT_EQUAL(alone.n, 1);
            CU_ASSERT_EQUAL(list.n, alone.n);
            if (list.n != alone.n) {
                fprintf(stderr, "wall %d, height %d: %d of %d contacts\n", (int)k, high, list.n,
                        alone.n);
            }
        }
    }
    mech_contact_list_fini(&alone);
    mech_contact_list_fini(&list);
    shapes_fini(&shapes);
}

/* A table whose top is a sheet stands on its legs, on a plane, on a box, and on a mesh that is
 * higher elsewhere; and its leg meets a ramp that rises over the table. */
static void legs_below_a_sheet_stand(void)
{
    static const double hill[15] = {-9., -9., 0., 9., -9., 0., 9., 9.,
                                    0.,  -9., 9., 0., 20., 0., 5.};
    static const double hill_triangles[9] = {0., 1., 2., 0., 2., 3., 1., 4., 2.};
    static const double ramp_points[18] = {0.9, -3., 0., 0.9, 3.,  0.,  9., -3., 0.,
                                           9.,  3.,  0., 9.,  -3., 8.1, 9., 3.,  8.1};
    const struct shape_rows ramp_rows[] = {{"points", ramp_points, 6}, {NULL, NULL, 0}};
    struct mech_contact_list list = {.n = 0};
    static const double at[2][3] = {{0., 0., 1. - 1e-4}, {1e-3, 0., 1.}};
    struct mech_collider table[5], ground[4];
    struct shapes shapes;

    shapes_init(&shapes);
    table[0] = shapes_sheet(&shapes, (const double[]){-1., -1., 0.}, (const double[]){2., 0., 0.},
                            (const double[]){0., 2., 0.});
    for (int k = 0; k < 4; k++) {
        table[1 + k] = shapes_collider(shapes_box(&shapes, 0.1, 0.1, 1.));
        table[1 + k].p[0] = k % 2 ? 0.85 : -0.85;
        table[1 + k].p[1] = k < 2 ? 0.85 : -0.85;
        table[1 + k].p[2] = -0.5;
    }
    ground[0] = shapes_collider(shapes_plane(&shapes, 0., 0., 1.));
    ground[1] = shapes_collider(shapes_box(&shapes, 9., 9., 2.));
    ground[1].p[2] = -1.;
    ground[2] = shapes_collider(shapes_mesh(&shapes, hill, 5, hill_triangles, 3));
    ground[3] = shapes_collider(shapes_from_rows(&shapes, "ConvexHull", ramp_rows));
    for (int k = 0; k < 4; k++) {
        int forward = 0;

        ground[k].body = -1;
        touch(&ground[k], 1, table, 5, at[k / 3], &list);
        for (int32_t i = 0; i < list.n; i++) {
            forward += list.at[i].normal[0] < -0.1;
        }
        CU_ASSERT(k < 3 ? upward(&list) == 16 : forward > 0);
    }
    mech_contact_list_fini(&list);
    shapes_fini(&shapes);
}

UNIT_TESTS(UNIT_TEST(a_point_outside_a_free_rim_is_not_on_the_face),
           UNIT_TEST(a_board_that_grazes_a_shelf_is_not_in_it),
           UNIT_TEST(a_sheet_with_a_fold_hides_what_is_below_it),
           UNIT_TEST(what_is_half_over_a_rim_is_in_the_sheet),
           UNIT_TEST(a_plank_through_a_door_lies_on_the_floor_behind_it),
           UNIT_TEST(walls_below_a_sheet_stand), UNIT_TEST(legs_below_a_sheet_stand))
