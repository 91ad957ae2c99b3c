/* When two moving colliders start to touch; see contact.h.
 *
 * Along the unit normal n of a contact the bodies are apart by its gap g, and approach each other
 * there for t seconds by no more than w t + ½ a t²,
 *
 *     w = n · (v₁ − v₂) + max r₁ · (n × ω₁) + max r₂ · (ω₂ × n),   a = |n × ω₁| |ω₁| ρ₁ + …
 *
 * over the points r of the boxes around the shapes, from the origins of the bodies' frames, and ρ
 * how far these are from there. So nothing touches before that is g, when both are moved and asked
 * again. What passes along a face has w = a = 0 and is not, and the end of a long body that turns
 * is not as fast toward what it passes as it is along it. */
#include "solver/contact/scene.h"

#include "solver/base/err.h"
#include "solver/linalg/v3.h"

#include <string.h>

enum { STEPS_MOST = 100 };

/* of the bodies' sizes: a gap that counts as touching; as closed, whatever moves; how deep they may
 * be at the end for that to say how they came to touch; how far a row of what is passed may lie
 * before the bodies at the query, from where they part along it: it is taken as closed then */
#define TOUCHES 1e-9
#define STANDS 1e-6
#define DEEP 0.1
#define APART 1e-3

struct moving {
    const struct mech_scene *scene;
    const struct mech_scene_sweep *sweep;
    int32_t collider[2];
    struct mech_scene_place at[2]; /* frames of the colliders at the moment */
    struct mech_convex convex[2];  /* there */
    double origin[2][3];           /* of the bodies' frames at the query */
    double closing, touches;       /* m/s at most in any direction; m */
    double size;                   /* m, HUGE_VAL: one is a half-space */
};

static const struct mech_scene_motion rest;

static const struct mech_scene_motion *motion_of(const struct moving *m, int k)
{
    const int32_t body = m->scene->place[m->collider[k]].body;

    return body >= 0 ? &m->sweep->motion[body] : &rest;
}

/* exp(ω× t) by rows (Rodrigues) */
static void turn_by(const double omega[3], double t, double R[9])
{
    const double rate = mech_v3_norm(omega), angle = rate * t;
    const double half = sin(0.5 * angle), c = 2. * half * half, s = sin(angle);
    double n[3];

    for (int i = 0; i < 3; i++) {
        n[i] = rate > 0. ? omega[i] / rate : 0.;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            R[3 * i + j] = (i == j) * (1. - c) + c * n[i] * n[j];
        }
    }
    R[1] -= s * n[2];
    R[2] += s * n[1];
    R[3] += s * n[2];
    R[5] -= s * n[0];
    R[6] -= s * n[1];
    R[7] += s * n[0];
}

/* Both colliders after t. */
static void move(struct moving *m, double t)
{
    for (int k = 0; k < 2; k++) {
        const struct mech_scene_motion *const motion = motion_of(m, k);
        const struct mech_scene_place *const from = &m->scene->place[m->collider[k]];
        double arm[3], turn[9];

        turn_by(motion->omega, t, turn);
        mech_v3_add(from->p, -1., m->origin[k], arm);
        mech_m3_mul(turn, arm, arm);
        mech_v3_add(arm, 1., m->origin[k], m->at[k].p);
        mech_v3_add(m->at[k].p, t, motion->v, m->at[k].p);
        mech_m3_product(turn, from->R, m->at[k].R);
    }
}

/* The body's frame from the collider's, which the query left. */
static void find_origin(struct moving *m, int k)
{
    const int32_t c = m->collider[k];
    const struct mech_collider *const collider = &m->scene->colliders[c];
    const struct mech_scene_place *const place = &m->scene->place[c];
    double back[3];

    memcpy(m->origin[k], place->p, sizeof m->origin[k]);
    if (!place->plain) {
        mech_m3_mul_transposed(collider->R, collider->p, back);
        mech_m3_mul(place->R, back, back);
        mech_v3_add(place->p, -1., back, m->origin[k]);
    }
}

/* As mech_scene_size, and HUGE_VAL where one has no bounds. */
static double size_of(const struct mech_scene *s, const int32_t collider[2], bool either)
{
    double size = HUGE_VAL;
    bool all = true;

    for (int k = 0; k < 2; k++) {
        const struct mech_shape *const shape = &s->colliders[collider[k]].shape;
        double largest = 0.;

        for (int i = 0; i < 3; i++) {
            largest = fmax(largest, shape->high[i] - shape->low[i]);
        }
        all = all && isfinite(largest);
        size = isfinite(largest) ? fmin(size, largest) : size;
    }
    return all || either ? size : HUGE_VAL;
}

double mech_scene_size(const struct mech_scene *s, const struct mech_contact *c)
{
    return size_of(s, c->collider, true);
}

static void begin(struct moving *m, const struct mech_contact *known)
{
    double size = 0.;

    for (int k = 0; k < 2; k++) {
        const int32_t c = known->collider[k];
        const struct mech_shape *const shape = &m->scene->colliders[c].shape;

        m->collider[k] = c;
        m->convex[k] = (struct mech_convex){.shape = shape, .p = m->at[k].p, .R = m->at[k].R};
        find_origin(m, k);
        for (int i = 0; i < 3; i++) {
            size = fmax(size, fmin(shape->high[i] - shape->low[i], HUGE_VAL));
        }
    }
    m->touches = TOUCHES * size;
    m->size = size_of(m->scene, m->collider, false);
    double between[3];

    mech_v3_add(motion_of(m, 0)->v, -1., motion_of(m, 1)->v, between);
    m->closing = mech_v3_norm(between);
    for (int k = 0; k < 2; k++) {
        m->closing += mech_v3_norm(motion_of(m, k)->omega) * motion_of(m, k)->extent;
    }
}

/* The most that a point of collider k, as it is t after the query, is from the origin of its body's
 * frame along e [3], times |e|; without the rounding, which turning does not move. */
static double farthest(const struct moving *m, int k, double t, const double e[3])
{
    const struct mech_shape *const shape = m->convex[k].shape;
    double arm[3], along[3], most;

    mech_v3_add(m->at[k].p, -1., m->origin[k], arm);
    mech_v3_add(arm, -t, motion_of(m, k)->v, arm);
    mech_m3_mul_transposed(m->at[k].R, e, along);
    most = mech_v3_dot(arm, e);
    for (int i = 0; i < 3; i++) {
        most += fmax(along[i] * (shape->low[i] + shape->rounding),
                     along[i] * (shape->high[i] - shape->rounding));
    }
    return most;
}

/* How long they take at least from t on to close this gap along n. */
static double closes_in(const struct moving *m, double t, double gap, const double n[3])
{
    double speed = 0., rate = 0.;

    for (int k = 0; k < 2; k++) {
        const struct mech_scene_motion *const motion = motion_of(m, k);
        const double sign = k == 0 ? 1. : -1.;
        double e[3];

        speed += sign * mech_v3_dot(n, motion->v);
        mech_v3_cross(n, motion->omega, e);
        for (int i = 0; i < 3; i++) {
            e[i] *= sign;
        }
        const double turns = mech_v3_norm(e);

        if (turns > 0.) {
            speed += fmin(farthest(m, k, t, e), turns * motion->extent);
            rate += turns * mech_v3_norm(motion->omega) * motion->extent;
        }
    }
    const double root = sqrt(speed * speed + 2. * rate * gap);

    return speed > 0. ? 2. * gap / (root + speed) : rate > 0. ? (root - speed) / rate : HUGE_VAL;
}

/* How long nothing touches after these contacts of the moment t: 0 where something does. */
static double free_for(const struct moving *m, double t, const struct mech_contact *at, int32_t n)
{
    double least = HUGE_VAL;

    for (int32_t i = 0; i < n; i++) {
        if (at[i].gap <= m->touches) {
            return 0.;
        }
        least = fmin(least, closes_in(m, t, at[i].gap - 0.5 * m->touches, at[i].normal));
    }
    return least;
}

/* The gap that a contact of the moment t comes to `after` it, as its points move then. */
static double gap_after(const struct moving *m, const struct mech_contact *c, double t,
                        double after)
{
    double gap = c->gap;

    for (int k = 0; k < 2; k++) {
        const struct mech_scene_motion *const motion = motion_of(m, k);
        double arm[3], v[3];

        mech_v3_add(c->point[k], -t, motion->v, arm);
        mech_v3_add(arm, -1., m->origin[k], arm);
        mech_v3_cross(motion->omega, arm, v);
        mech_v3_add(v, 1., motion->v, v);
        gap += (k == 0 ? -after : after) * mech_v3_dot(v, c->normal);
    }
    return gap;
}

/* A contact of the moment t, carried back to the query: what the bodies' rates are of then, and the
 * gap from which these lead to that of the moment. */
static void carry_back(const struct moving *m, double t, struct mech_contact *c)
{
    double x[3];

    c->gap = gap_after(m, c, t, -t);
    mech_v3_add(c->point[0], 1., c->point[1], x);
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 3; i++) {
            c->point[k][i] =
                0.5 * x[i] - t * motion_of(m, k)->v[i] + (k ? 0.5 : -0.5) * c->gap * c->normal[i];
        }
    }
}

double mech_scene_gap_after(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                            const struct mech_contact *c)
{
    struct moving m = {.scene = s, .sweep = sweep};

    for (int k = 0; k < 2; k++) {
        m.collider[k] = c->collider[k];
        find_origin(&m, k);
    }
    return gap_after(&m, c, 0., sweep->span);
}

bool mech_scene_stands(const struct mech_scene *s, const struct mech_contact *c)
{
    return c->gap <= STANDS * size_of(s, c->collider, false);
}

bool mech_scene_bars(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                     const struct mech_contact *c)
{
    struct moving m = {.scene = s, .sweep = sweep};
    double between[3], radius = 0., turn = 0.;

    begin(&m, c);
    mech_v3_add(motion_of(&m, 1)->v, -1., motion_of(&m, 0)->v, between);
    mech_v3_add(between, -mech_v3_dot(between, c->normal), c->normal, between);
    for (int k = 0; k < 2; k++) {
        radius += m.convex[k].shape->rounding;
        turn += mech_v3_norm(motion_of(&m, k)->omega) * motion_of(&m, k)->extent;
    }
    const double sideways = sweep->span * (mech_v3_norm(between) + turn);

    const double most = sweep->sure * m.size;

    return sideways <= most || sideways * sideways <= 2. * radius * most;
}

/* What is within reach at the moment t, behind the list. */
static int touch_at(struct moving *m, double t, double reach, struct mech_contact_list *list)
{
    move(m, t);
    return mech_scene_touch(m->scene, m->collider,
                            (const struct mech_convex *const[2]){&m->convex[0], &m->convex[1]},
                            reach, list);
}

static bool is_alike(const struct moving *m, const struct mech_contact *known, int32_t n,
                     const double normal[3])
{
    for (int32_t i = 0; i < n; i++) {
        if (mech_v3_dot(known[i].normal, normal) > m->sweep->alike) {
            return true;
        }
    }
    return false;
}

/* Whether the placements at the end of the span show that they touch as known. */
static int end(struct moving *m, const struct mech_contact *known, int32_t n,
               struct mech_contact_list *list, bool *as_known)
{
    const int32_t first = list->n;

    *as_known = false;
    const double most = m->sweep->close * m->size;

    MECH_TRY(touch_at(m, m->sweep->span, fmax(most, 0.), list));
    for (int32_t i = first; i < list->n; i++) {
        const struct mech_contact *const c = &list->at[i];

        *as_known = *as_known ||
                    (c->gap < most && c->gap > -DEEP * m->size && is_alike(m, known, n, c->normal));
    }
    list->n = first;
    return 0;
}

/* What touches at t, behind `first` in the list: carried back to the query, or nothing. */
static enum mech_scene_way tell(const struct moving *m, double t, const struct mech_contact *known,
                                int32_t n, int32_t first, struct mech_contact_list *list)
{
    const double left = m->sweep->span - t;
    bool overlaps = false, alike = true;

    for (int32_t i = first; i < list->n; i++) {
        struct mech_contact *const c = &list->at[i];

        overlaps = overlaps || gap_after(m, c, t, left) < -m->sweep->allowed * m->size;
        alike = alike && is_alike(m, known, n, c->normal);
        carry_back(m, t, c);
    }
    list->n = overlaps && !alike ? list->n : first;
    return !overlaps ? MECH_WAY_FREE : alike ? MECH_WAY_KNOWN : MECH_WAY_OTHER;
}

/* Contacts that are passed, after `first` in the list, if requested. */
static int pass(struct moving *m, int32_t first, struct mech_contact_list *list)
{
    int32_t n = first;

    list->n = first;
    if (!m->sweep->beside) {
        return 0;
    }
    MECH_TRY(touch_at(m, m->sweep->span, m->scene->margin + m->closing * m->sweep->span, list));
    for (int32_t i = first; i < list->n; i++) {
        struct mech_contact c = list->at[i];

        carry_back(m, m->sweep->span, &c);
        if (c.gap >= -APART * m->size && gap_after(m, &c, 0., m->sweep->span) >= 0.) {
            c.gap = fmax(c.gap, 0.);
            list->at[n++] = c;
        }
    }
    list->n = n;
    return 0;
}

int mech_scene_sweep(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                     const struct mech_contact *known, int32_t n, struct mech_contact_list *list,
                     enum mech_scene_way *way)
{
    struct moving m = {.scene = s, .sweep = sweep};
    const int32_t first = list->n;
    bool as_known;
    double t = 0.;

    begin(&m, known);
    MECH_TRY(end(&m, known, n, list, &as_known));
    *way = as_known ? MECH_WAY_KNOWN : MECH_WAY_FREE;
    for (int k = 0; t < sweep->span && !as_known; k++) {
        MECH_TRY(touch_at(&m, t, s->margin + m.touches + m.closing * (sweep->span - t), list));
        const double further = free_for(&m, t, list->at + first, list->n - first);

        if (!(further > 0.) || k == STEPS_MOST) {
            *way = tell(&m, t, known, n, first, list);
            return *way == MECH_WAY_FREE ? pass(&m, first, list) : 0;
        }
        list->n = first;
        t += further;
    }
    return as_known ? 0 : pass(&m, first, list);
}

/* --- rows that turn --------------------------------------------------------------------------- */

/* Velocity of the second body's point against the first's at a contact of the moment t. */
static void velocity_at(const struct moving *m, const struct mech_contact *c, double t, double u[3])
{
    u[0] = u[1] = u[2] = 0.;
    for (int k = 0; k < 2; k++) {
        const struct mech_scene_motion *const motion = motion_of(m, k);
        double arm[3], v[3];

        mech_v3_add(c->point[k], k ? -0.5 * c->gap : 0.5 * c->gap, c->normal, arm);
        mech_v3_add(arm, -t, motion->v, arm);
        mech_v3_add(arm, -1., m->origin[k], arm);
        mech_v3_cross(motion->omega, arm, v);
        mech_v3_add(v, 1., motion->v, v);
        mech_v3_add(u, k ? 1. : -1., v, u);
    }
}

/* u by the least rotation that takes the unit vector `from` to `to` */
static void turn_along(const double from[3], const double to[3], double u[3])
{
    double axis[3], once[3], twice[3];

    mech_v3_cross(from, to, axis);
    mech_v3_cross(axis, u, once);
    mech_v3_cross(axis, once, twice);
    mech_v3_add(u, 1., once, u);
    mech_v3_add(u, 1. / (1. + mech_v3_dot(from, to)), twice, u);
}

/* The side of the pair whose points of contact with a plane are fixed in it, or at its rounding
 * from such points; −1: none. */
static int fixed_side(const struct moving *m)
{
    for (int k = 0; k < 2; k++) {
        const struct mech_shape *const plane = m->convex[1 - k].shape, *const on =
                                                                           m->convex[k].shape;

        if (plane->ops->fixed && plane->triangles == 0 && !(on->half_length > 0.) &&
            (on->rounding > 0. || on->hull.vertices > 0)) {
            return k;
        }
    }
    return -1;
}

/* ω × (ω × (x − p)) of the fixed point x behind the contact: the normal does not turn, and the
 * plane is at rest */
static void turn_on_plane(const struct moving *m, const struct mech_contact *c, int side,
                          double turn[3])
{
    const struct mech_scene_motion *const motion = motion_of(m, side);
    const double sign = side ? 1. : -1.;
    double arm[3], v[3];

    mech_v3_add(c->point[side], sign * m->convex[side].shape->rounding, c->normal, arm);
    mech_v3_add(arm, -1., m->origin[side], arm);
    mech_v3_cross(motion->omega, arm, v);
    mech_v3_cross(motion->omega, v, turn);
    for (int i = 0; i < 3; i++) {
        turn[i] *= sign;
    }
}

/* What the row of n comes to be within the span may be of the gap's change beside its own. */
static const double continues = 0.25;

/* From the contact `before`, the span before the query. */
static void turn_between(const struct moving *m, const struct mech_contact *before,
                         const struct mech_contact *now, double turn[3])
{
    const double span = m->sweep->span;
    double from[3], to[3];

    velocity_at(m, before, -span, from);
    velocity_at(m, now, 0., to);
    const double rate = mech_v3_dot(before->normal, from), next = mech_v3_dot(now->normal, to);
    const double jump = now->gap - before->gap - 0.5 * span * (rate + next);

    if (!(fabs(jump) <= continues * 0.5 * span * fabs(next - rate) + m->touches)) {
        return;
    }
    turn_along(before->normal, now->normal, from);
    for (int i = 0; i < 3; i++) {
        turn[i] = (to[i] - from[i]) / span;
    }
}

int mech_scene_turn(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                    const struct mech_contact *known, int32_t n, struct mech_contact_list *list,
                    double *turn)
{
    struct moving m = {.scene = s, .sweep = sweep};
    const int32_t first = list->n;
    double reach = s->margin;

    begin(&m, known);
    const int side = fixed_side(&m);

    memset(turn, 0, 3 * (size_t)n * sizeof *turn);
    for (int32_t i = 0; i < n && side >= 0; i++) {
        turn_on_plane(&m, &known[i], side, turn + 3 * i);
    }
    if (side >= 0) {
        return 0;
    }
    for (int32_t i = 0; i < n; i++) {
        reach = fmax(reach, known[i].gap);
    }
    MECH_TRY(touch_at(&m, -sweep->span, reach + m.closing * sweep->span, list));
    for (int32_t i = 0, k = first; i < n; i++) {
        k = i > 0 && known[i].id < known[i - 1].id ? first : k;
        while (k < list->n && list->at[k].id < known[i].id) {
            k++;
        }
        if (k < list->n && list->at[k].id == known[i].id) {
            turn_between(&m, &list->at[k], &known[i], turn + 3 * i);
        }
    }
    list->n = first;
    return 0;
}

double mech_scene_turns_most(const struct mech_scene *s, const struct mech_scene_sweep *sweep,
                             const struct mech_contact *c)
{
    const struct moving m = {
        .scene = s, .sweep = sweep, .collider = {c->collider[0], c->collider[1]}};
    double between[3], rate = 0., speed = 0.;

    mech_v3_add(motion_of(&m, 1)->v, -1., motion_of(&m, 0)->v, between);
    speed = mech_v3_norm(between);
    for (int k = 0; k < 2; k++) {
        const struct mech_scene_motion *const motion = motion_of(&m, k);
        const double omega = mech_v3_norm(motion->omega);

        rate += omega;
        speed += omega * motion->extent;
    }
    return speed * (rate + speed / mech_scene_size(s, c));
}
