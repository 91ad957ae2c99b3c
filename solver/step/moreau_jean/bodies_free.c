/* Moreau–Jean steps of models of free bodies alone, which nothing but contacts between shapes
 * couples: M is inverted body by body, and the impulses are found by sweeps over the contacts
 * (vi/body_contacts.h) without any matrix between them,
 *
 *     v_{k+1} = v_k + M⁻¹ (h f(q_θ, v_θ, t_θ) + Gᵀ l)
 *
 * f depends on v by gyroscopic moments and the like, O(h ω): the equation is iterated in this form,
 * from the last velocities. Where that or the sweeps (bodies_sweeps.c) do not converge,
 * the step is Newton's (bodies_newton.c), which has the same solution. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 12 };

const char *mech_moreau_bodies_sweeps_name(void)
{
    int i = 0;

    while (!mech_vi_types[i]->sweeps) {
        i++;
    }
    return mech_vi_types[i]->name;
}

bool mech_moreau_bodies_suits_sweeps(const struct mech_model *m)
{
    const char *const type = mech_model_settings(m)->vi.type;
    const struct mech_vi_type *const asked = type ? mech_vi_find(type) : NULL;

    return mech_model_touch_bodies(m) > 0 && mech_model_touch_free(m) &&
           mech_model_unconnected(m) && mech_model_joints(m)->count == 0 &&
           mech_model_contacts(m)->count == 0 && (!type || (asked && asked->sweeps));
}

int mech_moreau_bodies_sweeps_init(struct mech_moreau_bodies *s)
{
    const size_t n = (size_t)mech_model_touch_bodies(s->model);
    struct mech_sweeps *const w = &s->sweeps;

    w->inverse_mass = mech_arena_alloc(&s->arena, 3 * n, sizeof *w->inverse_mass);
    w->inverse_inertia = mech_arena_alloc(&s->arena, 9 * n, sizeof *w->inverse_inertia);
    w->before = mech_arena_alloc(&s->arena, 6 * n, sizeof *w->before);
    w->twist = mech_arena_alloc(&s->arena, 6 * n, sizeof *w->twist);
    w->forced = mech_arena_alloc(&s->arena, 6 * n, sizeof *w->forced);
    w->f = mech_arena_alloc(&s->arena, 2 * ((size_t)s->nv + 1), sizeof *w->f);
    if (!w->inverse_mass || !w->inverse_inertia || !w->before || !w->twist || !w->forced || !w->f) {
        return MECH_NO_MEMORY;
    }
    w->last = w->f + s->nv + 1;
    w->on = true;
    MECH_TRY(mech_body_contacts_create((int32_t)n, 4 * (int32_t)n, &w->solver));
    return mech_body_newton_create((int32_t)n, 4 * (int32_t)n, &w->newton);
}

void mech_moreau_bodies_sweeps_fini(struct mech_moreau_bodies *s)
{
    mech_body_contacts_destroy(s->sweeps.solver);
    mech_body_newton_destroy(s->sweeps.newton);
    free(s->sweeps.at);
    free(s->sweeps.of);
    free(s->sweeps.round);
}

/* --- the step --------------------------------------------------------------------------------- */

/* w->f = h M⁻¹ f at the velocities of the state */
static int push(struct mech_moreau_bodies *s, struct mech_state *state,
                struct mech_step_result *result)
{
    const double h = s->h, theta = s->theta;
    const struct mech_rate_point now = {state, state->at->time + theta * h, s->q_m, s->v_m, NULL};

    for (int32_t i = 0; i < s->nv; i++) {
        s->v_m[i] = (1. - theta) * s->v0[i] + theta * state->v[i];
        s->d[i] = theta * h * s->v_m[i];
    }
    mech_model_move(s->model, s->q0, s->d, s->q_m);
    MECH_TRY(mech_rates_vdot(&s->rates, &now, s->sweeps.f, result));
    for (int32_t i = 0; i < s->nv; i++) {
        s->sweeps.f[i] *= h;
    }
    return 0;
}

static bool counts(const struct mech_moreau_bodies *s, const struct mech_body_contact *c)
{
    const double *const l = c->impulse, *const n = c->n;

    return n[0] * l[0] + n[1] * l[1] + n[2] * l[2] > 0. ||
           s->list.at[s->sweeps.of[c - s->sweeps.at]].gap <= 0.;
}

/* Contacts that push or touch into the state. */
static int keep(struct mech_moreau_bodies *s, struct mech_state *state,
                struct mech_step_result *result)
{
    const struct mech_sweeps *const w = &s->sweeps;
    int32_t n = 0;

    for (int32_t i = 0; i < w->count; i++) {
        n += counts(s, &w->at[i]);
    }
    struct mech_touched *const first = mech_moreau_bodies_room(s, state, n, result);
    struct mech_touched *out = first;

    for (int32_t i = 0; i < w->count && out; i++) {
        const struct mech_body_contact *const c = &w->at[i];
        const struct mech_contact *const contact = &s->list.at[w->of[i]];

        if (!counts(s, c)) {
            continue;
        }
        *out = (struct mech_touched){.id = contact->id, .gap = contact->gap};
        memcpy(out->n, c->n, sizeof out->n);
        memcpy(out->arm, c->arm, sizeof out->arm);
        memcpy(out->impulse, c->impulse, sizeof out->impulse);
        memcpy(out->couple, c->couple, sizeof out->couple);
        for (int k = 0; k < 3; k++) {
            out->p[k] = 0.5 * (contact->point[0][k] + contact->point[1][k]);
        }
        out++;
    }
    if (!first) {
        return MECH_UNSUPPORTED;
    }
    mech_moreau_bodies_sort(first, n);
    return 0;
}

/* Whether the speeds that forces give are those of the last repeat, beside what they are and what
 * rounding leaves of the velocities; each body's, and its angular ones. */
static bool settled(const struct mech_moreau_bodies *s)
{
    const double relative = mech_model_settings(s->model)->newton.relative_tolerance;
    const double *const f = s->sweeps.f, *const last = s->sweeps.last;
    const struct mech_balance *const b = &s->balance;

    for (int32_t k = 0; k < b->blocks; k++) {
        double change = 0., size = 0., speed = 0.;

        for (int32_t i = b->start[k]; i < b->start[k + 1]; i++) {
            change += fabs(f[i] - last[i]);
            size += fabs(f[i]);
            speed += fabs(s->v_m[i]);
        }
        if (!(change <= relative * size + MECH_FORCES_MET * speed)) {
            return false;
        }
    }
    return true;
}

/* Speed of the body's point at a contact, global, from velocities or what forces add to them. */
static double speed_at(const struct mech_moreau_bodies *s, const struct mech_body_contact *c,
                       int side, const double *now, const double *before)
{
    double u[6], last[6], turn[3];

    mech_model_touch_twist(s->model, c->body[side], now, u);
    if (before) {
        mech_model_touch_twist(s->model, c->body[side], before, last);
        for (int k = 0; k < 6; k++) {
            u[k] -= last[k];
        }
    }
    mech_v3_cross(u + 3, c->arm[side], turn);
    mech_v3_add(u, 1., turn, u);
    return mech_v3_norm(u);
}

/* Where impulses are accepted as they are: the speeds that forces give to a body which touches
 * others are those of the last repeat if they have changed, at all its contacts, by no more than
 * that share. No repeat gets nearer than the impulses are, and where sweeps leave spins of bodies
 * at rest, moments that are next to nothing differ from repeat to repeat. */
static void settle(struct mech_moreau_bodies *s, double share)
{
    struct mech_sweeps *const w = &s->sweeps;
    enum { NONE, ALL, NOT_ALL };
    const int32_t bodies = mech_model_touch_bodies(s->model);

    for (int32_t i = 0; i < bodies; i++) {
        w->forced[6 * (size_t)i] = NONE;
    }
    for (int32_t i = 0; i < 2 * w->count; i++) {
        const struct mech_body_contact *const c = &w->at[i / 2];
        const int side = i % 2;

        if (c->body[side] >= 0) {
            double *const mark = w->forced + 6 * (size_t)c->body[side];
            const bool few =
                speed_at(s, c, side, w->f, w->last) <= share * speed_at(s, c, side, w->f, NULL);

            *mark = few && *mark != NOT_ALL ? ALL : NOT_ALL;
        }
    }
    for (int32_t i = 0; i < bodies; i++) {
        double twist[6];

        if (w->forced[6 * (size_t)i] == ALL) {
            mech_model_touch_twist(s->model, i, w->f, twist);
            mech_model_touch_untwist(s->model, i, twist, w->last);
        }
    }
}

/* Whether another repeat has nothing to add. */
static bool ends(struct mech_moreau_bodies *s, const struct mech_step_result *result)
{
    const bool accept = mech_model_settings(s->model)->vi.on_failure == MECH_ON_FAILURE_ACCEPT;

    if (accept && s->accepted && !settled(s)) {
        settle(s, fmin(s->acceptable, result->residual));
    }
    return settled(s);
}

/* Power of a contact's impulse at these velocities of all bodies. */
static double power_of(const struct mech_body_contact *c, const double *twist)
{
    double power = 0.;

    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1. : -1.;
        const double *const r = c->arm[side], *const l = c->impulse;

        if (c->body[side] < 0) {
            continue;
        }
        const double *const v = twist + 6 * (size_t)c->body[side], *const w = v + 3;
        const double moment[3] = {r[1] * l[2] - r[2] * l[1] + c->couple[0],
                                  r[2] * l[0] - r[0] * l[2] + c->couple[1],
                                  r[0] * l[1] - r[1] * l[0] + c->couple[2]};

        for (int k = 0; k < 3; k++) {
            power += sign * (l[k] * v[k] + moment[k] * w[k]);
        }
    }
    return power;
}

/* What the impulses add to kinetic energy (stepper.h). */
static double gain_of(const struct mech_sweeps *w)
{
    double work = 0., size = 0.;

    for (int32_t i = 0; i < w->count; i++) {
        const double before = power_of(&w->at[i], w->before), after = power_of(&w->at[i], w->twist);

        work += 0.5 * (before + after);
        size += fabs(before) + fabs(after);
    }
    return mech_step_gain(work, size);
}

static void set_out(struct mech_moreau_bodies *s, struct mech_state *state)
{
    for (int32_t i = 0; i < s->nv; i++) {
        state->v[i] = s->v0[i] + s->sweeps.f[i];
    }
}

/* Contacts that are marked as taken out, out of the sweeps. */
static void let_go(struct mech_moreau_bodies *s)
{
    struct mech_sweeps *const w = &s->sweeps;
    int32_t n = 0;

    for (int32_t i = 0; i < w->count; i++) {
        if (s->foretold.of[w->of[i]].mark != MECH_FORETOLD_OUT) {
            w->at[n] = w->at[i];
            w->of[n++] = w->of[i];
        }
    }
    w->count = n;
}

/* twist += M⁻¹ share of the impulse of a contact on its body on that side. */
static void add_impulse(const struct mech_sweeps *w, const struct mech_body_contact *c, int side,
                        double share, double twist[6])
{
    const double *const m = w->inverse_mass + 3 * (size_t)c->body[side];
    double moment[3], turn[3];

    mech_v3_cross(c->arm[side], c->impulse, moment);
    mech_v3_add(moment, 1., c->couple, moment);
    mech_m3_mul(w->inverse_inertia + 9 * (size_t)c->body[side], moment, turn);
    for (int k = 0; k < 3; k++) {
        twist[k] += share * m[k] * c->impulse[k];
        twist[3 + k] += share * turn[k];
    }
}

int mech_moreau_bodies_undo_sweeps(struct mech_moreau_bodies *s, int32_t from, int32_t to,
                                   double *v)
{
    const struct mech_sweeps *const w = &s->sweeps;

    for (int32_t i = from; i < to; i++) {
        const struct mech_body_contact *const c = &w->at[s->foretold.of[i].of];

        for (int side = 0; side < 2 && s->foretold.of[i].mark == MECH_FORETOLD_PUSHES; side++) {
            double twist[6];

            if (c->body[side] >= 0) {
                mech_model_touch_twist(s->model, c->body[side], v, twist);
                add_impulse(w, c, side, side ? -1. : 1., twist);
                mech_model_touch_untwist(s->model, c->body[side], twist, v);
            }
        }
    }
    return 0;
}

/* T(v_{k+1}) − T(v_k + h M⁻¹ f), ½ P·(u⁺ + u) with u of the velocities without impulses, into
 * *work, and the sum of its terms into *size. */
static void beside(const struct mech_moreau_bodies *s, double *work, double *size)
{
    const struct mech_sweeps *const w = &s->sweeps;

    *work = *size = 0.;
    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        mech_model_touch_twist(s->model, i, w->f, w->forced + 6 * (size_t)i);
    }
    for (int32_t i = 0; i < w->count; i++) {
        const struct mech_body_contact *const c = &w->at[i];
        const double free = power_of(c, w->before) + power_of(c, w->forced);
        const double after = power_of(c, w->twist);

        *work += 0.5 * (free + after);
        *size += fabs(free) + fabs(after);
    }
}

/* Whether the impulses add kinetic energy beside none at all, with P·b and ½ P·E P: a solution
 * takes some, under any law. */
static bool does_work(const struct mech_moreau_bodies *s)
{
    const struct mech_sweeps *const w = &s->sweeps;
    double work = 0., size = 0.;

    beside(s, &work, &size);
    for (int32_t i = 0; i < w->count; i++) {
        const struct mech_body_contact *const c = &w->at[i];
        const double *const l = c->impulse;
        double b[3], along = mech_v3_dot(c->n, l);

        mech_v3_cross(c->n, c->t1, b);
        along = c->b[0] * along + c->b[1] * mech_v3_dot(c->t1, l) + c->b[2] * mech_v3_dot(b, l) +
                c->b[3] * mech_v3_dot(c->n, c->couple) + c->b[4] * mech_v3_dot(c->t1, c->couple) +
                c->b[5] * mech_v3_dot(b, c->couple) + 0.5 * c->cfm[0] * along * along;
        work += along;
        size += fabs(along);
    }
    return mech_step_gain(work, size) > 0.;
}

/* Impulses of all contacts from those they have; where what is accepted of that does work, on to
 * the tolerance if sweeps have not yet been there; where that does, as impulses of the last step
 * between bodies that are wedged may do, once more from none. As mech_moreau_bodies_impulses. */
static int sweep(struct mech_moreau_bodies *s, struct mech_state *state,
                 struct mech_step_result *result)
{
    const bool accept = mech_model_settings(s->model)->vi.on_failure == MECH_ON_FAILURE_ACCEPT;
    struct mech_sweeps *const w = &s->sweeps;
    int code = 0;

    w->whole = false;
    do {
        code = mech_moreau_bodies_impulses(s, state, result);
        if (code != 0 || !s->accepted || accept || !does_work(s)) {
            return code;
        }
        set_out(s, state);
        w->whole = true;
    } while (w->sufficed);
    for (int32_t i = 0; i < w->count; i++) {
        memset(w->at[i].impulse, 0, sizeof w->at[i].impulse);
        memset(w->at[i].couple, 0, sizeof w->at[i].couple);
    }
    code = mech_moreau_bodies_impulses(s, state, result);
    return code == 0 && s->accepted && does_work(s) ? MECH_VI_NOT_CONVERGED : code;
}

/* Of the work of the impulses what sweeps have left of c P along normals (bodies_impact.c). */
static double missed_work(const struct mech_sweeps *w)
{
    double work = 0.;

    for (int32_t i = 0; i < w->count; i++) {
        struct mech_body_contact along = w->at[i];
        const double P = mech_v3_dot(along.n, along.impulse);

        mech_v3_add((const double[3]){0.}, P, along.n, along.impulse);
        memset(along.couple, 0, sizeof along.couple);
        work += 0.5 * (power_of(&along, w->twist) + P * (along.cfm[0] * P + along.b[0]));
    }
    return work;
}

/* As mech_moreau_bodies_stop_turns. */
static bool stop_turns(struct mech_moreau_bodies *s)
{
    struct mech_sweeps *const w = &s->sweeps;
    double work = 0., size = 0.;
    bool any = false;

    for (int32_t i = 0; i < w->count && !any; i++) {
        any = mech_moreau_bodies_may_gain(&s->foretold.of[w->of[i]]);
    }
    if (any) {
        beside(s, &work, &size);
    }
    if (!any || !(mech_moreau_bodies_gain(s, work, missed_work(w), size) > 0.)) {
        return false;
    }
    for (int32_t i = 0; i < w->count; i++) {
        double change[3];

        mech_moreau_bodies_stop(&s->foretold.of[w->of[i]], change);
        mech_v3_add(w->at[i].b, 1., change, w->at[i].b);
    }
    return true;
}

/* As mech_moreau_bodies_stop_slides. */
static bool stop_slides(struct mech_moreau_bodies *s)
{
    struct mech_sweeps *const w = &s->sweeps;
    bool any = false;

    for (int32_t i = 0; i < w->count && s->slides.any; i++) {
        double u[MECH_SLIDES];

        mech_moreau_bodies_slip(&w->at[i], w->twist, u);
        mech_moreau_bodies_look_back(s, w->of[i], u);
    }
    for (int32_t i = 0; i < w->count && s->slides.any; i++) {
        any = mech_moreau_bodies_stop_slide(s, w->of[i], MECH_SLIDES, w->at[i].b + 1) || any;
    }
    return any;
}

/* The contacts from v_k + w->f, until the motion after them shows no others. */
static int impact(struct mech_moreau_bodies *s, struct mech_state *state,
                  struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;

    for (;;) {
        const int code = w->count ? sweep(s, state, result) : 0;
        struct mech_foretold_change change;

        if (code != 0 && code != MECH_VI_NOT_CONVERGED) {
            return code;
        }
        if (code == 0 && (stop_turns(s) || stop_slides(s))) {
            set_out(s, state);
            continue;
        }
        for (int32_t i = 0; i < w->count; i++) {
            mech_moreau_bodies_says(s, w->of[i], i, mech_v3_dot(w->at[i].n, w->at[i].impulse) > 0.);
        }
        MECH_TRY(mech_moreau_bodies_detect_more(s, state, mech_moreau_bodies_undo_sweeps, &change,
                                                result));
        if (!change.out && !change.added) {
            return code;
        }
        if (change.out) {
            let_go(s);
        }
        (void)stop_slides(s);
        MECH_TRY(mech_moreau_bodies_take(s, state, s->list.n - change.added));
        set_out(s, state);
    }
}

int mech_moreau_bodies_sweep(struct mech_moreau_bodies *s, struct mech_state *state,
                             struct mech_step_result *result)
{
    struct mech_sweeps *const w = &s->sweeps;
    const size_t bytes = (size_t)s->nv * sizeof *w->f;

    for (int k = 0; k < REPEATS; k++) {
        MECH_TRY(push(s, state, result));
        if (k > 0 && ends(s, result)) {
            for (int32_t i = 0; i < s->nv; i++) {
                state->vdot[i] = (state->v[i] - s->v0[i]) / s->h;
                s->d[i] = s->h * ((1. - s->theta) * s->v0[i] + s->theta * state->v[i]);
            }
            s->slides.any = false; /* the impulses are found: no other try */
            result->impact_gain += gain_of(w);
            MECH_TRY(keep(s, state, result));
            mech_moreau_bodies_part_free(s);
            mech_model_move(s->model, s->q0, s->d, state->q);
            return 0;
        }
        set_out(s, state);
        memcpy(w->last, w->f, bytes);
        result->iterations++;
        if (k == 0) {
            MECH_TRY(mech_moreau_bodies_gather(s, state, result));
        }
        MECH_TRY(impact(s, state, result));
    }
    return MECH_NOT_CONVERGED;
}
