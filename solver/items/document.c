/* The document's life: lists by category, and the numbers that expressions give. */
#include "solver/items/document.h"

#include "solver/base/err.h"

#include <stdlib.h>
#include <string.h>

int mech_document_create(size_t limit, struct mech_document **out)
{
    struct mech_document *d = calloc(1, sizeof *d);

    if (!d) {
        return MECH_NO_MEMORY;
    }
    mech_arena_init(&d->arena, limit);
    mech_table_defaults(&mech_document_table, d);
    *out = d;
    return 0;
}

void mech_document_destroy(struct mech_document *d)
{
    if (!d) {
        return;
    }
    free(d->bindings.at);
    mech_arena_fini(&d->arena);
    free(d);
}

struct mech_items *mech_document_items(struct mech_document *d, enum mech_category category)
{
    struct mech_items *const lists[] = {
        [MECH_NODE] = &d->nodes, [MECH_OBJECT] = &d->objects, [MECH_MARKER] = &d->markers,
        [MECH_LOAD] = &d->loads, [MECH_SENSOR] = &d->sensors,
    };

    return (size_t)category < sizeof lists / sizeof *lists ? lists[category] : NULL;
}

const struct mech_structs *mech_document_list(const struct mech_document *d,
                                              const struct mech_table *table, const char **key)
{
    for (size_t i = 0; i < mech_document_table.count; i++) {
        const struct mech_field *const f = &mech_document_table.fields[i];

        if (f->kind == MECH_STRUCTS && f->table == table) {
            *key = f->name;
            return (const void *)((const char *)d + f->offset);
        }
    }
    return NULL;
}

/* Index of the first binding at or after `target`. */
static size_t lower_bound(const struct mech_bindings *b, const void *target)
{
    size_t low = 0, high = b->n;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if ((uintptr_t)b->at[middle].target < (uintptr_t)target) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static int bind(struct mech_document *d, void *target, bool flag, const char *text,
                const char *path)
{
    struct mech_bindings *const b = &d->bindings;

    if (b->n == b->capacity) {
        const size_t capacity = b->capacity ? 2 * b->capacity : 16;
        struct mech_binding *grown = realloc(b->at, capacity * sizeof *grown);

        if (!grown) {
            return MECH_NO_MEMORY;
        }
        b->at = grown;
        b->capacity = capacity;
    }
    const struct mech_binding fresh = {target, flag, mech_arena_strdup(&d->arena, text),
                                       mech_arena_strdup(&d->arena, path)};

    if (!fresh.text || !fresh.path) {
        return MECH_NO_MEMORY;
    }
    /* kept sorted; targets mostly come in ascending order, so that this rarely moves anything */
    const size_t at = lower_bound(b, target);

    if (at < b->n && b->at[at].target == target) {
        b->at[at] = fresh;
        return 0;
    }
    memmove(b->at + at + 1, b->at + at, (b->n - at) * sizeof *b->at);
    b->at[at] = fresh;
    b->n++;
    return 0;
}

int mech_document_bind(struct mech_document *d, double *target, const char *text, const char *path)
{
    return bind(d, target, false, text, path);
}

int mech_document_bind_flag(struct mech_document *d, bool *target, const char *text,
                            const char *path)
{
    return bind(d, target, true, text, path);
}

const struct mech_binding *mech_document_binding(const struct mech_document *d, const void *target)
{
    const size_t at = lower_bound(&d->bindings, target);

    return at < d->bindings.n && d->bindings.at[at].target == target ? &d->bindings.at[at] : NULL;
}
