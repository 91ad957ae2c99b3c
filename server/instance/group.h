/* Groups of instances that are stored together: the participants of a coupling. Their states go to
 * the disk in one transaction or not at all, so that a process that follows finds all of them at
 * the same window.
 *
 * The coupling that steps the group (server/coupling/keep.h) stores it. The instances themselves
 * store nothing of their state alone, unless the group is one of every step: then all of it is on
 * its way to the disk whenever an instance is free, and a change of one of them goes alone.
 *
 * What could not be stored is answered when all instances have been put back: a client that reads
 * after the answer sees nothing that was lost.
 *
 * shared, locked by m; reference counted (the owner of the group, its instances). */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct mechd_instance;
struct mechd_ticket;

struct mechd_group {
    _Atomic int refs;
    bool every_step; /* const: one of them stores every step */
    pthread_mutex_t m;
    void *of;                  /* NULL: the group has ended, each is stored alone */
    struct mechd_ticket *lost; /* to be answered when all are put back */
    /* All shall be stored at this time (mechd_now). m is held, so that `of` still lives. */
    void (*due)(void *of, uint64_t at);
};

/* One reference. NULL: no memory. */
struct mechd_group *mechd_group_create(bool every_step, void (*due)(void *of, uint64_t at),
                                       void *of);
void mechd_group_ref(struct mechd_group *g);
void mechd_group_unref(struct mechd_group *g); /* accepts NULL */
/* All of it is to be stored then. Any thread. */
void mechd_group_ask(struct mechd_group *g, uint64_t at);
/* The same at once, because what the ticket waits for is lost, with this outcome: it is answered
 * when that has been undone, or now if the group has ended. Any thread. */
void mechd_group_lose(struct mechd_group *g, struct mechd_ticket *t, int outcome);
/* Tickets of what is known to be lost: taken before it is undone, and answered behind that. Any
 * thread. */
struct mechd_ticket *mechd_group_take_lost(struct mechd_group *g);
void mechd_group_answer(struct mechd_ticket *lost);
/* The group ends: `of` is not called any more, and no ticket waits. Any thread; once. */
void mechd_group_end(struct mechd_group *g);
/* True until then. Any thread. */
bool mechd_group_lasts(struct mechd_group *g);
