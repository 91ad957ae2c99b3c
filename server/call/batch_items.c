/* Items of a batch on lanes, chains and the queues of instances. */
#include "server/call/batch.h"

#include "protocol/wire/bodies_stepping.h"
#include "server/call/messages.h"
#include "server/call/service.h"
#include "server/os/ticks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 16,
    TURN = MECHD_MS,    /* ns after which a lane lets others have the worker */
    FIRST = MECHD_SHORT /* ns that the carrying thread works itself */
};

/* One item's call, and its place. owner: the thread that runs the call. */
struct mechd_batch_call {
    struct mechd_call call; /* first */
    struct mechd_message_room room;
    struct mechd_batch *batch;
    uint32_t index;
    bool counted; /* among the long ones */
    bool closed;  /* its effect is there, or about to be */
    char *scope;  /* of its receipt, or NULL */
};

static void run_lane(struct mechd_task *task);

/* One of those that `left` counts is over; the last one ends the batch. `here`: on a thread that
 * may take its time, else by the pool. Nothing of the batch may be touched after it. */
static void release(struct mechd_batch *b, bool here)
{
    if (atomic_fetch_sub(&b->left, 1) != 1) {
        return;
    }
    if (here) {
        b->last.run(&b->last);
    } else {
        mechd_pool_push(&b->call->service->host.pool, &b->last);
    }
}

static void end_batch(struct mechd_task *task)
{
    struct mechd_batch *b =
        (struct mechd_batch *)((char *)task - offsetof(struct mechd_batch, last));
    mechd_batch_write(b);
    mechd_call_over(b->call);
}

/* One that can no longer be cancelled. False: the batch has been cancelled, when only this one was
 * left. */
static bool close_one(struct mechd_batch *b)
{
    return atomic_fetch_sub(&b->open, 1) != 1 || mechd_stop_close(&b->call->stop);
}

/* --- one item --------------------------------------------------------------------------------- */

bool mechd_batch_fits(const struct mechd_batch *b, const struct mechd_instance *i)
{
    bool same = i->channel_count == b->like->channel_count && i->output_size + 2 == b->width;
    for (size_t k = 0; same && i != b->like && k < i->channel_count; k++) {
        const struct mech_variable *const x = &i->channels[k], *const y = &b->like->channels[k];
        same = x->size == y->size && x->scalar == y->scalar && strcmp(x->name, y->name) == 0;
    }
    return same;
}

/* As owner, once the operation is over: the row of a table. */
static void take_row(struct mechd_call *c)
{
    const struct mechd_batch_call *x = (struct mechd_batch_call *)c;
    const struct mechd_batch *b = x->batch;
    struct mechd_instance *i = c->job.instance;
    if (c->code != MECHP_OK || i == NULL) {
        return;
    }
    if (b->like == NULL || !mechd_batch_fits(b, i)) {
        mechd_fail(c, MECHP_INVALID_REQUEST, "done, but without a row: its outputs differ");
        return;
    }
    double *row = b->rows + x->index * b->width;
    struct mechd_published now;
    mechd_instance_peek(i, &now, row + 2);
    row[0] = now.time;
    row[1] = (double)now.steps;
}

/* An operation that was executed before, under the same key: its row has the instance's current
 * state. */
static void find_row(struct mechd_batch_call *x)
{
    struct mechd_call *c = &x->call;
    const struct mechd_batch *b = x->batch;
    if (b->rows == NULL || c->code != MECHP_OK || !isnan(b->rows[x->index * b->width])) {
        return;
    }
    if (c->job.instance == NULL) {
        c->job.instance = mechd_table_find(&c->service->host.table, b->items[x->index].id);
    }
    take_row(c);
}

static void write_body(const void *call, struct mechp_text *w)
{
    const struct mechd_call *const c = call;
    mechp_text_raw(w, c->text.bytes, c->text.length);
}

/* The result as JSON, appended; nothing for a row that is good. */
static void write_result(const struct mechd_batch_call *x, struct mechp_text *w)
{
    const struct mechd_batch *b = x->batch;
    const struct mechd_call *c = &x->call;
    const bool good = c->code == MECHP_OK;
    if (good && b->table) {
        return;
    }
    const struct mechp_body_batch_item_result body = {
        .index = b->table ? x->index : MECHP_ABSENT,
        .id = b->items[x->index].id,
        .status = mechd_call_status(c),
        .body = {good && c->text.length > 0 ? write_body : NULL, c},
        .error = {good ? NULL : mechd_call_problem, c}};
    w->comma[0] = false;
    MECHP_WRITE(batch_item_result, &body, w);
}

/* Before its effect: those that are done by then remain when the batch is cancelled. */
static bool close_item(struct mechd_call *c)
{
    struct mechd_batch_call *const x = (struct mechd_batch_call *)c;
    if (x->closed || mechd_call_whole(c) != MECHD_STOP_NONE) {
        return x->closed;
    }
    x->closed = true;
    return close_one(x->batch);
}

/* The item is over: its result is kept, in the lane's text or, without one, by itself; its call is
 * given back. */
static void end_item(struct mechd_batch_call *x, struct mechd_batch_lane *lane)
{
    struct mechd_batch *b = x->batch;
    struct mechd_call *c = &x->call;
    struct mechd_batch_item *item = &b->items[x->index];
    if (!x->closed) {
        (void)close_one(b);
    }
    find_row(x);
    mechd_receipts_settle(&c->service->receipts, c);
    item->good = c->code == MECHP_OK;
    if (!item->good) {
        atomic_fetch_add(&b->failed, 1);
    }
    struct mechp_text own;
    struct mechp_text *const w = lane != NULL ? &lane->text : &own;
    mechp_text_init(&own, NULL, 0);
    const size_t offset = w->length;
    write_result(x, w);
    item->lane = lane;
    item->offset = offset;
    item->size = w->failed ? 0 : w->length - offset;
    atomic_fetch_add_explicit(&b->bytes, item->size, memory_order_relaxed);
    if (lane == NULL && item->size > 0) {
        item->own = mechp_text_take(&own, &item->size);
    }
    mechp_text_fini(&own);
    c->body = NULL; // the request's
    mechd_call_fini(c);
    free(x->scope);
    x->scope = NULL;
}

/* In a queue, under the instance's lock, or on its way to the disk. */
static void item_waits(struct mechd_job *job)
{
    struct mechd_batch_call *x = (struct mechd_batch_call *)(void *)job;
    if (x->call.ticket.answer == NULL && !x->counted) {
        x->counted = true;
        atomic_fetch_add(&x->batch->long_ones, 1);
    }
}

static void run_chain(struct mechd_task *task);

/* An item that was queued is over, on some thread: perhaps the store's, which must not wait. */
static void item_answered(struct mechd_call *c)
{
    struct mechd_batch_call *x = (struct mechd_batch_call *)c;
    struct mechd_batch *b = x->batch;
    struct mechd_batch_lane *lane = NULL;
    const uint32_t next = b->items[x->index].next;
    const bool counted = x->counted;
    end_item(x, NULL);
    if (counted) {
        pthread_mutex_lock(&b->m);
        atomic_fetch_sub(&b->long_ones, 1);
        lane = b->parked;
        b->parked = lane != NULL ? lane->next_parked : NULL;
        pthread_mutex_unlock(&b->m);
    }
    struct mechd_pool *pool = &b->call->service->host.pool;
    if (lane != NULL) {
        mechd_pool_push(pool, &lane->task);
    }
    if (next != 0) {
        x->index = next - 1;
        x->call.task.run = run_chain;
        mechd_pool_push(pool, &x->call.task);
    } else {
        free(x);
    }
    release(b, false);
}

/* With an idempotency key each change has a receipt of its own, so that a batch that was cut short
 * by the end of the process goes on where it was. 0, or refused. */
static int take_scope(struct mechd_batch_call *x)
{
    const struct mechd_call *whole = x->batch->call;
    if (whole->scope == NULL || whole->service->host.store == NULL) {
        return 0;
    }
    const size_t size = strlen(whole->scope) + 16;
    x->scope = malloc(size);
    if (x->scope == NULL) {
        return mechd_refuse(&x->call, MECHP_OUT_OF_MEMORY, "no memory for the idempotency key");
    }
    snprintf(x->scope, size, "%s #%u", whole->scope, x->index);
    x->call.scope = x->scope;
    x->call.body_hash = whole->body_hash;
    return 0;
}

/* Why no item is begun any more. 0, or refused. */
static int check_room(const struct mechd_batch *b, struct mechd_call *c)
{
    if (mechd_call_asks(b->call) != MECHD_STOP_NONE) {
        return mechd_refuse(c, MECHP_CANCELLED, "not started: the batch was cancelled");
    }
    if (atomic_load_explicit(&b->bytes, memory_order_relaxed) > MECHD_BATCH_RESULTS) {
        return mechd_refuse(c, MECHP_LIMIT_REACHED,
                            "not started: the earlier results already take %d MiB",
                            MECHD_BATCH_RESULTS >> 20);
    }
    return 0;
}

/* Begin an item. RAN: over, and still to be ended. */
static enum mechd_submitted begin_item(struct mechd_batch_call *x, uint32_t index)
{
    struct mechd_batch *b = x->batch;
    struct mechd_call *c = &x->call;
    const struct mechd_batch_item *item = &b->items[index];
    const struct mechd_call *whole = b->call;
    mechd_call_init(c, whole->service, MECHD_DOOR_JSON);
    x->index = index;
    x->counted = x->closed = false;
    x->scope = NULL;
    c->match.route = item->route;
    c->operation = mechd_operation(c->service, item->route);
    c->match.count = 1;
    strcpy(c->match.parameters[0].name, "id");
    strcpy(c->match.parameters[0].value, item->id); // a name: MECH_NAME_MAX at most
    c->body = item->body;
    c->who = whole->who;
    c->lease = whole->lease;
    c->whole = &whole->stop;
    c->closes = close_item;
    c->gone = whole->gone;
    c->silent = b->table;
    c->after = b->table ? take_row : NULL;
    c->answer = item_answered;
    c->job.wait = item_waits;
    mechd_message_parameters(c, &x->room);
    if (check_room(b, c) != 0 || mechd_call_allow(c) != 0 || mechd_call_faulty(c) ||
        take_scope(x) != 0) {
        return MECHD_RAN;
    }
    return mechd_call_start(c);
}

static struct mechd_batch_call *new_call(struct mechd_batch *b)
{
    struct mechd_batch_call *x = malloc(sizeof *x);
    if (x != NULL) {
        x->batch = b;
    }
    return x;
}

/* An item and those on the same instance behind it, as far as they need no waiting. Returns the
 * call for the next item, or NULL when it has been left behind. */
static struct mechd_batch_call *run_items(struct mechd_batch_call *x, uint32_t index,
                                          struct mechd_batch_lane *lane)
{
    struct mechd_batch *b = x->batch;
    for (uint32_t next = index + 1; next != 0;) {
        index = next - 1;
        next = b->items[index].next;
        if (begin_item(x, index) == MECHD_QUEUED) {
            return NULL;
        }
        end_item(x, lane);
        release(b, true);
    }
    return x;
}

/* On a thread of the pool: what follows an item that was queued. */
static void run_chain(struct mechd_task *task)
{
    struct mechd_call *c = (struct mechd_call *)((char *)task - offsetof(struct mechd_call, task));
    struct mechd_batch_call *x = (struct mechd_batch_call *)c;
    free(run_items(x, x->index, NULL));
}

/* --- lanes ------------------------------------------------------------------------------------ */

/* No memory for an item's call: its result says nothing more. */
static void skip_item(struct mechd_batch *b, uint32_t index)
{
    for (uint32_t next = index + 1; next != 0; next = b->items[next - 1].next) {
        atomic_fetch_add(&b->failed, 1);
        (void)close_one(b);
        release(b, true);
    }
}

/* True: as many long items as are worth it are in queues, and the lane goes on when one is over. */
static bool park(struct mechd_batch_lane *lane)
{
    struct mechd_batch *b = lane->batch;
    const uint32_t most = 2 * (uint32_t)b->call->service->host.pool.count;
    if (atomic_load(&b->long_ones) < most) {
        return false;
    }
    pthread_mutex_lock(&b->m);
    const bool parked = atomic_load(&b->long_ones) >= most;
    if (parked) {
        lane->next_parked = b->parked;
        b->parked = lane;
    }
    pthread_mutex_unlock(&b->m);
    return parked;
}

/* The next item for this lane, or `count`. */
static uint32_t next_item(struct mechd_batch_lane *lane)
{
    struct mechd_batch *b = lane->batch;
    for (;;) {
        if (lane->at == lane->end) {
            const uint32_t at = atomic_fetch_add(&b->next, CHUNK);
            lane->at = at < b->count ? at : b->count;
            lane->end = b->count - lane->at < CHUNK ? b->count : lane->at + CHUNK;
        }
        if (lane->at == b->count || !b->items[lane->at].follows) {
            return lane->at;
        }
        lane->at++;
    }
}

/* Until the lane is over, has had its time (then it goes to the end of the pool's queue), or
 * waits. */
static void work(struct mechd_batch_lane *lane, uint64_t turn)
{
    struct mechd_batch *b = lane->batch;
    const uint64_t until = mechd_now() + turn;
    while (!park(lane)) {
        const uint32_t index = next_item(lane);
        if (index == b->count) {
            free(lane->spare);
            lane->spare = NULL;
            release(b, true);
            return;
        }
        if (mechd_now() > until) {
            mechd_pool_push(&b->call->service->host.pool, &lane->task);
            return;
        }
        lane->at++;
        struct mechd_batch_call *x = lane->spare != NULL ? lane->spare : new_call(b);
        lane->spare = NULL;
        if (x == NULL) {
            skip_item(b, index);
        } else {
            lane->spare = run_items(x, index, lane);
        }
    }
}

static void run_lane(struct mechd_task *task)
{
    work((struct mechd_batch_lane *)(void *)task, TURN);
}

enum mechd_submitted mechd_batch_start(struct mechd_batch *b)
{
    struct mechd_call *c = b->call;
    struct mechd_pool *pool = &c->service->host.pool;
    b->last.run = end_batch;
    atomic_store(&b->left, b->count + b->lane_count + 1);
    atomic_store(&b->open, b->count);
    for (uint32_t k = 0; k < b->lane_count; k++) {
        b->lanes[k].task.run = run_lane;
        b->lanes[k].batch = b;
        mechp_text_init(&b->lanes[k].text, NULL, 0);
    }
    for (uint32_t k = 1; k < b->lane_count; k++) {
        mechd_pool_push(pool, &b->lanes[k].task);
    }

    // what is short needs no other thread
    work(&b->lanes[0], FIRST);
    if (atomic_load(&b->left) == 1) {
        mechd_batch_write(b);
        return MECHD_RAN;
    }
    c->job.wait(&c->job);
    release(b, true);
    return MECHD_QUEUED;
}
