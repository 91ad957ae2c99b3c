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
#include "protocol/wire/routes.h"
#include "server/auth/tokens.h"
#include "server/instance/instance.h"
#include "server/metrics.h"
#include "server/store/store.h"

struct mechd_call;

enum mechd_operation_flags {
    MECHD_ON_INSTANCE = 1u << 0,  /* the path has {id}: found before, run as its owner */
    MECHD_READS = 1u << 1,        /* changes nothing: may run between slices of a command */
    MECHD_IN_POOL = 1u << 2,      /* never on the carrying thread: cost unknown before */
    MECHD_BIG_BODY = 1u << 3,     /* takes models: 64 MiB instead of 1 MiB */
    MECHD_TAKES_BYTES = 1u << 4,  /* also takes application/vnd.mechd.snapshot */
    MECHD_FREE_KEYS = 1u << 5,    /* the operation checks its keys itself */
    MECHD_WHILE_RUN = 1u << 6,    /* a change that is allowed while a run is in progress */
    MECHD_COST_BY_SIZE = 1u << 7, /* cost grows with the state */
    MECHD_OPEN = 1u << 10,        /* needs no token */
    MECHD_ADMIN = 1u << 11,       /* changes the server */
    MECHD_OF_MODEL = 1u << 9,     /* asks a model of the solver: other engines have none */
    MECHD_TELLS_ALL = 1u << 8 /* run adds to the faults found before, and changes nothing if there
                                 are any */
};

enum { MECHD_QUERIES = 10 };

struct mechd_operation {
    /* As owner of the instance if there is one. MORE: again. */
    enum mechd_progress (*run)(struct mechd_call *c);
    /* Before that, on the carrying thread: read the request, set job.cost. 0, or nonzero after
     * mechd_fail. May be NULL. */
    int (*prepare)(struct mechd_call *c);
    unsigned flags;
    const char *const *keys;          /* allowed in the body, closed by NULL; NULL: no body */
    const char *query[MECHD_QUERIES]; /* query parameters (keys over ZeroMQ) */
};

/* Every route's operation is mechd_operation_<SYMBOL of routes.def>, in some file of routes/. */
const struct mechd_operation *mechd_operation(const struct mechp_route *route);

struct mechd_call {
    struct mechd_job job; /* first */
    struct mechd_task task;
    struct mechd *daemon;
    struct mechp_match match; /* route and path parameters */
    const struct mechd_operation *operation;
    enum mechd_door door;
    uint64_t start; /* ns */

    /* the request */
    json_t *body;      /* or NULL */
    const void *bytes; /* a body that is not JSON, or NULL; the door's */
    size_t size;
    const char *query[MECHD_QUERIES]; /* values by the operation's list; the door's */
    const char *token;                /* as it was shown, or NULL; the door's */
    struct mechd_token who;           /* whose it is, once the call has been started */
    const char *if_match;             /* or NULL; the door's */
    const char *scope;  /* of an idempotency key: who, method, path, key; or NULL; the door's */
    uint64_t body_hash; /* with a scope */
    const char *accept; /* or NULL; the door's */

    /* the reply */
    enum mechp_code code; /* MECHP_OK, or a problem */
    int status;           /* of a success; 0: 200 */
    struct mechp_text text;
    const char *content_type; /* NULL: application/json */
    char location[128];       /* or "" */
    char etag[48];            /* or "" */
    char detail[256];
    struct mech_diag diag;
    struct mechp_text report; /* a failed step's */

    /* what the reply waits for on disk; an operation may have taken it */
    struct mechd_ticket ticket;
    struct mechd_stored_receipt stored; /* the reply, on its way to the disk */
    struct mechd_receipt *receipt;      /* claimed by its scope, or NULL */
    struct mechd_call *next_waiting;    /* for the same receipt */

    /* the operation's own, between its slices */
    bool begun; /* the first slice has run */
    void *work;
    void (*work_free)(struct mechd_call *c);

    /* The reply stands: send it. On the thread that ran the operation last, no lock held. */
    void (*answer)(struct mechd_call *c);
    char buffer[768]; /* first room of text */
};

void mechd_call_init(struct mechd_call *c, struct mechd *d, enum mechd_door door);
void mechd_call_fini(struct mechd_call *c);

/* Who asks, and whether they may: before the body is read, by the door. 0, or refused. */
int mechd_call_admit(struct mechd_call *c);

/* Run or queue. RAN: the reply stands, `answer` will not be called. QUEUED: it will be. */
enum mechd_submitted mechd_call_start(struct mechd_call *c);

/* For an operation that stores what it does itself, once its reply stands: the reply waits for
 * that, and is stored with it when there is an idempotency key. */
struct mechd_ticket *mechd_call_ticket(struct mechd_call *c);

/* Refuse; returns MECHD_DONE, or use it as a nonzero result of prepare via mechd_refuse. */
enum mechd_progress mechd_fail(struct mechd_call *c, enum mechp_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define mechd_refuse(...) (mechd_fail(__VA_ARGS__), 1)
/* Refuse by an outcome or a fatal code of the solver. */
enum mechd_progress mechd_fail_outcome(struct mechd_call *c, int outcome);
/* True, and refused with INVALID_REQUEST, if faults have been noted in c->diag. */
bool mechd_call_faulty(struct mechd_call *c);

/* Value of a query parameter (a string key over ZeroMQ), or NULL. */
const char *mechd_call_query(const struct mechd_call *c, const char *name);
/* Value of a path parameter, never NULL. */
const char *mechd_call_value(const struct mechd_call *c, const char *name);

/* The problem object of a refused call, as one JSON value. */
void mechd_call_problem(struct mechd_call *c, struct mechp_text *w);
/* HTTP status of the reply. */
int mechd_call_status(const struct mechd_call *c);
