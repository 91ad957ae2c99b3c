/* Detection of contacts, from placements to the sorted list: 504 balls in a box of six planes,
 * each touching its neighbours; the same number of bricks; the broad phase alone. A unit is one
 * query; the placements alternate, so that candidates change. The floor of all three finds balls
 * alone, through a grid of cells (floors_spheres.h).
 */
#include "solver/contact/broad.h"
#include "solver/contact/contact.h"
#include "solver/items/shape/shape.h"
#include "solver/linalg/so3.h"
#include "tests/bench/bench.h"
#include "tests/bench/floors_spheres.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { NX = 8, NY = 7, NZ = 9, BODIES = NX * NY * NZ, WALLS = 6 };

static const double radius = 0.05;

struct pile {
    struct mech_arena arena;
    struct mech_diag diag;
    struct mech_collider collider[BODIES + WALLS];
    struct mech_placement at[2][BODIES];
    double reach[BODIES];
    struct mech_scene *scene;
    struct mech_contact_list list;
    struct mech_bounds box[2][BODIES];
    int32_t body[BODIES];
    struct mech_broad broad;
    uint64_t seed;
};

static void fail(const char *what)
{
    (void)fprintf(stderr, "detection: %s\n", what);
    exit(2);
}

static double uniform(struct pile *p)
{
    p->seed = p->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(p->seed >> 11) * 0x1p-53 - 0.5;
}

static struct mech_collider collider(struct pile *p, const char *type, const char *field,
                                     const double value[3], int32_t body)
{
    const struct mech_item_type *const t = mech_item_type_find(MECH_SHAPE, type);
    const struct mech_field *const f = t ? mech_table_find(&t->table, field) : NULL;
    char *const description = f ? mech_arena_alloc(&p->arena, 1, t->table.size) : NULL;
    struct mech_collider out = {
        .body = body, .R = {1., 0., 0., 0., 1., 0., 0., 0., 1.}, .category = 1, .mask = 1};

    if (!description) {
        fail("no such shape");
    }
    mech_table_defaults(&t->table, description);
    for (uint32_t i = 0; i < (f->kind == MECH_REALS ? f->count : 1); i++) {
        ((double *)(void *)(description + f->offset))[i] = value[i];
    }
    if (mech_shape_build(t, description, &p->arena, "", &p->diag, &out.shape) != 0 ||
        !mech_diag_clean(&p->diag)) {
        fail("a bad shape");
    }
    return out;
}

/* A lattice in which neighbours overlap by up to 1e-3 of their size, or are as much apart. */
static void place(struct pile *p)
{
    for (int side = 0; side < 2; side++) {
        for (int32_t b = 0; b < BODIES; b++) {
            const int32_t at[3] = {b % NX, b / NX % NY, b / NX / NY};
            double turn[3];

            for (int i = 0; i < 3; i++) {
                p->at[side][b].p[i] = radius * (1. + 2. * at[i] * (1. - 2e-4) + 1e-3 * uniform(p));
                turn[i] = 2e-3 * uniform(p);
                p->box[side][b].low[i] = p->at[side][b].p[i] - 1.001 * radius;
                p->box[side][b].high[i] = p->at[side][b].p[i] + 1.001 * radius;
            }
            mech_so3_exp(turn, p->at[side][b].R);
            p->body[b] = b;
            p->reach[b] = 2e-4 * radius;
        }
    }
}

static struct pile *build(const char *type, const char *field)
{
    static const double floor[3] = {0., 0., 0.};
    struct pile *const p = calloc(1, sizeof *p);
    const double size = 2. * radius, value[3] = {field[0] == 'r' ? radius : size, size, size};

    if (!p) {
        fail("no memory");
    }
    p->seed = 1;
    mech_arena_init(&p->arena, 0);
    mech_diag_init(&p->diag);
    for (int32_t b = 0; b < BODIES; b++) {
        p->collider[b] = collider(p, type, field, value, b);
    }
    for (int k = 0; k < WALLS; k++) {
        const double sign = k < 3 ? 1. : -1.;
        const double normal[3] = {sign * (k % 3 == 0), sign * (k % 3 == 1), sign * (k % 3 == 2)};
        struct mech_collider *const c = &p->collider[BODIES + k];

        *c = collider(p, "Plane", "normal", normal, -1);
        for (int i = 0; i < 3; i++) {
            const int count[3] = {NX, NY, NZ};

            c->p[i] = k < 3 ? floor[i] : 2. * radius * count[i] * (1. - 2e-4);
        }
    }
    place(p);
    const struct mech_scene_description d = {
        .colliders = p->collider, .n = BODIES + WALLS, .bodies = BODIES};

    if (mech_scene_create(&d, &p->scene) != 0) {
        fail("no scene");
    }
    return p;
}

static void destroy(struct pile *p)
{
    mech_scene_destroy(p->scene);
    mech_contact_list_fini(&p->list);
    mech_broad_fini(&p->broad);
    mech_arena_fini(&p->arena);
    mech_diag_fini(&p->diag);
    free(p);
}

static void find(void *context, uint64_t count)
{
    struct pile *const p = context;

    for (uint64_t i = 0; i < count; i++) {
        const struct mech_scene_query query = {.at = p->at[i & 1], .reach = p->reach};

        if (mech_scene_find(p->scene, &query, &p->list) != 0) {
            fail("a query failed");
        }
    }
    bench_use(&p->list.at[0].gap);
}

static void broad(void *context, uint64_t count)
{
    struct pile *const p = context;

    for (uint64_t i = 0; i < count; i++) {
        if (mech_broad_find(&p->broad, p->box[i & 1], p->body, BODIES) != 0) {
            fail("no pairs");
        }
    }
}

static void init_floor(struct floor_spheres *f, const struct pile *p)
{
    static double x[3 * BODIES];
    const double high[3] = {2. * radius * NX, 2. * radius * NY, 2. * radius * NZ};

    for (int32_t b = 0; b < BODIES; b++) {
        for (int k = 0; k < 3; k++) {
            x[3 * b + k] = p->at[0][b].p[k];
        }
    }
    floor_balls_init(f, x, BODIES, radius, high);
}

int main(int argc, char **argv)
{
    struct floor_spheres floor;

    bench_begin("detection", argc, argv);
    struct pile *const balls = build("Sphere", "radius"), *const bricks = build("Box", "size");

    init_floor(&floor, balls);
    find(balls, 1);
    find(bricks, 1);
    floor_spheres_find(&floor, 1);
    (void)fprintf(stderr, "%d balls: %d contacts, the floor's %d; %d of bricks\n", BODIES,
                  balls->list.n, floor.touches, bricks->list.n);
    bench_compare("504 balls in a box", find, balls, floor_spheres_find, &floor);
    bench_compare("their broad phase", broad, balls, floor_spheres_find, &floor);
    bench_compare("504 bricks in a box", find, bricks, floor_spheres_find, &floor);
    floor_spheres_fini(&floor);
    destroy(balls);
    destroy(bricks);
    return bench_end();
}
