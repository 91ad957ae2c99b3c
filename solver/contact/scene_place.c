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

static void frame(const struct mech_collider *c, const struct mech_placement *at, bool plain,
                  double *p, double *R)
{
    if (plain) {
        memcpy(p, at->p, 3 * sizeof *p);
        memcpy(R, at->R, 9 * sizeof *R);
        return;
    }
    mech_m3_mul(at->R, c->p, p);
    mech_v3_add(p, 1., at->p, p);
    mech_m3_product(at->R, c->R, R);
}

static void box(const struct mech_shape *shape, const double *p, const double *R, double around,
                double *low, double *high)
{
    double middle[3], half[3];

    for (int i = 0; i < 3; i++) {
        middle[i] = 0.5 * (shape->low[i] + shape->high[i]);
        half[i] = 0.5 * (shape->high[i] - shape->low[i]);
    }
    for (int i = 0; i < 3; i++) {
        const double *const r = R + 3 * i;
        const double m = p[i] + mech_v3_dot(r, middle);
        const double h =
            fabs(r[0]) * half[0] + fabs(r[1]) * half[1] + fabs(r[2]) * half[2] + around;

        low[i] = m - h;
        high[i] = m + h;
    }
}

static void sphere_box(double radius, const double *p, double *low, double *high)
{
    for (int i = 0; i < 3; i++) {
        low[i] = p[i] - radius;
        high[i] = p[i] + radius;
    }
}

static void boundless(double *low, double *high)
{
    for (int i = 0; i < 3; i++) {
        low[i] = -HUGE_VAL;
        high[i] = HUGE_VAL;
    }
}

int mech_scene_place(struct mech_scene *s, const struct mech_scene_query *query)
{
    static const struct mech_placement ground = {.R = {1., 0., 0., 0., 1., 0., 0., 0., 1.}};

    for (int32_t b = 0; b < s->bodies; b++) {
        if (!finite(query->at[b].p, 3) || !finite(query->at[b].R, 9)) {
            return MECH_NOT_FINITE;
        }
    }
    if (!finite(&query->margin, 1) || (query->reach && !finite(query->reach, s->bodies))) {
        return MECH_NOT_FINITE;
    }
    for (int32_t i = 0; i < s->n; i++) {
        const struct mech_collider *const c = &s->colliders[i];
        double *const p = s->frames + 12 * (size_t)i, *const R = p + 3;
        double *const low = s->boxes + 6 * (size_t)i, *const high = low + 3;
        const double reach = query->reach && c->body >= 0 ? query->reach[c->body] : 0.;
        const double around = 0.5 * query->margin + reach;

        frame(c, c->body >= 0 ? &query->at[c->body] : &ground, s->plain[i], p, R);
        if (!isfinite(c->shape.high[0] - c->shape.low[0])) {
            boundless(low, high);
        } else if (c->shape.rounding > 0. && !(c->shape.half_length > 0.)) {
            sphere_box(c->shape.rounding + around, p, low, high);
        } else {
            box(&c->shape, p, R, around, low, high);
        }
    }
    return 0;
}
