/* An instance: a simulation with its owner, its queue, its snapshots, its run and its watchers.
 *
 * shared. The guard of each part is given there: `const` after creation; `m`, the lock of ownership
 * and queue; `owner`, the thread that runs the current job; `p`, the lock of what has been
 * published. Reference counted, because requests, timers and the pool hold it.
 */
#pragma once

#include "protocol/wire/json.h"
#include "server/auth/accounts.h"
#include "server/engine/engine.h"
#include "server/instance/durable.h"
#include "server/instance/job.h"
#include "server/instance/leases.h"
#include "server/os/pool.h"
#include "server/os/stop.h"
#include "solver/base/diag.h"
#include "solver/base/id.h"
#include "solver/base/name.h"

#include <pthread.h>
#include <stdatomic.h>

struct mechd_group;
struct mechd_host;
struct mechd_run;
struct mechd_watcher;
struct mechd_snapshots;
struct mechd_trials;
struct mechd_partner;
struct mechd_picks;
struct mechd_receipt;

/* Values visible to readers without ownership: the last committed communication step. */
struct mechd_published {
    uint64_t revision;
    uint64_t sequence; /* communication steps committed */
    uint64_t steps;    /* internal steps */
    double time;
    uint16_t flags; /* enum mechp_frame_flags of the last frame */
    double *values; /* [outputs] all outputs, packed */
    bool hashed;    /* `hash` is that of this step */
    uint64_t hash;  /* of the state */
};

enum { MECHD_WATCH_STATE = 1, MECHD_WATCH_JSON = 2, MECHD_WATCH_PICKS = 4, MECHD_WATCH_HASH = 8 };
enum { MECHD_HASH_VALUES = 2 };

/* What an instance counts (instance/lives.h): snapshots and runs; trials. */
enum mechd_counted { MECHD_COUNTED_PART, MECHD_COUNTED_TRIAL, MECHD_COUNTED };

/* Who has an instance (server/README.md, Ownership); changed by queue.c alone. */
enum mechd_hold {
    MECHD_HOLD_IDLE,
    MECHD_HOLD_CARRIED,  /* a thread that carries a request: it runs `direct` */
    MECHD_HOLD_QUEUED,   /* the pool: the head has not begun */
    MECHD_HOLD_RUN,      /* a thread of the pool: it runs a slice of the head */
    MECHD_HOLD_PAUSED,   /* the pool: between two slices of the head */
    MECHD_HOLD_OPEN,     /* the same, and the state must not be read */
    MECHD_HOLD_CAPTURED, /* the thread that has the head, a job of mechd_instance_capture */
    MECHD_HOLD_SEALED    /* the thread that shuts the daemon down, for ever */
};

/* Whether commands on it begin. From one to the next, and from ENDING back to LIVES. */
enum mechd_life {
    MECHD_LIVES,
    MECHD_ENDING, /* its deletion is on its way to the disk: none begins */
    MECHD_ENDED   /* it is in no table any more, or never was */
};

/* What modules below these functions call of them; one table, that of create.c. */
struct mechd_instance_calls {
    /* The last reference is gone: free all parts. Any thread. */
    void (*destroy)(struct mechd_instance *i);
    /* Something could not be stored: put it back to what is, with the group (NULL: it has none) or
     * alone. The store's thread, or the owner. */
    void (*put_back)(struct mechd_instance *i, struct mechd_group *group);
};

struct mechd_instance {
    /* const */
    struct mechd_host *host;
    const struct mechd_instance_calls *calls;
    char id[MECH_NAME_MAX + 1];
    mech_id number;                 /* generational, for binary frames */
    uint64_t serial;                /* order of creation */
    uint64_t incarnation;           /* first half of the ETag */
    char *name;                     /* of the model */
    size_t output_size;             /* values of all outputs */
    struct mech_variable *channels; /* [channel_count] the outputs */
    size_t channel_count;
    int32_t size;                   /* velocities: measure of the cost of reading the state */
    double step_size;               /* h at creation, s */
    uint64_t before[MECHD_COUNTED]; /* numbers that earlier lives of its id may have had */
    struct mech_diag warnings;      /* of its model; const once in the table */
    /* What steps it in runs, if it does not do so itself (instance/runs.h): a turn comes on a
     * thread of the pool, even before this returns QUEUED. FULL: later. const; or NULL */
    enum mechd_submitted (*turns)(struct mechd_run *r);
    /* of the face of a stored coupling: minus its number, the key of its runs in the store; or 0.
     * const once others see it */
    int64_t face_key;
    /* As mechd_instance_hash, if it is not the engine's model that has it. const; or NULL */
    bool (*hashes)(const struct mechd_instance *i, uint64_t *out);
    _Atomic int refs;
    _Atomic int life;             /* enum mechd_life; partner: mechd_instance_lives */
    struct mechd_stop ended;      /* DELETED: the command in progress ends at its next slice */
    struct mechd_stop stop;       /* STOPPED: the first stoppable job, until it is over; under m.
                                     That job closes it before its effect */
    _Atomic uint64_t run_number;  /* of the run in progress, or the last one; by the owner */
    struct mechd_stop_held yield; /* YIELD: by jobs that wait and hurry (instance/job.h) */
    _Atomic uint64_t revision;
    _Atomic uint64_t step_ns; /* measured time of one internal step; partner: any reader */
    _Atomic unsigned watched; /* MECHD_WATCH_… topics with a subscriber; partner: zmq/stream.c */
    _Atomic bool running;     /* a run is in progress; written by the owner */
    _Atomic double ttl;       /* s without use after which it is deleted, 0: never */
    _Atomic uint64_t used;    /* mechd_now of its last use, with a ttl; partner: the reaper */

    struct mechd_leases leases;     /* locked by its own */
    struct mechd_receipt *receipts; /* of requests on it; locked by the daemon's */
    bool forgotten;                 /* no more are retained; as that */
    struct mechd_account
        *account; /* its account, const once in the table; NULL: without an owner */
    _Atomic uint64_t charged[MECHD_QUOTA_HELD]; /* amounts charged to that account */

    /* locked by m */
    pthread_mutex_t m;
    enum mechd_hold hold;     /* who has it; the owner may look without m */
    struct mechd_job *direct; /* CARRIED: its job, which is in no queue */
    struct mechd_job *head, *tail;
    int queued;             /* jobs from head to tail */
    struct mechd_task task; /* in the pool while jobs wait */

    /* the owner's */
    struct mechd_engine engine;
    struct mechd_effort *effort; /* in progress (instance/effort.h), or NULL */
    struct mech_sim *sim;      /* the engine's, for data that only a model has; NULL: it has none */
    uint64_t trial;            /* id of the trial that can be committed, 0: none */
    uint64_t trials;           /* the last id */
    struct mechd_trials *kept; /* that are kept under names, or NULL (instance/trials.h) */
    struct mechd_snapshots *snapshots;
    uint64_t base; /* number of the snapshot from which the state descends, 0: from none */
    struct mechd_partner *partners;
    struct mechd_run *run; /* the newest, followed by the older ones, or NULL */
    uint64_t runs;         /* id of the last one */
    struct mechd_durable durable;
    uint16_t next_flags; /* to be added to the next frame on the stream */

    /* locked by p; written by the owner alone, which may read without it */
    pthread_mutex_t p;
    struct mechd_published published;
    json_t *labels;            /* object of strings, or NULL; see instance/traits.h */
    struct mechd_picks *picks; /* streams that clients have chosen (instance/picks.h), or NULL */
};

/* Make an instance around an engine, which it then owns; one reference, in no table yet.
 * Negative: no memory (the engine stays the caller's). */
int mechd_instance_create(struct mechd_host *host, const struct mechd_engine *engine,
                          struct mechd_instance **out);

/* Charge an amount to its account. False: *x gives the reason. Any thread. */
bool mechd_instance_charge(struct mechd_instance *i, enum mechd_quota which, uint64_t amount,
                           struct mechd_excess *x);
void mechd_instance_refund(struct mechd_instance *i, enum mechd_quota which, uint64_t amount);
/* Charge a new instance to an account: itself, its coordinates and memory. As charge. */
bool mechd_instance_open(struct mechd_instance *i, struct mechd_account *account,
                         struct mechd_excess *x);
/* Refund everything to its account. */
void mechd_instance_close(struct mechd_instance *i);

/* Remove it from the table and the store; later requests are refused, a command in progress stops
 * at its next slice. With a ticket, which is taken if it is stored: once the deletion is on disk;
 * if that fails it is as before, except that its run ends. NULL: at once. False: it is already
 * being deleted. Any thread. */
bool mechd_instance_delete(struct mechd_instance *i, struct mechd_ticket *t);
/* False: it is being deleted, or has been. Any thread. */
static inline bool mechd_instance_lives(const struct mechd_instance *i)
{
    return atomic_load(&i->life) == MECHD_LIVES;
}
/* No command on it begins any more; it is in no table. Any thread. */
static inline void mechd_instance_end(struct mechd_instance *i)
{
    atomic_store(&i->life, MECHD_ENDED);
}
/* The store reports whether it has been deleted. */
void mechd_instance_deleted(struct mechd_instance *i, bool gone);
/* An instance whose creation could not be stored is no instance. */
void mechd_instance_withdraw(struct mechd_instance *i);

void mechd_instance_ref(struct mechd_instance *i);
void mechd_instance_unref(struct mechd_instance *i);

/* Run, queue or refuse a job (instance/queue.c). */
enum mechd_submitted mechd_instance_submit(struct mechd_instance *i, struct mechd_job *job);

/* Become the owner for longer than a job, for work on several instances at once. RAN: the caller is
 * the owner. QUEUED: job->run is called once as the owner, on a thread of the pool, and returns
 * HELD; the thread that it hands the instance to is then the owner. FULL: refused. Several
 * instances are captured in the order of `serial`, so that no deadlock occurs. */
enum mechd_submitted mechd_instance_capture(struct mechd_instance *i, struct mechd_job *job);
/* As the owner by capture: release the instance. */
void mechd_instance_release(struct mechd_instance *i, struct mechd_job *job);
/* As the owner by capture, while the state is consistent: serve waiting readers (stateless: only
 * those that read no state). */
void mechd_instance_serve(struct mechd_instance *i, bool stateless);

/* Stop the first stoppable job, in progress or waiting: it ends at its next slice. False: there is
 * none, or it has had its effect. Any thread (instance/queue.c). */
bool mechd_instance_stop(struct mechd_instance *i);
/* True if a stoppable job is in the queue, in progress or waiting. Any thread (instance/queue.c).
 * */
bool mechd_instance_busy(struct mechd_instance *i);
/* True if a thread has it, or will have it. The caller has m (instance/queue.c). */
static inline bool mechd_instance_held(const struct mechd_instance *i)
{
    return i->hold != MECHD_HOLD_IDLE;
}
/* True on a thread that carries a request, which must not work for long. As owner. */
static inline bool mechd_instance_carried(const struct mechd_instance *i)
{
    return i->hold == MECHD_HOLD_CARRIED;
}

/* Shutdown, perhaps with threads that are stuck: from now on the caller is the owner. False: a
 * thread is computing it. Any thread (instance/queue.c). */
bool mechd_instance_seal(struct mechd_instance *i);

/* Called by the owner after a change: the revision increases and the values are published; `flags`
 * as in a frame. A committed communication step also goes to the stream. */
void mechd_instance_changed(struct mechd_instance *i, uint16_t flags);
void mechd_instance_stepped(struct mechd_instance *i, uint16_t flags);
/* Its labels or time to live changed, but no value: the revision increases, also within a command.
 * Any thread. */
void mechd_instance_described(struct mechd_instance *i);

/* Copy what has been published; `values` [output_size] may be NULL. Any thread. */
void mechd_instance_peek(struct mechd_instance *i, struct mechd_published *out, double *values);

/* A hash as numbers: the upper, then the lower 32 bits. */
static inline void mechd_hash_values(uint64_t hash, double out[MECHD_HASH_VALUES])
{
    out[0] = (double)(hash >> 32);
    out[1] = (double)(hash & UINT32_MAX);
}

/* The hash of its state; of a coupling's face, of those of all participants. False: one of them is
 * not known. As its owner, of a face as that of all. */
bool mechd_instance_hash(const struct mechd_instance *i, uint64_t *out);

enum { MECHD_LIFE = 24 };

/* ETag, with its quotes, into out [48]. Any thread. */
void mechd_instance_etag(const struct mechd_instance *i, char *out);
/* Which life of its id the instance is, out [MECHD_LIFE]: no other instance of this server has had
 * it. For a stored one it is the same after restarts. Any thread. */
void mechd_instance_life(const struct mechd_instance *i, char *out);
/* True if the header If-Match lets a change through (RFC 9110, 13.1.1): none (NULL), "*", or a list
 * with the ETag or its life, as "6b02756300001.*"; a weak tag never matches. *out [48] is the
 * current ETag. Any thread. */
bool mechd_instance_matches(const struct mechd_instance *i, const char *tags, char *out);
