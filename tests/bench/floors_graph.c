/* KLU of floors_graph.h. */
#include "tests/bench/floors_graph.h"

#include "tests/bench/bench.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MOST = 1 << 17 };

/* entries in the order in which they are assembled */
struct entry {
    int row, col, order;
};

static struct entry collected[ENTRIES_MOST];

static void fail(const char *what)
{
    (void)fprintf(stderr, "a floor of KLU: %s\n", what);
    exit(2);
}

static void put(struct floor_graph *f, int row, int col, double value)
{
    const int32_t k = f->written++;
    if (f->slot != NULL) {
        f->x[f->slot[k]] += value;
    } else if (k < ENTRIES_MOST) {
        collected[k] = (struct entry){row, col, k};
    } else {
        fail("too many entries");
    }
}

/* Row of G of a joint at a body, ±[1, −arm ×]: the columns of its moment. */
static void moment_of(const struct floor_graph *f, const struct floor_end *e, int row,
                      double out[3])
{
    const double *const r = f->joint[e->joint].arm[e->side];
    out[0] = out[1] = out[2] = 0.;
    if (!f->space) {
        out[2] = row == 0 ? -r[1] : r[0];
        return;
    }
    out[(row + 1) % 3] = r[(row + 2) % 3];
    out[(row + 2) % 3] = -r[(row + 1) % 3];
}

/* Block Gⱼ M⁻¹ Gₖᵀ of two joints of one body; M = 1 and 0.0833 about each axis. */
static void assemble_block(struct floor_graph *f, const struct floor_end *a,
                           const struct floor_end *b)
{
    const int rows = f->space ? 3 : 2;
    const double sign = a->side == b->side ? 1. : -1.;
    double left[3][3], right[3][3];
    for (int i = 0; i < rows; i++) {
        moment_of(f, a, i, left[i]);
        moment_of(f, b, i, right[i]);
    }
    for (int i = 0; i < rows; i++) {
        for (int k = 0; k < rows; k++) {
            const double turn =
                left[i][0] * right[k][0] + left[i][1] * right[k][1] + left[i][2] * right[k][2];
            put(f, rows * a->joint + i, rows * b->joint + k,
                sign * ((i == k ? 1. : 0.) + turn / 0.0833));
        }
    }
}

static void assemble(struct floor_graph *f)
{
    f->written = 0;
    for (int32_t b = 0; b < f->bodies; b++) {
        for (int32_t i = f->begin[b]; i < f->begin[b + 1]; i++) {
            for (int32_t k = f->begin[b]; k < f->begin[b + 1]; k++) {
                assemble_block(f, &f->end[i], &f->end[k]);
            }
        }
    }
}

/* Ends of joints by body. */
static void sort_ends(struct floor_graph *f)
{
    f->begin = calloc((size_t)f->bodies + 1, sizeof *f->begin);
    f->end = calloc(2 * (size_t)f->joints, sizeof *f->end);
    if (f->begin == NULL || f->end == NULL) {
        fail("no memory");
    }
    int32_t n = 0;
    for (int32_t b = 0; b < f->bodies; b++) {
        for (int32_t k = 0; k < 2 * f->joints; k++) {
            if (f->joint[k / 2].body[k % 2] == b) {
                f->end[n++] = (struct floor_end){.joint = k / 2, .side = k % 2};
            }
        }
        f->begin[b + 1] = n;
    }
}

static int by_column(const void *a, const void *b)
{
    const struct entry *const x = a, *const y = b;
    return x->col != y->col ? (x->col > y->col) - (x->col < y->col)
                            : (x->row > y->row) - (x->row < y->row);
}

/* Columns and slots of the entries that were collected. */
static void compile(struct floor_graph *f)
{
    const size_t n = (size_t)f->written;
    int *const slot = calloc(n, sizeof *slot);
    f->p = calloc((size_t)f->size + 1, sizeof *f->p);
    f->i = calloc(n, sizeof *f->i);
    f->x = calloc(n, sizeof *f->x);
    f->r = calloc((size_t)f->size, sizeof *f->r);
    if (slot == NULL || f->p == NULL || f->i == NULL || f->x == NULL || f->r == NULL) {
        fail("no memory");
    }
    qsort(collected, n, sizeof *collected, by_column);
    f->entries = 0;
    for (size_t k = 0; k < n; k++) {
        const bool same = k > 0 && collected[k].row == collected[k - 1].row &&
                          collected[k].col == collected[k - 1].col;
        if (!same) {
            f->i[f->entries++] = collected[k].row;
            f->p[collected[k].col + 1] = f->entries;
        }
        slot[collected[k].order] = f->entries - 1;
    }
    f->slot = slot;
}

void floor_graph_init(struct floor_graph *f, int32_t bodies, const struct floor_joint *joint,
                      int32_t joints, int32_t space)
{
    *f = (struct floor_graph){
        .bodies = bodies, .joints = joints, .space = space, .joint = joint, .iterations = 1};
    f->size = joints * (space ? 3 : 2);
    sort_ends(f);
    assemble(f);
    compile(f);
    assemble(f);
    klu_defaults(&f->common);
    f->symbolic = klu_analyze(f->size, f->p, f->i, &f->common);
    f->numeric = f->symbolic != NULL ? klu_factor(f->p, f->i, f->x, f->symbolic, &f->common) : NULL;
    if (f->numeric == NULL) {
        fail("singular");
    }
}

void floor_graph_fini(struct floor_graph *f)
{
    klu_free_numeric(&f->numeric, &f->common);
    klu_free_symbolic(&f->symbolic, &f->common);
    free(f->begin);
    free(f->end);
    free(f->p);
    free(f->i);
    free(f->x);
    free(f->r);
    free(f->slot);
}

void floor_graph_run(void *graph, uint64_t count)
{
    struct floor_graph *const f = graph;
    for (uint64_t k = 0; k < count * (uint64_t)f->iterations; k++) {
        memset(f->x, 0, (size_t)f->entries * sizeof *f->x);
        assemble(f);
        for (int32_t i = 0; i < f->size; i++) {
            f->r[i] = 1e-3 * (i % 5 - 2);
        }
        if (!klu_refactor(f->p, f->i, f->x, f->symbolic, f->numeric, &f->common) ||
            !klu_solve(f->symbolic, f->numeric, f->size, 1, f->r, &f->common)) {
            fail("no factors");
        }
    }
    bench_use(f->r);
}
