/* What a coupling shows of itself: an instance in a table of its own (host.faces), under the id of
 * the coupling, whose outputs are those that the coupling shows.
 *
 * Whatever reads published values or recorded rows of an instance reads those of a coupling so:
 * runs and their results, live events, the stream. Every command of the coupling captures it,
 * behind all participants; then it is the owner, as of the participants, and publishes after each
 * window. It steps nothing: its runs get their turns from the coupling (turn.c). It outlives the
 * coupling as long as readers hold it. */
#pragma once

#include "server/coupling/coupling.h"

/* Make g->face of the participants, which are known; its memory is charged to the account of the
 * caller until it is closed, or the coupling is freed. `turns`: of its runs. False: refused. */
bool mechd_face_create(struct mechd_coupling *g, struct mechd_call *c,
                       enum mechd_submitted (*turns)(struct mechd_run *r));
/* From now on it is found, under the next id behind *serial that no instance has, as c-1
 * (server/os/ids.h); g->id and *serial are its number. 0 or negative. */
int mechd_face_open(struct mechd_coupling *g, uint64_t *serial);
/* It is gone for all readers; its run ends with its next turn. */
void mechd_face_close(struct mechd_coupling *g);
/* The coupling that it belongs to, a reference; NULL: it is over. Any thread. */
struct mechd_coupling *mechd_face_coupling(const struct mechd_instance *face);

/* A window has been committed by all: publish it, one communication step. As the owner of all. */
void mechd_face_stepped(struct mechd_coupling *g);
/* Other changes; `flags` as in a frame. As the owner of all. */
void mechd_face_changed(struct mechd_coupling *g, uint16_t flags);

/* [{"name", "offset", "count"}, …], the order of values in its frames. Any thread. */
void mechd_face_write_layout(const void *coupling, struct mechp_text *w);
