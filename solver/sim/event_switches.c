/* Events of expressions: at the end of each internal step it is compared which way they go with
 * which way they went at its start (model/switches.h). A way that is kept because it makes no
 * difference is remembered with the state that it belongs to, so that it does not matter how steps
 * are cut into commands; one that was restored has the ways that follow from it alone. The event of
 * one that is kept for a while happened since it was kept first. */
#include "solver/model/switches.h"

#include "solver/base/err.h"
#include "solver/sim/internal.h"

#include <stdlib.h>
#include <string.h>

/* Ways, and the state that they are of. */
struct seen {
    bool any;
    double *state; /* [nq + nv + 2] with the time and the number of changed fields */
    struct mech_expr_way *way;
    double *since; /* as below */
};

struct mech_event_switches {
    size_t room;
    double *work;         /* [3 (nv + 1)] scratch, then all other numbers */
    double *bend, *since; /* [count] since: s, the last time at which the way was not a kept one */
    struct mech_expr_way *was, *is;
    struct seen first, last; /* of the last command: where it began, and its last step */
};

void mech_sim_switches_fini(struct mech_sim *s)
{
    if (s->switched) {
        free(s->switched->work);
        free(s->switched->was);
        free(s->switched);
        s->switched = NULL;
    }
}

static size_t state_size(const struct mech_sim *s)
{
    return (size_t)s->sizes.q + (size_t)s->sizes.v + 2;
}

/* Room for those of the present model, of which there may be more than of the last one. */
static int make_room(struct mech_sim *s, size_t count)
{
    if (s->switched && s->switched->room >= count) {
        return 0;
    }
    mech_sim_switches_fini(s);
    struct mech_event_switches *const w = s->switched = calloc(1, sizeof *w);
    const size_t scratch = 3 * ((size_t)s->sizes.v + 1), state = state_size(s);

    if (!w) {
        return MECH_NO_MEMORY;
    }
    w->work = calloc(scratch + 2 * state + 4 * count, sizeof *w->work);
    w->was = calloc(4 * count, sizeof *w->was);
    if (!w->work || !w->was) {
        return MECH_NO_MEMORY;
    }
    double *const states = w->work + scratch;

    w->bend = states + 2 * state;
    w->since = w->bend + count;
    w->is = w->was + count;
    w->first = (struct seen){false, states, w->is + count, w->since + count};
    w->last = (struct seen){false, states + state, w->is + 2 * count, w->since + 2 * count};
    w->room = count;
    return 0;
}

static bool is_of(const struct mech_sim *s, const struct seen *seen)
{
    const struct mech_state *const x = &s->next;
    const size_t q = (size_t)s->sizes.q, v = (size_t)s->sizes.v;

    return seen->any && memcmp(seen->state, x->q, q * sizeof *x->q) == 0 &&
           memcmp(seen->state + q, x->v, v * sizeof *x->v) == 0 &&
           seen->state[q + v] == x->at->time && seen->state[q + v + 1] == (double)x->at->edits;
}

static void remember(const struct mech_sim *s, size_t count, struct seen *seen)
{
    const struct mech_state *const x = &s->next;
    const size_t q = (size_t)s->sizes.q, v = (size_t)s->sizes.v;

    memcpy(seen->state, x->q, q * sizeof *x->q);
    memcpy(seen->state + q, x->v, v * sizeof *x->v);
    seen->state[q + v] = x->at->time;
    seen->state[q + v + 1] = x->at->edits;
    memcpy(seen->way, s->switched->was, count * sizeof *seen->way);
    memcpy(seen->since, s->switched->since, count * sizeof *seen->since);
    seen->any = true;
}

int mech_sim_switches_begin(struct mech_sim *s)
{
    const size_t count = mech_model_switches(s->model);

    if (count == 0) {
        return 0;
    }
    MECH_TRY(make_room(s, count));
    struct mech_event_switches *const w = s->switched;
    const struct seen *const of = is_of(s, &w->last)    ? &w->last
                                  : is_of(s, &w->first) ? &w->first
                                                        : NULL;

    mech_model_switch_ways(s->model, &s->next, of ? of->way : NULL, w->work, w->bend, w->was);
    for (size_t k = 0; k < count; k++) {
        w->since[k] = of && w->bend[k] >= 0. ? of->since[k] : s->next.at->time;
    }
    remember(s, count, &w->first);
    return 0;
}

void mech_sim_switches_look(struct mech_sim *s, struct mech_logged event)
{
    struct mech_event_switches *const w = s->switched;
    const size_t count = mech_model_switches(s->model);
    const double since = event.since;

    if (count == 0) {
        return;
    }
    mech_model_switch_ways(s->model, &s->next, w->was, w->work, w->bend, w->is);
    event.kind = MECH_LOGGED_SWITCHES;
    event.of = MECH_LOGGED_EXPRESSION;
    for (size_t k = 0; k < count; k++) {
        const bool kept = w->is[k].jumps == w->was[k].jumps && w->is[k].kinks == w->was[k].kinks;

        if (!kept) {
            event.item = mech_model_switch_name(s->model, k, &event.row);
            event.since = w->bend[k] >= 0. ? w->since[k] : since;
            mech_event_log_add(s->command.log, &event);
            w->was[k] = w->is[k];
        }
        if (!kept || w->bend[k] < 0.) {
            w->since[k] = event.time;
        }
    }
    remember(s, count, &w->last);
}
