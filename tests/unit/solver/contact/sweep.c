/* When two colliders that move come to touch, and how the rows of their contacts turn: closed
 * forms. */
#include "solver/contact/contact.h"
#include "solver/linalg/v3.h"
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

/* --- how rows turn ---------------------------------------------------------------------------- */

enum { CELLS = 8, SIDE = CELLS + 1 };

/* A body, turned by nothing and at p, over a shape of the ground; all within 2 m. */
static void begin_over(struct world *w, struct mech_collider ground, struct mech_shape shape,
                       const double p[3])
{
    struct mech_collider collider[] = {ground, shapes_collider(shape)};
    const struct mech_scene_description d = {.colliders = collider, .n = 2, .bodies = 1};
    const double reach = 2.;
    struct mech_placement at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const struct mech_scene_query query = {.at = &at, .reach = &reach};

    collider[0].body = -1;
    collider[1].body = 0;
    memcpy(at.p, p, sizeof at.p);
    CU_ASSERT_EQUAL_FATAL(mech_scene_create(&d, &w->scene), 0);
    CU_ASSERT_EQUAL_FATAL(mech_scene_find(w->scene, &query, &w->near), 0);
    w->motion[0] = (struct mech_scene_motion){.v = {0.3, -0.2, 0.}, .omega = {1., 2., -0.5}};
    w->motion[0].extent = 0.5;
}

static void turn_of(struct world *w, const struct mech_contact *known, int32_t n, double span,
                    double *turn)
{
    const struct mech_scene_sweep sweep = {.motion = w->motion, .span = span};

    w->met.n = 0;
    CU_ASSERT_EQUAL(mech_scene_turn(w->scene, &sweep, known, n, &w->met, turn), 0);
    CU_ASSERT_EQUAL(w->met.n, 0);
}

/* ω × (ω × (x − p)) of a corner x, whose normal does not turn */
static void corners_on_a_plane_turn_with_their_body(void)
{
    struct world w = {.scene = NULL};
    const double p[3] = {0.1, 0.2, 0.25};
    double turn[12], arm[3], v[3], a[3];

    shapes_init(&w.shapes);
    begin_over(&w, shapes_collider(shapes_plane(&w.shapes, 0., 0., 1.)),
               shapes_box(&w.shapes, 0.6, 0.4, 0.5), p);
    CU_ASSERT_EQUAL_FATAL(w.near.n, 4);
    turn_of(&w, w.near.at, w.near.n, 1e-3, turn);
    for (int32_t i = 0; i < w.near.n; i++) {
        mech_v3_add(w.near.at[i].point[1], -1., p, arm);
        mech_v3_cross(w.motion[0].omega, arm, v);
        mech_v3_cross(w.motion[0].omega, v, a);
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(turn[3 * i + k], a[k], 1e-12);
        }
    }
    end(&w);
}

/* On a ball of R a ball of r that does not open has n' = v/(R + r): u = v − r ω × n has, in axes
 * that follow n by the least rotation n × n', the rate −r ω × n' − (n × n') × u; of first order in
 * the span. */
static void a_ball_on_a_ball_turns_with_its_normal(void)
{
    struct world w = {.scene = NULL};
    const double R = 0.7, r = 0.3, p[3] = {0.6, 0., 0.8};
    double turn[3], rate[3], u[3], spin[3], other[3], expected[3];

    shapes_init(&w.shapes);
    begin_over(&w, shapes_collider(shapes_sphere(&w.shapes, R)), shapes_sphere(&w.shapes, r), p);
    CU_ASSERT_EQUAL_FATAL(w.near.n, 1);
    const double *const n = w.near.at[0].normal, v[3] = {0.4, -0.2, -0.3};
    const double *const omega = w.motion[0].omega;

    memcpy(w.motion[0].v, v, sizeof v);
    for (int k = 0; k < 3; k++) {
        rate[k] = v[k] / (R + r);
    }
    mech_v3_cross(omega, n, u);
    mech_v3_cross(omega, rate, expected);
    mech_v3_cross(n, rate, spin);
    for (int k = 0; k < 3; k++) {
        u[k] = v[k] - r * u[k];
    }
    mech_v3_cross(spin, u, other);
    turn_of(&w, w.near.at, 1, 1e-5, turn);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(turn[k], -r * expected[k] - other[k], 1e-4);
    }
    end(&w);
}

/* A box on wavy ground: many contacts of one pair are found in one search, in any order, as each
 * by itself. */
static void many_contacts_of_a_pair_turn_as_each_does(void)
{
    struct world w = {.scene = NULL};
    double x[3 * SIDE * SIDE], t[6 * CELLS * CELLS], turn[1200], each[6];
    struct mech_contact down[200];
    int32_t some = 0, far = 0;

    for (int i = 0; i < SIDE * SIDE; i++) {
        x[3 * i] = 0.1 * (i % SIDE - 4);
        x[3 * i + 1] = 0.1 * (double)(i / SIDE - 4);
        x[3 * i + 2] = 0.02 * sin(2. * i);
    }
    for (int i = 0; i < CELLS * CELLS; i++) {
        const double a = SIDE * (i / CELLS) + i % CELLS;
        const double quad[] = {a, a + 1, a + SIDE + 1, a, a + SIDE + 1, a + SIDE};

        memcpy(t + 6 * i, quad, sizeof quad);
    }
    shapes_init(&w.shapes);
    begin_over(&w, shapes_collider(shapes_mesh(&w.shapes, x, SIDE * SIDE, t, 2 * CELLS * CELLS)),
               shapes_box(&w.shapes, 0.7, 0.7, 0.1), (const double[]){0., 0., 0.08});
    CU_ASSERT_FATAL(w.near.n > 16 && w.near.n <= 200);
    turn_of(&w, w.near.at, w.near.n, 1e-4, turn);
    for (int32_t i = 0; i < w.near.n; i++) {
        far = w.near.at[i].gap > w.near.at[far].gap ? i : far;
        down[w.near.n - 1 - i] = w.near.at[i];
    }
    for (int32_t i = 0; i < w.near.n; i++) {
        /* with the farthest one, as far as is searched for all */
        const struct mech_contact two[] = {w.near.at[i], w.near.at[far]};

        turn_of(&w, two, 2, 1e-4, each);
        CU_ASSERT_EQUAL(memcmp(each, turn + 3 * i, 3 * sizeof *each), 0);
        some += mech_v3_norm(each) > 0.;
    }
    CU_ASSERT(some > 16);
    turn_of(&w, down, w.near.n, 1e-4, turn + 600);
    for (int32_t i = 0; i < w.near.n; i++) {
        const double *const last = turn + 600 + 3 * (w.near.n - 1 - i);

        CU_ASSERT_EQUAL(memcmp(last, turn + 3 * i, 3 * sizeof *last), 0);
    }
    end(&w);
}

UNIT_TESTS(UNIT_TEST(a_face_is_hit_as_known), UNIT_TEST(an_edge_is_passed_or_its_face_is_met),
           UNIT_TEST(a_touch_is_carried_back), UNIT_TEST(corners_on_a_plane_turn_with_their_body),
           UNIT_TEST(a_ball_on_a_ball_turns_with_its_normal),
           UNIT_TEST(many_contacts_of_a_pair_turn_as_each_does))
