/* Rows of all interactions between first-order systems: y = C x + D λ + e and B λ, with the columns
 * of C and the rows of B spread over the states of the systems, one after the other. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <stdio.h>

struct arrays {
    int32_t *C_start, *C_column, *B_start, *B_row, *D_start, *D_column, *interaction;
    double *C_value, *B_value, *D_value, *e;
    bool *suspended, any_suspended;
    struct mech_set *sets;
};

/* entries of C, B and D */
struct totals {
    size_t rows, C, B, D;
};

static const struct mech_relation_ops *ops_of(const struct mech_interaction *in)
{
    return in->relation.type->ops.relation;
}

static bool count_rows(const struct mech_model *m, struct totals *n, struct mech_diag *diag)
{
    const struct mech_structs *const list = &m->document->interactions;
    const struct mech_interaction *const in = list->at;
    const size_t most = INT32_MAX / 2;
    bool clean = true;

    for (size_t i = 0; i < list->n; i++) {
        const struct mech_relation_ops *const relation = ops_of(&in[i]);
        const void *const description = in[i].relation.description;

        if (!relation->B) {
            continue;
        }
        clean = mech_interaction_fits(m, &in[i], i, diag) && clean;
        n->rows += (size_t)relation->H(description)->rows;
        n->C += mech_mat_stored(relation->H(description));
        n->B += mech_mat_stored(relation->B(description));
        n->D += mech_mat_stored(relation->D(description));
    }
    if (n->rows > most || n->C > most || n->B > most || n->D > most) {
        mech_diag_add(diag, "/interactions", "too many rows");
        clean = false;
    }
    return clean;
}

static int allocate(struct mech_model *m, const struct totals *n, struct arrays *a)
{
    int32_t **const starts[] = {&a->C_start, &a->B_start, &a->D_start};
    int32_t **const indices[] = {&a->C_column, &a->B_row, &a->D_column};
    double **const values[] = {&a->C_value, &a->B_value, &a->D_value};
    const size_t entries[] = {n->C, n->B, n->D};

    for (int k = 0; k < 3; k++) {
        *starts[k] = mech_arena_alloc(&m->arena, n->rows + 1, sizeof(int32_t));
        *indices[k] = mech_arena_alloc(&m->arena, entries[k], sizeof(int32_t));
        *values[k] = mech_arena_alloc(&m->arena, entries[k], sizeof(double));
        if (!*starts[k] || !*indices[k] || !*values[k]) {
            return MECH_NO_MEMORY;
        }
    }
    a->interaction = mech_arena_alloc(&m->arena, n->rows, sizeof *a->interaction);
    a->e = mech_arena_alloc(&m->arena, n->rows, sizeof *a->e);
    a->suspended = mech_arena_alloc(&m->arena, n->rows, sizeof *a->suspended);
    a->sets = mech_arena_alloc(&m->arena, n->rows, sizeof *a->sets);
    a->any_suspended = false;
    return a->interaction && a->e && a->suspended && a->sets ? 0 : MECH_NO_MEMORY;
}

/* The entries of `from`, by rows (or by columns), as rows `row` … of the whole; to: number of the
 * first index, or the index of each. */
struct part {
    const struct mech_mat *from;
    bool by_column;
    const int32_t *slot; /* NULL: indices run from `first` on */
    int32_t first;
    int32_t *start, *index;
    double *value;
};

static int append_part(struct mech_model *m, const struct part *p, int32_t row, int32_t rows)
{
    struct mech_triplet *t = NULL;
    int32_t *start = NULL;
    size_t count = 0, k = 0;

    if (p->from->rows == 0) {
        for (int32_t r = row; r < row + rows; r++) {
            p->start[r + 1] = p->start[r];
        }
        return 0;
    }
    if (p->by_column) {
        MECH_TRY(mech_mat_triplets(&m->scratch, p->from, &t, &count));
    } else {
        MECH_TRY(mech_by_row(&m->scratch, p->from, &t, &start));
        count = (size_t)start[rows];
    }
    for (int32_t r = 0; r < rows; r++) {
        int32_t at = p->start[row + r];

        for (; k < count && (p->by_column ? t[k].col : t[k].row) == r; k++, at++) {
            const int32_t i = p->by_column ? t[k].row : t[k].col;

            p->index[at] = p->slot ? p->slot[i] : p->first + i;
            p->value[at] = t[k].value;
        }
        p->start[row + r + 1] = at;
    }
    return 0;
}

/* Append the rows of interaction i. */
static int append(struct mech_model *m, const struct mech_interaction *in, size_t i,
                  struct arrays *a, int32_t *row)
{
    const struct mech_relation_ops *const relation = ops_of(in);
    const void *const description = in->relation.description;
    const struct mech_vector *const e = relation->b(description);
    const struct mech_contact_law law = mech_interaction_law(in);
    const int32_t rows = relation->H(description)->rows;
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    const int32_t *const slot = mech_interaction_slots(&m->scratch, m, in, false);
    const struct part parts[] = {
        {relation->H(description), false, slot, 0, a->C_start, a->C_column, a->C_value},
        {relation->B(description), true, slot, 0, a->B_start, a->B_row, a->B_value},
        {relation->D(description), false, NULL, *row, a->D_start, a->D_column, a->D_value},
    };
    int code = slot ? 0 : MECH_NO_MEMORY;

    for (int k = 0; k < 3 && code == 0; k++) {
        code = append_part(m, &parts[k], *row, rows);
    }
    for (int32_t r = 0; r < rows && code == 0; r++, (*row)++) {
        a->e[*row] = e->n ? e->x[r] : 0.;
        a->interaction[*row] = (int32_t)i;
        a->suspended[*row] = !in->active;
        a->any_suspended |= !in->active;
        a->sets[*row] = mech_interaction_set(&law);
    }
    mech_arena_release(&m->scratch, mark);
    return code;
}

int mech_first_order_rows(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_structs *const list = &m->document->interactions;
    const struct mech_interaction *const in = list->at;
    struct totals n = {.rows = 0};
    struct arrays a;
    int32_t row = 0;

    if (!count_rows(m, &n, diag) || n.rows == 0) {
        return 0;
    }
    MECH_TRY(allocate(m, &n, &a));
    for (size_t i = 0; i < list->n; i++) {
        if (ops_of(&in[i])->B) {
            MECH_TRY(append(m, &in[i], i, &a, &row));
        }
    }
    m->rows.first_rows =
        (struct mech_first_order_rows){.count = row,
                                       .C_start = a.C_start,
                                       .C_column = a.C_column,
                                       .C_value = a.C_value,
                                       .B_start = a.B_start,
                                       .B_row = a.B_row,
                                       .B_value = a.B_value,
                                       .D_start = a.D_start,
                                       .D_column = a.D_column,
                                       .D_value = a.D_value,
                                       .e = a.e,
                                       .interaction = a.interaction,
                                       .suspended = a.any_suspended ? a.suspended : NULL,
                                       .sets = a.sets};
    m->sizes.impulse += row;
    return 0;
}
