/* POST /v1/batch: operations on many instances in one request.
 *
 *   {"instances": ["a", "b"] | {"label": "rig=7"}, "operation": "step", "body": {"count": 10}}
 *   {"items": [{"op": "step", "id": "a", "count": 10}, {"op": "set-inputs", "id": "b", …}]}
 *
 * A body and an item are what a JSON message over ZeroMQ says, without and with operation and
 * instance. Operations are those on an instance that have a name there. What is wrong with the
 * request refuses it; faults of an item are reported in its result.
 *
 *   full   {"failed": 1, "results": [{"id", "status", "body"}, {"id", "status", "error"}]}
 *   table  {"failed": 1, "ids": […], "columns": ["time", "step", "x"], "rows": [[…], …],
 *           "errors": [{"index", "id", "status", "error"}]}: time, internal steps and outputs of
 *          each instance after its operation, also as NDJSON, CSV, NPY and float64; a row without
 *          values is null, NaN or empty
 */
#include "server/call/batch.h"

#include "protocol/wire/bodies.h"
#include "protocol/wire/bodies_messages.h"
#include "protocol/wire/bodies_stepping.h"
#include "protocol/wire/json.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/traits.h"
#include "solver/base/hash.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PER_LANE = 16 /* items for which another thread is worth its wake-up */ };

static void free_batch(struct mechd_call *c)
{
    struct mechd_batch *b = c->work;
    for (uint32_t k = 0; k < b->lane_count && b->lanes != NULL; k++) {
        mechp_text_fini(&b->lanes[k].text);
    }
    for (uint32_t k = 0; k < b->count && b->items != NULL; k++) {
        free(b->items[k].own);
    }
    for (size_t k = 0; k < b->chosen_count; k++) {
        mechd_instance_unref(b->chosen[k]);
    }
    mechd_instance_unref(b->like);
    pthread_mutex_destroy(&b->m);
    free(b->lanes);
    free(b->items);
    free(b->chosen);
    free(b->rows);
    free(b);
}

/* --- the request ------------------------------------------------------------------------------ */

/* The route of an operation on an instance; NULL, and a fault at the path. */
static const struct mechp_route *find_route(struct mechd_call *c, const char *path,
                                            const json_t *name)
{
    static const char of_instance[] = "/v1/instances/{id}";
    const char *text = json_string_value(name);
    const struct mechp_route *route = text != NULL ? mechp_route_of_operation(text) : NULL;
    if (route == NULL || strncmp(route->path, of_instance, sizeof of_instance - 1) != 0) {
        if (text == NULL) {
            mech_diag_add(&c->diag, path, "the name of an operation on an instance is needed");
            return NULL;
        }
        // one that there is, but not on an instance, is not misspelled
        const bool known = route != NULL && *route->operation != '\0';
        const char *const meant = known ? NULL : mechp_operation_closest(text);
        mech_diag_add(&c->diag, path, "there is no operation '%.64s' on an instance%s%s%s", text,
                      meant != NULL ? ", did you mean '" : "", meant != NULL ? meant : "",
                      meant != NULL ? "'?" : "");
        return NULL;
    }
    return route;
}

/* Room for so many items. False: refused. */
static bool make_items(struct mechd_batch *b, const char *path, size_t count)
{
    if (count > MECHD_BATCH_MOST) {
        mech_diag_add(&b->call->diag, path, "at most %d", MECHD_BATCH_MOST);
        return false;
    }
    b->items = calloc(count + 1, sizeof *b->items);
    if (b->items == NULL) {
        mechd_fail(b->call, MECHP_OUT_OF_MEMORY, "no memory for %zu items", count);
        return false;
    }
    b->count = (uint32_t)count;
    return true;
}

/* Instances by their ids. */
static void take_list(struct mechd_batch *b, const json_t *ids)
{
    if (!make_items(b, "/instances", json_array_size(ids))) {
        return;
    }
    for (uint32_t k = 0; k < b->count; k++) {
        b->items[k].id = json_string_value(json_array_get(ids, k));
        if (b->items[k].id == NULL || !mech_name_valid(b->items[k].id)) {
            char path[32];
            snprintf(path, sizeof path, "/instances/%u", k);
            mech_diag_add(&b->call->diag, path,
                          "an id must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
        }
    }
}

/* Instances by their labels, in the order of their creation. */
static void take_labelled(struct mechd_batch *b, const json_t *choice)
{
    struct mechd_call *c = b->call;
    struct mechp_body_batch_choice in;
    MECHP_READ(batch_choice, choice, &c->diag, &in);
    mechp_shape_only(choice, "/instances", &mechp_body_batch_choice, &c->diag);
    const char *const label = json_string_value(in.label);
    struct mechd_choice labels = {.count = 0};
    if (label == NULL) {
        mech_diag_add(&c->diag, "/instances/label", "expected \"name=value,name\"");
    } else {
        (void)mechd_choice_read(&labels, label, "/instances/label", &c->diag);
    }
    if (mechd_call_faulty(c)) {
        mechd_choice_fini(&labels);
        return;
    }
    // what a list of all pages shows
    const struct mechd_page page = {.most = MECHD_INSTANCES_MOST, .choice = &labels};
    size_t count = 0;
    bool more = false;
    const int code = mechd_table_choose(&c->service->host.table, &page, &b->chosen, &count, &more);
    mechd_choice_fini(&labels);
    if (code != 0) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the list");
        return;
    }
    b->chosen_count = (uint32_t)count;
    if (make_items(b, "/instances", b->chosen_count)) {
        for (uint32_t k = 0; k < b->count; k++) {
            b->items[k].id = b->chosen[k]->id;
        }
    }
}

/* One operation over instances. */
static void take_instances(struct mechd_batch *b, const struct mechp_body_batch_request *in)
{
    struct mechd_call *c = b->call;
    const json_t *const instances = in->instances, *const body = in->body.of;
    if (json_is_array(instances)) {
        take_list(b, instances);
    } else if (json_is_object(instances)) {
        take_labelled(b, instances);
    } else {
        mech_diag_add(&c->diag, "/instances", "expected ids, or {\"label\": \"name=value,name\"}");
    }

    // over ZeroMQ "op" is the batch itself
    const bool other = in->operation == NULL && c->door == MECHD_DOOR_HTTP;
    const struct mechp_route *route = find_route(c, "/operation", other ? in->op : in->operation);
    for (const struct mechp_member *m = mechp_body_message_item.members; m->name != NULL; m++) {
        if (json_object_get(body, m->name) != NULL) {
            char path[32];
            snprintf(path, sizeof path, "/body/%s", m->name);
            mech_diag_add(&c->diag, path, "is set by the batch");
        }
    }
    for (uint32_t k = 0; k < b->count; k++) {
        b->items[k].route = route;
        b->items[k].body = (json_t *)(uintptr_t)body;
    }
}

static void refuse_beside_items(struct mechd_call *c, const json_t *given, const char *path)
{
    if (given != NULL) {
        mech_diag_add(&c->diag, path, "is already given in each item");
    }
}

/* Operations one by one. */
static void take_items(struct mechd_batch *b, const struct mechp_body_batch_request *in)
{
    struct mechd_call *c = b->call;
    const json_t *const items = in->items.of;
    refuse_beside_items(c, in->instances, "/instances");
    refuse_beside_items(c, in->operation, "/operation");
    refuse_beside_items(c, in->body.of, "/body");
    if (!make_items(b, "/items", json_array_size(items))) {
        return;
    }
    const struct mechp_route *last = NULL;
    for (uint32_t k = 0; k < b->count; k++) {
        struct mechd_batch_item *const item = &b->items[k];
        struct mechp_body_message_item given;
        char path[32];
        item->body = json_array_get(items, k);
        MECHP_READ(message_item, item->body, &c->diag, &given);
        snprintf(path, sizeof path, "/items/%u/op", k);
        const bool same = last != NULL && json_is_string(given.op) &&
                          strcmp(json_string_value(given.op), last->operation) == 0;
        item->route = same ? last : find_route(c, path, given.op);
        last = item->route;
        item->id = json_string_value(given.id);
        if (item->id == NULL || !mech_name_valid(item->id)) {
            snprintf(path, sizeof path, "/items/%u/id", k);
            mech_diag_add(&c->diag, path,
                          "an id must have 1 to 64 characters of A-Z a-z 0-9 . _ -");
        }
    }
}

/* Items on one instance follow each other. False: refused. */
static bool chain_items(struct mechd_batch *b)
{
    uint32_t size = 2;
    while (size < 2 * b->count) {
        size *= 2;
    }
    // open addressing: 1 + the last item of an id
    uint32_t *const last = calloc(size, sizeof *last);
    if (last == NULL) {
        mechd_fail(b->call, MECHP_OUT_OF_MEMORY, "no memory for %u items", b->count);
        return false;
    }
    for (uint32_t k = 0; k < b->count; k++) {
        const char *id = b->items[k].id;
        uint32_t at = (uint32_t)mech_hash(id, strlen(id), 0) & (size - 1);
        while (last[at] != 0 && strcmp(b->items[last[at] - 1].id, id) != 0) {
            at = (at + 1) & (size - 1);
        }
        if (last[at] != 0) {
            b->items[last[at] - 1].next = k + 1;
            b->items[k].follows = true;
        }
        last[at] = k + 1;
    }
    free(last);
    return true;
}

/* Room for a table: all instances have the same outputs. */
static void make_table(struct mechd_batch *b)
{
    struct mechd_call *c = b->call;
    for (uint32_t k = 0; k < b->count; k++) {
        struct mechd_instance *i = mechd_table_find(&c->service->host.table, b->items[k].id);
        if (i != NULL && b->like == NULL) {
            b->like = i;
            b->width = i->output_size + 2;
            continue;
        }
        const bool fits = i == NULL || mechd_batch_fits(b, i);
        mechd_instance_unref(i);
        if (!fits) {
            mech_diag_add(&c->diag, "/results",
                          "a table needs the same outputs for all instances: those of %s differ",
                          b->items[k].id);
            return;
        }
    }
    if (b->like == NULL) {
        return; // no instance: no columns
    }
    if (b->width * b->count > MECHD_BATCH_RESULTS / sizeof(double)) {
        mech_diag_add(&c->diag, "/results", "a table of more than %d MiB",
                      MECHD_BATCH_RESULTS >> 20);
        return;
    }
    b->rows = mechd_doubles(c, b->width * b->count);
    for (size_t k = 0; b->rows != NULL && k < b->width * b->count; k++) {
        b->rows[k] = NAN;
    }
}

/* The whole request. False: refused. */
static bool read_batch(struct mechd_batch *b)
{
    struct mechd_call *c = b->call;
    struct mechp_body_batch_request in;
    MECHP_READ(batch_request, c->body, &c->diag, &in);
    const bool table = in.results == 1;
    if (in.items.of != NULL) {
        take_items(b, &in);
    } else {
        take_instances(b, &in);
    }
    if (mechd_call_faulty(c) || c->code != MECHP_OK || !chain_items(b)) {
        return false;
    }
    const int form = mechd_form(c, table ? mechd_forms_of_rows : 1u << MECHD_FORM_JSON);
    if (form < 0 || !mechd_form_begin(c, (enum mechd_form)form)) {
        return false;
    }
    b->form = (enum mechd_form)form;
    b->table = table;
    if (table) {
        make_table(b);
    }
    return !mechd_call_faulty(c) && c->code == MECHP_OK;
}

static enum mechd_submitted spread_batch(struct mechd_call *c)
{
    struct mechd_batch *b = calloc(1, sizeof *b);
    if (b == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the batch");
        return MECHD_RAN;
    }
    pthread_mutex_init(&b->m, NULL);
    b->call = c;
    c->work = b;
    c->work_free = free_batch;
    if (!read_batch(b)) {
        return MECHD_RAN;
    }
    const uint32_t wanted = (b->count + PER_LANE - 1) / PER_LANE;
    const uint32_t workers = (uint32_t)c->service->host.pool.count;
    b->lane_count = wanted < 1 ? 1 : wanted < workers ? wanted : workers;
    b->lanes = calloc(b->lane_count, sizeof *b->lanes);
    if (b->lanes == NULL) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the batch");
        return MECHD_RAN;
    }
    mechd_count(&c->service->host.counters.batch_items, b->count);
    return mechd_batch_start(b);
}

/* --- the reply -------------------------------------------------------------------------------- */

static const char *text_of(const struct mechd_batch_item *item)
{
    return item->own != NULL ? item->own : item->lane->text.bytes + item->offset;
}

/* The results that have a text. */
static void write_results(const void *of, struct mechp_text *w)
{
    const struct mechd_batch *const b = of;
    mechp_text_array(w);
    for (uint32_t k = 0; k < b->count; k++) {
        const struct mechd_batch_item *item = &b->items[k];
        if (item->size > 0) {
            mechp_text_raw(w, text_of(item), item->size);
        } else if (!item->good || !b->table) {
            static const char lost[] = "{\"status\":503}";
            mechp_text_raw(w, lost, sizeof lost - 1);
        }
    }
    mechp_text_end(w);
}

static void write_ids(const void *of, struct mechp_text *w)
{
    const struct mechd_batch *const b = of;
    mechp_text_array(w);
    for (uint32_t k = 0; k < b->count; k++) {
        mechp_text_string(w, b->items[k].id);
    }
    mechp_text_end(w);
}

/* A table, as parts of a body. */
struct table {
    const struct mechd_batch *batch;
    struct mechd_rows *rows;
};

static void add_rows(const struct table *t)
{
    const struct mechd_batch *const b = t->batch;
    for (uint32_t k = 0; k < b->count; k++) {
        static const double nothing[2] = {NAN, NAN};
        mechd_rows_add(t->rows, b->rows != NULL ? b->rows + k * b->width : nothing);
    }
}

static void write_columns(const void *table, struct mechp_text *w)
{
    const struct table *const t = table;
    (void)w;
    mechd_rows_columns_write(t->rows);
}

static void write_rows(const void *table, struct mechp_text *w)
{
    mechp_text_array(w);
    add_rows(table);
    mechp_text_end(w);
}

static void write_table(struct mechd_batch *b)
{
    struct mechp_text *w = &b->call->text;
    const size_t outputs = b->like != NULL ? b->like->channel_count : 0;
    struct mechd_column *columns = calloc(outputs + 2, sizeof *columns);
    if (columns == NULL) {
        mechd_fail(b->call, MECHP_OUT_OF_MEMORY, "no memory for the columns");
        return;
    }
    columns[0] = (struct mechd_column){"time", 1, true, NULL};
    columns[1] = (struct mechd_column){"step", 1, true, NULL};
    for (size_t k = 0; k < outputs; k++) {
        columns[k + 2] = mechd_rows_output(&b->like->channels[k]);
    }
    struct mechd_rows r = {
        .form = b->form, .gaps = true, .text = w, .columns = columns, .count = outputs + 2};
    const struct table table = {b, &r};
    if (b->form == MECHD_FORM_JSON) {
        const struct mechp_body_batch_table body = {.columns = {write_columns, &table},
                                                    .rows = {write_rows, &table},
                                                    .failed = atomic_load(&b->failed),
                                                    .ids = {write_ids, b},
                                                    .errors = {write_results, b}};
        MECHP_WRITE(batch_table, &body, w);
    } else {
        mechd_rows_begin(&r, b->count);
        add_rows(&table);
        mechd_rows_end(&r);
    }
    free(columns);
}

void mechd_batch_write(struct mechd_batch *b)
{
    for (uint32_t k = 0; k < b->lane_count; k++) {
        if (b->lanes[k].text.failed) {
            mechd_fail(b->call, MECHP_OUT_OF_MEMORY, "no memory for the results");
            return;
        }
    }
    if (b->table) {
        write_table(b);
        return;
    }
    const struct mechp_body_batch_reply body = {.failed = atomic_load(&b->failed),
                                                .results = {write_results, b}};
    MECHP_WRITE(batch_reply, &body, &b->call->text);
}

const struct mechd_operation mechd_operation_BATCH = {.spread = spread_batch};
