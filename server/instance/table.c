/* The shard follows from the id's hash; a number's slot is (index in the shard) × 64 + shard. */
#include "server/instance/table.h"

#include "protocol/frame/frame.h"
#include "server/instance/host.h"
#include "server/instance/lives.h"
#include "server/instance/traits.h"
#include "server/store/store.h"
#include "solver/base/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void mechd_table_init(struct mechd_table *t)
{
    memset(t, 0, sizeof *t);
    for (int k = 0; k < MECHD_SHARDS; k++) {
        pthread_mutex_init(&t->shards[k].m, NULL);
    }
}

void mechd_table_fini(struct mechd_table *t)
{
    for (int k = 0; k < MECHD_SHARDS; k++) {
        struct mechd_shard *s = &t->shards[k];
        for (uint32_t n = 0; n < s->count; n++) {
            mechd_instance_unref(s->slots[n].instance);
        }
        free(s->slots);
        pthread_mutex_destroy(&s->m);
    }
}

static uint64_t hash_of(const char *id)
{
    return mech_hash(id, strlen(id), 0);
}

/* Of an id within gone of its shard, whose choice takes other bits of the hash. */
static unsigned bit_of(uint64_t hash)
{
    return hash >> 32 & 1023u;
}

/* Put an instance into its shard, which is locked. `chosen`: its id is a client's. */
static int add_to_shard(struct mechd_shard *s, uint64_t hash, struct mechd_instance *i, bool chosen)
{
    const uint32_t index = (uint32_t)(hash % MECHD_SHARDS);
    // taken, or a free slot, or one more
    uint32_t at = s->count;
    for (uint32_t n = 0; n < s->count; n++) {
        if (s->slots[n].instance == NULL) {
            at = at == s->count ? n : at;
        } else if (s->slots[n].hash == hash && strcmp(s->slots[n].instance->id, i->id) == 0) {
            return MECH_INVALID;
        }
    }
    if (at == s->count) {
        struct mechd_slot *more = realloc(s->slots, (s->count + 1) * sizeof *more);
        if (more == NULL) {
            return MECH_NO_MEMORY;
        }
        s->slots = more;
        // numbers of another process are not taken for ours
        const uint32_t start = (uint32_t)(i->host->incarnation % 0xfffu);
        s->slots[s->count++] = (struct mechd_slot){.instance = NULL, .generation = start};
    }
    const bool gone = (s->gone[bit_of(hash) / 64] >> bit_of(hash) % 64 & 1u) != 0;
    i->next_flags |= gone ? MECHP_REWOUND : 0;
    mechd_lives_begin(i, gone, chosen);
    s->slots[at].generation = mech_id_next_generation(s->slots[at].generation);
    i->number = mech_id_make(at * MECHD_SHARDS + index, s->slots[at].generation);
    mechd_instance_ref(i);
    s->slots[at].instance = i;
    s->slots[at].hash = hash;
    return 0;
}

/* Of a shard that is locked, or NULL. */
static struct mechd_instance *find_in(const struct mechd_shard *s, uint64_t hash, const char *id)
{
    for (uint32_t n = 0; n < s->count; n++) {
        struct mechd_instance *const i = s->slots[n].instance;
        if (i != NULL && s->slots[n].hash == hash && strcmp(i->id, id) == 0) {
            return i;
        }
    }
    return NULL;
}

static bool has(struct mechd_table *t, uint64_t hash, const char *id)
{
    struct mechd_shard *const s = &t->shards[hash % MECHD_SHARDS];
    pthread_mutex_lock(&s->m);
    const bool found = find_in(s, hash, id) != NULL;
    pthread_mutex_unlock(&s->m);
    return found;
}

int mechd_table_add(struct mechd_table *t, struct mechd_instance *i, const char *id)
{
    if (atomic_fetch_add(&t->count, 1) >= MECHD_INSTANCES_MOST) {
        atomic_fetch_sub(&t->count, 1);
        return MECH_UNSUPPORTED;
    }

    // ids of ours go on until one is free: a client may have taken some
    int outcome = 0;
    const uint64_t start = i->incarnation;
    struct mechd_host *const h = i->host;
    const bool chosen = id != NULL && t == &h->table;
    do {
        i->serial = atomic_fetch_add(&h->table.serial, 1) + 1;
        i->incarnation = start + i->serial;
        (void)mechd_store_given(i->host->store, MECHD_NUMBER_INSTANCE, i->serial);
        (void)mechd_store_given(i->host->store, MECHD_NUMBER_INCARNATION, i->incarnation);
        if (id != NULL) {
            snprintf(i->id, sizeof i->id, "%s", id);
        } else {
            snprintf(i->id, sizeof i->id, "i-%" PRIu64, i->serial);
        }
        const uint64_t hash = hash_of(i->id);
        struct mechd_shard *s = &t->shards[hash % MECHD_SHARDS];
        pthread_mutex_lock(&s->m);
        // topics of instances and couplings are alike: an id is one of them
        outcome = t == &h->table && has(&h->faces, hash, i->id) ? MECH_INVALID
                                                                : add_to_shard(s, hash, i, chosen);
        pthread_mutex_unlock(&s->m);
    } while (id == NULL && outcome == MECH_INVALID);
    if (outcome != 0) {
        atomic_fetch_sub(&t->count, 1);
        return outcome;
    }
    if (t == &h->table) {
        // its time to live begins: a walk before this has not seen it
        mechd_instance_use(i);
        mechd_reaper_meet(&h->reaper, mechd_instance_ends(i));
    }
    return 0;
}

struct mechd_instance *mechd_table_find(struct mechd_table *t, const char *id)
{
    const uint64_t hash = hash_of(id);
    struct mechd_shard *s = &t->shards[hash % MECHD_SHARDS];
    pthread_mutex_lock(&s->m);
    struct mechd_instance *const found = find_in(s, hash, id);
    if (found != NULL) {
        mechd_instance_ref(found);
        mechd_instance_use(found);
    }
    pthread_mutex_unlock(&s->m);
    return found;
}

struct mechd_instance *mechd_table_number(struct mechd_table *t, mech_id number)
{
    struct mechd_shard *s = &t->shards[mech_id_slot(number) % MECHD_SHARDS];
    const uint32_t at = mech_id_slot(number) / MECHD_SHARDS;
    struct mechd_instance *found = NULL;
    pthread_mutex_lock(&s->m);
    if (at < s->count && s->slots[at].instance != NULL &&
        s->slots[at].generation == mech_id_generation(number)) {
        found = s->slots[at].instance;
        mechd_instance_ref(found);
        mechd_instance_use(found);
    }
    pthread_mutex_unlock(&s->m);
    return found;
}

bool mechd_table_remove(struct mechd_table *t, struct mechd_instance *i)
{
    struct mechd_shard *s = &t->shards[mech_id_slot(i->number) % MECHD_SHARDS];
    const uint32_t at = mech_id_slot(i->number) / MECHD_SHARDS;
    pthread_mutex_lock(&s->m);
    const bool in = at < s->count && s->slots[at].instance == i;
    if (in) {
        const unsigned bit = bit_of(s->slots[at].hash);
        s->gone[bit / 64] |= (uint64_t)1 << bit % 64;
        s->slots[at].instance = NULL;
    }
    pthread_mutex_unlock(&s->m);
    if (in) {
        atomic_fetch_sub(&t->count, 1);
    }
    return in;
}

void mechd_table_each(struct mechd_table *t, void (*show)(void *context, struct mechd_instance *i),
                      void *context)
{
    for (int k = 0; k < MECHD_SHARDS; k++) {
        struct mechd_shard *s = &t->shards[k];
        pthread_mutex_lock(&s->m);
        for (uint32_t n = 0; n < s->count; n++) {
            if (s->slots[n].instance != NULL) {
                show(context, s->slots[n].instance);
            }
        }
        pthread_mutex_unlock(&s->m);
    }
}

int mechd_table_count(struct mechd_table *t)
{
    return atomic_load(&t->count);
}

static int by_serial(const void *a, const void *b)
{
    const struct mechd_instance *const *x = a;
    const struct mechd_instance *const *y = b;
    return (*x)->serial < (*y)->serial ? -1 : (*x)->serial > (*y)->serial;
}

int mechd_table_choose(struct mechd_table *t, const struct mechd_page *page,
                       struct mechd_instance ***out, size_t *count, bool *more)
{
    *out = NULL;
    *count = 0;
    *more = false;
    struct mechd_instance **all = calloc(MECHD_INSTANCES_MOST, sizeof(struct mechd_instance *));
    if (all == NULL) {
        return MECH_NO_MEMORY;
    }

    // gather shard by shard, then sort by age
    size_t n = 0;
    for (int k = 0; k < MECHD_SHARDS; k++) {
        struct mechd_shard *s = &t->shards[k];
        pthread_mutex_lock(&s->m);
        for (uint32_t j = 0; j < s->count; j++) {
            struct mechd_instance *i = s->slots[j].instance;
            if (i != NULL && i->serial > page->after && n < MECHD_INSTANCES_MOST &&
                (page->choice == NULL || mechd_instance_chosen(i, page->choice))) {
                mechd_instance_ref(i);
                all[n++] = i;
            }
        }
        pthread_mutex_unlock(&s->m);
    }
    qsort(all, n, sizeof *all, by_serial);
    for (size_t k = page->most; k < n; k++) {
        mechd_instance_unref(all[k]);
    }
    *more = n > page->most;
    *count = n > page->most ? page->most : n;
    *out = all;
    return 0;
}

int mechd_table_list(struct mechd_table *t, uint64_t after, size_t most,
                     struct mechd_instance ***out, size_t *count, bool *more)
{
    const struct mechd_page page = {.after = after, .most = most};
    return mechd_table_choose(t, &page, out, count, more);
}
