/* Events of expressions: at the end of each internal step it is compared which way they go with
 * which way they went at its start (model/switches.h). Both follow from the state alone. */
#include "solver/model/switches.h"

#include "solver/base/err.h"
#include "solver/sim/internal.h"

#include <stdlib.h>

struct mech_event_switches {
    size_t room;
    double *work; /* [2 (nv + 1)] scratch */
    struct mech_expr_way *was, *is;
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

/* Room for those of the present model, of which there may be more than of the last one. */
static int make_room(struct mech_sim *s, size_t count)
{
    if (s->switched && s->switched->room >= count) {
        return 0;
    }
    mech_sim_switches_fini(s);
    struct mech_event_switches *const w = s->switched = calloc(1, sizeof *w);

    if (!w) {
        return MECH_NO_MEMORY;
    }
    w->work = calloc(2 * ((size_t)s->sizes.v + 1), sizeof *w->work);
    w->was = calloc(2 * count, sizeof *w->was);
    w->is = w->was ? w->was + count : NULL;
    w->room = w->work && w->was ? count : 0;
    return w->room ? 0 : MECH_NO_MEMORY;
}

int mech_sim_switches_begin(struct mech_sim *s)
{
    const size_t count = mech_model_switches(s->model);

    if (count == 0) {
        return 0;
    }
    MECH_TRY(make_room(s, count));
    mech_model_switch_ways(s->model, &s->next, NULL, s->switched->work, s->switched->was);
    return 0;
}

void mech_sim_switches_look(struct mech_sim *s, struct mech_logged event)
{
    struct mech_event_switches *const w = s->switched;
    const size_t count = mech_model_switches(s->model);

    if (count == 0) {
        return;
    }
    mech_model_switch_ways(s->model, &s->next, w->was, w->work, w->is);
    event.kind = MECH_LOGGED_SWITCHES;
    event.of = MECH_LOGGED_EXPRESSION;
    for (size_t k = 0; k < count; k++) {
        if (w->is[k].jumps != w->was[k].jumps || w->is[k].kinks != w->was[k].kinks) {
            event.item = mech_model_switch_name(s->model, k, &event.row);
            mech_event_log_add(s->command.log, &event);
            w->was[k] = w->is[k];
        }
    }
}
