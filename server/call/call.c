/* From a filled-in request to a reply: checks that all operations share, then the thread to run
 * on. */
#include "server/call/call.h"

#include "protocol/wire/json.h"
#include "server/call/service.h"
#include "server/instance/lives.h"
#include "server/instance/runs.h"
#include "server/os/ticks.h"
#include "server/store/store.h"

#include <stdlib.h>
#include <string.h>

const struct mechd_operation *mechd_operation(const struct mechd_service *s,
                                              const struct mechp_route *route)
{
    return s->operations[route->id];
}

void mechd_call_init(struct mechd_call *c, struct mechd_service *d, enum mechd_door door)
{
    memset(c, 0, offsetof(struct mechd_call, buffer));
    c->service = d;
    c->door = door;
    c->start = mechd_now();
    mech_diag_init(&c->diag);
    mechp_text_init(&c->text, c->buffer, sizeof c->buffer);
    mechp_text_init(&c->report, NULL, 0);
}

void *mechd_call_take_room(struct mechd_call *c, size_t size)
{
    if (c->room == NULL || size > MECHD_WORK_ROOM) {
        return calloc(1, size);
    }
    return memset(c->room, 0, size);
}

void mechd_call_give_room(struct mechd_call *c, void *work)
{
    if (work != c->room) {
        free(work);
    }
}

void mechd_call_fini(struct mechd_call *c)
{
    if (c->work_free != NULL) {
        c->work_free(c);
    }
    mechd_instance_unref(c->job.instance);
    mechd_instance_unref(c->kin);
    json_decref(c->body);
    mechp_text_fini(&c->text);
    mechp_text_fini(&c->report);
    mech_diag_fini(&c->diag);
}

const char *mechd_call_query(const struct mechd_call *c, const char *name)
{
    const struct mechp_parameter *const query = mechd_call_row(c)->query;
    for (int k = 0; query != NULL && query[k].name != NULL; k++) {
        if (strcmp(query[k].name, name) == 0) {
            return c->query[k];
        }
    }
    return NULL;
}

const char *mechd_call_value(const struct mechd_call *c, const char *name)
{
    const char *value = mechp_match_value(&c->match, name);
    return value != NULL ? value : "";
}

int mechd_call_status(const struct mechd_call *c)
{
    if (c->code != MECHP_OK) {
        return mechp_code((int)c->code)->http_status;
    }
    return c->status != 0 ? c->status : 200;
}

/* What is not on disk has not happened. */
static void fail_storage(struct mechd_call *c)
{
    char fault[160] = "";
    mechd_store_fault(c->service->host.store, fault, sizeof fault);
    mechd_fail(c, MECHP_STORAGE_FAILED, "%s",
               fault[0] != '\0' ? fault : "a change of another request could not be stored");
    c->status = 0;
    c->etag[0] = '\0';
    c->location[0] = '\0';
}

/* True if no lease conflicts with it. Checked on arrival, so that no request waits to be refused,
 * and again when it is its turn. False: refused. */
static bool has_leave(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    const unsigned traits = mechd_call_row(c)->traits;
    const bool reads = !mechd_call_changes(c) || (traits & MECHP_UNLEASED) != 0;
    const enum mechd_act act = reads                               ? MECHD_ACT_READ
                               : (traits & MECHP_SETS_INPUTS) != 0 ? MECHD_ACT_INPUTS
                                                                   : MECHD_ACT_CHANGE;
    struct mechd_holder holder;
    if (mechd_leases_begin(&i->leases, c->lease, act, &holder) != 0) {
        mechd_fail_lease(c, i, &holder);
        return false;
    }
    c->admitted++;
    return true;
}

/* The revision is the one that If-Match names. False: refused. */
static bool matches(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    char etag[48];
    if (!mechd_instance_matches(i, c->if_match, etag)) {
        mechd_fail(c, MECHP_REVISION_MISMATCH, "instance %s has the ETag %s", i->id, etag);
        return false;
    }
    return true;
}

/* What interrupts others by waiting (job.h) is refused before for what a refusal needs no owner:
 * the work that it would interrupt may be lost. False: refused. */
static bool may_hurry(struct mechd_call *c)
{
    if (c->job.hurries && !matches(c)) {
        return false;
    }
    // asked for once: a period that ends meanwhile changes the revision
    c->if_match = c->job.hurries ? NULL : c->if_match;
    return true;
}

/* Checks as owner, before the first slice. False: refused. */
static bool may_run(struct mechd_call *c)
{
    struct mechd_instance *i = c->job.instance;
    const unsigned traits = mechd_call_row(c)->traits;
    if (mechd_call_asks(c) != MECHD_STOP_NONE) {
        mechd_fail(c, MECHP_CANCELLED, "cancelled before it started");
        return false;
    }
    if (mechd_host_stops(&c->service->host)) {
        mechd_fail(c, MECHP_DRAINING, "not started: the server is shutting down");
        return false;
    }
    if (i == NULL) {
        return true;
    }
    if (!mechd_instance_lives(i)) {
        const bool coupling = (traits & MECHP_OF_COUPLING) != 0;
        mechd_fail(c, coupling ? MECHP_NOT_FOUND : MECHP_INSTANCE_NOT_FOUND,
                   "%s %s has been deleted", coupling ? "coupling" : "instance", i->id);
        return false;
    }
    if ((traits & MECHP_STOPPABLE) != 0 && mechd_effort_asked(i) == MECHD_STOP_STOPPED) {
        mechd_fail(c, MECHP_CANCELLED, "stopped before it started");
        return false;
    }
    // what has interrupted others had leave to
    if (!c->job.hurried && !has_leave(c)) {
        return false;
    }
    if (mechd_call_changes(c) && (traits & MECHP_WHILE_RUN) == 0 && atomic_load(&i->running)) {
        mechd_fail(c, MECHP_RUN_IN_PROGRESS, "%s %s is stepped by a run; stop it first",
                   (traits & MECHP_OF_COUPLING) != 0 ? "coupling" : "instance", i->id);
        return false;
    }
    if ((traits & MECHP_OF_MODEL) != 0 && i->sim == NULL) {
        mechd_fail(c, MECHP_INVALID_REQUEST, "instance %s is an FMU, not a model of the solver",
                   i->id);
        return false;
    }
    // a read uses the current state
    if (mechd_call_row(c)->effect == MECHP_CHANGES && mechd_durable_repair(i) != 0) {
        fail_storage(c);
        return false;
    }
    return matches(c);
}

/* The disk has spoken. */
static void answer_ticket(struct mechd_ticket *t)
{
    struct mechd_call *c = (struct mechd_call *)((char *)t - offsetof(struct mechd_call, ticket));
    if (t->outcome != 0) {
        fail_storage(c);
    }
    c->answer(c);
}

/* A successful answer about an instance includes its revision, unless the operation has set it. */
static void tag(struct mechd_call *c)
{
    const bool tagged = c->door == MECHD_DOOR_HTTP && c->job.instance != NULL &&
                        (mechd_call_row(c)->traits & MECHP_OF_COUPLING) == 0;
    if (tagged && c->code == MECHP_OK && c->etag[0] == '\0') {
        mechd_instance_etag(c->job.instance, c->etag);
    }
}

struct mechd_ticket *mechd_call_ticket(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    c->ticket.answer = answer_ticket;
    if (c->receipt != NULL && c->code == MECHP_OK && !c->text.failed) {
        tag(c);
        c->stored = (struct mechd_stored_receipt){.scope = c->scope,
                                                  .instance = i != NULL ? i->durable.key : 0,
                                                  .body = c->body_hash,
                                                  .status = c->status,
                                                  .location = c->location,
                                                  .etag = c->etag,
                                                  .bytes = c->text.bytes,
                                                  .size = c->text.length};
        c->ticket.receipt = &c->stored;
    }
    return &c->ticket;
}

static void suspend(void *context)
{
    struct mechd_call *c = context;
    c->job.wait(&c->job);
}

/* Whether the operation has changed what it is about. */
static bool has_changed(const struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    return i != NULL ? atomic_load(&i->revision) != c->before : mechd_call_changes(c);
}

/* Without memory a call is refused. If the change has been made by then there is no answer at all,
 * as when the network fails: text.failed remains set, and the door ends the connection, or sends an
 * internal error where it has none to end. */
static void settle_memory(struct mechd_call *c)
{
    const struct mechd_instance *const i = c->job.instance;
    const bool changed = has_changed(c);
    if (c->text.failed && c->code == MECHP_OK && !changed) {
        mechd_fail(c, MECHP_OUT_OF_MEMORY, "no memory for the answer");
    } else if (c->code == MECHP_OUT_OF_MEMORY && i != NULL && changed) {
        c->code = MECHP_OK;
        c->text.failed = true;
    }
}

/* An answer in which a number is not finite is none: refused, with the place of that number. What
 * changes an instance refuses it before, and changes nothing: if it did not, the server failed. */
static void settle_numbers(struct mechd_call *c)
{
    char place[MECH_DIAG_PATH];
    if (c->code == MECHP_OK && !c->text.failed &&
        mechp_text_beyond(&c->text, place, sizeof place)) {
        const bool changed = has_changed(c);
        mechd_fail(c, changed ? MECHP_INTERNAL : MECHP_NOT_FINITE,
                   "%s of the answer is infinite or not a number%s", place,
                   changed ? "; the change has been made" : "");
    }
}

void mechd_call_complete(struct mechd_call *c)
{
    mechd_call_faulty(c);
    settle_memory(c);
    settle_numbers(c);
    tag(c);
}

/* The lease is renewed now, or has ended if the command was abandoned. */
static void end_lease(struct mechd_call *c)
{
    const bool abandoned = c->admitted > 0 && mechd_call_abandoned(c);
    for (; c->admitted > 0; c->admitted--) {
        if (abandoned) {
            mechd_leases_abandon(&c->job.instance->leases, c->lease);
        } else {
            mechd_leases_end(&c->job.instance->leases, c->lease);
        }
    }
}

/* A command ended by the shutdown has changed nothing, and its client may send it to the next
 * process: this is not a cancellation, which a client requests. */
static void tell_shutdown(struct mechd_call *c)
{
    if (c->code == MECHP_CANCELLED && c->why == MECHD_STOP_SHUTDOWN) {
        mechp_text_fini(&c->report);
        mechp_text_init(&c->report, NULL, 0);
        mechd_fail(c, MECHP_DRAINING, "stopped and undone: the server is shutting down");
    }
}

/* One slice; at the end the reply is completed. */
static enum mechd_progress run_call(struct mechd_job *job)
{
    struct mechd_call *c = (struct mechd_call *)job;
    enum mechd_progress progress = MECHD_DONE;
    const bool first = job->state == MECHD_JOB_FIRST;
    if (!first || (may_run(c) && mechd_call_close_early(c))) {
        c->before =
            first && job->instance != NULL ? atomic_load(&job->instance->revision) : c->before;
        progress = c->operation->run(c);
    }
    if (progress != MECHD_DONE) {
        return progress;
    }
    tell_shutdown(c);
    end_lease(c);
    mechd_call_complete(c);
    if (c->after != NULL) {
        c->after(c);
    }
    if (job->instance != NULL && !job->reader && mechd_call_changes(c)) {
        mechd_durable_sync(job->instance, c->ticket.answer == NULL ? mechd_call_ticket(c) : NULL);
    }
    return MECHD_DONE;
}

static void finish_call(struct mechd_job *job)
{
    struct mechd_call *c = (struct mechd_call *)job;
    if (!mechd_ticket_wait(&c->ticket, NULL, NULL)) {
        c->answer(c);
    }
}

void mechd_call_finish(struct mechd_call *c)
{
    finish_call(&c->job);
}

void mechd_call_over(struct mechd_call *c)
{
    mechd_call_complete(c);
    finish_call(&c->job);
}

/* A call without an instance, on a thread of the pool. */
static void run_task(struct mechd_task *task)
{
    struct mechd_call *c = (struct mechd_call *)((char *)task - offsetof(struct mechd_call, task));
    while (mechd_job_slice(&c->job) != MECHD_DONE) {
    }
    finish_call(&c->job);
}

bool mechd_call_named(const struct mechd_call *c)
{
    const struct mechp_row *const row = mechd_call_row(c);
    return row->named != NULL && c->door == MECHD_DOOR_HTTP &&
           !json_is_object(json_object_get(c->body, row->body->members[0].name));
}

/* The instance of the path, or what the coupling of the path shows of itself. 0, or refused. */
static int find_instance(struct mechd_call *c)
{
    struct mechd_host *const h = &c->service->host;
    const bool coupling = (mechd_call_row(c)->traits & MECHP_OF_COUPLING) != 0;
    const char *const id = mechd_call_value(c, coupling ? "cid" : "id");
    c->job.instance = mechd_table_find(coupling ? &h->faces : &h->table, id);
    if (c->job.instance != NULL) {
        // leases and tags are those of instances
        c->lease = coupling ? 0 : c->lease;
        c->if_match = coupling ? NULL : c->if_match;
        return 0;
    }
    return mechd_refuse(c, coupling ? MECHP_NOT_FOUND : MECHP_INSTANCE_NOT_FOUND,
                        "there is no %s %.64s", coupling ? "coupling" : "instance", id);
}

/* Checks before anything runs. 0, or refused. */
static int check_call(struct mechd_call *c)
{
    const struct mechd_operation *o = c->operation;
    // once commands have ended, readers could continue without end, and would use a pool and a
    // door that no longer exist
    if (mechd_host_stops(&c->service->host) ||
        (mechd_call_changes(c) && mechd_host_drains(&c->service->host))) {
        return mechd_refuse(c, MECHP_DRAINING, "the server is shutting down");
    }
    if (c->body != NULL && !json_is_object(c->body)) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST, "the body is not a JSON object");
    }
    if (c->body != NULL && !mechd_call_named(c)) {
        mechd_call_check_keys(c);
    }
    const struct mechp_route *const route = c->match.route;
    if (c->if_match != NULL && mechp_route_changes(route) && !mechp_route_on_instance(route) &&
        (route->row->traits & MECHP_NAMES_NEW) == 0) {
        return mechd_refuse(c, MECHP_MALFORMED_REQUEST,
                            "If-Match applies to one instance: nothing else has a revision");
    }
    if (mechp_route_queues(c->match.route) && find_instance(c) != 0) {
        return 1;
    }
    // names can be looked up by the owner only: it reports their faults together with these
    const bool tells_all = (mechd_call_row(c)->traits & MECHP_TELLS_ALL) != 0;
    if (mechd_call_faulty(c) && !tells_all) {
        return 1;
    }
    if (o->prepare != NULL && o->prepare(c) != 0) {
        return 1;
    }
    return mechd_call_faulty(c) && !tells_all ? 1 : 0;
}

bool mechd_call_who(struct mechd_service *d, const char *token, const unsigned char *key,
                    struct mechd_token *out)
{
    if (key != NULL && (token == NULL || !d->host.tokens.needed)) {
        return mechd_tokens_find_key(&d->peers, key, out);
    }
    return mechd_tokens_find(&d->host.tokens, token, out);
}

int mechd_call_admit(struct mechd_call *c)
{
    const enum mechp_scope needed = mechp_route_scope(c->match.route);
    if (!mechd_call_who(c->service, c->token, c->key, &c->who)) {
        return needed == MECHP_SCOPE_NONE
                   ? 0
                   : mechd_refuse(c, MECHP_UNAUTHORIZED, "%s",
                                  c->token != NULL ? "the token is not known"
                                  : c->key != NULL ? "the key of this connection is not known"
                                                   : "this server requires a token");
    }
    return mechd_call_allow(c);
}

int mechd_call_allow(struct mechd_call *c)
{
    const enum mechp_scope needed = mechp_route_scope(c->match.route);
    if (c->who.scope < needed) {
        return mechd_refuse(c, MECHP_FORBIDDEN, "this needs the scope %s; %s has %s",
                            mechp_scope_names[needed], c->who.name,
                            mechp_scope_names[c->who.scope]);
    }
    return 0;
}

/* Run or queue a call that has been claimed. */
static enum mechd_submitted start_call(struct mechd_call *c)
{
    if (check_call(c) != 0) {
        return MECHD_RAN;
    }
    struct mechd_instance *i = c->job.instance;
    const struct mechp_row *const row = mechd_call_row(c);
    c->job.run = run_call;
    c->job.finish = finish_call;
    c->job.reader = row->effect == MECHP_READS || row->effect == MECHP_BESIDE;
    c->job.stateless = (row->traits & MECHP_STATELESS) != 0;
    c->job.stoppable = (row->traits & MECHP_STOPPABLE) != 0;

    // on several threads
    if (c->operation->spread != NULL) {
        const enum mechd_submitted spread = c->operation->spread(c);
        if (spread == MECHD_RAN) {
            mechd_call_complete(c);
        }
        return spread;
    }

    // without an instance: here, or on the pool
    if (i == NULL && row->cost != MECHP_COST_UNKNOWN) {
        while (mechd_job_slice(&c->job) != MECHD_DONE) {
        }
        return mechd_ticket_wait(&c->ticket, suspend, c) ? MECHD_QUEUED : MECHD_RAN;
    }
    if (i == NULL) {
        c->job.wait(&c->job);
        c->task.run = run_task;
        mechd_pool_push(&c->service->host.pool, &c->task);
        return MECHD_QUEUED;
    }

    // as owner of the instance; 100 ns a number is what writing or reading JSON takes
    if (row->cost == MECHP_COST_BY_SIZE) {
        c->job.cost = (uint64_t)i->size * 500;
    } else if (row->cost == MECHP_COST_UNKNOWN) {
        c->job.cost = MECHD_SHORT;
    }
    // what waits for another process is no work for a thread that carries requests
    if (i->engine.ops->apart && !c->job.reader && c->job.cost < MECHD_SHORT) {
        c->job.cost = MECHD_SHORT;
    }
    if (!has_leave(c)) {
        return MECHD_RAN;
    }
    const bool may = may_hurry(c);
    const enum mechd_submitted submitted = may ? mechd_instance_submit(i, &c->job) : MECHD_FULL;
    if (submitted == MECHD_FULL) {
        mechd_leases_end(&i->leases, c->lease);
        c->admitted = 0;
        if (may) {
            mechd_fail(c, MECHP_QUEUE_FULL, "%d commands wait for %s", MECHD_QUEUE_MOST, i->id);
        }
        return MECHD_RAN; // a refusal is a complete reply
    }
    if (submitted == MECHD_RAN && mechd_ticket_wait(&c->ticket, suspend, c)) {
        return MECHD_QUEUED;
    }
    return submitted;
}

enum mechd_submitted mechd_call_start(struct mechd_call *c)
{
    if (c->scope != NULL && mechd_call_changes(c)) {
        const enum mechd_claim claim = mechd_receipts_claim(&c->service->receipts, c, suspend);
        if (claim != MECHD_CLAIM_FIRST) {
            return claim == MECHD_CLAIM_WAIT ? MECHD_QUEUED : MECHD_RAN;
        }
    }
    return start_call(c);
}

struct mechd_run *mechd_call_run(struct mechd_call *c)
{
    const char *const rid = mechd_call_value(c, "rid");
    struct mechd_run *const r = mechd_run_find(c->job.instance, rid);
    if (r == NULL) {
        char before[MECHD_LIVES_WORDS];
        mechd_fail(c, MECHP_NOT_FOUND, "there is no run %.64s; the last %d are retained%s", rid,
                   MECHD_RUNS_MOST,
                   mechd_lives_tell(c->job.instance, MECHD_COUNTED_PART, rid, before));
    }
    return r;
}
