/* Overlaps at the end of a Moreau–Jean step, closed at position level; see model/gap.h.
 *
 * Frictionless, by projected Gauss–Seidel from p = 0 on the matrix (or the bodies) that the
 * impulses were found with. A sweep never raises ½ pᵀN p + bₛᵀp, so that any number of them gives a
 * motion the right way, where contacts contradict each other too; what is left is closed in
 * the next steps. Interactions stay closed by rows of their own. Cost: nothing where no overlap is
 * worth it, else a pass of at most SWEEPS. */
#include "solver/base/err.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <string.h>

enum { SWEEPS = 100, LOOK_EVERY = 10 };

/* of the residual relative to the required speeds */
static const double tolerance = 1e-9;
/* of the largest diagonal entry of N: square root of the rounding unit */
static const double held = 1e-8;

/* --- with a matrix ---------------------------------------------------------------------------- */

/* Least p of a row whose motion is to be kept from closing further; HUGE_VAL: it is dropped. */
static double lower_of(const struct mech_moreau_bodies *s, int32_t set, int32_t k)
{
    const struct mech_impact_rows *const r = &s->impacts;
    const enum mech_set_kind kind = r->set[set].kind;

    if (r->who[set].kind != MECH_IMPACT_LAW) {
        return r->who[set].closes && k == 0 ? 0. : HUGE_VAL;
    }
    return kind == MECH_SET_BILATERAL ? -HUGE_VAL : kind == MECH_SET_BOX || k > 0 ? HUGE_VAL : 0.;
}

/* bₛ into s->q, the least p into s->best; true: there is something to do. Gaps of one-sided joints
 * are those at q_{k+1}, others follow from the point of detection. */
static bool ask(struct mech_moreau_bodies *s, const struct mech_state *state, double t)
{
    const double *const v = state->v;
    double *const gap = s->r;
    const int8_t *const side = mech_model_joints(s->model)->side;
    const struct mech_gap_step step = mech_moreau_bodies_gap(s);
    const struct mech_impact_rows *const r = &s->impacts;
    bool any = false;

    if (mech_model_joints(s->model)->one_sided) {
        const struct mech_eval e = mech_model_point(s->model, state, t, state->q, state->v);

        mech_model_pose(s->model, &e);
        mech_model_joint_residual(s->model, &e, gap);
    }
    for (int32_t i = 0, row = 0; i < r->sets; row += r->set[i].rows, i++) {
        const struct mech_impact_set *const who = &r->who[i];
        double speed = who->drift;

        for (int32_t k = r->start[row]; k < r->start[row + 1]; k++) {
            speed += r->value[k] * v[r->column[k]];
        }
        const double left = who->kind == MECH_IMPACT_SIDE ? side[who->of] * gap[who->of]
                                                          : mech_gap_left(&step, who->gap, speed);

        for (int32_t k = 0; k < r->set[i].rows; k++) {
            s->q[row + k] = 0.;
            s->best[row + k] = r->E[row + k] > 0. ? HUGE_VAL : lower_of(s, i, k);
        }
        if (who->closes) {
            s->q[row] = mech_gap_recovery(&step, left);
            any = any || mech_gap_overlaps(&step, left);
        }
    }
    return any;
}

/* Rows that joints hold still have only rounding on the diagonal: they are dropped. */
static void let_go(struct mech_moreau_bodies *s)
{
    const size_t m = (size_t)s->impacts.count;
    double most = 0.;

    for (size_t i = 0; i < m; i++) {
        most = fmax(most, s->N.values[i * m + i]);
    }
    for (size_t i = 0; i < m; i++) {
        s->best[i] = s->N.values[i * m + i] > held * most ? s->best[i] : HUGE_VAL;
    }
}

/* One sweep; the largest change of a speed, m/s. */
static double sweep(const struct mech_moreau_bodies *s, double *p)
{
    const size_t m = (size_t)s->impacts.count;
    double change = 0.;

    for (size_t i = 0; i < m; i++) {
        const double *const N = s->N.values + i * m;
        double c = s->q[i];

        if (s->best[i] == HUGE_VAL) {
            continue;
        }
        for (size_t j = 0; j < m; j++) {
            c += N[j] * p[j];
        }
        const double next = fmax(s->best[i], p[i] - c / N[i]);

        change = fmax(change, fabs(next - p[i]) * N[i]);
        p[i] = next;
    }
    return change;
}

/* What of the motion s->x lets no contact open by more than recoverySpeed h, as contacts that
 * contradict each other could ask for. */
static double share_of(const struct mech_moreau_bodies *s)
{
    const double most = s->h * mech_model_contact_settings(s->model)->recovery_speed;
    const struct mech_impact_rows *const r = &s->impacts;
    double fastest = 0.;

    for (int32_t i = 0; i < r->count; i++) {
        double motion = 0.;

        for (int32_t k = r->start[i]; k < r->start[i + 1] && s->trial[i] != 0.; k++) {
            motion += r->column[k] < s->nv ? r->value[k] * s->x[r->column[k]] : 0.;
        }
        fastest = fmax(fastest, fabs(motion));
    }
    return fastest > most ? most / fastest : 1.;
}

int mech_moreau_bodies_part(struct mech_moreau_bodies *s, struct mech_state *state, double t,
                            struct mech_step_result *result)
{
    const double enough = tolerance * mech_model_contact_settings(s->model)->recovery_speed;
    const int32_t m = s->impacts.count;

    /* no row has had its solve yet: the scratch is not there either */
    if (m == 0 || s->most < m || !ask(s, state, t)) {
        return 0;
    }
    MECH_TRY(mech_moreau_bodies_form(s, result));
    let_go(s);
    memset(s->trial, 0, (size_t)m * sizeof *s->trial);
    for (int k = 0; k < SWEEPS && sweep(s, s->trial) > enough; k++) {
    }
    memset(s->x, 0, ((size_t)s->nv + 1 + (size_t)s->rows) * sizeof *s->x);
    mech_moreau_bodies_push(&s->impacts, s->h, s->trial, s->x);
    memset(s->x + s->nv, 0, (size_t)s->rows * sizeof *s->x); /* the ground's */
    MECH_TRY(mech_saddle_solve(&s->saddle, s->x, result));
    const double share = share_of(s);

    for (int32_t i = 0; i < s->nv; i++) {
        s->d[i] = share * s->x[i];
    }
    mech_model_move(s->model, state->q, s->d, state->q);
    return 0;
}

/* --- free bodies ------------------------------------------------------------------------------ */

/* g⁺ of contact i of the sweeps */
static double left_of(const struct mech_moreau_bodies *s, int32_t i)
{
    const struct mech_gap_step step = mech_moreau_bodies_gap(s);
    const struct mech_foretold_of *const law = &s->foretold.of[s->sweeps.of[i]];
    const double speed = mech_moreau_bodies_approach(&s->sweeps.at[i], s->sweeps.twist);

    return mech_gap_left(&step, law->gap, speed + law->drift[0]);
}

/* The contacts of the step become those of the pass. True: there is something to do. */
static bool ask_free(struct mech_moreau_bodies *s)
{
    const struct mech_gap_step step = mech_moreau_bodies_gap(s);
    struct mech_sweeps *const w = &s->sweeps;
    int32_t n = 0;
    bool any = false;

    for (int32_t i = 0; i < w->count; i++) {
        const double left = left_of(s, i);

        any = any || (w->at[i].cfm[0] == 0. && mech_gap_overlaps(&step, left));
    }
    for (int32_t i = 0; i < w->count && any; i++) {
        const struct mech_body_contact c = w->at[i];
        const double left = left_of(s, i);

        if (c.cfm[0] == 0.) {
            struct mech_body_contact *const to = &w->at[n];

            w->of[n++] = w->of[i];
            *to = (struct mech_body_contact){.b = {mech_gap_recovery(&step, left)}};
            memcpy(to->body, c.body, sizeof to->body);
            memcpy(to->n, c.n, sizeof to->n);
            memcpy(to->t1, c.t1, sizeof to->t1);
            memcpy(to->arm, c.arm, sizeof to->arm);
        }
    }
    w->count = any ? n : w->count;
    return any;
}

void mech_moreau_bodies_part_free(struct mech_moreau_bodies *s)
{
    struct mech_sweeps *const w = &s->sweeps;
    const struct mech_contact_bodies bodies = {.count = mech_model_touch_bodies(s->model),
                                               .inverse_mass = w->inverse_mass,
                                               .inverse_inertia = w->inverse_inertia,
                                               .velocity = w->twist};
    const struct mech_body_contacts_options options = {.friction = MECH_ASSOCIATED,
                                                       .tolerance = tolerance,
                                                       .max_sweeps = SWEEPS,
                                                       .look_every = LOOK_EVERY,
                                                       .interrupt = mech_model_interrupt(s->model)};
    const double most = mech_model_contact_settings(s->model)->recovery_speed;
    struct mech_body_contacts_result found;

    if (w->count == 0 || !ask_free(s)) {
        return;
    }
    memset(w->twist, 0, 6 * (size_t)bodies.count * sizeof *w->twist);
    memset(s->u, 0, (size_t)s->nv * sizeof *s->u);
    const int code =
        mech_body_contacts_solve(w->solver, &bodies, w->at, w->count, &options, &found);

    if (code != 0 && code != MECH_VI_NOT_CONVERGED) {
        return; /* no speeds: overlaps stay for the next step */
    }
    for (int32_t i = 0; i < bodies.count; i++) {
        mech_model_touch_untwist(s->model, i, w->twist + 6 * (size_t)i, s->u);
    }
    double fastest = most;

    for (int32_t i = 0; i < w->count; i++) {
        fastest = fmax(fastest, fabs(mech_moreau_bodies_approach(&w->at[i], w->twist)) *
                                    (mech_v3_dot(w->at[i].impulse, w->at[i].n) > 0.));
    }
    for (int32_t i = 0; i < s->nv && fastest > 0.; i++) {
        s->d[i] += s->h * most / fastest * s->u[i];
    }
}
