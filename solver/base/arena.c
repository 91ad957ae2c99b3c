/* Arena: a chain of blocks from malloc, each half of all before it, bump-allocated: a third at most
 * is unused, of a small one 192 bytes. A release keeps the blocks above the mark, so that the same
 * work done again needs no malloc. Cost: a few instructions and the zeroing of what is handed
 * out. */
#include "solver/base/arena.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 64, LEAST = 16, FIRST = 256, FIRST_ROOM = 16 /* items of a list */ };

struct mech_arena_block {
    struct mech_arena_block *below;
    struct mech_arena_block *above; /* kept for reuse after a release */
    size_t size;                    /* bytes after the head */
    size_t used;
};

static_assert(sizeof(struct mech_arena_block) <= ALIGN, "the head fits in one line");

void mech_arena_init(struct mech_arena *a, size_t limit)
{
    *a = (struct mech_arena){.limit = limit};
}

/* Free a block and all above it. */
static void free_chain(struct mech_arena *a, struct mech_arena_block *b)
{
    while (b) {
        struct mech_arena_block *const above = b->above;
        a->total -= b->size + ALIGN;
        free(b);
        b = above;
    }
}

void mech_arena_fini(struct mech_arena *a)
{
    if (!a->top) {
        return;
    }
    struct mech_arena_block *first = a->top;
    while (first->below) {
        first = first->below;
    }
    free_chain(a, first);
    a->top = NULL;
}

/* Put an empty block with room for `need` bytes on top. */
static bool grow(struct mech_arena *a, size_t need)
{
    struct mech_arena_block *const top = a->top;
    if (top && top->above) {
        // a block kept by an earlier release
        if (top->above->size >= need) {
            top->above->used = 0;
            a->top = top->above;
            return true;
        }
        free_chain(a, top->above);
        top->above = NULL;
    }
    // half of all below, or what is needed, but inside the limit
    size_t size = a->total / 2 < FIRST ? FIRST : a->total / 2 / ALIGN * ALIGN;
    size = size - ALIGN < need ? (need + ALIGN - 1) / ALIGN * ALIGN : size - ALIGN;
    if (a->limit != 0) {
        const size_t left = a->limit > a->total ? a->limit - a->total : 0;
        if (left < ALIGN || left - ALIGN < need) {
            return false;
        }
        size = size > left - ALIGN ? (left - ALIGN) / ALIGN * ALIGN : size;
    }
    void *at = NULL;
    if (posix_memalign(&at, ALIGN, size + ALIGN) != 0) {
        return false;
    }
    struct mech_arena_block *const b = at;
    *b = (struct mech_arena_block){.below = top, .size = size};
    if (top) {
        top->above = b;
    }
    a->total += size + ALIGN;
    a->top = b;
    return true;
}

/* Where a piece of so many bytes is placed: at a multiple of the next power of two. */
static size_t alignment_of(size_t bytes)
{
    return bytes > ALIGN / 2 ? ALIGN : bytes > LEAST ? ALIGN / 2 : LEAST;
}

void *mech_arena_alloc(struct mech_arena *a, size_t count, size_t size)
{
    size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4) {
        return NULL;
    }
    const size_t step = alignment_of(bytes);
    const size_t need = (bytes + step - 1) / step * step;
    size_t from = !a->top ? 0 : (a->top->used + step - 1) / step * step;
    if (!a->top || from > a->top->size || a->top->size - from < need) {
        if (!grow(a, need)) {
            return NULL;
        }
        from = 0;
    }
    unsigned char *const at = (unsigned char *)a->top + ALIGN + from;
    a->top->used = from + need;
    memset(at, 0, bytes);
    return at;
}

char *mech_arena_strdup(struct mech_arena *a, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *const copy = mech_arena_alloc(a, size, 1);
    if (copy) {
        memcpy(copy, text, size);
    }
    return copy;
}

void *mech_arena_add(struct mech_arena *a, struct mech_arena_list *list, size_t size)
{
    if (list->count == list->room) {
        const size_t room = list->room + list->room / 2 + FIRST_ROOM;
        void *const items = mech_arena_alloc(a, room, size);
        if (!items) {
            return NULL;
        }
        if (list->count > 0) {
            memcpy(items, list->items, list->count * size);
        }
        list->items = items;
        list->room = room;
    }
    return (char *)list->items + size * list->count++;
}

struct mech_arena_mark mech_arena_mark(const struct mech_arena *a)
{
    return (struct mech_arena_mark){.block = a->top, .used = !a->top ? 0 : a->top->used};
}

void mech_arena_release(struct mech_arena *a, struct mech_arena_mark mark)
{
    struct mech_arena_block *b = mark.block;
    if (!b) {
        // marked while empty: go down to the first block
        for (b = a->top; b && b->below;) {
            b = b->below;
        }
    }
    if (b) {
        b->used = mark.used;
    }
    a->top = b;
}
