/* Rows of all interactions: y = H q + b with the columns of H spread over the coordinates of its
 * systems, one after the other. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <stdio.h>
#include <string.h>

/* False, with a fault, when the systems are not what the relation needs. */
static bool systems_fit(const struct mech_model *m, const struct mech_interaction *in, size_t i,
                        struct mech_diag *diag)
{
    const struct mech_relation_ops *const relation = in->relation.type->ops.relation;
    const struct mech_mat *const H = relation->H(in->relation.description);
    const bool first = relation->B;
    char path[MECH_DIAG_PATH];
    int64_t columns = 0;
    bool clean = true;

    for (size_t k = 0; k < in->systems.n; k++) {
        const int32_t o = in->systems.refs[k].index;
        const struct mech_object_ops *const ops = m->document->objects.at[o].type->ops.object;

        if (!ops->system || ops->first_order != first) {
            snprintf(path, sizeof path, "/interactions/%zu/systems/%zu", i, k);
            mech_diag_add(diag, path, "\"%s\" is not a system of %s order",
                          in->systems.refs[k].name, first ? "first" : "second");
            clean = false;
        }
        columns += m->kinematics.objects[o].n;
    }
    if (clean && columns != H->cols) {
        snprintf(path, sizeof path, "/interactions/%zu/relation/%s", i, relation->field);
        mech_diag_add(diag, path, "has %d columns, the systems have %lld coordinates", (int)H->cols,
                      (long long)columns);
        clean = false;
    }
    return clean;
}

bool mech_interaction_fits(const struct mech_model *m, const struct mech_interaction *in, size_t i,
                           struct mech_diag *diag)
{
    const bool first = in->relation.type->ops.relation->B;
    const struct mech_contact_law law = mech_interaction_law(in);
    const bool taken = law.kind == MECH_LAW_EQUALITY || law.kind == MECH_LAW_RELAY ||
                       (law.kind == MECH_LAW_COMPLEMENTARITY) == first;

    if (!taken) {
        char path[MECH_DIAG_PATH];

        snprintf(path, sizeof path, "/interactions/%zu/law", i);
        mech_diag_add(diag, path, "\"%s\" is not a law between systems of %s order",
                      in->law.type->name, first ? "first" : "second");
    }
    return systems_fit(m, in, i, diag) && taken;
}

int32_t *mech_interaction_slots(struct mech_arena *arena, const struct mech_model *m,
                                const struct mech_interaction *in, bool coordinates)
{
    size_t n = 0;

    for (size_t k = 0; k < in->systems.n; k++) {
        n += (size_t)m->kinematics.objects[in->systems.refs[k].index].n;
    }
    int32_t *const slot = mech_arena_alloc(arena, n, sizeof *slot);

    n = 0;
    for (size_t k = 0; k < in->systems.n && slot; k++) {
        const struct mech_seat_of *const on = &m->kinematics.objects[in->systems.refs[k].index];

        memcpy(slot + n, coordinates ? on->q_slot : on->slot, (size_t)on->n * sizeof *slot);
        n += (size_t)on->n;
    }
    return slot;
}

int mech_by_row(struct mech_arena *arena, const struct mech_mat *a, struct mech_triplet **out,
                int32_t **start)
{
    struct mech_triplet *t = NULL;
    size_t count = 0;

    MECH_TRY(mech_mat_triplets(arena, a, &t, &count));

    /* triplets come by columns: a counting sort by row keeps columns ascending */
    int32_t *const next = mech_arena_alloc(arena, (size_t)a->rows + 2, sizeof *next);
    struct mech_triplet *const sorted = mech_arena_alloc(arena, count, sizeof *sorted);
    if (!next || !sorted) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < count; k++) {
        next[t[k].row + 2]++;
    }
    for (int32_t r = 0; r < a->rows; r++) {
        next[r + 2] += next[r + 1];
    }
    for (size_t k = 0; k < count; k++) {
        sorted[next[t[k].row + 1]++] = t[k];
    }
    *out = sorted;
    *start = next;
    return 0;
}

struct row_arrays {
    int32_t *start, *column, *place, *interaction;
    double *value, *b, *e, *compliance, *damping;
    bool *suspended;
    struct mech_set *sets;
    int32_t contacts;
    bool plain; /* unilateral rows alone */
    bool soft;  /* some row is compliant */
    bool any_suspended;
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
    a->place = mech_arena_alloc(&m->arena, entries, sizeof *a->place);
    a->value = mech_arena_alloc(&m->arena, entries, sizeof *a->value);
    a->suspended = mech_arena_alloc(&m->arena, rows, sizeof *a->suspended);
    a->sets = mech_arena_alloc(&m->arena, rows, sizeof *a->sets);
    a->contacts = 0;
    a->plain = true;
    a->soft = false;
    a->any_suspended = false;
    return a->start && a->interaction && a->b && a->e && a->compliance && a->damping && a->column &&
                   a->place && a->value && a->suspended && a->sets
               ? 0
               : MECH_NO_MEMORY;
}

struct mech_contact_law mech_interaction_law(const struct mech_interaction *in)
{
    struct mech_contact_law law = {.rows = 1};

    in->law.type->ops.law->contact(in->law.description, &law);
    return law;
}

struct mech_set mech_interaction_set(const struct mech_contact_law *law)
{
    static const enum mech_set_kind kinds[] = {[MECH_LAW_UNILATERAL] = MECH_SET_UNILATERAL,
                                               [MECH_LAW_FRICTION] = MECH_SET_CONE,
                                               [MECH_LAW_EQUALITY] = MECH_SET_BILATERAL,
                                               [MECH_LAW_RELAY] = MECH_SET_BOX,
                                               [MECH_LAW_COMPLEMENTARITY] = MECH_SET_UNILATERAL};

    return (struct mech_set){.kind = kinds[law->kind],
                             .rows = law->rows,
                             .mu = law->mu,
                             .lower = law->lower,
                             .upper = law->upper};
}

static void append_contact(const struct mech_contact_law *law, struct row_arrays *a)
{
    const struct mech_set set = mech_interaction_set(law);

    a->plain &= set.kind == MECH_SET_UNILATERAL;
    a->soft |= law->compliance > 0.;
    a->sets[a->contacts++] = set;
}

/* Append the rows of interaction i. */
static int append(struct mech_model *m, const struct mech_interaction *in, size_t i,
                  struct row_arrays *a, int32_t *row)
{
    const struct mech_relation_ops *const relation = in->relation.type->ops.relation;
    const struct mech_vector *const b = relation->b(in->relation.description);
    const struct mech_mat *const H = relation->H(in->relation.description);
    const struct mech_contact_law law = mech_interaction_law(in);
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    const int32_t *const slot = mech_interaction_slots(&m->scratch, m, in, false);
    const int32_t *const place = mech_interaction_slots(&m->scratch, m, in, true);
    struct mech_triplet *t = NULL;
    int32_t *start = NULL;

    const int result = slot && place ? mech_by_row(&m->scratch, H, &t, &start) : MECH_NO_MEMORY;
    for (int32_t r = 0; r < H->rows && result == 0; r++, (*row)++) {
        int32_t at = a->start[*row];

        for (int32_t k = start[r]; k < start[r + 1]; k++, at++) {
            a->column[at] = slot[t[k].col];
            a->place[at] = place[t[k].col];
            a->value[at] = t[k].value;
        }
        a->start[*row + 1] = at;
        a->b[*row] = b->n ? b->x[r] : 0.;
        a->e[*row] = law.e[r % law.rows];
        a->compliance[*row] = law.compliance;
        a->damping[*row] = law.damping;
        a->interaction[*row] = (int32_t)i;
        a->suspended[*row] = !in->active;
        a->any_suspended |= !in->active;
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

/* Rows and entries of all interactions of second order; false, with faults: some do not fit. */
static bool count_rows(const struct mech_model *m, size_t *rows, size_t *entries,
                       struct mech_diag *diag)
{
    const struct mech_structs *const list = &m->document->interactions;
    const struct mech_interaction *const in = list->at;
    bool clean = true;

    for (size_t i = 0; i < list->n; i++) {
        const struct mech_relation_ops *const relation = in[i].relation.type->ops.relation;
        const struct mech_mat *const H = relation->H(in[i].relation.description);

        if (relation->B) {
            continue;
        }
        clean = mech_interaction_fits(m, &in[i], i, diag) && clean;
        if (H->rows % mech_interaction_law(&in[i]).rows) {
            char path[64];

            snprintf(path, sizeof path, "/interactions/%zu/relation/%s", i, relation->field);
            mech_diag_add(diag, path, "has %d rows; each contact of this law needs %d",
                          (int)H->rows, (int)mech_interaction_law(&in[i]).rows);
            clean = false;
        }
        *rows += (size_t)H->rows;
        *entries += mech_mat_stored(H);
    }
    if (*rows > INT32_MAX / 2 || *entries > INT32_MAX / 2) {
        mech_diag_add(diag, "/interactions", "too many rows");
        clean = false;
    }
    return clean;
}

int mech_contacts(struct mech_model *m, struct mech_diag *diag)
{
    const struct mech_structs *const list = &m->document->interactions;
    const struct mech_interaction *const in = list->at;
    size_t rows = 0, entries = 0;
    struct row_arrays a;
    int32_t row = 0;

    if (!count_rows(m, &rows, &entries, diag)) {
        return 0;
    }
    MECH_TRY(allocate(m, rows, entries, &a));
    for (size_t i = 0; i < list->n; i++) {
        if (!in[i].relation.type->ops.relation->B) {
            MECH_TRY(append(m, &in[i], i, &a, &row));
        }
    }
    m->rows.contacts = (struct mech_contact_rows){.count = row,
                                                  .start = a.start,
                                                  .column = a.column,
                                                  .place = a.place,
                                                  .value = a.value,
                                                  .b = a.b,
                                                  .e = a.e,
                                                  .compliance = a.soft ? a.compliance : NULL,
                                                  .damping = a.soft ? a.damping : NULL,
                                                  .interaction = a.interaction,
                                                  .suspended = a.any_suspended ? a.suspended : NULL,
                                                  .contacts = a.contacts,
                                                  .sets = a.plain ? NULL : a.sets,
                                                  .friction = friction_of(m->document)};
    m->sizes.impulse = row;
    return 0;
}
