/* Rows of all interactions: y = H q + b with the columns of H spread over the coordinates of its
 * systems, one after the other. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <stdio.h>
#include <string.h>

/* Columns of the systems of an interaction; false with a fault when they do not fit H. */
static bool systems_fit(const struct mech_model *m, const struct mech_interaction *in, size_t i,
                        struct mech_diag *diag)
{
    const struct mech_mat *const H = in->relation.type->ops.relation->H(in->relation.description);
    char path[MECH_DIAG_PATH];
    int64_t columns = 0;
    bool clean = true;

    for (size_t k = 0; k < in->systems.n; k++) {
        const int32_t o = in->systems.refs[k].index;

        if (!m->document->objects.at[o].type->ops.object->system) {
            snprintf(path, sizeof path, "/interactions/%zu/systems/%zu", i, k);
            mech_diag_add(diag, path, "\"%s\" is not a system of second order",
                          in->systems.refs[k].name);
            clean = false;
        }
        columns += m->objects[o].n;
    }
    if (clean && columns != H->cols) {
        snprintf(path, sizeof path, "/interactions/%zu/relation/H", i);
        mech_diag_add(diag, path, "has %d columns, the systems have %lld coordinates", (int)H->cols,
                      (long long)columns);
        clean = false;
    }
    return clean;
}

/* Entry of H by rows: row, column among all velocities, value. */
static int by_row(struct mech_arena *arena, const struct mech_model *m,
                  const struct mech_interaction *in, struct mech_triplet **out, size_t *count)
{
    const struct mech_mat *const H = in->relation.type->ops.relation->H(in->relation.description);
    int32_t *const slot = mech_arena_alloc(arena, (size_t)H->cols, sizeof *slot);
    size_t n = 0;

    if (!slot) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < in->systems.n; k++) {
        const struct mech_seat_of *const on = &m->objects[in->systems.refs[k].index];

        memcpy(slot + n, on->slot, (size_t)on->n * sizeof *slot);
        n += (size_t)on->n;
    }
    struct mech_triplet *t = NULL;
    MECH_TRY(mech_mat_triplets(arena, H, &t, count));

    /* triplets come by columns: a counting sort by row keeps columns ascending */
    size_t *const next = mech_arena_alloc(arena, (size_t)H->rows + 1, sizeof *next);
    struct mech_triplet *const sorted = mech_arena_alloc(arena, *count, sizeof *sorted);
    if (!next || !sorted) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < *count; k++) {
        next[t[k].row + 1]++;
    }
    for (int32_t r = 0; r < H->rows; r++) {
        next[r + 1] += next[r];
    }
    for (size_t k = 0; k < *count; k++) {
        sorted[next[t[k].row]++] = (struct mech_triplet){t[k].row, slot[t[k].col], t[k].value};
    }
    *out = sorted;
    return 0;
}

struct row_arrays {
    int32_t *start, *column, *interaction;
    double *value, *b, *e, *compliance, *damping;
    struct mech_set *sets;
    int32_t contacts;
    bool plain; /* unilateral rows alone */
    bool soft;  /* some row is compliant */
};

static int allocate(struct mech_model *m, size_t rows, size_t entries, struct row_arrays *a)
{
    a->start = mech_arena_alloc(&m->arena, rows + 1, sizeof *a->start);
    a->interaction = mech_arena_alloc(&m->arena, rows, sizeof *a->interaction);
    a->b = mech_arena_alloc(&m->arena, rows, sizeof *a->b);
    a->e = mech_arena_alloc(&m->arena, rows, sizeof *a->e);
    a->compliance = mech_arena_alloc(&m->arena, rows, sizeof *a->compliance);
    a->damping = mech_arena_alloc(&m->arena, rows, sizeof *a->damping);
    a->column = mech_arena_alloc(&m->arena, entries, sizeof *a->column);
    a->value = mech_arena_alloc(&m->arena, entries, sizeof *a->value);
    a->sets = mech_arena_alloc(&m->arena, rows, sizeof *a->sets);
    a->contacts = 0;
    a->plain = true;
    a->soft = false;
    return a->start && a->interaction && a->b && a->e && a->compliance && a->damping && a->column &&
                   a->value && a->sets
               ? 0
               : MECH_NO_MEMORY;
}

static struct mech_contact_law law_of(const struct mech_interaction *in)
{
    struct mech_contact_law law = {.rows = 1};

    in->law.type->ops.law->contact(in->law.description, &law);
    return law;
}

static void append_contact(const struct mech_contact_law *law, struct row_arrays *a)
{
    static const enum mech_set_kind kinds[] = {[MECH_LAW_UNILATERAL] = MECH_SET_UNILATERAL,
                                               [MECH_LAW_FRICTION] = MECH_SET_CONE,
                                               [MECH_LAW_EQUALITY] = MECH_SET_BILATERAL,
                                               [MECH_LAW_RELAY] = MECH_SET_BOX};

    a->plain &= law->kind == MECH_LAW_UNILATERAL;
    a->soft |= law->compliance > 0.;
    a->sets[a->contacts++] = (struct mech_set){.kind = kinds[law->kind],
                                               .rows = law->rows,
                                               .mu = law->mu,
                                               .lower = law->lower,
                                               .upper = law->upper};
}

/* Append the rows of interaction i. */
static int append(struct mech_model *m, const struct mech_interaction *in, size_t i,
                  struct row_arrays *a, int32_t *row)
{
    const struct mech_relation_ops *const relation = in->relation.type->ops.relation;
    const struct mech_vector *const b = relation->b(in->relation.description);
    const struct mech_contact_law law = law_of(in);
    const int32_t rows = relation->H(in->relation.description)->rows;
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    struct mech_triplet *t = NULL;
    size_t count = 0, k = 0;

    const int result = by_row(&m->scratch, m, in, &t, &count);
    for (int32_t r = 0; r < rows && result == 0; r++, (*row)++) {
        int32_t at = a->start[*row];

        for (; k < count && t[k].row == r; k++, at++) {
            a->column[at] = t[k].col;
            a->value[at] = t[k].value;
        }
        a->start[*row + 1] = at;
        a->b[*row] = b->n ? b->x[r] : 0.;
        a->e[*row] = law.e[r % law.rows];
        a->compliance[*row] = law.compliance;
        a->damping[*row] = law.damping;
        a->interaction[*row] = (int32_t)i;
        if (r % law.rows == 0) {
            append_contact(&law, a);
        }
    }
    mech_arena_release(&m->scratch, mark);
    return result;
}

static enum mech_friction friction_of(const struct mech_document *d)
{
    return d->contact.friction == MECH_FRICTION_ASSOCIATED ? MECH_ASSOCIATED : MECH_COULOMB;
}

int mech_contacts(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_structs *const list = &m->document->interactions;
    const struct mech_interaction *const in = list->at;
    size_t rows = 0, entries = 0;
    struct row_arrays a;
    int32_t row = 0;

    bool clean = true;
    for (size_t i = 0; i < list->n; i++) {
        clean = systems_fit(m, &in[i], i, diag) && clean;
        const struct mech_mat *const H =
            in[i].relation.type->ops.relation->H(in[i].relation.description);

        if (H->rows % law_of(&in[i]).rows) {
            char path[64];

            snprintf(path, sizeof path, "/interactions/%zu/relation/H", i);
            mech_diag_add(diag, path, "has %d rows; each contact of this law takes %d",
                          (int)H->rows, (int)law_of(&in[i]).rows);
            clean = false;
        }
        rows += (size_t)H->rows;
        entries += mech_mat_stored(H);
    }
    if (rows > INT32_MAX / 2 || entries > INT32_MAX / 2) {
        mech_diag_add(diag, "/interactions", "too many rows");
        clean = false;
    }
    if (!clean) {
        return 0;
    }
    MECH_TRY(allocate(m, rows, entries, &a));
    for (size_t i = 0; i < list->n; i++) {
        MECH_TRY(append(m, &in[i], i, &a, &row));
    }
    m->rows = (struct mech_contact_rows){.count = row,
                                         .start = a.start,
                                         .column = a.column,
                                         .value = a.value,
                                         .b = a.b,
                                         .e = a.e,
                                         .compliance = a.soft ? a.compliance : NULL,
                                         .damping = a.soft ? a.damping : NULL,
                                         .interaction = a.interaction,
                                         .contacts = a.contacts,
                                         .sets = a.plain ? NULL : a.sets,
                                         .friction = friction_of(m->document)};
    m->sizes.impulse = row;
    return 0;
}
