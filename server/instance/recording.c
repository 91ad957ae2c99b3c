/* The window: rows from `base` on are in memory. A chunk that is being filled on the disk is sent
 * again whole until it is large enough, so that a slow run does not leave a record for each row. */
#include "server/instance/recording.h"

#include "server/instance/host.h"
#include "server/instance/runs.h"

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

void mechd_row_block_unref(struct mechd_row_block *b)
{
    if (b != NULL && atomic_fetch_sub(&b->refs, 1) == 1) {
        atomic_fetch_sub(&b->host->row_bytes, b->size);
        free(b);
    }
}

int mechd_row_block_take(struct mechd_host *d, size_t size, struct mechd_row_block **out)
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
    MECH_TRY(mechd_row_block_take(i->host, (size_t)r->capacity * row, &r->block));
    r->chosen = s->chosen;
    r->hash = s->hash;
    r->inputs = s->inputs;
    return 0;
}

void mechd_recording_fini(struct mechd_recording *r)
{
    mechd_row_block_unref(r->block);
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
        mechd_row_block_unref(r->block);
        r->block = NULL;
        r->base = r->count;
    }
}

void mechd_recording_stored(struct mechd_recording *r, uint64_t first, size_t size, bool stored)
{
    atomic_fetch_sub(&r->on_way, size);
    if (stored) {
        atomic_store(&r->safe, first + size / (r->width * sizeof(double)));
    }
}
