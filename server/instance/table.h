/* All instances, by id and by number. Sixty-four shards, each with its own lock, so that lookups
 * for steps do not contend for one lock. shared, locked by shard. */
#pragma once

#include "server/instance/instance.h"

enum { MECHD_SHARDS = 64, MECHD_INSTANCES_MOST = 10000 };

struct mechd_shard {
    pthread_mutex_t m;
    /* bits by the hash of removed ids: an instance added under one of them may be another life of
     * it, which its first frame reports */
    uint64_t gone[16];
    struct mechd_slot {
        struct mechd_instance *instance; /* a reference, or NULL */
        uint64_t hash; /* of its id: a search examines one instance, not all of the shard */
        uint32_t generation;
    } * slots;
    uint32_t count; /* slots */
};

struct mechd_table {
    struct mechd_shard shards[MECHD_SHARDS];
    _Atomic uint64_t serial; /* of the last instance made */
    _Atomic int count;
};

void mechd_table_init(struct mechd_table *t);
/* Releases every instance. */
void mechd_table_fini(struct mechd_table *t);

/* Take an instance in (a reference of its own), under `id`, or under a fresh "i-1", "i-2", … when
 * id is NULL. Its time to live begins. 0; MECH_INVALID (the id is taken, in the table of instances
 * also by a coupling); MECH_UNSUPPORTED (too many instances); negative. */
int mechd_table_add(struct mechd_table *t, struct mechd_instance *i, const char *id);
/* A new reference, or NULL; counts as use (instance/traits.h). */
struct mechd_instance *mechd_table_find(struct mechd_table *t, const char *id);
struct mechd_instance *mechd_table_number(struct mechd_table *t, mech_id number);
/* Remove it; false if it was already removed. The table's reference goes to the caller. */
bool mechd_table_remove(struct mechd_table *t, struct mechd_instance *i);
/* Show each instance, in no order, under its shard's lock. */
void mechd_table_each(struct mechd_table *t, void (*show)(void *context, struct mechd_instance *i),
                      void *context);
int mechd_table_count(struct mechd_table *t);

struct mechd_page {
    uint64_t after;                    /* instances created after this serial, in that order */
    size_t most;                       /* so many at most */
    const struct mechd_choice *choice; /* those with these labels; NULL: any */
};
/* References to instances into a fresh array (free it and its references); *more: there are more.
 * Negative: no memory. */
int mechd_table_choose(struct mechd_table *t, const struct mechd_page *page,
                       struct mechd_instance ***out, size_t *count, bool *more);
/* The same with any labels. */
int mechd_table_list(struct mechd_table *t, uint64_t after, size_t most,
                     struct mechd_instance ***out, size_t *count, bool *more);
