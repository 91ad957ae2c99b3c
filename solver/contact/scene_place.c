/* Where the colliders of a scene are: frames in global axes, and boxes that hold them,
 *
 *     p = p_b + R_b p_c,   R = R_b R_c,   box: p + R m ± |R| h + margin/2 + reach_b
 *
 * with m and h the middle and half the size of the shape's own box. Two that may come within
 * margin + reach_a + reach_b of each other have boxes that overlap. */
#include "solver/base/err.h"
#include "solver/contact/scene.h"
#include "solver/linalg/v3.h"

#include <string.h>

static bool finite(const double *x, int n)
{
    double sum = 0.;

    for (int i = 0; i < n; i++) {
        sum += 0. * x[i]; // NaN where x is not finite
    }
    return sum == 0.;
}

static void frame(const struct mech_collider *c, const struct mech_placement *at,
                  struct mech_scene_place *out)
{
    if (out->plain) {
        memcpy(out->p, at->p, sizeof out->p);
        memcpy(out->R, at->R, sizeof out->R);
        return;
    }
    mech_m3_mul(at->R, c->p, out->p);
    mech_v3_add(out->p, 1., at->p, out->p);
    mech_m3_product(at->R, c->R, out->R);
}

static void box(const struct mech_shape *shape, const struct mech_scene_place *at, double around,
                struct mech_bounds *out)
{
    double middle[3], half[3];

    for (int i = 0; i < 3; i++) {
        middle[i] = 0.5 * (shape->low[i] + shape->high[i]);
        half[i] = 0.5 * (shape->high[i] - shape->low[i]);
    }
    for (int i = 0; i < 3; i++) {
        const double *const r = at->R + 3 * i;
        const double m = at->p[i] + mech_v3_dot(r, middle);
        const double h =
            fabs(r[0]) * half[0] + fabs(r[1]) * half[1] + fabs(r[2]) * half[2] + around;

        out->low[i] = m - h;
        out->high[i] = m + h;
    }
}

static void sphere_box(double radius, const double *p, struct mech_bounds *out)
{
    for (int i = 0; i < 3; i++) {
        out->low[i] = p[i] - radius;
        out->high[i] = p[i] + radius;
    }
}

static int check(const struct mech_scene *s, const struct mech_scene_query *query)
{
    for (int32_t b = 0; b < s->bodies; b++) {
        if (!finite(query->at[b].p, 3) || !finite(query->at[b].R, 9)) {
            return MECH_NOT_FINITE;
        }
    }
    return finite(&query->margin, 1) && (!query->reach || finite(query->reach, s->bodies))
               ? 0
               : MECH_NOT_FINITE;
}

int mech_scene_place(struct mech_scene *s, const struct mech_scene_query *query)
{
    static const struct mech_placement ground = {.R = {1., 0., 0., 0., 1., 0., 0., 0., 1.}};

    MECH_TRY(check(s, query));
    for (int32_t i = 0; i < s->n; i++) {
        const struct mech_collider *const c = &s->colliders[i];

        frame(c, c->body >= 0 ? &query->at[c->body] : &ground, &s->place[i]);
        s->place[i].reach = query->reach && c->body >= 0 ? query->reach[c->body] : 0.;
    }
    for (int32_t k = 0; k < s->bounded_count; k++) {
        const int32_t i = s->bounded[k];
        const struct mech_shape *const shape = &s->colliders[i].shape;
        const double around = 0.5 * query->margin + s->place[i].reach;

        if (shape->rounding > 0. && !(shape->half_length > 0.)) {
            sphere_box(shape->rounding + around, s->place[i].p, &s->box[k]);
        } else {
            box(shape, &s->place[i], around, &s->box[k]);
        }
    }
    return 0;
}

int mech_scene_touch_at(const struct mech_scene *s, const int32_t collider[2],
                        const struct mech_placement *const at[2], double reach,
                        struct mech_contact_list *list)
{
    struct mech_scene_place place[2];
    struct mech_convex convex[2];

    list->n = 0;
    for (int k = 0; k < 2; k++) {
        const struct mech_collider *const c = &s->colliders[collider[k]];

        place[k] = s->place[collider[k]];
        if (c->body >= 0) {
            frame(c, at[k], &place[k]);
        }
        convex[k] = (struct mech_convex){.shape = &c->shape, .p = place[k].p, .R = place[k].R};
    }
    return mech_scene_touch(
        s, collider, (const struct mech_convex *const[2]){&convex[0], &convex[1]}, reach, list);
}
