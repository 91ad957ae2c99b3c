/* Couplings: instances that exchange outputs and inputs and step together, window by window.
 *
 * The scheme is that of solver/couple, which issues tasks (trial, commit, …); here they are
 * executed on instances. A command of a coupling captures all of its instances in the order of
 * their `serial` (instance/instance.h), works in slices of about a millisecond, on one thread or on
 * several (share.h), serves readers between two windows, and releases all instances at its end.
 * From its creation to its end a coupling holds the owner's lease of each instance, so that no
 * other client can change it meanwhile.
 *
 *   state of a command   what happens                          next
 *   WAITING              earlier commands first                CAPTURING
 *   CAPTURING            one instance after the other          WORKING, OVER (one is full)
 *   WORKING              windows, in slices; asleep while a    OVER
 *                        program is asked (outside.h)
 *   OVER                 instances released, call answered     –
 *
 * A window is done by all instances or by none: solver/couple commits when all trials have
 * succeeded. A trial (TRIAL) does its windows in the instances, publishes nothing of them, keeps
 * their end (saved.h) and goes back; readers of the state wait until it is over. Its number is that
 * of a trial of each instance too, so that any change of one of them discards it. keep.h has what
 * is stored of a coupling; face.h what others see of it between its commands. shared, locked by m
 * except where noted; reference counted (table, commands, readers). */
#pragma once

#include "protocol/wire/codes.h"
#include "protocol/wire/text.h"
#include "server/call/call.h"
#include "server/coupling/last.h"
#include "server/instance/deriving.h"
#include "server/instance/durable.h"
#include "solver/couple/couple.h"

enum {
    MECHD_COUPLINGS_MOST = 1024,
    MECHD_COUPLING_PARTS = 64,
    MECHD_COUPLING_WARNING = 160, /* bytes of the text */
    MECHD_COUPLING_CONNECTIONS = 4096,
    MECHD_COUPLING_PIECES = 10000,  /* internal steps of a window that is stepped in pieces */
    MECHD_COUPLING_SNAPSHOTS = 64,  /* of one */
    MECHD_COUPLING_OUTSIDE = 16384, /* inputs and outputs of all its partners */
    MECHD_COUPLING_QUEUE = 64       /* commands that wait for one coupling */
};

struct mechd_couplings;
struct mechd_errand;
struct mechd_group;
struct mechd_outside;
struct mechd_reading;
struct mechd_source;
struct mechd_run;
struct mechd_share;

/* Of its task in the batch in progress. */
enum mechd_part_turn {
    MECHD_PART_IDLE,  /* it has none, or its result has been used */
    MECHD_PART_OPEN,  /* not done, perhaps begun */
    MECHD_PART_TAKEN, /* a thread works at it, in a round (share.h) */
    MECHD_PART_READY  /* done before its turn */
};

/* One value of an instance that takes part in the exchange. */
struct mechd_coupling_port {
    int32_t index;     /* of the input or output */
    int32_t component; /* within it */
};

/* An output that a coupling shows. */
struct mechd_shown {
    int32_t part, index;  /* of the participant, and among its outputs */
    int32_t offset, size; /* of its values, among all of the participant */
};

/* One participant. */
struct mechd_part {
    char name[MECH_NAME_MAX + 1];
    int32_t listed;                  /* its place in the request */
    struct mechd_instance *instance; /* a reference */
    uint64_t lease;                  /* of its owner */
    struct mechd_outside *outside;   /* the program behind it, a reference; or NULL */
    uint64_t trial;                  /* number of the instance's trial that is the coupling's */
    struct mechd_coupling_port *in, *out;
    int32_t in_count, out_count;
    struct mechd_coupling *coupling;
    uint64_t charged; /* bytes for it, to the account of its instance */
    bool shown;       /* an output of it is */

    /* of the command in progress; its owner's */
    struct mechd_job job;              /* that captures the instance */
    bool captured;                     /* it has */
    enum mechd_part_turn turn;         /* within a round locked by mechd_share.m, as place, round */
    int32_t place;                     /* of its task in the batch */
    uint64_t round;                    /* in which it had the last slice */
    bool direct;                       /* that slice is on the thread that carries the request */
    bool stepping;                     /* its engine is in a trial */
    uint64_t spent;                    /* ns, of the trial in progress */
    uint64_t took[2];                  /* ns, the last trial; and the last one with a Jacobian */
    _Atomic uint64_t since;            /* mechd_now when the slice began, 0: none is in progress */
    struct mech_step_report report;    /* of the trial */
    struct mech_input_change *changes; /* [in_count] at most */
    double *numbers;  /* values and derivatives of the changes, 3 × all values of its inputs */
    double *outputs;  /* all of them */
    double *jacobian; /* [outputs × all values of its inputs] of a step, or NULL: differenced */
    struct mechd_deriving deriving; /* of the window in progress */
    struct mech_derived derived;
    bool asked;        /* its program has got the question of the batch, and it is open */
    bool has_jacobian; /* of the trial that comes next */
    double *taylor;    /* [3 × in_count] value and derivatives of the inputs at a step's start */
    double *sums;      /* [(MECH_FLOW_ORDER + 1) × in_count] moments of the pieces so far */

    /* windows in pieces (pieces.c) */
    int32_t pieces;             /* most of a window; 0: windows are whole */
    int32_t piece, piece_count; /* of the trial in progress */
    void *start;                /* [start_size] state at the window's start */
    size_t start_size;
    bool started;    /* it holds the present window's */
    double *moments; /* [MECH_FLOW_MOMENTS × all values of its inputs] of the trial */
};

/* Of a command: command.c changes and checks it, and server/README.md has the table. Zeroed:
 * WAITING. */
enum mechd_coupling_state {
    MECHD_COUPLING_WAITING,
    MECHD_COUPLING_CAPTURING,
    MECHD_COUPLING_WORKING,
    MECHD_COUPLING_OVER
};

/* Of a window that programs have tried, in a coupling that stores every step. */
enum mechd_coupling_confirms {
    MECHD_CONFIRMS_NOTHING,
    MECHD_CONFIRMS_STORING, /* it is on its way to the disk */
    MECHD_CONFIRMS_COMMITS  /* it is there, and the programs are asked to commit */
};

enum mechd_coupling_kind {
    MECHD_COUPLING_START, /* outputs at the present time: the first command of all */
    MECHD_COUPLING_STEP,  /* windows */
    MECHD_COUPLING_TRIAL, /* windows, of which the end is kept, and none is published */
    MECHD_COUPLING_POINT, /* windows of a point of a sweep, which no one else sees (points.h) */
    MECHD_COUPLING_RESET, /* each instance to its start, then as START */
    MECHD_COUPLING_ONCE,  /* `once`, without windows */
    MECHD_COUPLING_KEEP,  /* store all, or undo what could not be stored: of no client (keep.h) */
    MECHD_COUPLING_END    /* the coupling is deleted, also from the store */
};

/* A command of a coupling. Part of the work of a call. */
struct mechd_coupling_command {
    struct mechd_coupling_command *next;
    struct mechd_coupling *coupling; /* a reference */
    struct mechd_call *call;
    enum mechd_coupling_kind kind;
    enum mechd_coupling_state state; /* owned by the thread that has the command */
    double size;                     /* STEP, TRIAL, stability: of a window, s */
    uint64_t windows;                /* STEP, TRIAL: how many */
    double until;                    /* STEP, TRIAL: end time, or NaN: windows × size */
    double expect;                   /* STEP, TRIAL of a client: the time at its start, or NaN */
    /* ONCE: does it, as the owner of all instances, and writes the reply, or calls
     * mechd_coupling_refuse; before it changes anything it calls mechd_coupling_keep */
    void (*once)(struct mechd_coupling_command *k);
    bool alone;            /* ONCE: not while a run is in progress */
    bool slow;             /* on the pool, never on the carrying thread */
    struct mechd_run *run; /* STEP: it is a turn of this run, without a client (turn.h); or NULL */
    uint64_t trial;        /* ONCE: the number that is to be committed */
    bool interface;        /* STEP, TRIAL: the report has the flows through connections and bonds */
    bool energy;           /* STEP, TRIAL: the reply has the energy of the participants */

    int captured;               /* parts, in the order of capture, then the face */
    _Atomic uint64_t worked;    /* ns in engines, for the quota; of all its threads */
    struct mechd_saved *before; /* state to go back to when it fails, or is a trial; or NULL */
    struct mech_couple_batch batch;
    int32_t at;             /* task of the batch */
    int helpers;            /* threads that its trials are worth besides this one (share.h) */
    bool direct;            /* it is on the thread that carries the request */
    bool sleeps;            /* that task is a question to a program: no thread has it (outside.h) */
    struct mechd_stop stop; /* SHUTDOWN: the clock has stopped, and no answer is awaited any more */
    enum mechd_coupling_confirms confirms;
    int32_t confirmed; /* participants so far */
    bool opening;      /* what is in progress is the start of a coupling with programs */
    bool window;       /* a window, or the start, is in progress */
    bool begun;        /* there has been one */
    bool readers_wait; /* a slice has ended within a window in pieces */
    struct mechd_task task;

    /* the result */
    enum mechp_code code;
    char detail[300];
    uint64_t done, iterations, evaluations, refused;
    uint64_t before_it; /* windows of the coupling when it began */
    double residual;    /* largest, relative to the tolerance */
};

/* Its state and those of all its instances. */
struct mechd_coupling_snapshot {
    uint64_t id;
    uint64_t record; /* without which it is not answered, and goes (keep.posted); 0: none */
    bool is_new;     /* its record is not on its way yet: no client sees it */
    struct mechd_saved *saved;
};

struct mechd_kept_inputs;

/* What of it is not, as it was at a record (kept.h). */
struct mechd_kept {
    uint64_t number;        /* of the record, 0: of none, when it joined */
    uint64_t run;           /* number of the face's newest run, 0: none */
    uint64_t periods, rows; /* of that one */
    void *bytes;            /* [size] of states, or NULL */
    size_t size;
};

/* What of a coupling is stored (keep.h). */
struct mechd_keeping {
    /* const once it has started */
    struct mechd_group *group;  /* of its stored participants; NULL: none of them is */
    enum mechd_durability mode; /* of the coupling itself */
    uint64_t steps;             /* windows from checkpoint to checkpoint, 0: not by windows */
    double seconds;             /* s, from checkpoint to checkpoint, 0: not by time */
    int32_t payer;     /* participant whose account it is charged to; −1: none is stored */
    uint64_t charged;  /* bytes of the store */
    uint64_t retained; /* bytes of memory, charged to the same account */
    bool loading;      /* it is made again, by what the store has of it */
    /* the owner's */
    bool dirty;        /* changed since the last record */
    bool making;       /* nothing of its creation is on its way to the disk yet */
    uint64_t epoch;    /* increases with each undo */
    uint64_t since;    /* windows at the last record */
    uint64_t recorded; /* mechd_now of it */
    uint64_t posted;   /* number of it */
    /* [count] or NULL: of participants in memory alone (kept.h) */
    struct mechd_kept_inputs *inputs;
    /* any thread */
    _Atomic uint64_t failed; /* records of this epoch and before are lost; partner: the store */
    _Atomic int outstanding; /* records on their way */
    _Atomic uint64_t stored; /* number of the last one on the disk; partner: the store */
    _Atomic bool wanted;     /* a checkpoint is due; partner: the clock */
    /* locked by the coupling's m */
    bool armed, asked;      /* the timer; a command KEEP is queued */
    struct mechd_kept kept; /* at the last record that is stored, or when it joined */
    struct mechd_timer timer;
    /* of a window that is confirmed (outside.h) */
    struct mechd_ticket ticket;
    _Atomic int on_disk; /* 1: it is; −1: it is not and never will be; 0: on its way */
    /* the next command KEEP, or NULL: it is in use (keep.c); locked by the coupling's m */
    struct mechd_errand *spare;
};

/* What files below these functions call of them; one table, that of read.c. */
struct mechd_coupling_calls {
    void (*destroy)(struct mechd_coupling *g);
    bool (*remove)(struct mechd_couplings *t, struct mechd_coupling *g);
    bool (*submit)(struct mechd_coupling_command *k);
    void (*slice_over)(struct mechd_coupling_command *k);
};

struct mechd_coupling {
    struct mechd_coupling *next;              /* locked by the table */
    const struct mechd_coupling_calls *calls; /* const */
    struct mechd_service *service;
    _Atomic int refs;
    uint64_t id;
    char *name;
    struct mechd_account *account;
    struct mechd_part *parts; /* [count] */
    int32_t count;
    struct mechd_shown *shown;   /* [shown_count] outputs that replies, frames and rows have */
    size_t shown_count;          /* and their order; const once it is read (shown.c) */
    struct mechd_instance *face; /* a reference (face.h) */
    struct mechd_job face_job;   /* that captures it */
    struct mechd_share *share;   /* trials at the same time (share.h) */
    int32_t *order;              /* [count] of capture */
    struct mech_couple *couple;  /* of the command in progress; NULL before START */
    struct mechd_saved *trial;   /* end of the trial that can be committed, or NULL; as that */
    uint64_t trials;             /* number of the last one; as that */
    char scheme[MECH_NAME_MAX + 1];
    char *document;                /* JSON text of the request that makes it again */
    size_t document_size;          /* of it, bytes */
    struct mechd_reading *reading; /* until it is connected; or NULL */
    char **connections;            /* [connection_count] "left.x → right.other" */
    int32_t connection_count;
    char (*bonds)[MECH_NAME_MAX + 1]; /* [bond_count] names */
    int32_t bond_count;
    /* Of a coupling that a thread has alone, without queue, face, leases and sharing: why its work
     * must end, as `asks` of an effort. NULL: it has commands of clients */
    enum mechd_stop_reason (*asks)(const void *of);
    const void *asks_of;
    double step_size; /* s, default size of a window */
    bool varies;      /* inputs vary over a window */
    bool in_pieces;   /* windows are stepped in pieces: readers wait */
    bool adapts;      /* windows are sized by their error */
    /* The largest stable size of a window, s, as the last stability report has it, and the windows
     * done then. INFINITY: there is no report, or it has found no end; as couple */
    double stable_most;
    uint64_t stable_window;
    struct mechd_stop ended; /* DELETED: it is deleted; lowered if that fails */

    pthread_mutex_t m;
    struct mechd_coupling_command *head, *tail; /* the head is in progress */
    int queued;
    double time; /* s, of the last window */
    uint64_t windows;
    int32_t outsides;      /* parts that are programs: they come after the coupling */
    bool opened;           /* outputs at its start are known; as couple */
    pthread_mutex_t nap_m; /* naps, and whether nap_timer is armed: only while it naps */
    bool naps;             /* the command at the head sleeps */
    struct mechd_task nap_task;
    struct mechd_timer nap_timer;
    bool started; /* START has succeeded */
    struct mechd_coupling_last last;
    struct mechd_coupling_snapshot snapshots[MECHD_COUPLING_SNAPSHOTS]; /* oldest first */
    int snapshot_count;
    uint64_t snapshot_last; /* id of the newest ever */
    struct mechd_keeping keep;
};

/* All of them. shared, locked by m. */
struct mechd_couplings {
    pthread_mutex_t m;
    struct mechd_coupling *newest;
    uint64_t serial;
    int count;
};

void mechd_couplings_init(struct mechd_couplings *t);
/* When the pool is over. */
void mechd_couplings_fini(struct mechd_couplings *t);

/* --- creation (read.c) ------------------------------------------------------------------------ */

/* Scheme and size of windows that the query says in place of those of the document
 * (document.c). False: no
 * memory; faults of the query are in c->diag. */
bool mechd_couplings_override(struct mechd_call *c, json_t *document);
/* From a request, its instances and their leases; not yet in the table. All faults of the request
 * are found together; if there is none, all instances that run, or that others hold. `loading`:
 * from a document of the store, regardless of quotas. NULL: refused. */
struct mechd_coupling *mechd_coupling_open(struct mechd_call *c, bool loading);
/* Then, as the owner of all instances: the coupling of the solver. False: refused. */
bool mechd_coupling_connect(struct mechd_coupling *g, struct mechd_call *c);

/* One without leases, face, sharing and a place in the table, for a thread of its own: its document
 * has been read, with instances from `source`; faults are in diag, other failures in g->reading.
 * The document lives as long as the reading. NULL: no memory. */
struct mechd_coupling *mechd_coupling_alone(struct mechd_service *d, const json_t *document,
                                            struct mech_diag *diag,
                                            const struct mechd_source *source);
/* Then, if all is good: the coupling of the solver; faults and failures as before. */
void mechd_coupling_connect_alone(struct mechd_coupling *g);

/* --- the table (coupling.c, couplings.c) ------------------------------------------------------ */

/* Add one, under the next number. 0; MECH_UNSUPPORTED: there are MECHD_COUPLINGS_MOST; negative. */
int mechd_coupling_add(struct mechd_couplings *t, struct mechd_coupling *g);
/* Add one of the store, under its number. 0; MECH_UNSUPPORTED: there are MECHD_COUPLINGS_MOST;
 * MECH_INVALID: an instance has its id; negative. */
int mechd_coupling_restore(struct mechd_couplings *t, struct mechd_coupling *g, uint64_t number);
/* A reference, or NULL. */
struct mechd_coupling *mechd_coupling_find(struct mechd_couplings *t, const char *id);
/* References to all, oldest first, into a fresh array. Negative: no memory. */
int mechd_coupling_list(struct mechd_couplings *t, struct mechd_coupling ***out, size_t *count);
int mechd_couplings_count(struct mechd_couplings *t);
/* Remove it from the table; leases are released, a command in progress ends at its next slice.
 * False: it has already been removed. */
bool mechd_coupling_remove(struct mechd_couplings *t, struct mechd_coupling *g);
/* It is about to be deleted: a command in progress ends at its next slice, later ones are refused,
 * until that fails. False: it is being deleted already. Any thread. */
bool mechd_coupling_end(struct mechd_coupling *g);
void mechd_coupling_ref(struct mechd_coupling *g);
void mechd_coupling_unref(struct mechd_coupling *g);
/* Frees it, without references. */
void mechd_coupling_destroy(struct mechd_coupling *g);
/* Its description, as one JSON object; `whole`: with its document. Any thread. */
void mechd_coupling_write(struct mechd_coupling *g, bool whole, struct mechp_text *w);

/* --- commands (command.c, ends.c, coupling.c, answer.c) --------------------------------------- */

/* The command in its turn; its call is answered as by mechd_call_over on some thread, once
 * call.wait has been called. False: too many wait, and nothing was done; not of KEEP and END. */
bool mechd_coupling_submit(struct mechd_coupling_command *k);
/* It fails with this, unless it has failed already. As owner of the instances. */
void mechd_coupling_refuse(struct mechd_coupling_command *k, enum mechp_code code,
                           const char *detail);
/* Save the state of all, to which they go back if it fails. False: refused. As that owner. */
bool mechd_coupling_keep(struct mechd_coupling_command *k);
/* Why the command in progress must end, or OK: its client has disconnected, it is stopped, the
 * coupling is deleted, shutdown, a quota is used up, which *x describes. Any thread that works for
 * it. */
enum mechp_code mechd_coupling_ends_by(const struct mechd_coupling_command *k,
                                       struct mechd_excess *x);
/* The same, into the call's excess. As owner of the instances. */
enum mechp_code mechd_coupling_ends(struct mechd_coupling_command *k);
/* DELETED: a client wants to delete the coupling; or NONE. Any thread. */
enum mechd_stop_reason mechd_coupling_ended(const struct mechd_coupling *g);
/* A slice of the command in progress is over: readers are served, and it goes on in the pool, or
 * sleeps. As that owner; the last thing that a thread does with the command. */
void mechd_coupling_slice_over(struct mechd_coupling_command *k);
/* It fails, if it has not, because it must end. As owner of the instances. */
void mechd_coupling_refuse_end(struct mechd_coupling_command *k, enum mechp_code code);
/* A client waits for its answer: it is no turn of a run, and does not store by itself. */
bool mechd_coupling_asked(const struct mechd_coupling_command *k);
/* Before its effect: from here on neither its client nor a stop of an instance ends it, and the
 * answers to both say so. False: one of them has, and it is refused; windows that are done stay. As
 * owner of the instances. */
bool mechd_coupling_close(struct mechd_coupling_command *k);
/* Answer a completed command: the reply, or a refusal. While its instances are held, and are at its
 * end. */
void mechd_coupling_answer(struct mechd_coupling_command *k);
/* Readers see the present time and number of windows. As owner of the instances. */
void mechd_coupling_note_time(struct mechd_coupling *g);
/* The last stability report has found windows of this size, s, unstable: the warning's text. As
 * owner of the instances. */
bool mechd_coupling_warns(const struct mechd_coupling *g, double size,
                          char text[MECHD_COUPLING_WARNING]);
/* Of the present state, s: before its start, that of its instances. As owner of the instances. */
double mechd_coupling_time(const struct mechd_coupling *g);
/* The h by which times near t are compared (base/times.h), h being the length of what the caller
 * looks at: the largest of its participants', whose starts may differ. s. As owner of the
 * instances. */
double mechd_coupling_scale(const struct mechd_coupling *g, double t, double h);
/* {"left.x": value, …}: the outputs that it shows. */
void mechd_coupling_write_outputs(const void *coupling, struct mechp_text *w);
/* Time, window and outputs of the present state, as an object. */
void mechd_coupling_write_state(struct mechd_coupling *g, struct mechp_text *w);

/* --- windows (window.c); as owner of the instances ------------------------------------------- */

/* Whether it does windows: of a step, a trial or a point. */
bool mechd_coupling_steps(const struct mechd_coupling_command *k);
/* Refuse it if it expects another time than the present one: it is sent again, or follows on one
 * that was lost. */
void mechd_coupling_expect(struct mechd_coupling_command *k);
/* All windows that it asks for have been done. */
bool mechd_coupling_windows_done(const struct mechd_coupling_command *k);
/* The next window, or the start, begins, unless all are done. False: the command is over. */
bool mechd_coupling_window_begin(struct mechd_coupling_command *k);
/* A batch is returned: it is performed, and commits of the last window close the command. False: it
 * was stopped before, and they are withdrawn. */
bool mechd_coupling_window_commits(struct mechd_coupling_command *k);
/* It is over: the command has its report, or has failed. */
void mechd_coupling_window_over(struct mechd_coupling_command *k);

/* --- snapshots (snapshots.c) ------------------------------------------------------------------ */

enum { MECHD_SNAPSHOT_ONE = 1 /* that one counts as, with each instance */ };
static const size_t mechd_coupling_snapshots_bytes = (size_t)1 << 30; /* of one coupling */

/* `once` of commands: take one; and go back to the one of the path, all instances or none. */
void mechd_coupling_snapshot_take(struct mechd_coupling_command *k);
void mechd_coupling_snapshot_restore(struct mechd_coupling_command *k);
/* {"items": […], "next": null}. Any thread. */
void mechd_coupling_snapshots_write(struct mechd_coupling *g, struct mechp_text *w);
/* False: there is none of that id. Any thread. */
bool mechd_coupling_snapshot_write(struct mechd_coupling *g, const char *id, struct mechp_text *w);
/* Delete it, in the store first; the ticket, or NULL, is settled then. False: there is none of that
 * id. Any thread but the store's. */
bool mechd_coupling_snapshot_delete(struct mechd_coupling *g, const char *id,
                                    struct mechd_ticket *t);
/* In the list (snapshot_list.c): there is room for one of so many bytes. It is locked. */
bool mechd_coupling_snapshot_fits(const struct mechd_coupling *g, size_t size);
/* It is not in the store: out of the list. False: there is none of that number. Any thread. */
bool mechd_coupling_snapshot_drop(struct mechd_coupling *g, uint64_t id);
/* One of the store, which is taken over, also where it is refused: there are too many. Before any
 * door is open. */
bool mechd_coupling_snapshot_put(struct mechd_coupling *g, uint64_t id, struct mechd_saved *saved);
/* Those whose record could not be stored are gone; as owner of all. */
void mechd_coupling_snapshots_lose(struct mechd_coupling *g);
/* Why there is none of that id, as a sentence. Any thread. */
void mechd_coupling_snapshot_missing(struct mechd_coupling *g, const char *id, char detail[200]);
/* When the coupling is freed. */
void mechd_coupling_snapshots_free(struct mechd_coupling *g);

/* --- stability (stability.c) ------------------------------------------------------------------ */

/* `once` of a command: that of windows of k->size about the present state. */
void mechd_coupling_stability(struct mechd_coupling_command *k);

/* --- one task on an instance (part.c) --------------------------------------------------------- */

enum mechd_task_progress { MECHD_TASK_DONE, MECHD_TASK_GOES_ON };

/* Whether it gives the exact Jacobian of a step with inputs that are held: room for it, or NULL. As
 * owner of the instance. */
double *mechd_part_jacobian_room(struct mechd_part *p, double size);
/* Its outputs of the exchange at the present state [out_count]. As owner of the instance. */
void mechd_part_now(struct mechd_part *p, double *outputs);
/* Perform it, for a millisecond at most; task->code is the result. As owner of the instance; those
 * of different participants in any threads. */
enum mechd_task_progress mechd_part_perform(struct mechd_part *p, struct mechd_coupling_command *k,
                                            struct mech_couple_task *task);
/* Its task is not used: a trial in progress is abandoned. As that owner. */
void mechd_part_drop(struct mechd_part *p);

/* --- windows in pieces (pieces.c) ------------------------------------------------------------- */

/* How many pieces a window of that size has at most: its internal steps. False: too many. */
bool mechd_pieces_prepare(struct mechd_part *p, double size);
/* Memory for the state at a window's start. False: there is none. */
bool mechd_pieces_room(struct mechd_part *p);
/* p->taylor of the next piece of a trial, which ends at *until; the first one begins at the
 * window's start. As owner of the instance. 0, or as mech_sim_snapshot_read. */
int mechd_piece_begin(struct mechd_part *p, const struct mech_couple_task *task, double *until);
/* It is done: its time is a sample. True: it was the last one. */
bool mechd_piece_end(struct mechd_part *p, struct mech_couple_task *task);
/* Back to the window's start, if there has been a trial. As begin. */
int mechd_pieces_discard(struct mechd_part *p);

/* Hold inputs that the coupling has extrapolated at their present values; `publish` the change. */
void mechd_part_hold(struct mechd_part *p, bool publish);

/* --- trials (trial.c) ------------------------------------------------------------------------- */

/* Keep the present states as the end of a trial, before the instances go back; or refuse. As owner
 * of the instances. */
void mechd_trial_keep(struct mechd_coupling_command *k);
/* When they have gone back: from here it can be committed. */
void mechd_trial_offer(struct mechd_coupling *g);
/* Discard it, if there is one; as owner, or when the coupling is freed. */
void mechd_trial_drop(struct mechd_coupling *g);
/* `once` of a command: the end of trial k->trial becomes the state of all instances. */
void mechd_trial_commit(struct mechd_coupling_command *k);
