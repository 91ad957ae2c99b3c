/* A flat array of blocks. */
#include "server/instance/snapshots.h"

#include "server/instance/lives.h"
#include "server/os/ids.h"

#include <stdlib.h>
#include <string.h>

/* One more, of this size, on the instance's account. False: *x says why not. Without x: always. */
static bool charge(struct mechd_instance *i, size_t size, struct mechd_excess *x)
{
    const size_t stored = i->durable.key != 0 ? size : 0;
    if (!mechd_instance_charge(i, MECHD_QUOTA_SNAPSHOTS, 1, x)) {
        return false;
    }
    if (!mechd_instance_charge(i, MECHD_QUOTA_MEMORY, size, x)) {
        mechd_instance_refund(i, MECHD_QUOTA_SNAPSHOTS, 1);
        return false;
    }
    if (!mechd_instance_charge(i, MECHD_QUOTA_STORED, stored, x)) {
        mechd_instance_refund(i, MECHD_QUOTA_SNAPSHOTS, 1);
        mechd_instance_refund(i, MECHD_QUOTA_MEMORY, size);
        return false;
    }
    return true;
}

/* So many snapshots and bytes of them off it. */
static void refund(struct mechd_instance *i, uint64_t count, size_t size)
{
    mechd_instance_refund(i, MECHD_QUOTA_SNAPSHOTS, count);
    mechd_instance_refund(i, MECHD_QUOTA_MEMORY, size);
    mechd_instance_refund(i, MECHD_QUOTA_STORED, i->durable.key != 0 ? size : 0);
}

/* Room for one more of this size, numbered; its bytes are not written. NULL with *outcome, and *x
 * when it is a quota; without x no quota refuses it. */
static struct mechd_snapshot *add(struct mechd_instance *i, size_t size, struct mechd_excess *x,
                                  int *outcome)
{
    if (i->snapshots == NULL) {
        i->snapshots = calloc(1, sizeof *i->snapshots);
    }
    struct mechd_snapshots *all = i->snapshots;
    *outcome = MECH_NO_MEMORY;
    if (all == NULL) {
        return NULL;
    }
    if (all->count == MECHD_SNAPSHOTS_MOST || size > mechd_snapshots_bytes - all->bytes) {
        *outcome = MECH_UNSUPPORTED;
        return NULL;
    }
    if (!charge(i, size, x)) {
        *outcome = MECH_UNSUPPORTED;
        return NULL;
    }
    void *bytes = malloc(size);
    if (bytes == NULL) {
        refund(i, 1, size);
        return NULL;
    }
    *outcome = 0;
    all->bytes += size;
    all->at[all->count] = (struct mechd_snapshot){.size = size, .bytes = bytes};
    return &all->at[all->count++];
}

int mechd_snapshots_take(struct mechd_instance *i, struct mechd_excess *x,
                         struct mechd_snapshot **out)
{
    int outcome = 0;
    *x = (struct mechd_excess){.which = MECHD_QUOTAS};
    struct mechd_snapshot *s = add(i, mechd_engine_snapshot_size(&i->engine), x, &outcome);
    if (s != NULL) {
        const size_t most = s->size;
        s->size = mechd_engine_snapshot_write(&i->engine, s->bytes);
        i->snapshots->bytes -= most - s->size;
        refund(i, 0, most - s->size);
        void *less = realloc(s->bytes, s->size);
        s->bytes = less != NULL ? less : s->bytes;
        s->id = mechd_lives_next(i, MECHD_COUNTED_PART, i->snapshots->last);
        if (s->id == 0) {
            s->parent = 0;
            mechd_snapshots_delete(i, s);
            return MECH_CANCELLED;
        }
        i->snapshots->last = s->id;
        s->parent = i->base;
        s->time = mechd_engine_time(&i->engine);
        i->base = s->id;
        *out = s;
    }
    return outcome;
}

int mechd_snapshots_keep(struct mechd_instance *i, const struct mechd_snapshot *taken)
{
    int outcome = 0;
    struct mechd_snapshot *s = add(i, taken->size, NULL, &outcome);
    if (s != NULL) {
        if (taken->size > 0) {
            memcpy(s->bytes, taken->bytes, taken->size);
        }
        s->id = taken->id;
        s->parent = taken->parent;
        s->stored = taken->stored;
        s->time = taken->time;
        i->snapshots->last = s->id > i->snapshots->last ? s->id : i->snapshots->last;
    }
    return outcome;
}

int mechd_snapshots_go_on(struct mechd_instance *i, uint64_t last)
{
    if (last > 0 && i->snapshots == NULL) {
        i->snapshots = calloc(1, sizeof *i->snapshots);
        if (i->snapshots == NULL) {
            return MECH_NO_MEMORY;
        }
    }
    if (last > 0 && last > i->snapshots->last) {
        i->snapshots->last = last;
    }
    return 0;
}

/* By its number, or NULL. */
static struct mechd_snapshot *numbered(const struct mechd_instance *i, uint64_t number)
{
    struct mechd_snapshots *const all = i->snapshots;
    for (int k = 0; all != NULL && k < all->count; k++) {
        if (all->at[k].id == number) {
            return &all->at[k];
        }
    }
    return NULL;
}

/* It could not be stored, and is still in memory. */
static bool has_failed(const struct mechd_instance *i, uint64_t number)
{
    bool failed = false;
    for (int k = 0; atomic_load(&i->durable.unstored) && k < MECHD_SNAPSHOTS_MOST; k++) {
        failed = failed || atomic_load(&i->snapshots->failed[k]) == number;
    }
    return failed;
}

uint64_t mechd_snapshots_present(const struct mechd_instance *i, uint64_t id)
{
    const struct mechd_snapshot *s = numbered(i, id);
    while (s != NULL && has_failed(i, s->id)) {
        s = numbered(i, s->parent);
    }
    return s != NULL ? s->id : 0;
}

uint64_t mechd_snapshots_stored(const struct mechd_instance *i, uint64_t id)
{
    const struct mechd_snapshot *s = numbered(i, id);
    while (s != NULL && (!s->stored || has_failed(i, s->id))) {
        s = numbered(i, s->parent);
    }
    return s != NULL ? s->id : 0;
}

void mechd_snapshots_settle(struct mechd_instance *i)
{
    for (int k = 0; i->snapshots != NULL && k < i->snapshots->count; k++) {
        struct mechd_snapshot *const s = &i->snapshots->at[k];
        s->parent = numbered(i, s->parent) != NULL ? s->parent : 0;
    }
    i->base = numbered(i, i->base) != NULL ? i->base : 0;
}

struct mechd_snapshot *mechd_snapshots_find(struct mechd_instance *i, const char *id)
{
    const uint64_t number = mechd_id_number('s', id);
    return number > 0 && !has_failed(i, number) ? numbered(i, number) : NULL;
}

int mechd_snapshots_restore(struct mechd_instance *i, const struct mechd_snapshot *s,
                            bool *reproducible)
{
    MECH_TRY(mechd_engine_snapshot_read(&i->engine, s->bytes, s->size, reproducible));
    i->base = s->id;
    return 0;
}

void mechd_snapshots_descend(struct mechd_instance *i, uint64_t base)
{
    i->base = numbered(i, base) != NULL ? base : 0;
}

void mechd_snapshots_delete(struct mechd_instance *i, struct mechd_snapshot *s)
{
    struct mechd_snapshots *all = i->snapshots;
    // its children are its parent's
    for (int k = 0; k < all->count; k++) {
        all->at[k].parent = all->at[k].parent == s->id ? s->parent : all->at[k].parent;
    }
    i->base = i->base == s->id ? s->parent : i->base;
    all->bytes -= s->size;
    refund(i, 1, s->size);
    free(s->bytes);
    // the others keep their order
    all->count--;
    memmove(s, s + 1, (size_t)(all->at + all->count - s) * sizeof *s);
}

void mechd_snapshots_fail(struct mechd_instance *i, uint64_t number)
{
    for (int k = 0; k < MECHD_SNAPSHOTS_MOST; k++) {
        uint64_t none = 0;
        if (atomic_compare_exchange_strong(&i->snapshots->failed[k], &none, number)) {
            break;
        }
    }
    atomic_store(&i->durable.unstored, true);
}

void mechd_snapshots_lose(struct mechd_instance *i)
{
    if (!atomic_load(&i->durable.unstored)) {
        return;
    }
    // first: one that fails meanwhile sets it again
    atomic_store(&i->durable.unstored, false);
    for (int k = 0; k < MECHD_SNAPSHOTS_MOST; k++) {
        const uint64_t number = atomic_exchange(&i->snapshots->failed[k], 0);
        struct mechd_snapshot *const s = number != 0 ? numbered(i, number) : NULL;
        if (s != NULL) {
            mechd_snapshots_delete(i, s);
        }
    }
}

void mechd_snapshots_destroy(struct mechd_instance *i)
{
    struct mechd_snapshots *const s = i->snapshots;
    for (int k = 0; s != NULL && k < s->count; k++) {
        free(s->at[k].bytes);
    }
    free(s);
}
