/* What a step of free bodies by sweeps starts from: the contacts of the list with their laws and
 * the impulses that the state keeps, and inverse masses and velocities of the bodies. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int reserve(struct mech_sweeps *w, int32_t bodies, int32_t count)
{
    if (count > w->most) {
        const int32_t most = count + count / 2 + 16;
        struct mech_body_contact *const at = realloc(w->at, (size_t)most * sizeof *at);

        w->at = at ? at : w->at;
        int32_t *const of = realloc(w->of, (size_t)most * sizeof *of);

        w->of = of ? of : w->of;
        struct mech_round *const round = realloc(w->round, (size_t)most * sizeof *round);

        w->round = round ? round : w->round;
        if (!at || !of || !round) {
            return MECH_NO_MEMORY;
        }
        w->most = most;
    }
    MECH_TRY(mech_body_newton_reserve(w->newton, bodies, w->most));
    return mech_body_contacts_reserve(w->solver, bodies, w->most);
}

double mech_moreau_bodies_approach(const struct mech_body_contact *c, const double *twist)
{
    double speed = 0.;

    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1. : -1.;
        const double *const r = c->arm[side];

        if (c->body[side] < 0) {
            continue;
        }
        const double *const v = twist + 6 * (size_t)c->body[side], *const w = v + 3;

        speed += sign * (c->n[0] * (v[0] + w[1] * r[2] - w[2] * r[1]) +
                         c->n[1] * (v[1] + w[2] * r[0] - w[0] * r[2]) +
                         c->n[2] * (v[2] + w[0] * r[1] - w[1] * r[0]));
    }
    return speed;
}

/* Of the second body beside the first at a contact: the velocity of its point, m/s, and its turn,
 * rad/s. */
static void move_beside(const struct mech_body_contact *c, const double *twist, double speed[3],
                        double turn[3])
{
    for (int k = 0; k < 3; k++) {
        speed[k] = 0.;
        turn[k] = 0.;
    }
    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1. : -1.;
        double swing[3];

        if (c->body[side] >= 0) {
            const double *const v = twist + 6 * (size_t)c->body[side];

            mech_v3_cross(v + 3, c->arm[side], swing);
            mech_v3_add(speed, sign, v, speed);
            mech_v3_add(speed, sign, swing, speed);
            mech_v3_add(turn, sign, v + 3, turn);
        }
    }
}

void mech_moreau_bodies_slip(const struct mech_body_contact *c, const double *twist,
                             double u[MECH_SLIDES])
{
    double t2[3], speed[3], turn[3];

    move_beside(c, twist, speed, turn);
    mech_v3_cross(c->n, c->t1, t2);
    u[0] = mech_v3_dot(c->t1, speed);
    u[1] = mech_v3_dot(t2, speed);
    u[2] = mech_v3_dot(c->n, turn);
    u[3] = mech_v3_dot(c->t1, turn);
    u[4] = mech_v3_dot(t2, turn);
}

/* Speeds of a contact at the start, and by what its turns change in a step as in the last one. */
static void set_slip(struct mech_moreau_bodies *s, const struct mech_body_contact *c,
                     struct mech_foretold_of *law)
{
    struct mech_sweeps *const w = &s->sweeps;
    double change[MECH_SLIDES];

    mech_moreau_bodies_slip(c, w->before, law->slip);
    if (!law->resists) {
        return;
    }
    for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
            mech_model_touch_twist(s->model, c->body[side], s->slides.rate,
                                   w->forced + 6 * (size_t)c->body[side]);
        }
        law->arm = fmax(law->arm, c->body[side] < 0 ? 0. : mech_v3_norm(c->arm[side]));
    }
    mech_moreau_bodies_slip(c, w->forced, change);
    law->slows[0] = s->h * fabs(change[2]);
    law->slows[1] = s->h * hypot(change[3], change[4]);
}

/* Contact number i of the list; `warm` runs through what the state keeps. */
static void take(struct mech_moreau_bodies *s, const struct mech_state *state,
                 const struct mech_gap_step *step, int32_t i, size_t *warm)
{
    struct mech_sweeps *const w = &s->sweeps;
    const struct mech_contact *const contact = &s->list.at[i];
    const struct mech_material material = mech_model_touch_material(s->model, contact);
    struct mech_body_contact *const c = &w->at[w->count];
    struct mech_touch_rows *const rows = &s->touch;
    double bE[2];

    *c = (struct mech_body_contact){
        .mu = material.friction, .spinning = material.spinning, .rolling = material.rolling};
    mech_model_touch_frame(s->model, contact, rows);
    memcpy(c->n, rows->frame, sizeof c->n);
    memcpy(c->t1, rows->frame + 3, sizeof c->t1);
    memcpy(c->body, rows->body, sizeof c->body);
    memcpy(c->arm, rows->arm, sizeof c->arm);
    const double speed = mech_moreau_bodies_approach(c, w->before);
    struct mech_foretold_of *const law = &s->foretold.of[i];

    const struct mech_touched *const kept = mech_moreau_bodies_kept(state, contact->id, warm);

    mech_moreau_bodies_lasts(s, i, &material, rows, speed, kept);
    if (!mech_gap_contact(step, &material, law->gap, speed - law->drift[0], bE)) {
        return;
    }
    if (s->slides.on && mech_moreau_bodies_may_slide(s, i, &material, speed, kept)) {
        set_slip(s, c, law);
    }
    memcpy(c->b, law->drift, sizeof law->drift);
    c->b[0] += bE[0];
    c->cfm[0] = bE[1];
    if (kept) {
        w->lasting++;
        memcpy(c->impulse, kept->impulse, sizeof c->impulse);
        if (c->spinning > 0. || c->rolling > 0.) {
            memcpy(c->couple, kept->couple, sizeof c->couple);
        }
    }
    w->of[w->count++] = i;
}

/* Of a body, in w->forced: the largest speed at which it moves beside one that it touches; NULL:
 * nothing moves it. */
static double *stir_of(const struct mech_sweeps *w, const struct mech_body_contact *c, int side)
{
    const int32_t i = c->body[side];

    return i >= 0 && w->inverse_mass[3 * (size_t)i] > 0. ? &w->forced[6 * (size_t)i] : NULL;
}

/* How fast bodies move beside each other at a contact, m/s: their points, and their turns over the
 * longer arm. */
static double move_of(const struct mech_body_contact *c, const double *twist)
{
    double speed[3], turn[3], arm = 0.;

    move_beside(c, twist, speed, turn);
    for (int side = 0; side < 2; side++) {
        if (c->body[side] >= 0) {
            arm = fmax(arm, mech_v3_dot(c->arm[side], c->arm[side]));
        }
    }
    return sqrt(mech_v3_dot(speed, speed) + arm * mech_v3_dot(turn, turn));
}

/* What contacts may miss where their impulses change: little beside what stirs about their bodies.
 * What begins to touch where all is at rest, as all does in the first step, may miss nothing. */
static void limit(struct mech_sweeps *w, int32_t bodies)
{
    for (int32_t i = 0; i < bodies; i++) {
        w->forced[6 * (size_t)i] = 0.;
    }
    for (int32_t i = 0; i < w->count; i++) {
        const double speed = move_of(&w->at[i], w->before);

        for (int side = 0; side < 2; side++) {
            double *const stir = stir_of(w, &w->at[i], side);

            if (stir && speed > *stir) {
                *stir = speed;
            }
        }
    }
    for (int32_t i = 0; i < w->count; i++) {
        const double *const first = stir_of(w, &w->at[i], 0), *const second =
                                                                  stir_of(w, &w->at[i], 1);

        w->at[i].limit = fmax(first ? *first : 0., second ? *second : 0.) / MECH_OWN_STIR;
    }
}

int mech_moreau_bodies_take(struct mech_moreau_bodies *s, const struct mech_state *state,
                            int32_t from)
{
    const struct mech_gap_step step = mech_moreau_bodies_gap(s);
    size_t warm = 0;

    MECH_TRY(reserve(&s->sweeps, mech_model_touch_bodies(s->model), s->list.n));
    for (int32_t i = from; i < s->list.n; i++) {
        take(s, state, &step, i, &warm);
    }
    if (mech_moreau_bodies_own(s)) {
        limit(&s->sweeps, mech_model_touch_bodies(s->model));
    }
    return 0;
}

int mech_moreau_bodies_gather(struct mech_moreau_bodies *s, const struct mech_state *state,
                              struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;
    const int32_t bodies = mech_model_touch_bodies(s->model);

    MECH_TRY(mech_moreau_bodies_detect(s, state, result));
    for (int32_t i = 0; i < bodies; i++) {
        double *const m = w->inverse_mass + 3 * (size_t)i;

        mech_model_touch_inertia(s->model, i, m, w->inverse_inertia + 9 * (size_t)i);
        m[1] = m[2] = m[0];
        mech_model_touch_twist(s->model, i, s->v0, w->before + 6 * (size_t)i);
    }
    w->count = w->lasting = 0;
    MECH_TRY(mech_moreau_bodies_take(s, state, 0));
    if (mech_moreau_bodies_slide(s)) {
        for (int32_t i = 0; i < w->count; i++) {
            for (int k = 0; k < MECH_SLIDES; k++) {
                w->at[i].b[1 + k] += s->foretold.of[w->of[i]].slide[k];
            }
        }
    }
    return 0;
}
