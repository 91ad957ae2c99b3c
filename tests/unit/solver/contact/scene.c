/* Scenes: which colliders touch, in which order, and what is refused. */
#include "solver/base/err.h"
#include "solver/contact/contact.h"
#include "solver/linalg/so3.h"
#include "tests/unit/alloc_count.h"
#include "tests/unit/solver/contact/build_shapes.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 600 };

struct world {
    struct shapes shapes;
    struct mech_collider collider[MOST];
    struct mech_placement at[MOST];
    double reach[MOST];
    int32_t n, bodies;
    struct mech_scene *scene;
    struct mech_contact_list list;
};

static void begin(struct world *w)
{
    memset(w, 0, sizeof *w);
    shapes_init(&w->shapes);
}

/* A body with a sphere of that radius; its collider. */
static struct mech_collider *ball(struct world *w, double x, double y, double z, double radius)
{
    struct mech_collider *const c = &w->collider[w->n++];

    w->at[w->bodies] = (struct mech_placement){.p = {x, y, z}, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    *c = shapes_collider(shapes_sphere(&w->shapes, radius));
    c->body = w->bodies++;
    return c;
}

static struct mech_collider *wall(struct world *w, double x, double y, double z)
{
    struct mech_collider *const c = &w->collider[w->n++];

    *c = shapes_collider(shapes_plane(&w->shapes, x, y, z));
    c->body = -1;
    return c;
}

static void create(struct world *w, const int32_t *apart, int32_t apart_count)
{
    const struct mech_scene_description d = {.colliders = w->collider,
                                             .n = w->n,
                                             .bodies = w->bodies,
                                             .apart = apart,
                                             .apart_count = apart_count};

    CU_ASSERT_EQUAL_FATAL(mech_scene_create(&d, &w->scene), 0);
}

static int find(struct world *w, double margin)
{
    const struct mech_scene_query query = {.at = w->at, .reach = w->reach, .margin = margin};

    return mech_scene_find(w->scene, &query, &w->list);
}

static void end(struct world *w)
{
    mech_scene_destroy(w->scene);
    mech_contact_list_fini(&w->list);
    shapes_fini(&w->shapes);
    free(w);
}

static struct world *new_world(void)
{
    struct world *const w = malloc(sizeof *w);

    CU_ASSERT_PTR_NOT_NULL_FATAL(w);
    begin(w);
    return w;
}

static void a_ball_on_a_plane_is_reported_with_its_points(void)
{
    struct world *const w = new_world();

    ball(w, 1., 2., 0.25, 0.2);
    wall(w, 0., 0., 1.);
    create(w, NULL, 0);
    CU_ASSERT_EQUAL(find(w, 0.04), 0);
    CU_ASSERT_EQUAL(w->list.n, 0);
    CU_ASSERT_EQUAL(find(w, 0.06), 0);
    CU_ASSERT_EQUAL_FATAL(w->list.n, 1);
    const struct mech_contact *const c = w->list.at;

    // the ball is the first collider: to open, the plane would move down
    CU_ASSERT_EQUAL(c->collider[0], 0);
    CU_ASSERT_EQUAL(c->collider[1], 1);
    CHECK_NEAR(c->normal[2], -1., 0.);
    CHECK_NEAR(c->gap, 0.05, 1e-16);
    CHECK_NEAR(c->point[0][2], 0.05, 1e-16);
    CHECK_NEAR(c->point[1][2], 0., 1e-16);
    CHECK_NEAR(c->point[1][0], 1., 0.);
    CHECK_NEAR(c->point[1][1], 2., 0.);
    end(w);
}

static void what_a_body_moves_by_widens_the_search(void)
{
    struct world *const w = new_world();

    ball(w, 0., 0., 0., 0.5);
    ball(w, 1.3, 0., 0., 0.5);
    create(w, NULL, 0);
    CU_ASSERT_EQUAL(find(w, 0.1), 0);
    CU_ASSERT_EQUAL(w->list.n, 0);
    w->reach[0] = 0.15;
    w->reach[1] = 0.06;
    CU_ASSERT_EQUAL(find(w, 0.1), 0);
    CU_ASSERT_EQUAL_FATAL(w->list.n, 1);
    CHECK_NEAR(w->list.at->gap, 0.3, 1e-15);
    CHECK_NEAR(w->list.at->normal[0], 1., 0.);
    end(w);
}

static int count(struct world *w)
{
    mech_scene_destroy(w->scene);
    w->scene = NULL;
    create(w, NULL, 0);
    CU_ASSERT_EQUAL(find(w, 0.), 0);
    return w->list.n;
}

static void filters_decide_who_touches(void)
{
    struct world *const w = new_world();
    struct mech_collider *const a = ball(w, 0., 0., 0., 1.);
    struct mech_collider *const b = ball(w, 1., 0., 0., 1.);

    CU_ASSERT_EQUAL(count(w), 1);
    b->category = 2;
    CU_ASSERT_EQUAL(count(w), 1);
    a->mask = 1;
    CU_ASSERT_EQUAL(count(w), 0);
    // groups come before masks
    a->group = b->group = 3;
    CU_ASSERT_EQUAL(count(w), 1);
    a->mask = 3;
    a->group = b->group = -3;
    CU_ASSERT_EQUAL(count(w), 0);
    b->group = -4;
    CU_ASSERT_EQUAL(count(w), 1);
    b->body = 0;
    CU_ASSERT_EQUAL(count(w), 0);
    a->body = b->body = -1;
    CU_ASSERT_EQUAL(count(w), 0);
    end(w);
}

static void bodies_that_are_apart_do_not_touch(void)
{
    static const int32_t apart[] = {0, 2, 0, 3, 1, 2};
    struct world *const w = new_world();

    for (int i = 0; i < 4; i++) {
        ball(w, 0.1 * i, 0., 0., 1.);
    }
    create(w, apart, 3);
    CU_ASSERT_EQUAL(find(w, 0.), 0);
    CU_ASSERT_EQUAL_FATAL(w->list.n, 3);
    static const int32_t touching[][2] = {{0, 1}, {1, 3}, {2, 3}};
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(w->list.at[i].collider[0], touching[i][0]);
        CU_ASSERT_EQUAL(w->list.at[i].collider[1], touching[i][1]);
    }
    end(w);
}

static uint64_t seed = 88172645463325252u;
static double uniform(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (double)(seed >> 11) * 0x1p-52 - 1.;
}

static void scatter(struct world *w)
{
    for (int32_t b = 0; b < w->bodies; b++) {
        for (int i = 0; i < 3; i++) {
            w->at[b].p[i] = (i == 1 ? 2. : 1.) * uniform();
        }
        w->reach[b] = 0.02 * (1. + uniform());
    }
}

/* All pairs, one by one. */
static void compare_with_all_pairs(struct world *w)
{
    int32_t k = 0;

    for (int32_t i = 0; i < w->n; i++) {
        for (int32_t j = i + 1; j < w->n; j++) {
            const struct mech_collider *const a = &w->collider[i], *const b = &w->collider[j];
            double between[3];

            if (a->body < 0) {
                continue;
            }
            mech_v3_add(w->at[a->body].p, b->body < 0 ? 0. : -1.,
                        w->at[b->body < 0 ? 0 : b->body].p, between);
            const double gap = b->body < 0
                                   ? mech_v3_dot(b->shape.normal, between) - a->shape.radius
                                   : mech_v3_norm(between) - a->shape.radius - b->shape.radius;

            if (gap > 0.01 + w->reach[a->body] + (b->body < 0 ? 0. : w->reach[b->body])) {
                continue;
            }
            CU_ASSERT_FATAL(k < w->list.n);
            CU_ASSERT_EQUAL(w->list.at[k].collider[0], i);
            CU_ASSERT_EQUAL(w->list.at[k].collider[1], j);
            CHECK_NEAR(w->list.at[k].gap, gap, 1e-14);
            CU_ASSERT(k == 0 || w->list.at[k - 1].id < w->list.at[k].id);
            k++;
        }
    }
    CU_ASSERT_EQUAL(k, w->list.n);
    CU_ASSERT(k > 400);
}

static void balls_between_walls(struct world *w)
{
    for (int i = 0; i < 400; i++) {
        ball(w, 0., 0., 0., 0.1 + 0.03 * uniform());
    }
    for (int i = 0; i < 3; i++) {
        wall(w, i == 0, i == 1, i == 2);
    }
    create(w, NULL, 0);
}

static void all_touching_pairs_are_found_in_order(void)
{
    struct world *const w = new_world();

    balls_between_walls(w);
    for (int round = 0; round < 5; round++) {
        scatter(w);
        CU_ASSERT_EQUAL(find(w, 0.01), 0);
        compare_with_all_pairs(w);
    }
    end(w);
}

static void contacts_do_not_depend_on_what_came_before(void)
{
    struct world *const w = new_world(), *const fresh = new_world();

    balls_between_walls(w);
    balls_between_walls(fresh);
    scatter(w);
    CU_ASSERT_EQUAL(find(w, 0.01), 0);
    scatter(w);
    CU_ASSERT_EQUAL(find(w, 0.01), 0);
    for (int i = 0; i < w->n; i++) {
        fresh->collider[i] = w->collider[i];
    }
    memcpy(fresh->at, w->at, sizeof w->at);
    memcpy(fresh->reach, w->reach, sizeof w->reach);
    mech_scene_destroy(fresh->scene);
    create(fresh, NULL, 0);
    CU_ASSERT_EQUAL(find(fresh, 0.01), 0);
    CU_ASSERT_EQUAL_FATAL(w->list.n, fresh->list.n);
    for (int32_t i = 0; i < w->list.n; i++) {
        CU_ASSERT_EQUAL(memcmp(&w->list.at[i], &fresh->list.at[i], sizeof *w->list.at), 0);
    }
    end(w);
    end(fresh);
}

static void nothing_is_allocated_for_what_was_there_before(void)
{
    struct world *const w = new_world();

    balls_between_walls(w);
    scatter(w);
    CU_ASSERT_EQUAL(find(w, 0.02), 0);
    alloc_count_start();
    for (int i = 0; i < 10; i++) {
        for (int32_t b = 0; b < w->bodies; b++) {
            mech_v3_add(w->at[b].p, 0.001, w->at[b].p, w->at[b].p);
        }
        CU_ASSERT_EQUAL(find(w, 0.01), 0);
    }
    CU_ASSERT_EQUAL(alloc_count_stop(), 0);
    CU_ASSERT(mech_scene_memory(w->scene) > 400 * sizeof(struct mech_collider));
    end(w);
}

static void placements_that_are_not_finite_are_reported(void)
{
    struct world *const w = new_world();

    ball(w, 0., 0., 0., 1.);
    ball(w, 1., 0., 0., 1.);
    create(w, NULL, 0);
    w->at[1].p[2] = NAN;
    CU_ASSERT_EQUAL(find(w, 0.), MECH_NOT_FINITE);
    CU_ASSERT_EQUAL(w->list.n, 0);
    w->at[1].p[2] = 0.;
    w->at[1].R[4] = HUGE_VAL;
    CU_ASSERT_EQUAL(find(w, 0.), MECH_NOT_FINITE);
    w->at[1].R[4] = 1.;
    CU_ASSERT_EQUAL(find(w, NAN), MECH_NOT_FINITE);
    w->reach[0] = HUGE_VAL;
    CU_ASSERT_EQUAL(find(w, 0.), MECH_NOT_FINITE);
    w->reach[0] = 0.;
    CU_ASSERT_EQUAL(find(w, 0.), 0);
    CU_ASSERT_EQUAL(w->list.n, 1);
    end(w);
}

static void an_empty_scene_has_no_contacts(void)
{
    struct world *const w = new_world();

    create(w, NULL, 0);
    CU_ASSERT_EQUAL(find(w, 1.), 0);
    CU_ASSERT_EQUAL(w->list.n, 0);
    end(w);
}

static void materials_are_combined(void)
{
    struct world *const w = new_world();

    ball(w, 0., 0., 0., 1.)->material = (struct mech_material){
        .friction = 0.5, .restitution = 0.1, .compliance = 1e-6, .rolling = 0.01, .damping = 3.};
    ball(w, 1., 0., 0., 1.)->material = (struct mech_material){
        .friction = 0.4, .restitution = 0.2, .compliance = 2e-6, .rolling = 0.02, .damping = 2.};
    create(w, NULL, 0);
    CU_ASSERT_EQUAL(find(w, 0.), 0);
    CU_ASSERT_EQUAL_FATAL(w->list.n, 1);
    const struct mech_material m = mech_scene_material(w->scene, w->list.at);
    CHECK_NEAR(m.friction, 0.4, 0.);
    CHECK_NEAR(m.restitution, 0.1, 0.);
    CHECK_NEAR(m.compliance, 3e-6, 1e-21);
    CHECK_NEAR(m.rolling, 0.01, 0.);
    CHECK_NEAR(m.damping, 2., 0.);
    end(w);
}

static void refused_memory_is_reported_and_nothing_is_lost(void)
{
    struct world *const w = new_world();

    balls_between_walls(w);
    mech_scene_destroy(w->scene);
    w->scene = NULL;
    scatter(w);
    const struct mech_scene_description d = {
        .colliders = w->collider, .n = w->n, .bodies = w->bodies};
    const struct mech_scene_query query = {.at = w->at, .reach = w->reach, .margin = 0.01};
    int refusals = 0;

    for (long k = 0; k < 200; k++) {
        struct mech_contact_list list = {.at = NULL};
        struct mech_scene *scene = NULL;

        alloc_refuse_start(k, false);
        int code = mech_scene_create(&d, &scene);
        const bool made = code == 0;
        code = made ? mech_scene_find(scene, &query, &list) : code;
        const bool refused = alloc_refuse_stop() > 0;

        CU_ASSERT_EQUAL(code, refused ? MECH_NO_MEMORY : 0);
        // the scene serves when memory is there again
        if (made) {
            CU_ASSERT_EQUAL(mech_scene_find(scene, &query, &list), 0);
            CU_ASSERT(list.n > 400);
        }
        refusals += refused;
        mech_scene_destroy(scene);
        mech_contact_list_fini(&list);
        if (!refused) {
            break;
        }
    }
    CU_ASSERT(refusals > 15 && refusals < 200);
    end(w);
}

UNIT_TESTS(UNIT_TEST(a_ball_on_a_plane_is_reported_with_its_points),
           UNIT_TEST(what_a_body_moves_by_widens_the_search), UNIT_TEST(filters_decide_who_touches),
           UNIT_TEST(bodies_that_are_apart_do_not_touch),
           UNIT_TEST(all_touching_pairs_are_found_in_order),
           UNIT_TEST(contacts_do_not_depend_on_what_came_before),
           UNIT_TEST(nothing_is_allocated_for_what_was_there_before),
           UNIT_TEST(placements_that_are_not_finite_are_reported),
           UNIT_TEST(refused_memory_is_reported_and_nothing_is_lost),
           UNIT_TEST(an_empty_scene_has_no_contacts), UNIT_TEST(materials_are_combined))
