/* Calls: one request through any door, as operations see it.
 *
 * A door fills in the request, sets `answer`, and calls mechd_call_start. That finds the instance
 * and runs the operation on this thread, or queues it; in the end the reply stands in the call, as
 * JSON text, other bytes, or a problem. owner: the door, then whichever thread runs the operation,
 * then the door again (`answer`).
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

/* What came of one more piece of a long reply: MORE: ask again, LAST: nothing, that was all. */
enum mechd_piece { MECHD_PIECE_MORE, MECHD_PIECE_LAST, MECHD_PIECE_FAILED };

enum { MECHD_WORK_ROOM = 2048 };

/* What an operation does; what its route takes and asks for stands in the route's row
 * (protocol/wire/row.h). */

struct mechd_operation {
    /* As owner of the instance if there is one. MORE: again. */
    enum mechd_progress (*run)(struct mechd_call *c);
    /* In place of run, without an instance: work for several threads. RAN: the reply stands.
     * QUEUED: job.wait has been called, and mechd_call_over will be, on some thread. */
    enum mechd_submitted (*spread)(struct mechd_call *c);
    /* Before that, on the carrying thread: read the request, set job.cost. 0, or nonzero after
     * mechd_fail. May be NULL. */
    int (*prepare)(struct mechd_call *c);
    /* Over HTTP, before there is a tree: read a body of the commonest kind by itself and keep what
     * it says as the call's work. False: not of that kind, or faulty; it is read as JSON. NULL:
     * there is none. */
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
    const char *token;                /* as it was shown, or NULL; the door's */
    const unsigned char *key;         /* [32] of the peer by CURVE, or NULL; the door's */
    struct mechd_token who;           /* whose it is, once the call has been started */
    const char *if_match;             /* or NULL; the door's */
    uint64_t lease;                   /* as it was shown, or 0 */
    const char *scope;  /* of an idempotency key: who, method, path, key; or NULL; the door's */
    uint64_t body_hash; /* with a scope */
    const char *accept; /* or NULL; the door's */

    const _Atomic bool *cancel;          /* set: it is not wanted any more; or NULL */
    const _Atomic bool *gone;            /* set: its client has closed the connection; or NULL */
    _Atomic bool withdrawn;              /* set: its client has cancelled a repetition of it */
    bool silent;                         /* nobody reads the reply's text: it may be left out */
    void (*after)(struct mechd_call *c); /* as owner, once the operation is over; or NULL */

    /* the reply */
    enum mechp_code code; /* MECHP_OK, or a problem */
    int status;           /* of a success; 0: 200 */
    struct mechp_text text;
    const char *content_type; /* NULL: application/json */
    char location[128];       /* or "" */
    bool applied;             /* it is answered later, as the request prefers */
    char etag[48];            /* or "" */
    char detail[256];
    struct mech_diag diag;
    struct mechp_text report;   /* a failed step's */
    struct mechd_excess excess; /* with QUOTA_EXCEEDED */

    /* the rest of a reply that is too long to stand in memory, or NULL: once the text has been sent
     * and emptied, another piece is put there; on the door's thread, with no owner. Over HTTP */
    enum mechd_piece (*produce)(struct mechd_call *c);

    /* what the reply waits for on disk; an operation may have taken it */
    struct mechd_ticket ticket;
    struct mechd_stored_receipt stored; /* the reply, on its way to the disk */
    struct mechd_receipt *receipt;      /* claimed by its scope, or NULL */
    struct mechd_instance *kin;         /* it goes with this one, a reference; or NULL: job's */
    struct mechd_call *next_waiting;    /* for the same receipt */

    /* the operation's own, between its slices */
    bool begun;      /* the first slice has run */
    uint64_t before; /* revision of the instance then */
    int admitted;    /* how often its lease has been begun and not ended */
    void *work;
    void (*work_free)(struct mechd_call *c);
    void *room; /* [MECHD_WORK_ROOM bytes] the door's, for the work; or NULL */

    /* The reply stands: send it. On the thread that ran the operation last, no lock held. */
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

/* True if it changes something: it is refused at the end, and done once for an idempotency key. */
static inline bool mechd_call_changes(const struct mechd_call *c)
{
    return mechp_route_changes(c->match.route);
}

/* True if the body has names of its own in place of the members of its shape: over HTTP alone. */
bool mechd_call_named(const struct mechd_call *c);

/* Faults for keys of the body that the row does not take (keys.c), into c->diag. */
void mechd_call_check_keys(struct mechd_call *c);

/* Zeroed memory for the operation's work: the door's room where it fits; NULL: no memory. */
void *mechd_call_take_room(struct mechd_call *c, size_t size);
/* Free it. */
void mechd_call_give_room(struct mechd_call *c, void *work);

/* Who shows this token, or has this key by CURVE [32] (each may be NULL). A token that is shown
 * counts where tokens are needed. False: nobody. Any thread. */
bool mechd_call_who(struct mechd_service *d, const char *token, const unsigned char *key,
                    struct mechd_token *out);

/* Who asks, and whether they may: before the body is read, by the door. 0, or refused. */
int mechd_call_admit(struct mechd_call *c);
/* The second half of that: may c->who? 0, or refused. */
int mechd_call_allow(struct mechd_call *c);

/* Run or queue. RAN: the reply stands, `answer` will not be called. QUEUED: it will be. */
enum mechd_submitted mechd_call_start(struct mechd_call *c);

/* The reply of an operation that works on several threads stands. The call is the door's then. */
void mechd_call_over(struct mechd_call *c);

/* For an operation that stores what it does itself, once its reply stands: the reply waits for
 * that, and is stored with it when there is an idempotency key. */
struct mechd_ticket *mechd_call_ticket(struct mechd_call *c);

/* Its client has gone: what it left behind ends, so that the instance and the thread are free. Not
 * before the client was silent for the time of the lease that it showed; and not without a lease if
 * there is an idempotency key and an answer to keep, because the client may come back for it. As
 * owner. */
bool mechd_call_abandoned(const struct mechd_call *c);
/* Nobody wants it any more. As owner of the instance if there is one. */
static inline bool mechd_call_cancelled(const struct mechd_call *c)
{
    return (c->cancel != NULL && atomic_load(c->cancel)) || atomic_load(&c->withdrawn) ||
           (c->gone != NULL && atomic_load(c->gone) && mechd_call_abandoned(c));
}

/* The same of a call that is not known as one (instance/effort.h). */
bool mechd_call_unwanted(const void *call);

/* The same, or the daemon ends: for what is asked without an instance, as mech_interrupt asks. */
bool mechd_call_ends(void *call);

/* From here to mechd_effort_end the solver asks whether an analysis of c's instance shall end:
 * stopped (unless it reads between slices), deleted, left by its client, the daemon at its end. */
void mechd_call_watch(struct mechd_call *c, struct mechd_effort *e);

/* Refuse; returns MECHD_DONE, or use it as a nonzero result of prepare via mechd_refuse. */
enum mechd_progress mechd_fail(struct mechd_call *c, enum mechp_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define mechd_refuse(...) (mechd_fail(__VA_ARGS__), 1)
/* Refuse by an outcome or a fatal code of the solver. */
enum mechd_progress mechd_fail_outcome(struct mechd_call *c, int outcome);
/* Refuse because of a quota. */
enum mechd_progress mechd_fail_quota(struct mechd_call *c, const struct mechd_excess *x);
/* Refuse because of somebody's lease. */
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

/* The problem object of a refused call, as one JSON value. */
void mechd_call_problem(struct mechd_call *c, struct mechp_text *w);
/* HTTP status of the reply. */
int mechd_call_status(const struct mechd_call *c);
