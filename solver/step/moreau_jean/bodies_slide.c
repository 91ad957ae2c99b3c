/* The direction of friction of contacts that slide on, in a Moreau–Jean step.
 *
 * Friction opposes c_T. With u = H v of the rows of the middle, that is by the law of a contact the
 * speed at the end of the step; where a slide turns in the plane of its contact, the impulse of a
 * whole step along the direction at its end is of order 1. A contact that slides on has the speed
 * in the middle, θ u_{k+1} + (1 − θ) u_k, instead:
 *
 *     c_T = u_{k+1} + b_T,   b_T = (1 − θ)/θ u_k
 *
 * of which only the direction matters while c_T ≠ 0. That is of order 2 at θ = ½, and friction
 * takes energy: P_T·½ (u_k + u_{k+1}) ≤ 0. It is the law of groups of bodies that touch each other,
 * or that joints connect, where all contacts last, which pushed or touched after the last step, and
 * each either
 *
 *     slides   far from rest: |u_k| > 12 s,  s = Σ μ P_N (1/m) over the contacts of both bodies,
 *              P_N the impulses of the last step: what friction changes a speed by in a step
 *     sticks   |u_k| ≤ s/1000 + 2 h |u'|,  u' the rate at which its rows turn
 *
 * Then b_T = (1 − θ)/θ H_T v_k with one v_k for all of them, so that v_{k+1} = −(1 − θ)/θ v_k makes
 * every c_T (next to) 0: with b_T at some contacts alone, wedged bodies may have no impulses at
 * all. In heaps some contact mostly comes or goes, and the law there is that of the end. A step
 * that does not fulfil the conditions is off by O(h²), and there are O(1) of them before and after
 * each event, so that the order of the motion is 2.
 *
 * Couples about n (S) and across (R) are parts of a contact as T is, with the speeds at which the
 * bodies turn beside each other; such a part
 *
 *     turns    |ω_k| > 12 h |ω'|,  ω' the mean rate of the last step
 *     rests    r |ω_k| ≤ s/1000 + 2 h |u'|,  r the longer arm
 *
 * Where a slide of a group is found to turn around in the step, a contact joins it, or no impulses
 * are found, these are looked for once more with the speeds at the end. Under Coulomb's law alone:
 * by the associated one a slide opens its contact by μ|c_T|. Contacts that have couples but no
 * friction, or whose overlaps are still being closed, are as those that come or go. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <string.h>

/* see above; the speed of a corner changes by up to 4 s where a body is thin or round */
static const double far_from_rest = 12., still = 1000.;
/* of the colliders' size: a gap that counts as none */
static const double touches = 1e-9;
/* of what is closed in a step: an overlap that an impact has left */
static const double parting = 0.01;

bool mech_moreau_bodies_may_slide(struct mech_moreau_bodies *s, int32_t i,
                                  const struct mech_material *material, double speed,
                                  const struct mech_touched *kept)
{
    struct mech_foretold_of *const of = &s->foretold.of[i];
    const struct mech_scene_motion *motion;
    const struct mech_scene *const scene = mech_model_touch_scene(s->model, &motion);
    const bool touched = kept || of->gap <= touches * mech_scene_size(scene, &s->list.at[i]);

    memset(of->slip, 0, sizeof of->slip);
    of->slows[0] = of->slows[1] = of->press = of->arm = 0.;
    of->resists = material->rolling > 0. || material->spinning > 0.;
    if (!touched) {
        of->stage = of->gap + s->h * speed > 0. ? MECH_SLIDE_OPEN : MECH_SLIDE_EVENT;
        return false;
    }
    const struct mech_contact_settings *const settings = mech_model_contact_settings(s->model);
    const bool bounces = -material->restitution * speed > settings->min_bounce_speed;
    const double closes = material->compliance > 0. ? 0. : settings->recovery_speed * s->h;
    const bool parts = closes > 0. && of->gap < -parting * closes;

    of->press = kept ? material->friction * fmax(mech_v3_dot(kept->n, kept->impulse), 0.) : 0.;
    of->stage = bounces || parts || (of->resists && !(material->friction > 0.)) ? MECH_SLIDE_EVENT
                                                                                : MECH_SLIDE_LASTS;
    return of->stage == MECH_SLIDE_LASTS && material->friction > 0.;
}

/* The group of a body, or of a velocity: the first of its members. */
static int32_t group_of(int32_t *group, int32_t member)
{
    while (group[member] != member) {
        group[member] = group[group[member]];
        member = group[member];
    }
    return member;
}

static void unite(int32_t *group, int32_t one, int32_t other)
{
    const int32_t a = group_of(group, one), b = group_of(group, other);

    group[a > b ? a : b] = a > b ? b : a;
}

/* Velocities of one body, and those of bodies that joints connect, are one group. */
static void connect(const struct mech_moreau_bodies *s, int32_t *group)
{
    const struct mech_joint_rows *const joints = mech_model_joints(s->model);

    for (int32_t i = 0; i <= s->nv; i++) {
        group[i] = i;
    }
    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        const struct mech_touch_body body = mech_model_touch_body(s->model, i);

        for (int32_t k = 1; k < body.n; k++) {
            unite(group, body.slot[0], body.slot[k]);
        }
    }
    for (int32_t r = 0; r < s->rows; r++) {
        int32_t first = s->nv;

        for (int32_t k = joints->start[r]; k < joints->start[r + 1]; k++) {
            if (joints->column[k] < s->nv && first < s->nv) {
                unite(group, first, joints->column[k]);
            }
            first = first < s->nv ? first : joints->column[k];
        }
    }
}

int mech_moreau_bodies_slides_init(struct mech_moreau_bodies *s)
{
    const int32_t bodies = mech_model_touch_bodies(s->model);
    const size_t n = (size_t)bodies + 1, nv = (size_t)s->nv + 1;
    struct mech_slides *const g = &s->slides;
    int32_t *const of = mech_arena_alloc(&s->arena, nv, sizeof *of);
    int32_t *const first = mech_arena_alloc(&s->arena, nv, sizeof *first);

    g->group = mech_arena_alloc(&s->arena, n, sizeof *g->group);
    g->joined = mech_arena_alloc(&s->arena, n, sizeof *g->joined);
    g->press = mech_arena_alloc(&s->arena, n, sizeof *g->press);
    g->upset = mech_arena_alloc(&s->arena, n, sizeof *g->upset);
    g->lambda = mech_arena_alloc(&s->arena, (size_t)s->rows + 1, sizeof *g->lambda);
    g->rate = mech_arena_alloc(&s->arena, nv, sizeof *g->rate);
    if (!of || !first || !g->group || !g->joined || !g->press || !g->upset || !g->lambda ||
        !g->rate) {
        return MECH_NO_MEMORY;
    }
    connect(s, of);
    for (int32_t i = bodies - 1; i >= 0; i--) {
        first[group_of(of, mech_model_touch_body(s->model, i).slot[0])] = i;
    }
    for (int32_t i = 0; i < bodies; i++) {
        g->joined[i] = first[group_of(of, mech_model_touch_body(s->model, i).slot[0])];
    }
    return 0;
}

/* Whether some contact may slide: at least far from rest beside what itself presses. */
static bool some_may(const struct mech_moreau_bodies *s)
{
    for (int32_t i = 0; i < s->list.n; i++) {
        const struct mech_foretold_of *const of = &s->foretold.of[i];
        const double *const u = of->slip;
        double speed = u[0] * u[0] + u[1] * u[1], mobility = 0.;
        int32_t body[2];

        if (of->stage != MECH_SLIDE_LASTS || !(of->press > 0.)) {
            continue;
        }
        if (of->resists) {
            speed += (u[2] * u[2] + u[3] * u[3] + u[4] * u[4]) * of->arm * of->arm;
        }
        mech_model_touch_bodies_of(s->model, &s->list.at[i], body);
        for (int k = 0; k < 2; k++) {
            mobility += body[k] >= 0 ? mech_model_touch_mobility(s->model, body[k]) : 0.;
        }
        const double least = mobility < HUGE_VAL ? of->press * mobility / still : 0.;

        if (speed >
            (of->resists ? 1. : still * far_from_rest * still * far_from_rest) * least * least) {
            return true;
        }
    }
    return false;
}

/* Groups, and what presses on each body. */
static void join(struct mech_moreau_bodies *s)
{
    struct mech_slides *const g = &s->slides;

    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        g->group[i] = g->joined[i];
        g->press[i] = 0.;
        g->upset[i] = false;
    }
    for (int32_t i = 0; i < s->list.n; i++) {
        const struct mech_foretold_of *const of = &s->foretold.of[i];
        int32_t body[2];

        if (of->stage == MECH_SLIDE_OPEN) {
            continue;
        }
        mech_model_touch_bodies_of(s->model, &s->list.at[i], body);
        for (int k = 0; k < 2; k++) {
            if (body[k] >= 0) {
                g->press[body[k]] += of->press;
            }
        }
        if (body[0] >= 0 && body[1] >= 0) {
            unite(g->group, body[0], body[1]);
        }
    }
}

/* s above. */
static double stops_in_a_step(const struct mech_moreau_bodies *s, const int32_t body[2])
{
    double speed = 0.;

    for (int k = 0; k < 2; k++) {
        speed += body[k] >= 0 && s->slides.press[body[k]] > 0.
                     ? s->slides.press[body[k]] * mech_model_touch_mobility(s->model, body[k])
                     : 0.;
    }
    return speed;
}

/* Which parts of a contact slide; *doubtful: one neither slides nor sticks. */
static unsigned slides(const struct mech_moreau_bodies *s, int32_t i, const int32_t body[2],
                       bool *doubtful)
{
    const struct mech_foretold_of *const of = &s->foretold.of[i];
    const double least = stops_in_a_step(s, body);
    const double sticks =
        least < HUGE_VAL ? least / still + 2. * s->h * mech_v3_norm(of->turn) : -1.;
    const double speed = hypot(of->slip[0], of->slip[1]);
    unsigned found = 0;

    if (least > 0. && speed > far_from_rest * least) {
        found |= MECH_SLIDES_ALONG;
    }
    *doubtful = of->stage == MECH_SLIDE_EVENT || (!found && !(speed <= sticks));
    if (of->resists) {
        const double turns[2] = {fabs(of->slip[2]), hypot(of->slip[3], of->slip[4])};

        for (int k = 0; k < 2; k++) {
            if (turns[k] * of->arm <= sticks) {
                continue;
            }
            const bool far = least > 0. && turns[k] > far_from_rest * of->slows[k];

            found |= !far ? 0 : k == 0 ? MECH_SLIDES_SPINNING : MECH_SLIDES_ROLLING;
            *doubtful = *doubtful || !far;
        }
    }
    return *doubtful ? 0 : found;
}

/* The part that a row beside that of N belongs to. */
static unsigned part_of(int k)
{
    return k < 2 ? MECH_SLIDES_ALONG : k == 2 ? MECH_SLIDES_SPINNING : MECH_SLIDES_ROLLING;
}

bool mech_moreau_bodies_slide(struct mech_moreau_bodies *s)
{
    struct mech_slides *const g = &s->slides;
    bool any = false;

    g->any = false;
    if (!g->on || !some_may(s)) {
        return false;
    }
    join(s);
    for (int32_t i = 0; i < s->list.n; i++) {
        struct mech_foretold_of *const of = &s->foretold.of[i];
        int32_t body[2];
        bool doubtful;

        if (of->stage == MECH_SLIDE_OPEN) {
            continue;
        }
        mech_model_touch_bodies_of(s->model, &s->list.at[i], body);
        of->slides = slides(s, i, body, &doubtful);
        const int32_t group = group_of(g->group, body[body[0] < 0]);

        g->upset[group] = g->upset[group] || doubtful;
    }
    for (int32_t i = 0; i < s->list.n; i++) {
        struct mech_foretold_of *const of = &s->foretold.of[i];
        int32_t body[2];

        mech_model_touch_bodies_of(s->model, &s->list.at[i], body);
        of->slides = g->upset[group_of(g->group, body[body[0] < 0])] ? 0 : of->slides;
        any = any || of->slides;
        for (int k = 0; k < MECH_SLIDES; k++) {
            if (of->slides & part_of(k)) {
                of->slide[k] =
                    (1. - s->theta) / s->theta * of->slip[k] - (k < 2 ? of->drift[1 + k] : 0.);
            }
        }
    }
    g->any = any;
    return any;
}

void mech_moreau_bodies_upset(struct mech_moreau_bodies *s, int32_t i)
{
    struct mech_slides *const g = &s->slides;
    int32_t body[2];

    mech_model_touch_bodies_of(s->model, &s->list.at[i], body);
    for (int k = 0; k < 2 && g->any; k++) {
        if (body[k] >= 0) {
            g->upset[group_of(g->group, body[k])] = true;
        }
    }
}

/* Friction against ½ (u_k + u_{k+1}) takes energy for θ other than ½ only where u_{k+1} is along
 * what slides, as is asked here: P·½ (u_k + u_{k+1}) of a slide that turns back may be positive. */
void mech_moreau_bodies_look_back(struct mech_moreau_bodies *s, int32_t i,
                                  const double u[MECH_SLIDES])
{
    const struct mech_foretold_of *const of = &s->foretold.of[i];
    const double *const slip = of->slip;
    const bool along = slip[0] * u[0] + slip[1] * u[1] > 0., spinning = slip[2] * u[2] > 0.;
    const bool rolling = slip[3] * u[3] + slip[4] * u[4] > 0.;

    if (((of->slides & MECH_SLIDES_ALONG) && !along) ||
        ((of->slides & MECH_SLIDES_SPINNING) && !spinning) ||
        ((of->slides & MECH_SLIDES_ROLLING) && !rolling)) {
        mech_moreau_bodies_upset(s, i);
    }
}

bool mech_moreau_bodies_stop_slide(struct mech_moreau_bodies *s, int32_t i, int32_t rows, double *b)
{
    struct mech_foretold_of *const of = &s->foretold.of[i];
    int32_t body[2];

    if (!of->slides) {
        return false;
    }
    mech_model_touch_bodies_of(s->model, &s->list.at[i], body);
    if (!s->slides.upset[group_of(s->slides.group, body[body[0] < 0])]) {
        return false;
    }
    of->slides = 0;
    for (int32_t k = 0; k < rows; k++) {
        b[k] -= of->slide[k];
        of->slide[k] = 0.;
    }
    return true;
}
