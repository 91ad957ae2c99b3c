/* Trials of one batch at the same time (solver/couple/couple.h: tasks of a batch are independent).
 *
 * A *round* opens the trials of instances that are not done yet to threads of the pool. A thread
 * that takes part takes the first one that no other thread has, works at it for a slice, puts it
 * back, and takes the next; the round is over when each has had a slice and the last thread has
 * left it. The thread that had the command takes part itself and waits for none: the last one to
 * leave continues with the command. So a pool of one thread, or one that is busy, delays nothing:
 * the command's thread does all.
 *
 * Results are used in the order of the batch, whatever the order in which they were found: a trial
 * that has failed ends those behind it, never those before it. Which threads worked changes no
 * digit. Trials that are expected to be short are not shared: a thread that wakes up costs more.
 *
 * shared, locked by m except where noted. */
#pragma once

#include "server/coupling/coupling.h"

/* A thread of the pool that has been asked to take part. */
struct mechd_helper {
    struct mechd_task task;
    struct mechd_coupling *coupling; /* a reference while it is in the pool's queue */
    bool queued;                     /* it is */
};

struct mechd_share {
    pthread_mutex_t m;
    struct mechd_coupling_command *command; /* of the round; NULL: there is none */
    uint64_t round;                         /* number of the last one */
    uint64_t until;                         /* mechd_now when no other slice begins */
    int queued;                             /* helpers in the queue of the pool */
    int working;                            /* threads that take part */
    int fresh;                              /* of them, within the first slice of a trial */
    struct mechd_helper *helpers;           /* [helper_count] */
    int helper_count;
    _Atomic uint64_t patience; /* mechd_now at which that of the program that the command awaits
                                    ends; 0: it awaits none */
    _Atomic int32_t failed;    /* place in the batch of the first failed trial; INT32_MAX: none */
};

/* The program that is awaited has had its time: what works behind it ends. */
static inline bool mechd_share_is_overdue(const struct mechd_share *s, uint64_t now)
{
    const uint64_t patience = atomic_load(&s->patience);
    return patience != 0 && now >= patience;
}

/* For a coupling whose parts and service are known. False: no memory. */
bool mechd_share_init(struct mechd_coupling *g);
/* Accepts one that was not initialized. */
void mechd_share_fini(struct mechd_coupling *g);

/* A batch begins. As owner of the instances, like all that follows. */
void mechd_share_begin(struct mechd_coupling_command *k);
/* Work at the task in turn for about a slice, and at trials behind it where that helps: at the same
 * time, or while a program is asked. False: another thread continues with the command, or has done
 * so. */
bool mechd_share_perform(struct mechd_coupling_command *k);

/* A window of many short tasks ends between two of them, if the command must end; what is in an
 * engine, or asked of a program, ends by itself. */
void mechd_share_end_early(struct mechd_coupling_command *k);

/* True if a trial in progress must end: the client has disconnected, the coupling is deleted, one
 * before it has failed, what all threads have worked is over a quota, or it is overdue. `part`: a
 * struct mechd_part; any thread that has it (mechd_effort.asks). */
enum mechd_stop_reason mechd_share_asks(const void *part);
/* True if the program before it has had its time: the command has to look after that one first, and
 * the trial begins again if the program has answered. The same threads. */
bool mechd_share_overdue(const struct mechd_part *p);
