/* The snapshots that a coupling has, as a list. */
#include "server/coupling/saved.h"

#include <string.h>

bool mechd_coupling_snapshot_fits(const struct mechd_coupling *g, size_t size)
{
    size_t bytes = 0;
    for (int k = 0; k < g->snapshot_count; k++) {
        bytes += g->snapshots[k].saved->size;
    }
    return g->snapshot_count < MECHD_COUPLING_SNAPSHOTS &&
           size <= mechd_coupling_snapshots_bytes - bytes;
}

/* Out of the list; the coupling is locked. What nothing uses any more, or NULL: to be freed. */
static struct mechd_saved *take_out(struct mechd_coupling *g, struct mechd_coupling_snapshot *s)
{
    struct mechd_saved *const last = --s->saved->uses < 0 ? s->saved : NULL;
    g->snapshot_count--;
    memmove(s, s + 1, (size_t)(g->snapshots + g->snapshot_count - s) * sizeof *s);
    return last;
}

bool mechd_coupling_snapshot_drop(struct mechd_coupling *g, uint64_t id)
{
    struct mechd_saved *last = NULL;
    bool found = false;
    pthread_mutex_lock(&g->m);
    for (int k = 0; k < g->snapshot_count && !found; k++) {
        found = g->snapshots[k].id == id;
        last = found ? take_out(g, &g->snapshots[k]) : NULL;
    }
    pthread_mutex_unlock(&g->m);
    mechd_saved_free(last, g, MECHD_SNAPSHOT_ONE);
    return found;
}

bool mechd_coupling_snapshot_put(struct mechd_coupling *g, uint64_t id, struct mechd_saved *saved)
{
    saved->stored = true;
    const bool good = mechd_coupling_snapshot_fits(g, saved->size) &&
                      mechd_saved_charge(saved, g, MECHD_SNAPSHOT_ONE, NULL);
    if (good) {
        g->snapshots[g->snapshot_count++] =
            (struct mechd_coupling_snapshot){.id = id, .saved = saved};
        g->snapshot_last = id > g->snapshot_last ? id : g->snapshot_last;
    } else {
        mechd_saved_free(saved, g, MECHD_SNAPSHOT_ONE);
    }
    return good;
}

void mechd_coupling_snapshots_lose(struct mechd_coupling *g)
{
    const uint64_t stored = atomic_load(&g->keep.stored);
    struct mechd_saved *last[MECHD_COUPLING_SNAPSHOTS];
    int count = 0;
    pthread_mutex_lock(&g->m);
    for (int k = g->snapshot_count - 1; k >= 0; k--) {
        if (g->snapshots[k].record > stored) {
            last[count++] = take_out(g, &g->snapshots[k]);
        }
    }
    pthread_mutex_unlock(&g->m);
    for (int k = 0; k < count; k++) {
        mechd_saved_free(last[k], g, MECHD_SNAPSHOT_ONE);
    }
}

void mechd_coupling_snapshots_free(struct mechd_coupling *g)
{
    for (int k = 0; k < g->snapshot_count; k++) {
        mechd_saved_free(g->snapshots[k].saved, g, MECHD_SNAPSHOT_ONE);
    }
    g->snapshot_count = 0;
}
