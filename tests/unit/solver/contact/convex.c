/* Distances of convex shapes against all separating axes of polyhedra, closed forms of curved ones,
 * and at the places where directions are not determined. */
#include "solver/contact/convex.h"

#include "tests/unit/solver/contact/shapes.h"
#include "tests/unit/unit.h"

static const double unit[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};
static const double zero[3] = {0., 0., 0.};
static const double segment[6] = {0., 0., -0.5, 0., 0., 0.5};

/* what a direction says: a bound of the signed distance from below */
static double separation(const struct mech_convex *a, const struct mech_convex *b,
                         const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    double x[3], y[3], d[3];

    mech_convex_farthest(a, n, x);
    mech_convex_farthest(b, back, y);
    mech_v3_add(y, -1., x, d);
    return mech_v3_dot(d, n);
}

static double along_faces(const struct mech_convex *a, const struct mech_convex *b, double sign)
{
    const struct mech_convex *const of = sign > 0. ? a : b;
    double best = -INFINITY;

    for (int32_t i = 0; i < of->shape->hull.faces; i++) {
        double n[3];

        mech_m3_mul(of->R, of->shape->hull.plane + 4 * i, n);
        for (int k = 0; k < 3; k++) {
            n[k] *= sign;
        }
        best = fmax(best, separation(a, b, n));
    }
    return best;
}

static void edge_of(const struct mech_convex *c, int32_t i, double out[3])
{
    const struct mech_polyhedron *const h = &c->shape->hull;

    mech_v3_add(h->vertex + 3 * h->edge[2 * i + 1], -1., h->vertex + 3 * h->edge[2 * i], out);
    mech_m3_mul(c->R, out, out);
}

/* the largest separation along normals of faces and across pairs of edges: that of overlapping
 * polyhedra (S. Gottschalk, UNC TR96-024) */
static double along_all_axes(const struct mech_convex *a, const struct mech_convex *b)
{
    double best = fmax(along_faces(a, b, 1.), along_faces(a, b, -1.));

    for (int32_t i = 0; i < a->shape->hull.edges; i++) {
        for (int32_t j = 0; j < b->shape->hull.edges; j++) {
            double u[3], v[3], n[3];

            edge_of(a, i, u);
            edge_of(b, j, v);
            mech_v3_cross(u, v, n);
            const double length = mech_v3_norm(n);
            for (int sign = -1; sign <= 1 && length > 1e-9; sign += 2) {
                const double m[3] = {sign * n[0] / length, sign * n[1] / length,
                                     sign * n[2] / length};
                best = fmax(best, separation(a, b, m));
            }
        }
    }
    return best;
}

struct kit {
    struct mech_arena arena;
    struct mech_shape shape[7];
};

static void kit_init(struct kit *k)
{
    static const double one[3] = {0.5, 0.4, 0.3}, two[3] = {0.2, 0.5, 0.6};
    uint64_t seed = 7;
    double x[36];

    memset(k, 0, sizeof *k);
    mech_arena_init(&k->arena, 0);
    for (int i = 0; i < 12; i++) {
        random_direction(&seed, x + 3 * i);
    }
    k->shape[0] = box_shape(one, &k->arena);
    k->shape[1] = box_shape(two, &k->arena);
    k->shape[2] = hull_shape(x, 12, &k->arena);
    k->shape[3] = points_shape(segment, 2, 0.2);
    k->shape[4] = points_shape(zero, 1, 0.3);
    k->shape[5] = points_shape(zero, 1, 0.);
    k->shape[6] = cylinder_shape(0.4, 0.5);
}

/* random placements, a half of them turned alike or not at all */
static void place(uint64_t *seed, int k, double range, double p[3], double Ra[9], double Rb[9])
{
    for (int i = 0; i < 3; i++) {
        p[i] = random_between(seed, -range, range);
    }
    random_rotation(seed, Ra);
    random_rotation(seed, Rb);
    if (k % 4 == 0) {
        memcpy(Rb, Ra, sizeof unit);
    }
    if (k % 8 == 0) {
        memcpy(Ra, unit, sizeof unit);
        memcpy(Rb, unit, sizeof unit);
    }
    if (k % 16 == 0) {
        p[0] = p[1] = 0.;
    }
}

static void overlaps_of_polyhedra_are_the_least_of_all_axes(void)
{
    struct kit k;
    uint64_t seed = 3;
    int met = 0;

    kit_init(&k);
    for (int round = 0; round < 6000; round++) {
        double p[3], Ra[9], Rb[9];
        struct mech_convex_gap gap;

        place(&seed, round / 9, 1., p, Ra, Rb);
        const struct mech_convex a = {&k.shape[round % 3], zero, Ra};
        const struct mech_convex b = {&k.shape[round / 3 % 3], p, Rb};
        CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &gap), 0);
        if (gap.gap < 0.) {
            met++;
            CHECK_NEAR(gap.gap, along_all_axes(&a, &b), 1e-14);
            CHECK_NEAR(separation(&a, &b, gap.normal), gap.gap, 1e-14);
        }
    }
    CU_ASSERT(met > 2000);
    mech_arena_fini(&k.arena);
}

/* Points of both shapes that are as far apart as planes between them: no less and no more is
 * possible. From contact to far away. */
static void distances_are_those_of_points_and_of_planes_between(void)
{
    static const double ranges[] = {1., 2., 1e3, 1e6};
    struct kit k;
    uint64_t seed = 5;
    int met = 0;

    kit_init(&k);
    for (int round = 0; round < 12000; round++) {
        const double range = ranges[round / 49 % 4];
        double p[3], Ra[9], Rb[9], d[3];
        struct mech_convex_gap gap;

        place(&seed, round / 49, range, p, Ra, Rb);
        const struct mech_convex a = {&k.shape[round % 7], zero, Ra};
        const struct mech_convex b = {&k.shape[round / 7 % 7], p, Rb};
        CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 1e9, &gap), 0);
        CHECK_NEAR(mech_v3_norm(gap.normal), 1., 1e-15);
        mech_v3_add(gap.point[1], -1., gap.point[0], d);
        mech_v3_add(d, -gap.gap, gap.normal, d);
        CHECK_NEAR(mech_v3_norm(d), 0., 2e-15 * fmax(1., range));
        if (gap.gap > 0.) {
            /* of a curved edge the direction is known to 1e-7, which tilts what is 1 m long */
            const bool curved = a.shape->half_length > 0. || b.shape->half_length > 0.;

            met++;
            CHECK_NEAR(separation(&a, &b, gap.normal), gap.gap,
                       (curved ? 1e-7 : 1e-13) + 2e-15 * range);
        }
    }
    CU_ASSERT(met > 6000);
    mech_arena_fini(&k.arena);
}

/* a point and a cylinder: by the coordinates along the axis and across */
static void a_point_is_as_far_from_a_cylinder_as_geometry_says(void)
{
    struct kit k;
    uint64_t seed = 9;

    kit_init(&k);
    for (int round = 0; round < 20000; round++) {
        double p[3], R[9], x[3], n[3];
        struct mech_convex_gap gap;

        for (int i = 0; i < 3; i++) {
            x[i] = random_between(&seed, -1., 1.);
        }
        random_rotation(&seed, R);
        const double across = hypot(x[0], x[1]), r = across - 0.4, z = fabs(x[2]) - 0.5;
        const double wanted = r > 0. && z > 0. ? hypot(r, z) : fmax(r, z);
        const double side = r > 0. && z > 0. ? r / wanted : r > z;
        n[0] = side * x[0] / across;
        n[1] = side * x[1] / across;
        n[2] = copysign(r > 0. && z > 0. ? z / wanted : r <= z, x[2]);
        mech_m3_mul(R, x, p);
        mech_m3_mul(R, n, n);
        const struct mech_convex a = {&k.shape[6], zero, R}, b = {&k.shape[5], p, unit};
        CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &gap), 0);
        /* near the axis all directions across it are nearly as long */
        CHECK_NEAR(gap.gap, wanted, wanted > -0.2 ? 1e-11 : 1e-5);
        /* inside, where side and cap are as near, either */
        if (wanted > -0.2 && (wanted > 0. || fabs(r - z) > 1e-3)) {
            mech_v3_add(n, -1., gap.normal, n);
            CHECK_NEAR(mech_v3_norm(n), 0., 1e-5);
        }
    }
    mech_arena_fini(&k.arena);
}

static void touching_boxes_have_the_normal_of_their_faces(void)
{
    static const double gaps[] = {1e-3, 1e-7, 1e-9, 1e-11, 1e-14, 0., -1e-14, -1e-11, -1e-9, -1e-3};
    struct kit k;
    uint64_t seed = 21;

    kit_init(&k);
    for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++) {
        for (int turn = 0; turn < 20; turn++) {
            double x[3] = {0.1, 0.05, 0.3 + 0.6 + gaps[i]}, p[3], R[9], n[3] = {0., 0., 1.};
            struct mech_convex_gap gap;

            random_rotation(&seed, R);
            mech_m3_mul(R, x, p);
            mech_m3_mul(R, n, n);
            const struct mech_convex a = {&k.shape[0], zero, R}, b = {&k.shape[1], p, R};
            CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &gap), 0);
            CHECK_NEAR(gap.gap, gaps[i], 1e-15);
            mech_v3_add(n, -1., gap.normal, n);
            CHECK_NEAR(mech_v3_norm(n), 0., 1e-15);
        }
    }
    mech_arena_fini(&k.arena);
}

/* also where the closest points of the difference are the two ends of a face's diagonal, whose
 * direction alone is known to 1e-16 over the distance */
static void a_point_near_a_face_has_its_normal(void)
{
    struct kit k;
    uint64_t seed = 22;

    kit_init(&k);
    for (int round = 0; round < 200; round++) {
        const double x[3] = {round % 2 ? 0. : 0.25, round % 2 ? 0. : 0.2, 0.3 + 1e-8};
        const double up[3] = {0., 0., 1.};
        double p[3], R[9], n[3];
        struct mech_convex_gap gap;

        random_rotation(&seed, R);
        mech_m3_mul(R, x, p);
        mech_m3_mul(R, up, n);
        const struct mech_convex a = {&k.shape[0], zero, R}, b = {&k.shape[5], p, unit};
        CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &gap), 0);
        mech_v3_add(n, -1., gap.normal, n);
        CHECK_NEAR(mech_v3_norm(n), 0., 1e-15);
        CHECK_NEAR(gap.gap, 1e-8, 1e-15);
    }
    mech_arena_fini(&k.arena);
}

/* The same shape at the same place, crossing lines, a point on a line: some unit normal that parts
 * them, and the same again. */
static void coinciding_shapes_have_a_normal(void)
{
    static const double crossed[6] = {-0.5, 0., 0., 0.5, 0., 0.};
    static const double triangle[9] = {-1., -1., 0., 1., -1., 0., 0., 1., 0.};
    struct kit k;

    kit_init(&k);
    struct mech_shape all[9];
    memcpy(all, k.shape, sizeof k.shape);
    all[7] = points_shape(crossed, 2, 0.);
    all[8] = points_shape(triangle, 3, 0.1);
    for (int i = 0; i < 9; i++) {
        for (int j = 0; j < 9; j++) {
            struct mech_convex_gap gap, again;

            const struct mech_convex a = {&all[i], zero, unit}, b = {&all[j], zero, unit};
            CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &gap), 0);
            CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &again), 0);
            CU_ASSERT_EQUAL(memcmp(&gap, &again, sizeof gap), 0);
            CHECK_NEAR(mech_v3_norm(gap.normal), 1., 1e-15);
            CHECK_NEAR(separation(&a, &b, gap.normal), gap.gap, 1e-15);
            CU_ASSERT(gap.gap <= 1e-15);
            for (int c = 0; c < 3; c++) {
                CU_ASSERT(isfinite(gap.point[0][c]) && isfinite(gap.point[1][c]));
            }
        }
    }
    mech_arena_fini(&k.arena);
}

static void what_is_farther_than_the_limit_is_not_reported(void)
{
    struct kit k;
    uint64_t seed = 2;

    kit_init(&k);
    for (int round = 0; round < 2000; round++) {
        double p[3], Ra[9], Rb[9];
        struct mech_convex_gap gap, same;

        place(&seed, round / 49, 1.5, p, Ra, Rb);
        const struct mech_convex a = {&k.shape[round % 7], zero, Ra};
        const struct mech_convex b = {&k.shape[round / 7 % 7], p, Rb};
        CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, 9., &gap), 0);
        CU_ASSERT_EQUAL(mech_convex_gap(&a, &b, gap.gap - 1e-9, &same), 1);
        CU_ASSERT_EQUAL_FATAL(mech_convex_gap(&a, &b, gap.gap + 1e-9, &same), 0);
        CU_ASSERT_EQUAL(memcmp(&gap, &same, sizeof gap), 0);
    }
    mech_arena_fini(&k.arena);
}

UNIT_TESTS(UNIT_TEST(overlaps_of_polyhedra_are_the_least_of_all_axes),
           UNIT_TEST(distances_are_those_of_points_and_of_planes_between),
           UNIT_TEST(a_point_is_as_far_from_a_cylinder_as_geometry_says),
           UNIT_TEST(touching_boxes_have_the_normal_of_their_faces),
           UNIT_TEST(a_point_near_a_face_has_its_normal),
           UNIT_TEST(coinciding_shapes_have_a_normal),
           UNIT_TEST(what_is_farther_than_the_limit_is_not_reported))
