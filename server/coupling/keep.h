/* Couplings in the store. A coupling is as durable as its participants:
 *
 *   none        one of them is not stored: the next process does not have the coupling
 *   every-step  all are stored, and one of them stores every step: so does the coupling
 *   checkpoint  all are stored, at the earliest of their checkpoints
 *
 * What is stored, and undone when it cannot be stored, is all of it: the states of the participants
 * that have changed and that of the coupling are one transaction (instance/group.h). A command
 * stores at its end, and between two of its windows when a checkpoint is due; then the answer to a
 * command is on its way as that of a command of an instance (instance/durable.h), with its receipt.
 * Partners outside are stored with the window that they committed last.
 *
 * The document is the request that makes the coupling again (document.c). From it and the state the
 * next process makes it, once it has the instances; it takes their leases again. Snapshots of
 * a coupling that is stored are stored too, each before it is answered, and its runs with the
 * windows that they did: rows go with the state to which they lead. Trials are in memory.
 *
 * owner: the owner of all participants, except where noted. */
#pragma once

#include "server/coupling/coupling.h"
#include "server/store/store.h"

struct mechd_entry;

/* At the end of START: whether it is stored, and from now on its instances with it. False:
 * refused. */
bool mechd_keep_join(struct mechd_coupling_command *k);
/* Then, with its number: from now on its runs are stored with it, if it is. */
void mechd_keep_number(struct mechd_coupling *g, uint64_t number);
/* A command begins. */
void mechd_keep_begin(struct mechd_coupling_command *k);
/* Between two windows of a command: a checkpoint, if one is due; refused, if one could not be
 * stored. */
void mechd_keep_window(struct mechd_coupling_command *k);
/* The command is over, and its answer complete: store what is due. The answer waits for that where
 * it has to. */
void mechd_keep_command(struct mechd_coupling_command *k);
/* A command of no client, or one that deletes, could not capture all. */
void mechd_keep_refused(struct mechd_coupling_command *k);
/* A command of no client is over, and freed, or kept for the next one. */
void mechd_keep_over(struct mechd_coupling_command *k);
/* If something could not be stored, all are put back to what is stored. 0; MECH_INTERNAL: that
 * cannot be read now. */
int mechd_keep_repair(struct mechd_coupling *g);
/* The same before a command; then those are answered whose changes were lost. */
int mechd_keep_mend(struct mechd_coupling_command *k);
/* The disk is behind: a run waits a little. Any thread. */
bool mechd_keep_behind(const struct mechd_coupling *g);
/* The coupling is over: what it has left of its instances is stored with each. Any thread. */
void mechd_keep_close(struct mechd_coupling *g);
/* When it is freed. */
void mechd_keep_fini(struct mechd_coupling *g);

/* --- records (keep_records.c) ----------------------------------------------------------------- */

/* The participant is a stored instance. */
static inline bool mechd_keep_has(const struct mechd_part *p)
{
    return p->outside == NULL && p->instance->durable.key != 0;
}
/* Write down all that has changed, with the ticket, or NULL. No memory: as if the disk had refused.
 * COUPLING, COUPLING_STATE or DELETE_COUPLING. */
void mechd_keep_post(struct mechd_coupling *g, enum mechd_record_kind kind, struct mechd_ticket *t);
/* What has been recorded in this epoch and before it is lost. Any thread. */
void mechd_keep_lose(struct mechd_keeping *s, uint64_t epoch);

/* --- runs of a coupling that is stored (keep_runs.c) ------------------------------------------ */

/* What the store does not know of them, into a list behind a record of the state. As owner of all.
 * False: no memory. */
bool mechd_keep_collect_runs(struct mechd_coupling *g, struct mechd_entry **first,
                             struct mechd_entry **last);
/* The answer to a request that ended one, if there is such, waits for its record in this list,
 * which is about to be posted; NULL: no memory, it is refused. As that owner. */
void mechd_keep_await_runs(struct mechd_coupling *g, struct mechd_entry *first);
/* Those of the store into the list of its face; what was in progress was interrupted. Before others
 * see it. 0 or negative. */
int mechd_keep_load_runs(struct mechd_coupling *g);
/* Some of it could not be stored. */
bool mechd_keep_runs_lost(const struct mechd_coupling *g);
/* The windows behind the last record are undone: the run in progress fails, and no row of them
 * remains. As owner of all. */
void mechd_keep_undo_runs(struct mechd_coupling *g);

/* --- snapshots (keep_snapshots.c) ------------------------------------------------------------- */

/* Snapshots are stored: the coupling is, from its start on. */
bool mechd_keep_has_snapshots(const struct mechd_coupling *g);
/* One has been taken that is not on its way to the store. As owner of all. */
bool mechd_keep_has_new_snapshots(struct mechd_coupling *g);
/* The records of those into a list, behind a record of the state; once that is posted, clients see
 * them. As owner of all. False: no memory. */
bool mechd_keep_collect_snapshots(struct mechd_coupling *g, struct mechd_entry **first,
                                  struct mechd_entry **last);
void mechd_keep_show_snapshots(struct mechd_coupling *g);
/* Delete one from the store and then from the list; with the ticket, or NULL. Any thread but the
 * store's. */
void mechd_keep_forget_snapshot(struct mechd_coupling *g, uint64_t id, struct mechd_ticket *t);
/* Those of the store's coupling of this number into the list, before others see it. 0 or negative.
 */
int mechd_keep_load_snapshots(struct mechd_coupling *g, uint64_t number);

/* --- shutdown --------------------------------------------------------------------------------- */

/* At shutdown, before the instances: store the changes of all couplings on whose instances no
 * thread works, of the others nothing. Returns the number of instances with changes that could not
 * be stored, without those on which a thread works. */
int mechd_couplings_flush(struct mechd_couplings *t);

/* --- bytes (keep_bytes.c) --------------------------------------------------------------------- */

/* Its state: what the next window reads, and where partners are. In the layout of this version and
 * this byte order. */
size_t mechd_keep_size(const struct mechd_coupling *g);
void mechd_keep_write(const struct mechd_coupling *g, void *bytes);
/* The hash in front of the bytes is made that of the others; size ≥ 8. */
void mechd_keep_seal(void *bytes, size_t size);
/* 0; MECH_MISMATCH, with the reason: of another version, or of other participants. */
int mechd_keep_read(struct mechd_coupling *g, const void *bytes, size_t size, char reason[160]);

/* --- from the store (keep_load.c) ------------------------------------------------------------- */

/* All couplings of the store into the table, after the instances and before the doors open. One
 * that cannot be made again is set aside, with the reason in the log. 0 or negative. */
int mechd_couplings_load(struct mechd_service *s);
