/* Numbers of snapshots, runs and trials, which are never assigned twice under an id: an instance
 * that is created again under the id of one that was deleted counts on from there, so that what a
 * client has of the earlier one is refused and never means another one's.
 *
 * With a store this holds over restarts too, for ids that clients choose: those of the server are
 * not assigned again, but a client may have chosen one, as i-4, before the server comes to it,
 * which is stored (lives.c), or choose one of an earlier process. Such an id may then begin above 1
 * although it is new. A number of a snapshot or run that the disk does not record is refused: it
 * could be assigned again. Trials of recovered instances, and all that a coupling counts, go on in
 * the same way: none of that is stored. What is said here of an instance holds for the face of a
 * coupling.
 *
 * Which ids this process has deleted is remembered by one of 1,024 bits of a shard, as long as the
 * process lasts: a new id that shares its bit with a deleted one begins above 1 as well, and its
 * first frame says REWOUND. */
#pragma once

#include "server/instance/instance.h"

/* What earlier processes may have assigned; once the store is open, before any instance. */
void mechd_lives_init(struct mechd_host *h);
/* Where it begins to count, before others see it. gone: its id may be that of one that this process
 * has deleted; chosen: by a client, so that earlier processes may have had it. */
void mechd_lives_begin(struct mechd_instance *i, bool gone, bool chosen);
/* It is an instance of an earlier process: the database has its snapshots and runs, which count as
 * assigned, and no trials. Before any door is open. */
void mechd_lives_recovered(struct mechd_instance *i);
/* It is the face of a coupling of an earlier process: what it has counted is not asked of the
 * database. Before any door is open. */
void mechd_lives_continued(struct mechd_instance *face);
/* The next number after `last`, the instance's own so far; 0: it cannot be recorded now, and is a
 * snapshot's or a run's. As owner. */
uint64_t mechd_lives_next(struct mechd_instance *i, enum mechd_counted which, uint64_t last);
/* The number of a new trial, which is then the one that can be committed; as owner. */
uint64_t mechd_lives_trial(struct mechd_instance *i);

enum { MECHD_LIVES_WORDS = 128, MECHD_LIVES_UNRECORDED = 256 };
/* Why there was no next number: a sentence. Any thread. */
const char *mechd_lives_unrecorded(const struct mechd_instance *i,
                                   char out[MECHD_LIVES_UNRECORDED]);
/* What is said behind "there is no …": that the number of the id, as in s-3, r-3 or 3, is one of
 * before, or "". Any thread. */
const char *mechd_lives_tell(const struct mechd_instance *i, enum mechd_counted which,
                             const char *id, char out[MECHD_LIVES_WORDS]);
