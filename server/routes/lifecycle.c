/* Listing, showing, resetting and deleting instances. */
#include "protocol/bind/bind.h"
#include "protocol/frame/frame.h"
#include "server/daemon.h"
#include "server/instance/runs.h"
#include "server/routes/shapes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE_PRESET = 100, PAGE_MOST = 1000 };

/* A whole number in the query, or `preset`. */
static uint64_t read_number(struct mechd_call *c, const char *name, uint64_t preset)
{
    const char *text = mechd_call_query(c, name);
    char path[32];
    char *end = NULL;
    if (text == NULL) {
        return preset;
    }
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0') {
        snprintf(path, sizeof path, "/%s", name);
        mech_diag_add(&c->diag, path, "expected a whole number");
    }
    return value;
}

static enum mechd_progress run_list(struct mechd_call *c)
{
    struct mechd_instance **items = NULL;
    size_t count = 0;
    bool more = false;
    uint64_t most = read_number(c, "limit", PAGE_PRESET);
    const uint64_t after = read_number(c, "after", 0);
    if (mechd_call_faulty(c)) {
        return MECHD_DONE;
    }
    most = most < 1 ? 1 : most > PAGE_MOST ? PAGE_MOST : most;
    if (mechd_table_list(&c->daemon->table, after, most, &items, &count, &more) != 0) {
        return mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the list");
    }
    mechp_text_object(&c->text);
    mechp_text_key(&c->text, "items");
    mechp_text_array(&c->text);
    for (size_t k = 0; k < count; k++) {
        mechp_text_object(&c->text);
        mechd_write_instance(items[k], false, &c->text);
        mechp_text_end(&c->text);
    }
    mechp_text_end(&c->text);
    mechp_text_key(&c->text, "next");
    if (more && count > 0) {
        char next[32];
        snprintf(next, sizeof next, "%" PRIu64, items[count - 1]->serial);
        mechp_text_string(&c->text, next);
    } else {
        mechp_text_null(&c->text);
    }
    mechp_text_end(&c->text);
    for (size_t k = 0; k < count; k++) {
        mechd_instance_unref(items[k]);
    }
    free(items);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_INSTANCES = {
    .run = run_list,
    .flags = MECHD_READS,
    .query = {"limit", "after"},
};

static enum mechd_progress run_show(struct mechd_call *c)
{
    mechp_text_object(&c->text);
    mechd_write_instance(c->job.instance, true, &c->text);
    mechp_text_end(&c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_INSTANCE = {
    .run = run_show,
    .flags = MECHD_ON_INSTANCE | MECHD_READS,
};

static enum mechd_progress run_model(struct mechd_call *c)
{
    mechp_bind_write(mech_sim_document(c->job.instance->sim), &c->text);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_MODEL = {
    .run = run_model,
    .flags = MECHD_ON_INSTANCE | MECHD_OF_MODEL | MECHD_READS | MECHD_IN_POOL,
};

static enum mechd_progress run_reset(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    const int outcome = mechd_engine_reset(&i->engine);
    mechd_instance_changed(i, MECHP_REWOUND);
    if (outcome != 0) {
        return mechd_fail_outcome(c, outcome);
    }
    return run_show(c);
}

const struct mechd_operation mechd_operation_RESET = {
    .run = run_reset,
    .flags = MECHD_ON_INSTANCE | MECHD_COST_BY_SIZE,
};

/* Deleting does not wait: the id is gone at once, a running command stops at its next slice, and
 * the memory goes with the last reference. */
static enum mechd_progress run_delete(struct mechd_call *c)
{
    const char *id = mechd_call_value(c, "id");
    struct mechd_instance *i = mechd_table_find(&c->daemon->table, id);
    char etag[48];
    if (i != NULL) {
        mechd_instance_etag(i, etag);
    }
    if (i == NULL) {
        return mechd_fail(c, MECHP_INSTANCE_NOT_FOUND, "there is no instance %.64s", id);
    }
    if (c->if_match != NULL && strcmp(c->if_match, "*") != 0 && strcmp(c->if_match, etag) != 0) {
        mechd_fail(c, MECHP_REVISION_MISMATCH, "instance %s is at %s", i->id, etag);
    } else if (!mechd_table_remove(&c->daemon->table, i)) {
        mechd_fail(c, MECHP_INSTANCE_NOT_FOUND, "there is no instance %.64s", id);
    } else {
        atomic_store(&i->deleted, true);
        atomic_store(&i->cancel, true);
        mechd_count(&c->daemon->metrics.deleted, 1);
        c->status = 204;
        (void)mechd_durable_end(i, mechd_call_ticket(c));
        mechd_instance_unref(i);
    }
    mechd_instance_unref(i);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_DELETE = {
    .run = run_delete,
};
