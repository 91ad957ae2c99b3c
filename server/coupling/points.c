#include "server/coupling/points.h"

#include "protocol/bind/bind.h"
#include "server/call/service.h"
#include "server/coupling/reading.h"
#include "server/os/ticks.h"
#include "solver/base/err.h"
#include "solver/base/text.h"
#include "solver/base/times.h"
#include "solver/items/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- what all points have in common ----------------------------------------------------------- */

/* As mechd_point_ops.drop. */
static void drop(void *of)
{
    struct mechd_points *const m = of;
    for (size_t k = 0; m != NULL && m->models != NULL && k < m->count; k++) {
        json_decref(m->models[k]);
    }
    if (m != NULL) {
        json_decref(m->document);
        free(m->models);
        free(m);
    }
}

/* The model out of a participant, a reference; NULL: it has none. */
static json_t *take_model(json_t *item)
{
    struct mechp_body_sweep_participant in;
    MECHP_PEEK(sweep_participant, item, &in);
    json_t *const model = json_incref((json_t *)(uintptr_t)in.model.of);
    (void)json_object_del(item, "model");
    return model;
}

struct mechd_points *mechd_points_make(json_t *document)
{
    struct mechd_points *const m = calloc(1, sizeof *m);
    struct mechp_body_couple_request in;
    MECHP_PEEK(couple_request, document, &in);
    const size_t count = json_array_size(in.participants.of);
    json_t **const models = calloc(count + 1, sizeof(json_t *));
    if (m == NULL || models == NULL) {
        free(m);
        free(models);
        json_decref(document);
        return NULL;
    }
    *m = (struct mechd_points){.document = document, .count = count, .models = models};
    for (size_t k = 0; k < count; k++) {
        models[k] = take_model(json_array_get(in.participants.of, k));
    }
    return m;
}

/* --- the coupling of a point ------------------------------------------------------------------ */

/* The source of its instances. */
struct making {
    const struct mechd_points *points;
    const struct mech_interrupt *ask;
    const struct mechd_point *point; /* NULL: the document's own values */
};

/* The value of a target, from the point. False: it keeps its own. */
static bool value_of(const struct making *m, int32_t target, double *out)
{
    const struct mechd_point *const p = m->point;
    for (size_t k = 0; p != NULL && k < p->sweep->plan.places; k++) {
        if (p->sweep->plan.index[k] == target) {
            *out = p->values[k];
            return true;
        }
    }
    return false;
}

/* Its model has been taken out. */
static bool read_named(const struct mechp_json_in *in, struct mechd_listed *out)
{
    struct mechp_body_sweep_participant item;
    MECHP_READ_IN(sweep_participant, in, &item);
    *out = (struct mechd_listed){.name = item.name};
    return json_is_object(in->object);
}

/* A simulation of the model with the values of its participant; its faults are at `base`. */
static int make_sim(struct mechd_reading *r, const struct making *m, int32_t listed,
                    const char *base, struct mech_sim **out)
{
    struct mech_document *document = NULL;
    struct mech_diag own;
    mech_diag_init(&own);
    int outcome = mechp_bind_read(m->points->models[listed], "", &own, &document);
    for (int32_t k = 0; outcome == 0 && k < m->points->target_count; k++) {
        const struct mechd_swept *const t = &m->points->targets[k];
        if (t->part == listed) {
            (void)value_of(m, k, &document->parameters.at[t->parameter].value);
        }
    }
    if (outcome == 0) {
        outcome = mech_sim_create_asking(document, m->ask, &own, out);
    }
    if (outcome != 0) {
        mech_document_destroy(document);
    }
    mech_diag_append(r->diag, &own, base);
    mech_diag_fini(&own);
    return outcome;
}

/* An instance in no table, without an account: the sweep is charged. */
static void find_made(struct mechd_reading *r, struct mechd_part *p,
                      const struct mechd_listed *item, const char *path)
{
    const struct making *const m = r->source->of;
    struct mech_sim *sim = NULL;
    char base[64], detail[140];
    (void)item;
    snprintf(base, sizeof base, "%.50s/model", path);
    int outcome = make_sim(r, m, p->listed, base, &sim);
    const struct mechd_engine engine = mechd_engine_of_sim(sim);
    if (outcome == 0) {
        outcome = mechd_instance_create(&r->g->service->host, &engine, &p->instance);
    }
    if (outcome == 0) {
        mech_text_copy(p->instance->id, sizeof p->instance->id, p->name);
        return;
    }
    mech_sim_destroy(sim);
    mech_text_format(detail, sizeof detail, "participant %.64s: %.60s", p->name,
                     outcome == MECH_INVALID ? "its model has faults" : mech_err_text(outcome));
    mechd_reading_fail(
        r, outcome == MECH_INVALID ? MECHP_INVALID_MODEL : mechp_code_of_outcome(outcome), detail);
}

/* Write a number to where the pointer leads, which has one. */
static bool put(json_t *document, const char *pointer, bool whole, double value)
{
    json_t *node = document;
    char key[2 * MECH_NAME_MAX + 2];
    for (;;) {
        pointer++;
        const size_t size = strcspn(pointer, "/");
        snprintf(key, sizeof key, "%.*s", (int)size, pointer);
        pointer += size;
        if (*pointer == '\0') {
            break;
        }
        node = json_is_array(node) ? json_array_get(node, strtoul(key, NULL, 10))
                                   : json_object_get(node, key);
    }
    return json_object_set_new(node, key,
                               whole ? json_integer((json_int_t)value) : json_real(value)) == 0;
}

/* The document with the values of the point; the caller's. NULL: no memory. */
static json_t *document_of(const struct making *m)
{
    json_t *const document = json_deep_copy(m->points->document);
    bool good = document != NULL;
    for (size_t k = 0; good && m->point != NULL && k < m->point->sweep->plan.places; k++) {
        const struct mechd_sweep_plan *const plan = &m->point->sweep->plan;
        const struct mechd_swept *const t = &m->points->targets[plan->index[k]];
        good = t->part >= 0 || put(document, plan->names[k], t->whole, m->point->values[k]);
    }
    if (!good) {
        json_decref(document);
    }
    return good ? document : NULL;
}

struct mechd_coupling *mechd_points_couple(const struct mechd_points *points,
                                           struct mechd_service *d, struct mech_diag *diag,
                                           const struct mech_interrupt *ask,
                                           const struct mechd_point *point)
{
    const struct making m = {.points = points, .ask = ask, .point = point};
    const struct mechd_source source = {.shape = &mechp_body_sweep_participant,
                                        .wants = "an object with a name and a model is needed",
                                        .read = read_named,
                                        .find = find_made,
                                        .of = (void *)(uintptr_t)&m};
    json_t *const document = document_of(&m);
    struct mechd_coupling *const g =
        document != NULL ? mechd_coupling_alone(d, document, diag, &source) : NULL;
    if (g != NULL) {
        g->reading->source = NULL;
        g->reading->owned = document;
    } else {
        json_decref(document);
    }
    return g;
}

/* --- a point ---------------------------------------------------------------------------------- */

struct point {
    struct mechd_coupling *coupling;
    struct mechd_coupling_command work; /* windows, without a call */
};

static void destroy(struct mechd_point *p)
{
    struct point *const m = p->self;
    for (int32_t n = 0; m != NULL && m->coupling != NULL && n < m->coupling->count; n++) {
        if (m->coupling->parts[n].instance != NULL) {
            mechd_part_drop(&m->coupling->parts[n]);
        }
    }
    if (m != NULL) {
        mechd_coupling_unref(m->coupling);
        free(m);
    }
    p->self = NULL;
}

/* Why it cannot be made: the participant's fault by its name, others by their place. False. */
static bool refuse(struct mechd_point *p, const struct mechd_coupling *g,
                   const struct mech_diag *diag)
{
    const struct mechd_reading *const r = g->reading;
    const char *const path = diag->count > 0 ? diag->entries[0].path : "";
    const char *const text = diag->count > 0 ? diag->entries[0].text : r->detail;
    p->code = r->code != MECHP_OK ? r->code : MECHP_INVALID_REQUEST;
    for (int32_t n = 0; n < g->count; n++) {
        char base[64];
        const int size = snprintf(base, sizeof base, "/participants/%d/model", g->parts[n].listed);
        if (strncmp(path, base, (size_t)size) == 0) {
            mech_text_format(p->reason, sizeof p->reason, "participant %.40s: %.50s%s%.80s",
                             g->parts[n].name, path + size, path[size] != '\0' ? ": " : "", text);
            return false;
        }
    }
    mech_text_format(p->reason, sizeof p->reason, "%.60s%s%.120s", path,
                     path[0] != '\0' ? ": " : "", text);
    return false;
}

/* All at the same time, with the outputs that the rows are made for. */
static bool fits(struct mechd_point *p, const struct mechd_coupling *g)
{
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    const double t = mechd_engine_time(&g->parts[0].instance->engine);
    const double scale = mechd_coupling_scale(g, t, g->step_size);
    bool good = true;
    for (int32_t n = 0; n < g->count; n++) {
        const double other = mechd_engine_time(&g->parts[n].instance->engine);
        if (!mech_time_same(other, t, scale)) {
            p->code = MECHP_TIME_MISMATCH;
            mech_text_format(p->reason, sizeof p->reason, "%.50s is at %.17g s, %.50s at %.17g s",
                             g->parts[0].name, t, g->parts[n].name, other);
            return false;
        }
    }
    for (size_t k = 0; good && k < plan->output_count; k++) {
        const struct mechd_sweep_output *const o = &plan->outputs[k];
        const struct mechd_engine *const e = &g->parts[o->part].instance->engine;
        struct mech_variable v;
        good = o->index < (int32_t)mechd_engine_variable_count(e, MECH_OUTPUT_VARIABLE);
        if (good) {
            mechd_engine_variable(e, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
            good = v.size == o->size;
        }
    }
    return good || mechd_point_fail(
                       p, MECHP_INVALID_MODEL,
                       "with these values the outputs differ from those of the sweep's columns");
}

/* One task of the window, or the next batch, or its end. */
static void work_on(struct mechd_coupling_command *k)
{
    struct mechd_coupling *const g = k->coupling;
    if (k->at < k->batch.count) {
        struct mech_couple_task *const task = &k->batch.tasks[k->at];
        struct mechd_part *const p = &g->parts[task->participant];
        if (mechd_part_perform(p, k, task) == MECHD_TASK_DONE) {
            const bool fails = task->code != 0 && (task->action == MECH_COUPLE_TRIAL ||
                                                   task->action == MECH_COUPLE_OUTPUTS);
            k->at = fails ? k->batch.count : k->at + 1;
        }
        return;
    }
    k->at = 0;
    if (mech_couple_next(g->couple, &k->batch) != 0) {
        k->batch.count = 0;
        k->window = false;
        mechd_coupling_refuse(k, MECHP_INTERNAL, "the coupling cannot continue");
    } else if (k->batch.count == 0) {
        mechd_coupling_window_over(k);
    }
}

/* Outputs at the present time. */
static bool start(struct mechd_point *p, struct point *m)
{
    struct mechd_coupling_command *const k = &m->work;
    *k = (struct mechd_coupling_command){.coupling = m->coupling, .kind = MECHD_COUPLING_START};
    while (k->window || mechd_coupling_window_begin(k)) {
        work_on(k);
    }
    if (k->code != MECHP_OK) {
        return mechd_point_fail(p, k->code, k->detail);
    }
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    *k = (struct mechd_coupling_command){.coupling = m->coupling,
                                         .kind = MECHD_COUPLING_POINT,
                                         .size = m->coupling->step_size,
                                         .windows = plan->count,
                                         .until = plan->counted ? (double)NAN : plan->until};
    return true;
}

static bool build(struct mechd_point *p)
{
    struct point *const m = calloc(1, sizeof *m);
    const struct mech_interrupt ask = {.wanted = mechd_point_ends, .context = p};
    struct mech_diag diag;
    p->self = m;
    if (m == NULL) {
        return mechd_point_fail(p, MECHP_OUT_OF_MEMORY, mech_err_text(MECH_NO_MEMORY));
    }
    mech_diag_init(&diag);
    struct mechd_coupling *const g =
        mechd_points_couple(p->sweep->plan.of, p->sweep->service, &diag, &ask, p);
    m->coupling = g;
    bool good = g != NULL;
    if (!good) {
        mechd_point_fail(p, MECHP_OUT_OF_MEMORY, mech_err_text(MECH_NO_MEMORY));
    } else {
        g->asks = mechd_point_asks;
        g->asks_of = p;
        mechd_coupling_connect_alone(g);
        good = mechd_reading_good(g->reading) || refuse(p, g, &diag);
        mechd_reading_free(g->reading);
        g->reading = NULL;
    }
    mech_diag_fini(&diag);
    return good && fits(p, g) && start(p, m);
}

static enum mechd_point_state advance(struct mechd_point *p, uint64_t until)
{
    const uint64_t every = p->sweep->plan.every;
    struct mechd_coupling_command *const k = &((struct point *)p->self)->work;
    do {
        if (!k->window && !mechd_coupling_window_begin(k)) {
            break;
        }
        work_on(k);
        if (!k->window && k->code == MECHP_OK && every > 0 &&
            (k->done % every == 0 || mechd_coupling_windows_done(k))) {
            return MECHD_POINT_ROW;
        }
    } while (k->code == MECHP_OK && mechd_now() < until);
    if (k->code != MECHP_OK) {
        mechd_point_fail(p, k->code, k->detail);
        return MECHD_POINT_FAILED;
    }
    return k->window || !mechd_coupling_windows_done(k) ? MECHD_POINT_GOES_ON : MECHD_POINT_ENDED;
}

static void record(const struct mechd_point *p, double *row)
{
    const struct mechd_sweep_plan *const plan = &p->sweep->plan;
    const struct mechd_coupling *const g = ((const struct point *)p->self)->coupling;
    *row++ = mechd_coupling_time(g);
    for (int32_t n = 0; n < g->count; n++) {
        mechd_engine_get_outputs(&g->parts[n].instance->engine, g->parts[n].outputs);
    }
    for (size_t k = 0; k < plan->output_count; k++) {
        const struct mechd_sweep_output *const o = &plan->outputs[k];
        const struct mechd_part *const part = &g->parts[o->part];
        struct mech_variable v;
        mechd_engine_variable(&part->instance->engine, MECH_OUTPUT_VARIABLE, (size_t)o->index, &v);
        memcpy(row, part->outputs + v.offset, (size_t)v.size * sizeof *row);
        row += v.size;
    }
}

const struct mechd_point_ops mechd_points_of_coupling = {
    .build = build, .advance = advance, .record = record, .destroy = destroy, .drop = drop};
