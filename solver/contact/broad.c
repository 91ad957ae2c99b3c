/* Broad phase: broad.h. Grids by size, folded into tables (M. Teschner et al., Vision, Modeling,
 * Visualization 2003, with a torus in the place of their hash, so that the three neighbours along x
 * are one run of the table). A box's place is the cell of its center, so it is in one cell; of
 * the 27 around it 14 are searched, and by boxes of a finer grid all. */
#include "solver/contact/broad.h"
#include "solver/base/err.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_MOST = 64,
    FREE = LEVELS_MOST, /* level of a box outside of all grids */
    FEW = 8,            /* boxes that do not make a grid */
    BITS_LEAST = 2,     /* four cells along an axis: the two neighbours of a cell differ */
    INSERTED_MOST = 24  /* pairs of one box that are sorted by insertion */
};

struct mech_broad_box {
    struct mech_bounds at;
    int32_t index, body, cell, level; /* of its grid */
};

struct grid {
    double edge, inverse, low[3], high[3]; /* of a cell; its inverse; centers' range */
    int32_t n;
    int32_t bits[3]; /* logarithms of the cells along each axis */
    int32_t first;   /* place of its cells in start */
};

struct grids {
    struct grid at[LEVELS_MOST];
    int32_t used[LEVELS_MOST], n; /* levels that make a grid, ascending */
};

/* the C library's are calls, for the sake of NaN */
static double larger(double a, double b)
{
    return a > b ? a : b;
}

static int32_t smaller_index(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

static bool overlap(const struct mech_bounds *a, const struct mech_bounds *b)
{
    /* without branches: which of two near boxes overlap cannot be foretold */
    return (a->low[0] <= b->high[0]) & (b->low[0] <= a->high[0]) & (a->low[1] <= b->high[1]) &
           (b->low[1] <= a->high[1]) & (a->low[2] <= b->high[2]) & (b->low[2] <= a->high[2]);
}

/* --- memory ----------------------------------------------------------------------------------- */

static int grow_array(void *array, size_t count, size_t size)
{
    void **const at = array;
    void *const larger = realloc(*at, count * size);

    if (!larger) {
        return MECH_NO_MEMORY;
    }
    *at = larger;
    return 0;
}

static int make_room(struct mech_broad *b, int32_t n)
{
    if (n > b->n) {
        const size_t count = (size_t)n + (size_t)n / 2;

        MECH_TRY(grow_array(&b->sorted, count, sizeof *b->sorted));
        MECH_TRY(grow_array(&b->free, count, sizeof *b->free));
        MECH_TRY(grow_array(&b->cell, count, sizeof *b->cell));
        MECH_TRY(grow_array(&b->place, count + 1, sizeof *b->place));
        MECH_TRY(grow_array(&b->level, count, sizeof *b->level));
        MECH_TRY(grow_array(&b->extent, count, sizeof *b->extent));
        b->n = (int32_t)count;
    }
    return 0;
}

/* Room for so many more pairs. */
static int make_pairs_room(struct mech_broad *b, ptrdiff_t more)
{
    const size_t need = (size_t)b->pairs + (size_t)more;

    if (need > (size_t)b->capacity) {
        const size_t count = need < 256 ? 512 : 2 * need;

        if (count > INT32_MAX / 2) {
            return MECH_NO_MEMORY;
        }
        MECH_TRY(grow_array(&b->found, count, 2 * sizeof *b->found));
        MECH_TRY(grow_array(&b->pair, count, 2 * sizeof *b->pair));
        b->capacity = (int32_t)count;
    }
    return 0;
}

void mech_broad_fini(struct mech_broad *b)
{
    free(b->pair);
    free(b->found);
    free(b->sorted);
    free(b->free);
    free(b->cell);
    free(b->start);
    free(b->place);
    free(b->level);
    free(b->extent);
    *b = (struct mech_broad){.n = 0};
}

size_t mech_broad_memory(const struct mech_broad *b)
{
    const size_t box = 2 * sizeof *b->sorted + sizeof *b->cell + sizeof *b->place +
                       sizeof *b->level + sizeof *b->extent;

    return (size_t)b->n * box + (size_t)b->cells * sizeof *b->start +
           (size_t)b->capacity * 4 * sizeof *b->pair;
}

/* --- grids ------------------------------------------------------------------------------------ */

/* The largest extent of a box; not finite where it has none, or its center is far beyond what
 * integers count in cells of its size. */
static double extent_of(const struct mech_bounds *box)
{
    double most = 0., far = 0.;

    for (int i = 0; i < 3; i++) {
        const double extent = box->high[i] - box->low[i];

        /* also where it is not a number */
        if (!(extent >= 0.)) {
            return INFINITY;
        }
        most = larger(most, extent);
        far = larger(far, larger(fabs(box->low[i]), fabs(box->high[i])));
    }
    return far <= 1e12 * most ? most : INFINITY;
}

static double center_of(const struct mech_bounds *box, int axis)
{
    return 0.5 * (box->low[axis] + box->high[axis]);
}

static void enter(struct grid *g, const struct mech_bounds *box, double extent)
{
    g->n++;
    g->edge = larger(g->edge, extent);
    for (int axis = 0; axis < 3; axis++) {
        const double center = center_of(box, axis);

        g->low[axis] = smaller(g->low[axis], center);
        g->high[axis] = larger(g->high[axis], center);
    }
}

/* The level of each box by its size against the smallest, and the grids' sizes. */
static void find_levels(struct mech_broad *b, const struct mech_bounds *box, int32_t n,
                        struct grids *grids)
{
    double least = INFINITY;

    for (int32_t i = 0; i < n; i++) {
        b->extent[i] = extent_of(&box[i]);
        least = b->extent[i] > 0. && b->extent[i] < least ? b->extent[i] : least;
    }
    for (int k = 0; k < LEVELS_MOST; k++) {
        grids->at[k] = (struct grid){.low = {INFINITY, INFINITY, INFINITY},
                                     .high = {-INFINITY, -INFINITY, -INFINITY}};
    }
    const double inverse = 1. / least;
    for (int32_t i = 0; i < n; i++) {
        const double ratio = b->extent[i] * inverse;

        b->level[i] = (uint8_t)(ratio < 2. ? 0 : ratio < 0x1p63 ? ilogb(ratio) : FREE);
        if (b->level[i] != FREE) {
            enter(&grids->at[b->level[i]], &box[i], b->extent[i]);
        }
    }
}

/* About two cells for each box, as the range of centers is shaped; how many. */
static int32_t shape_grid(struct grid *g)
{
    const int most = 2 + ilogb(g->n + 64.);

    /* what rounding may add to the distance of two centers */
    g->edge *= 1. + 1e-9;
    g->inverse = 1. / g->edge;
    for (int axis = 0; axis < 3; axis++) {
        const double range = (g->high[axis] - g->low[axis]) * g->inverse + 1.;

        g->bits[axis] = BITS_LEAST;
        while (ldexp(1., g->bits[axis]) < range && g->bits[axis] < most) {
            g->bits[axis]++;
        }
    }
    while (g->bits[0] + g->bits[1] + g->bits[2] > most) {
        int widest = 0;

        for (int axis = 1; axis < 3; axis++) {
            widest = g->bits[axis] > g->bits[widest] ? axis : widest;
        }
        if (g->bits[widest] == BITS_LEAST) {
            break;
        }
        g->bits[widest]--;
    }
    return 1 << (g->bits[0] + g->bits[1] + g->bits[2]);
}

static void cell_of(const struct grid *g, const struct mech_bounds *box, int32_t out[3])
{
    for (int axis = 0; axis < 3; axis++) {
        const double at = (center_of(box, axis) - g->low[axis]) * g->inverse;
        const int64_t cut = (int64_t)at;

        out[axis] = (int32_t)((cut - (at < (double)cut)) & ((1 << g->bits[axis]) - 1));
    }
}

static int32_t row_of(const struct grid *g, int32_t y, int32_t z)
{
    y &= (1 << g->bits[1]) - 1;
    z &= (1 << g->bits[2]) - 1;
    return g->first + ((y + (z << g->bits[1])) << g->bits[0]);
}

/* Counts of the boxes of each cell. */
static int count_cells(struct mech_broad *b, const struct mech_bounds *box, int32_t n,
                       struct grids *grids)
{
    int32_t cells = 0;

    grids->n = 0;
    for (int k = 0; k < LEVELS_MOST; k++) {
        if (grids->at[k].n > FEW) {
            grids->at[k].first = cells;
            grids->used[grids->n++] = k;
            cells += shape_grid(&grids->at[k]) + 1;
        }
    }
    if (cells > b->cells) {
        /* bound for as many boxes in any order: shape_grid's most, in all grids */
        const size_t grids_most = (size_t)smaller_index(LEVELS_MOST, n / FEW);
        const size_t most = 4 * ((size_t)n + 64 * grids_most) + grids_most;

        MECH_TRY(grow_array(&b->start, most, sizeof *b->start));
        b->cells = (int32_t)most;
    }
    if (cells > 0) {
        memset(b->start, 0, (size_t)cells * sizeof *b->start);
    }
    for (int32_t i = 0; i < n; i++) {
        const struct grid *const g = &grids->at[b->level[i] == FREE ? 0 : b->level[i]];

        b->cell[i] = -1;
        if (b->level[i] != FREE && g->n > FEW) {
            int32_t at[3];

            cell_of(g, &box[i], at);
            b->cell[i] = row_of(g, at[1], at[2]) + at[0];
            b->start[b->cell[i]]++;
        }
    }
    int32_t sum = 0;
    for (int32_t c = 0; c < cells; c++) {
        sum += b->start[c];
        b->start[c] = sum;
    }
    b->free_count = n - sum;
    return 0;
}

/* Boxes by grids and cells, in the order of their indices within one; the free ones apart. */
static void sort_boxes(struct mech_broad *b, const struct mech_bounds *box, const int32_t *body,
                       int32_t n)
{
    int32_t free_at = b->free_count;

    for (int32_t i = n - 1; i >= 0; i--) {
        const int32_t cell = b->cell[i];
        struct mech_broad_box *const to =
            cell < 0 ? &b->free[--free_at] : &b->sorted[--b->start[cell]];

        *to = (struct mech_broad_box){box[i], i, body[i], cell, b->level[i]};
    }
}

/* --- pairs ------------------------------------------------------------------------------------ */

static int meet(struct mech_broad *b, const struct mech_broad_box *one,
                const struct mech_broad_box *from, const struct mech_broad_box *to)
{
    if (to <= from) {
        return 0;
    }
    MECH_TRY(make_pairs_room(b, to - from));
    int32_t *at = b->found + 2 * (size_t)b->pairs;
    for (const struct mech_broad_box *other = from; other < to; other++) {
        at[0] = smaller_index(one->index, other->index);
        at[1] = one->index ^ other->index ^ at[0];
        at += 2 * (overlap(&one->at, &other->at) & (one->body != other->body));
    }
    b->pairs = (int32_t)((at - b->found) / 2);
    return 0;
}

/* The boxes in the cells from..to of a row, cells that are not beyond its ends. */
static int meet_cells(struct mech_broad *b, const struct mech_broad_box *one, int32_t from,
                      int32_t to)
{
    return meet(b, one, b->sorted + b->start[from], b->sorted + b->start[to + 1]);
}

/* Three cells of a row about x, around its ends. */
static int meet_row(struct mech_broad *b, const struct mech_broad_box *one, const struct grid *g,
                    int32_t row, int32_t x)
{
    const int32_t last = (1 << g->bits[0]) - 1;

    if (x > 0 && x < last) {
        return meet_cells(b, one, row + x - 1, row + x + 1);
    }
    MECH_TRY(meet_cells(b, one, row + (x == 0 ? last : 0), row + (x == 0 ? last : 0)));
    return x == 0 ? meet_cells(b, one, row, row + 1) : meet_cells(b, one, row + x - 1, row + x);
}

/* The boxes of its own grid that come after it, in half of the cells around. */
static int meet_after(struct mech_broad *b, const struct mech_broad_box *one, const struct grid *g)
{
    const int32_t last = (1 << g->bits[0]) - 1, local = one->cell - g->first;
    const int32_t x = local & last, y = local >> g->bits[0] & ((1 << g->bits[1]) - 1);
    const int32_t z = local >> (g->bits[0] + g->bits[1]), own = one->cell - x;

    MECH_TRY(meet(b, one, one + 1, b->sorted + b->start[one->cell + 1 + (x < last)]));
    if (x == last) {
        MECH_TRY(meet_cells(b, one, own, own));
    }
    MECH_TRY(meet_row(b, one, g, row_of(g, y + 1, z), x));
    for (int32_t k = -1; k <= 1; k++) {
        MECH_TRY(meet_row(b, one, g, row_of(g, y + k, z + 1), x));
    }
    return 0;
}

/* All boxes of a grid of larger ones. */
static int meet_larger(struct mech_broad *b, const struct mech_broad_box *one, const struct grid *g)
{
    int32_t at[3];

    cell_of(g, &one->at, at);
    for (int32_t z = -1; z <= 1; z++) {
        for (int32_t y = -1; y <= 1; y++) {
            MECH_TRY(meet_row(b, one, g, row_of(g, at[1] + y, at[2] + z), at[0]));
        }
    }
    return 0;
}

static int find_pairs(struct mech_broad *b, const struct mech_bounds *box, const int32_t *body,
                      int32_t n, const struct grids *grids)
{
    const struct mech_broad_box *const end = b->sorted + n - b->free_count;
    int32_t own = 0;

    for (const struct mech_broad_box *one = b->sorted; one < end; one++) {
        while (grids->used[own] < one->level) {
            own++;
        }
        MECH_TRY(meet_after(b, one, &grids->at[one->level]));
        for (int32_t k = own + 1; k < grids->n; k++) {
            MECH_TRY(meet_larger(b, one, &grids->at[grids->used[k]]));
        }
    }
    for (const struct mech_broad_box *one = b->free; one < b->free + b->free_count; one++) {
        MECH_TRY(make_pairs_room(b, n));
        for (int32_t i = 0; i < n; i++) {
            /* two free ones once; by index, in the order of the pairs */
            const bool twice = b->cell[i] < 0 && i <= one->index;

            if (!twice && one->body != body[i] && overlap(&one->at, &box[i])) {
                b->found[2 * b->pairs] = smaller_index(one->index, i);
                b->found[2 * b->pairs++ + 1] = one->index > i ? one->index : i;
            }
        }
    }
    return 0;
}

/* D. Shell's sort, of seconds of one box's pairs that are too many to insert. */
static void sort_run(int32_t *at, int32_t n)
{
    static const int32_t gaps[] = {29524, 9841, 3280, 1093, 364, 121, 40, 13, 4, 1};

    for (size_t k = n <= INSERTED_MOST ? 9 : 0; k < sizeof gaps / sizeof *gaps; k++) {
        const int32_t gap = gaps[k];

        for (int32_t i = gap; i < n; i++) {
            const int32_t x = at[i];
            int32_t j = i;

            for (; j >= gap && at[j - gap] > x; j -= gap) {
                at[j] = at[j - gap];
            }
            at[j] = x;
        }
    }
}

/* found to pair, ascending; the seconds are gathered in the first half of pair's memory. */
static void sort_pairs(struct mech_broad *b, int32_t n)
{
    int32_t *const place = b->place, *const second = b->pair;

    memset(place, 0, ((size_t)n + 1) * sizeof *place);
    for (int32_t k = 0; k < b->pairs; k++) {
        place[b->found[2 * k]]++;
    }
    for (int32_t i = 0, sum = 0; i <= n; i++) {
        sum += place[i];
        place[i] = sum;
    }
    for (int32_t k = b->pairs - 1; k >= 0; k--) {
        second[--place[b->found[2 * k]]] = b->found[2 * k + 1];
    }
    for (int32_t i = 0; i < n; i++) {
        sort_run(second + place[i], place[i + 1] - place[i]);
    }
    /* from the back, so that nothing is written over before it is read */
    for (int32_t i = n - 1; i >= 0; i--) {
        for (int32_t k = place[i + 1] - 1; k >= place[i]; k--) {
            b->pair[2 * k + 1] = second[k];
            b->pair[2 * k] = i;
        }
    }
}

int mech_broad_find(struct mech_broad *b, const struct mech_bounds *box, const int32_t *body,
                    int32_t n)
{
    struct grids grids;

    b->pairs = 0;
    if (n < 2) {
        return 0;
    }
    MECH_TRY(make_room(b, n));
    find_levels(b, box, n, &grids);
    MECH_TRY(count_cells(b, box, n, &grids));
    sort_boxes(b, box, body, n);
    MECH_TRY(find_pairs(b, box, body, n, &grids));
    sort_pairs(b, n);
    return 0;
}
