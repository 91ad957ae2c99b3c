/* Shapes of documents: what they compile to, and what is refused with its place. */
#include "solver/base/err.h"
#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

static void shapes_compile_to_their_sizes_and_bounds(void)
{
    struct shapes s;

    shapes_init(&s);
    const struct mech_shape box = shapes_box(&s, 1., 2., 3.);
    const struct mech_shape capsule = shapes_capsule(&s, 0.5, 3.);
    const struct mech_shape cylinder = shapes_cylinder(&s, 0.5, 3.);
    const struct mech_shape plane = shapes_plane(&s, 0., 3., 4.);
    const struct mech_shape sphere = shapes_sphere(&s, 0.25);

    CHECK_NEAR(box.half[1], 1., 0.);
    CHECK_NEAR(box.high[2], 1.5, 0.);
    CU_ASSERT_EQUAL(box.hull.vertices, 8);
    CHECK_NEAR(capsule.half_length, 1.5, 0.);
    CHECK_NEAR(capsule.rounding, 0.5, 0.);
    CHECK_NEAR(capsule.high[2], 2., 0.);
    CHECK_NEAR(cylinder.high[2], 1.5, 0.);
    CHECK_NEAR(cylinder.low[0], -0.5, 0.);
    CHECK_NEAR(cylinder.rounding, 0., 0.);
    CHECK_NEAR(plane.normal[1], 0.6, 1e-16);
    CHECK_NEAR(plane.normal[2], 0.8, 1e-16);
    CU_ASSERT(isinf(plane.low[0]) && isinf(plane.high[2]));
    CU_ASSERT(plane.ops->fixed && !sphere.ops->fixed);
    CHECK_NEAR(sphere.low[1], -0.25, 0.);
    shapes_fini(&s);
}

/* A shape with one bad number, and where that is reported. */
static void refused(const char *type, const struct shape_number *numbers, int count,
                    const char *place)
{
    struct shapes s;

    shapes_init(&s);
    (void)shapes_make(&s, type, numbers, count);
    CU_ASSERT_EQUAL_FATAL(s.diag.count, 1);
    CU_ASSERT_STRING_EQUAL(s.diag.entries[0].path, place);
    mech_diag_fini(&s.diag);
    mech_diag_init(&s.diag);
    shapes_fini(&s);
}

static void degenerate_shapes_are_refused_with_their_place(void)
{
    static const double bad[] = {0., -1., NAN, HUGE_VAL};

    for (int i = 0; i < 4; i++) {
        const struct shape_number sphere[] = {{"radius", {bad[i]}}};
        const struct shape_number box[] = {{"size", {1., bad[i], 1.}}};
        const struct shape_number thin[] = {{"radius", {bad[i]}}, {"length", {1.}}};
        const struct shape_number flat[] = {{"radius", {1.}}, {"length", {bad[i]}}};

        refused("Sphere", sphere, 1, "/radius");
        refused("Box", box, 1, "/size/1");
        refused("Capsule", thin, 2, "/radius");
        refused("Capsule", flat, 2, "/length");
        refused("Cylinder", thin, 2, "/radius");
        refused("Cylinder", flat, 2, "/length");
    }
    for (int i = 0; i < 4; i += i == 0 ? 2 : 1) {
        const struct shape_number plane[] = {{"normal", {0., 0., bad[i]}}};
        const struct shape_number place[] = {{"radius", {1.}},
                                             {"position", {0., i == 0 ? NAN : bad[i], 0.}}};

        refused("Plane", plane, 1, "/normal");
        refused("Sphere", place, 2, "/position/1");
    }
}

static void defaults_touch_everything(void)
{
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        _Alignas(16) char description[1024];

        if ((*t)->category != MECH_SHAPE) {
            continue;
        }
        CU_ASSERT_FATAL((*t)->table.size <= sizeof description);
        memset(description, 0, sizeof description);
        mech_table_defaults(&(*t)->table, description);
        const struct mech_shape_place *const place = (const void *)description;

        CU_ASSERT_EQUAL(place->group, 0);
        CU_ASSERT((place->category & place->mask) != 0);
        CHECK_NEAR(place->material.friction, 0.6, 0.);
    }
}

static void the_frame_turns_about_x_then_y_then_z(void)
{
    const struct mech_shape_place place = {.position = {1., 2., 3.},
                                           .rotation = {0.5 * 3.14159265358979323846, 0., 0.}};
    double p[3], R[9];

    mech_shape_frame(&place, p, R);
    CHECK_NEAR(p[2], 3., 0.);
    // y goes to z
    CHECK_NEAR(R[7], 1., 1e-15);
    CHECK_NEAR(R[5], -1., 1e-15);
}

UNIT_TESTS(UNIT_TEST(shapes_compile_to_their_sizes_and_bounds),
           UNIT_TEST(degenerate_shapes_are_refused_with_their_place),
           UNIT_TEST(defaults_touch_everything), UNIT_TEST(the_frame_turns_about_x_then_y_then_z))
