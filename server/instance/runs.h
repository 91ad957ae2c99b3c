/* Runs: an instance stepped by the daemon itself, paced by the clock or as fast as possible.
 *
 * A run is a chain of jobs, one period each (several in one job when it is free of the clock or
 * late), so that other commands run between two jobs and every period is a communication step that
 * the stream and the live events publish. A period of many slices publishes its progress after
 * each; readers, checkpoints and stops are served between two of them. The chain holds one
 * reference, the instance's list another, readers theirs. Runs of a stored instance are stored too
 * (run_store.c). Fields without a mark belong to the instance's owner.
 */
#pragma once

#include "protocol/wire/text.h"
#include "server/instance/recording.h"
#include "server/instance/stepping.h"
#include "server/os/clock.h"

/* interrupted: the process ended before the run did */
enum mechd_run_state {
    MECHD_RUN_RUNNING,
    MECHD_RUN_FINISHED,
    MECHD_RUN_STOPPED,
    MECHD_RUN_FAILED,
    MECHD_RUN_INTERRUPTED,
    MECHD_RUN_STATES
};
extern const char *const mechd_run_state_names[MECHD_RUN_STATES];

/* Runs that an instance retains, including the last one: the oldest is deleted when another starts.
 * */
enum { MECHD_RUNS_MOST = 16, MECHD_RUN_WARNING = 160 /* bytes of its text */ };

struct mechd_run_settings {
    double pace;    /* seconds of simulation per second; 0: free */
    double period;  /* communication step, s */
    double until;   /* end time, or NaN */
    uint64_t every; /* periods from one recorded row to the next; 0: nothing is recorded */
    bool *chosen;   /* [channel_count] recorded outputs, or NULL: all */
    bool hash;      /* record the state's hash too, as mechd_instance_hash */
    bool inputs;    /* and the inputs, of a coupling those of all participants */
};

/* State visible to threads other than the owner. */
struct mechd_run_shown {
    enum mechd_run_state state;
    uint64_t periods, overruns, late;
    uint64_t latest; /* ns */
    uint64_t rows;   /* recorded */
    bool kept;       /* the rows can be read */
    double time;     /* s, within a period too */
    uint64_t elapsed;
    uint64_t change; /* increases with each publication */
    char reason[160], warning[MECHD_RUN_WARNING];
};

struct mechd_run {
    struct mechd_job job;     /* first */
    struct mechd_timer timer; /* the next period of a paced run */
    _Atomic int refs;
    struct mechd_run *older;            /* of the instance's list */
    uint64_t id;                        /* const */
    struct mechd_run_settings settings; /* const */
    uint64_t start;                     /* const: ns, when period 0 began */
    double time;                        /* const: s, where period 0 began */
    double steps;                       /* const: internal steps of a period */
    uint64_t wall;                      /* const: ns from one period to the next, 0: free */
    _Atomic bool active;                /* the chain goes on; partner: finish */
    uint64_t due;                       /* the chain's: when the next period begins, ns */
    uint64_t now; /* the chain's: the clock when its job began and ended; 0: not known */
    bool waits;   /* the chain's: for the disk */
    enum mechd_run_state state;
    uint64_t periods;  /* done */
    uint64_t noted;    /* the period whose lateness is counted below; that of period 0 is not */
    uint64_t shift;    /* ns by which its phase and overload have moved the schedule */
    uint64_t overruns; /* periods that began more than one period late */
    uint64_t late;     /* periods that began more than half a period late */
    uint64_t latest;   /* ns by which the latest of all began late */
    struct mechd_stepping stepping;
    struct mechd_recording record; /* time and outputs at the start, then every so many periods,
                                      and at the end */
    bool unsaved;                  /* the store knows less */
    size_t charged;                /* bytes of rows on the instance's account */
    pthread_mutex_t p;             /* of shown */
    struct mechd_run_shown shown;
};

/* The key of its runs in the store: its own, or that of the coupling whose face it is; 0: they are
 * in memory. */
static inline int64_t mechd_run_key(const struct mechd_instance *i)
{
    return i->durable.key != 0 ? i->durable.key : i->face_key;
}

/* Rows that such a run can have, from the present on; as owner. Needs an end and `every`. */
double mechd_run_rows(const struct mechd_instance *i, const struct mechd_run_settings *s);

/* Start; as owner. Takes settings->chosen. 0; MECH_UNSUPPORTED: a quota, given by x->which, or
 * (x->which is MECHD_QUOTAS) no memory left for its rows in the daemon; MECH_CANCELLED: its number
 * cannot be recorded (instance/lives.h); negative. */
int mechd_run_start(struct mechd_instance *i, const struct mechd_run_settings *settings,
                    struct mechd_excess *x);
/* Stop at once, a period in progress is undone; as owner. A state other than STOPPED has a reason;
 * "" with STOPPED: none, or that of an FMU which cannot be put back and has ended with it. */
void mechd_run_stop(struct mechd_instance *i, enum mechd_run_state state, const char *reason);
/* It ends in this state, for this reason, and charges for nothing more; the chain, if another
 * thread has it, ends with its next tick. As owner. */
void mechd_run_end(struct mechd_run *r, enum mechd_run_state state, const char *reason);
/* The chain is over: the job will not be submitted again. */
void mechd_run_release(struct mechd_run *r);
void mechd_run_unref(struct mechd_run *r);

/* --- turns (runs.c) ---------------------------------------------------------------------------
 *
 * A turn of a run is what it does before others have theirs. An instance steps its periods by
 * itself; where something else does (mechd_instance.turns), that calls these, as owner of the
 * instance: next, the period up to r->stepping.request.until, done, next, …, and after the turn
 * mechd_run_show. A period that fails or is undone is followed by mechd_run_stop, or by nothing:
 * then the next turn repeats it. */

/* A period begins; r->now is the clock. False: none in this turn. */
bool mechd_run_next(struct mechd_run *r);
/* It is over, and published; r->now is the clock. False: so is the turn, which began at
 * `turn_start`. */
bool mechd_run_done(struct mechd_run *r, uint64_t turn_start);
/* After the turn, without ownership: the next one is prepared, or r is released. The last use of r
 * by the thread that did the turn. */
void mechd_run_turned(struct mechd_run *r);

/* A run without a chain at the head of the instance's list, which gets one more reference: it is
 * the newest. NULL: no memory. */
struct mechd_run *mechd_run_create(struct mechd_instance *i, uint64_t id,
                                   const struct mechd_run_settings *settings);
/* The run "r-ID", or NULL; as owner. */
struct mechd_run *mechd_run_find(struct mechd_instance *i, const char *id);
/* Bytes of rows that a run keeps. */
size_t mechd_run_bytes(const struct mechd_run *r);
/* Charge exactly the actual size of its rows, in memory or on disk, to the instance's account. */
void mechd_run_account(struct mechd_run *r);
/* How far a run was at a record. */
struct mechd_run_reached {
    uint64_t periods, rows;
};
/* The instance has gone back to a record. Of a run that is over, with rows in memory, that part
 * remains which the record has, and what follows it up to the present time; NULL: the record was
 * made before the run, of which nothing remains. If any is lost, the run has failed, for this
 * reason. As owner. */
void mechd_run_cut(struct mechd_run *r, const struct mechd_run_reached *at, const char *reason);
/* Forget a run that is over. */
void mechd_run_forget(struct mechd_instance *i, struct mechd_run *r);
void mechd_runs_destroy(struct mechd_instance *i);

/* Publish what the owner knows. */
void mechd_run_show(struct mechd_run *r);
/* Shown with it from now on, in place of what it has been warned of before; as owner. */
void mechd_run_warn(struct mechd_run *r, const char *text);
/* The published state. Any thread. */
void mechd_run_peek(struct mechd_run *r, struct mechd_run_shown *out);
/* Its description, as one JSON object. Any thread. */
void mechd_run_write(struct mechd_run *r, struct mechp_text *w);

/* --- storing (run_store.c) -------------------------------------------------------------------- */

struct mechd_entry;

/* Append what the store does not know of the instance's runs; a record without memory is false. */
bool mechd_run_entries(struct mechd_instance *i, struct mechd_entry **first,
                       struct mechd_entry **last);
/* The store forgets a run, or its rows. */
int mechd_run_unstore(struct mechd_instance *i, const struct mechd_run *r, bool rows_alone,
                      struct mechd_ticket *t);
/* The runs of an instance that comes from the store. 0 or negative. */
int mechd_runs_load(struct mechd_instance *i);
/* Changes of this instance could not be stored: reset its runs to those in the store. The newest
 * one goes if it is not there; of a face it remains, without rows. */
void mechd_runs_undo(struct mechd_instance *i);
