/* Leases: who may change an instance, known by a number that only its holder has.
 *
 *   owner      may change everything, exclusively; at most one
 *   co-driver  sets the inputs that it named, its channels, with or without an owner; a channel
 *              has one co-driver, and only it and the owner may set it
 *   observer   changes nothing: it is only listed
 *   partner    has no exclusive rights: a binary hello without a role, whose layout is kept
 *
 * Without an owner any client may change the instance. A lease ends when it is released or revoked,
 * or when its holder has been inactive for its seconds: while a command of its own is in progress
 * and its client waits for the answer, the holder counts as active. A timer ends it without a
 * request (instance/reaper.h); from its expiry on it counts as ended, even before the timer fires.
 * Leases are in memory: a new process has none.
 *
 * shared, locked by m, a leaf; while an instance has no lease the lock is not taken.
 *
 *   mechd_leases_take(&i->leases, &wish, &number, &holder);  // 0: it is ours
 *   if (mechd_leases_begin(&i->leases, number, MECHD_ACT_CHANGE, &holder) == 0) {
 *       …  // the change, as owner of the instance
 *       mechd_leases_end(&i->leases, number);
 *   }
 */
#pragma once

#include "protocol/wire/codes.h"
#include "protocol/wire/text.h"
#include "solver/base/name.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum mechd_role {
    MECHD_ROLE_OWNER,
    MECHD_ROLE_CO_DRIVER,
    MECHD_ROLE_OBSERVER,
    MECHD_ROLE_PARTNER,
    MECHD_ROLES
};
/* "owner", "co-driver", "observer", "partner"; closed by NULL. */
extern const char *const mechd_role_names[];
/* The role of that name, or −1. */
int mechd_role_find(const char *name);

enum { MECHD_LEASES_MOST = 64, MECHD_CHANNELS_MOST = 256 };
/* Default and bounds of the idle time after which a lease ends, s. */
static const double mechd_lease_preset = 60.;
static const double mechd_lease_least = 0.01;
static const double mechd_lease_most = 86400.;

/* Whose it is. A coupling's owner lease has the coupling's id for its name, once that has one. */
enum mechd_lease_of { MECHD_LEASE_OF_CLIENT, MECHD_LEASE_OF_COUPLING };

struct mechd_lease;

struct mechd_leases {
    pthread_mutex_t m;
    struct mechd_lease *first; /* oldest first */
    _Atomic int count;         /* partner: mechd_leases_none, on any thread */
    _Atomic int drivers;       /* co-drivers among them; partner: mechd_leases_may_set */
    _Atomic uint64_t due;      /* ns: none ends before; 0: never. partner: the reaper */
};

/* A requested lease. In a change, −1, NULL and NAN mean: unchanged. */
struct mechd_lease_wish {
    int role;                    /* enum mechd_role */
    const char *const *channels; /* [channel_count] names of inputs, of a co-driver */
    size_t channel_count;
    double seconds;         /* idle time after which it ends; 0: it does not expire */
    const char *name;       /* of the holder, for others to read */
    enum mechd_lease_of of; /* in a change, unchanged */
};

/* The holder of a lease that conflicts with a request. */
struct mechd_holder {
    int role; /* −1: none; the lease of the request has ended */
    enum mechd_lease_of of;
    char name[MECH_NAME_MAX + 1];    /* "" if it has none */
    char channel[MECH_NAME_MAX + 1]; /* what it holds, or "": all */
    uint64_t expires;                /* ns; UINT64_MAX: never */
};
/* The conflict as a sentence about the instance `id`; returns out. */
const char *mechd_holder_tell(const struct mechd_holder *h, const char *id, char *out, size_t size);

/* The code of that conflict: IN_COUPLING or FOREIGN_LEASE. */
enum mechp_code mechd_holder_code(const struct mechd_holder *h);

void mechd_leases_init(struct mechd_leases *l);
void mechd_leases_fini(struct mechd_leases *l);

static inline bool mechd_leases_none(const struct mechd_leases *l)
{
    return atomic_load_explicit(&l->count, memory_order_acquire) == 0;
}

/* A new lease. 0; MECH_INVALID (*holder has it); MECH_UNSUPPORTED (MECHD_LEASES_MOST); negative. */
int mechd_leases_take(struct mechd_leases *l, const struct mechd_lease_wish *w, uint64_t *number,
                      struct mechd_holder *holder);
/* Change role, channels or time, and renew it. As take; MECH_NOT_FOUND: there is no such lease;
 * MECH_MISMATCH: a co-driver without channels, or channels without a co-driver. A refused change
 * leaves it unchanged. */
int mechd_leases_change(struct mechd_leases *l, uint64_t number, const struct mechd_lease_wish *w,
                        struct mechd_holder *holder);
/* Release it. False: there was none. */
bool mechd_leases_drop(struct mechd_leases *l, uint64_t number);
/* End all of a role. Returns their number. */
int mechd_leases_break(struct mechd_leases *l, enum mechd_role role);
/* True if a coupling holds it; *holder says which, and may be NULL. */
bool mechd_leases_coupled(struct mechd_leases *l, struct mechd_holder *holder);
/* True while that lease lasts. */
bool mechd_leases_lasts(struct mechd_leases *l, uint64_t number);

enum mechd_act {
    MECHD_ACT_READ,   /* always admitted */
    MECHD_ACT_INPUTS, /* sets inputs and nothing else: their names are checked one by one */
    MECHD_ACT_CHANGE
};
/* Check whether a request with this number (0: none) may do that. 0: yes, and until the end the
 * lease does not expire; MECH_NOT_FOUND: that lease has ended; MECH_INVALID: the lease of *holder
 * conflicts. */
int mechd_leases_begin(struct mechd_leases *l, uint64_t number, enum mechd_act act,
                       struct mechd_holder *holder);
/* It is over: the lease is renewed. Once for each begin that returned 0. */
void mechd_leases_end(struct mechd_leases *l, uint64_t number);
/* True if its holder, with `own` acts begun and not ended and no others, has been inactive for the
 * lease's seconds. Always true for a lease without seconds. */
bool mechd_leases_silent(struct mechd_leases *l, uint64_t number, int own);
/* Instead of the end, when the holder has disconnected: the lease is not renewed. */
void mechd_leases_abandon(struct mechd_leases *l, uint64_t number);
/* May it set this input? Within begin and end. */
bool mechd_leases_may_set(struct mechd_leases *l, uint64_t number, const char *input,
                          struct mechd_holder *holder);

/* Remove expired leases and report the role and name of each. Returns their number; `due` is the
 * next expiry. */
int mechd_leases_expire(struct mechd_leases *l,
                        void (*tell)(void *context, const char *role, const char *name),
                        void *context);

/* One lease, as the members of an object that is open, with its number. False: there is no lease of
 * that number, and nothing is written. */
bool mechd_leases_write_one(struct mechd_leases *l, uint64_t number, struct mechp_text *w);
/* All of them, as an array, without their numbers. */
void mechd_leases_write(struct mechd_leases *l, struct mechp_text *w);
