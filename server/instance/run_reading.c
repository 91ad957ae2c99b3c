/* Rows of a run: from memory, or chunk by chunk from the store. */
#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/store/store.h"

#include <stdlib.h>
#include <string.h>

static void begin(struct mechd_run_reading *x, struct mechd_run *run)
{
    *x = (struct mechd_run_reading){
        .run = run, .instance = run->job.instance, .width = run->record.width};
    atomic_fetch_add(&run->refs, 1);
    mechd_instance_ref(x->instance);
}

/* The rows of the window as they are now: those that it will give up. */
static int copy_window(struct mechd_run_reading *x, const struct mechd_recording *r)
{
    const size_t size = (size_t)(r->count - r->base) * r->width * sizeof(double);
    if (mechd_row_block_take(x->instance->host, size, &x->block) != 0) {
        return MECH_NO_MEMORY;
    }
    memcpy(x->block->values, r->block->values, size);
    return 0;
}

int mechd_run_reading_begin(struct mechd_run_reading *x, struct mechd_run *run)
{
    const struct mechd_recording *const r = &run->record;
    int outcome = 0;
    begin(x, run);
    x->end = r->dropped ? 0 : r->count;
    x->first = r->base;
    if (r->block != NULL && r->key == 0) {
        atomic_fetch_add(&r->block->refs, 1);
        x->block = r->block;
    } else if (r->block != NULL && r->count > r->base) {
        outcome = copy_window(x, r);
    } else {
        x->first = x->end;
    }
    if (outcome != 0) {
        mechd_run_reading_fini(x);
    }
    return outcome;
}

void mechd_run_reading_begin_safe(struct mechd_run_reading *x, struct mechd_run *run)
{
    begin(x, run);
    if (run->record.key == 0 && run->record.block != NULL) {
        x->block = run->record.block;
        atomic_fetch_add(&x->block->refs, 1);
    }
    mechd_run_reading_follow(x);
}

void mechd_run_reading_follow(struct mechd_run_reading *x)
{
    if (x->run->record.key != 0) {
        x->end = x->first = atomic_load(&x->run->record.safe);
    } else {
        struct mechd_run_shown shown;
        mechd_run_peek(x->run, &shown);
        x->end = x->block != NULL ? shown.rows : 0;
    }
}

void mechd_run_reading_fini(struct mechd_run_reading *x)
{
    mechd_row_block_unref(x->block);
    free(x->chunk);
    mechd_run_unref(x->run);
    mechd_instance_unref(x->instance);
    *x = (struct mechd_run_reading){.run = NULL};
}

/* Keep a chunk. */
static int read_chunk(void *context, const struct mechd_stored_bytes *b)
{
    struct mechd_run_reading *const x = context;
    if (b->size > x->chunk_room) {
        double *const more = realloc(x->chunk, b->size);
        if (more == NULL) {
            return MECH_NO_MEMORY;
        }
        x->chunk = more;
        x->chunk_room = b->size;
    }
    memcpy(x->chunk, b->bytes, b->size);
    x->chunk_first = b->number;
    x->chunk_count = b->size / (x->width * sizeof(double));
    return 0;
}

const double *mechd_run_reading_row(struct mechd_run_reading *x, uint64_t row)
{
    if (x->block != NULL && row >= x->first) {
        return x->block->values + (row - x->first) * x->width;
    }
    if (row - x->chunk_first >= x->chunk_count) {
        x->chunk_count = 0;
        if (mechd_store_results(x->instance->host->store, x->run->record.key, x->run->id, row,
                                read_chunk, x) != 0 ||
            row - x->chunk_first >= x->chunk_count) {
            x->chunk_count = 0;
            return NULL;
        }
    }
    return x->chunk + (row - x->chunk_first) * x->width;
}

uint64_t mechd_run_reading_find(struct mechd_run_reading *x, double time, bool beyond)
{
    uint64_t low = 0;
    uint64_t high = x->end;
    if (x->first > 0 && high > 0) {
        // the disk names the chunk, so that no other is read
        low =
            mechd_store_results_at(x->instance->host->store, x->run->record.key, x->run->id, time);
        if (x->first < x->end && x->block->values[0] <= time) {
            low = x->first;
        } else if (mechd_run_reading_row(x, low) != NULL && x->chunk_count > 0) {
            const uint64_t after = x->chunk_first + x->chunk_count;
            high = after < high ? after : high;
        }
    }
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const double *const row = mechd_run_reading_row(x, middle);
        if (row == NULL) {
            return x->end;
        }
        if (row[0] < time || (beyond && row[0] == time)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}
