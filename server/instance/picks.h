/* Streams of an instance that clients have chosen: a name, some outputs, every n-th communication
 * step. The stream's socket publishes them under "pick/{id}/{name}/" (zmq/stream.c).
 *
 * A pick is const once it is in the list, except `watched`, which the stream's door sets, and
 * `flags`, the owner's. Reference counted: the list and a thread that repeats a frame hold it.
 */
#pragma once

#include "server/instance/instance.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MECHD_PICKS_MOST = 16 /* of an instance */ };

struct mechd_pick {
    _Atomic int refs;
    _Atomic bool watched; /* it has a subscriber; partner: zmq/stream.c */
    char name[MECH_NAME_MAX + 1];
    uint64_t every;    /* communication steps from one frame to the next */
    size_t size;       /* values of a frame */
    uint64_t layout;   /* a hash of their names and places, in the frames too: one that is chosen
                          again under a name may have others */
    uint16_t flags;    /* owner: of steps without a frame, for the next one */
    bool all;          /* all outputs, in their order; then count is 0 */
    size_t count;      /* outputs */
    size_t channels[]; /* [count] indices of the instance's channels, in the order of values */
};

/* locked by the instance's p; written by the owner alone, which may read without it */
struct mechd_picks {
    int count;
    struct mechd_pick *at[MECHD_PICKS_MOST];
};

/* A pick without name and channels, of `count` outputs. NULL: no memory. */
struct mechd_pick *mechd_pick_create(size_t count);
void mechd_pick_unref(struct mechd_pick *p);

/* Put it into the list of the instance, which then holds this reference, and notify the observers.
 * 0; MECH_UNSUPPORTED (there are MECHD_PICKS_MOST); negative: no memory. It is the caller's unless
 * 0. As owner. */
int mechd_picks_add(struct mechd_instance *i, struct mechd_pick *p);
/* By name, or NULL. As owner. */
struct mechd_pick *mechd_picks_find(const struct mechd_instance *i, const char *name);
/* Remove it from the list and notify the observers. As owner. */
void mechd_picks_remove(struct mechd_instance *i, struct mechd_pick *p);
/* References to all, out [MECHD_PICKS_MOST]; their number. Any thread. */
int mechd_picks_hold(struct mechd_instance *i, struct mechd_pick **out);
/* With the last reference to the instance. */
void mechd_picks_destroy(struct mechd_instance *i);

/* The values of a frame as its bytes, out [8 × p->size], from all outputs of the instance. Any
 * thread. */
void mechd_pick_frame(const struct mechd_instance *i, const struct mechd_pick *p, const double *all,
                      unsigned char *out);
