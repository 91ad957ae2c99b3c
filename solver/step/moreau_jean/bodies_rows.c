/* Which rows may act in a step of bodies.h, and what they ask for.
 *
 *   interactions   those with y_k + γ h y'_k ≤ threshold (relays and equalities always, suspended
 *                  ones never), as in the linear scheme:  b = e y'_k
 *   one-sided joints s g ≥ 0, s λ ≥ 0:  H = s G, and s g at q_m = q_k ⊕ (1 − θ) h v_k, as
 *                  far as it does not depend on v_{k+1};  b as of contacts that rest, P = h s λ
 *   shapes         bodies_touch.c
 *
 * A gap that is open at q_m may close to just 0 at the end of the step, q_m + θ h v_{k+1}. One that
 * overlaps there must not close further; bodies_overlap.c opens it. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- memory ----------------------------------------------------------------------------------- */

static int grow(void **at, size_t n, size_t size)
{
    void *const more = realloc(*at, n * size);

    if (!more) {
        return MECH_NO_MEMORY;
    }
    *at = more;
    return 0;
}

int mech_impact_rows_reserve(struct mech_impact_rows *r, int32_t rows, size_t entries)
{
    if (rows > r->most) {
        const int32_t most = rows + rows / 2 + 16;
        const size_t n = (size_t)most;

        MECH_TRY(grow((void **)&r->start, n + 1, sizeof *r->start));
        MECH_TRY(grow((void **)&r->b, n, sizeof *r->b));
        MECH_TRY(grow((void **)&r->E, n, sizeof *r->E));
        MECH_TRY(grow((void **)&r->P, n, sizeof *r->P));
        MECH_TRY(grow((void **)&r->guess, n, sizeof *r->guess));
        MECH_TRY(grow((void **)&r->set, n, sizeof *r->set));
        MECH_TRY(grow((void **)&r->who, n, sizeof *r->who));
        r->most = most;
    }
    /* rows without entries have a place, too */
    if (!r->column || entries > r->entries) {
        const size_t n = entries + entries / 2 + 64;

        MECH_TRY(grow((void **)&r->column, n, sizeof *r->column));
        MECH_TRY(grow((void **)&r->value, n, sizeof *r->value));
        r->entries = n;
    }
    return 0;
}

void mech_impact_rows_fini(struct mech_impact_rows *r)
{
    free(r->start);
    free(r->column);
    free(r->value);
    free(r->b);
    free(r->E);
    free(r->P);
    free(r->guess);
    free(r->set);
    free(r->who);
    *r = (struct mech_impact_rows){.count = 0};
}

/* --- appending -------------------------------------------------------------------------------- */

void mech_impact_rows_set(struct mech_impact_rows *r, struct mech_set set,
                          enum mech_impact_kind kind, int32_t of)
{
    r->set[r->sets] = set;
    r->who[r->sets++] = (struct mech_impact_set){.kind = kind, .of = of};
}

int32_t mech_impact_rows_open(struct mech_impact_rows *r, int32_t n, double b, double E,
                              double guess)
{
    const int32_t at = r->count ? r->start[r->count] : 0;

    r->start[0] = 0;
    r->b[r->count] = b;
    r->E[r->count] = E;
    r->P[r->count] = 0.;
    r->guess[r->count] = guess;
    r->start[++r->count] = at + n;
    return at;
}

/* --- interactions ----------------------------------------------------------------------------- */

static double law_dot(const struct mech_contact_rows *rows, int32_t row, const double *x)
{
    double sum = 0.;

    for (int32_t k = rows->start[row]; k < rows->start[row + 1]; k++) {
        sum += rows->value[k] * x[rows->column[k]];
    }
    return sum;
}

static bool is_closed(const struct mech_moreau_bodies *s, const struct mech_set *set, int32_t row)
{
    const struct mech_contact_rows *const laws = mech_model_contacts(s->model);
    const struct mech_settings *const settings = mech_model_settings(s->model);

    if (mech_is_suspended(laws->suspended, row)) {
        return false;
    }
    if (set->kind == MECH_SET_BILATERAL || set->kind == MECH_SET_BOX) {
        return true;
    }
    return law_dot(laws, row, s->u) + laws->b[row] +
               settings->gamma * s->h * law_dot(laws, row, s->v0) <=
           settings->activation_threshold;
}

/* b and E of a row that acts */
static void law_terms(const struct mech_moreau_bodies *s, int32_t row, double *b, double *E)
{
    const struct mech_contact_rows *const laws = mech_model_contacts(s->model);
    const double speed = law_dot(laws, row, s->v0);

    *E = 0.;
    *b = laws->e[row] * speed;
    if (laws->compliance && laws->compliance[row] > 0.) {
        const struct mech_gap_step step = mech_moreau_bodies_gap(s);

        *b = mech_gap_soft(&step, laws->compliance[row], laws->damping[row],
                           law_dot(laws, row, s->u) + laws->b[row], speed, E);
    }
}

static int find_laws(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    const struct mech_contact_rows *const laws = mech_model_contacts(s->model);
    struct mech_impact_rows *const r = &s->impacts;
    const int32_t contacts = laws->sets ? laws->contacts : laws->count;

    if (contacts == 0) {
        return 0;
    }
    MECH_TRY(mech_impact_rows_reserve(r, laws->count, (size_t)laws->start[laws->count]));
    mech_model_displacement(s->model, s->q0, s->u);
    for (int32_t i = 0; i < s->nv; i++) {
        s->u[i] -= s->place[i];
    }
    for (int32_t i = 0, row = 0; i < contacts; i++) {
        struct mech_set set = {.kind = MECH_SET_UNILATERAL, .rows = 1};

        set = laws->sets ? laws->sets[i] : set;
        for (int32_t k = 0; k < set.rows && is_closed(s, &set, row); k++) {
            const int32_t from = laws->start[row + k], n = laws->start[row + k + 1] - from;
            double b, E;

            law_terms(s, row + k, &b, &E);
            const int32_t at = mech_impact_rows_open(r, n, b, E, state->impulse[row + k]);

            memcpy(r->column + at, laws->column + from, (size_t)n * sizeof *r->column);
            memcpy(r->value + at, laws->value + from, (size_t)n * sizeof *r->value);
            if (k + 1 == set.rows) {
                set.lower *= s->h;
                set.upper *= s->h;
                mech_impact_rows_set(r, set, MECH_IMPACT_LAW, row);
            }
        }
        row += set.rows;
    }
    return 0;
}

/* --- one-sided joints ------------------------------------------------------------------------- */

void mech_moreau_bodies_open(struct mech_moreau_bodies *s, struct mech_state *state)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);

    for (int32_t k = 0; k < rows->count && rows->one_sided; k++) {
        if (rows->side[k]) {
            s->warm[k] = rows->side[k] * state->lambda[k] * s->h;
            state->lambda[k] = 0.;
            state->open[k] = 1.;
        }
    }
}

double mech_moreau_bodies_middle(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    for (int32_t i = 0; i < s->nv; i++) {
        s->d[i] = (1. - s->theta) * s->h * s->v0[i];
    }
    mech_model_move(s->model, s->q0, s->d, s->q_m);
    return state->at->time + (1. - s->theta) * s->h;
}

struct mech_gap_step mech_moreau_bodies_gap(const struct mech_moreau_bodies *s)
{
    return (struct mech_gap_step){.h = s->h,
                                  .theta = s->theta,
                                  .gamma = mech_model_settings(s->model)->gamma,
                                  .contact = mech_model_contact_settings(s->model)};
}

static int find_sides(struct mech_moreau_bodies *s, const struct mech_state *state)
{
    const struct mech_joint_rows *const rows = mech_model_joints(s->model);
    const double t = mech_moreau_bodies_middle(s, state);
    const struct mech_eval e = mech_model_point(s->model, state, t, s->q_m, s->v0);
    struct mech_impact_rows *const r = &s->impacts;
    const struct mech_gap_step step = mech_moreau_bodies_gap(s);
    double *const gap = s->x;

    MECH_TRY(mech_impact_rows_reserve(r, r->count + s->rows,
                                      (size_t)rows->start[s->rows] +
                                          (r->count ? (size_t)r->start[r->count] : 0)));
    mech_model_pose(s->model, &e);
    mech_model_joint_residual(s->model, &e, gap);
    mech_model_joint_rate(s->model, &e, s->gt, s->bias);
    mech_model_joint_jacobian(s->model, s->g);
    for (int32_t k = 0; k < s->rows; k++) {
        const double side = rows->side[k];
        const int32_t from = rows->start[k], n = rows->start[k + 1] - from;

        if (side == 0. || (rows->dropped && rows->dropped[k])) {
            continue;
        }
        const int32_t at = mech_impact_rows_open(r, n, 0., 0., fmax(0., s->warm[k]));

        for (int32_t i = 0; i < n; i++) {
            r->column[at + i] = rows->column[from + i];
            r->value[at + i] = side * s->g[from + i];
        }
        const double drift = side * s->gt[k];

        double speed = drift;

        for (int32_t i = 0; i < n; i++) {
            speed += r->value[at + i] * s->v0[r->column[at + i]];
        }
        r->b[r->count - 1] = drift + mech_gap_turn(&step, side * gap[k], side * s->bias[k], speed);
        mech_impact_rows_set(r, (struct mech_set){.kind = MECH_SET_UNILATERAL, .rows = 1},
                             MECH_IMPACT_SIDE, k);
        r->who[r->sets - 1].gap = side * gap[k];
        r->who[r->sets - 1].drift = drift;
        r->who[r->sets - 1].closes = true;
    }
    return 0;
}

/* --- the step --------------------------------------------------------------------------------- */

static int check_count(const struct mech_impact_rows *r, struct mech_step_result *result)
{
    if (r->count > MECH_IMPACT_ROWS_MOST) {
        mech_text_format(
            result->reason, sizeof result->reason,
            "%d rows of contacts in one step; at most %d are supported together with joints "
            "or springs",
            (int)r->count, (int)MECH_IMPACT_ROWS_MOST);
        return MECH_UNSUPPORTED;
    }
    return 0;
}

static void add_slides(struct mech_moreau_bodies *s)
{
    struct mech_impact_rows *const r = &s->impacts;

    for (int32_t i = 0, row = 0; i < r->sets; row += r->set[i].rows, i++) {
        const bool touch = r->who[i].kind == MECH_IMPACT_TOUCH;

        for (int32_t k = 0; k + 1 < r->set[i].rows && touch; k++) {
            r->b[row + 1 + k] += s->foretold.of[r->who[i].of].slide[k];
        }
    }
}

int mech_moreau_bodies_find(struct mech_moreau_bodies *s, const struct mech_state *state,
                            struct mech_step_result *result)
{
    struct mech_impact_rows *const r = &s->impacts;

    r->count = r->sets = 0;
    MECH_TRY(find_laws(s, state));
    if (mech_model_joints(s->model)->one_sided) {
        MECH_TRY(find_sides(s, state));
    }
    if (mech_model_touch_bodies(s->model) > 0) {
        MECH_TRY(mech_moreau_bodies_detect(s, state, result));
        MECH_TRY(mech_moreau_bodies_touch(s, state, 0));
    }
    MECH_TRY(check_count(r, result));
    if (mech_model_touch_bodies(s->model) > 0 && mech_moreau_bodies_slide(s)) {
        add_slides(s);
    }
    return 0;
}

int mech_moreau_bodies_find_more(struct mech_moreau_bodies *s, struct mech_state *state,
                                 bool *changed, struct mech_step_result *result)
{
    const struct mech_impact_rows *const r = &s->impacts;
    struct mech_foretold_change change;

    *changed = false;
    if (mech_model_touch_bodies(s->model) == 0) {
        return 0;
    }
    for (int32_t i = 0, row = 0; i < r->sets; row += r->set[i].rows, i++) {
        if (r->who[i].kind == MECH_IMPACT_TOUCH) {
            mech_moreau_bodies_says(s, r->who[i].of, i, r->P[row] > 0.);
        }
    }
    MECH_TRY(
        mech_moreau_bodies_detect_more(s, state, mech_moreau_bodies_undo_rows, &change, result));
    if (change.out) {
        MECH_TRY(mech_moreau_bodies_let_go(s, state, result));
    }
    if (change.added) {
        MECH_TRY(mech_moreau_bodies_touch(s, state, s->list.n - change.added));
    }
    *changed = change.out || change.added;
    s->formed = s->formed && !*changed;
    return check_count(r, result);
}

int mech_moreau_bodies_keep(struct mech_moreau_bodies *s, struct mech_state *state,
                            struct mech_step_result *result)
{
    const struct mech_impact_rows *const r = &s->impacts;
    const struct mech_joint_rows *const joints = mech_model_joints(s->model);
    int32_t row = 0;

    memset(state->impulse, 0, (size_t)mech_model_sizes(s->model)->impulse * sizeof *r->P);
    result->contacts = 0;
    for (int32_t i = 0; i < r->sets; row += r->set[i].rows, i++) {
        const int32_t of = r->who[i].of;

        switch (r->who[i].kind) {
        case MECH_IMPACT_LAW:
            memcpy(state->impulse + of, r->P + row, (size_t)r->set[i].rows * sizeof *r->P);
            result->contacts += r->set[i].rows;
            break;
        case MECH_IMPACT_SIDE:
            state->lambda[of] = joints->side[of] * r->P[row] / s->h;
            state->open[of] = r->P[row] > 0. ? 0. : 1.;
            result->contacts += r->P[row] > 0.;
            break;
        case MECH_IMPACT_TOUCH:
            break;
        }
    }
    return mech_model_touch_bodies(s->model) > 0 ? mech_moreau_bodies_record(s, state, result) : 0;
}
