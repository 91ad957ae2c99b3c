/* Meshes: a flat one is a plane wherever its triangles meet, a closed one is the solid that it
 * bounds, grooves and rims touch as they should, and bad ones are refused with their places. */
#include "solver/contact/hull.h"
#include "solver/items/shape/tree.h"

#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/solver/contact/shapes.h"

static const double unit[9] = {1., 0., 0., 0., 1., 0., 0., 0., 1.};
static const double zero[3] = {0., 0., 0.};

static struct mech_shape hull_of(struct shapes *s, const double *x, int32_t n)
{
    const struct shape_rows rows[] = {{"points", x, n}, {NULL, NULL, 0}};

    return shapes_from_rows(s, "ConvexHull", rows);
}

/* a square of n × n cells from −1 to 1 at z = 0, diagonals in both ways */
static struct mech_shape floor_of(struct shapes *s, int n)
{
    const size_t points = (size_t)((n + 1) * (n + 1));
    double *const x = mech_arena_alloc(&s->arena, 3 * points, sizeof *x);
    double *const t = mech_arena_alloc(&s->arena, 6 * (size_t)(n * n), sizeof *t);

    for (int i = 0; i <= n; i++) {
        for (int j = 0; j <= n; j++) {
            x[3 * (i * (n + 1) + j)] = -1. + 2. * i / n;
            x[3 * (i * (n + 1) + j) + 1] = -1. + 2. * j / n;
        }
    }
    for (int c = 0; c < n * n; c++) {
        const int a = c / n * (n + 1) + c % n, b = a + n + 1;
        const int odd[6] = {a, b, b + 1, a, b + 1, a + 1};
        const int even[6] = {a, b, a + 1, b, b + 1, a + 1};

        for (int k = 0; k < 6; k++) {
            t[6 * c + k] = (c / n + c % n) % 2 ? odd[k] : even[k];
        }
    }
    return shapes_mesh(s, x, (int32_t)points, t, 2 * n * n);
}

/* the surface of a box of half edges h, seen from outside or from inside */
static struct mech_shape case_of(struct shapes *s, const double h[3], bool inside)
{
    static const int at[36] = {0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5, 0, 1, 5, 0, 5, 4,
                               2, 6, 7, 2, 7, 3, 0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6};
    double x[24], t[36];

    for (int i = 0; i < 24; i++) {
        x[i] = (i / 3 >> i % 3 & 1) ? h[i % 3] : -h[i % 3];
    }
    for (int i = 0; i < 36; i++) {
        t[i] = inside ? at[i - i % 3 + (3 - i % 3) % 3] : at[i];
    }
    return shapes_mesh(s, x, 8, t, 12);
}

static void touch(const struct mech_shape *a, const double *p, const double *R,
                  const struct mech_convex *b, double reach, struct mech_contact_list *list)
{
    const struct mech_convex first = {a, p, R};
    struct mech_touching out = {.list = list, .reach = reach, .collider = {0, 1}};
    bool turned;
    const struct mech_shape_pair *const pair = mech_shape_pair_find(a, b->shape, &turned);

    CU_ASSERT_PTR_NOT_NULL_FATAL(pair);
    CU_ASSERT_FALSE(turned);
    list->n = 0;
    pair->find(&first, b, &out);
    CU_ASSERT_EQUAL(out.code, 0);
}

enum { SHAPES = 5 };

static void make_shapes(struct shapes *s, struct mech_shape out[SHAPES])
{
    uint64_t seed = 8;
    double x[60];

    for (int i = 0; i < 20; i++) {
        random_direction(&seed, x + 3 * i);
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] *= 0.2;
        }
    }
    out[0] = shapes_sphere(s, 0.15);
    out[1] = shapes_capsule(s, 0.1, 0.3);
    out[2] = shapes_box(s, 0.3, 0.2, 0.4);
    out[3] = shapes_cylinder(s, 0.1, 0.3);
    out[4] = hull_of(s, x, 20);
}

/* every contact of one list is in the other: points, normal and gap */
static bool are_the_same(const struct mech_contact_list *a, const struct mech_contact_list *b,
                         double tolerance)
{
    if (a->n != b->n) {
        return false;
    }
    for (int32_t i = 0; i < a->n; i++) {
        bool found = false;

        for (int32_t k = 0; k < b->n; k++) {
            double worst = fabs(a->at[i].gap - b->at[k].gap);

            for (int c = 0; c < 3; c++) {
                worst = fmax(worst, fabs(a->at[i].normal[c] - b->at[k].normal[c]));
                worst = fmax(worst, fabs(a->at[i].point[0][c] - b->at[k].point[0][c]));
                worst = fmax(worst, fabs(a->at[i].point[1][c] - b->at[k].point[1][c]));
            }
            found = found || worst <= tolerance;
        }
        if (!found) {
            return false;
        }
    }
    return true;
}

static void a_flat_mesh_is_a_plane_wherever_a_shape_lies(void)
{
    struct shapes s;
    struct mech_shape shape[SHAPES];
    struct mech_contact_list list = {.n = 0}, wanted = {.n = 0};
    uint64_t seed = 4;
    int many = 0;

    shapes_init(&s);
    make_shapes(&s, shape);
    const struct mech_shape mesh = floor_of(&s, 20), plane = shapes_plane(&s, 0., 0., 1.);
    for (int k = 0; k < 6000; k++) {
        const int i = k % SHAPES;
        double p[3], R[9];

        /* now and then exactly over vertices, edges and diagonals; upright, lying or askew */
        for (int c = 0; c < 2; c++) {
            p[c] = random_between(&seed, -0.6, 0.6);
            p[c] = k / SHAPES % 3 == c ? 0.1 * floor(10. * p[c]) : p[c];
        }
        p[1] = k / SHAPES % 7 == 0 ? p[0] : p[1];
        p[2] = random_between(&seed, 0.08, 0.2);
        memcpy(R, unit, sizeof R);
        if (k / SHAPES % 2) {
            random_rotation(&seed, R);
        } else if (k / SHAPES % 4 == 0) {
            const double x[3] = {1.5707963267948966, 0., 0.};

            mech_so3_exp(x, R);
        }
        const struct mech_convex b = {&shape[i], p, R};
        touch(&mesh, zero, unit, &b, 0.05, &list);
        touch(&plane, zero, unit, &b, 0.05, &wanted);
        CU_ASSERT(are_the_same(&list, &wanted, 1e-12));
        many += list.n;
    }
    CU_ASSERT(many > 4000);
    mech_contact_list_fini(&list);
    mech_contact_list_fini(&wanted);
    shapes_fini(&s);
}

static void a_sphere_that_rolls_over_a_flat_mesh_sees_one_normal_and_keeps_its_feature(void)
{
    struct shapes s;
    struct mech_contact_list list = {.n = 0};
    uint64_t id = 0;

    shapes_init(&s);
    const struct mech_shape mesh = floor_of(&s, 20), ball = shapes_sphere(&s, 0.15);
    for (int k = 0; k <= 2000; k++) {
        const double p[3] = {-0.8 + 8e-4 * k, -0.7 + 7e-4 * k, 0.149};
        const struct mech_convex b = {&ball, p, unit};

        touch(&mesh, zero, unit, &b, 0.01, &list);
        CU_ASSERT_EQUAL_FATAL(list.n, 1);
        CHECK_NEAR(list.at[0].normal[0], 0., 0);
        CHECK_NEAR(list.at[0].normal[1], 0., 0);
        CHECK_NEAR(list.at[0].normal[2], 1., 0);
        CHECK_NEAR(list.at[0].gap, -1e-3, 1e-15);
        CU_ASSERT(k == 0 || list.at[0].id == id);
        id = list.at[0].id;
    }
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

/* Outside of the solid and where they touch lightly, the least gap of all contacts is that of the
 * two convex shapes. */
static void a_closed_mesh_is_as_far_as_the_box_that_it_bounds(void)
{
    static const double half[3] = {0.5, 0.4, 0.3};
    struct shapes s;
    struct mech_shape shape[SHAPES];
    struct mech_contact_list list = {.n = 0};
    uint64_t seed = 15;
    int met = 0;

    shapes_init(&s);
    make_shapes(&s, shape);
    const struct mech_shape mesh = case_of(&s, half, false), box = shapes_box(&s, 1., 0.8, 0.6);
    for (int k = 0; k < 20000; k++) {
        double p[3], R[9], q[3], Q[9], least = INFINITY;
        struct mech_convex_gap gap;

        random_rotation(&seed, Q);
        random_direction(&seed, q);
        random_rotation(&seed, R);
        for (int c = 0; c < 3; c++) {
            p[c] = q[c] + random_between(&seed, -0.9, 0.9);
        }
        const struct mech_convex a = {&box, q, Q}, b = {&shape[k % SHAPES], p, R};
        if (mech_convex_gap(&a, &b, 0.05, &gap) != 0 || gap.gap < -1e-3) {
            continue;
        }
        touch(&mesh, q, Q, &b, 0.05, &list);
        met++;
        for (int32_t c = 0; c < list.n; c++) {
            double d[3];

            least = fmin(least, list.at[c].gap);
            mech_v3_add(list.at[c].point[1], -1., list.at[c].point[0], d);
            CHECK_NEAR(mech_v3_dot(d, list.at[c].normal), list.at[c].gap, 1e-12);
        }
        CHECK_NEAR(least, gap.gap, 1e-9);
    }
    CU_ASSERT(met > 1000);
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

static void a_room_of_triangles_holds_what_is_in_its_corner(void)
{
    static const double half[3] = {1., 1., 1.};
    struct shapes s;
    struct mech_contact_list list = {.n = 0};

    shapes_init(&s);
    const struct mech_shape room = case_of(&s, half, true), ball = shapes_sphere(&s, 0.25);
    const struct mech_shape box = shapes_box(&s, 0.5, 0.5, 0.5);
    const double p[3] = {0.751, -0.752, -0.753};
    const struct mech_convex a = {&ball, p, unit}, b = {&box, p, unit};
    touch(&room, zero, unit, &a, 1e-4, &list);
    CU_ASSERT_EQUAL_FATAL(list.n, 3);
    for (int i = 0; i < 3; i++) {
        bool found = false;

        for (int c = 0; c < 3; c++) {
            const double n = list.at[c].normal[i];

            found = found || (fabs(n - (i == 0 ? -1. : 1.)) < 1e-15 &&
                              fabs(list.at[c].gap + 1e-3 * (i + 1)) < 1e-12);
        }
        CU_ASSERT(found);
    }
    touch(&room, zero, unit, &b, 1e-4, &list);
    CU_ASSERT(list.n >= 9);
    for (int c = 0; c < list.n; c++) {
        const double *const n = list.at[c].normal;

        CU_ASSERT(fabs(n[0] + 1.) < 1e-12 || fabs(n[1] - 1.) < 1e-12 || fabs(n[2] - 1.) < 1e-12);
        CU_ASSERT(list.at[c].gap < 0. && list.at[c].gap > -4e-3);
    }
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

static void a_box_over_the_rim_of_a_table_stands_on_the_rim(void)
{
    static const double half[3] = {1., 1., 0.05};
    struct shapes s;
    struct mech_contact_list list = {.n = 0};

    shapes_init(&s);
    const struct mech_shape table = case_of(&s, half, false), box = shapes_box(&s, .4, .4, .4);
    /* also tilted a little, either way */
    for (int k = -1; k <= 1; k++) {
        const double p[3] = {0.9, 0.1, 0.25 - 1e-5}, x[3] = {0., 1e-5 * k, 0.};
        double R[9], low = 2., high = -2.;

        mech_so3_exp(x, R);
        const struct mech_convex b = {&box, p, R};
        touch(&table, zero, unit, &b, 1e-4, &list);
        CU_ASSERT_EQUAL(list.n, 4);
        for (int c = 0; c < list.n; c++) {
            CHECK_NEAR(list.at[c].normal[2], 1., 1e-9);
            CHECK_NEAR(list.at[c].gap, -1e-5, 4e-6);
            low = fmin(low, list.at[c].point[0][0]);
            high = fmax(high, list.at[c].point[0][0]);
        }
        CHECK_NEAR(low, 0.7, 1e-5);
        CHECK_NEAR(high, 1., 1e-5);
    }
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

/* Near a rim and near a corner, but above the face, the face alone is touched. */
static void beside_a_rim_the_face_alone_is_touched(void)
{
    static const double half[3] = {1., 1., 0.05}, at[][2] = {{0.98, 0.2}, {0.98, 0.97}};
    struct shapes s;
    struct mech_shape shape[SHAPES];
    struct mech_contact_list list = {.n = 0};

    shapes_init(&s);
    make_shapes(&s, shape);
    const struct mech_shape table = case_of(&s, half, false);
    for (int k = 0; k < 4; k++) {
        const double p[3] = {at[k % 2][0], at[k % 2][1], 0.05 + (k < 2 ? 0.149 : 0.249)};
        const struct mech_convex b = {&shape[k < 2 ? 0 : 1], p, unit};

        touch(&table, zero, unit, &b, 0.05, &list);
        CU_ASSERT_EQUAL_FATAL(list.n, 1);
        CHECK_NEAR(list.at[0].normal[2], 1., 0);
        CHECK_NEAR(list.at[0].gap, -1e-3, 1e-15);
    }
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

/* The far side of a plate thinner than the shape does not pull, and the nearest way out counts. */
static void what_is_above_a_plate_does_not_touch_its_other_side(void)
{
    static const double half[3] = {1., 1., 0.01};
    struct shapes s;
    struct mech_shape shape[SHAPES];
    struct mech_contact_list list = {.n = 0};
    uint64_t seed = 31;

    shapes_init(&s);
    make_shapes(&s, shape);
    const struct mech_shape plate = case_of(&s, half, false);
    for (int k = 0; k < 500; k++) {
        double p[3] = {0.1, 0.2, 0.}, R[9], low[3];
        const double down[3] = {0., 0., -1.};

        random_rotation(&seed, R);
        const struct mech_convex b = {&shape[k % SHAPES], p, R};
        mech_convex_farthest(&b, down, low);
        p[2] = 0.01 - low[2] - (k % 2 ? 2e-3 : -2e-3);
        touch(&plate, zero, unit, &b, 0.01, &list);
        CU_ASSERT(list.n > 0);
        for (int c = 0; c < list.n; c++) {
            CHECK_NEAR(list.at[c].normal[2], 1., 1e-12);
        }
    }
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

static void bad_meshes_and_hulls_are_refused_with_their_places(void)
{
    static const double x[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0};
    static const double good[] = {0, 1, 2}, beyond[] = {0, 1, 2, 0, 1, 4}, half[] = {0, 1, 1.5};
    static const double twice[] = {0, 1, 1}, line[] = {0, 1, 2, 0, 1, 3};
    static const double flat[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0, 0.5, 0.5, 1e-12};
    static const struct {
        const double *t;
        int32_t m;
        const char *path;
    } cases[] = {{beyond, 2, "/g/0/triangles/1"},
                 {half, 1, "/g/0/triangles/0"},
                 {twice, 1, "/g/0/triangles/0"},
                 {line, 2, "/g/0/triangles/1"}};
    struct shapes s;

    shapes_init(&s);
    CU_ASSERT_PTR_NOT_NULL(shapes_mesh(&s, x, 4, good, 1).tree);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        shapes_mesh(&s, x, 4, cases[k].t, cases[k].m);
        CU_ASSERT_EQUAL_FATAL(s.diag.count, 1);
        CU_ASSERT_STRING_EQUAL(s.diag.entries[0].path, cases[k].path);
        mech_diag_fini(&s.diag);
        mech_diag_init(&s.diag);
    }
    for (int32_t n = 3; n <= 5; n++) {
        hull_of(&s, flat, n);
        CU_ASSERT_EQUAL_FATAL(s.diag.count, 1);
        CU_ASSERT_STRING_EQUAL(s.diag.entries[0].path, "/g/0/points");
        mech_diag_fini(&s.diag);
        mech_diag_init(&s.diag);
    }
    shapes_fini(&s);
}

/* a fin of three triangles at one edge, and one that is turned over */
static void edges_of_many_triangles_are_fine(void)
{
    static const double x[] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, 0, 0, 1};
    static const double t[] = {0, 1, 2, 0, 2, 3, 0, 2, 4, 0, 4, 2};
    struct shapes s;
    struct mech_contact_list list = {.n = 0};

    shapes_init(&s);
    const struct mech_shape mesh = shapes_mesh(&s, x, 5, t, 4), ball = shapes_sphere(&s, 0.2);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mesh.tree);
    /* on the top of the fin, and in the groove at its foot */
    const double top[3] = {0., 0., 1.19}, foot[3] = {0.14, -0.14, 0.19};
    const struct mech_convex a = {&ball, top, unit}, b = {&ball, foot, unit};
    touch(&mesh, zero, unit, &a, 0.01, &list);
    CU_ASSERT_EQUAL_FATAL(list.n, 1);
    CHECK_NEAR(list.at[0].normal[2], 1., 1e-12);
    CHECK_NEAR(list.at[0].gap, -0.01, 1e-12);
    touch(&mesh, zero, unit, &b, 0.01, &list);
    CU_ASSERT_EQUAL_FATAL(list.n, 2);
    CHECK_NEAR(list.at[0].gap + list.at[1].gap, -0.01 + 0.28 / sqrt(2.) - 0.2, 1e-12);
    mech_contact_list_fini(&list);
    shapes_fini(&s);
}

UNIT_TESTS(UNIT_TEST(a_flat_mesh_is_a_plane_wherever_a_shape_lies),
           UNIT_TEST(a_sphere_that_rolls_over_a_flat_mesh_sees_one_normal_and_keeps_its_feature),
           UNIT_TEST(a_closed_mesh_is_as_far_as_the_box_that_it_bounds),
           UNIT_TEST(a_room_of_triangles_holds_what_is_in_its_corner),
           UNIT_TEST(a_box_over_the_rim_of_a_table_stands_on_the_rim),
           UNIT_TEST(beside_a_rim_the_face_alone_is_touched),
           UNIT_TEST(what_is_above_a_plate_does_not_touch_its_other_side),
           UNIT_TEST(bad_meshes_and_hulls_are_refused_with_their_places),
           UNIT_TEST(edges_of_many_triangles_are_fine))
