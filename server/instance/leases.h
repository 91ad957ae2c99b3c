/* Leases: who may change an instance, known by a number that only its holder has.
 *
 *   owner      may change everything, and nobody else may; there is one at most
 *   co-driver  sets the inputs that it named, its channels, whoever owns the instance; a channel
 *              has one co-driver, and nobody but it and the owner sets it
 *   observer   changes nothing: it is told of in the list
 *   partner    changes what anybody may: a binary hello without a role, whose layout is kept
 *
 * Without an owner everybody may change the instance. A lease ends when it is given up, broken, or
 * when its holder has been silent for its seconds: a command of its own that is in progress is no
 * silence, as long as somebody waits for the answer. The clock ends it without a request
 * (instance/reaper.h); from its last moment on it counts as ended, whenever the clock comes by.
 * Leases are in memory: a new process has none.
 *
 * shared, locked by m, a leaf; while an instance has no lease nobody takes the lock.
 *
 *   mechd_leases_take(&i->leases, &wish, &number, &holder);  // 0: it is ours
 *   if (mechd_leases_begin(&i->leases, number, MECHD_ACT_CHANGE, &holder) == 0) {
 *       …  // the change, as owner of the instance
 *       mechd_leases_end(&i->leases, number);
 *   }
 */
#pragma once

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
/* Silence that ends a lease that does not say, and its bounds, s. */
static const double mechd_lease_preset = 60.;
static const double mechd_lease_least = 0.01;
static const double mechd_lease_most = 86400.;

struct mechd_lease;

struct mechd_leases {
    pthread_mutex_t m;
    struct mechd_lease *first; /* oldest first */
    _Atomic int count;         /* partner: mechd_leases_none, on any thread */
    _Atomic int drivers;       /* co-drivers among them; partner: mechd_leases_may_set */
    _Atomic uint64_t due;      /* ns: none ends before; 0: never. partner: the reaper */
};

/* What somebody asks for. In a change, −1, NULL and NAN leave things as they are. */
struct mechd_lease_wish {
    int role;                    /* enum mechd_role */
    const char *const *channels; /* [channel_count] names of inputs, of a co-driver */
    size_t channel_count;
    double seconds;   /* of silence that end it; 0: it does not end by the clock */
    const char *name; /* of the holder, for others to read */
};

/* Who stands against a request. */
struct mechd_holder {
    int role;                        /* −1: nobody; the lease that was shown has ended */
    char name[MECH_NAME_MAX + 1];    /* "" when it gave none */
    char channel[MECH_NAME_MAX + 1]; /* what it holds, or "": all */
    uint64_t expires;                /* ns; UINT64_MAX: not by the clock */
};
/* That as a sentence about the instance `id`; returns out. */
const char *mechd_holder_tell(const struct mechd_holder *h, const char *id, char *out, size_t size);

void mechd_leases_init(struct mechd_leases *l);
void mechd_leases_fini(struct mechd_leases *l);

static inline bool mechd_leases_none(const struct mechd_leases *l)
{
    return atomic_load_explicit(&l->count, memory_order_acquire) == 0;
}

/* A new lease. 0; MECH_INVALID (*holder has it); MECH_UNSUPPORTED (MECHD_LEASES_MOST); negative. */
int mechd_leases_take(struct mechd_leases *l, const struct mechd_lease_wish *w, uint64_t *number,
                      struct mechd_holder *holder);
/* Another role, other channels, another time; and it begins anew. As take; MECH_NOT_FOUND: there is
 * no such lease; MECH_MISMATCH: a co-driver without channels, or channels without a co-driver. What
 * is refused leaves it as it was. */
int mechd_leases_change(struct mechd_leases *l, uint64_t number, const struct mechd_lease_wish *w,
                        struct mechd_holder *holder);
/* Give it up. False: there was none. */
bool mechd_leases_drop(struct mechd_leases *l, uint64_t number);
/* End all of a role. Returns their number. */
int mechd_leases_break(struct mechd_leases *l, enum mechd_role role);
/* True while that lease lasts. */
bool mechd_leases_lasts(struct mechd_leases *l, uint64_t number);

enum mechd_act {
    MECHD_ACT_READ,   /* always admitted */
    MECHD_ACT_INPUTS, /* sets inputs and nothing else: their names are asked one by one */
    MECHD_ACT_CHANGE
};
/* May whoever shows this number (0: none) do that? 0: yes, and until the end the lease does not run
 * out; MECH_NOT_FOUND: that lease has ended; MECH_INVALID: *holder stands against it. */
int mechd_leases_begin(struct mechd_leases *l, uint64_t number, enum mechd_act act,
                       struct mechd_holder *holder);
/* It is over: the lease begins anew. Once for each begin that said 0. */
void mechd_leases_end(struct mechd_leases *l, uint64_t number);
/* Has its holder, with `own` acts begun and not ended and no others, not been heard of for the
 * lease's seconds? Of a lease without seconds always. */
bool mechd_leases_silent(struct mechd_leases *l, uint64_t number, int own);
/* In place of the end, when the holder has gone: the lease is as old as it was. */
void mechd_leases_abandon(struct mechd_leases *l, uint64_t number);
/* May it set this input? Within begin and end. */
bool mechd_leases_may_set(struct mechd_leases *l, uint64_t number, const char *input,
                          struct mechd_holder *holder);

/* Take out what has ended by the clock and tell the role and name of each. Returns their number;
 * `due` is the next moment. */
int mechd_leases_expire(struct mechd_leases *l,
                        void (*tell)(void *context, const char *role, const char *name),
                        void *context);

/* One lease, as the members of an object that is open: role, name, channels, seconds, expires,
 * left; never the number. False: there is none of that number, and nothing is written. */
bool mechd_leases_write_one(struct mechd_leases *l, uint64_t number, struct mechp_text *w);
/* All of them, as an array. */
void mechd_leases_write(struct mechd_leases *l, struct mechp_text *w);
