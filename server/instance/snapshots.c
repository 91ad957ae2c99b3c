/* A flat array of blocks. */
#include "server/instance/snapshots.h"

#include <stdlib.h>
#include <string.h>

/* Room for one more of this size, numbered; its bytes are not written. NULL with *outcome. */
static struct mechd_snapshot *add(struct mechd_instance *i, size_t size, int *outcome)
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
    void *bytes = malloc(size);
    if (bytes == NULL) {
        return NULL;
    }
    *outcome = 0;
    all->bytes += size;
    all->at[all->count] = (struct mechd_snapshot){.size = size, .bytes = bytes};
    return &all->at[all->count++];
}

int mechd_snapshots_take(struct mechd_instance *i, struct mechd_snapshot **out)
{
    int outcome = 0;
    struct mechd_snapshot *s = add(i, mechd_engine_snapshot_size(&i->engine), &outcome);
    if (s != NULL) {
        const size_t most = s->size;
        s->size = mechd_engine_snapshot_write(&i->engine, s->bytes);
        i->snapshots->bytes -= most - s->size;
        void *less = realloc(s->bytes, s->size);
        s->bytes = less != NULL ? less : s->bytes;
        s->id = ++i->snapshots->last;
        s->time = mechd_engine_time(&i->engine);
        *out = s;
    }
    return outcome;
}

int mechd_snapshots_keep(struct mechd_instance *i, uint64_t id, double time, const void *bytes,
                         size_t size)
{
    int outcome = 0;
    struct mechd_snapshot *s = add(i, size, &outcome);
    if (s != NULL) {
        memcpy(s->bytes, bytes, size);
        s->id = id;
        s->time = time;
        i->snapshots->last = id > i->snapshots->last ? id : i->snapshots->last;
    }
    return outcome;
}

struct mechd_snapshot *mechd_snapshots_find(struct mechd_instance *i, const char *id)
{
    char *end = NULL;
    const unsigned long long number = id[0] == 's' && id[1] == '-' ? strtoull(id + 2, &end, 10) : 0;
    if (number == 0 || *end != '\0' || i->snapshots == NULL) {
        return NULL;
    }
    for (int k = 0; k < i->snapshots->count; k++) {
        if (i->snapshots->at[k].id == number) {
            return &i->snapshots->at[k];
        }
    }
    return NULL;
}

void mechd_snapshots_delete(struct mechd_instance *i, struct mechd_snapshot *s)
{
    struct mechd_snapshots *all = i->snapshots;
    all->bytes -= s->size;
    free(s->bytes);
    *s = all->at[--all->count];
}

void mechd_snapshots_destroy(struct mechd_snapshots *s)
{
    for (int k = 0; s != NULL && k < s->count; k++) {
        free(s->at[k].bytes);
    }
    free(s);
}
