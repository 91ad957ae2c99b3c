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
