/* A flat array of blocks. */
#include "server/instance/snapshots.h"

#include <stdlib.h>

int mechd_snapshots_take(struct mechd_instance *i, struct mechd_snapshot **out)
{
    if (i->snapshots == NULL) {
        i->snapshots = calloc(1, sizeof *i->snapshots);
    }
    struct mechd_snapshots *all = i->snapshots;
    if (all == NULL) {
        return MECH_NO_MEMORY;
    }
    const size_t size = mechd_engine_snapshot_size(&i->engine);
    if (all->count == MECHD_SNAPSHOTS_MOST || size > mechd_snapshots_bytes - all->bytes) {
        return MECH_UNSUPPORTED;
    }
    void *bytes = malloc(size);
    if (bytes == NULL) {
        return MECH_NO_MEMORY;
    }
    mechd_engine_snapshot_write(&i->engine, bytes);
    all->bytes += size;
    all->at[all->count] = (struct mechd_snapshot){
        .id = ++all->last, .time = mechd_engine_time(&i->engine), .size = size, .bytes = bytes};
    *out = &all->at[all->count++];
    return 0;
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
