/* Hulls of points: closed, convex, around all points, with no more vertices and faces than
 * needed. */
#include "solver/items/shape/polyhedron.h"

#include "tests/unit/solver/contact/shapes.h"
#include "tests/unit/unit.h"

/* outward planes that hold all n points to the tolerance, polygons counterclockwise on them, each
 * edge between two of them */
static void check_hull(const struct mech_polyhedron *h, const double *x, int32_t n, double size)
{
    const double tolerance = 4e-9 * size;
    int32_t corners = 0;

    CU_ASSERT_EQUAL(h->vertices - h->edges + h->faces, 2);
    for (int32_t f = 0; f < h->faces; f++) {
        const double *const plane = h->plane + 4 * f;
        const int32_t *const at = h->face + h->face_start[f];
        const int32_t m = h->face_start[f + 1] - h->face_start[f];

        corners += m;
        CU_ASSERT(m >= 3);
        CHECK_NEAR(mech_v3_norm(plane), 1., 1e-15);
        for (int32_t i = 0; i < n; i++) {
            CU_ASSERT(mech_v3_dot(plane, x + 3 * i) <= plane[3] + tolerance);
        }
        for (int32_t i = 0; i < m; i++) {
            const double *const p = h->vertex + 3 * at[i], *const q =
                                                               h->vertex + 3 * at[(i + 1) % m];
            const double *const r = h->vertex + 3 * at[(i + 2) % m];
            double d[3], e[3], turn[3];

            CHECK_NEAR(mech_v3_dot(plane, p), plane[3], tolerance);
            mech_v3_add(q, -1., p, d);
            mech_v3_add(r, -1., q, e);
            mech_v3_cross(d, e, turn);
            CU_ASSERT(mech_v3_dot(plane, turn) > 0.);
        }
    }
    CU_ASSERT_EQUAL(corners, 2 * h->edges);
}

static void a_box_is_the_hull_of_its_corners(void)
{
    static const double half[3] = {0.3, 0.5, 0.2};
    struct mech_arena arena;
    struct mech_polyhedron box, hull;

    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL_FATAL(mech_polyhedron_box(half, &arena, &box), 0);
    check_hull(&box, box.vertex, 8, 1.);
    CU_ASSERT_EQUAL_FATAL(mech_polyhedron_hull(box.vertex, 8, &arena, &hull), 0);
    CU_ASSERT_EQUAL(hull.vertices, 8);
    CU_ASSERT_EQUAL(hull.faces, 6);
    CU_ASSERT_EQUAL(hull.edges, 12);
    check_hull(&hull, box.vertex, 8, 1.);
    mech_arena_fini(&arena);
}

/* a lattice of points: what is on faces and edges and inside is left out, turned and shifted too */
static void points_on_faces_and_edges_are_left_out(void)
{
    enum { ROW = 6, ALL = ROW * ROW * ROW };
    uint64_t seed = 1;
    double x[3 * ALL];

    for (int round = 0; round < 20; round++) {
        struct mech_arena arena;
        struct mech_polyhedron hull;
        double R[9], p[3];

        mech_arena_init(&arena, 0);
        random_rotation(&seed, R);
        random_direction(&seed, p);
        for (int i = 0; i < ALL; i++) {
            const double at[3] = {i % ROW, i / ROW % ROW, 0.5 * (i / ROW / ROW)};

            mech_m3_mul(R, at, x + 3 * i);
            mech_v3_add(x + 3 * i, round, p, x + 3 * i);
        }
        CU_ASSERT_EQUAL_FATAL(mech_polyhedron_hull(x, ALL, &arena, &hull), 0);
        CU_ASSERT_EQUAL(hull.vertices, 8);
        CU_ASSERT_EQUAL(hull.faces, 6);
        check_hull(&hull, x, ALL, 10.);
        mech_arena_fini(&arena);
    }
}

static void hulls_hold_all_points(void)
{
    static const int32_t counts[] = {4, 5, 10, 50, 300, 1000};
    uint64_t seed = 6;
    double x[3000];

    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
        for (int kind = 0; kind < 4; kind++) {
            struct mech_arena arena;
            struct mech_polyhedron hull;

            mech_arena_init(&arena, 0);
            for (int32_t i = 0; i < counts[k]; i++) {
                random_direction(&seed, x + 3 * i);
                for (int c = 0; c < 3; c++) {
                    /* on a sphere; in a ball; on a prism of 30 sides; nearly the same thrice */
                    x[3 * i + c] *= kind == 1 ? random_between(&seed, 0., 1.) : 1.;
                    if (kind == 2) {
                        const double angle = 0.20943951023931953 * (i / 2);

                        x[3 * i + c] = c == 2 ? i % 2 : c == 1 ? sin(angle) : cos(angle);
                    }
                    if (kind == 3 && i >= 4) {
                        x[3 * i + c] = x[3 * (i % 4) + c] + random_between(&seed, -1e-10, 1e-10);
                    }
                }
            }
            /* two sides of the prism lie in a plane */
            const int wanted = kind == 2 && counts[k] == 4 ? MECH_HULL_FLAT : 0;
            CU_ASSERT_EQUAL(mech_polyhedron_hull(x, counts[k], &arena, &hull), wanted);
            if (wanted == 0) {
                check_hull(&hull, x, counts[k], 2.);
                CU_ASSERT(kind != 0 || hull.vertices == counts[k]);
                CU_ASSERT(kind != 2 || counts[k] < 60 || hull.vertices == 60);
                CU_ASSERT(kind != 2 || counts[k] < 60 || hull.faces == 32);
            }
            mech_arena_fini(&arena);
        }
    }
}

/* a point beside the line through two others makes triangles too thin to have a normal: refused,
 * and no endless loop */
static void points_too_near_to_a_line_have_no_hull(void)
{
    static const double x[][3] = {{0.2, -0.2, 0.2}, {-0.2, -0.2, 0.2}, {0.2, 0.2, 0.2},
                                  {0.2, 0.2, -0.2}, {-0.2, 0.2, -0.2}, {-0.2, 0.2, 0.2},
                                  {-1., 1e-9, 1e-9}};
    struct mech_polyhedron h;
    struct mech_arena arena;

    mech_arena_init(&arena, 0);
    CU_ASSERT_EQUAL(mech_polyhedron_hull(x[0], 7, &arena, &h), MECH_HULL_UNCLEAR);
    mech_arena_fini(&arena);
}

static void flat_points_have_no_hull(void)
{
    uint64_t seed = 12;

    for (int32_t n = 0; n < 40; n++) {
        struct mech_arena arena;
        struct mech_polyhedron hull;
        double x[120], R[9];

        mech_arena_init(&arena, 0);
        random_rotation(&seed, R);
        for (int32_t i = 0; i < n; i++) {
            const double at[3] = {random_between(&seed, -1., 1.), n % 3 ? i % 7 : 0.,
                                  random_between(&seed, -1e-10, 1e-10)};

            mech_m3_mul(R, at, x + 3 * i);
        }
        CU_ASSERT_EQUAL(mech_polyhedron_hull(x, n, &arena, &hull), MECH_HULL_FLAT);
        mech_arena_fini(&arena);
    }
}

UNIT_TESTS(UNIT_TEST(a_box_is_the_hull_of_its_corners),
           UNIT_TEST(points_on_faces_and_edges_are_left_out), UNIT_TEST(hulls_hold_all_points),
           UNIT_TEST(points_too_near_to_a_line_have_no_hull), UNIT_TEST(flat_points_have_no_hull))
