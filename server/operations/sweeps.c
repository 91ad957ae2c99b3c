/* /v1/sweeps: one model, one hosted FMU, or one coupling, over many sets of parameters, results as
 * one table. */
#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_coupling.h"
#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/coupling/coupling.h"
#include "server/coupling/points.h"
#include "server/operations/create.h"
#include "server/operations/sweep_points.h"
#include "server/os/ids.h"
#include "solver/items/document.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- the request ------------------------------------------------------------------------------ */

/* until or count, and rows in between; p->start and p->h are known. `least`: the smallest internal
 * step or window of all points, s. */
static void read_end(struct mechd_call *c, const struct mechp_body_sweep_request *in, double least,
                     struct mechd_sweep_plan *p)
{
    const bool until = !isnan(in->until);
    p->counted = in->count > 0;
    p->count = p->counted ? (uint64_t)in->count : 0;
    p->until = until ? in->until : p->until;
    if (mech_diag_clean(&c->diag) && p->counted == until) {
        mech_diag_add(&c->diag, "", "exactly one of until and count is needed");
    } else if (until && !(p->until > p->start)) {
        mech_diag_add(&c->diag, "/until", "must be after the start, %.17g", p->start);
    }
    if (in->record.of != NULL) {
        const struct mechp_json_in part = {in->record.of, "/record", &c->diag};
        struct mechp_body_sweep_record record;
        mechp_shape_only(in->record.of, "/record", &mechp_body_sweep_record, &c->diag);
        MECHP_READ_IN(sweep_record, &part, &record);
        const int64_t every = record.every != NULL ? json_integer_value(record.every) : 1;
        if (every < 1) {
            mech_diag_add(&c->diag, "/record/every", "must be a whole number, at least 1");
        }
        p->every = every < 1 ? 1 : (uint64_t)every;
    }
    // the start, the end, and one for rounding
    const double steps = p->counted ? (double)p->count : fmax(0., (p->until - p->start) / least);
    const double rows = p->every == 0 ? 1. : ceil(steps / (double)p->every) + 2.;
    p->least = p->every == 0 || p->counted ? 0. : least;
    p->capacity = rows < 1e9 ? (uint64_t)rows : 1000000000;
}

/* The outputs asked for, or all. */
static void read_outputs(struct mechd_call *c, const json_t *names,
                         const struct mechd_engine *engine, struct mechd_sweep_plan *p)
{
    const bool some = names != NULL;
    const size_t all = mechd_engine_variable_count(engine, MECH_OUTPUT_VARIABLE);
    const size_t count = some ? json_array_size(names) : all;
    if (count > all) {
        mech_diag_add(&c->diag, "/outputs", "the model has %zu", all);
        return;
    }
    p->outputs = calloc(count + 1, sizeof *p->outputs);
    if (p->outputs == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the outputs");
        return;
    }
    for (size_t k = 0; k < count; k++) {
        const char *name = some ? json_string_value(json_array_get(names, k)) : NULL;
        int32_t index = (int32_t)k;
        if (some) {
            index =
                name != NULL ? mechd_engine_variable_find(engine, MECH_OUTPUT_VARIABLE, name) : -1;
        }
        if (index < 0) {
            char path[48];
            snprintf(path, sizeof path, "/outputs/%zu", k);
            mechd_engine_lacks(engine, MECH_OUTPUT_VARIABLE, name, path, &c->diag);
            continue;
        }
        struct mechd_sweep_output *o = &p->outputs[p->output_count++];
        struct mech_variable v;
        mechd_engine_variable(engine, MECH_OUTPUT_VARIABLE, (size_t)index, &v);
        *o = (struct mechd_sweep_output){.index = index, .size = v.size, .scalar = v.scalar};
        snprintf(o->name, sizeof o->name, "%s", v.name);
    }
}

/* The model, in JSON, for the lanes alone: a body goes while they read, and counts of references do
 * not order that. NULL: refused. */
static json_t *read_model(struct mechd_call *c, const struct mechp_body_sweep_request *in)
{
    if ((in->model.of != NULL) == (in->example != NULL)) {
        mech_diag_add(&c->diag, "", "exactly one of model, example, fmu and coupling is needed");
        return NULL;
    }
    if (in->example != NULL) {
        return mechd_build_example(c, in->example);
    }
    json_t *own = json_deep_copy(in->model.of);
    if (own == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
    return own;
}

/* --- the reply -------------------------------------------------------------------------------- */

static void write_parameters(const void *of, struct mechp_text *w)
{
    mechd_sweep_write_parameters(of, w);
}

static void write_outputs(const void *of, struct mechp_text *w)
{
    const struct mechd_sweep_plan *const p = of;
    mechp_text_array(w);
    for (size_t k = 0; k < p->output_count; k++) {
        mechp_text_string(w, p->outputs[k].name);
    }
    mechp_text_end(w);
}

static void write_errors(const void *of, struct mechp_text *w)
{
    struct mechd_sweep *const *const s = of;
    mechd_sweep_write_errors(*s, w);
}

/* `whole`: with its errors. */
static void write_sweep(struct mechd_sweep *s, bool whole, struct mechp_text *w)
{
    char id[MECHD_ID];
    mechd_sweep_id(s, id);
    const char *const state = mechd_sweep_state(s);
    const struct mechp_body_sweep body = {.id = id,
                                          .name = s->name,
                                          .state = state,
                                          .points = s->plan.points,
                                          .done = atomic_load(&s->done),
                                          .failed = atomic_load(&s->failed),
                                          .stored = atomic_load(&s->kept),
                                          .parameters = {write_parameters, s},
                                          .outputs = {write_outputs, &s->plan},
                                          .errors = {whole ? write_errors : NULL, &s}};
    MECHP_WRITE(sweep, &body, w);
}

/* All sweeps. */
struct list {
    struct mechd_sweep **at; /* [count] */
    size_t count;
};

static void write_items(const void *of, struct mechp_text *w)
{
    const struct list *const list = of;
    mechp_text_array(w);
    for (size_t k = 0; k < list->count; k++) {
        write_sweep(list->at[k], false, w);
    }
    mechp_text_end(w);
}

/* A parameter of the model. */
static bool find_parameter(struct mechd_call *c, const struct mechd_axes *axes, const char *name,
                           const char *path, struct mechd_axis *out)
{
    const struct mech_document *const document = axes->of;
    const struct mech_parameters *const all = &document->parameters;
    size_t k = 0;
    while (k < all->n && strcmp(all->at[k].name, name) != 0) {
        k++;
    }
    if (k == all->n) {
        struct mech_guess g;
        mech_diag_add(
            &c->diag, path, "the model has no parameter '%.64s'%s", name,
            mech_hint(&g, name, all->at, mech_diag_full(&c->diag) ? 0 : all->n, sizeof *all->at));
        return false;
    }
    *out = (struct mechd_axis){.index = (int32_t)k, .own = all->at[k].value};
    return true;
}

/* A plan of a model; its name. */
static void plan_model(struct mechd_call *c, const struct mechp_body_sweep_request *in,
                       struct mechd_sweep_plan *plan, char **name)
{
    plan->ops = &mechd_points_of_model;
    plan->of = read_model(c, in);
    struct mech_sim *sim = plan->of != NULL ? mechd_build(c, plan->of, "/model") : NULL;
    if (sim == NULL) {
        return;
    }
    const struct mech_document *document = mech_sim_document(sim);
    const struct mechd_axes axes = {.find = find_parameter, .of = document};
    *name = strdup(document->name != NULL ? document->name : "");
    mechd_sweep_points_read(c, in->parameters, &axes, plan);
    plan->start = mech_sim_time(sim);
    plan->h = mech_sim_step_size(sim);
    read_end(c, in, plan->h, plan);
    const struct mechd_engine engine = mechd_engine_of_sim(sim); // which it does not own here
    read_outputs(c, in->outputs.of, &engine, plan);
    const struct mech_sizes sizes = mech_sim_sizes(sim);
    plan->instances = 1;
    plan->coordinates = (uint64_t)sizes.v + (uint64_t)sizes.x;
    plan->memory = mech_sim_memory(sim);
    mech_sim_destroy(sim);
}

/* A plan of a hosted FMU; its name. */
static void plan_fmu(struct mechd_call *c, const struct mechp_body_sweep_request *in,
                     struct mechd_sweep_plan *plan, char **name)
{
    const struct mechd_engine *const e = mechd_sweep_of_fmu(c, in, plan);
    if (e == NULL) {
        return;
    }
    *name = strdup(e->ops->title(e->self));
    plan->start = mechd_engine_time(e);
    plan->h = mechd_engine_step_size(e);
    read_end(c, in, plan->h, plan);
    read_outputs(c, in->outputs.of, e, plan);
    plan->instances = 1;
}

/* --- of a coupling ---------------------------------------------------------------------------- */

/* In place of the name of its example, at `path`. */
static void resolve_example(struct mechd_call *c, json_t *item, const char *name, const char *path)
{
    const size_t before = c->diag.count;
    json_t *own = NULL;
    if (name != NULL) {
        own = mechd_build_example(c, name);
    } else {
        mech_diag_add(&c->diag, "/example", "must be a string");
    }
    if (c->diag.count > before) {
        mech_diag_prefix(c->diag.entries + before, c->diag.count - before, path);
    }
    if (own != NULL &&
        (json_object_set_new(item, "model", own) != 0 || json_object_del(item, "example") != 0)) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
    }
}

/* A participant gets the model of its example. */
static void resolve(struct mechd_call *c, json_t *item, size_t k)
{
    char path[64];
    const size_t before = c->diag.total;
    struct mechp_body_sweep_participant in;
    const char *const other = json_object_get(item, "partner") != NULL    ? "/partner"
                              : json_object_get(item, "instance") != NULL ? "/instance"
                                                                          : "";
    snprintf(path, sizeof path, "/coupling/participants/%zu%s", k, other);
    if (other[0] != '\0') {
        mech_diag_add(&c->diag, path,
                      "each point has participants of its own: a model or an example is needed");
        return;
    }
    MECHP_READ_IN(sweep_participant, (&(const struct mechp_json_in){item, path, &c->diag}), &in);
    if (c->diag.total > before) {
        return;
    }
    if ((in.model.of != NULL) == (in.example != NULL)) {
        mech_diag_add(&c->diag, path, "exactly one of model and example is needed");
    } else if (in.example != NULL) {
        resolve_example(c, item, json_string_value(in.example), path);
    }
}

/* The document of the coupling, the request's own, with the models of all participants. NULL:
 * refused. */
static json_t *read_coupling(struct mechd_call *c, const json_t *given)
{
    json_t *const own = json_deep_copy(given);
    struct mechp_body_couple_request in;
    if (own == NULL) {
        mechd_fail_outcome(c, MECH_NO_MEMORY);
        return NULL;
    }
    MECHP_PEEK(couple_request, own, &in);
    mechp_shape_only(own, "/coupling", mechp_shape_named("@SweepCoupling"), &c->diag);
    for (size_t k = 0; k < json_array_size(in.participants.of) && k < MECHD_COUPLING_PARTS; k++) {
        resolve(c, json_array_get(in.participants.of, k), k);
    }
    if (mechd_call_faulty(c) || c->code != MECHP_OK) {
        json_decref(own);
        return NULL;
    }
    return own;
}

static bool find_target(struct mechd_call *c, const struct mechd_axes *axes, const char *name,
                        const char *path, struct mechd_axis *out)
{
    struct mechd_points *const points = axes->points;
    const int32_t k = mechd_points_target(points, axes->of, name, path, &c->diag);
    if (k >= 0) {
        const struct mechd_swept *const t = &points->targets[k];
        *out = (struct mechd_axis){.index = k, .own = t->own, .whole = t->whole};
    }
    return k >= 0;
}

/* The rest of the request, about a coupling that is read. */
static void plan_points(struct mechd_call *c, const struct mechp_body_sweep_request *in,
                        struct mechd_coupling *g, struct mechd_sweep_plan *plan)
{
    const struct mechd_axes axes = {.find = find_target, .of = g, .points = plan->of};
    mechd_sweep_points_read(c, in->parameters, &axes, plan);
    plan->start = mechd_engine_time(&g->parts[0].instance->engine);
    plan->h = g->step_size;
    read_end(c, in, mechd_points_window(g, plan), plan);
    if (!mechd_points_outputs(g, in->outputs.of, &c->diag, plan)) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the outputs");
    }
    const size_t before = c->diag.count;
    mechd_coupling_connect_alone(g);
    if (mechd_points_good(c, g, before)) {
        mechd_points_charge(g, plan);
    }
}

/* A plan of a coupling; its name. */
static void plan_coupling(struct mechd_call *c, const struct mechp_body_sweep_request *in,
                          struct mechd_sweep_plan *plan, char **name)
{
    const struct mech_interrupt ask = {.wanted = mechd_call_ends, .context = c};
    json_t *const document = read_coupling(c, in->coupling.of);
    plan->ops = &mechd_points_of_coupling;
    plan->of = document != NULL ? mechd_points_make(document) : NULL;
    if (plan->of == NULL) {
        if (document != NULL) {
            mechd_fail_outcome(c, MECH_NO_MEMORY);
        }
        return;
    }
    const size_t before = c->diag.count;
    struct mechd_coupling *const g =
        mechd_points_couple(plan->of, c->service, &c->diag, &ask, NULL);
    if (mechd_points_good(c, g, before)) {
        *name = strdup(g->name);
        plan_points(c, in, g, plan);
    }
    mechd_coupling_unref(g);
}

/* From the request to a plan; the name of what is swept. False: refused. */
static bool read_plan(struct mechd_call *c, struct mechd_sweep_plan *plan, char **name)
{
    struct mechp_body_sweep_request in;
    MECHP_READ(sweep_request, c->body, &c->diag, &in);
    if (mechd_call_faulty(c)) {
        return false;
    }
    const bool coupled = in.coupling.of != NULL, hosted = in.fmu != NULL;
    const bool built = in.model.of != NULL || in.example != NULL;
    if (built + coupled + hosted > 1) {
        mech_diag_add(&c->diag, "", "exactly one of model, example, fmu and coupling is needed");
    } else if (!hosted && in.start.of != NULL) {
        mech_diag_add(&c->diag, "/start", "start values are those of an FMU");
    } else if (coupled) {
        plan_coupling(c, &in, plan, name);
    } else if (hosted) {
        plan_fmu(c, &in, plan, name);
    } else {
        plan_model(c, &in, plan, name);
    }
    const double bytes = mechd_sweep_bytes(plan);
    if (mech_diag_clean(&c->diag) && bytes > MECHD_SWEEP_BYTES && coupled && plan->least > 0.) {
        mech_diag_add(&c->diag, "",
                      "%.3g bytes of rows if all windows have the smallest size, %.3g s (stepSize, "
                      "or adaptive.minimum); at most %d are retained",
                      bytes, plan->least, MECHD_SWEEP_BYTES);
    } else if (mech_diag_clean(&c->diag) && bytes > MECHD_SWEEP_BYTES) {
        mech_diag_add(&c->diag, "", "%.3g bytes of rows; at most %d are retained", bytes,
                      MECHD_SWEEP_BYTES);
    }
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

static enum mechd_progress run_start(struct mechd_call *c)
{
    struct mechd_sweep_plan plan = {.ops = NULL};
    struct mechd_sweep *s = NULL;
    char *name = NULL;
    if (!read_plan(c, &plan, &name) || !mechd_call_close(c)) {
        free(name);
        mechd_sweep_plan_fini(&plan);
        return MECHD_DONE;
    }
    struct mechd_account *const account =
        mechd_accounts_find(&c->service->host.accounts, c->who.name);
    struct mechd_excess excess;
    const int outcome = account != NULL && name != NULL
                            ? mechd_sweep_create(c->service, account, name, &plan, &excess, &s)
                            : MECH_NO_MEMORY;
    free(name);
    mechd_sweep_plan_fini(&plan);
    if (outcome > 0 && excess.which != MECHD_QUOTAS) {
        return mechd_fail_quota(c, &excess);
    }
    if (outcome > 0) {
        return mechd_fail(c, MECHP_LIMIT_REACHED,
                          "%d sweeps, or %d MiB of their rows, are retained: delete some",
                          MECHD_SWEEPS_MOST, MECHD_SWEEPS_BYTES >> 20);
    }
    if (outcome < 0) {
        return mechd_fail_outcome(c, outcome);
    }
    c->status = 202;
    char id[MECHD_ID];
    mechd_sweep_id(s, id);
    snprintf(c->location, sizeof c->location, "/v1/sweeps/%s", id);
    write_sweep(s, true, &c->text);
    mechd_sweep_begin(s, s->service->host.store != NULL ? mechd_call_ticket(c) : NULL);
    mechd_sweep_unref(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SWEEP = {.run = run_start};

static enum mechd_progress run_list(struct mechd_call *c)
{
    struct list list = {NULL, 0};
    if (mechd_sweep_list(c->service->sweeps, &list.at, &list.count) != 0) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the list");
    }
    const struct mechp_body_sweep_list body = {{write_items, &list}};
    MECHP_WRITE(sweep_list, &body, &c->text);
    for (size_t k = 0; k < list.count; k++) {
        mechd_sweep_unref(list.at[k]);
    }
    free(list.at);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SWEEPS = {.run = run_list};

/* The sweep of the path, a reference. NULL: refused. */
static struct mechd_sweep *find(struct mechd_call *c)
{
    const char *id = mechd_call_value(c, "wid");
    struct mechd_sweep *s = mechd_sweep_find(c->service->sweeps, id);
    if (s == NULL) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no sweep %.64s", id);
    }
    return s;
}

static enum mechd_progress run_get(struct mechd_call *c)
{
    struct mechd_sweep *s = find(c);
    if (s != NULL) {
        write_sweep(s, true, &c->text);
    }
    mechd_sweep_unref(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_GET_SWEEP = {.run = run_get};

static enum mechd_progress run_delete(struct mechd_call *c)
{
    struct mechd_sweep *s = find(c);
    c->status = 204;
    if (s != NULL && !mechd_sweep_remove(c->service->sweeps, s)) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no sweep %.64s", mechd_call_value(c, "wid"));
    } else if (s != NULL && s->stored) {
        mechd_sweep_forget(s, mechd_call_ticket(c));
    }
    mechd_sweep_unref(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE_SWEEP = {.run = run_delete};

/* Rows of points that are over now; more may be while they are written. */
static void write_from_memory(struct mechd_call *c, const struct mechd_sweep *s,
                              struct mechd_rows *r)
{
    const struct mechd_sweep_plan *const p = &s->plan;
    bool *const over = calloc(p->points, sizeof *over);
    uint64_t rows = 0;
    if (over == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the rows");
        return;
    }
    for (uint32_t k = 0; k < p->points; k++) {
        over[k] = atomic_load(&s->over[k]);
        rows += over[k] ? s->row_counts[k] : 0;
    }
    mechd_rows_begin(r, rows);
    for (uint32_t k = 0; k < p->points; k++) {
        for (uint64_t n = 0; over[k] && n < s->row_counts[k]; n++) {
            mechd_rows_add(r, s->rows + (k * p->capacity + n) * s->width);
        }
    }
    mechd_rows_end(r);
    free(over);
}

/* Where a chunk from the disk goes. */
struct chunk {
    struct mechd_rows *rows;
    size_t width;
    uint64_t next, end; /* rows */
};

static int take_chunk(void *context, const struct mechd_stored_bytes *b)
{
    struct chunk *const k = context;
    const size_t size = k->width * sizeof(double);
    if (b->number != k->next || b->size == 0 || b->size % size != 0 ||
        b->size / size > k->end - k->next) {
        return MECH_MISMATCH;
    }
    // SQLite's bytes are not aligned
    double *const values = malloc(b->size);
    if (values == NULL) {
        return MECH_NO_MEMORY;
    }
    memcpy(values, b->bytes, b->size);
    for (size_t n = 0; n < b->size / size; n++) {
        mechd_rows_add(k->rows, values + n * k->width);
    }
    k->next += b->size / size;
    free(values);
    return 0;
}

/* Rows of an earlier process. */
static void write_from_store(struct mechd_call *c, const struct mechd_sweep *s,
                             struct mechd_rows *r)
{
    struct chunk k = {.rows = r, .width = s->width, .end = s->stored_rows};
    int outcome = 0;
    mechd_rows_begin(r, k.end);
    while (outcome == 0 && k.next < k.end) {
        outcome = mechd_store_sweep_rows(c->service->host.store, s->id, k.next, take_chunk, &k);
    }
    mechd_rows_end(r);
    if (outcome != 0) {
        mechd_fail(c, MECHP_INTERNAL, "rows from %llu on cannot be read",
                   (unsigned long long)k.next);
    }
}

static enum mechd_progress run_results(struct mechd_call *c)
{
    struct mechd_sweep *s = find(c);
    const int form = s != NULL ? mechd_form(c, mechd_forms_of_rows) : -1;
    if (form < 0 || !mechd_form_begin(c, (enum mechd_form)form)) {
        mechd_sweep_unref(s);
        return MECHD_DONE;
    }
    struct mechd_rows r = {.form = (enum mechd_form)form,
                           .gaps = true,
                           .text = &c->text,
                           .columns = s->columns,
                           .count = s->column_count};
    if (s->rows != NULL) {
        write_from_memory(c, s, &r);
    } else {
        write_from_store(c, s, &r);
    }
    mechd_sweep_unref(s);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_SWEEP_RESULTS = {.run = run_results};
