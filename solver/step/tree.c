/* The order of elimination of tree.h: which body is whose child, found from the pattern alone.
 * Roots are the bodies with the most rows to the ground; children precede their parents, a
 * chain from its tip to its root. Cost: that of sorting the pattern. */
#include "solver/step/tree.h"

#include "solver/base/err.h"
#include "solver/step/tree_link.h"

#include <stdlib.h>
#include <string.h>

struct mech_tree {
    struct mech_arena arena;
    int32_t nv, count;
    struct mech_tree_link *links; /* [count] in order of elimination */
    int32_t *block_of, *link_of;  /* [nv] block of a velocity, [count] link of a block */
    int32_t *row_link, *row_at; /* [rows] link that a row belongs to, and which of its rows it is */
    int32_t *row_list;          /* [rows] by links */
    size_t stored;
    double *values, *factors;
};

struct edge {
    int32_t a, b; /* blocks, a < b */
};

/* What is known before there is an order. */
struct finding {
    const struct mech_tree_pattern *p;
    struct mech_arena arena;
    int32_t *first, *size; /* [blocks] velocities */
    int32_t (*row)[2];     /* [rows] blocks that a row couples, −1: none */
    struct edge *edge;     /* [edges] sorted, each once */
    size_t edges;
    int32_t *start, *neighbour;  /* [blocks + 1], [2 edges] */
    int32_t *held;               /* [blocks] rows to the ground alone */
    int32_t *parent, *order, *k; /* [blocks]; k: rows to the ground or the parent */
    bool *met;                   /* [blocks] */
};

static int room(struct finding *f)
{
    const size_t blocks = (size_t)f->p->blocks + 1;
    int32_t **const lists[] = {&f->first, &f->size,   &f->start, &f->held,
                               &f->k,     &f->parent, &f->order};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        *lists[i] = mech_arena_alloc(&f->arena, blocks, sizeof(int32_t));
        if (!*lists[i]) {
            return MECH_NO_MEMORY;
        }
    }
    f->row = mech_arena_alloc(&f->arena, (size_t)f->p->rows, sizeof *f->row);
    f->edge = mech_arena_alloc(&f->arena, f->p->count, sizeof *f->edge);
    f->neighbour = mech_arena_alloc(&f->arena, 2 * blocks, sizeof *f->neighbour);
    f->met = mech_arena_alloc(&f->arena, blocks, sizeof *f->met);
    return f->row && f->edge && f->neighbour && f->met ? 0 : MECH_NO_MEMORY;
}

static int find_blocks(struct finding *f)
{
    const struct mech_tree_pattern *const p = f->p;

    for (int32_t i = 0; i < p->nv; i++) {
        const int32_t b = p->block_of[i];

        f->first[b] = f->size[b] ? f->first[b] : i;
        if (f->first[b] + f->size[b] != i || ++f->size[b] > MECH_TREE_MOST) {
            return MECH_UNSUPPORTED;
        }
    }
    return 0;
}

static int ascending(const void *x, const void *y)
{
    const struct edge *const a = x, *const b = y;

    return a->a != b->a ? (a->a > b->a) - (a->a < b->a) : (a->b > b->b) - (a->b < b->b);
}

static void add_edge(struct finding *f, int32_t a, int32_t b)
{
    f->edge[f->edges++] = a < b ? (struct edge){a, b} : (struct edge){b, a};
}

/* One more block of a row; false: it has two others. */
static bool add_to_row(struct finding *f, int32_t r, int32_t b)
{
    int32_t *const at = f->row[r];

    for (int i = 0; i < 2; i++) {
        if (at[i] < 0 || at[i] == b) {
            at[i] = b;
            return true;
        }
    }
    return false;
}

/* The neighbours of each body. */
static int find_edges(struct finding *f)
{
    const struct mech_tree_pattern *const p = f->p;
    size_t n = 0;

    memset(f->row, -1, (size_t)p->rows * sizeof *f->row);
    for (size_t i = 0; i < p->count; i++) {
        const int32_t row = p->entry[i].row, col = p->entry[i].col;

        if (row < p->nv && col < p->nv && p->block_of[row] != p->block_of[col]) {
            add_edge(f, p->block_of[row], p->block_of[col]);
        } else if (row >= p->nv && col < p->nv && !add_to_row(f, row - p->nv, p->block_of[col])) {
            return MECH_UNSUPPORTED;
        }
    }
    for (int32_t r = 0; r < p->rows; r++) {
        if (f->row[r][0] < 0) {
            return MECH_UNSUPPORTED;
        }
        if (f->row[r][1] < 0) {
            f->held[f->row[r][0]]++;
        } else {
            add_edge(f, f->row[r][0], f->row[r][1]);
        }
    }
    qsort(f->edge, f->edges, sizeof *f->edge, ascending);
    for (size_t i = 0; i < f->edges; i++) {
        if (n == 0 || ascending(&f->edge[n - 1], &f->edge[i]) != 0) {
            f->edge[n++] = f->edge[i];
        }
    }
    f->edges = n;
    return n < (size_t)p->blocks || p->blocks == 0 ? 0 : MECH_UNSUPPORTED;
}

/* Lists of neighbours. */
static void list_neighbours(struct finding *f)
{
    const int32_t blocks = f->p->blocks;

    for (size_t i = 0; i < f->edges; i++) {
        f->start[f->edge[i].a]++;
        f->start[f->edge[i].b]++;
    }
    for (int32_t b = 1; b <= blocks; b++) {
        f->start[b] += f->start[b - 1];
    }
    for (size_t i = f->edges; i-- > 0;) {
        f->neighbour[--f->start[f->edge[i].a]] = f->edge[i].b;
        f->neighbour[--f->start[f->edge[i].b]] = f->edge[i].a;
    }
}

/* The body of b's tree with the most rows to the ground; its bodies are met. Returns how many there
 * are, in `list`. */
static int32_t spread(struct finding *f, int32_t root, int32_t *list)
{
    int32_t n = 0;

    list[n++] = root;
    f->parent[root] = -1;
    f->met[root] = true;
    for (int32_t i = 0; i < n; i++) {
        const int32_t b = list[i];

        for (int32_t k = f->start[b]; k < f->start[b + 1]; k++) {
            const int32_t other = f->neighbour[k];

            if (!f->met[other]) {
                f->met[other] = true;
                f->parent[other] = b;
                list[n++] = other;
            }
        }
    }
    return n;
}

/* Parents, and the order of elimination: backwards through each tree. MECH_UNSUPPORTED: there are
 * loops. */
static int find_order(struct finding *f)
{
    const int32_t blocks = f->p->blocks;
    int32_t done = 0, trees = 0;

    for (int32_t b = 0; b < blocks; b++) {
        if (f->met[b]) {
            continue;
        }
        int32_t *const list = f->order + done, root = b;
        int32_t n = spread(f, b, list);

        for (int32_t i = 0; i < n; i++) {
            root = f->held[list[i]] > f->held[root] ? list[i] : root;
            f->met[list[i]] = false;
        }
        n = spread(f, root, list);
        done += n;
        trees++;
    }
    for (int32_t i = 0; i < blocks / 2; i++) {
        const int32_t kept = f->order[i];

        f->order[i] = f->order[blocks - 1 - i];
        f->order[blocks - 1 - i] = kept;
    }
    return f->edges + (size_t)trees == (size_t)blocks ? 0 : MECH_UNSUPPORTED;
}

/* The child of the two bodies that a row couples, or the one body. */
static int32_t owner_of(const struct finding *f, int32_t r)
{
    const int32_t a = f->row[r][0], b = f->row[r][1];

    return b < 0 || f->parent[a] == b ? a : b;
}

static int count_rows(struct finding *f)
{
    for (int32_t r = 0; r < f->p->rows; r++) {
        const int32_t b = owner_of(f, r);

        if (++f->k[b] > f->size[b]) {
            return MECH_UNSUPPORTED;
        }
    }
    return 0;
}

static int find(struct finding *f)
{
    MECH_TRY(room(f));
    MECH_TRY(find_blocks(f));
    MECH_TRY(find_edges(f));
    list_neighbours(f);
    MECH_TRY(find_order(f));
    return count_rows(f);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* Records of all bodies in their order. */
static void fill_links(struct mech_tree *t, const struct finding *f)
{
    size_t value = 0, factor = 0;
    int32_t row = 0;

    for (int32_t i = 0; i < t->count; i++) {
        t->link_of[f->order[i]] = i;
    }
    for (int32_t i = 0; i < t->count; i++) {
        struct mech_tree_link *const l = &t->links[i];
        const int32_t b = f->order[i], up = f->parent[b];

        *l = (struct mech_tree_link){.m = (int8_t)f->size[b],
                                     .k = (int8_t)f->k[b],
                                     .mp = (int8_t)(up < 0 ? 0 : f->size[up]),
                                     .parent = up < 0 ? -1 : t->link_of[up],
                                     .x = f->first[b],
                                     .xp = up < 0 ? 0 : f->first[up],
                                     .row = t->row_list + row,
                                     .value = value,
                                     .factor = factor};
        l->kernel = mech_tree_kernel_find(l->m, l->k, l->mp);
        row += l->k;
        value += mech_tree_link_values(l);
        factor += mech_tree_link_factors(l);
    }
    for (int32_t i = 0; i < t->count; i++) {
        const int32_t up = t->links[i].parent;

        t->links[i].parent_value = up < 0 ? 0 : t->links[up].value;
    }
    memset(f->k, 0, (size_t)t->count * sizeof *f->k);
    for (int32_t r = 0; r < f->p->rows; r++) {
        const int32_t b = owner_of(f, r), i = t->link_of[b];

        t->row_link[r] = i;
        t->row_at[r] = f->k[b]++;
        t->row_list[t->links[i].row - t->row_list + t->row_at[r]] = t->nv + r;
    }
}

static int build(struct mech_tree *t, const struct finding *f)
{
    const size_t rows = (size_t)f->p->rows, nv = (size_t)f->p->nv;

    mech_arena_init(&t->arena, 0);
    t->nv = f->p->nv;
    t->count = f->p->blocks;
    t->links = mech_arena_alloc(&t->arena, (size_t)t->count, sizeof *t->links);
    t->block_of = mech_arena_alloc(&t->arena, nv, sizeof *t->block_of);
    t->link_of = mech_arena_alloc(&t->arena, (size_t)t->count, sizeof *t->link_of);
    t->row_link = mech_arena_alloc(&t->arena, rows, sizeof *t->row_link);
    t->row_at = mech_arena_alloc(&t->arena, rows, sizeof *t->row_at);
    t->row_list = mech_arena_alloc(&t->arena, rows, sizeof *t->row_list);
    if (!t->links || !t->block_of || !t->link_of || !t->row_link || !t->row_at || !t->row_list) {
        return MECH_NO_MEMORY;
    }
    if (nv) {
        memcpy(t->block_of, f->p->block_of, nv * sizeof *t->block_of);
    }
    fill_links(t, f);
    size_t factors = 0;
    for (int32_t i = 0; i < t->count; i++) {
        t->stored += mech_tree_link_values(&t->links[i]);
        factors += mech_tree_link_factors(&t->links[i]);
    }
    t->factors = mech_arena_alloc(&t->arena, factors, sizeof *t->factors);
    return t->factors ? 0 : MECH_NO_MEMORY;
}

int mech_tree_create(const struct mech_tree_pattern *pattern, struct mech_tree **out)
{
    struct finding f = {.p = pattern};
    struct mech_tree *t = NULL;

    *out = NULL;
    mech_arena_init(&f.arena, 0);
    int code = find(&f);
    if (code == 0) {
        t = calloc(1, sizeof *t);
        code = t ? build(t, &f) : MECH_NO_MEMORY;
    }
    mech_arena_fini(&f.arena);
    if (code) {
        mech_tree_destroy(t);
        return code;
    }
    *out = t;
    return 0;
}

void mech_tree_destroy(struct mech_tree *t)
{
    if (t) {
        mech_arena_fini(&t->arena);
        free(t);
    }
}

size_t mech_tree_stored(const struct mech_tree *t)
{
    return t->stored;
}

int64_t mech_tree_place(const struct mech_tree *t, int32_t row, int32_t col)
{
    if (row < t->nv && col >= t->nv) {
        return mech_tree_place(t, col, row);
    }
    if (col >= t->nv) {
        return -1;
    }
    const int32_t j = t->link_of[t->block_of[col]];
    const int32_t i = row < t->nv ? t->link_of[t->block_of[row]] : t->row_link[row - t->nv];
    const struct mech_tree_link *const l = &t->links[i], *const other = &t->links[j];
    const int64_t r = row < t->nv ? row - l->x : t->row_at[row - t->nv], c = col - other->x;
    const int64_t own = (int64_t)l->value;

    if (i != j && l->parent != j && (row >= t->nv || other->parent != i)) {
        return -1;
    }
    if (row >= t->nv) {
        return own + l->m * l->m + (j == i ? r * l->m + c : l->k * l->m + r * l->mp + c);
    }
    if (i == j) {
        return own + r * l->m + c;
    }
    /* S_ip of the child follows its rows, S_pi follows that */
    const struct mech_tree_link *const child = l->parent == j ? l : other;
    const int64_t pair =
        (int64_t)child->value + child->m * child->m + child->k * (child->m + child->mp);

    return child == l ? pair + r * child->mp + c : pair + child->m * child->mp + r * child->m + c;
}

int mech_tree_factor(struct mech_tree *t, double *values)
{
    t->values = values;
    for (int32_t i = 0; i < t->count; i++) {
        struct mech_tree_link *const l = &t->links[i];

        MECH_TRY(l->kernel->factor(l, values, t->factors));
    }
    return 0;
}

void mech_tree_solve(const struct mech_tree *t, double *x)
{
    for (int32_t i = 0; i < t->count; i++) {
        t->links[i].kernel->forward(&t->links[i], t->values, t->factors, x);
    }
    for (int32_t i = t->count; i-- > 0;) {
        t->links[i].kernel->backward(&t->links[i], t->factors, x);
    }
}
