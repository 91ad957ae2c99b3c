/* The window: rows from `base` on are in memory. A chunk that is being filled on the disk is sent
 * again whole until it is large enough, so that a slow run does not leave a record for each row. */
#include "server/instance/recording.h"

#include "server/instance/host.h"
#include "server/instance/runs.h"
#include "server/store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK = 8192,     /* bytes from which on a chunk is closed */
    WINDOW = 1 << 20, /* bytes of a window */
    WINDOW_ROWS = 4,  /* or that many rows */
    ON_WAY = 8 << 20  /* bytes on their way to the disk */
};

/* --- memory ----------------------------------------------------------------------------------- */

static void unref_block(struct mechd_row_block *b)
{
    if (b != NULL && atomic_fetch_sub(&b->refs, 1) == 1) {
        atomic_fetch_sub(&b->host->row_bytes, b->size);
        free(b);
    }
}

/* 0; MECH_UNSUPPORTED: the daemon keeps too much; negative. */
static int take_block(struct mechd_host *d, size_t size, struct mechd_row_block **out)
{
    if (size > mechd_rows_daemon) {
        return MECH_UNSUPPORTED;
    }
    if (atomic_fetch_add(&d->row_bytes, size) > mechd_rows_daemon - size) {
        atomic_fetch_sub(&d->row_bytes, size);
        return MECH_UNSUPPORTED;
    }
    struct mechd_row_block *const b = malloc(sizeof *b + size);
    if (b == NULL) {
        atomic_fetch_sub(&d->row_bytes, size);
        return MECH_NO_MEMORY;
    }
    atomic_init(&b->refs, 1);
    b->host = d;
    b->size = size;
    *out = b;
    return 0;
}

/* Values of all inputs. */
static size_t input_width(const struct mechd_instance *i)
{
    struct mech_variable v;
    size_t width = 0;
    for (size_t k = 0; k < mechd_engine_variable_count(&i->engine, MECH_INPUT); k++) {
        mechd_engine_variable(&i->engine, MECH_INPUT, k, &v);
        width += (size_t)v.size;
    }
    return width;
}

size_t mechd_recording_width(const struct mechd_instance *i, const struct mechd_run_settings *s)
{
    size_t width = (s->hash ? 1 + MECHD_HASH_VALUES : 1) + (s->inputs ? input_width(i) : 0);
    for (size_t k = 0; k < i->channel_count; k++) {
        width += s->chosen == NULL || s->chosen[k] ? (size_t)i->channels[k].size : 0;
    }
    return width;
}

int mechd_recording_begin(struct mechd_recording *r, const struct mechd_instance *i,
                          const struct mechd_run_settings *s, double rows)
{
    const size_t row = mechd_recording_width(i, s) * sizeof(double);
    const uint64_t window = row > WINDOW / WINDOW_ROWS ? WINDOW_ROWS : WINDOW / row;
    r->width = row / sizeof(double);
    r->key = mechd_run_key(i);
    r->bytes = (size_t)rows * row;
    r->capacity = (uint64_t)rows;
    if (r->key != 0 && r->capacity > window) {
        r->capacity = window;
    }
    MECH_TRY(take_block(i->host, (size_t)r->capacity * row, &r->block));
    r->chosen = s->chosen;
    r->hash = s->hash;
    r->inputs = s->inputs;
    return 0;
}

void mechd_recording_fini(struct mechd_recording *r)
{
    unref_block(r->block);
    r->block = NULL;
}

/* --- rows that come --------------------------------------------------------------------------- */

/* Rows that the disk has for good: the last chunk is sent again. */
static uint64_t settled(struct mechd_recording *r)
{
    const uint64_t safe = atomic_load(&r->safe);
    return safe < r->chunk ? safe : r->chunk;
}

bool mechd_recording_full(struct mechd_recording *r)
{
    return r->key != 0 && r->block != NULL && r->count - r->base == r->capacity &&
           settled(r) == r->base;
}

/* Give up rows of the window that are on the disk. */
static void make_room(struct mechd_recording *r)
{
    const uint64_t first = settled(r);
    memmove(r->block->values, r->block->values + (first - r->base) * r->width,
            (size_t)(r->count - first) * r->width * sizeof(double));
    r->base = first;
}

/* The inputs that act, into a row. */
static void add_inputs(const struct mechd_instance *i, double *to)
{
    struct mech_variable v;
    for (size_t k = 0; k < mechd_engine_variable_count(&i->engine, MECH_INPUT); k++) {
        mechd_engine_variable(&i->engine, MECH_INPUT, k, &v);
        mechd_engine_get_input(&i->engine, (int32_t)k, to);
        const bool own = mechd_engine_input_is_own(&i->engine, (int32_t)k);
        for (int32_t n = 0; n < v.size && own; n++) {
            to[n] = NAN;
        }
        to += v.size;
    }
}

void mechd_recording_add(struct mechd_recording *r, const struct mechd_instance *i)
{
    if (r->block == NULL) {
        return;
    }
    if (r->key != 0 && r->count - r->base == r->capacity) {
        make_room(r);
    }
    if (r->count - r->base == r->capacity) {
        return;
    }
    double *const row = r->block->values + (r->count++ - r->base) * r->width;
    const double *const values = i->published.values;
    size_t at = 1;
    row[0] = i->published.time;
    if (r->hash) {
        uint64_t hash = 0;
        (void)mechd_instance_hash(i, &hash); // without one it is not recorded
        mechd_hash_values(hash, row + r->width - MECHD_HASH_VALUES);
    }
    if (r->inputs) {
        add_inputs(i, row + r->width - (r->hash ? MECHD_HASH_VALUES : 0) - input_width(i));
    }
    if (r->chosen == NULL) {
        memcpy(row + 1, values, i->output_size * sizeof *row);
        return;
    }
    for (size_t k = 0; k < i->channel_count; k++) {
        const size_t n = (size_t)i->channels[k].size;
        if (r->chosen[k]) {
            memcpy(row + at, values + i->channels[k].offset, n * sizeof *row);
            at += n;
        }
    }
}

bool mechd_recording_pressed(const struct mechd_recording *r)
{
    return r->key != 0 && r->block != NULL && 2 * (r->count - r->posted) >= r->capacity;
}

bool mechd_recording_crowded(const struct mechd_recording *r)
{
    return r->key != 0 && atomic_load(&r->on_way) > ON_WAY;
}

const double *mechd_recording_take(struct mechd_recording *r, uint64_t *first, uint64_t *count)
{
    if (r->key == 0 || r->block == NULL || r->posted == r->count) {
        return NULL;
    }
    *first = r->chunk;
    *count = r->count - r->chunk;
    r->posted = r->count;
    if ((r->count - r->chunk) * r->width * sizeof(double) >= CHUNK) {
        r->chunk = r->count;
    }
    return r->block->values + (*first - r->base) * r->width;
}

void mechd_recording_undo(struct mechd_recording *r)
{
    if (r->key != 0) {
        r->count = r->base = r->chunk = r->posted = atomic_load(&r->safe);
        mechd_recording_trim(r, true);
    }
}

void mechd_recording_trim(struct mechd_recording *r, bool all)
{
    if (all || (r->key != 0 && r->block != NULL && atomic_load(&r->safe) == r->count)) {
        unref_block(r->block);
        r->block = NULL;
        r->base = r->count;
    }
}

/* --- reading ---------------------------------------------------------------------------------- */

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
    if (take_block(x->instance->host, size, &x->block) != 0) {
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
    unref_block(x->block);
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
