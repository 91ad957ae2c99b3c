/* The shapes of all bodies as one scene: moving shapes, shapes on the ground, which pairs a joint
 * keeps apart, and whether the mass matrix falls apart into free bodies. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS_PER_SHAPE = 16, CONTACTS_MORE = 64 };

static const struct mech_items *geometry_of(const struct mech_item *item)
{
    const size_t offset = item->type->ops.object->geometry;

    return offset ? (const void *)((const char *)item->description + offset) : NULL;
}

/* --- colliders -------------------------------------------------------------------------------- */

struct builder {
    struct mech_model *m;
    struct mech_touch *t;
    struct mech_diag *diag;
};

/* How far the surface of a shape moves, at most, when its body turns by 1 about its frame's origin:
 * the farthest point of what the rounding is put around. */
static double extent_of(const struct mech_collider *c)
{
    double far[3];

    for (int k = 0; k < 3; k++) {
        far[k] = fmax(fabs(c->shape.low[k]), fabs(c->shape.high[k])) - c->shape.rounding;
    }
    return mech_v3_norm(c->p) + mech_v3_norm(far);
}

/* The frame of the ground's shapes is the global one. */
static void place_on_ground(const struct mech_item *item, struct mech_collider *c)
{
    static const struct mech_seat nowhere;
    static const double origin[3];
    struct mech_pose pose = {.n = 0};
    double p[3];

    item->type->ops.object->pose(item->description, &nowhere, NULL, origin, &pose);
    mech_m3_mul(pose.R, c->p, p);
    mech_v3_add(p, 1., pose.p, c->p);
    mech_m3_product(pose.R, c->R, c->R);
}

static int add_shape(struct builder *b, size_t o, size_t k, int32_t body)
{
    const struct mech_item *const item = &b->m->document->objects.at[o];
    const struct mech_item *const shape = &geometry_of(item)->at[k];
    const struct mech_shape_place *const place = shape->description;
    const struct mech_material *const list = b->m->document->materials.at;
    struct mech_collider *const c = &b->t->shapes[b->t->collider_count];
    char path[MECH_DIAG_PATH];

    snprintf(path, sizeof path, "/objects/%zu/geometry/%zu", o, k);
    *c = (struct mech_collider){.body = body,
                                .material = place->common.name ? list[place->common.index]
                                                               : place->material,
                                .group = place->group,
                                .category = place->category,
                                .mask = place->mask};
    MECH_TRY(
        mech_shape_build(shape->type, shape->description, &b->m->arena, path, b->diag, &c->shape));
    mech_shape_frame(place, c->p, c->R);
    if (body < 0) {
        place_on_ground(item, c);
    } else if (c->shape.ops->fixed) {
        mech_diag_add(b->diag, path, "a %s belongs on the ground; \"%s\" moves", shape->type->name,
                      item->name);
    } else {
        b->t->bodies[body].extent = fmax(b->t->bodies[body].extent, extent_of(c));
        b->t->moving_shapes++;
    }
    b->t->colliders[b->t->collider_count++] =
        (struct mech_collider_of){(int32_t)o, (int32_t)k, body};
    return 0;
}

static int add_shapes(struct builder *b)
{
    const struct mech_items *const objects = &b->m->document->objects;

    for (size_t o = 0; o < objects->n; o++) {
        const struct mech_items *const geometry = geometry_of(&objects->at[o]);
        const struct mech_seat_of *const on = &b->m->kinematics.objects[o];
        const struct mech_object_ops *const ops = objects->at[o].type->ops.object;
        int32_t body = -1;

        if (!geometry || geometry->n == 0) {
            continue;
        }
        if (on->n > 0) {
            struct mech_moving_body *const to = &b->t->bodies[body = b->t->count++];

            *to = (struct mech_moving_body){.object = (int32_t)o,
                                            .seat = {.item = &objects->at[o],
                                                     .slot = on->slot,
                                                     .q_slot = on->q_slot,
                                                     .n = on->n,
                                                     .nq = on->nq},
                                            .mobility = HUGE_VAL};
            if (ops->mass) {
                const double mass = ops->mass(objects->at[o].description, to->center);

                to->mobility = 1. / mass;
            }
        }
        for (size_t k = 0; k < geometry->n; k++) {
            MECH_TRY(add_shape(b, o, k, body));
        }
    }
    return 0;
}

/* --- jointed bodies --------------------------------------------------------------------------- */

/* The moving body that a marker sits on, or -1. */
static int32_t body_under(const struct mech_model *m, const int32_t *body_of_object, int32_t marker)
{
    const struct mech_item *const item = &m->document->markers.at[marker];
    enum mech_category category = MECH_NODE;
    const struct mech_ref *const ref =
        item->type->ops.marker->seat ? item->type->ops.marker->seat(item->description, &category)
                                     : NULL;
    const int32_t object = !ref                    ? -1
                           : category == MECH_NODE ? m->kinematics.body_of[ref->index]
                                                   : ref->index;

    return object < 0 ? -1 : body_of_object[object];
}

/* Pairs of bodies with a joint between them, ascending, into apart [2 × pair_count]. */
static int32_t find_apart(const struct mech_model *m, const int32_t *body_of_object, int32_t *apart)
{
    int32_t n = 0;

    for (size_t p = 0; p < m->rows.pair_count; p++) {
        const struct mech_pair_of *const pair = &m->rows.pairs[p];
        const int32_t i = body_under(m, body_of_object, pair->marker[0]);
        const int32_t k = body_under(m, body_of_object, pair->marker[1]);

        if (pair->rows > 0 && !pair->idle && i >= 0 && k >= 0 && i != k) {
            apart[2 * n] = i < k ? i : k;
            apart[2 * n++ + 1] = i < k ? k : i;
        }
    }
    return n;
}

static int compare_pairs(const void *a, const void *b)
{
    const int32_t *const x = a, *const y = b;

    return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* In rising order, each once; returns how many. */
static int32_t sort_apart(int32_t *apart, int32_t n)
{
    int32_t kept = 0;

    qsort(apart, (size_t)n, 2 * sizeof *apart, compare_pairs);
    for (int32_t i = 0; i < n; i++) {
        if (kept == 0 || compare_pairs(apart + 2 * i, apart + 2 * kept - 2) != 0) {
            memmove(apart + 2 * kept++, apart + 2 * i, 2 * sizeof *apart);
        }
    }
    return kept;
}

static int create_scene(struct mech_model *m)
{
    struct mech_touch *const t = m->rows.touch;
    int32_t *const body_of_object =
        mech_arena_alloc(&m->arena, m->document->objects.n, sizeof *body_of_object);
    int32_t *const apart = mech_arena_alloc(&m->arena, 2 * m->rows.pair_count, sizeof *apart);

    if (!body_of_object || !apart) {
        return MECH_NO_MEMORY;
    }
    for (size_t o = 0; o < m->document->objects.n; o++) {
        body_of_object[o] = -1;
    }
    for (int32_t i = 0; i < t->count; i++) {
        body_of_object[t->bodies[i].object] = i;
    }
    const int32_t found = m->document->contact.jointed ? 0 : find_apart(m, body_of_object, apart);
    const struct mech_scene_description description = {.colliders = t->shapes,
                                                       .n = t->collider_count,
                                                       .bodies = t->count,
                                                       .apart = apart,
                                                       .apart_count = sort_apart(apart, found)};
    return mech_scene_create(&description, &t->scene);
}

/* --- free bodies ------------------------------------------------------------------------------ */

/* 1/m and J⁻¹ of a body from its block of M, [6 × 6] by rows; false: M is not of that form. */
static bool invert_block(struct mech_moving_body *b, const double *block)
{
    const double m = block[0];
    const double *J[3] = {block + 21, block + 27, block + 33};

    if (!(m > 0.)) {
        return false;
    }
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < 6; k++) {
            const bool linear = i < 3 && k < 3, angular = i >= 3 && k >= 3;
            const double wanted = linear && i == k ? m : 0.;

            if (!angular && !(fabs(block[6 * i + k] - wanted) <= 0.)) {
                return false;
            }
        }
    }
    b->inverse_mass = 1. / m;
    if (b->seat.n == 3) {
        b->round = true;
        return true;
    }
    /* rows of the adjugate are cross products of the rows of a symmetric J */
    double adjugate[9];
    for (int i = 0; i < 3; i++) {
        mech_v3_cross(J[(i + 1) % 3], J[(i + 2) % 3], adjugate + 3 * i);
    }
    const double det = mech_v3_dot(J[0], adjugate);
    for (int i = 0; i < 9; i++) {
        b->inverse_inertia[i] = adjugate[i] / det;
    }
    b->round = fabs(J[0][1]) + fabs(J[0][2]) + fabs(J[1][2]) <= 0. && J[0][0] - J[1][1] == 0. &&
               J[1][1] - J[2][2] == 0.;
    return det > 0.;
}

/* Whether the three velocities are those of a point along the axes. */
static bool is_point(const struct mech_pose *pose)
{
    bool same = pose->n == 3;

    for (int r = 0; r < 6 && same; r++) {
        for (int k = 0; k < 3; k++) {
            same = same && fabs(pose->J[r][k] - (r == k ? 1. : 0.)) <= 0.;
        }
    }
    return same;
}

/* Bodies whose velocities mean (v, ω) of a frame, or v of a point, in space. */
static bool frames_in_space(const struct mech_model *m, int32_t *body_of_slot)
{
    int32_t owned = 0;

    for (int32_t i = 0; i < m->rows.touch->count; i++) {
        const struct mech_moving_body *const b = &m->rows.touch->bodies[i];
        const struct mech_pose *const pose = &m->rows.touch->poses[i];

        if (!(pose->kind == MECH_POSE_SPACE ? b->seat.n == 6 : is_point(pose)) ||
            mech_v3_norm(b->center) > 0.) {
            return false;
        }
        for (int32_t k = 0; k < b->seat.n; k++) {
            body_of_slot[b->seat.slot[k]] = 6 * i + k;
        }
        owned += b->seat.n;
    }
    return owned == m->sizes.v;
}

/* Whether M falls apart into bodies; their inverses. 0 or negative. */
static int find_free(struct mech_model *m)
{
    struct mech_touch *const t = m->rows.touch;
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    int32_t *const place = mech_arena_alloc(&m->scratch, (size_t)m->sizes.v, sizeof *place);
    double *const blocks = mech_arena_alloc(&m->scratch, 36 * (size_t)t->count, sizeof *blocks);
    struct mech_triplet *entries = NULL;
    size_t count = 0;
    int code = place && blocks ? 0 : MECH_NO_MEMORY;

    bool free = code == 0 && !m->terms.has_inertia && frames_in_space(m, place);
    if (free) {
        code = mech_mat_triplets(&m->scratch, &m->terms.M, &entries, &count);
    }
    for (size_t i = 0; i < count && free && code == 0; i++) {
        const int32_t row = place[entries[i].row], col = place[entries[i].col];

        free = row / 6 == col / 6;
        blocks[36 * (row / 6) + 6 * (row % 6) + col % 6] += entries[i].value;
    }
    for (int32_t i = 0; i < t->count && free && code == 0; i++) {
        free = invert_block(&t->bodies[i], blocks + 36 * i);
    }
    t->free = free && code == 0;
    mech_arena_release(&m->scratch, mark);
    return code;
}

/* --- all of it -------------------------------------------------------------------------------- */

static int allocate(struct builder *b, size_t bodies, size_t shapes)
{
    struct mech_arena *const arena = &b->m->arena;
    struct mech_touch *const t = mech_arena_alloc(arena, 1, sizeof *t);

    if (!t) {
        return MECH_NO_MEMORY;
    }
    b->t = t;
    t->bodies = mech_arena_alloc(arena, bodies, sizeof *t->bodies);
    t->colliders = mech_arena_alloc(arena, shapes, sizeof *t->colliders);
    t->poses = mech_arena_alloc(arena, bodies, sizeof *t->poses);
    t->at = mech_arena_alloc(arena, bodies, sizeof *t->at);
    t->reach = mech_arena_alloc(arena, bodies, sizeof *t->reach);
    t->motion = mech_arena_alloc(arena, bodies, sizeof *t->motion);
    t->shapes = mech_arena_alloc(arena, shapes, sizeof *t->shapes);
    return t->bodies && t->colliders && t->poses && t->at && t->reach && t->motion && t->shapes
               ? 0
               : MECH_NO_MEMORY;
}

/* Moving bodies with shapes, and all shapes. */
static void count_shapes(const struct mech_model *m, size_t *bodies, size_t *shapes)
{
    *bodies = *shapes = 0;
    for (size_t o = 0; o < m->document->objects.n; o++) {
        const struct mech_items *const geometry = geometry_of(&m->document->objects.at[o]);

        if (geometry && geometry->n) {
            *bodies += m->kinematics.objects[o].n > 0;
            *shapes += geometry->n;
        }
    }
}

static void pose_all(struct mech_model *m)
{
    const struct mech_eval e = mech_model_point(m, NULL, 0., m->kinematics.q0, m->kinematics.v0);

    for (int32_t i = 0; i < m->rows.touch->count; i++) {
        mech_touch_pose(&m->rows.touch->bodies[i], &e, &m->rows.touch->poses[i]);
        mech_pose_complete(&m->rows.touch->poses[i]);
    }
}

int mech_touch_shapes(struct mech_model *m, struct mech_diag *diag)
{
    struct builder b = {.m = m, .diag = diag};
    size_t bodies, shapes;

    count_shapes(m, &bodies, &shapes);
    if (shapes > MECH_COLLIDERS_MOST) {
        mech_diag_add(diag, "/objects", "%zu shapes; a model has %d at most", shapes,
                      MECH_COLLIDERS_MOST);
    }
    if (shapes == 0 || shapes > MECH_COLLIDERS_MOST) {
        return 0;
    }
    MECH_TRY(allocate(&b, bodies, shapes));
    m->rows.touch = b.t;
    return add_shapes(&b);
}

/* 1/m of points, whose types report no mass. */
static void weigh_points(struct mech_model *m)
{
    for (int32_t i = 0; i < m->rows.touch->count; i++) {
        struct mech_moving_body *const b = &m->rows.touch->bodies[i];
        const int32_t slot = b->seat.slot[0];
        const double mass =
            m->terms.M.kind == MECH_MAT_ZERO ? 0. : mech_mat_get(&m->terms.M, slot, slot);

        if (!isfinite(b->mobility) && mass > 0.) {
            b->mobility = 1. / mass;
        }
    }
}

int mech_touch_scene(struct mech_model *m, struct mech_diag *diag)
{
    const int32_t wanted = m->document->contact.capacity;

    (void)diag;
    if (!m->rows.touch || m->rows.touch->count == 0) {
        return 0;
    }
    m->sizes.contact =
        wanted ? wanted : CONTACTS_PER_SHAPE * m->rows.touch->moving_shapes + CONTACTS_MORE;
    pose_all(m);
    weigh_points(m);
    MECH_TRY(find_free(m));
    MECH_FOLD(create_scene(m));
    return 0;
}

void mech_touch_fini(struct mech_touch *t)
{
    if (t) {
        mech_scene_destroy(t->scene);
    }
}
