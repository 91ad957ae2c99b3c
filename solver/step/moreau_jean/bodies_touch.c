/* Contacts of bodies by their shapes as rows of a Moreau–Jean step; see bodies.h.
 *
 * They are detected once a step, where the bodies are at q_m = q_k ⊕ (1 − θ) h v_k, as far as it
 * is known before it is solved: in its middle at θ = ½, at its start at θ = 1. How rows turn from
 * there to its end is in bodies_turn.c, which keeps the order. The condition for the
 * gap found there is in model/gap.h. A soft contact rebounds by its spring and damper, and reads no
 * e. Impulses are kept as vectors in space, and start the next step along the normal that is found
 * there. */
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/linalg/v3.h"
#include "solver/step/moreau_jean/bodies.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct mech_touched *mech_moreau_bodies_kept(const struct mech_state *state, uint64_t id,
                                                   size_t *at)
{
    const struct mech_touched *const kept = state->touched;
    const size_t n = state->at->touched;
    size_t low = 0, high = *at;

    if (high > 0 && kept[high - 1].id >= id) {
        /* it does not ascend: by halves */
        while (low < high) {
            const size_t middle = low + (high - low) / 2;

            if (kept[middle].id < id) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return kept[low].id == id ? &kept[low] : NULL;
    }
    while (*at < n && kept[*at].id < id) {
        ++*at;
    }
    return *at < n && kept[*at].id == id ? &kept[*at] : NULL;
}

/* Impulse and couple of the last step along the rows of a contact. */
static void warm_start(const struct mech_touched *kept, const double *frame,
                       double P[MECH_SET_ROWS])
{
    memset(P, 0, MECH_SET_ROWS * sizeof *P);
    for (int k = 0; k < 3 && kept; k++) {
        for (int i = 0; i < 3; i++) {
            P[k] += frame[3 * k + i] * kept->impulse[i];
            P[3 + k] += frame[3 * k + i] * kept->couple[i];
        }
    }
    P[0] = fmax(0., P[0]);
}

/* Speeds of a contact at the start, and by what its turns change in a step as in the last one. */
static void set_slip(const struct mech_moreau_bodies *s, const struct mech_touch_rows *of,
                     struct mech_foretold_of *law)
{
    double change[MECH_SLIDES] = {0.};

    for (int32_t k = 0; k < of->n; k++) {
        for (int r = 0; r < (law->resists ? MECH_SLIDES : 2); r++) {
            law->slip[r] += of->G[1 + r][k] * s->v0[of->slot[k]];
            change[r] += of->G[1 + r][k] * s->slides.rate[of->slot[k]];
        }
    }
    law->slows[0] = s->h * fabs(change[2]);
    law->slows[1] = s->h * hypot(change[3], change[4]);
    for (int side = 0; side < 2; side++) {
        law->arm = fmax(law->arm, of->body[side] < 0 ? 0. : mech_v3_norm(of->arm[side]));
    }
}

/* Rows of contact number i of the list. */
static int append(struct mech_moreau_bodies *s, const struct mech_state *state, int32_t i,
                  size_t *warm)
{
    const struct mech_contact *const contact = &s->list.at[i];
    const struct mech_material material = mech_model_touch_material(s->model, contact);
    const struct mech_set set = mech_gap_set(&material);
    struct mech_impact_rows *const r = &s->impacts;
    struct mech_touch_rows *const of = &s->touch;
    const struct mech_gap_step step = mech_moreau_bodies_gap(s);
    double P[MECH_SET_ROWS], bE[2], speed = 0.;

    mech_model_touch_rows(s->model, contact, of);
    for (int32_t k = 0; k < of->n; k++) {
        speed += of->G[0][k] * s->v0[of->slot[k]];
    }
    const struct mech_touched *const kept = mech_moreau_bodies_kept(state, contact->id, warm);

    warm_start(kept, of->frame, P);
    mech_moreau_bodies_lasts(s, i, &material, of, speed, kept);
    struct mech_foretold_of *const law = &s->foretold.of[i];

    if (!mech_gap_contact(&step, &material, law->gap, speed - law->drift[0], bE)) {
        return 0;
    }
    if (s->slides.on && mech_moreau_bodies_may_slide(s, i, &material, speed, kept)) {
        set_slip(s, of, law);
    }
    MECH_TRY(mech_impact_rows_reserve(r, r->count + set.rows,
                                      (r->count ? (size_t)r->start[r->count] : 0) +
                                          (size_t)(set.rows * of->n)));
    for (int32_t k = 0; k < set.rows; k++) {
        const double b = (k ? 0. : bE[0]) + (k < 3 ? law->drift[k] : 0.);
        const int32_t at = mech_impact_rows_open(r, of->n, b, k ? 0. : bE[1], P[k]);

        memcpy(r->column + at, of->slot, (size_t)of->n * sizeof *r->column);
        memcpy(r->value + at, of->G[k], (size_t)of->n * sizeof *r->value);
    }
    mech_impact_rows_set(r, set, MECH_IMPACT_TOUCH, i);
    r->who[r->sets - 1].gap = law->gap;
    r->who[r->sets - 1].drift = law->drift[0];
    r->who[r->sets - 1].closes = material.compliance <= 0.;
    return 0;
}

static int told(int code, struct mech_step_result *result)
{
    if (code == MECH_NOT_FINITE) {
        mech_text_format(result->reason, sizeof result->reason,
                         "the placement of a body is not finite");
    }
    return code;
}

int mech_moreau_bodies_detect(struct mech_moreau_bodies *s, const struct mech_state *state,
                              struct mech_step_result *result)
{
    const double t = mech_moreau_bodies_middle(s, state);
    const struct mech_eval e = mech_model_point(s->model, state, t, s->q_m, state->v);

    MECH_TRY(told(mech_moreau_bodies_foretell(s, &e), result));
    return told(mech_moreau_bodies_turn(s, state, 0), result);
}

int mech_moreau_bodies_detect_more(struct mech_moreau_bodies *s, const struct mech_state *state,
                                   mech_moreau_bodies_undo *undo,
                                   struct mech_foretold_change *change,
                                   struct mech_step_result *result)
{
    MECH_TRY(told(mech_moreau_bodies_look(s, state, undo, change), result));
    for (int32_t i = s->list.n - change->added; i < s->list.n; i++) {
        mech_moreau_bodies_upset(s, i);
    }
    return told(mech_moreau_bodies_turn(s, state, s->list.n - change->added), result);
}

int mech_moreau_bodies_touch(struct mech_moreau_bodies *s, const struct mech_state *state,
                             int32_t from)
{
    size_t warm = 0;

    for (int32_t i = from; i < s->list.n && s->impacts.count <= MECH_IMPACT_ROWS_MOST; i++) {
        MECH_TRY(append(s, state, i, &warm));
    }
    return 0;
}

/* --- the state -------------------------------------------------------------------------------- */

/* Kept are those that push or touch. */
static bool counts(const struct mech_moreau_bodies *s, int32_t set, int32_t row)
{
    return s->impacts.who[set].kind == MECH_IMPACT_TOUCH &&
           (s->impacts.P[row] > 0. || s->list.at[s->impacts.who[set].of].gap <= 0.);
}

static int by_id(const void *a, const void *b)
{
    const struct mech_touched *const x = a, *const y = b;

    return (x->id > y->id) - (x->id < y->id);
}

void mech_moreau_bodies_sort(struct mech_touched *at, int32_t n)
{
    for (int32_t i = 1; i < n; i++) {
        if (at[i - 1].id > at[i].id) {
            qsort(at, (size_t)n, sizeof *at, by_id);
            return;
        }
    }
}

struct mech_touched *mech_moreau_bodies_room(const struct mech_moreau_bodies *s,
                                             struct mech_state *state, int32_t n,
                                             struct mech_step_result *result)
{
    const int32_t most = mech_model_sizes(s->model)->contact;

    if (n > most) {
        mech_text_format(result->reason, sizeof result->reason,
                         "%d contacts between shapes; contact.capacity allows %d", (int)n,
                         (int)most);
        return NULL;
    }
    result->contacts += n;
    return mech_state_touch(state, (size_t)n);
}

int mech_moreau_bodies_record(struct mech_moreau_bodies *s, struct mech_state *state,
                              struct mech_step_result *result)
{
    const struct mech_impact_rows *const r = &s->impacts;
    int32_t n = 0, row = 0;

    for (int32_t i = 0; i < r->sets; row += r->set[i].rows, i++) {
        n += counts(s, i, row);
    }
    struct mech_touched *const first = mech_moreau_bodies_room(s, state, n, result);
    struct mech_touched *out = first;

    if (!out) {
        return MECH_UNSUPPORTED;
    }
    row = 0;
    for (int32_t i = 0; i < r->sets; row += r->set[i].rows, i++) {
        double P[MECH_SET_ROWS] = {0.};

        if (counts(s, i, row)) {
            const struct mech_contact *const contact = &s->list.at[r->who[i].of];

            memcpy(P, r->P + row, (size_t)r->set[i].rows * sizeof *P);
            mech_model_touch_frame(s->model, contact, &s->touch);
            mech_model_touch_record(contact, &s->touch, P, out++);
        }
    }
    mech_moreau_bodies_sort(first, n);
    return 0;
}
