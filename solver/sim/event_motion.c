/* How the bodies of a contact move along its normal; see event_motion.h. The rows and their rate u'
 * are those of the step: mech_model_touch_rows and mech_scene_turn of the record, with the bodies
 * where the step took its rows. Contacts by penalty have their record at the end of a step, and no
 * impacts: their rows do not turn. Those of bodies that turn by more than most_turn within the step
 * do not turn in the step either, nor those at θ = 1: the row of the record is the law's own. */
#include "solver/sim/event_motion.h"
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/model/touch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The share of the speed of an impact below which bodies do not part: solvers leave about 1e-8. */
static const double parting = 1e-6;
/* A share of the lengths in a contact: speeds that solvers leave at rest move less in a step. */
static const double at_rest = 1e-10;
/* rad: bodies that turn farther in a step have rows that do not, as in
 * step/moreau_jean/bodies_turn.c */
static const double most_turn = 0.5;

bool mech_event_counts(double speed, double speeds, double lengths, double h)
{
    return speed > parting * speeds && speed * h > at_rest * lengths;
}

int mech_event_motion_make(struct mech_event_motion *m, const struct mech_model *model)
{
    const struct mech_state_sizes *const n = mech_model_sizes(model);

    m->memory = calloc((size_t)n->q + 2 * (size_t)n->v + 3, sizeof *m->memory);
    m->q = m->memory;
    m->d = m->memory ? m->q + n->q + 1 : NULL;
    m->v0 = m->memory ? m->d + n->v + 1 : NULL;
    return m->memory ? 0 : MECH_NO_MEMORY;
}

void mech_event_motion_fini(struct mech_event_motion *m)
{
    mech_contact_list_fini(&m->list);
    free(m->memory);
    m->memory = NULL;
}

void mech_event_motion_back(struct mech_event_motion *m, const struct mech_model *model,
                            const struct mech_state *state)
{
    const int32_t n = mech_model_sizes(model)->v;
    const double h = state->at->last_step;

    for (int32_t i = 0; i < n; i++) {
        m->v0[i] = state->v[i] - h * state->vdot[i];
    }
}

int mech_event_motion_place(struct mech_event_motion *m, const struct mech_model *model,
                            const struct mech_state *state, double h, bool over)
{
    const struct mech_state_sizes *const n = mech_model_sizes(model);
    const double theta = mech_model_penalty(model) ? 1. : mech_model_settings(model)->theta;

    m->h = h;
    m->before = (1. - theta) * h;
    m->after = theta * h;
    const double ahead = over ? -m->after : m->before;

    for (int32_t i = 0; i < n->v; i++) {
        m->d[i] = ahead * state->v[i];
    }
    mech_model_move(model, state->q, m->d, m->q);
    const struct mech_eval e =
        mech_model_point(model, state, state->at->time + ahead, m->q, over ? m->v0 : state->v);

    MECH_TRY(mech_model_touch_find(model, &e, 0., &m->list));
    for (int32_t i = 0; i < mech_model_touch_bodies(model); i++) {
        mech_model_touch_set_out(model, &e, i);
    }
    return 0;
}

/* The contact that a record is of. */
static struct mech_contact contact_of(const struct mech_touched *t)
{
    struct mech_contact c = {.id = t->id, .gap = t->gap};

    mech_model_touch_pair(t->id, c.collider);
    memcpy(c.normal, t->n, sizeof c.normal);
    mech_v3_add(t->p, -0.5 * t->gap, t->n, c.point[0]);
    mech_v3_add(t->p, 0.5 * t->gap, t->n, c.point[1]);
    return c;
}

/* The farthest that a body of a contact turns within the step, rad. */
static double turns(const struct mech_event_motion *m, const struct mech_scene_motion *motion,
                    const int32_t body[2])
{
    double most = 0.;

    for (int k = 0; k < 2; k++) {
        most = body[k] < 0 ? most : fmax(most, m->h * mech_v3_norm(motion[body[k]].omega));
    }
    return most;
}

int mech_event_motion_of(struct mech_event_motion *m, const struct mech_model *model,
                         const double *v, const struct mech_touched *t, bool end,
                         struct mech_event_parting *out)
{
    const struct mech_contact c = contact_of(t);
    const double lengths = mech_v3_norm(t->arm[0]) + mech_v3_norm(t->arm[1]) + fabs(t->gap);
    double turn[3] = {0.}, speed = 0., speeds = 0.;
    struct mech_touch_rows rows;

    mech_model_touch_rows(model, &c, &rows);
    for (int32_t k = 0; k < rows.n; k++) {
        const double term = rows.G[0][k] * v[rows.slot[k]];

        speed += term;
        speeds += fabs(term);
    }
    struct mech_scene_sweep sweep = {.span = 0.5 * m->h};
    const struct mech_scene *const scene = mech_model_touch_scene(model, &sweep.motion);
    const double angle = mech_model_penalty(model) ? 0. : turns(m, sweep.motion, rows.body);

    if (m->before > 0. && angle > 0. && angle <= most_turn) {
        MECH_TRY(mech_scene_turn(scene, &sweep, &c, 1, &m->list, turn));
    }
    const double row = speed;

    speed += (end ? m->after : -m->before) * mech_v3_dot(turn, c.normal);
    const double turned = angle * m->h * mech_v3_norm(turn);

    *out = (struct mech_event_parting){
        .row = row,
        .speed = speed,
        .approaches = -speed > turned && mech_event_counts(-speed, speeds, lengths, m->h)};
    return 0;
}
