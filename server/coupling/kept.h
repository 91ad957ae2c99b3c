/* What of a coupling the store does not have, as it was at a record: to return to when a later one
 * is lost. That is how far the runs of its face were, whose rows are in memory; and where the
 * coupling is not stored itself but one of its instances is, its state and those of the instances
 * that are not. */
#pragma once

#include "server/coupling/coupling.h"

/* Bytes of states that one has. */
size_t mechd_kept_size(const struct mechd_coupling *g);
/* The present. As the owner of all; the caller frees it. 0; MECH_NO_MEMORY. */
int mechd_kept_take(const struct mechd_coupling *g, struct mechd_kept *out);
void mechd_kept_free(struct mechd_kept *x);
/* What it belongs to is stored: it takes the place of the one before, and is taken over. Any
 * thread; in the order of the records. */
void mechd_kept_replace(struct mechd_coupling *g, struct mechd_kept *x);

/* Back to the last one: the scheme and the instances that are not stored. As the owner of all. 0;
 * or as mechd_keep_read, or an outcome of an instance's state. */
int mechd_kept_return(struct mechd_coupling *g);
/* Then: the run in progress fails, and no row of a window that is lost remains. */
void mechd_kept_cut_runs(struct mechd_coupling *g);

/* --- inputs of participants in memory alone (kept_inputs.c) -------------------------------------
 *
 * A client that may set such an input, a co-driver, is answered at once: it remains when windows
 * are undone, without its derivatives. As the owner of all. */

/* From now on. 0; MECH_NO_MEMORY. */
int mechd_kept_watch(struct mechd_coupling *g);
void mechd_kept_unwatch(struct mechd_coupling *g);
/* A command begins, before anything is undone or changed by it: what clients have set since the
 * last one is noted. */
void mechd_kept_command_begins(struct mechd_coupling *g);
/* It is over. */
void mechd_kept_command_ends(struct mechd_coupling *g);
/* Participant n has gone back to the record of this number: what was set behind it is set again. */
void mechd_kept_set_again(struct mechd_coupling *g, int32_t n, uint64_t record);
