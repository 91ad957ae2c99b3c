/* Calls: one request through any door (HTTP, ZeroMQ, lane), as operations see it.
 *
 * A door fills in the request, sets `answer`, and calls mechd_call_start. That finds the instance
 * and runs the operation on this thread, or queues it; in the end the reply is stored in the call,
 * as JSON text, other bytes, or a problem. owner: the door, then the thread that runs the
 * operation, then the door again (`answer`).
 */
#pragma once

#include "protocol/wire/json.h"
#include "protocol/wire/problem.h"
#include "protocol/wire/row.h"
#include "server/auth/tokens.h"
#include "server/call/requests.h"
#include "server/instance/effort.h"
#include "server/instance/instance.h"
#include "server/store/store.h"

struct mechd_call;
struct mechd_run;
struct mechd_service;

/* Result of producing one more piece of a long reply: MORE: call again, LAST: it was the last. */
enum mechd_piece { MECHD_PIECE_MORE, MECHD_PIECE_LAST, MECHD_PIECE_FAILED };

enum { MECHD_WORK_ROOM = 2048 };

/* Implementation of an operation; its parameters and requirements are in the route's row
 * (protocol/wire/row.h). */

struct mechd_operation {
    /* As owner of the instance if there is one. MORE: call again. */
    enum mechd_progress (*run)(struct mechd_call *c);
    /* In place of run, without an instance: work for several threads. RAN: the reply is complete.
     * QUEUED: job.wait has been called, and mechd_call_over will be, on some thread. */
    enum mechd_submitted (*spread)(struct mechd_call *c);
    /* Called before that, on the carrying thread: read the request, set job.cost. 0, or nonzero
     * after mechd_fail. May be NULL. */
    int (*prepare)(struct mechd_call *c);
    /* Over HTTP, before a tree is built: read a body of the most common form directly and store it
     * as the call's work. False: of another form, or faulty; it is read as JSON. NULL: no such
     * form. */
    bool (*plain)(struct mechd_call *c, const char *bytes, size_t size);
};

/* The route's operation: mechd_operation_<SYMBOL of routes.def>, of server/operations, of call or
 * of a door. */
const struct mechd_operation *mechd_operation(const struct mechd_service *s,
                                              const struct mechp_route *route);

struct mechd_call {
    struct mechd_job job; /* first */
    struct mechd_task task;
    struct mechd_service *service;
    struct mechp_match match; /* route and path parameters */
    const struct mechd_operation *operation;
    enum mechd_door door;
    uint64_t start; /* ns */

    /* the request */
    json_t *body;           /* or NULL */
    const void *bytes;      /* a body that is not JSON, or NULL; the door's */
    const char *bytes_type; /* which of those that the row names */
    size_t size;
    const char *query[MECHP_QUERIES]; /* values by the row's list; the door's */
    const char *token;                /* as sent, or NULL; the door's */
    const unsigned char *key;         /* [32] of the peer by CURVE, or NULL; the door's */
    struct mechd_token who;           /* identity of the client, once the call has been started */
    const char *if_match;             /* or NULL; the door's */
    uint64_t lease;                   /* as sent, or 0 */
    const char *scope;  /* of an idempotency key: token, method, path, key; or NULL; the door's */
    uint64_t body_hash; /* with a scope */
    const char *accept; /* or NULL; the door's */

    struct mechd_stop stop;               /* STOPPED: its client has cancelled it, or a repetition;
                                            closed before its effect can be seen */
    const struct mechd_stop *whole;       /* that of the batch of which it is an item; or NULL */
    bool (*closes)(struct mechd_call *c); /* before the effect of that item: false if the batch has
                                             been cancelled; or NULL */
    const struct mechd_stop *gone;        /* GONE: its client has disconnected; or NULL */
    enum mechd_stop_reason why;           /* CANCELLED: the reason, of work that has begun */
    bool silent;                          /* the reply's text is not read: it may be omitted */
    void (*after)(struct mechd_call *c);  /* as owner, once the operation is over; or NULL */

    /* the reply */
    enum mechp_code code; /* MECHP_OK, or a problem */
    int status;           /* of a success; 0: 200 */
    struct mechp_text text;
    const char *content_type; /* NULL: application/json */
    char location[160];       /* or "" */
    bool applied;             /* the answer is deferred, as the request prefers */
    char etag[48];            /* or "" */
    char file[80];            /* name under which the reply is saved, or "" */
    char detail[256];
    struct mech_diag diag;
    struct mechp_text report;   /* a failed step's */
    struct mechd_excess excess; /* with QUOTA_EXCEEDED */

    /* the rest of a reply that is too long for memory, or NULL: once the text has been sent and
     * cleared, the next piece is written there; on the door's thread, without ownership. Over HTTP
     * */
    enum mechd_piece (*produce)(struct mechd_call *c);

    /* the record on disk that the reply waits for; an operation may have taken it */
    struct mechd_ticket ticket;
    struct mechd_stored_receipt stored; /* the reply, on its way to the disk */
    struct mechd_receipt *receipt;      /* claimed by its scope, or NULL */
    struct mechd_instance *kin;      /* it is deleted with this one, a reference; or NULL: job's */
    struct mechd_call *next_waiting; /* for the same receipt */

    /* the operation's own, between its slices */
    uint64_t before; /* revision of the instance before the first */
    int admitted;    /* number of uses of its lease that have begun and not ended */
    void *work;
    void (*work_free)(struct mechd_call *c);
    void *room; /* [MECHD_WORK_ROOM bytes] the door's, for the work; or NULL */

    /* The reply is complete: send it. On the thread that ran the operation last, no lock held. */
    void (*answer)(struct mechd_call *c);
    char buffer[768]; /* first room of text */
};

void mechd_call_init(struct mechd_call *c, struct mechd_service *d, enum mechd_door door);
void mechd_call_fini(struct mechd_call *c);

/* The row of its route; once that has been found. */
static inline const struct mechp_row *mechd_call_row(const struct mechd_call *c)
{
    return c->match.route->row;
}

/* True if it changes something: it is refused at shutdown, and executed once for an idempotency
 * key. */
static inline bool mechd_call_changes(const struct mechd_call *c)
{
    return mechp_route_changes(c->match.route);
}

/* True if the body has names of its own in place of the members of its shape: over HTTP only. */
bool mechd_call_named(const struct mechd_call *c);

/* Faults for keys of the body that are not in the row (keys.c), into c->diag. */
void mechd_call_check_keys(struct mechd_call *c);

/* Zeroed memory for the operation's work: the door's room where it fits; NULL: no memory. */
void *mechd_call_take_room(struct mechd_call *c, size_t size);
/* Free it. */
void mechd_call_give_room(struct mechd_call *c, void *work);

/* The identity that belongs to this token, or to this key by CURVE [32] (each may be NULL). A given
 * token takes precedence where tokens are required. False: unknown. Any thread. */
bool mechd_call_who(struct mechd_service *d, const char *token, const unsigned char *key,
                    struct mechd_token *out);

/* Identify the client and check its scope: before the body is read, by the door. 0, or refused. */
int mechd_call_admit(struct mechd_call *c);
/* The second half of that: check the scope of c->who. 0, or refused. */
int mechd_call_allow(struct mechd_call *c);

/* Run or queue. RAN: the reply is complete, `answer` will not be called. QUEUED: it will be. */
enum mechd_submitted mechd_call_start(struct mechd_call *c);

/* The reply of an operation that works on several threads is complete. The door then owns the call.
 * */
void mechd_call_over(struct mechd_call *c);
/* The same in two parts, between which a ticket may be taken: the reply is as it will be sent; and
 * it is sent, or waits for the disk. */
void mechd_call_complete(struct mechd_call *c);
void mechd_call_finish(struct mechd_call *c);

/* For an operation that stores its changes itself, once its reply is complete: the reply waits for
 * that, and is stored with it when there is an idempotency key. */
struct mechd_ticket *mechd_call_ticket(struct mechd_call *c);

/* Its client has disconnected: the call ends, so that the instance and the thread are free. Not
 * before the client was inactive for the time of the lease that it sent; and not without a lease if
 * there is an idempotency key and an answer to retain, because the client may reconnect for it. As
 * owner. */
bool mechd_call_abandoned(const struct mechd_call *c);
/* Why the batch of which it is an item ends; NONE: it does not, or there is none. Any thread. */
enum mechd_stop_reason mechd_call_whole(const struct mechd_call *c);
/* Why its answer is no longer awaited: STOPPED if it has been cancelled, GONE if abandoned. The
 * `asks` of its efforts (instance/effort.h). As owner of the instance if there is one. */
enum mechd_stop_reason mechd_call_asks(const void *call);

/* Before the effect of the call can be seen, as owner: from here on it cannot be cancelled, and
 * DELETE of its operation says that it has been done. False: it has been cancelled before, and is
 * refused; it must not have an effect. */
bool mechd_call_close(struct mechd_call *c);

/* For a change that is about to begin: the same, unless it does that itself (MECHP_CLOSES). */
bool mechd_call_close_early(struct mechd_call *c);

/* As mechd_call_asks, or SHUTDOWN, into c->why: for work of calls without an instance, as
 * mech_interrupt requires. One thread. */
bool mechd_call_ends(void *call);

/* From here to unwatch the solver polls whether an analysis of c's instance must end; then c->why
 * is the reason. */
void mechd_call_watch(struct mechd_call *c, struct mechd_effort *e);
void mechd_call_unwatch(struct mechd_call *c, const struct mechd_effort *e);

/* Refuse; returns MECHD_DONE, or use it as a nonzero result of prepare via mechd_refuse. */
enum mechd_progress mechd_fail(struct mechd_call *c, enum mechp_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define mechd_refuse(...) (mechd_fail(__VA_ARGS__), 1)
/* Refuse by an outcome or a fatal code of the solver. */
enum mechd_progress mechd_fail_outcome(struct mechd_call *c, int outcome);
/* Refuse because of a quota. */
enum mechd_progress mechd_fail_quota(struct mechd_call *c, const struct mechd_excess *x);
/* Refuse because of another client's lease. */
enum mechd_progress mechd_fail_lease(struct mechd_call *c, const struct mechd_instance *i,
                                     const struct mechd_holder *holder);
/* True, and refused with INVALID_REQUEST, if faults have been noted in c->diag. */
bool mechd_call_faulty(struct mechd_call *c);

/* Value of a query parameter (a string key over ZeroMQ), or NULL. */
const char *mechd_call_query(const struct mechd_call *c, const char *name);
/* Value of a path parameter, never NULL. */
const char *mechd_call_value(const struct mechd_call *c, const char *name);

/* The instance's run of the path's {rid}, as owner; NULL: refused. */
struct mechd_run *mechd_call_run(struct mechd_call *c);

/* The problem object of a refused call, a value of a body. `call`: a struct mechd_call. */
void mechd_call_problem(const void *call, struct mechp_text *w);
/* HTTP status of the reply. */
int mechd_call_status(const struct mechd_call *c);
