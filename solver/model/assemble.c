/* Third pass: every object writes its linear terms once; what is not linear becomes records.
 *
 * M, C, K and A are gathered as triplets and kept in their leanest form. Records of one type lie
 * side by side; objects of one type need not be neighbours in the document. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <string.h>

struct mech_site mech_site_of(struct mech_model *m, size_t i, const char *path,
                              struct mech_diag *diag)
{
    const struct mech_seat_of *const seat = &m->kinematics.objects[i];
    const struct mech_item *const item = &m->document->objects.at[i];
    const struct mech_object_ops *const ops = item->type->ops.object;
    enum mech_node_kind kind = MECH_NODE_GENERIC, first = MECH_NODE_GENERIC;

    if (ops->nodes) {
        struct mech_attachment at;

        ops->nodes(item->description, &at);
        for (size_t k = 0; k < at.n; k++) {
            const enum mech_node_kind one =
                m->document->nodes.at[at.refs[k].index].type->ops.node->kind;

            first = k == 0 ? one : first;
            kind = k == 0 || one == kind ? one : MECH_NODE_GENERIC;
        }
    }

    return (struct mech_site){.arena = &m->arena,
                              .parameters = &m->document->parameters,
                              .values = m->parameters,
                              .slot = seat->slot,
                              .q_slot = seat->q_slot,
                              .n = seat->n,
                              .nq = seat->nq,
                              .first = seat->first,
                              .kind = kind,
                              .first_kind = first,
                              .first_order = seat->first_order,
                              .curved = seat->curved,
                              .path = path,
                              .diag = diag,
                              .switches = &m->switches,
                              .item = (int32_t)i};
}

/* sizes against coordinates, for all objects */
static void fit_all(struct mech_model *m, struct mech_diag *diag)
{
    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_item *const item = &m->document->objects.at[i];
        char path[MECH_DIAG_PATH];

        mech_item_path(MECH_OBJECT, i, NULL, path, sizeof path);
        const struct mech_site site = mech_site_of(m, i, path, diag);
        if (item->type->ops.object->fit) {
            item->type->ops.object->fit(item->description, &site);
        }
    }
}

/* given [nx]: states of objects that wrote X */
static int write_terms(struct mech_model *m, struct mech_terms *t, bool *given)
{
    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_item *const item = &m->document->objects.at[i];

        if (item->type->ops.object->linear) {
            const size_t before = t->list[MECH_TERM_X].n;

            t->slot = m->kinematics.objects[i].slot;
            MECH_TRY(item->type->ops.object->linear(item->description, t));
            for (int32_t k = 0; k < m->kinematics.objects[i].n && t->list[MECH_TERM_X].n > before;
                 k++) {
                given[m->kinematics.objects[i].slot[k]] = true;
            }
        }
    }
    return 0;
}

/* Objects with a coordinate that nothing gives a mass: a row of M without any entry. */
static int check_mass_rows(struct mech_model *m, const struct mech_terms *t, struct mech_diag *diag)
{
    const struct mech_terms_list *const list = &t->list[MECH_TERM_M];
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    bool *const massive = mech_arena_alloc(&m->scratch, (size_t)m->sizes.v, sizeof *massive);

    if (!massive) {
        return MECH_NO_MEMORY;
    }
    for (size_t k = 0; k < list->n; k++) {
        if (list->at[k].value != 0.) {
            massive[list->at[k].row] = true;
        }
    }
    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_seat_of *const on = &m->kinematics.objects[i];
        const struct mech_object_ops *const ops = m->document->objects.at[i].type->ops.object;
        int32_t k = 0;

        while (k < on->n && (!(ops->body || ops->own) || on->first_order || massive[on->slot[k]])) {
            k++;
        }
        if (k < on->n) {
            char path[MECH_DIAG_PATH];

            mech_item_path(MECH_OBJECT, i, NULL, path, sizeof path);
            mech_diag_add(diag, path, "singular mass matrix: coordinate %d has no mass", (int)k);
        }
    }
    mech_arena_release(&m->scratch, mark);
    return 0;
}

static int build_matrices(struct mech_model *m, struct mech_terms *t)
{
    const int32_t nv = m->sizes.v, nx = m->sizes.x;
    struct mech_mat *const out[] = {&m->terms.M, &m->terms.C, &m->terms.K, &m->terms.A};
    bool shifted = false;

    for (int i = 0; i <= MECH_TERM_A; i++) {
        const int32_t n = i == MECH_TERM_A ? nx : nv;

        MECH_TRY(mech_mat_from_triplets(&m->arena, n, n, t->list[i].at, t->list[i].n, out[i]));
    }
    for (int32_t i = 0; i < m->sizes.q; i++) {
        shifted = shifted || m->kinematics.q_ref[i] != 0.;
    }
    m->terms.linear = (struct mech_linear_part){.nv = nv,
                                                .M = &m->terms.M,
                                                .C = &m->terms.C,
                                                .K = &m->terms.K,
                                                .q_ref = shifted ? m->kinematics.q_ref : NULL};
    return 0;
}

/* Local velocities of the record of object i. */
static int32_t record_size_of(const struct mech_model *m, size_t i)
{
    const struct mech_object_ops *const ops = m->document->objects.at[i].type->ops.object;

    return ops->record_coordinates ? ops->record_coordinates : m->kinematics.objects[i].n;
}

/* The batch of a type with or without M_q, made when its first record comes. */
static struct mech_batch *batch_of(struct mech_model *m, const struct mech_object_ops *ops,
                                   bool inertia)
{
    size_t most = 0, slots = 0;

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        if (m->terms.batches[b].ops == ops && m->terms.batches[b].inertia == inertia) {
            return &m->terms.batches[b];
        }
    }
    struct mech_batch *const fresh = &m->terms.batches[m->terms.batch_count];

    for (size_t i = 0; i < m->document->objects.n; i++) {
        if (m->document->objects.at[i].type->ops.object == ops) {
            most++;
            slots += (size_t)record_size_of(m, i);
        }
    }
    fresh->ops = ops;
    fresh->inertia = inertia;
    m->terms.has_inertia = m->terms.has_inertia || inertia;
    fresh->records = mech_arena_alloc(&m->arena, most, ops->record_size);
    fresh->slot = mech_arena_alloc(&m->arena, slots, sizeof *fresh->slot);
    fresh->start = mech_arena_alloc(&m->arena, most + 1, sizeof *fresh->start);
    if (!fresh->records || !fresh->slot || !fresh->start) {
        return NULL;
    }
    m->terms.batch_count++;
    return fresh;
}

/* Types of objects that write records, or more: runs of one type, but not more than there are. */
static size_t record_types(const struct mech_model *m)
{
    const struct mech_item_type *before = NULL;
    size_t runs = 0, types = 0;

    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_item_type *const type = m->document->objects.at[i].type;

        runs += type != before && type->ops.object->record;
        before = type;
    }
    while (mech_item_types[types]) {
        types++;
    }
    return runs < types ? runs : types;
}

static int build_records(struct mech_model *m, struct mech_diag *diag)
{
    m->terms.batches = mech_arena_alloc(&m->arena, 2 * record_types(m), sizeof *m->terms.batches);
    if (!m->terms.batches) {
        return MECH_NO_MEMORY;
    }
    for (size_t i = 0; i < m->document->objects.n; i++) {
        const struct mech_item *const item = &m->document->objects.at[i];
        const struct mech_object_ops *const ops = item->type->ops.object;
        char path[MECH_DIAG_PATH];

        if (!ops->record) {
            continue;
        }
        struct mech_batch *const b =
            batch_of(m, ops, ops->inertia && ops->inertia(item->description));
        if (!b) {
            return MECH_NO_MEMORY;
        }
        mech_item_path(MECH_OBJECT, i, NULL, path, sizeof path);
        if (record_size_of(m, i) > MECH_RECORD_COORDINATES) {
            mech_diag_add(diag, path, "more than %d coordinates", MECH_RECORD_COORDINATES);
            continue;
        }
        const struct mech_site site = mech_site_of(m, i, path, diag);
        void *const at = b->records + b->n * ops->record_size;
        const int r = ops->record(item->description, &site, at);

        if (r < 0) {
            return r;
        }
        if (r > 0) {
            const size_t rc = (size_t)record_size_of(m, i);

            b->first = b->n ? b->first : (int32_t)i;
            memcpy(b->slot + b->start[b->n], site.slot, rc * sizeof *b->slot);
            m->kinematics.objects[i].record = at;
            b->places += rc * rc;
            m->terms.place_count += rc * rc;
            b->start[b->n + 1] = b->start[b->n] + (int32_t)rc;
            b->n++;
        }
    }
    return 0;
}

static size_t couple(const struct mech_model *m, const int32_t *slot, int32_t n,
                     struct mech_triplet *t)
{
    size_t count = 0;

    for (int32_t k = 0; k < n * n; k++) {
        const int32_t row = slot[k / n], col = slot[k % n];

        if (row < m->sizes.v && col < m->sizes.v) {
            t[count++] = (struct mech_triplet){row, col, 1.};
        }
    }
    return count;
}

/* Ones wherever records have M_q (`inertia`), or any tangent; returns how many. */
static size_t couple_records(const struct mech_model *m, bool inertia, struct mech_triplet *t)
{
    size_t n = 0;

    for (size_t b = 0; b < m->terms.batch_count; b++) {
        const struct mech_batch *const batch = &m->terms.batches[b];
        const int32_t *const start = batch->start;

        for (size_t r = 0; r < batch->n && (batch->inertia || !inertia); r++) {
            n += couple(m, batch->slot + start[r], start[r + 1] - start[r], t + n);
        }
    }
    return n;
}

/* A one wherever a record, a moving load or a pair has a tangent; and wherever M_q is. */
static int build_pattern(struct mech_model *m)
{
    const struct mech_arena_mark mark = mech_arena_mark(&m->scratch);
    struct mech_triplet *const t = mech_arena_alloc(&m->scratch, m->terms.place_count, sizeof *t);

    if (!t) {
        return MECH_NO_MEMORY;
    }
    size_t n = couple_records(m, true, t);
    int result = mech_mat_from_triplets(&m->arena, m->sizes.v, m->sizes.v, t, n, &m->terms.inertia);
    n = couple_records(m, false, t);
    for (size_t k = 0; k < m->kinematics.moving_count; k++) {
        const struct mech_seat *const seat =
            &m->kinematics.marker_seats[m->kinematics.moving[k].marker];

        n += couple(m, seat->slot, seat->n, t + n);
    }
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        int32_t slot[MECH_PAIR_SLOTS];
        const int32_t count = mech_pair_slots(m, &m->rows.pairs[p], slot);

        n += couple(m, slot, count, t + n);
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        const struct mech_equation_of *const q = &m->rows.equations[k];

        n += q->ops->stiffness ? couple(m, q->slot, q->point.n, t + n) : 0;
    }
    if (result == 0) {
        result = mech_mat_from_triplets(&m->arena, m->sizes.v, m->sizes.v, t, n, &m->terms.pattern);
    }
    mech_arena_release(&m->scratch, mark);
    return result;
}

int mech_assemble(struct mech_model *m, struct mech_diag *diag)
{
    const size_t v = (size_t)m->sizes.v + 1, x = (size_t)m->sizes.x + 1;
    struct mech_terms terms = {.ground = m->sizes.v};

    fit_all(m, diag);
    if (!mech_diag_clean(diag)) {
        return 0;
    }
    m->terms.item_force = mech_arena_alloc(&m->arena, v, sizeof(double));
    m->terms.base = mech_arena_alloc(&m->arena, v, sizeof(double));
    m->terms.rate = mech_arena_alloc(&m->arena, x, sizeof(double));
    if (!m->terms.item_force || !m->terms.base || !m->terms.rate) {
        return MECH_NO_MEMORY;
    }
    terms.force = m->terms.item_force;
    terms.rate = m->terms.rate;
    bool *const given = mech_arena_alloc(&m->arena, x, sizeof *given);
    int r = given ? write_terms(m, &terms, given) : MECH_NO_MEMORY;
    r = r ? r : check_mass_rows(m, &terms, diag);
    r = r ? r : build_matrices(m, &terms);
    r = r ? r : mech_first_order(m, &terms, given, diag);
    m->terms.potential = terms.potential;
    mech_terms_fini(&terms);
    r = r ? r : build_records(m, diag);
    if (r == 0) {
        m->terms.item_force[m->sizes.v] = 0.;
        memcpy(m->terms.base, m->terms.item_force, v * sizeof(double));
    }
    r = r ? r : mech_pairs(m, diag);
    return r ? r : build_pattern(m);
}
