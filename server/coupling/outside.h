/* A participant that is a program outside (server/call/outside.h says how it is called).
 *
 * To the rest of a coupling it is an instance like any other, in no table: its engine knows the
 * variables that the coupling's document declares, the time of the last window, and the outputs
 * that the program answered last. Its tasks are questions, those of a batch at once; while one is
 * open, the command sleeps without a thread: it is woken by an answer, and looks every 10 ms for
 * the end of its patience, for readers of the other participants, and whether it has to end. owner:
 * the command. */
#pragma once

#include "server/call/outside.h"
#include "server/coupling/reading.h"

/* The member "partner" of a participant at `path`, into p->instance and p->outside. Faults go to
 * the request. */
void mechd_outside_read(struct mechd_reading *r, struct mechd_part *p, const json_t *partner,
                        const char *path);
/* The coupling has an id: from now on its programs may say hello. */
void mechd_outsides_open(struct mechd_coupling *g, const char *id);
/* It is over for them. Any thread. */
void mechd_outsides_end(struct mechd_coupling *g);
/* As the owner of all, before the start: the time of the instances is that of its programs too.
 */
void mechd_outsides_align(struct mechd_coupling *g);
/* Between windows: which programs return their Jacobians. */
void mechd_outsides_give(struct mechd_coupling *g);
/* A batch begins: those of its programs are asked that may work beside each other. A trial that
 * cannot be taken back is asked in its turn, when those before it have succeeded. */
void mechd_outsides_ask(struct mechd_coupling_command *k);
/* A window is done. Where every step is stored, programs commit it when it is on the disk: it goes
 * there now, and no thread has the command until then. */
void mechd_outsides_store(struct mechd_coupling_command *k);
/* What of that comes next; k->confirms is NOTHING when all is over, or k->sleeps. What could not be
 * stored is undone for all, and refused. */
void mechd_outsides_confirm(struct mechd_coupling_command *k);
/* The rest of the batch is not performed: open questions end. */
void mechd_outsides_drop(struct mechd_coupling_command *k);
/* The command has failed: its reason names also the programs that have stepped the window that was
 * undone, and cannot roll back. */
void mechd_outsides_name_ahead(struct mechd_coupling_command *k);
/* Perform a task; GOES_ON: its answer is awaited, the command sleeps. */
enum mechd_task_progress mechd_outside_perform(struct mechd_part *p,
                                               struct mechd_coupling_command *k,
                                               struct mech_couple_task *task);

/* Before any question: a command that sleeps is woken by the answers to its own. */
void mechd_nap_init(struct mechd_coupling *g);
/* The command at the head sleeps; once it is woken its task runs in the pool. True: the last thing
 * that a thread does with it. False: the clock has stopped, it cannot sleep. */
bool mechd_nap(struct mechd_coupling *g);
