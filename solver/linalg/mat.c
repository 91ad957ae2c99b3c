/* Matrices in the leanest of four forms: choice of the form, conversion, sums.
 * Triplets are sorted by a counting sort over rows and then columns, which is stable, so that
 * duplicates are added in the order given. Cost: O(rows + cols + triplets). */
#include "solver/linalg/mat.h"

#include "solver/base/err.h"
#include "solver/linalg/mat_walk.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Up to this order dense is leaner than anything with an index. */
enum { SMALL = 8 };

static size_t zt(int32_t n)
{
    return (size_t)n;
}

size_t mech_mat_stored(const struct mech_mat *a)
{
    switch (a->kind) {
    case MECH_MAT_ZERO:
        return 0;
    case MECH_MAT_DIAG:
        return zt(a->rows);
    case MECH_MAT_BAND:
        return zt(a->rows) * (zt(a->lower) + zt(a->upper) + 1);
    case MECH_MAT_DENSE:
        return zt(a->rows) * zt(a->cols);
    case MECH_MAT_CSC:
        return zt(a->colptr[a->cols]);
    }
    return 0;
}

/* Stable counting sort of t by row (or column) through `other`; count [size + 1] is scratch. */
static void sort_pass(const struct mech_triplet *t, size_t n, bool by_row, size_t *count,
                      size_t size, struct mech_triplet *other)
{
    memset(count, 0, (size + 1) * sizeof *count);
    for (size_t k = 0; k < n; k++) {
        count[zt(by_row ? t[k].row : t[k].col) + 1]++;
    }
    for (size_t i = 0; i < size; i++) {
        count[i + 1] += count[i];
    }
    for (size_t k = 0; k < n; k++) {
        other[count[zt(by_row ? t[k].row : t[k].col)]++] = t[k];
    }
}

/* Sort by columns, rows ascending, and add up duplicates; *count becomes the number of places. */
static int sort_triplets(struct mech_arena *arena, int32_t rows, int32_t cols,
                         struct mech_triplet *t, size_t *count)
{
    const struct mech_arena_mark mark = mech_arena_mark(arena);
    const size_t most = zt(rows > cols ? rows : cols);
    struct mech_triplet *const other = mech_arena_alloc(arena, *count, sizeof *other);
    size_t *const starts = mech_arena_alloc(arena, most + 2, sizeof *starts);
    if (!other || !starts) {
        mech_arena_release(arena, mark);
        return MECH_NO_MEMORY;
    }
    sort_pass(t, *count, true, starts, zt(rows), other);
    sort_pass(other, *count, false, starts, zt(cols), t);
    mech_arena_release(arena, mark);
    // add up runs of the same place
    size_t n = 0;
    for (size_t k = 0; k < *count; k++) {
        if (n > 0 && t[n - 1].row == t[k].row && t[n - 1].col == t[k].col) {
            t[n - 1].value += t[k].value;
        } else {
            t[n++] = t[k];
        }
    }
    *count = n;
    return 0;
}

/* Kind and band of the leanest form for sorted places. */
static void choose(const struct mech_triplet *t, size_t count, struct mech_mat *out)
{
    const size_t rows = zt(out->rows);
    const size_t cols = zt(out->cols);
    int32_t lower = 0;
    int32_t upper = 0;
    for (size_t k = 0; k < count; k++) {
        const int32_t d = t[k].col - t[k].row;
        upper = d > upper ? d : upper;
        lower = -d > lower ? -d : lower;
    }
    const size_t width = zt(lower) + zt(upper) + 1;
    const bool square = rows == cols;
    out->lower = 0;
    out->upper = 0;
    if (count == 0) {
        out->kind = MECH_MAT_ZERO;
    } else if (square && width == 1) {
        out->kind = MECH_MAT_DIAG;
    } else if (rows <= SMALL && cols <= SMALL) {
        out->kind = MECH_MAT_DENSE;
    } else if (square && 2 * width <= cols && rows * width <= 3 * count) {
        out->kind = MECH_MAT_BAND;
        out->lower = lower;
        out->upper = upper;
    } else if (rows * cols <= 4 * count) {
        out->kind = MECH_MAT_DENSE;
    } else {
        out->kind = MECH_MAT_CSC;
    }
}

/* Arrays for the kind, order and band that are set in out; nnz counts for CSC alone. */
static int allocate(struct mech_arena *arena, size_t nnz, struct mech_mat *out)
{
    out->colptr = NULL;
    out->rowind = NULL;
    out->values = NULL;
    if (out->kind == MECH_MAT_ZERO) {
        return 0;
    }
    size_t stored = nnz;
    if (out->kind == MECH_MAT_CSC) {
        if (nnz > INT32_MAX) {
            return MECH_NO_MEMORY;
        }
        out->colptr = mech_arena_alloc(arena, zt(out->cols) + 1, sizeof *out->colptr);
        out->rowind = mech_arena_alloc(arena, nnz, sizeof *out->rowind);
        if (!out->colptr || !out->rowind) {
            return MECH_NO_MEMORY;
        }
    } else {
        stored = mech_mat_stored(out);
    }
    out->values = mech_arena_alloc(arena, stored, sizeof *out->values);
    return !out->values ? MECH_NO_MEMORY : 0;
}

/* True when A = Aᵀ. For CSC, the columns are walked in ascending order while next[i] walks column
 * i: in a symmetric matrix the entry met at (i, j) is always answered by the next one of column i.
 * */
static int find_symmetric(struct mech_arena *arena, struct mech_mat *a)
{
    a->symmetric = false;
    if (a->rows != a->cols) {
        return 0;
    }
    const size_t n = zt(a->rows);
    if (a->kind == MECH_MAT_ZERO || a->kind == MECH_MAT_DIAG) {
        a->symmetric = true;
    } else if (a->kind == MECH_MAT_BAND) {
        if (a->lower != a->upper) {
            return 0;
        }
        const double *const main_diagonal = a->values + zt(a->lower) * n;
        for (size_t d = 1; d <= zt(a->upper); d++) {
            const double *const above = main_diagonal + d * n;
            const double *const below = main_diagonal - d * n;
            for (size_t i = 0; i + d < n; i++) {
                if (above[i] != below[i + d]) {
                    return 0;
                }
            }
        }
        a->symmetric = true;
    } else if (a->kind == MECH_MAT_DENSE) {
        for (size_t j = 0; j < n; j++) {
            for (size_t i = 0; i < j; i++) {
                if (a->values[j * n + i] != a->values[i * n + j]) {
                    return 0;
                }
            }
        }
        a->symmetric = true;
    } else {
        const struct mech_arena_mark mark = mech_arena_mark(arena);
        int32_t *const next = mech_arena_alloc(arena, n, sizeof *next);
        if (!next) {
            return MECH_NO_MEMORY;
        }
        memcpy(next, a->colptr, n * sizeof *next);
        bool same = true;
        for (int32_t j = 0; same && j < a->cols; j++) {
            for (int32_t k = a->colptr[j]; same && k < a->colptr[j + 1]; k++) {
                const int32_t i = a->rowind[k];
                const int32_t m = next[i]++;
                same = m < a->colptr[i + 1] && a->rowind[m] == j && a->values[m] == a->values[k];
            }
        }
        a->symmetric = same;
        mech_arena_release(arena, mark);
    }
    return 0;
}

/* Column pointers and row indices from sorted places. */
static void index_places(const struct mech_triplet *t, size_t count, struct mech_mat *out)
{
    if (out->kind != MECH_MAT_CSC) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        out->colptr[t[k].col + 1]++;
        out->rowind[k] = t[k].row;
    }
    for (int32_t j = 0; j < out->cols; j++) {
        out->colptr[j + 1] += out->colptr[j];
    }
}

int mech_mat_from_triplets(struct mech_arena *arena, int32_t rows, int32_t cols,
                           struct mech_triplet *t, size_t count, struct mech_mat *out)
{
    *out = (struct mech_mat){.rows = rows, .cols = cols};
    MECH_TRY(sort_triplets(arena, rows, cols, t, &count));
    choose(t, count, out);
    MECH_TRY(allocate(arena, count, out));
    index_places(t, count, out);
    for (size_t k = 0; k < count; k++) {
        if (out->kind == MECH_MAT_CSC) {
            out->values[k] = t[k].value;
        } else {
            *mech_mat_place(out, t[k].row, t[k].col) = t[k].value;
        }
    }
    return find_symmetric(arena, out);
}

int mech_mat_identity(struct mech_arena *arena, int32_t n, struct mech_mat *out)
{
    struct mech_triplet *const t = mech_arena_alloc(arena, (size_t)n, sizeof *t);

    if (!t) {
        return MECH_NO_MEMORY;
    }
    for (int32_t i = 0; i < n; i++) {
        t[i] = (struct mech_triplet){i, i, 1.};
    }
    return mech_mat_from_triplets(arena, n, n, t, (size_t)n, out);
}

int mech_mat_copy(struct mech_arena *arena, const struct mech_mat *a, struct mech_mat *out)
{
    *out = *a;
    const size_t stored = mech_mat_stored(a);
    MECH_TRY(allocate(arena, stored, out));
    if (a->kind == MECH_MAT_CSC) {
        memcpy(out->colptr, a->colptr, (zt(a->cols) + 1) * sizeof *a->colptr);
        memcpy(out->rowind, a->rowind, stored * sizeof *a->rowind);
    }
    if (stored > 0) {
        memcpy(out->values, a->values, stored * sizeof *a->values);
    }
    return 0;
}

int mech_mat_triplets(struct mech_arena *arena, const struct mech_mat *a, struct mech_triplet **out,
                      size_t *count)
{
    struct mech_triplet *const t = mech_arena_alloc(arena, mech_mat_stored(a), sizeof *t);
    if (!t) {
        return MECH_NO_MEMORY;
    }
    size_t n = 0;
    struct mech_mat_walk w = {.a = a};
    while (mech_mat_next(&w)) {
        if (w.value != 0.) {
            t[n++] = (struct mech_triplet){.row = w.row, .col = w.col, .value = w.value};
        }
    }
    *out = t;
    *count = n;
    return 0;
}

double mech_mat_get(const struct mech_mat *a, int32_t i, int32_t j)
{
    const double *const at = a->kind == MECH_MAT_ZERO ? NULL : mech_mat_place(a, i, j);
    return !at ? 0. : *at;
}

bool mech_mat_is_finite(const struct mech_mat *a)
{
    // 0 · x is 0 for finite x and NaN otherwise; four sums, so that they overlap
    const size_t n = mech_mat_stored(a);
    double sum[4] = {0.};
    size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        for (size_t l = 0; l < 4; l++) {
            sum[l] += 0. * a->values[k + l];
        }
    }
    for (; k < n; k++) {
        sum[0] += 0. * a->values[k];
    }
    return isfinite(sum[0] + sum[1] + sum[2] + sum[3]);
}

/* All stored places of `count` matrices as triplets of value 0. */
static int places(struct mech_arena *arena, size_t count, const struct mech_mat *const *a,
                  struct mech_triplet **out, size_t *total)
{
    size_t most = 0;
    for (size_t k = 0; k < count; k++) {
        most += mech_mat_stored(a[k]);
    }
    struct mech_triplet *const t = mech_arena_alloc(arena, most, sizeof *t);
    if (!t) {
        return MECH_NO_MEMORY;
    }
    size_t n = 0;
    for (size_t k = 0; k < count; k++) {
        struct mech_mat_walk w = {.a = a[k]};
        while (mech_mat_next(&w)) {
            t[n++] = (struct mech_triplet){.row = w.row, .col = w.col};
        }
    }
    *out = t;
    *total = n;
    return 0;
}

/* A form of the given kind (or the leanest, < 0) around the places of all a; values are 0. */
static int union_of(struct mech_arena *arena, size_t count, const struct mech_mat *const *a,
                    int kind, struct mech_mat *out)
{
    // the places are needed for a short time only: they live in an arena of their own
    struct mech_arena scratch;
    mech_arena_init(&scratch, 0);
    struct mech_triplet *t = NULL;
    size_t n = 0;
    int code = places(&scratch, count, a, &t, &n);
    if (code == 0) {
        code = sort_triplets(&scratch, out->rows, out->cols, t, &n);
    }
    if (code == 0) {
        choose(t, n, out);
        if (kind >= 0) {
            out->kind = (enum mech_mat_kind)kind;
        }
        code = allocate(arena, n, out);
    }
    if (code == 0) {
        index_places(t, n, out);
    }
    mech_arena_fini(&scratch);
    return code;
}

int mech_mat_sum(struct mech_arena *arena, size_t count, const double *s,
                 const struct mech_mat *const *a, struct mech_mat *out)
{
    assert(count > 0);
    bool symmetric = true;
    enum mech_mat_kind widest = MECH_MAT_ZERO;
    bool dense = false;
    int32_t lower = 0;
    int32_t upper = 0;
    for (size_t k = 0; k < count; k++) {
        assert(a[k]->rows == a[0]->rows && a[k]->cols == a[0]->cols);
        symmetric = symmetric && a[k]->symmetric;
        dense = dense || a[k]->kind == MECH_MAT_DENSE;
        widest = a[k]->kind > widest ? a[k]->kind : widest;
        if (a[k]->kind == MECH_MAT_BAND) {
            lower = a[k]->lower > lower ? a[k]->lower : lower;
            upper = a[k]->upper > upper ? a[k]->upper : upper;
        }
    }
    *out = (struct mech_mat){.rows = a[0]->rows, .cols = a[0]->cols, .symmetric = symmetric};
    if (dense) {
        out->kind = MECH_MAT_DENSE;
        MECH_TRY(allocate(arena, 0, out));
    } else if (widest == MECH_MAT_CSC) {
        MECH_TRY(union_of(arena, count, a, -1, out));
    } else {
        out->kind = widest;
        out->lower = lower;
        out->upper = upper;
        MECH_TRY(allocate(arena, 0, out));
    }
    mech_mat_sum_again(count, s, a, out);
    return 0;
}

int mech_mat_convert(struct mech_arena *arena, const struct mech_mat *a, enum mech_mat_kind kind,
                     struct mech_mat *out)
{
    *out = (struct mech_mat){
        .kind = kind, .rows = a->rows, .cols = a->cols, .symmetric = a->symmetric};
    if (kind == MECH_MAT_DENSE) {
        MECH_TRY(allocate(arena, 0, out));
    } else if (kind == MECH_MAT_CSC) {
        MECH_TRY(union_of(arena, 1, &a, (int)kind, out));
    } else {
        // the narrowest band around the stored places
        struct mech_mat_walk w = {.a = a};
        while (mech_mat_next(&w)) {
            const int32_t d = w.col - w.row;
            out->upper = d > out->upper ? d : out->upper;
            out->lower = -d > out->lower ? -d : out->lower;
        }
        const bool fits = (kind == MECH_MAT_ZERO && a->kind == MECH_MAT_ZERO) ||
                          (kind == MECH_MAT_DIAG && out->lower == 0 && out->upper == 0) ||
                          kind == MECH_MAT_BAND;
        if (!fits || (kind != MECH_MAT_ZERO && a->rows != a->cols)) {
            return MECH_UNSUPPORTED;
        }
        MECH_TRY(allocate(arena, 0, out));
    }
    const double one = 1.;
    mech_mat_sum_again(1, &one, &a, out);
    return 0;
}

/* out += s a, both CSC: a's rows are a subset of out's, and both ascend. */
static void add_csc(double s, const struct mech_mat *a, struct mech_mat *out)
{
    for (int32_t j = 0; j < a->cols; j++) {
        int32_t m = out->colptr[j];
        for (int32_t k = a->colptr[j]; k < a->colptr[j + 1]; k++) {
            while (out->rowind[m] != a->rowind[k]) {
                m++;
            }
            out->values[m] += s * a->values[k];
        }
    }
}

/* y += s x, n of them. */
static void add_run(size_t n, double s, const double *restrict x, double *restrict y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] += s * x[i];
    }
}

void mech_mat_sum_again(size_t count, const double *s, const struct mech_mat *const *a,
                        struct mech_mat *out)
{
    const size_t stored = mech_mat_stored(out);
    if (stored == 0) {
        return;
    }
    memset(out->values, 0, stored * sizeof *out->values);
    for (size_t k = 0; k < count; k++) {
        const struct mech_mat *const b = a[k];
        const size_t n = zt(b->rows);
        if (b->kind == MECH_MAT_ZERO) {
            continue;
        }
        if (b->kind == out->kind && b->kind == MECH_MAT_CSC) {
            add_csc(s[k], b, out);
        } else if (b->kind == out->kind && b->kind != MECH_MAT_BAND) {
            add_run(stored, s[k], b->values, out->values);
        } else if (out->kind == MECH_MAT_BAND && b->kind <= MECH_MAT_BAND &&
                   b->lower <= out->lower && b->upper <= out->upper) {
            // diagonals are contiguous, and a diagonal matrix is a band without neighbours
            const size_t width = zt(b->lower) + zt(b->upper) + 1;
            add_run(width * n, s[k], b->values, out->values + zt(out->lower - b->lower) * n);
        } else {
            struct mech_mat_walk w = {.a = b};
            while (mech_mat_next(&w)) {
                double *const at = mech_mat_place(out, w.row, w.col);
                // a place outside holds a zero of a wider band
                if (at) {
                    *at += s[k] * w.value;
                } else {
                    assert(w.value == 0.);
                }
            }
        }
    }
}
