/* Listing, showing, resetting, stopping and deleting instances. */
#include "protocol/bind/bind.h"
#include "protocol/frame/frame.h"
#include "protocol/wire/bodies.h"
#include "server/call/query.h"
#include "server/call/service.h"
#include "server/call/shapes.h"
#include "server/instance/runs.h"
#include "server/instance/traits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Instances of a page, and the serial number behind which it begins. */
enum { LIMIT = 100 };

/* A page of instances. */
struct list {
    struct mechd_instance **at; /* [count] */
    size_t count;
};

static void write_items(const void *of, struct mechp_text *w)
{
    const struct list *const list = of;
    mechp_text_array(w);
    for (size_t k = 0; k < list->count; k++) {
        mechd_write_instance(list->at[k], false, NULL, w);
    }
    mechp_text_end(w);
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    struct mechd_instance **items = NULL;
    size_t count = 0;
    bool more = false;
    struct mechp_query_instances asked;
    MECHD_ASK(instances, c, &asked);
    const uint64_t most = asked.limit != MECHP_ABSENT ? asked.limit : LIMIT;
    const uint64_t after = asked.after != MECHP_ABSENT ? asked.after : 0;
    const char *const label = asked.label;
    struct mechd_choice choice = {.count = 0};
    if (label != NULL) {
        (void)mechd_choice_read(&choice, label, "/label", &c->diag);
    }
    if (mechd_call_faulty(c)) {
        mechd_choice_fini(&choice);
        return MECHD_DONE;
    }
    const struct mechd_page page = {
        .after = after, .most = most, .choice = label != NULL ? &choice : NULL};
    const int code = mechd_table_choose(&c->service->host.table, &page, &items, &count, &more);
    mechd_choice_fini(&choice);
    if (code != 0) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the list");
    }
    const struct list list = {items, count};
    char next[32];
    snprintf(next, sizeof next, "%" PRIu64, more && count > 0 ? items[count - 1]->serial : 0);
    const struct mechp_body_instance_list body = {.items = {write_items, &list},
                                                  .next = more && count > 0 ? next : NULL};
    MECHP_WRITE(instance_list, &body, &c->text);
    for (size_t k = 0; k < count; k++) {
        mechd_instance_unref(items[k]);
    }
    free(items);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_INSTANCES = {.run = run_list};

static enum mechd_progress run_show(struct mechd_call *c)
{
    mechd_write_instance(c->job.instance, true, NULL, &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_INSTANCE = {.run = run_show};

static int prepare_edit(struct mechd_call *c)
{
    struct mechp_body_instance_edit in;
    MECHP_READ(instance_edit, c->body, &c->diag, &in);
    mechd_check_traits(c, in.labels, in.ttl);
    return c->body != NULL ? 0 : mechd_refuse(c, MECHP_MALFORMED_REQUEST, "a body is needed");
}

/* What is given replaces what there was; null takes it away. */
static enum mechd_progress run_edit(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    struct mechp_body_instance_edit in;
    MECHP_READ(instance_edit, c->body, &c->diag, &in);
    struct mechd_traits before = {.ttl = mechd_instance_ttl(i), .labels = mechd_instance_labels(i)};
    if (in.labels != NULL) {
        json_t *const own = json_is_null(in.labels) ? NULL : json_deep_copy(in.labels);
        mechd_instance_labels_unref(i, mechd_instance_set_labels(i, own));
    }
    if (in.ttl != NULL) {
        mechd_instance_set_ttl(i, json_number_value(in.ttl));
    }
    mechd_instance_described(i);
    run_show(c);
    if (mechd_durable_describe(i, &before, mechd_call_ticket(c)) != 0) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory to store the change");
    }
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_EDIT = {.run = run_edit, .prepare = prepare_edit};

static enum mechd_progress run_model(struct mechd_call *c)
{
    mechp_bind_write(mech_sim_document(c->job.instance->sim), &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_MODEL = {.run = run_model};

static enum mechd_progress run_reset(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    const int outcome = mechd_engine_reset(&i->engine);
    if (outcome == MECH_MISMATCH) {
        return mechd_fail(c, mechp_code_of_outcome(MECH_INVALID),
                          "the initial positions violate a joint that is active now: deactivate it "
                          "first, by its field active");
    }
    if (outcome != 0) {
        const bool shown = outcome == MECH_NOT_FINITE || outcome == MECH_ENGINE_FAILED;
        mechd_fail_reason(c, outcome, shown ? mechd_engine_refusal(&i->engine) : "");
        return MECHD_DONE;
    }
    i->base = 0;
    mechd_instance_changed(i, MECHP_REWOUND);
    return run_show(c);
}

const struct mechd_operation mechd_operation_RESET = {.run = run_reset};

/* What does not wait for its turn finds the instance itself, asks its leases and If-Match, and acts
 * while they hold. */
static enum mechd_progress act_at_once(struct mechd_call *c,
                                       void (*act)(struct mechd_call *c, struct mechd_instance *i))
{
    const char *id = mechd_call_value(c, "id");
    struct mechd_instance *i = mechd_table_find(&c->service->host.table, id);
    char etag[48];
    if (i == NULL) {
        return mechd_fail(c, MECHP_INSTANCE_NOT_FOUND, "there is no instance %.64s", id);
    }
    struct mechd_holder holder;
    if (mechd_leases_begin(&i->leases, c->lease, MECHD_ACT_CHANGE, &holder) != 0) {
        mechd_fail_lease(c, i, &holder);
        mechd_instance_unref(i);
        return MECHD_DONE;
    }
    if (!mechd_instance_matches(i, c->if_match, etag)) {
        mechd_fail(c, MECHP_REVISION_MISMATCH, "instance %s has the ETag %s", i->id, etag);
    } else {
        act(c, i);
    }
    mechd_leases_end(&i->leases, c->lease);
    mechd_instance_unref(i);
    return MECHD_DONE;
}

static void stop_at_once(struct mechd_call *c, struct mechd_instance *i)
{
    const bool stops = mechd_instance_stop(i);
    if (!stops && atomic_load(&i->running)) {
        mechd_fail(c, MECHP_RUN_IN_PROGRESS, "instance %s is stepped by a run; stop that", i->id);
        return;
    }
    mechd_instance_ref(i);
    c->kin = i;
    mechd_instance_etag(i, c->etag);
    const struct mechp_body_stop_reply body = {stops};
    MECHP_WRITE(stop_reply, &body, &c->text);
}

static enum mechd_progress run_stop(struct mechd_call *c)
{
    return act_at_once(c, stop_at_once);
}

const struct mechd_operation mechd_operation_STOP = {.run = run_stop};

/* The id is gone at once, a running command stops at its next slice, and the memory goes with the
 * last reference. */
static void delete_at_once(struct mechd_call *c, struct mechd_instance *i)
{
    c->status = 204;
    if (!mechd_instance_delete(i, mechd_call_ticket(c))) {
        c->status = 0;
        mechd_fail(c, MECHP_INSTANCE_NOT_FOUND, "there is no instance %.64s", i->id);
    }
}

static enum mechd_progress run_delete(struct mechd_call *c)
{
    return act_at_once(c, delete_at_once);
}

const struct mechd_operation mechd_operation_DELETE = {.run = run_delete};
