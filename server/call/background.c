/* A call without a door: its strings are copied, its answer is kept. */
#include "server/call/background.h"

#include "protocol/wire/bodies.h"
#include "server/call/service.h"
#include "server/os/ids.h"
#include "server/os/ticks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ns for which an answer is kept. */
static const uint64_t kept = 600000000000u;

struct mechd_background {
    struct mechd_call call; /* first; the answer's text, once it is over */
    _Atomic int refs;       /* the table's, the call's, readers' */
    uint64_t id;
    char *strings; /* what the call points to */
    size_t room;   /* taken of the bodies in flight */
    /* locked by the table */
    struct mechd_background *younger;
    bool listed, over;
    bool told;      /* its client knows that it is over */
    uint64_t ended; /* ns */
    size_t size;    /* of the answer */
};

void mechd_backgrounds_init(struct mechd_backgrounds *t)
{
    pthread_mutex_init(&t->m, NULL);
}

static void unref(struct mechd_background *b)
{
    if (b != NULL && atomic_fetch_sub(&b->refs, 1) == 1) {
        mechd_call_fini(&b->call);
        free(b->strings);
        free(b);
    }
}

void mechd_backgrounds_fini(struct mechd_backgrounds *t)
{
    while (t->oldest != NULL) {
        struct mechd_background *b = t->oldest;
        t->oldest = b->younger;
        unref(b);
    }
    pthread_mutex_destroy(&t->m);
}

/* Take it out of the table, which is locked and has it behind `before` (NULL: the oldest). */
static void take_out(struct mechd_backgrounds *t, struct mechd_background *before,
                     struct mechd_background *b)
{
    if (before != NULL) {
        before->younger = b->younger;
    } else {
        t->oldest = b->younger;
    }
    if (t->newest == b) {
        t->newest = before;
    }
    t->count--;
    t->bytes -= b->size;
    b->listed = false;
    unref(b);
}

/* Forget it, if it is still in the table, which is locked. */
static void forget(struct mechd_backgrounds *t, struct mechd_background *b)
{
    struct mechd_background *before = NULL;
    struct mechd_background *at = t->oldest;
    while (at != NULL && at != b) {
        before = at;
        at = at->younger;
    }
    if (at == b) {
        take_out(t, before, b);
    }
}

/* Drop answers that are too old, and the oldest beyond the bounds; the table is locked. */
static void prune(struct mechd_backgrounds *t)
{
    const uint64_t now = mechd_now();
    struct mechd_background *before = NULL;
    struct mechd_background *next = NULL;
    for (struct mechd_background *b = t->oldest; b != NULL; b = next) {
        next = b->younger;
        const bool beyond = t->count >= MECHD_BACKGROUND_MOST || t->bytes > MECHD_BACKGROUND_BYTES;
        if (b->over && (beyond || now - b->ended > kept)) {
            take_out(t, before, b);
        } else {
            before = b;
        }
    }
}

/* Into the table. False: it is full of calls in progress. */
static bool enter(struct mechd_backgrounds *t, struct mechd_background *b)
{
    pthread_mutex_lock(&t->m);
    prune(t);
    const bool fits = t->count < MECHD_BACKGROUND_MOST;
    if (fits) {
        b->id = ++t->serial;
        b->listed = true;
        if (t->newest != NULL) {
            t->newest->younger = b;
        } else {
            t->oldest = b;
        }
        t->newest = b;
        t->count++;
        atomic_fetch_add(&b->refs, 1);
    }
    pthread_mutex_unlock(&t->m);
    if (fits) {
        (void)mechd_store_given(b->call.service->host.store, MECHD_NUMBER_OPERATION, b->id);
    }
    return fits;
}

/* What a caller of the same name needs to end it: a name can have several tokens. A token
 * that may read may end what changes nothing; for a batch it is what its items had. */
static enum mechp_scope scope_to_end(const struct mechd_background *b)
{
    const enum mechp_scope had = b->call.who.scope;
    const enum mechp_scope change = had < MECHP_SCOPE_STEP ? had : MECHP_SCOPE_STEP;
    return mechd_call_changes(&b->call) ? change : MECHP_SCOPE_READ;
}

/* out [MECHD_ID] */
static void write_id(const struct mechd_background *b, char *out)
{
    mechd_id_write('o', b->call.service->host.series, b->id, out);
}

/* A reference; `ends`: to end or to forget it. NULL: there is none, or it is not this caller's. */
static struct mechd_background *find(struct mechd_call *c, bool ends)
{
    struct mechd_backgrounds *t = &c->service->backgrounds;
    const char *id = mechd_call_value(c, "oid");
    pthread_mutex_lock(&t->m);
    struct mechd_background *b = t->oldest;
    for (; b != NULL; b = b->younger) {
        char own[MECHD_ID];
        write_id(b, own);
        if (strcmp(own, id) == 0) {
            break;
        }
    }
    const bool own = b != NULL && (c->who.scope >= MECHP_SCOPE_ADMIN ||
                                   strcmp(c->who.name, b->call.who.name) == 0);
    const enum mechp_scope needed = own && ends ? scope_to_end(b) : MECHP_SCOPE_READ;
    const bool may = own && c->who.scope >= needed;
    if (may) {
        atomic_fetch_add(&b->refs, 1);
    }
    pthread_mutex_unlock(&t->m);
    if (!own) {
        mechd_fail(c, MECHP_NOT_FOUND, "there is no operation %.64s, or it has been deleted", id);
    } else if (!may) {
        mechd_fail(c, MECHP_FORBIDDEN, "cancelling operation %.64s needs the scope %s; %s has %s",
                   id, mechp_scope_names[needed], c->who.name, mechp_scope_names[c->who.scope]);
    }
    return may ? b : NULL;
}

/* --- the call --------------------------------------------------------------------------------- */

static void background_waits(struct mechd_job *job)
{
    (void)job; // no thread is blocked: the answer is retained
}

/* The answer is complete: the call's resources are released, except the text. */
static void background_answered(struct mechd_call *c)
{
    struct mechd_background *b = (struct mechd_background *)c;
    struct mechd_service *d = c->service;
    struct mechd_backgrounds *t = &d->backgrounds;
    // one without an effect has not closed it: from here on there is an answer to be read
    (void)mechd_stop_close(&c->stop);
    mechd_receipts_settle(&d->receipts, c);
    if (c->code != MECHP_OK) {
        mechp_text_fini(&c->text);
        mechp_text_init(&c->text, NULL, 0);
        mechd_call_problem(c, &c->text);
    }
    if (c->work_free != NULL) {
        c->work_free(c);
        c->work_free = NULL;
    }
    json_decref(c->body);
    c->body = NULL;
    mechd_bodies_give(d, b->room);
    pthread_mutex_lock(&t->m);
    b->over = true;
    b->ended = mechd_now();
    b->size = c->text.failed ? 0 : c->text.length;
    t->bytes += b->listed ? b->size : 0;
    pthread_mutex_unlock(&t->m);
    unref(b);
    atomic_fetch_sub(&d->in_flight, 1);
}

/* Room for a copy. NULL for NULL. */
static const char *copy(char **room, const char *text)
{
    if (text == NULL) {
        return NULL;
    }
    char *const at = *room;
    const size_t size = strlen(text) + 1;
    memcpy(at, text, size);
    *room += size;
    return at;
}

static size_t size_of(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* The same call without its door; the body is taken. NULL: no memory, nothing is taken. */
static struct mechd_background *make(struct mechd_call *c)
{
    struct mechd_background *b = calloc(1, sizeof *b);
    size_t size = size_of(c->if_match) + size_of(c->scope) + size_of(c->accept) + 1;
    for (int k = 0; k < MECHP_QUERIES; k++) {
        size += size_of(c->query[k]);
    }
    char *room = malloc(size);
    if (b == NULL || room == NULL) {
        free(b);
        free(room);
        return NULL;
    }
    struct mechd_call *own = &b->call;
    mechd_call_init(own, c->service, c->door);
    b->strings = room;
    atomic_init(&b->refs, 1);
    own->match = c->match;
    own->operation = c->operation;
    own->who = c->who;
    own->lease = c->lease;
    own->body_hash = c->body_hash;
    own->if_match = copy(&room, c->if_match);
    own->scope = copy(&room, c->scope);
    own->accept = copy(&room, c->accept);
    for (int k = 0; k < MECHP_QUERIES; k++) {
        own->query[k] = copy(&room, c->query[k]);
    }
    own->answer = background_answered;
    own->job.wait = background_waits;
    own->body = c->body;
    c->body = NULL;
    return b;
}

static void write_own(const void *of, struct mechp_text *w)
{
    const struct mechd_background *const b = of;
    mechp_text_raw(w, b->call.text.bytes, b->size);
}

/* True if its answer can be a part of JSON. */
static bool is_json(const struct mechd_background *b)
{
    const char *const type = b->call.code == MECHP_OK ? b->call.content_type : NULL;
    return type == NULL || strcmp(type, "application/json") == 0;
}

/* Its description, once it is `over` with its answer, which is part of it if it is JSON. */
static void write_description(const struct mechd_background *b, bool over, struct mechp_text *w)
{
    const struct mechd_call *const own = &b->call;
    const bool good = over && own->code == MECHP_OK;
    // under an id of the client's it has no name of its own
    const struct mechp_route *const route = own->match.route;
    char id[MECHD_ID];
    write_id(b, id);
    const struct mechp_body_operation body = {
        .id = id,
        .operation = (route->row->traits & MECHP_NAMES_NEW) != 0 ? "create" : route->operation,
        .state = over ? "finished" : "running",
        .status = over ? mechd_call_status(own) : INT64_MIN,
        .location = good && own->location[0] != '\0' ? own->location : NULL,
        .etag = good && own->etag[0] != '\0' ? own->etag : NULL,
        .answer = {over && b->size > 0 && is_json(b) ? write_own : NULL, b}};
    MECHP_WRITE(operation, &body, w);
}

/* A call that has been answered at once, in place of the other. */
static void give_reply(struct mechd_background *b, struct mechd_call *c)
{
    struct mechd_call *own = &b->call;
    const struct mech_diag none = c->diag;
    mechd_receipts_settle(&c->service->receipts, own);
    c->code = own->code;
    c->status = own->status;
    c->content_type = own->content_type;
    memcpy(c->location, own->location, sizeof c->location);
    memcpy(c->etag, own->etag, sizeof c->etag);
    memcpy(c->detail, own->detail, sizeof c->detail);
    c->diag = own->diag;
    own->diag = none;
    mechp_text_plain(&c->text, own->text.bytes, own->text.failed ? 0 : own->text.length);
    c->text.failed = c->text.failed || own->text.failed;
    mechp_text_plain(&c->report, own->report.bytes, own->report.failed ? 0 : own->report.length);
    c->excess = own->excess;
    if (own->work_free != NULL) {
        // of its instance, which it still has
        own->work_free(own);
        own->work_free = NULL;
    }
    c->job.instance = own->job.instance;
    own->job.instance = NULL;
}

enum mechd_submitted mechd_background_start(struct mechd_call *c, size_t room)
{
    struct mechd_service *d = c->service;
    struct mechd_backgrounds *t = &d->backgrounds;
    if (c->bytes != NULL || !mechd_bodies_take(d, room)) {
        return mechd_call_start(c);
    }
    struct mechd_background *b = make(c);
    if (b == NULL || !enter(t, b)) {
        mechd_bodies_give(d, room);
        if (b != NULL) {
            c->body = b->call.body;
            b->call.body = NULL;
            unref(b);
        }
        return mechd_call_start(c);
    }
    b->room = room;
    atomic_fetch_add(&b->refs, 1);
    atomic_fetch_add(&d->in_flight, 1);
    if (mechd_call_start(&b->call) == MECHD_QUEUED) {
        c->status = 202;
        char id[MECHD_ID];
        write_id(b, id);
        snprintf(c->location, sizeof c->location, "/v1/operations/%s", id);
        write_description(b, false, &c->text);
        c->applied = true;
        unref(b);
        return MECHD_RAN;
    }

    // it is over already: as if it had not been asked for in this way
    give_reply(b, c);
    mechd_bodies_give(d, room);
    atomic_fetch_sub(&d->in_flight, 1);
    pthread_mutex_lock(&t->m);
    forget(t, b);
    pthread_mutex_unlock(&t->m);
    unref(b);
    unref(b);
    return MECHD_RAN;
}

/* --- the routes ------------------------------------------------------------------------------- */

static bool is_over(struct mechd_backgrounds *t, const struct mechd_background *b)
{
    pthread_mutex_lock(&t->m);
    const bool over = b->over;
    pthread_mutex_unlock(&t->m);
    return over;
}

/* The caller is the client that asked for it, under this token or another one of the same name. */
static bool is_client(const struct mechd_call *c, const struct mechd_background *b)
{
    return strcmp(c->who.name, b->call.who.name) == 0;
}

/* Its client knows now that it is over. */
static void note_told(struct mechd_call *c, struct mechd_background *b)
{
    struct mechd_backgrounds *const t = &c->service->backgrounds;
    if (is_client(c, b)) {
        pthread_mutex_lock(&t->m);
        b->told = true;
        pthread_mutex_unlock(&t->m);
    }
}

static enum mechd_progress run_operation(struct mechd_call *c)
{
    struct mechd_background *b = find(c, false);
    if (b == NULL) {
        return MECHD_DONE;
    }
    if (!is_over(&c->service->backgrounds, b)) {
        write_description(b, false, &c->text);
    } else if (is_json(b)) {
        // the answer as it would have been is part of the description
        write_description(b, true, &c->text);
        note_told(c, b);
    } else if (c->door == MECHD_DOOR_HTTP) {
        mechp_text_plain(&c->text, b->call.text.bytes, b->size);
        c->content_type = b->call.content_type;
        note_told(c, b);
    } else {
        mechd_fail(c, MECHP_NOT_ACCEPTABLE, "the response is %s: it is available over HTTP only",
                   b->call.content_type);
    }
    unref(b);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_OPERATION = {.run = run_operation};

/* It is stopped, or its client knows that it is over: then it is forgotten. Else it goes on, or its
 * answer remains, and the reply describes it. */
static enum mechd_progress run_forget(struct mechd_call *c)
{
    struct mechd_background *const b = find(c, true);
    if (b == NULL) {
        return MECHD_DONE;
    }
    struct mechd_backgrounds *const t = &c->service->backgrounds;
    const bool stops = mechd_receipts_withdraw(&c->service->receipts, &b->call);
    pthread_mutex_lock(&t->m);
    const bool over = b->over;
    const bool forgets = stops || b->told;
    // an admin's request for its end is no answer to its client
    b->told = b->told || (over && is_client(c, b));
    if (forgets) {
        forget(t, b);
    }
    pthread_mutex_unlock(&t->m);
    if (forgets) {
        c->status = 204;
    } else {
        write_description(b, over, &c->text);
    }
    unref(b);
    return MECHD_DONE;
}

const struct mechd_operation mechd_operation_FORGET_OPERATION = {.run = run_forget};
