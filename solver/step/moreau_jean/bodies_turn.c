/* Rows of contacts that turn within a Moreau–Jean step.
 *
 * An impulse acts along the rows H_m of the middle, and the velocity that it restricts is that of
 * the end. With u = H v, and u' its rate at the velocities of the start,
 *
 *     H_{k+1} v_{k+1} ≈ H_m v_{k+1} + (1 − θ) h u'   at θ = ½
 *     H_m (v_k + v_{k+1}) ≈ u_k                      where the left side above is 0
 *
 * so that what rolls, tips or slides keeps its energy, and the point it turns about its place, to
 * second order, and N stays symmetric. That is the law of contacts that last: they pushed in the
 * last step, or touch, and neither close nor open at the start by more than their rows turn within
 * a step. Their gap is what it would be without the turn; it is kept from closing further, and a
 * gap that opened by O(h²) stays, as closing it would take energy. At θ = 1 rows are those of the
 * start, and so is their law.
 *
 * Beside joints the gap of other contacts, which may close to 0 at the end, is that of the middle
 * and what a row that turns away adds until there, ½ (θ h)² u'_N: a hinged body passes what it only
 * touches in line with its hinge, where an impulse has no arm.
 *
 * As for ropes (model/gap.h) the work of P_N, ½ P_N (y'_k + y'⁺), is at most 0 for θ ≥ ½, but for a
 * part of what the weight takes. One contact may push others, and friction has no sign: where
 * T(v_{k+1}) > T(v_free) comes out all the same, the impulses are found once more with rows of the
 * middle, but for those that turn away. Bodies at rest have u' = 0; what is smaller than the
 * tolerance of impulses allows under the weight is not looked for. Cost: a search of those pairs
 * that move and are not points or vertices on planes. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <string.h>

/* rad: bodies that turn farther in a step have no order to keep */
static const double most_turn = 0.5;
/* of what the weight closes: what a row that turns may open faster than it closes, P_N's gain */
static const double weight = 0.5;
/* of the colliders' size: a gap that counts as none */
static const double touches = 1e-9;

/* The velocities at the start, as motions from the poses of the middle on. */
static void set_out(const struct mech_moreau_bodies *s, const struct mech_state *state)
{
    const double t = state->at->time + (1. - s->theta) * s->h;
    const struct mech_eval e = mech_model_point(s->model, state, t, s->q_m, s->v0);

    for (int32_t i = 0; i < mech_model_touch_bodies(s->model); i++) {
        mech_model_touch_set_out(s->model, &e, i);
    }
}

/* Whether the rows of the contact's pair may turn by what matters. */
static bool may_turn(const struct mech_moreau_bodies *s, const struct mech_scene *scene,
                     const struct mech_scene_sweep *sweep, const struct mech_contact *c)
{
    const double least =
        mech_model_settings(s->model)->vi.tolerance * mech_v3_norm(mech_model_gravity(s->model));
    int32_t body[2];

    mech_model_touch_bodies_of(s->model, c, body);
    for (int k = 0; k < 2; k++) {
        if (body[k] >= 0 && mech_v3_norm(sweep->motion[body[k]].omega) * s->h > most_turn) {
            return false;
        }
    }
    return mech_scene_turns_most(scene, sweep, c) > least;
}

int mech_moreau_bodies_turn(struct mech_moreau_bodies *s, const struct mech_state *state,
                            int32_t from)
{
    struct mech_foretold *const f = &s->foretold;
    struct mech_scene_sweep sweep = {.span = 0.5 * s->h};

    if (from == s->list.n || !(s->theta < 1. || s->rows > 0)) {
        return 0;
    }
    const struct mech_scene *const scene = mech_model_touch_scene(s->model, &sweep.motion);

    set_out(s, state);
    for (int32_t n; from < s->list.n; from += n) {
        const struct mech_contact *const at = &s->list.at[from];

        for (n = 1; from + n < s->list.n && at[n].id >> 24 == at->id >> 24; n++) {
        }
        if (!may_turn(s, scene, &sweep, at)) {
            continue;
        }
        f->met.n = 0;
        MECH_TRY(mech_scene_turn(scene, &sweep, at, n, &f->met, f->turn));
        for (int32_t i = 0; i < n; i++) {
            memcpy(f->of[from + i].turn, f->turn + 3 * i, sizeof f->of[from + i].turn);
        }
    }
    return 0;
}

/* By what the weight closes a contact with the ground within the step, m/s; between two bodies that
 * both fall: 0. */
static double pressed(const struct mech_moreau_bodies *s, const struct mech_contact *c)
{
    const double down = s->h * mech_v3_dot(mech_model_gravity(s->model), c->normal);
    int32_t body[2];

    mech_model_touch_bodies_of(s->model, c, body);
    return body[0] < 0 ? fmax(-down, 0.) : body[1] < 0 ? fmax(down, 0.) : 0.;
}

/* Whether contact i lasts: it pushed in the last step, or touches; its speed u and its gap, without
 * what its row turns by, change by no more than the row does. */
static bool does_last(const struct mech_moreau_bodies *s, int32_t i,
                      const struct mech_material *material, const struct mech_touched *kept,
                      const double at[2])
{
    const struct mech_contact *const contact = &s->list.at[i];
    const double size = s->h * mech_v3_norm(s->foretold.of[i].turn), u = at[0], gap = at[1];
    struct mech_scene_sweep sweep;
    const struct mech_scene *const scene = mech_model_touch_scene(s->model, &sweep.motion);
    const bool pushed = kept && mech_v3_dot(kept->impulse, contact->normal) > 0.;

    return fabs(u) <= size &&
           gap <= (pushed ? s->h * size : touches * mech_scene_size(scene, contact)) &&
           -material->restitution * u <= mech_model_contact_settings(s->model)->min_bounce_speed;
}

void mech_moreau_bodies_lasts(struct mech_moreau_bodies *s, int32_t i,
                              const struct mech_material *material,
                              const struct mech_touch_rows *rows, double speed,
                              const struct mech_touched *kept)
{
    struct mech_foretold_of *const of = &s->foretold.of[i];
    const struct mech_contact *const contact = &s->list.at[i];
    const double *const frame = rows->frame;
    const double before = (1. - s->theta) * s->h, after = s->theta * s->h;
    const double turn = mech_v3_dot(frame, of->turn), along = before * turn;
    const double at[2] = {speed - along, contact->gap - 0.5 * before * along};

    of->gap = mech_gap_known(contact->gap, mech_model_touch_rounding(contact, rows));
    memset(of->drift, 0, sizeof of->drift);
    memset(of->slide, 0, sizeof of->slide);
    of->stage = MECH_SLIDE_OPEN;
    of->slides = 0;
    if (!(mech_v3_norm(of->turn) > 0.)) {
        return;
    }
    /* a spring takes its gap and speed at θ, where the row is */
    const bool rigid = material->compliance <= 0.;

    if (!does_last(s, i, material, kept, at)) {
        of->gap += rigid && s->rows > 0 ? fmax(0.5 * after * after * turn, 0.) : 0.;
        return;
    }
    if (!(before > 0.)) {
        return;
    }
    for (int k = 1; k < 3; k++) {
        of->drift[k] = before * mech_v3_dot(frame + 3 * k, of->turn);
    }
    if (rigid) {
        const double least = s->theta > 0. ? (1. - s->theta) / s->theta * speed : 0.;

        of->drift[0] = fmax(along, fmin(least - weight * pressed(s, contact), 0.));
        of->gap = fmin(at[1], 0.);
    }
}

bool mech_moreau_bodies_may_gain(const struct mech_foretold_of *of)
{
    return of->drift[0] < 0. ||
           (!(of->slides & MECH_SLIDES_ALONG) && fabs(of->drift[1]) + fabs(of->drift[2]) > 0.);
}

void mech_moreau_bodies_stop(struct mech_foretold_of *of, double change[3])
{
    const double away[3] = {fmax(of->drift[0], 0.), 0., 0.};

    mech_v3_add(away, -1., of->drift, change);
    for (int k = 0; k < 2 && (of->slides & MECH_SLIDES_ALONG); k++) {
        of->slide[k] += of->drift[1 + k];
        change[1 + k] = 0.;
    }
    memcpy(of->drift, away, sizeof of->drift);
}
