/* Inputs that clients set on participants in memory alone. Between two commands nothing else sets
 * an input: what differs at the next one is a client's. A record has what was set before it; what
 * was set behind it is set again when the coupling goes back to it. */
#include "server/coupling/kept.h"

#include "server/coupling/keep.h"
#include "server/os/log.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

struct input {
    struct mech_variable v;
    bool seen, set;  /* whether a value is given, else the model's acts; at the last command, and
                        by the client */
    uint64_t behind; /* the record that was posted last before a client set it; NONE: never */
};

struct mechd_kept_inputs {
    size_t count;                      /* 0: the participant is no instance in memory alone */
    struct input *of;                  /* [count] */
    double *seen, *set;                /* [values of all] as of struct input */
    double *now;                       /* the same: scratch */
    struct mech_input_change *changes; /* [count] scratch */
};

static const uint64_t NONE = UINT64_MAX;

/* Whether a client has given it a value; of other engines than the solver always. */
static bool is_set(const struct mechd_engine *e, int32_t index)
{
    const struct mech_sim *const sim = mechd_engine_sim(e);
    return sim == NULL || mech_sim_input_is_set(sim, index);
}

/* One block: the head is the caller's. */
static int watch(const struct mechd_engine *e, struct mechd_kept_inputs *x)
{
    const size_t count = mechd_engine_variable_count(e, MECH_INPUT);
    size_t values = 0;
    for (size_t k = 0; k < count; k++) {
        struct mech_variable v;
        mechd_engine_variable(e, MECH_INPUT, k, &v);
        values += (size_t)v.size;
    }
    if (count == 0) {
        return 0;
    }
    const size_t changes = count * sizeof *x->changes, of = count * sizeof *x->of;
    char *const block = calloc(1, changes + of + 3 * values * sizeof *x->seen);
    if (block == NULL) {
        return MECH_NO_MEMORY;
    }
    x->count = count;
    x->changes = (struct mech_input_change *)(void *)block;
    x->of = (struct input *)(void *)(block + changes);
    x->seen = (double *)(void *)(block + changes + of);
    x->set = x->seen + values;
    x->now = x->set + values;
    for (size_t k = 0; k < count; k++) {
        mechd_engine_variable(e, MECH_INPUT, k, &x->of[k].v);
        x->of[k].behind = NONE;
    }
    return 0;
}

/* What each has now: into x->now, and whether that is given. */
static bool read_one(const struct mechd_engine *e, struct mechd_kept_inputs *x, size_t k)
{
    mechd_engine_get_input(e, x->of[k].v.index, x->now + x->of[k].v.offset);
    return is_set(e, x->of[k].v.index);
}

static bool is_watched(const struct mechd_coupling *g, int32_t n)
{
    return g->keep.inputs != NULL && g->keep.inputs[n].count > 0;
}

int mechd_kept_watch(struct mechd_coupling *g)
{
    if (g->keep.mode != MECHD_DURABLE_NONE) {
        return 0;
    }
    g->keep.inputs = calloc((size_t)g->count, sizeof *g->keep.inputs);
    if (g->keep.inputs == NULL) {
        return MECH_NO_MEMORY;
    }
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        if (p->outside == NULL && !mechd_keep_has(p)) {
            MECH_TRY(watch(&p->instance->engine, &g->keep.inputs[n]));
        }
    }
    return 0;
}

void mechd_kept_unwatch(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count && g->keep.inputs != NULL; n++) {
        free(g->keep.inputs[n].changes);
    }
    free(g->keep.inputs);
    g->keep.inputs = NULL;
}

void mechd_kept_command_begins(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count; n++) {
        for (size_t k = 0; is_watched(g, n) && k < g->keep.inputs[n].count; k++) {
            struct mechd_kept_inputs *const x = &g->keep.inputs[n];
            struct input *const in = &x->of[k];
            const size_t at = (size_t)in->v.offset, bytes = (size_t)in->v.size * sizeof *x->now;
            const bool set = read_one(&g->parts[n].instance->engine, x, k);
            if (set != in->seen || memcmp(x->now + at, x->seen + at, bytes) != 0) {
                memcpy(x->set + at, x->now + at, bytes);
                in->set = set;
                in->behind = g->keep.posted;
            }
        }
    }
}

void mechd_kept_command_ends(struct mechd_coupling *g)
{
    for (int32_t n = 0; n < g->count; n++) {
        for (size_t k = 0; is_watched(g, n) && k < g->keep.inputs[n].count; k++) {
            struct mechd_kept_inputs *const x = &g->keep.inputs[n];
            struct input *const in = &x->of[k];
            const size_t at = (size_t)in->v.offset, bytes = (size_t)in->v.size * sizeof *x->now;
            in->seen = read_one(&g->parts[n].instance->engine, x, k);
            memcpy(x->seen + at, x->now + at, bytes);
        }
    }
}

void mechd_kept_set_again(struct mechd_coupling *g, int32_t n, uint64_t record)
{
    if (!is_watched(g, n)) {
        return;
    }
    struct mechd_kept_inputs *const x = &g->keep.inputs[n];
    const struct mechd_instance *const i = g->parts[n].instance;
    struct mech_diag diag;
    size_t count = 0;
    for (size_t k = 0; k < x->count; k++) {
        const struct input *const in = &x->of[k];
        if (in->behind != NONE && in->behind >= record) {
            x->changes[count++] = (struct mech_input_change){
                .index = in->v.index, .values = in->set ? x->set + in->v.offset : NULL};
        }
    }
    mech_diag_init(&diag);
    if (count > 0 && mechd_engine_set_inputs(&i->engine, x->changes, count, &diag) != 0) {
        char quoted[256];
        const char *const why = diag.count > 0 ? diag.entries[0].text : "the inputs were refused";
        mechd_log(MECHD_WARNING, "inputs-undone", "instance=%s reason=%s", i->id,
                  mechd_log_quote(quoted, sizeof quoted, why));
    }
    mech_diag_fini(&diag);
}
