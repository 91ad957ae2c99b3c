/* The rows of all joints in the document's order: which velocities each couples, and of which kind
 * it is. Those of pairs and those of equations between coordinates are interleaved. */
#include "solver/base/err.h"
#include "solver/model/internal.h"

#include <math.h>
#include <string.h>

struct building {
    int32_t *start, *column, *object;
    bool *velocity;
    int8_t *side, *declared;
};

/* Entries of all rows. */
static int64_t count_entries(const struct mech_model *m)
{
    int64_t n = 0;

    for (size_t p = 0; p < m->rows.pair_count; p++) {
        n += (int64_t)m->rows.pairs[p].rows * (m->kinematics.markers[m->rows.pairs[p].marker[0]].n +
                                               m->kinematics.markers[m->rows.pairs[p].marker[1]].n);
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        n += (int64_t)m->rows.equations[k].rows * m->rows.equations[k].point.n;
    }
    return n;
}

static void pair_rows(struct mech_model *m, const struct mech_pair_of *p, struct building *b,
                      int32_t *entry)
{
    const void *const description = m->document->objects.at[p->object].description;
    const uint32_t velocity = p->ops->velocity ? p->ops->velocity(description) : 0;
    const int32_t side = p->ops->side ? p->ops->side(description) : 0;

    for (int32_t r = 0; r < p->rows; r++) {
        *entry += mech_pair_slots(m, p, b->column + *entry);
        b->start[p->row + r + 1] = *entry;
        b->object[p->row + r] = p->object;
        b->velocity[p->row + r] = velocity >> r & 1;
        b->declared[p->row + r] = (int8_t)side;
        b->side[p->row + r] = p->idle ? 0 : (int8_t)side;
        m->rows.joints.one_sided = m->rows.joints.one_sided || b->side[p->row + r];
        m->rows.joints.nonholonomic =
            m->rows.joints.nonholonomic || (b->velocity[p->row + r] && !p->idle);
    }
}

static void equation_rows(struct mech_model *m, const struct mech_equation_of *q,
                          struct building *b, int32_t *entry)
{
    const void *const description = m->document->objects.at[q->object].description;
    const bool velocity = q->ops->velocity && q->ops->velocity(description);

    for (int32_t r = 0; r < q->rows; r++) {
        memcpy(b->column + *entry, q->slot, (size_t)q->point.n * sizeof *q->slot);
        *entry += q->point.n;
        b->start[q->row + r + 1] = *entry;
        b->object[q->row + r] = q->object;
        b->velocity[q->row + r] = velocity;
        m->rows.joints.nonholonomic = m->rows.joints.nonholonomic || (velocity && !q->idle);
    }
}

/* Deactivated rows are left out, and may be violated. */
static int release_rows(struct mech_model *m, bool *released)
{
    for (size_t p = 0; p < m->rows.pair_count; p++) {
        for (int32_t r = 0; r < m->rows.pairs[p].rows && m->rows.pairs[p].idle; r++) {
            released[m->rows.pairs[p].row + r] = true;
        }
    }
    for (size_t k = 0; k < m->rows.equation_count; k++) {
        for (int32_t r = 0; r < m->rows.equations[k].rows && m->rows.equations[k].idle; r++) {
            released[m->rows.equations[k].row + r] = true;
        }
    }
    for (int32_t r = 0; r < m->rows.joints.count; r++) {
        m->rows.joints.released_count += released[r];
        MECH_TRY(released[r] ? mech_model_drop_row(m, r) : 0);
    }
    m->rows.joints.released = m->rows.joints.released_count > 0 ? released : NULL;
    return 0;
}

int mech_joint_rows(struct mech_model *m)
{
    const size_t rows = (size_t)m->sizes.lambda;
    const int64_t entries = count_entries(m);
    size_t p = 0, k = 0;
    int32_t entry = 0;

    if (entries > INT32_MAX) {
        return MECH_NO_MEMORY;
    }
    struct building b = {
        .start = mech_arena_alloc(&m->arena, rows + 1, sizeof *b.start),
        .column = mech_arena_alloc(&m->arena, (size_t)entries, sizeof *b.column),
        .object = mech_arena_alloc(&m->arena, rows, sizeof *b.object),
        .velocity = mech_arena_alloc(&m->arena, rows, sizeof *b.velocity),
        .side = mech_arena_alloc(&m->arena, rows, sizeof *b.side),
        .declared = mech_arena_alloc(&m->arena, rows, sizeof *b.declared),
    };
    bool *const released = mech_arena_alloc(&m->arena, rows + 1, sizeof *released);
    if (!released || !b.start || !b.column || !b.object || !b.velocity || !b.side || !b.declared) {
        return MECH_NO_MEMORY;
    }
    m->rows.joints = (struct mech_joint_rows){.paired = m->rows.equation_count == 0};
    /* by object: both lists are in the document's order */
    while (p < m->rows.pair_count || k < m->rows.equation_count) {
        if (k == m->rows.equation_count ||
            (p < m->rows.pair_count && m->rows.pairs[p].object < m->rows.equations[k].object)) {
            pair_rows(m, &m->rows.pairs[p++], &b, &entry);
        } else {
            equation_rows(m, &m->rows.equations[k++], &b, &entry);
        }
    }
    m->rows.joints.partial = m->rows.joints.one_sided;
    m->rows.joints.count = m->sizes.lambda;
    m->rows.joints.start = b.start;
    m->rows.joints.column = b.column;
    m->rows.joints.object = b.object;
    m->rows.joints.velocity = b.velocity;
    m->rows.joints.side = b.side;
    m->rows.joints.declared = b.declared;
    return release_rows(m, released);
}

bool mech_model_side_open(const struct mech_side *s)
{
    /* of speeds: half a unit of the sixth written digit, of a number that begins with 1 */
    static const double still = 5e-6;
    /* 64 ε, of the terms; and velocities that steps made of positions are off by some ε L/h */
    static const double rounding = 0x1p-46;
    const double least = still * s->speeds + rounding * (s->terms + s->L / s->h);

    return s->side * s->g > s->limit || fabs(s->rate) > least;
}

int mech_model_drop_row(struct mech_model *m, int32_t row)
{
    if (!m->rows.dropped) {
        m->rows.dropped =
            mech_arena_alloc(&m->arena, (size_t)m->rows.joints.count, sizeof *m->rows.dropped);
        if (!m->rows.dropped) {
            return MECH_NO_MEMORY;
        }
        m->rows.joints.dropped = m->rows.dropped;
    }
    m->rows.dropped[row] = true;
    m->rows.joints.partial = true;
    return 0;
}
