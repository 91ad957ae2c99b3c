/* The bytes: those of the coupling (keep_bytes.c), then of each instance that is not stored a head
 * and its snapshot; each begins at a multiple of 16. */
#include "server/coupling/kept.h"

#include "protocol/frame/frame.h"
#include "server/coupling/keep.h"
#include "server/instance/runs.h"
#include "server/instance/snapshots.h"
#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

struct head {
    size_t size;   /* of the snapshot that follows */
    uint64_t base; /* of the instance (instance.h) */
};

/* An instance in memory alone. */
static bool is_loose(const struct mechd_part *p)
{
    return p->outside == NULL && !mechd_keep_has(p);
}

static size_t padded(size_t size)
{
    return (size + 15u) & ~(size_t)15u;
}

size_t mechd_kept_size(const struct mechd_coupling *g)
{
    size_t size = g->keep.mode == MECHD_DURABLE_NONE ? padded(mechd_keep_size(g)) : 0;
    for (int32_t n = 0; n < g->count && size > 0; n++) {
        const struct mechd_part *const p = &g->parts[n];
        size += is_loose(p)
                    ? sizeof(struct head) + padded(mechd_engine_snapshot_size(&p->instance->engine))
                    : 0;
    }
    return size;
}

static size_t write_states(const struct mechd_coupling *g, char *bytes)
{
    char *at = bytes + padded(mechd_keep_size(g));
    mechd_keep_write(g, bytes);
    for (int32_t n = 0; n < g->count; n++) {
        const struct mechd_part *const p = &g->parts[n];
        if (is_loose(p)) {
            struct head head = {.base = p->instance->base};
            head.size = mechd_engine_snapshot_write(&p->instance->engine, at + sizeof head);
            memcpy(at, &head, sizeof head);
            at += sizeof head + padded(head.size);
        }
    }
    return (size_t)(at - bytes);
}

int mechd_kept_take(const struct mechd_coupling *g, struct mechd_kept *out)
{
    const struct mechd_run *const r = g->face->run;
    *out = (struct mechd_kept){.run = g->face->runs};
    if (r != NULL) {
        out->periods = r->periods;
        out->rows = r->record.count;
    }
    const size_t size = mechd_kept_size(g);
    if (size == 0) {
        return 0;
    }
    out->bytes = malloc(size);
    if (out->bytes == NULL) {
        return MECH_NO_MEMORY;
    }
    out->size = write_states(g, out->bytes);
    return 0;
}

void mechd_kept_free(struct mechd_kept *x)
{
    free(x->bytes);
    *x = (struct mechd_kept){.bytes = NULL};
}

void mechd_kept_replace(struct mechd_coupling *g, struct mechd_kept *x)
{
    pthread_mutex_lock(&g->m);
    struct mechd_kept before = g->keep.kept;
    g->keep.kept = *x;
    pthread_mutex_unlock(&g->m);
    mechd_kept_free(&before);
    *x = (struct mechd_kept){.bytes = NULL};
}

/* The states of an instance in memory alone, from *at on. */
static int read_back(struct mechd_coupling *g, int32_t n, uint64_t record, const char **at)
{
    struct mechd_instance *const i = g->parts[n].instance;
    struct head head;
    bool same = true;
    memcpy(&head, *at, sizeof head);
    MECH_TRY(mechd_engine_snapshot_read(&i->engine, *at + sizeof head, head.size, &same));
    mechd_snapshots_descend(i, head.base);
    mechd_kept_set_again(g, n, record);
    mechd_instance_changed(i, MECHP_REWOUND);
    *at += sizeof head + padded(head.size);
    return 0;
}

static int read_all(struct mechd_coupling *g, uint64_t record, const void *bytes)
{
    const size_t size = mechd_keep_size(g);
    const char *at = (const char *)bytes + padded(size);
    char reason[160];
    MECH_TRY(mechd_keep_read(g, bytes, size, reason));
    for (int32_t n = 0; n < g->count; n++) {
        if (is_loose(&g->parts[n])) {
            MECH_TRY(read_back(g, n, record, &at));
        }
    }
    return 0;
}

int mechd_kept_return(struct mechd_coupling *g)
{
    struct mechd_kept *const x = &g->keep.kept;
    pthread_mutex_lock(&g->m);
    void *bytes = x->bytes;
    const uint64_t record = x->number;
    x->bytes = NULL;
    pthread_mutex_unlock(&g->m);
    if (bytes == NULL) {
        return 0;
    }
    const int outcome = read_all(g, record, bytes);
    // unless a record that was on its way has taken its place
    pthread_mutex_lock(&g->m);
    if (x->bytes == NULL) {
        x->bytes = bytes;
        bytes = NULL;
    }
    pthread_mutex_unlock(&g->m);
    free(bytes);
    return outcome;
}

void mechd_kept_cut_runs(struct mechd_coupling *g)
{
    static const char reason[] = "its windows could not be stored";
    pthread_mutex_lock(&g->m);
    const struct mechd_kept x = g->keep.kept;
    pthread_mutex_unlock(&g->m);
    const struct mechd_run_reached at = {.periods = x.periods, .rows = x.rows};
    mechd_run_stop(g->face, MECHD_RUN_FAILED, reason);
    for (struct mechd_run *r = g->face->run; r != NULL && r->id >= x.run; r = r->older) {
        mechd_run_cut(r, r->id == x.run ? &at : NULL, reason);
    }
}
