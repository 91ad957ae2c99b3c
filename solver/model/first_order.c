/* Systems of first order with a matrix before their rates, X ẋ = A x + b.
 *
 * All code except the schemes for such systems uses ẋ = A' x + r with A' = X⁻¹A and r = X⁻¹b, made
 * here once: X falls into blocks of states that it couples, whose inverses are dense. A diagonal X
 * does not change the pattern of A. */
#include "solver/base/err.h"
#include "solver/linalg/dense.h"
#include "solver/model/internal.h"

#include <math.h>
#include <string.h>

/* states that one block of X couples: its inverse is dense */
enum { BLOCK_MOST = 1000 };

/* The first state of its block for each state, from the entries of X. */
static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int32_t *parent, const struct mech_terms_list *list)
{
    for (size_t k = 0; k < list->n; k++) {
        const int32_t a = root_of(parent, list->at[k].row), b = root_of(parent, list->at[k].col);

        if (list->at[k].value != 0.) {
            parent[a > b ? a : b] = a > b ? b : a;
        }
    }
}

struct blocks {
    int32_t *of;     /* [nx] number of the block of each state */
    int32_t *place;  /* [nx] of a state in its block */
    int32_t *start;  /* [count + 1] of the states of each block in `member` */
    int32_t *member; /* [nx] */
    size_t *first;   /* [count + 1] of the values of each block in `inverse` */
    double *inverse; /* each by columns */
    int32_t count;
};

static int find_blocks(struct mech_model *m, const struct mech_terms_list *list, struct blocks *b)
{
    const size_t n = (size_t)m->sizes.x;
    int32_t *const parent = mech_arena_alloc(&m->scratch, 4 * n + n + 1, sizeof *parent);

    b->first = mech_arena_alloc(&m->scratch, n + 1, sizeof *b->first);
    if (!parent || !b->first) {
        return MECH_NO_MEMORY;
    }
    b->of = parent + n;
    b->place = b->of + n;
    b->member = b->place + n;
    b->start = b->member + n;
    for (int32_t i = 0; i < (int32_t)n; i++) {
        parent[i] = i;
    }
    join(parent, list);
    for (int32_t i = 0; i < (int32_t)n; i++) {
        const int32_t root = root_of(parent, i);

        b->of[i] = root == i ? b->count++ : b->of[root];
        b->place[i] = b->start[b->of[i] + 1]++;
    }
    for (int32_t k = 0; k < b->count; k++) {
        const size_t size = (size_t)b->start[k + 1];

        b->first[k + 1] = b->first[k] + size * size;
        b->start[k + 1] += b->start[k];
    }
    for (int32_t i = 0; i < (int32_t)n; i++) {
        b->member[b->start[b->of[i]] + b->place[i]] = i;
    }
    return 0;
}

/* The object that brings state i. */
static size_t owner_of(const struct mech_model *m, int32_t i)
{
    for (size_t o = 0; o < m->document->objects.n; o++) {
        const struct mech_seat_of *const on = &m->kinematics.objects[o];

        if (m->document->objects.at[o].type->ops.object->own && on->first_order && on->n > 0 &&
            i >= on->slot[0] && i < on->slot[0] + on->n) {
            return o;
        }
    }
    return 0;
}

/* out := the inverse of the n × n matrix a, by columns; false: a is singular */
static bool invert(int32_t n, double *a, double *size, int32_t *pivot, double *out)
{
    for (int32_t j = 0; j < n; j++) {
        size[j] = 0.;
        for (int32_t i = 0; i < n; i++) {
            size[j] = fmax(size[j], fabs(a[j * n + i]));
            out[j * n + i] = i == j;
        }
    }
    if (n == 1 && a[0] != 0.) {
        out[0] = 1. / a[0];
        return isfinite(out[0]);
    }
    if (mech_dense_lu_factor(n, a, size, pivot) >= 0) {
        return false;
    }
    for (int32_t j = 0; j < n; j++) {
        mech_dense_lu_solve(n, a, pivot, out + (size_t)j * (size_t)n);
    }
    return true;
}

/* The entries of X by blocks, at `a`: 1 where no object gave any. */
static void fill(const struct mech_model *m, const struct mech_terms_list *list, const bool *given,
                 const struct blocks *b, double *a)
{
    for (int32_t i = 0; i < m->sizes.x; i++) {
        if (!given[i]) {
            a[b->first[b->of[i]]] = 1.;
        }
    }
    for (size_t k = 0; k < list->n; k++) {
        const struct mech_triplet *const t = &list->at[k];
        const int32_t at = b->of[t->row], n = b->start[at + 1] - b->start[at];

        if (t->value != 0.) {
            a[b->first[at] + (size_t)b->place[t->col] * (size_t)n + (size_t)b->place[t->row]] +=
                t->value;
        }
    }
}

static int invert_blocks(struct mech_model *m, const struct mech_terms_list *list,
                         const bool *given, struct blocks *b, struct mech_diag *diag)
{
    const size_t stored = b->first[b->count];
    double *const a = mech_arena_alloc(&m->scratch, 2 * stored + BLOCK_MOST, sizeof *a);
    int32_t *const pivot = mech_arena_alloc(&m->scratch, BLOCK_MOST, sizeof *pivot);

    if (!a || !pivot) {
        return MECH_NO_MEMORY;
    }
    b->inverse = a + stored;
    fill(m, list, given, b, a);
    for (int32_t k = 0; k < b->count; k++) {
        const size_t at = b->first[k];
        const int32_t n = b->start[k + 1] - b->start[k];

        if (!invert(n, a + at, a + 2 * stored, pivot, b->inverse + at)) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_OBJECT, owner_of(m, b->member[b->start[k]]), "M", path,
                           sizeof path);
            mech_diag_add(diag, path, "the matrix is singular");
            return 0;
        }
    }
    return 0;
}

/* True, with a fault, when a block is too large. */
static bool too_large(const struct mech_model *m, const struct blocks *b, struct mech_diag *diag)
{
    for (int32_t k = 0; k < b->count; k++) {
        if (b->start[k + 1] - b->start[k] > BLOCK_MOST) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_OBJECT, owner_of(m, b->member[b->start[k]]), "M", path,
                           sizeof path);
            mech_diag_add(diag, path, "couples more than %d states", BLOCK_MOST);
            return true;
        }
    }
    return false;
}

/* X⁻¹ by columns */
static int keep_inverse(struct mech_model *m, const struct blocks *b)
{
    const size_t n = (size_t)m->sizes.x, stored = b->first[b->count];
    struct mech_first_order *const f = &m->terms.first;

    f->start = mech_arena_alloc(&m->arena, n + 1, sizeof *f->start);
    f->row = mech_arena_alloc(&m->arena, stored, sizeof *f->row);
    f->value = mech_arena_alloc(&m->arena, stored, sizeof *f->value);
    if (!f->start || !f->row || !f->value) {
        return MECH_NO_MEMORY;
    }
    size_t at = 0;
    for (size_t j = 0; j < n; j++) {
        const int32_t k = b->of[j], size = b->start[k + 1] - b->start[k];
        const double *const column = b->inverse + b->first[k] + (size_t)b->place[j] * (size_t)size;

        for (int32_t i = 0; i < size; i++) {
            f->row[at] = b->member[b->start[k] + i];
            f->value[at++] = column[i];
        }
        f->start[j + 1] = at;
    }
    return 0;
}

/* A' = X⁻¹A from the entries of A */
static int multiply(struct mech_model *m, const struct mech_terms_list *list)
{
    const struct mech_first_order *const f = &m->terms.first;
    size_t most = 0, count = 0;

    for (size_t k = 0; k < list->n; k++) {
        most += f->start[list->at[k].row + 1] - f->start[list->at[k].row];
    }
    struct mech_triplet *const t = mech_arena_alloc(&m->scratch, most, sizeof *t);
    if (!t) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < list->n; k++) {
        const struct mech_triplet *const a = &list->at[k];

        for (size_t i = f->start[a->row]; i < f->start[a->row + 1]; i++) {
            t[count++] = (struct mech_triplet){f->row[i], a->col, f->value[i] * a->value};
        }
    }
    return mech_mat_from_triplets(&m->arena, m->sizes.x, m->sizes.x, t, count, &m->terms.A);
}

/* X itself, with its ones */
static int keep_matrix(struct mech_model *m, const struct mech_terms_list *list, const bool *given)
{
    const size_t n = (size_t)m->sizes.x;
    struct mech_triplet *const t = mech_arena_alloc(&m->scratch, list->n + n, sizeof *t);
    size_t count = list->n;

    if (!t) {
        return MECH_NO_MEMORY;
    }
    memcpy(t, list->at, count * sizeof *t);
    for (int32_t i = 0; i < (int32_t)n; i++) {
        if (!given[i]) {
            t[count++] = (struct mech_triplet){i, i, 1.};
        }
    }
    return mech_mat_from_triplets(&m->arena, m->sizes.x, m->sizes.x, t, count, &m->terms.first.X);
}

int mech_first_order(struct mech_model *m, const struct mech_terms *terms, const bool *given,
                     struct mech_diag *diag)
{
    const struct mech_terms_list *const X = &terms->list[MECH_TERM_X];
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    struct blocks b = {.count = 0};

    if (X->n == 0) {
        return 0;
    }
    MECH_TRY(keep_matrix(m, X, given));
    int code = find_blocks(m, X, &b);
    if (code == 0 && !too_large(m, &b, diag)) {
        code = invert_blocks(m, X, given, &b, diag);
    }
    if (code == 0 && mech_diag_clean(diag)) {
        m->terms.first.A = m->terms.A;
        m->terms.first.has_mass = true;
        code = keep_inverse(m, &b);
        code = code ? code : multiply(m, &terms->list[MECH_TERM_A]);
    }
    mech_arena_release(&m->scratch, mark);
    return code;
}
