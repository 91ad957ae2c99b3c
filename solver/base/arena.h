/* Arena: memory with one lifetime.
 *
 * Blocks grow by half while things are built; inside a step a scratch arena is marked and released
 * in the same function and never grows (its size is fixed when the instance is built). Pointers are
 * aligned to the next power of two of their bytes, from 16 to 64. owner: the holder of the struct;
 * one thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mech_arena_block;

struct mech_arena {
    struct mech_arena_block *top; /* newest block, or NULL */
    size_t total;                 /* bytes obtained from malloc */
    size_t limit;                 /* largest total allowed; 0: no limit */
};

struct mech_arena_mark {
    struct mech_arena_block *block;
    size_t used;
};

void mech_arena_init(struct mech_arena *a, size_t limit);
void mech_arena_fini(struct mech_arena *a);

/* `count * size` zeroed bytes, or NULL (no memory, the limit, or an overflow of the product).
 * A count of 0 returns a valid pointer, which need not be its own. */
void *mech_arena_alloc(struct mech_arena *a, size_t count, size_t size);

/* Copy of a string, or NULL. */
char *mech_arena_strdup(struct mech_arena *a, const char *text);

/* An array that grows in an arena, by half; empty: zeros. What it has left stays in the arena. */
struct mech_arena_list {
    void *items; /* [count], room for [room] */
    size_t count, room;
};
/* A zeroed place for one more item of `size` bytes, or NULL, as mech_arena_alloc; then the list is
 * as before. Earlier places are no longer those of the list. */
void *mech_arena_add(struct mech_arena *a, struct mech_arena_list *list, size_t size);

/* Everything allocated after the mark is released; blocks above it are kept for reuse. */
struct mech_arena_mark mech_arena_mark(const struct mech_arena *a);
void mech_arena_release(struct mech_arena *a, struct mech_arena_mark mark);
