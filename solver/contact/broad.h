/* Broad phase: which of n axis-parallel boxes overlap.
 *
 * Boxes are sorted into grids by their size, each grid's cells as large as its largest box and at
 * most twice as large as its smallest, so that overlapping centers lie in neighbouring cells; a box
 * asks its own grid and those of larger boxes. Cells far apart may share a place (the grids are
 * folded), which costs a comparison and no pair. What is unbounded, or one of few of its size, is
 * compared with all. Cost: linear in boxes and pairs; nothing is kept from call to call but memory,
 * so that the answer is a function of the boxes.
 *
 *   struct mech_broad broad = {.n = 0};
 *   MECH_TRY(mech_broad_find(&broad, boxes, bodies, n));
 *   for (i < broad.pairs) … broad.pair[2 i], broad.pair[2 i + 1] …
 *   mech_broad_fini(&broad);
 *
 * owner: a scene, one thread; memory grows when there are more boxes or pairs than ever before. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct mech_bounds {
    double low[3], high[3]; /* m, ±∞ where there is none */
};

struct mech_broad_box;

struct mech_broad {
    int32_t *pair; /* [2 × pairs] boxes, the smaller first; ascending */
    int32_t pairs;
    /* private */
    int32_t *found;                       /* [2 × capacity] unsorted */
    int32_t capacity;                     /* of pair and found, pairs */
    int32_t n, cells, free_count;         /* capacities of the arrays below; boxes in free */
    struct mech_broad_box *sorted, *free; /* [n] by cells; not in grids */
    int32_t *cell;                        /* [n] */
    int32_t *start;                       /* [cells + 1 for each grid] */
    int32_t *place;                       /* [n + 1] */
    uint8_t *level;                       /* [n] */
    double *extent;                       /* [n] */
};

/* All pairs of boxes that overlap or touch and belong to different bodies (the ground is one).
 * 0; negative: no memory, and the pairs are not to be read. */
int mech_broad_find(struct mech_broad *b, const struct mech_bounds *box, const int32_t *body,
                    int32_t n);
void mech_broad_fini(struct mech_broad *b);
/* Bytes held. */
size_t mech_broad_memory(const struct mech_broad *b);
