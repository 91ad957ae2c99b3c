/* Durability of an instance: what is stored on disk, and when.
 *
 *   none        nothing
 *   checkpoint  the state every n committed steps, or at an interval in seconds in which something
 *               changed, and at shutdown
 *   every-step  every change, before it is acknowledged
 *
 * A record of a change holds the state; for large models a step command is recorded instead (a
 * command and a state give the same bits again), until the next state. An acknowledgement that must
 * wait for the disk takes a ticket: no thread blocks, the store's thread answers.
 *
 * A checkpoint includes the receipts of the changes that led to it: after a crash a change and its
 * receipt both exist, or neither does. When too many wait, the next one waits for a checkpoint of
 * its own.
 *
 * When a record cannot be stored, the changes since the last stored one are undone: their answers
 * report it, and the next command finds the instance in its last stored state.
 *
 * Of a group (instance/group.h), to which the participants of a coupling belong, states are not
 * stored alone, and are undone together.
 *
 * owner: the instance's owner, except where noted.
 */
#pragma once

#include "protocol/wire/json.h"
#include "protocol/wire/text.h"
#include "server/instance/job.h"
#include "server/instance/ticket.h"
#include "server/os/clock.h"
#include "solver/sim/mech.h"

#include <stdatomic.h>
#include <stddef.h>

struct mechd_host;
struct mechd_edit;
struct mechd_entry;
struct mechd_excess;
struct mechd_group;
struct mechd_instance;
struct mechd_snapshot;
struct mechd_traits;
struct mechp_edit_query;

enum mechd_durability { MECHD_DURABLE_NONE, MECHD_DURABLE_CHECKPOINT, MECHD_DURABLE_EVERY_STEP };
/* "none", "checkpoint", "every-step"; closed by NULL. */
extern const char *const mechd_durability_names[];
/* The number of that name (enum mechd_durability), or −1: there is none. */
int mechd_durability_find(const char *name);

struct mechd_durable_settings {
    enum mechd_durability mode;
    uint64_t steps; /* CHECKPOINT: communication steps, 0: not by steps */
    double seconds; /* CHECKPOINT: s of the clock, 0: not by time */
};

struct mechd_durable {
    /* const after creation */
    struct mechd_durable_settings settings;
    int64_t key; /* in the store; 0: not stored */
    /* the owner's */
    bool dirty, remodelled; /* since the last record: changed; the document too */
    bool due;               /* a run has begun or ended: not to be postponed */
    /* the step command that made the only change since then, as bytes, or NULL */
    unsigned char *command;
    size_t command_size;
    bool whole;                /* the change that comes is that command */
    uint64_t number;           /* of the last command record since the last state, 0: none */
    uint64_t replay_ns;        /* computing time of those commands */
    uint64_t model;            /* bytes of the model that is stored */
    uint64_t remodels;         /* revision of the first edit since the last record */
    struct mechd_edit *edits;  /* edits of the model that may not be stored yet, newest first */
    uint64_t stored;           /* bytes on the instance's account: model, state and commands */
    uint64_t sequence;         /* communication steps at the last record */
    uint64_t recorded;         /* mechd_now of the last record */
    uint64_t epoch;            /* increases with each undo */
    struct mechd_group *group; /* a reference; NULL: it is stored alone */
    struct mechd_entry *held, *last_held; /* CHECKPOINT: receipts since the last record */
    size_t held_count, held_bytes;
    struct mechd_ticket
        *awaited; /* of a face: it waits for the next record of its group; or NULL */
    bool armed;   /* the timer of a checkpoint */
    struct mechd_timer timer;
    struct mechd_job job;  /* of that timer, while `queued` */
    _Atomic bool queued;   /* partner: the clock's thread */
    struct mechd_job mend; /* of a failure; while `mending` */
    uint64_t mended;       /* `failed` as the mending job found it; its thread's */
    /* any thread */
    _Atomic uint64_t failed;   /* records of this epoch and before are lost; partner: the store */
    _Atomic int outstanding;   /* records on their way, each with what is glued to it */
    _Atomic bool mending;      /* partner: the store's thread */
    _Atomic uint64_t modelled; /* revision of the last edited model that has been stored; partner:
                                  the store's thread */
    _Atomic bool unstored; /* a snapshot could not be stored, and is still in memory; partner: the
                                store's thread */
};

/* A new instance, not in the table yet: with its key, and its creation on the way to the disk once
 * mechd_durable_begin is called, which takes a ticket. 0; MECH_UNSUPPORTED: the account has no room
 * for it (*x); negative. */
int mechd_durable_init(struct mechd_instance *i, const struct mechd_durable_settings *settings);
int mechd_durable_begin(struct mechd_instance *i, struct mechd_ticket *t, struct mechd_excess *x);
/* A state of the stored model, and so many bytes of commands behind it, are charged to the account
 * from now on, regardless of limits. */
void mechd_durable_account(struct mechd_instance *i, uint64_t commands);
/* Bytes of commands that are. */
uint64_t mechd_durable_commands(const struct mechd_instance *i);
/* Deleted: nothing of it is retained. Any thread. */
int mechd_durable_end(struct mechd_instance *i, struct mechd_ticket *t);
/* Labels or time to live have changed: if that cannot be stored, the previous ones are restored.
 * Takes `before`. As owner. */
int mechd_durable_describe(struct mechd_instance *i, struct mechd_traits *before,
                           struct mechd_ticket *t);
/* Receipts that wait for a checkpoint, of changes that are undone: the requests may be sent again.
 * */
void mechd_durable_drop_held(struct mechd_instance *i);
void mechd_durable_fini(struct mechd_instance *i);

/* Something changed: called by mechd_instance_changed and _stepped. */
void mechd_durable_changed(struct mechd_instance *i);
/* Just before that: all of the change is this step command, which took so long. */
void mechd_durable_command(struct mechd_instance *i, const struct mech_step_request *request,
                           uint64_t ns);
/* Edit a field of the model (mechp_bind_edit), so that it can be undone while it is not stored;
 * then mechd_instance_changed follows. As owner. */
int mechd_durable_edit(struct mechd_instance *i, const struct mechp_edit_query *query,
                       struct mech_diag *diag);
/* Undo the edits that are newer than this revision, which is stored; its state is read next. Needs
 * no memory. As owner. */
void mechd_durable_undo_edits(struct mechd_instance *i, uint64_t revision);
/* Forget all edits. */
void mechd_durable_drop_edits(struct mechd_durable *d);
/* After a job: write the changes to disk when due. With a ticket (not taken unless the answer must
 * wait); NULL: no answer waits. */
void mechd_durable_sync(struct mechd_instance *i, struct mechd_ticket *t);
/* It is stored with this group from now on, of which it takes a reference. As owner. */
void mechd_durable_join(struct mechd_instance *i, struct mechd_group *group);
/* The group has ended, what it has left is stored alone. Any thread. */
void mechd_durable_part(struct mechd_instance *i);
/* Append the records of all that has changed, and the receipts that wait for them, to a list that
 * the caller posts (entry.h). False: no memory. As owner. */
bool mechd_durable_collect(struct mechd_instance *i, struct mechd_entry **first,
                           struct mechd_entry **last);
/* Hold the receipt of a ticket for the next record; false: too many wait. As owner. */
bool mechd_durable_hold(struct mechd_instance *i, const struct mechd_ticket *t);
/* What has been recorded in this epoch and before it is lost. Any thread. */
void mechd_durable_lose(struct mechd_durable *d, uint64_t epoch);
/* Have it put back, with this group or alone, so that readers see what is stored: as put_back of
 * instance.h. Needs no memory. */
void mechd_durable_put_back(struct mechd_instance *i, struct mechd_group *group);
/* Something could not be stored, and has not been undone yet. As owner. */
bool mechd_durable_lost(const struct mechd_instance *i);
/* Before a job: undo what could not be stored, snapshots too. 0; MECH_INTERNAL: that cannot be read
 * now. */
int mechd_durable_repair(struct mechd_instance *i);
/* At shutdown: store the changes of all instances on which no thread works, none of which is used
 * by others from then on; groups have been stored before. Returns the number of instances that
 * could not be stored. */
int mechd_durable_flush(struct mechd_host *d);

/* A snapshot that has just been taken of a stored instance is stored: its bytes are copied. */
int mechd_durable_snapshot(struct mechd_instance *i, struct mechd_snapshot *s,
                           struct mechd_ticket *t);
/* Before it is deleted. */
int mechd_durable_forget(struct mechd_instance *i, const struct mechd_snapshot *s,
                         struct mechd_ticket *t);

/* State, commands after it and snapshots from the store into a new instance of the same model, or
 * one to be repaired (snapshots: false). 0; MECH_MISMATCH: they do not fit; MECH_NOT_FOUND;
 * MECH_INTERNAL. */
int mechd_durable_load(struct mechd_instance *i, bool snapshots);
/* All instances of the store into the table: before the doors open. 0 or negative. */
int mechd_recover(struct mechd_host *d);

/* As requests have it: the mode as a string, or {"mode": …, "steps": …, "seconds": …}. Reading adds
 * faults under "/durability"; NULL gives `preset`. */
void mechd_durability_write(const struct mechd_durable_settings *s, struct mechp_text *w);
struct mechd_durable_settings
mechd_durability_read(const json_t *value, enum mechd_durability preset, struct mech_diag *diag);
