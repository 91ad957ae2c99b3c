/* When two colliders that move come to touch: closed forms. */
#include "solver/contact/contact.h"
#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

struct world {
    struct shapes shapes;
    struct mech_scene *scene;
    struct mech_contact_list near, met;
    struct mech_scene_motion motion[1];
};

/* A body with a sphere of 0.1 m at p beside a box of 1 m on the ground, around the origin. */
static void begin(struct world *w, const double p[3])
{
    struct mech_collider collider[2];
    const struct mech_scene_description d = {.colliders = collider, .n = 2, .bodies = 1};
    const double reach = 3.;
    struct mech_placement at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const struct mech_scene_query query = {.at = &at, .reach = &reach};

    memset(w, 0, sizeof *w);
    shapes_init(&w->shapes);
    collider[0] = shapes_collider(shapes_box(&w->shapes, 1., 1., 1.));
    collider[0].body = -1;
    collider[1] = shapes_collider(shapes_sphere(&w->shapes, 0.1));
    collider[1].body = 0;
    CU_ASSERT_EQUAL_FATAL(mech_scene_create(&d, &w->scene), 0);
    memcpy(at.p, p, sizeof at.p);
    CU_ASSERT_EQUAL_FATAL(mech_scene_find(w->scene, &query, &w->near), 0);
    CU_ASSERT_EQUAL_FATAL(w->near.n, 1);
    w->motion[0].extent = 0.1;
}

static void end(struct world *w)
{
    mech_contact_list_fini(&w->near);
    mech_contact_list_fini(&w->met);
    mech_scene_destroy(w->scene);
    shapes_fini(&w->shapes);
}

static enum mech_scene_way way_of(struct world *w, double x, double y, double z, bool beside)
{
    const struct mech_scene_sweep sweep = {.motion = w->motion,
                                           .span = 1.,
                                           .allowed = 1e-5,
                                           .close = 1e-5,
                                           .alike = 0.995,
                                           .beside = beside};
    enum mech_scene_way way = MECH_WAY_FREE;

    w->motion[0].v[0] = x;
    w->motion[0].v[1] = y;
    w->motion[0].v[2] = z;
    w->met.n = 0;
    CU_ASSERT_EQUAL(mech_scene_sweep(w->scene, &sweep, w->near.at, w->near.n, &w->met, &way), 0);
    return way;
}

/* straight at the face, 0.4 m away, to an end 1 mm behind it: the direction that is known */
static void a_face_is_hit_as_known(void)
{
    struct world w;

    begin(&w, (const double[]){0., 0., 1.});
    CU_ASSERT_EQUAL(way_of(&w, 0.3, 0., -0.401, false), MECH_WAY_KNOWN);
    CU_ASSERT_EQUAL(w.met.n, 0);
    /* clean through it */
    CU_ASSERT_EQUAL(way_of(&w, 0., 0., -3., false), MECH_WAY_KNOWN);
    CU_ASSERT_EQUAL(way_of(&w, 0., 0., -0.399, false), MECH_WAY_FREE);
    end(&w);
}

/* from beside the edge at x = z = ½ along z: the nearest direction is (1, 0, 1)/√2, what is met or
 * passed is the face x = ½ */
static void an_edge_is_passed_or_its_face_is_met(void)
{
    const double out = 0.6 + 1e-4;
    struct world w;

    begin(&w, (const double[]){out, 0., 0.7});
    CHECK_NEAR(w.near.at[0].normal[0], (out - 0.5) / hypot(out - 0.5, 0.2), 1e-12);
    CU_ASSERT_EQUAL(way_of(&w, 0., 0., -0.5, false), MECH_WAY_FREE);
    CU_ASSERT_EQUAL(w.met.n, 0);
    /* the row of what is passed keeps off what the motion keeps off */
    CU_ASSERT_EQUAL(way_of(&w, 0., 0., -0.5, true), MECH_WAY_FREE);
    CU_ASSERT_EQUAL_FATAL(w.met.n, 1);
    CHECK_NEAR(w.met.at[0].normal[0], 1., 1e-12);
    CHECK_NEAR(w.met.at[0].gap, 1e-4, 1e-12);

    /* 1 m/s sideways: after 1e-4 s it is still above the edge's height and near; met at x = ½ */
    CU_ASSERT_EQUAL(way_of(&w, -4e-4, 0., -0.5, false), MECH_WAY_OTHER);
    CU_ASSERT_EQUAL_FATAL(w.met.n, 1);
    CU_ASSERT(w.met.at[0].normal[0] > 0.999);
    end(&w);
}

/* what is met at t leads there from the gap that it is carried back to */
static void a_touch_is_carried_back(void)
{
    struct world w;

    begin(&w, (const double[]){1., 0., 0.9});
    CU_ASSERT_EQUAL(way_of(&w, -0.6, 0., -0.6, false), MECH_WAY_OTHER);
    CU_ASSERT_EQUAL_FATAL(w.met.n, 1);
    const struct mech_contact *const c = &w.met.at[0];
    const struct mech_scene_sweep whole = {.motion = w.motion, .span = 1.};
    const double speed = -0.6 * (c->normal[0] + c->normal[2]);

    CHECK_NEAR(mech_scene_gap_after(w.scene, &whole, c), c->gap + speed, 1e-12);
    /* the point of the sphere is in the direction of the normal from its middle */
    const double arm[3] = {c->point[1][0] - 0.5 * c->gap * c->normal[0] - 1., c->point[1][1],
                           c->point[1][2] - 0.5 * c->gap * c->normal[2] - 0.9};

    CHECK_NEAR(arm[0], -0.1 * c->normal[0], 1e-8);
    CHECK_NEAR(arm[2], -0.1 * c->normal[2], 1e-8);
    end(&w);
}

UNIT_TESTS(UNIT_TEST(a_face_is_hit_as_known), UNIT_TEST(an_edge_is_passed_or_its_face_is_met),
           UNIT_TEST(a_touch_is_carried_back))
