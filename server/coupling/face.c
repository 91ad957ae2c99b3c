/* The engine behind a face has the values of the last window: nothing else is asked of it, because
 * no route that steps, sets or saves an instance leads to a face. */
#include "server/coupling/face.h"

#include "protocol/wire/bodies.h"
#include "server/call/service.h"
#include "server/coupling/turn.h"
#include "server/instance/host.h"
#include "server/os/ids.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An input of a participant: it is read there. */
struct origin {
    int32_t part, index;
};

/* Values that are side by side among the outputs of a participant, and here. */
struct stretch {
    int32_t part;
    size_t from, size;
};

/* owner: the face's. */
struct panel {
    struct mechd_couplings *couplings;
    const struct mechd_coupling *coupling; /* its own; used by its owner alone */
    char *title;
    double step_size;                /* s, of a window */
    double time;                     /* s */
    uint64_t windows;                /* done */
    size_t count, size;              /* outputs, and their values */
    size_t inputs;                   /* of all */
    char *names;                     /* [named] "left.x" of each, closed by NUL */
    size_t named;                    /* bytes */
    struct mech_variable *variables; /* [count + inputs] */
    struct origin *origins;          /* [inputs] */
    double *values;                  /* [size] */
    struct stretch *stretches;       /* [stretch_count] of values, one after the other */
    size_t stretch_count;
    double *room; /* [all outputs of the participant that has most] */
};

/* --- the engine ------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    struct panel *const p = self;
    free(p->title);
    free(p->names);
    free(p->variables);
    free(p->origins);
    free(p->values);
    free(p->stretches);
    free(p->room);
    free(p);
}

static const char *title(const void *self)
{
    return ((const struct panel *)self)->title;
}

/* For costs of reading: as a system of so many values. */
static int32_t size_of(const void *self)
{
    return (int32_t)((const struct panel *)self)->size;
}

static double step_size(const void *self)
{
    return ((const struct panel *)self)->step_size;
}

/* That of the participant whose steps have taken the longest. */
static double start_time(const void *self)
{
    const struct panel *const p = self;
    return p->time - mechd_coupling_scale(p->coupling, p->time, 0.);
}

static double time_of(const void *self)
{
    return ((const struct panel *)self)->time;
}

static uint64_t step_count(const void *self)
{
    return ((const struct panel *)self)->windows;
}

static size_t variable_count(const void *self, enum mech_causality causality)
{
    const struct panel *const p = self;
    return causality == MECH_OUTPUT_VARIABLE ? p->count : causality == MECH_INPUT ? p->inputs : 0;
}

static void variable(const void *self, enum mech_causality causality, size_t index,
                     struct mech_variable *out)
{
    const struct panel *const p = self;
    *out = p->variables[index + (causality == MECH_INPUT ? p->count : 0)];
}

/* NaN where the model's own value acts. As the owner of all. */
static void get_input(const void *self, int32_t index, double *values)
{
    const struct panel *const p = self;
    const struct origin at = p->origins[index];
    const struct mechd_instance *const i = p->coupling->parts[at.part].instance;
    const struct mech_variable *const v = &p->variables[p->count + (size_t)index];
    mechd_engine_get_input(&i->engine, at.index, values);
    const bool own = mechd_engine_input_is_own(&i->engine, at.index);
    for (int32_t n = 0; n < v->size && own; n++) {
        values[n] = (double)NAN;
    }
}

static size_t output_size(const void *self)
{
    return ((const struct panel *)self)->size;
}

static void get_outputs(const void *self, double *values)
{
    const struct panel *const p = self;
    memcpy(values, p->values, p->size * sizeof *values);
}

static const struct mechd_engine_ops ops = {
    .name = "face",
    .doc = "What a coupling shows of itself.",
    .destroy = destroy,
    .title = title,
    .size = size_of,
    .step_size = step_size,
    .start_time = start_time,
    .variable_count = variable_count,
    .variable = variable,
    .time = time_of,
    .step_count = step_count,
    .get_input = get_input,
    .output_size = output_size,
    .get_outputs = get_outputs,
};

/* --- life ------------------------------------------------------------------------------------- */

/* Name a variable of a participant in p->names, behind those before; all have room. */
static void name(struct panel *p, const struct mechd_part *part, struct mech_variable *v)
{
    char *const at = p->names + p->named;
    const size_t head = strlen(part->name), tail = strlen(v->name) + 1;
    memcpy(at, part->name, head);
    at[head] = '.';
    memcpy(at + head + 1, v->name, tail);
    p->named += head + 1 + tail;
    v->name = at;
}

/* Bytes of such a name. */
static size_t name_size(const struct mechd_part *part, enum mech_causality causality, size_t index)
{
    struct mech_variable v;
    mechd_engine_variable(&part->instance->engine, causality, index, &v);
    return strlen(part->name) + strlen(v.name) + sizeof ".";
}

/* One output behind those before. */
static void add_output(struct panel *p, const struct mechd_shown *o)
{
    const struct mechd_part *const part = &p->coupling->parts[o->part];
    struct mech_variable *const v = &p->variables[p->count];
    struct stretch *const last = p->stretch_count > 0 ? &p->stretches[p->stretch_count - 1] : NULL;
    mechd_engine_variable(&part->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)o->index, v);
    name(p, part, v);
    v->index = (int32_t)p->count++;
    v->offset = (int32_t)p->size;
    p->size += (size_t)o->size;
    if (last != NULL && last->part == o->part && last->from + last->size == (size_t)o->offset) {
        last->size += (size_t)o->size;
    } else {
        p->stretches[p->stretch_count++] =
            (struct stretch){o->part, (size_t)o->offset, (size_t)o->size};
    }
}

/* Inputs of a participant, behind all outputs and the inputs of those before. */
static void add_inputs(struct panel *p, const struct mechd_part *part, int32_t place)
{
    const struct mechd_engine *const e = &part->instance->engine;
    for (size_t k = 0; k < mechd_engine_variable_count(e, MECH_INPUT); k++) {
        const size_t at = p->count + p->inputs;
        struct mech_variable *const v = &p->variables[at];
        mechd_engine_variable(e, MECH_INPUT, k, v);
        name(p, part, v);
        v->index = (int32_t)p->inputs;
        p->origins[p->inputs++] = (struct origin){place, (int32_t)k};
    }
}

/* Of the states of all participants, in their order. A program outside has its own. */
static bool hash_of_all(const struct mechd_instance *face, uint64_t *out)
{
    const struct mechd_coupling *const g = ((const struct panel *)face->engine.self)->coupling;
    uint64_t hash = 0;
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_engine *const e = &g->parts[n].instance->engine;
        if (!mechd_engine_hashes(e)) {
            return false;
        }
        const uint64_t one = mechd_engine_hash(e);
        hash = mech_hash(&one, sizeof one, hash);
    }
    *out = hash;
    return true;
}

/* What a face takes, about: itself, and of each output its name, twice its description, and its
 * value here and where it is published; of each input its name and description; and what the
 * coupling itself has of the outputs. */
static uint64_t bytes_of(const struct panel *p)
{
    return sizeof *p + sizeof(struct mechd_instance) +
           p->count *
               (2 * sizeof *p->variables + sizeof *p->stretches + sizeof *p->coupling->shown) +
           p->named + p->size * 2 * sizeof *p->values +
           p->inputs * (sizeof *p->variables + sizeof *p->origins);
}

/* A panel of the coupling. NULL: no memory. */
static struct panel *make(struct mechd_coupling *g, struct mechd_couplings *couplings)
{
    struct panel *const p = calloc(1, sizeof *p);
    size_t size = 0, inputs = 0, most = 0, named = 0;
    for (size_t k = 0; k < g->shown_count; k++) {
        const struct mechd_shown *const o = &g->shown[k];
        size += (size_t)o->size;
        named += name_size(&g->parts[o->part], MECH_OUTPUT_VARIABLE, (size_t)o->index);
    }
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_engine *const e = &g->parts[n].instance->engine;
        const size_t all = mechd_engine_output_size(e);
        const size_t own = mechd_engine_variable_count(e, MECH_INPUT);
        for (size_t k = 0; k < own; k++) {
            named += name_size(&g->parts[n], MECH_INPUT, k);
        }
        inputs += own;
        most = all > most ? all : most;
    }
    if (p == NULL) {
        return NULL;
    }
    p->couplings = couplings;
    p->coupling = g;
    p->step_size = g->step_size;
    p->title = strdup(g->name);
    p->names = malloc(named + 1);
    p->variables = calloc(g->shown_count + inputs + 1, sizeof *p->variables);
    p->origins = calloc(inputs + 1, sizeof *p->origins);
    p->values = calloc(size + 1, sizeof *p->values);
    p->stretches = calloc(g->shown_count + 1, sizeof *p->stretches);
    p->room = calloc(most + 1, sizeof *p->room);
    if (p->title == NULL || p->names == NULL || p->variables == NULL || p->origins == NULL ||
        p->values == NULL || p->stretches == NULL || p->room == NULL) {
        destroy(p);
        return NULL;
    }
    for (size_t k = 0; k < g->shown_count; k++) {
        add_output(p, &g->shown[k]);
    }
    for (int32_t n = 0; n < g->count; n++) {
        add_inputs(p, &g->parts[n], n);
    }
    return p;
}

bool mechd_face_create(struct mechd_coupling *g, struct mechd_call *c,
                       enum mechd_submitted (*turns)(struct mechd_run *r))
{
    struct mechd_host *const h = &c->service->host;
    struct panel *const p = make(g, c->service->couplings);
    const struct mechd_engine engine = {.ops = &ops, .self = p};
    if (p == NULL || mechd_instance_create(h, &engine, &g->face) != 0) {
        if (p != NULL) {
            destroy(p);
        }
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for a coupling");
        return false;
    }
    g->face->turns = turns;
    g->face->hashes = hash_of_all;
    g->face->account = mechd_accounts_find(&h->accounts, c->who.name);
    if (g->face->account == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the account");
        return false;
    }
    struct mechd_excess excess;
    const bool may = mechd_instance_charge(g->face, MECHD_QUOTA_MEMORY, bytes_of(p),
                                           g->keep.loading ? NULL : &excess);
    if (!may) {
        mechd_fail_quota(c, &excess);
    }
    return may;
}

int mechd_face_open(struct mechd_coupling *g, uint64_t *serial)
{
    struct mechd_host *const h = &g->service->host;
    struct mechd_instance *const face = g->face;
    struct mechd_instance *other = NULL;
    do {
        char id[MECHD_ID];
        mechd_id_write('c', h->series, ++*serial, id);
        face->incarnation = h->incarnation;
        MECH_TRY(mechd_table_add(&h->faces, face, id));
        // once it is there no instance gets the id any more
        other = mechd_table_find(&h->table, id);
        if (other != NULL && mechd_table_remove(&h->faces, face)) {
            mechd_instance_unref(face);
        }
        mechd_instance_unref(other);
    } while (other != NULL);
    g->id = *serial;
    mechd_tell_created(face);
    return 0;
}

void mechd_face_close(struct mechd_coupling *g)
{
    struct mechd_instance *const face = g->face;
    mechd_instance_end(face);
    if (g->id != 0 && mechd_table_remove(&face->host->faces, face)) {
        mechd_instance_close(face);
        mechd_tell_gone(face);
        mechd_instance_unref(face);
    }
}

struct mechd_coupling *mechd_face_coupling(const struct mechd_instance *face)
{
    const struct panel *const p = face->engine.self;
    return mechd_coupling_find(p->couplings, face->id);
}

/* --- what it shows ---------------------------------------------------------------------------- */

static void take_time(struct panel *p, const struct mechd_coupling *g)
{
    p->time =
        g->opened ? mech_couple_time(g->couple) : mechd_engine_time(&g->parts[0].instance->engine);
    p->windows = g->couple != NULL ? mech_couple_windows(g->couple) : 0;
}

void mechd_face_stepped(struct mechd_coupling *g)
{
    struct panel *const p = g->face->engine.self;
    double *at = p->values;
    for (size_t k = 0; k < p->stretch_count; k++) {
        // each participant has published its commit
        const struct stretch *const s = &p->stretches[k];
        memcpy(at, g->parts[s->part].instance->published.values + s->from, s->size * sizeof *at);
        at += s->size;
    }
    take_time(p, g);
    g->keep.dirty = true;
    mechd_instance_stepped(g->face, 0);
}

void mechd_face_changed(struct mechd_coupling *g, uint16_t flags)
{
    struct panel *const p = g->face->engine.self;
    double *at = p->values;
    for (size_t k = 0; k < p->stretch_count; k++) {
        const struct stretch *const s = &p->stretches[k];
        if (k == 0 || s->part != p->stretches[k - 1].part) {
            mechd_engine_get_outputs(&g->parts[s->part].instance->engine, p->room);
        }
        memcpy(at, p->room + s->from, s->size * sizeof *at);
        at += s->size;
    }
    take_time(p, g);
    g->keep.dirty = true;
    mechd_instance_changed(g->face, flags);
}

void mechd_face_write_layout(const void *coupling, struct mechp_text *w)
{
    const struct mechd_instance *const face = ((const struct mechd_coupling *)coupling)->face;
    mechp_text_array(w);
    for (size_t k = 0; k < face->channel_count; k++) {
        const struct mechp_body_stream_part body = {.name = face->channels[k].name,
                                                    .offset = face->channels[k].offset,
                                                    .count = face->channels[k].size};
        MECHP_WRITE(stream_part, &body, w);
    }
    mechp_text_end(w);
}
