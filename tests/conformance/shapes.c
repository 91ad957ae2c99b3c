/* All pairs of shapes of the registry against their support functions.
 *
 * For convex shapes with support functions h the signed distance is
 *
 *     s = max over unit n of f(n),   f(n) = −h_A(n) − h_B(−n),
 *
 * the distance where they are apart and minus the least translation that parts them where they
 * overlap. So a gap g with its normal n is right when f(n) = g, and no other direction gives more:
 * many are tried, and the best of them improved. Without any contact reported, f must exceed the
 * reach somewhere. */
#include "tests/unit/solver/contact/shapes.h"
#include "solver/contact/pair.h"
#include "solver/linalg/so3.h"
#include "tests/unit/solver/contact/build_shapes.h"

#include <stdio.h>
#include <stdlib.h>

enum { DIRECTIONS = 600, BEST = 6, KINDS_MOST = 16 };

struct kind {
    const struct mech_item_type *type;
    struct mech_shape shape;
    bool convex;
};

struct bench {
    struct shapes shapes;
    struct kind kind[KINDS_MOST];
    int kinds;
    uint64_t seed;
    double direction[DIRECTIONS][3];
    struct mech_contact_list list;
};

/* Numbers for all fields of a type; false when it needs others than lengths and directions. */
static bool describe(struct bench *b, const struct mech_item_type *type, void *description)
{
    mech_table_defaults(&type->table, description);
    for (size_t i = 0; i < type->table.count; i++) {
        const struct mech_field *const f = &type->table.fields[i];
        double *const x = (double *)(void *)((char *)description + f->offset);

        if ((f->flags & MECH_REQUIRED) == 0) {
            continue;
        }
        if (f->kind != MECH_REAL && f->kind != MECH_REALS) {
            return false;
        }
        for (uint32_t k = 0; k < (f->kind == MECH_REALS ? f->count : 1); k++) {
            x[k] = random_between(&b->seed, 0.2, 1.);
        }
    }
    return true;
}

/* Numbers that depend on the names alone: newcomers leave those of others as they are. */
static uint64_t seed_of(const char *first, const char *second)
{
    uint64_t h = 14695981039346656037u; /* FNV-1a, 64 bits */

    for (const char *const *text = (const char *const[]){first, second, NULL}; *text; text++) {
        for (const char *c = *text; *c; c++) {
            h = (h ^ (uint8_t)*c) * 1099511628211u;
        }
    }
    return h;
}

static void begin(struct bench *b)
{
    *b = (struct bench){.seed = 7};
    shapes_init(&b->shapes);
    for (const struct mech_item_type *const *t = mech_item_types; *t; t++) {
        char *const description = mech_arena_alloc(&b->shapes.arena, 1, (*t)->table.size);

        b->seed = seed_of((*t)->name, "");
        if ((*t)->category != MECH_SHAPE || !describe(b, *t, description)) {
            continue;
        }
        struct kind *const k = &b->kind[b->kinds++];

        k->type = *t;
        CU_ASSERT_EQUAL(
            mech_shape_build(*t, description, &b->shapes.arena, "", &b->shapes.diag, &k->shape), 0);
        k->convex = k->shape.ops->support != NULL;
    }
    b->seed = 7;
    for (int i = 0; i < DIRECTIONS; i++) {
        random_direction(&b->seed, b->direction[i]);
    }
}

static void end(struct bench *b)
{
    mech_contact_list_fini(&b->list);
    shapes_fini(&b->shapes);
}

/* --- the reference ---------------------------------------------------------------------------- */

struct placed {
    const struct kind *kind;
    struct mech_placement at;
};

/* h(d) of a placed shape. */
static double height(const struct placed *s, const double d[3])
{
    const struct mech_convex c = {&s->kind->shape, s->at.p, s->at.R};
    double x[3];

    if (!s->kind->convex) {
        double n[3];

        // a plane: only its normal bounds it
        mech_m3_mul(c.R, s->kind->shape.normal, n);
        return mech_v3_dot(n, d) > 1. - 1e-13 ? mech_v3_dot(n, c.p) : HUGE_VAL;
    }
    mech_convex_farthest(&c, d, x);
    return mech_v3_dot(x, d);
}

static double parted(const struct placed *a, const struct placed *b, const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};

    return -height(a, n) - height(b, back);
}

/* Improves n by steps to all sides that get smaller; the value. */
static double improve(struct bench *x, const struct placed *a, const struct placed *b, double n[3])
{
    double value = parted(a, b, n);

    for (double step = 0.15; step > 1e-10; step *= 0.7) {
        for (int i = 0; i < 20; i++) {
            double d[3], m[3];

            random_direction(&x->seed, d);
            mech_v3_add(n, step, d, m);
            const double length = mech_v3_norm(m);

            for (int k = 0; k < 3; k++) {
                m[k] /= length;
            }
            const double other = parted(a, b, m);

            if (other > value) {
                value = other;
                memcpy(n, m, sizeof m);
            }
        }
    }
    return value;
}

/* The signed distance from below. */
static double reference(struct bench *x, const struct placed *a, const struct placed *b)
{
    double value[DIRECTIONS], most = -HUGE_VAL;

    if (!a->kind->convex || !b->kind->convex) {
        const bool first = !a->kind->convex;
        const struct placed *const plane = first ? a : b;
        double n[3];

        mech_m3_mul(plane->at.R, plane->kind->shape.normal, n);
        for (int k = 0; k < 3; k++) {
            n[k] = first ? n[k] : -n[k];
        }
        return parted(a, b, n);
    }
    for (int i = 0; i < DIRECTIONS; i++) {
        value[i] = parted(a, b, x->direction[i]);
    }
    for (int round = 0; round < BEST; round++) {
        double n[3];
        int best = 0;

        for (int i = 1; i < DIRECTIONS; i++) {
            best = value[i] > value[best] ? i : best;
        }
        memcpy(n, x->direction[best], sizeof n);
        most = fmax(most, improve(x, a, b, n));
        // the next one starts elsewhere
        for (int i = 0; i < DIRECTIONS; i++) {
            const double near = mech_v3_dot(x->direction[i], x->direction[best]);

            value[i] = near > 0.95 ? -HUGE_VAL : value[i];
        }
    }
    return most;
}

/* --- what is asked ---------------------------------------------------------------------------- */

static void ask(struct bench *x, const struct placed *a, const struct placed *b, double reach)
{
    const struct placed *const of[] = {a, b};
    struct mech_collider collider[2];
    struct mech_placement at[2] = {a->at, b->at};
    struct mech_scene *scene = NULL;

    for (int i = 0; i < 2; i++) {
        collider[i] = shapes_collider(of[i]->kind->shape);
        collider[i].body = i;
    }
    CU_ASSERT_EQUAL_FATAL(
        mech_scene_create(
            &(struct mech_scene_description){.colliders = collider, .n = 2, .bodies = 2}, &scene),
        0);
    CU_ASSERT_EQUAL(
        mech_scene_find(scene, &(struct mech_scene_query){.at = at, .margin = reach}, &x->list), 0);
    mech_scene_destroy(scene);
}

static bool say(bool good, const char *what, const struct placed *a, const struct placed *b,
                double got, double wanted)
{
    if (!good) {
        printf("    %s of %s and %s: %.17g, not %.17g\n", what, a->kind->type->name,
               b->kind->type->name, got, wanted);
    }
    return good;
}

static const struct mech_contact *deepest(const struct mech_contact_list *list)
{
    int32_t found = 0;

    for (int32_t i = 1; i < list->n; i++) {
        found = list->at[i].gap < list->at[found].gap ? i : found;
    }
    return list->n > 0 ? &list->at[found] : NULL;
}

/* How far a point is from a surface: 0 on it, by its distance along and against a direction. */
static double off_surface(struct bench *x, const struct placed *s, const double p[3],
                          const double outward[3])
{
    static const struct mech_shape_ops none = {.support = NULL};
    static const struct mech_item_type point = {.name = "a point"};
    double n[3] = {outward[0], outward[1], outward[2]};
    struct mech_shape_ops ops = none;
    struct kind kind = {.type = &point, .convex = true};
    struct placed dot = {.kind = &kind, .at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};

    ops.support = vertices_support;
    kind.shape = points_shape((const double[3]){0., 0., 0.}, 1, 0.);
    kind.shape.ops = &ops;
    memcpy(dot.at.p, p, sizeof dot.at.p);
    if (!s->kind->convex) {
        return reference(x, s, &dot);
    }
    double most = fmax(reference(x, s, &dot), improve(x, s, &dot, n));
    // faces: from all sides of the shape's frame
    for (int i = 0; i < 6; i++) {
        const double sign = i < 3 ? 1. : -1.;
        double d[3] = {sign * s->at.R[i % 3], sign * s->at.R[3 + i % 3], sign * s->at.R[6 + i % 3]};

        most = fmax(most, improve(x, s, &dot, d));
    }
    return most;
}

static void check_contact(struct bench *x, const struct placed *a, const struct placed *b,
                          const struct mech_contact *c)
{
    double w[3], aside[3];

    mech_v3_add(c->point[1], -1., c->point[0], w);
    mech_v3_add(w, -c->gap, c->normal, aside);
    CU_ASSERT(say(fabs(mech_v3_norm(c->normal) - 1.) < 1e-14, "length of the normal", a, b,
                  mech_v3_norm(c->normal), 1.));
    CU_ASSERT(say(fabs(mech_v3_dot(w, c->normal) - c->gap) < 1e-13, "distance of the points", a, b,
                  mech_v3_dot(w, c->normal), c->gap));
    CU_ASSERT(
        say(mech_v3_norm(aside) < 1e-12, "shift of the points", a, b, mech_v3_norm(aside), 0.));
    const double back[3] = {-c->normal[0], -c->normal[1], -c->normal[2]};
    const double first = off_surface(x, a, c->point[0], c->normal);
    const double second = off_surface(x, b, c->point[1], back);

    // corners may lie outside of a face by 1e-6 of its size; the end of a round side that lies to
    // within 3 degrees counts as a ball's, whose point is inside by less than 1.4e-3 of its radius
    const double inside[2] = {1.4e-3 * a->kind->shape.rounding, 1.4e-3 * b->kind->shape.rounding};

    CU_ASSERT(say(first < 2e-6 && first > -2e-6 - inside[0], "point off the first surface", a, b,
                  first, 0.));
    CU_ASSERT(say(second < 2e-6 && second > -2e-6 - inside[1], "point off the second surface", a, b,
                  second, 0.));
}

/* Without closed form, points of what faces each other serve where they are the closest to 1e-6. */
static double flush_of(const struct placed *a, const struct placed *b)
{
    bool turned;

    return mech_shape_pair_find(&a->kind->shape, &b->kind->shape, &turned)->first ? 1e-12 : 1e-6;
}

/* The contacts of two placed shapes. */
static void check(struct bench *x, const struct placed *a, const struct placed *b, double reach,
                  bool points)
{
    const double fine = 1e-10, flush = fmax(fine, flush_of(a, b));
    const double s = reference(x, a, b);

    ask(x, a, b, reach);
    const struct mech_contact *const c = deepest(&x->list);

    if (!c) {
        CU_ASSERT(say(s > reach - fine, "no contact, distance", a, b, s, reach));
        return;
    }
    const double certain = parted(a, b, c->normal);

    CU_ASSERT(
        say(c->gap > certain - fine && c->gap < certain + flush, "gap", a, b, c->gap, certain));
    CU_ASSERT(say(c->gap > s - fine, "gap below the best", a, b, c->gap, s));
    CU_ASSERT(say(c->gap <= reach, "gap beyond reach", a, b, c->gap, reach));
    for (int32_t i = 0; points && i < x->list.n; i++) {
        check_contact(x, a, b, &x->list.at[i]);
        CU_ASSERT(say(i == 0 || x->list.at[i - 1].id < x->list.at[i].id, "id", a, b,
                      (double)x->list.at[i].id, 0.));
    }
}

static bool skip(const struct kind *a, const struct kind *b)
{
    return !a->convex && !b->convex;
}

static void place(struct bench *x, struct placed *s, const struct kind *kind, double away)
{
    double d[3];

    s->kind = kind;
    random_rotation(&x->seed, s->at.R);
    random_direction(&x->seed, d);
    for (int i = 0; i < 3; i++) {
        s->at.p[i] = away * d[i];
    }
}

static void each_pair(struct bench *x, int rounds,
                      void (*one)(struct bench *, struct placed *, struct placed *, int))
{
    for (int i = 0; i < x->kinds; i++) {
        for (int j = 0; j < x->kinds; j++) {
            x->seed = seed_of(x->kind[i].type->name, x->kind[j].type->name);
            for (int round = 0; round < rounds && !skip(&x->kind[i], &x->kind[j]); round++) {
                struct placed a, b;

                place(x, &a, &x->kind[i], 0.5);
                place(x, &b, &x->kind[j], random_between(&x->seed, 0., 1.5));
                one(x, &a, &b, round);
            }
        }
    }
}

static void check_random(struct bench *x, struct placed *a, struct placed *b, int round)
{
    check(x, a, b, 0.4, round % 4 == 0);
}

static void gaps_and_normals_are_those_of_the_closest_points(void)
{
    struct bench x;

    begin(&x);
    CU_ASSERT(x.kinds >= 5);
    each_pair(&x, 40, check_random);
    end(&x);
}

static void check_exchanged(struct bench *x, struct placed *a, struct placed *b, int round)
{
    (void)round;
    ask(x, a, b, 0.4);
    const bool any = x->list.n > 0;
    const struct mech_contact c = any ? *deepest(&x->list) : (struct mech_contact){.gap = 0.};

    ask(x, b, a, 0.4);
    CU_ASSERT_EQUAL(x->list.n > 0, any);
    if (any && x->list.n > 0) {
        const struct mech_contact *const d = deepest(&x->list);

        CU_ASSERT(
            say(fabs(d->gap - c.gap) < flush_of(a, b), "gap when exchanged", a, b, d->gap, c.gap));
        // the normal of two curved surfaces is known to the root of what the gap is
        CU_ASSERT(say(mech_v3_dot(d->normal, c.normal) < -1. + 1e-9, "normal when exchanged", a, b,
                      mech_v3_dot(d->normal, c.normal), -1.));
    }
}

static void the_order_of_two_shapes_does_not_matter(void)
{
    struct bench x;

    begin(&x);
    each_pair(&x, 60, check_exchanged);
    end(&x);
}

struct motion {
    double Q[9], shift[3];
};

static void move(struct placed *s, const struct motion *m)
{
    mech_m3_mul(m->Q, s->at.p, s->at.p);
    mech_v3_add(s->at.p, 1., m->shift, s->at.p);
    mech_m3_product(m->Q, s->at.R, s->at.R);
}

/* Contact i of a list found before a motion, against those found after it; false: it is not there,
 * and no other is at its point (edges that meet at the rim of a face may come out as two). */
static bool moved(struct bench *x, const struct mech_contact *before, int32_t n, int32_t i,
                  const struct motion *m, const struct placed *const of[2])
{
    double normal[3], point[3];

    mech_m3_mul(m->Q, before[i].normal, normal);
    mech_m3_mul(m->Q, before[i].point[0], point);
    mech_v3_add(point, 1., m->shift, point);
    for (int32_t k = 0; k < x->list.n; k++) {
        const struct mech_contact *const c = &x->list.at[k];
        double d[3];

        if (c->id != before[i].id) {
            continue;
        }
        mech_v3_add(point, -1., c->point[0], d);
        // beside the deepest, gaps are known as the normal is: 1e-5 between curved surfaces
        CU_ASSERT(say(fabs(c->gap - before[i].gap) < (c == deepest(&x->list) ? 1e-9 : 1e-5),
                      "gap after a motion", of[0], of[1], c->gap, before[i].gap));
        CU_ASSERT(say(mech_v3_dot(normal, c->normal) > 1. - 1e-9, "normal after a motion", of[0],
                      of[1], mech_v3_dot(normal, c->normal), 1.));
        CU_ASSERT(
            say(mech_v3_norm(d) < 1e-4, "point after a motion", of[0], of[1], mech_v3_norm(d), 0.));
        return true;
    }
    for (int32_t k = 0; k < n; k++) {
        double d[3];

        mech_v3_add(before[k].point[0], -1., before[i].point[0], d);
        if (k != i && mech_v3_norm(d) < 1e-6) {
            return true;
        }
    }
    return false;
}

static void check_moved(struct bench *x, struct placed *a, struct placed *b, int round)
{
    struct mech_contact before[16];
    struct motion m;

    (void)round;
    ask(x, a, b, 0.4);
    const int32_t n = x->list.n;

    CU_ASSERT_FATAL(n <= 16);
    for (int32_t i = 0; i < n; i++) {
        before[i] = x->list.at[i];
    }
    random_rotation(&x->seed, m.Q);
    random_direction(&x->seed, m.shift);
    move(a, &m);
    move(b, &m);
    ask(x, a, b, 0.4);
    CU_ASSERT(say((x->list.n == 0) == (n == 0), "contacts after a motion", a, b, x->list.n, n));
    for (int32_t i = 0; i < n; i++) {
        const struct placed *const of[2] = {a, b};

        CU_ASSERT(say(moved(x, before, n, i, &m, of), "id lost in a motion", a, b,
                      (double)before[i].id, 0.));
    }
}

static void a_motion_of_both_moves_the_contacts(void)
{
    struct bench x;

    begin(&x);
    each_pair(&x, 60, check_moved);
    end(&x);
}

static void check_concentric(struct bench *x, struct placed *a, struct placed *b, int round)
{
    for (int i = 0; i < 3; i++) {
        b->at.p[i] = a->at.p[i];
    }
    if (round > 0) {
        b->at = a->at;
    }
    ask(x, a, b, 0.);
    CU_ASSERT_FATAL(x->list.n > 0);
    for (int32_t i = 0; i < x->list.n; i++) {
        const struct mech_contact *const c = &x->list.at[i];

        CU_ASSERT(say(fabs(mech_v3_norm(c->normal) - 1.) < 1e-14, "normal", a, b,
                      mech_v3_norm(c->normal), 1.));
        CU_ASSERT(isfinite(c->gap) && isfinite(c->point[0][0]) && isfinite(c->point[1][2]));
    }
    check(x, a, b, 0., true);
}

static void coinciding_shapes_part_along_the_least_translation(void)
{
    struct bench x;

    begin(&x);
    each_pair(&x, 2, check_concentric);
    end(&x);
}

/* A shape that stands on a box or plane, and slides. */
static void slide(struct bench *x, const struct kind *floor, const struct kind *kind,
                  const double turn[3], int32_t points)
{
    struct placed a = {.kind = floor, .at = {.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    struct placed b = {.kind = kind};
    uint64_t id[8] = {0};
    const double up[3] = {0., 0., -1.};

    mech_so3_exp(turn, b.at.R);
    // its lowest point goes to the floor
    const double top = floor->shape.half[2] + height(&b, up);

    for (int step = 0; step < 200; step++) {
        b.at.p[0] = 0.1 + 1.3e-3 * step;
        b.at.p[1] = -0.2 + 0.7e-3 * step;
        b.at.p[2] = top + 1e-5 * (step % 3 - 1);
        // trembles as what rests does
        for (int i = 0; i < 3; i++) {
            b.at.R[3 * i] += 1e-9 * random_between(&x->seed, -1., 1.);
        }
        ask(x, &a, &b, 1e-3);
        CU_ASSERT(say(x->list.n == points, "contacts at rest", &a, &b, x->list.n, points));
        for (int32_t i = 0; i < points && i < x->list.n; i++) {
            CU_ASSERT(say(step == 0 || x->list.at[i].id == id[i], "id at rest", &a, &b,
                          (double)x->list.at[i].id, (double)id[i]));
            CHECK_NEAR(x->list.at[i].normal[2], 1., 1e-12);
            CHECK_NEAR(x->list.at[i].gap, 1e-5 * (step % 3 - 1), 1e-8);
            id[i] = x->list.at[i].id;
        }
    }
}

static void what_slides_on_a_floor_keeps_its_contacts(void)
{
    static const double upright[3] = {0., 0., 0.4}, lying[3] = {0.5 * 3.14159265358979, 0., 0.};
    struct bench x;

    begin(&x);
    struct kind floor[2] = {{.shape = shapes_box(&x.shapes, 4., 4., 1.), .convex = true},
                            {.shape = shapes_plane(&x.shapes, 0., 0., 1.)}};
    struct kind box = {.shape = shapes_box(&x.shapes, 0.3, 0.4, 0.5), .convex = true};
    struct kind cylinder = {.shape = shapes_cylinder(&x.shapes, 0.3, 0.4), .convex = true};
    struct kind capsule = {.shape = shapes_capsule(&x.shapes, 0.2, 0.5), .convex = true};
    struct kind *const all[] = {&floor[0], &floor[1], &box, &cylinder, &capsule};

    for (int i = 0; i < 5; i++) {
        all[i]->type = all[i]->shape.type;
    }
    for (int f = 0; f < 2; f++) {
        slide(&x, &floor[f], &box, upright, 4);
        slide(&x, &floor[f], &cylinder, upright, 4);
        slide(&x, &floor[f], &cylinder, lying, 2);
        slide(&x, &floor[f], &capsule, lying, 2);
        slide(&x, &floor[f], &capsule, upright, 1);
    }
    end(&x);
}

UNIT_TESTS(UNIT_TEST(gaps_and_normals_are_those_of_the_closest_points),
           UNIT_TEST(the_order_of_two_shapes_does_not_matter),
           UNIT_TEST(a_motion_of_both_moves_the_contacts),
           UNIT_TEST(coinciding_shapes_part_along_the_least_translation),
           UNIT_TEST(what_slides_on_a_floor_keeps_its_contacts))
