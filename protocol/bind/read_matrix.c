/* Matrices from JSON, in any of four written forms:
 *
 *   [[a, b], [c, d]]                                  rows
 *   {"diag": [a, d]}                                  square, all else 0
 *   {"banded": {"lower": l, "upper": u, "rows": […]}} square; row i holds A(i, i − l … i + u)
 *   {"shape": [r, c], "coo": [[i, j, v], …]}          0-based; the same place twice: added up
 *
 * A row of a band is written whole, 0 where it leaves the matrix, or cut to what lies inside.
 * All become triplets, zeros left out, from which linalg builds the leanest form. An entry may be
 * an expression; its place is kept by a number that only equal texts share, so that a pattern of
 * expressions is found to be symmetric exactly when it is written so.
 */
#include "protocol/bind/reader.h"

#include "protocol/wire/json.h"
#include "solver/base/err.h"
#include "solver/base/hash.h"

#include <stdlib.h>
#include <string.h>

/* An entry that an expression gives. */
struct bound {
    int32_t row, col;
    const char *text; /* in the JSON tree */
    const char *path; /* in the document's arena */
    double *target;   /* once the matrix is built */
};

struct gather {
    const struct mech_field *field;
    int32_t rows, cols;
    struct mech_triplet *t; /* [capacity] */
    size_t n, capacity;
    struct bound *bound; /* [bound_capacity] */
    size_t bound_n, bound_capacity;
};

static int reserve(struct gather *g, size_t count)
{
    g->t = malloc((count > 0 ? count : 1) * sizeof *g->t);
    g->capacity = count;
    return g->t == NULL ? MECH_NO_MEMORY : 0;
}

static int add_bound(struct mechp_reader *r, struct gather *g, int32_t row, int32_t col,
                     const char *text)
{
    if (g->bound_n == g->bound_capacity) {
        const size_t capacity = g->bound_capacity == 0 ? 16 : 2 * g->bound_capacity;
        struct bound *const grown = realloc(g->bound, capacity * sizeof *grown);
        if (grown == NULL) {
            return MECH_NO_MEMORY;
        }
        g->bound = grown;
        g->bound_capacity = capacity;
    }
    const char *const path = mech_arena_strdup(&r->document->arena, r->path->text + r->base);
    g->bound[g->bound_n++] = (struct bound){.row = row, .col = col, .text = text, .path = path};
    return path == NULL ? MECH_NO_MEMORY : 0;
}

/* One entry at the current path. */
static int entry(struct mechp_reader *r, struct gather *g, const json_t *value, int32_t row,
                 int32_t col)
{
    bool bad;
    const char *const text = mechp_reader_expression(r, value, &bad);
    double x = 0.;
    if (text != NULL) {
        MECH_TRY(add_bound(r, g, row, col, text));
        x = 1. + (double)(mech_hash(text, strlen(text), 0) >> 12) * 0x1p-52;
    } else if (bad || !mechp_reader_plain(r, value, g->field, &x) || x == 0.) {
        return 0;
    }
    if (g->n < g->capacity) {
        g->t[g->n++] = (struct mech_triplet){.row = row, .col = col, .value = x};
    }
    return 0;
}

/* True when a number of rows or columns is neither 0 nor too large. */
static bool fits(struct mechp_reader *r, size_t n)
{
    if (n < 1 || n > MECHP_BIND_ORDER) {
        MECHP_FAULT(r, "must have 1 to %d rows and columns", MECHP_BIND_ORDER);
        return false;
    }
    return true;
}

static int gather_rows(struct mechp_reader *r, struct gather *g, const json_t *value)
{
    const size_t rows = json_array_size(value);
    const size_t cols = json_array_size(json_array_get(value, 0));
    if (!fits(r, rows) || (json_is_array(json_array_get(value, 0)) && !fits(r, cols))) {
        return 0;
    }
    g->rows = (int32_t)rows;
    g->cols = (int32_t)cols;
    // as many entries as the text really has
    size_t count = 0;
    for (size_t i = 0; i < rows; i++) {
        count += json_array_size(json_array_get(value, i));
    }
    MECH_TRY(reserve(g, count));
    for (size_t i = 0; i < rows; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        const json_t *const row = json_array_get(value, i);
        if (mechp_reader_array(r, row, cols, "numbers, as the first row")) {
            for (size_t j = 0; j < cols; j++) {
                const size_t inner = mech_path_push_index(r->path, j);
                MECH_TRY(entry(r, g, json_array_get(row, j), (int32_t)i, (int32_t)j));
                mech_path_cut(r->path, inner);
            }
        }
        mech_path_cut(r->path, mark);
    }
    return 0;
}

static int gather_diag(struct mechp_reader *r, struct gather *g, const json_t *object)
{
    static const char *const keys[] = {"diag", NULL};
    mechp_json_only(object, r->path->text, keys, r->diag);
    const json_t *const diag = json_object_get(object, "diag");
    (void)mech_path_push(r->path, "diag");
    if (!json_is_array(diag)) {
        MECHP_FAULT(r, "must be an array of numbers, is %s", mechp_reader_kind(diag));
        return 0;
    }
    const size_t n = json_array_size(diag);
    if (!fits(r, n)) {
        return 0;
    }
    g->rows = g->cols = (int32_t)n;
    MECH_TRY(reserve(g, n));
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        MECH_TRY(entry(r, g, json_array_get(diag, i), (int32_t)i, (int32_t)i));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

/* An integer between 0 and most, required. */
static bool size_member(struct mechp_reader *r, const json_t *object, const char *key, size_t most,
                        size_t *out)
{
    const json_t *const value = json_object_get(object, key);
    if (value == NULL) {
        MECHP_FAULT(r, "missing key '%s'", key);
        return false;
    }
    const double x = json_number_value(value);
    if (!json_is_number(value) || !(x >= 0.) || !(x <= (double)most) || x != (double)(size_t)x) {
        const size_t mark = mech_path_push(r->path, key);
        MECHP_FAULT(r, "must be an integer between 0 and %zu", most);
        mech_path_cut(r->path, mark);
        return false;
    }
    *out = (size_t)x;
    return true;
}

/* One row of a band: columns first … last lie in the matrix, the row holds them or all of the
 * band. */
static int band_row(struct mechp_reader *r, struct gather *g, const json_t *row, size_t i,
                    const size_t band[2])
{
    const size_t n = (size_t)g->rows;
    const size_t lower = band[0];
    const size_t upper = band[1];
    const size_t first = i > lower ? i - lower : 0;
    const size_t last = i + upper < n ? i + upper : n - 1;
    const size_t whole = lower + upper + 1;
    const size_t cut = last - first + 1;
    const size_t given = json_array_size(row);
    if (!json_is_array(row) || (given != whole && given != cut)) {
        MECHP_FAULT(r, "must have %zu numbers, or the %zu inside the matrix", whole, cut);
        return 0;
    }
    for (size_t k = 0; k < given; k++) {
        const size_t mark = mech_path_push_index(r->path, k);
        const json_t *const value = json_array_get(row, k);
        // column + lower, so that it cannot become negative
        const size_t shifted = given == whole ? i + k : first + k + lower;
        if (shifted < lower || shifted - lower >= n) {
            if (!json_is_number(value) || json_number_value(value) != 0.) {
                MECHP_FAULT(r, "lies outside the matrix and must be 0");
            }
        } else {
            MECH_TRY(entry(r, g, value, (int32_t)i, (int32_t)(shifted - lower)));
        }
        mech_path_cut(r->path, mark);
    }
    return 0;
}

static int gather_banded(struct mechp_reader *r, struct gather *g, const json_t *object)
{
    static const char *const outer[] = {"banded", NULL};
    static const char *const keys[] = {"lower", "rows", "upper", NULL};
    mechp_json_only(object, r->path->text, outer, r->diag);
    const json_t *const banded = json_object_get(object, "banded");
    const json_t *const rows = json_object_get(banded, "rows");
    (void)mech_path_push(r->path, "banded");
    mechp_json_only(banded, r->path->text, keys, r->diag);
    if (!json_is_object(banded) || !json_is_array(rows)) {
        MECHP_FAULT(r, "must be an object with 'lower', 'upper' and an array 'rows'");
        return 0;
    }
    const size_t n = json_array_size(rows);
    size_t band[2];
    if (!fits(r, n) || !size_member(r, banded, "lower", n - 1, &band[0]) ||
        !size_member(r, banded, "upper", n - 1, &band[1])) {
        return 0;
    }
    g->rows = g->cols = (int32_t)n;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += json_array_size(json_array_get(rows, i));
    }
    MECH_TRY(reserve(g, count));
    (void)mech_path_push(r->path, "rows");
    for (size_t i = 0; i < n; i++) {
        const size_t mark = mech_path_push_index(r->path, i);
        MECH_TRY(band_row(r, g, json_array_get(rows, i), i, band));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

/* [i, j, v] at the current path. */
static int gather_triplet(struct mechp_reader *r, struct gather *g, const json_t *value)
{
    if (!mechp_reader_array(r, value, 3, "entries: row, column, value")) {
        return 0;
    }
    const int32_t most[2] = {g->rows, g->cols};
    int32_t at[2] = {0, 0};
    for (size_t k = 0; k < 2; k++) {
        const json_t *const index = json_array_get(value, k);
        const double x = json_number_value(index);
        if (!json_is_number(index) || !(x >= 0.) || !(x < most[k]) || x != (double)(int32_t)x) {
            const size_t mark = mech_path_push_index(r->path, k);
            MECHP_FAULT(r, "must be an integer from 0 to %d", (int)most[k] - 1);
            mech_path_cut(r->path, mark);
            return 0;
        }
        at[k] = (int32_t)x;
    }
    const size_t mark = mech_path_push_index(r->path, 2);
    MECH_TRY(entry(r, g, json_array_get(value, 2), at[0], at[1]));
    mech_path_cut(r->path, mark);
    return 0;
}

static int gather_coo(struct mechp_reader *r, struct gather *g, const json_t *object)
{
    static const char *const keys[] = {"coo", "shape", NULL};
    mechp_json_only(object, r->path->text, keys, r->diag);
    const json_t *const shape = json_object_get(object, "shape");
    const json_t *const coo = json_object_get(object, "coo");
    size_t mark = mech_path_push(r->path, "shape");
    double sizes[2] = {0., 0.};
    size_t count = 0;
    if (shape == NULL || !json_is_array(coo)) {
        mech_path_cut(r->path, mark);
        MECHP_FAULT(r, "must have 'shape' and an array 'coo'");
        return 0;
    }
    if (!mechp_json_numbers(shape, r->path->text, r->diag, 2, sizes, &count)) {
        return 0;
    }
    for (size_t k = 0; k < 2; k++) {
        if (count != 2 || !(sizes[k] >= 1.) || !(sizes[k] <= MECHP_BIND_ORDER) ||
            sizes[k] != (double)(int32_t)sizes[k]) {
            MECHP_FAULT(r, "must be two integers between 1 and %d", MECHP_BIND_ORDER);
            return 0;
        }
    }
    mech_path_cut(r->path, mark);
    g->rows = (int32_t)sizes[0];
    g->cols = (int32_t)sizes[1];
    MECH_TRY(reserve(g, json_array_size(coo)));
    (void)mech_path_push(r->path, "coo");
    for (size_t k = 0; k < json_array_size(coo); k++) {
        mark = mech_path_push_index(r->path, k);
        MECH_TRY(gather_triplet(r, g, json_array_get(coo, k)));
        mech_path_cut(r->path, mark);
    }
    return 0;
}

/* --- from triplets to the matrix ------------------------------------------------------------- */

/* Where A(i,j) is stored; it is part of the pattern. */
static double *stored_at(const struct mech_mat *a, int32_t i, int32_t j)
{
    const size_t rows = (size_t)a->rows;
    switch (a->kind) {
    case MECH_MAT_DIAG:
        return a->values + i;
    case MECH_MAT_BAND:
        return a->values + (size_t)(j - i + a->lower) * rows + (size_t)i;
    case MECH_MAT_DENSE:
        return a->values + (size_t)j * rows + (size_t)i;
    case MECH_MAT_CSC:
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            if (a->rowind[k] == i) {
                return a->values + k;
            }
        }
        return NULL;
    default:
        return NULL;
    }
}

static int by_target(const void *a, const void *b)
{
    const uintptr_t x = (uintptr_t)((const struct bound *)a)->target;
    const uintptr_t y = (uintptr_t)((const struct bound *)b)->target;
    return x < y ? -1 : x > y ? 1 : 0;
}

/* Bind the entries that expressions give, in ascending order of their places in memory. */
static int bind_entries(struct mechp_reader *r, struct gather *g, struct mech_mat *a)
{
    for (size_t k = 0; k < g->bound_n; k++) {
        g->bound[k].target = stored_at(a, g->bound[k].row, g->bound[k].col);
        if (g->bound[k].target == NULL) {
            return MECH_INTERNAL;
        }
    }
    if (g->bound_n > 1) {
        qsort(g->bound, g->bound_n, sizeof *g->bound, by_target);
    }
    for (size_t k = 0; k < g->bound_n; k++) {
        const struct bound *const b = &g->bound[k];
        MECH_TRY(mech_document_bind(r->document, b->target, b->text, b->path));
    }
    return 0;
}

/* A place with an expression holds nothing else: a fault if a triplet or another expression shares
 * it. */
static bool places_are_single(struct mechp_reader *r, const struct gather *g, size_t places)
{
    if (g->bound_n == 0 || places == g->n) {
        return true;
    }
    MECHP_FAULT(r, "with expressions, each place may be given only once");
    return false;
}

static int by_place(const void *a, const void *b)
{
    const struct mech_triplet *const x = a;
    const struct mech_triplet *const y = b;
    const int columns = (x->col > y->col) - (x->col < y->col);
    return columns != 0 ? columns : (x->row > y->row) - (x->row < y->row);
}

/* Number of different places. */
static size_t count_places(struct gather *g)
{
    size_t places = g->n > 0 ? 1 : 0;
    qsort(g->t, g->n, sizeof *g->t, by_place);
    for (size_t k = 1; k < g->n; k++) {
        places += by_place(&g->t[k - 1], &g->t[k]) != 0;
    }
    return places;
}

static int gather_any(struct mechp_reader *r, struct gather *g, const json_t *value)
{
    if (json_is_array(value)) {
        return gather_rows(r, g, value);
    }
    if (json_object_get(value, "diag") != NULL) {
        return gather_diag(r, g, value);
    }
    if (json_object_get(value, "banded") != NULL) {
        return gather_banded(r, g, value);
    }
    if (json_object_get(value, "coo") != NULL || json_object_get(value, "shape") != NULL) {
        return gather_coo(r, g, value);
    }
    MECHP_FAULT(r, "must be a matrix: rows, {\"diag\"}, {\"banded\"} or {\"shape\", \"coo\"}");
    return 0;
}

/* Entries that cancel each other out are zeros, and no part of the pattern: leave them out. */
static int drop_zeros(struct mech_arena *arena, const struct gather *g, struct mech_mat *a)
{
    struct mech_triplet *t = NULL;
    size_t n = 0;
    MECH_TRY(mech_mat_triplets(arena, a, &t, &n));
    return n == g->n ? 0 : mech_mat_from_triplets(arena, a->rows, a->cols, t, n, a);
}

int mechp_read_matrix(struct mechp_reader *r, const json_t *value, const struct mech_field *f,
                      void *at)
{
    struct gather g = {.field = f};
    const size_t before = r->diag->total;
    const size_t mark = r->path->length;
    int code = gather_any(r, &g, value);
    mech_path_cut(r->path, mark);
    // faulty entries would only make a wrong matrix
    if (code == 0 && r->diag->total == before &&
        (g.bound_n == 0 || places_are_single(r, &g, count_places(&g)))) {
        code = mech_mat_from_triplets(&r->document->arena, g.rows, g.cols, g.t, g.n, at);
        if (code == 0 && g.bound_n == 0 && json_object_get(value, "coo") != NULL) {
            code = drop_zeros(&r->document->arena, &g, at);
        }
        code = code == 0 ? bind_entries(r, &g, at) : code;
    }
    free(g.t);
    free(g.bound);
    return code;
}
